//! The steps along the inner dimension, as lists: what both machines run.
//!
//! Registers 0 to 3 hold the sums, `[upper left, upper right, lower left, lower right]`, 4 and 5
//! activations, 6 and 7 weights. `(load R a AT)` loads register `R` with the tile that lies `AT`
//! bytes into the step's activations, `b` its weights; `(dot S A B)` adds the product of two to
//! sums; `(fetch AT)` asks for 8 cache lines of weights, `AT` bytes into the step and later, which
//! are those of steps to come; `(ahead)` for one of what is wanted later still. In front stands how
//! many bytes of each panel a step takes, and how often it looks ahead.
//!
//! In a panel lie, step by step, part by part, the tile of the first 16 rows and that of the
//! second.

/// 32 x 32 sums, bf16.
macro_rules! by_bf16 {
    ($run:ident) => {
        $run! {
            [2048 2048 8]
            (load 4 a 0) (load 6 b 0) (dot 0 4 6) (ahead) (ahead) (fetch 4096)
            (load 7 b 1024) (dot 1 4 7) (ahead) (ahead) (fetch 4608)
            (load 5 a 1024) (dot 2 5 6) (ahead) (ahead) (fetch 5120) (dot 3 5 7) (ahead) (ahead) (fetch 5632)
        }
    };
}

/// The upper 16 x 32 of them, where no more rows are filled.
macro_rules! by_bf16_low {
    ($run:ident) => {
        $run! {
            [2048 2048 4]
            (load 4 a 0) (load 6 b 0) (dot 0 4 6) (ahead) (ahead) (load 7 b 1024) (dot 1 4 7) (ahead) (ahead)
        }
    };
}

/// 32 x 32 sums, f32 as three parts: at 0 and 1024 the largest, at 2048 and 3072 the next, at 4096
/// and 5120 the smallest. The small products come first: low by high, high by low, middle by
/// middle; then middle by high, high by middle; then high by high.
macro_rules! by_f32 {
    ($run:ident) => {
        $run! {
            [6144 6144 24]
            (load 4 a 4096) (load 6 b 0) (dot 0 4 6) (ahead) (fetch 6144)
            (load 7 b 1024) (dot 1 4 7) (ahead) (fetch 6656)
            (load 5 a 5120) (dot 2 5 6) (ahead) (fetch 7168) (dot 3 5 7) (ahead)
            (load 4 a 0) (load 6 b 4096) (dot 0 4 6) (ahead) (fetch 7680)
            (load 7 b 5120) (dot 1 4 7) (ahead) (fetch 8192)
            (load 5 a 1024) (dot 2 5 6) (ahead) (fetch 8704) (dot 3 5 7) (ahead)
            (load 4 a 2048) (load 6 b 2048) (dot 0 4 6) (ahead) (fetch 9216)
            (load 7 b 3072) (dot 1 4 7) (ahead) (fetch 9728)
            (load 5 a 3072) (dot 2 5 6) (ahead) (fetch 10240) (dot 3 5 7) (ahead)
            (load 6 b 0) (dot 0 4 6) (ahead) (fetch 10752)
            (load 7 b 1024) (dot 1 4 7) (ahead) (fetch 11264) (dot 2 5 6) (ahead) (dot 3 5 7) (ahead)
            (load 4 a 0) (load 6 b 2048) (dot 0 4 6) (ahead) (fetch 11776)
            (load 7 b 3072) (dot 1 4 7) (ahead)
            (load 5 a 1024) (dot 2 5 6) (ahead) (dot 3 5 7) (ahead)
            (load 6 b 0) (dot 0 4 6) (ahead) (load 7 b 1024) (dot 1 4 7) (ahead)
            (dot 2 5 6) (ahead) (dot 3 5 7) (ahead)
        }
    };
}

/// The upper 16 x 32 of them.
macro_rules! by_f32_low {
    ($run:ident) => {
        $run! {
            [6144 6144 12]
            (load 4 a 4096) (load 6 b 0) (dot 0 4 6) (ahead) (load 7 b 1024) (dot 1 4 7) (ahead)
            (load 4 a 0) (load 6 b 4096) (dot 0 4 6) (ahead) (load 7 b 5120) (dot 1 4 7) (ahead)
            (load 4 a 2048) (load 6 b 2048) (dot 0 4 6) (ahead) (load 7 b 3072) (dot 1 4 7) (ahead)
            (load 6 b 0) (dot 0 4 6) (ahead) (load 7 b 1024) (dot 1 4 7) (ahead)
            (load 4 a 0) (load 6 b 2048) (dot 0 4 6) (ahead) (load 7 b 3072) (dot 1 4 7) (ahead)
            (load 6 b 0) (dot 0 4 6) (ahead) (load 7 b 1024) (dot 1 4 7) (ahead)
        }
    };
}

pub(super) use {by_bf16, by_bf16_low, by_f32, by_f32_low};
