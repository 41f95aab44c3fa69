//! A few executed accesses per site, to speak of pairs that never raced.

use std::collections::{BTreeMap, BTreeSet};

use explore::{EXAMPLES, Observer, Progress};
use model::race::could_race;
use model::{IndexVec, Pair, SiteId, Step, ThreadPath, Trace};
use report::Protection;

use crate::finding::{Looker, SeenAccess};

/// Keeps examples of different threads and cells while a search goes on.
pub(crate) struct Examples<'a> {
    looker: &'a Looker<'a>,
    of_site: IndexVec<SiteId, Vec<SeenAccess>>,
    next: &'a mut dyn Observer,
}

impl<'a> Examples<'a> {
    /// As bytes, for a checkpoint.
    pub(crate) fn save(&self) -> Vec<u8> {
        serde_json::to_vec(&self.of_site).expect("raceproof bug: examples that cannot be serialised")
    }

    /// Takes over what was saved. Whether it is of this program.
    pub(crate) fn restore(&mut self, bytes: &[u8]) -> bool {
        let saved = serde_json::from_slice(bytes);
        let fits = |saved: &IndexVec<SiteId, _>| saved.len() == self.of_site.len();
        saved.ok().filter(fits).map(|saved| self.of_site = saved).is_some()
    }

    /// Collects examples and passes everything on to `next`.
    pub(crate) fn new(looker: &'a Looker<'a>, next: &'a mut dyn Observer) -> Self {
        Self { looker, of_site: IndexVec::filled(looker.program.sites.len(), Vec::new()), next }
    }

    /// An example of each site of the pair: if possible two that would race if nothing ordered them, by different
    /// threads.
    pub(crate) fn of(&self, pair: Pair) -> Option<[&SeenAccess; 2]> {
        let [one, other] = pair.sites().map(|site| self.of_site.get(site).map_or(&[][..], Vec::as_slice));
        let both = one.iter().flat_map(|a| other.iter().map(move |b| [a, b]));
        let meets = |[a, b]: &[&SeenAccess; 2]| a.thread != b.thread && could_race(&a.raw, &b.raw);
        both.clone().find(meets).or_else(|| both.clone().next())
    }

    /// The lock that is held at most of the places that touch what both accesses touch. Places that only the initial
    /// thread was seen at do not count: they are usually before the others start or after they end.
    pub(crate) fn protection(&self, accesses: &[SeenAccess; 2]) -> Option<Protection> {
        let [one, other] = accesses.each_ref().map(|seen| seen.raw.cell);
        let touches = |seen: &&SeenAccess| seen.raw.cell.overlaps(&one) && seen.raw.cell.overlaps(&other);
        let mut places = 0;
        let mut held: BTreeMap<&str, usize> = BTreeMap::new();
        for seen in &self.of_site {
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
        let (lock, held) = held.iter().find(|(_, held)| *held == most)?;
        Some(Protection { lock: (*lock).to_owned(), held: *held, places })
    }
}

fn locks(seen: &SeenAccess) -> impl Iterator<Item = &str> {
    seen.access.locks.iter().map(String::as_str)
}

impl Observer for Examples<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.next.progress(progress);
    }

    fn trace(&mut self, trace: &Trace, from: Step) {
        for (step, event, access) in trace.accesses_from(from) {
            let site = event.site_of_access(access);
            let Some(seen) = site.and_then(|site| self.of_site.get_mut(site)) else { continue };
            if seen.len() >= EXAMPLES {
                continue;
            }
            let same = |one: &SeenAccess| {
                one.raw.cell == access.cell && trace.threads.get(event.id.thread).is_none_or(|t| t.path == one.thread)
            };
            if !seen.iter().any(same) {
                seen.push(self.looker.access(trace, step, access, site, access.cell));
            }
        }
        self.next.trace(trace, from);
    }
}
