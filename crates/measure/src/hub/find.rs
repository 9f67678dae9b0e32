//! A name becomes files: from the cache, or else from the Hub into the cache.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::cache::Cache;
use super::event::{HubEvent, HubListener};
use super::fetch::{Fetch, keeping};
use super::name::{DatasetFiles, Kind, Repository};
use super::remote::{Entry, Listing, Remote};
use super::settings::Settings;
use super::wanted::{self, Missing, Parts, Weights};
use crate::error::{Error, HubError, Result};
use crate::http::{Client, Limits, Retry};

/// Files of the Hub on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The folder or file; a pattern stays one.
    pub path: PathBuf,
    /// What it is, with its commit: `hf:OWNER/NAME@COMMIT`.
    pub source: String,
}

/// The Hub and its cache. The environment is read, and a connection opened, when a name needs it.
pub struct Hub {
    settings: OnceLock<Settings>,
    forbidden: Option<&'static str>,
    client: OnceLock<Client>,
    retry: Retry,
    cancel: Arc<AtomicBool>,
    listener: HubListener,
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hub").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Hub {
    /// As the environment says; where there is a reason in `forbidden`, nothing is fetched.
    pub fn new(
        forbidden: Option<&'static str>,
        cancel: Arc<AtomicBool>,
        listener: HubListener,
    ) -> Self {
        let retry = Retry { tries: 5, longest: Duration::from_secs(60), ..Retry::default() };
        let (settings, client) = (OnceLock::new(), OnceLock::new());
        Self { settings, forbidden, client, retry, cancel, listener }
    }

    /// With these settings, whatever the environment says.
    #[must_use]
    pub fn with(mut self, settings: Settings, retry: Retry) -> Self {
        (self.settings, self.retry) = (OnceLock::from(settings), retry);
        self
    }

    fn settings(&self) -> Result<&Settings> {
        if let Some(settings) = self.settings.get() {
            return Ok(settings);
        }
        let settings = Settings::from_environment(self.forbidden)?;
        Ok(self.settings.get_or_init(|| settings))
    }

