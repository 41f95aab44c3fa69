//! Engines that contradict each other stop the line.

use std::path::Path;
use std::time::Instant;

use model::{Engine, Interrupt, Verdict};

use super::book::Book;
use super::{CheckOptions, Effort, LINE, bundle, foresee, search};
use crate::build::BuildOptions;
use crate::subject::Subject;
use crate::{Error, Limits, verify};

const RACE: &str = "#include <pthread.h>\nint x, y;\nvoid *f(void *a) { x = 1; y = 1; return a; }\n\
                    int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x = 2; y = 2; pthread_join(t, 0); }\n";

fn options(folder: &Path) -> CheckOptions {
    let source = folder.join("race.c");
    std::fs::write(&source, RACE).unwrap();
    CheckOptions {
        build: BuildOptions { inputs: vec![source.to_string_lossy().into_owned()], ..BuildOptions::default() },
        engines: LINE.to_vec(),
        effort: Effort::Normal,
        time: Effort::Normal.time(),
        limits: Limits::default(),
        jobs: 1,
        witness_dir: folder.join("witnesses"),
        bundle_dir: folder.to_owned(),
        interrupt: Interrupt::new(),
    }
}

/// A proof that is wrong, and a run that shows it.
#[test]
fn a_contradiction_leaves_a_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let mut subject = Subject::new(&options.build, &options.interrupt).unwrap();
    let program = subject.program();
    let mut book = Book::new(&program, &options);
    for pair in book.unsettled() {
        let absent = Verdict::Absent { reason: "a wrong proof".to_owned(), scope: verify::scope(false) };
        assert!(book.settle(pair, Engine::Verify, absent).unwrap());
    }
    let built = subject.built(&options.interrupt).unwrap().expect("it has a main");
    let Err(Error::Contradiction(contradiction)) = search::search(&mut book, built, &options, Instant::now(), &mut ())
    else {
        panic!("the race contradicts the proof")
    };
    assert_eq!((contradiction.first, contradiction.second), (Engine::Verify, Engine::Explore));
    for name in ["raceproof-bug", "raceproof-bug-2"] {
        let bundle = bundle::write(&options, &book, &contradiction).unwrap();
        assert_eq!(bundle, folder.path().join(name));
        let read = |file: &str| std::fs::read_to_string(bundle.join(file)).unwrap();
        assert_eq!(read("inputs/0-race.c"), RACE);
        assert!(read("about.txt").contains("verify and explore contradict each other"));
        assert!(read("ledger.txt").contains("a wrong proof") && !read("program.txt").is_empty());
    }
}

/// A wrong proof of one pair, while another is open: the recorded run shows both.
#[test]
fn a_prediction_may_contradict_a_proof() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let mut subject = Subject::new(&options.build, &options.interrupt).unwrap();
    let program = subject.program();
    let mut book = Book::new(&program, &options);
    for pair in book.unsettled().into_iter().skip(1) {
        let absent = Verdict::Absent { reason: "a wrong proof".to_owned(), scope: verify::scope(false) };
        book.settle(pair, Engine::Static, absent).unwrap();
    }
    let built = subject.built(&options.interrupt).unwrap().expect("it has a main");
    let Err(Error::Contradiction(contradiction)) = foresee::foresee(&mut book, built, &options, Instant::now()) else {
        panic!("the race contradicts the proof")
    };
    assert_eq!((contradiction.first, contradiction.second), (Engine::Static, Engine::Predict));
}

/// A race of a pair that is not even in the ledger.
#[test]
fn a_race_of_an_unlisted_pair_is_a_contradiction() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let program = std::sync::Arc::new(crate::lower(&options.build).unwrap());
    let mut book = Book::new(&program, &options);
    let last = program.sites.ids().next_back().unwrap();
    let unlisted = model::Pair::new(last, last);
    assert!(!book.unsettled().contains(&unlisted));
    let race = Verdict::Race { confirmed: true, reason: "shown".to_owned() };
    assert!(matches!(book.settle(unlisted, Engine::Explore, race), Err(Error::Contradiction(_))));
}

/// Asked to stop before anything was known: a report all the same.
#[test]
fn an_interrupted_check_has_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    options.interrupt.set();
    let report = super::check(&options, &mut ()).unwrap();
    assert_eq!((report.verdict, report.exit_status()), (report::Verdict::Unknown, 3));
    assert!(report.unknowns.iter().any(|unknown| unknown.code == report::Code::INTERRUPTED));
    assert!(report.pairs.iter().all(|pair| pair.verdict == report::PairVerdict::Unknown));
}

/// One call that is not modelled, as four engines see it.
#[test]
fn what_stops_all_engines_is_told_once() {
    let unknown = |function: Option<&str>, file: Option<&str>, reason: &str| report::Unknown {
        code: report::Code::UNMODELLED,
        reason: reason.to_owned(),
        function: function.map(str::to_owned),
        file: file.map(str::to_owned),
        line: 3,
        column: 5,
        settle: String::new(),
        witness: None,
    };
    let of_runs = unknown(Some("f"), Some("a.c"), "calls `f`");
    let other = unknown(None, Some("b.c"), "assembly");
    let merged = super::book::merged(vec![
        unknown(Some("f"), None, "calls `f`, whose body is missing"),
        unknown(None, Some("a.c"), "calls `f`, whose effects are not known"),
        unknown(None, Some("a.c"), "calls `f`, whose effect on memory is not known"),
        other.clone(),
        of_runs.clone(),
        of_runs.clone(),
    ]);
    assert_eq!(merged, [of_runs, other]);
}
