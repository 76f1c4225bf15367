//! Characters with colours.
use super::Graphics;
use crate::colours::Rgb;
use std::fmt::Write as _;

/// A character of a canvas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell {
    pub(super) letter: char,
    pub(super) ink: Option<Rgb>,
    pub(super) ground: Option<Rgb>,
    pub(super) bold: bool,
}

const EMPTY: Cell = Cell { letter: ' ', ink: None, ground: None, bold: false };

/// Lines of characters.
pub(super) struct Canvas {
    columns: usize,
    cells: Vec<Cell>,
}

impl Canvas {
    pub(super) fn new(columns: usize, rows: usize) -> Self {
        Self { columns, cells: vec![EMPTY; columns * rows] }
    }

    pub(super) fn set(&mut self, (column, row): (usize, usize), cell: Cell) {
        if column < self.columns
            && let Some(place) = self.cells.get_mut(row * self.columns + column)
        {
            *place = cell;
        }
    }

    /// Writes text from a place on, as far as the line reaches. Control characters, which terminals obey, become blanks.
    pub(super) fn write(&mut self, (column, row): (usize, usize), text: &str, bold: bool) {
        for (at, letter) in text.chars().enumerate() {
            let letter = if letter.is_control() { ' ' } else { letter };
            self.set((column + at, row), Cell { letter, bold, ..EMPTY });
        }
    }

    /// The text with its escape sequences. Lines end without blanks.
    pub(super) fn text(&self, graphics: Graphics) -> String {
        let mut text = String::new();
        for line in self.cells.chunks(self.columns.max(1)) {
            let used = line.iter().rposition(|cell| *cell != EMPTY).map_or(0, |last| last + 1);
            let mut style = EMPTY;
            for cell in line.iter().take(used) {
                if graphics != Graphics::Text && !same_style(*cell, style) {
                    write_style(&mut text, *cell, graphics);
                    style = *cell;
                }
                text.push(cell.letter);
            }
            if !same_style(style, EMPTY) {
                text.push_str("\x1b[0m");
            }
            text.push('\n');
        }
        text
    }
}

fn same_style(one: Cell, other: Cell) -> bool {
    (one.ink, one.ground, one.bold) == (other.ink, other.ground, other.bold)
}

fn write_style(text: &mut String, cell: Cell, graphics: Graphics) {
    text.push_str("\x1b[0");
    if cell.bold {
        text.push_str(";1");
    }
    for (code, colour) in [(38, cell.ink), (48, cell.ground)] {
        let Some(colour) = colour else { continue };
        let [red, green, blue] = colour;
        _ = match graphics {
            Graphics::Blocks256 => write!(text, ";{code};5;{}", of_256(colour)),
            _ => write!(text, ";{code};2;{red};{green};{blue}"),
        };
    }
    text.push('m');
}

/// The nearest of the 256 colours of xterm: a cube of six levels, or one of 24 greys.
fn of_256(colour: Rgb) -> usize {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let level = |part: u8| {
        let distances = LEVELS.iter().map(|level| level.abs_diff(part)).enumerate();
        distances.min_by_key(|(_, distance)| *distance).map_or(0, |(number, _)| number)
    };
    let [red, green, blue] = colour.map(level);
    let distance = |other: Rgb| {
        colour.iter().zip(other).map(|(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum::<u32>()
    };
    let grey = |number: u8| [8 + number * 10; 3];
    let best = (0..24u8).min_by_key(|number| distance(grey(*number))).unwrap_or(0);
    if distance(grey(best)) < distance([LEVELS[red], LEVELS[green], LEVELS[blue]]) {
        232 + usize::from(best)
    } else {
        16 + 36 * red + 6 * green + blue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_256_are_the_nearest() {
        assert_eq!(of_256([255, 0, 0]), 196);
        assert_eq!(of_256([128, 128, 128]), 244);
        assert_eq!(of_256([0, 0, 0]), 16);
        assert_eq!(of_256([255, 255, 255]), 231);
    }

    #[test]
    fn text_has_nothing_that_a_terminal_obeys() {
        let mut canvas = Canvas::new(12, 1);
        canvas.write((0, 0), "a\x1b[31m\u{7}b", false);
        assert_eq!(canvas.text(Graphics::Text), "a [31m b\n");
        assert_eq!(canvas.text(Graphics::Blocks), "a [31m b\n");
    }

    #[test]
    fn styles_are_written_where_they_change() {
        let mut canvas = Canvas::new(4, 1);
        for column in 1..3 {
            canvas.set((column, 0), Cell { letter: '▀', ink: Some([1, 2, 3]), ground: None, bold: false });
        }
        assert_eq!(canvas.text(Graphics::Blocks), " \x1b[0;38;2;1;2;3m▀▀\x1b[0m\n");
        assert_eq!(canvas.text(Graphics::Blocks256), " \x1b[0;38;5;16m▀▀\x1b[0m\n");
        assert_eq!(canvas.text(Graphics::Text), " ▀▀\n");
    }
}
