//! Pairs, verdicts and the ledger that keeps one verdict per pair.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::SiteId;

/// Two sites that may touch the same object, at least one writing: the unit of work of every engine.
///
/// Unordered: [`Pair::new`] puts the smaller site first. A site can race with itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "(SiteId, SiteId)", into = "(SiteId, SiteId)")]
pub struct Pair {
    low: SiteId,
    high: SiteId,
}

impl Pair {
    /// The pair of these two sites, in whichever order they are given.
    pub fn new(one: SiteId, other: SiteId) -> Self {
        Self { low: one.min(other), high: one.max(other) }
    }
    /// Both sites, the smaller first.
    pub fn sites(self) -> [SiteId; 2] {
        [self.low, self.high]
    }
}

impl From<(SiteId, SiteId)> for Pair {
    fn from((one, other): (SiteId, SiteId)) -> Self {
        Self::new(one, other)
    }
}
impl From<Pair> for (SiteId, SiteId) {
    fn from(pair: Pair) -> Self {
        (pair.low, pair.high)
    }
}
impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.low, self.high)
    }
}

/// The engine that gave a verdict.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Proves pairs absent for all inputs, from the program's code.
    Static,
    /// Proves pairs absent for any number of threads, by coverability.
    Verify,
    /// Reorders a recorded trace.
    Predict,
    /// Runs every schedule.
    Explore,
}

impl Engine {
    /// The name as written on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Verify => "verify",
            Self::Predict => "predict",
            Self::Explore => "explore",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which inputs a claim covers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inputs {
    /// The input that was run.
    This,
    /// Every input.
    All,
}

/// Which threads a claim covers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Threads {
    /// The threads that the program creates.
    These,
    /// Any number of threads.
    Any,
}

/// The memory model a claim is made for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// Sequentially consistent interleavings.
    Sc,
}

/// What a claim covers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Scope {
    /// Which inputs.
    pub inputs: Inputs,
    /// Which threads.
    pub threads: Threads,
    /// Whether a bound cut the search; then no pair is absent.
    pub bounded: bool,
    /// For which memory model.
    pub memory: Memory,
}

/// The verdict on a pair: one of exactly three.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum Verdict {
    /// The two race.
    Race {
        /// Whether a run showed it (otherwise it is predicted).
        confirmed: bool,
        /// One sentence.
        reason: String,
    },
    /// They cannot race, within the scope.
    Absent {
        /// One sentence.
        reason: String,
        /// What the claim covers.
        scope: Scope,
    },
    /// Undecided.
    Unknown {
        /// Why.
        reason: String,
    },
}

impl Verdict {
    /// How much is known: an entry only moves to a verdict that is more certain.
    fn certainty(&self) -> u8 {
        match self {
            Self::Unknown { .. } => 0,
            Self::Race { confirmed: false, .. } => 1,
            Self::Race { confirmed: true, .. } | Self::Absent { .. } => 2,
        }
    }
    fn is_race(&self) -> bool {
        matches!(self, Self::Race { .. })
    }
}

/// A verdict and the engine that gave it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The engine.
    pub by: Engine,
    /// Its answer.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// Two engines contradict each other about a pair, so one of them is wrong.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "raceproof bug: {first} and {second} contradict each other about the sites {pair}: one shows a race, the other \
     proves it absent; please send us the program"
)]
pub struct Contradiction {
    /// The pair.
    pub pair: Pair,
    /// The engine that answered first.
    pub first: Engine,
    /// The engine that said the opposite.
    pub second: Engine,
}

/// Pair → verdict.
///
/// Moves in one direction only: open, then unknown, then predicted race, then settled (a confirmed race, or absent). A
/// verdict that adds nothing to the existing one is dropped, so engines may repeat themselves. A prediction can be
/// refuted; a confirmed race and a proof of absence of the same pair are a [`Contradiction`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ledger {
    entries: BTreeMap<Pair, Option<Entry>>,
}

