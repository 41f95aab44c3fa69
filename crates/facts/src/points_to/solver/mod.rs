//! Inclusion constraints between points-to sets, solved in waves.
//!
//! Each node has a points-to set of spots. Edges carry spots from node to node, moved by a shift; loads and stores turn
//! into edges from and to the cells of objects as spots arrive. Nodes on a cycle of unmoved edges are merged, and so
//! are the cells of an object that overlap. Only what is new travels. Few spots per object and node: beyond
//! [`MOST_SPOTS`] they are widened to one with a stride, so that pointers that walk through an object reach a fixed
//! point. Few objects per node too: beyond [`MOST_TARGETS`] they become a collapsed node ([`super::collapse`]), so that
//! sets, edges and cells stay near the number of statements.

mod cycles;
mod memory;
mod unknown;

use std::collections::VecDeque;

use model::index::{Idx, IndexVec};
use model::{Budget, Spent};

use rustc_hash::FxHashSet;

use program::{Architecture, Lvalue};

use super::collapse::CollapsedNodes;
use super::types::Types;
use crate::Rounds;
use crate::spot::{ObjectId, Origin, Shift, Spot};
use memory::{Memory, Mirror};

/// A node, which has a points-to set.
pub(super) type Node = u32;

/// Spots of one object in one set before they are widened.
pub(super) const MOST_SPOTS: usize = 8;
/// Spots in one set before their objects are collapsed.
pub(super) const MOST_TARGETS: usize = 32;
/// Functions in one set before they are not told apart.
const MOST_FUNCTIONS: usize = 64;
/// Visits of nodes between two questions to the budget.
const VISITS: u32 = 2_048;

/// Where spots come from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Source {
    /// Nowhere.
    Nothing,
    /// One spot.
    Spot(Spot),
    /// A node's spots, moved.
    Node(Node, Shift),
}

/// What is to be done for every spot that arrives at a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Task {
    /// The content of so many bytes there flows to a node.
    Load { shift: Shift, size: Option<u32>, lvalue: Option<Lvalue>, to: Node },
    /// The source flows into so many bytes there.
    Store { shift: Shift, size: Option<u32>, lvalue: Option<Lvalue>, from: Source },
    /// The content of so many bytes there flows into the object, to the same distance from its start.
    CopyOut { shift: Shift, len: Option<u32>, to: ObjectId },
    /// The content of the object flows there.
    CopyIn { shift: Shift, from: ObjectId },
    /// Functions there are invoked; the number is the caller's business.
    Invoke(u32),
    /// Everything in the object flows to the node, and the node's spots into the object.
    Leak { to: Node },
}

/// The constraints and their solution so far.
#[derive(Default)]
pub(super) struct Solver {
    /// What the objects stand for.
    pub(super) objects: IndexVec<ObjectId, Origin>,
    pub(super) collapsed_nodes: CollapsedNodes,
    /// Which memory is typed.
    pub(super) types: Types,
    /// What the program was compiled for.
    architecture: Architecture,
    parent: Vec<Node>,
    spots: Vec<Vec<Spot>>,
    fresh: Vec<Vec<Spot>>,
    /// How many spots a node may have before its objects are collapsed. Grows with what cannot be collapsed.
    limits: Vec<usize>,
    edges: Vec<Vec<(Node, Shift)>>,
    tasks: Vec<Vec<Task>>,
    /// Whether some of a node's spots were carried on already; until then all of them are new.
    travelled: Vec<bool>,
    known_edges: FxHashSet<(Node, Node, Shift)>,
    memory: Vec<Memory>,
    order: Vec<u32>,
    pending: VecDeque<Node>,
    queued: Vec<bool>,
    /// The object that stands for any function.
    pub(super) any_function: Option<ObjectId>,
    /// Objects that nothing is stored in, by number: constants.
    kept: Vec<bool>,
    /// Nodes that have to become one.
    to_merge: Vec<(Node, Node)>,
    /// Nodes with too many spots.
    crowded: Vec<Node>,
    edges_at_last_order: usize,
    /// Functions that arrived at an invocation.
    pub(super) invoked: Vec<(u32, Spot)>,
    /// The abstract location of pointers of which nothing is known, if they are followed.
    unknown: Option<ObjectId>,
    /// Something may have been copied from where such a pointer points.
    unknown_copied: bool,
    /// Every piece of memory may hold such a pointer.
    unknown_everywhere: bool,
    /// By node, in the end: whether such a pointer is in its set.
    may_be_unknown: Vec<bool>,
}

impl Solver {
    /// No constraints yet.
    pub(super) fn new(types: Types, architecture: Architecture) -> Self {
        Self { types, architecture, ..Self::default() }
    }

