//! Where the parts of a figure are: texts, axes, panel, colour bar, legend.
mod colour_bar;
mod legend;

use crate::axis::Axis;
use crate::clip::Bounds;
use crate::colours;
use crate::figure::{FieldPanel, Figure, LinePanel, Panel, PictureSize};
use crate::number::index;
use crate::scene::{Anchor, BLACK, GRID, QUIET, Scene, Shape, TextSize, WHITE, fitted};
use crate::ticks::Tick;
use ncirrus::{Error, Result};

const MARGIN: f64 = 14.0;
const TICK: f64 = 5.0;
const GAP: f64 = 6.0;
const MAX_TICKS: usize = 12;
/// A map is drawn at most this much higher than wide.
const MAX_STRETCH: f64 = 3.0;

/// The shapes of a figure.
pub(crate) fn scene(figure: &Figure) -> Result<Scene> {
    let PictureSize { width, height, fixed } = figure.size;
    if [width, height].iter().any(|side| !(PictureSize::MIN..=PictureSize::MAX).contains(side)) {
        let (min, max) = (PictureSize::MIN, PictureSize::MAX);
        return Err(Error::invalid(format!(
            "a picture of {width}x{height} pixels; sides have {min} to {max}"
        )));
    }
    let mut scene = Scene {
        width: f64::from(width),
        height: f64::from(height),
        shapes: Vec::new(),
        description: figure.description(),
    };
    let top = texts(figure, &mut scene);
    match &figure.panel {
        Panel::Lines(lines) => line_panel(lines, top, &mut scene),
        Panel::Field(field) => field_panel(field, (top, fixed), &mut scene)?,
    }
    let source = fitted(&figure.source, TextSize::Small, scene.width - 2.0 * MARGIN);
    let (x, y) = (scene.width - MARGIN, scene.height - MARGIN + 2.0);
    scene.shapes.push(text((x, y), source, TextSize::Small, Anchor::End, QUIET));
    let bounds = Bounds { left: 0.0, top: 0.0, right: scene.width, bottom: scene.height };
    scene.shapes.insert(0, Shape::Box { bounds, colour: WHITE });
    Ok(scene)
}

/// Draws title and subtitle, and returns where they end.
fn texts(figure: &Figure, scene: &mut Scene) -> f64 {
    let mut top = MARGIN;
    let width = scene.width - 2.0 * MARGIN;
    for (line, size, colour) in
        [(&figure.title, TextSize::Title, BLACK), (&figure.subtitle, TextSize::Small, QUIET)]
    {
        if !line.is_empty() {
            let middle = top + size.height() / 2.0;
            scene.shapes.push(text((MARGIN, middle), fitted(line, size, width), size, Anchor::Start, colour));
            top += size.height() + 4.0;
        }
    }
    top + 4.0
}

pub(crate) fn text(
    (x, y): (f64, f64),
    text: String,
    size: TextSize,
    anchor: Anchor,
    colour: colours::Rgb,
) -> Shape {
    Shape::Text { x, y, text, size, anchor, vertical: false, colour }
}

fn line_panel(lines: &LinePanel, top: f64, scene: &mut Scene) {
    let top = legend::draw(lines, top, scene) + GAP;
    // Half of the highest tick's label is above the panel.
    let top = top + TextSize::Small.height() / 2.0;
    let bottom = scene.height - MARGIN - 3.0 * TextSize::Small.height() - TICK - GAP;
    let y_ticks = lines.y.ticks(ticks_for(bottom - top, 60.0));
    let left = MARGIN + TextSize::Small.height() + GAP + widest_of(&lines.y) + TICK + GAP;
    let panel = Bounds { left, top, right: scene.width - MARGIN - 2.0 * GAP, bottom };
    grid_lines(&lines.y, &y_ticks, panel, scene);
    draw_axes((&lines.x, &lines.y), &y_ticks, panel, true, scene);
    for (number, series) in lines.series.iter().enumerate() {
        let place = |point: &(f64, f64)| {
            let (across, up) = (lines.x.position(point.0), lines.y.position(point.1));
            (panel.left + across * panel.width(), panel.bottom - up * panel.height())
        };
        let points: Vec<(f64, f64)> = series.points.iter().map(place).collect();
        let colour = colours::of_line(number);
        let parts = panel.clip(&points);
        if series.points.len() <= 60 || parts.is_empty() {
            scene.shapes.extend(marks(&points, panel, colour));
        }
        let line = |points| Shape::Line { points, colour, opacity: 1.0, width: 1.6 };
        scene.shapes.extend(parts.into_iter().map(line));
    }
}

