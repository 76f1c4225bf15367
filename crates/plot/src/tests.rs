//! Figures as scenes and as text: what overlaps, what is transparent, what terminals get.
use crate::axis::{Axis, AxisKind};
use crate::figure::{FieldPanel, Figure, LinePanel, Panel, PictureSize, Series};
use crate::grid::{self, Cells};
use crate::scale::{ColourScale, ScaleOptions};
use crate::scene::{Anchor, Scene, Shape};
use crate::terminal::{Graphics, TerminalSize, show};
use crate::{layout, raster};

fn axis(kind: AxisKind, start: f64, end: f64) -> Axis {
    Axis { kind, ..Axis::numbers("an axis [unit]", start, end) }
}

fn figure(panel: Panel, (width, height): (u32, u32)) -> Figure {
    Figure {
        title: "t: a title that is longer than most pictures are wide, with its <units> & more of them [K]"
            .to_owned(),
        subtitle: "time = 2000-01-01".to_owned(),
        source: "a.nc".to_owned(),
        panel,
        size: PictureSize { width, height, fixed: true },
    }
}

/// A map of ten degrees a cell; one value is missing.
fn map(factor: f64) -> Panel {
    let lon: Vec<f64> = (0..36).map(|at| f64::from(at) * 10.0).collect();
    let lat: Vec<f64> = (0..17).map(|at| 80.0 - f64::from(at) * 10.0).collect();
    let mut values: Vec<f64> = (0..36 * 17).map(|at| f64::from(at) * factor).collect();
    values[0] = f64::NAN;
    Panel::Field(FieldPanel {
        x: axis(AxisKind::Longitude, -5.0, 355.0),
        y: axis(AxisKind::Latitude, -85.0, 85.0),
        cells: Cells::Rectilinear { x: grid::edges(&lon), y: grid::edges(&lat) },
        scale: ColourScale::of(&values, &ScaleOptions::default()),
        values,
        label: "K".to_owned(),
        is_map: true,
    })
}

fn lines(count: usize, low: f64, high: f64) -> Panel {
    let series = |number: usize| Series {
        label: format!("line {number} at a place"),
        points: (0..100).map(|at| (f64::from(at), low + (high - low) * f64::from(at * at) / 1e4)).collect(),
    };
    let units = ncirrus::cf::TimeUnits::parse("hours since 2001-01-01", None).unwrap().unwrap();
    Panel::Lines(LinePanel {
        x: axis(AxisKind::Time(units), 0.0, 99.0),
        y: axis(AxisKind::Number, low, high),
        series: (0..count).map(series).collect(),
    })
}

/// The rectangles of texts: left, top, right, bottom.
fn text_boxes(scene: &Scene) -> Vec<(String, [f64; 4])> {
    let of = |shape: &Shape| {
        let Shape::Text { x, y, text, size, anchor, vertical, .. } = shape else { return None };
        let (length, half) = (size.width(text), size.height() / 2.0 - 2.0);
        let before = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => length / 2.0,
            Anchor::End => length,
        };
        let place = if *vertical {
            [x - half, y - length + before, x + half, y + before]
        } else {
            [x - before, y - half, x - before + length, y + half]
        };
        Some((text.clone(), place))
    };
    scene.shapes.iter().filter_map(of).filter(|(text, _)| !text.is_empty()).collect()
}

#[test]
fn texts_do_not_overlap_and_are_inside_the_picture() {
    for size in [(1000, 600), (640, 400), (400, 300), (1400, 900), (300, 700)] {
        for panel in [map(1.0), map(1e-7), map(-123_456.0), lines(1, 0.0, 1.0), lines(9, -1e-9, 1e12)] {
            let scene = layout::scene(&figure(panel, size)).unwrap();
            let boxes = text_boxes(&scene);
            for (number, (text, place)) in boxes.iter().enumerate() {
                let inside =
                    place[0] >= 0.0 && place[1] >= 0.0 && place[2] <= scene.width && place[3] <= scene.height;
                assert!(inside, "{size:?} {text:?} {place:?}");
                for (other, there) in &boxes[number + 1..] {
                    let apart = place[2] <= there[0]
                        || there[2] <= place[0]
                        || place[3] <= there[1]
                        || there[3] <= place[1];
                    assert!(apart, "{size:?} {text:?} {place:?} and {other:?} {there:?}");
                }
            }
        }
    }
}

