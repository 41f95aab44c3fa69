//! The runs of a subtree that show something new.
//!
//! Most runs of a subtree show only what earlier runs have shown; adopting them would change nothing but the counts. A
//! digest keeps the others. *Omitting the rest changes nothing*: the search compares a run with all runs before it,
//! while the digest compares it only with earlier runs of the same subtree. A run that adds nothing here adds nothing
//! there. (In the search, a race's simplest trace can only be simpler and its examples only more numerous.)

use std::collections::BTreeSet;

use model::race::{News, SitePair};
use model::{Cell, Race, Schedule, Shortcuts, ThreadPath, Trace};

use crate::choices::ChoiceValues;
use crate::findings::{Examiner, Findings, RaceWithoutSite};
use crate::fusion;
use crate::masked_failures::masked_failures;
use crate::observer::EXAMPLES;

/// A run that shows something new.
pub(crate) struct NotableRun {
    pub(crate) schedule: Schedule,
    pub(crate) trace: Trace,
    races: Vec<Race>,
    conflicts: Vec<SitePair>,
}

impl NotableRun {
    pub(crate) fn news(&self) -> News<'_> {
        News { races: &self.races, conflicts: &self.conflicts }
    }
}

/// The runs that show something the runs before them did not.
#[derive(Default)]
pub(crate) struct Digest {
    examiner: Examiner,
    found: Findings,
    unmasked: BTreeSet<Schedule>,
    /// Whether a value was omitted.
    bounded: bool,
    /// By site.
    examples: Vec<Vec<(ThreadPath, Cell)>>,
    pub(crate) notable: Vec<NotableRun>,
}

impl Digest {
    /// Adds a run, unless it must not be seen with these shortcuts; then it returns false.
    pub(crate) fn add(
        &mut self,
        schedule: &Schedule,
        trace: &Trace,
        values: &ChoiceValues,
        shortcuts: &Shortcuts,
    ) -> Result<bool, RaceWithoutSite> {
        let (from, news) = self.examiner.examine(Some(schedule), trace);
        if !fusion::is_enough(trace, shortcuts, &news) {
            return Ok(false);
        }
        let mut matters = self.found.add(trace, from, news)?;
        if !self.bounded && !values.cover(trace, from) {
            (self.bounded, matters) = (true, true);
        }
        for hidden in masked_failures(trace) {
            matters |= self.unmasked.insert(hidden);
        }
        for (_, event, access) in trace.accesses_from(from) {
            let Some(site) = event.site_of_access(access) else { continue };
            let at = site.0 as usize;
            self.examples.resize(self.examples.len().max(at + 1), Vec::new());
            let examples = &mut self.examples[at];
            let path = &trace.threads[event.id.thread].path;
            if examples.len() < EXAMPLES && !examples.iter().any(|(p, cell)| *cell == access.cell && p == path) {
                examples.push((path.clone(), access.cell));
                matters = true;
            }
        }
        if matters {
            let (races, conflicts) = (news.races.to_vec(), news.conflicts.to_vec());
            self.notable.push(NotableRun { schedule: schedule.clone(), trace: trace.clone(), races, conflicts });
        }
        Ok(true)
    }

    /// Whether there is a finding.
    pub(crate) fn shows_something(&self) -> bool {
        self.found.any()
    }
}
