//! Results of several tests become one, whatever their order and size.

use report::merge::{Checked, merge};
use report::{Outcome, PairVerdict, Report, TestResult, Verdict};
use serde_json::{Value, json};

fn access(line: u32, kind: &str) -> Value {
    json!({ "kind": kind, "atomic": false, "file": "a.c", "line": line, "column": 5, "function": "f", "thread": "0",
            "locks": [], "created": null })
}

/// A pair on lines of `a.c`; the order of its accesses means nothing.
fn pair(id: u32, verdict: &str, variable: &str, lines: [u32; 2]) -> Value {
    let is_race = verdict == "race";
    json!({ "id": format!("P{id}"), "verdict": verdict, "confirmed": is_race, "by": "explore", "rank": id,
            "code": if is_race { json!("RP0001") } else { Value::Null }, "variable": variable, "reason": "r",
            "accesses": [access(lines[0], "write"), access(lines[1], "read")],
            "witness": is_race.then(|| format!("{variable}.rpw")) })
}

fn error(kind: &str, message: &str) -> Value {
    json!({ "kind": kind, "message": message, "code": "RP0003", "file": "a.c", "line": 7, "column": 1, "function": "f",
            "thread": "0", "waiting": [], "witness": null })
}

fn report(pairs: Vec<Value>, errors: Vec<Value>) -> Report {
    let has = |verdict: &str| pairs.iter().any(|pair| pair["verdict"] == verdict);
    let verdict = if has("race") {
        "race"
    } else if has("unknown") {
        "unknown"
    } else {
        "safe"
    };
    let document = json!({ "raceproof": "0.1.0", "schema": 1, "command": "check", "inputs": ["p"], "args": [],
        "verdict": verdict, "scope": { "inputs": "this", "threads": "these", "bounded": false, "memory": "sc" },
        "pairs": pairs, "unknowns": [], "errors": errors, "engines": [], "assumptions": ["A10", "A2"], "time_ms": 1 });
    report::json::read(&document.to_string()).unwrap()
}

fn checked(name: &str, report: Report) -> Checked {
    let (inputs, args) = (vec!["p".to_owned()], Vec::new());
    let test = TestResult { name: name.to_owned(), outcome: Outcome::Unknown, reason: None, inputs, args, time_ms: 1 };
    Checked { test, report: Some(report), should_fail: false }
}

fn merged(checked: Vec<Checked>) -> Report {
    merge("0.1.0", vec!["build".to_owned()], checked, 3)
}

fn outcomes(report: &Report) -> Vec<Outcome> {
    report.tests.iter().map(|test| test.outcome).collect()
}

#[test]
fn the_strongest_verdict_of_a_pair_counts() {
    let one = report(vec![pair(1, "unknown", "x", [3, 9]), pair(2, "absent", "y", [4, 4])], vec![]);
    let two = report(vec![pair(1, "race", "x", [3, 9]), pair(2, "absent", "y", [4, 4])], vec![]);
    let three = report(vec![pair(1, "race", "x", [3, 9]), pair(2, "unknown", "y", [4, 4])], vec![]);
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let all = [("one", &one), ("two", &two), ("three", &three)];
        let report = merged(order.iter().map(|n| checked(all[*n].0, all[*n].1.clone())).collect());
        assert_eq!(report.verdict, Verdict::Race);
        let told: Vec<_> =
            report.pairs.iter().map(|pair| (pair.id.as_str(), pair.variable.as_str(), pair.verdict)).collect();
        assert_eq!(told, [("P1", "x", PairVerdict::Race), ("P2", "y", PairVerdict::Unknown)]);
        let mut tests = report.pairs[0].details.tests.clone();
        tests.sort();
        assert_eq!(tests, ["three", "two"], "only those that show the race");
        assert_eq!(report.pairs[1].details.tests, ["three"]);
        let outcome_of = |name| report.tests.iter().find(|test| test.name == name).map(|test| test.outcome);
        assert_eq!([outcome_of("one"), outcome_of("two")], [Some(Outcome::Unknown), Some(Outcome::Race)]);
        assert_eq!(report.assumptions, ["A2", "A10"]);
    }
}

