//! URLs: where one leads, what a redirect means, and what of one may be shown.

use ureq::http::Uri;

/// A URL without what may be secret: user and password, and everything behind `?` or `#`.
///
/// ```
/// use relscale_measure::http::url::shown;
/// assert_eq!(shown("https://me:pw@cdn.example/a/b?X-Signature=abc"), "https://cdn.example/a/b");
/// assert_eq!(shown("http://localhost:8000/v1"), "http://localhost:8000/v1");
/// ```
pub fn shown(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// A name as a part of a URL's path: all but letters, digits and `-._~` is written `%XX`; slashes
/// stay when `slashes`.
///
/// ```
/// use relscale_measure::http::url::encoded;
/// assert_eq!(encoded("refs/pr/1", false), "refs%2Fpr%2F1");
/// assert_eq!(encoded("data/a b+ü.txt", true), "data/a%20b%2B%C3%BC.txt");
/// ```
pub fn encoded(name: &str, slashes: bool) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' => text.push(char::from(byte)),
            b'/' if slashes => text.push('/'),
            byte if byte.is_ascii_alphanumeric() => text.push(char::from(byte)),
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// Scheme, host and port: what a token is meant for. Two URLs of one origin go to one server.
pub(super) fn origin(uri: &Uri) -> Option<(String, String, u16)> {
    let scheme = uri.scheme_str()?.to_ascii_lowercase();
    let port = uri.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
    Some((scheme, uri.host()?.to_ascii_lowercase(), port))
}

/// Whether a URL leads to this machine, where no proxy is needed.
pub(super) fn is_here(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Where a redirect from `from` leads; none where `to` is no place.
pub(super) fn redirected(from: &Uri, to: &str) -> Option<Uri> {
    let scheme = from.scheme_str()?;
    let authority = from.authority()?;
    // A fragment is the reader's own.
    let to = to.split('#').next().unwrap_or_default();
    let full = match to {
        "" => return None,
        to if to.starts_with("//") => format!("{scheme}:{to}"),
        to if to.starts_with('/') => format!("{scheme}://{authority}{to}"),
        to if to.split(['/', '?']).next().is_some_and(|first| first.contains(':')) => to.to_owned(),
        to => {
            let folder = &from.path()[..from.path().rfind('/').map_or(0, |at| at + 1)];
            format!("{scheme}://{authority}{folder}{to}")
        }
    };
    let uri: Uri = full.parse().ok()?;
    matches!(uri.scheme_str(), Some("http" | "https")).then_some(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_are_read_as_browsers_read_them() {
        let from: Uri = "https://hub.example/a/resolve/main/x?y=1".parse().unwrap();
        for (to, full) in [
            ("/api/x", Some("https://hub.example/api/x")),
            ("//cdn.example/x?s=1", Some("https://cdn.example/x?s=1")),
            ("http://other:81/x", Some("http://other:81/x")),
            ("next", Some("https://hub.example/a/resolve/main/next")),
            ("next?at=10:30", Some("https://hub.example/a/resolve/main/next?at=10:30")),
            ("/x#part", Some("https://hub.example/x")),
            ("", None),
            ("file:///etc/passwd", None),
            ("http://", None),
        ] {
            let found = redirected(&from, to).map(|uri| uri.to_string());
            assert_eq!(found.as_deref(), full, "{to}");
        }
    }

    #[test]
    fn another_port_or_scheme_is_another_server() {
        let of = |url: &str| origin(&url.parse().unwrap());
        assert_eq!(of("https://Hub.example/a"), of("https://hub.example:443/b"));
        assert_ne!(of("https://hub.example/"), of("http://hub.example/"));
        assert_ne!(of("http://127.0.0.1:1/"), of("http://127.0.0.1:2/"));
    }

    #[test]
    fn this_machine_is_known_by_its_names() {
        for (url, here) in [
            ("http://localhost:8000/", true),
            ("http://127.0.0.9/", true),
            ("http://[::1]:8000/", true),
            ("http://10.0.0.1/", false),
            ("http://localhost.example/", false),
        ] {
            assert_eq!(is_here(&url.parse().unwrap()), here, "{url}");
        }
    }
}
