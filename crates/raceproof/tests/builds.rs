//! Builds of one project by several build systems: `raceproof build`, the files that are shipped for CMake and Meson, libtool's
//! scripts, and compilation databases with several executables.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Folder, Run};

const RACEPROOF: &str = env!("CARGO_BIN_EXE_raceproof");

/// The race of `server`, which `client` has not.
const RACE: &str = "lib/count.c:9:11: error: data race on `count`";

/// A copy of the project.
fn project() -> Folder {
    let folder = Folder::empty();
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/builds_project/.");
    run(Command::new("cp").arg("-r").arg(project).arg(folder.path()));
    std::fs::rename(folder.path().join("GNUmakefile.plain"), folder.path().join("GNUmakefile")).unwrap();
    folder
}

/// A command in a folder, without what may be around the tests.
fn command(folder: &Folder, program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder.path()).stdin(Stdio::null()).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    for variable in ["MAKEFLAGS", "MFLAGS", "CC", "CXX", "CLICOLOR_FORCE", "NINJA_STATUS"] {
        command.env_remove(variable);
    }
    command
}

fn run(command: &mut Command) -> Run {
    let run = Run::of(command.output().unwrap_or_else(|error| panic!("{command:?}: {error}")));
    assert_eq!(run.status, 0, "{command:?}: {}{}", run.stdout, run.stderr);
    run
}

/// `raceproof build` with a command of the shell.
fn build(folder: &Folder, script: &str) -> Run {
    run(command(folder, RACEPROOF).args(["build", "--", "sh", "-c", script]))
}

/// Checks the two programs; `of` gives the arguments for one of them.
fn checks(folder: &Folder, of: impl Fn(&str) -> Vec<String>) {
    for (name, status) in [("server", 1), ("client", 0)] {
        let arguments = of(name);
        let words: Vec<&str> =
            ["check", "--format", "short"].into_iter().chain(arguments.iter().map(String::as_str)).collect();
        let check = folder.raceproof(&words);
        assert_eq!(check.status, status, "{words:?}: {}{}", check.stdout, check.stderr);
        assert_eq!(check.stdout.contains(RACE), status == 1, "{words:?}: {}", check.stdout);
    }
}

/// The commands that a build recommends, without the first line.
fn recommended(run: &Run) -> Vec<&str> {
    run.stderr.lines().filter_map(|line| line.strip_prefix("  raceproof check ")).collect()
}

