//! What recording costs: the same programs plain, with ThreadSanitizer and recorded, in turns, so that a busy machine is
//! busy for all three. Figures are medians of the ratios of rounds, with the smallest and the largest.
//!
//! Sources of `pigz` are used too if a folder with them is named by `RACEPROOF_BENCH_PIGZ`; `scripts/bench-sources`
//! fetches them.
#![allow(missing_docs, clippy::print_stdout, reason = "prints its figures")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use check::{BuildOptions, RecordOptions, build, prepare_recorder};

const ROUNDS: usize = 7;

struct Subject {
    name: &'static str,
    sources: Vec<PathBuf>,
    flags: Vec<String>,
    args: Vec<String>,
    stdin: Option<PathBuf>,
}

fn seconds(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

/// Compiles with clang and these flags.
fn compile(subject: &Subject, flags: &[&str], to: &Path) {
    let status =
        Command::new("clang-19").args(flags).args(&subject.sources).args(&subject.flags).arg("-o").arg(to).status();
    assert!(status.is_ok_and(|status| status.success()), "clang-19 cannot compile {}", subject.name);
}

fn run(program: &Path, subject: &Subject) {
    let input = match &subject.stdin {
        Some(file) => std::fs::File::open(file).expect("the input is there").into(),
        None => Stdio::null(),
    };
    let mut command = Command::new(program);
    command.args(&subject.args).stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("TSAN_OPTIONS", "exitcode=0");
    assert!(command.status().is_ok(), "{} does not run", subject.name);
}

fn spread(mut ratios: Vec<f64>) -> String {
    ratios.sort_by(f64::total_cmp);
    format!("{:.2} ({:.2} to {:.2})", ratios[ratios.len() / 2], ratios[0], ratios[ratios.len() - 1])
}

fn measure(subject: &Subject) {
    let folder = tempfile::tempdir().expect("a folder for programs");
    let [native, sanitized, trace] = ["native", "sanitized", "trace.rpt"].map(|name| folder.path().join(name));
    compile(subject, &["-O2", "-pthread"], &native);
    compile(subject, &["-O2", "-g", "-pthread", "-fsanitize=thread"], &sanitized);
    let built = build(&BuildOptions {
        inputs: subject.sources.iter().map(|source| source.display().to_string()).collect(),
        cflags: subject.flags.clone(),
        args: subject.args.clone(),
        stdin: subject.stdin.as_ref().map(|file| file.display().to_string()),
        ..BuildOptions::default()
    })
    .unwrap_or_else(|error| panic!("{}: {error}", subject.name));
    for (what, every_access) in [("every access", true), ("without settled accesses", false)] {
        let options = RecordOptions { every_access, max_trace: 4 << 30, ..RecordOptions::default() };
        let recorder = prepare_recorder(&built, &options).unwrap_or_else(|error| panic!("{error}"));
        let (mut to_native, mut to_sanitized, mut plain) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let bare = seconds(|| run(&native, subject));
            let checked = seconds(|| run(&sanitized, subject));
            let recorded = seconds(|| recorder.run(&trace).unwrap_or_else(|error| panic!("{error}")));
            to_native.push(recorded / bare);
            to_sanitized.push(recorded / checked);
            plain.push(checked / bare);
        }
        let bytes = std::fs::metadata(&trace).map_or(0, |file| file.len());
        println!(
            "{:8} {what}: recorded {} of native, {} of ThreadSanitizer, which is {} of native; {bytes} bytes",
            subject.name,
            spread(to_native),
            spread(to_sanitized),
            spread(plain)
        );
    }
}

/// `pigz` compressing its own bench input, if its sources are there.
fn pigz(folder: &Path) -> Option<Subject> {
    let sources = PathBuf::from(std::env::var_os("RACEPROOF_BENCH_PIGZ")?);
    let input = folder.join("input");
    let text: String = (0..400_000).map(|i| format!("line {} of {}\n", i * 7919 % 65_537, i % 977)).collect();
    std::fs::write(&input, text).ok()?;
    let names = ["pigz.c", "yarn.c", "try.c"];
    let flags = ["-lz", "-lm", "-DNOZOPFLI"].map(str::to_owned).to_vec();
    let args = ["-p", "2", "-c"].map(str::to_owned).to_vec();
    let sources = names.map(|name| sources.join(name)).to_vec();
    Some(Subject { name: "pigz", sources, flags, args, stdin: Some(input) })
}

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/recording");
    let own = |name, file: &str| Subject {
        name,
        sources: vec![folder.join(file)],
        flags: Vec::new(),
        args: Vec::new(),
        stdin: None,
    };
    for subject in [own("memory", "memory.c"), own("queue", "queue.c"), own("settled", "settled.c")] {
        measure(&subject);
    }
    let inputs = tempfile::tempdir().expect("a folder for inputs");
    if let Some(subject) = pigz(inputs.path()) {
        measure(&subject);
    }
}
