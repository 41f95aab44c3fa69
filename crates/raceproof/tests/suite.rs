//! `raceproof test`: the tests that CTest, Meson and `raceproof.toml` know, each with its input, in one report.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::annotated::items;
use common::{Folder, Run};
use serde_json::Value;

const RACEPROOF: &str = env!("CARGO_BIN_EXE_raceproof");

/// A copy of the project.
fn project() -> Folder {
    let folder = Folder::empty();
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite_project/.");
    run(&folder, Command::new("cp").arg("-r").arg(project).arg("."));
    folder
}

fn run(folder: &Folder, command: &mut Command) -> Run {
    let command = command.current_dir(folder.path()).stdin(Stdio::null()).env_remove("MAKEFLAGS");
    let run = Run::of(command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).output().unwrap());
    assert_eq!(run.status, 0, "{command:?}: {}{}", run.stdout, run.stderr);
    run
}

/// The project built in `build`, by a command of the shell.
fn built(script: &str) -> Folder {
    let folder = project();
    std::fs::remove_file(folder.path().join("raceproof.toml")).unwrap();
    run(&folder, Command::new(RACEPROOF).args(["build", "--", "sh", "-c", script]));
    folder
}

const CMAKE: &str = "cmake -G Ninja -B build && cmake --build build";
const MESON: &str = "meson setup build && ninja -C build";

fn read(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.path().join(name)).unwrap()).unwrap()
}

/// What became of each test.
fn outcomes(document: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    items(document, "tests").iter().map(|test| (text(&test["name"]), text(&test["outcome"]))).collect()
}

/// The tests that show something, by what is shown.
fn shown_by(list: &[Value], what: impl Fn(&Value) -> bool) -> BTreeSet<&str> {
    let found = list.iter().filter(|found| what(found));
    found.flat_map(|found| items(found, "tests")).map(|name| name.as_str().unwrap()).collect()
}

/// Checks that a document is what JUnit's readers expect: the structure, the required attributes, and counts that are those
/// of the cases. Gives the kind of every case: `failure`, `error`, `skipped`, or nothing.
fn junit(text: &str) -> BTreeMap<String, Option<String>> {
    let document = roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let attribute = |node: roxmltree::Node<'_, '_>, name: &str| {
        node.attribute(name).unwrap_or_else(|| panic!("{node:?} has no `{name}`")).to_owned()
    };
    let is_time = |text: &str| text.parse::<f64>().is_ok_and(|time| time.is_finite() && time >= 0.0);
    let count = |node: roxmltree::Node<'_, '_>, name: &str| attribute(node, name).parse::<usize>().unwrap();
    let only = |node: roxmltree::Node<'_, '_>, known: &[&str]| {
        let unknown = node.attributes().find(|attribute| !known.contains(&attribute.name()));
        assert!(unknown.is_none(), "{node:?}");
    };
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    only(root, &["name", "tests", "failures", "errors", "time", "disabled"]);
    let mut all = BTreeMap::new();
    let mut sums = [0; 3];
    for suite in root.children().filter(|node| node.is_element()) {
        assert_eq!(suite.tag_name().name(), "testsuite");
        only(suite, &["name", "tests", "failures", "errors", "skipped", "time"]);
        assert!(!attribute(suite, "name").is_empty() && is_time(&attribute(suite, "time")));
        let mut counts = BTreeMap::from([("failure", 0), ("error", 0), ("skipped", 0)]);
        let mut cases = 0;
        for case in suite.children().filter(|node| node.is_element()) {
            assert_eq!(case.tag_name().name(), "testcase");
            only(case, &["name", "classname", "time"]);
            assert!(!attribute(case, "classname").is_empty() && is_time(&attribute(case, "time")));
            let inside: Vec<_> = case.children().filter(|node| node.is_element()).collect();
            assert!(inside.len() <= 1, "{case:?}");
            for result in &inside {
                only(*result, if result.has_tag_name("skipped") { &["message"] } else { &["message", "type"] });
                assert!(!attribute(*result, "message").is_empty());
                *counts.get_mut(result.tag_name().name()).unwrap_or_else(|| panic!("{result:?}")) += 1;
            }
            let kind = inside.first().map(|result| result.tag_name().name().to_owned());
            assert_eq!(all.insert(attribute(case, "name"), kind), None, "a name of its own");
            cases += 1;
        }
        let told = ["failures", "errors", "skipped"].map(|name| count(suite, name));
        assert_eq!((count(suite, "tests"), told), (cases, [counts["failure"], counts["error"], counts["skipped"]]));
        sums = [sums[0] + cases, sums[1] + told[0], sums[2] + told[1]];
    }
    assert_eq!(["tests", "failures", "errors"].map(|name| count(root, name)), sums);
    all
}

