//! Searches with several reductions, in turns, for the tables of papers 000 and 003.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::environment::Environment;
use crate::statistics::{Figure, Sample};

/// Counts of a search, and its times over the rounds.
#[derive(Serialize, Deserialize)]
pub(super) struct Search {
    pub(super) executions: u64,
    pub(super) transitions: u64,
    pub(super) checks: u64,
    pub(super) yes: u64,
    pub(super) skipped: u64,
    pub(super) races: usize,
    /// Whether it finished within the time limit.
    pub(super) is_complete: bool,
    /// Wall-clock time, without building the program.
    pub(super) seconds: Sample,
    pub(super) megabytes: f64,
    pub(super) command: String,
}

impl Search {
    /// A count, marked if the search was stopped.
    pub(super) fn count(&self, count: u64) -> String {
        let more = if self.is_complete { "" } else { "> " };
        format!("{more}{count}")
    }

    pub(super) fn time(&self) -> String {
        let more = if self.is_complete { "" } else { "> " };
        format!("{more}{}", Figure(self.seconds.median()))
    }
}

/// How many times as long one search takes as another, if both finished.
pub(super) fn ratio(slow: &Search, fast: &Search) -> String {
    if slow.is_complete && fast.is_complete { slow.seconds.per(&fast.seconds).to_string() } else { String::new() }
}

/// By reduction.
pub(super) type Searches = BTreeMap<String, Search>;

/// Explores a program with each reduction, in several rounds. A search that hits its limit is not repeated.
pub(super) fn searches(
    environment: &Environment,
    program: &str,
    cflags: &str,
    reductions: &[&str],
) -> Result<Searches, Failure> {
    let (rounds, limit) = (environment.either(3, 5), environment.either("1", "40"));
    let cflags = format!("--cflags={cflags}");
    let mut searches = Searches::new();
    for _ in 0..rounds {
        for &reduction in reductions {
            if searches.get(reduction).is_some_and(|search| !search.is_complete) {
                continue;
            }
            let args = [&cflags, "--reduction", reduction, "--time", limit];
            let answer = environment.raceproof("explore", program, &args, Some(1))?;
            let search = searches.entry(reduction.to_owned()).or_insert_with(|| Search {
                executions: answer.number("executions"),
                transitions: answer.number("transitions"),
                checks: answer.number("race_free_checks"),
                yes: answer.number("race_free_yes"),
                skipped: answer.number("skipped_backtracks"),
                races: answer.pairs("race"),
                is_complete: answer.document["engines"][0]["coverage"] == "complete",
                seconds: Sample::default(),
                megabytes: answer.usage.megabytes,
                command: answer.command.clone(),
            });
            // Times below a millisecond count as one.
            search.seconds.0.push(answer.number("time_ms").max(1) as f64 / 1e3);
        }
    }
    Ok(searches)
}
