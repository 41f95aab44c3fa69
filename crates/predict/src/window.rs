//! A stretch of a trace, prepared for reordering.
//!
//! A window starts in the state that the trace's events before it led to. Each of its events becomes a [`Move`] with all
//! that has to hold for the event to be possible with the result it had. Memory is divided into *atoms*: ranges of bytes
//! that every cell of the window covers or leaves as a whole. Atoms that no event of the window writes, or that only one
//! thread uses, are left out: reads of them always read what they read.

use std::collections::BTreeMap;
use std::ops::Range;

use model::{EventId, IndexVec, Op, Step, ThreadId, Trace};
use smallvec::SmallVec;

use crate::object::Deed;
use crate::tracker::{Act, ObjectId, Slot, Tracker};

/// An event of the window: its thread and how many events of that thread come before it in the window.
pub(crate) type Place = (ThreadId, u32);

/// Which write a read reads from: 0 for what was there at the window's start, else one more than the write's index in
/// the window.
pub(crate) type Source = u32;

/// What one event takes and does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Move {
    /// The event's index in the window.
    pub(crate) index: u32,
    /// `(t, n)`: the first `n` events of `t` have to be done.
    pub(crate) requires: SmallVec<[Place; 1]>,
    /// `(t, n)`: no more than the first `n` events of `t` may be done.
    pub(crate) forbids: Option<Place>,
    pub(crate) acts: SmallVec<[Act; 2]>,
    pub(crate) reads: SmallVec<[(u32, Source); 1]>,
    pub(crate) writes: SmallVec<[u32; 1]>,
}

/// The readers and writers of an atom.
#[derive(Clone, Debug, Default)]
pub(crate) struct Atom {
    pub(crate) readers: Vec<(Place, Source)>,
    pub(crate) writers: Vec<Place>,
}

/// An object of the window.
#[derive(Clone, Debug)]
pub(crate) struct Used {
    /// As it is at the start.
    pub(crate) slot: Slot,
    /// What the window does to it, in the order of the trace.
    pub(crate) uses: Vec<(Place, Deed)>,
    /// Whether a result depends on nobody having given it back, or on its exact value.
    pub(crate) observed: bool,
}

/// A stretch of a trace.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) start: Step,
    /// Each thread's number of events before the window, for threads with events in it.
    base: IndexVec<ThreadId, u32>,
    pub(crate) moves: IndexVec<ThreadId, Vec<Move>>,
    /// Objects by local number; acts refer to them.
    pub(crate) objects: IndexVec<ObjectId, Used>,
    pub(crate) atoms: Vec<Atom>,
    /// By index in the window.
    pub(crate) places: Vec<Place>,
    /// Threads of which a failed try to join says that they had not ended.
    pub(crate) watched: Vec<Place>,
}

impl Window {
    /// Prepares the events from `start` to before `end`. The tracker has taken in the events before `start` and is moved
    /// on to `end`.
    pub(crate) fn new(trace: &Trace, tracker: &mut Tracker<'_>, start: Step, end: Step, relaxed: bool) -> Self {
        let threads = trace.threads.len();
        let mut window = Self {
            start,
            base: IndexVec::filled(threads, 0),
            moves: IndexVec::filled(threads, Vec::new()),
            objects: IndexVec::new(),
            atoms: Vec::new(),
            places: Vec::new(),
            watched: Vec::new(),
        };
        // From the end, so that the first event of each thread has the last word.
        for event in trace.events.as_slice()[start.0 as usize..end.0 as usize].iter().rev() {
            window.base[event.id.thread] = event.id.position;
        }
        let mut local = BTreeMap::<ObjectId, ObjectId>::new();
        // What the next event of a thread requires.
        let mut required = IndexVec::<ThreadId, SmallVec<[Place; 1]>>::filled(threads, SmallVec::new());
        for step in (start.0..end.0).map(Step) {
            let event = &trace.events[step];
            let thread = event.id.thread;
            let mut states = SmallVec::<[Slot; 2]>::new();
            let acts = tracker.step_with(trace, step, |slot, _| states.push(slot.clone()));
            let place = (thread, window.moves[thread].len() as u32);
            let mut next = Move { index: step.0 - start.0, ..Move::default() };
            next.requires = std::mem::take(&mut required[thread]);
            for (mut act, mut slot) in acts.into_iter().zip(states) {
                let id = *local.entry(act.object).or_insert_with(|| {
                    // An object that comes into being in the window does not exist at its start.
                    slot.born = act.deed != Deed::Birth;
                    window.objects.push(Used { slot, uses: Vec::new(), observed: false })
                });
                act.object = id;
                let used = &mut window.objects[id];
                used.uses.push((place, act.deed));
                used.observed |= matches!(act.deed, Deed::NotTaken(_) | Deed::NotDown | Deed::Look(_));
                next.acts.push(act);
            }
            let count = |window: &Self, thread: ThreadId| window.moves[thread].len() as u32;
            match event.op {
                Op::Create { child } => required[child].push((thread, place.1 + 1)),
                Op::Join { child } | Op::TryJoin { child, success: true } => {
                    next.requires.push((child, count(&window, child)));
                }
                Op::TryJoin { child, success: false } => {
                    let reached = count(&window, child);
                    if tracker.has_exited(child) {
                        next.requires.push((child, reached));
                    } else if let Some(exit) = exit_index(trace, &window, step..end, child) {
                        next.forbids = Some((child, exit));
                        window.watched.push((child, exit));
                    }
                }
                Op::Cancel { target } => {
                    next.requires.push((target, count(&window, target)));
                    required[target].push((thread, place.1 + 1));
                }
                _ => {}
            }
            window.moves[thread].push(next);
            window.places.push(place);
        }
        window.divide_memory(trace, relaxed);
        window
    }

