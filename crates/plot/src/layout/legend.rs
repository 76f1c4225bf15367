//! The legend above a panel of lines.
use super::{GAP, MARGIN, text};
use crate::colours;
use crate::figure::LinePanel;
use crate::scene::{Anchor, BLACK, Scene, Shape, TextSize, fitted};

const SWATCH: f64 = 24.0;
const APART: f64 = 24.0;

/// The pixels that title, axes and a low panel need.
const REST: f64 = 260.0;

/// Draws the legend of two and more lines, in as many rows as it needs and has room for, and returns where it ends.
pub(super) fn draw(lines: &LinePanel, top: f64, scene: &mut Scene) -> f64 {
    if lines.series.len() < 2 {
        return top;
    }
    let small = TextSize::Small;
    let room = scene.width - 2.0 * MARGIN;
    let (mut x, mut y) = (MARGIN, top + small.height() / 2.0);
    // Below this line there is no further row.
    let lowest = y + (scene.height - REST - small.height()).max(0.0);
    for (number, series) in lines.series.iter().enumerate() {
        let label = fitted(&series.label, small, room - SWATCH - GAP);
        let width = SWATCH + GAP + small.width(&label);
        let more = format!("and {} more", lines.series.len() - number);
        let is_last = number + 1 == lines.series.len();
        let end = if is_last || y < lowest { 0.0 } else { APART + small.width(&more) };
        if x > MARGIN && x + width + end > MARGIN + room {
            if y >= lowest {
                if x + small.width(&more) > MARGIN + room {
                    (x, y) = (MARGIN, y + small.height() + 2.0);
                }
                scene.shapes.push(text((x, y), more, small, Anchor::Start, BLACK));
                break;
            }
            (x, y) = (MARGIN, y + small.height() + 2.0);
        }
        let points = vec![(x, y), (x + SWATCH, y)];
        scene.shapes.push(Shape::Line { points, colour: colours::of_line(number), opacity: 1.0, width: 3.0 });
        scene.shapes.push(text((x + SWATCH + GAP, y), label, small, Anchor::Start, BLACK));
        x += width + APART;
    }
    y + small.height() / 2.0 + 2.0
}
