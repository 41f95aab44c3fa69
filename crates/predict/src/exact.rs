//! Decides whether a correct reordering of a window brings two threads to two of their events at once.
//!
//! A *correct reordering* is a sequence of events of the trace that keeps program order, has with an event all earlier
//! ones of its thread, is possible by the rules of [`model::Op`], and in which every event has the result it had: reads
//! read from the same writes, tries succeed or fail as they did, waits end for the same reason, the same thread is the last
//! to arrive at a barrier. At its end both threads stand before the accesses asked for. These may read anything, unless
//! what they touch depends on it (see [`crate::lanes::is_steady`]).
//!
//! A depth-first search over states: how far each thread is, the last write of each atom that an event to come reads, and
//! what the order of operations left in condition variables and barriers; all else follows from how far the threads are.
//! No state is visited twice. Three arguments keep the number of states down, none of which loses a reordering:
//!
//! 1. *Needed events.* The accesses need events that need others; when they need each other, there is no reordering.
//!    A state in which a needed read can no longer read what it read is given up.
//! 2. *Useful events.* Beyond the needed ones only those are tried that can make a useful one possible: the write it
//!    reads from, the event that gives a lock back, all operations on a condition variable, barrier or semaphore that
//!    useful events wait on. What is not among them can be left out of any reordering.
//! 3. *Harmless events* are done as soon as possible: those that make nothing impossible and do not mind what else
//!    is done first. In any reordering that has one, it can be moved to the front; to any other, it can be added.
//!
//! *Can miss* nothing in the window; beyond the budget it says so. *Never wrong*: what it finds was performed step by step.

use model::{IndexVec, ThreadId};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::object::Deed;
use crate::state::State;
use crate::window::{Move, Place, Source, Window};

/// Two events to bring side by side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) places: [Place; 2],
    /// Whether each has to read what it read.
    pub(crate) reads: [bool; 2],
}

/// The answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// The events before the two, in order.
    Found(Vec<Place>),
    /// There is no such reordering.
    Impossible,
    /// The budget is spent.
    Unknown,
}

/// How far threads have to, or may usefully, go.
struct Reach<'a> {
    window: &'a Window,
    target: Target,
    to: IndexVec<ThreadId, u32>,
    looked_at: IndexVec<ThreadId, u32>,
    /// Whether a thread had to go past its target.
    past_target: bool,
    /// Whether useful events are looked for, beyond needed ones.
    useful: bool,
}

