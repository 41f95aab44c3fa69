//! Programs from Debian's source packages with one lock removed by a patch of ours, built with `raceproof cc --recorder`:
//! a recording ends with the program's own output, and the first one shows the missing lock. Where the sources cannot be
//! fetched there is nothing to test, and the tests say so.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;

const RACEPROOF: &str = env!("CARGO_BIN_EXE_raceproof");
/// How long `predict` may take.
const LIMIT: Duration = Duration::from_secs(30);

/// A program with a lock removed.
struct Patched {
    folder: tempfile::TempDir,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn succeeded(what: &str, output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{what}: {}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr));
}

impl Patched {
    /// The sources of a package with a patch; `None` where they cannot be had.
    fn new(package: &str, patch: &str) -> Option<Self> {
        static FETCHING: Mutex<()> = Mutex::new(());
        let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recordings").join(package);
        let alone = FETCHING.lock().unwrap();
        let fetched = Command::new(root().join("scripts/fetch-source")).arg(&all).arg(package).output().unwrap();
        drop(alone);
        if fetched.status.code() == Some(3) {
            testkit::skip(package, String::from_utf8_lossy(&fetched.stderr).trim());
            return None;
        }
        succeeded("fetch-source", &fetched);
        let patched = Self { folder: tempfile::tempdir().unwrap() };
        patched.run(Command::new("cp").arg("-a").arg(all.join(package).join(".")).arg("."));
        patched.run(Command::new("patch").arg("-p1").arg("-i").arg(root().join("tests/debian").join(patch)));
        std::fs::write(patched.path("text"), text()).unwrap();
        Some(patched)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Prepares a command to run in the folder, with a cache of its own.
    fn here<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let command = command.current_dir(self.folder.path()).env_remove("MAKEFLAGS").stdin(Stdio::null());
        command.env("XDG_CACHE_HOME", self.path("cache"))
    }

    /// Runs a command that has to succeed; what it wrote to standard output.
    fn run(&self, command: &mut Command) -> Vec<u8> {
        let output = self.here(command).output().unwrap();
        succeeded(&format!("{command:?}"), &output);
        output.stdout
    }

    /// Records a run of a program that ends by itself: it writes what it writes otherwise.
    fn record(&self, program: &str, args: &[&str]) {
        let plain = self.run(Command::new(self.path(program)).args(args));
        let recorded = self.run(Command::new(RACEPROOF).args(["record", "-o", "t.rpt", program, "--"]).args(args));
        assert!(!plain.is_empty() && plain == recorded, "{program} writes something else when it is recorded");
    }

    /// The recording shows a race on this variable, in time.
    fn shows(&self, variable: &str) {
        let start = Instant::now();
        let mut command = Command::new(RACEPROOF);
        command.args(["predict", "--json", "--time", &LIMIT.as_secs().to_string(), "t.rpt"]);
        let output = self.here(&mut command).output().unwrap();
        let took = start.elapsed();
        assert!(took < LIMIT + Duration::from_secs(15), "took {took:?}");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", document["verdict"]);
        let races = document["pairs"].as_array().unwrap().iter().filter(|pair| pair["verdict"] == "race");
        let races: Vec<_> = races.map(|pair| pair["variable"].as_str().unwrap_or_default().to_owned()).collect();
        assert!(races.iter().any(|found| found.contains(variable)), "{races:?}");
    }
}

/// A text of several small blocks.
fn text() -> String {
    (0..20_000).map(|line| format!("line {line} of a small file for a compressor\n")).collect()
}

#[test]
fn pbzip2_without_the_lock_of_the_end() {
    let Some(patched) = Patched::new("pbzip2", "pbzip2-producer-done.patch") else { return };
    let compiler = format!("CXX={RACEPROOF} c++ --recorder -std=gnu++98 -w");
    patched.run(Command::new("make").arg(compiler).arg("pbzip2"));
    patched.record("pbzip2", &["-c", "-p2", "-b1", "text"]);
    patched.shows("producerDone");
}
