//! Whether the address of a new block is passed on without a race.

use facts::Solved;
use facts::spot::{ObjectId, Origin, Spot};
use model::Order;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::events::Events;

/// Memory with warnings, by object; members of collapsed nodes as their collapsed node.
pub(crate) type Dirty = FxHashMap<ObjectId, FxHashSet<Spot>>;

/// Where addresses of blocks are stored for others.
pub(crate) struct Publication<'a, 'p> {
    facts: &'a Solved<'p>,
    holders: FxHashMap<ObjectId, Vec<(Spot, Option<u32>)>>,
    /// Memory with atomic accesses that order nothing.
    weak: Vec<(Spot, Option<u64>)>,
}

impl<'a, 'p> Publication<'a, 'p> {
    pub(crate) fn new(facts: &'a Solved<'p>, events: &Events) -> Self {
        let classes = events.all().map(|class| (class.spot, &events.ways[class.way]));
        let weak = classes.filter(|(_, way)| matches!(way.order, Some(Order::Relaxed | Order::Continuing)));
        let weak: FxHashSet<_> = weak.map(|(spot, way)| (at_home(facts, spot), way.len)).collect();
        let mut weak: Vec<_> = weak.into_iter().collect();
        weak.sort_unstable();
        Self { facts, holders: facts.points_to.holders(), weak }
    }

    /// Whether everywhere that the address of an object is stored for others, reading it there comes after storing it.
    pub(crate) fn is_clean(&self, object: ObjectId, dirty: &Dirty) -> bool {
        let points_to = &self.facts.points_to;
        if points_to.is_known_outside(object) {
            return false;
        }
        let names = [Some(object), points_to.collapsed_node(object)];
        let places = names.iter().flatten().filter_map(|name| self.holders.get(name)).flatten();
        places.filter(|(spot, _)| self.facts.is_exposed(spot.object)).all(|(spot, size)| {
            // Through a pipe an address is passed on without a race, and without an order.
            if matches!(points_to.origin(spot.object), Origin::Library(state) if !state.orders_passages()) {
                return false;
            }
            let size = size.map(u64::from);
            let warned = dirty.get(&spot.object).into_iter().flatten();
            let racy = warned.into_iter().any(|d| d.overlaps(Some(8), *spot, size));
            !racy && !self.weak.iter().any(|(weak, len)| weak.overlaps(*len, *spot, size))
        })
    }
}

/// The spot, in the collapsed node if its object is in one.
pub(crate) fn at_home(facts: &Solved<'_>, spot: Spot) -> Spot {
    Spot { object: facts.points_to.collapsed_node(spot.object).unwrap_or(spot.object), ..spot }
}
