//! Programs for other machines than this one: they are not run, and everything is said of their text.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::Folder;
use common::annotated::{for_each, items, programs};
use common::debian::tries_large_programs;
use serde_json::Value;
use testkit::annotations::{Annotations, Lines, Mark, twin};
use testkit::effort;

/// Programs of a sample.
const SAMPLE: u64 = 40;

/// A driver whose two entries share a counter under a lock, and another one without.
const DRIVER: &str = "typedef struct { volatile int held; } spinlock_t;
extern void spin_lock(spinlock_t *);
extern void spin_unlock(spinlock_t *);
static spinlock_t lock;
static int counter, other;
static int *const registers[2] = {&counter, &other};
int device_write(int value) {
    spin_lock(&lock);
    *registers[0] += value;
    spin_unlock(&lock);
    return 0;
}
int device_interrupt(void) {
    spin_lock(&lock);
    counter++;
    spin_unlock(&lock);
    (*registers[1])++; // line 17
    return 0;
}
/* Constants that fill their pointers, also at the end. */
struct { void *start; int length; void *end; } window = {(void *)-4, 3, (void *)-1};
";

/// Targets with pointers of 64, 32 and 16 bits, of either byte order.
const TARGETS: [&str; 8] = [
    "i386-pc-linux-gnu",
    "arm-none-eabi",
    "thumbv7m-none-eabi",
    "aarch64-none-elf",
    "riscv32-unknown-elf",
    "powerpc-linux-gnu",
    "msp430",
    "s390x-linux-gnu",
];

/// What `static` says of a driver.
fn analysed(folder: &Folder, target: &str) -> Value {
    let flags = format!("--cflags=--target={target}");
    let entries = "--entry=device_write,device_interrupt";
    let run = folder.raceproof(&["static", "driver.c", &flags, entries, "--locks=linux", "--json", "--all-pairs"]);
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{target}: {error}: {}", run.stderr))
}

#[test]
fn a_driver_is_analysed_for_any_target() {
    let folder = Folder::empty();
    std::fs::write(folder.path().join("driver.c"), DRIVER).unwrap();
    for target in TARGETS {
        let document = analysed(&folder, target);
        let open = items(&document, "pairs").iter().filter(|pair| pair["verdict"] == "unknown");
        let lines: Lines = open
            .flat_map(|pair| items(pair, "accesses"))
            .map(|access| access["line"].as_u64().unwrap() as u32)
            .collect();
        assert_eq!(lines, Lines::from([17]), "{target}");
        assert_eq!(items(&document, "unknowns"), [] as [Value; 0], "{target}");
    }
}

#[test]
fn what_cannot_run_here_is_named() {
    let folder = Folder::empty();
    std::fs::write(folder.path().join("driver.c"), DRIVER).unwrap();
    std::fs::write(folder.path().join("main.c"), "int main(void) { return 0; }\n").unwrap();
    for command in ["explore", "record", "predict"] {
        let run = folder.raceproof(&[command, "main.c", "--cflags=-m32"]);
        assert_eq!(run.status, 2, "{command}: {}", run.stdout);
        assert!(run.stderr.contains("`main.c` is compiled for `i386"), "{command}: {}", run.stderr);
    }
    let run = folder.raceproof(&["check", "driver.c", "--cflags=-m32", "--entry=device_write"]);
    assert!(run.status == 3 && run.stdout.contains("cannot run here"), "{}{}", run.stdout, run.stderr);
    let run = folder.raceproof(&["verify", "main.c", "--cflags=-m32"]);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    let compile = ["-m32", "-g", "-emit-llvm", "-c", "driver.c", "-o", "driver.bc"];
    let compiled = Command::new("clang-19").args(compile).current_dir(folder.path()).status();
    assert!(compiled.unwrap().success());
    let run = folder.raceproof(&["static", "driver.bc", "main.c", "--entry=device_write"]);
    let is_told =
        run.stderr.contains("`driver.bc` is compiled for `i386") && run.stderr.contains("`main.c` for `x86_64");
    assert!(run.status == 2 && is_told, "{}", run.stderr);
}

/// Our library of OpenMP is for this machine: elsewhere, directives are named, and nothing is called absent.
#[test]
fn openmp_for_another_target_is_not_supported() {
    let folder = Folder::empty();
    let source = "int sum;\nint main(void) {\n#pragma omp parallel for\n    for (int i = 0; i < 9; i++)\n        sum += i;\n    \
                  return sum;\n}\n";
    std::fs::write(folder.path().join("sum.c"), source).unwrap();
    let run = folder.raceproof(&["static", "sum.c", "--cflags=-m32 -fopenmp"]);
    let is_told = run.stdout.contains("OpenMP: `__kmpc_fork_call` is not supported");
    assert!(run.status == 3 && is_told && run.stdout.contains("0 of"), "{}{}", run.stdout, run.stderr);
}

