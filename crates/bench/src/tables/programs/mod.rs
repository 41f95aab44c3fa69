//! Recordings of programs from Debian's source packages beside ThreadSanitizer, each with a small load of ours.

mod load;
mod sanitizer;
mod subject;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Rows;
use crate::Failure;
use crate::environment::Environment;
use crate::page::Page;
use crate::process::{Limits, Usage, run};
use crate::statistics::{Figure, Sample};
use sanitizer::LinePair;
use subject::{PROGRAMS, Subject};

/// Time limit of a run.
const RUN_LIMIT: Duration = Duration::from_secs(180);
/// Seconds that `predict` gets.
const PREDICT_LIMIT: u32 = 60;
/// What is asked for: seconds until the program runs, seconds and megabytes of `predict`.
const GOAL: (f64, f64, f64) = (10.0, 60.0, 2000.0);
/// What is asked for in the median: megabytes of a recording for a second of the plain program.
const SIZE_GOAL: f64 = 100.0;
/// Runs of each kind, in turns.
const ROUNDS: usize = 3;

#[derive(Serialize, Deserialize)]
struct Row {
    name: String,
    version: String,
    /// Seconds until a recorded program has told its version.
    ready: f64,
    /// Processor time of each round.
    plain: Sample,
    sanitized: Sample,
    recorded: Sample,
    /// Of the last recording.
    bytes: u64,
    /// Whether it writes what the plain one writes; `None` where that contains times, or is told to clients.
    same_output: Option<bool>,
    predict: Usage,
    observed: usize,
    confirmed: usize,
    predicted: usize,
    /// Pairs of lines that ThreadSanitizer reports.
    reported: usize,
    /// Those that are races of ours, too.
    in_common: usize,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Programs {
    rows: Vec<Row>,
    /// Programs that could not be fetched or built, with why.
    missing: Vec<(String, String)>,
}

impl Rows for Programs {
    const NAME: &'static str = "programs";
    const TITLE: &'static str = "Recordings of programs from Debian";

    fn measure(environment: &Environment) -> Result<Self, Failure> {
        let (mut rows, mut missing) = (Vec::new(), Vec::new());
        let few = environment.either(2, PROGRAMS.len());
        let asked =
            |name: &str| environment.programs.is_empty() || environment.programs.iter().any(|asked| asked == name);
        for program in PROGRAMS.iter().take(few) {
            let row = match asked(program.name) {
                true => subject::built(environment, program).and_then(|subject| measured(environment, &subject)),
                false => Err("not measured".into()),
            };
            match row {
                Ok(row) => rows.push(row),
                Err(why) => missing.push((program.name.to_owned(), why.to_string())),
            }
        }
        Ok(Self { rows, missing })
    }

    fn write(&self, page: &mut Page) -> Result<(), Failure> {
        page.say(
            "Programs from Debian's source packages, built by their own build systems with clang, with ThreadSanitizer and with \
             `raceproof cc --recorder`, optimised alike, each run three times in turns with the same load: compressors with two \
             threads and a text, memcached and redis with eight clients that send 200 requests each, a benchmark of leveldb, two \
             threads that write to one database of sqlite. *Ready* is how long `raceproof record` takes until the program has told \
             its version. Ratios are of processor time, of the recorder too, round by round: the median, with the least and the \
             most. `predict` reads the last recording, with a limit of 60 seconds and everything that it builds to replay. Races are \
             pairs of lines; those of ThreadSanitizer in its last run. [Recordings](recordings.md) judges them one by one.",
        );
        let head = [
            "program",
            "ready, s",
            "recorded ÷ plain",
            "ThreadSanitizer ÷ plain",
            "recording, MB",
            "MB per plain second",
            "same output",
            "`predict`, s; MB",
            "observed",
            "confirmed",
            "predicted",
            "ThreadSanitizer",
            "also ours",
        ];
        page.table(&head, self.rows.iter().map(Row::cells));
        for (name, why) in &self.missing {
            page.say(format!("Without {name}: {}", why.lines().next().unwrap_or_default()));
        }
        let beyond = |is_beyond: fn(&Row) -> bool| {
            let names: Vec<&str> = self.rows.iter().filter(|row| is_beyond(row)).map(|row| row.name.as_str()).collect();
            if names.is_empty() { "no program".to_owned() } else { names.join(", ") }
        };
        page.say(format!(
            "More than {} seconds until the program runs: {}. More than {} seconds of `predict`: {}; more than {} MB: {}. Other \
             output than without the recorder: {}.",
            GOAL.0,
            beyond(|row| row.ready > GOAL.0),
            GOAL.1,
            beyond(|row| row.predict.clock > GOAL.1),
            GOAL.2,
            beyond(|row| row.predict.megabytes > GOAL.2),
            beyond(|row| row.same_output == Some(false)),
        ));
        let sizes = Sample(self.rows.iter().map(Row::megabytes_per_second).collect());
        page.say(format!(
            "Recordings have {} MB for a second of the plain program's processor time in the median of the programs ({SIZE_GOAL} are \
             allowed), at most {}.",
            Figure(sizes.median()),
            Figure(sizes.most()),
        ));
        let slower: Vec<&Row> =
            self.rows.iter().filter(|row| row.recorded.per(&row.sanitized).median() > 1.0).collect();
        if !slower.is_empty() {
            let names: Vec<&str> = slower.iter().map(|row| row.name.as_str()).collect();
            page.defeat(format!(
                "ThreadSanitizer takes less processor time than a recording of {}, and reports while the program runs.",
                names.join(", ")
            ));
        }
        Ok(())
    }
}

impl Row {
    fn megabytes_per_second(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.plain.median()
    }

