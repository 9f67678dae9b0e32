use super::*;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_dropped_file_never_appears() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x.json");
    let mut file = AtomicFile::create(&target).unwrap();
    file.write_all(b"half").unwrap();
    drop(file);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_committed_file_replaces_the_old_one_whole() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x.json");
    fs::write(&target, b"a longer old content").unwrap();
    write_whole(&target, b"new").unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"new");
    assert_eq!(names(folder.path()), ["x.json"]);
}

#[cfg(unix)]
#[test]
fn leftovers_go_and_files_stay() {
    let folder = tempfile::tempdir().unwrap();
    let left = ["part-00001.parquet.tmp", "laws.json.tmp", "laws.json.12.tmp", "text.tmp"];
    // Whoever calls a file .tmp may want it yet.
    let kept = ["notes.tmp", "part-00000.parquet", "x.1.tmp"];
    for name in left.iter().chain(&kept) {
        fs::write(folder.path().join(name), b"cut").unwrap();
    }
    let held = AtomicFile::create(&folder.path().join("report.html")).unwrap();
    remove_leftovers(folder.path()).unwrap();
    assert_eq!(
        names(folder.path()),
        ["notes.tmp", "part-00000.parquet", "report.html.tmp", "x.1.tmp"]
    );
    held.commit().unwrap();
}

/// Two writers of one target, forced to overlap: each has a file of its own, and the last whole one
/// stays.
#[test]
fn writers_of_one_target_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("laws.json");
    let mut one = AtomicFile::create(&target).unwrap();
    one.write_all(b"one, and it is long").unwrap();
    let mut two = AtomicFile::create(&target).unwrap();
    assert_ne!(one.aside(), two.aside());
    two.write_all(b"two").unwrap();
    two.commit().unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"two");
    one.commit().unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"one, and it is long");
    assert_eq!(names(folder.path()), ["laws.json"]);
}

#[test]
fn races_leave_one_of_the_writers_whole() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("laws.json");
    let contents: Vec<String> = (0..8).map(|n| format!("{n}").repeat(10_000 + 1_000 * n)).collect();
    std::thread::scope(|scope| {
        for content in &contents {
            scope.spawn(|| {
                for _ in 0..20 {
                    write_with(&target, |out| out.write_all(content.as_bytes())).unwrap();
                    assert!(contents.contains(&fs::read_to_string(&target).unwrap()));
                }
            });
        }
        scope.spawn(|| (0..200).for_each(|_| remove_leftovers(folder.path()).unwrap()));
    });
    assert_eq!(names(folder.path()), ["laws.json"]);
}

#[cfg(unix)]
#[test]
fn what_a_killed_writer_left_is_taken_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("laws.json");
    fs::write(folder.path().join("laws.json.tmp"), b"cut by a kill").unwrap();
    write_whole(&target, b"new").unwrap();
    assert_eq!(names(folder.path()), ["laws.json"]);
}

#[cfg(unix)]
#[test]
fn links_are_never_written_through() {
    let (outside, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let precious = outside.path().join("precious");
    fs::write(&precious, b"precious").unwrap();
    let link =
        |to: &Path, name: &str| std::os::unix::fs::symlink(to, folder.path().join(name)).unwrap();
    link(&precious, "laws.json.tmp");
    link(&precious, "run.json");
    link(&outside.path().join("nothing yet"), "done.json");
    link(outside.path(), "figures");

    write_whole(&folder.path().join("laws.json"), b"new").unwrap();
    let refused = |result: Result<()>, name: &str| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::InTheWay { .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.contains(name) && message.contains("is a link"), "{message}");
    };
    refused(write_whole(&folder.path().join("run.json"), b"precious"), "run.json");
    refused(write_with(&folder.path().join("done.json"), |out| out.write_all(b"x")), "done.json");
    refused(inner_folder(&folder.path().join("figures")), "figures");
    refused(publish_folder(folder.path(), &folder.path().join("figures")), "figures");

    assert_eq!(fs::read(&precious).unwrap(), b"precious");
    assert_eq!(names(outside.path()), ["precious"]);
}

#[cfg(unix)]
#[test]
fn what_a_user_names_may_be_a_link_or_a_device() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("real.json"), b"old").unwrap();
    std::os::unix::fs::symlink("real.json", at("link.json")).unwrap();
    std::os::unix::fs::symlink("later.json", at("dangling.json")).unwrap();
    std::os::unix::fs::symlink("/dev/null", at("null")).unwrap();
    for name in ["link.json", "dangling.json", "null"] {
        write_named(&at(name), b"new").unwrap();
        assert!(fs::symlink_metadata(at(name)).unwrap().is_symlink(), "{name}");
    }
    assert_eq!(fs::read(at("real.json")).unwrap(), b"new");
    assert_eq!(fs::read(at("later.json")).unwrap(), b"new");
    write_named(Path::new("/dev/null"), b"new").unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

/// A disk that is really full, as the kernel plays it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("run.json");
    fs::write(&target, b"old").unwrap();
    let full = faults::full(&target);
    let message = write_whole(&target, b"{}").unwrap_err().to_string();
    assert!(message.contains("run.json.tmp"), "{message}");
    assert!(message.contains("disk is full"), "{message}");
    assert_eq!(names(folder.path()), ["run.json"]);
    assert_eq!(fs::read(&target).unwrap(), b"old");
    drop(full);
    write_whole(&target, b"{}").unwrap();
}

/// After the rename the folder is synced, by every way to write a file: a power cut cannot take the
/// new name away again.
#[cfg(unix)]
#[test]
fn the_folder_is_synced_after_the_rename() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("study");
    fs::create_dir(&folder).unwrap();
    let dying = faults::dying(&folder);
    let at = |name: &str| folder.join(name);
    let commit = |name: &str| AtomicFile::create(&at(name)).unwrap().commit();
    let content = |out: &mut dyn Write| out.write_all(b"x");
    for (name, written) in [
        ("a.json", write_whole(&at("a.json"), b"x")),
        ("b.json", write_with(&at("b.json"), content)),
        ("c.json", write_named(&at("c.json"), b"x")),
        ("d.json", write_named_with(&at("d.json"), content)),
        ("e.json", commit("e.json")),
        ("figures", inner_folder(&at("figures"))),
        ("new/deeper", super::folder(&at("new/deeper"))),
    ] {
        let message = written.unwrap_err().to_string();
        assert!(
            message.contains("study") && message.contains("the disk died"),
            "{name}: {message}"
        );
    }
    let aside = at("model.7");
    fs::create_dir(&aside).unwrap();
    publish_folder(&aside, &at("model")).unwrap_err();
    drop(dying);
    write_whole(&at("f.json"), b"x").unwrap();
    super::folder(&at("far/below")).unwrap();
    // Only the names were not known to last.
    for name in [
        "a.json",
        "b.json",
        "c.json",
        "d.json",
        "e.json",
        "f.json",
        "figures",
        "model",
        "far/below",
    ] {
        assert!(at(name).exists(), "{name}");
    }
}
