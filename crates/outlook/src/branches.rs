//! Which blocks of a function are executed, and how often, depending on a branch.
//!
//! J. Ferrante, K. Ottenstein, J. Warren, "The program dependence graph and its use in optimization", 1987: a block
//! depends on a branch if it is on every way to the function's end from one of the branch's targets, and not from the
//! branch. Where a target leads to no end, all that can follow depends.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;
use program::{BlockId, Function};

/// The blocks of a function with what follows them.
pub(crate) struct Branches {
    /// For each block, those it leads to, by way of at least one edge.
    after: Vec<FixedBitSet>,
    targets: Vec<Vec<BlockId>>,
    /// For each block, those that are on every way from it to an end; `None` if there is no such way.
    inevitable: Vec<Option<FixedBitSet>>,
    /// For each block, those that lead to it.
    pub(crate) sources: Vec<Vec<BlockId>>,
}

impl Branches {
    pub(crate) fn new(function: &Function) -> Self {
        let targets: Vec<Vec<BlockId>> = function.blocks.iter().map(|b| b.terminator.targets()).collect();
        let count = targets.len();
        let mut sources = vec![Vec::new(); count];
        let mut after = vec![FixedBitSet::with_capacity(count); count];
        for (block, to) in function.blocks.ids().zip(&targets) {
            to.iter().for_each(|to| sources[to.0 as usize].push(block));
            after[block.0 as usize].extend(to.iter().map(|to| to.0 as usize));
        }
        let mut changed = true;
        while changed {
            changed = false;
            for at in (0..count).rev() {
                let mut more = after[at].clone();
                targets[at].iter().for_each(|to| more.union_with(&after[to.0 as usize]));
                changed |= more != after[at];
                after[at] = more;
            }
        }
        let mut inevitable: Vec<Option<FixedBitSet>> = vec![None; count];
        changed = true;
        while changed {
            changed = false;
            for at in (0..count).rev() {
                let mut ways = targets[at].iter().filter_map(|to| inevitable[to.0 as usize].as_ref());
                let mut now = match ways.next() {
                    None if !targets[at].is_empty() => continue,
                    None => FixedBitSet::with_capacity(count),
                    Some(first) => ways.fold(first.clone(), |mut common, way| {
                        common.intersect_with(way);
                        common
                    }),
                };
                now.insert(at);
                if inevitable[at].as_ref() != Some(&now) {
                    inevitable[at] = Some(now);
                    changed = true;
                }
            }
        }
        Self { after, targets, inevitable, sources }
    }

    /// The blocks that depend on how a block ends, directly. What depends on how those end does so too.
    pub(crate) fn depending_on(&self, branch: BlockId) -> BTreeSet<BlockId> {
        let at = branch.0 as usize;
        let blocks = |set: &FixedBitSet| set.ones().map(|block| BlockId(block as u32)).collect::<BTreeSet<_>>();
        let targets = self.targets[at].iter().map(|to| self.inevitable[to.0 as usize].as_ref());
        let Some(targets) = targets.collect::<Option<Vec<_>>>() else { return blocks(&self.after[at]) };
        let mut depending = FixedBitSet::with_capacity(self.targets.len());
        targets.into_iter().for_each(|target| depending.union_with(target));
        if let Some(passed) = &self.inevitable[at] {
            let itself = depending.contains(at);
            depending.difference_with(passed);
            depending.set(at, itself);
        }
        blocks(&depending)
    }
}

#[cfg(test)]
mod tests {
    use program::Program;

    use super::*;

    fn depending(body: &str, branch: u32) -> Vec<u32> {
        let text = format!("fn main() {{\n{body}\n}}\nentry main\n");
        let program = Program::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let branches = Branches::new(&program.functions[program.main.unwrap()]);
        branches.depending_on(BlockId(branch)).into_iter().map(|b| b.0).collect()
    }

    #[test]
    fn what_follows_on_every_way_does_not_depend() {
        let diamond = "a:\nbranch 1, b, c\nb:\ngoto d\nc:\ngoto d\nd:\nreturn 0";
        assert_eq!(depending(diamond, 0), [1, 2]);
        let inner = "a:\ngoto head\nhead:\nbranch 1, body, end\nbody:\nbranch 1, then, after\nthen:\ngoto after\n\
                     after:\ngoto head\nend:\nreturn 0";
        assert_eq!(depending(inner, 2), [3], "the loop goes on either way");
        assert_eq!(depending(inner, 1), [1, 2, 4], "how often it goes round depends on its head");
        let early = "a:\nbranch 1, b, c\nb:\nreturn 1\nc:\nreturn 0";
        assert_eq!(depending(early, 0), [1, 2]);
        let endless = "a:\nbranch 1, b, c\nb:\ngoto b\nc:\ngoto c";
        assert_eq!(depending(endless, 0), [1, 2]);
    }
}
