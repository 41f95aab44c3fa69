//! Contexts of code that makes, joins or ends threads: one per call, so that wrappers are seen through.
//!
//! The state at a point is the set of threads that may be running. A creation adds its thread; a join removes it when
//! the handle can only be that of one running thread, or when a loop joins a whole row of handles that a loop with the
//! same bounds filled. Everything only grows until nothing changes: sets of running threads, what may be running before
//! a creation, what is left running at a thread's end; a join that was believed is given up as they grow.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use model::index::IndexVec;
use model::{Budget, Spent};
use program::{BlockId, FunctionId, LocalId, Operand, Program, Stmt, SyncOp, Terminator, TryMode};

use super::blocks::also;
use super::canonical::{Callers, Root, canonical};
use super::copied::Copied;
use super::joins::{ThreadCode, is_thread_code, thread_code};
use super::matching::Writers;
use super::{Argument, ContextId, Moment, Thread, ThreadId};
use crate::Rounds;
use crate::address::Base;
use crate::flow_graph::FlowGraph;
use crate::invocations::{How, Invocations, ProgramPoint, ends_thread};
use crate::points_to::PointsTo;
use crate::spot::Spot;

/// Contexts of one function before they are merged into one per thread.
const MOST_CONTEXTS: usize = 12;
/// Contexts of all functions together before that happens to all of them.
const MOST_ALTOGETHER: usize = 800;
/// Threads before new ones are merged.
const MOST_THREADS: usize = 200;

/// A context of code that deals with threads.
pub(super) struct Walked {
    pub(super) function: FunctionId,
    pub(super) thread: ThreadId,
    pub(super) callers: Vec<(ContextId, ProgramPoint)>,
    /// `None` until it is known to be entered.
    pub(super) entry: Option<Moment>,
    exit: Option<Moment>,
    /// What is known when it is left by an exception or a jump.
    pub(super) unwound: Option<Moment>,
    /// Calls into such contexts.
    pub(super) calls: BTreeMap<ProgramPoint, BTreeSet<ContextId>>,
    /// Where the moment is known to change.
    pub(super) changes: BTreeMap<(BlockId, usize), Moment>,
    queued: bool,
}

/// All of them, with the threads they make.
pub(super) struct Tree<'p> {
    pub(super) program: &'p Program,
    pub(super) points_to: &'p PointsTo,
    pub(super) graphs: &'p IndexVec<FunctionId, FlowGraph>,
    pub(super) invocations: &'p Invocations,
    pub(super) threads: IndexVec<ThreadId, Thread>,
    pub(super) contexts: IndexVec<ContextId, Walked>,
    /// Functions that get such contexts.
    pub(super) concerned: BTreeSet<FunctionId>,
    pub(super) code: BTreeMap<FunctionId, ThreadCode>,
    /// Running threads where the loop around a creation is entered.
    pub(super) before_loop: BTreeMap<ThreadId, BTreeSet<ThreadId>>,
    by_caller: BTreeMap<(ContextId, ProgramPoint, FunctionId), ContextId>,
    merged: BTreeMap<(FunctionId, ThreadId), ContextId>,
    pub(super) made: BTreeMap<(ContextId, ProgramPoint), ThreadId>,
    count: BTreeMap<FunctionId, usize>,
    open: VecDeque<ContextId>,
    relevant: BTreeMap<FunctionId, Rc<BTreeMap<BlockId, Vec<usize>>>>,
    /// Where handles are stored besides by their creation.
    pub(super) copied: Copied,
    /// Which locals are variables that only their function writes to.
    pub(super) own: std::cell::RefCell<BTreeMap<(FunctionId, LocalId), bool>>,
    pub(super) writers: std::cell::RefCell<BTreeMap<Spot, Writers>>,
    /// Contexts in which threads start.
    pub(super) roots: BTreeMap<(ThreadId, FunctionId), ContextId>,
    /// What is known when a thread starts.
    pub(super) starts: BTreeMap<ThreadId, Moment>,
}

impl Callers for Tree<'_> {
    fn only_caller(&self, context: ContextId) -> Option<(ContextId, ProgramPoint)> {
        let [only] = self.contexts[context].callers[..] else { return None };
        let root = self.roots.values().any(|c| *c == context);
        (!root).then_some(only)
    }
    fn function(&self, context: ContextId) -> FunctionId {
        self.contexts[context].function
    }
}

