//! A picture as shapes, before it is drawn by the rasteriser or written as SVG.
use crate::clip::Bounds;
use crate::colours::Rgb;
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster_width};

/// Pixels: red, green, blue, opacity.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) rgba: Vec<u8>,
}

impl Picture {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self { width, height, rgba: vec![0; width * height * 4] }
    }

    pub(crate) fn pixel(&self, x: usize, y: usize) -> Option<[u8; 4]> {
        let at = (y * self.width + x) * 4;
        let pixel = self.rgba.get(at..at + 4).filter(|_| x < self.width)?;
        pixel.try_into().ok()
    }

    pub(crate) fn set(&mut self, x: usize, y: usize, colour: Rgb) {
        let at = (y * self.width + x) * 4;
        if let (Some(pixel), true) = (self.rgba.get_mut(at..at + 4), x < self.width) {
            pixel.copy_from_slice(&[colour[0], colour[1], colour[2], 255]);
        }
    }
}

/// Where a text is in relation to its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// The sizes of text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TextSize {
    Small,
    Title,
}

impl TextSize {
    /// Pixels of a line.
    pub(crate) fn height(self) -> f64 {
        match self {
            Self::Small => 16.0,
            Self::Title => 20.0,
        }
    }

    /// Pixels of a character.
    pub(crate) fn advance(self) -> f64 {
        let (weight, height) = self.font();
        get_raster_width(weight, height) as f64
    }

    pub(crate) fn font(self) -> (FontWeight, RasterHeight) {
        match self {
            Self::Small => (FontWeight::Regular, RasterHeight::Size16),
            Self::Title => (FontWeight::Bold, RasterHeight::Size20),
        }
    }

    /// Pixels of a text.
    pub(crate) fn width(self, text: &str) -> f64 {
        text.chars().count() as f64 * self.advance()
    }
}

/// A shape. Coordinates are pixels from the top left.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// A filled rectangle.
    Box { bounds: Bounds, colour: Rgb },
    /// A line through points.
    Line { points: Vec<(f64, f64)>, colour: Rgb, opacity: f64, width: f64 },
    /// A filled polygon.
    Polygon { points: Vec<(f64, f64)>, colour: Rgb },
    /// Pixels, which replace those below them, with their opacity.
    Image { bounds: Bounds, picture: Picture },
    /// Text; `y` is its middle line. Vertical text is read from below, and `x` is its middle line.
    Text { x: f64, y: f64, text: String, size: TextSize, anchor: Anchor, vertical: bool, colour: Rgb },
}

/// A picture of shapes on white ground.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) shapes: Vec<Shape>,
    /// What the picture shows, for readers who do not see it.
    pub(crate) description: String,
}

pub(crate) const BLACK: Rgb = [34, 34, 34];
pub(crate) const QUIET: Rgb = [110, 110, 110];
pub(crate) const GRID: Rgb = [224, 224, 224];
pub(crate) const WHITE: Rgb = [255, 255, 255];

/// The beginning of a text that fits a width.
pub(crate) fn fitted(text: &str, size: TextSize, width: f64) -> String {
    let most = crate::number::index((width / size.advance()).floor());
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(3)).collect();
    if most < 4 { kept } else { format!("{}...", kept.trim_end()) }
}
