//! Pair → verdict.
//!
//! An entry moves in one direction only: listed, then open with a reason, then settled (a race that a run shows, or absent).
//! Of two reasons why a pair is open the newer counts. A race that a recording shows is a race, and stays open to engines
//! that might confirm it. A run that shows a race is the truth, recorded or controlled: where a proof says otherwise the
//! race stands, and the [contradiction](Contradiction) is kept, because it is a bug of ours.

use std::collections::BTreeMap;

use cover::Candidate;
use explore::Witness;
use model::{Engine, Pair};
use report::{Code, Protection};

use crate::describe::SeenAccess;
use crate::engine::{Open, Settled, Verdict};

/// A proof that says of a shown race that it is absent: a bug of raceproof.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Contradiction {
    /// The pair.
    pub(crate) pair: Pair,
    /// The engine whose proof is wrong.
    pub(crate) proved: Engine,
    /// The engine whose run shows the race.
    pub(crate) shown: Engine,
}

/// What is known of a pair.
#[derive(Default)]
pub(crate) struct Entry {
    /// The last verdict, and who gave it.
    pub(crate) verdict: Option<(Engine, Verdict)>,
    /// Both accesses as runs executed them, if they did.
    pub(crate) seen: Option<Box<[SeenAccess; 2]>>,
    /// The lock that most accesses hold, if the text tells.
    pub(crate) protection: Option<Protection>,
}

impl Entry {
    fn is_settled(&self) -> bool {
        matches!(&self.verdict, Some((_, Verdict::Race(_) | Verdict::Absent { .. })))
    }
}

/// Pair → verdict.
#[derive(Default)]
pub(crate) struct Ledger {
    entries: BTreeMap<Pair, Entry>,
    /// The races that controlled runs show, in the order in which they were found.
    races: Vec<Pair>,
    /// The races that only recordings show, in the order in which they were found.
    observed: Vec<Pair>,
}

impl Ledger {
    /// Lists pairs.
    pub(crate) fn list(&mut self, pairs: impl IntoIterator<Item = Pair>) {
        for pair in pairs {
            self.entries.entry(pair).or_default();
        }
    }

    /// Whether the pair is listed.
    pub(crate) fn lists(&self, pair: Pair) -> bool {
        self.entries.contains_key(&pair)
    }

    /// Enters a verdict, listing its pair if need be. A race that contradicts a proof, whichever came first, stands; the
    /// proof's engine is returned.
    pub(crate) fn settle(&mut self, by: Engine, Settled { pair, verdict, seen }: Settled) -> Option<Contradiction> {
        let entry = self.entries.entry(pair).or_default();
        if seen.is_some() {
            entry.seen = seen;
        }
        if let Verdict::Open(Open { protection: Some(protection), .. }) = &verdict {
            entry.protection = Some(protection.clone());
        }
        let contradiction = match (&entry.verdict, &verdict) {
            (Some((proved, Verdict::Absent { .. })), Verdict::Race(_) | Verdict::Observed { .. }) => {
                Some(Contradiction { pair, proved: *proved, shown: by })
            }
            (Some((shown, Verdict::Race(_) | Verdict::Observed { .. })), Verdict::Absent { .. }) => {
                return Some(Contradiction { pair, proved: by, shown: *shown });
            }
            (Some((_, Verdict::Observed { .. })), Verdict::Open(_)) => return None,
            _ if entry.is_settled() => return None,
            _ => None,
        };
        match verdict {
            Verdict::Race(_) => {
                self.observed.retain(|observed| *observed != pair);
                self.races.push(pair);
            }
            Verdict::Observed { .. } if !self.observed.contains(&pair) => self.observed.push(pair),
            _ => {}
        }
        let verdict = keep_what_is_known(entry.verdict.take(), verdict);
        entry.verdict = Some((by, verdict));
        contradiction
    }

    /// Opens a pair again whose witness does not show its race any more.
    pub(crate) fn withdraw(&mut self, pair: Pair) {
        let Some(entry) = self.entries.get_mut(&pair) else { return };
        if let Some((_, verdict @ Verdict::Race(_))) = &mut entry.verdict {
            let reason = "a run had this race, but its schedule did not show it again";
            *verdict = Verdict::Open(Open::new(Code::UNREPEATABLE, reason));
            self.races.retain(|race| *race != pair);
        }
    }

    /// The races that only recordings show, in the order in which they were found.
    pub(crate) fn observed(&self) -> impl Iterator<Item = (Pair, &Entry)> {
        self.observed.iter().filter_map(|pair| Some((*pair, self.entries.get(pair)?)))
    }

    /// The races that controlled runs show, in the order in which they were found, with what shows them.
    pub(crate) fn races(&self) -> impl Iterator<Item = (Pair, Engine, &Witness)> {
        self.races.iter().filter_map(|pair| match self.entries.get(pair)?.verdict.as_ref()? {
            (by, Verdict::Race(witness)) => Some((*pair, *by, witness)),
            _ => None,
        })
    }

    /// Pairs that an engine may still work on, in order.
    pub(crate) fn open(&self) -> impl Iterator<Item = Pair> {
        self.entries.iter().filter(|(_, entry)| !entry.is_settled()).map(|(pair, _)| *pair)
    }

