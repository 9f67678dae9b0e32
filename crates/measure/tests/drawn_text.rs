//! Documents drawn from a corpus as it passes: those that sorting all of it would give.

use std::sync::atomic::AtomicBool;

use relscale_corpus::{Document, Encoded, draw};
use relscale_measure::scratch::Place;
use relscale_measure::text::{Keep, TokenisedCorpus, TokenisedDocument};
use relscale_measure::{Error, Result};
use relscale_records::provenance::{DrawProvenance, DrawRule};

const DRAWN: DrawProvenance = DrawProvenance { by: DrawRule::Sha256, seed: 3 };

/// A token a byte.
fn encode(block: &[Document]) -> Result<Vec<Encoded>> {
    let encoded = |document: &Document| {
        let ids = document.text.bytes().map(u32::from).collect();
        Encoded { ids, bytes: vec![1; document.text.len()], specials: 0 }
    };
    Ok(block.iter().map(encoded).collect())
}

fn memory() -> Place {
    Place { folder: "nowhere".into(), memory: 1 << 30 }
}

fn whole(documents: Vec<Document>) -> TokenisedCorpus {
    let (documents, cancel) = (documents.into_iter().map(Ok::<_, Error>), AtomicBool::new(false));
    TokenisedCorpus::read("c", "", documents, encode, Keep::All, &memory(), &cancel).unwrap()
}

fn kept(corpus: &TokenisedCorpus) -> Vec<TokenisedDocument> {
    corpus.documents().collect::<Result<_>>().unwrap()
}

/// What is drawn in one pass, wherever it is kept, is what sorting all documents by their places
/// gives; questions are whole though their options stand apart.
#[test]
fn drawn_are_the_documents_with_the_lowest_places() {
    let folder = tempfile::tempdir().unwrap();
    let documents = |questions: bool| -> Vec<Document> {
        let document = |i: usize| {
            let document = Document::new(format!("{i}"), "x".repeat(i * 7_919 % 401));
            match questions {
                true => document.with_tag("item", (i % 5_000).to_string()),
                false => document,
            }
        };
        (0..20_000).map(document).collect()
    };
    for questions in [false, true] {
        let all = documents(questions);
        let numbered = (0u64..).zip(&all);
        let mut order: Vec<_> = numbered.map(|(i, d)| (draw::place(3, i, d), i)).collect();
        order.sort_unstable();
        for (tokens, memory) in [(1, 1 << 30), (100_000, 1 << 30), (100_000, 10_000)] {
            let place = Place { folder: folder.path().into(), memory };
            let keep = Keep::Drawn { tokens, limit: tokens / 2, seed: 3 };
            let read = documents(questions).into_iter().map(Ok::<_, Error>);
            let cancel = AtomicBool::new(false);
            let drawn =
                TokenisedCorpus::read("c", "", read, encode, keep, &place, &cancel).unwrap();
            assert_eq!((drawn.whole, drawn.drawn), (false, Some(DRAWN)));
            assert_eq!(drawn.provenance, whole(all.clone()).provenance);
            let kept = kept(&drawn);
            let ids: Vec<&str> = kept.iter().map(|d| d.id.as_str()).collect();
            let (mut wanted, mut sum, mut last) = (Vec::new(), 0, None);
            for &(place, i) in &order {
                if sum >= tokens && last != Some(place) {
                    break;
                }
                let document = &all[i as usize];
                sum += document.text.len() as u64;
                last = Some(place);
                wanted.push(document.id.as_str());
            }
            assert_eq!(ids, wanted);
            assert_eq!(drawn.tokens(), sum);
            let item = |d: &TokenisedDocument| d.tags.get("item").cloned();
            let cut = kept.chunks(4).any(|four| four.iter().any(|d| item(d) != item(&four[0])));
            assert!(!questions || !cut, "a question is cut");
        }
    }
}

#[test]
fn where_a_limit_leaves_nothing_out_the_order_stays() {
    let documents = || (0..50).map(|i| Ok::<_, Error>(Document::new(format!("{i}"), "four")));
    let read = |tokens, limit| {
        let keep = Keep::Drawn { tokens, limit, seed: 3 };
        let cancel = AtomicBool::new(false);
        TokenisedCorpus::read("c", "", documents(), encode, keep, &memory(), &cancel).unwrap()
    };
    let whole = whole(documents().map(Result::unwrap).collect());
    for (tokens, limit, drawn) in [(1 << 20, 200, false), (1 << 20, 199, true), (40, 20, true)] {
        let text = read(tokens, limit);
        assert_eq!(text.drawn.is_some(), drawn, "{limit}");
        assert_eq!(text.facts().draws(limit), Some(drawn));
        assert_eq!(kept(&text) == kept(&whole), !drawn);
    }
    let one = [Ok::<_, Error>(Document::new("one", "a long text"))];
    let keep = Keep::Drawn { tokens: 4, limit: 2, seed: 3 };
    let cancel = AtomicBool::new(false);
    let text = TokenisedCorpus::read("c", "", one, encode, keep, &memory(), &cancel).unwrap();
    assert_eq!((text.drawn, text.whole), (None, true));
}
