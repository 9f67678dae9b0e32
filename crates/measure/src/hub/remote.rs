//! What the Hub says of a repository and its files, and its refusals in words.
//!
//! Two requests: `GET /api/models/ID/revision/REVISION` gives the commit and the names of the
//! files, `HEAD /ID/resolve/COMMIT/FILE` a file's size and hash. Its answer says in `X-Error-Code`
//! why there is none.

use serde::Deserialize;

use super::name::{Repository, check_path, is_commit};
use super::settings::Settings;
use crate::error::{Error, HubError, Result};
use crate::http::url::{encoded, shown};
use crate::http::{Client, HttpError, Redirects, Request, Response};

/// Longest list of files that is read, in bytes: some data sets have hundreds of thousands.
const LONGEST: u64 = 1 << 28;

/// The Hub, asked by a client.
#[derive(Debug, Clone, Copy)]
pub struct Remote<'a> {
    /// The client.
    pub client: &'a Client,
    /// Endpoint and token.
    pub settings: &'a Settings,
}

/// What a revision is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Its commit.
    pub commit: String,
    /// Its files.
    pub files: Vec<String>,
}

/// A file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub file: String,
    /// Its hash, if it is one: sha256 of what is stored apart, git's sha1 of the rest.
    pub etag: String,
    /// Bytes, where the Hub says.
    pub size: Option<u64>,
    /// Where it is asked for.
    pub url: String,
}

#[derive(Deserialize)]
struct Info {
    sha: String,
    #[serde(default)]
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
struct Sibling {
    rfilename: String,
}

impl Remote<'_> {
    /// What a revision is.
    ///
    /// # Errors
    /// [`Error::Hub`], [`Error::Cancelled`].
    pub fn listing(&self, repository: &Repository, revision: &str) -> Result<Listing> {
        let what = repository.to_string();
        let url = format!(
            "{}/api/{}/{}/revision/{}",
            self.settings.endpoint,
            repository.kind.folder(),
            repository.id,
            encoded(revision, false)
        );
        let request = self.request(Request::get(&url));
        let answer = self.client.exchange(&request, LONGEST).map_err(failed(&what))?;
        if answer.status != 200 {
            let said = Said {
                status: answer.status,
                code: answer.header("X-Error-Code").unwrap_or_default(),
                message: answer.header("X-Error-Message").unwrap_or_default(),
            };
            return Err(self.refusal(repository, revision, None, &said).into());
        }
        let no_hub = |reason: String| HubError::NoHub { url: shown(&url), reason };
        let info: Info = answer.json().map_err(|error| no_hub(error.to_string()))?;
        if !is_commit(&info.sha) {
            return Err(no_hub("it names no commit".into()).into());
        }
        let mut files: Vec<String> = info.siblings.into_iter().map(|one| one.rfilename).collect();
        // A name that leads out of its folder is written nowhere.
        files.retain(|file| check_path(file).is_ok());
        files.sort();
        Ok(Listing { commit: info.sha, files })
    }

