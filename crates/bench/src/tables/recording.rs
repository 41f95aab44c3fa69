//! The cost of recording: the same programs plain, with ThreadSanitizer and recorded, in turns.
//!
//! A separate process, `bench-recorder`, calls the recorder, since the command would build the program each time. The
//! measure is processor time of the program and its recorder, which excludes other work on the machine; wall-clock time
//! is listed beside it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Rows, lbzip2};
use crate::Failure;
use crate::environment::{Environment, FOUND};
use crate::page::Page;
use crate::process::Usage;
use crate::statistics::Sample;

const FOLDER: &str = "bench/programs/recording";
const OWN: [&str; 3] = ["memory", "queue", "settled"];
/// Time limit of a run.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// A program built in three ways.
pub(super) struct Subject {
    pub(super) name: String,
    pub(super) native: PathBuf,
    pub(super) sanitized: PathBuf,
    /// The recorder's input: a source, or a program with embedded bitcode.
    pub(super) input: PathBuf,
    pub(super) args: Vec<String>,
}

/// Seconds of processor time and by the clock, round by round.
#[derive(Default, Serialize, Deserialize)]
struct Costs {
    processor: Sample,
    clock: Sample,
}

impl Costs {
    fn push(&mut self, (processor, clock): (f64, f64)) {
        self.processor.0.push(processor);
        self.clock.0.push(clock);
    }
}

#[derive(Serialize, Deserialize)]
struct Row {
    name: String,
    /// Also accesses that the static engine shows to be harmless.
    every_access: bool,
    native: Costs,
    sanitized: Costs,
    recorded: Costs,
    /// Of the recording.
    bytes: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Recording {
    rows: Vec<Row>,
    /// Why lbzip2 is not among them.
    missing: Option<String>,
}

impl Rows for Recording {
    const NAME: &'static str = "recording";
    const TITLE: &'static str = "What recording a run costs";

    fn measure(environment: &Environment) -> Result<Self, Failure> {
        let mut rows = Vec::new();
        for name in OWN {
            let folder = environment.scratch_folder()?;
            rows.extend(measured(environment, &own(environment, name, folder.path())?, folder.path())?);
        }
        let folder = environment.scratch_folder()?;
        let lbzip2 = match environment.quick {
            true => Err("it takes a while to build".into()),
            false => lbzip2::subject(environment, folder.path()),
        };
        let missing = match lbzip2 {
            Ok(subject) => {
                rows.extend(measured(environment, &subject, folder.path())?);
                None
            }
            // Its sources may be unavailable.
            Err(why) => Some(why.to_string()),
        };
        Ok(Self { rows, missing })
    }

    fn write(&self, page: &mut Page) -> Result<(), Failure> {
        page.say(format!(
            "A loop over memory, a queue with a lock and two condition variables, work that the static engine settles \
             ([sources](../{FOLDER})), and lbzip2 compressing text with two threads: each built plain (`clang-19 -O2`), with \
             ThreadSanitizer and for `raceproof record`, run in turns. *Every access* is with `--every-access`, otherwise \
             what the static engine shows to be harmless is left out. Figures are ratios, round by round, of processor time \
             of the program and its recorder; the last but one is wall-clock time. ThreadSanitizer looks for races \
             while it runs, and the recorder does not: `raceproof predict` does that afterwards.",
        ));
        let head = [
            "program",
            "recorded ÷ ThreadSanitizer",
            "recorded ÷ plain",
            "ThreadSanitizer ÷ plain",
            "recorded ÷ ThreadSanitizer, clock",
            "recording, MB",
        ];
        page.table(
            &head,
            self.rows.iter().map(|row| {
                vec![
                    row.label(),
                    row.recorded.processor.per(&row.sanitized.processor).to_string(),
                    row.recorded.processor.per(&row.native.processor).to_string(),
                    row.sanitized.processor.per(&row.native.processor).to_string(),
                    row.recorded.clock.per(&row.sanitized.clock).to_string(),
                    format!("{:.1}", row.bytes as f64 / 1e6),
                ]
            }),
        );
        if let Some(why) = &self.missing {
            page.say(format!("Without lbzip2: {}", why.lines().next().unwrap_or_default()));
        }
        let ratio = |row: &Row| row.recorded.processor.per(&row.sanitized.processor).median();
        let slower: Vec<String> = self.rows.iter().filter(|row| ratio(row) > 1.0).map(Row::label).collect();
        if !slower.is_empty() {
            page.defeat(format!(
                "ThreadSanitizer takes less processor time than the recorder on {}: it writes no recording.",
                slower.join(", ")
            ));
        }
        Ok(())
    }
}

impl Row {
    fn label(&self) -> String {
        format!("{}{}", self.name, if self.every_access { ", every access" } else { "" })
    }
}

fn measured(environment: &Environment, subject: &Subject, folder: &Path) -> Result<Vec<Row>, Failure> {
    let trace = folder.join("trace.rpt");
    let args: Vec<&str> = subject.args.iter().map(String::as_str).collect();
    let run = |program: &Path| {
        let usage = environment.tool(program, &args, TIME_LIMIT)?;
        match usage.status {
            Some(0 | FOUND) => Ok(seconds(usage)),
            status => Err::<_, Failure>(format!("{} ended with {status:?}", subject.name).into()),
        }
    };
    let mut rows = Vec::new();
    for every_access in [true, false] {
        let mut recorder = Recorder::new(environment, subject, every_access, &trace)?;
        let [mut native, mut sanitized, mut recorded] = [(); 3].map(|()| Costs::default());
        for _ in 0..environment.either(1, 7) {
            native.push(run(&subject.native)?);
            sanitized.push(run(&subject.sanitized)?);
            recorded.push(recorder.record()?);
        }
        let (name, bytes) = (subject.name.clone(), std::fs::metadata(&trace)?.len());
        rows.push(Row { name, every_access, native, sanitized, recorded, bytes });
    }
    Ok(rows)
}

fn seconds(usage: Usage) -> (f64, f64) {
    (usage.processor, usage.clock)
}

/// A process that records a program on request.
struct Recorder {
    process: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl Recorder {
    fn new(environment: &Environment, subject: &Subject, every_access: bool, trace: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(environment.command().with_file_name("bench-recorder"));
        command.args(every_access.then_some("--every-access")).arg(trace).arg(&subject.input);
        command.arg("--").args(&subject.args).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("bench-recorder: {error}"))?;
        let (requests, replies) = (process.stdin.take().ok_or("no input")?, process.stdout.take().ok_or("no output")?);
        Ok(Self { process, requests, replies: BufReader::new(replies) })
    }

    /// Records once: seconds of processor time and by the clock.
    fn record(&mut self) -> Result<(f64, f64), Failure> {
        writeln!(self.requests)?;
        let mut line = String::new();
        self.replies.read_line(&mut line)?;
        let (processor, clock) = line.trim().split_once(' ').ok_or("the recorder ended early")?;
        Ok((processor.parse()?, clock.parse()?))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // It has no state to lose and may be waiting for input.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A program of one file.
fn own(environment: &Environment, name: &str, folder: &Path) -> Result<Subject, Failure> {
    let source = format!("{FOLDER}/{name}.c");
    let (native, sanitized) = (folder.join("native"), folder.join("sanitized"));
    environment.compiled(&source, &["-O2"], &native)?;
    environment.compiled(&source, &["-O2", "-g", "-fsanitize=thread"], &sanitized)?;
    Ok(Subject { name: format!("`{name}`"), native, sanitized, input: environment.path(&source), args: Vec::new() })
}
