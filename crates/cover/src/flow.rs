//! Control flow of all threads as one graph of nodes and edges, from which the net is built.
//!
//! A node is a thread's state: where it is (with the calls that led there), which known locks it holds, and results of
//! tries that later branches depend on. Nodes are found by following the code from each thread function; steps that
//! nobody can notice are followed through. An edge says what it takes from and gives to the shared places.
//!
//! Why the net has every behaviour of the program, also after reordering: if two accesses of an execution are not
//! ordered by happens-before, all events that happened before either of them, in their old order, lead to a state in
//! which both come next. That prefix keeps every thread's path, and each thing a thread waits for in the net (a lock, a
//! semaphore's count, a barrier, a once-control, a thread's end) gives a happens-before edge. Signals give none, so a
//! wait on a condition variable may end at any time here: it gives the lock back and takes it again.
//!
//! A lock is in a thread's *held* list only if the thread really holds it, so what the net lets wait really waits:
//! - a lock that is not known is neither taken nor given back; a release that may mean a held lock is tried both ways;
//! - taking a held lock again succeeds, counted (a recursive mutex) or not (one that reports the error);
//! - reader-writer locks need to know that no reader is left, which nets cannot ask for any number of readers. Two
//!   threads, chosen when they start, are *tracked* and only they respect these locks: a reader takes one of two
//!   tokens, a writer both. A pair is covered by tracked threads, so nothing is lost;
//! - calls are followed in place. A call to a recursive function becomes *any order of its effects*: accesses, posts,
//!   arrivals, creations and releases happen in any order any number of times, and nothing in it waits.
//!
//! Assumes: nobody gives back a lock that another thread holds or sets up an object that is in use; exploration reports
//! both as misuse.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::{LockMode, SiteId};
use program::{BinaryOp, BlockId, CompareOp, Expr, FunctionId, LocalId, Operand, Program, Stmt, SyncOp, Terminator};
use program::{Statement, TryMode};

use crate::invocations::{How, Invocations, Place, ends_thread};
use crate::objects::{self, Key, may_name};
use crate::synchronisation::Synchronisation;
use crate::touches::touches_memory;
use crate::values::Values;

/// A node of the graph.
pub(crate) type Node = usize;

/// A shared place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Resource {
    /// A lock: one token while free; two if it can be taken shared.
    Lock(Key),
    /// A semaphore: its value.
    Semaphore(Key),
    /// Threads that arrived at a barrier and wait.
    Arrived(Key),
    /// Threads that may leave a barrier.
    Open(Key),
    /// A once-control that nobody has used: one token.
    Fresh(Key),
    /// A once-control whose routine has returned.
    Done(Key),
    /// Threads of a function that have ended.
    Ended(FunctionId),
    /// Threads that may still be tracked.
    Trackers,
}

/// What an edge does to shared places.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Arcs {
    /// Tokens taken.
    pub(crate) takes: Vec<(Resource, u32)>,
    /// A token must be there and stays.
    pub(crate) needs: Vec<Resource>,
    /// Tokens given.
    pub(crate) gives: Vec<(Resource, u32)>,
}

impl Arcs {
    fn take(resource: Resource, n: u32) -> Self {
        Self { takes: vec![(resource, n)], ..Self::default() }
    }
    fn need(resource: Resource) -> Self {
        Self { needs: vec![resource], ..Self::default() }
    }
    fn give(resource: Resource, n: u32) -> Self {
        Self { gives: vec![(resource, n)], ..Self::default() }
    }
    fn is_empty(&self) -> bool {
        self.takes.is_empty() && self.needs.is_empty() && self.gives.is_empty()
    }
}

/// An edge of the graph.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) from: Node,
    /// `None` when the thread ends.
    pub(crate) to: Option<Node>,
    /// Where a new thread starts.
    pub(crate) starts: Option<Node>,
    pub(crate) arcs: Arcs,
    pub(crate) site: Option<SiteId>,
}

