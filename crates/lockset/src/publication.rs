//! Whether the address of a new block is passed on without a race.

use facts::Solved;
use facts::spot::{ObjectId, Origin, Spot};
use program::{Expr, Function, FunctionId, LocalId, Operand, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::events::Events;

/// Memory with warnings, by object; members of collapsed nodes as their collapsed node.
pub(crate) type Dirty = FxHashMap<ObjectId, FxHashSet<Spot>>;

/// Where addresses of blocks are stored for others.
pub(crate) struct Publication<'a, 'p> {
    facts: &'a Solved<'p>,
    holders: FxHashMap<ObjectId, Vec<(Spot, Option<u32>)>>,
    /// Memory with atomic accesses that may pass on an address without an order.
    weak: Vec<(Spot, Option<u64>)>,
}

impl<'a, 'p> Publication<'a, 'p> {
    pub(crate) fn new(facts: &'a Solved<'p>, events: &Events) -> Self {
        let classes = events.all().map(|class| (class.spot, &events.ways[class.way]));
        let weak = classes.filter(|(_, way)| way.weak);
        let weak: FxHashSet<_> = weak.map(|(spot, way)| (at_home(facts, spot), way.len)).collect();
        let mut weak: Vec<_> = weak.into_iter().collect();
        weak.sort_unstable();
        Self { facts, holders: facts.points_to.holders(), weak }
    }

    /// Whether everywhere that the address of an object is stored for others, reading it there comes after storing it.
    pub(crate) fn is_clean(&self, object: ObjectId, dirty: &Dirty) -> bool {
        let points_to = &self.facts.points_to;
        if points_to.is_known_outside(object) {
            return false;
        }
        let names = [Some(object), points_to.collapsed_node(object)];
        let places = names.iter().flatten().filter_map(|name| self.holders.get(name)).flatten();
        places.filter(|(spot, _)| self.facts.is_exposed(spot.object)).all(|(spot, size)| {
            // Through a pipe an address is passed on without a race, and without an order.
            if matches!(points_to.origin(spot.object), Origin::Library(state) if !state.orders_passages()) {
                return false;
            }
            let size = size.map(u64::from);
            let warned = dirty.get(&spot.object).into_iter().flatten();
            let racy = warned.into_iter().any(|d| d.overlaps(Some(8), *spot, size));
            !racy && !self.weak.iter().any(|(weak, len)| weak.overlaps(*len, *spot, size))
        })
    }
}

/// The spot, in the collapsed node if its object is in one.
pub(crate) fn at_home(facts: &Solved<'_>, spot: Spot) -> Spot {
    Spot { object: facts.points_to.collapsed_node(spot.object).unwrap_or(spot.object), ..spot }
}

/// Whether an atomic access may pass on an address without an order: it stores one and does not release, or its result
/// is used and it does not acquire. Relaxed accesses between fences count as weak; fences are not followed.
pub(crate) fn passes_weakly(facts: &Solved<'_>, function: FunctionId, stmt: &Stmt) -> bool {
    let gives = |value: &Operand| !facts.points_to.is_number(function, value);
    let takes = |dst: &LocalId| is_used(&facts.program.functions[function], *dst, USE_STEPS);
    match stmt {
        Stmt::Load { dst, atomic: Some(order), .. } => !order.acquires() && takes(dst),
        Stmt::Store { value, atomic: Some(order), .. } => !order.releases() && gives(value),
        Stmt::Rmw { dst, value, order, .. } => !order.releases() && gives(value) || !order.acquires() && takes(dst),
        Stmt::CompareExchange { dst, new, order, failure, .. } => {
            let acquires = [order, failure].into_iter().all(|order| order.acquires());
            !order.releases() && gives(new) || !acquires && takes(dst)
        }
        _ => false,
    }
}

/// How often a value may be handed on before it counts as used.
const USE_STEPS: u32 = 8;

/// Whether anything depends on a local, beyond being kept in a variable that nobody asks.
fn is_used(function: &Function, local: LocalId, steps: u32) -> bool {
    let Some(steps) = steps.checked_sub(1) else { return true };
    let value = Operand::Local(local);
    if function.blocks.iter().any(|block| block.terminator.operands().contains(&value)) {
        return true;
    }
    let statements = || function.blocks.iter().flat_map(|block| &block.statements).map(|s| &s.stmt);
    statements().filter(|stmt| stmt.operands().contains(&value)).any(|stmt| match stmt {
        Stmt::Assign { dst, expr: Expr::Use(_) } => is_used(function, *dst, steps),
        Stmt::Store { address: Operand::Local(variable), value: stored, .. } if *stored == value => {
            let own = statements().any(|s| matches!(s, Stmt::Alloca { dst, .. } if dst == variable));
            let place = Operand::Local(*variable);
            !own || statements().filter(|s| s.operands().contains(&place)).any(|s| match s {
                Stmt::Load { dst, .. } => is_used(function, *dst, steps),
                Stmt::Store { value, .. } => *value == place,
                _ => true,
            })
        }
        _ => true,
    })
}
