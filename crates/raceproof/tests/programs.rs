//! The annotated C and C++ programs under `tests/`: twins, failures, misuse. `explore` is right on all of them, and
//! everything it confirms replays from its witness file in a fresh process.

mod common;

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testkit::annotations::{Annotations, Lines, Mark};

use common::annotated::{Bench, cflags, complete, error_lines, for_each_program, items, racy_lines, refused_lines};

/// The race-free twin is safe; the racy one races on the annotated lines and nowhere else, and each race replays.
fn are_twins(program: &Path, flags: &[&str]) -> Result<(), String> {
    let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
    let expected = Annotations::parse(&source).lines(Mark::Race);
    let bench = Bench::new(program);

    let (status, document) = bench.explore(flags)?;
    complete(&document)?;
    if (status, document["verdict"].as_str()) != (0, Some("safe")) {
        return Err(format!("the race-free twin: status {status}, verdict {}", document["verdict"]));
    }

    let (status, document) = bench.explore(&[flags, &["--cflags=-DRACY"]].concat())?;
    complete(&document)?;
    if (status, document["verdict"].as_str()) != (1, Some("race")) {
        return Err(format!("the racy twin: status {status}, verdict {}", document["verdict"]));
    }
    let reported = racy_lines(&document);
    if reported != expected {
        return Err(format!("races on lines {reported:?}, annotated are {expected:?}"));
    }
    if !items(&document, "pairs").iter().all(|p| p["verdict"] != "race" || p["confirmed"] == true) {
        return Err("a race is not confirmed".into());
    }
    match bench.replay_all(&document)? {
        0 => Err("no witness".into()),
        _ => Ok(()),
    }
}

#[test]
fn twins() {
    for_each_program("twins", |program| are_twins(program, &[]));
}

/// What is handed over through the kernel is ordered, which the answer names; without that assumption it races. In every
/// schedule and in a recorded run.
#[test]
fn kernel_handover_is_an_assumption() {
    for_each_program("handover", |program| {
        let bench = Bench::new(program);
        let names_it = |document: &Value| items(document, "assumptions").iter().any(|a| a.as_str() == Some("A15"));
        let (status, document) = bench.explore(&[])?;
        if status != 0 || !names_it(&document) {
            return Err(format!("assumed: status {status}, {}", document["assumptions"]));
        }
        let (status, document) = bench.explore(&["--strict-posix"])?;
        if status != 1 || names_it(&document) || bench.replay_all(&document)? == 0 {
            return Err(format!("not assumed: status {status}, {}", document["assumptions"]));
        }
        for (flags, expected) in [(&[][..], 3), (&["--strict-posix"], 1)] {
            let (status, document) = bench.run("predict", flags)?;
            if status != expected {
                return Err(format!("recorded, {flags:?}: status {status}, {}", document["pairs"]));
            }
        }
        Ok(())
    });
}

/// What the twins about `epoll` and messages check while they run holds without us, too: the rules are the kernel's.
#[test]
fn models_keep_to_the_rules_of_the_kernel() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["libc_epoll_rules", "libc_message"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/twins/{name}.c"));
        let native = folder.path().join(name);
        let built = Command::new("clang-19").arg(source).arg("-o").arg(&native).arg("-pthread").status();
        assert!(built.is_ok_and(|status| status.success()), "{name}");
        assert!(Command::new(native).status().is_ok_and(|status| status.success()), "{name}");
    }
}

#[test]
fn openmp() {
    for_each_program("openmp", |program| are_twins(program, &["--cflags=-fopenmp", "--reduction=best"]));
}

#[test]
fn failures_are_reported_and_the_search_goes_on() {
    for_each_program("failures", |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let annotations = Annotations::parse(&source);
        let bench = Bench::new(program);
        let (status, document) = bench.explore(&["--max-steps", "400", "--run-time", "1"])?;

        let lines = |mark| annotations.lines(mark);
        for (kind, mark) in [("assertion", Mark::Assertion), ("crash", Mark::Crash)] {
            if error_lines(&document, kind) != lines(mark) {
                return Err(format!("{kind}: annotated are {:?}: {}", lines(mark), document["errors"]));
            }
        }
        let (reported, blocked) = (error_lines(&document, "deadlock"), lines(Mark::Deadlock));
        if reported.is_empty() != blocked.is_empty() || !reported.is_subset(&blocked) {
            return Err(format!("deadlock: annotated are {blocked:?}: {}", document["errors"]));
        }
        let endless: Vec<&Value> = items(&document, "unknowns").iter().filter(|u| u["witness"].is_string()).collect();
        let endless_lines: Lines = endless.iter().filter_map(|u| u["line"].as_u64()).map(|line| line as u32).collect();
        if endless_lines != lines(Mark::Spin) {
            return Err(format!("endless: annotated are {:?}: {}", lines(Mark::Spin), document["unknowns"]));
        }

        if document["engines"][0]["executions"].as_u64() <= Some(1) {
            return Err("the search stopped at the first failure".into());
        }
        let expected = match (items(&document, "errors"), &endless[..]) {
            ([], []) => 0,
            ([], _) => 3,
            _ => 1,
        };
        if status != expected {
            return Err(format!("status {status}, verdict {}", document["verdict"]));
        }
        let witnesses = bench.replay_all(&document)?;
        if witnesses < items(&document, "errors").len() + endless.len() {
            return Err(format!("{witnesses} witnesses for {}", document["errors"]));
        }
        Ok(())
    });
}

