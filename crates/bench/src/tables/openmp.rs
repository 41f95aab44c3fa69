//! Kernels with OpenMP: what `check` says in ten seconds, beside ThreadSanitizer with its tool for OpenMP; and how many
//! executions the search needs for more chunks, barriers, reductions and ordered parts.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Rows;
use crate::Failure;
use crate::environment::{Environment, FOUND};
use crate::page::Page;
use crate::process::{Limits, run};
use crate::statistics::Figure;

const FOLDER: &str = "tests/openmp_kernels";
const GROWING: &str = "bench/programs/openmp";

/// What grows, and the sizes.
const PROGRAMS: [&str; 4] = ["chunks", "barriers", "reductions", "ordered"];
const SIZES: [u32; 4] = [4, 8, 16, 32];

/// ThreadSanitizer's tool for OpenMP, which Debian's `libomp-19-dev` has; and where, if it is not found otherwise.
const ARCHER: &str = "libarcher.so";
const LIBRARIES: &str = "/usr/lib/llvm-19/lib";
/// What that says when it is asked to say something.
const GREETING: &str = "Archer detected OpenMP application with TSan";

/// Time for each kernel.
const SECONDS: u64 = 10;

/// What a tool says of a program.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Said {
    Race,
    NoRace,
    Nothing,
}

/// A kernel as it is, or racy.
#[derive(Serialize, Deserialize)]
struct Row {
    name: String,
    racy: bool,
    ours: Said,
    /// Whether what is absent is so for any input and any number of threads.
    proved: bool,
    seconds: f64,
    sanitizer: Said,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Kernels {
    rows: Vec<Row>,
    /// By program, then by size: executions of the search.
    executions: Vec<Vec<u64>>,
}

impl Rows for Kernels {
    const NAME: &'static str = "openmp";
    const TITLE: &'static str = "OpenMP beside ThreadSanitizer";

    fn measure(environment: &Environment) -> Result<Self, Failure> {
        check_tool(environment)?;
        let files = std::fs::read_dir(environment.path(FOLDER))?;
        let names = files.filter_map(|file| file.ok()?.file_name().to_str().map(str::to_owned));
        let mut names: Vec<String> = names.collect();
        names.sort();
        let names = names.into_iter().step_by(environment.either(5, 1));
        let mut rows = Vec::new();
        for name in names {
            for racy in [false, true] {
                rows.push(row(environment, &name, racy)?);
            }
        }
        let grown = |program: &&str| {
            let of = |size: &u32| executions(environment, program, *size);
            SIZES.iter().map(of).collect::<Result<Vec<u64>, Failure>>()
        };
        Ok(Self { rows, executions: PROGRAMS.iter().map(grown).collect::<Result<_, _>>()? })
    }

