//! The gallery: every example's output is what its text file says, and together they show every verdict and code.
//!
//! The first line of each program is its command. `BLESS=1` rewrites the text files; see
//! `testkit::ui`.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use common::{Folder, without_times};
use report::Code;

/// Codes that no example can show, because they need something outside the program, with the tests that do: a file beside
/// this one or in another crate, and a function there.
const ELSEWHERE: [(Code, &str, &str); 6] = [
    // A recorded run that cannot be replayed.
    (Code::OBSERVED_RACE, "tests/predict.rs", "an_observed_race_is_a_finding"),
    // A run that finds what an earlier one left behind.
    (Code::UNCONFIRMED, "../check/src/line/tests.rs", "what_a_new_process_does_not_show_is_a_bug_and_no_finding"),
    // A program that behaves differently each time in a way that raceproof does not control.
    (Code::UNREPEATABLE, "../check/src/engine/explore.rs", "runs_that_differ_are_unknown"),
    // A proof that is wrong.
    (Code::CONTRADICTION, "../check/src/line/tests.rs", "a_search_refutes_wrong_proofs"),
    // A key pressed at the right moment.
    (Code::INTERRUPTED, "tests/interrupt.rs", "an_interrupted_check_says_what_is_known"),
    // Several tests, of which one has no program.
    (Code::NOT_CHECKED, "tests/suite.rs", "the_tests_of_the_settings"),
];

fn gallery() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gallery")
}

/// The programs, in order.
fn programs() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(gallery()).unwrap().map(|entry| entry.unwrap().path());
    let mut programs: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "c" || e == "cpp")).collect();
    programs.sort();
    programs
}

/// Runs a program's command and returns what a user sees, exit status included. Every witness shows its finding again.
fn output(program: &Path) -> String {
    let text = std::fs::read_to_string(program).unwrap();
    let command = text.lines().next().and_then(|line| line.strip_prefix("// $ raceproof "));
    let command = command.unwrap_or_else(|| panic!("{}: the first line is its command", program.display()));
    let folder = Folder::of(&gallery());
    let run = folder.raceproof(&command.split(' ').collect::<Vec<_>>());
    assert_eq!(run.stderr, "", "{}", program.display());
    for witness in run.stdout.lines().filter_map(|line| line.split_once("raceproof replay ")) {
        let replay = folder.raceproof(&["replay", witness.1]);
        assert_eq!(replay.status, 1, "{}: {}{}", program.display(), replay.stdout, replay.stderr);
    }
    format!("$ raceproof {command}\n{}exit status {}\n", without_times(&run.stdout), run.status)
}

/// Whether a test shows the code: its text has the function, and in it or after it the code by one of its names.
fn is_shown_elsewhere(code: Code) -> bool {
    ELSEWHERE.iter().filter(|(one, ..)| *one == code).any(|(_, file, test)| {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        let (_, after) = text.split_once(&format!("fn {test}()")).unwrap_or_else(|| panic!("{file} has no {test}"));
        after.contains(code.name())
    })
}

#[test]
fn every_example_shows_what_its_file_says() {
    let programs = programs();
    assert!(programs.len() >= 15);
    let queue = Mutex::new(programs.iter());
    let outputs = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(program) = { queue.lock().unwrap().next() } {
                    let output = output(program);
                    outputs.lock().unwrap().push((program, output));
                }
            });
        }
    });
    let mut outputs = outputs.into_inner().unwrap();
    outputs.sort();
    let mut seen = BTreeSet::new();
    for (program, output) in &outputs {
        testkit::ui::assert_blessed(output, &program.with_extension("txt"));
        seen.extend(Code::ALL.iter().copied().filter(|code| output.contains(code.name())));
    }
    let missing: Vec<_> =
        Code::ALL.iter().copied().filter(|code| !seen.contains(code) && !is_shown_elsewhere(*code)).collect();
    assert_eq!(missing, [], "codes that no example shows");
    let starts = |text: &str| outputs.iter().any(|(_, output)| output.lines().any(|line| line.starts_with(text)));
    for verdict in
        ["race: ", "unknown: ", "safe: no data race with any input", "safe: no data race in any schedule of this input"]
    {
        assert!(starts(verdict), "no example shows `{verdict}`");
    }
}

#[test]
fn the_list_names_every_example() {
    let list = std::fs::read_to_string(gallery().join("README.md")).unwrap();
    for program in programs() {
        let name = program.file_name().unwrap().to_string_lossy().into_owned();
        assert!(list.contains(&format!("[{name}]({name})")), "README.md of the gallery does not name {name}");
    }
}
