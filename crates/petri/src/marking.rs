//! Markings: how many tokens each place holds.

use std::fmt;

use crate::net::PlaceId;

/// A sparse marking: places with at least one token, ascending. As an element of a basis it stands for all
/// markings that are at least as large.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Marking {
    entries: Box<[(PlaceId, u32)]>,
}

impl Marking {
    /// The marking with these tokens. Entries of one place add up; zeros are dropped.
    pub fn new(entries: impl IntoIterator<Item = (PlaceId, u32)>) -> Self {
        let mut sorted: Vec<_> = entries.into_iter().filter(|(_, n)| *n > 0).collect();
        sorted.sort_unstable();
        sorted.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
        Self { entries: sorted.into() }
    }

    /// Places with tokens, ascending.
    pub fn entries(&self) -> &[(PlaceId, u32)] {
        &self.entries
    }

    /// Tokens in a place.
    pub fn get(&self, place: PlaceId) -> u32 {
        self.entries.binary_search_by_key(&place, |(p, _)| *p).map_or(0, |i| self.entries[i].1)
    }

    /// Whether this marking is at least as large in every place.
    pub fn covers(&self, other: &Self) -> bool {
        let mut own = self.entries.iter();
        other.entries.iter().all(|(place, n)| own.find(|(p, _)| p >= place).is_some_and(|(p, m)| p == place && m >= n))
    }

    /// Tokens in all places.
    pub fn total(&self) -> u64 {
        self.entries.iter().map(|(_, n)| u64::from(*n)).sum()
    }
}

impl fmt::Debug for Marking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries.iter().map(|(p, n)| (p.0, n))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covering_is_componentwise() {
        let m = |e: &[(u32, u32)]| Marking::new(e.iter().map(|&(p, n)| (PlaceId(p), n)));
        assert!(m(&[(1, 2), (3, 1)]).covers(&m(&[(1, 2)])));
        assert!(m(&[(1, 2), (3, 1)]).covers(&m(&[])));
        assert!(!m(&[(1, 2), (3, 1)]).covers(&m(&[(1, 3)])));
        assert!(!m(&[(1, 2), (3, 1)]).covers(&m(&[(2, 1), (3, 1)])));
        assert_eq!(m(&[(3, 1), (1, 1), (3, 2), (2, 0)]).entries(), &[(PlaceId(1), 1), (PlaceId(3), 3)]);
    }
}
