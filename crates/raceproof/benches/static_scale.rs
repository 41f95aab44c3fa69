//! How the static engine grows with the program: time and memory of `raceproof static` on the generated programs of
//! `testkit::scale`, from 25,000 to 200,000 lines, on one core. Prints the figures, checks them against their bounds and
//! writes them with a plot to `docs/`. Give other numbers of lines as arguments to measure without writing.
#![allow(missing_docs, clippy::print_stdout, reason = "prints its figures")]

use std::fmt::Write as _;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use testkit::scale;

const LINES: [usize; 4] = [25_000, 50_000, 100_000, 200_000];
/// For the longest program.
const MOST_SECONDS: f64 = 60.0;
const MOST_MEGABYTES: f64 = 4096.0;
/// Of processor time, after which a run is ended.
const GIVE_UP_SECONDS: u64 = 300;
/// How much more than n·log n a doubling may cost.
const TOLERANCE: f64 = 1.15;

struct Figures {
    lines: usize,
    functions: usize,
    /// Processor time of everything: compiler, lowering, analysis, output.
    seconds: f64,
    /// Of the analysis alone, by the clock.
    engine: f64,
    megabytes: f64,
    pairs: usize,
    warnings: usize,
}

fn measure(lines: usize) -> Figures {
    let folder = tempfile::tempdir().expect("temporary folder");
    let source = scale::program(lines);
    std::fs::write(folder.path().join("large.c"), &source).expect("writing the program");
    let output = std::fs::File::create(folder.path().join("result.json")).expect("a file for the result");
    let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
    command.args(["static", "large.c", "--json"]).current_dir(folder.path()).stdin(Stdio::null()).stdout(output);
    // SAFETY: system calls on values of our own, allowed between fork and exec.
    unsafe { command.pre_exec(confined) };
    #[allow(clippy::zombie_processes, reason = "waited for by wait4, which tells what it used")]
    let child = command.spawn().expect("raceproof starts");
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both places are valid for writing, and the child is ours and not waited for elsewhere.
    let waited = unsafe { libc::wait4(child.id() as i32, &mut status, 0, usage.as_mut_ptr()) };
    assert!(waited > 0 && libc::WIFEXITED(status), "raceproof was ended after {GIVE_UP_SECONDS} s on {lines} lines");
    // SAFETY: an rusage is numbers only, for which zero is valid, and the call has filled it in.
    let usage = unsafe { usage.assume_init() };
    let time = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;

    let text = std::fs::read_to_string(folder.path().join("result.json")).expect("the result");
    let document: Value = serde_json::from_str(&text).expect("a document");
    let pairs = document["pairs"].as_array().expect("pairs");
    let warnings: Vec<&Value> = pairs.iter().filter(|p| p["verdict"] != "absent").collect();
    let warned = |line: u64| {
        warnings.iter().any(|p| p["accesses"].as_array().is_some_and(|a| a.iter().any(|a| a["line"] == line)))
    };
    let unlisted = document["unknowns"].as_array().is_some_and(|u| !u.is_empty());
    for (line, text) in (1..).zip(source.lines()) {
        assert!(!text.ends_with("// RACE!") || warned(line) || unlisted, "the race on line {line} is missed");
    }
    Figures {
        lines: source.lines().count(),
        functions: scale::functions(lines),
        seconds: time(usage.ru_utime) + time(usage.ru_stime),
        engine: document["engines"][0]["time_ms"].as_f64().unwrap_or(f64::NAN) / 1000.0,
        megabytes: usage.ru_maxrss as f64 / 1024.0,
        pairs: pairs.len(),
        warnings: warnings.len(),
    }
}

/// One core, and no more processor time than is of interest.
fn confined() -> std::io::Result<()> {
    let limit = libc::rlimit { rlim_cur: GIVE_UP_SECONDS, rlim_max: GIVE_UP_SECONDS };
    // SAFETY: a mask of zeros is valid, the macros write inside it, its size is given, and the limit is ours.
    let done = unsafe {
        let mut mask: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(0, &mut mask);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &mask) | libc::setrlimit(libc::RLIMIT_CPU, &limit)
    };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// The exponent of the power of n that fits best: the slope of the logarithms, by least squares.
fn exponent(figures: &[Figures], value: impl Fn(&Figures) -> f64) -> f64 {
    let points: Vec<(f64, f64)> = figures.iter().map(|f| ((f.lines as f64).ln(), value(f).ln())).collect();
    let n = points.len() as f64;
    let (sx, sy) = points.iter().fold((0.0, 0.0), |(sx, sy), (x, y)| (sx + x, sy + y));
    let (sxy, sxx) = points.iter().fold((0.0, 0.0), |(sxy, sxx), (x, y)| (sxy + x * y, sxx + x * x));
    (n * sxy - sx * sy) / (n * sxx - sx * sx)
}

