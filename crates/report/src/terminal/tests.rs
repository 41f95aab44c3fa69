//! Reports as people see them, without colours.

use super::*;
use crate::document::{Access, Created, Details, ErrorKind, Finding, SCHEMA, Unknown, Waiting};
use model::AccessKind;
use model::verdict::{Memory, Scope, TeamSizes};

const SOURCE: &str = "\
#include <pthread.h>
int counter;
pthread_mutex_t a, b;
void *worker(void *arg) {
    pthread_mutex_lock(&a);
    counter = counter + 1;
    pthread_mutex_unlock(&a);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    return counter;
}
";

fn access(kind: AccessKind, line: u32, column: u32, thread: &str, locks: &[&str]) -> Access {
    Access {
        kind,
        atomic: false,
        file: Some("a.c".into()),
        line,
        column,
        function: if thread == "0" { "main" } else { "worker" }.into(),
        thread: thread.into(),
        locks: locks.iter().map(|&l| l.into()).collect(),
        created: (thread != "0").then(|| Created {
            thread: "0".into(),
            function: "main".into(),
            file: Some("a.c".into()),
            line: 12,
            column: 5,
            stack: vec![],
        }),
        stack: vec![],
        inside: None,
    }
}

fn report(verdict: Verdict) -> Report {
    Report {
        raceproof: "0.1.0".into(),
        schema: SCHEMA,
        command: crate::Command::Explore,
        inputs: vec!["a.c".into()],
        args: vec![],
        verdict,
        scope: Scope {
            inputs: Inputs::This,
            threads: Threads::These,
            bounded: false,
            memory: Memory::Sc,
            team_sizes: TeamSizes::NONE,
        },
        pairs: vec![],
        absent: vec![],
        unlisted: crate::Unlisted::default(),
        unknowns: vec![],
        errors: vec![],
        engines: vec![Engine {
            name: EngineName::Explore,
            coverage: crate::Coverage::Complete,
            reason: None,
            time_ms: 12,
            reduction: "dpor".into(),
            executions: 14,
            blocked: 0,
            samples: None,
            assurance: None,
            transitions: 600,
            race_free_checks: 0,
            race_free_yes: 0,
            skipped_backtracks: 0,
            nets: None,
            threads: None,
            outputs: None,
        }],
        assumptions: vec!["A1".into()],
        warnings: Vec::new(),
        reused: false,
        since: None,
        tests: Vec::new(),
        time_ms: 1234,
    }
}

fn plain(report: &Report) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), SOURCE).unwrap();
    let text = render(report, &mut Sources::in_folder(folder.path()), 100);
    anstream::adapter::strip_str(&text).to_string()
}

#[test]
fn a_race() {
    let mut report = report(Verdict::Race);
    report.pairs.push(Pair {
        id: "P1".into(),
        verdict: PairVerdict::Race,
        confirmed: true,
        by: EngineName::Explore,
        rank: 1,
        code: Some(Code::DATA_RACE),
        variable: "counter".into(),
        reason: "nothing orders the two accesses".into(),
        accesses: [access(AccessKind::Write, 6, 13, "0.1", &["a"]), access(AccessKind::Read, 13, 12, "0", &[])],
        witness: Some("raceproof-witnesses/a-P1.rpw".into()),
        details: Details::default(),
    });
    testkit::ui::assert_text(
        plain(&report),
        snapbox::str![[r#"
error[RP0001]: data race on `counter`
  --> a.c:6:13
   |
 6 |     counter = counter + 1;
   |             ^ thread 0.1 writes here, in `worker`, holding `a`
...
13 |     return counter;
   |            ------- thread 0 reads here, in `main`, holding no lock
   |
   = note: nothing orders the two accesses
   = note: thread 0.1 was created by thread 0 in `main` at a.c:12:5
   = help: see it happen: raceproof replay raceproof-witnesses/a-P1.rpw

race: 1 data race found
  explore (dpor): 14 executions, 600 events, complete, 0.01 s
  assumptions: A1
  finished in 1.23 s

"#]],
    );
}

#[test]
fn a_deadlock_and_an_unknown() {
    let mut report = report(Verdict::Unknown);
    let waiting = |thread: &str, line, waits: &str, lock: &str| Waiting {
        thread: thread.into(),
        waits: waits.into(),
        locks: vec![lock.into()],
        function: "worker".into(),
        file: Some("a.c".into()),
        line,
        column: 5,
    };
    report.errors.push(Finding {
        kind: ErrorKind::Deadlock,
        message: "deadlock: 2 threads are blocked for ever".into(),
        code: Code::DEADLOCK,
        file: Some("a.c".into()),
        line: 5,
        column: 5,
        function: "worker".into(),
        thread: None,
        waiting: vec![waiting("0", 12, "to lock `a`", "b"), waiting("0.1", 5, "to lock `b`", "a")],
        witness: None,
        run: None,
        suppressed: None,
        tests: Vec::new(),
    });
    report.unknowns.push(Unknown {
        code: Code::UNMODELLED,
        reason: "calls `frobnicate`, whose effect on memory is not known".into(),
        function: Some("frobnicate".into()),
        file: Some("missing.c".into()),
        line: 3,
        column: 1,
        settle: "give its source as a further input, or `--assume-pure frobnicate`".into(),
        witness: None,
        tests: Vec::new(),
    });
    testkit::ui::assert_text(
        plain(&report),
        snapbox::str![[r#"
error[RP0002]: deadlock: 2 threads are blocked for ever
  --> a.c:12:5
   |
 5 |     pthread_mutex_lock(&a);
   |     ------------------ thread 0.1 waits to lock `b`, holding `a`
...
12 |     pthread_create(&t, 0, worker, 0);
   |     ^^^^^^^^^^^^^^ thread 0 waits to lock `a`, holding `b`

warning[RP0101]: calls `frobnicate`, whose effect on memory is not known
--> missing.c:3:1
 = help: give its source as a further input, or `--assume-pure frobnicate`

failed: 1 deadlock; no data race found, but not proved absent
  explore (dpor): 14 executions, 600 events, complete, 0.01 s
  assumptions: A1
  finished in 1.23 s

"#]],
    );
}

#[test]
fn a_safe_program() {
    testkit::ui::assert_text(
        plain(&report(Verdict::Safe)),
        snapbox::str![[r#"
safe: no data race in any sequentially consistent schedule of this input
  explore (dpor): 14 executions, 600 events, complete, 0.01 s
  assumptions: A1
  finished in 1.23 s

"#]],
    );
}

#[test]
fn json_comes_back() {
    let report = report(Verdict::Safe);
    let text = crate::json::render(&report);
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    assert!(text.ends_with("}\n"));
}
