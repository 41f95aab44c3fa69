//! What users see, byte for byte: the terminal's text, the JSON document, the story of a replay.
//!
//! Each case is a program in `ui/`. `BLESS=1` rewrites what is expected; see `testkit::ui`.

mod common;

use common::{Folder, assert_blessed, json_without_times, without_times};

/// Explores one program, compares text and document, then replays every witness in a fresh process.
fn check(name: &str, flags: &[&str], status: i32) {
    let stem = name.split('.').next().unwrap();
    let folder = Folder::new();
    let explore = |more: &[&str]| folder.raceproof(&[&["explore", name], flags, more].concat());

    let text = explore(&[]);
    assert_eq!((text.status, text.stderr.as_str()), (status, ""), "{}", text.stdout);
    assert_blessed(without_times(&text.stdout), &format!("{stem}.stdout"));

    let json = explore(&["--json"]);
    assert_eq!((json.status, json.stderr.as_str()), (status, ""), "{}", json.stdout);
    assert_blessed(json_without_times(&json.stdout), &format!("{stem}.json"));

    let document: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let findings = [&document["pairs"], &document["errors"]].map(|list| list.as_array().unwrap().clone()).concat();
    for witness in findings.iter().filter_map(|finding| finding["witness"].as_str()) {
        let replay = folder.raceproof(&["replay", witness]);
        assert_eq!((replay.status, replay.stderr.as_str()), (1, ""), "{}", replay.stdout);
        let file = witness.rsplit('/').next().unwrap().replace(".rpw", ".replay");
        assert_blessed(without_times(&replay.stdout), &file);
    }
    for finding in document["pairs"].as_array().unwrap() {
        let race = finding["verdict"] == "race";
        assert_eq!(race, finding["witness"].is_string(), "a race has a witness and nothing else has: {finding}");
    }
}

macro_rules! cases {
    ($($test:ident: $name:literal $flags:expr => $status:literal;)*) => {$(
        #[test]
        fn $test() {
            check($name, &$flags, $status);
        }
    )*};
}

cases! {
    counter: "counter.c" [] => 1;
    locked: "locked.c" [] => 0;
    same_line: "same_line.c" [] => 1;
    heap: "heap.c" [] => 1;
    deadlock: "deadlock.c" [] => 1;
    assertion: "assertion.c" [] => 1;
    crash: "crash.c" [] => 1;
    misuse: "misuse.c" [] => 1;
    external: "external.c" [] => 3;
    relaxed: "relaxed.c" [] => 1;
    queue: "queue.cpp" [] => 1;
}

/// One line for each finding; nothing but findings; another exit status for what is not known.
#[test]
fn short_and_quiet() {
    let folder = Folder::new();
    for (name, status) in [("counter", 1), ("deadlock", 1), ("external", 3), ("locked", 0)] {
        let program = format!("{name}.c");
        let run = folder.raceproof(&["explore", &program, "--format", "short"]);
        assert_eq!((run.status, run.stderr.as_str()), (status, ""), "{}", run.stdout);
        assert_blessed(run.stdout, &format!("{name}.short"));
        let run = folder.raceproof(&["explore", &program, "--quiet", "--fail-on", "finding"]);
        assert_eq!(run.status, i32::from(status == 1));
        assert_eq!(run.stdout.is_empty(), status != 1, "{}", run.stdout);
    }
    let colored = folder.raceproof(&["explore", "counter.c", "--color", "always"]);
    assert!(colored.stdout.contains("\u{1b}["), "{}", colored.stdout);
}

#[test]
fn a_bound_makes_the_answer_unknown() {
    let folder = Folder::new();
    let run = folder.raceproof(&["explore", "locked.c", "--reduction", "dpor", "--max-executions", "1"]);
    assert_eq!(run.status, 3);
    assert_blessed(without_times(&run.stdout), "locked-bound.stdout");
}

#[test]
fn a_function_assumed_pure_is_an_assumption() {
    let folder = Folder::new();
    let run = folder.raceproof(&["explore", "external.c", "--assume-pure", "argz_stringify", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.status, document["verdict"].as_str()), (0, Some("safe")));
    assert!(document["assumptions"].as_array().unwrap().contains(&"A3".into()), "{document}");
}

#[test]
fn the_same_program_gives_the_same_bytes() {
    let folder = Folder::new();
    let runs = [(); 2].map(|()| folder.raceproof(&["explore", "queue.cpp", "--json"]));
    let [one, two] = runs.map(|run| json_without_times(&run.stdout));
    assert_eq!(one, two);
}

#[test]
fn forking_and_restoring_give_the_same_result() {
    let folder = Folder::new();
    let run = |isolation| folder.raceproof(&["explore", "counter.c", "--json", "--isolation", isolation]);
    let [fork, restore] = ["fork", "restore"].map(|isolation| json_without_times(&run(isolation).stdout));
    assert_eq!(fork, restore);
}

#[test]
fn both_reductions_give_the_same_verdicts() {
    let folder = Folder::new();
    let pairs = |reduction| {
        let run = folder.raceproof(&["explore", "counter.c", "--json", "--reduction", reduction]);
        let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let place = |access: &serde_json::Value| (access["line"].as_u64(), access["column"].as_u64());
        let mut pairs = Vec::new();
        for pair in document["pairs"].as_array().unwrap() {
            let mut places = [place(&pair["accesses"][0]), place(&pair["accesses"][1])];
            places.sort();
            pairs.push((pair["verdict"].to_string(), places));
        }
        pairs.sort();
        pairs
    };
    let all = pairs("none");
    assert!(!all.is_empty());
    assert_eq!(all, pairs("dpor"));
}

#[test]
fn emitted_values_are_text() {
    let folder = Folder::new();
    let program = folder.raceproof(&["explore", "locked.c", "--emit", "program"]);
    assert!(program.status == 0 && program.stdout.contains("counter"), "{}", program.stdout);
    let trace = folder.raceproof(&["explore", "locked.c", "--emit", "trace"]);
    assert_eq!(trace.status, 0, "{}", trace.stderr);
    assert_blessed(trace.stdout, "locked.trace");
}

#[test]
fn the_document_goes_to_a_file_too() {
    let folder = Folder::new();
    let run = folder.raceproof(&["explore", "locked.c", "--json-out", "result.json"]);
    assert!(run.status == 0 && run.stdout.starts_with("safe:"), "{}", run.stdout);
    let document = std::fs::read_to_string(folder.path().join("result.json")).unwrap();
    assert_blessed(json_without_times(&document), "locked.json");
    assert!(!folder.path().join("raceproof-witnesses").exists(), "nothing to write, no folder");
}

/// A run event by event, as the user asks: forwards, back, to a number, to the finding.
#[test]
fn a_replay_in_steps() {
    let folder = Folder::new();
    for (name, witness) in [("counter", "counter-P1"), ("deadlock", "deadlock-E1")] {
        assert_eq!(folder.raceproof(&["explore", &format!("{name}.c")]).status, 1);
        let witness = format!("raceproof-witnesses/{witness}.rpw");
        let steps =
            folder.raceproof_with(&["replay", &witness, "--step"], b"\nn\nb\n5\nf\nb\n\xff?\n-1\n12345\nq\nn\n");
        assert_eq!((steps.status, steps.stderr.as_str()), (1, ""));
        assert_blessed(steps.stdout, &format!("{name}.steps"));
    }
    let ends = folder.raceproof_with(&["replay", "raceproof-witnesses/counter-P1.rpw", "--step"], b"");
    assert_eq!(ends.status, 1, "the end of the input is the end");
}
