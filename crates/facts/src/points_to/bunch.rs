//! Bunches: objects that some pointer with very many targets confuses.
//!
//! Where a set of spots grows beyond all use, its objects are put together, as Steensgaard's analysis does with whatever
//! one pointer points to. The set then has one spot for all of them; what is stored in one of them is stored in the bunch;
//! what is accessed under an object's own name stays apart. An object is in one bunch at most, so bunches cost no more
//! than there are objects.

use std::collections::BTreeMap;

use model::index::{Idx, IndexVec};
use rustc_hash::FxHashMap;

use super::solver::{MOST_SPOTS, MOST_TARGETS};
use crate::spot::{ObjectId, Origin, Shift, Spot};

/// Which objects are in which bunch.
#[derive(Default)]
pub(super) struct Bunches {
    /// The bunch that an object or an older bunch has become part of.
    part_of: Vec<Option<ObjectId>>,
    members: FxHashMap<ObjectId, Vec<ObjectId>>,
}

/// Whether pointers to it may be taken together: what runs has to be known one by one.
fn can_be_bunched(origin: Origin) -> bool {
    matches!(origin, Origin::Global(_) | Origin::Stack(..) | Origin::Heap(_) | Origin::Bunch)
}

impl Bunches {
    /// The object that has the memory of this one: its bunch, or itself.
    pub(super) fn home(&self, mut object: ObjectId) -> ObjectId {
        while let Some(Some(bunch)) = self.part_of.get(object.index()) {
            object = *bunch;
        }
        object
    }
    /// The bunch that an object is in.
    pub(super) fn of(&self, object: ObjectId) -> Option<ObjectId> {
        Some(self.home(object)).filter(|home| *home != object)
    }
    /// The objects of a bunch.
    pub(super) fn members(&self, bunch: ObjectId) -> &[ObjectId] {
        self.members.get(&bunch).map_or(&[], Vec::as_slice)
    }
    /// Whether a set has the spot as that of a bunch.
    pub(super) fn are_in(&self, set: &[Spot], spot: Spot) -> bool {
        let Some(bunch) = self.of(spot.object) else { return false };
        let spot = Spot { object: bunch, ..spot };
        let at = set.partition_point(|s| s.object < bunch);
        set[at..].iter().take_while(|s| s.object == bunch).any(|s| s.includes(spot))
    }

    /// The objects of a large set that are to be bunched: those with spots at the same place, or all if that does not
    /// help.
    pub(super) fn groups(&self, set: &[Spot], objects: &IndexVec<ObjectId, Origin>) -> Vec<Vec<ObjectId>> {
        let mut by_place: BTreeMap<Shift, Vec<ObjectId>> = BTreeMap::new();
        for spot in set.iter().filter(|s| can_be_bunched(objects[s.object])) {
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
    /// Makes one bunch of objects, and of bunches that they are in already; returns what was no part of it before.
    pub(super) fn gather(
        &mut self,
        group: &[ObjectId],
        objects: &mut IndexVec<ObjectId, Origin>,
    ) -> (ObjectId, Vec<ObjectId>) {
        let mut homes: Vec<ObjectId> = group.iter().map(|object| self.home(*object)).collect();
        homes.sort_unstable();
        homes.dedup();
        let bunches = homes.iter().copied().filter(|home| objects[*home] == Origin::Bunch);
        let largest = bunches.max_by_key(|bunch| self.members(*bunch).len());
        let bunch = largest.unwrap_or_else(|| objects.push(Origin::Bunch));
        homes.retain(|home| *home != bunch);
        self.part_of.resize(objects.len(), None);
        for home in &homes {
            let members = self.members.remove(home).unwrap_or_else(|| vec![*home]);
            self.members.entry(bunch).or_default().extend(members);
            self.part_of[home.index()] = Some(bunch);
        }
        (bunch, homes)
    }

    /// A set with bunches for all of their members, sorted.
    pub(super) fn put_together(&self, set: &[Spot], objects: &IndexVec<ObjectId, Origin>) -> Vec<Spot> {
        let in_bunch = |spot: &Spot| match objects[spot.object] {
            origin if can_be_bunched(origin) => Spot { object: self.home(spot.object), ..*spot },
            _ => *spot,
        };
        let mut all: Vec<Spot> = set.iter().map(in_bunch).collect();
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
    /// A set with the bunches there are now, sorted and without members that a bunch in it includes.
    pub(super) fn settled(&self, set: &[Spot], objects: &IndexVec<ObjectId, Origin>) -> Vec<Spot> {
        let in_bunch = |spot: &Spot| match objects[spot.object] {
            Origin::Bunch => Spot { object: self.home(spot.object), ..*spot },
            _ => *spot,
        };
        let mut all: Vec<Spot> = set.iter().map(in_bunch).collect();
        all.sort_unstable();
        all.dedup();
        let mut apart = all.clone();
        apart.retain(|spot| !self.are_in(&all, *spot));
        apart
    }
}
