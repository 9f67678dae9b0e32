//! Names of runs that lie in folders of one name: `expA/version_0` and `expB/version_0` of
//! Lightning, `runA/train` and `runB/train` of Keras.

use std::path::{Component, Path, PathBuf};

use super::run::CollectedRun;

/// A run with the folder (or the file without its ending) that is this run and no other; `None`
/// where a table names it.
pub(super) type Placed = (CollectedRun, Option<PathBuf>);

/// Calls runs of one name and group by as much of their paths as tells them apart.
pub(super) fn name_apart(runs: &mut [Placed]) {
    // How much of its path each run is called by; its own name is 1.
    let mut parts = vec![1; runs.len()];
    loop {
        let same = |a: &CollectedRun, b: &CollectedRun| a.run == b.run && a.group == b.group;
        let alike: Vec<usize> = (0..runs.len())
            .filter(|&at| {
                let others = runs.iter().enumerate().filter(|(other, _)| *other != at);
                others
                    .into_iter()
                    .any(|(_, (run, place))| same(run, &runs[at].0) && *place != runs[at].1)
            })
            .collect();
        let mut moved = false;
        for at in alike {
            let Some(path) = &runs[at].1 else { continue };
            if let Some(name) = ending(path, parts[at] + 1) {
                parts[at] += 1;
                runs[at].0.run = name;
                moved = true;
            }
        }
        if !moved {
            return;
        }
    }
}

/// The last so many names of a path.
fn ending(path: &Path, count: usize) -> Option<String> {
    let names: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect();
    (count <= names.len()).then(|| names[names.len() - count..].join("/"))
}
