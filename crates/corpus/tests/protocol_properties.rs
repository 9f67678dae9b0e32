//! What holds for every protocol and every text.

use proptest::prelude::*;
use relscale_corpus::protocols::{
    DocumentWindows, HalfWindow, Paper, Protocol, Rolling, Strided, TokenText,
};

/// An id that no text has.
const PREFIX: u32 = u32::MAX;

/// Any protocol with any sensible parameters.
fn protocols() -> impl Strategy<Value = Box<dyn Protocol>> {
    let prefix = || prop::option::of(Just(PREFIX));
    let length_and_stride = |most_below: usize| {
        (2usize..40).prop_flat_map(move |length| (Just(length), 1..=length - most_below))
    };
    prop_oneof![
        (length_and_stride(1), prefix()).prop_map(|((l, s), p)| Box::new(
            DocumentWindows::new(l, s, p).unwrap()
        ) as Box<dyn Protocol>),
        (length_and_stride(0), prefix())
            .prop_map(|((l, s), p)| Box::new(Strided::new(l, s, p).unwrap()) as Box<dyn Protocol>),
        (2usize..40, prefix())
            .prop_map(|(l, p)| Box::new(Paper::new(l, p).unwrap()) as Box<dyn Protocol>),
        (1usize..40).prop_map(|l| Box::new(Rolling::new(l, PREFIX).unwrap()) as Box<dyn Protocol>),
        (3usize..40, prefix())
            .prop_map(|(l, p)| Box::new(HalfWindow::new(l, p).unwrap()) as Box<dyn Protocol>),
    ]
}

proptest! {
    #[test]
    fn windows_are_sound(protocol in protocols(), n in 0u32..200) {
        let ids: Vec<u32> = (0..n).collect();
        let Ok(windows) = protocol.windows(&TokenText::new(&ids)) else {
            prop_assert_eq!(protocol.name(), "half-window");
            return Ok(());
        };
        let mut last: Option<u32> = None;
        for window in &windows {
            prop_assert!(!window.scored.is_empty());
            prop_assert!(window.start < window.end && window.end <= ids.len());
            prop_assert!(window.inputs() <= protocol.longest_inputs());
            let fed = window.tokens(&ids);
            prop_assert_eq!(fed.len(), window.fed());
            for &p in &window.scored {
                // Ascending over all windows: nothing is scored twice.
                prop_assert!(last.is_none_or(|before| before < p));
                last = Some(p);
                prop_assert!(window.index_of(p) >= 1, "no context");
                prop_assert_eq!(fed[window.index_of(p)], ids[p as usize]);
            }
        }
    }

    #[test]
    fn document_scores_all_with_enough_context(
        (length, stride) in (2usize..40).prop_flat_map(|l| (Just(l), 1..l)),
        prefix in prop::option::of(Just(PREFIX)),
        n in 0u32..200,
    ) {
        let ids: Vec<u32> = (0..n).collect();
        let windows = DocumentWindows::new(length, stride, prefix).unwrap().windows(&TokenText::new(&ids)).unwrap();
        let scored: Vec<u32> = windows.iter().flat_map(|w| w.scored.clone()).collect();
        let first = u32::from(prefix.is_none());
        prop_assert_eq!(scored, (first..n.max(first)).collect::<Vec<_>>());
        for window in &windows {
            prop_assert!(window.fed() <= length);
            for &p in &window.scored {
                let available = p as usize + usize::from(prefix.is_some());
                prop_assert!(window.index_of(p) >= available.min(length - stride));
            }
        }
    }

    #[test]
    fn rolling_scores_every_token(length in 1usize..40, n in 0u32..200) {
        let ids: Vec<u32> = (0..n).collect();
        let windows = Rolling::new(length, PREFIX).unwrap().windows(&TokenText::new(&ids)).unwrap();
        let scored: Vec<u32> = windows.iter().flat_map(|w| w.scored.clone()).collect();
        prop_assert_eq!(scored, ids);
    }
}