/// All files of the project with their contents, but for what builds make.
fn sources(folder: &Folder) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for inside in ["", "lib", "src"] {
        for entry in std::fs::read_dir(folder.path().join(inside)).unwrap() {
            let path = entry.unwrap().path();
            let is_made = path.extension().is_some_and(|extension| extension == "o") || path.extension().is_none();
            if path.is_file() && !is_made {
                files.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn a_makefile_is_built_as_it_is() {
    let folder = project();
    let before = sources(&folder);
    let built = build(&folder, "make -j2");
    assert!(built.stdout.contains("cc -O2 -Ilib"), "the build's own output: {}", built.stdout);
    assert_eq!(recommended(&built), ["./client", "./server"], "{}", built.stderr);
    assert_eq!(sources(&folder), before);
    checks(&folder, |name| vec![format!("./{name}")]);
    let native = run(&mut command(&folder, folder.path().join("client").to_str().unwrap()));
    assert_eq!(native.stdout, "4\n");

    let again = build(&folder, "make");
    assert!(again.stderr.contains("compiled nothing") && again.stderr.contains("make clean"), "{}", again.stderr);
    let unseen = build(&folder, "make -s clean && make -s CC=/usr/bin/gcc");
    assert!(unseen.stderr.contains("absolute path"), "{}", unseen.stderr);
}

#[test]
fn the_compilers_that_a_build_names_are_captured() {
    let folder = project();
    // A launcher keeps results of its own; a second build must not get them.
    let stores = format!("CCACHE_DIR={}", folder.path().join("ccache").display());
    for (environment, script) in [
        ("A=b", "make -s CC=gcc-12".to_owned()),
        ("A=b", format!("{stores} make -s CC='ccache gcc' && make -s clean && {stores} make -s CC='ccache gcc'")),
        ("A=b", format!("PATH=$PATH:/usr/lib/ccache {stores} make -s CC=gcc")),
        ("CC=ccache gcc -m64", "make -s -e".to_owned()),
        ("CC=/usr/bin/gcc", "make -s -e".to_owned()),
        ("CC=clang-19", "make -s -e".to_owned()),
        ("A=b", "make -s CC=x86_64-linux-gnu-gcc".to_owned()),
    ] {
        let (name, value) = environment.split_once('=').unwrap();
        run(command(&folder, "make").args(["-s", "clean"]));
        let mut captured = command(&folder, RACEPROOF);
        captured.env(name, value).args(["build", "--", "sh", "-c", &script]);
        let built = run(&mut captured);
        assert_eq!(recommended(&built), ["./client", "./server"], "{environment} {script}: {}", built.stderr);
        checks(&folder, |name| vec![format!("./{name}")]);
    }
}

#[test]
fn the_status_is_that_of_the_build() {
    let folder = project();
    let status = |words: &[&str]| {
        let run = Run::of(command(&folder, RACEPROOF).arg("build").args(words).output().unwrap());
        (run.status, run.stderr)
    };
    assert_eq!(status(&["--", "sh", "-c", "exit 7"]).0, 7);
    assert_eq!(status(&["sh", "-c", "kill -TERM $$"]).0, 128 + 15);
    std::fs::write(folder.path().join("src/server.c"), "int main(void) { return missing; }\n").unwrap();
    let (failed, said) = status(&["make", "-s", "server"]);
    assert_eq!(failed, 2, "make's own: {said}");
    assert!(said.contains("missing") && !said.contains("make clean"), "gcc's own message: {said}");
    let (failed, said) = status(&["--", "no-such-program"]);
    assert!(failed == 2 && said.contains("no-such-program") && said.contains("help"), "{said}");
    assert_eq!(status(&[]).0, 2);
}

/// What is made for another machine has the bitcode for that machine; what comes from standard input is left alone.
#[test]
fn other_machines_and_standard_input() {
    let folder = project();
    let cross = "aarch64-linux-gnu-gcc -Ilib -DSTEP=2 src/server.c lib/count.c -o server -pthread";
    let built =
        build(&folder, &format!("{cross} && echo 'int main(void) {{ return 0; }}' | gcc -x c - -o piped && ./piped"));
    assert_eq!(recommended(&built), ["./server"], "{}", built.stderr);
    let warned = folder.raceproof(&["static", "server", "--format", "short"]);
    assert!(warned.status == 3 && warned.stdout.contains("lib/count.c:9:11"), "{}{}", warned.stdout, warned.stderr);
}

/// A source that clang refuses is compiled, and named.
#[test]
fn what_clang_refuses_is_built_without_bitcode() {
    let folder = project();
    let nested =
        "int outer(void) { int inner(void) { return 1; } return inner(); }\nint main(void) { return outer() - 1; }\n";
    std::fs::write(folder.path().join("nested.c"), nested).unwrap();
    let built = build(&folder, "gcc -c nested.c && gcc nested.o -o nested && ./nested && make -s client");
    assert!(built.stderr.contains("`nested.c` has no bitcode"), "{}", built.stderr);
    assert!(built.stderr.contains("1 source without bitcode"), "{}", built.stderr);
    assert_eq!(recommended(&built), ["./client"]);
}

#[test]
fn cmake_and_meson_are_captured_with_their_configuration() {
    let folder = project();
    let built = build(&folder, "cmake -G Ninja -B 'b n' >/dev/null && cmake --build 'b n' >/dev/null");
    assert_eq!(recommended(&built), ["'./b n/bin/client'", "'./b n/bin/server'"], "{}", built.stderr);
    checks(&folder, |name| vec![format!("b n/bin/{name}")]);
    // CMake keeps the path of the compiler, which is still there.
    run(command(&folder, "touch").args(["src/server.c", "lib/count.c"]));
    let again = build(&folder, "cmake --build 'b n' >/dev/null");
    assert_eq!(recommended(&again), ["'./b n/bin/client'", "'./b n/bin/server'"], "{}", again.stderr);

    let built = build(&folder, "meson setup bs >/dev/null && ninja -C bs >/dev/null");
    assert_eq!(recommended(&built), ["./bs/client", "./bs/server"], "{}", built.stderr);
    checks(&folder, |name| vec![format!("bs/{name}")]);
}

#[test]
fn the_files_for_cmake_and_meson_work() {
    let folder = project();
    let support = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../support");
    let toolchain = format!("-DCMAKE_TOOLCHAIN_FILE={}", support.join("raceproof.cmake").display());
    let program = format!("-DRACEPROOF={RACEPROOF}");
    run(command(&folder, "cmake").args(["-G", "Ninja", "-B", "bc", &toolchain, &program]));
    run(command(&folder, "cmake").args(["--build", "bc"]));
    checks(&folder, |name| vec![format!("bc/bin/{name}")]);

    let own = Path::new(RACEPROOF).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&path))).unwrap();
    let native = support.join("raceproof-meson.ini");
    run(command(&folder, "meson").env("PATH", &path).args(["setup", "bs", "--native-file"]).arg(native));
    run(command(&folder, "ninja").env("PATH", &path).args(["-C", "bs"]));
    checks(&folder, |name| vec![format!("bs/{name}")]);
}

