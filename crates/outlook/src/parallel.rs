//! Which statements may be executed at the same time, by different threads.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use facts::invocations::ProgramPoint;
use facts::order::{MomentId, Order, ThreadId};
use program::FunctionId;

/// A thread of the analysis at a moment of its life.
type Standing = (Option<ThreadId>, MomentId);

/// What create and join say about the order of statements.
pub(crate) struct Parallel<'f> {
    order: &'f Order,
    contexts: BTreeMap<FunctionId, Vec<facts::order::ContextId>>,
    /// Where threads stand at statements that were asked for.
    standings: RefCell<BTreeMap<ProgramPoint, Rc<[Standing]>>>,
    known: RefCell<BTreeMap<(Standing, Standing), bool>>,
}

impl<'f> Parallel<'f> {
    pub(crate) fn new(order: &'f Order) -> Self {
        let mut contexts: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (id, context) in order.contexts.iter_enumerated() {
            contexts.entry(context.function).or_default().push(id);
        }
        Self { order, contexts, standings: RefCell::default(), known: RefCell::default() }
    }

    /// Whether two statements, or one with itself, may be executed at the same time by different threads.
    pub(crate) fn may(&self, one: ProgramPoint, other: ProgramPoint) -> bool {
        let (ones, others) = (self.standings(one), self.standings(other));
        // Code that is not understood to run may run at any time.
        ones.is_empty() || others.is_empty() || ones.iter().any(|a| others.iter().any(|b| self.standing(*a, *b)))
    }

    fn standing(&self, one: Standing, other: Standing) -> bool {
        let key = (one.min(other), one.max(other));
        *self.known.borrow_mut().entry(key).or_insert_with(|| self.order.parallel(one, other))
    }

    fn standings(&self, place: ProgramPoint) -> Rc<[Standing]> {
        let mut standings = self.standings.borrow_mut();
        Rc::clone(standings.entry(place).or_insert_with(|| {
            let (function, block, index) = place;
            let contexts = self.contexts.get(&function).into_iter().flatten().map(|id| &self.order.contexts[*id]);
            let standing = contexts.map(|context| (context.thread, context.moment_at(block, index)));
            standing.collect::<BTreeSet<_>>().into_iter().collect()
        }))
    }
}
