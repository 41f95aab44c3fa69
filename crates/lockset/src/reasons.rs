//! Why two accesses cannot race: the reasons of [`crate::verdict`], tried in the same order, without their words.

use facts::Solved;
use facts::order::Argument;
use facts::spot::Spot;
use model::LockMode;

use crate::events::Way;
use crate::lock::Lock;
use crate::names;
use crate::semaphores::Semaphores;
use crate::stripe;
use crate::verdict::Reason;

/// A reason that is not put in words yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cause {
    NeverParallel,
    CommonLock(Lock),
    LockBeside(i64),
    SameIndex(Spot),
    Once(Spot),
    Signal(Spot),
    OwnSlot,
    BeforePublication,
    Histories(Lock, Lock),
    OtherType,
}

impl Cause {
    /// In words.
    pub(crate) fn reason(self, facts: &Solved<'_>) -> Reason {
        match self {
            Self::NeverParallel => Reason::NeverParallel,
            Self::CommonLock(lock) => Reason::CommonLock(names::lock(facts, &lock)),
            Self::LockBeside(distance) => Reason::LockBeside(distance),
            Self::SameIndex(locks) => Reason::SameIndex(names::object(facts, locks, 0)),
            Self::Once(control) => Reason::Once(names::object(facts, control, 4)),
            Self::Signal(semaphore) => Reason::Signal(names::object(facts, semaphore, 4)),
            Self::OwnSlot => Reason::OwnSlot,
            Self::BeforePublication => Reason::BeforePublication,
            Self::OtherType => Reason::OtherType,
            Self::Histories(one, other) => Reason::Histories(names::lock(facts, &one), names::lock(facts, &other)),
        }
    }
}

/// Finds reasons.
pub(crate) struct Reasons<'a, 'p> {
    pub(crate) facts: &'a Solved<'p>,
    pub(crate) semaphores: Semaphores,
}

impl Reasons<'_, '_> {
    /// Why two accesses that may be at the same time cannot race.
    pub(crate) fn of(&self, one: (&Way, Spot), other: (&Way, Spot)) -> Option<Cause> {
        let (a, b) = (one.0, other.0);
        let common = a.locks.iter().find(|(lock, mode)| {
            let there = b.locks.iter().find(|(l, _)| l == lock);
            let apart = there.is_some_and(|(_, m)| *mode == LockMode::Exclusive || *m == LockMode::Exclusive);
            matches!(lock, Lock::At(_)) && apart && self.counts(lock)
        });
        if let Some((lock, _)) = common {
            return Some(Cause::CommonLock(*lock));
        }
        if a.fresh && b.fresh {
            return Some(Cause::BeforePublication);
        }
        let order = || once(a, b).or_else(|| signal(a, b)).or_else(|| signal(b, a));
        let slots = || self.own(a, b).or_else(|| self.unclaimed(a, b)).or_else(|| self.unclaimed(b, a));
        beside(one, other)
            .or_else(|| stripe::same_index(a, b))
            .or_else(order)
            .or_else(slots)
            .or_else(|| self.histories(a, b))
    }

    /// Whether holding what is there keeps others out.
    pub(crate) fn counts(&self, lock: &Lock) -> bool {
        match lock {
            Lock::At(spot) => self.semaphores.excludes(self.facts, spot),
            _ => true,
        }
    }

    /// Whether threads made by one statement stay apart by their arguments.
    fn own(&self, one: &Way, other: &Way) -> Option<Cause> {
        let thread = one.thread.filter(|t| Some(*t) == other.thread)?;
        let (a, b) = (one.own?, other.own?);
        if !self.facts.order.arguments_differ(thread) || (a.base, a.scale) != (b.base, b.scale) {
            return None;
        }
        let spacing = match (self.facts.order.threads[thread].argument, a.base) {
            (Argument::Fresh, None) => return Some(Cause::OwnSlot),
            (Argument::Apart(bytes), None) => i64::try_from(bytes).ok()?,
            (Argument::Apart(step), Some(_)) => i64::try_from(step).ok()?.checked_mul(a.scale.checked_abs()?)?,
            _ => return None,
        };
        are_apart((a.offset, one.len?), (b.offset, other.len?), spacing)
    }

