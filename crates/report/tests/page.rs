//! What must be on the page, whatever the study; and what must not become markup.

mod support;

use std::fs;
use std::path::Path;

use relscale_laws::{FitOptions, Flag, FlagCode, Saved as _, StudyFit};
use relscale_records::Study;
use relscale_records::study::ComputedOn;
use relscale_report::ReportError;
use support::sources::{Sources, stated};
use support::{Runs, SIZES, TEXTS, Text, read, render};

/// The page of some runs whose records are in the same folder.
fn page(runs: &Runs) -> (StudyFit, String) {
    let home = tempfile::tempdir().unwrap();
    support::keep(home.path(), runs);
    let study = support::laws(runs);
    let html = page_in(&study, home.path());
    (study, html)
}

fn page_in(study: &StudyFit, folder: &Path) -> String {
    fs::read_to_string(render(study, folder).unwrap().page).unwrap()
}

#[track_caller]
fn says(text: &str, sentence: &str) {
    let sentence = support::spelled(sentence).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(support::spelled(text).contains(&sentence), "the page does not say: {sentence}");
}

#[test]
fn every_verdict_flag_and_left_out_point_is_said() {
    let (study, html) = page(&support::realistic(60));
    let text = read(&html);
    let mut flags = 0;
    for group in &study.groups {
        says(&text, &group.verdict);
        for flag in &group.flags {
            says(&text, &flag.message);
            flags += 1;
        }
        for law in group.rank_laws.iter().chain([&group.cross_entropy_law]) {
            says(&text, &law.verdict);
            for flag in &law.flags {
                says(&text, &flag.message);
                flags += 1;
            }
            for left in &law.left_out {
                says(&text, &left.reason);
            }
        }
    }
    assert!(flags > 3, "the study was made to have doubts");
    let models = || study.groups.iter().flat_map(|group| &group.models);
    let positions: u64 = models().map(|model| model.tokens + model.nonfinite).sum();
    let positions = format!("{},{:03}", positions / 1000, positions % 1000);
    says(&text, &format!("3 of {positions} positions had a non-finite logit"));
    says(&text, "3 for crates-3136 on prose");
}

#[test]
fn provenance_is_whole() {
    let runs = support::family("ants", &SIZES[..3], &TEXTS[..2], 40);
    let text = read(&page(&runs).1);
    for (provenance, _) in &runs {
        for hash in [
            provenance.key(),
            provenance.model.weights_sha256.clone(),
            provenance.model.config_sha256.clone(),
            provenance.corpus.text_sha256.clone(),
            provenance.tokenizer.sha256.clone(),
        ] {
            says(&text, &hash);
        }
    }
    for fact in [
        "document (length = 512, stride = 256)",
        "R = #{v : z[v] ≥ z[t]}: equal logits count against the model",
        "tokens: rows of the output head that no token maps to are left out",
        "tokenizer 4,094; with added tokens 4,096; rows of the output head 4,096; |V| in ranks 4,096",
        "200 document resamples, seed 20387",
        "mock, revision 1",
    ] {
        says(&text, fact);
    }
    assert!(!text.contains("do not belong to the records"));
}

#[test]
fn what_differs_between_runs_is_told_apart() {
    let mut runs = support::family("ants", &SIZES[..3], &TEXTS[..1], 40);
    runs[1].0.model.stored_dtype = "bf16".into();
    let text = read(&page(&runs).1);
    says(&text, "ants-3136, ants-33408: f16");
    says(&text, "ants-10432: bf16");
}

/// Kernels and processors where they are recorded; nothing of them on the page of earlier records.
#[test]
fn what_computed_the_runs_is_told() {
    let runs = support::family("ants", &SIZES[..3], &TEXTS[..1], 40);
    let home = tempfile::tempdir().unwrap();
    support::keep(home.path(), &runs);
    let laws = support::laws(&runs);
    assert!(!read(&page_in(&laws, home.path())).contains("Computed on"));
    let study = Study::create_or_open(home.path()).unwrap();
    let names = study.runs().unwrap().into_iter().map(|run| run.folder).collect::<Vec<_>>();
    let on = |kernels: &str, processor: &str| ComputedOn {
        kernels: kernels.into(),
        processor: processor.into(),
    };
    let first = names.iter().position(|name| name.contains("ants-3136")).unwrap();
    let mut run = study.run(&names[first]).unwrap();
    run.add_computed_on(&on("gemm", "an old one")).unwrap();
    run.add_computed_on(&on("avx512", "a new one")).unwrap();
    let text = read(&page_in(&laws, home.path()));
    says(&text, "Computed on");
    says(&text, "ants-10432, ants-33408: not recorded");
    says(&text, "ants-3136: avx512 on a new one; gemm on an old one");
}

