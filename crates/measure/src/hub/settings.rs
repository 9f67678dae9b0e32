//! The variables by which users of the Hub say where, whether and as whom, read as
//! `huggingface_hub` reads them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::HubError;
use crate::http::Secret;

/// The public Hub.
const ENDPOINT: &str = "https://huggingface.co";

/// Where files are, from where they come, and whether they may.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The cache's folder.
    pub cache: PathBuf,
    /// The Hub, without a slash at its end.
    pub endpoint: String,
    /// Why nothing is fetched, where nothing is.
    pub offline: Option<&'static str>,
    /// The token, and where it comes from.
    pub token: Option<(Secret, String)>,
    /// Whether snapshots consist of links.
    pub links: bool,
}

/// Looks up a variable.
type Variable<'a> = dyn Fn(&str) -> Option<OsString> + 'a;

impl Settings {
    /// As the environment says; with `forbidden` nothing is fetched, whatever it says.
    ///
    /// # Errors
    /// [`HubError::NoPlace`].
    pub fn from_environment(forbidden: Option<&'static str>) -> Result<Self, HubError> {
        Self::read(&|name| std::env::var_os(name), forbidden)
    }

    /// As [`from_environment`](Self::from_environment), of other variables.
    ///
    /// # Errors
    /// [`HubError::NoPlace`].
    pub fn read(
        variable: &Variable<'_>,
        forbidden: Option<&'static str>,
    ) -> Result<Self, HubError> {
        let text =
            |name: &str| variable(name)?.into_string().ok().filter(|value| !value.is_empty());
        let home = || {
            let home = variable("HOME").or_else(|| variable("USERPROFILE"));
            home.filter(|home| !home.is_empty()).map(PathBuf::from)
        };
        let place = |name: &str| {
            let value = variable(name).filter(|value| !value.is_empty())?;
            Some(expanded(PathBuf::from(value), &home, variable))
        };
        let hugging_face = || {
            place("HF_HOME").or_else(|| {
                let caches = place("XDG_CACHE_HOME").or_else(|| Some(home()?.join(".cache")))?;
                Some(caches.join("huggingface"))
            })
        };
        let cache = place("HF_HUB_CACHE")
            .or_else(|| place("HUGGINGFACE_HUB_CACHE"))
            .or_else(|| Some(hugging_face()?.join("hub")))
            .ok_or(HubError::NoPlace)?;
        let yes = |name: &str| {
            text(name).is_some_and(|value| {
                ["1", "ON", "YES", "TRUE"].contains(&value.to_ascii_uppercase().as_str())
            })
        };
        // The second is asked where the first is empty, as huggingface_hub does.
        let offline = match text("HF_HUB_OFFLINE") {
            Some(_) => yes("HF_HUB_OFFLINE").then_some("HF_HUB_OFFLINE is set"),
            None => yes("TRANSFORMERS_OFFLINE").then_some("TRANSFORMERS_OFFLINE is set"),
        };
        let token = match yes("HF_HUB_DISABLE_IMPLICIT_TOKEN") {
            true => None,
            false => {
                token(&text, place("HF_TOKEN_PATH").or_else(|| Some(hugging_face()?.join("token"))))
            }
        };
        let endpoint = text("HF_ENDPOINT").unwrap_or_else(|| ENDPOINT.to_owned());
        Ok(Self {
            cache,
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            offline: forbidden.or(offline),
            token,
            links: !yes("HF_HUB_DISABLE_SYMLINKS"),
        })
    }
}

/// The token: of a variable, else of a file.
fn token(text: &dyn Fn(&str) -> Option<String>, file: Option<PathBuf>) -> Option<(Secret, String)> {
    for name in ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"] {
        if let Some(secret) = text(name).and_then(|value| Secret::new(&value)) {
            return Some((secret, name.to_owned()));
        }
    }
    let file = file?;
    let secret = Secret::new(&std::fs::read_to_string(&file).ok()?)?;
    Some((secret, file.display().to_string()))
}