    /// Whether one is to what belongs to no running thread of those that do the other to what is theirs.
    fn unclaimed(&self, one: &Way, other: &Way) -> Option<Cause> {
        let ((thread, offset), own) = (one.unclaimed?, other.own?);
        if other.thread != Some(thread) || own.base.is_some() || !self.facts.order.arguments_differ(thread) {
            return None;
        }
        let spacing = match self.facts.order.threads[thread].argument {
            Argument::Fresh => return Some(Cause::OwnSlot),
            Argument::Apart(bytes) => i64::try_from(bytes).ok()?,
            Argument::Any => return None,
        };
        are_apart((offset, one.len?), (own.offset, other.len?), spacing)
    }

    /// Two locks that each took while holding the other's.
    fn histories(&self, one: &Way, other: &Way) -> Option<Cause> {
        let exclusive = |way: &Way, lock: &Lock| {
            self.counts(lock) && way.locks.iter().any(|(l, m)| l == lock && *m == LockMode::Exclusive)
        };
        one.histories.iter().find_map(|(a, taken)| {
            taken.iter().find_map(|b| {
                let back = other.histories.iter().any(|(l, taken)| l == b && taken.contains(a));
                (back && exclusive(one, a) && exclusive(other, b)).then_some(Cause::Histories(*a, *b))
            })
        })
    }
}

/// The same lock, found by its distance from the accessed bytes.
fn beside(one: (&Way, Spot), other: (&Way, Spot)) -> Option<Cause> {
    let ((one, spot), (other, other_spot)) = (one, other);
    if one.wild || other.wild || one.beside.is_empty() || other.beside.is_empty() {
        return None;
    }
    let (len, other_len) = (one.len?, other.len?);
    // Where nothing is known of offsets, two accesses of one size that overlap are the same, as both are aligned.
    let unknown = spot.stride == 1 || other_spot.stride == 1;
    let apart = match spot.only_distance(len, other_spot, other_len) {
        Some(distance) => distance,
        None if unknown && len == other_len && matches!(len, 1 | 2 | 4 | 8) => 0,
        None => return None,
    };
    let found = one.beside.iter().find(|(distance, mode)| {
        let same = other.beside.iter().filter(|(d, _)| d.checked_add(apart) == Some(*distance));
        same.into_iter().any(|(_, m)| *mode == LockMode::Exclusive || *m == LockMode::Exclusive)
    });
    found.map(|(distance, _)| Cause::LockBeside(*distance))
}

fn once(one: &Way, other: &Way) -> Option<Cause> {
    let inside = |way: &Way| {
        way.locks
            .iter()
            .filter_map(|(l, _)| if let Lock::Once(spot) = l { Some(*spot) } else { None })
            .collect::<Vec<_>>()
    };
    let ordered =
        |spot: &Spot, way: &Way| way.locks.iter().any(|(l, _)| *l == Lock::Once(*spot) || *l == Lock::Passed(*spot));
    let found = inside(one).into_iter().find(|spot| ordered(spot, other));
    found.or_else(|| inside(other).into_iter().find(|spot| ordered(spot, one))).map(Cause::Once)
}

/// Whether one comes before a post, and the other after a wait that the post lets through.
fn signal(one: &Way, other: &Way) -> Option<Cause> {
    one.locks.iter().find_map(|(lock, _)| match lock {
        Lock::NotPosted(spot) if other.locks.iter().any(|(l, _)| *l == Lock::Passed(*spot)) => {
            Some(Cause::Signal(*spot))
        }
        _ => None,
    })
}

/// Bytes at offsets from arguments that are a multiple of the spacing apart, but not equal.
fn are_apart(one: (i64, u64), other: (i64, u64), spacing: i64) -> Option<Cause> {
    let end = |(offset, len): (i64, u64)| offset.checked_add(i64::try_from(len).ok()?);
    let apart = end(one)? <= other.0.checked_add(spacing)? && end(other)? <= one.0.checked_add(spacing)?;
    apart.then_some(Cause::OwnSlot)
}
