//! A report for people: both accesses with their source lines, what each thread held, how to see it again.
//!
//! The text has ANSI styles; whoever prints it strips them where they are not wanted. It depends on the report and
//! the sources alone, but for the times in its last line.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use model::verdict::{Engine as EngineName, Inputs, Threads};

use crate::Code;
use crate::document::{
    Assurance, Command, Engine, ErrorKind, NetStatistics, Outputs, Pair, PairVerdict, Report, Verdict,
};
use crate::excerpt::Note;
use crate::source::Sources;

use message::{debug_help, finding_message, pair_message, replay_help, unknown_message};

mod line;
mod message;
mod of_tests;
mod variables;

pub(crate) use variables::together;

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::BrightRed.on_default().bold();
const GREEN: Style = AnsiColor::BrightGreen.on_default().bold();
const YELLOW: Style = AnsiColor::BrightYellow.on_default().bold();

/// Renders the whole report for a terminal of this width.
pub fn render(report: &Report, sources: &mut Sources, width: usize) -> String {
    let findings = match report.command {
        Command::Check | Command::Test => line::findings,
        Command::Predict => variables::findings,
        _ => findings,
    };
    findings(report, sources, width) + &summary(report)
}

/// Variables whose warnings are shown, the most promising first.
const WARNINGS: usize = 10;

/// The races, other errors and unknowns, without the summary. Pairs that a bound left open are counted in the summary
/// and listed in the document only. Warnings of the static engine are told once for each variable, by the best one.
pub fn findings(report: &Report, sources: &mut Sources, width: usize) -> String {
    let worth_showing = |pair: &&Pair| {
        pair.verdict == PairVerdict::Race && pair.is_told()
            || matches!(pair.code, Some(Code::UNCONFIRMED | Code::CANDIDATE | Code::NOT_REPRODUCED))
    };
    let witness_help = if report.command == Command::Replay { debug_help } else { replay_help };
    let is_warning = |pair: &&Pair| report.command == Command::Static && pair.code == Some(Code::WARNING);
    let warnings = variables::together(report.pairs.iter().filter(is_warning));
    let pairs = report.pairs.iter().filter(worth_showing).map(|pair| pair_message(pair, witness_help));
    let best = warnings.iter().take(WARNINGS).filter_map(|group| variables::warning(group));
    let errors = report.errors.iter().map(|error| finding_message(error, witness_help));
    let mut out = String::new();
    let unknowns = line::unknowns(report).into_iter().map(|(unknown, same)| {
        let mut message = unknown_message(unknown);
        message.notes.splice(0..0, line::elsewhere(&same).map(Note::Note));
        message
    });
    for message in pairs.chain(best).chain(errors).chain(unknowns) {
        out.push_str(&message.render(sources, width));
        out.push_str("\n\n");
    }
    let more = warnings.len().saturating_sub(WARNINGS);
    if more > 0 {
        let _ = writeln!(out, "warnings about {}; `--json` lists them\n", count(more, "more variable"));
    }
    out.push_str(&unlisted(report));
    out
}

/// That the document does not list every open pair, if so.
fn unlisted(report: &Report) -> String {
    match report.unlisted.unknown {
        0 => String::new(),
        n => format!("{} of lower rank in no list; `--all-pairs` lists them\n\n", count(n, "open pair")),
    }
}