/// What is known about a node.
#[derive(Clone, Debug)]
pub(crate) struct NodeInfo {
    /// The thread function.
    pub(crate) job: FunctionId,
    /// The site that comes next.
    pub(crate) site: Option<SiteId>,
    /// Whether what comes next accesses memory at the site.
    pub(crate) accesses: bool,
    /// Whether the thread counts for pairs.
    pub(crate) tracked: bool,
}

/// The graph.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<NodeInfo>,
    pub(crate) edges: Vec<Edge>,
    /// Where `main` may start; one token in one of them.
    pub(crate) main: Vec<(Node, Arcs)>,
}

/// All that is known of the program before a pair is asked about.
pub(crate) struct Known<'a> {
    pub(crate) program: &'a Program,
    pub(crate) values: &'a Values,
    pub(crate) invocations: &'a Invocations<'a>,
    pub(crate) synchronisation: &'a Synchronisation,
}

type ContextId = usize;

/// A chain of calls.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Context {
    function: FunctionId,
    job: FunctionId,
    depth: u32,
    /// The statement that called, and the context it is in; `None` for a thread function.
    caller: Option<(ContextId, BlockId, usize)>,
    how: How,
}

/// What a value is known to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Abstract {
    Number(i64),
    NotZero,
}

/// A lock held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Held {
    /// How often, up to [`MOST_HELD`].
    depth: u8,
    /// Tokens taken.
    tokens: u32,
}

/// A depth that stands for itself and all above.
const MOST_HELD: u8 = 3;
/// Calls are followed to this depth.
const MOST_CALLS: u32 = 40;

/// Where a thread is inside a statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Phase {
    /// Before it.
    Before,
    /// In a wait on a condition variable, with the lock (if it was held) to be taken again.
    Woken(Option<(Key, Held)>),
    /// At a barrier.
    Arrived(Key),
    /// The once-routine has returned.
    Returned,
    /// A library function, between its callbacks.
    Callbacks,
    /// A library function after its last callback.
    Last,
    /// In a call that is taken as any order of its effects.
    Anything,
    /// In such a call, before this access.
    AnythingAt(Place),
}

/// A thread's state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct State {
    context: ContextId,
    block: BlockId,
    index: usize,
    phase: Phase,
    held: BTreeMap<Key, Held>,
    results: BTreeMap<(ContextId, LocalId), Abstract>,
    tracked: bool,
}

/// A step: what it does, where the thread is then (`None`: ended), and the function a new thread starts in.
struct Move {
    arcs: Arcs,
    to: Option<State>,
    starts: Option<State>,
}

/// The graph would have more nodes than allowed.
#[derive(Debug)]
pub(crate) struct TooLarge;

/// Builds the graph for some sites, with at most so many nodes.
pub(crate) fn graph(known: &Known<'_>, sites: &BTreeSet<SiteId>, most_nodes: usize) -> Result<Graph, TooLarge> {
    let mut walk = Walk {
        known,
        sites,
        relevant: relevant(known, sites),
        contexts: Vec::new(),
        context_ids: BTreeMap::new(),
        nodes: BTreeMap::new(),
        open: VecDeque::new(),
        graph: Graph::default(),
    };
    let Some(main) = known.program.main else { return Ok(walk.graph) };
    for (state, arcs) in walk.starts(main) {
        let node = walk.node(state);
        walk.graph.main.push((node, arcs));
    }
    while let Some((node, state)) = walk.open.pop_front() {
        if walk.graph.nodes.len() > most_nodes || walk.graph.edges.len() > 8 * most_nodes {
            return Err(TooLarge);
        }
        let site = walk.graph.nodes[node].site;
        for step in walk.moves(&state) {
            let to = step.to.map(|to| walk.node(to));
            let starts = step.starts.map(|start| walk.node(start));
            if to != Some(node) || starts.is_some() || !step.arcs.is_empty() {
                walk.graph.edges.push(Edge { from: node, to, starts, arcs: step.arcs, site });
            }
        }
    }
    Ok(walk.graph)
}

