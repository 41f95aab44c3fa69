//! A few executed accesses per site, to describe pairs that never raced and to find the lock that most accesses hold.

use std::collections::{BTreeMap, BTreeSet};

use explore::{EXAMPLES, Observer, Progress};
use model::race::could_race;
use model::{IndexVec, Pair, SiteId, Step, ThreadPath, Trace};
use program::Program;
use report::Protection;
use serde::{Deserialize, Serialize};

use super::{Describer, Moment, Position, SeenAccess};
use crate::line::Watcher;

/// What runs executed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sightings {
    /// Accesses of each site, of different threads and cells, at most [`EXAMPLES`] each.
    accesses: IndexVec<SiteId, Vec<SeenAccess>>,
    /// Most threads of a run.
    threads: u32,
}

impl Sightings {
    /// Nothing was executed yet.
    pub(crate) fn new(program: &Program) -> Self {
        Self { accesses: IndexVec::filled(program.sites.len(), Vec::new()), threads: 0 }
    }

    /// Those of one run.
    pub(crate) fn of_run(describer: &Describer<'_>, trace: &Trace) -> Self {
        let mut sightings = Self::new(describer.program);
        sightings.add(describer, trace, Step(0));
        sightings
    }

    /// Whether they are of a program with as many sites.
    pub(crate) fn fit(&self, program: &Program) -> bool {
        self.accesses.len() == program.sites.len()
    }

    /// Whether a run executed the site's access.
    pub(crate) fn reach(&self, site: SiteId) -> bool {
        self.accesses.get(site).is_some_and(|seen| !seen.is_empty())
    }

    /// Most threads that a run had.
    pub(crate) fn threads(&self) -> u32 {
        self.threads
    }

    /// An example of each site of the pair: if possible two that would race if nothing ordered them, by different
    /// threads.
    pub(crate) fn of(&self, pair: Pair) -> Option<[&SeenAccess; 2]> {
        let [one, other] = pair.sites().map(|site| self.accesses.get(site).map_or(&[][..], Vec::as_slice));
        let both = one.iter().flat_map(|a| other.iter().map(move |b| [a, b]));
        let meets = |[a, b]: &[&SeenAccess; 2]| a.thread != b.thread && could_race(&a.raw, &b.raw);
        both.clone().find(meets).or_else(|| both.clone().next())
    }

    /// The lock that is held at most, not all, of the places that touch what both accesses touch. Places that only the initial
    /// thread was seen at do not count: they are usually before the others start or after they end.
    pub(crate) fn protection(&self, accesses: &[SeenAccess; 2]) -> Option<Protection> {
        let [one, other] = accesses.each_ref().map(|seen| seen.raw.cell);
        let touches = |seen: &&SeenAccess| seen.raw.cell.overlaps(&one) && seen.raw.cell.overlaps(&other);
        let mut places = 0;
        let mut held: BTreeMap<&str, usize> = BTreeMap::new();
        for seen in &self.accesses {
            let mut here = seen.iter().filter(touches).peekable();
            if here.clone().all(|seen| seen.thread == ThreadPath::main()) {
                continue;
            }
            places += 1;
            let always: Option<BTreeSet<&str>> = here.next().map(|seen| locks(seen).collect());
            let always = here.fold(always.unwrap_or_default(), |all, seen| &all & &locks(seen).collect());
            for lock in always {
                *held.entry(lock).or_default() += 1;
            }
        }
        let most = held.values().max()?;
        let (lock, held) = held.iter().find(|(_, held)| *held == most && **held < places)?;
        Some(Protection { lock: (*lock).to_owned(), held: *held, places })
    }

    /// Adds the accesses of a run from an event on.
    fn add(&mut self, describer: &Describer<'_>, trace: &Trace, from: Step) {
        self.threads = self.threads.max(trace.threads.len() as u32);
        let mut moment = None;
        for (step, event, access) in trace.accesses_from(from) {
            let site = event.site_of_access(access);
            let Some(seen) = site.and_then(|site| self.accesses.get_mut(site)) else { continue };
            if seen.len() >= EXAMPLES {
                continue;
            }
            let same = |one: &SeenAccess| {
                one.raw.cell == access.cell && trace.threads.get(event.id.thread).is_none_or(|t| t.path == one.thread)
            };
            if !seen.iter().any(same) {
                let moment = moment.get_or_insert_with(|| Moment::first(trace));
                seen.push(describer.access(moment, step, access, site, access.cell));
            }
        }
    }
}

fn locks(seen: &SeenAccess) -> impl Iterator<Item = &str> {
    seen.access.locks.iter().map(String::as_str)
}

/// Collects sightings while a search goes on, and passes everything on to the next observer.
pub(crate) struct Watch<'a> {
    describer: &'a Describer<'a>,
    pub(crate) sightings: Sightings,
    next: &'a mut dyn Watcher,
}

impl<'a> Watch<'a> {
    /// Nothing was seen yet.
    pub(crate) fn new(describer: &'a Describer<'a>, next: &'a mut dyn Watcher) -> Self {
        Self { describer, sightings: Sightings::new(describer.program), next }
    }
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.next.progress(progress);
    }

    fn race(&mut self, pair: Pair) {
        let [one, other] = pair.sites().map(|site| Position::of(self.describer.program, Some(site)).to_string());
        self.next.found(&format!("{one} and {other}"));
    }

    fn trace(&mut self, trace: &Trace, from: Step) {
        self.sightings.add(self.describer, trace, from);
        self.next.trace(trace, from);
    }
}
