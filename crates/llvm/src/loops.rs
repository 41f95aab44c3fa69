//! Natural loops of a function.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Block, Value};

/// A loop: blocks by number in the function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Loop {
    /// Where every round begins.
    pub(crate) header: usize,
    /// All blocks, the header included.
    pub(crate) blocks: BTreeSet<usize>,
}

/// The blocks of a function and how they follow each other.
pub(crate) struct Flow<'m> {
    /// The blocks by number, entry first.
    pub(crate) blocks: Vec<Block<'m>>,
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    /// For each block, those that are passed on every way to it, itself included; empty where there is no way.
    dominators: Vec<BTreeSet<usize>>,
}

impl<'m> Flow<'m> {
    /// The flow of a function as it is now.
    pub(crate) fn of(function: Value<'m>) -> Self {
        let blocks = function.blocks();
        let number: BTreeMap<Block<'m>, usize> = blocks.iter().enumerate().map(|(i, b)| (*b, i)).collect();
        let successors: Vec<Vec<usize>> =
            blocks.iter().map(|b| b.successors().iter().filter_map(|to| number.get(to).copied()).collect()).collect();
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for (from, targets) in successors.iter().enumerate() {
            targets.iter().for_each(|to| predecessors[*to].push(from));
        }
        let dominators = dominators(&successors, &predecessors);
        Self { blocks, successors, predecessors, dominators }
    }

    /// Where control may go after a block.
    pub(crate) fn successors(&self, block: usize) -> &[usize] {
        &self.successors[block]
    }

    /// Where control may come from.
    pub(crate) fn predecessors(&self, block: usize) -> &[usize] {
        &self.predecessors[block]
    }

    /// Whether every way to `block` passes `by`.
    pub(crate) fn dominates(&self, by: usize, block: usize) -> bool {
        self.dominators[block].contains(&by)
    }

    /// The natural loops, by header.
    pub(crate) fn loops(&self) -> Vec<Loop> {
        let mut loops = BTreeMap::<usize, BTreeSet<usize>>::new();
        for (latch, targets) in self.successors.iter().enumerate() {
            for header in targets.iter().copied().filter(|header| self.dominates(*header, latch)) {
                let blocks = loops.entry(header).or_default();
                blocks.insert(header);
                let mut open = vec![latch];
                while let Some(block) = open.pop() {
                    if blocks.insert(block) {
                        open.extend(&self.predecessors[block]);
                    }
                }
            }
        }
        loops.into_iter().map(|(header, blocks)| Loop { header, blocks }).collect()
    }
}

/// The usual iteration over sets.
fn dominators(successors: &[Vec<usize>], predecessors: &[Vec<usize>]) -> Vec<BTreeSet<usize>> {
    let mut found: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); successors.len()];
    let mut known = vec![false; successors.len()];
    let mut open = vec![0];
    if successors.is_empty() {
        return found;
    }
    while let Some(block) = open.pop() {
        let mut dominators: Option<BTreeSet<usize>> = None;
        for before in predecessors[block].iter().copied().filter(|before| known[*before]) {
            dominators = Some(match dominators {
                Some(so_far) => so_far.intersection(&found[before]).copied().collect(),
                None => found[before].clone(),
            });
        }
        let mut dominators = if block == 0 { BTreeSet::new() } else { dominators.unwrap_or_default() };
        dominators.insert(block);
        if !known[block] || found[block] != dominators {
            known[block] = true;
            found[block] = dominators;
            open.extend(&successors[block]);
        }
    }
    found
}
