//! A line of progress on standard error, when that is a terminal and the search takes longer than a second.

use std::path::PathBuf;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use check::{AnalysisFigures, Watcher};
use explore::{Observer, Progress};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use model::{Budget, Engine};
use report::Report;

use crate::guard::SoFar;

const PATIENCE: Duration = Duration::from_secs(1);
const INTERVAL: Duration = Duration::from_millis(100);

/// Shows how far a search has come.
pub(crate) struct Line {
    bar: ProgressBar,
    start: Instant,
    next: Instant,
    budget: Budget,
    so_far: SoFar,
    /// The engine at work and the pairs it works on, in `check`.
    engine: Option<(Engine, usize)>,
    /// What the static engine did.
    analysis: Option<AnalysisFigures>,
    /// The files that the answer rests on.
    rests_on: Vec<PathBuf>,
}

impl Line {
    /// A line for work within a budget, if it is to be shown. The program is compiled first.
    pub(crate) fn new(budget: &Budget, so_far: SoFar, is_shown: bool) -> Self {
        let start = Instant::now();
        let style = ProgressStyle::with_template("{spinner} {wide_msg} [{elapsed}]");
        let bar = if is_shown { ProgressBar::no_length() } else { ProgressBar::hidden() };
        let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.set_message("compiling");
        bar.enable_steady_tick(INTERVAL);
        Self {
            bar,
            start,
            next: start + PATIENCE,
            budget: budget.clone(),
            so_far,
            engine: None,
            analysis: None,
            rests_on: Vec::new(),
        }
    }
}

impl Observer for Line {
    fn progress(&mut self, progress: &Progress) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + INTERVAL;
        let executions = progress.statistics.executions;
        let rate = executions as f64 / now.duration_since(self.start).as_secs_f64();
        let left = progress.expected.map_or_else(String::new, |expected| self.remaining(executions, expected, rate));
        let errors = match progress.failures {
            0 => String::new(),
            n => format!("{}, ", counted(n, "other error")),
        };
        // What matters comes first: the end is cut where the terminal is narrow.
        self.bar.set_message(format!(
            "{}{}, {errors}{executions} executions{left}, {rate:.0}/s, depth {}",
            self.at_work(),
            counted(progress.races, "race"),
            progress.depth,
        ));
        self.bar.tick();
    }
}

/// A number of things.
fn counted(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

impl Line {
    /// How many executions there seem to be, and how long the rest seems to take, or how long it may.
    fn remaining(&self, executions: u64, expected: u64, rate: f64) -> String {
        let rest = Duration::try_from_secs_f64(expected.saturating_sub(executions) as f64 / rate).ok();
        let limit = self.budget.remaining();
        let time = match (rest, limit) {
            (rest, Some(limit)) if rest.is_none_or(|rest| rest > limit) => {
                format!(", the limit is in {}", HumanDuration(limit))
            }
            (Some(rest), _) => format!(", about {} left", HumanDuration(rest)),
            (None, _) => String::new(),
        };
        format!(" of about {expected}{time}")
    }

    /// `explore: 12 pairs left; ` in `check`.
    fn at_work(&self) -> String {
        self.engine.map_or_else(String::new, |(engine, open)| format!("{engine}: {} left; ", counted(open, "pair")))
    }
}

impl Line {
    /// The files that the answer rests on, as far as that is known.
    pub(crate) fn rests_on(&self) -> &[PathBuf] {
        &self.rests_on
    }

    /// What the static engine did, one figure per line.
    pub(crate) fn statistics(&self) -> String {
        let Some(AnalysisFigures { phases, implied, lines, classes, class_pairs, holds, crowded, variables }) =
            &self.analysis
        else {
            return String::new();
        };
        let phases = phases.iter().map(|(name, time)| format!("{name}: {:.2} s\n", time.as_secs_f64()));
        let left = format!(
            "warnings that others imply: {implied}\npairs of lines in the rest: {lines}\n\
             classes of accesses: {classes}\npairs of classes: {} absent, {} open\nvariables with warnings: {variables}\n",
            class_pairs.absent, class_pairs.open
        );
        let holds = holds.iter().map(|(hold, pairs)| format!("open, {hold}: {pairs}\n"));
        let crowded = crowded.iter().map(|(object, pairs)| format!("open, at {object}: {pairs}\n"));
        phases.collect::<String>() + &left + &holds.chain(crowded).collect::<String>()
    }
}

impl Watcher for Line {
    fn analysed(&mut self, figures: &AnalysisFigures) {
        self.analysis = Some(figures.clone());
    }

    fn engine(&mut self, engine: Engine, open: usize) {
        self.engine = Some((engine, open));
        self.bar.set_message(self.at_work().trim_end_matches("; ").to_owned());
        // Proofs report no progress of their own.
        self.bar.enable_steady_tick(INTERVAL);
    }

    fn rests_on(&mut self, files: &[PathBuf]) {
        self.rests_on = files.to_vec();
    }

    fn so_far(&mut self, report: Report) {
        *self.so_far.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
    }

    fn found(&mut self, places: &str) {
        self.bar.println(format!("data race: {places}"));
    }

    fn settled(&mut self, open: usize, races: usize) {
        if let Some((engine, before)) = self.engine {
            let settled = before.saturating_sub(open);
            let races = counted(races, "race");
            self.bar
                .println(format!("{engine}: {settled} of {} settled, {races}, {open} left", counted(before, "pair")));
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
