//! Two operations that the reductions call independent are. The calls of `tests/dependence/calls.txt` read or change something
//! outside the program's own memory. For pairs of them that share a cell of the library table, and for others that do not, a
//! program with two threads is made: every reduction finds the same results as the search that leaves out nothing, calls race
//! if they share a cell that the library does not protect, and then the static engine leaves their pair open.
#![allow(clippy::print_stdout, reason = "all pairs take long: it says how far it is")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use check::{BuildOptions, Request, SearchOptions, Subject, run_on};
use explore::ReductionName;
use model::{Budget, Engine};
use program::library::{self, Effect, FileUse, LibraryState, StateAccess, threads};
use report::{Command, Coverage, PairVerdict, Report, Verdict};

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
            Effect::State(state, access) => add(*state, *access == StateAccess::Write),
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

    /// Cells that both use and one of them changes.
    fn shared(&self, other: &Self) -> Vec<LibraryState> {
        let others = other.cells();
        let is_changed =
            |(state, writes): &(LibraryState, bool)| others.get(state).is_some_and(|other| *writes || *other);
        self.cells().into_iter().filter(is_changed).map(|(state, _)| state).collect()
    }
}

/// Lines of the two calls in the program.
const LINES: (u32, u32) = (3, 4);

/// Every result fails an assertion of its own, so the failures that a search reports are the results it has seen.
fn program(number: usize, [one, other]: [&Call; 2]) -> String {
    const RESULTS: usize = 61;
    let mut text = format!(
        "#define DEP \"dep-{number}-\"\n#include \"prelude.h\"\n\
         static void *first(void *arg) {{ one = {}; return arg; }}\n\
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

/// A program of two calls, compiled once.
struct Pair<'a> {
    calls: [&'a Call; 2],
    build: BuildOptions,
    subject: Subject,
    folder: &'a Path,
}

/// Verdict, racing lines and failures of a search.
type Found = (Verdict, BTreeSet<(u32, u32)>, BTreeSet<(String, u32)>);

fn lines(report: &Report, verdict: PairVerdict) -> BTreeSet<(u32, u32)> {
    let lines = report.pairs_with(verdict).map(|pair| pair.accesses.each_ref().map(|access| access.line));
    lines.map(|[a, b]| (a.min(b), a.max(b))).collect()
}

impl<'a> Pair<'a> {
    fn new(number: usize, calls: [&'a Call; 2], folder: &'a Path) -> Self {
        let file = folder.join("pair.c");
        std::fs::write(&file, program(number, calls)).unwrap();
        let include = format!("-I{}", self::folder().display());
        let build = BuildOptions {
            inputs: vec![file.to_string_lossy().into_owned()],
            cflags: vec![include, "-Wno-unused".into(), "-Wno-undefined-internal".into()],
            ..BuildOptions::default()
        };
        let subject = Subject::new(&build, &Budget::default()).unwrap_or_else(|e| panic!("{}: {e}", calls[0].name));
        Self { calls, build, subject, folder }
    }

    fn ask(&mut self, command: Command, engine: Engine, search: SearchOptions) -> Result<Report, String> {
        let request = Request {
            engines: vec![engine],
            search,
            reached_only: true,
            witness_dir: self.folder.join("witnesses"),
            bundle_dir: self.folder.to_owned(),
            ..Request::new(command, self.build.clone(), Budget::default())
        };
        run_on(&mut self.subject, &request, &mut ()).map_err(|error| error.to_string())
    }

    /// What a search finds; `None` if it did not end.
    fn found(&mut self, reduction: ReductionName) -> Result<Option<Found>, String> {
        let search = SearchOptions { reduction, max_executions: Some(4000), ..SearchOptions::default() };
        let report = self.ask(Command::Explore, Engine::Explore, search)?;
        let failures = report.errors.iter().map(|error| (format!("{:?}", error.kind), error.line)).collect();
        let is_whole = report.engines[0].coverage == Coverage::Complete;
        Ok(is_whole.then(|| (report.verdict, lines(&report, PairVerdict::Race), failures)))
    }

    /// Whether the search that leaves out nothing ended; what is wrong.
    fn examine(&mut self) -> Result<bool, String> {
        let Some(whole) = self.found(ReductionName::None)? else { return Ok(false) };
        for reduction in [ReductionName::Best, ReductionName::Optimal, ReductionName::Pdp, ReductionName::Dhtc] {
            let reduced = self.found(reduction)?;
            if reduced.as_ref() != Some(&whole) {
                return Err(format!("{reduced:?} with {reduction:?}, {whole:?} with none"));
            }
        }
        let [one, other] = self.calls;
        let unprotected = one.shared(other).into_iter().any(|state| !state.is_locked());
        if unprotected && !whole.1.contains(&LINES) {
            return Err(format!("no race: {whole:?}"));
        }
        let proofs = self.ask(Command::Static, Engine::Static, SearchOptions::default())?;
        let open = lines(&proofs, PairVerdict::Unknown);
        match whole.1.iter().find(|race| !open.contains(race)) {
            Some(race) => Err(format!("the race {race:?} is not among the open pairs {open:?}")),
            None => Ok(true),
        }
    }
}

/// Pairs that are always tried: one for each kind of cell.
const ALWAYS: [(&str, &str); 13] = [
    ("creat_other", "access_other"),
    ("unlink", "access"),
    ("make_folder", "in_folder"),
    ("make_folder", "listed"),
    ("write", "fstat"),
    ("dup2", "fstat"),
    ("umask", "open_masked"),
    ("chdir", "relative"),
    ("set_variable", "variable"),
    ("close", "close_range"),
    ("key_delete", "key_delete"),
    ("fork", "wait_any"),
    ("timer_set", "timer_read"),
];

#[test]
fn reductions_find_what_the_whole_search_finds() {
    /// Pairs without a common cell that are tried, when all are.
    const APART: usize = 200;
    /// After so many pairs it says how far it is.
    const REPORTED: usize = 250;
    let calls = calls();
    let pairs = || calls.iter().enumerate().flat_map(|(i, one)| calls[i..].iter().map(move |other| [one, other]));
    let (mut together, mut apart): (Vec<_>, Vec<_>) = pairs().partition(|[one, other]| !one.shared(other).is_empty());
    assert!(together.len() > 300 && apart.len() > 500, "{} and {}", together.len(), apart.len());
    let tried = testkit::programs(12) as usize;
    // Spread over all, in an order that is the same every time.
    let spread = |pairs: &mut Vec<[&Call; 2]>, most: usize| {
        let step = (pairs.len() / most.clamp(1, pairs.len())).max(1);
        *pairs = pairs.iter().copied().skip(step / 2).step_by(step).take(most).collect();
    };
    spread(&mut together, tried);
    spread(&mut apart, (tried / 4).min(APART));
    let call = |name: &str| calls.iter().find(|call| call.name == name).unwrap_or_else(|| panic!("no call `{name}`"));
    let always = ALWAYS.into_iter().map(|(one, other)| [call(one), call(other)]);
    let all: Vec<_> = always.chain(together).chain(apart).collect();
    let [next, compared] = [(); 2].map(|()| AtomicUsize::new(0));
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(pair) = all.get(number) else { break };
                    if number.is_multiple_of(REPORTED) && number > 0 {
                        println!("{number} of {} pairs, wrong: {:?}", all.len(), wrong.lock().unwrap());
                    }
                    let folder = tempfile::tempdir().unwrap();
                    match Pair::new(number, *pair, folder.path()).examine() {
                        Ok(is_whole) => drop(compared.fetch_add(is_whole.into(), Ordering::Relaxed)),
                        Err(error) => {
                            wrong.lock().unwrap().push(format!("`{}` and `{}`: {error}", pair[0].name, pair[1].name));
                        }
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} pairs:\n{}", wrong.len(), all.len(), wrong.join("\n"));
    let compared = compared.into_inner();
    assert!(compared * 2 > all.len(), "{compared} of {} pairs compared, the others are too large", all.len());
}
