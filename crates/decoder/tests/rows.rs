//! Matrices that are laid out as they are read, against the same matrices read first and laid out
//! from memory.

mod support;

use half::{bf16, f16};
use relscale_decoder::checkpoint::Checkpoint;
use relscale_decoder::kernels::{Choice, Dtype, Format, Order, Packed};
use relscale_decoder::weights::{Keep, Matrix, Role};
use support::{Stored, copy, edit_tensors};

/// Rows and columns: around panels of 32, tiles of 192, blocks of 512 and 1024 numbers, and nothing
/// at all.
const SHAPES: [(usize, usize); 9] =
    [(1, 1), (2, 7), (32, 33), (34, 64), (96, 16), (200, 513), (386, 1030), (4, 0), (0, 4)];

/// Numbers that bf16, f16 and f32 round differently, some of them too small or too large for f16.
fn numbers(count: usize) -> Vec<f32> {
    let each = |i: u32| {
        ((i.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0)
            * 1e-5_f32.powi(i as i32 % 3 - 1)
    };
    (0..count as u32).map(each).collect()
}

/// The bytes of `numbers` in a type, and the numbers that are left of them.
fn stored(kind: safetensors::Dtype, numbers: &[f32]) -> (Vec<u8>, Vec<f32>) {
    let of_one = |v: &f32| match kind {
        safetensors::Dtype::F16 => {
            (f16::from_f32(*v).to_le_bytes().to_vec(), f16::from_f32(*v).to_f32())
        }
        safetensors::Dtype::BF16 => {
            (bf16::from_f32(*v).to_le_bytes().to_vec(), bf16::from_f32(*v).to_f32())
        }
        _ => (v.to_le_bytes().to_vec(), *v),
    };
    let (bytes, left): (Vec<Vec<u8>>, Vec<f32>) = numbers.iter().map(of_one).unzip();
    (bytes.concat(), left)
}

#[test]
fn a_matrix_is_laid_out_from_its_file_as_from_memory() {
    let roles = [
        (Role::Table, Order::Table),
        (Role::Linear, Order::Plain),
        (Role::Gated, Order::Gated),
        (Role::Head, Order::Head),
    ];
    for kind in [safetensors::Dtype::F32, safetensors::Dtype::F16, safetensors::Dtype::BF16] {
        for (rows, columns) in SHAPES {
            let (data, left) = stored(kind, &numbers(rows * columns));
            let folder = copy("gpt2");
            edit_tensors(folder.path(), |tensors| {
                tensors
                    .insert("w".into(), Stored { dtype: kind, shape: vec![rows, columns], data });
            });
            let checkpoint = Checkpoint::open(folder.path()).unwrap();
            let turned = (0..columns * rows).map(|i| left[i % rows * columns + i / rows]).collect();
            for (lazy, matrix) in [
                (checkpoint.rows("w").unwrap(), Matrix { rows, columns, data: left.clone() }),
                (
                    checkpoint.columns("w").unwrap(),
                    Matrix { rows: columns, columns: rows, data: turned },
                ),
            ] {
                for format in [Dtype::F32, Dtype::Bf16].into_iter().flat_map(Format::all) {
                    for (role, order) in roles {
                        if order == Order::Gated && !matrix.rows.is_multiple_of(2) {
                            continue;
                        }
                        let place = format!(
                            "{kind:?} {}x{} {format:?} {order:?}",
                            matrix.rows, matrix.columns
                        );
                        let packed = Packed::keep(&lazy, role, format).unwrap();
                        assert_eq!(packed, Packed::new(&matrix, format, order), "{place}");
                        if order != Order::Gated {
                            // What was laid out gives its rows back, in the numbers of the format.
                            let mut row = vec![0.0; matrix.columns];
                            for at in 0..matrix.rows {
                                packed.row_into(at, &mut row);
                                let kept = |v: &f32| match format.dtype() {
                                    Dtype::F32 => *v,
                                    Dtype::Bf16 => bf16::from_f32(*v).to_f32(),
                                };
                                let wanted = matrix.row(at).iter().map(kept);
                                assert!(row.iter().copied().eq(wanted), "{place}, row {at}");
                            }
                        }
                    }
                }
                assert_eq!(
                    Matrix::keep(&lazy, Role::Linear, Format::new(Dtype::F32, Choice::Best))
                        .unwrap(),
                    matrix
                );
            }
        }
    }
}