/// Functions that do something a net shows, themselves or through what they call.
fn relevant(known: &Known<'_>, sites: &BTreeSet<SiteId>) -> BTreeSet<FunctionId> {
    let shows = |s: &Statement| match &s.stmt {
        Stmt::Sync { op, .. } => !matches!(op, SyncOp::Yield | SyncOp::Current | SyncOp::SemGet { .. }),
        stmt => s.site.is_some_and(|site| sites.contains(&site)) && touches_memory(stmt),
    };
    let itself = |f: FunctionId| known.program.functions[f].blocks.iter().flat_map(|b| &b.statements).any(shows);
    let all: Vec<_> = known.invocations.reachable().collect();
    let some: BTreeSet<_> = all.iter().copied().filter(|f| itself(*f)).collect();
    let reaches = |f: &FunctionId| known.invocations.closure(*f, false).iter().any(|g| some.contains(g));
    all.into_iter().filter(reaches).collect()
}

struct Walk<'a> {
    known: &'a Known<'a>,
    sites: &'a BTreeSet<SiteId>,
    relevant: BTreeSet<FunctionId>,
    contexts: Vec<Context>,
    context_ids: BTreeMap<Context, ContextId>,
    nodes: BTreeMap<State, Node>,
    open: VecDeque<(Node, State)>,
    graph: Graph,
}

impl<'a> Walk<'a> {
    fn context(&mut self, context: Context) -> ContextId {
        let next = self.contexts.len();
        let id = *self.context_ids.entry(context.clone()).or_insert(next);
        if id == next {
            self.contexts.push(context);
        }
        id
    }

    /// The states in which a new thread may start.
    fn starts(&mut self, function: FunctionId) -> Vec<(State, Arcs)> {
        let context = Context { function, job: function, depth: 0, caller: None, how: How::Create };
        let context = self.context(context);
        let start = |tracked| {
            self.known.program.functions[function].blocks.ids().next().map(|block| State {
                context,
                block,
                index: 0,
                phase: Phase::Before,
                held: BTreeMap::new(),
                results: BTreeMap::new(),
                tracked,
            })
        };
        let tracked = start(true).into_iter();
        if self.known.synchronisation.has_shared_locks() {
            let tracked = tracked.map(|state| (state, Arcs::take(Resource::Trackers, 1)));
            tracked.chain(start(false).map(|state| (state, Arcs::default()))).collect()
        } else {
            tracked.map(|state| (state, Arcs::default())).collect()
        }
    }

    /// The node of a state, after following what nobody can notice.
    fn node(&mut self, state: State) -> Node {
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

    fn statement(&self, state: &State) -> Option<&'a Statement> {
        let function = self.contexts[state.context].function;
        self.known.program.functions[function].blocks[state.block].statements.get(state.index)
    }