impl Ledger {
    /// A ledger without pairs.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a pair as open, unless it is already there.
    pub fn open(&mut self, pair: Pair) {
        self.entries.entry(pair).or_default();
    }
    /// Records an engine's verdict; returns whether the pair's entry moved.
    pub fn settle(&mut self, pair: Pair, by: Engine, verdict: Verdict) -> Result<bool, Contradiction> {
        let slot = self.entries.entry(pair).or_default();
        if let Some(Entry { by: first, verdict: known }) = slot {
            let both_settled = known.certainty() == 2 && verdict.certainty() == 2;
            if both_settled && known.is_race() != verdict.is_race() {
                return Err(Contradiction { pair, first: *first, second: by });
            }
            if verdict.certainty() <= known.certainty() {
                return Ok(false);
            }
        }
        *slot = Some(Entry { by, verdict });
        Ok(true)
    }
    /// Replaces a verdict, for a caller who knows why the two differ and that the new one counts.
    pub fn overturn(&mut self, pair: Pair, by: Engine, verdict: Verdict) {
        self.entries.insert(pair, Some(Entry { by, verdict }));
    }
    /// Whether the pair is listed, settled or not.
    pub fn lists(&self, pair: Pair) -> bool {
        self.entries.contains_key(&pair)
    }

    /// The verdict so far: `None` for a pair that is open or not in the ledger.
    pub fn get(&self, pair: Pair) -> Option<&Entry> {
        self.entries.get(&pair)?.as_ref()
    }
    /// Pairs an engine may still work on: neither a confirmed race nor absent.
    pub fn unsettled(&self) -> impl Iterator<Item = Pair> + '_ {
        let open = |entry: &Option<Entry>| entry.as_ref().is_none_or(|e| e.verdict.certainty() < 2);
        self.entries.iter().filter(move |(_, entry)| open(entry)).map(|(pair, _)| *pair)
    }
    /// All pairs in order, `None` while open.
    pub fn iter(&self) -> impl Iterator<Item = (Pair, Option<&Entry>)> {
        self.entries.iter().map(|(pair, entry)| (*pair, entry.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn race(confirmed: bool) -> Verdict {
        Verdict::Race { confirmed, reason: "side by side".into() }
    }
    fn absent() -> Verdict {
        let scope = Scope { inputs: Inputs::This, threads: Threads::These, bounded: false, memory: Memory::Sc };
        Verdict::Absent { reason: "common lock".into(), scope }
    }
    fn unknown() -> Verdict {
        Verdict::Unknown { reason: "time".into() }
    }

    #[test]
    fn pairs_are_unordered() {
        assert_eq!(Pair::new(SiteId(2), SiteId(1)), Pair::new(SiteId(1), SiteId(2)));
        assert_eq!(Pair::new(SiteId(2), SiteId(1)).sites(), [SiteId(1), SiteId(2)]);
        assert_eq!(Pair::new(SiteId(2), SiteId(1)).to_string(), "(s1, s2)");
    }

    #[test]
    fn entries_move_in_one_direction() {
        let pair = Pair::new(SiteId(1), SiteId(2));
        let mut ledger = Ledger::new();
        ledger.open(pair);
        assert_eq!(ledger.unsettled().collect::<Vec<_>>(), [pair]);
        assert_eq!(ledger.settle(pair, Engine::Static, unknown()), Ok(true));
        assert_eq!(ledger.settle(pair, Engine::Predict, race(false)), Ok(true));
        assert_eq!(ledger.settle(pair, Engine::Verify, unknown()), Ok(false));
        assert_eq!(ledger.unsettled().count(), 1);
        assert_eq!(ledger.settle(pair, Engine::Explore, race(true)), Ok(true));
        assert_eq!(ledger.settle(pair, Engine::Explore, race(false)), Ok(false));
        ledger.open(pair);
        assert_eq!(ledger.get(pair).map(|e| e.by), Some(Engine::Explore));
        assert_eq!(ledger.unsettled().count(), 0);
    }

    #[test]
    fn a_prediction_can_be_refuted_and_a_proof_cannot() {
        let pair = Pair::new(SiteId(1), SiteId(2));
        let mut ledger = Ledger::new();
        assert_eq!(ledger.settle(pair, Engine::Predict, race(false)), Ok(true));
        assert_eq!(ledger.settle(pair, Engine::Explore, absent()), Ok(true));
        let contradiction = ledger.settle(pair, Engine::Predict, race(true)).unwrap_err();
        assert_eq!((contradiction.first, contradiction.second), (Engine::Explore, Engine::Predict));
        assert_eq!(ledger.iter().count(), 1);
    }
}
