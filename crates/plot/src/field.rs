//! The cells of a field as pixels, and coastlines over them.
use crate::clip::Bounds;
use crate::coastlines::{Coastlines, Detail};
use crate::figure::FieldPanel;
use crate::grid::{self, Cells, Corners};
use crate::number::{index, pixel};
use crate::scene::Picture;
use ncirrus::{Error, ErrorKind, Result};
use tiny_skia::{FillRule, Paint, PathBuilder, Pixmap, Transform};

/// Maps narrower than this many degrees have the fine coastlines.
const REGION: f64 = 100.0;

impl FieldPanel {
    /// The cells in as many pixels.
    pub(crate) fn picture(&self, width: usize, height: usize) -> Picture {
        match &self.cells {
            Cells::Rectilinear { x, y } => self.rectilinear((x, y), width, height),
            Cells::Curvilinear { x, y, columns, degrees } => {
                self.curvilinear((x, y, *columns, *degrees), width, height)
            }
        }
    }

    fn rectilinear(&self, (x, y): (&[f64], &[f64]), width: usize, height: usize) -> Picture {
        let mut picture = Picture::new(width, height);
        let columns = x.len().saturating_sub(1);
        let at = |number: usize, count: usize| (number as f64 + 0.5) / count.max(1) as f64;
        let column_of = |number| self.column(x, self.x.value(at(number, width)));
        let row_of = |number| grid::cell_of(y, self.y.value(1.0 - at(number, height)));
        let columns_of: Vec<Option<usize>> = (0..width).map(column_of).collect();
        for (line, row) in (0..height).map(row_of).enumerate() {
            let Some(row) = row else { continue };
            for (place, column) in columns_of.iter().enumerate() {
                let value = column.and_then(|column| self.values.get(row * columns + column));
                if let Some(colour) = value.and_then(|value| self.scale.colour(*value)) {
                    picture.set(place, line, colour);
                }
            }
        }
        picture
    }

    /// The column of a number; on maps also that of the number a turn away.
    fn column(&self, edges: &[f64], number: f64) -> Option<usize> {
        let turns: &[f64] = if self.is_map { &[0.0, 360.0, -360.0] } else { &[0.0] };
        turns.iter().find_map(|turn| grid::cell_of(edges, number + turn))
    }

    fn curvilinear(
        &self,
        (x, y, columns, degrees): (&[f64], &[f64], usize, bool),
        width: usize,
        height: usize,
    ) -> Picture {
        let mut picture = Picture::new(width, height);
        let side = |pixels: usize| u32::try_from(pixels).unwrap_or(0);
        let Some(mut pixmap) = Pixmap::new(side(width), side(height)) else { return picture };
        let place = |corner: (f64, f64), turn: f64| {
            let across = self.x.position(corner.0 + turn) * width as f64;
            (across, (1.0 - self.y.position(corner.1)) * height as f64)
        };
        let turns: &[f64] = if degrees { &[0.0, 360.0, -360.0] } else { &[0.0] };
        grid::each_cell(x, y, columns, degrees, |number, corners| {
            let colour = self.values.get(number).and_then(|value| self.scale.colour(*value));
            let Some([red, green, blue]) = colour else { return };
            let mut paint = Paint::default();
            paint.set_color_rgba8(red, green, blue, 255);
            paint.anti_alias = false;
            for turn in turns {
                let placed = corners.map(|corner| place(corner, *turn));
                if is_visible(&placed, width, height) {
                    fill(&mut pixmap, &placed, &paint);
                }
            }
        });
        picture.rgba.copy_from_slice(pixmap.data());
        picture
    }

    /// The coastlines inside the panel, as lines in the bounds.
    pub(crate) fn coastlines(&self, bounds: Bounds) -> Result<Vec<Vec<(f64, f64)>>> {
        if !self.is_map {
            return Ok(Vec::new());
        }
        let (low, high) = (self.x.start.min(self.x.end), self.x.start.max(self.x.end));
        let detail = if high - low > REGION { Detail::Coarse } else { Detail::Fine };
        let all =
            Coastlines::of(detail).map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
        let (first, last) = (((low - 180.0) / 360.0).ceil(), ((high + 180.0) / 360.0).floor());
        let mut lines = Vec::new();
        let mut turn = first;
        while turn <= last && lines.len() < 1 << 20 {
            for line in &all.lines {
                let place = |(lon, lat): &(f64, f64)| {
                    let across = self.x.position(lon + turn * 360.0);
                    let up = self.y.position(*lat);
                    (bounds.left + across * bounds.width(), bounds.bottom - up * bounds.height())
                };
                lines.extend(bounds.clip(&line.iter().map(place).collect::<Vec<_>>()));
            }
            turn += 1.0;
        }
        Ok(lines)
    }
}

/// Whether a quadrilateral may touch the picture.
fn is_visible(corners: &Corners, width: usize, height: usize) -> bool {
    let reach = |of: fn(&(f64, f64)) -> f64| {
        let numbers = corners.iter().map(of);
        numbers.fold((f64::MAX, f64::MIN), |(low, high), number| (low.min(number), high.max(number)))
    };
    let (x, y) = (reach(|corner| corner.0), reach(|corner| corner.1));
    x.1 >= 0.0 && x.0 <= width as f64 && y.1 >= 0.0 && y.0 <= height as f64
}

fn fill(pixmap: &mut Pixmap, corners: &Corners, paint: &Paint<'_>) {
    let mut path = PathBuilder::new();
    for (number, (x, y)) in corners.iter().enumerate() {
        if number == 0 {
            path.move_to(pixel(*x), pixel(*y));
        } else {
            path.line_to(pixel(*x), pixel(*y));
        }
    }
    path.close();
    if let Some(path) = path.finish() {
        pixmap.fill_path(&path, paint, FillRule::Winding, Transform::identity(), None);
    }
}

/// Draws lines as pixels of one colour (Bresenham, 1965), where half blocks leave no room for finer ones.
pub(crate) fn draw_pixels(
    picture: &mut Picture,
    lines: &[Vec<(f64, f64)>],
    colour: impl Fn([u8; 4]) -> [u8; 3],
) {
    let mut touched = vec![false; picture.width * picture.height];
    for pair in lines.iter().flat_map(|line| line.windows(2)) {
        let (from, to) = (pair[0], pair[1]);
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().clamp(1.0, 1e5);
        for step in 0..=index(steps) {
            let at = step as f64 / steps;
            let (x, y) = (from.0 + (to.0 - from.0) * at, from.1 + (to.1 - from.1) * at);
            let (x, y) = (index(x.max(0.0)), index(y.max(0.0)));
            if x < picture.width && y < picture.height {
                touched[y * picture.width + x] = true;
            }
        }
    }
    for (number, _) in touched.iter().enumerate().filter(|(_, touched)| **touched) {
        let (x, y) = (number % picture.width, number / picture.width);
        if let Some(below) = picture.pixel(x, y) {
            picture.set(x, y, colour(below));
        }
    }
}
