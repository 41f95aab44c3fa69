//! Builds the C programs of `programs/`, which make the hook calls themselves, and runs them.
#![allow(dead_code, unreachable_pub, reason = "a module of several tests, not all of which use everything")]

use std::path::{Path, PathBuf};
use std::process::Command;

use exec::{Config, Isolation, Target};
use model::{Executor, Schedule, Segment, ThreadId, Trace};
use tempfile::TempDir;

/// A program built for the test.
pub struct Built {
    directory: TempDir,
}

impl Built {
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("program")
    }
    pub fn target(&self, config: Config) -> Target {
        Target::launch(&self.path(), config).expect("the program starts")
    }
    /// A target with this isolation and defaults.
    pub fn isolated(&self, isolation: Isolation) -> Target {
        self.target(Config { isolation, ..Config::default() })
    }
    /// One run with the default policy.
    pub fn trace(&self) -> Trace {
        self.isolated(Isolation::Auto).run(&Schedule::new()).expect("the program runs")
    }
}

/// Compiles and links `programs/NAME`.
pub fn build(name: &str) -> Built {
    build_at(&programs().join(name))
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// Compiles and links a source file.
pub fn build_at(source: &Path) -> Built {
    let directory = tempfile::tempdir().expect("a folder for the program");
    let archive = directory.path().join("libruntime.a");
    std::fs::write(&archive, archives::runtime_archive()).expect("room for the archive");
    let compiler = if source.extension().is_some_and(|e| e == "cpp") { "clang++-19" } else { "clang-19" };
    let status = Command::new(compiler)
        .args(["-O1", "-g", "-Wall", "-Werror", "-Wno-main", "-Wno-unused-result", "-Wno-unused-function"])
        .arg("-I")
        .arg(programs())
        .args(archives::link_args())
        .arg(source)
        .arg(&archive)
        .args(archives::link_libraries())
        .arg("-o")
        .arg(directory.path().join("program"))
        .status()
        .expect("clang-19 is installed");
    assert!(status.success(), "{} does not compile", source.display());
    Built { directory }
}

/// The schedule with these segments.
pub fn schedule(segments: &[(u32, u32)]) -> Schedule {
    let segment = |&(thread, until)| Segment { thread: ThreadId(thread), until };
    Schedule { segments: segments.iter().map(segment).collect(), ..Schedule::new() }
}
