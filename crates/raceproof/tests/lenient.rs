//! What gcc compiles is checked, also where clang takes it for an error.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::Folder;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lenient")
}

fn sources() -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut sources: Vec<_> = files.filter(|path| path.extension().is_some_and(|extension| extension == "c")).collect();
    sources.sort();
    sources
}

#[test]
fn sources_that_clang_refuses_are_checked() {
    let sources = sources();
    assert!(sources.len() >= 25, "{}", sources.len());
    let common = folder().join("racy.h");
    let folder = Folder::empty();
    std::fs::copy(common, folder.path().join("racy.h")).unwrap();
    for source in sources {
        let name = source.file_name().unwrap().to_str().unwrap();
        std::fs::copy(&source, folder.path().join(name)).unwrap();
        let mut clang = Command::new("clang-19");
        let refused = clang.args(["-fsyntax-only", name]).current_dir(folder.path()).output().unwrap();
        assert!(!refused.status.success(), "clang takes {name}");
        let run = folder.raceproof(&["explore", name]);
        let is_found = run.stdout.contains("data race on `shared`") && !run.stdout.contains("__rp_");
        assert!(run.status == 1 && is_found, "{name}: {}{}", run.stdout, run.stderr);
    }
}

#[test]
fn flags_of_a_build_that_clang_does_not_know_are_left_out() {
    let folder = Folder::new();
    let built = folder.raceproof(&["cc", "-v", "-fno-ipa-sra", "-c", "counter.c", "-o", "counter.o"]);
    assert!(built.status == 0 && built.stderr.contains("`-fno-ipa-sra` was left out"), "{}", built.stderr);
    let run = folder.raceproof(&["explore", "counter.o"]);
    assert_eq!(run.status, 1, "{}{}", run.stdout, run.stderr);
}
