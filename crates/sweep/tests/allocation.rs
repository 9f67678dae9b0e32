//! A step of training asks the allocator for nothing once the first has been taken.
//!
//! What a product packs into is the `gemm` crate's own affair: it asks for a list of flags (bytes)
//! and often for a buffer aligned to cache lines, and nothing else in a step has the alignment of
//! either, so the two kinds are counted apart.
#![allow(unsafe_code, reason = "an allocator cannot be written without; this one only counts")]

use relscale_decoder::spec::{NormSpan, Spec};
use relscale_sweep::plan::recipe::OptimiserKind;
use relscale_sweep::recipes::{Recipe, Size};
use relscale_sweep::train::batches::Batches;
use relscale_sweep::train::schedule::Schedule;
use relscale_sweep::train::settings::Settings;
use relscale_sweep::train::trainer::Trainer;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, counting what it is asked for.
struct Counting;

static PRODUCTS: AtomicUsize = AtomicUsize::new(0);
static OTHERS: AtomicUsize = AtomicUsize::new(0);

fn count(layout: Layout) {
    let counter = if matches!(layout.align(), 1 | 64..) { &PRODUCTS } else { &OTHERS };
    counter.fetch_add(1, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(layout);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(old, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Requests of products, and of everything else.
fn asked() -> [usize; 2] {
    [PRODUCTS.load(Ordering::Relaxed), OTHERS.load(Ordering::Relaxed)]
}

/// The only test of this file: the counts are the whole process's.
#[test]
fn a_step_after_the_first_allocates_nothing_on_any_number_of_threads() {
    let mut recipe = Recipe::named("small").unwrap();
    // Every shard has two sequences; the head does not fit into one tile.
    (recipe.vocabulary, recipe.context, recipe.batch) = (9_000, 128, 8);
    let size = Size { name: "test", width: 16, layers: 2, heads: 2, hidden: 24 };
    let stream: Vec<u32> =
        (0..recipe.context * 9 + 1).map(|i| (i * i % recipe.vocabulary) as u32).collect();
    let llama = recipe.spec(&size);
    let qwen3 = Spec { query_key_norm: Some(NormSpan::Head), tied: false, ..llama.clone() };
    let (adam, cautious) = (OptimiserKind::AdamW, OptimiserKind::CautiousAdamC);
    for (threads, spec, optimiser) in
        [(1, &llama, adam), (2, &llama, adam), (3, &llama, adam), (2, &qwen3, cautious)]
    {
        let settings = Settings {
            spec: spec.clone(),
            schedule: Schedule { peak: 1e-3, steps: 100, warm_up: 0.1, decay: 0.2 },
            optimiser,
            betas: recipe.betas,
            epsilon: recipe.epsilon,
            weight_decay: recipe.weight_decay,
            clip: recipe.clip,
            z_loss: 1e-4,
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        // Within the pool, as a job that is handed to it from outside is an allocation now and
        // then.
        let [_, others] = pool.install(|| {
            let mut batches = Batches::new(&stream, recipe.context, recipe.batch, 1).unwrap();
            let mut trainer = Trainer::new(settings, recipe.context, 1).unwrap();
            let before = asked();
            trainer.step(batches.next_batch());
            let first = asked();
            assert!(
                first[1] > before[1],
                "the first step must be seen to allocate, or the counts are broken"
            );
            for _ in 0..4 {
                assert!(trainer.step(batches.next_batch()).moved);
            }
            let after = asked();
            [after[0] - first[0], after[1] - first[1]]
        });
        assert_eq!(others, 0, "on {threads} threads, {optimiser:?}");
    }
}