    /// Bytes of a pointer.
    pub(super) fn pointer(&self) -> Option<u32> {
        Some(self.architecture.pointer_size())
    }
    /// Whether so many bytes, or an unknown number of them, may hold a pointer.
    pub(super) fn may_hold_pointer(&self, size: Option<u32>) -> bool {
        size.is_none_or(|size| self.architecture.may_hold_pointer(size))
    }

    pub(super) fn node(&mut self) -> Node {
        self.nodes(1)
    }
    /// So many nodes in a row; the first.
    pub(super) fn nodes(&mut self, count: usize) -> Node {
        let first = self.parent.len();
        let end = first + count;
        self.parent.extend(first as Node..end as Node);
        self.spots.resize_with(end, Vec::new);
        self.fresh.resize_with(end, Vec::new);
        self.limits.resize(end, MOST_TARGETS);
        self.edges.resize_with(end, Vec::new);
        self.tasks.resize_with(end, Vec::new);
        self.queued.resize(end, false);
        self.travelled.resize(end, false);
        first as Node
    }

    /// Nothing is stored in the object, whatever pointers to it are used for.
    pub(super) fn keep(&mut self, object: ObjectId) {
        let index = object.index();
        if self.kept.len() <= index {
            self.kept.resize(index + 1, false);
        }
        self.kept[index] = true;
    }

    pub(super) fn find(&self, mut node: Node) -> Node {
        while self.parent[node as usize] != node {
            node = self.parent[node as usize];
        }
        node
    }
    fn find_and_shorten(&mut self, node: Node) -> Node {
        let root = self.find(node);
        let mut at = node;
        while self.parent[at as usize] != root {
            at = std::mem::replace(&mut self.parent[at as usize], root);
        }
        root
    }