/// What both builds have.
fn expected() -> BTreeMap<&'static str, &'static str> {
    BTreeMap::from([
        ("args-count", "safe"),
        ("args-race", "race"),
        ("args-race-again", "race"),
        ("args-fail", "failed"),
        ("args-fail-meant", "safe"),
        ("args-cross", "failed"),
        ("env-count", "safe"),
        ("env-race", "race"),
        ("env-modified", "race"),
        ("env-command", "race"),
        ("file-none", "safe"),
        ("file-race", "race"),
        ("file-count", "safe"),
        ("input-empty", "safe"),
        ("own", "race"),
        ("script", "skipped"),
        ("odd <name> & \"more\"/..", "safe"),
    ])
}

/// The tests that show the race that all programs share.
const SHARED: [&str; 6] = ["args-race", "args-race-again", "env-command", "env-modified", "env-race", "file-race"];

/// Checks the tests of `build`, and all that is made of the result.
fn check_build(folder: &Folder, more: &[(&'static str, &'static str)]) {
    let files = ["--json-out", "r.json", "--junit", "r.xml", "--sarif", "r.sarif", "--html", "r.html"];
    let run = folder.raceproof(&[&["test", "build"][..], &files, &["--", "--reached-only"]].concat());
    assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{}", run.stdout);
    let mut expected = expected();
    expected.extend(more.iter().copied());
    assert_eq!(expected.len(), 20);
    let document = read(folder, "r.json");
    let outcomes = outcomes(&document);
    let told: BTreeMap<&str, &str> = outcomes.iter().map(|(name, outcome)| (name.as_str(), outcome.as_str())).collect();
    assert_eq!(told, expected);

    // One finding for each race, with its tests.
    let races: Vec<&Value> = items(&document, "pairs").iter().filter(|pair| pair["verdict"] == "race").collect();
    assert_eq!(races.len(), 3, "two kinds of one race, and another");
    let pairs = items(&document, "pairs");
    assert_eq!(shown_by(pairs, |pair| pair["variable"] == "unlocked"), SHARED.into());
    assert_eq!(shown_by(pairs, |pair| pair["variable"] == "mine"), ["own"].into());
    let errors = items(&document, "errors");
    assert_eq!(shown_by(errors, |error| error["kind"] == "assertion"), ["args-fail"].into());
    assert_eq!(shown_by(errors, |error| error["kind"] == "deadlock"), ["args-cross"].into());
    assert_eq!(errors.len(), 2);
    for (number, pair) in (1..).zip(pairs) {
        assert_eq!((&pair["id"], &pair["rank"]), (&format!("P{number}").into(), &number.into()));
    }
    for name in ["`args-race`", "args-cross: deadlock", "20 tests: "] {
        assert!(run.stdout.contains(name), "{name}: {}", run.stdout);
    }

    // The witness of every test replays, from here and from elsewhere.
    let witnesses: Vec<&str> =
        races.iter().copied().chain(errors).map(|found| found["witness"].as_str().expect("a witness")).collect();
    let of_all = std::fs::read_dir(folder.path().join("raceproof-witnesses")).unwrap().flatten();
    let of_folders = of_all.map(|entry| entry.path().join("file-P1.rpw")).filter(|path| path.is_file());
    for witness in of_folders.map(|path| path.display().to_string()).chain(witnesses.iter().map(ToString::to_string)) {
        let replayed = folder.raceproof(&["replay", &witness]);
        assert_eq!(replayed.status, 1, "{witness}: {}{}", replayed.stdout, replayed.stderr);
        let elsewhere = Folder::empty().raceproof(&["replay", &folder.path().join(&witness).display().to_string()]);
        assert_eq!(elsewhere.status, 1, "{witness}: {}{}", elsewhere.stdout, elsewhere.stderr);
    }

    let kinds = junit(&std::fs::read_to_string(folder.path().join("r.xml")).unwrap());
    let kind = |outcome: &str| match outcome {
        "race" | "failed" | "unknown" => Some("failure".to_owned()),
        "skipped" => Some("skipped".to_owned()),
        _ => None,
    };
    assert_eq!(kinds, outcomes.iter().map(|(name, outcome)| (name.clone(), kind(outcome))).collect());
    let sarif = read(folder, "r.sarif");
    let of_sarif = items(&sarif["runs"][0], "results").iter().map(|result| &result["properties"]);
    assert!(of_sarif.clone().any(|properties| items(properties, "tests").len() == SHARED.len()), "{sarif}");
    assert!(std::fs::read_to_string(folder.path().join("r.html")).unwrap().contains("args-race-again"));
    assert_valid(folder, &document);
}