    fn cells(&self) -> Vec<String> {
        vec![
            format!("{} {}", self.name, self.version),
            Figure(self.ready).to_string(),
            self.recorded.per(&self.plain).to_string(),
            self.sanitized.per(&self.plain).to_string(),
            format!("{:.1}", self.bytes as f64 / 1e6),
            Figure(self.megabytes_per_second()).to_string(),
            self.same_output.map_or("-", |same| if same { "yes" } else { "no" }).to_owned(),
            format!("{}; {:.0}", Figure(self.predict.clock), self.predict.megabytes),
            self.observed.to_string(),
            self.confirmed.to_string(),
            self.predicted.to_string(),
            self.reported.to_string(),
            self.in_common.to_string(),
        ]
    }
}

fn measured(environment: &Environment, subject: &Subject) -> Result<Row, Failure> {
    let folder = environment.scratch_folder()?;
    let run_as = |name: &str, command: &[&Path], first: &[&str]| {
        let output = folder.path().join(name);
        let mut process = Command::new(command[0]);
        process.args(first).args(&command[1..]).args((command.len() > 1).then_some("--"));
        load::run(&mut process, subject, &output, RUN_LIMIT).map(|usage| (usage, output))
    };
    let trace = folder.path().join("trace.rpt").display().to_string();
    let ready = until_ready(environment, subject, &format!("{trace}.version"))?;
    let [mut plain, mut sanitized, mut recorded] = [const { Sample(Vec::new()) }; 3];
    let [mut expected, mut written] = [const { None }; 2];
    for _ in 0..environment.either(1, ROUNDS) {
        let (usage, output) = run_as("plain", &[&subject.plain], &[])?;
        plain.0.push(usage.processor);
        expected = Some(output);
        sanitized.0.push(run_as("sanitized", &[&subject.sanitized], &[])?.0.processor);
        let command = [environment.command(), &subject.recorded];
        let (usage, output) = run_as("recorded", &command, &["record", "-o", trace.as_str()])?;
        recorded.0.push(usage.processor);
        written = Some(output);
    }
    let reports = sanitizer::pairs(&std::fs::read_to_string(folder.path().join("sanitized.errors"))?);
    if !Path::new(&trace).exists() {
        return Err(format!("no recording within {} s", RUN_LIMIT.as_secs()).into());
    }
    let same_output = match subject.program.compares {
        true => {
            expected.zip(written).map(|(one, other)| Ok::<_, Failure>(std::fs::read(one)? == std::fs::read(other)?))
        }
        false => None,
    };
    let same_output = same_output.transpose()?;
    let limit = PREDICT_LIMIT.to_string();
    let answer = environment.raceproof("predict", &trace, &["--time", &limit], None)?;
    let races = |shown: &str| shown_by(&answer.document, shown).count();
    let ours: BTreeSet<LinePair> =
        ["run", "recording"].iter().flat_map(|shown| shown_by(&answer.document, shown)).filter_map(lines).collect();
    Ok(Row {
        name: subject.program.name.to_owned(),
        version: subject.version.clone(),
        ready,
        plain,
        sanitized,
        recorded,
        bytes: std::fs::metadata(&trace)?.len(),
        same_output,
        predict: answer.usage,
        observed: races("recording"),
        confirmed: races("run"),
        predicted: races("prediction"),
        reported: reports.len(),
        in_common: reports.iter().filter(|pair| sanitizer::is_among(pair, &ours)).count(),
    })
}

/// Seconds until a recorded program has told its version.
fn until_ready(environment: &Environment, subject: &Subject, trace: &str) -> Result<f64, Failure> {
    let mut process = Command::new(environment.command());
    process.args(["record", "-o", trace, "--run-time", "5"]).arg(&subject.recorded).args(["--", "--version"]);
    process.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    Ok(run(&mut process, Limits { processors: None, time: RUN_LIMIT })?.clock)
}

/// The pairs of a document that were shown in this way.
fn shown_by<'d>(document: &'d Value, shown: &'d str) -> impl Iterator<Item = &'d Value> {
    document["pairs"].as_array().into_iter().flatten().filter(move |pair| pair["shown"] == shown)
}

/// The lines of a pair of our document.
fn lines(pair: &Value) -> Option<LinePair> {
    let place = |at: usize| {
        let access = &pair["accesses"][at];
        let file = Path::new(access["file"].as_str()?).file_name()?.to_string_lossy().into_owned();
        Some((file, access["line"].as_u64()?))
    };
    Some(sanitizer::sorted(place(0)?, place(1)?))
}
