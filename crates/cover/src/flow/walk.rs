//! Following the code: which states a thread can be in, and how it gets from one to the next.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::SiteId;
use program::{BlockId, FunctionId, Operand, Statement, Stmt, SyncOp, Terminator};

use super::Known;
use super::decide::Abstract;
use super::graph::{Arcs, Graph, Node, NodeInfo, Resource};
use super::state::{Context, ContextId, MOST_CALLS, Move, Phase, ThreadState, step};
use facts::invocations::{How, ProgramPoint, ends_thread};
use facts::touches::touches_memory;

pub(super) struct Walk<'a> {
    pub(super) known: &'a Known<'a>,
    pub(super) sites: &'a BTreeSet<SiteId>,
    pub(super) relevant: BTreeSet<FunctionId>,
    pub(super) contexts: Vec<Context>,
    pub(super) context_ids: BTreeMap<Context, ContextId>,
    pub(super) nodes: BTreeMap<ThreadState, Node>,
    pub(super) open: VecDeque<(Node, ThreadState)>,
    pub(super) graph: Graph,
}

impl<'a> Walk<'a> {
    pub(super) fn context(&mut self, context: Context) -> ContextId {
        let next = self.contexts.len();
        let id = *self.context_ids.entry(context.clone()).or_insert(next);
        if id == next {
            self.contexts.push(context);
        }
        id
    }

    /// The states in which a new thread may start, and what that takes.
    pub(super) fn starts(&mut self, function: FunctionId, created: Option<ProgramPoint>) -> Vec<(ThreadState, Arcs)> {
        let known = self.known.synchronisation;
        let waited_for =
            |place: &ProgramPoint| known.joins.is_waited_for(*place) || known.joins.counted(*place).is_some();
        let origin = created.filter(waited_for);
        let context =
            self.context(Context { function, job: function, origin, depth: 0, caller: None, how: How::Create });
        let Some(block) = self.known.program.functions[function].blocks.ids().next() else { return Vec::new() };
        let ways: &[bool] = if known.needs_tracking() { &[true, false] } else { &[true] };
        let start = |tracked: &bool| {
            let (held, results, found) = Default::default();
            let (index, phase, tracked_too) = (0, Phase::Before, *tracked);
            let state = ThreadState { context, block, index, phase, held, results, found, tracked: tracked_too };
            let mut arcs = Arcs::default();
            if *tracked && known.needs_tracking() {
                arcs.takes.push((Resource::Trackers, 1));
            }
            arcs.takes.extend(self.counted(&state).map(|place| (Resource::Idle(place), 1)));
            (state, arcs)
        };
        ways.iter().map(start).collect()
    }

    /// The creation of a thread that counts for loops that join.
    fn counted(&self, state: &ThreadState) -> Option<ProgramPoint> {
        let origin = self.contexts[state.context].origin?;
        let most = self.known.synchronisation.joins.counted(origin)?;
        (most == 1 || state.tracked).then_some(origin)
    }

    pub(super) fn end_of_thread(&self, state: &ThreadState) -> Vec<Move> {
        let Context { job, origin, .. } = self.contexts[state.context];
        // The end of `main` is the end of the process, which is postponed for ever.
        if Some(job) == self.known.program.main && origin.is_none() {
            return Vec::new();
        }
        let mut arcs = Arcs::default();
        arcs.gives.extend(origin.map(|place| (Resource::Ended(place), 1)));
        arcs.gives.extend(self.counted(state).map(|place| (Resource::Idle(place), 1)));
        vec![Move { arcs, to: None, starts: None }]
    }

    /// The node of a state, after following the steps that no other thread can observe.
    pub(super) fn node(&mut self, state: ThreadState) -> Node {
        let mut state = state;
        let mut passed = BTreeSet::new();
        while self.accessed_site(&state).is_none() && passed.insert(state.clone()) {
            let mut moves = self.moves(&state);
            match (moves.pop(), moves.is_empty()) {
                (Some(Move { arcs, to: Some(to), starts: None }), true) if arcs.is_empty() => state = to,
                _ => break,
            }
        }
        if let Some(node) = self.nodes.get(&state) {
            return *node;
        }
        let node = self.graph.nodes.len();
        let accessed = self.accessed_site(&state);
        let site = accessed.or_else(|| self.statement(&state).and_then(|s| s.site));
        let job = self.contexts[state.context].job;
        self.graph.nodes.push(NodeInfo { job, site, accesses: accessed.is_some(), tracked: state.tracked });
        self.nodes.insert(state.clone(), node);
        self.open.push_back((node, state));
        node
    }

