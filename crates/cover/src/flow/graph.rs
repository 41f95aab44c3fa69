//! The graph of threads: nodes, edges and shared places.

use model::SiteId;
use program::FunctionId;

use crate::flags::FlagValue;
use facts::invocations::ProgramPoint;
use facts::objects::Key;

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
    /// The thread created there has ended.
    Ended(ProgramPoint),
    /// Threads that may still be created there, of those that are counted: all their tokens while none runs.
    Idle(ProgramPoint),
    /// A flag while it has this value: one token in one of its places.
    Flag(Key, FlagValue),
    /// A flag that is kept by its writes, while nothing was written: one token.
    Unwritten(Key),
    /// The opposite.
    Overwritten(Key),
    /// This value was written to a flag: a token for each time.
    Written(Key, FlagValue),
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
    pub(super) fn take(resource: Resource, n: u32) -> Self {
        Self { takes: vec![(resource, n)], ..Self::default() }
    }
    pub(super) fn need(resource: Resource) -> Self {
        Self { needs: vec![resource], ..Self::default() }
    }
    /// So many tokens must be there and stay.
    pub(super) fn needing(mut self, resource: Resource, n: u32) -> Self {
        self.needs.extend((0..n).map(|_| resource));
        self
    }
    pub(super) fn give(resource: Resource, n: u32) -> Self {
        Self { gives: vec![(resource, n)], ..Self::default() }
    }
    pub(super) fn is_empty(&self) -> bool {
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
