//! What keeps pairs of classes open, as figures for those who improve the analysis.
//!
//! Each open pair counts once, for the first of the [`Hold`]s that it has: where several are at work, the first is the one
//! without which the others would not be asked.

use std::collections::BTreeMap;

use facts::Solved;
use facts::spot::{ObjectId, Origin, Spot};
use rustc_hash::FxHashMap;

use crate::bundles::Bundle;
use crate::events::{Events, Way};
use crate::names;

/// What keeps a pair of classes open.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Hold {
    /// Nothing is known about where one of the pointers points.
    Wild,
    /// One goes through a pointer that may be to any of very many objects.
    CollapsedNode,
    /// The memory is that of functions without a body.
    OutsideMemory,
    /// It is not known which thread makes one of the accesses, or when.
    AnyThread,
    /// Functions without a body know the object.
    KnownOutside,
    /// The object stands for all blocks of an allocating statement, or for all activations of a local.
    ManyObjects,
    /// The two are elements of one array, or one of the accesses may be anywhere in the object.
    Elements,
    /// The two touch the same bytes of one object.
    SameBytes,
}

impl Hold {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Wild => "a pointer of which nothing is known",
            Self::CollapsedNode => "one of very many objects",
            Self::OutsideMemory => "memory of functions without a body",
            Self::AnyThread => "any thread, at any time",
            Self::KnownOutside => "an object that functions without a body know",
            Self::ManyObjects => "blocks of one allocating statement",
            Self::Elements => "elements of one object",
            Self::SameBytes => "the same bytes",
        }
    }
}

/// How many open pairs of classes each of them keeps open, and at which objects most of them are.
#[derive(Default)]
pub(crate) struct Breakdown {
    by_hold: BTreeMap<Hold, u64>,
    by_object: FxHashMap<ObjectId, u64>,
}

/// Objects that are named.
const MOST_NAMED: usize = 12;

impl Breakdown {
    /// Two bundles stay open.
    pub(crate) fn add(&mut self, facts: &Solved<'_>, events: &Events, one: &Bundle, other: &Bundle) {
        let pairs = one.pairs(other);
        let (Some(here), Some(there)) = (one.classes.first(), other.classes.first()) else { return };
        let (a, b) = ((&events.ways[here.way], here.spot), (&events.ways[there.way], there.spot));
        *self.by_hold.entry(hold(facts, a, b)).or_default() += pairs;
        *self.by_object.entry(here.spot.object).or_default() += pairs;
    }

    /// What keeps pairs open, most first: in words, with how many.
    pub(crate) fn holds(&self) -> Vec<(Hold, u64)> {
        let mut holds: Vec<_> = self.by_hold.iter().map(|(hold, pairs)| (*hold, *pairs)).collect();
        holds.sort_by_key(|(hold, pairs)| (std::cmp::Reverse(*pairs), *hold));
        holds
    }
    /// The objects with most open pairs, by name.
    pub(crate) fn objects(&self, facts: &Solved<'_>) -> Vec<(String, u64)> {
        let mut objects: Vec<_> = self.by_object.iter().collect();
        objects.sort_by_key(|(object, pairs)| (std::cmp::Reverse(**pairs), **object));
        objects.truncate(MOST_NAMED);
        objects.into_iter().map(|(object, pairs)| (names::object(facts, Spot::start(*object), 1), *pairs)).collect()
    }
}

fn hold(facts: &Solved<'_>, one: (&Way, Spot), other: (&Way, Spot)) -> Hold {
    let any = |is: &dyn Fn((&Way, Spot)) -> bool| is(one) || is(other);
    let origin = |spot: Spot| facts.points_to.origin(spot.object);
    if any(&|(way, _)| way.wild) {
        Hold::Wild
    } else if any(&|(_, spot)| origin(spot) == Origin::Collapsed) {
        Hold::CollapsedNode
    } else if any(&|(_, spot)| origin(spot) == Origin::Outside) {
        Hold::OutsideMemory
    } else if any(&|(way, _)| way.thread.is_none_or(|thread| facts.order.threads[thread].any_time)) {
        Hold::AnyThread
    } else if facts.points_to.is_known_outside(one.1.object) {
        Hold::KnownOutside
    } else if !facts.is_unique(one.1.object) {
        Hold::ManyObjects
    } else if any(&|(way, spot)| spot.stride > 0 || way.len.is_none()) {
        Hold::Elements
    } else {
        Hold::SameBytes
    }
}
