//! Programs over the C++ library, as twins: `check` gives the right answer, in the user's own lines, and says it briefly.
//!
//! Every program is tried by `make soak`; other runs try a sample, spread over the folder, since each takes seconds.

mod common;

use std::path::{Path, PathBuf};

use common::Folder;
use common::annotated::{for_each, programs};
use serde_json::Value;
use testkit::annotations::{Annotations, Lines, Mark};
use testkit::effort;

/// Programs of a sample.
const SAMPLE: u64 = 10;

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
    let line = ["check", name, "--cflags=-std=c++20", "--time=40", "--json-out=result.json", "--html=page.html"];
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

/// Acts on the programs of a sample, those from `first` on at equal distances, or on all of them.
fn for_sample(first: usize, test: impl Fn(&Path) -> Result<(), String> + Sync) {
    let all = programs("cxx");
    assert!(all.len() >= 40, "{} programs", all.len());
    let wanted = effort::programs(SAMPLE).min(all.len() as u64) as usize;
    let step = all.len() / wanted;
    let sample: Vec<_> = all.into_iter().skip(first % step).step_by(step).collect();
    let name = |file: &PathBuf| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for_each(&sample, name, |file| test(file));
}

/// The user's own lines that take part in reported races: where code of the library is called that makes the access.
fn own_lines(document: &Value) -> Lines {
    let is_foreign = |file: &Value| file.as_str().is_none_or(model::is_foreign);
    let pairs = document["pairs"].as_array().expect("pairs").iter().filter(|pair| pair["verdict"] == "race");
    let accesses = pairs.flat_map(|pair| pair["accesses"].as_array().expect("accesses"));
    let own = accesses.filter_map(|access| {
        let stack = access["stack"].as_array().map_or(&[][..], Vec::as_slice);
        std::iter::once(access).chain(stack).find(|frame| !is_foreign(&frame["file"]))?["line"].as_u64()
    });
    own.map(|line| line as u32).collect()
}

#[test]
fn race_free_programs() {
    for_sample(0, |program| {
        let Answer { status, text, largest, .. } = check(program, &[])?;
        match status {
            _ if largest >= LARGEST => Err(format!("{largest} bytes")),
            0 => Ok(()),
            _ => Err(format!("status {status}: {text}")),
        }
    });
}

#[test]
fn racy_programs() {
    for_sample(2, |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let expected = Annotations::parse(&source).lines(Mark::Race);
        let Answer { status, text, document, largest } = check(program, &["--cflags=-DRACY"])?;
        let reported = own_lines(&document);
        if status != 1 || reported.is_empty() || !reported.is_subset(&expected) {
            return Err(format!("status {status}, races on lines {reported:?}, annotated are {expected:?}\n{text}"));
        }
        let told = text.matches("error[").count() + text.matches("warning[").count();
        if text.lines().count() > LINES * told || largest >= LARGEST {
            return Err(format!("{} lines for {told} messages, {largest} bytes", text.lines().count()));
        }
        let internals = ["std::__1", "__cxx11", "_M_impl", "_ZN"];
        let titles: Vec<&str> = text.lines().filter(|line| line.starts_with("error[")).collect();
        match titles.iter().find(|title| internals.iter().any(|internal| title.contains(internal))) {
            Some(title) => Err(format!("internals of the library in {title}")),
            None => Ok(()),
        }
    });
}