/// Loops that were unrolled make pairs that look alike.
#[test]
fn pairs_of_one_test_stay_apart() {
    let twice = || report(vec![pair(1, "race", "x", [3, 9]), pair(2, "race", "x", [3, 9])], vec![]);
    let report = merged(vec![checked("one", twice()), checked("two", twice())]);
    assert_eq!(report.pairs.len(), 2);
    assert!(report.pairs.iter().all(|pair| pair.details.tests == ["one", "two"]));
}

/// A detail of a race names it by the id that it has in the merged result.
#[test]
fn details_name_their_race() {
    let mut inner = pair(2, "race", "inner", [5, 6]);
    inner["inside"] = json!("P1");
    let first = report(vec![pair(1, "race", "other", [1, 2])], vec![]);
    let second = report(vec![pair(1, "race", "outer", [3, 4]), inner], vec![]);
    let report = merged(vec![checked("one", first), checked("two", second)]);
    let outer = report.pairs.iter().find(|pair| pair.variable == "outer").unwrap();
    let inner = report.pairs.iter().find(|pair| pair.variable == "inner").unwrap();
    assert_eq!(inner.details.inside.as_ref(), Some(&outer.id));
    assert_eq!(report.told_races().count(), 2);
    assert_eq!(outcomes(&report), [Outcome::Race, Outcome::Race]);
}

#[test]
fn failures_that_are_meant_are_none() {
    let failing = || report(vec![], vec![error("assertion", "x > 0"), error("misuse", "joined twice")]);
    let mut meant = checked("meant", failing());
    meant.should_fail = true;
    let report = merged(vec![meant, checked("failing", failing())]);
    let told: Vec<_> = report.errors.iter().map(|error| (error.message.as_str(), error.tests.join(" "))).collect();
    assert_eq!(told, [("x > 0", "failing".to_owned()), ("joined twice", "meant failing".to_owned())]);
    assert_eq!(outcomes(&report), [Outcome::Failed, Outcome::Failed], "misuse is never meant");
    assert_eq!((report.verdict, report.exit_status()), (Verdict::Safe, 1));
}

#[test]
fn what_was_not_checked_is_unknown_and_what_cannot_be_is_not() {
    let without = |name: &str, outcome: Outcome| {
        let mut checked = checked(name, report(vec![], vec![]));
        (checked.report, checked.test.outcome) = (None, outcome);
        checked.test.reason = Some("why".to_owned());
        checked
    };
    let report_of = |outcome| merged(vec![checked("one", report(vec![], vec![])), without("two", outcome)]);
    let skipped = report_of(Outcome::Skipped);
    assert_eq!((skipped.verdict, skipped.unknowns.len()), (Verdict::Safe, 0));
    for outcome in [Outcome::Error, Outcome::Unknown] {
        let report = report_of(outcome);
        assert_eq!((report.verdict, report.exit_status()), (Verdict::Unknown, 3));
        assert_eq!(outcomes(&report), [Outcome::Safe, outcome]);
        assert!(report.unknowns[0].reason.contains("`two`") && report.unknowns[0].reason.contains("why"));
    }
    let nothing = merged(Vec::new());
    assert_eq!((nothing.tests.len(), nothing.verdict), (0, Verdict::Safe));
}

/// Results that do not list all of their absent pairs are counted, not listed.
#[test]
fn shared_absences_are_counted_once() {
    let absent = |n: usize| {
        let mut report = report(vec![], vec![]);
        let text = json!({ "variable": "x", "reason": "r", "by": "static", "scope": null, "pairs": n });
        report.absent = vec![serde_json::from_value(text).unwrap()];
        report.unlisted.absent = n;
        report
    };
    let report = merged(vec![checked("one", absent(700)), checked("two", absent(900))]);
    assert_eq!(report.count(PairVerdict::Absent), 900);
    assert_eq!(report.absences()[0].pairs, 900);
}
