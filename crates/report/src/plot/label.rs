//! Labels in the margin: beside the end of their line, pushed apart where they would overlap.

/// The tops of labels of the given heights in a margin from `top` to `bottom`, as near as may be to
/// the wanted centres, in the order of the input. Where they cannot all fit they run over the
/// bottom, still in order and apart.
pub(super) fn spread(wanted: &[(f64, f64)], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].0.total_cmp(&wanted[b].0));

    let mut tops = vec![0.0; wanted.len()];
    let mut free = top;
    for &at in &order {
        let (centre, height) = wanted[at];
        tops[at] = f64::max(centre - height / 2.0, free);
        free = tops[at] + height;
    }
    // Those that were pushed out below go back up, and push those above them.
    let mut limit = bottom;
    for &at in order.iter().rev() {
        let height = wanted[at].1;
        tops[at] = f64::min(tops[at], limit - height);
        limit = tops[at];
    }
    // Too many for the margin: better over the bottom than over the heading.
    let above = order.first().map_or(0.0, |&first| f64::max(top - tops[first], 0.0));
    tops.iter().map(|label| label + above).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_have_room_stay_where_they_belong() {
        assert_eq!(spread(&[(50.0, 20.0), (10.0, 20.0)], 0.0, 100.0), [40.0, 0.0]);
    }

    #[test]
    fn crowded_labels_are_apart_inside_and_in_order() {
        let tops = spread(&[(95.0, 20.0), (94.0, 20.0), (96.0, 20.0)], 0.0, 100.0);
        assert_eq!(tops, [60.0, 40.0, 80.0]);
    }

    #[test]
    fn too_many_labels_leave_by_the_bottom() {
        let tops = spread(&[(5.0, 20.0); 4], 0.0, 50.0);
        assert_eq!(tops, [0.0, 20.0, 40.0, 60.0]);
    }
}
