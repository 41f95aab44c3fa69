//! Races as their witnesses show them, each as soon as an engine has found it: what is found early has its witness file
//! whatever the engines after it cost.

use explore::Witness;
use files::RecordedFinding;
use model::{Executor, Pair, SiteId};
use report::document::OwnLines;

use super::witnesses::Witnesses;
use super::{id, is_late};
use crate::Error;
use crate::describe::story::{self, Ending};
use crate::describe::{Describer, ObjectNames, SeenAccess, stacks, values};
use crate::line::Line;
use crate::run::Running;

/// A race as a run shows it.
pub(crate) struct Shown {
    pub(super) accesses: [SeenAccess; 2],
    pub(super) run: Option<report::Run>,
    /// The path of its file.
    pub(super) witness: Option<String>,
    /// The race of the same lines of the user's own that it is a detail of, by its index among those shown.
    pub(super) inside: Option<usize>,
}

impl Shown {
    /// The race among those `before` that tells the user what accesses to this variable tell.
    fn told_by(accesses: &[SeenAccess; 2], before: &[Self]) -> Option<usize> {
        let lines = |accesses: &[SeenAccess; 2]| {
            OwnLines::of(&accesses[0].variable, accesses.each_ref().map(|seen| &seen.access))
        };
        let own = lines(accesses)?;
        let tells = |earlier: &Self| earlier.inside.is_none() && lines(&earlier.accesses).as_ref() == Some(&own);
        before.iter().position(tells)
    }
}

/// Where the races are that are told by themselves, each in a few words.
pub(crate) fn told_places(line: &Line<'_>) -> Vec<String> {
    let place = |access: &report::Access| match access.own_place() {
        (Some(file), number, _) => format!("{file}:{number}"),
        (None, ..) => format!("`{}`", access.function),
    };
    let told = line.shown.iter().filter(|shown| shown.inside.is_none());
    told.map(|shown| shown.accesses.each_ref().map(|seen| place(&seen.access)).join(" and ")).collect()
}

/// Runs the witness of every race that is new in the ledger, and writes its file.
///
/// A race whose witness does not show it any more stays a race, as the search has seen it; if nothing describes it, it is
/// [withdrawn](crate::ledger::Ledger::withdraw).
pub(crate) fn show_new(line: &mut Line<'_>) -> Result<(), Error> {
    let is_late = is_late(line);
    let Some(running) = line.subject.launched() else { return Ok(()) };
    let new: Vec<(Pair, Witness)> =
        line.ledger.races().skip(line.shown.len()).map(|(pair, _, witness)| (pair, witness.clone())).collect();
    for (pair, witness) in new {
        let id = id(line.shown.len() as u32 + 1);
        let seen = || line.ledger.get(pair).and_then(|entry| entry.seen.as_deref());
        // If there is no time to run it once more, the accesses as the search has seen them have to do.
        let known = |seen: &[SeenAccess; 2]| Shown { accesses: seen.clone(), run: None, witness: None, inside: None };
        let mut shown = seen().filter(|_| is_late()).map(known);
        if shown.is_none() {
            shown = match show(running, &id, pair, &witness, &line.shown, &mut line.witnesses) {
                Err(error) if error.lost_run().is_some() => None,
                shown => shown?,
            };
        }
        if shown.is_none() {
            line.witnesses.note_unrepeatable(&id, Some(pair.sites()[1]), "the two accesses do not meet there");
            shown = seen().map(known);
        }
        match shown {
            Some(shown) => line.shown.push(shown),
            None => line.ledger.withdraw(pair),
        }
    }
    Ok(())
}

/// Runs a race's witness, describes both accesses and, unless it is a detail of one `before`, writes the file. `None` if the
/// run does not show the race.
fn show(
    running: &mut Running,
    id: &str,
    pair: Pair,
    witness: &Witness,
    before: &[Shown],
    witnesses: &mut Witnesses,
) -> Result<Option<Shown>, Error> {
    let Running { built, target, symbols, .. } = running;
    let program = &built.program;
    let names = ObjectNames::new(program, symbols);
    let describer = Describer { program, names: &names };
    let trace = target.run_alone(&witness.schedule)?;
    let wanted = |[one, other]: [Option<SiteId>; 2]| one.zip(other).is_some_and(|(a, b)| Pair::new(a, b) == pair);
    let Some(seen) = describer.race(&trace, witness.first, witness.second, wanted) else { return Ok(None) };
    let mut run = story::tell(program, &names, &trace, &Ending::Race { first: seen[0].0, second: seen[1].0 });
    let mut accesses = seen.map(|(_, access)| access);
    let shown = accesses.each_mut().map(|seen| (seen.event, &mut seen.access));
    stacks::add(target, program, &witness.schedule, &trace, shown, &mut run)?;
    let inside = Shown::told_by(&accesses, before);
    if inside.is_some() {
        return Ok(Some(Shown { accesses, run: None, witness: None, inside }));
    }
    values::add(target, &names, &witness.schedule, &trace, &mut run)?;
    let finding = RecordedFinding::Race {
        variable: accesses[0].variable.clone(),
        accesses: Box::new(accesses.each_ref().map(SeenAccess::record)),
        adjacent: witness.adjacent,
    };
    let witness = witnesses.write(built, id, finding, &witness.schedule, &trace);
    Ok(Some(Shown { accesses, run: Some(run), witness, inside }))
}
