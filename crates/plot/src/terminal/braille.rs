//! Lines of braille characters: two by four dots each.
use super::canvas::{Canvas, Cell};
use crate::axis::Axis;
use crate::clip::Bounds;
use crate::colours;
use crate::figure::{Figure, LinePanel};
use crate::number::index;
use crate::ticks::Tick;

/// The bits of a character's dots (Unicode, block "Braille Patterns"), by column and row.
const DOTS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// A panel in characters: the place of its first one, and its size.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellPanel {
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) columns: usize,
    pub(super) rows: usize,
}

pub(super) fn canvas(figure: &Figure, lines: &LinePanel, (columns, rows): (usize, usize)) -> Canvas {
    let rows = rows.min(columns / 3);
    let mut canvas = Canvas::new(columns, rows);
    let mut top = write_texts(&mut canvas, figure);
    top = write_legend(&mut canvas, lines, top, columns);
    let labels = lines.y.ticks(((rows - top.min(rows - 4)) / 4).clamp(2, 8));
    let left = widest(&labels) + 1;
    let panel = CellPanel {
        left: left + 1,
        top,
        columns: columns.saturating_sub(left + 1),
        rows: rows.saturating_sub(top + 3).max(1),
    };
    draw_lines(&mut canvas, lines, panel);
    write_frame(&mut canvas, panel);
    write_y_labels(&mut canvas, &lines.y, &labels, panel);
    write_x_labels(&mut canvas, &lines.x, panel, panel.top + panel.rows + 1);
    let label = if lines.y.label.is_empty() {
        lines.x.label.clone()
    } else {
        format!("{} over {}", lines.y.label, lines.x.label)
    };
    canvas.write((panel.left, panel.top + panel.rows + 2), &label, false);
    canvas
}

/// Writes title and subtitle, and returns the first row after them.
pub(super) fn write_texts(canvas: &mut Canvas, figure: &Figure) -> usize {
    canvas.write((0, 0), &figure.title, true);
    let below = [figure.subtitle.as_str(), figure.source.as_str()];
    let below: Vec<&str> = below.into_iter().filter(|text| !text.is_empty()).collect();
    canvas.write((0, 1), &below.join("; "), false);
    2
}

fn write_legend(canvas: &mut Canvas, lines: &LinePanel, top: usize, columns: usize) -> usize {
    if lines.series.len() < 2 {
        return top;
    }
    let (mut column, mut row) = (0, top);
    for (number, series) in lines.series.iter().enumerate() {
        let width = series.label.chars().count() + 4;
        if column > 0 && column + width > columns {
            (column, row) = (0, row + 1);
        }
        let swatch = Cell { letter: '━', ink: Some(colours::of_line(number)), ground: None, bold: true };
        [0, 1].into_iter().for_each(|at| canvas.set((column + at, row), swatch));
        canvas.write((column + 3, row), &series.label, false);
        column += width + 2;
    }
    row + 1
}

pub(super) fn widest(ticks: &[Tick]) -> usize {
    ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0)
}

fn draw_lines(canvas: &mut Canvas, lines: &LinePanel, panel: CellPanel) {
    let (width, height) = (panel.columns * 2, panel.rows * 4);
    let mut dots = vec![(0u32, 0usize); panel.columns * panel.rows];
    let mut dot = |x: f64, y: f64, number: usize| {
        let (x, y) = (index(x.max(0.0)).min(width - 1), index(y.max(0.0)).min(height - 1));
        if let Some(cell) = dots.get_mut(y / 4 * panel.columns + x / 2) {
            *cell = (cell.0 | DOTS[x % 2][y % 4], number);
        }
    };
    let bounds = Bounds { left: 0.0, top: 0.0, right: width as f64, bottom: height as f64 };
    for (number, series) in lines.series.iter().enumerate() {
        let place = |point: &(f64, f64)| {
            let (across, up) = (lines.x.position(point.0), lines.y.position(point.1));
            (across * (width as f64 - 0.01), (1.0 - up) * (height as f64 - 0.01))
        };
        let points: Vec<(f64, f64)> = series.points.iter().map(place).collect();
        let inside = |point: &&(f64, f64)| {
            (0.0..=bounds.right).contains(&point.0) && (0.0..=bounds.bottom).contains(&point.1)
        };
        points.iter().filter(inside).for_each(|point| dot(point.0, point.1, number));
        for part in bounds.clip(&points) {
            for pair in part.windows(2) {
                let (from, to) = (pair[0], pair[1]);
                let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().clamp(1.0, 1e4);
                for step in 0..=index(steps) {
                    let at = step as f64 / steps;
                    dot(from.0 + (to.0 - from.0) * at, from.1 + (to.1 - from.1) * at, number);
                }
            }
        }
    }
    let is_coloured = lines.series.len() > 1;
    for (at, (bits, number)) in dots.into_iter().enumerate().filter(|(_, (bits, _))| *bits != 0) {
        let place = (panel.left + at % panel.columns, panel.top + at / panel.columns);
        let letter = char::from_u32(0x2800 + bits).unwrap_or('⣿');
        let ink = (is_coloured || number > 0).then(|| colours::of_line(number));
        canvas.set(place, Cell { letter, ink, ground: None, bold: false });
    }
}

fn write_frame(canvas: &mut Canvas, panel: CellPanel) {
    let left = panel.left.saturating_sub(1);
    for row in 0..panel.rows {
        canvas.write((left, panel.top + row), "│", false);
    }
    let bottom = format!("└{}", "─".repeat(panel.columns));
    canvas.write((left, panel.top + panel.rows), &bottom, false);
}

pub(super) fn write_y_labels(canvas: &mut Canvas, axis: &Axis, ticks: &[Tick], panel: CellPanel) {
    let mut used = None;
    for tick in ticks {
        let up = axis.position(tick.value);
        let row =
            panel.top + index(((1.0 - up) * panel.rows as f64).max(0.0)).min(panel.rows.saturating_sub(1));
        if used == Some(row) {
            continue;
        }
        used = Some(row);
        let width = tick.label.chars().count();
        canvas.write((panel.left.saturating_sub(width + 2), row), &tick.label, false);
        canvas.write((panel.left.saturating_sub(1), row), "┤", false);
    }
}

/// Labels of round numbers that do not touch each other.
pub(super) fn write_x_labels(canvas: &mut Canvas, axis: &Axis, panel: CellPanel, row: usize) {
    let mut count = (panel.columns / 10).clamp(2, 12);
    let mut ticks = axis.ticks(count);
    while count > 1 && widest(&ticks) + 2 > panel.columns / ticks.len().max(1) {
        count -= 1;
        ticks = axis.ticks(count);
    }
    let mut free = 0;
    for tick in ticks {
        let at = panel.left
            + index((axis.position(tick.value) * panel.columns as f64).max(0.0)).min(panel.columns - 1);
        let width = tick.label.chars().count();
        let end = panel.left + panel.columns;
        let first = at.saturating_sub(width / 2).min(end.saturating_sub(width)).max(free);
        if first + width > end {
            continue;
        }
        canvas.write((at, row.saturating_sub(1)), "┴", false);
        canvas.write((first, row), &tick.label, false);
        free = first + width + 1;
    }
}
