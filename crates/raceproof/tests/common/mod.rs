//! Running the built `raceproof` in a folder of its own.
#![allow(dead_code, reason = "every test binary uses a part of it")]

pub(crate) mod annotated;
pub(crate) mod containment;
pub(crate) mod debian;
pub(crate) mod target;

use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Where the ui programs and their expected outputs are.
pub(crate) fn ui() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui")
}

/// A folder with copies of the ui programs, as a user would stand in it.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self::of(&ui())
    }

    /// A folder without any program.
    pub(crate) fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with copies of the programs of another, and of their headers and scripts.
    pub(crate) fn of(programs: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(programs).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| ["c", "cpp", "h", "toml"].iter().any(|known| e == *known)) {
                std::fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
            }
        }
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs `raceproof` with these arguments in the folder.
    pub(crate) fn raceproof(&self, args: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        command.args(args).current_dir(self.path()).env_remove("CLICOLOR_FORCE").env_remove("RUST_BACKTRACE");
        command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
        Run::of(command.output().unwrap())
    }

    /// The same with something on standard input.
    pub(crate) fn raceproof_with(&self, args: &[&str], input: &[u8]) -> Run {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(input).unwrap();
        file.rewind().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        command.args(args).current_dir(self.path()).env_remove("CLICOLOR_FORCE").env_remove("RUST_BACKTRACE");
        command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).stdin(file);
        Run::of(command.output().unwrap())
    }
}

/// What a finished process left.
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self {
            status: output.status.code().expect("an exit status"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// Waits until a condition holds.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(120), "waited two minutes until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What may differ from run to run and from machine to machine: `0.12 s` at the end of a line becomes `[TIME]`, the
/// rest of a line from a system header's name on becomes `[SYSTEM]`.
pub(crate) fn without_times(text: &str) -> String {
    let is_time = |word: &str| word.split_once('.').is_some_and(|(s, ms)| s.parse::<u64>().is_ok() && ms.len() == 2);
    let line = |line: &str| match line.strip_suffix(" s").and_then(|rest| rest.rsplit_once(' ')) {
        Some((rest, time)) if is_time(time) => format!("{rest} [TIME]\n"),
        _ => match line.split_once("/usr/") {
            Some((rest, _)) => format!("{rest}[SYSTEM]\n"),
            None => format!("{line}\n"),
        },
    };
    text.lines().map(line).collect()
}

/// A JSON document with its times set to zero and places in system headers taken out.
pub(crate) fn json_without_times(text: &str) -> String {
    fn erase(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(fields) => {
                let in_header = |file: &serde_json::Value| file.as_str().is_some_and(|f| f.starts_with("/usr/"));
                let system = fields.get("file").is_some_and(in_header);
                for (name, value) in fields {
                    if system && name == "file" {
                        *value = "[SYSTEM]".into();
                    }
                    if name == "time_ms" || (system && (name == "line" || name == "column")) {
                        *value = 0.into();
                    }
                    erase(value);
                }
            }
            serde_json::Value::Array(values) => values.iter_mut().for_each(erase),
            _ => {}
        }
    }
    let mut value = serde_json::from_str(text).unwrap_or_else(|e| panic!("not one JSON document: {e}\n{text}"));
    erase(&mut value);
    serde_json::to_string_pretty(&value).unwrap() + "\n"
}

/// Compares with a file in the ui folder; see `testkit::ui`.
pub(crate) fn assert_blessed(actual: String, file: &str) {
    testkit::ui::assert_blessed(actual, &ui().join(file));
}
