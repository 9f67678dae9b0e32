//! How often something is tried again, and how long is waited between.
//!
//! Waits grow by doubling, each with a random half (Brooker 2015, "Exponential Backoff And Jitter",
//! its equal jitter), so that many clients of a server that fell over do not come back as one. What
//! the server asks for (`Retry-After`, or the `t=` of `RateLimit`) goes before.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often something is tried again.
#[derive(Debug, Clone, Copy)]
pub struct Retry {
    /// Most tries in all; 1 is no second one.
    pub tries: u32,
    /// The wait after the first failure; it doubles with each.
    pub first: Duration,
    /// The longest wait, also of those that a server asks for.
    pub longest: Duration,
    /// Which statuses are tried again.
    pub statuses: fn(u16) -> bool,
}

/// A try that failed and is followed by another: for whoever tells it.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// What was asked, as it may be shown.
    pub url: &'a str,
    /// Which try it was, from 1.
    pub number: u32,
    /// Why it failed.
    pub reason: &'a str,
    /// How long is waited now.
    pub wait: Duration,
}

impl Default for Retry {
    /// Six tries over about half a minute.
    fn default() -> Self {
        Self {
            tries: 6,
            first: Duration::from_secs(1),
            longest: Duration::from_secs(120),
            statuses: Self::passing,
        }
    }
}

impl Retry {
    /// No second try.
    pub const NEVER: Self =
        Self { tries: 1, first: Duration::ZERO, longest: Duration::ZERO, statuses: Self::passing };

    /// Statuses that pass: too many requests, timeouts, and a server in trouble. 501 and 505 say
    /// that it never will.
    pub fn passing(status: u16) -> bool {
        matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504) || (520..=599).contains(&status)
    }

    /// The wait after try `number`, from 1.
    pub(super) fn wait(&self, number: u32) -> Duration {
        let doubled = self.first.saturating_mul(1 << number.saturating_sub(1).min(20));
        doubled.min(self.longest).mul_f64(0.5 + 0.5 * random())
    }
}

/// A number in [0, 1) that differs between processes and calls. It decides a wait, nothing that is
/// written.
fn random() -> f64 {
    let bits = RandomState::new().hash_one(SystemTime::now()) >> 11;
    bits as f64 / 2f64.powi(53)
}

/// How long a server asks to wait, by its headers: `Retry-After` in seconds or as a date, or the
/// seconds until a `RateLimit` is lifted.
pub(super) fn asked_wait(header: &dyn Fn(&str) -> Option<String>) -> Option<Duration> {
    if let Some(value) = header("Retry-After") {
        let value = value.trim();
        return match value.parse::<u64>() {
            Ok(seconds) => Some(Duration::from_secs(seconds)),
            Err(_) => {
                let now = header("Date").as_deref().and_then(seconds_of_date).or_else(|| {
                    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|now| now.as_secs())
                })?;
                Some(Duration::from_secs(seconds_of_date(value)?.saturating_sub(now)))
            }
        };
    }
    let limit = header("RateLimit")?;
    let seconds = limit.split(';').find_map(|part| part.trim().strip_prefix("t="))?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

/// Seconds since 1970 of an HTTP date (RFC 9110, IMF-fixdate): `Sun, 06 Nov 1994 08:49:37 GMT`.
fn seconds_of_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.trim().split(' ').skip(1);
    let day: i64 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = 1 + MONTHS.iter().position(|month| *month == name)? as i64;
    let year: i64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    if !(1970..10_000).contains(&year) || !(1..=31).contains(&day) {
        return None;
    }
    // Hinnant's days from civil: years begin in March, so that the leap day is the last.
    let shifted = if month <= 2 { year - 1 } else { year };
    let of_era = shifted.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = shifted.div_euclid(400) * 146_097 + of_era * 365 + of_era / 4 - of_era / 100
        + of_year
        - 719_468;
    u64::try_from(days * 86_400 + hour * 3_600 + minute * 60 + second).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_keep_a_random_half_and_have_a_bound() {
        let retry = Retry::default();
        for number in 1..=40 {
            let most = (1u64 << (number - 1).min(20)).min(120) as f64;
            let wait = retry.wait(number).as_secs_f64();
            assert!((most / 2.0..=most).contains(&wait), "{number}: {wait}");
        }
        let waits: Vec<Duration> = (0..20).map(|_| retry.wait(3)).collect();
        assert!(waits.iter().any(|wait| *wait != waits[0]), "no jitter");
    }

    /// Seconds by `date -u -d DATE +%s`.
    #[test]
    fn dates_are_those_of_the_calendar() {
        for (text, seconds) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199)),
            ("Fri, 01 Mar 2024 00:00:00 GMT", Some(1_709_251_200)),
            ("soon", None),
            ("Sun, 06 Foo 1994 08:49:37 GMT", None),
        ] {
            assert_eq!(seconds_of_date(text), seconds, "{text}");
        }
    }

    #[test]
    fn servers_say_how_long_to_wait_in_three_ways() {
        let asked = |headers: &[(&str, &str)]| {
            asked_wait(&|name| {
                headers.iter().find(|(there, _)| *there == name).map(|(_, value)| (*value).into())
            })
        };
        assert_eq!(asked(&[("Retry-After", " 7 ")]), Some(Duration::from_secs(7)));
        let dates = [
            ("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("Retry-After", "Sun, 06 Nov 1994 08:50:00 GMT"),
        ];
        assert_eq!(asked(&dates), Some(Duration::from_secs(23)));
        assert_eq!(asked(&[("RateLimit", "\"api\";r=0;t=55")]), Some(Duration::from_secs(55)));
        assert_eq!(asked(&[]), None);
    }

    #[test]
    fn what_never_passes_is_not_tried_again() {
        for status in [200, 206, 307, 401, 403, 404, 416, 501, 505] {
            assert!(!Retry::passing(status), "{status}");
        }
        for status in [429, 500, 502, 503, 504, 524] {
            assert!(Retry::passing(status), "{status}");
        }
    }
}