    /// The spots of a node, sorted.
    pub(super) fn of(&self, node: Node) -> &[Spot] {
        &self.spots[self.find(node) as usize]
    }
    /// The pieces of an object that have content, with their nodes.
    pub(super) fn cells(&self, object: ObjectId) -> impl Iterator<Item = (Spot, Option<u32>, Node)> + '_ {
        let memory = self.memory.get(self.collapsed_nodes.home(object).0 as usize);
        memory.into_iter().flat_map(|m| &m.cells).map(|c| (c.spot, c.size, c.node))
    }

    pub(super) fn flow(&mut self, from: Source, to: Node) {
        match from {
            Source::Nothing => {}
            Source::Spot(spot) => self.add(to, &[spot]),
            Source::Node(from, shift) => self.edge(from, to, shift),
        }
    }

    fn edge(&mut self, from: Node, to: Node, shift: Shift) {
        let (from, to) = (self.find_and_shorten(from), self.find_and_shorten(to));
        if (from == to && shift == Shift::default()) || !self.known_edges.insert((from, to, shift)) {
            return;
        }
        self.edges[from as usize].push((to, shift));
        // What has not travelled yet will use this edge anyway.
        if self.travelled[from as usize] {
            let moved = moved(&self.spots[from as usize], shift);
            self.add(to, &moved);
        }
    }

    /// Adds spots to a node; what is new will travel on.
    fn add(&mut self, node: Node, spots: &[Spot]) {
        let node = self.find_and_shorten(node) as usize;
        let any = self.any_function.map(Spot::start);
        let fresh = join(&mut self.spots[node], spots, &self.collapsed_nodes, (&self.objects, any));
        if !fresh.is_empty() {
            self.fresh[node].extend(fresh);
            self.queue(node as Node);
            if self.spots[node].len() > self.limits[node] {
                self.crowded.push(node as Node);
            }
        }
    }
    /// Makes room in a set that has too many spots: objects in which it has spots at the same place become a collapsed
    /// node.
    fn collapse(&mut self, node: Node) {
        let node = self.find_and_shorten(node) as usize;
        if self.spots[node].len() <= self.limits[node] {
            return;
        }
        for group in self.collapsed_nodes.groups(&self.spots[node], &self.objects) {
            let (collapsed, joined) = self.collapsed_nodes.gather(&group, &mut self.objects);
            joined.into_iter().for_each(|object| self.move_memory(object, collapsed));
        }
        let known = std::mem::take(&mut self.spots[node]);
        let mut rest = self.collapsed_nodes.put_together(&known, &self.objects);
        let is_function = |spot: &Spot| matches!(self.objects[spot.object], Origin::Function(_));
        if let Some(any) = self.any_function
            && rest.iter().filter(|spot| is_function(spot)).count() > MOST_FUNCTIONS
        {
            rest.retain(|spot| !is_function(spot));
            rest.push(Spot::start(any));
            rest.sort_unstable();
            rest.dedup();
        }
        // What is in a collapsed node now travels with it, if the collapsed node has not been there already.
        let mut fresh = std::mem::take(&mut self.fresh[node]);
        fresh.retain(|s| rest.binary_search(s).is_ok());
        fresh.extend(rest.iter().filter(|s| known.binary_search(s).is_err()));
        self.limits[node] = self.limits[node].max(2 * rest.len());
        self.spots[node] = rest;
        if !fresh.is_empty() {
            self.fresh[node] = fresh;
            self.queue(node as Node);
        }
    }
    fn queue(&mut self, node: Node) {
        if !std::mem::replace(&mut self.queued[node as usize], true) {
            self.pending.push_back(node);
        }
    }

    /// Lets a task be done for every spot of a source.
    pub(super) fn task(&mut self, at: Source, task: Task) {
        match at {
            Source::Nothing => {}
            Source::Spot(spot) => self.perform(task, spot),
            Source::Node(node, shift) => {
                let task = match task {
                    Task::Load { shift: by, size, lvalue, to } => {
                        Task::Load { shift: shift.then(by), size, lvalue, to }
                    }
                    Task::Store { shift: by, size, lvalue, from } => {
                        Task::Store { shift: shift.then(by), size, lvalue, from }
                    }
                    Task::CopyOut { shift: by, len, to } => Task::CopyOut { shift: shift.then(by), len, to },
                    Task::CopyIn { shift: by, from } => Task::CopyIn { shift: shift.then(by), from },
                    other => other,
                };
                let node = self.find_and_shorten(node) as usize;
                self.tasks[node].push(task);
                if self.travelled[node] {
                    for spot in self.spots[node].clone() {
                        self.perform(task, spot);
                    }
                }
            }
        }
    }

    fn perform(&mut self, task: Task, spot: Spot) {
        if self.is_unknown(spot) {
            return self.perform_unknown(task, spot);
        }
        let kept = self.kept.get(spot.object.index()) == Some(&true);
        if self.objects[spot.object] == Origin::Constants
            || kept && matches!(task, Task::Store { .. } | Task::CopyIn { .. })
        {
            return;
        }
        match task {
            Task::Load { shift, size, lvalue, to } => {
                let cell = self.piece(spot.shifted(shift), size, lvalue);
                self.edge(cell.read, to, Shift::default());
            }
            Task::Store { shift, size, lvalue, from } => {
                let cell = self.piece(spot.shifted(shift), size, lvalue);
                self.flow(from, cell.node);
            }
            Task::CopyOut { shift, len, to } => {
                self.mirror(Mirror { from: spot.shifted(shift), len, to: Spot::start(to) });
            }
            Task::CopyIn { shift, from } => {
                self.mirror(Mirror { from: Spot::start(from), len: None, to: spot.shifted(shift) });
            }
            Task::Invoke(number) => self.invoked.push((number, spot)),
            Task::Leak { to } => {
                let memory = self.memory(self.collapsed_nodes.home(spot.object));
                if memory.leaks.contains(&to) {
                    return;
                }
                memory.leaks.push(to);
                let whole = self.piece(Spot::new(spot.object, Shift::ANYWHERE), None, None);
                self.edge(whole.read, to, Shift::default());
                if !kept {
                    self.edge(to, whole.node, Shift::default());
                }
            }
        }
    }

    /// Makes two nodes one, when nothing else is being done.
    fn merge(&mut self, one: Node, other: Node) {
        self.to_merge.push((one, other));
    }
    fn merge_now(&mut self, one: Node, other: Node) {
        let (one, other) = (self.find_and_shorten(one), self.find_and_shorten(other));
        if one == other {
            return;
        }
        // The one with more to it stays.
        let weight =
            |n: Node| self.spots[n as usize].len() + self.edges[n as usize].len() + self.tasks[n as usize].len();
        let (keep, drop) = if weight(one) >= weight(other) { (one, other) } else { (other, one) };
        self.parent[drop as usize] = keep;
        let spots = std::mem::take(&mut self.spots[drop as usize]);
        let edges = std::mem::take(&mut self.edges[drop as usize]);
        let tasks = std::mem::take(&mut self.tasks[drop as usize]);
        self.fresh[drop as usize] = Vec::new();
        self.travelled[keep as usize] = true;
        // What only one of them had has to travel along the other's edges.
        let kept = self.spots[keep as usize].clone();
        self.add(keep, &spots);
        for (to, shift) in edges {
            let to = self.find_and_shorten(to);
            if (to != keep || shift != Shift::default()) && self.known_edges.insert((keep, to, shift)) {
                self.edges[keep as usize].push((to, shift));
                let moved = moved(&kept, shift);
                self.add(to, &moved);
                let moved = moved_again(&spots, shift);
                self.add(to, &moved);
            }
        }
        for task in tasks {
            self.tasks[keep as usize].push(task);
            for spot in kept.iter().chain(&spots) {
                self.perform(task, *spot);
            }
        }
    }

    /// Carries spots along until nothing changes.
    pub(super) fn solve(&mut self, budget: &Budget) -> Result<(), Spent> {
        let mut rounds = Rounds::new(budget, VISITS);
        self.tidy();
        while !self.pending.is_empty() {
            if self.known_edges.len() > self.edges_at_last_order + self.edges_at_last_order / 8 {
                self.edges_at_last_order = self.known_edges.len();
                self.merge_cycles();
                self.tidy();
            }
            let mut wave: Vec<Node> = self.pending.drain(..).collect();
            let order = &self.order;
            wave.sort_by_key(|n| order.get(*n as usize).copied().unwrap_or(0));
            for node in wave {
                self.queued[node as usize] = false;
                self.visit(node);
                self.tidy();
                rounds.begin()?;
            }
        }
        Ok(())
    }
    /// Does what was put off.
    fn tidy(&mut self) {
        loop {
            if let Some((one, other)) = self.to_merge.pop() {
                self.merge_now(one, other);
            } else if let Some(node) = self.crowded.pop() {
                self.collapse(node);
            } else {
                return;
            }
        }
    }
    /// Says the same with the collapsed nodes there are in the end, when nothing changes any more.
    pub(super) fn settle(&mut self) {
        let unknown = self.unknown;
        for set in &mut self.spots {
            *set = self.collapsed_nodes.settled(set, &self.objects);
            let before = set.len();
            set.retain(|spot| unknown != Some(spot.object));
            self.may_be_unknown.push(set.len() < before);
        }
    }

    fn visit(&mut self, node: Node) {
        let node = self.find_and_shorten(node) as usize;
        let mut fresh = std::mem::take(&mut self.fresh[node]);
        if fresh.is_empty() {
            return;
        }
        self.travelled[node] = true;
        fresh.sort_unstable();
        fresh.dedup();
        for number in 0..self.tasks[node].len() {
            let task = self.tasks[node][number];
            fresh.iter().for_each(|spot| self.perform(task, *spot));
        }
        for number in 0..self.edges[node].len() {
            let (to, shift) = self.edges[node][number];
            self.add(to, &moved(&fresh, shift));
        }
    }
}