    pub(super) fn statement(&self, state: &ThreadState) -> Option<&'a Statement> {
        let function = self.contexts[state.context].function;
        self.known.program.functions[function].blocks[state.block].statements.get(state.index)
    }

    /// The site of interest that is accessed next.
    pub(super) fn accessed_site(&self, state: &ThreadState) -> Option<SiteId> {
        let statement = match state.phase {
            Phase::Before | Phase::Last => self.statement(state)?,
            Phase::AnythingAt((f, block, index)) => {
                self.known.program.functions[f].blocks[block].statements.get(index)?
            }
            _ => return None,
        };
        let site = statement.site.filter(|site| self.sites.contains(site))?;
        touches_memory(&statement.stmt).then_some(site)
    }

    /// All steps a thread can take.
    pub(super) fn moves(&mut self, state: &ThreadState) -> Vec<Move> {
        match state.phase {
            Phase::Before => match self.statement(state) {
                Some(statement) => self.execute(state, &statement.stmt),
                None => self.terminate(state),
            },
            Phase::Woken(lock) => {
                let mut after = state.next();
                let mut arcs = Arcs::default();
                if let Some((key, held)) = lock {
                    after.held.insert(key, held);
                    arcs = Arcs::take(Resource::Lock(key), held.tokens);
                }
                vec![step(arcs, after)]
            }
            Phase::Arrived(key) => vec![step(Arcs::take(Resource::Open(key), 1), state.next())],
            Phase::Returned => {
                let operand = self.statement(state).and_then(|s| match &s.stmt {
                    Stmt::Sync { op: SyncOp::Once { control, .. }, .. } => Some(*control),
                    _ => None,
                });
                let done = |key| step(Arcs::give(Resource::Done(key), 1), state.next());
                let mut moves: Vec<Move> = self.once_controls(state, operand.as_ref()).into_iter().map(done).collect();
                if moves.len() != 1 {
                    moves.push(step(Arcs::default(), state.next()));
                }
                moves
            }
            Phase::Callbacks => self.callbacks(state),
            Phase::Last => vec![step(Arcs::default(), state.next())],
            Phase::Anything => self.anything(state),
            Phase::AnythingAt(_) => vec![step(Arcs::default(), state.at(Phase::Anything))],
        }
    }

    pub(super) fn execute(&mut self, state: &ThreadState, stmt: &'a Stmt) -> Vec<Move> {
        let place = (self.contexts[state.context].function, state.block, state.index);
        if let Stmt::Sync { dst, op } = stmt {
            return self.synchronise(state, *dst, op, place);
        }
        if ends_thread(stmt) {
            return Vec::new();
        }
        if let Some(flag) = self.known.flags.at(place) {
            return self.access_flag(state, flag, stmt);
        }
        if let Stmt::Fence(order) = stmt {
            return self.fence(state, place, *order);
        }
        let invoked: Vec<_> = self.known.invocations.at(place).copied().collect();
        let shows = |f: FunctionId| self.relevant.contains(&f) || self.known.invocations.unwinds(f);
        match invoked.first().map(|i| i.how) {
            Some(How::Callback) if invoked.iter().any(|i| shows(i.callee)) => {
                vec![step(Arcs::default(), state.at(Phase::Callbacks))]
            }
            Some(How::Callback) | None => vec![step(Arcs::default(), state.next())],
            Some(_) => {
                let mut state = state.clone();
                stmt.assigns().into_iter().for_each(|dst| {
                    state.results.remove(&(state.context, dst));
                });
                invoked.into_iter().flat_map(|i| self.call(&state, i.callee, How::Call)).collect()
            }
        }
    }

    /// Enters a function, or passes over it.
    pub(super) fn call(&mut self, state: &ThreadState, callee: FunctionId, how: How) -> Vec<Move> {
        let depth = self.contexts[state.context].depth + 1;
        if self.known.program.functions[callee].blocks.is_empty() || !self.relevant.contains(&callee) {
            let over = if how == How::Once { state.at(Phase::Returned) } else { state.after_call(how) };
            let mut moves = vec![step(Arcs::default(), over)];
            if self.known.invocations.unwinds(callee) {
                moves.extend(self.handle(state));
            }
            return moves;
        }
        if self.known.invocations.is_recursive(callee) || depth > MOST_CALLS {
            return vec![step(Arcs::default(), state.at(Phase::Anything))];
        }
        let caller = Some((state.context, state.block, state.index));
        let Context { job, origin, .. } = self.contexts[state.context];
        let context = self.context(Context { function: callee, job, origin, depth, caller, how });
        let Some(block) = self.known.program.functions[callee].blocks.ids().next() else { return Vec::new() };
        let mut inside = ThreadState { context, block, index: 0, phase: Phase::Before, ..state.clone() };
        inside.results.retain(|(c, _), _| *c != context);
        vec![step(Arcs::default(), inside)]
    }

    /// A library function calls back, or returns.
    pub(super) fn callbacks(&mut self, state: &ThreadState) -> Vec<Move> {
        let place = (self.contexts[state.context].function, state.block, state.index);
        let invoked: Vec<_> = self.known.invocations.at(place).copied().collect();
        let mut moves = vec![step(Arcs::default(), state.at(Phase::Last))];
        for invocation in invoked {
            moves.extend(self.call(state, invocation.callee, How::Callback));
        }
        moves
    }

    /// Leaves a function by an exception or a jump, to the handler of the call; what a thread starts in ends it.
    pub(super) fn unwind(&self, state: &ThreadState) -> Vec<Move> {
        let Some((context, block, index)) = self.contexts[state.context].caller else {
            return self.end_of_thread(state);
        };
        let at_call = ThreadState { context, block, index, phase: Phase::Before, ..state.clone() };
        self.handle(&self.forget_callees(at_call))
    }

    /// Goes to the handler of the statement, if it has one.
    pub(super) fn handle(&self, state: &ThreadState) -> Vec<Move> {
        let function = self.contexts[state.context].function;
        let code = &self.known.program.functions[function].blocks[state.block];
        match code.terminator {
            Terminator::Invoke { handler, .. } if code.invoking() == Some(state.index) => {
                vec![step(Arcs::default(), self.enter_block(state, handler))]
            }
            _ => Vec::new(),
        }
    }

    /// Where a block goes whose invoking statement has returned: a library function may as well have thrown.
    fn after_invoke(&self, state: &ThreadState, then: BlockId, handler: BlockId) -> Vec<BlockId> {
        let function = self.contexts[state.context].function;
        let place = self.known.program.functions[function].blocks[state.block].invoking();
        let place = place.map(|index| (function, state.block, index));
        let enters = |place: &ProgramPoint| {
            let mut invoked = self.known.invocations.at(*place).peekable();
            invoked.peek().is_some()
                && invoked.all(|i| i.how == How::Call && !self.known.program.functions[i.callee].blocks.is_empty())
        };
        if place.is_some_and(|place| enters(&place)) { vec![then] } else { vec![then, handler] }
    }

    /// Drops what is known about values of calls that are over.
    pub(super) fn forget_callees(&self, mut state: ThreadState) -> ThreadState {
        let mut alive = BTreeSet::new();
        let mut at = Some(state.context);
        while let Some(context) = at {
            alive.insert(context);
            at = self.contexts[context].caller.map(|(c, ..)| c);
        }
        state.results.retain(|(c, _), _| alive.contains(c));
        state
    }

    pub(super) fn terminate(&mut self, state: &ThreadState) -> Vec<Move> {
        let function = self.contexts[state.context].function;
        let terminator = &self.known.program.functions[function].blocks[state.block].terminator;
        let chosen = match terminator {
            Terminator::Goto(to) => vec![*to],
            Terminator::Branch { condition, then, otherwise } => match self.value(state, condition) {
                Some(Abstract::Number(0)) => vec![*otherwise],
                Some(_) => vec![*then],
                None => vec![*then, *otherwise],
            },
            Terminator::Switch { value, cases, default } => match self.value(state, value) {
                Some(Abstract::Number(n)) => vec![cases.iter().find(|(case, _)| *case == n).map_or(*default, |c| c.1)],
                _ => terminator.targets(),
            },
            Terminator::Any(to) => to.clone(),
            Terminator::Invoke { then, handler } => self.after_invoke(state, *then, *handler),
            Terminator::Return(value) => return self.leave(state, value.as_ref()),
            Terminator::Resume => return self.unwind(state),
            Terminator::Unreachable => return Vec::new(),
        };
        let chosen: BTreeSet<BlockId> = chosen.into_iter().collect();
        let joins = &self.known.synchronisation.joins;
        let go = |block: BlockId| {
            let over = joins.over_after((function, state.block, block)).iter();
            let arcs = over.fold(Arcs::default(), |arcs, place| {
                arcs.needing(Resource::Idle(*place), joins.counted(*place).unwrap_or_default())
            });
            step(arcs, self.enter_block(state, block))
        };
        chosen.into_iter().map(go).collect()
    }

    pub(super) fn leave(&mut self, state: &ThreadState, value: Option<&Operand>) -> Vec<Move> {
        let context = self.contexts[state.context].clone();
        let Some((caller, block, index)) = context.caller else {
            return self.end_of_thread(state);
        };
        let returned = value.and_then(|value| self.value(state, value));
        let at_call = ThreadState { context: caller, block, index, phase: Phase::Before, ..state.clone() };
        let mut after = match context.how {
            How::Once => at_call.at(Phase::Returned),
            how => at_call.after_call(how),
        };
        let dst = match self.statement(&at_call).map(|s| &s.stmt) {
            Some(Stmt::Call { dst, .. }) => *dst,
            _ => None,
        };
        if let Some(dst) = dst {
            match returned {
                Some(value) => after.results.insert((caller, dst), value),
                None => after.results.remove(&(caller, dst)),
            };
        }
        vec![step(Arcs::default(), self.forget_callees(after))]
    }
}