#[test]
fn missing_values_are_transparent_and_the_rest_is_not() {
    let scene = layout::scene(&figure(map(1.0), (640, 400))).unwrap();
    let bounds = scene.shapes.iter().find_map(|shape| match shape {
        Shape::Image { bounds, .. } => Some(*bounds),
        _ => None,
    });
    let bounds = bounds.unwrap();
    let pixmap = raster::pixmap(&scene).unwrap();
    let side = |at: f64| u32::try_from(crate::number::index(at)).unwrap();
    let alpha = |x: f64, y: f64| pixmap.pixel(side(x), side(y)).unwrap().alpha();
    assert_eq!(alpha(bounds.left + 5.0, bounds.top + 4.0), 0);
    assert_eq!(alpha(bounds.right - 5.0, bounds.bottom - 4.0), 255);
    assert_eq!(alpha(1.0, 1.0), 255);
}

#[test]
fn coastlines_are_on_maps_whichever_longitudes_they_have() {
    for (start, end) in [(-180.0, 180.0), (0.0, 360.0), (170.0, 530.0)] {
        let Panel::Field(mut field) = map(1.0) else { panic!() };
        (field.x.start, field.x.end) = (start, end);
        let bounds = crate::clip::Bounds { left: 0.0, top: 0.0, right: 360.0, bottom: 170.0 };
        let coasts = field.coastlines(bounds).unwrap();
        // The south of Africa, at 20 degrees east and 34.8 south.
        let x = (20.0f64 - start).rem_euclid(360.0);
        let near = coasts.iter().flatten().map(|at| (at.0 - x).abs() + (at.1 - 119.8).abs());
        assert!(near.fold(f64::MAX, f64::min) < 1.5, "{start}");
    }
    let Panel::Field(field) = map(1.0) else { panic!() };
    let image = FieldPanel { is_map: false, ..field };
    let bounds = crate::clip::Bounds { left: 0.0, top: 0.0, right: 360.0, bottom: 170.0 };
    assert!(image.coastlines(bounds).unwrap().is_empty());
}

#[test]
fn sizes_that_no_picture_has_are_errors() {
    assert!(figure(map(1.0), (10, 400)).to_png().is_err());
    assert!(figure(map(1.0), (400, 100_000)).to_svg().is_err());
}

#[test]
fn terminals_get_the_form_that_they_show() {
    let size = TerminalSize { columns: 80, rows: 24, pixels: None };
    let of = |panel, graphics| {
        String::from_utf8(show(&figure(panel, (400, 300)), graphics, size).unwrap()).unwrap()
    };
    let kitty = of(map(1.0), Graphics::Kitty);
    assert!(kitty.starts_with("\x1b_Ga=T,f=100,m=1;") && kitty.ends_with("\x1b\\\n"));
    assert!(kitty.split("\x1b_G").all(|part| part.len() < 4200));
    assert!(of(map(1.0), Graphics::Iterm2).starts_with("\x1b]1337;File=inline=1;size="));
    assert!(of(map(1.0), Graphics::Sixel).starts_with("\x1bP0;1;0q\"1;1;400;300#0;2;"));
    let blocks = of(map(1.0), Graphics::Blocks);
    assert!(blocks.contains("\x1b[0;38;2;") && blocks.contains('▀') && blocks.contains("0°"), "{blocks}");
    assert!(of(map(1.0), Graphics::Blocks256).contains(";48;5;"));
    let text = of(map(1.0), Graphics::Text);
    assert!(!text.contains('\x1b') && text.contains('@') && text.lines().count() <= 24, "{text}");
    let braille = of(lines(2, 0.0, 1.0), Graphics::Blocks);
    assert!(
        braille.contains('⣀') || braille.chars().any(|letter| ('\u{2801}'..'\u{2900}').contains(&letter))
    );
    assert!(braille.contains("line 1 at a place"), "{braille}");
    for text in [text, of(lines(2, 0.0, 1.0), Graphics::Text)] {
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}

#[test]
fn names_from_datasets_are_escaped_in_svg() {
    let svg = figure(lines(1, 0.0, 1.0), (640, 400)).to_svg().unwrap();
    assert!(svg.contains("&lt;units&gt; &amp; more"), "{svg}");
}
