//! What is said of one pair, error or unknown.

use std::fmt::Write as _;

use model::AccessKind;

use crate::Code;
use crate::document::{Access, Created, ErrorKind, Finding, Frame, Pair, PairVerdict, Unknown, is_foreign};
use crate::excerpt::{Mark, Message, Note, Severity};

pub(super) fn pair_message(pair: &Pair, witness_help: fn(&str) -> String) -> Message<'_> {
    let [first, second] = &pair.accesses;
    let (severity, title) = match pair.verdict {
        PairVerdict::Race => (Severity::Error, format!("data race on `{}`", pair.variable)),
        _ if pair.is_predicted() => (Severity::Warning, format!("predicted data race on `{}`", pair.variable)),
        _ => (Severity::Warning, format!("it is not known whether accesses to `{}` race", pair.variable)),
    };
    let same_place = first.own_place() == second.own_place();
    let marks = if first.thread.is_empty() {
        let kinds: &[&Access] = if same_place && first.kind == second.kind { &[first] } else { &[first, second] };
        kinds.iter().map(|access| mark(access, without_run(access, kinds.len() == 1))).collect()
    } else if same_place && first.kind == second.kind {
        let threads = format!("threads {} and {}", first.thread, second.thread);
        vec![mark(first, format!("{threads} both {} it here, {}", plural(first.kind), holding(first)))]
    } else {
        [first, second].map(|access| mark(access, describe(access))).into()
    };
    let mut notes = vec![Note::Note(pair.reason.clone())];
    for access in [first, second] {
        notes.extend(path(access));
        notes.extend(access.created.as_ref().map(|by| created(&access.thread, by)));
    }
    notes.extend(pair.witness.as_deref().map(|path| Note::Help(witness_help(path))));
    Message { severity, code: pair.code.unwrap_or(Code::DATA_RACE), title, marks, notes }
}

/// An access's place; in code that is not the user's, the place where the user's code calls it.
fn mark(access: &Access, label: String) -> Mark<'_> {
    match access.own_call() {
        Some(Frame { file, line, column, .. }) => Mark { file: Some(file), line: *line, column: *column, label },
        None => Mark { file: access.file.as_deref(), line: access.line, column: access.column, label },
    }
}

/// Calls that are told of a stack.
const CALLS: usize = 6;

/// How a thread reached its access, if that says more than the access alone.
fn path(access: &Access) -> Option<Note> {
    let calls = calls(&access.stack)?;
    let Access { thread, function, file, line, column, .. } = access;
    let place = place(file.as_deref(), *line, *column);
    Some(Note::Note(format!("thread {thread} reached {place} in `{function}`{calls}")))
}

/// `, called by `f` at a.c:3:5, called by …`, without the insides of the system's headers.
fn calls(stack: &[Frame]) -> Option<String> {
    let own: Vec<&Frame> = stack.iter().filter(|frame| !frame.is_foreign()).collect();
    let told = own.iter().take(CALLS);
    let mut calls: String = told
        .map(|Frame { function, file, line, column }| {
            format!(", called by `{function}` at {}", place(Some(file), *line, *column))
        })
        .collect();
    if own.len() > CALLS {
        let _ = write!(calls, ", and {} calls before", own.len() - CALLS);
    }
    (!own.is_empty()).then_some(calls)
}

/// An access that no run has shown: neither its thread nor its locks are known.
fn without_run(access: &Access, by_both: bool) -> String {
    let how = if access.atomic { " atomically" } else { "" };
    let (who, does) = if by_both { ("two threads", plural(access.kind)) } else { ("a thread", singular(access.kind)) };
    format!("{who} {does}{how} here, {}", within(access))
}

/// The function that makes an access.
fn within(access: &Access) -> String {
    match access.called() {
        Some(function) => format!("inside `{function}`"),
        None => format!("in `{}`", access.function),
    }
}

fn describe(access: &Access) -> String {
    let how = if access.atomic { " atomically" } else { "" };
    let Access { kind, thread, .. } = access;
    format!("thread {thread} {}{how} here, {}, {}", singular(*kind), within(access), holding(access))
}

fn singular(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "reads",
        AccessKind::Write => "writes",
        AccessKind::ReadModifyWrite => "reads and writes",
        AccessKind::Free => "frees it",
    }
}

fn plural(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::ReadModifyWrite => "read and write",
        AccessKind::Free => "free",
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

pub(super) fn place(file: Option<&str>, line: u32, column: u32) -> String {
    file.map_or_else(|| "an unknown place".to_owned(), |file| format!("{file}:{line}:{column}"))
}

fn created(thread: &str, created: &Created) -> Note {
    let Created { thread: by, function, file, line, column, stack } = created;
    let own = stack.iter().position(|frame| !frame.is_foreign()).filter(|_| file.as_deref().is_some_and(is_foreign));
    let (function, place, stack) = match own.and_then(|at| Some((stack.get(at)?, stack.get(at + 1..)?))) {
        Some((frame, before)) => (&frame.function, place(Some(&frame.file), frame.line, frame.column), before),
        None => (function, place(file.as_deref(), *line, *column), stack.as_slice()),
    };
    let calls = calls(stack).unwrap_or_default();
    Note::Note(format!("thread {thread} was created by thread {by} in `{function}` at {place}{calls}"))
}

pub(super) fn replay_help(witness: &str) -> String {
    format!("see it happen: raceproof replay {}", shell(witness))
}

pub(super) fn debug_help(witness: &str) -> String {
    format!("look at it in a debugger: raceproof replay --gdb {}", shell(witness))
}

/// Quotes a path for a shell where it has to be.
fn shell(path: &str) -> String {
    let harmless = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if path.chars().all(harmless) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

pub(super) fn finding_message(finding: &Finding, witness_help: fn(&str) -> String) -> Message<'_> {
    let title = match finding.kind {
        ErrorKind::Deadlock | ErrorKind::Signal | ErrorKind::Lanes => finding.message.clone(),
        ErrorKind::Assertion => format!("assertion failed: {}", finding.message),
        ErrorKind::Crash => format!("the program crashes: {}", finding.message),
        ErrorKind::Misuse | ErrorKind::Uninitialised => match &finding.thread {
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

pub(super) fn unknown_message(unknown: &Unknown) -> Message<'_> {
    let marks = unknown.file.as_deref().map(|file| Mark {
        file: Some(file),
        line: unknown.line,
        column: unknown.column,
        label: String::new(),
    });
    Message {
        severity: Severity::Warning,
        code: unknown.code,
        title: unknown.reason.clone(),
        marks: marks.into_iter().collect(),
        notes: std::iter::once(unknown.settle.clone())
            .chain(unknown.witness.as_deref().map(replay_help))
            .map(Note::Help)
            .collect(),
    }
}
