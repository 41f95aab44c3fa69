//! A run that shows a race wins against any proof.

use std::path::Path;
use std::time::Instant;

use model::{Budget, Engine, Interrupt};
use report::{Code, Command, PairVerdict, Report};

use super::*;
use crate::build::BuildOptions;
use crate::engine::verify::scope;
use crate::engine::{Settled, Verdict};

const RACE: &str = "#include <pthread.h>\nint x, y;\nvoid *f(void *a) { x = 1; y = 1; return a; }\n\
                    int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x = 2; y = 2; pthread_join(t, 0); }\n";

fn request(folder: &Path) -> Request {
    let source = folder.join("race.c");
    std::fs::write(&source, RACE).unwrap();
    let build = BuildOptions { inputs: vec![source.to_string_lossy().into_owned()], ..BuildOptions::default() };
    Request {
        witness_dir: folder.join("witnesses"),
        bundle_dir: folder.to_owned(),
        ..Request::new(Command::Check, build, Budget::default())
    }
}

/// The report after an engine has proved absent all listed pairs but the first `spared`, and another one ran the program.
fn with_wrong_proofs(folder: &Path, wrong: Engine, spared: usize, runs: Engine) -> Report {
    let request = request(folder);
    let mut subject = Subject::new(&request.build, &request.budget).unwrap();
    let mut line = Line::new(&request, &mut subject, Instant::now());
    line.list_text_pairs();
    for pair in line.ledger.open().skip(spared).collect::<Vec<_>>() {
        let verdict = Verdict::Absent { reason: "a wrong proof".to_owned(), scope: scope(false) };
        assert_eq!(line.ledger.settle(wrong, Settled { pair, verdict, seen: None }), None);
    }
    match runs {
        Engine::Predict => line.predict(&mut ()).unwrap(),
        _ => line.explore(&mut ()).unwrap(),
    }
    document::make(line).unwrap()
}

#[test]
fn a_search_refutes_wrong_proofs() {
    let folder = tempfile::tempdir().unwrap();
    for bundle in ["raceproof-bug", "raceproof-bug-2"] {
        let report = with_wrong_proofs(folder.path(), Engine::Verify, 0, Engine::Explore);
        assert_eq!(report.exit_status(), 1);
        assert_eq!(report.pairs_with(PairVerdict::Race).count(), 2, "{:?}", report.pairs);
        assert!(report.pairs_with(PairVerdict::Absent).all(|pair| pair.by == Engine::Explore), "proofs do not count");
        let bug = report.unknowns.iter().find(|unknown| unknown.code == Code::CONTRADICTION).expect("it is named");
        assert_eq!(bug.code.name(), "RP0109");
        assert!(bug.reason.contains("`verify` proved absent what a run of `explore` shows"), "{}", bug.reason);
        let bundle = folder.path().join(bundle);
        assert!(bug.settle.contains(&bundle.display().to_string()), "{}", bug.settle);
        let read = |file: &str| std::fs::read_to_string(bundle.join(file)).unwrap();
        assert_eq!(read("inputs/0-race.c"), RACE);
        assert!(read("about.txt").contains("verify proved absent what a run of explore shows"));
        assert!(read("ledger.txt").contains("a wrong proof") && !read("program.txt").is_empty());
    }
}

/// A wrong proof of one pair, while another is open: the recorded run shows both.
#[test]
fn a_prediction_refutes_wrong_proofs() {
    let folder = tempfile::tempdir().unwrap();
    let report = with_wrong_proofs(folder.path(), Engine::Static, 1, Engine::Predict);
    assert_eq!(report.pairs_with(PairVerdict::Race).count(), 2, "{:?}", report.pairs);
    let bug = report.unknowns.iter().find(|unknown| unknown.code == Code::CONTRADICTION).expect("it is named");
    assert!(bug.reason.contains("`static` proved absent what a run of `predict` shows"), "{}", bug.reason);
    assert_eq!(report.pairs_with(PairVerdict::Absent).count(), 0, "proofs do not count: {:?}", report.pairs);
}

/// A race of a pair that is not even listed refutes the list.
#[test]
fn a_race_refutes_a_list_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let request = request(folder.path());
    let mut subject = Subject::new(&request.build, &request.budget).unwrap();
    let mut line = Line::new(&request, &mut subject, Instant::now());
    line.listed_all = true;
    line.explore(&mut ()).unwrap();
    assert!(matches!(
        line.doubts[..],
        [Doubt::Bug { contradiction: Contradiction { proved: Engine::Static, .. }, .. }]
    ));
    let report = document::make(line).unwrap();
    assert_eq!(report.pairs_with(PairVerdict::Race).count(), 2, "{:?}", report.pairs);
}

/// The program changes the process by a system call that nobody sees, so the second run of a process finds what the first
/// one left behind.
#[cfg(target_arch = "x86_64")]
const LEAK: &str = "#include <assert.h>\n#include <pthread.h>\n#include <sys/prctl.h>\n#include <sys/syscall.h>\n\
    static long hidden(long a, long b) {\n\
    long result;\n\
    __asm__ volatile(\"syscall\" : \"=a\"(result) : \"a\"((long)SYS_prctl), \"D\"(a), \"S\"(b) : \"rcx\", \"r11\", \"memory\");\n\
    return result;\n\
    }\n\
    void *f(void *a) { assert(hidden(PR_GET_TIMERSLACK, 0) != 1234567); hidden(PR_SET_TIMERSLACK, 1234567); return a; }\n\
    int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); }\n";

#[cfg(target_arch = "x86_64")]
#[test]
fn what_a_new_process_does_not_show_is_a_bug_and_no_finding() {
    let folder = tempfile::tempdir().unwrap();
    let request = Request { command: Command::Explore, ..request(folder.path()) };
    std::fs::write(folder.path().join("race.c"), LEAK).unwrap();
    let report = run(&request, &mut ()).unwrap();
    assert!(report.errors.is_empty(), "{:?}", report.errors);
    assert_eq!((report.verdict, report.exit_status()), (report::Verdict::Unknown, 3));
    let bug = report.unknowns.iter().find(|unknown| unknown.code == Code::UNCONFIRMED).expect("it is named");
    assert_eq!(bug.code.name(), "RP0106");
    assert!(bug.reason.starts_with("raceproof bug: a run showed a failed assertion"), "{}", bug.reason);
    let bundle = folder.path().join("raceproof-bug");
    assert!(bug.settle.contains(&bundle.display().to_string()), "{}", bug.settle);
    assert!(std::fs::read_to_string(bundle.join("about.txt")).unwrap().contains("a failed assertion"));
    // In processes of its own, every run is as the first.
    let limits = crate::run::Limits { isolation: exec::Isolation::Fresh, ..request.limits };
    let report = run(&Request { limits, ..request }, &mut ()).unwrap();
    assert!(report.unknowns.iter().all(|unknown| unknown.code != Code::UNCONFIRMED), "{:?}", report.unknowns);
}

/// Asked to stop before anything was known: a report all the same.
#[test]
fn an_interrupted_check_has_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let request = Request { budget: Budget::unlimited(Interrupt::new()), ..request(folder.path()) };
    request.budget.interrupt().set();
    let report = run(&request, &mut ()).unwrap();
    assert_eq!((report.verdict, report.exit_status()), (report::Verdict::Unknown, 3));
    assert!(report.unknowns.iter().any(|unknown| unknown.code == Code::INTERRUPTED));
    assert!(report.pairs.iter().all(|pair| pair.verdict == PairVerdict::Unknown));
}