impl<'a> Reach<'a> {
    fn new(window: &'a Window, target: Target) -> Self {
        let zeros = IndexVec::filled(window.moves.len(), 0);
        let (to, looked_at) = (zeros.clone(), zeros);
        let mut reach = Self { window, target, to, looked_at, past_target: false, useful: false };
        for (place, reads) in target.places.into_iter().zip(target.reads) {
            reach.go(place);
            let next = window.at(place);
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

    /// Takes the thread to its first `n` events.
    fn go(&mut self, (thread, n): Place) {
        let stop = self.target.places.iter().find(|place| place.0 == thread).map(|place| place.1);
        self.past_target |= stop.is_some_and(|stop| n > stop);
        let n = stop.map_or(n, |stop| n.min(stop));
        self.to[thread] = self.to[thread].max(n);
    }

    fn go_to_source(&mut self, source: Source) {
        if let Some(write) = source.checked_sub(1) {
            let (thread, index) = self.window.places[write as usize];
            self.go((thread, index + 1));
        }
    }

    fn close(&mut self) {
        loop {
            let behind = self.to.ids().find(|t| self.looked_at[*t] < self.to[*t]);
            let Some(thread) = behind else {
                if self.useful && self.give_locks_back() {
                    continue;
                }
                return;
            };
            let place = (thread, self.looked_at[thread]);
            self.looked_at[thread] += 1;
            let Some(next) = self.window.at(place) else { continue };
            self.look_at(next);
        }
    }

    fn look_at(&mut self, next: &Move) {
        next.requires.iter().for_each(|place| self.go(*place));
        next.reads.iter().for_each(|(_, source)| self.go_to_source(*source));
        for act in &next.acts {
            let used = &self.window.objects[act.object];
            let earlier = (act.nth - used.slot.done) as usize;
            let all = match act.deed {
                Deed::End => earlier,
                _ if used.slot.is_rigid() => earlier,
                Deed::PassOnce => used.uses.iter().position(|(_, deed)| *deed == Deed::EndOnce).map_or(0, |at| at + 1),
                Deed::NotTaken(_)
                | Deed::Wait
                | Deed::Wake(_)
                | Deed::Arrive { .. }
                | Deed::Leave
                | Deed::Down
                | Deed::NotDown
                | Deed::Look(_)
                    if self.useful =>
                {
                    used.uses.len()
                }
                _ => 0,
            };
            if let Some((place, _)) = used.uses.iter().find(|(_, deed)| *deed == Deed::Birth)
                && act.deed != Deed::Birth
            {
                self.go((place.0, place.1 + 1));
            }
            // Once-controls are passed after the routine's end alone; the others' uses all count.
            let from = if act.deed == Deed::PassOnce && !used.slot.is_rigid() { all.saturating_sub(1) } else { 0 };
            for ((thread, index), _) in &used.uses[from..all] {
                self.go((*thread, index + 1));
            }
        }
    }

    /// Takes threads that would end up with a lock that others want to where they give it back. Returns whether
    /// anything changed.
    fn give_locks_back(&mut self) -> bool {
        let mut changed = false;
        for used in self.window.objects.iter().filter(|used| !used.slot.is_rigid()) {
            let within = |reach: &Self, place: &Place| place.1 < reach.to[place.0];
            let takes = |deed: &Deed| matches!(deed, Deed::Take(_) | Deed::NotTaken(_));
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
                for ((_, index), deed) in used.uses.iter().filter(|(place, _)| place.0 == thread) {
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
                    slot.perform(thread, *deed);
                }
            }
        }
        changed
    }
}

/// A search for one target.
struct Search<'a> {
    window: &'a Window,
    target: Target,
    needed: IndexVec<ThreadId, u32>,
    useful: IndexVec<ThreadId, u32>,
    /// Useful reads of each atom, with their sources, and targets that have to read the same.
    readers: Vec<Vec<(Place, Source)>>,
    visited: FxHashSet<Vec<u32>>,
}

/// Looks for a reordering; takes the events it performs from the budget.
pub(crate) fn search(window: &Window, target: Target, budget: &mut u64) -> Answer {
    let mut reach = Reach::new(window, target);
    if reach.past_target {
        return Answer::Impossible;
    }
    let needed = reach.to.clone();
    reach.useful = true;
    reach.looked_at = IndexVec::filled(window.moves.len(), 0);
    reach.close();
    let readers = vec![Vec::new(); window.atoms.len()];
    let mut search = Search { window, target, needed, useful: reach.to, readers, visited: FxHashSet::default() };
    let start = State::new(window);
    let is_useful = |reader: &&(Place, Source)| search.is_pending(&start, reader.0);
    search.readers = window.atoms.iter().map(|atom| atom.readers.iter().filter(is_useful).copied().collect()).collect();
    search.run(start, budget)
}

/// A state with what is still to be tried from it.
struct Frame {
    state: State,
    /// Length of the path that leads here.
    path: usize,
    choices: SmallVec<[ThreadId; 4]>,
}

