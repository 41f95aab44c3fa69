//! Decides whether a correct reordering of a window brings two threads to two of their events at once.
//!
//! A *correct reordering* is a sequence of events of the trace that keeps program order, contains with an event all
//! earlier ones of its thread, is feasible by the rules of [`model::Op`], and in which every event has its observed
//! result: reads read from the same writes, try-operations succeed or fail as they did, waits end for the same reason,
//! the same thread is the last to arrive at a barrier. After it both threads are about to make the requested accesses.
//! These may read anything, unless their footprint depends on it (see [`crate::lanes::is_steady`]).
//!
//! A depth-first search over states: the progress of each thread, the last write of each atom that a later event reads,
//! and what the order of operations left in condition variables and barriers; everything else follows from the threads'
//! progress. No state is visited twice. Three arguments reduce the number of states without losing a reordering:
//!
//! 1. *Needed events.* The accesses need certain events, which need others; if they need each other, there is no
//!    reordering. A state in which a needed read can no longer read its observed value is abandoned.
//! 2. *Useful events.* Beyond the needed ones, only events are tried that can enable a useful one: the write it reads
//!    from, the release of a lock, all operations on a condition variable, barrier or semaphore that useful events wait
//!    on. All others can be omitted from any reordering.
//! 3. *Harmless events* are done as soon as possible: those that disable nothing and do not depend on what else is done
//!    first. In a reordering that contains one, it can be moved to the front; to any other, it can be added.
//!
//! *Can miss* nothing in the window; when the budget is spent it says so. *Never wrong*: every reordering it finds was
//! performed step by step.

use model::{IndexVec, ThreadId};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::object::ObjectOp;
use crate::replay_state::ReplayState;
use crate::window::{EventIndex, Source, Window, WindowEvent};

/// Two accesses to bring side by side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RacePair {
    pub(crate) indices: [EventIndex; 2],
    /// Whether each access has to read its observed value.
    pub(crate) reads: [bool; 2],
}

/// The answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// The events before the two accesses, in order.
    Found(Vec<EventIndex>),
    /// There is no such reordering.
    Impossible,
    /// The budget is spent.
    Unknown,
}

/// How far each thread has to, or may usefully, run.
struct Reach<'a> {
    window: &'a Window,
    target: RacePair,
    to: IndexVec<ThreadId, u32>,
    looked_at: IndexVec<ThreadId, u32>,
    /// Whether a thread would have to run past its access.
    past_access: bool,
    /// Whether useful events count in addition to needed ones.
    useful: bool,
}

impl<'a> Reach<'a> {
    fn new(window: &'a Window, target: RacePair) -> Self {
        let zeros = IndexVec::filled(window.events.len(), 0);
        let (to, looked_at) = (zeros.clone(), zeros);
        let mut reach = Self { window, target, to, looked_at, past_access: false, useful: false };
        for (event, reads) in target.indices.into_iter().zip(target.reads) {
            reach.go(event);
            let next = window.at(event);
            for (thread, n) in next.into_iter().flat_map(|next| &next.requires) {
                reach.go((*thread, *n));
            }
            for (_, source) in next.into_iter().filter(|_| reads).flat_map(|next| &next.reads) {
                reach.go_to_source(*source);
            }
        }
        reach.close();
        reach
    }

    /// Extends the thread to its first `n` events.
    fn go(&mut self, (thread, n): EventIndex) {
        let stop = self.target.indices.iter().find(|event| event.0 == thread).map(|event| event.1);
        self.past_access |= stop.is_some_and(|stop| n > stop);
        let n = stop.map_or(n, |stop| n.min(stop));
        self.to[thread] = self.to[thread].max(n);
    }

    fn go_to_source(&mut self, source: Source) {
        if let Some(write) = source.checked_sub(1) {
            let (thread, index) = self.window.indices[write as usize];
            self.go((thread, index + 1));
        }
    }

    fn close(&mut self) {
        loop {
            let behind = self.to.ids().find(|t| self.looked_at[*t] < self.to[*t]);
            let Some(thread) = behind else {
                if self.useful && self.extend_to_releases() {
                    continue;
                }
                return;
            };
            let event = (thread, self.looked_at[thread]);
            self.looked_at[thread] += 1;
            let Some(next) = self.window.at(event) else { continue };
            self.look_at(next);
        }
    }

    fn look_at(&mut self, next: &WindowEvent) {
        next.requires.iter().for_each(|event| self.go(*event));
        next.reads.iter().for_each(|(_, source)| self.go_to_source(*source));
        for action in &next.actions {
            let used = &self.window.objects[action.object];
            let earlier = (action.nth - used.slot.done) as usize;
            let all = match action.op {
                ObjectOp::Destroy => earlier,
                _ if used.slot.is_rigid() => earlier,
                ObjectOp::PassOnce => {
                    used.uses.iter().position(|(_, op)| *op == ObjectOp::EndOnce).map_or(0, |at| at + 1)
                }
                ObjectOp::AcquireFailed(_)
                | ObjectOp::Wait
                | ObjectOp::Wake(_)
                | ObjectOp::Arrive { .. }
                | ObjectOp::Leave
                | ObjectOp::Down
                | ObjectOp::DownFailed
                | ObjectOp::ReadValue(_)
                    if self.useful =>
                {
                    used.uses.len()
                }
                _ => 0,
            };
            if let Some((event, _)) = used.uses.iter().find(|(_, op)| *op == ObjectOp::Init)
                && action.op != ObjectOp::Init
            {
                self.go((event.0, event.1 + 1));
            }
            // A once-control needs only the end of the routine; of other objects all earlier uses count.
            let from = if action.op == ObjectOp::PassOnce && !used.slot.is_rigid() { all.saturating_sub(1) } else { 0 };
            for ((thread, index), _) in &used.uses[from..all] {
                self.go((*thread, index + 1));
            }
        }
    }

