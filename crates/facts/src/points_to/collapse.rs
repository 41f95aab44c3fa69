//! Collapsed nodes: abstract locations that a pointer with very many targets does not tell apart.
//!
//! Where a points-to set grows too large, its locations collapse into one node, as Steensgaard's analysis does with all
//! that one pointer points to. The set then has one spot for all of them, and what is stored in one of them is stored
//! in the collapsed node; what is accessed under a location's own name stays apart. A location is in one collapsed node
//! at most, so there are never more collapsed nodes than locations.

use std::collections::BTreeMap;

use model::index::{Idx, IndexVec};
use rustc_hash::FxHashMap;

use super::solver::{MOST_SPOTS, MOST_TARGETS};
use crate::spot::{ObjectId, Origin, Shift, Spot};

/// Which objects are in which collapsed node.
#[derive(Default)]
pub(super) struct CollapsedNodes {
    /// The collapsed node that an object or an older collapsed node has become part of.
    part_of: Vec<Option<ObjectId>>,
    members: FxHashMap<ObjectId, Vec<ObjectId>>,
}

/// Whether pointers to it may be taken together: what runs has to be known one by one.
fn can_collapse(origin: Origin) -> bool {
    matches!(origin, Origin::Global(_) | Origin::Stack(..) | Origin::Heap(_) | Origin::Collapsed)
}

impl CollapsedNodes {
    /// The object that has the memory of this one: its collapsed node, or itself.
    pub(super) fn home(&self, mut object: ObjectId) -> ObjectId {
        while let Some(Some(collapsed)) = self.part_of.get(object.index()) {
            object = *collapsed;
        }
        object
    }
    /// The collapsed node that an object is in.
    pub(super) fn of(&self, object: ObjectId) -> Option<ObjectId> {
        Some(self.home(object)).filter(|home| *home != object)
    }
    /// The objects of a collapsed node.
    pub(super) fn members(&self, collapsed: ObjectId) -> &[ObjectId] {
        self.members.get(&collapsed).map_or(&[], Vec::as_slice)
    }
    /// Whether a set has the spot as that of a collapsed node.
    pub(super) fn are_in(&self, set: &[Spot], spot: Spot) -> bool {
        let Some(collapsed) = self.of(spot.object) else { return false };
        let spot = Spot { object: collapsed, ..spot };
        let at = set.partition_point(|s| s.object < collapsed);
        set[at..].iter().take_while(|s| s.object == collapsed).any(|s| s.includes(spot))
    }

    /// The objects of a large set that are to be collapsed: those with spots at the same place, or all if that does not
    /// help.
    pub(super) fn groups(&self, set: &[Spot], objects: &IndexVec<ObjectId, Origin>) -> Vec<Vec<ObjectId>> {
        let mut by_place: BTreeMap<Shift, Vec<ObjectId>> = BTreeMap::new();
        for spot in set.iter().filter(|s| can_collapse(objects[s.object])) {
            by_place.entry(spot.within()).or_default().push(spot.object);
        }
        if by_place.len() <= MOST_SPOTS {
            return by_place.into_values().filter(|group| group.len() > MOST_TARGETS / MOST_SPOTS).collect();
        }
        let mut all: Vec<ObjectId> = by_place.into_values().flatten().collect();
        all.sort_unstable();
        all.dedup();
        Vec::from([all])
    }
    /// Makes one collapsed node of objects, and of collapsed nodes that they are in already; returns what was no part
    /// of it before.
    pub(super) fn gather(
        &mut self,
        group: &[ObjectId],
        objects: &mut IndexVec<ObjectId, Origin>,
    ) -> (ObjectId, Vec<ObjectId>) {
        let mut homes: Vec<ObjectId> = group.iter().map(|object| self.home(*object)).collect();
        homes.sort_unstable();
        homes.dedup();
        let collapsed_nodes = homes.iter().copied().filter(|home| objects[*home] == Origin::Collapsed);
        let largest = collapsed_nodes.max_by_key(|collapsed| self.members(*collapsed).len());
        let collapsed = largest.unwrap_or_else(|| objects.push(Origin::Collapsed));
        homes.retain(|home| *home != collapsed);
        self.part_of.resize(objects.len(), None);
        for home in &homes {
            let members = self.members.remove(home).unwrap_or_else(|| vec![*home]);
            self.members.entry(collapsed).or_default().extend(members);
            self.part_of[home.index()] = Some(collapsed);
        }
        (collapsed, homes)
    }

    /// A set with collapsed nodes for all of their members, sorted.
    pub(super) fn put_together(&self, set: &[Spot], objects: &IndexVec<ObjectId, Origin>) -> Vec<Spot> {
        let in_node = |spot: &Spot| match objects[spot.object] {
            origin if can_collapse(origin) => Spot { object: self.home(spot.object), ..*spot },
            _ => *spot,
        };
        let mut all: Vec<Spot> = set.iter().map(in_node).collect();
        all.sort_unstable();
        all.dedup();
        let of_one_object = all.chunk_by(|a, b| a.object == b.object);
        let widened = of_one_object.flat_map(|spots| match spots {
            [first, rest @ ..] if rest.len() >= MOST_SPOTS => {
                vec![rest.iter().fold(*first, |wide, spot| wide.widened(*spot))]
            }
            few => few.to_vec(),
        });
        widened.collect()
    }
    /// A set with the collapsed nodes there are now, sorted and without members that a collapsed node in it includes.
    pub(super) fn settled(&self, set: &[Spot], objects: &IndexVec<ObjectId, Origin>) -> Vec<Spot> {
        let in_node = |spot: &Spot| match objects[spot.object] {
            Origin::Collapsed => Spot { object: self.home(spot.object), ..*spot },
            _ => *spot,
        };
        let mut all: Vec<Spot> = set.iter().map(in_node).collect();
        all.sort_unstable();
        all.dedup();
        let mut apart = all.clone();
        apart.retain(|spot| !self.are_in(&all, *spot));
        apart
    }
}