fn table(figures: &[Figures]) -> String {
    let mut text = String::from(
        "| lines | functions | processor time | analysis alone | memory | pairs listed | warnings among them |\n\
         |--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for f in figures {
        let (lines, functions, seconds, engine, megabytes) = (f.lines, f.functions, f.seconds, f.engine, f.megabytes);
        let (pairs, warnings) = (f.pairs, f.warnings);
        writeln!(
            text,
            "| {lines} | {functions} | {seconds:.1} s | {engine:.1} s | {megabytes:.0} MB | {pairs} | {warnings} |"
        )
        .expect("writing to a string");
    }
    text
}

/// Processor time over lines, with n·log n through the first point for comparison.
fn plot(figures: &[Figures]) -> String {
    let (width, height, left, bottom) = (560.0, 340.0, 60.0, 40.0);
    let most_lines = figures.iter().map(|f| f.lines).max().unwrap_or(1) as f64;
    let reference = |lines: f64| {
        let first = &figures[0];
        let n = first.lines as f64;
        first.seconds * lines * lines.ln() / (n * n.ln())
    };
    let most = figures.iter().map(|f| f.seconds).fold(reference(most_lines), f64::max) * 1.1;
    let x = |lines: f64| left + lines / most_lines * (width - left - 20.0);
    let y = |seconds: f64| height - bottom - seconds / most * (height - bottom - 20.0);
    let path = |value: &dyn Fn(&Figures) -> f64| {
        let points = figures.iter().map(|f| format!("{:.1},{:.1}", x(f.lines as f64), y(value(f))));
        points.collect::<Vec<_>>().join(" ")
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <path d=\"M{left} 10V{0:.1}H{1:.1}\" fill=\"none\" stroke=\"black\"/>\n",
        height - bottom,
        width - 10.0
    );
    for f in figures {
        let (at, thousand) = (x(f.lines as f64), f.lines / 1000);
        let below = height - bottom + 16.0;
        writeln!(svg, "<text x=\"{at:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{thousand} k</text>")
            .expect("writing to a string");
    }
    for part in 1..=4 {
        let seconds = most / 4.0 * f64::from(part);
        writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{seconds:.1} s</text>",
            left - 6.0,
            y(seconds) + 4.0
        )
        .expect("writing to a string");
    }
    let (measured, bound) = (path(&|f| f.seconds), path(&|f| reference(f.lines as f64)));
    write!(
        svg,
        "<polyline points=\"{bound}\" fill=\"none\" stroke=\"grey\" stroke-dasharray=\"5 4\"/>\n\
         <polyline points=\"{measured}\" fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"2\"/>\n\
         <text x=\"{0:.1}\" y=\"30\" fill=\"#1f5fa8\">processor time of raceproof static</text>\n\
         <text x=\"{0:.1}\" y=\"46\" fill=\"grey\">n log n through the first point</text>\n\
         <text x=\"{1:.1}\" y=\"{2:.1}\" text-anchor=\"middle\">lines of the program</text>\n</svg>\n",
        left + 14.0,
        (width + left) / 2.0,
        height - 6.0
    )
    .expect("writing to a string");
    svg
}

fn main() {
    let asked: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let lines = if asked.is_empty() { LINES.to_vec() } else { asked.clone() };
    let mut figures = Vec::new();
    for lines in lines {
        let f = measure(lines);
        println!("{} lines: {:.1} s, analysis {:.1} s, {:.0} MB", f.lines, f.seconds, f.engine, f.megabytes);
        figures.push(f);
    }
    let (table, exponent) = (table(&figures), exponent(&figures, |f| f.seconds));
    println!("\n{table}\ntime grows as n^{exponent:.2}");
    if !asked.is_empty() {
        return;
    }
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let text = format!(
        "# How the static engine grows\n\nWritten by `cargo bench -p raceproof --bench static_scale`. The programs are \
         those of `testkit::scale`: a server with a pool\nof workers, locks behind pointers, wrappers around them, lists \
         of nodes with a lock each, chains of calls through ten\nmodules. Processor time is that of the whole command on \
         one core: compiler, lowering, analysis and output.\n\n{table}\nTime grows as n^{exponent:.2} (least squares of \
         the logarithms).\n\n![time over lines](static-scale.svg)\n"
    );
    std::fs::write(docs.join("static-scale.svg"), plot(&figures)).expect("writing the plot");
    std::fs::write(docs.join("static-scale.md"), text).expect("writing the figures");
    for pair in figures.windows(2) {
        let [a, b] = pair else { continue };
        let (n, m) = (a.lines as f64, b.lines as f64);
        let bound = m * m.ln() / (n * n.ln()) * TOLERANCE;
        assert!(b.seconds <= bound * a.seconds, "from {n} to {m} lines time grows more than n log n");
    }
    let last = figures.last().expect("figures");
    assert!(last.seconds < MOST_SECONDS && last.megabytes < MOST_MEGABYTES, "too slow or too large");
}
