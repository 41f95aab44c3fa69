//! What recording costs: the same programs plain, with ThreadSanitizer and recorded, in turns. Figures are medians of the
//! ratios of rounds, with the smallest and the largest, of processor time (of the program and of whoever records it), so
//! that other work on the machine does not count; by the clock beside them.
//!
//! Checked: recording takes no more than ThreadSanitizer, and at most twice the plain program where the static engine
//! settles most accesses. Names of subjects as arguments measure these alone.
#![allow(missing_docs, clippy::print_stdout, reason = "prints its figures")]

mod lbzip2;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use check::{BuildOptions, Built, RecordOptions, build, prepare_recorder};

const ROUNDS: usize = 7;
/// Most processor time of recording, of that with ThreadSanitizer.
const MOST_OF_SANITIZED: f64 = 1.0;
/// Most processor time of recording, of the plain program's, where most accesses are settled.
const MOST_OF_NATIVE: f64 = 2.0;

/// A program built in three ways.
struct Subject {
    name: &'static str,
    native: PathBuf,
    sanitized: PathBuf,
    /// Instrumented for the search; the recorder's build is made of it.
    built: Built,
    args: Vec<String>,
    /// Whether the static engine settles most of its accesses.
    is_settled: bool,
}

/// Seconds of processor time and by the clock.
#[derive(Clone, Copy)]
struct Seconds {
    processor: f64,
    clock: f64,
}

/// The processor time of this process and of the children that it has waited for.
fn processor_time() -> f64 {
    let of = |who| {
        // Safety: fills in a struct that is all numbers.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(who, &mut usage);
            usage
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        seconds(usage.ru_utime) + seconds(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

fn seconds(run: impl FnOnce()) -> Seconds {
    let (clock, processor) = (Instant::now(), processor_time());
    run();
    Seconds { processor: processor_time() - processor, clock: clock.elapsed().as_secs_f64() }
}

fn run(program: &Path, subject: &Subject) {
    let mut command = Command::new(program);
    command.args(&subject.args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("TSAN_OPTIONS", "exitcode=0");
    assert!(command.status().is_ok_and(|status| status.success()), "{} does not run", subject.name);
}

/// Ratios of rounds.
#[derive(Default)]
struct Ratios {
    processor: Vec<f64>,
    clock: Vec<f64>,
}

impl Ratios {
    fn push(&mut self, of: Seconds, to: Seconds) {
        self.processor.push(of.processor / to.processor);
        self.clock.push(of.clock / to.clock);
    }

    /// The median of processor time, and the same in words with the extremes and the clock's.
    fn told(&mut self) -> (f64, String) {
        let median = |ratios: &mut Vec<f64>| {
            ratios.sort_by(f64::total_cmp);
            (ratios[ratios.len() / 2], ratios[0], ratios[ratios.len() - 1])
        };
        let ((middle, least, most), (clock, ..)) = (median(&mut self.processor), median(&mut self.clock));
        (middle, format!("{middle:.2} ({least:.2} to {most:.2}; clock {clock:.2})"))
    }
}

/// Prints the figures of a subject and returns the bounds that it misses.
fn measure(subject: &Subject, folder: &Path) -> Vec<String> {
    let trace = folder.join("trace.rpt");
    let mut missed = Vec::new();
    for (what, every_access) in [("every access", true), ("without settled accesses", false)] {
        let options = RecordOptions { every_access, max_trace: 4 << 30, ..RecordOptions::default() };
        let recorder = prepare_recorder(&subject.built, &options).unwrap_or_else(|error| panic!("{error}"));
        let [mut to_native, mut to_sanitized, mut plain] = [(); 3].map(|()| Ratios::default());
        for _ in 0..ROUNDS {
            let bare = seconds(|| run(&subject.native, subject));
            let checked = seconds(|| run(&subject.sanitized, subject));
            let recorded = seconds(|| recorder.run(&trace).unwrap_or_else(|error| panic!("{error}")));
            to_native.push(recorded, bare);
            to_sanitized.push(recorded, checked);
            plain.push(checked, bare);
        }
        let bytes = std::fs::metadata(&trace).map_or(0, |file| file.len());
        let ((of_native, native), (of_sanitized, sanitized)) = (to_native.told(), to_sanitized.told());
        println!("{}, {what}: {bytes} bytes", subject.name);
        println!("  recorded {native} of native");
        println!("           {sanitized} of ThreadSanitizer, which is {} of native", plain.told().1);
        let name = subject.name;
        if of_sanitized > MOST_OF_SANITIZED {
            missed.push(format!("{name}, {what}: {of_sanitized:.2} of ThreadSanitizer, at most {MOST_OF_SANITIZED}"));
        }
        if subject.is_settled && !every_access && of_native > MOST_OF_NATIVE {
            missed.push(format!("{name}, {what}: {of_native:.2} of native, at most {MOST_OF_NATIVE}"));
        }
    }
    missed
}

/// Instruments a program.
fn instrumented(input: &Path, args: &[String]) -> Built {
    let inputs = vec![input.display().to_string()];
    let options = BuildOptions { inputs, args: args.to_vec(), ..BuildOptions::default() };
    build(&options).unwrap_or_else(|error| panic!("{}: {error}", input.display()))
}

/// A program of one file beside this one.
fn own(name: &'static str, is_settled: bool, folder: &Path) -> Subject {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/recording").join(name).with_extension("c");
    let compile = |to: &str, flags: &[&str]| {
        let to = folder.join(to);
        let status = Command::new("clang-19").args(flags).arg("-pthread").arg(&source).arg("-o").arg(&to).status();
        assert!(status.is_ok_and(|status| status.success()), "clang-19 cannot compile {name}");
        to
    };
    let native = compile("native", &["-O2"]);
    let sanitized = compile("sanitized", &["-O2", "-g", "-fsanitize=thread"]);
    let (built, args) = (instrumented(&source, &[]), Vec::new());
    Subject { name, native, sanitized, built, args, is_settled }
}

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let mut missed = Vec::new();
    for (name, is_settled) in [("memory", false), ("queue", false), ("settled", true)] {
        if wanted(name) {
            let folder = tempfile::tempdir().expect("a folder for programs");
            missed.extend(measure(&own(name, is_settled, folder.path()), folder.path()));
        }
    }
    if wanted("lbzip2") {
        let folder = tempfile::tempdir().expect("a folder for programs");
        match lbzip2::subject(folder.path()) {
            Ok(subject) => missed.extend(measure(&subject, folder.path())),
            Err(why) => println!("lbzip2 is left out: {why}"),
        }
    }
    missed.iter().for_each(|bound| println!("missed: {bound}"));
    if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
