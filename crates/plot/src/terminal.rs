//! Pictures in a terminal: by the graphics that it has, or by characters.
mod braille;
mod canvas;
mod cells;
mod detect;
mod sixel;

pub use detect::detect;

use crate::figure::{Figure, Panel, PictureSize};
use crate::{layout, raster};
use base64::Engine as _;
use ncirrus::Result;
use std::fmt::Write as _;

/// How a terminal shows pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Graphics {
    /// The protocol of kitty, which Ghostty and Konsole have, too.
    Kitty,
    /// The protocol of iTerm2, which WezTerm and mintty have, too.
    Iterm2,
    /// Sixel graphics.
    Sixel,
    /// Half blocks in colours of 24 bits.
    Blocks,
    /// Half blocks in 256 colours.
    Blocks256,
    /// Characters without colours.
    Text,
}

impl Graphics {
    /// All kinds with their names.
    pub const NAMES: [(&'static str, Self); 6] = [
        ("kitty", Self::Kitty),
        ("iterm2", Self::Iterm2),
        ("sixel", Self::Sixel),
        ("blocks", Self::Blocks),
        ("blocks256", Self::Blocks256),
        ("text", Self::Text),
    ];

    /// Whether pictures are pixels, not characters.
    pub fn has_pixels(self) -> bool {
        matches!(self, Self::Kitty | Self::Iterm2 | Self::Sixel)
    }
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// Characters of a line.
    pub columns: usize,
    /// Lines.
    pub rows: usize,
    /// Pixels across and down, if the terminal reports them.
    pub pixels: Option<(u32, u32)>,
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self { columns: 80, rows: 24, pixels: None }
    }
}

/// Pixels of a character where the terminal does not report them.
const CELL: (u32, u32) = (10, 20);

impl TerminalSize {
    /// Columns and rows that characters can use: at least a few, and no more than a picture needs.
    fn usable(self) -> (usize, usize) {
        // The line of the prompt remains.
        (self.columns.clamp(40, 500), self.rows.saturating_sub(1).clamp(12, 200))
    }

    /// The size of a picture in the terminal.
    pub fn picture(self) -> PictureSize {
        let (columns, rows) = self.usable();
        let side = |count: usize, cell: u32| u32::try_from(count).unwrap_or(u32::MAX).saturating_mul(cell);
        let all = self.pixels.filter(|(width, height)| *width > 0 && *height > 0);
        let (width, height) = all.unwrap_or((side(columns, CELL.0), side(rows, CELL.1)));
        PictureSize {
            width: width.clamp(400, 1400),
            height: (height / 100 * 85).clamp(300, 900),
            fixed: false,
        }
    }

    /// How many values can be seen across and down.
    pub fn visible(self, graphics: Graphics) -> Option<(u64, u64)> {
        let (columns, rows) = self.usable();
        (!graphics.has_pixels()).then_some((columns as u64, rows as u64 * 2))
    }
}

/// A figure as what a terminal displays it by.
///
/// # Errors
/// `Invalid` if the figure's size is not one that a picture can have.
pub fn show(figure: &Figure, graphics: Graphics, size: TerminalSize) -> Result<Vec<u8>> {
    Ok(match graphics {
        Graphics::Kitty => kitty(&figure.to_png()?),
        Graphics::Iterm2 => iterm2(&figure.to_png()?),
        Graphics::Sixel => sixel::encode(&raster::pixmap(&layout::scene(figure)?)?),
        Graphics::Blocks | Graphics::Blocks256 | Graphics::Text => {
            let canvas = match &figure.panel {
                Panel::Lines(lines) => braille::canvas(figure, lines, size.usable()),
                Panel::Field(field) => cells::canvas(figure, field, size.usable(), graphics)?,
            };
            canvas.text(graphics).into_bytes()
        }
    })
}

/// A PNG file in kitty's protocol: parts of at most 4096 bytes of base64.
fn kitty(png: &[u8]) -> Vec<u8> {
    let encoded = base64::engine::general_purpose::STANDARD.encode(png);
    let mut text = String::with_capacity(encoded.len() + 1024);
    let mut rest = encoded.as_str();
    let mut control = "a=T,f=100,";
    while !rest.is_empty() {
        let (part, after) = rest.split_at(rest.len().min(4096));
        _ = write!(text, "\x1b_G{control}m={};{part}\x1b\\", u8::from(!after.is_empty()));
        (rest, control) = (after, "");
    }
    text.push('\n');
    text.into_bytes()
}

/// A PNG file in iTerm2's protocol.
fn iterm2(png: &[u8]) -> Vec<u8> {
    let encoded = base64::engine::general_purpose::STANDARD.encode(png);
    format!("\x1b]1337;File=inline=1;size={}:{encoded}\x07\n", png.len()).into_bytes()
}
