//! Control flow of all threads as one graph of nodes and edges, from which the net is built.
//!
//! A node is a thread's state: where it is (with the calls that led there), which known locks it holds, and results of
//! tries and values of flags that later branches depend on. Nodes are found by following the code from each thread
//! function; steps that no other thread can observe are no nodes of their own. An edge says what it takes from and
//! gives to the shared places.
//!
//! Why the net has every behaviour of the program, also after reordering: if two accesses of an execution are not
//! ordered by happens-before, all events that happened before either of them, in their old order, lead to a state in
//! which both come next. That prefix keeps every thread's path, and each thing a thread waits for in the net (a lock, a
//! semaphore's count, a barrier, a once-control, a thread's end) gives a happens-before edge. Signals give none, so a
//! wait on a condition variable may end at any time here: it releases the lock and takes it again.
//!
//! A lock is in a thread's *held* list only if the thread really holds it, so what the net lets wait really waits:
//! - a lock that is not known is neither taken nor released; a release that may mean a held lock is tried both ways;
//! - taking a held lock again succeeds, counted (a recursive mutex) or not (one that reports the error);
//! - reader-writer locks need to know that no reader is left, which nets cannot ask for any number of readers. Two
//!   threads, chosen when they start, are *tracked* and only they respect these locks: a reader takes one of two
//!   tokens, a writer both. A pair is covered by tracked threads, so nothing is lost;
//! - a loop that joins a crowd of threads waits for the tracked ones among them, for the same reason;
//! - calls are followed in place. A call to a recursive function becomes *any order of its effects*: accesses, posts,
//!   arrivals, creations and releases happen in any order any number of times, and nothing in it waits.
//!
//! Assumes: no thread releases a lock that another holds or initialises an object that is in use; exploration reports
//! both as misuse.

mod anything;
mod decide;
mod flag;
mod graph;
mod state;
mod synchronise;
mod walk;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::SiteId;
use program::{FunctionId, Program, Statement, Stmt, SyncOp};

pub(crate) use graph::{Arcs, Edge, Graph, Node, NodeInfo, Resource};
use walk::Walk;

use crate::deciding::Deciding;
use crate::flags::{Flag, Flags};
use crate::synchronisation::Synchronisation;
use facts::invocations::{Invocations, ProgramPoint};
use facts::objects::Objects;
use facts::touches::touches_memory;
use facts::values::Values;

/// All that is known of the program before a pair is asked about.
pub(crate) struct Known<'a> {
    pub(crate) program: &'a Program,
    pub(crate) values: &'a Values<'a>,
    pub(crate) invocations: &'a Invocations,
    pub(crate) objects: &'a Objects<'a>,
    pub(crate) synchronisation: &'a Synchronisation,
    /// What branches depend on, by function; of all that can run.
    pub(crate) deciding: BTreeMap<FunctionId, Deciding<'a>>,
    /// The variables whose values nets keep.
    pub(crate) flags: Flags,
    /// The sites that several lanes of a loop may execute at the same time.
    pub(crate) lanes: BTreeSet<SiteId>,
}

impl<'a> Known<'a> {
    /// Keeps these flags and no others; of the same flag the last.
    pub(crate) fn keep<'f>(&mut self, flags: impl IntoIterator<Item = &'f Flag>) {
        self.flags = Flags::default();
        flags.into_iter().for_each(|flag| self.flags.add(flag.clone()));
        self.deciding = self.decide(Some(&self.flags));
    }

    /// What branches depend on; without flags, what they might depend on.
    pub(crate) fn decide(&self, flags: Option<&Flags>) -> BTreeMap<FunctionId, Deciding<'a>> {
        let deciding = |f| (f, Deciding::new(f, &self.program.functions[f], flags));
        self.invocations.reachable().map(deciding).collect()
    }
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
    for (state, arcs) in walk.starts(main, None) {
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
    let shows = |(place, s): (ProgramPoint, &Statement)| match &s.stmt {
        Stmt::Sync { op, .. } => !matches!(op, SyncOp::Yield | SyncOp::Current | SyncOp::SemGet { .. }),
        stmt => {
            let of_interest = s.site.is_some_and(|site| sites.contains(&site)) && touches_memory(stmt);
            let acquires = matches!(stmt, Stmt::Fence(order) if order.acquires()) && known.flags.has_writes();
            of_interest || acquires || known.flags.at(place).is_some() || known.flags.is_fence(place)
        }
    };
    let itself = |f: FunctionId| statements(known.program, f).any(shows);
    let all: Vec<_> = known.invocations.reachable().collect();
    let some: BTreeSet<_> = all.iter().copied().filter(|f| itself(*f)).collect();
    let reaches = |f: &FunctionId| known.invocations.closure(*f, false).iter().any(|g| some.contains(g));
    all.into_iter().filter(reaches).collect()
}

/// The statements of a function with their places.
pub(crate) fn statements(program: &Program, function: FunctionId) -> impl Iterator<Item = (ProgramPoint, &Statement)> {
    program.functions[function].blocks.iter_enumerated().flat_map(move |(block, body)| {
        body.statements.iter().enumerate().map(move |(index, s)| ((function, block, index), s))
    })
}
