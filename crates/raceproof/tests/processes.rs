//! Child processes: they are real, every run sees the same of them, and nothing of them outlives a run.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Folder, wait_until};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/processes").join(name)
}

/// Explores a program of `tests/processes`.
fn explore(folder: &Folder, name: &str, flags: &[&str]) -> common::Run {
    let source = source(name);
    folder.raceproof(&[&["explore", source.to_str().unwrap(), "--time", "60"], flags].concat())
}

fn compile(folder: &Folder, name: &str, cflags: &[&str]) -> PathBuf {
    let mut clang = Command::new("clang-19");
    let compiled = clang.args(["-pthread", "-w", "-o", "native"]).args(cflags).arg(source(name));
    assert!(compiled.current_dir(folder.path()).status().unwrap().success());
    folder.path().join("native")
}

#[test]
fn children_do_what_they_do_natively() {
    let folder = Folder::empty();
    let native = Command::new(compile(&folder, "run.c", &[])).current_dir(folder.path()).output().unwrap();
    assert!(native.status.success());
    let run = explore(&folder, "run.c", &["--show-output"]);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    assert_eq!(String::from_utf8(native.stdout).unwrap(), run.stderr);
    assert!(run.stdout.contains("A17"), "{}", run.stdout);
}

/// In every search and however runs are kept apart, the right twin is right and the wrong one fails.
#[test]
fn right_and_wrong_twins() {
    let twins: [(&str, &str, i32); 13] = [
        ("spawn.c", "", 0),
        ("fork_reads.c", "", 0),
        ("fork_reads.c", "-DWRONG", 1),
        ("fork_reads.c", "-DRACY", 1),
        ("parent.c", "", 0),
        ("parent.c", "-DRACY", 1),
        ("full_pipe.c", "", 0),
        ("full_pipe.c", "-DWRONG", 1),
        ("early.c", "", 0),
        ("early.c", "-DWRONG", 1),
        ("signal.c", "", 0),
        ("failure.c", "", 0),
        ("pipeline.c", "", 0),
    ];
    let folder = Folder::empty();
    for (name, define, status) in twins {
        let cflags = format!("--cflags={define}");
        for flags in [&["--verify-isolation"][..], &["--isolation", "fork"], &["--reduction", "optimal"]] {
            let run = explore(&folder, name, &[&[&cflags[..]], flags].concat());
            assert_eq!(run.status, status, "{name} {define} {flags:?}: {}{}", run.stdout, run.stderr);
        }
    }
}

#[test]
fn every_order_is_tried() {
    let folder = Folder::empty();
    for (define, status) in [("-DWRONG", 1), ("-URACY", 0), ("-DRACY", 1)] {
        let cflags = format!("--cflags={define}");
        let run = explore(&folder, "fork_reads.c", &["--reduction", "none", &cflags]);
        assert_eq!(run.status, status, "{define}: {}{}", run.stdout, run.stderr);
    }
    for (define, status) in [("-URACY", 0), ("-DRACY", 1)] {
        let source = source("stream.c");
        let cflags = format!("--cflags={define}");
        let run = folder.raceproof(&["check", source.to_str().unwrap(), "--time", "60", &cflags]);
        assert_eq!(run.status, status, "{define}: {}{}", run.stdout, run.stderr);
    }
}

/// What is not followed is named, and nothing else is said about it.
#[test]
fn what_is_not_followed_is_named() {
    let folder = Folder::empty();
    let mut count = 0;
    for entry in std::fs::read_dir(source("named")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let named = text.lines().next().and_then(|line| line.strip_prefix("// Named: ")).expect("a first line");
        let run = folder.raceproof(&["explore", path.to_str().unwrap(), "--time", "60"]);
        let is_named = run.stdout.contains(named) && !run.stdout.contains("error[");
        assert!(run.status == 3 && is_named, "{}: {} {}{}", path.display(), run.status, run.stdout, run.stderr);
        count += 1;
    }
    assert!(count >= 9, "{count} programs");
}

/// A child that tells the time is an input like another: what it said the first time.
#[test]
fn a_child_runs_once_for_all_runs() {
    const PROGRAM: &str = "#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
        static int n;\nstatic void *run(void *a) { __atomic_add_fetch(&n, 1, __ATOMIC_SEQ_CST); return a; }\n\
        int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, run, 0);\n    long now = 0;\n\
        \x20   FILE *f = popen(\"echo x >> calls; date +%N\", \"r\");\n    fscanf(f, \"%ld\", &now);\n    pclose(f);\n\
        \x20   for (long i = now % 7; i >= 0; i--) __atomic_add_fetch(&n, 1, __ATOMIC_SEQ_CST);\n\
        \x20   pthread_join(t, 0);\n    return 0;\n}\n";
    let folder = Folder::empty();
    std::fs::write(folder.path().join("date.c"), PROGRAM).unwrap();
    for isolation in ["restore", "fork", "fresh"] {
        let run = folder.raceproof(&["explore", "date.c", "--reduction", "none", "--isolation", isolation]);
        assert_eq!(run.status, 0, "{isolation}: {}{}", run.stdout, run.stderr);
        let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
        assert_eq!(calls, "x\n", "{isolation}");
        std::fs::remove_file(folder.path().join("calls")).unwrap();
    }
}

/// How many processes have this word on their command line.
fn processes_with(word: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(word)).count()
}

/// A child that does not end is ended: by the time of a run, and with raceproof however that ends.
#[test]
fn no_child_survives() {
    let folder = Folder::empty();
    let program = |seconds: u32| {
        format!(
            "#include <pthread.h>\n#include <stdlib.h>\nstatic void *run(void *a) {{ return a; }}\n\
             int main(void) {{ pthread_t t; pthread_create(&t, 0, run, 0);\n\
             system(\"setsid sleep {seconds} & sleep {seconds}; true\"); pthread_join(t, 0); }}\n"
        )
    };
    let own = std::process::id() % 100_000;
    for (number, kills) in [(1, false), (2, true)] {
        let seconds = number * 1_000_000 + own;
        let word = format!("{seconds}");
        std::fs::write(folder.path().join("slow.c"), program(seconds)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        command.args(["explore", "slow.c", "--time", if kills { "60" } else { "4" }]).current_dir(folder.path());
        let mut raceproof = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        if kills {
            wait_until("the child runs", || processes_with(&word) > 0);
            raceproof.kill().unwrap();
        }
        let status = raceproof.wait().unwrap();
        assert!(kills || status.code() == Some(3), "{status}");
        wait_until("no child is left", || processes_with(&word) == 0);
    }
}
