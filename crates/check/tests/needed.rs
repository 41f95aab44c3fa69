//! What the libraries that are linked into programs call of the C library is known.

use std::collections::BTreeSet;
use std::process::Command;

/// Names that an archive uses and does not define.
fn undefined(archive: &[u8]) -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("library.a");
    std::fs::write(&file, archive).unwrap();
    let names = |option: &str| {
        let listed = Command::new("llvm-nm-19").args([option, "--format=just-symbols"]).arg(&file).output().unwrap();
        assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
        String::from_utf8(listed.stdout).unwrap().lines().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    &names("--undefined-only") - &names("--defined-only")
}

/// Variables, of which a program's own definition is meant.
const VARIABLES: [&str; 6] = ["environ", "optind", "program_invocation_short_name", "stderr", "stdin", "stdout"];

#[test]
fn what_the_runtime_needs_is_kept_from_programs() {
    let mut needed = undefined(archives::runtime_archive());
    needed.extend(undefined(archives::recorder_archive()));
    needed.retain(|name| !name.starts_with('_') && !name.contains(['.', ' ', ':']) && !name.is_empty());
    needed.retain(|name| !VARIABLES.contains(&name.as_str()) && !name.starts_with("rust_"));
    let known: BTreeSet<String> = llvm::instrument::NEEDED.map(String::from).into();
    let missing: Vec<_> = needed.difference(&known).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
