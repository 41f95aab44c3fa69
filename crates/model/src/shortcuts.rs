//! What the program's text lets a search leave out.
//!
//! **Short critical sections as one event.** A section that takes a lock, makes a few plain accesses at addresses that are known before, and gives the lock back,
//! blocks nowhere in between. So in every run other threads' events can be moved out of it, unless they notice that the
//! lock is held or touch what it protects without it. Taken as one event ([`Op::Critical`](crate::Op::Critical)), two
//! sections of one lock depend on each other by what they touch alone: they commute where they touch different bytes,
//! where both only read, and where both update a number in a way whose order does not matter ([`Update`]).
//!
//! The lock's order between two sections that commute is an accident of the schedule: the other order is a run with the
//! same state. So happens-before does not count it, and a race that only the other order shows is found in either one.
//! Sections that do not commute are ordered as their lock orders them. See `docs/decisions/0103`.
//!
//! **Arrivals at a barrier in any order** ([`Op::Meet`](crate::Op::Meet)). The threads of a generation leave when all have
//! arrived, and only the result of the call tells one of them that it was the last. Where no result is used, arrivals of one
//! generation commute. Those of different generations do not, but are ordered anyway if no more threads use the barrier
//! than a generation has. See `docs/decisions/0104`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{Access, Addr, SiteId};

/// A change of a number that commutes with others of its kind: what the number was is used for nothing else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Update {
    /// Adds or subtracts.
    Add,
    /// Keeps some bits.
    And,
    /// Sets some bits.
    Or,
    /// Flips some bits.
    Xor,
}

/// An executed critical section.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Critical {
    /// The lock, which is taken exclusively.
    pub lock: Addr,
    /// The accesses, in order. All are plain.
    pub accesses: Box<[Access]>,
    /// Where in the code each access is made.
    pub sites: Box<[Option<SiteId>]>,
    /// Which accesses are part of an update that commutes.
    pub updates: Box<[Option<Update>]>,
}

impl Critical {
    /// The number of events that a run makes of it: taking the lock, the accesses, giving the lock back.
    pub fn events(&self) -> u32 {
        self.accesses.len() as u32 + 2
    }
}

/// What the program's text says of a critical section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CriticalSection {
    /// Its accesses in order, and which of them are part of an update that commutes. A run makes them all, but for those
    /// that no other thread can see.
    pub accesses: Vec<(SiteId, Option<Update>)>,
    /// Where it gives the lock back.
    pub release: SiteId,
}

/// The shortcuts of a program.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Shortcuts {
    /// The critical sections that can be taken as one event, by the site that takes the lock.
    pub sections: BTreeMap<SiteId, CriticalSection>,
    /// The sites that wait at a barrier and do not use the result.
    pub meetings: BTreeSet<SiteId>,
}

impl Shortcuts {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sections.is_empty() && self.meetings.is_empty()
    }
}