#[test]
fn misuse_is_reported_with_its_place() {
    for_each_program("misuse", |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let bench = Bench::new(program);
        let (status, document) = bench.explore(&[])?;
        let expected = Annotations::parse(&source).lines(Mark::Misuse);
        let reported = error_lines(&document, "misuse");
        if reported != expected {
            return Err(format!("misuse on lines {reported:?}, annotated are {expected:?}: {}", document["errors"]));
        }
        for line in expected {
            let text = source.lines().nth(line as usize - 1).unwrap_or_default();
            let words = text.split_once("MISUSE ").map_or("", |(_, words)| words);
            let said = |e: &Value| e["line"] == line && e["message"].as_str().is_some_and(|m| m.contains(words));
            if !items(&document, "errors").iter().any(said) {
                return Err(format!("line {line} should say `{words}`: {}", document["errors"]));
            }
        }
        if status != 1 {
            return Err(format!("status {status}"));
        }
        bench.replay_all(&document).map(drop)
    });
}

/// Safe without wake-ups that have no cause, racy with them.
#[test]
fn spurious_wakeups_are_an_option() {
    for_each_program("spurious", |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let expected = Annotations::parse(&source).lines(Mark::Race);
        let bench = Bench::new(program);
        let (status, document) = bench.explore(&[])?;
        if (status, document["verdict"].as_str()) != (0, Some("safe")) {
            return Err(format!("without: status {status}, verdict {}", document["verdict"]));
        }
        let (status, document) = bench.explore(&["--spurious"])?;
        let reported = racy_lines(&document);
        if status != 1 || reported != expected {
            return Err(format!("with: status {status}, races on {reported:?}, annotated are {expected:?}"));
        }
        bench.replay_all(&document).map(drop)
    });
}

/// What not all values, or no run to its end, have shown is never called safe; a race that some value shows is one.
#[test]
fn what_was_not_tried_is_unknown() {
    for_each_program("bounded", |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let expected = Annotations::parse(&source).lines(Mark::Race);
        let bench = Bench::new(program);
        let (status, document) = bench.explore(&[])?;
        if (status, document["verdict"].as_str()) != (3, Some("unknown")) || document["scope"]["bounded"] != true {
            return Err(format!("status {status}, verdict {}, {}", document["verdict"], document["scope"]));
        }
        let (status, document) = bench.explore(&["--cflags=-DRACY"])?;
        let reported = racy_lines(&document);
        if status != 1 || reported != expected {
            return Err(format!("racy: status {status}, races on {reported:?}, annotated are {expected:?}"));
        }
        bench.replay_all(&document).map(drop)
    });
}

/// Safe in an ordinary environment. What the first line names (`--environment creation`) shows the annotated findings, and
/// none with `-DRIGHT`.
#[test]
fn the_environment_is_an_option() {
    for_each_program("environment", |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let annotations = Annotations::parse(&source);
        let named = source.split_once("--environment ").and_then(|(_, rest)| rest.split_once(':'));
        let environment = named.ok_or("the first line names no environment")?.0;
        let bench = Bench::new(program);
        for (what, flags) in [("without", vec![]), ("right", vec!["--environment", environment, "--cflags=-DRIGHT"])] {
            let (status, document) = bench.explore(&flags)?;
            complete(&document)?;
            if (status, document["verdict"].as_str()) != (0, Some("safe")) {
                return Err(format!(
                    "{what}: status {status}, verdict {}: {}",
                    document["verdict"], document["errors"]
                ));
            }
        }
        let (status, document) = bench.explore(&["--environment", environment])?;
        complete(&document)?;
        let misused = &error_lines(&document, "misuse") | &error_lines(&document, "uninitialised");
        let reported = [racy_lines(&document), error_lines(&document, "crash"), misused];
        let expected = [Mark::Race, Mark::Crash, Mark::Misuse].map(|mark| annotations.lines(mark));
        if status != 1 || reported != expected {
            return Err(format!("with: status {status}, found {reported:?}, annotated are {expected:?}"));
        }
        bench.replay_all(&document).map(drop)
    });
}

/// What our own libraries refuse is unknown, with its name and place, and no failure of the program.
#[test]
fn what_is_refused_is_unknown() {
    for_each_program("refused", |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let flags = cflags(program, &source);
        let (status, document) = Bench::new(program).explore(&[&format!("--cflags={flags}")])?;
        let unknowns = items(&document, "unknowns");
        if status != 3 || !items(&document, "errors").is_empty() || unknowns.is_empty() {
            return Err(format!("status {status}, errors {}, unknowns {unknowns:?}", document["errors"]));
        }
        let said = |line: u64, words: &str| {
            let is_said = |u: &&Value| u["line"] == line && u["reason"].as_str().is_some_and(|r| r.contains(words));
            unknowns.iter().any(|u| u["code"] == "RP0101" && is_said(&u))
        };
        match refused_lines(&source).any(|(line, words)| said(line, words)) {
            true => Ok(()),
            false => Err(format!("not named with its place: {unknowns:?}")),
        }
    });
}
