//! Many runs by those of them that matter.
//!
//! Of the runs of a part, most show what others before them have shown: taking them in would change nothing but how many
//! there were. A digest keeps the others. *It changes nothing to leave the rest out*: what is taken in is judged against
//! all that was taken in before, here against the part's own runs only, which is less; so a run that brings nothing here
//! brings nothing there. (A race's simplest trace so far can only be simpler there, and its examples only more.)

use std::collections::BTreeSet;

use model::race::{News, SitePair};
use model::{Cell, Race, Schedule, ThreadPath, Trace};

use crate::choices::ChoiceValues;
use crate::findings::{Examiner, Found, Unsited};
use crate::hidden::hidden_failures;
use crate::observer::EXAMPLES;

/// A run that shows something.
pub(crate) struct Notable {
    pub(crate) schedule: Schedule,
    pub(crate) trace: Trace,
    races: Vec<Race>,
    conflicts: Vec<SitePair>,
}

impl Notable {
    pub(crate) fn news(&self) -> News<'_> {
        News { races: &self.races, conflicts: &self.conflicts }
    }
}

/// Runs that show something the runs before them did not.
#[derive(Default)]
pub(crate) struct Digest {
    examiner: Examiner,
    found: Found,
    uncovered: BTreeSet<Schedule>,
    /// Whether a value was left out.
    bounded: bool,
    /// By site.
    examples: Vec<Vec<(ThreadPath, Cell)>>,
    pub(crate) notable: Vec<Notable>,
}

impl Digest {
    /// Takes in a run.
    pub(crate) fn add(&mut self, schedule: &Schedule, trace: &Trace, values: &ChoiceValues) -> Result<(), Unsited> {
        let (from, news) = self.examiner.examine(Some(schedule), trace);
        let mut matters = self.found.add(trace, from, news)?;
        if !self.bounded && !values.cover(trace, from) {
            (self.bounded, matters) = (true, true);
        }
        for hidden in hidden_failures(trace) {
            matters |= self.uncovered.insert(hidden);
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
            self.notable.push(Notable { schedule: schedule.clone(), trace: trace.clone(), races, conflicts });
        }
        Ok(())
    }

    /// Whether there is anything to report.
    pub(crate) fn shows_something(&self) -> bool {
        self.found.any()
    }
}
