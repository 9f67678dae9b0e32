//! Forecasts, each way judged on what it has not seen.

use relscale_laws::{
    CorpusRanking, FewTokens, Forecast, Forecaster, ForecasterErrors, LeaveOut, RankingAtSize,
};
use relscale_records::digits;

use super::cell::Cell;
use super::place::{At, at};
use super::table::{Column, Medium, Part, Role, Row, Said, Shown, Table, notes};

/// A table of errors by what was left out, those of few tokens, the order of training corpora.
pub fn forecast(found: &At<'_, Forecast>) -> Shown {
    let heading = format!(
        "features of {}, accuracies of {}; mean errors of accuracy as shares, less those by the loss",
        found.features_from, found.accuracies_from
    );
    let mut parts = vec![
        Said::part(Role::Heading, "", Cell::words(heading)).only(Medium::Screen),
        Part::Table(errors(found)),
    ];
    if !found.few_tokens.is_empty() {
        let title = "with features of the first documents alone";
        parts.push(Said::part(Role::Heading, "", Cell::words(title)).only(Medium::Screen));
        parts.push(Part::Table(few_tokens(found)));
    }
    if let Some(ranking) = at!(found.ranking).there() {
        let title = format!("pairs of {} training corpora ordered right", ranking.corpora.len());
        parts.push(Said::part(Role::Heading, "", Cell::words(title)).only(Medium::Screen));
        parts.push(Part::Table(corpora(&ranking, found)));
    }
    parts.push(Said::part(Role::Verdict, "", at!(found.verdict).sentence()));
    parts.extend(notes(&at!(found.flags), ""));
    Shown { title: "Accuracies forecast from losses and ranks".to_owned(), parts }
}

fn errors(found: &At<'_, Forecast>) -> Table {
    let by_task = at!(found.by_task).there();
    let all = at!(found.by_size).each().chain(by_task);
    let groups = all.map(|left_out| rows(&left_out)).collect();
    Table {
        title: format!("Accuracies of {}: forecast and not seen", found.accuracies_from),
        columns: vec![
            Column::once("left out"),
            Column::words("forecast by"),
            Column::words("feature").yields(1),
            Column::numbers("error"),
            Column::estimates("less loss", digits::percent(found.level)),
            Column::numbers("q").yields(2),
        ],
        groups,
        note: "Mean |forecast - measured|, in accuracy. Less loss: the same less that by the loss (of size to rank: by size to loss), with an \
               interval over tasks; q is the share of ways to exchange both features at some models that give as much, adjusted for all comparisons.",
        only: None,
    }
}

fn rows(left_out: &At<'_, LeaveOut>) -> Vec<Row> {
    let row = |errors: At<'_, ForecasterErrors>| {
        let against = at!(errors.against).there();
        let (difference, q) = match &against {
            None => (Cell::none(), None),
            Some(against) => (
                at!(against.difference).estimate().claimed(against.shown),
                at!(against.q).there().map(|q| q.written(digits::probability)),
            ),
        };
        Row::from(vec![
            Cell::words(&left_out.which),
            Cell::words(errors.forecaster.name()),
            Cell::words(errors.feature.as_deref().unwrap_or("-")),
            at!(errors.mean_absolute).number(),
            difference,
            Cell::or_none(q),
        ])
    };
    at!(left_out.forecasters).each().map(row).collect()
}

fn few_tokens(found: &At<'_, Forecast>) -> Table {
    let shown = [Forecaster::Loss, Forecaster::Rank, Forecaster::Profile];
    let row = |few: At<'_, FewTokens>| {
        let mut cells = vec![
            Cell::words(&few.which),
            at!(few.part).written(digits::percent),
            at!(few.tokens).count(),
        ];
        cells.extend(shown.map(|forecaster| {
            let mut errors = at!(few.errors).each();
            let own = errors.find(|error| error.forecaster == forecaster);
            Cell::or_none(own.map(|error| {
                at!(error.mean_absolute)
                    .number()
                    .then(" (")
                    .with(at!(error.with_all).number())
                    .then(")")
            }))
        }));
        Row::from(cells)
    };
    let mut columns = vec![Column::once("left out")];
    columns.extend(["documents", "tokens"].map(Column::numbers));
    columns.extend(shown.map(|forecaster| Column::numbers(forecaster.name())));
    Table {
        title: "Errors with features of the first documents alone".to_owned(),
        columns,
        groups: vec![at!(found.few_tokens).each().map(row).collect()],
        note: "Mean |forecast - measured| in accuracy with the features of so many of the documents; in brackets with those of all.",
        only: None,
    }
}

fn corpora(ranking: &At<'_, CorpusRanking>, found: &At<'_, Forecast>) -> Table {
    let rows = |size: At<'_, RankingAtSize>| {
        let x = at!(size.x).written(digits::given);
        let named = found.features.iter().map(|feature| feature.name.as_str());
        let mut rows: Vec<Row> = named
            .zip(at!(size.features).each())
            .map(|(name, share)| Row::from(vec![x.clone(), Cell::words(name), share.estimate()]))
            .collect();
        let further = [
            ("the accuracy itself", at!(size.accuracy).there()),
            ("ranks, k chosen elsewhere, less loss", at!(size.ranks_less_loss).there()),
        ];
        rows.extend(further.into_iter().filter_map(|(name, share)| {
            Some(Row::from(vec![x.clone(), Cell::words(name), share?.estimate()]))
        }));
        rows
    };
    Table {
        title: "Pairs of training corpora that small models order as the largest do".to_owned(),
        columns: vec![
            Column::once(&found.x),
            Column::words("by"),
            Column::estimates("share", digits::percent(found.level)),
        ],
        groups: at!(ranking.sizes).each().map(rows).collect(),
        note: "Share of pairs of training corpora of which the one with the smaller feature has the larger mean accuracy at the largest size; intervals over \
               corpora drawn again.",
        only: None,
    }
}
