//! Deadlocks, failed assertions, crashes and misuses as the document lists them, each with its witness file.

use explore::{Failure, FailureKind};
use files::RecordedFinding;
use model::{Executor, ThreadId, Trace};
use report::Finding;

use super::is_late;
use crate::Error;
use crate::describe::story::{self, Ending};
use crate::describe::{Describer, ObjectNames, crash};
use crate::line::Line;
use crate::run::Running;

/// The failures that runs have shown, each described by its own run.
pub(super) fn of_line(line: &mut Line<'_>) -> Result<Vec<Finding>, Error> {
    let failures = std::mem::take(&mut line.failures);
    let is_late = is_late(line);
    let Some(Running { built, target, symbols, .. }) = line.subject.launched() else { return Ok(Vec::new()) };
    let names = ObjectNames::new(&built.program, symbols);
    let describer = Describer { program: &built.program, names: &names };
    let mut findings = Vec::new();
    for failure in &failures {
        let recorded: fn(String) -> RecordedFinding = match failure.kind {
            FailureKind::Deadlock => |message| RecordedFinding::Deadlock { message },
            FailureKind::Assertion => |message| RecordedFinding::Assertion { message },
            FailureKind::Crash => |message| RecordedFinding::Crash { message },
            FailureKind::Misuse => |message| RecordedFinding::Misuse { message },
            FailureKind::Endless => continue,
        };
        let trace = target.run_alone(&failure.schedule)?;
        let Some(finding) = describer.failure(&trace, failure) else { continue };
        let finding = if is_late() { finding } else { crash::at_its_line(finding, &built.program, target)? };
        let recorded = recorded(finding.message.clone());
        let id = format!("E{}", findings.len() + 1);
        let witness = line.witnesses.write(built, &id, recorded, &failure.schedule, &trace);
        let run = story::tell(&built.program, &names, &trace, &ending(&trace, failure, &finding));
        findings.push(Finding { witness, run: Some(run), ..finding });
    }
    Ok(findings)
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