    /// Extends threads that would keep a lock other threads want, up to its release. Returns whether anything changed.
    fn extend_to_releases(&mut self) -> bool {
        let mut changed = false;
        for used in self.window.objects.iter().filter(|used| !used.slot.is_rigid()) {
            let within = |reach: &Self, event: &EventIndex| event.1 < reach.to[event.0];
            let takes = |op: &ObjectOp| matches!(op, ObjectOp::Acquire(_) | ObjectOp::AcquireFailed(_));
            let wanted: SmallVec<[ThreadId; 4]> =
                used.uses.iter().filter(|(p, d)| takes(d) && within(self, p)).map(|(p, _)| p.0).collect();
            if wanted.is_empty() {
                continue;
            }
            for thread in self.to.ids() {
                if wanted.iter().all(|other| *other == thread) {
                    continue;
                }
                let mut slot = used.slot.clone();
                for ((_, index), op) in used.uses.iter().filter(|(event, _)| event.0 == thread) {
                    let held = slot.lock().is_some_and(|lock| lock.holders().any(|holder| holder == thread));
                    if *index >= self.to[thread] {
                        if !held {
                            break;
                        }
                        let before = self.to[thread];
                        self.go((thread, index + 1));
                        changed |= self.to[thread] > before;
                        if self.to[thread] == before {
                            break;
                        }
                    }
                    slot.perform(thread, *op);
                }
            }
        }
        changed
    }
}

/// A search for one pair of accesses.
struct Search<'a> {
    window: &'a Window,
    target: RacePair,
    needed: IndexVec<ThreadId, u32>,
    useful: IndexVec<ThreadId, u32>,
    /// Useful reads of each atom with their sources, and requested accesses that have to read their observed value.
    readers: Vec<Vec<(EventIndex, Source)>>,
    visited: FxHashSet<Vec<u32>>,
}

/// Searches for a reordering. Every event it performs costs one unit of the budget.
pub(crate) fn search(window: &Window, target: RacePair, budget: &mut u64) -> Answer {
    let mut reach = Reach::new(window, target);
    if reach.past_access {
        return Answer::Impossible;
    }
    let needed = reach.to.clone();
    reach.useful = true;
    reach.looked_at = IndexVec::filled(window.events.len(), 0);
    reach.close();
    let readers = vec![Vec::new(); window.atoms.len()];
    let mut search = Search { window, target, needed, useful: reach.to, readers, visited: FxHashSet::default() };
    let start = ReplayState::new(window);
    let is_useful = |reader: &&(EventIndex, Source)| search.is_pending(&start, reader.0);
    search.readers = window.atoms.iter().map(|atom| atom.readers.iter().filter(is_useful).copied().collect()).collect();
    search.run(start, budget)
}

/// A state and the threads still to try from it.
struct Frame {
    state: ReplayState,
    /// Length of the path to this state.
    path: usize,
    choices: SmallVec<[ThreadId; 4]>,
}

