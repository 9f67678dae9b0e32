//! The targets, by what they read; the list of all.
//!
//! | file | reads |
//! |---|---|
//! | [`checkpoints`] | weights, their index, `config.json`, whole model folders |
//! | [`corpora`] | files of text, evaluations, crate sources, the value of `--corpus` |
//! | [`tokenizers`] | `tokenizer.json`, `vocab.json` with `merges.txt`, roles of special tokens |
//! | [`records`] | parts and tables of a study in Parquet, the JSON beside them, Parquet of others |
//! | [`tables`] | users' tables in four formats, results of lm-evaluation-harness |
//! | [`results`] | saved results |
//! | [`logs`] | logs of other programs, files of our sweeps |

pub mod checkpoints;
pub mod corpora;
pub mod logs;
pub mod records;
pub mod results;
pub mod tables;
pub mod tokenizers;

/// One reader of foreign bytes under test.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name: of the function, of the program in `fuzz_targets`, of the folder of its inputs.
    pub name: &'static str,
    /// Gives it bytes. Returns, whatever they are.
    pub run: fn(&[u8]),
    /// Where inputs begin.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

macro_rules! targets {
    ($($room:ident: [$($name:ident $seeds:ident,)*])*) => {
        /// All targets.
        pub const TARGETS: &[Target] = &[
            $($(Target { name: stringify!($name), run: $room::$name, seeds: $room::$seeds },)*)*
        ];
    };
}

targets! {
    checkpoints: [
        safetensors safetensors_seeds,
        pickle pickle_seeds,
        shards shards_seeds,
        gguf gguf_seeds,
        config config_seeds,
        model model_seeds,
    ]
    corpora: [
        text text_seeds,
        rows rows_seeds,
        parquet parquet_seeds,
        token_ids token_ids_seeds,
        mmlu mmlu_seeds,
        anthropic anthropic_seeds,
        ice ice_seeds,
        crate_source crate_source_seeds,
        crate_licence crate_licence_seeds,
        held_out held_out_seeds,
        corpus_spec corpus_spec_seeds,
    ]
    tokenizers: [
        tokenizer_json tokenizer_json_seeds,
        vocab_and_merges vocab_and_merges_seeds,
        special_tokens special_tokens_seeds,
    ]
    records: [
        part part_seeds,
        table table_seeds,
        cells cells_seeds,
        study study_seeds,
    ]
    tables: [
        user_table user_table_seeds,
        sizes_table sizes_table_seeds,
        harness harness_seeds,
        manifest manifest_seeds,
        isoflop isoflop_seeds,
        relative relative_seeds,
        stages stages_seeds,
        size_tokens size_tokens_seeds,
    ]
    results: [
        saved saved_seeds,
        laws laws_seeds,
    ]
    logs: [
        tensorboard tensorboard_seeds,
        tensorboard_message tensorboard_message_seeds,
        trainer_state trainer_state_seeds,
        levanter levanter_seeds,
        metrics metrics_seeds,
        sweep sweep_seeds,
        training training_seeds,
        training_checkpoint training_checkpoint_seeds,
    ]
}
