//! Which ways of accessing touch memory as different things ([`program::members`]), decided once for each two.

use fixedbitset::FixedBitSet;
use model::index::IndexVec;
use program::members::{Lvalue, Record, RecordId, may_be_same};
use rustc_hash::FxHashMap;

use crate::bundles::{Brief, BriefId};

/// The lvalues of all briefs.
pub(crate) struct Lvalues {
    /// By brief, its lvalue by number.
    of: IndexVec<BriefId, Option<usize>>,
    /// For each lvalue those that cannot be the same bytes.
    apart: Vec<FixedBitSet>,
}

impl Lvalues {
    pub(crate) fn new(records: &IndexVec<RecordId, Record>, briefs: &IndexVec<BriefId, Brief>) -> Self {
        let mut numbers: FxHashMap<Lvalue, usize> = FxHashMap::default();
        let mut all = Vec::new();
        let mut number = |lvalue: Lvalue| {
            *numbers.entry(lvalue).or_insert_with(|| {
                all.push(lvalue);
                all.len() - 1
            })
        };
        let of = briefs.iter().map(|brief| brief.lvalue.map(&mut number)).collect();
        let apart_from = |one: &Lvalue| all.iter().map(|other| !may_be_same(records, *one, *other)).collect::<Vec<_>>();
        let set = |flags: Vec<bool>| {
            let mut set = FixedBitSet::with_capacity(flags.len());
            flags.iter().enumerate().for_each(|(at, flag)| set.set(at, *flag));
            set
        };
        let apart = all.iter().map(|one| set(apart_from(one))).collect();
        Self { of, apart }
    }

    /// Whether what is accessed in one of these ways is never what is accessed in the other.
    #[inline]
    pub(crate) fn are_apart(&self, one: BriefId, other: BriefId) -> bool {
        self.of[one].zip(self.of[other]).is_some_and(|(one, other)| self.apart[one].contains(other))
    }
}