/// Not one number of a result without its place, and every place holds that number.
#[test]
fn every_number_is_where_it_says() {
    let home = tempfile::tempdir().unwrap();
    let runs = support::realistic(60);
    support::keep(home.path(), &runs);
    let study = support::laws(&runs);
    study.save(&home.path().join("laws.json")).unwrap();
    let html = page_in(&study, home.path());
    let all = stated(&html);
    assert!(all.len() > 1_000, "{}", all.len());
    let mut sources = Sources::read(home.path());
    all.iter().for_each(|one| sources.check(one));
    for file in ["laws.json#", "/run.json#", "/done.json#"] {
        assert!(all.iter().any(|one| one.source.contains(file)), "{file}");
    }
    // What is left of the findings and tables without its stated parts has names, but no number.
    let results = &html
        [html.find("<h2 id=\"findings\"").unwrap()..html.find("<h2 id=\"definitions\"").unwrap()];
    let mut bare = String::from(results);
    for (open, close) in [
        ("<data", "</data>"),
        ("<span data-source", "</span>"),
        ("<svg", "</svg>"),
        ("<figcaption", "</figcaption>"),
        // The numbers of figures, which are theirs.
        ("<pre class=\"csv\"", "</pre>"),
    ] {
        while let Some(start) = bare.find(open) {
            let end = start + bare[start..].find(close).unwrap() + close.len();
            bare.replace_range(start..end, "");
        }
    }
    for name in study.groups.iter().flat_map(|group| group.models.iter().map(|model| &model.name)) {
        bare = bare.replace(name.as_str(), "");
    }
    let bare = read(&bare);
    let decimals = bare.split_whitespace().filter(|word| {
        let digits: String = word.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
        digits.contains('.') && digits.parse::<f64>().is_ok() && !word.starts_with("2510.")
    });
    // The rules of thumb of the paper, in the notes.
    let ours = ["0.99", "0.97", "0.1", "0.2"];
    let loose: Vec<&str> =
        decimals.filter(|word| !ours.contains(&word.trim_end_matches([';', ',']))).collect();
    assert!(loose.is_empty(), "numbers without a place: {loose:?}");
}

/// A text of a corpus is nobody's markup, and no mathematics.
#[test]
fn the_text_of_a_position_stays_text() {
    let home = tempfile::tempdir().unwrap();
    let study = support::laws(&support::family("ants", &SIZES[..4], &TEXTS[..1], 40));
    let examples =
        support::examples(&study, "<script>a()</script> \u{202e}$x$\n", "</mark><b>RBP_1");
    let files = support::render_with(&study, examples.clone(), home.path()).unwrap();
    let html = fs::read_to_string(files.page).unwrap();
    assert!(!html.contains("<script>a()") && !html.contains("</mark><b>"));
    let text = read(&html);
    assert!(text.contains("…<script>a()</script> \u{202e}$x$ </mark><b>RBP_1"), "the passage");
    for said in ["What is a rank?", "document 2", "1,001", "10, 100"] {
        says(&text, said);
    }
    assert!(html.contains("<td><code>&lt;&#x2f;mark&gt;&lt;b&gt;RBP_1</code></td>"));

    // That of other models is not shown, and nothing else is amiss.
    let mut other = examples;
    other.examples[0].models[0].model = "bees-3136".to_owned();
    let files = support::render_with(&study, other, home.path()).unwrap();
    let html = fs::read_to_string(files.page).unwrap();
    assert!(!html.contains("class=\"passage\""));
    says(&read(&html), "What a rank is: no position of these models is kept");
}

/// Sources that do not hold are found.
#[test]
#[should_panic(expected = "laws.json#/format")]
fn a_wrong_number_is_caught() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("laws.json"), r#"{"format": 2}"#).unwrap();
    let wrong = stated("<p><data value=\"3\" data-source=\"laws.json#/format\">3</data></p>");
    Sources::read(home.path()).check(&wrong[0]);
}

#[test]
fn laws_of_other_records_are_called_stale() {
    let home = tempfile::tempdir().unwrap();
    let fitted = support::laws(&support::family("ants", &SIZES[..3], &TEXTS[..1], 40));
    let mut measured = support::family("ants", &SIZES[..4], &TEXTS[..1], 41);
    measured.remove(0);
    support::keep(home.path(), &measured);
    let text = read(&page_in(&fitted, home.path()));
    says(&text, "The laws do not belong to the records in this folder.");
    says(&text, "ants-3136 on code is in the laws, not in the records");
    says(&text, "ants-10432 on code: the laws count");
    says(&text, "ants-98816 on code was measured and is not in the laws");
}

#[test]
fn a_folder_without_records_says_so() {
    let home = tempfile::tempdir().unwrap();
    let study = support::laws(&support::family("ants", &SIZES[..3], &TEXTS[..1], 40));
    says(&read(&page_in(&study, home.path())), "The folder of this report holds no records");
}

