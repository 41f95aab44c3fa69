//! The programs of a real size in `examples/real`, on inputs small enough for every schedule: the correct ones are safe,
//! each twin has a race, and what is found replays in a fresh process.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::Run;
use common::annotated::items;
use serde_json::Value;

/// A program and the arguments of a run that can be searched to its end. Files are relative to `examples/real`.
struct Subject {
    folder: &'static str,
    common: &'static [&'static str],
    args: &'static [&'static str],
}

const PSORT: Subject = Subject {
    folder: "psort",
    common: &["fatal.c", "numbers.c"],
    args: &["-n", "-t", "2", "-c", "2", "psort/input/numbers"],
};
const PSCAN: Subject =
    Subject { folder: "pscan", common: &["fatal.c", "numbers.c"], args: &["-t", "2", "needle", "pscan/input/barn"] };
const PZIP: Subject = Subject {
    folder: "pzip",
    common: &["crc32.c", "fatal.c", "numbers.c"],
    args: &["-1", "-b", "12", "-t", "1", "-q", "2", "pzip/input/tiny", "out.pz"],
};
const PGET: Subject = Subject {
    folder: "pget",
    common: &["crc32.c", "fatal.c", "numbers.c"],
    args: &["-t", "1", "-S", "1", "-s", "12", "pget/input/tiny", "out"],
};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/real")
}

impl Subject {
    fn sources(&self) -> Vec<String> {
        let entries = std::fs::read_dir(examples().join(self.folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut own: Vec<String> =
            names.filter(|name| name.ends_with(".c")).map(|name| format!("{}/{name}", self.folder)).collect();
        own.sort();
        own.extend(self.common.iter().map(|name| format!("common/{name}")));
        own
    }

    /// Explores the program, or its twin with this bug: exit status and document.
    fn explore(&self, bug: u32, args: &[&str], witnesses: &Path) -> (i32, Value) {
        let flags = format!("-std=c11 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -Icommon -DBUG={bug}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        command.arg("explore").args(self.sources()).args(["--cflags", &flags, "--json", "--time", "300"]);
        command.args((bug != 0).then_some("--first"));
        command.arg("--witness-dir").arg(witnesses).arg("--").args(args).current_dir(examples());
        let run = Run::of(command.output().unwrap());
        let document =
            serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", run.stdout, run.stderr));
        (run.status, document)
    }

    fn is_safe(&self) {
        let folder = tempfile::tempdir().unwrap();
        let (status, document) = self.explore(0, self.args, folder.path());
        let unknowns = &document["unknowns"];
        assert_eq!((status, document["verdict"].as_str()), (0, Some("safe")), "{}: {unknowns}", self.folder);
    }

    fn has_race(&self, bug: u32, args: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let (status, document) = self.explore(bug, args, folder.path());
        assert_eq!((status, document["verdict"].as_str()), (1, Some("race")), "{}", self.folder);
        let races: Vec<&Value> = items(&document, "pairs").iter().filter(|pair| pair["verdict"] == "race").collect();
        assert!(!races.is_empty(), "{}", self.folder);
        for race in &races {
            let witness = race["witness"].as_str().unwrap();
            let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
            let run = Run::of(command.args(["replay", witness]).current_dir(examples()).output().unwrap());
            assert_eq!(run.status, 1, "{witness}: {}{}", run.stdout, run.stderr);
        }
    }
}

#[test]
fn parallel_quicksort() {
    PSORT.is_safe();
}

#[test]
fn parallel_quicksort_publishes_too_early() {
    PSORT.has_race(1, PSORT.args);
}

#[test]
fn file_scanner() {
    PSCAN.is_safe();
}

#[test]
fn file_scanner_counts_without_the_lock() {
    PSCAN.has_race(1, &["-t", "2", "needle", "pscan/input/barn", "pscan/input/deep/roof"]);
}

#[test]
fn block_compressor() {
    PZIP.is_safe();
}

#[test]
fn block_compressor_gives_a_block_back_too_early() {
    PZIP.has_race(1, PZIP.args);
}

#[test]
fn segmented_downloader() {
    PGET.is_safe();
}

#[test]
fn segmented_downloader_believes_promises() {
    PGET.has_race(1, PGET.args);
}
