//! Several `--corpus` values in one word come apart at the right commas.

use relscale_corpus::spec::separate;

#[test]
fn a_comma_separates_but_where_it_belongs_to_a_name_or_a_value() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    for name in ["a.txt", "b.txt", "a.txt,b.txt", "c,1.jsonl", "x,y=z.txt"] {
        std::fs::write(at(name), "{\"text\": \"t\"}\n").unwrap();
    }
    std::fs::create_dir(at("tree")).unwrap();
    let (a, b) = (at("a.txt"), at("b.txt"));
    let (both, c, tree) = (format!("{a},b.txt"), at("c,1.jsonl"), at("tree"));
    let together = |values: &[&str]| values.join(",");
    // Values that come apart again.
    for values in [
        vec![a.as_str(), &b],
        vec![&b, &a],
        // What is there with its comma wins.
        vec![&both],
        vec![&both, &a],
        vec![&c, &a, &c],
        vec![&at("x,y=z.txt"), &a],
        vec![&format!("one={a}"), &format!("two={c}"), "crates:code"],
        vec![&at("[abc]*.txt"), &at("[c,d]*.jsonl"), &b],
        // Keys with and without commas in their values.
        vec![&format!("{a}?split=lines"), &b],
        vec![&format!("{a}?split=lines"), &format!("{b}?split=lines&limit=3")],
        vec![&format!("{a}?split=lines"), "missing.txt"],
        vec![&format!("{tree}?folders=variety,genre"), &a],
        vec![&format!("{tree}?folders=variety,genre&limit=3"), "missing.txt"],
        vec![&format!("{c}?field=text&join=, &id=text"), &a],
        vec![&format!("{c}?field=text&join=,"), &a],
        vec!["crates:code?split=train&limit=2", "crates:docs"],
        vec!["hf://datasets/o/n/a,b.parquet", "hf://datasets/o/m/c.parquet?field=t", &a],
        // Neither is there.
        vec!["missing.txt", "also.txt"],
    ] {
        assert_eq!(separate(&together(&values)), values);
    }
    assert_eq!(separate(&format!("{a}, {b},")), [a.as_str(), &b]);
    assert_eq!(separate(""), [""]);
}