    /// Pairs that were proved absent, in order, with who proved it.
    pub(crate) fn absent(&self) -> impl Iterator<Item = (Pair, Engine)> {
        self.entries.iter().filter_map(|(pair, entry)| match &entry.verdict {
            Some((by, Verdict::Absent { .. })) => Some((*pair, *by)),
            _ => None,
        })
    }

    /// Whether a pair is absent or its race was shown.
    pub(crate) fn is_settled(&self, pair: Pair) -> bool {
        self.entries.get(&pair).is_some_and(Entry::is_settled)
    }

    /// How nets cover pairs that are still open, and the same in words.
    pub(crate) fn candidates(&self) -> Vec<(Candidate, String)> {
        let of = |entry: &Entry| match &entry.verdict {
            Some((_, Verdict::Open(Open { candidate: Some(candidate), reason, .. }))) => {
                Some(((**candidate).clone(), reason.clone()))
            }
            _ => None,
        };
        self.entries.values().filter_map(of).collect()
    }

    /// What is known of a pair, if it is listed.
    pub(crate) fn get(&self, pair: Pair) -> Option<&Entry> {
        self.entries.get(&pair)
    }

    /// All pairs, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Pair, &Entry)> {
        self.entries.iter().map(|(pair, entry)| (*pair, entry))
    }
}

/// A new reason for an open pair keeps the candidate with its reason: that a few runs do not show a race says less than how
/// the net covers it.
fn keep_what_is_known(known: Option<(Engine, Verdict)>, new: Verdict) -> Verdict {
    match (known, new) {
        (Some((_, Verdict::Open(known))), Verdict::Open(new)) => {
            let keeps_candidate = known.candidate.is_some() && new.candidate.is_none();
            Verdict::Open(if keeps_candidate { known } else { new })
        }
        (_, new) => new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::verdict::TeamSizes;
    use model::{EventId, Inputs, Memory, Schedule, Scope, SiteId, ThreadId, Threads};

    const PAIR: (SiteId, SiteId) = (SiteId(1), SiteId(2));

    fn race() -> Verdict {
        let event = |thread| EventId { thread: ThreadId(thread), position: 3 };
        Verdict::Race(Witness { schedule: Schedule::new(), first: event(1), second: event(2), adjacent: true })
    }
    fn absent() -> Verdict {
        let scope = Scope {
            inputs: Inputs::This,
            threads: Threads::These,
            bounded: false,
            memory: Memory::Sc,
            team_sizes: TeamSizes::NONE,
        };
        Verdict::Absent { reason: "common lock".into(), scope }
    }
    fn open() -> Verdict {
        Verdict::Open(Open::new(Code::SEARCH_BOUND, "time"))
    }
    fn settled(verdict: Verdict) -> Settled {
        Settled { pair: PAIR.into(), verdict, seen: None }
    }

    #[test]
    fn entries_only_move_forward() {
        let mut ledger = Ledger::default();
        ledger.list([PAIR.into()]);
        assert_eq!(ledger.open().count(), 1);
        for verdict in [open(), absent(), open()] {
            assert_eq!(ledger.settle(Engine::Verify, settled(verdict)), None);
        }
        assert_eq!(ledger.absent().collect::<Vec<_>>(), [(PAIR.into(), Engine::Verify)]);
        assert_eq!(ledger.open().count(), 0);
    }

    /// A recorded race is not forgotten for an open question, and a controlled run makes more of it.
    #[test]
    fn an_observed_race_stands_until_it_is_confirmed() {
        let observed = || Verdict::Observed { reason: "seen".into(), settle: "replay".into() };
        let mut ledger = Ledger::default();
        for verdict in [observed(), open()] {
            assert_eq!(ledger.settle(Engine::Predict, settled(verdict)), None);
        }
        assert_eq!((ledger.observed().count(), ledger.races().count(), ledger.open().count()), (1, 0, 1));
        let expected = Contradiction { pair: PAIR.into(), proved: Engine::Static, shown: Engine::Predict };
        assert_eq!(ledger.settle(Engine::Static, settled(absent())), Some(expected));
        assert_eq!(ledger.settle(Engine::Explore, settled(race())), None);
        assert_eq!((ledger.observed().count(), ledger.races().count(), ledger.open().count()), (0, 1, 0));
    }

    /// Whichever engine speaks first.
    #[test]
    fn a_shown_race_wins() {
        let expected = Contradiction { pair: PAIR.into(), proved: Engine::Static, shown: Engine::Explore };
        for first in [true, false] {
            let mut ledger = Ledger::default();
            let (race, absent) = ((Engine::Explore, race()), (Engine::Static, absent()));
            let (one, other) = if first { (race, absent) } else { (absent, race) };
            assert_eq!(ledger.settle(one.0, settled(one.1)), None);
            assert_eq!(ledger.settle(other.0, settled(other.1)), Some(expected));
            assert_eq!(
                ledger.races().map(|(pair, by, _)| (pair, by)).collect::<Vec<_>>(),
                [(PAIR.into(), Engine::Explore)]
            );
        }
    }
}