/// Checks a document against the schema that is shipped, made strict.
fn assert_valid(folder: &Folder, document: &Value) {
    let schema: Value = serde_json::from_str(&folder.raceproof(&["schema"]).stdout).unwrap();
    let errors: Vec<String> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, [""; 0]);
    for field in document.as_object().unwrap().keys() {
        assert!(schema["properties"].get(field).is_some(), "`{field}` is not in the schema");
    }
    for test in items(document, "tests") {
        for field in test.as_object().unwrap().keys() {
            assert!(schema["$defs"]["test"]["properties"].get(field).is_some(), "`{field}` is not in the schema");
        }
    }
}

#[test]
fn the_tests_of_cmake() {
    let folder = built(CMAKE);
    check_build(&folder, &[("cmake", "skipped"), ("disabled", "skipped"), ("unbuilt", "skipped")]);
    let document = read(&folder, "r.json");
    let reason = |name: &str| {
        let test = items(&document, "tests").iter().find(|test| test["name"] == name).unwrap();
        test["reason"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(reason("disabled"), "it is disabled");
    assert!(reason("script").contains("was not built with raceproof"), "{}", reason("script"));
    assert!(reason("unbuilt").contains("build it first"), "{}", reason("unbuilt"));
    assert!(reason("args-fail-meant").contains("as it should"));

    // The same again is the same, but for times.
    let again = folder.raceproof(&["test", "build", "--json", "-j", "1", "--", "--reached-only"]);
    let without_paths = |text: &str| common::json_without_times(text).replace(".2-", "-");
    let before = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
    assert_eq!(without_paths(&again.stdout), without_paths(&before));
    // A stored result is shown as it was.
    let shown = folder.raceproof(&["report", "r.json", "--short"]);
    assert!(shown.status == 1 && shown.stdout.contains("data race on `mine`"), "{}", shown.stdout);
}

#[test]
fn the_tests_of_meson() {
    let folder = built(MESON);
    check_build(&folder, &[("true", "skipped"), ("args-count #2", "safe"), ("input-none", "safe")]);
}

#[test]
fn tests_are_selected_by_name() {
    let folder = built("cmake -G Ninja -B build && cmake --build build");
    let names = |arguments: &[&str]| {
        let run = folder.raceproof(&[&["test", "build", "--json"][..], arguments, &["--", "--reached-only"]].concat());
        let document: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr));
        (run.status, outcomes(&document).into_keys().collect::<Vec<_>>())
    };
    assert_eq!(names(&["-R", "env-count", "-R", "script"]), (0, vec!["env-count".to_owned(), "script".to_owned()]));
    assert_eq!(names(&["-R", "env-*", "-E", "*-c*", "-E", "*-mod*"]), (1, vec!["env-race".to_owned()]));
    assert_eq!(names(&["-R", "args-fail-meant"]).0, 0);
    assert_eq!(names(&["-R", "args-fail"]).0, 1);
    let refused = |arguments: &[&str]| {
        let run = folder.raceproof(&[&["test"], arguments].concat());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains("help"), "{}", run.stderr);
        run.stderr
    };
    assert!(refused(&["build", "-R", "nothing"]).contains("`args-race`"));
    assert!(refused(&["build", "-R", "script", "-R", "cmake"]).contains("none of the 2 tests can be checked"));
    assert!(refused(&["build", "-E", "*"]).contains("no tests"));
    assert!(refused(&["build", "--", "--no-such-flag"]).contains("--no-such-flag"));
    assert!(refused(&["build", "--time", "-1"]).contains("not a time"));
    assert!(refused(&["build", "--junit", "nowhere/r.xml"]).contains("nowhere/r.xml"));
    assert!(refused(&["data"]).contains("`data` has no tests"));
    assert!(refused(&["nowhere"]).contains("`nowhere`"));
    assert!(refused(&[]).contains("no raceproof.toml"));
}

