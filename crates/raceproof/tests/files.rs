//! What a program does to files and folders is as it is natively, and nothing on disk changes.

mod common;

use std::path::Path;
use std::process::Command;

use common::Folder;

/// A folder with a file, a folder with a file, and a link.
fn prepared() -> Folder {
    let folder = Folder::empty();
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    for name in ["present", "folder/old"] {
        std::fs::write(folder.path().join(name), "text").unwrap();
    }
    std::os::unix::fs::symlink("present", folder.path().join("to-present")).unwrap();
    folder
}

/// Runs a program of `tests/files` natively and under the search, each in a folder of its own: the same output, sorted
/// because two threads may come in either order. Gives the folder of the search.
fn same_as_natively(name: &str) -> Folder {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files").join(name);
    let elsewhere = tempfile::tempdir().unwrap();
    let executable = elsewhere.path().join("program");
    let mut clang = Command::new("clang-19");
    assert!(clang.args(["-pthread", "-o"]).arg(&executable).arg(&source).status().unwrap().success());
    let (native, ours) = (prepared(), prepared());
    let native = Command::new(&executable).current_dir(native.path()).output().unwrap();
    let run = ours.raceproof(&["explore", source.to_str().unwrap(), "--show-output"]);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    let (native, shown) = (String::from_utf8(native.stdout).unwrap(), run.stderr);
    let sorted = |text: &str| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    assert_eq!(sorted(&native), sorted(&shown));
    let kept = std::fs::read(ours.path().join("folder/old")).unwrap();
    assert!(kept == b"text" && ours.path().join("present").exists() && !ours.path().join("made").exists());
    ours
}

#[test]
fn folders_are_as_they_are_natively() {
    same_as_natively("folders.c");
}

#[test]
fn links_are_as_they_are_natively() {
    let folder = same_as_natively("links.c");
    assert_eq!(std::fs::read_link(folder.path().join("to-present")).unwrap(), Path::new("present"));
}
