//! Loops whose iterations may run at the same time in one thread (`simd`).

use std::collections::{BTreeMap, BTreeSet};

use model::SiteId;
use model::index::IndexVec;
use program::openmp::IN_ORDER;
use program::{BlockId, FunctionId, Program, Stmt};

use super::affine::{Forms, Var};
use super::apart;
use crate::flow_graph::FlowGraph;

/// The functions with such loops.
pub(super) struct Lanes<'f> {
    sites: BTreeSet<SiteId>,
    functions: BTreeMap<FunctionId, (Forms<'f>, &'f FlowGraph)>,
    statements: BTreeMap<SiteId, (FunctionId, BlockId, &'f Stmt)>,
    /// What lanes execute in order (`ordered simd`).
    in_order: BTreeSet<FunctionId>,
}

impl<'f> Lanes<'f> {
    /// Finds them. `changed` says of a load whether anything may change what it reads.
    pub(super) fn new(
        program: &'f Program,
        graphs: &'f IndexVec<FunctionId, FlowGraph>,
        changed: &dyn Fn(SiteId) -> bool,
    ) -> Self {
        let sites = program.lanes();
        let (mut functions, mut statements) = (BTreeMap::new(), BTreeMap::new());
        for (id, function) in program.functions.iter_enumerated() {
            for (block, content) in function.blocks.iter_enumerated() {
                for statement in &content.statements {
                    let Some(site) = statement.site.filter(|site| sites.contains(site)) else { continue };
                    let of_region = function.symbol.contains(".omp_outlined");
                    functions
                        .entry(id)
                        .or_insert_with(|| (Forms::new(program, id, &graphs[id], of_region, changed), &graphs[id]));
                    statements.insert(site, (id, block, &statement.stmt));
                }
            }
        }
        let is_in_order = |id: &FunctionId| program.functions[*id].symbol.starts_with(IN_ORDER);
        let in_order = functions.keys().copied().filter(is_in_order).collect();
        Self { sites, functions, statements, in_order }
    }

    /// Whether no two lanes of one thread can make these two accesses to the same memory at the same time. Which of the loops
    /// around them is the one in lanes is not known here, so that their addresses have to differ with each.
    pub(super) fn are_separate(&self, one: SiteId, other: SiteId) -> bool {
        if !self.sites.contains(&one) || !self.sites.contains(&other) {
            return true;
        }
        let (Some(one), Some(other)) = (self.statements.get(&one), self.statements.get(&other)) else { return false };
        if self.in_order.contains(&one.0) && self.in_order.contains(&other.0) {
            return true;
        }
        let Some((forms, graph)) = self.functions.get(&one.0).filter(|_| one.0 == other.0) else { return false };
        let mut around = graph.loops.iter().filter(|l| l.contains(one.1) && l.contains(other.1)).peekable();
        around.peek().is_some()
            && around.all(|l| apart::by_round(forms, [(one.1, one.2), (other.1, other.2)], l.header))
    }
}

/// What counts the rounds of the loop with this header.
pub(super) fn counts(forms: &Forms<'_>, var: &Var, header: BlockId) -> bool {
    match var {
        Var::Split(_, of) => *of == header,
        Var::Counter(counter) => forms.header(*counter) == Some(header),
        _ => false,
    }
}