    /// The window's move at a place.
    pub(crate) fn at(&self, (thread, index): Place) -> Option<&Move> {
        self.moves[thread].get(index as usize)
    }

    /// The step of the trace of a move.
    pub(crate) fn step(&self, place: Place) -> Step {
        Step(self.start.0 + self.moves[place.0][place.1 as usize].index)
    }

    /// Where an event is in the window.
    pub(crate) fn place(&self, event: EventId) -> Place {
        (event.thread, event.position - self.base[event.thread])
    }

    fn divide_memory(&mut self, trace: &Trace, relaxed: bool) {
        let accesses = |index: usize| trace.events[Step(self.start.0 + index as u32)].op.accesses();
        let mut bounds: Vec<u64> = (0..self.places.len())
            .flat_map(|index| accesses(index).iter().filter(|a| a.cell.len > 0))
            .flat_map(|access| [access.cell.start.0, access.cell.end()])
            .collect();
        bounds.sort_unstable();
        bounds.dedup();
        /// Who uses a range.
        #[derive(Clone, Copy, Default)]
        struct Use {
            thread: Option<ThreadId>,
            several: bool,
            written: bool,
        }
        let range = |start: u64, end: u64| bounds.partition_point(|b| *b < start)..bounds.partition_point(|b| *b < end);
        let mut used = vec![Use::default(); bounds.len()];
        for (index, (thread, _)) in self.places.iter().enumerate() {
            for access in accesses(index) {
                for used in &mut used[range(access.cell.start.0, access.cell.end())] {
                    used.several |= used.thread.is_some_and(|other| other != *thread);
                    used.thread = Some(*thread);
                    used.written |= access.kind.writes();
                }
            }
        }
        let mut atoms = 0;
        let numbers: Vec<Option<u32>> = used
            .iter()
            .map(|used| {
                (used.several && used.written).then(|| {
                    atoms += 1;
                    atoms - 1
                })
            })
            .collect();
        self.atoms = vec![Atom::default(); atoms as usize];
        let mut last = vec![0; atoms as usize];
        for (index, place) in self.places.iter().copied().enumerate() {
            let accesses = trace.events[Step(self.start.0 + index as u32)].op.accesses();
            let next = &mut self.moves[place.0][place.1 as usize];
            let atoms_of = |access: &model::Access| {
                numbers[range(access.cell.start.0, access.cell.end())].iter().flatten().copied()
            };
            for access in accesses.iter().filter(|a| a.kind.reads() && !(relaxed && a.atomic.is_none())) {
                for atom in atoms_of(access) {
                    let read = (atom, last[atom as usize]);
                    if !next.reads.contains(&read) {
                        next.reads.push(read);
                        self.atoms[atom as usize].readers.push((place, read.1));
                    }
                }
            }
            for access in accesses.iter().filter(|a| a.kind.writes()) {
                for atom in atoms_of(access) {
                    last[atom as usize] = index as u32 + 1;
                    if !next.writes.contains(&atom) {
                        next.writes.push(atom);
                        self.atoms[atom as usize].writers.push(place);
                    }
                }
            }
        }
    }
}

/// The place in the window of the thread's last event, if it is among these steps.
fn exit_index(trace: &Trace, window: &Window, steps: Range<Step>, thread: ThreadId) -> Option<u32> {
    let later = &trace.events.as_slice()[steps.start.0 as usize..steps.end.0 as usize];
    let exit = later.iter().find(|event| event.id.thread == thread && event.op == Op::Exit)?;
    Some(exit.id.position - window.base[thread])
}
