//! `raceproof verify`: the paper's table 1 as C with threads and in the small language, what users see, wrong use, and
//! the annotated programs under `tests/twins`, where nothing that races may be proved absent.
//!
//! `BLESS=1` rewrites what is expected; see `testkit::ui`.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Run, json_without_times, without_times};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn verify(folder: &Path, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
    command.arg("verify").args(args).current_dir(folder).env_remove("CLICOLOR_FORCE").env_remove("RUST_BACKTRACE");
    Run::of(command.output().unwrap())
}

fn assert_blessed(actual: String, file: &str) {
    testkit::ui::assert_blessed(actual, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verify").join(file));
}

/// A folder with a copy of one file of the project.
fn folder_with(file: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let from = root().join(file);
    std::fs::copy(&from, folder.path().join(from.file_name().unwrap())).unwrap();
    folder
}

/// Compares text and document; every race has a witness that replays.
fn check(file: &str, flags: &[&str], status: i32) {
    let folder = folder_with(file);
    let name = Path::new(file).file_name().unwrap().to_str().unwrap();
    let text = verify(folder.path(), &[&[name], flags].concat());
    assert_eq!((text.status, text.stderr.as_str()), (status, ""), "{}", text.stdout);
    assert_blessed(without_times(&text.stdout), &format!("{name}.stdout"));
    let json = verify(folder.path(), &[&[name, "--json"], flags].concat());
    assert_eq!((json.status, json.stderr.as_str()), (status, ""), "{}", json.stdout);
    assert_blessed(json_without_times(&json.stdout), &format!("{name}.json"));
    let document: Value = serde_json::from_str(&json.stdout).unwrap();
    for pair in document["pairs"].as_array().unwrap() {
        let race = pair["verdict"] == "race";
        assert_eq!((race, race), (pair["confirmed"] == true, pair["witness"].is_string()), "{pair}");
        if let Some(witness) = pair["witness"].as_str() {
            let mut replay = Command::new(env!("CARGO_BIN_EXE_raceproof"));
            let replay = Run::of(replay.args(["replay", witness]).current_dir(folder.path()).output().unwrap());
            assert_eq!(replay.status, 1, "{}", replay.stderr);
        }
    }
}

macro_rules! cases {
    ($($test:ident: $file:literal $flags:expr => $status:literal;)*) => {$(
        #[test]
        fn $test() {
            check($file, &$flags, $status);
        }
    )*};
}

cases! {
    counter: "examples/verify/counter.c" [] => 1;
    counter_with_lock: "examples/verify/counter_with_lock.c" [] => 0;
    check_then_act: "examples/verify/check_then_act.c" [] => 1;
    check_then_act_lock: "examples/verify/check_then_act_lock.c" [] => 0;
    prods_cons: "examples/verify/prods_cons.c" [] => 0;
    prods_cons2: "examples/verify/prods_cons2.c" [] => 0;
    lock_read_write_only: "examples/verify/lock_read_write_only.c" [] => 0;
    handshake: "crates/raceproof/tests/verify/handshake.c" [] => 0;
    tickets: "crates/raceproof/tests/verify/tickets.c" [] => 3;
    no_main: "crates/raceproof/tests/verify/no_main.c" [] => 3;
    small_counter: "examples/sml/counter.sml" [] => 3;
    small_workers: "examples/sml/workers.sml" [] => 0;
}

/// Threads without number: where the locking is wrong, the search is led to every race although it cannot finish.
#[test]
fn candidates_of_crowds_are_confirmed() {
    for (name, candidates) in [("endless.c", 2), ("endless_wrong.c", 3)] {
        let folder = folder_with(&format!("crates/raceproof/tests/verify/{name}"));
        let run = verify(folder.path(), &[name, "--json", "--max-steps", "200"]);
        assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{name}: {}", run.stdout);
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        let pairs = document["pairs"].as_array().unwrap();
        let verdicts = |verdict: &str| pairs.iter().filter(|pair| pair["verdict"] == verdict).count();
        assert!(pairs.iter().all(|pair| pair["confirmed"] == (pair["verdict"] == "race")), "{name}: {}", run.stdout);
        assert_eq!((verdicts("race"), verdicts("unknown")), (candidates, 0), "{name}: {}", run.stdout);
    }
}

/// A lock inside of a heap block, a flag that stops the crowd, and a loop that joins it.
#[test]
fn a_crowd_that_is_stopped_and_joined() {
    let folder = folder_with("crates/raceproof/tests/verify/workers.c");
    let run = verify(folder.path(), &["workers.c"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    assert!(run.stdout.starts_with("safe:"), "{}", run.stdout);
}

#[test]
fn what_is_not_modelled_is_named_with_its_place() {
    let folder = folder_with("crates/raceproof/tests/verify/not_modelled.c");
    let run = verify(folder.path(), &["not_modelled.c"]);
    assert_eq!((run.status, run.stderr.as_str()), (3, ""), "{}", run.stdout);
    assert!(
        run.stdout.contains("inline assembly, whose accesses no run reports\n  --> not_modelled.c:10:5"),
        "{}",
        run.stdout
    );
}

#[test]
fn the_net_of_a_candidate_is_drawn() {
    let folder = folder_with("examples/verify/counter.c");
    let net = verify(folder.path(), &["counter.c", "--emit", "net"]);
    assert_eq!((net.status, net.stderr.as_str()), (0, ""));
    assert_blessed(net.stdout, "counter.dot");
    let folder = folder_with("examples/sml/counter.sml");
    let net = verify(folder.path(), &["counter.sml", "--emit", "net"]);
    assert!(net.status == 0 && net.stdout.starts_with("digraph net {"), "{}", net.stdout);
}

#[test]
fn the_search_takes_arguments_and_the_proof_does_not_need_them() {
    let folder = folder_with("examples/verify/counter.c");
    let run = verify(folder.path(), &["counter.c", "--", "1"]);
    assert_eq!((run.status, run.stderr.as_str()), (3, ""), "one thread cannot race: {}", run.stdout);
    assert!(run.stdout.contains("no schedule of this input shows it"), "{}", run.stdout);
}

#[test]
fn the_document_goes_to_a_file_too() {
    let folder = folder_with("examples/verify/counter_with_lock.c");
    let run = verify(folder.path(), &["counter_with_lock.c", "--json-out", "result.json"]);
    assert!(run.status == 0 && run.stdout.starts_with("safe:"), "{}", run.stdout);
    let document = std::fs::read_to_string(folder.path().join("result.json")).unwrap();
    assert_blessed(json_without_times(&document), "counter_with_lock.c.json");
}

/// The figures of `docs/table1.md`.
#[test]
fn counters_are_shown_where_they_are_wanted() {
    for (file, plain, pruned) in [
        ("examples/verify/counter_with_lock.c", "44 iterations, 99 configurations, 51 subsumed", "0 iterations"),
        ("examples/sml/counter_with_lock.sml", "42 iterations, 72 configurations, 30 subsumed", "0 iterations"),
    ] {
        let folder = folder_with(file);
        let name = Path::new(file).file_name().unwrap().to_str().unwrap();
        let run = verify(folder.path(), &[name, "--stats", "--pruning", "plain"]);
        assert!(run.status == 0 && run.stdout.contains("verify (plain): 2 of 2 pairs"), "{}", run.stdout);
        assert!(run.stdout.contains("\n  2 nets of at most ") && run.stdout.contains(plain), "{}", run.stdout);
        let run = verify(folder.path(), &[name, "--stats"]);
        assert!(run.status == 0 && run.stdout.contains(pruned), "{}", run.stdout);
        let json = verify(folder.path(), &[name, "--stats", "--json"]);
        let document: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!(document["engines"][0]["nets"]["nets"], 2, "{document}");
    }
}

#[test]
fn no_time_is_no_proof() {
    let folder = folder_with("examples/verify/counter_with_lock.c");
    let run = verify(folder.path(), &["counter_with_lock.c", "--time", "0", "--max-steps", "100"]);
    assert_eq!((run.status, run.stderr.as_str()), (3, ""), "{}", run.stdout);
    assert!(run.stdout.contains("the program was not built: the time limit was reached"), "{}", run.stdout);
}

#[test]
fn wrong_use() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |args: &[&str], parts: &[&str]| {
        let run = verify(folder.path(), args);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{args:?}: {}", run.stderr);
        for part in parts {
            assert!(run.stderr.contains(part), "`{part}` is missing in:\n{}", run.stderr);
        }
    };
    std::fs::write(folder.path().join("wrong.sml"), "shared x;\njob a { grab x; }\n").unwrap();
    std::fs::write(folder.path().join("one.c"), "int main(void) { return 0; }\n").unwrap();
    refused(&[], &["error: ", "INPUT"]);
    refused(&["missing.c"], &["`missing.c`"]);
    refused(&["missing.sml"], &["`missing.sml`", "help: "]);
    refused(&["wrong.sml"], &["wrong.sml:2:9: ", "`grab`", "help: "]);
    refused(&["wrong.sml", "one.c"], &["small language", "help: "]);
    refused(&["one.c", "--emit", "net"], &["no pair", "help: "]);
    refused(&["one.c", "--time", "-1"], &["error: "]);
    refused(&["one.c", "--cflags", "-DX='"], &["unclosed quote"]);
}

/// What a line's annotation calls a race is never proved absent, and nothing is a contradiction. The search that
/// confirms candidates runs too, so every proof is held against it.
#[test]
fn nothing_that_races_is_proved_absent() {
    let folder = root().join("tests/twins");
    let mut files: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".c"))
        .collect();
    files.sort();
    assert!(files.len() >= 50, "{} programs", files.len());
    let witnesses = tempfile::tempdir().unwrap();
    let fixed = ["--json", "--cflags", "-DRACY", "--time", "20", "--witness-dir", witnesses.path().to_str().unwrap()];
    for file in files.iter().step_by(2) {
        let run = verify(&folder, &[&[file.as_str()], &fixed[..]].concat());
        assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{file}: {}", run.stdout);
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(document["verdict"], "race", "{file}");
    }
}

/// A complete search of one input does not answer for all of them: without a list of pairs that is known to be complete,
/// nothing is proved, even where no pair is listed.
#[test]
fn runs_do_not_make_up_for_missing_proofs() {
    let folder = tempfile::tempdir().unwrap();
    let source = "#include <pthread.h>\n#include <setjmp.h>\nstatic void *f(void *a) {\n    jmp_buf back;\n    \
                  if (setjmp(back) == 0)\n        longjmp(back, 1);\n    return a;\n}\nint main(void) {\n    pthread_t t;\n    \
                  pthread_create(&t, 0, f, 0);\n    pthread_join(t, 0);\n}\n";
    std::fs::write(folder.path().join("jumps.c"), source).unwrap();
    let run = verify(folder.path(), &["jumps.c"]);
    assert_eq!(run.status, 3, "{}", run.stdout);
    assert!(run.stdout.contains("longjmp"), "{}", run.stdout);
}