/// `~` and `$NAME` at the beginning of a path.
fn expanded(path: PathBuf, home: &dyn Fn() -> Option<PathBuf>, variable: &Variable<'_>) -> PathBuf {
    let mut parts = path.components();
    let Some(first) = parts.next().and_then(|first| first.as_os_str().to_str().map(str::to_owned))
    else {
        return path;
    };
    let rest: &Path = parts.as_path();
    let start = match first.strip_prefix('$') {
        Some(name) => variable(name.trim_matches(['{', '}'])).map(PathBuf::from),
        None if first == "~" => home(),
        None => None,
    };
    start.map_or_else(|| path.clone(), |start| start.join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Result<Settings, HubError> {
        let found = |name: &str| {
            variables
                .iter()
                .find(|(there, _)| *there == name)
                .map(|(_, value)| OsString::from(value))
        };
        Settings::read(&found, None)
    }

    /// The order of huggingface_hub's `constants.py`.
    #[test]
    fn the_cache_is_where_python_has_it() {
        let all = [
            ("HF_HUB_CACHE", "/c/hub"),
            ("HUGGINGFACE_HUB_CACHE", "/l/hub"),
            ("HF_HOME", "/hf"),
            ("XDG_CACHE_HOME", "/xdg"),
            ("HOME", "/home/me"),
        ];
        for (from, place) in [
            (0, "/c/hub"),
            (1, "/l/hub"),
            (2, "/hf/hub"),
            (3, "/xdg/huggingface/hub"),
            (4, "/home/me/.cache/huggingface/hub"),
        ] {
            assert_eq!(settings(&all[from..]).unwrap().cache, Path::new(place));
        }
        assert!(matches!(settings(&[]), Err(HubError::NoPlace)));
        // Empty counts as unset, `~` and a variable are expanded.
        let found = settings(&[("HF_HUB_CACHE", ""), ("HF_HOME", "~/hf"), ("HOME", "/h")]).unwrap();
        assert_eq!(found.cache, Path::new("/h/hf/hub"));
        let found = settings(&[("HF_HUB_CACHE", "$SCRATCH/x"), ("SCRATCH", "/s")]).unwrap();
        assert_eq!(found.cache, Path::new("/s/x"));
        // Without HOME, HF_HOME alone does.
        assert_eq!(settings(&[("HF_HOME", "/hf")]).unwrap().cache, Path::new("/hf/hub"));
    }

    #[test]
    fn offline_is_said_in_several_words() {
        let why = |variables: &[(&str, &str)]| {
            let all = [&[("HF_HOME", "/hf")], variables].concat();
            settings(&all).unwrap().offline
        };
        for word in ["1", "on", "YES", "True"] {
            assert_eq!(why(&[("HF_HUB_OFFLINE", word)]), Some("HF_HUB_OFFLINE is set"));
            assert_eq!(why(&[("TRANSFORMERS_OFFLINE", word)]), Some("TRANSFORMERS_OFFLINE is set"));
        }
        for word in ["0", "", "off", "maybe"] {
            assert_eq!(why(&[("HF_HUB_OFFLINE", word)]), None, "{word}");
        }
        assert_eq!(why(&[("HF_HUB_OFFLINE", "0"), ("TRANSFORMERS_OFFLINE", "1")]), None);
        let found = |name: &str| (name == "HF_HOME").then(|| OsString::from("/hf"));
        assert_eq!(Settings::read(&found, Some("--offline")).unwrap().offline, Some("--offline"));
    }

    #[test]
    fn the_token_comes_from_the_usual_places_and_is_not_shown() {
        let root = tempfile::tempdir().unwrap();
        let (home, path) = (root.path().join("hf"), root.path().join("elsewhere"));
        std::fs::create_dir(&home).unwrap();
        std::fs::write(home.join("token"), "hf_home\n").unwrap();
        std::fs::write(&path, "hf_path\n").unwrap();
        let (home, path) = (home.to_str().unwrap(), path.to_str().unwrap());
        let all = [("HF_TOKEN", "hf_variable"), ("HF_TOKEN_PATH", path), ("HF_HOME", home)];
        for (from, token) in [(0, "hf_variable"), (1, "hf_path"), (2, "hf_home")] {
            let found = settings(&[&all[from..], &[("HF_HOME", home)]].concat()).unwrap();
            let (secret, place) = found.token.clone().unwrap();
            assert_eq!(Some(secret), Secret::new(token), "{place}");
            assert!(!format!("{found:?}").contains(token), "{found:?}");
        }
        let none = [("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1"), ("HF_TOKEN", "x"), ("HF_HOME", home)];
        assert!(settings(&none).unwrap().token.is_none());
        let found = settings(&[("HF_HOME", home), ("HF_ENDPOINT", "http://mirror:1/")]).unwrap();
        assert_eq!(found.endpoint, "http://mirror:1");
        assert_eq!(settings(&[("HF_HOME", home)]).unwrap().endpoint, ENDPOINT);
    }
}
