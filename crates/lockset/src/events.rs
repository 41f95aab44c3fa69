//! Accesses to memory that threads share, each with the locks held and the thread and moment it happens in.
//!
//! What differs in nothing but the site is one *class*: pairs are judged class by class, so that a variable with many
//! accesses costs as much as it has ways of being accessed.

use std::collections::{BTreeMap, BTreeSet};

use facts::Facts;
use facts::accesses::{Access, Target, accesses};
use facts::invocations::Place;
use facts::order::{ContextId, MomentId, ThreadId};
use facts::spot::{ObjectId, Origin, Shift, Spot};
use facts::{FromArgument, address::Address};
use model::{AccessKind, LockMode, Order, SiteId};
use program::FunctionId;

use crate::effects::Effects;
use crate::entries::{Entries, Holding};
use crate::fresh::Fresh;
use crate::lock::Lock;

/// How a piece of memory is accessed; many sites may do it the same way.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Class {
    pub(crate) spot: Spot,
    /// Bytes; `None` if not known.
    pub(crate) len: Option<u64>,
    pub(crate) kind: AccessKind,
    pub(crate) atomic: bool,
    pub(crate) order: Option<Order>,
    /// Locks held that are known by name.
    pub(crate) locks: Vec<(Lock, LockMode)>,
    /// Locks held at a fixed distance from the accessed byte.
    pub(crate) beside: Vec<(i64, LockMode)>,
    /// Acquisition histories of the named locks.
    pub(crate) histories: Vec<(Lock, Vec<Lock>)>,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) moment: MomentId,
    /// How the address is made of the thread's argument.
    pub(crate) own: Option<FromArgument>,
    /// It is so far from the argument of this thread, and no running one has that argument.
    pub(crate) unclaimed: Option<(ThreadId, i64)>,
    /// It is to a new block that nobody else knows yet.
    pub(crate) fresh: bool,
    /// Nothing is known about where the access goes.
    pub(crate) wild: bool,
}

impl Class {
    /// The class of a bunch as it is for one of the members.
    pub(crate) fn at_member(&self, facts: &Facts<'_>, member: ObjectId) -> Self {
        let mut class = Self { spot: Spot { object: member, ..self.spot }, ..self.clone() };
        class.name_locks(facts);
        class
    }
    /// A lock beside a byte that is known by name is known by name, and one with a name in the same object is beside it.
    fn name_locks(&mut self, facts: &Facts<'_>) {
        if self.spot.stride > 0 || !facts.is_unique(self.spot.object) {
            return;
        }
        for (lock, mode) in &self.locks {
            if let Lock::At(at) = lock
                && at.object == self.spot.object
            {
                self.beside.push((i64::from(at.offset) - i64::from(self.spot.offset), *mode));
            }
        }
        self.beside.sort_unstable();
        self.beside.dedup();
        for (distance, mode) in &self.beside {
            let lock = Lock::At(self.spot.shifted(Shift { offset: *distance, stride: 0 }));
            if !self.locks.iter().any(|(l, _)| *l == lock) {
                self.locks.push((lock, *mode));
            }
        }
        self.locks.sort_unstable();
    }
}

/// Where a class occurs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sites {
    pub(crate) sites: BTreeSet<SiteId>,
}

/// Classes by object.
pub(crate) type Events = BTreeMap<ObjectId, BTreeMap<Class, Sites>>;

struct Interesting {
    place: Place,
    site: SiteId,
    access: Access,
}

/// Collects the accesses of all contexts.
pub(crate) fn events(facts: &Facts<'_>, effects: &Effects, entries: &Entries) -> Events {
    let mut events = Events::new();
    let fresh = Fresh::new(facts);
    let mut known: BTreeMap<FunctionId, Vec<Interesting>> = BTreeMap::new();
    for (id, context) in facts.order.contexts.iter_enumerated() {
        let list = known.entry(context.function).or_insert_with(|| interesting(facts, context.function));
        let mut last: Option<(Place, Option<Holding>)> = None;
        for item in list.iter() {
            if last.as_ref().is_none_or(|(place, _)| *place != item.place) {
                last = Some((item.place, entries.at(facts, effects, id, item.place)));
            }
            let Some((_, Some(holding))) = &last else { continue };
            collect(facts, &fresh, &mut events, id, item, holding);
        }
    }
    events
}

