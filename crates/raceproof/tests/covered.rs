//! What a program may do: the tables of `docs/programs.md` are made from programs under `tests/` that show it.
//!
//! A program shows what its line `// Shows: AREA: WHAT` says. If it has a line with `// REFUSED WORDS`, that is not covered:
//! the answer is `unknown` there, in these words. Otherwise the search gives an answer that leaves nothing open.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::Folder;
use common::annotated::{cflags, for_each, items, line_with, refused_lines};
use serde_json::Value;

/// The areas in the order of the tables. Others come last.
const AREAS: [&str; 12] = [
    "threads",
    "OpenMP",
    "inline assembly (x86-64)",
    "input",
    "waiting",
    "time",
    "randomness",
    "signals",
    "the process",
    "processes",
    "the network",
    "libraries without bitcode",
];

/// The first lines of the two tables.
const COVERED: &str = "| | covered | shown by |";
const NOT_COVERED: &str = "| | not covered, and named in the report | shown by |";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A program and what it shows.
struct Row {
    /// From `tests/` on.
    program: PathBuf,
    source: String,
    area: String,
    what: String,
}

impl Row {
    fn is_refused(&self) -> bool {
        refused_lines(&self.source).next().is_some()
    }

    /// By area, then by what the program shows.
    fn key(&self) -> (usize, &str, &str) {
        let area = AREAS.iter().position(|area| *area == self.area).unwrap_or(AREAS.len());
        (area, &self.area, &self.what)
    }
}

/// All rows, in the order of the tables.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        for entry in std::fs::read_dir(root().join("tests").join(&below)).expect("a folder of programs") {
            let entry = entry.expect("an entry");
            let program = below.join(entry.file_name());
            if entry.path().is_dir() {
                open.push(program);
                continue;
            }
            if !program.extension().is_some_and(|extension| extension == "c" || extension == "cpp") {
                continue;
            }
            let source = std::fs::read_to_string(entry.path()).expect("a source");
            let shown: Vec<&str> = source.lines().filter_map(|line| line.strip_prefix("// Shows: ")).collect();
            for shown in shown {
                let (area, what) = shown.split_once(": ").unwrap_or_else(|| panic!("{program:?}: `AREA: WHAT`"));
                assert!(!shown.contains('|'), "{program:?}: `|` ends a cell of the table");
                let (area, what) = (area.to_owned(), what.to_owned());
                rows.push(Row { program: program.clone(), source: source.clone(), area, what });
            }
        }
    }
    rows.sort_by(|a, b| (a.key(), &a.program).cmp(&(b.key(), &b.program)));
    rows
}

/// A table with its first line.
fn table<'a>(head: &str, rows: impl Iterator<Item = &'a Row>) -> String {
    let mut table = format!("{head}\n|---|---|---|\n");
    let mut area = "";
    for row in rows {
        let shown_area = if row.area == area { "" } else { &row.area };
        area = &row.area;
        let (name, path) = (row.program.file_name().expect("a name").display(), row.program.display());
        let _ = writeln!(table, "| {shown_area} | {} | [{name}](../tests/{path}) |", row.what);
    }
    table
}

/// The page with another table in place of the one that begins with this line.
fn replaced(page: &str, head: &str, table: &str) -> String {
    let (before, rest) = page.split_once(head).unwrap_or_else(|| panic!("no table `{head}`"));
    let rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    let after: String = rest.split_inclusive('\n').skip_while(|line| line.starts_with('|')).collect();
    format!("{before}{table}{after}")
}

#[test]
fn the_page_has_every_row() {
    let path = root().join("docs/programs.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (refused, covered): (Vec<Row>, Vec<Row>) = rows().into_iter().partition(Row::is_refused);
    assert!(covered.len() > 30 && refused.len() > 10, "{} and {} rows", covered.len(), refused.len());
    let page = replaced(&page, COVERED, &table(COVERED, covered.iter()));
    let page = replaced(&page, NOT_COVERED, &table(NOT_COVERED, refused.iter()));
    testkit::ui::assert_blessed(page, &path);
}

/// The document of a search of the program, in a folder with it and what lies beside it. Lines of the program say what
/// that needs: `// flags:` for the compiler, `// options:` for the search, `// library:` with a source of which a library
/// without bitcode is made.
fn explore(row: &Row) -> Result<(i32, Value), String> {
    let program = root().join("tests").join(&row.program);
    let folder = Folder::of(program.parent().ok_or("a folder")?);
    let name = row.program.file_name().and_then(|name| name.to_str()).ok_or("a name")?;
    let mut flags = cflags(&row.program, &row.source);
    if let Some(library) = line_with(&row.source, "library") {
        let mut compiler = Command::new("clang-19");
        compiler.args(["-shared", "-fPIC", "-pthread", "-o", "libshown.so", library]).current_dir(folder.path());
        if !compiler.status().is_ok_and(|status| status.success()) {
            return Err(format!("{library} is not compiled"));
        }
        let here = folder.path().display();
        let _ = write!(flags, " -L{here} -lshown -Wl,-rpath,{here}");
    }
    let flags = format!("--cflags={flags}");
    let options = line_with(&row.source, "options").unwrap_or_default();
    let mut line = vec!["explore", name, "--json", "--time", "60", &flags];
    line.extend(options.split_whitespace());
    let run = folder.raceproof(&line);
    let document = serde_json::from_str(&run.stdout)
        .map_err(|e| format!("no document ({e}), status {}: {}", run.status, run.stderr))?;
    Ok((run.status, document))
}

/// What a row states of the program's answer.
fn holds(row: &Row) -> Result<(), String> {
    let (status, document) = explore(row)?;
    let unknowns = items(&document, "unknowns");
    let complete = document["engines"][0]["coverage"] == "complete";
    if !row.is_refused() {
        let answered = matches!(status, 0 | 1) && unknowns.is_empty() && complete;
        return if answered { Ok(()) } else { Err(format!("status {status}: {unknowns:?}")) };
    }
    let says = |line: u64, words: &str, unknown: &Value| {
        unknown["line"] == line && unknown["reason"].as_str().is_some_and(|reason| reason.contains(words))
    };
    let named = refused_lines(&row.source).any(|(line, words)| unknowns.iter().any(|u| says(line, words, u)));
    let errors = items(&document, "errors");
    match status == 3 && named && errors.is_empty() {
        true => Ok(()),
        false => Err(format!("status {status}, errors {errors:?}, unknowns {unknowns:?}")),
    }
}

#[test]
fn programs_show_what_their_rows_say() {
    let mut programs: BTreeMap<PathBuf, Row> = BTreeMap::new();
    for row in rows() {
        programs.insert(row.program.clone(), row);
    }
    let programs: Vec<Row> = programs.into_values().collect();
    for_each(&programs, |row| row.program.display().to_string(), holds);
}
