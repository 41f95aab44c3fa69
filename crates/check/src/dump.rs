//! One run as text, one line per event.

use std::fmt::Write;

use model::{End, Trace};
use program::Program;

use crate::Error;
use crate::describe::{ObjectNames, Position, Words};
use crate::run::Limits;
use crate::subject::Subject;

/// A run of the program under the empty schedule.
#[derive(Debug)]
pub struct Run {
    /// One line per event, then how the run ended.
    pub text: String,
    /// What the program wrote to standard output and standard error.
    pub output: exec::Output,
}

/// Runs the program once under the empty schedule and describes what happened.
pub fn first_run(subject: &mut Subject, limits: &Limits) -> Result<Run, Error> {
    let program = std::sync::Arc::clone(subject.program());
    let running = subject.must_be_running(limits)?;
    let output = running.target.output()?;
    let names = ObjectNames::new(&program, &running.symbols);
    let words = Words { trace: &running.first, names: &names };
    Ok(Run { text: describe(&program, &words), output })
}

fn describe(program: &Program, words: &Words<'_>) -> String {
    let mut text = String::new();
    let trace = words.trace;
    for event in &trace.events {
        let thread = words.thread(event.id.thread);
        let Position { file, line, column, .. } = Position::of(program, event.site);
        let place = file.map_or_else(String::new, |file| format!("  {file}:{line}:{column}"));
        let _ = writeln!(text, "{thread}:{} {}{place}", event.id.position, words.did(event));
    }
    for pending in &trace.pending {
        let thread = words.thread(pending.event.id.thread);
        let what = if pending.enabled { words.did(&pending.event) } else { words.waits(&pending.event) };
        let _ = writeln!(text, "{thread}:{} not executed: {what}", pending.event.id.position);
    }
    let _ = writeln!(text, "end: {}", ending(trace));
    text
}

fn ending(trace: &Trace) -> String {
    match &trace.end {
        End::Exit { code } => format!("exit status {code}"),
        End::Deadlock => "deadlock".to_owned(),
        End::Assertion { message, .. } => format!("assertion failed: {message}"),
        End::Crash { message, .. } => format!("crash: {message}"),
        End::Assumed { .. } => "an assumption does not hold".to_owned(),
        End::StepLimit => "step limit".to_owned(),
        End::TimeLimit => "time limit".to_owned(),
        End::Diverged { segment, message } => format!("segment {segment} cannot be followed: {message}"),
    }
}