pub(super) fn walk<'p>(
    program: &'p Program,
    points_to: &'p PointsTo,
    graphs: &'p IndexVec<FunctionId, FlowGraph>,
    invocations: &'p Invocations,
    (entries, budget): (&[FunctionId], &Budget),
) -> Result<Tree<'p>, Spent> {
    let concerned = concerned(program, points_to);
    let code = concerned.iter().map(|f| (*f, thread_code(program, points_to, graphs, *f))).collect();
    let mut tree = Tree {
        program,
        points_to,
        graphs,
        invocations,
        threads: IndexVec::new(),
        contexts: IndexVec::new(),
        concerned,
        code,
        before_loop: BTreeMap::new(),
        by_caller: BTreeMap::new(),
        merged: BTreeMap::new(),
        made: BTreeMap::new(),
        count: BTreeMap::new(),
        open: VecDeque::new(),
        relevant: BTreeMap::new(),
        copied: Copied::new(program, points_to),
        own: std::cell::RefCell::default(),
        writers: std::cell::RefCell::default(),
        roots: BTreeMap::new(),
        starts: BTreeMap::new(),
    };
    tree.threads.push(thread(None, None, program.main.into_iter().collect()));
    for entry in entries {
        let id = tree.threads.push(thread(None, None, BTreeSet::from([*entry])));
        tree.threads[id].any_time = true;
    }
    for id in tree.threads.ids() {
        for function in tree.threads[id].functions.clone() {
            tree.start(id, function, &Moment::default());
        }
    }
    tree.run(budget)?;
    for (thread, before) in std::mem::take(&mut tree.before_loop) {
        tree.threads[thread].before_loop = before;
    }
    Ok(tree)
}

fn thread(
    parent: Option<ThreadId>,
    made_at: Option<(ContextId, ProgramPoint)>,
    functions: BTreeSet<FunctionId>,
) -> Thread {
    Thread {
        parent,
        made_at,
        functions,
        before: BTreeSet::new(),
        left: BTreeSet::new(),
        argument: Argument::Any,
        any_time: false,
        before_loop: BTreeSet::new(),
    }
}

/// Functions with thread code, and all that run them in the same thread.
fn concerned(program: &Program, points_to: &PointsTo) -> BTreeSet<FunctionId> {
    let mut callers: BTreeMap<FunctionId, Vec<FunctionId>> = BTreeMap::new();
    let mut open = Vec::new();
    for (id, function) in program.functions.iter_enumerated() {
        for (block_id, block) in function.blocks.iter_enumerated() {
            for (index, statement) in block.statements.iter().enumerate() {
                if is_thread_code(&statement.stmt) {
                    open.push(id);
                }
                if let Some(invoke) = points_to.invoke((id, block_id, index)).filter(|i| i.how != How::Create) {
                    invoke.callees.iter().for_each(|callee| callers.entry(*callee).or_default().push(id));
                }
            }
        }
    }
    let mut found = BTreeSet::new();
    while let Some(function) = open.pop() {
        if found.insert(function) {
            open.extend(callers.get(&function).into_iter().flatten());
        }
    }
    found
}

