//! Lines cut where they leave the axes: moved to the edge, their ends would change the slope that
//! is seen.

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

/// A line through `points` held between two heights: where it crosses one of them it has a corner,
/// so that it keeps its slope up to there.
pub(super) fn bent(points: &[(f64, f64)], (top, bottom): (f64, f64)) -> Vec<(f64, f64)> {
    // A height that is no number is that of a log of zero or less: below everything.
    let held = |(x, y): (f64, f64)| (x, if y.is_nan() { bottom } else { y.clamp(top, bottom) });
    let mut line: Vec<(f64, f64)> = points.first().map(|&first| held(first)).into_iter().collect();
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let share = |limit: f64| (limit - from.1) / (to.1 - from.1);
        let mut corners = [share(top), share(bottom)];
        corners.sort_by(f64::total_cmp);
        let inside = corners.into_iter().filter(|share| *share > 0.0 && *share < 1.0);
        line.extend(inside.map(|share| {
            held((from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1)))
        }));
        line.push(held(to));
    }
    line
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
    fn an_area_that_leaves_goes_along_the_edge() {
        let bent = bent(&[(0.0, 5.0), (10.0, 15.0), (20.0, -5.0)], (0.0, 10.0));
        assert_eq!(
            bent,
            [(0.0, 5.0), (5.0, 10.0), (10.0, 10.0), (12.5, 10.0), (17.5, 0.0), (20.0, 0.0)]
        );
        assert_eq!(
            super::bent(&[(0.0, 5.0), (1.0, f64::NAN)], (0.0, 10.0)),
            [(0.0, 5.0), (1.0, 10.0)]
        );
    }

    #[test]
    fn what_lies_outside_or_nowhere_is_not_drawn() {
        assert!(inside(&[(0.0, 11.0), (10.0, 12.0)], &SQUARE).is_empty());
        assert!(inside(&[(0.0, 5.0), (5.0, f64::NEG_INFINITY)], &SQUARE).is_empty());
        assert!(inside(&[(5.0, 5.0)], &SQUARE).is_empty());
    }
}