impl Search<'_> {
    fn run(mut self, start: State, budget: &mut u64) -> Answer {
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

    fn is_goal(&self, state: &State) -> bool {
        self.target.places.iter().zip(self.target.reads).all(|(place, reads)| {
            let next = self.window.at(*place);
            state.done[place.0] == place.1
                && next.is_none_or(|next| next.requires.iter().all(|(other, n)| state.done[*other] >= *n))
                && (!reads || next.is_none_or(|next| state.reads_the_same(next)))
        })
    }

    /// The thread's next move, if it is useful and possible.
    fn next(&self, state: &State, thread: ThreadId) -> Option<&Move> {
        let index = state.done[thread];
        let next = self.window.at((thread, index)).filter(|_| index < self.useful[thread])?;
        state.allows(thread, next).then_some(next)
    }

    /// Whether an event will be read: it is useful and not done, or a target that has to read the same.
    fn is_pending(&self, state: &State, place: Place) -> bool {
        let target = self.target.places.iter().zip(self.target.reads).any(|(target, reads)| reads && *target == place);
        !state.has(place) && (place.1 < self.useful[place.0] || target)
    }

    /// Whether an event is needed: the target cannot be reached without it.
    fn is_needed(&self, place: Place) -> bool {
        let target = self.target.places.iter().zip(self.target.reads).any(|(target, reads)| reads && *target == place);
        place.1 < self.needed[place.0] || target
    }

    /// What distinguishes a state from others: atoms that nobody will read, and last writes that nobody will read from,
    /// do not.
    fn key(&self, state: &State) -> Vec<u32> {
        let mut key = state.key();
        for (atom, readers) in (0..).zip(&self.readers).filter(|(_, readers)| !readers.is_empty()) {
            let last = state.last(atom);
            let matters = readers.iter().any(|(place, source)| *source == last && !state.has(*place));
            key.push(if matters { last } else { u32::MAX });
        }
        key
    }

    /// Does a move; returns whether the target can still be reached as far as memory tells.
    fn perform(&self, state: &mut State, thread: ThreadId, path: &mut Vec<Place>) -> bool {
        let place = (thread, state.done[thread]);
        let Some(next) = self.window.at(place) else { return false };
        let spoilt = next.writes.iter().any(|atom| {
            let last = state.last(*atom);
            self.readers[*atom as usize].iter().any(|(reader, source)| {
                *source == last && *reader != place && !state.has(*reader) && self.is_needed(*reader)
            })
        });
        state.perform(thread, next);
        path.push(place);
        !spoilt
    }

    fn do_harmless(&self, state: &mut State, path: &mut Vec<Place>) {
        loop {
            let harmless = self
                .useful
                .ids()
                .find(|thread| self.next(state, *thread).is_some_and(|next| self.is_harmless(state, *thread, next)));
            let Some(thread) = harmless else { return };
            self.perform(state, thread, path);
        }
    }

    fn is_harmless(&self, state: &State, thread: ThreadId, next: &Move) -> bool {
        let place = (thread, state.done[thread]);
        !self.window.watched.contains(&place)
            && next.writes.iter().all(|atom| self.is_harmless_write(state, place, next.index + 1, *atom))
            && next.acts.iter().all(|act| {
                let used = &self.window.objects[act.object];
                let alone = || {
                    let pending = |place: &Place| place.0 != thread && self.is_pending(state, *place);
                    !used.uses.iter().any(|(place, _)| pending(place))
                };
                match act.deed {
                    _ if used.slot.is_rigid() => true,
                    Deed::Birth | Deed::End | Deed::RunOnce | Deed::PassOnce | Deed::EndOnce | Deed::Leave => true,
                    Deed::Give(_) | Deed::Post if !used.observed => true,
                    _ => alone(),
                }
            })
    }

    /// Whether a write can be done at once. Reads from later writes of its thread come after it in any case; of the other
    /// reads to come there must be none, or all read this write, and no other thread writes.
    fn is_harmless_write(&self, state: &State, place: Place, source: Source, atom: u32) -> bool {
        let comes_later = |source: Source| {
            let write = source.checked_sub(1).map(|write| self.window.places[write as usize]);
            write.is_some_and(|(thread, index)| thread == place.0 && index > place.1)
        };
        let mut read = false;
        for (reader, theirs) in &self.readers[atom as usize] {
            if *reader != place && !state.has(*reader) && !comes_later(*theirs) {
                if *theirs != source {
                    return false;
                }
                read = true;
            }
        }
        let by_others = |writer: &Place| writer.0 != place.0 && self.is_pending(state, *writer);
        !read || !self.window.atoms[atom as usize].writers.iter().any(by_others)
    }

    /// The threads to try, the best last: those that have to move, in the order of the trace.
    fn choices(&self, state: &State) -> SmallVec<[ThreadId; 4]> {
        let possible = self.useful.ids().filter_map(|thread| Some((thread, self.next(state, thread)?.index)));
        let mut ranked: SmallVec<[(bool, u32, ThreadId); 4]> =
            possible.map(|(thread, index)| (self.needed[thread] <= state.done[thread], index, thread)).collect();
        ranked.sort_unstable();
        ranked.into_iter().rev().map(|(_, _, thread)| thread).collect()
    }
}