/// Until it is installed, a program of libtool's is a script.
#[test]
fn scripts_of_libtool_stand_for_their_programs() {
    let folder = project();
    std::fs::remove_file(folder.path().join("GNUmakefile")).unwrap();
    let built = build(&folder, "autoreconf -i >/dev/null 2>&1 && ./configure >/dev/null && make -s -j2");
    assert_eq!(recommended(&built), ["./client", "./server"], "{}", built.stderr);
    let script = std::fs::read_to_string(folder.path().join("server")).unwrap();
    assert!(script.contains("temporary wrapper script"), "libtool made no script");
    checks(&folder, |name| vec![format!("./{name}")]);
    let native = run(&mut command(&folder, "./client"));
    assert_eq!(native.stdout, "4\n");
    // A library that is linked as it is is found when the program runs.
    run(command(&folder, "sh")
        .args(["-c", "rm -f lib/*.o lib/*.lo libcount.la .libs/libcount* && make -s libcount.la"]));
    let check = folder.raceproof(&["explore", "./client", "--assume-pure", "count_locked", "--assume-pure", "counted"]);
    assert!(check.stdout.contains("2 threads") && check.status != 2, "{}{}", check.stdout, check.stderr);
}

/// Which executable of a database is meant is asked for by name, whoever wrote the database.
#[test]
fn databases_with_several_executables() {
    let folder = project();
    run(command(&folder, "cmake").args(["-G", "Ninja", "-B", "bn"]));
    run(command(&folder, "cmake").args(["-G", "Unix Makefiles", "-B", "bm"]));
    run(command(&folder, "meson").args(["setup", "bs"]));
    // What tools such as bear write says nothing about links.
    std::fs::create_dir(folder.path().join("bear")).unwrap();
    let here = folder.path().display();
    let entry = |file: &str| {
        format!(
            r#"{{"directory": "{here}", "file": "{file}", "arguments": ["cc", "-Ilib", "-DSTEP=2", "-c", "{file}"]}}"#
        )
    };
    let all = ["src/server.c", "src/client.c", "lib/count.c", "lib/unused.c"].map(entry).join(",");
    std::fs::write(folder.path().join("bear/commands.json"), format!("[{all}]")).unwrap();
    std::os::unix::fs::symlink("bn/compile_commands.json", folder.path().join("compile_commands.json")).unwrap();

    for (input, names) in [
        ("bn", "`bin/client`, `bin/server`"),
        ("bm/compile_commands.json", "`bin/client`, `bin/server`"),
        (".", "`bin/client`, `bin/server`"),
        ("bs", "`client`, `server`"),
        ("bear/commands.json", "`server`, `client`, `unused`"),
    ] {
        let refused = folder.raceproof(&["check", input]);
        assert_eq!((refused.status, refused.stdout.as_str()), (2, ""), "{input}");
        assert!(refused.stderr.contains(names) && refused.stderr.contains("--executable NAME"), "{}", refused.stderr);
        let wrong = folder.raceproof(&["check", input, "--executable", "servers"]);
        assert_eq!((wrong.status, wrong.stdout.as_str()), (2, ""), "{input}");
        assert!(wrong.stderr.contains("`servers`") && wrong.stderr.contains(names), "{}", wrong.stderr);
        checks(&folder, |name| [input, "--executable", name].map(str::to_owned).into());
    }
    // What a witness is made of is chosen again.
    let replayed = folder.raceproof(&["replay", "raceproof-witnesses/server-P1.rpw"]);
    assert_eq!(replayed.status, 1, "{}{}", replayed.stdout, replayed.stderr);
    let no_database = folder.raceproof(&["check", "src/client.c", "--executable", "client"]);
    assert!(no_database.status == 2 && no_database.stderr.contains("no input is one"), "{}", no_database.stderr);
}

