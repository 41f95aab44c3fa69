//! Timers: they expire when the schedule says so, and no earlier than they are due.

mod common;

use std::path::{Path, PathBuf};

use common::{Folder, Run};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/timers").join(name)
}

fn explore(folder: &Folder, name: &str, cflags: &str, flags: &[&str]) -> Run {
    let (source, cflags) = (source(name), format!("--cflags={cflags}"));
    folder.raceproof(&[&["explore", source.to_str().unwrap(), "--time", "60", &cflags], flags].concat())
}

#[test]
fn a_timer_behind_a_descriptor() {
    let folder = Folder::empty();
    for (define, status) in [("-UWRONG", 0), ("-DWRONG", 1)] {
        for flags in [&["--verify-isolation"][..], &["--reduction", "none", "--isolation", "fork"]] {
            let run = explore(&folder, "descriptor.c", define, flags);
            assert_eq!(run.status, status, "{define} {flags:?}: {}{}", run.stdout, run.stderr);
        }
    }
}

/// The timer first, the bytes first, and both at once.
#[test]
fn a_timer_comes_at_any_time() {
    let folder = Folder::empty();
    for how in ["-UEPOLL", "-DEPOLL -DMANNER=0", "-DEPOLL -DMANNER=EPOLLET", "-DEPOLL -DMANNER=EPOLLONESHOT"] {
        for (define, status) in [("", 0), ("-DWRONG=1", 1), ("-DWRONG=2", 1), ("-DWRONG=3", 1), ("-DRACY", 1)] {
            let run = explore(&folder, "loop.c", &format!("{how} {define}"), &[]);
            assert_eq!(run.status, status, "{how} {define}: {}{}", run.stdout, run.stderr);
        }
    }
}

#[test]
fn an_alarm_that_is_disarmed_may_have_expired() {
    let folder = Folder::empty();
    for (define, status) in [("-UWRONG", 0), ("-DWRONG", 1)] {
        for reduction in ["none", "optimal", "best"] {
            let run = explore(&folder, "disarmed.c", define, &["--reduction", reduction]);
            assert_eq!(run.status, status, "{define} {reduction}: {}{}", run.stdout, run.stderr);
        }
    }
}

#[test]
fn an_alarm_interrupts_a_call_unless_it_restarts() {
    let folder = Folder::empty();
    for (define, status) in [("-DFLAGS=0", 0), ("-DFLAGS=0 -DWRONG", 1), ("-DFLAGS=SA_RESTART -DWRONG", 0)] {
        let run = explore(&folder, "interrupted.c", define, &[]);
        assert_eq!(run.status, status, "{define}: {}{}", run.stdout, run.stderr);
    }
}
