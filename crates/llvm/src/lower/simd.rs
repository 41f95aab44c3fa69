//! Loops whose iterations may run at the same time in one thread: `simd` loops of OpenMP.
//!
//! The lanes of such a loop are not threads of the language, so nothing is said about two accesses in one.

use std::collections::BTreeSet;

use program::Unmodelled;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Lowering;
use crate::ir::{Block, Value};

/// What clang attaches to the branch back to the start of such a loop, whatever its clauses are.
const VECTORIZE: &str = "llvm.loop.vectorize.enable";

impl<'m> Lowering<'_, 'm> {
    /// Notes all accesses in `simd` loops, and in what they call.
    pub(super) fn simd_loops(&mut self) {
        let mut found: BTreeSet<_> = BTreeSet::new();
        for (_, function) in self.symbols.functions.defined() {
            let inside: Vec<Value<'m>> = loop_blocks(function).iter().flat_map(|block| block.instructions()).collect();
            let (mut called, mut open) = (FxHashSet::default(), inside);
            while let Some(instruction) = open.pop() {
                found.extend(self.sites.id(instruction));
                let callee = instruction.called_function().filter(|f| !f.is_declaration());
                if let Some(callee) = callee.filter(|callee| called.insert(*callee)) {
                    open.extend(callee.instructions());
                }
            }
        }
        let lane = |site| Unmodelled { site: Some(site), what: Unmodelled::LANES.to_owned(), function: None };
        self.program.unmodelled.extend(found.into_iter().map(lane));
    }
}

/// The blocks of all such loops of a function.
fn loop_blocks<'m>(function: Value<'m>) -> FxHashSet<Block<'m>> {
    let mut inside = FxHashSet::default();
    let mut predecessors: FxHashMap<Block<'m>, Vec<Block<'m>>> = FxHashMap::default();
    for block in function.blocks() {
        for next in block.successors() {
            predecessors.entry(next).or_default().push(block);
        }
    }
    for latch in function.blocks() {
        let back = latch.terminator().filter(|t| t.node(c"llvm.loop").is_some_and(|node| is_simd(node)));
        for header in back.into_iter().flat_map(Value::successors).filter(|next| reaches(*next, latch)) {
            let mut body = FxHashSet::from_iter([header]);
            let mut open = vec![latch];
            while let Some(block) = open.pop() {
                if body.insert(block) {
                    open.extend(predecessors.get(&block).into_iter().flatten());
                }
            }
            inside.extend(body);
        }
    }
    inside
}

fn reaches<'m>(from: Block<'m>, to: Block<'m>) -> bool {
    let (mut seen, mut open) = (FxHashSet::default(), vec![from]);
    while let Some(block) = open.pop() {
        if seen.insert(block) {
            open.extend(block.successors());
        }
    }
    seen.contains(&to)
}

fn is_simd(properties: crate::ir::Node<'_>) -> bool {
    let mut properties = properties.operands().into_iter().flatten();
    properties.any(|property| property.string(0).is_some_and(|name| name == VECTORIZE))
}
