//! Maps and images as half blocks: two pixels a character.
use super::Graphics;
use super::braille::{CellPanel, widest, write_texts, write_x_labels, write_y_labels};
use super::canvas::{Canvas, Cell};
use crate::clip::Bounds;
use crate::field::draw_pixels;
use crate::figure::{FieldPanel, Figure};
use crate::number::index;
use crate::scene::Picture;
use crate::ticks;
use ncirrus::Result;

/// Characters of rising density, for terminals without colours.
const SHADES: [char; 10] = ['.', ':', '-', '=', '+', '*', 'o', '#', '%', '@'];

pub(super) fn canvas(
    figure: &Figure,
    field: &FieldPanel,
    (columns, rows): (usize, usize),
    graphics: Graphics,
) -> Result<Canvas> {
    let labels = field.y.ticks((rows / 4).clamp(2, 7));
    let left = widest(&labels) + 2;
    let room = (columns.saturating_sub(left), rows.saturating_sub(5).max(1));
    let (width, height) = if field.is_map { of_map(field, room) } else { (room.0, room.1.min(room.0 / 3)) };
    let rows = height + 5;
    let mut canvas = Canvas::new(columns, rows);
    let top = write_texts(&mut canvas, figure);
    let panel = CellPanel { left, top, columns: width, rows: height };
    if graphics == Graphics::Text {
        draw_shades(&mut canvas, field, panel);
    } else {
        draw_blocks(&mut canvas, field, panel)?;
    }
    let bottom = format!("└{}", "─".repeat(width));
    (0..height).for_each(|row| canvas.write((left - 1, top + row), "│", false));
    canvas.write((left - 1, top + height), &bottom, false);
    write_y_labels(&mut canvas, &field.y, &labels, panel);
    write_x_labels(&mut canvas, &field.x, panel, top + height + 1);
    draw_bar(&mut canvas, field, panel, graphics);
    Ok(canvas)
}

/// Columns and rows of a map whose pixels are squares.
fn of_map(field: &FieldPanel, (columns, rows): (usize, usize)) -> (usize, usize) {
    let middle = (field.y.start + field.y.end) / 2.0;
    let stretch = 1.0 / middle.to_radians().cos().max(1.0 / 3.0);
    let (across, up) = ((field.x.end - field.x.start).abs(), (field.y.end - field.y.start).abs());
    let ratio = (up * stretch / across).clamp(0.05, 20.0);
    let needed = index((columns as f64 * ratio / 2.0).round()).max(3);
    if needed <= rows {
        return (columns, needed);
    }
    (index((rows as f64 * 2.0 / ratio).round()).clamp(10, columns.max(10)), rows)
}

fn draw_blocks(canvas: &mut Canvas, field: &FieldPanel, panel: CellPanel) -> Result<()> {
    let mut picture = field.picture(panel.columns, panel.rows * 2);
    let bounds = Bounds { left: 0.0, top: 0.0, right: panel.columns as f64, bottom: panel.rows as f64 * 2.0 };
    draw_pixels(&mut picture, &field.coastlines(bounds)?, coast);
    for row in 0..panel.rows {
        for column in 0..panel.columns {
            let place = (panel.left + column, panel.top + row);
            canvas.set(place, half_blocks(&picture, column, row));
        }
    }
    Ok(())
}

/// The colour of a coastline over a pixel.
fn coast([red, green, blue, opacity]: [u8; 4]) -> [u8; 3] {
    let light = (u32::from(red) * 3 + u32::from(green) * 6 + u32::from(blue)) / 10;
    match (opacity, light) {
        (0, _) => [128, 128, 128],
        (_, 0..100) => [215, 215, 215],
        _ => [40, 40, 40],
    }
}

fn half_blocks(picture: &Picture, column: usize, row: usize) -> Cell {
    let colour = |y: usize| {
        let pixel = picture.pixel(column, y)?;
        (pixel[3] > 0).then_some([pixel[0], pixel[1], pixel[2]])
    };
    let cell = |letter, ink, ground| Cell { letter, ink, ground, bold: false };
    match (colour(row * 2), colour(row * 2 + 1)) {
        (Some(above), Some(below)) => cell('▀', Some(above), Some(below)),
        (Some(above), None) => cell('▀', Some(above), None),
        (None, Some(below)) => cell('▄', Some(below), None),
        (None, None) => cell(' ', None, None),
    }
}

/// Each character is the value in its middle.
fn draw_shades(canvas: &mut Canvas, field: &FieldPanel, panel: CellPanel) {
    // The positions of values are drawn as greys, so that cells of any form are found.
    let grey = FieldPanel {
        scale: crate::ColourScale { colours: crate::ColourMap::Grey, ..field.scale },
        ..field.clone()
    };
    let picture = grey.picture(panel.columns, panel.rows);
    let shades = shades(crate::ColourMap::Grey);
    for row in 0..panel.rows {
        for column in 0..panel.columns {
            let Some([red, _, _, 255]) = picture.pixel(column, row) else { continue };
            let letter =
                shades.iter().min_by_key(|(grey, _)| grey.abs_diff(red)).map_or(' ', |(_, letter)| *letter);
            canvas.write((panel.left + column, panel.top + row), &letter.to_string(), false);
        }
    }
}

/// The shades with the greys that they stand for.
fn shades(map: crate::ColourMap) -> Vec<(u8, char)> {
    let last = SHADES.len() - 1;
    let grey = |(number, letter): (usize, &char)| (map.colour(number as f64 / last as f64)[0], *letter);
    SHADES.iter().enumerate().map(grey).collect()
}

fn draw_bar(canvas: &mut Canvas, field: &FieldPanel, panel: CellPanel, graphics: Graphics) {
    let row = panel.top + panel.rows + 2;
    let mark = |clips: bool, text: &'static str| if clips { text } else { "" };
    let low = format!("{}{}", mark(field.scale.clips_low, "≤ "), ticks::short(field.scale.low));
    let high =
        format!("{}{} {}", mark(field.scale.clips_high, "≥ "), ticks::short(field.scale.high), field.label);
    canvas.write((panel.left, row), &low, false);
    let start = panel.left + low.chars().count() + 1;
    let width = if graphics == Graphics::Text { SHADES.len() } else { (panel.columns / 3).clamp(10, 40) };
    for at in 0..width {
        let position = (at as f64 + 0.5) / width as f64;
        let cell = if graphics == Graphics::Text {
            Cell { letter: SHADES.get(at).copied().unwrap_or(' '), ink: None, ground: None, bold: false }
        } else {
            Cell { letter: '█', ink: Some(field.scale.colours.colour(position)), ground: None, bold: false }
        };
        canvas.set((start + at, row), cell);
    }
    canvas.write((start + width + 1, row), high.trim_end(), false);
}