/// What is known already is no failure, in any form.
#[test]
fn suppressed_findings_fail_no_test() {
    let folder = built(CMAKE);
    std::fs::write(folder.path().join("known"), "race:^unlocked$\n").unwrap();
    let of = ["test", "build", "-R", "args-race", "-R", "own", "-R", "args-count", "--json-out", "r.json"];
    let run =
        folder.raceproof(&[&of[..], &["--junit", "r.xml", "--suppressions", "known", "--", "--reached-only"]].concat());
    assert_eq!(run.status, 1, "{}{}", run.stdout, run.stderr);
    let outcomes = outcomes(&read(&folder, "r.json"));
    assert_eq!((outcomes["args-race"].as_str(), outcomes["own"].as_str()), ("safe", "race"));
    let kinds = junit(&std::fs::read_to_string(folder.path().join("r.xml")).unwrap());
    assert_eq!((kinds["args-race"].as_deref(), kinds["own"].as_deref()), (None, Some("failure")));
    let all = folder.raceproof(&[&of[..], &["--baseline", "r.json", "--", "--reached-only"]].concat());
    assert_eq!(all.status, 0, "{}{}", all.stdout, all.stderr);
    // The command line counts more than the settings, which every check reads, too.
    std::fs::write(folder.path().join("raceproof.toml"), "suppressions = [\"known\"]\n").unwrap();
    std::fs::write(folder.path().join("nothing"), "").unwrap();
    for (more, status) in [(&[][..], 0), (&["--suppressions", "nothing"], 1)] {
        let of = ["test", "build", "-R", "args-race", "-R", "args-count"];
        let run = folder.raceproof(&[&of[..], more, &["--", "--reached-only"]].concat());
        assert_eq!(run.status, status, "{}{}", run.stdout, run.stderr);
    }
}

#[test]
fn the_tests_of_the_settings() {
    let folder = project();
    let run = folder.raceproof(&["test", "--json-out", "r.json", "--junit", "r.xml", "--", "--reached-only"]);
    assert_eq!(run.status, 1, "{}{}", run.stdout, run.stderr);
    let document = read(&folder, "r.json");
    let expected = [
        ("count", "safe"),
        ("argument", "race"),
        ("variable", "race"),
        ("folder", "race"),
        ("files", "race"),
        ("no files", "safe"),
        ("input", "failed"),
        ("meant", "safe"),
        ("own", "race"),
        ("broken", "error"),
    ];
    assert_eq!(outcomes(&document), expected.map(|(name, outcome)| (name.to_owned(), outcome.to_owned())).into());
    assert_eq!(shown_by(items(&document, "pairs"), |pair| pair["variable"] == "unlocked").len(), 4);
    let broken = items(&document, "tests").iter().find(|test| test["name"] == "broken").unwrap();
    assert!(broken["reason"].as_str().unwrap().contains("missing.c"), "{broken}");
    let kinds = junit(&std::fs::read_to_string(folder.path().join("r.xml")).unwrap());
    assert_eq!(kinds["broken"].as_deref(), Some("error"));
    assert_valid(&folder, &document);
    let replayed = folder.raceproof(&["replay", "raceproof-witnesses/files/file-P1.rpw"]);
    assert_eq!(replayed.status, 1, "its files are still there: {}{}", replayed.stdout, replayed.stderr);

    // A check that fails is no test that passes, and no program that fails.
    let only = folder.raceproof(&["test", "-R", "broken", "-R", "count", "--", "--reached-only"]);
    assert_eq!(only.status, 2, "{}{}", only.stdout, only.stderr);
    assert!(only.stdout.contains("RP0122"), "{}", only.stdout);
    // From another folder, and by the name of the file.
    let inside = folder.path().join("data/count");
    let from = |arguments: &[&str]| {
        let mut command = Command::new(RACEPROOF);
        command.arg("test").args(arguments).args(["-R", "folder", "-R", "files", "--", "--reached-only"]);
        Run::of(command.current_dir(&inside).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).output().unwrap())
    };
    for arguments in [&[][..], &["../.."], &["../../raceproof.toml"]] {
        let run = from(arguments);
        assert!(run.status == 1 && run.stdout.contains("2 tests: 2 race"), "{}{}", run.stdout, run.stderr);
    }

    for (table, says) in [
        ("name = \"a\"", "either `program` or `sources`"),
        ("name = \"a\"\nprogram = \"x\"\nsources = [\"a.c\"]", "either `program` or `sources`"),
        ("name = \"a\"\nprogram = \"x\"\nfolder = \"d\"\nfiles = [\"f\"]", "`folder` and `files`"),
        ("name = \"a\"\nprogram = \"x\"\nfiles = [\"f\", \"d/f\"]", "two `files` of one name"),
        ("name = \"a\"\nprogram = \"x\"\ntime = -1.0", "no number of seconds"),
        ("name = \"\"\nprogram = \"x\"", "empty name"),
        ("name = \"a\"\nprogramm = \"x\"", "programm"),
        ("name = \"a\"\nprogram = \"x\"\n[[test]]\nname = \"a\"\nprogram = \"y\"", "two tests"),
    ] {
        std::fs::write(folder.path().join("raceproof.toml"), format!("[[test]]\n{table}\n")).unwrap();
        let run = folder.raceproof(&["test"]);
        assert!(run.status == 2 && run.stderr.contains(says), "{table}: {}", run.stderr);
    }
}

