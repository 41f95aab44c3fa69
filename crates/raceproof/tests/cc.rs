//! Projects built by `raceproof cc` through their own build system, and folders with a compilation database.

mod common;

use std::path::Path;
use std::process::Command;

use common::{Folder, Run};

const RACEPROOF: &str = env!("CARGO_BIN_EXE_raceproof");

/// A copy of the project, built by `make`.
fn built() -> Folder {
    let folder = Folder::new();
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/project");
    std::fs::create_dir(folder.path().join("src")).unwrap();
    for (from, to) in [(project.clone(), folder.path().to_owned()), (project.join("src"), folder.path().join("src"))] {
        for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap).filter(|e| e.path().is_file()) {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    let mut make = Command::new("make");
    make.args(["-j2", &format!("CC={RACEPROOF} cc"), &format!("CXX={RACEPROOF} c++")]).current_dir(folder.path());
    let run = Run::of(make.env_remove("MAKEFLAGS").output().unwrap());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    folder
}

/// The lines of the racing accesses in a JSON result.
fn racing_lines(run: &Run) -> Vec<(String, u64)> {
    let result: serde_json::Value = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", run.stderr));
    let pairs = result["pairs"].as_array().unwrap().iter().filter(|pair| pair["verdict"] == "race");
    let accesses = pairs.flat_map(|pair| pair["accesses"].as_array().unwrap());
    let place = |a: &serde_json::Value| (a["file"].as_str().unwrap().to_owned(), a["line"].as_u64().unwrap());
    let mut lines: Vec<_> = accesses.map(place).collect();
    lines.sort();
    lines.dedup();
    lines
}

#[test]
fn a_built_program_runs_as_before_and_is_an_input() {
    let folder = built();
    let native = Run::of(Command::new(folder.path().join("prog")).output().unwrap());
    assert_eq!((native.status, native.stdout.as_str()), (0, "4\n"));
    assert!(folder.path().join("count.d").exists(), "dependency files are written");

    let run = folder.raceproof(&["explore", "prog", "--assume-pure", "one", "--json"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    let expected = [("src/count.c", 10), ("src/count.c", 15)].map(|(file, line)| (file.to_owned(), line));
    assert_eq!(racing_lines(&run), expected);

    let named = folder.raceproof(&["explore", "prog"]);
    assert!(named.stdout.contains("calls `one`"), "what has no bitcode is named: {}", named.stdout);
}

#[test]
fn objects_and_archives_are_inputs_too() {
    let folder = built();
    let run = folder.raceproof(&[
        "explore",
        "main.o",
        "libcount.a",
        "src/scale.c",
        "--emit",
        "program",
        "--cflags",
        "-DFACTOR=3",
    ]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.contains("bump") && run.stdout.contains("scaled"));
}

#[test]
fn the_compiler_answers_for_itself() {
    let folder = Folder::new();
    assert!(folder.raceproof(&["cc", "--version"]).stdout.contains("clang version 19"));
    assert!(folder.raceproof(&["c++", "-E", "locked.c"]).stdout.contains("pthread_mutex_lock"));
    let refused = folder.raceproof(&["cc", "-c", "missing.c"]);
    assert_eq!(refused.status, 1);
    assert!(refused.stderr.contains("missing.c"), "{}", refused.stderr);
    let run = folder.raceproof(&["cc", "-flto", "-O2", "locked.c", "-o", "locked", "-pthread"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert_eq!(folder.raceproof(&["explore", "locked", "--json"]).status, 0);
}

#[test]
fn what_was_not_built_here_is_refused() {
    let folder = Folder::new();
    let native =
        Command::new("clang-19").args(["locked.c", "-o", "plain"]).current_dir(folder.path()).status().unwrap();
    assert!(native.success());
    let run = folder.raceproof(&["explore", "plain"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("`plain`") && run.stderr.contains("raceproof cc"), "{}", run.stderr);

    let whole = folder.raceproof(&["cc", "locked.c", "-o", "whole", "-pthread"]);
    assert_eq!(whole.status, 0, "{}", whole.stderr);
    let path = folder.path().join("whole");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(6).position(|w| w == b"RPKEPT").unwrap();
    bytes[at + 1] = b'?';
    std::fs::write(&path, bytes).unwrap();
    let run = folder.raceproof(&["explore", "whole"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(
        run.stderr.contains("damaged at offset 0") && run.stderr.contains("build the file again"),
        "{}",
        run.stderr
    );
}

#[test]
fn folders_with_a_database() {
    let folder = built();
    let here = folder.path().display();
    let database = format!(
        r#"[{{"directory": "{here}", "file": "src/count.c", "command": "cc -O2 -c -o count.o src/count.c"}},
            {{"directory": "{here}/src", "file": "scale.c", "arguments": ["cc", "-DFACTOR=2", "-c", "scale.c"]}},
            {{"directory": "{here}", "file": "src/main.cpp", "command": "c++ -std=c++17 -c src/main.cpp"}}]"#
    );
    std::fs::write(folder.path().join("compile_commands.json"), database).unwrap();
    let flags = ["--cflags", "one.o", "--assume-pure", "one"];
    let run = folder.raceproof(&[&["explore", ".", "--json"][..], &flags].concat());
    assert_eq!(run.status, 1, "{}", run.stderr);
    let expected = [("src/count.c", 10), ("src/count.c", 15)].map(|(file, line)| (file.to_owned(), line));
    assert_eq!(racing_lines(&run), expected);

    let empty = Folder::new();
    let run = empty.raceproof(&["explore", "."]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("compile_commands.json"), "{}", run.stderr);
}

/// `ld -r` merges objects into one. The code of a part without bitcode would be lost, so the object is refused.
#[test]
fn merged_objects_are_refused_by_name() {
    let folder = Folder::new();
    std::fs::write(
        folder.path().join("weak.c"),
        "__attribute__((weak)) int f(void) { return 0; }\nint main(void) { return f(); }\n",
    )
    .unwrap();
    std::fs::write(folder.path().join("strong.c"), "int f(void) { return 3; }\n").unwrap();
    let run = |program: &str, args: &[&str]| {
        let done = std::process::Command::new(program).args(args).current_dir(folder.path()).status();
        assert!(done.expect("it is installed").success(), "{program} {args:?}");
    };
    assert_eq!(folder.raceproof(&["cc", "-c", "weak.c", "-o", "weak.o"]).status, 0);
    run("clang-19", &["-c", "strong.c", "-o", "strong.o"]);
    run("ld", &["-r", "strong.o", "weak.o", "-o", "both.o"]);
    assert_eq!(folder.raceproof(&["cc", "both.o", "-o", "program"]).status, 0);
    for input in ["both.o", "program"] {
        let refused = folder.raceproof(&["explore", input]);
        assert_eq!(refused.status, 2, "{input}: {}", refused.stdout);
        assert!(
            refused.stderr.contains("both.o` has parts") && refused.stderr.contains("strong.c"),
            "{}",
            refused.stderr
        );
    }
}

/// A program that takes all members of an archive links here as it does natively.
#[test]
fn whole_archives_are_inputs() {
    let folder = Folder::new();
    std::fs::write(folder.path().join("main.c"), "int f(void);\nint main(void) { return f() - 3; }\n").unwrap();
    std::fs::write(folder.path().join("f.c"), "int f(void) { return 3; }\n").unwrap();
    std::fs::write(folder.path().join("g.c"), "int unused(void) { return 4; }\n").unwrap();
    for name in ["main", "f", "g"] {
        let (source, object) = (format!("{name}.c"), format!("{name}.o"));
        assert_eq!(folder.raceproof(&["cc", "-c", &source, "-o", &object]).status, 0);
    }
    let archived =
        std::process::Command::new("ar").args(["rcs", "libfg.a", "f.o", "g.o"]).current_dir(folder.path()).status();
    assert!(archived.expect("ar is installed").success());
    let link = ["cc", "main.o", "-Wl,--whole-archive", "libfg.a", "-Wl,--no-whole-archive", "-o", "program"];
    assert_eq!(folder.raceproof(&link).status, 0);
    let run = folder.raceproof(&["explore", "program"]);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
}

/// However it is linked, a program runs as the compiler's own does, and its races are those of its sources.
#[test]
fn every_way_to_link_gives_the_same_answer() {
    const COUNTS: &str = "int shared;\n__thread int mine;\nvoid bump(void) { shared++; mine++; }\n";
    const MAIN: &str = "#include <pthread.h>\n#include <stdio.h>\nextern int shared;\nextern __thread int mine;\n\
        void bump(void);\nstatic void *run(void *arg) { bump(); return arg; }\n\
        int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, run, 0);\n    bump();\n\
        \x20   pthread_join(t, 0);\n    printf(\"%d\\n\", mine);\n    return 0;\n}\n";
    let folder = Folder::empty();
    std::fs::write(folder.path().join("counts.c"), COUNTS).unwrap();
    std::fs::write(folder.path().join("main.c"), MAIN).unwrap();
    let sources = racing_lines(&folder.raceproof(&["explore", "--json", "counts.c", "main.c"]));
    assert_eq!(sources, [("counts.c".to_owned(), 3)]);
    for flags in [&["-flto"][..], &["-flto=thin"], &["-static"], &["-static", "-flto", "-O2"], &["-no-pie"]] {
        for name in ["counts", "main"] {
            let compile = ["cc", "-c", &format!("{name}.c"), "-o", &format!("{name}.o")];
            assert_eq!(folder.raceproof(&[&compile[..], flags].concat()).status, 0, "{flags:?}");
        }
        let link = [&["cc", "counts.o", "main.o", "-o", "program", "-pthread"][..], flags].concat();
        assert_eq!(folder.raceproof(&link).status, 0, "{flags:?}");
        let native = Run::of(Command::new(folder.path().join("program")).output().unwrap());
        assert_eq!((native.status, native.stdout.as_str()), (0, "1\n"), "{flags:?}");
        assert_eq!(racing_lines(&folder.raceproof(&["explore", "--json", "program"])), sources, "{flags:?}");
    }
}