#[test]
fn names_are_never_markup() {
    let evil = "<script>alert(1)</script>\"'&$x^2$";
    // Allowed in a name, impossible in XML.
    let bell = "\u{7}";
    let texts = [Text { name: "<img src=x onerror=alert(2)>", level: 4.0, exponent: 0.1 }];
    let mut runs = support::family("</title><b>", &SIZES[..4], &texts, 40);
    for (provenance, tally) in &mut runs {
        let name = format!("{evil}{}{bell}", tally.non_embedding);
        provenance.model.name.clone_from(&name);
        provenance.corpus.description = "</pre><script>alert(3)</script>".into();
        provenance.protocol.parameters.insert("<u>".into(), "<i>".into());
        // A key that fits the changed provenance.
        tally.key = provenance.key();
        tally.model = name;
    }
    let home = tempfile::tempdir().unwrap();
    support::keep(home.path(), &runs);
    let mut study = support::laws(&runs);
    let message = "<em>flagged</em>";
    study.groups[0].flags.push(Flag::new(FlagCode::Outlier, message));
    study.groups[0].rank_laws[0].flags.push(Flag::new(FlagCode::Outlier, message));
    study.groups[0].verdict.push_str("<q>");
    let files = render(&study, home.path()).unwrap();

    let html = fs::read_to_string(&files.page).unwrap();
    // Two scripts, the data and ours; no element that our template does not have.
    assert_eq!(html.matches("<script").count(), 2);
    for tag in ["<img", "<em>", "<q>", "<u>", "<i>", "</title><b>"] {
        assert!(!html.contains(tag), "{tag}");
    }
    let text = read(&html);
    says(&text, &format!("{evil}3136"));
    says(&text, message);
    for figure in &files.figures {
        let svg = fs::read_to_string(figure).unwrap();
        assert!(
            !svg.contains("<script") && !svg.contains("<img") && !svg.contains("<b>"),
            "{}",
            figure.display()
        );
        assert!(!svg.contains(bell), "{}", figure.display());
        assert!(
            figure
                .file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .bytes()
                .all(|b| b.is_ascii_graphic() && b != b'<')
        );
    }
    let csv = fs::read_to_string(&files.numbers[0]).unwrap();
    assert!(csv.contains(&format!("\"<script>alert(1)</script>\"\"'&$x^2$3136{bell}\"")), "{csv}");
}

#[test]
fn the_page_opens_no_connection() {
    let html = page(&support::family("ants", &SIZES[..3], &TEXTS[..1], 40)).1;
    for reach in ["src=", "@import", "url(http", "<link", "fetch(", "<iframe", "<object"] {
        assert!(!html.contains(reach), "{reach}");
    }
    // Namespaces are names, not addresses; everything else that looks like one is a relative file.
    assert_eq!(
        html.matches("http").count(),
        html.matches("http://www.w3.org/2000/svg").count() + html.matches("http-equiv").count()
    );
    assert!(!html.contains("import(") && !html.contains("XMLHttpRequest"));
}

#[test]
fn one_model_has_points_and_no_law() {
    let (study, html) = page(&support::family("ants", &SIZES[..1], &TEXTS, 40));
    assert!(study.groups[0].cross_entropy_law.fit().is_none());
    let text = read(&html);
    says(&text, "no fit");
    says(&text, "cannot show how the quantity changes with size");
    assert!(html.contains("<figure id="));
}

#[test]
fn two_models_have_a_slope_without_interval() {
    let text = read(&page(&support::family("ants", &SIZES[..2], &TEXTS[..1], 40)).1);
    says(&text, "(no interval)");
    says(&text, "two points");
    says(&text, "Needs at least four models with a point.");
}

#[test]
fn one_document_has_no_error_bars() {
    let text = read(&page(&support::family("ants", &SIZES[..4], &TEXTS[..1], 1)).1);
    assert!(!text.contains("Error bars span"), "there are none");
}

#[test]
fn no_model_with_a_point_has_no_figure_of_it() {
    // Every token of every model hits at every k: nothing has a logarithm but the cross entropy.
    let mut runs = support::family("ants", &SIZES[..3], &TEXTS[..1], 40);
    for (_, tally) in &mut runs {
        for document in &mut tally.documents {
            document.hits.fill(document.scored);
        }
    }
    let (study, html) = page(&runs);
    assert!(study.groups[0].rank_laws.iter().all(|law| law.points.is_empty()));
    let text = read(&html);
    says(&text, "-ln RBP₁ against model size: no model has a point in a rank law.");
    says(&text, "Residuals of the laws against model size.");
}

#[test]
fn empty_laws_say_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let study = StudyFit {
        format: relscale_laws::RESULT_FORMAT,
        tool: "relscale test".into(),
        options: FitOptions::default(),
        groups: Vec::new(),
        across_tokenizers: Vec::new(),
    };
    let text = read(&page_in(&study, home.path()));
    says(&text, "There is no law to show");
    says(&text, "relscale measure");
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let study = support::laws(&support::family("ants", &SIZES[..2], &TEXTS[..1], 2));
    let error = render(&study, &file).unwrap_err();
    assert!(matches!(error, ReportError::Write { .. }), "{error}");
    assert!(error.to_string().contains("file"), "{error}");
}

#[test]
fn a_damaged_study_is_refused() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("study.json"), "{").unwrap();
    let study = support::laws(&support::family("ants", &SIZES[..2], &TEXTS[..1], 2));
    let error = render(&study, home.path()).unwrap_err();
    assert!(matches!(error, ReportError::Records(_)), "{error}");
    assert!(!home.path().join("report.html").exists());
}
