//! How threads got to the accesses of a race: the calls on their stacks.
//!
//! Traces have no stacks. When a race is told, its schedule is run once more with a stop before each place in question,
//! where the runtime writes down the stack of the thread that stops.

use std::collections::{BTreeMap, BTreeSet};

use exec::Target;
use model::index::Idx;
use model::{EventId, Schedule, ThreadId, Trace};
use program::Program;
use report::{Access, Finding, Frame, Run};

use super::position;
use crate::Error;

/// Adds to the accesses of two events what calls led to them, and to the creations of their threads; tells the threads of
/// the run by the functions they began in.
pub(crate) fn add(
    target: &mut Target,
    program: &Program,
    schedule: &Schedule,
    trace: &Trace,
    accesses: [(EventId, &mut Access); 2],
    run: &mut Run,
) -> Result<(), Error> {
    let created = |thread: ThreadId| trace.events.get(trace.threads.get(thread)?.created?).map(|event| event.id);
    let mut wanted = BTreeSet::new();
    for (event, _) in &accesses {
        wanted.extend([Some(*event), created(event.thread)].into_iter().flatten());
    }
    let (again, stacks) = target.run_with_stacks(schedule, &wanted)?;
    // To stop may change what a program does that waits in rounds. Then nothing is known of this run.
    if again.events != trace.events {
        return Ok(());
    }
    let names = SymbolNames::new(program);
    let calls = |event: EventId| stacks.get(&event).map_or_else(Vec::new, |frames| names.calls(frames));
    for (event, access) in accesses {
        access.stack = calls(event);
        if access.inside.is_some() {
            // The insides of the library, and the line of the user's own that the access is told by.
            let own = access.stack.iter().position(|frame| !frame.is_foreign()).map_or(0, |own| own + 1);
            access.stack.drain(..own);
        }
        if let Some(thread) = run.threads.get_mut(event.thread.index()) {
            let own = access.stack.iter().rev().find(|frame| !frame.is_foreign());
            thread.function = own.map_or(&access.function, |frame| &frame.function).clone();
        }
        in_own_lines(run, event.thread.index(), access);
        if let (Some(by), Some(creation)) = (&mut access.created, created(event.thread)) {
            by.stack = calls(creation);
        }
    }
    Ok(())
}

/// A finding inside the library, at the user's own line that led there: the innermost on the stack of the thread when it was
/// about to execute `event`. Other findings stay where they are.
pub(crate) fn at_own_line(
    finding: Finding,
    target: &mut Target,
    program: &Program,
    schedule: &Schedule,
    trace: &Trace,
    event: EventId,
) -> Result<Finding, Error> {
    let here = Frame {
        function: String::new(),
        file: finding.file.clone().unwrap_or_default(),
        line: finding.line,
        column: finding.column,
    };
    if !here.is_foreign() {
        return Ok(finding);
    }
    let (again, stacks) = target.run_with_stacks(schedule, &BTreeSet::from([event]))?;
    let calls = stacks.get(&event).map_or_else(Vec::new, |frames| SymbolNames::new(program).calls(frames));
    match calls.into_iter().find(|frame| !frame.is_foreign()) {
        Some(Frame { function, file, line, column }) if again.events == trace.events => {
            let message = format!("{}, inside `{}`", finding.message, finding.function);
            Ok(Finding { message, file: Some(file), line, column, function, ..finding })
        }
        _ => Ok(finding),
    }
}

/// Tells an access inside the library that a run leads to by the user's own line that calls it.
fn in_own_lines(run: &mut Run, thread: usize, access: &Access) {
    let Some(called) = access.called() else { return };
    for event in run.events.iter_mut().filter(|event| event.marked && event.thread == thread) {
        event.what = format!("{} inside `{called}`", event.what);
        if let Some(call) = access.own_call() {
            (event.file, event.line) = (Some(call.file.clone()), call.line);
            event.function.clone_from(&call.function);
        }
    }
}

/// SymbolNames of functions and files as the user knows them.
struct SymbolNames<'p> {
    program: &'p Program,
    functions: BTreeMap<&'p str, &'p str>,
}

impl<'p> SymbolNames<'p> {
    fn new(program: &'p Program) -> Self {
        let functions = program.functions.iter().map(|function| (function.symbol.as_str(), function.name.as_str()));
        Self { program, functions: functions.collect() }
    }

    /// A stack without the function that is asked about itself.
    fn calls(&self, frames: &[symbols::Frame]) -> Vec<Frame> {
        frames.iter().skip(1).map(|frame| self.frame(frame)).collect()
    }

    fn frame(&self, symbols::Frame { symbol, line }: &symbols::Frame) -> Frame {
        let function = self.functions.get(symbol.as_str()).map_or(symbol.as_str(), |name| name).to_owned();
        let file =
            position::spelled(self.program, &line.file).map_or_else(|| position::tidy(&line.file), str::to_owned);
        Frame { function, file: position::tidy(&file), line: line.line, column: line.column.unwrap_or(0) }
    }
}
