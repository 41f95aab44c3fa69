//! Truly exponential searches: executions per second, the gain from a second process, and one long execution.

use serde::{Deserialize, Serialize};

use super::Rows;
use crate::Failure;
use crate::environment::{Answer, Environment};
use crate::page::Page;
use crate::statistics::{Figure, Sample};

/// A program of `tests/search` with this many classes of schedules, and its flags in a quick and a full measurement.
struct Exponential {
    says: &'static str,
    program: &'static str,
    quick: (&'static str, u64),
    full: (&'static str, u64),
}

const EXPONENTIAL: [Exponential; 2] = [
    Exponential {
        says: "readers and a writer of an atomic",
        program: "tests/search/readers.c",
        quick: ("-DN=12", 1 << 12),
        full: ("-DN=15", 1 << 15),
    },
    Exponential {
        says: "a reader and writers, lastzero",
        program: "tests/search/lastzero.c",
        quick: ("-DN=11", 7_168),
        full: ("-DN=15", 147_456),
    },
];

/// The searches measured in one process and in two.
const DIVIDED: [Exponential; 3] = [
    Exponential {
        says: "three threads draw tickets",
        program: "tests/search/tickets.c",
        quick: ("-DN=3 -DK=3", 1_680),
        full: ("-DN=3 -DK=5", 756_756),
    },
    Exponential {
        says: "the same, with 10,000 steps of work for each ticket",
        program: "tests/search/tickets.c",
        quick: ("-DN=3 -DK=3 -DWORK=10000", 1_680),
        full: ("-DN=3 -DK=5 -DWORK=10000", 756_756),
    },
    Exponential {
        says: "a reader and writers, lastzero",
        program: "tests/search/lastzero.c",
        quick: ("-DN=12", 15_360),
        full: ("-DN=16", 311_296),
    },
];

/// Wall-clock seconds in one process and in two.
type Jobs = [Sample; 2];

#[derive(Serialize, Deserialize)]
struct Rate {
    executions: u64,
    /// By the clock.
    per_second: Sample,
    /// Microseconds of processor time per execution, host and program together, without the build.
    microseconds: Sample,
    megabytes: f64,
    command: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Speed {
    rates: Vec<Rate>,
    jobs: Vec<Jobs>,
    /// Whether fewer classes were searched than in a full measurement.
    quick: bool,
}

impl Rows for Speed {
    const NAME: &'static str = "speed";
    const TITLE: &'static str = "Executions per second where the search is exponential";

    fn measure(environment: &Environment) -> Result<Self, Failure> {
        let rates = EXPONENTIAL.iter().map(|subject| rate(environment, subject)).collect::<Result<_, _>>()?;
        let jobs = DIVIDED.iter().map(|subject| jobs(environment, subject)).collect::<Result<_, _>>()?;
        Ok(Self { rates, jobs, quick: environment.quick })
    }

    fn write(&self, page: &mut Page) -> Result<(), Failure> {
        let command = self.rates.first().map_or("", |rate| &rate.command);
        page.say(format!("One execution for each class of schedules, on one processor, as by `{command}`."));
        page.table(
            &["search", "executions", "per second", "microseconds of processor time each", "MB"],
            EXPONENTIAL.iter().zip(&self.rates).map(|(subject, rate)| {
                vec![
                    subject.says.to_owned(),
                    rate.executions.to_string(),
                    rate.per_second.to_string(),
                    rate.microseconds.to_string(),
                    format!("{:.0}", rate.megabytes),
                ]
            }),
        );
        page.say("With a second process (`-j 2`) on two processors, wall-clock seconds:");
        page.table(
            &["search", "executions", "`-j 1`", "`-j 2`", "times as fast"],
            DIVIDED.iter().zip(&self.jobs).map(|(subject, [one, two])| {
                let (_, classes) = if self.quick { subject.quick } else { subject.full };
                let seconds = [one, two].map(|seconds| Figure(seconds.median()).to_string());
                let mut cells = vec![subject.says.to_owned(), classes.to_string()];
                cells.extend(seconds);
                cells.push(one.per(two).to_string());
                cells
            }),
        );
        Ok(())
    }
}

/// A search with `optimal` in this many processes.
fn optimal(
    environment: &Environment,
    subject: &Exponential,
    args: &[&str],
    processors: usize,
) -> Result<Answer, Failure> {
    let cflags = format!("--cflags={}", environment.either(subject.quick, subject.full).0);
    environment.raceproof(
        "explore",
        subject.program,
        &[&[&cflags, "--reduction", "optimal"], args].concat(),
        Some(processors),
    )
}

/// The number of executions of a search, which must be one per class.
fn counted(environment: &Environment, subject: &Exponential, search: &Answer) -> Result<u64, Failure> {
    let (executions, classes) = (search.number("executions"), environment.either(subject.quick, subject.full).1);
    match executions == classes {
        true => Ok(executions),
        false => Err(format!("`{}`: {executions} executions of {classes} classes", search.command).into()),
    }
}

fn jobs(environment: &Environment, subject: &Exponential) -> Result<Jobs, Failure> {
    let mut jobs = [Sample::default(), Sample::default()];
    for _ in 0..environment.either(1, 3) {
        for (seconds, count) in jobs.iter_mut().zip(["1", "2"]) {
            let search = optimal(environment, subject, &["-j", count], 2)?;
            counted(environment, subject, &search)?;
            seconds.0.push(search.number("time_ms").max(1) as f64 / 1e3);
        }
    }
    Ok(jobs)
}

fn rate(environment: &Environment, subject: &Exponential) -> Result<Rate, Failure> {
    let (mut per_second, mut microseconds, mut last) = (Sample::default(), Sample::default(), None);
    for _ in 0..environment.either(1, 5) {
        let build = optimal(environment, subject, &["--max-executions", "1"], 1)?;
        let search = optimal(environment, subject, &[], 1)?;
        let executions = counted(environment, subject, &search)? as f64;
        per_second.0.push(executions / (search.number("time_ms").max(1) as f64 / 1e3));
        microseconds.0.push((search.usage.processor - build.usage.processor) * 1e6 / executions);
        last = Some(search);
    }
    let search = last.ok_or("no round")?;
    let (executions, megabytes) = (search.number("executions"), search.usage.megabytes);
    Ok(Rate { executions, per_second, microseconds, megabytes, command: search.command })
}