impl Tree<'_> {
    fn run(&mut self, budget: &Budget) -> Result<(), Spent> {
        let mut rounds = Rounds::new(budget, 16);
        while let Some(context) = self.open.pop_front() {
            rounds.begin()?;
            self.contexts[context].queued = false;
            self.visit(context);
        }
        for context in self.contexts.ids() {
            rounds.begin()?;
            self.record(context);
        }
        Ok(())
    }
    fn push(&mut self, context: ContextId) {
        if !std::mem::replace(&mut self.contexts[context].queued, true) {
            self.open.push_back(context);
        }
    }
    /// Something that many depend on has grown.
    fn push_all(&mut self) {
        self.contexts.ids().for_each(|context| self.push(context));
    }

    fn context(&mut self, function: FunctionId, thread: ThreadId) -> ContextId {
        *self.count.entry(function).or_default() += 1;
        self.contexts.push(Walked {
            function,
            thread,
            callers: Vec::new(),
            entry: None,
            exit: None,
            unwound: None,
            calls: BTreeMap::new(),
            changes: BTreeMap::new(),
            queued: false,
        })
    }

    /// Lets a thread start in a function.
    fn start(&mut self, thread: ThreadId, function: FunctionId, moment: &Moment) {
        self.starts.entry(thread).or_default().join(moment);
        if !self.concerned.contains(&function) {
            return;
        }
        let known = self.roots.get(&(thread, function)).copied();
        let context = known.unwrap_or_else(|| self.context(function, thread));
        self.roots.insert((thread, function), context);
        self.enter(context, moment);
    }
    fn enter(&mut self, context: ContextId, moment: &Moment) {
        let changed = match &mut self.contexts[context].entry {
            Some(entry) => entry.join(moment),
            entry @ None => {
                *entry = Some(moment.clone());
                true
            }
        };
        if changed {
            self.push(context);
        }
    }

    /// The context that a call enters.
    fn callee(&mut self, caller: ContextId, place: ProgramPoint, function: FunctionId) -> ContextId {
        let thread = self.contexts[caller].thread;
        if let Some(known) = self.by_caller.get(&(caller, place, function)) {
            return *known;
        }
        // Recursion comes back to the same context; too many contexts become one.
        let mut above = vec![caller];
        while let Some((next, _)) = self.contexts[above[above.len() - 1]].callers.first().copied() {
            if above.contains(&next) || above.len() > 64 {
                break;
            }
            above.push(next);
        }
        let recursive = above.iter().copied().find(|c| self.contexts[*c].function == function);
        let context = match recursive {
            Some(context) => context,
            None if self.contexts.len() >= MOST_ALTOGETHER
                || self.count.get(&function).is_some_and(|n| *n >= MOST_CONTEXTS) =>
            {
                match self.merged.get(&(function, thread)) {
                    Some(context) => *context,
                    None => {
                        let context = self.context(function, thread);
                        self.merged.insert((function, thread), context);
                        context
                    }
                }
            }
            None => self.context(function, thread),
        };
        self.by_caller.insert((caller, place, function), context);
        self.contexts[context].callers.push((caller, place));
        self.contexts[caller].calls.entry(place).or_default().insert(context);
        context
    }

    /// The statements of a function after which a moment may be another, by block.
    pub(super) fn relevant(&mut self, function: FunctionId) -> Rc<BTreeMap<BlockId, Vec<usize>>> {
        if let Some(known) = self.relevant.get(&function) {
            return Rc::clone(known);
        }
        let mut found: BTreeMap<BlockId, Vec<usize>> = BTreeMap::new();
        for (block_id, block) in self.program.functions[function].blocks.iter_enumerated() {
            for (index, statement) in block.statements.iter().enumerate() {
                let invoke = self.points_to.invoke((function, block_id, index));
                let enters = invoke.is_some_and(|i| i.callees.iter().any(|c| self.concerned.contains(c)));
                if enters || is_thread_code(&statement.stmt) || ends_thread(&statement.stmt) {
                    found.entry(block_id).or_default().push(index);
                }
            }
        }
        let found = Rc::new(found);
        self.relevant.insert(function, Rc::clone(&found));
        found
    }

    fn visit(&mut self, context: ContextId) {
        let Some(entry) = self.contexts[context].entry.clone() else { return };
        let (program, graphs) = (self.program, self.graphs);
        let function = self.contexts[context].function;
        let (body, graph) = (&program.functions[function], &graphs[function]);
        let mut at: BTreeMap<BlockId, Moment> = BTreeMap::new();
        let (mut exit, mut unwound): (Option<Moment>, Option<Moment>) = (None, None);
        let mut leaving: BTreeMap<(BlockId, BlockId), Moment> = BTreeMap::new();
        let mut open: BTreeSet<(u32, BlockId)> = BTreeSet::new();
        let rank: BTreeMap<BlockId, u32> = graph.order.iter().enumerate().map(|(i, b)| (*b, i as u32)).collect();
        if let Some(first) = graph.order.first() {
            at.insert(*first, entry);
            open.insert((0, *first));
        }
        while let Some((_, block)) = open.pop_first() {
            let left = self.through(context, block, at[&block].clone(), |_, _| {});
            match &body.blocks[block].terminator {
                Terminator::Return(_) => also(&mut exit, left.end.as_ref()),
                Terminator::Resume => also(&mut unwound, left.end.as_ref()),
                _ => {}
            }
            for (target, out) in self.targets(context, block, &left) {
                leaving.insert((block, target), out.clone());
                let changed = match at.get_mut(&target) {
                    Some(known) => known.join(&out),
                    None => {
                        at.insert(target, out);
                        true
                    }
                };
                if changed {
                    open.insert((rank.get(&target).copied().unwrap_or(0), target));
                }
            }
        }
        self.note_loops(context, &leaving);
        if let Some(exit) = exit {
            self.leave(context, &exit, false);
        }
        if let Some(unwound) = unwound {
            self.leave(context, &unwound, true);
        }
    }

    /// What runs where loops with creations are entered.
    fn note_loops(&mut self, context: ContextId, leaving: &BTreeMap<(BlockId, BlockId), Moment>) {
        let function = self.contexts[context].function;
        let graph = &self.graphs[function];
        for creation in self.code.get(&function).cloned().unwrap_or_default().creations {
            let Some(made) = self.made.get(&(context, creation.place)).copied() else { continue };
            let Some(around) = graph.loops.iter().find(|l| Some(l.header) == creation.around) else { continue };
            let into = leaving.iter().filter(|((from, to), _)| *to == around.header && !around.contains(*from));
            let alive: BTreeSet<ThreadId> = into.flat_map(|(_, moment)| moment.alive.iter().copied()).collect();
            let known = self.before_loop.entry(made).or_default();
            let count = known.len();
            known.extend(alive);
            if known.len() > count {
                self.push_all();
            }
        }
    }

    /// A context is left with this known, by returning or otherwise.
    fn leave(&mut self, context: ContextId, moment: &Moment, unwinds: bool) {
        let walked = &mut self.contexts[context];
        let changed = match if unwinds { &mut walked.unwound } else { &mut walked.exit } {
            Some(exit) => exit.join(moment),
            exit @ None => {
                *exit = Some(moment.clone());
                true
            }
        };
        if changed {
            for (caller, _) in self.contexts[context].callers.clone() {
                self.push(caller);
            }
        }
        let (thread, function) = (self.contexts[context].thread, self.contexts[context].function);
        if self.roots.get(&(thread, function)) == Some(&context) {
            self.end(thread, moment);
        }
    }
    /// A thread ends with these still running.
    fn end(&mut self, thread: ThreadId, moment: &Moment) {
        let count = self.threads[thread].left.len();
        self.threads[thread].left.extend(moment.alive.iter().copied());
        if self.threads[thread].left.len() > count {
            self.push_all();
        }
    }

    /// What is known after a statement; `None` if it is not known to end.
    pub(super) fn statement(
        &mut self,
        context: ContextId,
        place: ProgramPoint,
        stmt: &Stmt,
        mut moment: Moment,
    ) -> Option<Moment> {
        match stmt {
            Stmt::Sync { op: SyncOp::Create { function, arg: _ }, .. } => {
                self.create(context, place, function, &mut moment);
                Some(moment)
            }
            Stmt::Sync { op: SyncOp::Join { handle, mode: TryMode::Wait }, .. } => {
                if let Some(ended) = self.joined(context, place.0, handle, &moment) {
                    self.forget(&mut moment, ended);
                }
                Some(moment)
            }
            Stmt::Sync { op: SyncOp::ExitThread, .. } => {
                let thread = self.contexts[context].thread;
                self.end(thread, &moment);
                None
            }
            _ if ends_thread(stmt) => None,
            _ => self.invoke(context, place, moment),
        }
    }

    fn invoke(&mut self, context: ContextId, place: ProgramPoint, moment: Moment) -> Option<Moment> {
        let Some(invoke) = self.points_to.invoke(place) else { return Some(moment) };
        let (how, outside) = (invoke.how, invoke.outside);
        let callees = invoke.callees.clone();
        let maybe_not = how != How::Call || outside || callees.iter().any(|c| !self.concerned.contains(c));
        let mut after = if maybe_not || callees.is_empty() { Some(moment.clone()) } else { None };
        for callee in callees.into_iter().filter(|c| self.concerned.contains(c)).collect::<Vec<_>>() {
            let entered = self.callee(context, place, callee);
            self.enter(entered, &moment);
            if how == How::Callback
                && let Some(exit) = self.contexts[entered].exit.clone()
            {
                self.enter(entered, &exit);
            }
            match (&mut after, &self.contexts[entered].exit) {
                (Some(after), Some(exit)) => {
                    after.join(exit);
                }
                (after @ None, Some(exit)) => *after = Some(exit.clone()),
                (_, None) => {}
            }
        }
        after
    }

    fn create(&mut self, context: ContextId, place: ProgramPoint, function: &Operand, moment: &mut Moment) {
        let maker = self.contexts[context].thread;
        let address = self.points_to.addresses.of(place.0, function);
        let root = canonical(self.program, &self.points_to.addresses, self, context, address).root;
        let functions: BTreeSet<FunctionId> = match root {
            Root::Fixed(Base::Function(f)) => BTreeSet::from([f]),
            _ => self.points_to.invoke(place).map(|i| i.callees.iter().copied().collect()).unwrap_or_default(),
        };
        let made = self.thread(context, place, maker, &functions);
        let entry = &mut self.threads[made];
        let known = (entry.before.len(), entry.functions.len());
        entry.before.extend(moment.alive.iter().copied());
        entry.functions.extend(functions.iter().copied());
        if known != (entry.before.len(), entry.functions.len()) {
            self.push_all();
        }
        for function in functions {
            self.start(made, function, &Moment::default());
        }
        moment.alive.insert(made);
    }

    /// The thread that a statement makes in a context.
    fn thread(
        &mut self,
        context: ContextId,
        place: ProgramPoint,
        maker: ThreadId,
        functions: &BTreeSet<FunctionId>,
    ) -> ThreadId {
        if let Some(known) = self.made.get(&(context, place)) {
            return *known;
        }
        let above: Vec<ThreadId> = std::iter::successors(Some(maker), |t| self.threads[*t].parent).collect();
        let again = above.iter().copied().find(|t| self.threads[*t].made_at.is_some_and(|(_, p)| p == place));
        let similar = || self.threads.ids().find(|t| self.threads[*t].made_at.is_some_and(|(_, p)| p == place));
        let made = match (again, similar().filter(|_| self.threads.len() >= MOST_THREADS)) {
            // Those that it makes of its own kind start while it runs and may be left when it has ended, so they run when
            // some of them did before.
            (Some(known), _) => {
                let info = &mut self.threads[known];
                info.before.insert(known);
                info.left.insert(known);
                info.argument = Argument::Any;
                self.push_all();
                known
            }
            (None, Some(known)) => {
                self.threads[known].any_time = true;
                known
            }
            (None, None) => {
                let made = self.threads.push(thread(Some(maker), Some((context, place)), functions.clone()));
                let code = self.code.get(&place.0).and_then(|c| c.creations.iter().find(|c| c.place == place));
                self.threads[made].argument = code.map_or(Argument::Any, |c| c.argument);
                made
            }
        };
        self.made.insert((context, place), made);
        made
    }

    /// A thread has ended; what it left behind may be running.
    pub(super) fn forget(&self, moment: &mut Moment, ended: ThreadId) {
        moment.alive.remove(&ended);
        moment.alive.extend(self.threads[ended].left.iter().copied());
    }
    /// Whether at most one of these threads runs at a time.
    pub(super) fn is_alone(&self, thread: ThreadId) -> bool {
        !self.threads[thread].any_time && !self.threads[thread].before.contains(&thread)
    }

    /// What is known after going from a block to the next.
    pub(super) fn across(&self, context: ContextId, from: BlockId, to: BlockId, moment: &Moment) -> Moment {
        let mut moment = moment.clone();
        let function = self.contexts[context].function;
        let Some(code) = self.code.get(&function) else { return moment };
        for row in code.join_loops.iter().filter(|l| l.header == from && l.exit == to) {
            let Some(named) = self.named(function, &row.handle) else { continue };
            let running: Vec<ThreadId> = named.into_iter().filter(|t| moment.alive.contains(t)).collect();
            for thread in running {
                if self.joins(context, row, thread) {
                    self.forget(&mut moment, thread);
                }
            }
        }
        moment
    }

    /// Writes down the moments of a context, now that nothing changes any more.
    fn record(&mut self, context: ContextId) {
        let Some(entry) = self.contexts[context].entry.clone() else { return };
        let function = self.contexts[context].function;
        let graph = &self.graphs[function];
        let mut at: BTreeMap<BlockId, Moment> = graph.order.first().map(|b| (*b, entry)).into_iter().collect();
        let mut changes: BTreeMap<(BlockId, usize), Moment> = BTreeMap::new();
        let mut rounds = 0;
        loop {
            let mut changed = false;
            for block in &graph.order {
                let Some(now) = at.get(block).cloned() else { continue };
                changes.retain(|(b, _), _| b != block);
                changes.insert((*block, 0), now.clone());
                let left = self.through(context, *block, now, |index, after| {
                    changes.insert((*block, index), after.clone());
                });
                for (target, out) in self.targets(context, *block, &left) {
                    changed |= match at.get_mut(&target) {
                        Some(known) => known.join(&out),
                        None => {
                            at.insert(target, out);
                            true
                        }
                    };
                }
            }
            rounds += 1;
            if !changed || rounds > graph.order.len() + 2 {
                break;
            }
        }
        self.contexts[context].changes = changes;
    }
}