    /// What a file is.
    ///
    /// # Errors
    /// As [`listing`](Self::listing).
    pub fn entry(&self, repository: &Repository, commit: &str, file: &str) -> Result<Entry> {
        let url = format!(
            "{}/{}{}/resolve/{commit}/{}",
            self.settings.endpoint,
            repository.kind.prefix(),
            repository.id,
            encoded(file, true)
        );
        let request = self.request(Request::head(&url)).redirects(Redirects::SameOrigin);
        let answer = self.client.send(&request).map_err(failed(&repository.to_string()))?;
        let redirect = (300..400).contains(&answer.status());
        if answer.status() != 200 && !redirect {
            return Err(self.refused(repository, commit, file, &answer).into());
        }
        let no_hub =
            |reason: &str| Error::from(HubError::NoHub { url: shown(&url), reason: reason.into() });
        let etag = answer.header("X-Linked-Etag").or_else(|| answer.header("ETag"));
        let etag = etag.map(|etag| etag.trim_start_matches("W/").trim_matches('"').to_owned());
        let plain = |etag: &String| {
            (1..=128).contains(&etag.len())
                && !etag.starts_with('.')
                && etag.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        let etag =
            etag.filter(plain).ok_or_else(|| no_hub("it has no ETag to keep the file by"))?;
        let size = match (answer.header("X-Linked-Size"), redirect) {
            (Some(size), _) => size.parse().ok(),
            (None, true) => None,
            (None, false) => answer.header("Content-Length").and_then(|size| size.parse().ok()),
        };
        Ok(Entry { file: file.to_owned(), etag, size, url })
    }

    /// Asks for the bytes of a file, from one on.
    ///
    /// # Errors
    /// As [`listing`](Self::listing).
    pub fn bytes(
        &self,
        repository: &Repository,
        commit: &str,
        entry: &Entry,
        first: u64,
    ) -> Result<Response> {
        let request = self.request(Request::get(&entry.url)).from_byte(first);
        let answer = self.client.send(&request).map_err(failed(&repository.to_string()))?;
        match answer.status() {
            200 | 206 | 416 => Ok(answer),
            _ => Err(self.refused(repository, commit, &entry.file, &answer).into()),
        }
    }

    /// With the token; without compression, which would hide sizes.
    fn request(&self, request: Request) -> Request {
        let token = self.settings.token.as_ref().map(|(secret, _)| secret);
        request.header("Accept-Encoding", "identity").bearer(token)
    }

    fn refused(
        &self,
        repository: &Repository,
        commit: &str,
        file: &str,
        answer: &Response,
    ) -> HubError {
        let said = Said {
            status: answer.status(),
            code: answer.header("X-Error-Code").unwrap_or_default(),
            message: answer.header("X-Error-Message").unwrap_or_default(),
        };
        self.refusal(repository, commit, Some(file), &said)
    }

    /// A refusal in words. The Hub answers 401 where a repository is not there or private, and
    /// nobody signed in.
    fn refusal(
        &self,
        repository: &Repository,
        revision: &str,
        file: Option<&str>,
        said: &Said<'_>,
    ) -> HubError {
        let what = repository.to_string();
        let page =
            format!("{}/{}{}", self.settings.endpoint, repository.kind.prefix(), repository.id);
        let token = self.settings.token.is_some();
        let revision = revision.to_owned();
        match (said.status, said.code, file) {
            (_, "GatedRepo", _) => HubError::Gated { what, page, token },
            (401, _, _) if said.message.contains("Invalid credentials") => {
                let place = self.settings.token.as_ref().map(|(_, place)| place.clone());
                HubError::BadToken { what, place: place.unwrap_or_default() }
            }
            (_, "RevisionNotFound", _) => {
                HubError::NoRevision { what, revision, page: format!("{page}/refs") }
            }
            (_, "EntryNotFound", Some(file)) | (404, "", Some(file)) => HubError::NoFile {
                what,
                file: file.to_owned(),
                near: Vec::new(),
                page: format!("{page}/tree/{revision}"),
            },
            (_, "RepoNotFound", _) | (401 | 404, _, _) => {
                HubError::NoRepository { what, kind: repository.kind.words(), page, token }
            }
            // Terms that were not accepted, where the code is missing.
            (403, _, _) => HubError::Gated { what, page, token },
            (status, _, _) => HubError::Status { what, status, message: said.message.to_owned() },
        }
    }
}

/// What a refusal says.
struct Said<'a> {
    status: u16,
    code: &'a str,
    message: &'a str,
}

/// An error of the connection, for a repository.
pub(super) fn failed(what: &str) -> impl Fn(HttpError) -> Error + use<> {
    let what = what.to_owned();
    move |error| match error {
        HttpError::Cancelled => Error::Cancelled,
        source => HubError::NoConnection { what: what.clone(), source }.into(),
    }
}
