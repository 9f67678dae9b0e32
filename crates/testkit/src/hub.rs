//! A Hugging Face Hub on this machine, as far as its clients see it, and the host that its large
//! files lie on.

use std::collections::BTreeMap;
use std::sync::Arc;

use relscale_records::provenance::sha256_bytes;
use serde_json::json;
use sha1::{Digest, Sha1};

use crate::server::{Answer, Received, StubServer};

/// A repository.
#[derive(Debug, Clone)]
pub struct StubRepository {
    /// `models` or `datasets`.
    pub kind: &'static str,
    /// `OWNER/NAME`.
    pub id: String,
    /// Its commit.
    pub commit: String,
    /// Branches and tags that are this commit.
    pub revisions: Vec<String>,
    /// Files and their bytes.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl StubRepository {
    /// A repository whose commit follows from its files, with a branch `main`.
    pub fn new(kind: &'static str, id: &str, files: &[(&str, &[u8])]) -> Self {
        let files: BTreeMap<String, Vec<u8>> =
            files.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
        let commit = sha256_bytes(format!("{id} {files:?}").as_bytes())[..40].to_owned();
        Self { kind, id: id.to_owned(), commit, revisions: vec!["main".into()], files }
    }

    /// The files of a folder.
    ///
    /// # Panics
    /// It cannot be read.
    pub fn of_folder(kind: &'static str, id: &str, folder: &std::path::Path) -> Self {
        let entries = std::fs::read_dir(folder).expect("the folder");
        let files: Vec<(String, Vec<u8>)> = entries
            .map(|entry| {
                let path = entry.expect("an entry").path();
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                (name, std::fs::read(&path).expect("a file"))
            })
            .collect();
        let files: Vec<(&str, &[u8])> =
            files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
        Self::new(kind, id, &files)
    }

    /// Whether a file lies on the other host.
    fn is_apart(name: &str) -> bool {
        [".safetensors", ".bin", ".parquet"].iter().any(|ending| name.ends_with(ending))
    }

    /// The hash that the Hub gives of a file: sha256 where it lies apart, else git's sha1.
    pub fn etag(&self, name: &str) -> String {
        let bytes = &self.files[name];
        if Self::is_apart(name) {
            return sha256_bytes(bytes);
        }
        let mut hash = Sha1::new();
        hash.update(format!("blob {}\0", bytes.len()));
        hash.update(bytes);
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The two hosts.
pub struct StubHub {
    /// The Hub.
    pub hub: StubServer,
    /// Where its large files lie.
    pub apart: StubServer,
}

impl StubHub {
    /// A Hub with these repositories; `fault` may answer before it, on either host.
    pub fn start(
        repositories: Vec<StubRepository>,
        fault: impl Fn(&Received) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        let repositories = Arc::new(repositories);
        let fault = Arc::new(fault);
        let apart = {
            let (repositories, fault) = (Arc::clone(&repositories), Arc::clone(&fault));
            StubServer::start(move |request| {
                fault(request).unwrap_or_else(|| large(request, &repositories))
            })
        };
        let elsewhere = apart.url();
        let hub = StubServer::start(move |request| {
            fault(request).unwrap_or_else(|| answer(request, &repositories, &elsewhere))
        });
        Self { hub, apart }
    }

    /// Requests of both hosts.
    pub fn requests(&self) -> Vec<Received> {
        [self.hub.requests(), self.apart.requests()].concat()
    }
}

/// A refusal as the Hub words it.
pub fn refusal(status: u16, code: &str, message: &str) -> Answer {
    Answer::new(status, "").header("X-Error-Code", code).header("X-Error-Message", message)
}

fn large(request: &Received, repositories: &[StubRepository]) -> Answer {
    let hash = request.path.trim_start_matches('/').split('?').next().unwrap_or_default();
    let files = repositories.iter().flat_map(|repository| repository.files.values());
    match files.into_iter().find(|bytes| sha256_bytes(bytes) == hash) {
        Some(bytes) => Answer::bytes(request, bytes),
        None => Answer::new(403, "no signature"),
    }
}

fn answer(request: &Received, repositories: &[StubRepository], elsewhere: &str) -> Answer {
    let path = request.path.replace("%2F", "/").replace("%40", "@");
    let path = path.split('?').next().unwrap_or_default();
    for repository in repositories {
        let known = |revision: &str| {
            revision == repository.commit || repository.revisions.iter().any(|one| one == revision)
        };
        let info = format!("/api/{}/{}/revision/", repository.kind, repository.id);
        if let Some(revision) = path.strip_prefix(&info) {
            if !known(revision) {
                return refusal(404, "RevisionNotFound", "Invalid rev id");
            }
            let siblings: Vec<_> =
                repository.files.keys().map(|name| json!({"rfilename": name})).collect();
            let info = json!({"id": repository.id, "sha": repository.commit, "siblings": siblings});
            return Answer::new(200, info.to_string());
        }
        let prefix = if repository.kind == "models" { "" } else { "datasets/" };
        let resolve = format!("/{prefix}{}/resolve/", repository.id);
        let Some((revision, name)) =
            path.strip_prefix(&resolve).and_then(|rest| rest.split_once('/'))
        else {
            continue;
        };
        if !known(revision) {
            return refusal(404, "RevisionNotFound", "Invalid rev id");
        }
        let Some(bytes) = repository.files.get(name) else {
            return refusal(404, "EntryNotFound", "Entry not found")
                .header("X-Repo-Commit", &repository.commit);
        };
        let etag = format!("\"{}\"", repository.etag(name));
        let answer = match StubRepository::is_apart(name) {
            true => {
                Answer::redirect(302, &format!("{elsewhere}/{}?signature=s", sha256_bytes(bytes)))
                    .header("X-Linked-Etag", etag)
                    .header("X-Linked-Size", bytes.len().to_string())
            }
            false => Answer::bytes(request, bytes).header("ETag", etag),
        };
        return answer.header("X-Repo-Commit", &repository.commit);
    }
    refusal(401, "RepoNotFound", "Repository not found")
}
