//! Lines cut at a rectangle (Liang and Barsky, 1984).

/// A rectangle: left, top, right, bottom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

type Point = (f64, f64);

impl Bounds {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// The part of a line that is inside.
    fn segment(&self, from: Point, to: Point) -> Option<(Point, Point)> {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let (mut enter, mut leave) = (0.0f64, 1.0f64);
        let sides = [
            (-dx, from.0 - self.left),
            (dx, self.right - from.0),
            (-dy, from.1 - self.top),
            (dy, self.bottom - from.1),
        ];
        for (speed, distance) in sides {
            if speed == 0.0 {
                if distance < 0.0 {
                    return None;
                }
            } else {
                let at = distance / speed;
                if speed < 0.0 {
                    enter = enter.max(at);
                } else {
                    leave = leave.min(at);
                }
            }
        }
        let point = |at: f64| (from.0 + at * dx, from.1 + at * dy);
        (enter <= leave && dx.is_finite() && dy.is_finite()).then(|| (point(enter), point(leave)))
    }

    /// The parts of a line through points that are inside. Points that are not finite interrupt it.
    pub(crate) fn clip(&self, points: &[Point]) -> Vec<Vec<Point>> {
        let mut parts: Vec<Vec<Point>> = Vec::new();
        for pair in points.windows(2) {
            let Some((from, to)) = self.segment(pair[0], pair[1]) else { continue };
            match parts.last_mut().filter(|part| part.last() == Some(&from)) {
                Some(part) => part.push(to),
                None => parts.push(vec![from, to]),
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Bounds = Bounds { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0 };

    #[test]
    fn lines_end_at_the_box() {
        assert_eq!(BOX.clip(&[(-5.0, 5.0), (15.0, 5.0)]), [[(0.0, 5.0), (10.0, 5.0)]]);
        assert!(BOX.clip(&[(-5.0, 5.0), (-1.0, 15.0)]).is_empty());
        let parts = BOX.clip(&[(1.0, 1.0), (2.0, 2.0), (f64::NAN, 3.0), (4.0, 4.0), (5.0, 5.0)]);
        assert_eq!(parts, [[(1.0, 1.0), (2.0, 2.0)], [(4.0, 4.0), (5.0, 5.0)]]);
    }
}
