//! One family measured on one corpus.

use relscale_records::provenance::VocabularySizes;
use serde::{Deserialize, Serialize};

use super::{
    ClassReport, Emergence, Estimate, Flag, GroupBreakdown, Law, NextSize, RankDistribution,
    TextUnits,
};

/// All laws of one family on one corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupFit {
    /// Family name: models that share tokenizer and recipe.
    pub family: String,
    /// Corpus name: the distribution of text.
    pub corpus: String,
    /// Documents with at least one scored token, the same for every model.
    pub documents: u64,
    /// The models, smallest first.
    pub models: Vec<ModelSummary>,
    /// One law a k, k ascending.
    pub rank_laws: Vec<Law>,
    /// The cross-entropy law.
    pub cross_entropy_law: Law,
    /// alpha at k = 1 less beta of the cross entropy, from the paired ratio at each model, so that
    /// noise common to both cancels; absent when either law has no fit.
    pub greedy_minus_cross_entropy: Option<Estimate>,
    /// Laws in bytes, words and spans of words, which compare across tokenizers; absent in files of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_units: Option<TextUnits>,
    /// Several tokens right in a row; absent where sequences were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emergence: Option<Emergence>,
    /// The distribution of ranks; absent when ranks were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_distribution: Option<RankDistribution>,
    /// Up to which k the rank law holds, and what breaks it beyond.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<GroupBreakdown>,
    /// Which tokens hold the tail; absent for tallies that do not count classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<ClassReport>,
    /// What a model of ten times the largest size would have; absent where no law can be read
    /// there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_size: Option<NextSize>,
    /// Doubts about the group as a whole.
    pub flags: Vec<Flag>,
    /// A few sentences with the numbers: what this group shows.
    pub verdict: String,
}

impl GroupFit {
    /// All laws that a study can show of a group: of ranks, of the cross entropy, of the text's
    /// units.
    pub fn laws(&self) -> impl Iterator<Item = &Law> {
        let text = self.text_units.iter().flat_map(TextUnits::laws);
        self.rank_laws.iter().chain([&self.cross_entropy_law]).chain(text)
    }

    /// The rank law at `k`, when it was asked for.
    pub fn rank_law(&self, k: u32) -> Option<&Law> {
        self.rank_laws.iter().find(|law| law.k() == Some(k))
    }

    /// The findings beyond the exponents, each with the words for its subject: the shape of the
    /// first rank law and of the cross entropy, what the next size buys, where the law ends, what
    /// compares across tokenizers, which tokens miss, tokens in a row, the distribution of ranks.
    /// What the result does not hold is passed over.
    pub fn findings(&self) -> Vec<(&'static str, &str)> {
        let shape = self.rank_laws.first().and_then(|law| law.rivals.as_ref());
        let entropy = self.cross_entropy_law.rivals.as_ref();
        let all = [
            ("shape", shape.map(|rivals| &rivals.verdict)),
            ("shape of CE", entropy.map(|rivals| &rivals.verdict)),
            ("next size", self.next_size.as_ref().map(|next| &next.verdict)),
            ("large k", self.breakdown.as_ref().map(|breakdown| &breakdown.verdict)),
            ("across tokenizers", self.text_units.as_ref().map(|text| &text.verdict)),
            ("who misses", self.classes.as_ref().map(|classes| &classes.verdict)),
            ("in a row", self.emergence.as_ref().map(|emergence| &emergence.verdict)),
            ("ranks", self.rank_distribution.as_ref().map(|ranks| &ranks.verdict)),
        ];
        all.into_iter()
            .filter_map(|(subject, verdict)| Some((subject, verdict?.as_str())))
            .collect()
    }
}

/// What one model's run on the corpus adds up to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelSummary {
    /// The model's name.
    pub name: String,
    /// Non-embedding parameters S: all less token and position embeddings and output head.
    pub parameters: u64,
    /// Documents with at least one scored token.
    pub documents: u64,
    /// Scored tokens with finite logits: the denominator of every average.
    pub tokens: u64,
    /// Positions with a non-finite logit: counted, and in no average.
    pub nonfinite: u64,
    /// Bytes of source text behind the scored tokens.
    pub bytes: u64,
    /// Tokens where another entry had exactly the right token's logit; by the tie rule they count
    /// against the model or for it. Absent where the engine tells no ties.
    pub tied: Option<u64>,
    /// The sizes that go by the name of vocabulary; `scored` is the |V| that k must stay below.
    pub vocabulary: VocabularySizes,
    /// Mean negative log-likelihood, nats per token; absent when no token was scored.
    pub cross_entropy: Option<Estimate>,
    /// Total bits over total bytes; absent when no byte was scored.
    pub bits_per_byte: Option<Estimate>,
    /// Mean entropy of the predictive distribution, nats per token; absent when no token was
    /// scored, and where the engine does not tell it.
    pub entropy: Option<Estimate>,
}
