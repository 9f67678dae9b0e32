//! Values with the place where they stand.
//!
//! A result is read through [`At`]: a reference together with the JSON pointer (RFC 6901) of what
//! it points at. Members are reached by the macro [`at!`], entries by [`At::each`], and each such
//! step writes itself into the pointer. So no pointer is written by hand, and a member that is
//! renamed is renamed in both.

use std::ops::Deref;

/// A place in a file of a study: `FILE#POINTER`. Where an array stands there, its length is meant;
/// a `*` in the pointer takes all members, and their sum is meant. Places joined by ` + `, ` - ` or
/// ` / ` mean the sum, the difference or the ratio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place(String);

impl Place {
    /// The whole of a file.
    pub fn file(name: &str) -> Self {
        Self(format!("{name}#"))
    }

    /// As it stands in a page.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A member or an entry of what is here.
    pub(crate) fn step(&self, step: &str) -> Self {
        let mut place = String::with_capacity(self.0.len() + step.len() + 1);
        place.push_str(&self.0);
        place.push('/');
        for letter in step.chars() {
            match letter {
                '~' => place.push_str("~0"),
                '/' => place.push_str("~1"),
                other => place.push(other),
            }
        }
        Self(place)
    }

    fn joined(&self, by: &str, other: &Self) -> Self {
        Self(format!("{} {by} {}", self.0, other.0))
    }
}

/// A value with its place.
#[derive(Debug)]
pub struct At<'a, T: ?Sized> {
    pub(crate) it: &'a T,
    pub(crate) place: Place,
}

/// A member, or a member of a member: `at!(group.verdict)`, for a `group` that is an [`At`].
macro_rules! at {
    ($from:ident $(. $member:ident)+) => {
        $from.to(&$from.it $(. $member)+, &[$(stringify!($member)),+])
    };
}
pub(crate) use at;

impl<T: ?Sized> Clone for At<'_, T> {
    fn clone(&self) -> Self {
        Self { it: self.it, place: self.place.clone() }
    }
}

impl<T: ?Sized> Deref for At<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.it
    }
}

impl<'a, T: ?Sized> At<'a, T> {
    /// The whole of a result, which stands in `file`.
    pub fn file(file: &str, result: &'a T) -> Self {
        Self { it: result, place: Place::file(file) }
    }

    /// What [`at!`] expands to.
    pub(crate) fn to<U: ?Sized>(&self, it: &'a U, members: &[&str]) -> At<'a, U> {
        let place = members.iter().fold(self.place.clone(), |place, member| place.step(member));
        At { it, place }
    }

    /// What is written as part of this itself: the content of an enum whose tag is a member beside
    /// it.
    pub(crate) fn content<U: ?Sized>(
        &self,
        of: impl FnOnce(&'a T) -> Option<&'a U>,
    ) -> Option<At<'a, U>> {
        Some(At { it: of(self.it)?, place: self.place.clone() })
    }
}

impl<'a, T> At<'a, Option<T>> {
    /// The value, where there is one.
    pub(crate) fn there(&self) -> Option<At<'a, T>> {
        self.content(Option::as_ref)
    }
}

impl<'a, T> At<'a, Vec<T>> {
    /// Every entry.
    pub(crate) fn each(
        &self,
    ) -> impl DoubleEndedIterator<Item = At<'a, T>> + ExactSizeIterator + use<'a, T> {
        let place = self.place.clone();
        self.it
            .iter()
            .enumerate()
            .map(move |(at, it)| At { it, place: place.step(&at.to_string()) })
    }
}

impl<'a, T> At<'a, Vec<T>> {
    /// Every entry, each at the place of all of them: for sums.
    pub(crate) fn all(&self) -> impl Iterator<Item = At<'a, T>> + use<'a, T> {
        let place = self.place.step("*");
        self.it.iter().map(move |it| At { it, place: place.clone() })
    }
}

impl From<&At<'_, u32>> for Total {
    /// Of one count.
    fn from(count: &At<'_, u32>) -> Self {
        Self { sum: u64::from(*count.it), place: count.place.clone() }
    }
}

/// A sum of counts, with where all of them are.
#[derive(Debug, Clone)]
pub(crate) struct Total {
    pub(crate) sum: u64,
    pub(crate) place: Place,
}

impl Total {
    /// Of counts at one place ([`At::all`]); none without any.
    pub(crate) fn from_counts<'a>(counts: impl Iterator<Item = At<'a, u64>>) -> Option<Self> {
        counts.fold(None, |total: Option<Self>, count| {
            Some(Self { sum: *count + total.map_or(0, |total| total.sum), place: count.place })
        })
    }

    /// With another sum.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self { sum: self.sum + other.sum, place: self.place.joined("+", &other.place) }
    }
}

impl<'a, T> At<'a, (T, T)> {
    /// Both, which JSON has as an array of two.
    pub(crate) fn both(&self) -> [At<'a, T>; 2] {
        let at = |it, step| At { it, place: self.place.step(step) };
        [at(&self.it.0, "0"), at(&self.it.1, "1")]
    }
}

/// A number computed of two that stand in the file, with where both are.
#[derive(Debug, Clone)]
pub(crate) struct Computed {
    pub(super) value: f64,
    pub(super) place: Place,
}

impl From<&At<'_, f64>> for Computed {
    fn from(number: &At<'_, f64>) -> Self {
        Self { value: *number.it, place: number.place.clone() }
    }
}

impl Computed {
    /// This less another.
    pub(crate) fn less(self, other: &At<'_, f64>) -> Self {
        Self { value: self.value - other.it, place: self.place.joined("-", &other.place) }
    }
}

impl At<'_, f64> {
    /// This less another.
    pub(crate) fn less(&self, other: &At<'_, f64>) -> Computed {
        Computed::from(self).less(other)
    }

    /// This over another.
    pub(crate) fn over(&self, other: &At<'_, f64>) -> Computed {
        Computed { value: self.it / other.it, place: self.place.joined("/", &other.place) }
    }
}
