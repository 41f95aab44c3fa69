//! The annotated programs under `tests/`, each run in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use testkit::annotations::Lines;

use super::Run;

/// The C and C++ files of a folder under `tests/`.
pub(crate) fn programs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("folder of programs")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c" || e == "cpp"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no programs in {}", folder.display());
    files
}

/// Calls `test` for every program, two at a time, and fails with all complaints at once.
pub(crate) fn for_each_program(folder: &str, test: impl Fn(&Path) -> Result<(), String> + Sync) {
    let name = |file: &PathBuf| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for_each(&programs(folder), name, |file| test(file));
}

/// The same for anything that has a name.
pub(crate) fn for_each<T: Sync>(
    all: &[T],
    name: impl Fn(&T) -> String + Sync,
    test: impl Fn(&T) -> Result<(), String> + Sync,
) {
    let (next, complaints) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(complaint) = test(one) {
                        complaints.lock().expect("no panic").push(format!("{}: {complaint}", name(one)));
                    }
                }
            });
        }
    });
    let mut complaints = complaints.into_inner().expect("no panic");
    complaints.sort();
    assert!(complaints.is_empty(), "{} of {}:\n{}", complaints.len(), all.len(), complaints.join("\n"));
}

/// What a comment at the beginning of a program says about this: `// flags: -fopenmp`.
pub(crate) fn line_with<'a>(source: &'a str, about: &str) -> Option<&'a str> {
    let comments = source.lines().map_while(|line| line.strip_prefix("// "));
    comments.filter_map(|line| line.strip_prefix(about)?.strip_prefix(": ")).next()
}

/// The flags that a program needs: those of its folder, and its own.
pub(crate) fn cflags(program: &Path, source: &str) -> String {
    let folder = program.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let of_folder = match folder {
        Some("openmp" | "openmp_kernels" | "lanes") => "-fopenmp",
        Some("bugs" | "cxx") if program.extension().is_some_and(|extension| extension == "cpp") => "-std=c++20",
        _ => "",
    };
    [of_folder, line_with(source, "flags").unwrap_or_default()].join(" ").trim().to_owned()
}

/// The lines with something that is refused, from 1, and in which words.
pub(crate) fn refused_lines(source: &str) -> impl Iterator<Item = (u64, &str)> {
    (1u64..).zip(source.lines()).filter_map(|(line, text)| Some((line, text.split_once("// REFUSED ")?.1)))
}

/// A folder for one program's runs.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    source: PathBuf,
    /// A variable of the environment.
    variable: Option<(&'static str, &'static str)>,
}

impl Bench {
    pub(crate) fn new(program: &Path) -> Self {
        let folder = tempfile::tempdir().expect("temporary folder");
        let source = folder.path().join(program.file_name().expect("name"));
        std::fs::copy(program, &source).expect("copy");
        Self { folder, source, variable: None }
    }

    /// The same with a variable of the environment.
    pub(crate) fn with(self, name: &'static str, value: &'static str) -> Self {
        Self { variable: Some((name, value)), ..self }
    }

    pub(crate) fn raceproof(&self, args: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null()).env_remove("CLICOLOR_FORCE");
        command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).envs(self.variable);
        Run::of(command.output().expect("raceproof runs"))
    }

    /// `explore --json`; gives the exit status and the document.
    pub(crate) fn explore(&self, args: &[&str]) -> Result<(i32, Value), String> {
        self.run("explore", args)
    }

    /// The same for any command.
    pub(crate) fn run(&self, command: &str, args: &[&str]) -> Result<(i32, Value), String> {
        let name = self.source.file_name().and_then(|n| n.to_str()).expect("name");
        let run = self.raceproof(&[&[command, name, "--json", "--time", "120"], args].concat());
        let document = serde_json::from_str(&run.stdout)
            .map_err(|e| format!("no document ({e}), status {}: {}", run.status, run.stderr))?;
        Ok((run.status, document))
    }

    /// Replays every witness the document names; each must reproduce.
    pub(crate) fn replay_all(&self, document: &Value) -> Result<usize, String> {
        let pairs = items(document, "pairs").iter().filter(|p| p["verdict"] == "race");
        let found = pairs.chain(items(document, "errors")).chain(items(document, "unknowns"));
        let witnesses: Vec<&str> = found.filter_map(|found| found["witness"].as_str()).collect();
        for witness in &witnesses {
            let run = self.raceproof(&["replay", witness]);
            if run.status != 1 {
                return Err(format!("replay of {witness}: status {}\n{}{}", run.status, run.stdout, run.stderr));
            }
        }
        Ok(witnesses.len())
    }
}

/// The elements of an array in a document.
pub(crate) fn items<'a>(document: &'a Value, field: &str) -> &'a [Value] {
    document[field].as_array().map_or(&[], Vec::as_slice)
}

/// The lines of the program that take part in reported races, also of lanes. Those of a header of the system are nobody's
/// annotation.
pub(crate) fn racy_lines(document: &Value) -> Lines {
    let races = items(document, "pairs").iter().filter(|p| p["verdict"] == "race");
    let threads = races.flat_map(|p| items(p, "accesses")).filter_map(own_line);
    threads.chain(error_lines(document, "lanes")).collect()
}

/// The line that a part of the document names, if its file is the user's.
fn own_line(place: &Value) -> Option<u32> {
    let own = !place["file"].as_str()?.starts_with("/usr/");
    place["line"].as_u64().filter(|_| own).map(|line| line as u32)
}

/// The lines of the errors of one kind.
pub(crate) fn error_lines(document: &Value, kind: &str) -> Lines {
    let errors = items(document, "errors").iter().filter(|e| e["kind"] == kind);
    errors.filter_map(own_line).collect()
}

/// Whether the search tried everything.
pub(crate) fn complete(document: &Value) -> Result<(), String> {
    match document["engines"][0]["coverage"].as_str() {
        Some("complete") => Ok(()),
        _ => Err(format!("coverage {}", document["engines"][0])),
    }
}
