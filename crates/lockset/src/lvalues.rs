//! Which ways of accessing touch memory as different things ([`program::members`]), decided once for each two.

use facts::Rounds;
use fixedbitset::FixedBitSet;
use model::Spent;
use model::index::IndexVec;
use program::members::{Lvalue, Record, RecordId, may_be_same};
use program::whole::Extent;
use rustc_hash::FxHashMap;

use crate::bundles::{Brief, BriefId};

/// The lvalues of all briefs.
pub(crate) struct Lvalues {
    /// By brief, its lvalue by number.
    of: IndexVec<BriefId, Option<usize>>,
    /// For each lvalue those that cannot be the same bytes.
    apart: Vec<FixedBitSet>,
    all: Vec<Lvalue>,
}

impl Lvalues {
    pub(crate) fn new(
        records: &IndexVec<RecordId, Record>,
        briefs: &IndexVec<BriefId, Brief>,
        rounds: &mut Rounds<'_>,
    ) -> Result<Self, Spent> {
        let mut numbers: FxHashMap<Lvalue, usize> = FxHashMap::default();
        let mut all = Vec::new();
        let mut number = |lvalue: Lvalue| {
            *numbers.entry(lvalue).or_insert_with(|| {
                all.push(lvalue);
                all.len() - 1
            })
        };
        let of = briefs.iter().map(|brief| brief.lvalue.map(&mut number)).collect();
        let mut apart = Vec::with_capacity(all.len());
        for one in &all {
            rounds.begin()?;
            let mut others = FixedBitSet::with_capacity(all.len());
            let extent = if let Lvalue::Whole(whole) = one { Some(Extent::of(records, *whole)) } else { None };
            for (at, other) in all.iter().enumerate() {
                let same = match (&extent, other) {
                    (Some(extent), other) => extent.may_be(*other),
                    // Set from the other side.
                    (None, Lvalue::Whole(_)) => true,
                    (None, other) => may_be_same(records, *one, *other),
                };
                others.set(at, !same);
            }
            apart.push(others);
        }
        for at in 0..all.len() {
            for other in apart[at].ones().collect::<Vec<_>>() {
                apart[other].insert(at);
            }
        }
        Ok(Self { of, apart, all })
    }

    /// All of them, by number.
    pub(crate) fn all(&self) -> &[Lvalue] {
        &self.all
    }
    /// The number of a brief's.
    pub(crate) fn of(&self, brief: BriefId) -> Option<usize> {
        self.of[brief]
    }

    /// Whether what is accessed in one of these ways is never what is accessed in the other.
    #[inline]
    pub(crate) fn are_apart(&self, one: BriefId, other: BriefId) -> bool {
        self.of[one].zip(self.of[other]).is_some_and(|(one, other)| self.apart[one].contains(other))
    }
}
