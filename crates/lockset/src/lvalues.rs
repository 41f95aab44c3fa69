//! Which ways of accessing touch memory as different things ([`program::members`]), decided once for each two.

use facts::Rounds;
use fixedbitset::FixedBitSet;
use model::Spent;
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
            all.iter().enumerate().for_each(|(at, other)| others.set(at, !may_be_same(records, *one, *other)));
            apart.push(others);
        }
        Ok(Self { of, apart })
    }

    /// Whether what is accessed in one of these ways is never what is accessed in the other.
    #[inline]
    pub(crate) fn are_apart(&self, one: BriefId, other: BriefId) -> bool {
        self.of[one].zip(self.of[other]).is_some_and(|(one, other)| self.apart[one].contains(other))
    }
}