/// A program with more schedules than anybody has time for.
const LONG: &str = "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\natomic_int turns;\nint never;\n\
    void *run(void *arg) {\n    for (int i = 0; i < 40; i++)\n        atomic_fetch_add(&turns, i % 7 + turns % 3);\n    \
    if (turns > 100000)\n        never++;\n    return arg;\n}\nint main(void) {\n    pthread_t threads[4];\n    \
    for (int i = 0; i < 4; i++)\n        pthread_create(&threads[i], 0, run, 0);\n    for (int i = 0; i < 4; i++)\n        \
    pthread_join(threads[i], 0);\n    return 0;\n}\n";

/// A folder with a test that ends at once, and several that do not.
fn long_tests() -> Folder {
    let folder = project();
    std::fs::write(folder.path().join("long.c"), LONG).unwrap();
    let long = |n: usize| format!("[[test]]\nname = \"long {n}\"\nsources = [\"long.c\"]\n");
    let all: String = (1..=4).map(long).collect();
    std::fs::write(
        folder.path().join("raceproof.toml"),
        format!("[[test]]\nname = \"own\"\nsources = [\"own.c\"]\n{all}"),
    )
    .unwrap();
    folder
}

/// What the document says when the tests were cut short: the first one is known, and nothing is lost.
fn assert_cut_short(document: &Value, why: &str) {
    let outcomes = outcomes(document);
    assert_eq!(outcomes.len(), 5);
    assert_eq!(outcomes["own"], "race");
    assert!((1..=4).all(|n| outcomes[&format!("long {n}")] == "unknown"), "{outcomes:?}");
    let unknowns = items(document, "unknowns");
    let unchecked = unknowns.iter().filter(|unknown| unknown["code"] == "RP0122").collect::<Vec<_>>();
    assert!(!unchecked.is_empty() && unchecked.iter().all(|unknown| unknown["reason"].as_str().unwrap().contains(why)));
}

#[test]
fn all_tests_together_have_a_time() {
    let folder = long_tests();
    let start = Instant::now();
    let run = folder.raceproof(&["test", "-j", "1", "--total-time", "6", "--json"]);
    assert!(start.elapsed() < Duration::from_secs(25), "{:?}", start.elapsed());
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert_cut_short(&serde_json::from_str(&run.stdout).unwrap(), "the time for all tests was over");
}

#[test]
fn an_interrupt_ends_with_a_report_and_leaves_nothing_behind() {
    let (folder, temporary) = (long_tests(), Folder::empty());
    let mut command = Command::new(RACEPROOF);
    command.args(["test", "-j", "1", "--json"]).current_dir(folder.path()).env("TMPDIR", temporary.path());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null()).process_group(0);
    let child = command.spawn().unwrap();
    let witness = folder.path().join("raceproof-witnesses/own/own-P1.rpw");
    common::wait_until("the first test is checked", || witness.is_file());
    // In the second one.
    std::thread::sleep(Duration::from_secs(2));
    let kill = Command::new("kill").args(["-INT", "--", &format!("-{}", child.id())]).status().unwrap();
    assert!(kill.success());
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!((run.status, run.stderr.as_str()), (1, ""));
    assert_cut_short(&serde_json::from_str(&run.stdout).unwrap(), "you stopped the command");
    assert_eq!(common::containment::left_behind(temporary.path()), [""; 0]);
    assert_eq!(common::containment::folders(temporary.path()), [""; 0]);
}

/// However the command ends, its checks end.
#[test]
fn a_kill_leaves_no_check_behind() {
    let (folder, temporary) = (long_tests(), Folder::empty());
    let mut command = Command::new(RACEPROOF);
    command.args(["test", "-j", "2", "--json"]).current_dir(folder.path()).env("TMPDIR", temporary.path());
    command.stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null()).process_group(0);
    let mut child = command.spawn().unwrap();
    let witness = folder.path().join("raceproof-witnesses/own/own-P1.rpw");
    common::wait_until("the first test is checked", || witness.is_file());
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(common::containment::left_behind(temporary.path()), [""; 0]);
}
