//! Two operations that the reductions call independent are. The calls of `tests/dependence/calls.txt` read or change something
//! outside the program's memory. For pairs of them that share a cell of the library table, and for others that do not, a
//! program with two threads is made: every reduction finds the same results as the search that leaves out nothing.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use common::Folder;
use program::library::{self, Effect, FileUse, LibraryState, StateAccess, threads};

/// A call.
struct Call {
    name: String,
    functions: Vec<String>,
    expression: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/dependence")
}

fn calls() -> Vec<Call> {
    let text = std::fs::read_to_string(folder().join("calls.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let mut parts = line.splitn(3, " | ").map(str::to_owned);
            let mut part = || parts.next().unwrap_or_else(|| panic!("three parts: {line}"));
            let (name, functions, expression) = (part(), part(), part());
            Call { name, functions: functions.split(' ').map(str::to_owned).collect(), expression }
        })
        .collect()
}

/// The cells that a function uses outside the program's memory, and whether it changes them.
fn cells(function: &str) -> BTreeMap<LibraryState, bool> {
    let mut cells = BTreeMap::new();
    let mut add = |state, writes| *cells.entry(state).or_insert(false) |= writes;
    let Some(row) = library::lookup(function) else {
        assert!(threads::lookup(function).is_some(), "`{function}` has no row");
        add(LibraryState::Keys, true);
        return cells;
    };
    if row.by_runtime {
        add(LibraryState::Bytes, true);
        add(LibraryState::Descriptors, false);
    }
    for effect in row.effects {
        match effect {
            Effect::State(state, access) if state.is_locked() => add(*state, *access == StateAccess::Write),
            Effect::File(_, used) => {
                add(LibraryState::Descriptors, false);
                if let FileUse::Description(access) | FileUse::Content(access) = used {
                    add(LibraryState::Bytes, *access == StateAccess::Write);
                }
            }
            Effect::Stream(_) => add(LibraryState::Bytes, true),
            _ => {}
        }
    }
    assert!(!cells.is_empty(), "`{function}` uses nothing outside the program's memory");
    cells
}

impl Call {
    fn cells(&self) -> BTreeMap<LibraryState, bool> {
        let mut all = BTreeMap::new();
        for (state, writes) in self.functions.iter().flat_map(|function| cells(function)) {
            *all.entry(state).or_insert(false) |= writes;
        }
        all
    }

    /// Whether both use a cell that one of them changes.
    fn meets(&self, other: &Self) -> bool {
        let others = other.cells();
        self.cells().iter().any(|(state, writes)| others.get(state).is_some_and(|other| *writes || *other))
    }
}

/// Every result fails an assertion of its own, so the failures that a search reports are the results it has seen.
fn program(one: &Call, other: &Call) -> String {
    const RESULTS: usize = 61;
    let mut text = format!(
        "#include \"prelude.h\"\nstatic void *first(void *arg) {{ one = {}; return arg; }}\n\
         static void *other(void *arg) {{ two = {}; return arg; }}\n\
         int main(void) {{\n    prepare();\n    pthread_t a, b;\n    pthread_create(&a, 0, first, 0);\n    \
         pthread_create(&b, 0, other, 0);\n    pthread_join(a, 0);\n    pthread_join(b, 0);\n    \
         switch (((unsigned)one * 31 + (unsigned)two * 7 + 5) % {RESULTS}) {{\n",
        one.expression, other.expression
    );
    for result in 0..RESULTS {
        writeln!(text, "    case {result}: assert(!{});", result + 1).unwrap();
    }
    text + "    }\n}\n"
}

/// Verdict and failures of a search; `None` if it did not end.
fn found(folder: &Folder, reduction: &str) -> Option<(String, BTreeSet<(String, u64)>)> {
    let limit = ["--max-executions", "4000", "--cflags=-Wno-unused", "--cflags=-Wno-undefined-internal"];
    let run = folder.raceproof(&[&["explore", "--json", "--reduction", reduction, "pair.c"][..], &limit[..]].concat());
    let result: serde_json::Value = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", run.stderr));
    let failure = |e: &serde_json::Value| (e["kind"].as_str().unwrap().to_owned(), e["line"].as_u64().unwrap());
    let failures = result["errors"].as_array().unwrap().iter().map(failure).collect();
    let is_whole = result["engines"][0]["coverage"] == "complete";
    is_whole.then(|| (result["verdict"].as_str().unwrap().to_owned(), failures))
}

/// Pairs that are always tried: one for each kind of cell.
const ALWAYS: [(&str, &str); 5] = [
    ("creat_other", "access_other"),
    ("write", "fstat"),
    ("dup2", "fstat"),
    ("umask", "open_masked"),
    ("chdir", "relative"),
];

#[test]
fn reductions_find_what_the_whole_search_finds() {
    /// Pairs without a common cell that are tried, when all are.
    const APART: u64 = 200;
    let calls = calls();
    let pairs = || calls.iter().enumerate().flat_map(|(i, one)| calls[i..].iter().map(move |other| (one, other)));
    let (mut together, mut apart): (Vec<_>, Vec<_>) = pairs().partition(|(one, other)| one.meets(other));
    assert!(together.len() > 300 && apart.len() > 500, "{} and {}", together.len(), apart.len());
    let tried = testkit::effort::programs(8) as usize;
    // Spread over all, in an order that is the same every time.
    let spread = |pairs: &mut Vec<(&Call, &Call)>, most: usize| {
        let step = (pairs.len() / most.clamp(1, pairs.len())).max(1);
        *pairs = pairs.iter().copied().skip(step / 2).step_by(step).take(most).collect();
    };
    spread(&mut together, tried);
    spread(&mut apart, (tried / 4).min(APART as usize));
    let call = |name: &str| calls.iter().find(|call| call.name == name).unwrap_or_else(|| panic!("no call `{name}`"));
    let always = ALWAYS.into_iter().map(|(one, other)| (call(one), call(other)));
    let (mut compared, mut endless) = (0, 0);
    for (one, other) in always.chain(together).chain(apart) {
        let folder = Folder::new();
        std::fs::copy(self::folder().join("prelude.h"), folder.path().join("prelude.h")).unwrap();
        std::fs::write(folder.path().join("pair.c"), program(one, other)).unwrap();
        let Some(whole) = found(&folder, "none") else {
            endless += 1;
            continue;
        };
        compared += 1;
        for reduction in ["best", "optimal", "pdp", "dhtc"] {
            let reduced = found(&folder, reduction);
            assert_eq!(reduced.as_ref(), Some(&whole), "`{}` and `{}` with {reduction}", one.name, other.name);
        }
    }
    assert!(compared > endless, "{compared} pairs compared, {endless} too large");
}