    fn client(&self, what: &str) -> Result<&Client> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let listener = Arc::clone(&self.listener);
        let client = Client::new(Limits::default(), self.retry)
            .map_err(super::remote::failed(what))?
            .cancelled_by(Arc::clone(&self.cancel))
            .on_retry(Arc::new(move |attempt| {
                listener(HubEvent::Again {
                    url: attempt.url,
                    reason: attempt.reason,
                    wait: attempt.wait,
                });
            }));
        Ok(self.client.get_or_init(|| client))
    }

    /// A model's folder.
    ///
    /// # Errors
    /// [`Error::Hub`], [`Error::Cancelled`].
    pub fn model(&self, repository: &Repository, parts: Parts) -> Result<Found> {
        let (settings, cache) = self.place()?;
        let pinned = cache.commit(repository);
        let found = |commit: &str| Found {
            path: cache.snapshot(repository, commit),
            source: repository.pinned(commit),
        };
        let missing = match &pinned {
            Some(commit) => {
                let mut missing = wanted::missing(&cache.snapshot(repository, commit), parts);
                let known =
                    missing.tokenizer && cache.is_absent(repository, commit, "tokenizer.json");
                missing.tokenizer &= !known;
                missing
            }
            None => Missing { needed: vec!["it is".to_owned()], tokenizer: true },
        };
        if let Some(commit) = pinned.as_deref().filter(|_| missing.is_nothing()) {
            return Ok(found(commit));
        }
        // Some models have no tokenizer.
        let enough = pinned.as_deref().filter(|_| missing.needed.is_empty());
        if let Some(why) = settings.offline {
            return match enough {
                Some(commit) => Ok(found(commit)),
                None => {
                    Err(offline(repository, &cache, why, &missing_words(&pinned, &missing), ""))
                }
            };
        }
        let remote = Remote { client: self.client(&repository.to_string())?, settings };
        let revision = pinned.as_deref().unwrap_or(repository.wanted());
        let listing = match (remote.listing(repository, revision), enough) {
            (Ok(listing), _) => listing,
            (Err(Error::Cancelled), _) => return Err(Error::Cancelled),
            // Nothing is known to be missing.
            (Err(_), Some(commit)) => return Ok(found(commit)),
            (Err(error), None) => return Err(error),
        };
        cache.keep_ref(repository, &listing.commit).map_err(keeping(cache.root(), 0))?;
        let files = self.of_model(&remote, &cache, repository, &listing, parts)?;
        self.fetch(&remote, &cache, repository, &listing.commit, &files)?;
        if !listing.files.iter().any(|file| file == "tokenizer.json") {
            // Where it cannot be kept, it is asked for again.
            let _ = cache.keep_absence(repository, &listing.commit, "tokenizer.json");
        }
        Ok(found(&listing.commit))
    }

    /// The files of a model, its shards by its index, which is fetched for that.
    fn of_model(
        &self,
        remote: &Remote<'_>,
        cache: &Cache,
        repository: &Repository,
        listing: &Listing,
        parts: Parts,
    ) -> Result<Vec<String>> {
        let mut files = wanted::small(&listing.files);
        if parts == Parts::WithoutWeights {
            return Ok(files);
        }
        match wanted::weights(&listing.files) {
            Some(Weights::Whole(file)) => files.push(file.to_owned()),
            Some(Weights::Sharded(index)) => {
                let entry = remote.entry(repository, &listing.commit, index)?;
                self.one(remote, cache, repository, &listing.commit, &entry, &|_| {})?;
                let path = cache.snapshot(repository, &listing.commit).join(index);
                let bytes = std::fs::read(&path).map_err(|source| HubError::Keep {
                    path,
                    source,
                    missing: 0,
                })?;
                let shards = wanted::shards(&bytes).map_err(|reason| HubError::Wrong {
                    what: repository.to_string(),
                    file: index.to_owned(),
                    reason,
                })?;
                files.extend(shards);
            }
            None => {
                return Err(HubError::NoWeights {
                    what: repository.to_string(),
                    has: wanted::other_weights(&listing.files),
                }
                .into());
            }
        }
        Ok(files)
    }

    /// Files of a data set: a file, a folder, or a pattern.
    ///
    /// # Errors
    /// [`Error::Hub`], [`Error::Cancelled`].
    pub fn dataset(&self, files: &DatasetFiles) -> Result<Found> {
        let (settings, cache) = self.place()?;
        let DatasetFiles { repository, path } = files;
        let pinned = cache.commit(repository);
        let found = |commit: &str| Found {
            path: cache.snapshot(repository, commit).join(path),
            source: format!("{}/{path}", repository.pinned(commit)),
        };
        let there =
            pinned.as_deref().map(|commit| cache.files(repository, commit)).unwrap_or_default();
        let named = wanted::named(&there, path);
        if let (Some(commit), [only]) = (&pinned, named.as_slice())
            && only == path
        {
            return Ok(found(commit));
        }
        // What there is of a folder or pattern may be a part of it.
        let partial = |commit: &str| {
            (self.listener)(HubEvent::Partial {
                what: &repository.pinned(commit),
                files: named.len(),
            });
            found(commit)
        };
        let some = pinned.as_deref().filter(|_| !named.is_empty());
        if let Some(why) = settings.offline {
            let missing = format!("{path} is");
            return some
                .map(partial)
                .ok_or_else(|| offline(repository, &cache, why, &missing, path));
        }
        let remote = Remote { client: self.client(&repository.to_string())?, settings };
        let revision = pinned.as_deref().unwrap_or(repository.wanted());
        let listing = match (remote.listing(repository, revision), some) {
            (Ok(listing), _) => listing,
            (Err(Error::Hub(error)), Some(commit))
                if matches!(*error, HubError::NoConnection { .. } | HubError::Status { .. }) =>
            {
                return Ok(partial(commit));
            }
            (Err(error), _) => return Err(error),
        };
        let wanted: Vec<String> =
            wanted::named(&listing.files, path).into_iter().map(str::to_owned).collect();
        if wanted.is_empty() {
            return Err(no_file(settings, repository, &listing, path).into());
        }
        cache.keep_ref(repository, &listing.commit).map_err(keeping(cache.root(), 0))?;
        self.fetch(&remote, &cache, repository, &listing.commit, &wanted)?;
        Ok(found(&listing.commit))
    }

    fn place(&self) -> Result<(&Settings, Cache)> {
        let settings = self.settings()?;
        Ok((settings, Cache::new(&settings.cache, settings.links)))
    }

    /// Fetches what is not there.
    fn fetch(
        &self,
        remote: &Remote<'_>,
        cache: &Cache,
        repository: &Repository,
        commit: &str,
        files: &[String],
    ) -> Result<()> {
        let snapshot = cache.snapshot(repository, commit);
        let absent = files.iter().filter(|file| !snapshot.join(file).is_file());
        let entries: Vec<Entry> =
            absent.map(|file| remote.entry(repository, commit, file)).collect::<Result<_>>()?;
        if entries.is_empty() {
            return Ok(());
        }
        let what = repository.pinned(commit);
        let left = |entry: &Entry| {
            let blob = cache.blob(repository, &entry.etag);
            let aside = cache.incomplete(repository, &entry.etag);
            let length = |path: &PathBuf| std::fs::metadata(path).map_or(0, |there| there.len());
            let size = entry.size.unwrap_or(0);
            if blob.is_file() { 0 } else { size.saturating_sub(length(&aside)) }
        };
        let bytes = entries.iter().map(left).sum();
        let of = entries.iter().filter_map(|entry| entry.size).sum();
        (self.listener)(HubEvent::Fetching {
            what: &what,
            files: entries.len(),
            bytes,
            cache: cache.root(),
        });
        let mut before = 0;
        for entry in &entries {
            let came = |done: u64| {
                let (file, size) = (entry.file.as_str(), entry.size.unwrap_or(0));
                let all_done = before + done;
                (self.listener)(HubEvent::Came { file, done, of: size, all_done, all_of: of });
            };
            self.one(remote, cache, repository, commit, entry, &came)?;
            before += entry.size.unwrap_or(0);
        }
        (self.listener)(HubEvent::Fetched { what: &what });
        Ok(())
    }

    fn one(
        &self,
        remote: &Remote<'_>,
        cache: &Cache,
        repository: &Repository,
        commit: &str,
        entry: &Entry,
        came: &dyn Fn(u64),
    ) -> Result<()> {
        let listener = |event: HubEvent<'_>| (self.listener)(event);
        let (remote, cancel) = (*remote, &*self.cancel);
        Fetch { remote, cache, repository, commit, cancel, listener: &listener, came }.file(entry)
    }
}

