//! An aarch64 target under qemu: the executions and the verdicts are those of this machine.
//!
//! Needs packages and a Rust target that `scripts/setup --tests` installs.
#![allow(clippy::print_stderr, reason = "prints its figures")]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use check::{BuildOptions, Built};
use common::target::{Proxy, TargetProcess};
use common::{Folder, Run, json_without_times};
use exec::Config;
use explore::{Coverage, Observer, ReductionName};
use model::{Budget, Executor, Schedule, SiteId, Step, Trace};
use remote::Machine;

const TRIPLE: &str = "aarch64-unknown-linux-gnu";
const QEMU: [&str; 3] = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"];
const LINKER: &str = "aarch64-linux-gnu-gcc";

/// Programs of all kinds: races, deadlocks, choices, assertions, crashes, misuses, files and sockets, C++ and OpenMP.
const PROGRAMS: [(&str, &[&str]); 12] = [
    ("search/accept_order.c", &[]),
    ("search/figure1.c", &[]),
    ("search/pipe_order.c", &[]),
    ("search/polling.c", &[]),
    ("failures/assertion.c", &[]),
    ("failures/choose_deadlock.c", &[]),
    ("failures/crash_in_libc.c", &[]),
    ("failures/lost_wakeup.c", &[]),
    ("failures/philosophers.c", &[]),
    ("failures/uncaught_exception.cpp", &[]),
    ("misuse/destroy_held.c", &[]),
    ("openmp/single.c", &["-fopenmp"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn starts(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Whether Rust can compile for the target.
fn has_library() -> bool {
    let libraries = Command::new("rustc").args(["--print", "target-libdir", "--target", TRIPLE]).output();
    libraries.is_ok_and(|out| Path::new(String::from_utf8_lossy(&out.stdout).trim()).is_dir())
}

/// The target's executable, built for aarch64.
fn executable() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["build", "--quiet", "-p", "raceproof-target", "--target", TRIPLE])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(root())
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER)
        .stderr(Stdio::inherit());
    // What is meant for this test's own build.
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS", "RUSTC_WRAPPER"] {
        command.env_remove(variable);
    }
    let built = command.output().expect("cargo starts");
    assert!(built.status.success(), "the target does not build for aarch64");
    cargo_metadata::Message::parse_stream(&built.stdout[..])
        .filter_map(|message| match message.expect("a message of cargo") {
            cargo_metadata::Message::CompilerArtifact(artifact) => artifact.executable,
            _ => None,
        })
        .last()
        .expect("an executable")
        .into()
}

/// An aarch64 target.
fn target() -> TargetProcess {
    assert!(has_library(), "Rust has no library for {TRIPLE}: run `scripts/setup --tests`");
    for tool in [QEMU[0], LINKER] {
        assert!(starts(tool), "{tool} is missing: run `scripts/setup --tests`");
    }
    let mut command = Command::new(QEMU[0]);
    let runner = format!("{} -0 {{name}}", QEMU.join(" "));
    command.args(&QEMU[1..]).arg(executable()).args(["--listen", "127.0.0.1:0", "--runner", &runner]);
    TargetProcess::of(command)
}

/// Executions as text, with how often each was made. Addresses differ between machines: each stands as the number of other
/// addresses that came before it in its execution. Numbers of sites may differ, because the library's headers do; lines do
/// not.
struct Executions<'b> {
    built: &'b Built,
    made: BTreeMap<String, usize>,
}

impl Observer for Executions<'_> {
    fn trace(&mut self, trace: &Trace, _from: Step) {
        let execution = self.canonical(trace);
        *self.made.entry(execution).or_default() += 1;
    }
}

impl Executions<'_> {
    fn canonical(&self, trace: &Trace) -> String {
        let text = format!("{trace:#?}");
        let mut addresses = BTreeMap::new();
        let mut canonical = String::new();
        for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
            let (word, end) = word.split_at(word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len());
            let site = word.strip_prefix('s').and_then(|number| number.parse().ok()).map(SiteId);
            if word.starts_with("0x") {
                let next = addresses.len();
                canonical.push_str(&format!("@{}", addresses.entry(word).or_insert(next)));
            } else if let Some(site) = site.and_then(|site| self.built.program.sites.get(site)) {
                let place = site.location.map(|location| (location.line, location.column));
                canonical.push_str(&format!("{}:{place:?}", site.source_function));
            } else {
                canonical.push_str(word);
            }
            canonical.push_str(end);
        }
        canonical
    }
}

fn build(program: &Path, cflags: &[&str], machine: Option<&Machine>) -> Arc<Built> {
    let options = BuildOptions {
        inputs: vec![program.to_str().expect("a path").to_owned()],
        cflags: cflags.iter().map(ToString::to_string).collect(),
        machine: machine.cloned(),
        ..BuildOptions::default()
    };
    check::build(&options, &Budget::default()).unwrap_or_else(|error| panic!("{}: {error}", program.display()))
}

