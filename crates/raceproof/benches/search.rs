//! What searches cost: executions per second where the search is really exponential, what a second process brings, one long
//! execution, and a program that a lockset argument settles. Everything runs on one processor but for what is compared
//! with `-j 2`; the figures are of processor time, host and program together, so that a busy machine disturbs them little.
#![allow(missing_docs, clippy::print_stdout, reason = "prints its figures")]

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// A search and what it took.
struct Search {
    executions: u64,
    events: u64,
    /// By the clock, without building the program.
    seconds: f64,
    /// Processor time of the host and the program, the build included.
    processor: f64,
    /// Largest resident set of any process.
    megabytes: f64,
}

/// Runs `raceproof explore` on a program of `tests/search`, on the first processors.
fn explore(program: &str, args: &[&str], processors: usize) -> Search {
    let folder = tempfile::tempdir().expect("temporary folder");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/search").join(program);
    let result = folder.path().join("result.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
    command.arg("explore").arg(program).args(args).args(["--max-steps", "1000000", "--json"]);
    command.current_dir(folder.path()).stdin(Stdio::null()).stderr(Stdio::null());
    command.stdout(std::fs::File::create(&result).expect("a file for the result"));
    // SAFETY: one system call on a value of our own, allowed between fork and exec.
    unsafe { command.pre_exec(move || confined_to(processors)) };
    #[allow(clippy::zombie_processes, reason = "waited for by wait4, which tells what it used")]
    let child = command.spawn().expect("raceproof starts");
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both places are valid for writing, and the child is ours and not waited for elsewhere.
    let waited = unsafe { libc::wait4(child.id() as i32, &mut status, 0, usage.as_mut_ptr()) };
    assert!(waited > 0 && libc::WIFEXITED(status), "raceproof was ended by a signal");
    // SAFETY: an rusage is numbers only, for which zero is valid, and the call has filled it in.
    let usage = unsafe { usage.assume_init() };
    let time = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    let text = std::fs::read_to_string(&result).expect("the result");
    let document: Value = serde_json::from_str(&text).expect("a document");
    let engine = &document["engines"][0];
    let number = |key: &str| engine[key].as_u64().unwrap_or_default();
    Search {
        executions: number("executions"),
        events: number("transitions"),
        seconds: number("time_ms") as f64 / 1e3,
        processor: time(usage.ru_utime) + time(usage.ru_stime),
        megabytes: usage.ru_maxrss as f64 / 1024.0,
    }
}

/// Lets the process run on the first processors only.
fn confined_to(processors: usize) -> std::io::Result<()> {
    // SAFETY: a set of processors is bits only, and the call reads it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        (0..processors).for_each(|processor| libc::CPU_SET(processor, &mut set));
        match libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }
}

/// Executions per second of processor time; what building the program takes is left out.
fn rate(name: &str, program: &str, classes: u64) {
    const OPTIMAL: [&str; 2] = ["--reduction", "optimal"];
    let build = explore(program, &[OPTIMAL[0], OPTIMAL[1], "--max-executions", "1"], 1);
    let search = explore(program, &OPTIMAL, 1);
    assert_eq!(search.executions, classes, "{program}");
    let processor = search.processor - build.processor;
    println!(
        "{name}: {} executions, {:.0} per second of one processor ({:.1} us each), {:.0} per second by the clock; \
         {:.0} MB, {:.0} MB after one execution",
        search.executions,
        search.executions as f64 / processor,
        processor * 1e6 / search.executions as f64,
        search.executions as f64 / search.seconds,
        search.megabytes,
        build.megabytes,
    );
}

/// What a second process brings by the clock, both with two processors to run on: the median of interleaved rounds.
fn second_process(name: &str, program: &str, cflags: &str) {
    let mut rounds: Vec<[Search; 2]> = Vec::new();
    for _ in 0..3 {
        rounds.push(["1", "2"].map(|jobs| explore(program, &[cflags, "--reduction", "optimal", "-j", jobs], 2)));
    }
    assert!(rounds.iter().all(|[one, two]| one.executions == two.executions), "{program}");
    rounds.sort_by(|[a, b], [c, d]| (a.seconds / b.seconds).total_cmp(&(c.seconds / d.seconds)));
    let ratios: Vec<String> = rounds.iter().map(|[one, two]| format!("{:.2}", one.seconds / two.seconds)).collect();
    let [one, two] = &rounds[rounds.len() / 2];
    println!(
        "{name}: {} executions, -j 2 is {} times as fast as -j 1 by the clock ({:.1} s, {:.1} s), {:.2} times the processor \
         time, {:.0} MB",
        one.executions,
        ratios.join(", "),
        one.seconds,
        two.seconds,
        two.processor / one.processor,
        two.megabytes,
    );
}

fn main() {
    rate("15 readers and a writer", "readers.c", 1 << 15);
    rate("a reader and 15 writers, lastzero", "lastzero.c", 147_456);

    second_process("3 threads draw 5 tickets each", "tickets.c", "--cflags=-DN=3 -DK=5");
    second_process("the same, with some work for each ticket", "tickets.c", "--cflags=-DN=3 -DK=5 -DWORK=10000");
    second_process("a reader and 16 writers, lastzero", "lastzero.c", "--cflags=-DN=16");

    for each in [3_125, 6_250, 12_500] {
        let cflags = format!("--cflags=-DM={each}");
        let search = explore("locked.c", &[&cflags, "--reduction", "best"], 1);
        assert_eq!(search.executions, 1);
        println!(
            "one execution of {} events: {:.0} ms, {:.2} us per event",
            search.events,
            search.seconds * 1e3,
            search.seconds * 1e6 / search.events as f64
        );
    }

    let increments = explore("locked.c", &["--reduction", "best"], 1);
    println!(
        "2 threads, 10 locked increments each: {} execution, {:.0} ms",
        increments.executions,
        increments.seconds * 1e3
    );
    let threads = explore("locked.c", &["--cflags=-DN=64", "--reduction", "best"], 1);
    println!(
        "64 threads, 10 locked increments each: {} execution, {:.0} ms",
        threads.executions,
        threads.seconds * 1e3
    );
}
