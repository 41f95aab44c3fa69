//! A report for people: both accesses with their source lines, what each thread held, how to see it again.
//!
//! The text has ANSI styles; whoever prints it strips them where they are not wanted. It depends on the report and
//! the sources alone, but for the times in its last line.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use model::verdict::{Engine as EngineName, Inputs};

use crate::Code;
use crate::document::{Access, Created, Engine, ErrorKind, Finding, Pair, PairVerdict, Report, Unknown, Verdict};
use crate::excerpt::{Mark, Message, Note, Severity};
use crate::source::Sources;

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::BrightRed.on_default().bold();
const GREEN: Style = AnsiColor::BrightGreen.on_default().bold();
const YELLOW: Style = AnsiColor::BrightYellow.on_default().bold();

/// Renders the whole report for a terminal of this width.
pub fn render(report: &Report, sources: &mut Sources, width: usize) -> String {
    findings(report, sources, width) + &summary(report)
}

/// The races, other errors and unknowns, without the summary. Pairs that a bound left open are counted in the summary
/// and listed in the document only.
pub fn findings(report: &Report, sources: &mut Sources, width: usize) -> String {
    let worth_showing = |pair: &&Pair| {
        pair.verdict == PairVerdict::Race || matches!(pair.code, Some(Code::UNCONFIRMED | Code::CANDIDATE))
    };
    let witness_help = if report.command == "replay" { debug_help } else { replay_help };
    let pairs = report.pairs.iter().filter(worth_showing).map(|pair| pair_message(pair, witness_help));
    let errors = report.errors.iter().map(|error| finding_message(error, witness_help));
    let mut out = String::new();
    for message in pairs.chain(errors).chain(report.unknowns.iter().map(unknown_message)) {
        out.push_str(&message.render(sources, width));
        out.push_str("\n\n");
    }
    out
}

fn pair_message(pair: &Pair, witness_help: fn(&str) -> String) -> Message<'_> {
    let [first, second] = &pair.accesses;
    let (severity, title) = match pair.verdict {
        PairVerdict::Race => (Severity::Error, format!("data race on `{}`", pair.variable)),
        _ => (Severity::Warning, format!("it is not known whether accesses to `{}` race", pair.variable)),
    };
    let same_place = (&first.file, first.line, first.column) == (&second.file, second.line, second.column);
    let marks = if first.thread.is_empty() {
        let kinds: &[&Access] = if same_place && first.kind == second.kind { &[first] } else { &[first, second] };
        kinds.iter().map(|access| mark(access, without_run(access, kinds.len() == 1))).collect()
    } else if same_place && first.kind == second.kind {
        let threads = format!("threads {} and {}", first.thread, second.thread);
        vec![mark(first, format!("{threads} both {} it here, {}", plural(&first.kind), holding(first)))]
    } else {
        [first, second].map(|access| mark(access, describe(access))).into()
    };
    let mut notes = vec![Note::Note(pair.reason.clone())];
    notes.extend([first, second].into_iter().filter_map(|a| Some(created(&a.thread, a.created.as_ref()?))));
    notes.extend(pair.witness.as_deref().map(|path| Note::Help(witness_help(path))));
    Message { severity, code: pair.code.unwrap_or(Code::DATA_RACE), title, marks, notes }
}

fn mark(access: &Access, label: String) -> Mark<'_> {
    Mark { file: access.file.as_deref(), line: access.line, column: access.column, label }
}

/// An access that no run has shown: neither its thread nor its locks are known.
fn without_run(access: &Access, by_both: bool) -> String {
    let how = if access.atomic { " atomically" } else { "" };
    let (who, does) =
        if by_both { ("two threads", plural(&access.kind)) } else { ("a thread", singular(&access.kind)) };
    format!("{who} {does}{how} here, in `{}`", access.function)
}

fn describe(access: &Access) -> String {
    let how = if access.atomic { " atomically" } else { "" };
    let Access { kind, thread, .. } = access;
    format!("thread {thread} {}{how} here, in `{}`, {}", singular(kind), access.function, holding(access))
}

fn singular(kind: &str) -> &str {
    match kind {
        "read" => "reads",
        "write" => "writes",
        "free" => "frees it",
        _ => "reads and writes",
    }
}

fn plural(kind: &str) -> &str {
    match kind {
        "read-modify-write" => "read and write",
        other => other,
    }
}

