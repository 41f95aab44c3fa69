//! Which threads there are, and which points of the code may happen in parallel (MHP).
//!
//! Code is followed per *context*: a function together with the thread that runs it and what is known when it is
//! entered. Functions that start or wait for threads, directly or through others, get a context per call, so that the
//! order of creations and joins is seen through wrappers (`walk`); all others get one per thread, *moment* and
//! arguments that matter (`spread`).
//!
//! A [`Thread`] stands for all threads made by one statement in one context. A [`Moment`] is what is known at a point
//! of the code: which threads made by this one may be running. Two points can be executed in parallel if one's thread
//! may be running at the other's moment, or if the statements that made their threads can follow each other without
//! waiting in between ([`Order::parallel`]).
//!
//! Can be missed: nothing, for programs without functions of unknown effect; those are assumed not to start threads in
//! functions that they were not given. Never claimed wrongly: that two points are ordered.

mod blocks;
mod canonical;
mod copied;
mod joins;
mod matching;
mod reaching;
mod rows;
mod spread;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use model::index::{IndexVec, index_type};
use model::{Budget, Spent};
use program::{BlockId, FunctionId, Program};
use rustc_hash::FxHashMap;

use crate::address::Address;
use crate::flow_graph::FlowGraph;
use crate::invocations::{Invocations, ProgramPoint};
use crate::points_to::PointsTo;
use crate::spot::Spot;

index_type! {
    /// A thread of the analysis.
    pub struct ThreadId("t");
    /// A context.
    pub struct ContextId("c");
    /// A moment.
    pub struct MomentId("m");
}

/// How the argument of a thread differs from those of the others made by the same statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    /// Not known to differ.
    Any,
    /// They are this far apart: numbers, or pointers into one object.
    Apart(u64),
    /// A block that was made for this thread alone.
    Fresh,
}

/// All threads made by one statement in one context.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Who makes them; `None` for the first thread and for those of unknown origin.
    pub parent: Option<ThreadId>,
    /// The statement that makes them, in its context.
    pub made_at: Option<(ContextId, ProgramPoint)>,
    /// What they start in.
    pub functions: BTreeSet<FunctionId>,
    /// Which threads may be running just before one of them is made.
    pub before: BTreeSet<ThreadId>,
    /// Which threads made by them may still be running when they end.
    pub left: BTreeSet<ThreadId>,
    /// How their arguments differ.
    pub argument: Argument,
    /// Nothing is known about when they run.
    pub any_time: bool,
    /// Which threads may be running when the loop that makes them is entered.
    pub before_loop: BTreeSet<ThreadId>,
}

/// What is known at a point of the code of a thread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Moment {
    /// Threads that may be running, each with all it may make.
    pub alive: BTreeSet<ThreadId>,
}

impl Moment {
    /// What is known where two ways meet; whether it is less than before.
    fn join(&mut self, other: &Self) -> bool {
        let before = self.alive.len();
        self.alive.extend(other.alive.iter().copied());
        self.alive.len() > before
    }
}

/// What is known of a parameter in a context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Binding {
    /// Nothing beyond where it may point to.
    Any,
    /// It points exactly there.
    Spot(Spot),
    /// It is the argument of the thread, so many bytes further.
    Argument(i64),
    /// It is a block that nobody else knows yet.
    Fresh,
}

/// A function as it is run by one thread.
#[derive(Clone, Debug)]
pub struct Context {
    /// The function.
    pub function: FunctionId,
    /// The thread; `None` for any.
    pub thread: Option<ThreadId>,
    /// What is known of the parameters.
    pub bindings: Vec<Binding>,
    /// Whether a thread starts in it, or code without a body calls it.
    pub starts: bool,
    /// Who calls it where, at least one context for each statement.
    pub callers: Vec<(ContextId, ProgramPoint)>,
    /// What is known when it is entered.
    pub moment: MomentId,
    /// Where that changes: moments from a statement of a block on, sorted.
    changes: BTreeMap<(BlockId, usize), MomentId>,
}

impl Context {
    /// All moments of it.
    pub fn moments(&self) -> impl Iterator<Item = MomentId> + '_ {
        std::iter::once(self.moment).chain(self.changes.values().copied())
    }
    /// What is known just before a statement.
    pub fn moment_at(&self, block: BlockId, index: usize) -> MomentId {
        let earlier = self.changes.range((block, 0)..=(block, index)).next_back();
        earlier.map_or(self.moment, |(_, moment)| *moment)
    }
}