/// The accesses of a function that may be to shared memory.
fn interesting(facts: &Facts<'_>, function: FunctionId) -> Vec<Interesting> {
    let mut found = Vec::new();
    for (block_id, block) in facts.program.functions[function].blocks.iter_enumerated() {
        for (index, statement) in block.statements.iter().enumerate() {
            let Some(site) = statement.site else { continue };
            for access in accesses(facts.program, &statement.stmt) {
                let shared = match access.target {
                    Target::Library(_) | Target::List => true,
                    Target::Pointer(operand) => {
                        let spots = facts.points_to.of(function, &operand);
                        let wild = !access.perhaps && facts.points_to.is_wild(function, &operand);
                        wild || spots.iter().any(|s| facts.is_exposed(s.object))
                    }
                };
                if shared {
                    found.push(Interesting { place: (function, block_id, index), site, access });
                }
            }
        }
    }
    found
}

fn collect(
    facts: &Facts<'_>,
    fresh: &Fresh,
    events: &mut Events,
    id: ContextId,
    item: &Interesting,
    holding: &Holding,
) {
    let context = &facts.order.contexts[id];
    let (address, spots, wild): (Option<Address>, Vec<Spot>, bool) = match item.access.target {
        Target::Library(state) => {
            let spot = facts.points_to.object(Origin::Library(state)).map(Spot::start);
            (None, spot.into_iter().collect(), false)
        }
        Target::List => (None, facts.points_to.outside().to_vec(), false),
        Target::Pointer(operand) => {
            let address = facts.points_to.addresses.of(context.function, &operand);
            let spots = facts.spots(context, &address);
            let wild = spots.is_empty() && !item.access.perhaps;
            (Some(address), spots, wild)
        }
    };
    let mut named: Vec<(Lock, LockMode)> = Vec::new();
    let mut beside = Vec::new();
    for (lock, held) in &holding.locks {
        match lock {
            Lock::Symbol(symbol) => {
                if let Some(distance) = address.as_ref().and_then(|a| a.distance(symbol)) {
                    beside.push((distance, held.mode));
                }
            }
            other => named.push((*other, held.mode)),
        }
    }
    beside.sort_unstable();
    let own = address.as_ref().and_then(|a| facts.from_argument(context, a));
    let unclaimed = address.as_ref().and_then(|a| facts.order.unclaimed(id, item.place, a));
    let new = address.as_ref().is_some_and(|a| fresh.is_fresh(item.place, a));
    let moment = context.moment_at(item.place.1, item.place.2);
    let histories: Vec<(Lock, Vec<Lock>)> = holding
        .histories
        .iter()
        .filter(|(lock, history)| !history.is_empty() && matches!(lock, Lock::At(_)))
        .map(|(lock, h)| (*lock, h.iter().filter(|l| matches!(l, Lock::At(_))).copied().collect()))
        .collect();
    let mut add = |object: ObjectId, spot: Spot, wild: bool| {
        let mut class = Class {
            spot,
            len: item.access.len,
            kind: item.access.kind,
            atomic: item.access.atomic,
            order: item.access.order,
            locks: named.clone(),
            beside: beside.clone(),
            histories: histories.clone(),
            thread: context.thread,
            moment,
            own,
            unclaimed,
            fresh: new,
            wild,
        };
        class.name_locks(facts);
        events.entry(object).or_default().entry(class).or_default().sites.insert(item.site);
    };
    for spot in spots.iter().filter(|s| facts.is_exposed(s.object)) {
        add(spot.object, *spot, false);
        for clone in facts.points_to.clones(spot.object) {
            add(*clone, Spot { object: *clone, ..*spot }, false);
        }
    }
    if wild && let Some(outside) = facts.points_to.object(Origin::Outside) {
        add(outside, Spot::new(outside, Shift::ANYWHERE), true);
    }
}
