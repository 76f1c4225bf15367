//! The colour bar beside a field.
use super::{GAP, TICK, text, ticks_for, widest, widest_of};
use crate::axis::Axis;
use crate::clip::Bounds;
use crate::figure::FieldPanel;
use crate::scene::{Anchor, BLACK, Picture, Scene, Shape, TextSize, fitted};
use crate::ticks::Tick;

const BAR: f64 = 18.0;
const APART: f64 = 18.0;
/// Height of the point at an end beyond which there are values.
const POINT: f64 = 12.0;
/// Colours of the bar.
const STEPS: usize = 256;

fn axis(field: &FieldPanel) -> Axis {
    Axis { log: field.scale.log, ..Axis::numbers("", field.scale.low, field.scale.high) }
}

fn ticks(field: &FieldPanel, height: f64) -> Vec<Tick> {
    axis(field).ticks(ticks_for(height, 45.0))
}

/// The pixels that the bar needs beside the panel.
pub(super) fn width(field: &FieldPanel) -> f64 {
    let labels = widest_of(&axis(field));
    APART + BAR + TICK + GAP + labels + GAP + TextSize::Small.height()
}

pub(super) fn draw(field: &FieldPanel, panel: Bounds, scene: &mut Scene) {
    let (left, right) = (panel.right + APART, panel.right + APART + BAR);
    let (mut top, mut bottom) = (panel.top, panel.bottom);
    let colour = |position: f64| field.scale.colours.colour(position);
    if field.scale.clips_high {
        top += POINT;
        let points = vec![(left, top), ((left + right) / 2.0, panel.top), (right, top)];
        scene.shapes.push(Shape::Polygon { points, colour: colour(1.0) });
    }
    if field.scale.clips_low {
        bottom -= POINT;
        let points = vec![(left, bottom), ((left + right) / 2.0, panel.bottom), (right, bottom)];
        scene.shapes.push(Shape::Polygon { points, colour: colour(0.0) });
    }
    let mut picture = Picture::new(1, STEPS);
    for step in 0..STEPS {
        picture.set(0, step, colour(1.0 - (step as f64 + 0.5) / STEPS as f64));
    }
    let bounds = Bounds { left, top, right, bottom };
    scene.shapes.push(Shape::Image { bounds, picture });
    outline(field, bounds, panel, scene);
    let small = TextSize::Small;
    let (axis, ticks) = (axis(field), ticks(field, bottom - top));
    for tick in &ticks {
        let at = bottom - axis.position(tick.value) * (bottom - top);
        let points = vec![(right, at), (right + TICK, at)];
        scene.shapes.push(Shape::Line { points, colour: BLACK, opacity: 1.0, width: 1.0 });
        scene.shapes.push(text((right + TICK + 3.0, at), tick.label.clone(), small, Anchor::Start, BLACK));
    }
    scene.shapes.push(Shape::Text {
        x: right + TICK + GAP + widest(&ticks) + GAP + small.height() / 2.0 - 4.0,
        y: (panel.top + panel.bottom) / 2.0,
        text: fitted(&field.label, small, panel.height()),
        size: small,
        anchor: Anchor::Middle,
        vertical: true,
        colour: BLACK,
    });
}

fn outline(field: &FieldPanel, bar: Bounds, panel: Bounds, scene: &mut Scene) {
    let middle = (bar.left + bar.right) / 2.0;
    let mut points = vec![(bar.left, bar.top)];
    if field.scale.clips_high {
        points.push((middle, panel.top));
    }
    points.extend([(bar.right, bar.top), (bar.right, bar.bottom)]);
    if field.scale.clips_low {
        points.push((middle, panel.bottom));
    }
    points.extend([(bar.left, bar.bottom), (bar.left, bar.top)]);
    scene.shapes.push(Shape::Line { points, colour: BLACK, opacity: 1.0, width: 1.0 });
}
