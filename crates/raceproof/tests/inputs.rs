//! Every command takes the same inputs and settings: sources, executables of `raceproof cc`, folders with a compilation
//! database, bitcode; and what it does not take it refuses by name.

mod common;

use std::process::Command;

use common::{Folder, Run};

const RACEPROOF: &str = env!("CARGO_BIN_EXE_raceproof");

const SOURCE: &str = "#include <pthread.h>\n#ifndef LOCKED\n#define LOCKED 0\n#endif\nint x;\n\
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
    void *f(void *a) { if (LOCKED) pthread_mutex_lock(&m); x++; if (LOCKED) pthread_mutex_unlock(&m); return a; }\n\
    int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, f, 0);\n    f(0);\n    pthread_join(t, 0);\n}\n";

/// The commands about a program, with their exit status for one with a race that every run shows.
const COMMANDS: [(&str, i32); 6] =
    [("check", 1), ("static", 3), ("verify", 1), ("predict", 1), ("explore", 1), ("record", 0)];

/// One program in all its forms.
fn folder() -> (Folder, Vec<&'static str>) {
    let folder = Folder::empty();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("race.c"), SOURCE).unwrap();
    std::fs::create_dir(at("build")).unwrap();
    let here = folder.path().display();
    let database = format!(
        "[{{\"directory\": \"{here}\", \"file\": \"race.c\", \"arguments\": [\"cc\", \"-c\", \"race.c\", \"-o\", \"race.o\"]}}]"
    );
    std::fs::write(at("build/compile_commands.json"), database).unwrap();
    let run = |mut command: Command| {
        let run = Run::of(command.current_dir(folder.path()).output().unwrap());
        assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    };
    let mut wrapper = Command::new(RACEPROOF);
    wrapper.args(["cc", "race.c", "-o", "prog", "-pthread"]);
    run(wrapper);
    for (kind, name) in [("-c", "race.bc"), ("-S", "race.ll")] {
        let mut clang = Command::new("clang-19");
        clang.args(["-O0", "-g", "-Xclang", "-disable-O0-optnone", "-emit-llvm", kind, "race.c", "-o", name]);
        run(clang);
    }
    (folder, vec!["race.c", "./prog", "build", "race.bc", "race.ll"])
}

#[test]
fn every_command_takes_every_kind_of_program() {
    let (folder, inputs) = folder();
    for (command, status) in COMMANDS {
        for input in &inputs {
            let run = folder.raceproof(&[command, input]);
            assert_eq!(run.status, status, "{command} {input}: {}{}", run.stdout, run.stderr);
            let shows = if command == "record" { "recorded" } else { "race.c:7" };
            let said = if command == "record" { &run.stderr } else { &run.stdout };
            assert!(said.contains(shows), "{command} {input}: {said}");
        }
    }
}

#[test]
fn every_command_follows_the_settings_of_the_project() {
    let (folder, _) = folder();
    std::fs::write(folder.path().join("raceproof.toml"), "cflags = [\"-DLOCKED=1\"]\n").unwrap();
    for (command, _) in COMMANDS {
        let run = folder.raceproof(&[command, "race.c"]);
        // A recording proves nothing, so `predict` cannot call it safe.
        let status = if command == "predict" { 3 } else { 0 };
        assert_eq!(run.status, status, "{command}: {}{}", run.stdout, run.stderr);
    }
    std::fs::write(folder.path().join("raceproof.toml"), "cflagz = []\n").unwrap();
    for (command, _) in COMMANDS {
        let run = folder.raceproof(&[command, "race.c"]);
        assert_eq!(run.status, 2, "{command}: {}", run.stdout);
        assert!(run.stderr.contains("raceproof.toml"), "{command}: {}", run.stderr);
    }
}

#[test]
fn what_a_command_does_not_take_is_refused_by_name() {
    let (folder, _) = folder();
    assert_eq!(folder.raceproof(&["record", "race.c", "-o", "run.rpt"]).status, 0);
    std::fs::write(folder.path().join("p.sml"), "").unwrap();
    std::fs::write(folder.path().join("trace.std"), "T0|w(V1)|1\n").unwrap();
    for (input, says) in
        [("run.rpt", ["a recorded run", "`predict` takes it"]), ("trace.std", ["neither C (.c)", "help"])]
    {
        for (command, _) in COMMANDS.into_iter().filter(|(command, _)| *command != "predict") {
            let run = folder.raceproof(&[command, input]);
            assert_eq!(run.status, 2, "{command} {input}: {}", run.stdout);
            assert!(says.iter().all(|text| run.stderr.contains(text)), "{command}: {}", run.stderr);
        }
    }
    let run = folder.raceproof(&["explore", "p.sml"]);
    assert!(run.status == 2 && run.stderr.contains("small language"), "{}", run.stderr);
    assert_eq!(folder.raceproof(&["predict", "run.rpt"]).status, 1);
}
