//! `S` of every published member of our families, from their published configurations.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use relscale_decoder::count::ParameterCount;
use relscale_decoder::families;
use relscale_testkit::data::published;

fn configs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configs")
}

/// Rows of `counts.tsv`: configuration, name on the hub, S.
fn expected() -> Vec<(String, String, u64)> {
    let table = std::fs::read_to_string(configs().join("counts.tsv")).unwrap();
    let row = |line: &str| {
        let mut cells = line.split('\t');
        let mut cell = || cells.next().unwrap().to_string();
        (cell(), cell(), cell().parse().unwrap())
    };
    table.lines().skip(1).map(row).collect()
}

fn count(config: &str) -> ParameterCount {
    let spec = families::spec_of_config(&configs().join(format!("{config}.json")))
        .unwrap_or_else(|e| panic!("{config}: {e}"));
    ParameterCount::from_spec(&spec)
}

#[test]
fn s_equals_the_published_count() {
    let rows = expected();
    assert!(rows.len() >= 70);
    for (config, _, s) in rows {
        assert_eq!(count(&config).non_embedding, s, "{config}");
    }
}

#[test]
fn s_and_embeddings_equal_the_authors_table() {
    let table = std::fs::read_to_string(published("families/param_counts.tsv")).unwrap();
    let ours: BTreeMap<String, String> =
        expected().into_iter().map(|(config, hub, _)| (hub, config)).collect();
    let mut compared = 0;
    for line in table.lines().skip(1) {
        let cells: Vec<_> = line.split('\t').collect();
        let Some(config) = ours.get(cells[0].trim_end_matches("-deduped")) else { continue };
        let count = count(config);
        assert_eq!(count.non_embedding, cells[1].parse::<u64>().unwrap(), "{config}");
        // The authors count token and position tables together, and leave the head out.
        let embedding = count.token_embedding + count.position_embedding;
        assert_eq!(embedding, cells[2].parse::<u64>().unwrap(), "{config}");
        compared += 1;
    }
    assert!(
        compared >= 41,
        "only {compared} rows of the table were found among our configurations"
    );
}

#[test]
fn totals_equal_the_published_checkpoints() {
    // Distinct numbers in the published files; tied heads once.
    for (config, total) in [
        ("pythia-14m", 14_067_712),
        ("pythia-12b", 11_846_072_320),
        ("gpt2", 124_439_808),
        ("gpt-neo-125m", 125_198_592),
        ("gpt-neo-1.3B", 1_315_575_808),
        ("gpt-neo-2.7B", 2_651_307_520),
        ("bloom-560m", 559_214_592),
        ("bloom-1b1", 1_065_314_304),
        ("bloom-1b7", 1_722_408_960),
        ("bloom-3b", 3_002_557_440),
        ("bloom-7b1", 7_069_016_064),
        ("bloom-176b", 176_247_271_424),
        ("falcon-rw-1b", 1_311_625_216),
        ("falcon-40b", 41_303_293_952),
        ("opt-350m", 331_196_416),
        ("phi-1", 1_418_270_720),
        ("phi-1_5", 1_418_270_720),
        ("phi-2", 2_779_683_840),
        ("stablelm-3b-4e1t", 2_795_443_200),
        ("starcoder2-3b", 3_030_371_328),
        ("starcoder2-7b", 7_173_923_840),
        ("starcoder2-15b", 15_957_889_024),
        ("qwen2.5-0.5B", 494_032_768),
        ("qwen2.5-72B", 72_706_203_648),
        ("qwen3-0.6B", 596_049_920),
        ("qwen3-1.7B", 1_720_574_976),
        ("qwen3-4B", 4_022_468_096),
        ("qwen3-8B", 8_190_735_360),
        ("qwen3-14B", 14_768_307_200),
        ("qwen3-32B", 32_762_123_264),
        ("llama-3-8b", 8_030_261_248),
        ("olmo-2-13b", 13_716_198_400),
        ("gemma-2b", 2_506_172_416),
        ("gemma-7b", 8_537_680_896),
        ("gemma-2-2b", 2_614_341_888),
        ("gemma-2-9b", 9_241_705_984),
        ("gemma-2-27b", 27_227_128_320),
        ("gemma-3-270m", 268_098_176),
        ("gemma-3-1b", 999_885_952),
        ("granite-3.0-2b", 2_533_531_648),
        ("granite-3.0-8b", 8_170_848_256),
        ("smollm3-3b", 3_075_098_624),
        ("phi-3-mini-4k", 3_821_079_552),
        ("phi-3-medium-4k", 13_960_238_080),
        ("phi-4", 14_659_507_200),
        ("mamba-130m", 129_135_360),
        ("mamba-370m", 371_516_416),
        ("mamba-790m", 793_204_224),
        ("mamba-1.4b", 1_372_178_432),
        ("mamba-2.8b", 2_768_345_600),
        ("falcon-mamba-7b", 7_272_665_088),
        ("mamba2-130m", 128_989_632),
        ("mamba2-2.7b", 2_702_599_680),
        ("rwkv-4-169m", 169_342_464),
        ("rwkv-4-430m", 430_397_440),
        ("rwkv-4-1b5", 1_515_106_304),
        ("rwkv-4-3b", 2_984_627_200),
        ("rwkv-4-7b", 7_392_649_216),
        ("rwkv-4-14b", 14_148_597_760),
    ] {
        assert_eq!(count(config).total, total, "{config}");
    }
    // Their files store the tied head a second time.
    for (config, total) in [("falcon-7b", 7_217_189_760), ("falcon-180b", 179_522_565_120)] {
        let count = count(config);
        assert_eq!((count.head, count.total + count.token_embedding), (0, total), "{config}");
    }
    // DataDecide's paper leaves the table of the input out, and counts the head.
    for (config, counted) in [
        ("datadecide-4m", 3_744_832),
        ("datadecide-90m", 97_946_640),
        ("datadecide-1b", 1_176_832_000),
    ] {
        let count = count(config);
        assert_eq!(count.total - count.token_embedding, counted, "{config}");
    }
}
