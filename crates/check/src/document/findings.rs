//! Deadlocks, failed assertions, crashes and misuses as the document lists them, each with its witness file.

use explore::{Failure, FailureKind};
use files::RecordedFinding;
use model::{Event, EventId, Executor, Misuse, ThreadId, Trace};
use report::Finding;

use super::is_late;
use crate::Error;
use crate::describe::story::{self, Ending};
use crate::describe::{Describer, ObjectNames, crash, stacks};
use crate::line::Line;
use crate::run::{Limits, Running};

/// The failures that runs have shown, each described by its own run.
pub(super) fn of_line(line: &mut Line<'_>) -> Result<Vec<Finding>, Error> {
    let failures = std::mem::take(&mut line.failures);
    let is_late = is_late(line);
    let mut findings = Vec::new();
    for (team_size, failure) in &failures {
        let limits = Limits { team_size: *team_size, ..line.request.limits };
        let Some(running) = line.subject.running(&limits)? else { return Ok(findings) };
        let Running { built, target, symbols, .. } = running;
        let names = ObjectNames::new(&built.program, symbols);
        let describer = Describer { program: &built.program, names: &names };
        let recorded: fn(String) -> RecordedFinding = match failure.kind {
            FailureKind::Deadlock => |message| RecordedFinding::Deadlock { message },
            FailureKind::Assertion => |message| RecordedFinding::Assertion { message },
            FailureKind::Crash => |message| RecordedFinding::Crash { message },
            FailureKind::Misuse | FailureKind::Lanes => |message| RecordedFinding::Misuse { message },
            FailureKind::Endless => continue,
        };
        let trace = target.run_alone(&failure.schedule)?;
        let Some(finding) = describer.failure(&trace, failure) else { continue };
        let finding = if is_late() { finding } else { crash::at_its_line(finding, &built.program, target)? };
        // What the report says of a misuse may name lines, which the run does not know.
        let is_remark = failure.kind.is_remark();
        let recorded = recorded(if is_remark { failure.message.clone() } else { finding.message.clone() });
        let finding = match misused(&trace, failure).filter(|_| !is_late()) {
            Some(event) => stacks::at_own_line(finding, target, &built.program, &failure.schedule, &trace, event)?,
            None => finding,
        };
        let id = format!("E{}", findings.len() + 1);
        line.witnesses.set_team_size(*team_size);
        let witness = line.witnesses.write(built, &id, recorded, &failure.schedule, &trace);
        let run = story::tell(&built.program, &names, &trace, &ending(&trace, failure, &finding));
        findings.push(Finding { witness, run: Some(run), ..finding });
    }
    Ok(findings)
}

/// The event of a misuse: the thread's next one there, if that comes into being, or its last.
fn misused(trace: &Trace, failure: &Failure) -> Option<EventId> {
    let is_it = |misuse: &&Misuse| {
        failure.kind.is_remark()
            && failure.involved.iter().any(|involved| involved.site == misuse.site)
            && failure.message == misuse.what
    };
    let misuse = trace.misuses.iter().find(is_it)?;
    let is_there = |event: &Event| event.id.thread == misuse.thread && event.site == misuse.site;
    let there = || trace.events.iter_enumerated().filter(|(_, event)| is_there(event));
    let last = || there().take_while(|(step, _)| *step < misuse.before).last();
    there().find(|(step, _)| *step >= misuse.before).or_else(last).map(|(_, event)| event.id)
}

/// What the run of a failure leads to.
fn ending<'a>(trace: &Trace, failure: &Failure, finding: &'a Finding) -> Ending<'a> {
    let Some(involved) = failure.involved.first().filter(|_| failure.kind != FailureKind::Deadlock) else {
        return Ending::Waiting;
    };
    let mut threads = trace.threads.iter_enumerated();
    let thread = threads.find(|(_, info)| info.path == involved.thread).map_or(ThreadId::MAIN, |(id, _)| id);
    Ending::Fault { thread, site: involved.site, what: &finding.message }
}
