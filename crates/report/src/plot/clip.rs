//! Lines cut where they leave the axes: moved to the edge, their ends would change the slope that is seen.

/// A rectangle: left, right, and the two ends of the vertical.
pub(super) struct Bounds {
    pub(super) x: (f64, f64),
    pub(super) y: (f64, f64),
}

/// The parts of a line through `points` that lie inside, each of two points or more.
pub(super) fn inside(points: &[(f64, f64)], bounds: &Bounds) -> Vec<Vec<(f64, f64)>> {
    let mut parts: Vec<Vec<(f64, f64)>> = Vec::new();
    for ends in points.windows(2) {
        let Some((from, to)) = segment(ends[0], ends[1], bounds) else { continue };
        match parts.last_mut() {
            Some(part) if part.last() == Some(&from) => part.push(to),
            _ => parts.push(vec![from, to]),
        }
    }
    parts
}

/// The part of one segment that lies inside (Liang and Barsky 1984).
fn segment(from: (f64, f64), to: (f64, f64), bounds: &Bounds) -> Option<((f64, f64), (f64, f64))> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    if !(dx.is_finite() && dy.is_finite()) {
        return None;
    }
    let (mut enter, mut leave) = (0.0, 1.0);
    for (step, room) in [
        (-dx, from.0 - bounds.x.0),
        (dx, bounds.x.1 - from.0),
        (-dy, from.1 - bounds.y.0),
        (dy, bounds.y.1 - from.1),
    ] {
        if step == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if step < 0.0 {
            enter = f64::max(enter, room / step);
        } else {
            leave = f64::min(leave, room / step);
        }
    }
    let at = |share: f64| (from.0 + share * dx, from.1 + share * dy);
    // The very ends, so that parts meet exactly.
    let first = if enter > 0.0 { at(enter) } else { from };
    let last = if leave < 1.0 { at(leave) } else { to };
    (enter < leave).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: Bounds = Bounds { x: (0.0, 10.0), y: (0.0, 10.0) };

    #[test]
    fn what_lies_inside_stays_in_one_piece() {
        let line = [(0.0, 0.0), (5.0, 2.0), (10.0, 10.0)];
        assert_eq!(inside(&line, &SQUARE), [line.to_vec()]);
    }

    #[test]
    fn a_line_that_leaves_is_cut_at_the_edge_and_keeps_its_slope() {
        assert_eq!(inside(&[(0.0, 5.0), (10.0, 15.0)], &SQUARE), [[(0.0, 5.0), (5.0, 10.0)]]);
        let bent = [(0.0, 5.0), (5.0, -5.0), (10.0, 5.0)];
        assert_eq!(inside(&bent, &SQUARE), [[(0.0, 5.0), (2.5, 0.0)], [(7.5, 0.0), (10.0, 5.0)]]);
    }

    #[test]
    fn what_lies_outside_or_nowhere_is_not_drawn() {
        assert!(inside(&[(0.0, 11.0), (10.0, 12.0)], &SQUARE).is_empty());
        assert!(inside(&[(0.0, 5.0), (5.0, f64::NEG_INFINITY)], &SQUARE).is_empty());
        assert!(inside(&[(5.0, 5.0)], &SQUARE).is_empty());
    }
}
