//! Locks by name, and sets of locks that are surely held.

use std::collections::BTreeMap;

use facts::Solved;
use facts::address::{Address, Base};
use facts::order::Context;
use facts::spot::Spot;
use model::LockMode;
use program::{FunctionId, LocalId};

/// A lock as a function knows it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Lock {
    /// The one there: the spot is of an object that exists once.
    At(Spot),
    /// Whatever is at this address, in terms of the function's locals.
    Symbol(Address),
    /// What a once-control runs, while it runs it.
    Once(Spot),
    /// Not a lock but a memory: a once-control has been passed, so its routine has ended; or a semaphore has been waited
    /// for, so it was posted.
    Passed(Spot),
    /// Not a lock but a promise: this thread, the only one to post the semaphore, has not done so yet.
    NotPosted(Spot),
}

impl Lock {
    /// Whether the name depends on a local.
    pub fn mentions(&self, local: LocalId) -> bool {
        matches!(self, Self::Symbol(address) if address.mentions(local))
    }
    /// Whether it is a lock that can be released.
    pub fn is_lock(&self) -> bool {
        matches!(self, Self::At(_) | Self::Symbol(_))
    }
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Held {
    /// Shared or exclusive.
    pub mode: LockMode,
    /// How often it was taken, at least.
    pub depth: u8,
}

/// Locks that are surely held.
pub type Locks = BTreeMap<Lock, Held>;

/// What surely holds on both of two ways.
pub fn meet(one: &mut Locks, other: &Locks) -> bool {
    let before = one.clone();
    one.retain(|lock, _| other.contains_key(lock));
    for (lock, held) in one.iter_mut() {
        if let Some(there) = other.get(lock) {
            let shared = held.mode == LockMode::Shared || there.mode == LockMode::Shared;
            held.mode = if shared { LockMode::Shared } else { LockMode::Exclusive };
            held.depth = held.depth.min(there.depth);
        }
    }
    *one != before
}

/// The lock that an address names in a function.
pub fn name(facts: &Solved<'_>, function: FunctionId, address: Address) -> Lock {
    let spots = facts.points_to.spots(function, &address);
    match spots[..] {
        [spot] if spot.stride == 0 && facts.is_unique(spot.object) => Lock::At(spot),
        _ => Lock::Symbol(address),
    }
}

/// The lock that a name means in a context.
pub fn in_context(facts: &Solved<'_>, context: &Context, lock: Lock) -> Lock {
    match lock {
        Lock::Symbol(address) => facts.certain(context, &address).map_or(lock, Lock::At),
        other => other,
    }
}

/// What a name may stand for: an empty list for anything.
fn spots(facts: &Solved<'_>, function: FunctionId, context: Option<&Context>, lock: &Lock) -> Vec<Spot> {
    match lock {
        Lock::At(spot) | Lock::Once(spot) | Lock::Passed(spot) | Lock::NotPosted(spot) => vec![*spot],
        Lock::Symbol(address) => match context {
            Some(context) => facts.spots(context, address),
            None => facts.points_to.spots(function, address),
        },
    }
}

/// Whether two names may mean the same lock, in one execution of a function.
pub fn may_be_same(
    facts: &Solved<'_>,
    function: FunctionId,
    context: Option<&Context>,
    one: &Lock,
    other: &Lock,
) -> bool {
    if !one.is_lock() || !other.is_lock() {
        return false;
    }
    if let (Lock::Symbol(a), Lock::Symbol(b)) = (one, other)
        && let Some(distance) = a.distance(b)
    {
        return distance == 0;
    }
    let (a, b) = (spots(facts, function, context, one), spots(facts, function, context, other));
    a.is_empty() || b.is_empty() || facts.points_to.meet(&a, &b)
}

/// A caller's name for a lock that a callee knows by a parameter.
pub fn from_callee(lock: &Lock, argument: impl Fn(LocalId) -> Option<Address>) -> Option<Lock> {
    let Lock::Symbol(address) = lock else { return Some(*lock) };
    let Base::Local(local) = address.base else { return None };
    let given = argument(local)?;
    (address.index.is_none()).then(|| given.plus(address.offset)).flatten().map(Lock::Symbol)
}

/// A callee's names for a lock that its caller holds.
pub fn to_callee(lock: &Lock, arguments: &[Address]) -> Vec<Lock> {
    let Lock::Symbol(address) = lock else { return vec![*lock] };
    let named = arguments.iter().enumerate().filter_map(|(position, argument)| {
        let distance = argument.distance(address)?;
        let is_pointer = matches!(argument.base, Base::Local(_));
        let parameter = Address { base: Base::Local(LocalId(position as u32)), index: None, offset: distance };
        is_pointer.then_some(Lock::Symbol(parameter))
    });
    named.collect()
}
