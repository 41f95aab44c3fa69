//! Sources of Debian's packages, with patches of ours, to be built by their own build systems.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of ours for these programs.
pub(crate) fn ours(name: &str) -> PathBuf {
    root().join("tests/debian").join(name)
}

/// A copy of a package's sources; `None` where they cannot be had.
pub(crate) fn sources(package: &str) -> Option<tempfile::TempDir> {
    static FETCHING: Mutex<()> = Mutex::new(());
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("debian").join(package);
    let alone = FETCHING.lock().unwrap();
    let fetched = Command::new(root().join("scripts/fetch-source")).arg(&all).arg(package).output().unwrap();
    drop(alone);
    if fetched.status.code() == Some(3) {
        testkit::skip(package, String::from_utf8_lossy(&fetched.stderr).trim());
        return None;
    }
    succeeded("fetch-source", &fetched);
    let folder = tempfile::tempdir().unwrap();
    run(Command::new("cp").arg("-a").arg(all.join(package).join(".")).arg(folder.path()));
    Some(folder)
}

/// A copy of a package's sources, with a patch of ours if there is one.
pub(crate) fn patched(package: &str, patch: Option<&str>) -> Option<tempfile::TempDir> {
    let folder = sources(package)?;
    if let Some(patch) = patch {
        run(in_folder(folder.path(), "patch").arg("-p1").arg("-i").arg(ours(patch)));
    }
    Some(folder)
}

pub(crate) fn succeeded(what: &str, output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{what}: {}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr));
}

/// Runs a command that has to succeed; what it wrote to standard output.
pub(crate) fn run(command: &mut Command) -> Vec<u8> {
    command.env_remove("MAKEFLAGS").stdin(Stdio::null());
    let output = command.output().unwrap();
    succeeded(&format!("{command:?}"), &output);
    output.stdout
}

pub(crate) fn in_folder(folder: &Path, program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    command
}

/// Whether programs are tried that take a minute.
pub(crate) fn tries_large_programs() -> bool {
    testkit::programs(0) > 0
}

/// What lbzip2's copy of gnulib needs to know of today's C library.
pub(crate) const LBZIP2_FLAGS: &str = "CPPFLAGS=-D_IO_ftrylockfile -D_IO_IN_BACKUP=0x100";
