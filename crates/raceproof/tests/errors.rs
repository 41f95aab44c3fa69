//! Wrong use: a clear message, a remedy, exit status 2, nothing on standard output.

mod common;

use common::Folder;

/// Runs and expects a failure whose message has all of these parts.
fn refused(folder: &Folder, args: &[&str], parts: &[&str]) {
    let run = folder.raceproof(args);
    assert_eq!(run.status, 2, "{}{}", run.stdout, run.stderr);
    assert_eq!(run.stdout, "");
    for part in parts {
        assert!(run.stderr.contains(part), "`{part}` is missing in:\n{}", run.stderr);
    }
}

fn write(folder: &Folder, name: &str, text: &str) {
    std::fs::write(folder.path().join(name), text).unwrap();
}

#[test]
fn inputs() {
    let folder = Folder::new();
    refused(&folder, &["explore", "missing.c"], &["error: ", "`missing.c`"]);
    write(&folder, "notes.txt", "not C");
    refused(&folder, &["explore", "notes.txt"], &["error: ", "`notes.txt`", ".c"]);
    write(&folder, "wrong.c", "int main(void) { return undeclared; }\n");
    refused(&folder, &["explore", "wrong.c"], &["error: ", "wrong.c:1:25", "undeclared"]);
    write(&folder, "library.c", "int helper(void) { return 1; }\n");
    refused(&folder, &["explore", "library.c"], &["error: ", "main"]);
    refused(&folder, &["explore", "counter.c", "locked.c"], &["error: ", "`main`", "counter.c", "locked.c"]);
    refused(&folder, &["explore", "locked.c", "--stdin", "missing.txt"], &["error: ", "missing.txt", "help: "]);
    write(&folder, "unlinked.c", "int other(int); int main(void) { return other(1); }\n");
    refused(&folder, &["explore", "unlinked.c"], &["error: ", "other"]);
}

#[test]
fn flags() {
    let folder = Folder::new();
    refused(&folder, &["explore"], &["error: ", "INPUT"]);
    refused(&folder, &["explore", "locked.c", "--reduction", "magic"], &["magic", "dpor"]);
    refused(&folder, &["explore", "locked.c", "--cflags", "-DX='"], &["unclosed quote", "help: "]);
    refused(&folder, &["explore", "locked.c", "--time", "-1"], &["error: "]);
    refused(&folder, &["explore", "locked.c", "--cflags", "-fno-such-flag"], &["error: ", "-fno-such-flag"]);
    refused(&folder, &["explore", "locked.c", "--json-out", "no/such/folder/r.json"], &["no/such/folder", "help: "]);
    refused(&folder, &["explain", "RP9999"], &["RP9999", "help: "]);
    refused(&folder, &["explain", "A99"], &["A99", "help: "]);
    let weather = ["explore", "locked.c", "--environment", "creation,weather"];
    refused(&folder, &weather, &["`weather`", "creation, allocation, spurious, uninitialised", "help: "]);
    refused(&folder, &["conjure"], &["conjure"]);
}

#[test]
fn compiler_missing() {
    let folder = Folder::new();
    let empty = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_raceproof"));
    command.args(["explore", "locked.c"]).current_dir(folder.path()).env("PATH", empty.path());
    let run = common::Run::of(command.output().unwrap());
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    for package in ["clang-19", "llvm-19", "lld-19"] {
        assert!(run.stderr.contains(package), "{}", run.stderr);
    }
}

#[test]
fn witnesses() {
    let folder = Folder::new();
    refused(&folder, &["replay", "missing.rpw"], &["error: ", "missing.rpw", "help: "]);
    refused(&folder, &["replay", "counter.c"], &["counter.c", "not a raceproof witness", "help: "]);

    assert_eq!(folder.raceproof(&["explore", "counter.c"]).status, 1);
    let witness = "raceproof-witnesses/counter-P1.rpw";
    assert_eq!(folder.raceproof(&["replay", witness]).status, 1);
    let text = std::fs::read_to_string(folder.path().join(witness)).unwrap();

    write(&folder, "old.rpw", &text.replace("\"version\": 3", "\"version\": 0"));
    refused(&folder, &["replay", "old.rpw"], &["old.rpw", "version 0", "version 3", "help: "]);
    write(&folder, "short.rpw", &text[..text.len() / 2]);
    refused(&folder, &["replay", "short.rpw"], &["short.rpw", "cut off", "line", "help: "]);
    write(&folder, "edited.rpw", &text.replacen("\"until\": ", "\"until\": 1", 1));
    refused(&folder, &["replay", "edited.rpw"], &["edited.rpw", "changed after it was written", "help: "]);

    let source = std::fs::read_to_string(folder.path().join("counter.c")).unwrap();
    write(&folder, "counter.c", &format!("// A comment moves every line.\n{source}"));
    let moved = folder.raceproof(&["replay", witness]);
    assert!(moved.status == 1 && moved.stderr.contains("not the one the witness was made of"), "{}", moved.stderr);
    write(&folder, "counter.c", &source.replace("counter = 10", "counter = counter + 10"));
    refused(&folder, &["replay", witness], &["program changed", witness, "help: "]);
    write(&folder, "counter.c", &source);
    assert_eq!(folder.raceproof(&["replay", witness]).status, 1, "the old program replays again");
    std::fs::remove_file(folder.path().join("counter.c")).unwrap();
    refused(&folder, &["replay", witness], &["counter.c"]);
}

#[test]
fn changed_standard_input() {
    let folder = Folder::new();
    write(&folder, "in.txt", "1\n");
    let run = folder.raceproof(&["explore", "counter.c", "--stdin", "in.txt"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    write(&folder, "in.txt", "2\n");
    refused(&folder, &["replay", "raceproof-witnesses/counter-P1.rpw"], &["in.txt", "changed", "help: "]);
}

#[test]
fn files_that_the_program_reads_belong_to_a_witness() {
    let folder = Folder::new();
    let source = "#include <pthread.h>\n#include <stdio.h>\nstatic int shared, often;\n\
        static void *run(void *arg) { for (int i = 0; i < often; i++) shared++; return arg; }\n\
        int main(void) {\n    FILE *file = fopen(\"often.txt\", \"r\");\n    \
        if (!file || fscanf(file, \"%d\", &often) != 1) return 1;\n    fclose(file);\n    \
        pthread_t thread;\n    pthread_create(&thread, 0, run, 0);\n    run(0);\n    \
        pthread_join(thread, 0);\n    return 0;\n}\n";
    std::fs::write(folder.path().join("reader.c"), source).unwrap();
    let write = |often: &str| std::fs::write(folder.path().join("often.txt"), often).unwrap();
    write("1");
    assert_eq!(folder.raceproof(&["explore", "reader.c"]).status, 1);
    let witness = "raceproof-witnesses/reader-P1.rpw";
    assert_eq!(folder.raceproof(&["replay", witness]).status, 1);
    write("0");
    refused(&folder, &["replay", witness], &["another way", "often.txt", "changed", "help: "]);
    write("1 and a comment");
    assert_eq!(folder.raceproof(&["replay", witness]).status, 1, "the run is the same");
}