/// Where a program runs and with which environment decides what it does, and the witness keeps it.
#[test]
fn folders_and_variables_of_a_program() {
    let folder = Folder::empty();
    let source = "#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\nint x;\n\
        void *f(void *a) { x++; return a; }\nint main(void) {\n    pthread_t t;\n    FILE *in = fopen(\"data.txt\", \"r\");\n    \
        const char *mode = getenv(\"MODE\");\n    if (!in || !mode || mode[0] != 'r')\n        return 0;\n    fclose(in);\n    \
        pthread_create(&t, 0, f, 0);\n    f(0);\n    pthread_join(t, 0);\n    return 0;\n}\n";
    std::fs::write(folder.path().join("reads.c"), source).unwrap();
    std::fs::create_dir(folder.path().join("work")).unwrap();
    std::fs::write(folder.path().join("work/data.txt"), "1\n").unwrap();
    let explore = |more: &[&str]| folder.raceproof(&[&["explore", "reads.c", "--reached-only"][..], more].concat());
    assert_eq!(explore(&["--env", "MODE=race"]).status, 0, "no file");
    assert_eq!(explore(&["--folder", "work"]).status, 0, "no variable");
    assert_eq!(explore(&["--folder", "work", "--env", "MODE=race", "--env", "MODE"]).status, 0, "removed again");
    let racy = explore(&["--folder", "work", "--env", "MODE=race"]);
    assert_eq!(racy.status, 1, "{}{}", racy.stdout, racy.stderr);
    assert!(racy.stdout.contains("reads.c:5"), "files are named from the current folder: {}", racy.stdout);
    let replayed = folder.raceproof(&["replay", "raceproof-witnesses/reads-P1.rpw"]);
    assert_eq!(replayed.status, 1, "{}{}", replayed.stdout, replayed.stderr);
    let recorded = folder.raceproof(&["record", "reads.c", "--folder", "work", "--env", "MODE=race", "-o", "run.rpt"]);
    assert!(recorded.status == 0 && recorded.stderr.contains("2 threads"), "{}", recorded.stderr);
    for (wrong, says) in [(["--folder", "nowhere"], "`nowhere`"), (["--env", "=x"], "names no variable")] {
        let refused = explore(&wrong);
        assert!(refused.status == 2 && refused.stderr.contains(says), "{}", refused.stderr);
    }
}