/// The result of the analysis.
pub struct Order {
    /// Threads; the first one is `main`.
    pub threads: IndexVec<ThreadId, Thread>,
    /// Moments.
    pub moments: IndexVec<MomentId, Moment>,
    /// Contexts.
    pub contexts: IndexVec<ContextId, Context>,
    calls: FxHashMap<(ContextId, ProgramPoint), Vec<ContextId>>,
    shared: FxHashMap<(ProgramPoint, Option<ThreadId>, MomentId), Vec<ContextId>>,
    rows: BTreeMap<(ContextId, ProgramPoint, Address), (ThreadId, i64)>,
}

impl Order {
    /// Runs the analysis.
    pub(crate) fn new(
        program: &Program,
        points_to: &PointsTo,
        graphs: &IndexVec<FunctionId, FlowGraph>,
        invocations: &Invocations,
        entries: &[FunctionId],
        budget: &Budget,
    ) -> Result<Self, Spent> {
        let walked = walk::walk(program, points_to, graphs, invocations, (entries, budget))?;
        spread::spread(program, points_to, walked, budget)
    }

    /// The contexts that a statement enters in the same thread, which this context alone enters there.
    pub fn calls(&self, context: ContextId, place: ProgramPoint) -> &[ContextId] {
        self.calls.get(&(context, place)).map_or(&[], Vec::as_slice)
    }
    /// The other contexts that the statement enters: the same for all contexts of a thread and moment.
    pub fn shared_calls(&self, context: ContextId, place: ProgramPoint) -> &[ContextId] {
        let info = &self.contexts[context];
        let key = (place, info.thread, info.moment_at(place.1, place.2));
        self.shared.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The thread to whose argument an access is so many bytes away, while no running thread has that argument: in a loop
    /// over threads, before the round's thread is made or after it was joined.
    pub fn unclaimed(&self, context: ContextId, place: ProgramPoint, address: &Address) -> Option<(ThreadId, i64)> {
        self.rows.get(&(context, place, *address)).copied()
    }

    /// A thread with all that made it, the thread itself first.
    pub fn ancestors(&self, thread: ThreadId) -> impl Iterator<Item = ThreadId> + '_ {
        std::iter::successors(Some(thread), |t| self.threads[*t].parent)
    }
    fn covers(&self, alive: &BTreeSet<ThreadId>, thread: ThreadId) -> bool {
        self.ancestors(thread).any(|t| alive.contains(&t))
    }
    /// Whether two of these threads may run at the same time.
    pub fn many(&self, thread: ThreadId) -> bool {
        self.threads[thread].any_time || self.met(thread, thread)
    }

    /// Whether two points may be executed in parallel, by different threads; each is given by thread and moment.
    pub fn parallel(&self, one: (Option<ThreadId>, MomentId), other: (Option<ThreadId>, MomentId)) -> bool {
        let (Some(a), Some(b)) = (one.0, other.0) else { return true };
        if self.threads[a].any_time || self.threads[b].any_time {
            return true;
        }
        // One may run while the thread that led to it is at the other point.
        let during = |maker: ThreadId, point: MomentId, thread: ThreadId| {
            maker != thread
                && self.ancestors(thread).any(|t| t == maker)
                && self.covers(&self.moments[point].alive, thread)
        };
        during(a, one.1, b) || during(b, other.1, a) || self.met(a, b)
    }

    /// Whether the arguments of any two of these threads that run at the same time differ as [`Thread::argument`] says:
    /// all that run were made by one execution of the loop around the statement.
    pub fn arguments_differ(&self, thread: ThreadId) -> bool {
        let info = &self.threads[thread];
        let makers_alone = self.ancestors(thread).skip(1).all(|t| !self.many(t));
        info.argument != Argument::Any && !info.any_time && makers_alone && !info.before_loop.contains(&thread)
    }

    /// Whether some thread that led to both, on different ways, made one of the ways while the other thread was running.
    fn met(&self, a: ThreadId, b: ThreadId) -> bool {
        let makers: Vec<ThreadId> = self.ancestors(b).skip(1).collect();
        self.ancestors(a).any(|to_a| {
            let Some(maker) = self.threads[to_a].parent.filter(|maker| makers.contains(maker)) else { return false };
            let Some(to_b) = self.ancestors(b).find(|t| self.threads[*t].parent == Some(maker)) else { return false };
            self.covers(&self.threads[to_b].before, a) || self.covers(&self.threads[to_a].before, b)
        })
    }
}