/// A mark for each point, so that single ones between missing values are seen.
fn marks(points: &[(f64, f64)], panel: Bounds, colour: colours::Rgb) -> Vec<Shape> {
    let inside = |point: &&(f64, f64)| {
        (panel.left..=panel.right).contains(&point.0) && (panel.top..=panel.bottom).contains(&point.1)
    };
    let mark = |&(x, y): &(f64, f64)| {
        let points = vec![(x - 3.5, y), (x, y - 3.5), (x + 3.5, y), (x, y + 3.5)];
        Shape::Polygon { points, colour }
    };
    points.iter().filter(inside).map(mark).collect()
}

fn field_panel(field: &FieldPanel, (top, fixed): (f64, bool), scene: &mut Scene) -> Result<()> {
    let top = top + TextSize::Small.height() / 2.0;
    let label_lines = if field.is_map { 2.0 } else { 3.0 };
    let below = MARGIN + label_lines * TextSize::Small.height() + TICK + 2.0 * GAP;
    let y_label = if field.is_map { 0.0 } else { TextSize::Small.height() + GAP };
    let left = MARGIN + y_label + widest_of(&field.y) + TICK + GAP;
    let bar = colour_bar::width(field);
    let mut panel = Bounds { left, top, right: scene.width - MARGIN - bar, bottom: scene.height - below };
    if field.is_map {
        panel = of_map(field, panel, (below, fixed), scene);
    }
    if panel.width() < 20.0 || panel.height() < 20.0 {
        let (width, height) = (scene.width, scene.height);
        return Err(Error::invalid(format!("{width}x{height} pixels leave no room for the picture")));
    }
    let (width, height) = (index(panel.width().round()), index(panel.height().round()));
    scene.shapes.push(Shape::Image { bounds: panel, picture: field.picture(width, height) });
    let coasts = field.coastlines(panel)?;
    let line = |points: &Vec<_>, colour, opacity, width| Shape::Line {
        points: points.clone(),
        colour,
        opacity,
        width,
    };
    scene.shapes.extend(coasts.iter().map(|points| line(points, WHITE, 0.45, 2.2)));
    scene.shapes.extend(coasts.iter().map(|points| line(points, BLACK, 0.9, 1.0)));
    let y_ticks = field.y.ticks(ticks_for(panel.height(), 50.0));
    draw_axes((&field.x, &field.y), &y_ticks, panel, !field.is_map, scene);
    colour_bar::draw(field, panel, scene);
    Ok(())
}

/// The panel of a map: a degree of latitude is as long as one of longitude is in the middle of the map.
fn of_map(field: &FieldPanel, room: Bounds, (below, fixed): (f64, bool), scene: &mut Scene) -> Bounds {
    let middle = (field.y.start + field.y.end) / 2.0;
    let stretch = 1.0 / middle.to_radians().cos().max(1.0 / MAX_STRETCH);
    let (across, up) = ((field.x.end - field.x.start).abs(), (field.y.end - field.y.start).abs());
    let ratio = (up * stretch / across).clamp(0.05, 20.0);
    let mut panel = room;
    if !fixed {
        let most = (scene.width * 1.1).min(f64::from(PictureSize::MAX)) - below - room.top;
        let most = most.max(60.0);
        panel.bottom = room.top + (room.width() * ratio).clamp(60.0, most);
        scene.height = (panel.bottom + below).ceil().max(f64::from(PictureSize::MIN));
    }
    let (width, height) = (panel.width(), panel.height());
    if height > width * ratio {
        let spare = height - width * ratio;
        panel = Bounds { top: panel.top + spare / 2.0, bottom: panel.bottom - spare / 2.0, ..panel };
    } else {
        let spare = width - height / ratio;
        panel = Bounds { left: panel.left + spare / 2.0, right: panel.right - spare / 2.0, ..panel };
    }
    panel
}