fn holding(access: &Access) -> String {
    match access.locks.as_slice() {
        [] => "holding no lock".to_owned(),
        locks => format!("holding {}", quoted(locks)),
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn place(file: Option<&str>, line: u32, column: u32) -> String {
    file.map_or_else(|| "an unknown place".to_owned(), |file| format!("{file}:{line}:{column}"))
}

fn created(thread: &str, created: &Created) -> Note {
    let Created { thread: by, function, file, line, column } = created;
    let place = place(file.as_deref(), *line, *column);
    Note::Note(format!("thread {thread} was created by thread {by} in `{function}` at {place}"))
}

fn replay_help(witness: &str) -> String {
    format!("see it happen: raceproof replay {}", shell(witness))
}

fn debug_help(witness: &str) -> String {
    format!("look at it in a debugger: raceproof replay --gdb {}", shell(witness))
}

/// Quotes a path for a shell where it has to be.
fn shell(path: &str) -> String {
    let harmless = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if path.chars().all(harmless) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

fn finding_message(finding: &Finding, witness_help: fn(&str) -> String) -> Message<'_> {
    let title = match finding.kind {
        ErrorKind::Deadlock => finding.message.clone(),
        ErrorKind::Assertion => format!("assertion failed: {}", finding.message),
        ErrorKind::Crash => format!("the program crashes: {}", finding.message),
        ErrorKind::Misuse => match &finding.thread {
            Some(thread) => format!("thread {thread} {}", finding.message),
            None => finding.message.clone(),
        },
    };
    let mut marks = Vec::new();
    for waiting in &finding.waiting {
        let held = match waiting.locks.as_slice() {
            [] => String::new(),
            locks => format!(", holding {}", quoted(locks)),
        };
        let label = format!("thread {} waits {}{held}", waiting.thread, waiting.waits);
        marks.push(Mark { file: waiting.file.as_deref(), line: waiting.line, column: waiting.column, label });
    }
    if finding.waiting.is_empty() {
        let thread = finding.thread.as_deref().unwrap_or("0");
        let label = match (finding.kind, finding.function.as_str()) {
            (_, "") => format!("in thread {thread}"),
            (ErrorKind::Crash, function) => format!("in thread {thread}, in `{function}`, here or soon after"),
            (_, function) => format!("in thread {thread}, in `{function}`"),
        };
        marks.push(Mark { file: finding.file.as_deref(), line: finding.line, column: finding.column, label });
    }
    let notes = finding.witness.as_deref().map(|path| Note::Help(witness_help(path))).into_iter().collect();
    Message { severity: Severity::Error, code: finding.code, title, marks, notes }
}

fn unknown_message(unknown: &Unknown) -> Message<'_> {
    let marks = unknown.file.as_deref().map(|file| Mark {
        file: Some(file),
        line: unknown.line,
        column: unknown.column,
        label: String::new(),
    });
    Message {
        severity: Severity::Warning,
        code: unknown.code,
        title: format!("no proof: {}", unknown.reason),
        marks: marks.into_iter().collect(),
        notes: std::iter::once(unknown.settle.clone())
            .chain(unknown.witness.as_deref().map(replay_help))
            .map(Note::Help)
            .collect(),
    }
}

/// `1 race`, `2 races`.
fn count(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// The verdict, what the engines did, and the time.
fn summary(report: &Report) -> String {
    let mut out = String::new();
    let of = |verdict| report.pairs_with(verdict).count();
    let (races, open, absent) = (of(PairVerdict::Race), of(PairVerdict::Unknown), of(PairVerdict::Absent));
    let (style, word, text) = match report.verdict {
        Verdict::Race => (RED, "race", format!("{} found", count(races, "data race"))),
        Verdict::Safe if report.scope.inputs == Inputs::All => {
            (GREEN, "safe", "no data race with any input and any number of threads".to_owned())
        }
        Verdict::Safe => (GREEN, "safe", "no data race in any schedule of this input".to_owned()),
        Verdict::Unknown => (YELLOW, "unknown", "no data race found, but their absence is not shown".to_owned()),
    };
    let _ = write!(out, "{style}{word}{style:#}{BOLD}: {text}{BOLD:#}");
    let mut also = Vec::new();
    if !report.errors.is_empty() {
        also.push(format!("{RED}{}{RED:#}", count(report.errors.len(), "other error")));
    }
    if open > 0 {
        also.push(format!("{} open", count(open, "pair")));
    }
    if absent > 0 {
        also.push(format!("{} that cannot race", count(absent, "conflicting pair")));
    }
    if !also.is_empty() {
        let _ = write!(out, "; {}", also.join(", "));
    }
    out.push('\n');
    for engine in &report.engines {
        let proves = matches!(engine.name, EngineName::Verify | EngineName::Static);
        let line = if proves { proofs_line(report, engine) } else { engine_line(engine) };
        let _ = writeln!(out, "  {line}");
    }
    if !report.assumptions.is_empty() {
        let _ = writeln!(out, "  assumptions: {}", report.assumptions.join(", "));
    }
    let _ = writeln!(out, "  finished in {}", seconds(report.time_ms));
    out
}

/// What was proved, and what is left of it.
fn proofs_line(report: &Report, engine: &Engine) -> String {
    let proved = report.pairs_with(PairVerdict::Absent).filter(|pair| pair.by == engine.name).count();
    let mut line = format!("{} ({}): ", engine.name, engine.reduction);
    let _ = write!(line, "{proved} of {} proved absent, {}", count(report.pairs.len(), "pair"), engine.coverage);
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
    let _ = write!(line, "{}, {}", count(engine.transitions as usize, "event"), engine.coverage);
    if let Some(reason) = &engine.reason {
        let _ = write!(line, ": {reason}");
    }
    let _ = write!(line, ", {}", seconds(engine.time_ms));
    line
}

/// A time for people: `1.23 s`.
pub fn seconds(ms: u64) -> String {
    format!("{}.{:02} s", ms / 1000, ms % 1000 / 10)
}

#[cfg(test)]
mod tests;