impl Search<'_> {
    fn run(mut self, start: ReplayState, budget: &mut u64) -> Answer {
        let mut path = Vec::new();
        let mut stack = Vec::new();
        let mut arrival = Some(start);
        loop {
            if let Some(mut state) = arrival.take() {
                let before = path.len();
                self.do_harmless(&mut state, &mut path);
                if self.is_goal(&state) {
                    return Answer::Found(path);
                }
                if self.visited.insert(self.key(&state)) {
                    let performed = (path.len() - before) as u64 + 1;
                    *budget = match budget.checked_sub(performed) {
                        Some(left) => left,
                        None => return Answer::Unknown,
                    };
                    let choices = self.choices(&state);
                    stack.push(Frame { state, path: path.len(), choices });
                }
            }
            let Some(frame) = stack.last_mut() else { return Answer::Impossible };
            let Some(thread) = frame.choices.pop() else {
                stack.pop();
                continue;
            };
            path.truncate(frame.path);
            let mut state = frame.state.clone();
            if self.perform(&mut state, thread, &mut path) {
                arrival = Some(state);
            }
        }
    }

    fn is_goal(&self, state: &ReplayState) -> bool {
        self.target.indices.iter().zip(self.target.reads).all(|(event, reads)| {
            let next = self.window.at(*event);
            state.done[event.0] == event.1
                && next.is_none_or(|next| next.requires.iter().all(|(other, n)| state.done[*other] >= *n))
                && (!reads || next.is_none_or(|next| state.reads_the_same(next)))
        })
    }

    /// The thread's next event, if it is useful and enabled.
    fn next(&self, state: &ReplayState, thread: ThreadId) -> Option<&WindowEvent> {
        let index = state.done[thread];
        let next = self.window.at((thread, index)).filter(|_| index < self.useful[thread])?;
        state.allows(thread, next).then_some(next)
    }

    /// Whether the event will still read: it is useful and not done, or a requested access that has to read its
    /// observed value.
    fn is_pending(&self, state: &ReplayState, event: EventIndex) -> bool {
        let target = self.target.indices.iter().zip(self.target.reads).any(|(target, reads)| reads && *target == event);
        !state.has(event) && (event.1 < self.useful[event.0] || target)
    }

    /// Whether the event is needed to reach the accesses.
    fn is_needed(&self, event: EventIndex) -> bool {
        let target = self.target.indices.iter().zip(self.target.reads).any(|(target, reads)| reads && *target == event);
        event.1 < self.needed[event.0] || target
    }

    /// What distinguishes a state from others. Atoms without later reads, and last writes without later readers, do
    /// not.
    fn key(&self, state: &ReplayState) -> Vec<u32> {
        let mut key = state.key();
        for (atom, readers) in (0..).zip(&self.readers).filter(|(_, readers)| !readers.is_empty()) {
            let last = state.last(atom);
            let matters = readers.iter().any(|(event, source)| *source == last && !state.has(*event));
            key.push(if matters { last } else { u32::MAX });
        }
        key
    }

    /// Performs the thread's next event. Returns whether, as far as memory shows, the accesses can still be reached.
    fn perform(&self, state: &mut ReplayState, thread: ThreadId, path: &mut Vec<EventIndex>) -> bool {
        let event = (thread, state.done[thread]);
        let Some(next) = self.window.at(event) else { return false };
        let hides_needed_value = next.writes.iter().any(|atom| {
            let last = state.last(*atom);
            self.readers[*atom as usize].iter().any(|(reader, source)| {
                *source == last && *reader != event && !state.has(*reader) && self.is_needed(*reader)
            })
        });
        state.perform(thread, next);
        path.push(event);
        !hides_needed_value
    }

    fn do_harmless(&self, state: &mut ReplayState, path: &mut Vec<EventIndex>) {
        loop {
            let harmless = self
                .useful
                .ids()
                .find(|thread| self.next(state, *thread).is_some_and(|next| self.is_harmless(state, *thread, next)));
            let Some(thread) = harmless else { return };
            self.perform(state, thread, path);
        }
    }

    fn is_harmless(&self, state: &ReplayState, thread: ThreadId, next: &WindowEvent) -> bool {
        let event = (thread, state.done[thread]);
        !self.window.watched.contains(&event)
            && next.writes.iter().all(|atom| self.is_harmless_write(state, event, next.index + 1, *atom))
            && next.actions.iter().all(|action| {
                let used = &self.window.objects[action.object];
                let alone = || {
                    let pending = |event: &EventIndex| event.0 != thread && self.is_pending(state, *event);
                    !used.uses.iter().any(|(event, _)| pending(event))
                };
                match action.op {
                    _ if used.slot.is_rigid() => true,
                    ObjectOp::Init
                    | ObjectOp::Destroy
                    | ObjectOp::RunOnce
                    | ObjectOp::PassOnce
                    | ObjectOp::EndOnce
                    | ObjectOp::Leave => true,
                    ObjectOp::Release(_) | ObjectOp::Post if !used.observed => true,
                    _ => alone(),
                }
            })
    }

    /// Whether a write can be done at once. Reads from later writes of its thread come after it in any case. There must
    /// be no other pending reads, or all of them read this write and no other thread writes.
    fn is_harmless_write(&self, state: &ReplayState, event: EventIndex, source: Source, atom: u32) -> bool {
        let comes_later = |source: Source| {
            let write = source.checked_sub(1).map(|write| self.window.indices[write as usize]);
            write.is_some_and(|(thread, index)| thread == event.0 && index > event.1)
        };
        let mut read = false;
        for (reader, theirs) in &self.readers[atom as usize] {
            if *reader != event && !state.has(*reader) && !comes_later(*theirs) {
                if *theirs != source {
                    return false;
                }
                read = true;
            }
        }
        let by_others = |writer: &EventIndex| writer.0 != event.0 && self.is_pending(state, *writer);
        !read || !self.window.atoms[atom as usize].writers.iter().any(by_others)
    }

    /// The threads to try, the best last: those that have to run, in the order of the trace.
    fn choices(&self, state: &ReplayState) -> SmallVec<[ThreadId; 4]> {
        let possible = self.useful.ids().filter_map(|thread| Some((thread, self.next(state, thread)?.index)));
        let mut ranked: SmallVec<[(bool, u32, ThreadId); 4]> =
            possible.map(|(thread, index)| (self.needed[thread] <= state.done[thread], index, thread)).collect();
        ranked.sort_unstable();
        ranked.into_iter().rev().map(|(_, _, thread)| thread).collect()
    }
}
