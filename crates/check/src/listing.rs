//! The findings of a search as the report lists them, each with its witness file.

use std::collections::BTreeSet;

use exec::Target;
use explore::{Failure, FailureKind, Outcome, Witness};
use files::RecordedFinding;
use model::{Executor, Ledger, Pair, Schedule, SiteId, ThreadId, Trace, Verdict};
use report::{Code, Details, Finding, PairVerdict, Run, Unknown};

use crate::examples::Examples;
use crate::finding::{Looker, SeenAccess};
use crate::story::{self, Ending};
use crate::witnesses::Witnesses;
use crate::{Error, crash, settle, stacks};

/// Lists findings, running each one's schedule again to describe it.
pub(crate) struct Listing<'a> {
    pub(crate) looker: &'a Looker<'a>,
    pub(crate) target: &'a mut Target,
    pub(crate) witnesses: Witnesses<'a>,
}

impl Listing<'_> {
    /// The ledger's pairs: races, then unknown, then absent. They are numbered after those that are `shown` already,
    /// which are left out.
    pub(crate) fn pairs(
        &mut self,
        ledger: &Ledger,
        outcome: &Outcome,
        unknowns: &[Unknown],
        examples: &Examples<'_>,
        shown: &BTreeSet<Pair>,
    ) -> Result<Vec<(Pair, report::Pair)>, Error> {
        let mut entries: Vec<_> = ledger.iter().filter_map(|(pair, entry)| Some((pair, entry?))).collect();
        entries.retain(|(pair, _)| !shown.contains(pair));
        entries.sort_by_key(|(pair, entry)| (answer(&entry.verdict).0, *pair));
        let mut pairs = Vec::new();
        for (pair, entry) in entries {
            let rank = (shown.len() + pairs.len()) as u32 + 1;
            let id = format!("P{rank}");
            let (verdict, reason) = answer(&entry.verdict);
            let mut details = Details::default();
            let (accesses, code, witness) = match outcome.races.get(&pair) {
                Some(race) if race.confirmed => {
                    let (accesses, witness, run) = self.race(&id, pair, &race.witness)?;
                    details.run = Some(run);
                    details.protection = examples.protection(&accesses);
                    (accesses, Some(Code::DATA_RACE), Some(witness))
                }
                race => {
                    let Some(seen) = examples.of(pair) else { continue };
                    (seen.map(Clone::clone), settle::code(verdict, race, unknowns), None)
                }
            };
            let variable = accesses[0].variable.clone();
            let confirmed = verdict == PairVerdict::Race;
            let (by, accesses) = (entry.by, accesses.map(|seen| seen.access));
            if let Verdict::Absent { scope, .. } = &entry.verdict {
                details.scope = Some(*scope);
            }
            let listed =
                report::Pair { id, verdict, confirmed, by, rank, code, variable, reason, accesses, witness, details };
            pairs.push((pair, listed));
        }
        Ok(pairs)
    }

    /// Runs a race's witness, describes both accesses and writes the file.
    pub(crate) fn race(
        &mut self,
        id: &str,
        pair: Pair,
        witness: &Witness,
    ) -> Result<([SeenAccess; 2], String, Run), Error> {
        let trace = self.run(&witness.schedule)?;
        let wanted = |[one, other]: [Option<SiteId>; 2]| one.zip(other).is_some_and(|(a, b)| Pair::new(a, b) == pair);
        let seen = self.looker.race(&trace, witness.first, witness.second, wanted).ok_or(Error::WitnessWithoutRace)?;
        let mut run = self.tell(&trace, &Ending::Race { first: seen[0].0, second: seen[1].0 });
        let mut accesses = seen.map(|(_, access)| access);
        let shown = accesses.each_mut().map(|seen| (seen.event, &mut seen.access));
        stacks::add(self.target, self.looker.program, &witness.schedule, &trace, shown, &mut run)?;
        let finding = RecordedFinding::Race {
            variable: accesses[0].variable.clone(),
            accesses: Box::new(accesses.each_ref().map(SeenAccess::record)),
            adjacent: witness.adjacent,
        };
        let path = self.witnesses.write(id, finding, &witness.schedule, &trace)?;
        Ok((accesses, path, run))
    }

    fn tell(&self, trace: &Trace, ending: &Ending<'_>) -> Run {
        story::tell(self.looker.program, self.looker.names, trace, ending)
    }

    /// Runs that were cut because they had too many events or took too long.
    pub(crate) fn endless(&mut self, failures: &[Failure]) -> Result<Vec<Unknown>, Error> {
        let mut unknowns = Vec::new();
        for failure in failures.iter().filter(|failure| failure.kind == FailureKind::Endless) {
            let trace = self.run(&failure.schedule)?;
            let recorded = RecordedFinding::Endless { message: failure.message.clone() };
            let id = format!("U{}", unknowns.len() + 1);
            let witness = self.witnesses.write(&id, recorded, &failure.schedule, &trace)?;
            unknowns.push(Unknown { witness: Some(witness), ..self.looker.endless(&trace, failure) });
        }
        Ok(unknowns)
    }

    /// Deadlocks, failed assertions, crashes and misuses.
    pub(crate) fn errors(&mut self, failures: &[Failure]) -> Result<Vec<Finding>, Error> {
        let mut findings = Vec::new();
        for failure in failures {
            let recorded: fn(String) -> RecordedFinding = match failure.kind {
                FailureKind::Deadlock => |message| RecordedFinding::Deadlock { message },
                FailureKind::Assertion => |message| RecordedFinding::Assertion { message },
                FailureKind::Crash => |message| RecordedFinding::Crash { message },
                FailureKind::Misuse => |message| RecordedFinding::Misuse { message },
                FailureKind::Endless => continue,
            };
            let trace = self.run(&failure.schedule)?;
            let Some(finding) = self.looker.failure(&trace, failure) else { continue };
            let finding = crash::at_its_line(finding, self.looker.program, self.target)?;
            let recorded = recorded(finding.message.clone());
            let id = format!("E{}", findings.len() + 1);
            let witness = self.witnesses.write(&id, recorded, &failure.schedule, &trace)?;
            let run = self.tell(&trace, &ending(&trace, failure, &finding));
            findings.push(Finding { witness: Some(witness), run: Some(run), ..finding });
        }
        Ok(findings)
    }

    fn run(&mut self, schedule: &Schedule) -> Result<Trace, Error> {
        Ok(self.target.run(schedule)?)
    }
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

/// A ledger's verdict as the report has it.
fn answer(verdict: &Verdict) -> (PairVerdict, String) {
    match verdict {
        Verdict::Race { confirmed: true, reason } => (PairVerdict::Race, reason.clone()),
        Verdict::Race { confirmed: false, reason } | Verdict::Unknown { reason } => {
            (PairVerdict::Unknown, reason.clone())
        }
        Verdict::Absent { reason, .. } => (PairVerdict::Absent, reason.clone()),
    }
}
