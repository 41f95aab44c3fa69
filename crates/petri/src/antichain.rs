//! Sets of pairwise incomparable markings, with fast subsumption.
//!
//! The markings are stored in a trie over their entries `(place, count)` in ascending order of place. To find an
//! element that a marking covers, the walk follows only entries the marking has enough tokens for. To find the elements
//! that cover a marking, the walk abandons a branch once it has passed a needed place.

use std::collections::BTreeMap;

use crate::marking::Marking;
use crate::net::PlaceId;

/// A set of pairwise incomparable markings, each with a number given by the caller.
#[derive(Debug, Default)]
pub struct Antichain {
    root: Node,
    len: usize,
}

#[derive(Debug, Default)]
struct Node {
    children: BTreeMap<(PlaceId, u32), Node>,
    element: Option<u32>,
}

impl Antichain {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// An element that `marking` covers, if there is one.
    pub fn covered_by(&self, marking: &Marking) -> Option<u32> {
        fn walk(node: &Node, rest: &[(PlaceId, u32)]) -> Option<u32> {
            if node.element.is_some() {
                return node.element;
            }
            if node.children.len() < rest.len() {
                return node.children.iter().find_map(|((place, count), child)| {
                    let at = rest.binary_search_by_key(place, |(p, _)| *p).ok()?;
                    (*count <= rest[at].1).then(|| walk(child, &rest[at + 1..])).flatten()
                });
            }
            rest.iter().enumerate().find_map(|(at, &(place, count))| {
                node.children.range((place, 0)..=(place, count)).find_map(|(_, child)| walk(child, &rest[at + 1..]))
            })
        }
        walk(&self.root, marking.entries())
    }

    /// Adds `marking` unless it covers an element already; drops the elements that cover it and returns their
    /// numbers. `None` when nothing was added.
    pub fn insert(&mut self, marking: &Marking, number: u32) -> Option<Vec<u32>> {
        if self.covered_by(marking).is_some() {
            return None;
        }
        let mut dropped = Vec::new();
        Self::remove_covering(&mut self.root, marking.entries(), &mut dropped);
        let mut node = &mut self.root;
        for entry in marking.entries() {
            node = node.children.entry(*entry).or_default();
        }
        node.element = Some(number);
        self.len = self.len + 1 - dropped.len();
        Some(dropped)
    }

    /// Removes every element that covers the entries; returns whether the node is empty afterwards.
    fn remove_covering(node: &mut Node, needed: &[(PlaceId, u32)], dropped: &mut Vec<u32>) -> bool {
        let Some(&(place, count)) = needed.first() else {
            Self::take_all(node, dropped);
            return true;
        };
        let mut emptied = Vec::new();
        for (&(p, c), child) in node.children.range_mut(..=(place, u32::MAX)) {
            let empty = if p < place {
                Self::remove_covering(child, needed, dropped)
            } else {
                c >= count && Self::remove_covering(child, &needed[1..], dropped)
            };
            if empty {
                emptied.push((p, c));
            }
        }
        for key in emptied {
            node.children.remove(&key);
        }
        node.children.is_empty() && node.element.is_none()
    }

    fn take_all(node: &mut Node, dropped: &mut Vec<u32>) {
        dropped.extend(node.element.take());
        for (_, mut child) in std::mem::take(&mut node.children) {
            Self::take_all(&mut child, dropped);
        }
    }
}

#[cfg(test)]
mod tests {
    use testkit::generator::Random;

    use super::*;

    #[test]
    fn agrees_with_a_list_scan() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let mut below = |end: usize| random.below(end) as u32;
            let mut tree = Antichain::new();
            let mut list: Vec<(Marking, u32)> = Vec::new();
            for number in 0..60 {
                let size = below(4);
                let m = Marking::new((0..size).map(|_| (PlaceId(below(5)), below(3))));
                let covered = list.iter().any(|(b, _)| m.covers(b));
                assert_eq!(tree.covered_by(&m).is_some(), covered);
                let dropped = tree.insert(&m, number);
                assert_eq!(dropped.is_none(), covered);
                if let Some(mut dropped) = dropped {
                    let mut expected: Vec<u32> = list.iter().filter(|(b, _)| b.covers(&m)).map(|(_, n)| *n).collect();
                    list.retain(|(b, _)| !b.covers(&m));
                    list.push((m, number));
                    dropped.sort_unstable();
                    expected.sort_unstable();
                    assert_eq!(dropped, expected);
                }
                assert_eq!(tree.len(), list.len());
            }
        }
    }
}