/// All executions of a program that the search makes to have one of each class.
fn executions(built: &Built, target: &mut exec::Target) -> BTreeMap<String, usize> {
    let mut executions = Executions { built, made: BTreeMap::new() };
    let options = explore::Options { reduction: ReductionName::Optimal, ..explore::Options::default() };
    let outcome = explore::search(target, &options, &mut executions).expect("the search ends");
    assert_eq!(outcome.coverage, Coverage::Complete);
    executions.made
}

#[test]
fn executions_and_verdicts_are_those_of_this_machine() {
    let target = target();
    let machine = Machine::find(&target.address).expect("it is there");
    assert_eq!(machine.architecture(), "aarch64");
    let folder = tempfile::tempdir().unwrap();
    let explore = |program: &Path, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        command.arg("explore").arg(program).arg("--json").args(more).current_dir(folder.path());
        let run = Run::of(command.output().unwrap());
        // Headers of the C++ library are elsewhere.
        let document = json_without_times(&run.stdout).replace("/usr/aarch64-linux-gnu/include", "/usr/include");
        (run.status, document, run.stderr)
    };
    for (name, cflags) in PROGRAMS {
        let program = root().join("tests").join(name);
        let cflags_args: Vec<String> = cflags.iter().map(|flag| format!("--cflags={flag}")).collect();
        let more: Vec<&str> = cflags_args.iter().map(String::as_str).collect();
        let here = explore(&program, &more);
        let there = explore(&program, &[&more[..], &["--target", &target.address]].concat());
        assert_eq!(here, there, "{name}");

        let config = || Config { name: Some("program".into()), ..Config::default() };
        let native = build(&program, cflags, None);
        let mut local = exec::Target::launch(&native.executable(), config()).expect("it starts");
        let cross = build(&program, cflags, Some(&machine));
        assert_ne!(native.identity.hash, cross.identity.hash, "the same executable");
        let mut remote = remote::launch(&machine, &cross.executable(), config()).expect("it starts");
        let (here, there) = (executions(&native, &mut local), executions(&cross, &mut remote));
        assert!(remote.forks() || remote.run(&Schedule::new()).is_ok_and(|trace| trace.threads.len() == 1), "{name}");
        assert_eq!(here.len(), there.len(), "{name}");
        if here != there {
            let (a, b) = here.keys().zip(there.keys()).find(|(a, b)| a != b).expect("a difference");
            let line = a.lines().zip(b.lines()).find(|(a, b)| a != b);
            panic!("{name}: the executions differ: {line:?}\n{a}\n\n{b}");
        }
        eprintln!("{name}: {} executions are the same", here.len());
    }
}

#[test]
fn connections_that_are_cut_lose_nothing() {
    let target = target();
    let folder = Folder::of(&root().join("tests/search"));
    let explore = |more: &[&str]| {
        let run = folder.raceproof(&[&["explore", "figure1.c", "--reduction", "optimal", "--json"], more].concat());
        (run.status, json_without_times(&run.stdout), run.stderr)
    };
    let here = explore(&[]);
    // While the runtime is fetched, and while the program is sent.
    let early = |n: u32| [0, 1_000_000, i64::MAX, 100_000].get(n as usize).copied().unwrap_or(i64::MAX);
    // In the search: the program is known there by then.
    let late = |n: u32| if n == 1 { i64::MAX } else { 3_000 + 1_000 * i64::from(n % 4) };
    for (proxy, least) in [(Proxy::start(&target.address, early), 2), (Proxy::start(&target.address, late), 3)] {
        assert_eq!(here, explore(&["--target", &proxy.address]));
        let cuts = proxy.cuts.load(std::sync::atomic::Ordering::SeqCst);
        assert!(cuts >= least, "{cuts} cuts, not {least}");
    }
}

#[test]
fn a_witness_replays_where_it_was_found() {
    let target = target();
    let folder = Folder::new();
    let at = ["--target", target.address.as_str()];
    let found = folder.raceproof(&[&["explore", "counter.c"], &at[..]].concat());
    assert_eq!(found.status, 1, "{}", found.stderr);
    let witness = "raceproof-witnesses/counter-P1.rpw";
    let replay = folder.raceproof(&[&["replay", witness], &at[..]].concat());
    assert_eq!((replay.status, replay.stderr.as_str()), (1, ""), "{}", replay.stdout);
    // The program of this machine is another one, with the same run.
    let here = folder.raceproof(&["replay", witness]);
    assert!(here.status == 1 && here.stderr.contains("not the one the witness was made of"), "{}", here.stderr);
    // So is bitcode for it.
    let clang = Command::new("clang-19")
        .args(["-g", "-O0", "-emit-llvm", "-c", "counter.c"])
        .current_dir(folder.path())
        .status();
    assert!(clang.is_ok_and(|status| status.success()));
    let refused = folder.raceproof(&[&["explore", "counter.bc"], &at[..]].concat());
    assert!(refused.status == 2 && refused.stderr.contains("only aarch64 Linux programs"), "{}", refused.stderr);
}
