//! What a picture shows, as plain data.
use crate::axis::Axis;
use crate::grid::Cells;
use crate::scale::ColourScale;

/// Width and height of a picture in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureSize {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Whether the picture has exactly this height; otherwise a map is as high as it needs to be.
    pub fixed: bool,
}

impl PictureSize {
    /// Pictures have at least as many pixels across and down.
    pub const MIN: u32 = 200;
    /// Pictures have at most as many pixels across and down.
    pub const MAX: u32 = 8192;
}

impl Default for PictureSize {
    fn default() -> Self {
        Self { width: 1000, height: 600, fixed: false }
    }
}

/// A picture: its texts and its panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What is shown: the variable and its units.
    pub title: String,
    /// Which part is shown: time, level.
    pub subtitle: String,
    /// The dataset.
    pub source: String,
    /// The panel.
    pub panel: Panel,
    /// The size of the picture.
    pub size: PictureSize,
}

/// The part of a figure inside its axes.
#[derive(Debug, Clone, PartialEq)]
pub enum Panel {
    /// Lines over one axis.
    Lines(LinePanel),
    /// Colours over two axes: a map or an image.
    Field(FieldPanel),
}

/// Lines over one axis.
#[derive(Debug, Clone, PartialEq)]
pub struct LinePanel {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// Its points; the line is interrupted where one is not finite.
    pub points: Vec<(f64, f64)>,
}

/// Colours over two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldPanel {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Where each value is drawn.
    pub cells: Cells,
    /// The values, row-major; NaN for missing ones.
    pub values: Vec<f64>,
    /// Their colours.
    pub scale: ColourScale,
    /// Name and units of the values.
    pub label: String,
    /// Whether the axes are longitude and latitude, so that coastlines are drawn.
    pub is_map: bool,
}

impl Figure {
    /// A line for readers who do not see the picture.
    pub fn description(&self) -> String {
        let kind = match &self.panel {
            Panel::Lines(lines) => format!("Line plot of {} over {}", self.title, lines.x.label),
            Panel::Field(field) if field.is_map => format!("Map of {}", self.title),
            Panel::Field(field) => {
                format!("Image of {}: {} over {}", self.title, field.y.label, field.x.label)
            }
        };
        let parts = [kind, self.subtitle.clone(), self.source.clone()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    }
}
