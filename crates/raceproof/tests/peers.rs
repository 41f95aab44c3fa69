//! Servers with scripted clients, and clients with a scripted server: what they do is searched, shown and replayed.

mod common;

use std::path::Path;

use common::{Folder, Run};

/// The folder of the programs and their scripts, to work in.
fn folder() -> Folder {
    Folder::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers"))
}

fn run(folder: &Folder, command: &str, name: &str, flags: &[&str]) -> Run {
    let (source, script) = (format!("{name}.c"), format!("--peer={name}.toml"));
    folder.raceproof(&[&[command, &source, &script, "--time=12"], flags].concat())
}

#[test]
fn races_behind_connections_are_found_and_replayed() {
    let folder = folder();
    for name in ["counters", "events", "download"] {
        for command in ["explore", "check"] {
            let flags = ["--cflags=-DRACY", "--witness-dir=w"];
            let Run { status, stdout, stderr } = run(&folder, command, name, &flags);
            assert_eq!(status, 1, "{command} {name}: {stdout}{stderr}");
            assert!(stdout.contains("error[RP0001]"), "{command} {name}: {stdout}");
            for witness in std::fs::read_dir(folder.path().join("w")).unwrap() {
                let replayed = folder.raceproof(&["replay", witness.unwrap().path().to_str().unwrap()]);
                assert_eq!(replayed.status, 1, "{name}: {}{}", replayed.stdout, replayed.stderr);
            }
            std::fs::remove_dir_all(folder.path().join("w")).unwrap();
        }
    }
}

#[test]
fn programs_without_races_are_called_safe() {
    let folder = folder();
    for name in ["counters", "download", "lost"] {
        let Run { status, stdout, stderr } = run(&folder, "explore", name, &[]);
        assert_eq!(status, 0, "{name}: {stdout}{stderr}");
    }
    // It has too many schedules.
    let Run { status, stdout, stderr } = run(&folder, "explore", "events", &[]);
    assert!(matches!(status, 0 | 3) && !stdout.contains("error["), "status {status}: {stdout}{stderr}");
}

#[test]
fn every_run_sees_the_same_bytes() {
    let folder = folder();
    let Run { status, stdout, stderr } = run(&folder, "explore", "download", &["--show-output"]);
    assert_eq!(status, 0, "{stdout}{stderr}");
    assert!(stderr.contains("8 racefree"), "{stderr}");
    let Run { stderr, .. } = run(&folder, "explore", "counters", &["--show-output"]);
    assert!(stderr.contains("sum 5 of 2"), "{stderr}");
}

#[test]
fn a_client_that_gets_no_answer_is_a_deadlock() {
    let folder = folder();
    for command in ["explore", "check"] {
        let Run { status, stdout, stderr } = run(&folder, command, "lost", &["--cflags=-DRACY"]);
        assert!(status == 1 && stdout.contains("deadlock"), "{command}: {stdout}{stderr}");
        assert!(stdout.contains("peer `client`"), "{command}: {stdout}");
    }
}

#[test]
fn an_answer_that_is_not_expected_is_a_failure() {
    let folder = folder();
    let script = std::fs::read_to_string(folder.path().join("counters.toml")).unwrap();
    std::fs::write(folder.path().join("counters.toml"), script.replace("OK", "NO")).unwrap();
    let Run { status, stdout, stderr } = run(&folder, "explore", "counters", &[]);
    assert_eq!(status, 1, "{stdout}{stderr}");
    assert!(stdout.contains(r#"peer `one`, step 2: expects "NO\n" and gets "OK\n""#), "{stdout}");
}

#[test]
fn a_script_that_changed_is_not_replayed() {
    let folder = folder();
    let Run { status, .. } = run(&folder, "explore", "counters", &["--cflags=-DRACY", "--witness-dir=w"]);
    assert_eq!(status, 1);
    let script = std::fs::read_to_string(folder.path().join("counters.toml")).unwrap();
    std::fs::write(folder.path().join("counters.toml"), script.replace("ADD 2", "ADD 4")).unwrap();
    let witness = std::fs::read_dir(folder.path().join("w")).unwrap().next().unwrap().unwrap().path();
    let replayed = folder.raceproof(&["replay", witness.to_str().unwrap()]);
    assert_eq!(replayed.status, 2, "{}", replayed.stdout);
    assert!(replayed.stderr.contains("the input `counters.toml` changed"), "{}", replayed.stderr);
}

#[test]
fn a_script_with_a_mistake_is_refused() {
    let folder = folder();
    std::fs::write(folder.path().join("counters.toml"), "[[peer]]\nconnect = 'nowhere'\n").unwrap();
    let Run { status, stderr, .. } = run(&folder, "explore", "counters", &[]);
    assert_eq!(status, 2);
    assert!(stderr.contains("`nowhere` is no address") && stderr.contains("docs/peers.md"), "{stderr}");
}
