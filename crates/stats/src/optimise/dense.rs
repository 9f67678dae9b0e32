//! Linear algebra for matrices of a few rows: the normal equations of at most five parameters.
//!
//! Columns are scaled to length one before anything is multiplied or inverted, so that the unit of
//! a parameter neither costs digits nor passes for ill conditioning.

/// `XᵀX` of the columns of X, each scaled to length one, with the lengths that were divided out.
#[derive(Debug, Clone)]
pub(crate) struct Symmetric {
    /// `size × size`, row-major, ones on the diagonal.
    pub(crate) values: Vec<f64>,
    /// Length of each column; 1 for a column of zeros.
    pub(crate) lengths: Vec<f64>,
}

impl Symmetric {
    /// From columns of equal length.
    pub(crate) fn from_columns(columns: &[Vec<f64>]) -> Self {
        let lengths: Vec<f64> = columns
            .iter()
            .map(|column| {
                let length = dot(column, column).sqrt();
                if length > 0.0 { length } else { 1.0 }
            })
            .collect();
        let values = columns
            .iter()
            .zip(&lengths)
            .flat_map(|(left, l)| {
                columns.iter().zip(&lengths).map(move |(right, r)| dot(left, right) / (l * r))
            })
            .collect();
        Self { values, lengths }
    }

    /// Ratio of the largest to the smallest singular value of the scaled columns; infinite when one
    /// of them is a combination of the others to within rounding.
    pub(crate) fn condition(&self) -> f64 {
        let eigenvalues = self.eigenvalues();
        let largest = eigenvalues.iter().fold(0.0_f64, |a, &b| a.max(b));
        let smallest = eigenvalues.iter().fold(f64::INFINITY, |a, &b| a.min(b));
        if smallest > 4.0 * f64::EPSILON * largest {
            (largest / smallest).sqrt()
        } else {
            f64::INFINITY
        }
    }

    /// The inverse of the unscaled `XᵀX`, row-major; `None` when there is none.
    pub(crate) fn inverse(&self) -> Option<Vec<f64>> {
        let size = self.lengths.len();
        let mut inverse = vec![0.0; size * size];
        for column in 0..size {
            let mut unit = vec![0.0; size];
            unit[column] = 1.0;
            let solved = solve(&self.values, &unit, 0.0)?;
            for row in 0..size {
                inverse[row * size + column] =
                    solved[row] / (self.lengths[row] * self.lengths[column]);
            }
        }
        Some(inverse)
    }

    /// By Jacobi's rotations, which converge for any symmetric matrix.
    fn eigenvalues(&self) -> Vec<f64> {
        let size = self.lengths.len();
        let mut a = self.values.clone();
        for _ in 0..30 {
            for p in 0..size {
                for q in p + 1..size {
                    let off = a[p * size + q];
                    if off == 0.0 {
                        continue;
                    }
                    let theta = (a[q * size + q] - a[p * size + p]) / (2.0 * off);
                    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                    let (c, s) = (t.hypot(1.0).recip(), t / t.hypot(1.0));
                    for k in 0..size {
                        let (kp, kq) = (a[k * size + p], a[k * size + q]);
                        a[k * size + p] = c * kp - s * kq;
                        a[k * size + q] = s * kp + c * kq;
                    }
                    for k in 0..size {
                        let (pk, qk) = (a[p * size + k], a[q * size + k]);
                        a[p * size + k] = c * pk - s * qk;
                        a[q * size + k] = s * pk + c * qk;
                    }
                }
            }
        }
        (0..size).map(|at| a[at * size + at]).collect()
    }
}

