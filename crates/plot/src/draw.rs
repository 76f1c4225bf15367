//! Figures as files.
use crate::figure::Figure;
use crate::{layout, raster, svg};
use ncirrus::Result;

impl Figure {
    /// The picture as PNG. Missing values are transparent.
    ///
    /// # Errors
    /// `Invalid` if the size is not one that a picture can have.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        raster::png(&layout::scene(self)?)
    }

    /// The picture as SVG, with text as text. The cells of maps and images are pixels.
    ///
    /// # Errors
    /// As [`to_png`](Self::to_png).
    pub fn to_svg(&self) -> Result<String> {
        svg::text(&layout::scene(self)?)
    }
}
