//! Draws a scene as pixels.
use crate::clip::Bounds;
use crate::colours::Rgb;
use crate::number::{byte, index, pixel};
use crate::scene::{Anchor, Picture, Scene, Shape, TextSize};
use ncirrus::{Error, ErrorKind, Result};
use noto_sans_mono_bitmap::get_raster;
use tiny_skia::{FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, Transform};

/// A scene as a PNG file.
pub(crate) fn png(scene: &Scene) -> Result<Vec<u8>> {
    encode(&pixmap(scene)?)
}

/// Pixels as a PNG file.
pub(crate) fn picture_png(picture: &Picture) -> Result<Vec<u8>> {
    let side = |pixels: usize| u32::try_from(pixels).unwrap_or(0);
    let mut pixmap = empty(side(picture.width), side(picture.height))?;
    // Opacity is all or nothing, so that premultiplied colours are the colours.
    pixmap.data_mut().copy_from_slice(&picture.rgba);
    encode(&pixmap)
}

fn encode(pixmap: &Pixmap) -> Result<Vec<u8>> {
    pixmap.encode_png().map_err(|error| Error::new(ErrorKind::Internal, format!("PNG: {error}")))
}

fn empty(width: u32, height: u32) -> Result<Pixmap> {
    Pixmap::new(width, height).ok_or_else(|| Error::invalid(format!("a picture of {width}x{height} pixels")))
}

/// A scene as pixels.
pub(crate) fn pixmap(scene: &Scene) -> Result<Pixmap> {
    let side = |pixels: f64| u32::try_from(index(pixels)).unwrap_or(0);
    let mut pixmap = empty(side(scene.width), side(scene.height))?;
    for shape in &scene.shapes {
        draw(&mut pixmap, shape);
    }
    Ok(pixmap)
}

fn draw(pixmap: &mut Pixmap, shape: &Shape) {
    match shape {
        Shape::Box { bounds, colour } => {
            let corners = [
                (bounds.left, bounds.top),
                (bounds.right, bounds.top),
                (bounds.right, bounds.bottom),
                (bounds.left, bounds.bottom),
            ];
            fill(pixmap, &corners, *colour);
        }
        Shape::Polygon { points, colour } => fill(pixmap, points, *colour),
        Shape::Line { points, colour, opacity, width } => {
            let Some(path) = path(points, false) else { return };
            let stroke = Stroke {
                width: pixel(*width),
                line_cap: LineCap::Butt,
                line_join: LineJoin::Round,
                ..Stroke::default()
            };
            pixmap.stroke_path(&path, &paint(*colour, *opacity), &stroke, Transform::identity(), None);
        }
        Shape::Image { bounds, picture } => image(pixmap, *bounds, picture),
        Shape::Text { x, y, text, size, anchor, vertical, colour } => {
            letters(pixmap, (*x, *y), text, (*size, *anchor, *vertical), *colour);
        }
    }
}

fn paint(colour: Rgb, opacity: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(colour[0], colour[1], colour[2], byte(opacity * 255.0));
    paint
}

fn path(points: &[(f64, f64)], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    // Horizontal and vertical lines of one pixel are sharp in the middle of pixels.
    let is_straight = points.windows(2).all(|pair| pair[0].0 == pair[1].0 || pair[0].1 == pair[1].1);
    for (number, (x, y)) in points.iter().enumerate() {
        let (x, y) = if is_straight && !closed { (x.floor() + 0.5, y.floor() + 0.5) } else { (*x, *y) };
        if number == 0 {
            path.move_to(pixel(x), pixel(y));
        } else {
            path.line_to(pixel(x), pixel(y));
        }
    }
    if closed {
        path.close();
    }
    path.finish()
}

fn fill(pixmap: &mut Pixmap, points: &[(f64, f64)], colour: Rgb) {
    if let Some(path) = path(points, true) {
        pixmap.fill_path(&path, &paint(colour, 1.0), FillRule::Winding, Transform::identity(), None);
    }
}

/// Replaces the pixels in the bounds by those of a picture, the nearest ones.
fn image(pixmap: &mut Pixmap, bounds: Bounds, picture: &Picture) {
    let (left, top) = (index(bounds.left.round()), index(bounds.top.round()));
    let (right, bottom) = (index(bounds.right.round()), index(bounds.bottom.round()));
    let (width, height) = (right.saturating_sub(left), bottom.saturating_sub(top));
    let row_bytes = pixmap.width() as usize * 4;
    for y in 0..height {
        for x in 0..width {
            let from = picture.pixel(x * picture.width / width, y * picture.height / height);
            let at = (top + y) * row_bytes + (left + x) * 4;
            if let (Some(from), Some(to), true) =
                (from, pixmap.data_mut().get_mut(at..at + 4), (left + x) * 4 < row_bytes)
            {
                to.copy_from_slice(&from);
            }
        }
    }
}

/// Draws text from the bitmaps of a font. Letters that the font lacks are shown as `?`.
fn letters(
    pixmap: &mut Pixmap,
    (x, y): (f64, f64),
    text: &str,
    (size, anchor, vertical): (TextSize, Anchor, bool),
    colour: Rgb,
) {
    let text = plain(text);
    let length = size.width(&text);
    let before = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => length / 2.0,
        Anchor::End => length,
    };
    let half = size.height() / 2.0;
    let (weight, height) = size.font();
    for (number, letter) in text.chars().enumerate() {
        let Some(raster) = get_raster(letter, weight, height).or_else(|| get_raster('?', weight, height))
        else {
            continue;
        };
        let along = number as f64 * size.advance() - before;
        for (row, line) in raster.rows().enumerate() {
            for (column, strength) in line.iter().enumerate() {
                let (across, down) = (along + column as f64, row as f64 - half);
                let place = if vertical { (x + down, y - across - 1.0) } else { (x + across, y + down) };
                blend(pixmap, (place.0.round(), place.1.round()), colour, *strength);
            }
        }
    }
}

fn blend(pixmap: &mut Pixmap, (x, y): (f64, f64), colour: Rgb, strength: u8) {
    if x < 0.0 || y < 0.0 || strength == 0 || index(x) >= pixmap.width() as usize {
        return;
    }
    let at = (index(y) * pixmap.width() as usize + index(x)) * 4;
    if let Some(pixel) = pixmap.data_mut().get_mut(at..at + 4) {
        let part = f64::from(strength) / 255.0;
        for (number, old) in pixel.iter_mut().enumerate() {
            let new = colour.get(number).copied().unwrap_or(255);
            *old = byte(f64::from(*old) * (1.0 - part) + f64::from(new) * part);
        }
    }
}

/// Letters that units and names often have and the font lacks, in other letters.
fn plain(text: &str) -> String {
    let letter = |letter: char| match letter {
        '⁻' | '−' | '–' | '—' | '‐' => '-',
        '⁰' | '₀' => '0',
        '₁' => '1',
        '₂' => '2',
        '₃' => '3',
        '⁴' | '₄' => '4',
        '⁵' => '5',
        '⁶' => '6',
        'μ' => 'µ',
        '’' | '‘' => '\'',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    text.chars().map(letter).collect()
}
