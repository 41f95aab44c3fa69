//! What kept the answer from being better, as the document lists it.

use std::collections::BTreeSet;

use files::RecordedFinding;
use model::{Engine, Executor};
use report::{Code, Command, Unknown};

use super::is_late;
use crate::Error;
use crate::build::WhyNot;
use crate::doubt::Doubt;
use crate::engine::explore::cut_at;
use crate::gap::Gap;
use crate::line::Line;
use crate::request::{LINE, Request};

/// Every gap that still counts, with its form in the document: none but bugs of ours when every pair is settled.
pub(super) fn of_line(line: &Line<'_>) -> Vec<(Gap, Unknown)> {
    let bugs = line.doubts.iter().filter(|doubt| matches!(doubt, Doubt::Bug { .. })).map(Doubt::gap);
    let mut gaps: Vec<Gap> = bugs.chain(line.leaks.iter().cloned()).collect();
    if !line.is_settled() {
        gaps.extend(line.gaps.iter().filter(|gap| gap.code != Code::UNCONFIRMED).cloned());
        gaps.extend(idle(line));
        if !line.covered {
            gaps.extend(line.doubts.iter().filter(|doubt| !matches!(doubt, Doubt::Bug { .. })).map(Doubt::gap));
        }
        if line.request.budget.interrupt().is_set() {
            gaps.retain(|gap| gap.code != Code::INTERRUPTED);
            gaps.push(interrupted());
        }
    }
    let program = line.subject.program();
    gaps.into_iter().map(|gap| (gap.resolve(program), gap)).map(|(unknown, gap)| (gap, unknown)).collect()
}

/// Runs that were cut get a witness each.
pub(super) fn add_witnesses(line: &mut Line<'_>, unknowns: &mut [(Gap, Unknown)]) -> Result<(), Error> {
    let is_late = is_late(line);
    let Some(running) = line.subject.launched() else { return Ok(()) };
    let cut = unknowns.iter_mut().filter_map(|(gap, unknown)| Some((gap.endless.as_ref()?, unknown)));
    for (number, (failure, unknown)) in (1..).zip(cut.take_while(|_| !is_late())) {
        let trace = running.target.run(&failure.schedule)?;
        let (code, settle) = cut_at(&trace.end);
        (unknown.code, unknown.settle) = (code, settle.to_owned());
        let recorded = RecordedFinding::Endless { message: failure.message.clone() };
        let id = format!("U{number}");
        unknown.witness = line.witnesses.write(&running.built, &id, recorded, &failure.schedule, &trace);
    }
    Ok(())
}

/// Engines that could have settled more and did not work.
fn idle(line: &Line<'_>) -> Option<Gap> {
    let request: &Request = line.request;
    if request.command != Command::Check {
        return None;
    }
    let did_work = |engine: &Engine| line.figures.iter().any(|figures| figures.engine == *engine);
    let idle: Vec<Engine> = LINE.into_iter().filter(|engine| !did_work(engine)).collect();
    let (asked, left_out): (Vec<Engine>, Vec<Engine>) = idle.into_iter().partition(|engine| request.asks(*engine));
    if !left_out.is_empty() {
        let names = left_out.iter().map(Engine::to_string).collect::<Vec<_>>().join(", ");
        let reason = format!("not every engine was asked: {names} did not work");
        return Some(Gap::new(Code::NOT_ASKED, reason, "leave out `--engines`"));
    }
    if let Some(why) = line.subject.why_not().filter(|_| asked.contains(&Engine::Explore)) {
        return Some(match why {
            WhyNot::OtherTarget { triple, .. } => {
                let reason = format!("the program is compiled for `{triple}` and cannot run here");
                Gap::new(Code::NOT_ASKED, reason, "`static` and `verify` look at its text alone")
            }
            WhyNot::NoMain | WhyNot::TextOnly => {
                let reason = "the sources define no `main`, so the program cannot run";
                Gap::new(Code::NOT_ASKED, reason, "give the file that defines `main` as a further input")
            }
        });
    }
    if let Some(spent) = request.budget.spent().filter(|_| asked.contains(&Engine::Explore)) {
        return Some(Gap::limit("the program was not run", spent));
    }
    None
}

/// The user stopped the command.
pub(super) fn interrupted() -> Gap {
    let settle = "let it run to its end; `--quick` takes a few seconds";
    Gap::new(Code::INTERRUPTED, "the check was interrupted", settle)
}

/// What several engines said, each unknown once, in order. Of two that speak of the same, the later says more; where engines have different words for
/// one place that is not modelled, the one that knows the function to blame counts.
pub(super) fn merged(unknowns: Vec<Unknown>) -> Vec<Unknown> {
    let mut merged: Vec<Unknown> = Vec::new();
    for unknown in unknowns {
        match merged.iter_mut().find(|known| is_same(known, &unknown)) {
            Some(known) => *known = unknown,
            None => merged.push(unknown),
        }
    }
    let to_blame: BTreeSet<_> = merged.iter().filter(|unknown| unknown.function.is_some()).filter_map(place).collect();
    let is_known = |unknown: &Unknown| place(unknown).is_some_and(|place| to_blame.contains(&place));
    merged.retain(|unknown| unknown.code != Code::UNMODELLED || unknown.function.is_some() || !is_known(unknown));
    merged
}

fn place(unknown: &Unknown) -> Option<(String, u32, u32)> {
    Some((unknown.file.clone()?, unknown.line, unknown.column))
}

/// Whether both speak of the same, perhaps the earlier without saying where.
fn is_same(known: &Unknown, new: &Unknown) -> bool {
    known.code == new.code
        && known.function == new.function
        && match place(known) {
            None => place(new).is_some() || known.code != Code::UNMODELLED || known.reason == new.reason,
            known_place if known_place != place(new) => false,
            _ => known.code == Code::UNMODELLED || known.reason == new.reason,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One call that is not modelled, as four engines see it.
    #[test]
    fn what_stops_all_engines_is_listed_once() {
        let unknown = |function: Option<&str>, file: Option<&str>, reason: &str| Unknown {
            code: Code::UNMODELLED,
            reason: reason.to_owned(),
            function: function.map(str::to_owned),
            file: file.map(str::to_owned),
            line: 3,
            column: 5,
            settle: String::new(),
            witness: None,
            tests: Vec::new(),
        };
        let of_runs = unknown(Some("f"), Some("a.c"), "calls `f`");
        let other = unknown(None, Some("b.c"), "assembly");
        let merged = merged(vec![
            unknown(Some("f"), None, "calls `f`, whose body is missing"),
            unknown(None, Some("a.c"), "calls `f`, whose effects are not known"),
            unknown(None, Some("a.c"), "calls `f`, whose effect on memory is not known"),
            other.clone(),
            of_runs.clone(),
            of_runs.clone(),
        ]);
        assert_eq!(merged, [of_runs, other]);
    }
}
