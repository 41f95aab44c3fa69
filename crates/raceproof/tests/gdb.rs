//! A witness under a debugger.

mod common;

use common::Folder;

#[test]
fn gdb_stops_before_the_second_access() {
    let folder = Folder::new();
    assert_eq!(folder.raceproof(&["explore", "same_line.c"]).status, 1);
    let witness = "raceproof-witnesses/same_line-P1.rpw";
    let batch = ["replay", witness, "--gdb", "--", "-batch", "-ex", "echo state:", "-ex", "backtrace"];
    let run = folder.raceproof(&batch);
    assert!(run.stdout.contains("pay"), "stdout:\n{}\nstderr:\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("same_line.c:11"), "stdout:\n{}\nstderr:\n{}", run.stdout, run.stderr);
}

/// The race is only there with this input, which the debugged program has to get, too.
#[test]
fn gdb_gives_the_program_its_input() {
    const SOURCE: &str = "#include <pthread.h>\n#include <stdio.h>\nint x;\n\
        void *pay(void *arg) { x = 1; return arg; }\n\
        int main(int argc, char **argv) {\n    pthread_t t;\n    int n = 0;\n\
        \x20   if (scanf(\"%d\", &n) != 1 || n != 42 || argc != 2)\n        return 9;\n\
        \x20   pthread_create(&t, 0, pay, 0);\n    x = 2;\n    pthread_join(t, 0);\n}\n";
    let folder = Folder::new();
    std::fs::write(folder.path().join("asks.c"), SOURCE).unwrap();
    std::fs::write(folder.path().join("input.txt"), "42\n").unwrap();
    assert_eq!(folder.raceproof(&["explore", "asks.c", "--stdin", "input.txt", "--", "it's one"]).status, 1);
    let witness = "raceproof-witnesses/asks-P1.rpw";
    let run = folder.raceproof(&["replay", witness, "--gdb", "--", "-batch", "-ex", "backtrace"]);
    assert!(run.stdout.contains("asks.c:4") || run.stdout.contains("asks.c:11"), "{}\n{}", run.stdout, run.stderr);
}