/// Tables in assembly make known what they name, and cost nothing else; with code in it, nothing is absent.
#[test]
fn assembly_outside_of_functions_costs_what_it_names() {
    let source = "#include <pthread.h>
static int called, own;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
__attribute__((used)) static void hook(void) { called++; }
ASSEMBLY
static void *worker(void *arg) {
    pthread_mutex_lock(&m); own++; pthread_mutex_unlock(&m);
    called++;
    return arg;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    pthread_mutex_lock(&m); own++; pthread_mutex_unlock(&m);
    pthread_join(thread, 0);
    return 0;
}
";
    let names = |assembly: &str| {
        let folder = Folder::empty();
        let line = if assembly.is_empty() { String::new() } else { format!("__asm__({assembly:?});") };
        std::fs::write(folder.path().join("a.c"), source.replace("ASSEMBLY", &line)).unwrap();
        let run = folder.raceproof(&["static", "a.c", "--json", "--all-pairs"]);
        let document: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", run.stderr));
        let open = items(&document, "pairs").iter().filter(|pair| pair["verdict"] == "unknown");
        let mut names: Vec<String> = open.map(|pair| pair["variable"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names.dedup();
        names.join(" ")
    };
    assert_eq!(names(""), "");
    assert_eq!(names(".ident \"one\"\n.code64"), "");
    assert_eq!(names(".section .hooks,\"a\"\nentry: .quad hook\n.previous"), "called");
    for code in [".globl f\nf: ret", ".set alias, own", ".section .init_array,\"aw\"\n.quad hook\n.previous"] {
        assert!(names(code).contains("own"), "{code}");
    }
}

/// What races on 64 bits is not absent on 32: the same sources, with the system's headers.
#[test]
fn nothing_that_races_is_absent_on_32_bits() {
    let headers = Folder::empty();
    std::fs::create_dir(headers.path().join("gnu")).unwrap();
    std::fs::write(headers.path().join("gnu/stubs-32.h"), "").unwrap();
    let all = programs("static");
    let wanted = effort::programs(SAMPLE).min(all.len() as u64) as usize;
    let sample: Vec<_> = all.iter().step_by(all.len() / wanted).cloned().collect();
    let name = |file: &PathBuf| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for_each(&sample, name, |program| {
        let source = std::fs::read_to_string(program).map_err(|error| error.to_string())?;
        if source.contains("__int128") || program.extension().is_none_or(|extension| extension != "c") {
            return Ok(());
        }
        let folder = program.parent().ok_or("a folder")?.display();
        let flags = format!(
            "--cflags=-DRACY -m32 -isystem /usr/include/{}-linux-gnu -I{} -I{folder}",
            std::env::consts::ARCH,
            headers.path().display()
        );
        let work = Folder::empty();
        let path = program.to_str().ok_or("a path")?;
        let run = work.raceproof(&["static", path, &flags, "--json", "--all-pairs"]);
        let document: Value = serde_json::from_str(&run.stdout).map_err(|e| format!("{e}: {}", run.stderr))?;
        let open = items(&document, "pairs").iter().filter(|pair| pair["verdict"] == "unknown");
        let own = |access: &Value| access["file"].as_str().is_some_and(|file| file.ends_with(&name(program)));
        let accesses = open.flat_map(|pair| items(pair, "accesses")).filter(|access| own(access));
        let reported: Lines = accesses.filter_map(|access| Some(access["line"].as_u64()? as u32)).collect();
        let expected = Annotations::parse(&twin(&source, true)).lines(Mark::Race);
        match expected.is_subset(&reported) {
            true => Ok(()),
            false => Err(format!("open on lines {reported:?}, annotated are {expected:?}")),
        }
    });
}

/// Drivers of Linux, compiled for i386 and ARM: proofs in seconds.
#[test]
fn drivers_of_linux_are_analysed() {
    if !tries_large_programs() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("drivers");
    let built = Command::new(root.join("scripts/build-drivers")).arg(&kept).output().unwrap();
    if built.status.code() == Some(3) {
        testkit::skip("linux-source", String::from_utf8_lossy(&built.stderr).trim());
        return;
    }
    let list = String::from_utf8(built.stdout).unwrap();
    assert!(list.lines().count() >= 8, "{}", String::from_utf8_lossy(&built.stderr));
    for driver in list.lines() {
        let [name, _, database, _, entries] = driver.split(' ').collect::<Vec<_>>()[..] else { panic!("{driver}") };
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        let options = ["static", database, "--locks=linux", "--entry", entries, "--stats", "--time=60"];
        let output = command.args(options).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        let figures = text.lines().find_map(|line| line.strip_prefix("pairs of classes: ")).unwrap_or_default();
        let absent: u64 = figures.split(' ').next().and_then(|figure| figure.parse().ok()).unwrap_or(0);
        let open: u64 = figures.split(' ').nth(2).and_then(|figure| figure.parse().ok()).unwrap_or(u64::MAX);
        assert!(output.status.code() == Some(3) && absent > open, "{name}: {figures}\n{text}");
    }
}