/// What is missing, with its verb.
fn missing_words(pinned: &Option<String>, missing: &Missing) -> String {
    match (pinned, missing.needed.as_slice()) {
        (None, _) => "it is".to_owned(),
        (_, [one]) if one != "the weights" => format!("{one} is"),
        (_, some) => format!("{} are", some.join(", ")),
    }
}

fn offline(
    repository: &Repository,
    cache: &Cache,
    why: &'static str,
    missing: &str,
    path: &str,
) -> Error {
    let kind = if repository.kind == Kind::Dataset { " --repo-type dataset" } else { "" };
    let revision = repository.revision.as_ref().map(|revision| format!(" --revision {revision}"));
    let path = match path {
        "" => String::new(),
        path if wanted::is_open(path) => format!(" --include '{path}'"),
        path => format!(" {path}"),
    };
    let revision = revision.unwrap_or_default();
    HubError::Offline {
        what: repository.to_string(),
        missing: missing.to_owned(),
        cache: cache.root().to_owned(),
        why,
        command: format!("hf download {}{path}{kind}{revision}", repository.id),
    }
    .into()
}

/// Names that are near a file that is not there: of the same folder, or of the same ending.
fn no_file(
    settings: &Settings,
    repository: &Repository,
    listing: &Listing,
    path: &str,
) -> HubError {
    let folder = path.trim_end_matches('/').rsplit_once('/').map_or("", |(folder, _)| folder);
    let beside = |file: &&String| {
        !file.starts_with('.') && file.rsplit_once('/').map_or("", |(before, _)| before) == folder
    };
    let mut near: Vec<String> = listing.files.iter().filter(beside).cloned().collect();
    if near.is_empty() {
        near = listing.files.iter().filter(|file| !file.starts_with('.')).cloned().collect();
    }
    let place = format!("{}{}", repository.kind.prefix(), repository.id);
    HubError::NoFile {
        what: repository.to_string(),
        file: path.to_owned(),
        near,
        page: format!("{}/{place}/tree/{}", settings.endpoint, listing.commit),
    }
}