/// How many ticks fit, so many pixels apart.
fn ticks_for(pixels: f64, apart: f64) -> usize {
    index((pixels / apart).floor()).clamp(2, MAX_TICKS)
}

/// The pixels of the widest label that an axis may have, however many ticks it gets.
fn widest_of(axis: &Axis) -> f64 {
    (2..=MAX_TICKS).map(|count| widest(&axis.ticks(count))).fold(0.0, f64::max)
}

fn widest(ticks: &[Tick]) -> f64 {
    ticks.iter().map(|tick| TextSize::Small.width(&tick.label)).fold(0.0, f64::max)
}

/// Ticks of a horizontal axis whose labels do not touch each other.
fn horizontal_ticks(axis: &Axis, width: f64) -> Vec<Tick> {
    let fits = |ticks: &[Tick]| {
        let room = width * nearest(axis, ticks);
        ticks.len() < 2 || widest(ticks) + 2.0 * TextSize::Small.advance() <= room
    };
    let mut ticks = Vec::new();
    for count in (1..=ticks_for(width, 60.0)).rev() {
        ticks = axis.ticks(count);
        if fits(&ticks) {
            return ticks;
        }
    }
    // Even the fewest are too many: every second one, until they fit.
    while !fits(&ticks) {
        ticks = ticks.into_iter().step_by(2).collect();
    }
    ticks
}

/// The least distance of two ticks, as part of the axis.
fn nearest(axis: &Axis, ticks: &[Tick]) -> f64 {
    let places =
        ticks.windows(2).map(|pair| (axis.position(pair[1].value) - axis.position(pair[0].value)).abs());
    places.fold(1.0, f64::min)
}

fn grid_lines(axis: &Axis, ticks: &[Tick], panel: Bounds, scene: &mut Scene) {
    for tick in ticks {
        let y = panel.bottom - axis.position(tick.value) * panel.height();
        let points = vec![(panel.left, y), (panel.right, y)];
        scene.shapes.push(Shape::Line { points, colour: GRID, opacity: 1.0, width: 1.0 });
    }
}

fn draw_axes((x, y): (&Axis, &Axis), y_ticks: &[Tick], panel: Bounds, labelled: bool, scene: &mut Scene) {
    let line = |points| Shape::Line { points, colour: BLACK, opacity: 1.0, width: 1.0 };
    let Bounds { left, top, right, bottom } = panel;
    scene.shapes.push(line(vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]));
    let small = TextSize::Small;
    for tick in horizontal_ticks(x, panel.width()) {
        let at = left + x.position(tick.value) * panel.width();
        scene.shapes.push(line(vec![(at, bottom), (at, bottom + TICK)]));
        let half = small.width(&tick.label) / 2.0;
        let at = at.min(scene.width - half - 2.0).max(half + 2.0);
        let place = (at, bottom + TICK + 2.0 + small.height() / 2.0);
        scene.shapes.push(text(place, tick.label, small, Anchor::Middle, BLACK));
    }
    for tick in y_ticks {
        let at = bottom - y.position(tick.value) * panel.height();
        scene.shapes.push(line(vec![(left - TICK, at), (left, at)]));
        scene.shapes.push(text((left - TICK - 3.0, at), tick.label.clone(), small, Anchor::End, BLACK));
    }
    if !labelled {
        return;
    }
    let place = ((left + right) / 2.0, bottom + TICK + small.height() * 1.5 + 4.0);
    let label = fitted(&x.label, small, panel.width());
    scene.shapes.push(text(place, label, small, Anchor::Middle, BLACK));
    scene.shapes.push(Shape::Text {
        x: left - TICK - GAP - widest(y_ticks) - small.height() / 2.0 - 2.0,
        y: (top + bottom) / 2.0,
        text: fitted(&y.label, small, panel.height()),
        size: small,
        anchor: Anchor::Middle,
        vertical: true,
        colour: BLACK,
    });
}
