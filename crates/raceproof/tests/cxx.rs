//! Programs over the C++ library, as twins: `check` gives the right answer, in the user's own lines, and says it briefly.

mod common;

use std::path::Path;

use common::Folder;
use common::annotated::{for_each_program, racy_lines};
use serde_json::Value;
use testkit::annotations::{Annotations, Mark};

/// Race-free programs that may stay open: retries without end of `std::lock`, library code that is only linked in, pointers to
/// functions that the analyses do not follow.
const OPEN: [&str; 3] = ["async", "bank", "task"];

/// Programs with so many pairs inside the library that their documents are larger than others.
const LARGE: [&str; 4] = ["async", "count", "future", "task"];

/// Lines of a report for each race.
const LINES: usize = 60;

/// Bytes of a document or page.
const LARGEST: u64 = 1_000_000;

struct Answer {
    status: i32,
    text: String,
    document: Value,
    largest: u64,
}

fn check(program: &Path, flags: &[&str]) -> Result<Answer, String> {
    let folder = Folder::empty();
    let name = program.file_name().and_then(|name| name.to_str()).ok_or("a name")?;
    std::fs::copy(program, folder.path().join(name)).map_err(|e| e.to_string())?;
    let line = ["check", name, "--cflags=-std=c++20", "--time=25", "--json-out=result.json", "--html=page.html"];
    let run = folder.raceproof(&[&line[..], flags].concat());
    let json =
        std::fs::read_to_string(folder.path().join("result.json")).map_err(|e| format!("{e}: {}", run.stderr))?;
    let size = |file: &str| std::fs::metadata(folder.path().join(file)).map_or(0, |data| data.len());
    Ok(Answer {
        status: run.status,
        text: run.stdout,
        document: serde_json::from_str(&json).map_err(|e| e.to_string())?,
        largest: size("result.json").max(size("page.html")),
    })
}

fn is_one_of(program: &Path, names: &[&str]) -> bool {
    program.file_stem().and_then(|stem| stem.to_str()).is_some_and(|stem| names.contains(&stem))
}

fn is_short(program: &Path, largest: u64) -> bool {
    largest < LARGEST || is_one_of(program, &LARGE)
}

#[test]
fn race_free_programs() {
    for_each_program("cxx", |program| {
        let Answer { status, text, largest, .. } = check(program, &[])?;
        match status {
            0 if is_short(program, largest) => Ok(()),
            3 if is_one_of(program, &OPEN) => Ok(()),
            _ => Err(format!("status {status}, {largest} bytes: {text}")),
        }
    });
}

#[test]
fn racy_programs() {
    for_each_program("cxx", |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let expected = Annotations::parse(&source).lines(Mark::Race);
        let Answer { status, text, document, largest } = check(program, &["--cflags=-DRACY"])?;
        let reported = racy_lines(&document);
        if status != 1 || reported.is_empty() || !reported.is_subset(&expected) {
            return Err(format!("status {status}, races on lines {reported:?}, annotated are {expected:?}\n{text}"));
        }
        let told = text.matches("error[").count() + text.matches("warning[").count();
        if text.lines().count() > LINES * told || !is_short(program, largest) {
            return Err(format!("{} lines for {told} messages, {largest} bytes", text.lines().count()));
        }
        Ok(())
    });
}
