//! Whether the models of a family look like members of one.
//!
//! Where nobody names families, all models of one architecture are one, whoever made them. Makers
//! scale width and depth together; so a model that is far wider for its depth than another, beyond
//! what their sizes explain, is likely of another family.
//!
//! **Shape.** Width is that of the token embedding, depth the number of blocks of `12 width²`
//! parameters that S would be: GPT-2's and Pythia's own number, and for other blocks that number
//! times what is nearly the same for all models of an architecture. Where width grows alone, width
//! to depth grows with the root of S; where depth grows alone, it falls with S. A pair of models
//! that lies beyond the one or the other by more than [`MOST`] is told.

use relscale_records::RunTally;

use crate::result::{Flag, FlagCode};
use crate::table::Group;

/// By how much the ratio of width to depth of two models may lie beyond what their sizes explain.
///
/// Of published families (the configurations under `decoder/tests/configs`) it is 1.84 at most in
/// Pythia (410M with 24 blocks, 1B with 16), 1.5 in Qwen2.5 and Qwen3, 1.37 in Falcon, 1.0 in
/// GPT-2, OLMo and DataDecide, and 2.88 in TinyStories (4 blocks of 33M, 8 of the smaller), though
/// the ratios themselves span 6.7, 5.1, 2.8, 1.9, 2.5, 16 and 24 times.
pub(crate) const MOST: f64 = 3.0;

/// How to say what belongs together.
pub(crate) const NAME_THEM: &str = "models of other families get laws of their own when they are \
                                    measured again with --family NAME, which keeps what was measured";

/// Says when two models of a group are shaped so differently that they are hardly of one family.
pub(crate) fn unlike_shapes(group: &Group<'_>) -> Vec<Flag> {
    let shapes: Vec<Shape<'_>> = group.runs.iter().filter_map(|run| Shape::of(run.tally)).collect();
    let pairs = shapes
        .iter()
        .enumerate()
        .flat_map(|(at, a)| shapes[..at].iter().map(move |b| (a.beyond(b), b, a)));
    let Some((beyond, a, b)) = pairs.max_by(|a, b| a.0.total_cmp(&b.0)) else { return Vec::new() };
    if beyond <= MOST {
        return Vec::new();
    }
    let (narrow, wide) = if a.ratio() < b.ratio() { (a, b) } else { (b, a) };
    let message = format!(
        "{} is {:.0} times as wide for its depth as {}, of which their sizes explain {:.1}: they may be of two families, and a law \
         through both means little; {NAME_THEM}",
        wide.model,
        wide.ratio() / narrow.ratio(),
        narrow.model,
        wide.ratio() / narrow.ratio() / beyond,
    );
    vec![Flag::new(FlagCode::FamilyUnlike, message)]
}

/// A model's size and width.
struct Shape<'a> {
    model: &'a str,
    size: f64,
    width: f64,
}

impl<'a> Shape<'a> {
    fn of(run: &'a RunTally) -> Option<Self> {
        let width = run.width? as f64;
        Some(Self { model: &run.model, size: run.non_embedding as f64, width })
    }

    /// Width to depth.
    fn ratio(&self) -> f64 {
        12.0 * self.width.powi(3) / self.size
    }

    /// The factor between the ratios of two models that their sizes do not explain; at most 1 where
    /// they do.
    fn beyond(&self, other: &Self) -> f64 {
        let (small, large) = if self.size < other.size { (self, other) } else { (other, self) };
        let (sizes, ratios) = (large.size / small.size, large.ratio() / small.ratio());
        if ratios > 1.0 { ratios / sizes.sqrt() } else { 1.0 / (ratios * sizes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, S and width of a model.
    type Known = (&'static str, u64, u64);

    /// Models of published families, from their configurations and counts.
    const FAMILIES: [(&str, &[Known]); 5] = [
        ("Pythia", &PYTHIA),
        ("GPT-2", &GPT_2),
        ("Qwen2.5", &QWEN),
        ("OLMo 2", &OLMO),
        ("TinyStories", &TINY_STORIES),
    ];

    const PYTHIA: [(&str, u64, u64); 10] = [
        ("pythia-14m", 1_189_888, 128),
        ("pythia-31m", 4_739_072, 256),
        ("pythia-70m", 18_915_328, 512),
        ("pythia-160m", 85_056_000, 768),
        ("pythia-410m", 302_311_424, 1024),
        ("pythia-1b", 805_736_448, 2048),
        ("pythia-1.4b", 1_208_602_624, 2048),
        ("pythia-2.8b", 2_517_652_480, 2560),
        ("pythia-6.9b", 6_444_163_072, 4096),
        ("pythia-12b", 11_327_027_200, 5120),
    ];
    const GPT_2: [(&str, u64, u64); 5] = [
        ("distilgpt2", 42_528_768, 768),
        ("gpt2", 85_056_000, 768),
        ("gpt2-medium", 302_311_424, 1024),
        ("gpt2-large", 708_390_400, 1280),
        ("gpt2-xl", 1_475_561_600, 1600),
    ];
    const QWEN: [(&str, u64, u64); 7] = [
        ("qwen2.5-0.5B", 357_898_112, 896),
        ("qwen2.5-1.5B", 1_310_340_608, 1536),
        ("qwen2.5-3B", 2_774_773_760, 2048),
        ("qwen2.5-7B", 6_525_621_760, 3584),
        ("qwen2.5-14B", 13_212_898_304, 5120),
        ("qwen2.5-32B", 31_206_740_992, 5120),
        ("qwen2.5-72B", 70_214_787_072, 8192),
    ];
    const OLMO: [(&str, u64, u64); 4] = [
        ("olmo-2-1b", 1_073_874_944, 2048),
        ("olmo-2-7b", 6_476_533_760, 4096),
        ("olmo-2-13b", 12_688_593_920, 5120),
        ("olmo-2-32b", 31_206_675_456, 5120),
    ];
    const TINY_STORIES: [(&str, u64, u64); 4] = [
        ("tinystories-1m", 398_464, 64),
        ("tinystories-3m", 1_583_360, 128),
        ("tinystories-8m", 6_312_448, 256),
        ("tinystories-33m", 28_343_808, 768),
    ];

    fn worst(family: &[(&str, u64, u64)]) -> f64 {
        let shapes: Vec<Shape<'_>> = family
            .iter()
            .map(|&(model, size, width)| Shape { model, size: size as f64, width: width as f64 })
            .collect();
        let pairs = shapes.iter().flat_map(|a| shapes.iter().map(|b| a.beyond(b)));
        pairs.fold(0.0, f64::max)
    }

    #[test]
    fn published_families_are_families() {
        for (name, family) in FAMILIES {
            assert!(worst(family) < MOST, "{name}: {}", worst(family));
        }
        assert!((worst(&PYTHIA) - 1.84).abs() < 0.01);
    }

    #[test]
    fn a_stranger_is_seen() {
        // As deep as Pythia 410M and twice as wide, which is 1.4B, but with the depth of 6 blocks.
        let wide = ("wide", 6 * 12 * 4096 * 4096, 4096);
        let deep = ("deep", 96 * 12 * 512 * 512, 512);
        for stranger in [wide, deep] {
            let family = [&PYTHIA[..], &[stranger]].concat();
            assert!(worst(&family) > MOST, "{stranger:?}: {}", worst(&family));
        }
    }
}