    fn write(&self, page: &mut Page) -> Result<(), Failure> {
        page.say(format!(
            "{} kernels in [`{FOLDER}`](../{FOLDER}), half of them racy by a small change of the other half. `raceproof check \
             --time {SECONDS}` has {SECONDS} seconds for each, its compilation included; ThreadSanitizer with libomp and its \
             tool for OpenMP (Archer) observes one run with five threads.",
            self.rows.len()
        ));
        let count = |racy: bool, is: &dyn Fn(&Row) -> bool| {
            self.rows.iter().filter(|row| row.racy == racy && is(row)).count().to_string()
        };
        let line = |name: &str, said: &dyn Fn(&Row) -> Said, proved: String| {
            vec![
                name.to_owned(),
                count(true, &|row| said(row) == Said::Race),
                count(true, &|row| said(row) == Said::NoRace),
                count(false, &|row| said(row) == Said::NoRace),
                proved,
                count(false, &|row| said(row) == Said::Race),
                self.rows.iter().filter(|row| said(row) == Said::Nothing).count().to_string(),
            ]
        };
        let proved = count(false, &|row| row.ours == Said::NoRace && row.proved);
        page.table(
            &[
                "tool",
                "races found",
                "missed",
                "race-free",
                "of them for any input and number of threads",
                "false races",
                "no answer",
            ],
            [line("raceproof", &|row| row.ours, proved), line("ThreadSanitizer", &|row| row.sanitizer, "0".to_owned())],
        );
        let longest = self.rows.iter().map(|row| row.seconds).fold(0.0, f64::max);
        let open = self.rows.iter().filter(|row| row.ours == Said::Nothing);
        let open: Vec<String> =
            open.map(|row| format!("`{}`{}", row.name, if row.racy { " (racy)" } else { "" })).collect();
        page.say(format!(
            "The longest check took {} seconds. Without an answer: {}.",
            Figure(longest),
            if open.is_empty() { "none".to_owned() } else { open.join(", ") }
        ));
        let only = self.rows.iter().filter(|row| row.racy && row.ours != Said::Race && row.sanitizer == Said::Race);
        let only: Vec<String> = only.map(|row| format!("`{}`", row.name)).collect();
        if !only.is_empty() {
            page.defeat(format!("ThreadSanitizer sees the race of {}, and raceproof does not.", only.join(", ")));
        }
        page.say(format!(
            "Executions of `raceproof check` with two threads, by the number K of chunks, barriers, reductions and ordered parts \
             ([`{GROWING}`](../{GROWING}))."
        ));
        let sizes = SIZES.map(|size| format!("K = {size}"));
        let head: Vec<&str> = ["program"].into_iter().chain(sizes.iter().map(String::as_str)).collect();
        page.table(
            &head,
            PROGRAMS.iter().zip(&self.executions).map(|(program, executions)| {
                let cells = executions.iter().map(u64::to_string);
                [format!("[`{program}`](../{GROWING}/{program}.c)")].into_iter().chain(cells).collect()
            }),
        );
        Ok(())
    }
}

fn row(environment: &Environment, name: &str, racy: bool) -> Result<Row, Failure> {
    let source = format!("{FOLDER}/{name}");
    let define = if racy { "-DRACY" } else { "-DRIGHT" };
    let (time, cflags) = (format!("--time={SECONDS}"), format!("--cflags=-fopenmp {define}"));
    let answer = environment.raceproof("check", &source, &[&time, &cflags], None)?;
    let scope = &answer.document["scope"];
    Ok(Row {
        name: name.to_owned(),
        racy,
        ours: match answer.document["verdict"].as_str() {
            Some("race") => Said::Race,
            Some("safe") => Said::NoRace,
            _ => Said::Nothing,
        },
        proved: scope["inputs"] == "all" && scope["threads"] == "any",
        seconds: answer.usage.clock,
        sanitizer: sanitizer(environment, &source, define)?,
    })
}

/// A kernel with ThreadSanitizer and its tool for OpenMP, ready to run.
fn instrumented(environment: &Environment, source: &str, define: &str, binary: &Path) -> Result<Command, Failure> {
    environment.compiled(source, &["-g", "-fsanitize=thread", "-fopenmp", "-w", define], binary)?;
    let mut folders = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    folders.push(":");
    folders.push(LIBRARIES);
    let mut command = Command::new(binary);
    command.stdout(Stdio::null()).stderr(Stdio::null()).env("LD_LIBRARY_PATH", folders);
    command.env("OMP_NUM_THREADS", "5").env("OMP_TOOL_LIBRARIES", ARCHER);
    command.env("TSAN_OPTIONS", format!("exitcode={FOUND} ignore_noninstrumented_modules=1"));
    Ok(command)
}

/// Without its tool ThreadSanitizer does not understand libomp, and a comparison would be unfair.
fn check_tool(environment: &Environment) -> Result<(), Failure> {
    let folder = environment.scratch_folder()?;
    let (binary, source) = (folder.path().join("kernel"), format!("{FOLDER}/saxpy.c"));
    let mut command = instrumented(environment, &source, "-DRIGHT", &binary)?;
    let output = command.env("ARCHER_OPTIONS", "verbose=1").stdout(Stdio::piped()).output()?;
    if String::from_utf8_lossy(&output.stdout).contains(GREETING) {
        return Ok(());
    }
    Err(format!("{ARCHER} is not found: install `libomp-19-dev` (`scripts/setup --bench`)").into())
}

/// One run with ThreadSanitizer and its tool for OpenMP.
fn sanitizer(environment: &Environment, source: &str, define: &str) -> Result<Said, Failure> {
    let folder = environment.scratch_folder()?;
    let Ok(mut command) = instrumented(environment, source, define, &folder.path().join("kernel")) else {
        return Ok(Said::Nothing);
    };
    let usage = run(&mut command, Limits { processors: None, time: Duration::from_secs(SECONDS) })?;
    Ok(match usage.status {
        Some(FOUND) => Said::Race,
        Some(_) => Said::NoRace,
        None => Said::Nothing,
    })
}

/// Executions of the search of `check` with two threads.
fn executions(environment: &Environment, program: &str, size: u32) -> Result<u64, Failure> {
    let source = format!("{GROWING}/{program}.c");
    let cflags = format!("--cflags=-fopenmp -DK={size}");
    let answer = environment.raceproof("check", &source, &[&cflags, "--threads=2", "--time=30"], None)?;
    let engines = answer.document["engines"].as_array().map_or(&[][..], Vec::as_slice);
    let explore = engines.iter().find(|engine| engine["name"] == "explore");
    Ok(explore.and_then(|engine| engine["executions"].as_u64()).unwrap_or_default())
}