/// Solves `(A + damping · I) x = b` for a symmetric positive definite A by Cholesky's factor;
/// `None` when a pivot is no more than rounding.
pub(crate) fn solve(matrix: &[f64], right: &[f64], damping: f64) -> Option<Vec<f64>> {
    let size = right.len();
    let mut factor = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..=row {
            let known = dot(&factor[row * size..][..column], &factor[column * size..][..column]);
            let diagonal = if row == column { damping } else { 0.0 };
            let rest = matrix[row * size + column] + diagonal - known;
            factor[row * size + column] = if row > column {
                rest / factor[column * size + column]
            } else if rest > 16.0 * f64::EPSILON * (matrix[row * size + row] + damping) {
                rest.sqrt()
            } else {
                return None;
            };
        }
    }
    let mut x = right.to_vec();
    for row in 0..size {
        let known = dot(&factor[row * size..][..row], &x[..row]);
        x[row] = (x[row] - known) / factor[row * size + row];
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|below| factor[below * size + row] * x[below]).sum();
        x[row] = (x[row] - known) / factor[row * size + row];
    }
    Some(x)
}

pub(crate) fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(l, r)| l * r).sum()
}

/// Takes `share` times a direction off values.
pub(crate) fn subtract(values: &mut [f64], direction: &[f64], share: f64) {
    values.iter_mut().zip(direction).for_each(|(value, direction)| *value -= share * direction);
}

/// What of a column none of the orthonormal `known` has, and its length; `None` where that is no
/// more than `rounding` of the column's own.
pub(crate) fn remainder(
    mut column: Vec<f64>,
    known: &[Vec<f64>],
    rounding: f64,
) -> Option<(Vec<f64>, f64)> {
    let length = dot(&column, &column).sqrt();
    // Gram and Schmidt, twice for columns that are nearly parallel.
    for direction in known.iter().chain(known) {
        let share = dot(direction, &column);
        subtract(&mut column, direction, share);
    }
    let left = dot(&column, &column).sqrt();
    (left > rounding * length).then_some((column, left))
}

/// [`remainder`] divided by its length, which is returned beside it.
pub(crate) fn unit(column: Vec<f64>, known: &[Vec<f64>], rounding: f64) -> Option<(Vec<f64>, f64)> {
    let (mut column, length) = remainder(column, known, rounding)?;
    column.iter_mut().for_each(|value| *value /= length);
    Some((column, length))
}

/// An orthonormal basis of the columns' span; columns that add nothing are left out.
pub(crate) fn orthonormal(columns: Vec<Vec<f64>>, rounding: f64) -> Vec<Vec<f64>> {
    columns.into_iter().fold(Vec::new(), |mut basis, column| {
        basis.extend(unit(column, &basis, rounding).map(|(direction, _)| direction));
        basis
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_and_inverts_by_hand() {
        // [4 2; 2 3] x = [8; 7] has x = [1.25, 1.5].
        let x = solve(&[4.0, 2.0, 2.0, 3.0], &[8.0, 7.0], 0.0).unwrap();
        assert!((x[0] - 1.25).abs() < 1e-15 && (x[1] - 1.5).abs() < 1e-15);
        assert_eq!(solve(&[1.0, 1.0, 1.0, 1.0], &[1.0, 1.0], 0.0), None);
        assert!(solve(&[1.0, 1.0, 1.0, 1.0], &[1.0, 1.0], 1e-3).is_some());
        // Columns (1, 1, 1) and (0, 1, 2): XᵀX = [3 3; 3 5], its inverse [5 -3; -3 3] / 6.
        let inverse =
            Symmetric::from_columns(&[vec![1.0; 3], vec![0.0, 1.0, 2.0]]).inverse().unwrap();
        for (found, expected) in inverse.iter().zip([5.0 / 6.0, -0.5, -0.5, 0.5]) {
            assert!((found - expected).abs() < 1e-14, "{inverse:?}");
        }
    }

    #[test]
    fn conditioning_is_of_directions_not_of_units() {
        let condition = |scale: f64| {
            Symmetric::from_columns(&[vec![1.0, 1.0, 0.0], vec![0.0, scale, scale]]).condition()
        };
        // Unit columns at 60 degrees: eigenvalues 1 ± 1/2.
        assert!((condition(1.0) - 3.0_f64.sqrt()).abs() < 1e-14);
        assert!((condition(1e-12) - condition(1e9)).abs() < 1e-12);
        assert_eq!(
            Symmetric::from_columns(&[vec![1.0, 2.0], vec![2.0, 4.0]]).condition(),
            f64::INFINITY
        );
    }
}