/// `1 race`, `2 races`.
fn count(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// The verdict, what the engines did, and the time.
fn summary(report: &Report) -> String {
    let mut out = String::new();
    let (style, word) = match report.verdict {
        Verdict::Race => (RED, "race"),
        _ if !errors(report).is_empty() => (RED, "failed"),
        Verdict::Safe => (GREEN, "safe"),
        Verdict::Unknown => (YELLOW, "unknown"),
    };
    let _ = write!(out, "{style}{word}{style:#}{BOLD}: {}{BOLD:#}", answer(report));
    let also = also(report);
    if !also.is_empty() {
        let _ = write!(out, "; {}", also.join(", "));
    }
    out.push('\n');
    out.push_str(&of_tests::table(report));
    for engine in &report.engines {
        let line = match engine.name {
            EngineName::Verify | EngineName::Static => proofs_line(report, engine),
            EngineName::Predict => predictions_line(report, engine),
            EngineName::Explore => engine_line(engine),
        };
        let _ = writeln!(out, "  {line}");
        if let Some(NetStatistics { nets, basis, sums }) = &engine.nets {
            let nets = count(*nets as usize, "net");
            let _ = writeln!(out, "  {nets} of at most {} places, {} transitions", sums.places, sums.transitions);
            let _ = writeln!(out, "  {}", sums.counters(*basis));
        }
    }
    if let Some(line) = other_errors_line(report) {
        let _ = writeln!(out, "  {line}");
    }
    if !report.assumptions.is_empty() {
        let _ = writeln!(out, "  assumptions: {}", report.assumptions.join(", "));
    }
    if let Some(since) = &report.since {
        let _ = writeln!(out, "  {}", since.sentence());
    }
    if report.reused {
        let _ =
            writeln!(out, "  nothing has changed since an earlier command: this is its answer (`--fresh` asks again)");
    }
    let _ = writeln!(out, "  finished in {}", seconds(report.time_ms));
    for warning in &report.warnings {
        let _ = writeln!(out, "{YELLOW}warning{YELLOW:#}: {warning}");
    }
    out
}

/// The overall answer in one line, without the word for it.
pub fn headline(report: &Report) -> String {
    std::iter::once(answer(report)).chain(also(report)).collect::<Vec<_>>().join(", ")
}

/// The question the user has: are there races, and did anything else go wrong?
fn answer(report: &Report) -> String {
    let is_lane_race = |error: &&crate::Finding| error.kind == ErrorKind::Lanes && error.suppressed.is_none();
    let new = report.told_races().count() + report.unlisted.race + report.errors.iter().filter(is_lane_race).count();
    // A1: weaker atomics allow more than interleavings show.
    let interleaves = report.assumptions.iter().any(|assumption| assumption == "A1");
    let races = match report.verdict {
        Verdict::Race => return format!("{} found{}", count(new, "data race"), strengths(report, new)),
        Verdict::Safe if report.scope.inputs == Inputs::All => {
            let threads = if report.scope.threads == Threads::Any { " and any number of threads" } else { "" };
            let memory = if interleaves { ", sequentially consistent" } else { "" };
            format!("no data race with any input{threads}{memory}")
        }
        Verdict::Safe if report.is_of_tests() => {
            let memory = if interleaves { "sequentially consistent " } else { "" };
            format!("no data race in any {memory}schedule of the tests that were checked")
        }
        Verdict::Safe => {
            let memory = if interleaves { "sequentially consistent " } else { "" };
            format!("no data race in any {memory}schedule of this input{}", threads(report))
        }
        Verdict::Unknown => "no data race found, but not proved absent".to_owned(),
    };
    match errors(report).as_slice() {
        [] => races,
        errors => format!("{}; {races}", errors.join(", ")),
    }
}

/// How many of the races no controlled run has shown, if any.
fn strengths(report: &Report, races: usize) -> String {
    let is_new = |pair: &&Pair| pair.details.suppressed.is_none() && pair.is_observed();
    match report.pairs.iter().filter(is_new).count() {
        0 => String::new(),
        observed if observed == races => ", observed in a recorded run".to_owned(),
        observed => format!(": {} confirmed, {observed} observed in a recorded run", races - observed),
    }
}

/// How many threads the runs had that an answer is about; in a program with OpenMP that leaves it open, the teams.
fn threads(report: &Report) -> String {
    let sizes: Vec<String> = report.scope.team_sizes.iter().map(|size| size.to_string()).collect();
    match sizes.as_slice() {
        [] => {}
        [size] => return format!(", with {size} threads in a team"),
        [sizes @ .., last] => return format!(", with {} or {last} threads in a team", sizes.join(", ")),
    }
    let most = report.engines.iter().filter_map(|engine| engine.threads).max();
    most.map_or_else(String::new, |most| format!(", with {}", count(most as usize, "thread")))
}

/// Errors other than races that are not known already: `1 deadlock`, `2 failed assertions`.
fn errors(report: &Report) -> Vec<String> {
    let kinds = [
        (ErrorKind::Deadlock, "deadlock"),
        (ErrorKind::Assertion, "failed assertion"),
        (ErrorKind::Crash, "crash"),
        (ErrorKind::Misuse, "misuse of the thread API"),
        (ErrorKind::Uninitialised, "read of memory that was never written"),
        (ErrorKind::Signal, "race of a signal handler"),
    ];
    let of = |kind| report.errors.iter().filter(|e| e.suppressed.is_none() && e.kind == kind).count();
    let named = |(kind, name): (ErrorKind, &str)| match (of(kind), name) {
        (0, _) => None,
        (1, name) => Some(format!("1 {name}")),
        (n, "crash") => Some(format!("{n} crashes")),
        (n, "misuse of the thread API") => Some(format!("{n} misuses of the thread API")),
        (n, "read of memory that was never written") => Some(format!("{n} reads of memory that was never written")),
        (n, "race of a signal handler") => Some(format!("{n} races of signal handlers")),
        (n, name) => Some(count(n, name)),
    };
    kinds.into_iter().filter_map(named).collect()
}

/// What else there is.
fn also(report: &Report) -> Vec<String> {
    let predicted = report.pairs.iter().filter(|pair| pair.is_predicted()).count();
    let (open, absent) = (report.count(PairVerdict::Unknown) - predicted, report.count(PairVerdict::Absent));
    let known = report.errors.iter().filter(|error| error.suppressed.is_some()).count();
    let suppressed = report.pairs.iter().filter(|pair| pair.details.suppressed.is_some()).count() + known;
    let mut also = Vec::new();
    if report.verdict == Verdict::Race {
        also.extend(errors(report));
    }
    if suppressed > 0 {
        also.push(format!("apart from {}", count(suppressed, "suppressed finding")));
    }
    if predicted > 0 {
        also.push(format!("{predicted} predicted"));
    }
    if open > 0 {
        also.push(format!("{} open", count(open, "pair")));
    }
    if absent > 0 {
        also.push(format!("{} cannot race{}", count(absent, "pair"), scopes(report, absent)));
    }
    also
}

/// In which scopes the absent pairs are absent, where a report has several.
fn scopes(report: &Report, absent: usize) -> String {
    match report.absent_with_any_input() {
        _ if !matches!(report.command, Command::Check | Command::Test) => String::new(),
        0 => " with this input".to_owned(),
        n if n == absent => " with any input".to_owned(),
        n => format!(": {n} with any input, {} with this input", absent - n),
    }
}

/// How far errors other than races were looked for, where the answer about races is the whole and the search is not.
fn other_errors_line(report: &Report) -> Option<String> {
    if report.command != Command::Check || report.verdict != Verdict::Safe {
        return None;
    }
    match report.engines.iter().find(|engine| engine.name == EngineName::Explore) {
        None => Some("other errors: not looked for".to_owned()),
        Some(engine) if engine.is_complete() => None,
        Some(engine) => {
            let mut runs = count(engine.executions as usize, "execution");
            if let Some(samples) = engine.samples {
                let _ = write!(runs, " and {} chosen at random", count(samples as usize, "schedule"));
            }
            Some(format!("other errors: looked for in {runs}, not in every schedule"))
        }
    }
}

/// What was proved, and what is left of it.
fn proofs_line(report: &Report, engine: &Engine) -> String {
    let proved = report.proved_by(engine.name);
    let mut line = format!("{} ({}): ", engine.name, engine.reduction);
    let is_later = report.pairs.iter().any(|pair| pair.by >= engine.name)
        || report.absences().iter().any(|absent| absent.by >= engine.name);
    let idle = proved == 0 && engine.is_complete() && !is_later;
    let _ = match idle {
        true => write!(line, "nothing left to do, {}", engine.coverage),
        false => write!(line, "{proved} of {} proved absent, {}", count(report.count_all(), "pair"), engine.coverage),
    };
    if let Some(reason) = &engine.reason {
        let _ = write!(line, ": {reason}");
    }
    let _ = write!(line, ", {}", seconds(engine.time_ms));
    line
}

/// What was predicted, and what became of it: confirmed races and counterexamples apart.
fn predictions_line(report: &Report, engine: &Engine) -> String {
    let by = || report.pairs.iter().filter(|pair| pair.by == EngineName::Predict);
    let confirmed = by().filter(|pair| pair.confirmed).count();
    let not = by().filter(|pair| pair.code == Some(Code::NOT_REPRODUCED)).count();
    let mut line = format!("{} ({}): {}, ", engine.name, engine.reduction, count(engine.transitions as usize, "event"));
    let observed = by().filter(|pair| pair.is_observed()).count();
    let _ = match observed {
        0 => write!(line, "{} predicted: ", count(confirmed + not, "race")),
        _ => write!(line, "{} predicted or observed: ", count(confirmed + observed + not, "race")),
    };
    let _ = write!(line, "{confirmed} confirmed, ");
    if observed > 0 {
        let _ = write!(line, "{observed} observed, ");
    }
    let _ = write!(line, "{not} not reproduced; ");
    let _ = write!(line, "{}, {}", count(engine.executions as usize, "replay"), engine.coverage);
    if let Some(reason) = &engine.reason {
        let _ = write!(line, ": {reason}");
    }
    let _ = write!(line, ", {}", seconds(engine.time_ms));
    line
}

fn engine_line(engine: &Engine) -> String {
    let mut line = format!("{} ({}): ", engine.name, engine.reduction);
    let _ = write!(line, "{}, ", count(engine.executions as usize, "execution"));
    if engine.blocked > 0 {
        let _ = write!(line, "{} blocked, ", engine.blocked);
    }
    if let Some(samples) = engine.samples {
        let _ = write!(line, "{} chosen at random, ", count(samples as usize, "further schedule"));
    }
    let _ = write!(line, "{}, {}", count(engine.transitions as usize, "event"), engine.coverage);
    if let Some(reason) = &engine.reason {
        let _ = write!(line, ": {reason}");
    }
    let _ = write!(line, ", {}", seconds(engine.time_ms));
    if let Some(Assurance { depth, permille }) = engine.assurance {
        let (percent, tenth) = (permille / 10, permille % 10);
        let _ = write!(
            line,
            "; a bug that needs {depth} events in a certain order would have shown with a probability of {percent}.{tenth} % or more"
        );
    }
    if let Some(Outputs { runs, different }) = engine.outputs {
        let runs = count(runs as usize, "run");
        let _ = match different {
            0 => write!(line, "; no run finished, so no output was compared"),
            1 => write!(line, "; the same output in {runs}"),
            _ => write!(
                line,
                "; {different} different outputs in {runs}: what the program prints depends on the schedule"
            ),
        };
    }
    line
}

/// A time for people: `1.23 s`.
pub fn seconds(ms: u64) -> String {
    format!("{}.{:02} s", ms / 1000, ms % 1000 / 10)
}

#[cfg(test)]
mod tests;