    /// The site of interest that is accessed next.
    fn accessed_site(&self, state: &State) -> Option<SiteId> {
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
    fn moves(&mut self, state: &State) -> Vec<Move> {
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

    /// The once-controls that an operand may mean; one if it is known.
    fn once_controls(&self, state: &State, operand: Option<&Operand>) -> Vec<Key> {
        let Some(operand) = operand else { return Vec::new() };
        let function = self.contexts[state.context].function;
        let onces = &self.known.synchronisation.onces;
        match objects::exact(self.known.program, self.known.values, function, operand) {
            Some(key) => vec![key],
            None => onces.iter().copied().filter(|k| may_name(self.known.values, function, operand, *k)).collect(),
        }
    }

    fn execute(&mut self, state: &State, stmt: &'a Stmt) -> Vec<Move> {
        let place = (self.contexts[state.context].function, state.block, state.index);
        if let Stmt::Sync { dst, op } = stmt {
            return self.synchronise(state, *dst, op, place);
        }
        if ends_thread(stmt) {
            return Vec::new();
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
    fn call(&mut self, state: &State, callee: FunctionId, how: How) -> Vec<Move> {
        let depth = self.contexts[state.context].depth + 1;
        if self.known.program.functions[callee].blocks.is_empty() || !self.relevant.contains(&callee) {
            let over = if how == How::Once { state.at(Phase::Returned) } else { state.after_call(how) };
            let mut moves = vec![step(Arcs::default(), over)];
            if self.known.invocations.unwinds(callee) {
                moves.extend(self.unwind(state));
            }
            return moves;
        }
        if self.known.invocations.is_recursive(callee) || depth > MOST_CALLS {
            return vec![step(Arcs::default(), state.at(Phase::Anything))];
        }
        let caller = Some((state.context, state.block, state.index));
        let job = self.contexts[state.context].job;
        let context = self.context(Context { function: callee, job, depth, caller, how });
        let Some(block) = self.known.program.functions[callee].blocks.ids().next() else { return Vec::new() };
        let mut inside = State { context, block, index: 0, phase: Phase::Before, ..state.clone() };
        inside.results.retain(|(c, _), _| *c != context);
        vec![step(Arcs::default(), inside)]
    }

    /// A library function calls back, or comes to its end.
    fn callbacks(&mut self, state: &State) -> Vec<Move> {
        let place = (self.contexts[state.context].function, state.block, state.index);
        let invoked: Vec<_> = self.known.invocations.at(place).copied().collect();
        let mut moves = vec![step(Arcs::default(), state.at(Phase::Last))];
        for invocation in invoked {
            moves.extend(self.call(state, invocation.callee, How::Callback));
        }
        moves
    }

    /// Leaves functions by an exception: control goes on after any call on the way out.
    fn unwind(&self, state: &State) -> Vec<Move> {
        let mut moves = Vec::new();
        let mut at = self.contexts[state.context].caller;
        while let Some((context, block, index)) = at {
            let to = State { context, block, index, phase: Phase::Before, ..state.clone() };
            moves.push(step(Arcs::default(), self.forget_callees(to.next())));
            at = self.contexts[context].caller;
        }
        moves
    }

    /// Drops what is known about values of calls that are over.
    fn forget_callees(&self, mut state: State) -> State {
        let mut alive = BTreeSet::new();
        let mut at = Some(state.context);
        while let Some(context) = at {
            alive.insert(context);
            at = self.contexts[context].caller.map(|(c, ..)| c);
        }
        state.results.retain(|(c, _), _| alive.contains(c));
        state
    }

    fn terminate(&mut self, state: &State) -> Vec<Move> {
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
            Terminator::Return(value) => return self.leave(state, value.as_ref()),
            Terminator::Unreachable => return self.unwind(state),
        };
        let chosen: BTreeSet<BlockId> = chosen.into_iter().collect();
        chosen.into_iter().map(|block| step(Arcs::default(), self.enter_block(state, block))).collect()
    }

    /// Goes to a block; results that no branch depends on any more are forgotten.
    fn enter_block(&self, state: &State, block: BlockId) -> State {
        let mut state = State { block, index: 0, phase: Phase::Before, ..state.clone() };
        let function = self.contexts[state.context].function;
        let context = state.context;
        state.results.retain(|(c, local), _| *c != context || self.decides_from(function, block, *local));
        state
    }

    fn leave(&mut self, state: &State, value: Option<&Operand>) -> Vec<Move> {
        let context = self.contexts[state.context].clone();
        let Some((caller, block, index)) = context.caller else {
            // The end of `main` is the end of the process, which is postponed for ever.
            if Some(context.job) == self.known.program.main {
                return Vec::new();
            }
            return vec![Move { arcs: Arcs::give(Resource::Ended(context.job), 1), to: None, starts: None }];
        };
        let returned = value.and_then(|value| self.value(state, value));
        let at_call = State { context: caller, block, index, phase: Phase::Before, ..state.clone() };
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

    /// A function that may be recursive does all it can do, in any order.
    fn anything(&mut self, state: &State) -> Vec<Move> {
        let place = (self.contexts[state.context].function, state.block, state.index);
        let mut inside = BTreeSet::new();
        let invoked: Vec<_> = self.known.invocations.at(place).copied().collect();
        for invocation in &invoked {
            inside.extend(self.known.invocations.closure(invocation.callee, false));
        }
        let how = invoked.first().map_or(How::Call, |i| i.how);
        let over = if how == How::Once { state.at(Phase::Returned) } else { state.after_call(how) };
        let mut moves = vec![step(Arcs::default(), over)];
        if invoked.iter().any(|i| self.known.invocations.unwinds(i.callee)) {
            moves.extend(self.unwind(state));
        }
        for function in inside {
            for (block_id, block) in self.known.program.functions[function].blocks.iter_enumerated() {
                for (index, statement) in block.statements.iter().enumerate() {
                    moves.extend(self.any_effect(state, (function, block_id, index), statement));
                }
            }
        }
        moves
    }

    fn any_effect(&mut self, state: &State, place: Place, statement: &'a Statement) -> Vec<Move> {
        let here = || state.at(Phase::Anything);
        let given = |resource| step(Arcs::give(resource, 1), here());
        let Stmt::Sync { op, .. } = &statement.stmt else {
            let accessed = statement.site.is_some_and(|s| self.sites.contains(&s)) && touches_memory(&statement.stmt);
            let at = accessed.then(|| step(Arcs::default(), state.at(Phase::AnythingAt(place))));
            return at.into_iter().collect();
        };
        let (values, known) = (self.known.values, self.known.synchronisation);
        let may = |operand: &Operand, key: &Key| may_name(values, place.0, operand, *key);
        match op {
            SyncOp::Create { .. } => self.create(&here(), here(), place),
            SyncOp::ExitThread => self.end_of_thread(state),
            SyncOp::Unlock { lock } | SyncOp::CondWait { lock, .. } => {
                let held = state.held.iter().filter(|(key, _)| may(lock, key));
                let release = held.map(|(key, held)| {
                    let mut without = here();
                    without.held.remove(key);
                    step(Arcs::give(Resource::Lock(*key), held.tokens), without)
                });
                release.collect()
            }
            SyncOp::SemPost { sem } => {
                let meant = known.semaphores.keys().filter(|key| may(sem, key));
                meant.map(|key| given(Resource::Semaphore(*key))).collect()
            }
            SyncOp::BarrierWait { barrier } => {
                let meant = known.barriers.keys().filter(|key| may(barrier, key));
                meant.map(|key| given(Resource::Arrived(*key))).collect()
            }
            SyncOp::Once { control, .. } => {
                let meant = known.onces.iter().filter(|key| may(control, key));
                meant.map(|key| given(Resource::Done(*key))).collect()
            }
            _ => Vec::new(),
        }
    }

    fn end_of_thread(&self, state: &State) -> Vec<Move> {
        let job = self.contexts[state.context].job;
        vec![Move { arcs: Arcs::give(Resource::Ended(job), 1), to: None, starts: None }]
    }

    fn create(&mut self, from: &State, to: State, place: Place) -> Vec<Move> {
        let mut moves = Vec::new();
        let started: Vec<_> = self.known.invocations.at(place).map(|i| i.callee).collect();
        for function in started {
            for (start, arcs) in self.starts(function) {
                moves.push(Move { arcs, to: Some(to.clone()), starts: Some(start) });
            }
        }
        if moves.is_empty() {
            moves.push(step(Arcs::default(), from.next()));
        }
        moves
    }

    fn synchronise(&mut self, state: &State, dst: Option<LocalId>, op: &'a SyncOp, place: Place) -> Vec<Move> {
        let function = place.0;
        let (values, known) = (self.known.values, self.known.synchronisation);
        let exact = |operand: &Operand| objects::exact(self.known.program, values, function, operand);
        let may = |operand: &Operand, key: &Key| may_name(values, function, operand, *key);
        let pass = || vec![step(Arcs::default(), state.next())];
        match op {
            SyncOp::Create { .. } => self.create(state, state.next(), place),
            SyncOp::Join { .. } => match known.joins.get(&place) {
                Some(job) => vec![step(Arcs::need(Resource::Ended(*job)), state.next())],
                None => pass(),
            },
            SyncOp::ExitThread => self.end_of_thread(state),
            SyncOp::Lock { lock, mode, wait } => self.lock(state, dst, lock, *mode, *wait),
            SyncOp::Unlock { lock } => self.unlock(state, lock),
            SyncOp::CondWait { lock, .. } => {
                let key = self.lock_key(state, lock);
                let meant: Vec<Key> = match key {
                    Some(key) => state.held.keys().filter(|k| **k == key).copied().collect(),
                    None => state.held.keys().filter(|k| may(lock, k)).copied().collect(),
                };
                let mut moves: Vec<Move> = meant
                    .iter()
                    .map(|key| {
                        let mut waiting = state.clone();
                        let held = waiting.held.remove(key);
                        waiting.phase = Phase::Woken(held.map(|held| (*key, held)));
                        let tokens = held.map_or(0, |held| held.tokens);
                        step(Arcs::give(Resource::Lock(*key), tokens), waiting)
                    })
                    .collect();
                if key.is_none() || meant.is_empty() {
                    moves.push(step(Arcs::default(), state.next()));
                }
                moves
            }
            SyncOp::SemPost { sem } => {
                let meant: Vec<Key> = known.semaphores.keys().filter(|key| may(sem, key)).copied().collect();
                let mut moves: Vec<Move> =
                    meant.iter().map(|key| step(Arcs::give(Resource::Semaphore(*key), 1), state.next())).collect();
                if exact(sem).is_none() || meant.is_empty() {
                    moves.push(step(Arcs::default(), state.next()));
                }
                moves
            }
            SyncOp::SemWait { sem, wait } => {
                let taken = match exact(sem).filter(|key| known.semaphores.contains_key(key)) {
                    Some(key) => Arcs::take(Resource::Semaphore(key), 1),
                    None => Arcs::default(),
                };
                self.tried(state, dst, *wait, vec![(taken, state.next())])
            }
            SyncOp::BarrierWait { barrier } => match exact(barrier) {
                Some(key) if known.barriers.contains_key(&key) => {
                    vec![step(Arcs::give(Resource::Arrived(key), 1), state.at(Phase::Arrived(key)))]
                }
                Some(_) => pass(),
                None => {
                    let meant = known.barriers.keys().filter(|key| may(barrier, key));
                    let arrive = |key: &Key| step(Arcs::give(Resource::Arrived(*key), 1), state.next());
                    meant.map(arrive).chain(pass()).collect()
                }
            },
            SyncOp::Once { control, .. } => {
                let key = exact(control);
                let (fresh, done) = match key {
                    Some(key) => (Arcs::take(Resource::Fresh(key), 1), Arcs::need(Resource::Done(key))),
                    None => Default::default(),
                };
                let mut moves = vec![step(done, state.next())];
                let routines: Vec<_> = self.known.invocations.at(place).map(|i| i.callee).collect();
                for routine in routines {
                    let entered = self.call(state, routine, How::Once);
                    moves.extend(entered.into_iter().map(|m| Move { arcs: fresh.clone(), ..m }));
                }
                moves
            }
            _ => pass(),
        }
    }

    /// Success by one of these, or failure if it can give up.
    fn tried(&self, state: &State, dst: Option<LocalId>, wait: TryMode, had: Vec<(Arcs, State)>) -> Vec<Move> {
        let result = |mut to: State, value: Abstract| {
            if let Some(dst) = dst.filter(|_| wait != TryMode::Wait) {
                to.results.insert((to.context, dst), value);
            }
            to
        };
        let mut moves: Vec<Move> =
            had.into_iter().map(|(arcs, to)| step(arcs, result(to, Abstract::Number(0)))).collect();
        if wait != TryMode::Wait {
            moves.push(step(Arcs::default(), result(state.next(), Abstract::NotZero)));
        }
        moves
    }

    fn lock(&self, state: &State, dst: Option<LocalId>, lock: &Operand, mode: LockMode, wait: TryMode) -> Vec<Move> {
        let Some(key) = self.lock_key(state, lock) else {
            return self.tried(state, dst, wait, vec![(Arcs::default(), state.next())]);
        };
        let shared = self.known.synchronisation.is_shared(self.known.values, key);
        let had = match state.held.get(&key) {
            Some(held) => {
                let mut deeper = state.next();
                deeper.held.insert(key, Held { depth: (held.depth + 1).min(MOST_HELD), ..*held });
                vec![(Arcs::default(), deeper), (Arcs::default(), state.next())]
            }
            None if shared && !state.tracked => vec![(Arcs::default(), state.next())],
            None => {
                let tokens = if shared && mode == LockMode::Exclusive { 2 } else { 1 };
                let mut holding = state.next();
                holding.held.insert(key, Held { depth: 1, tokens });
                vec![(Arcs::take(Resource::Lock(key), tokens), holding)]
            }
        };
        self.tried(state, dst, wait, had)
    }

    fn unlock(&self, state: &State, lock: &Operand) -> Vec<Move> {
        let function = self.contexts[state.context].function;
        let key = self.lock_key(state, lock);
        let meant: Vec<(Key, Held)> = state
            .held
            .iter()
            .filter(|(held, _)| match key {
                Some(key) => **held == key,
                None => may_name(self.known.values, function, lock, **held),
            })
            .map(|(key, held)| (*key, *held))
            .collect();
        let mut moves = Vec::new();
        for (key, held) in &meant {
            let mut without = state.next();
            let arcs = if held.depth > 1 {
                without.held.insert(*key, Held { depth: held.depth - 1, ..*held });
                Arcs::default()
            } else {
                without.held.remove(key);
                Arcs::give(Resource::Lock(*key), held.tokens)
            };
            moves.push(step(arcs, without));
        }
        let saturated = meant.iter().any(|(_, held)| held.depth == MOST_HELD);
        if key.is_none() || meant.is_empty() || saturated {
            moves.push(step(Arcs::default(), state.next()));
        }
        moves
    }

    /// The lock an operand means in this context: parameters are followed to the calls' arguments.
    fn lock_key(&self, state: &State, operand: &Operand) -> Option<Key> {
        let (mut context, mut operand, mut moved) = (state.context, *operand, 0i64);
        for _ in 0..64 {
            let function = self.contexts[context].function;
            if let Some((global, at)) = objects::exact(self.known.program, self.known.values, function, &operand) {
                return Some((global, at.checked_add(moved)?));
            }
            let Operand::Local(local) = operand else { return None };
            let body = &self.known.program.functions[function];
            if local.0 < body.params {
                let (caller, block, index) = self.contexts[context].caller?;
                let caller_function = self.contexts[caller].function;
                let call = &self.known.program.functions[caller_function].blocks[block].statements[index];
                let Stmt::Call { args, .. } = &call.stmt else { return None };
                operand = *args.get(local.0 as usize)?;
                context = caller;
                continue;
            }
            match self.definition(function, local)? {
                Stmt::Assign { expr: Expr::Use(value), .. } => operand = *value,
                Stmt::Assign { expr: Expr::Offset { base, index: Operand::Const(index), scale, offset }, .. } => {
                    moved = moved.checked_add(index.checked_mul(*scale)?.checked_add(*offset)?)?;
                    operand = *base;
                }
                _ => return None,
            }
        }
        None
    }

    fn definition(&self, function: FunctionId, local: LocalId) -> Option<&'a Stmt> {
        let blocks = self.known.program.functions[function].blocks.iter();
        blocks.flat_map(|b| &b.statements).map(|s| &s.stmt).find(|s| s.assigns().contains(&local))
    }

    /// What a value is known to be: from constants and from results of tries.
    fn value(&self, state: &State, operand: &Operand) -> Option<Abstract> {
        let local = match operand {
            Operand::Const(n) => return Some(Abstract::Number(*n)),
            Operand::Local(local) => *local,
            _ => return None,
        };
        if let Some(known) = state.results.get(&(state.context, local)) {
            return Some(*known);
        }
        let function = self.contexts[state.context].function;
        let Stmt::Assign { expr, .. } = self.definition(function, local)? else { return None };
        let number = |yes: bool| Some(Abstract::Number(i64::from(yes)));
        match expr {
            Expr::Use(value) => self.value(state, value),
            Expr::Compare { op, left, right, bits } => {
                let low = |n: i64| n & (-1i64 as u64 >> (64 - u32::from(*bits).clamp(1, 64))) as i64;
                let equal = match (self.value(state, left)?, self.value(state, right)?) {
                    (Abstract::Number(a), Abstract::Number(b)) => low(a) == low(b),
                    (Abstract::NotZero, Abstract::Number(0)) | (Abstract::Number(0), Abstract::NotZero) => false,
                    _ => return None,
                };
                match op {
                    CompareOp::Eq => number(equal),
                    CompareOp::Ne => number(!equal),
                    _ => None,
                }
            }
            Expr::Truncate { value, bits, .. } => match self.value(state, value)? {
                Abstract::Number(n @ 0) => Some(Abstract::Number(n)),
                Abstract::Number(1) if *bits > 1 => Some(Abstract::Number(1)),
                Abstract::Number(1) => Some(Abstract::NotZero),
                _ => None,
            },
            Expr::Binary { op: BinaryOp::Xor, left, right, bits } => {
                match (self.value(state, left)?, self.value(state, right)?) {
                    (Abstract::Number(a @ (0 | 1)), Abstract::Number(b @ (0 | 1))) if a == b => number(false),
                    (Abstract::Number(0 | 1), Abstract::Number(0 | 1)) if *bits > 1 => number(true),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether a branch or return that can be reached from the block depends on the local.
    fn decides_from(&self, function: FunctionId, block: BlockId, local: LocalId) -> bool {
        let blocks = &self.known.program.functions[function].blocks;
        let (mut found, mut open) = (BTreeSet::from([block]), vec![block]);
        while let Some(at) = open.pop() {
            let terminator = &blocks[at].terminator;
            if terminator.operands().iter().any(|operand| self.depends(function, operand, local)) {
                return true;
            }
            open.extend(terminator.targets().into_iter().filter(|to| found.insert(*to)));
        }
        false
    }

    fn depends(&self, function: FunctionId, operand: &Operand, local: LocalId) -> bool {
        let Operand::Local(used) = operand else { return false };
        *used == local
            || match self.definition(function, *used) {
                Some(Stmt::Assign { expr: Expr::Phi(_), .. }) => false,
                Some(Stmt::Assign { expr, .. }) => {
                    expr.operands().iter().any(|operand| self.depends(function, operand, local))
                }
                _ => false,
            }
    }
}

fn step(arcs: Arcs, to: State) -> Move {
    Move { arcs, to: Some(to), starts: None }
}

impl State {
    fn next(&self) -> Self {
        Self { index: self.index + 1, phase: Phase::Before, ..self.clone() }
    }
    fn at(&self, phase: Phase) -> Self {
        Self { phase, ..self.clone() }
    }
    fn after_call(&self, how: How) -> Self {
        if how == How::Callback { self.at(Phase::Callbacks) } else { self.next() }
    }
}