fn moved(spots: &[Spot], shift: Shift) -> Vec<Spot> {
    if shift == Shift::default() {
        return spots.to_vec();
    }
    moved_again(spots, shift)
}
fn moved_again(spots: &[Spot], shift: Shift) -> Vec<Spot> {
    let mut moved: Vec<Spot> = spots.iter().map(|s| s.shifted(shift)).collect();
    moved.sort_unstable();
    moved.dedup();
    moved
}

/// Adds sorted spots to a sorted set, widening where there are too many of an object; returns what is new.
fn join(
    set: &mut Vec<Spot>,
    spots: &[Spot],
    collapsed_nodes: &CollapsedNodes,
    (objects, any_function): (&IndexVec<ObjectId, Origin>, Option<Spot>),
) -> Vec<Spot> {
    let mut fresh: Vec<Spot> = Vec::new();
    let mut at = 0;
    let has_any = any_function.is_some_and(|any| set.binary_search(&any).is_ok());
    for spot in spots {
        let is_function = matches!(objects[spot.object], Origin::Function(_) | Origin::AnyFunction);
        if is_function && has_any {
            continue;
        }
        // There is nothing inside of a function that a pointer could be to.
        let spot = &if is_function { Spot::start(spot.object) } else { *spot };
        // Both are sorted: the set is walked through once.
        if spots.len() * 8 < set.len() {
            at += set[at..].partition_point(|s| s.object < spot.object);
        } else {
            while set.get(at).is_some_and(|s| s.object < spot.object) {
                at += 1;
            }
        }
        let len = set[at..].iter().take_while(|s| s.object == spot.object).count();
        let same = &set[at..at + len];
        if same.iter().any(|s| s.includes(*spot)) || collapsed_nodes.are_in(set, *spot) {
            continue;
        }
        let new = fresh.iter().rev().take_while(|s| s.object == spot.object);
        if new.clone().any(|s| s.includes(*spot)) {
            continue;
        }
        if same.len() + new.clone().count() >= MOST_SPOTS {
            let wide = same.iter().chain(new).fold(*spot, |wide, s| wide.widened(*s));
            fresh.push(wide);
        } else {
            fresh.push(*spot);
        }
    }
    if !fresh.is_empty() {
        set.extend(fresh.iter().copied());
        set.sort();
        set.dedup();
    }
    fresh
}
