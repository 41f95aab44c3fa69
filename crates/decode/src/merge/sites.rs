//! What the words of plain accesses stand for.

use std::collections::BTreeMap;

use model::SiteId;
use serde::{Deserialize, Serialize};
use wire::log::{ADDRESS_BITS, SITES};

/// What a recording does not write down with each plain access, because it is the same at every execution of the site.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SiteTable {
    /// Sites whose plain accesses are logged without a record: whether they write, and how many bytes.
    pub accesses: BTreeMap<SiteId, (bool, u32)>,
    /// For sites with a word of their own: the sites whose accesses to the same address come right after it and have none.
    pub together: BTreeMap<SiteId, Vec<SiteId>>,
}

/// A plain access of a site: whether it writes, and how many bytes.
pub(super) type SiteAccess = (SiteId, bool, u32);

/// By site: the accesses that a word of it stands for; none if it has no words.
pub(super) struct Sites(Vec<Box<[SiteAccess]>>);

impl Sites {
    /// The sites of a recording, or what is wrong with them.
    pub(super) fn new(table: &SiteTable) -> Result<Self, String> {
        let access = |site: &SiteId| {
            let missing = || format!("{site} makes no access");
            table.accesses.get(site).map(|(writes, len)| (*site, *writes, *len)).ok_or_else(missing)
        };
        let mut sites: Vec<Box<[SiteAccess]>> = Vec::new();
        for first in table.accesses.keys().filter(|site| site.0 < SITES) {
            let all = std::iter::once(first).chain(table.together.get(first).into_iter().flatten());
            sites.resize_with(first.0 as usize, Box::default);
            sites.push(all.map(access).collect::<Result<_, _>>()?);
        }
        Ok(Self(sites))
    }

    /// What a word stands for: accesses to one address, one after the other.
    #[inline]
    pub(super) fn of(&self, word: u64) -> &[SiteAccess] {
        self.0.get((word >> ADDRESS_BITS) as usize).map_or(&[], |accesses| accesses)
    }
}

/// The address in the word of a plain access.
pub(super) const fn address_of(word: u64) -> u64 {
    word & ((1 << ADDRESS_BITS) - 1)
}
