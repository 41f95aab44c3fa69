//! A stretch of a trace, prepared for reordering.
//!
//! A window starts in the state after the trace's earlier events. Each of its events becomes a [`WindowEvent`] with all
//! conditions under which the event is enabled with its observed result. Memory is divided into *atoms*: ranges of
//! bytes that every cell of the window covers entirely or not at all. Atoms that no event of the window writes, or that
//! only one thread uses, are omitted: reads of them always read the same.

use std::collections::BTreeMap;
use std::ops::Range;

use model::{EventId, IndexVec, Op, Step, ThreadId, Trace};
use smallvec::SmallVec;

use crate::object::ObjectOp;
use crate::tracker::{ObjectAction, ObjectId, Slot, Tracker};

/// Identifies an event of the window: its thread, and its position among that thread's events in the window.
pub(crate) type EventIndex = (ThreadId, u32);

/// The write that a read reads from: 0 for the value at the window's start, otherwise the write's index in the window
/// plus one.
pub(crate) type Source = u32;

/// The conditions and effects of one event.
#[derive(Clone, Debug, Default)]
pub(crate) struct WindowEvent {
    /// The event's index in the window.
    pub(crate) index: u32,
    /// `(t, n)`: the first `n` events of `t` must be done.
    pub(crate) requires: SmallVec<[EventIndex; 1]>,
    /// `(t, n)`: at most the first `n` events of `t` may be done.
    pub(crate) forbids: Option<EventIndex>,
    pub(crate) actions: SmallVec<[ObjectAction; 2]>,
    pub(crate) reads: SmallVec<[(u32, Source); 1]>,
    pub(crate) writes: SmallVec<[u32; 1]>,
}

/// The readers and writers of an atom.
#[derive(Clone, Debug, Default)]
pub(crate) struct Atom {
    pub(crate) readers: Vec<(EventIndex, Source)>,
    pub(crate) writers: Vec<EventIndex>,
}

/// An object used in the window.
#[derive(Clone, Debug)]
pub(crate) struct Used {
    /// Its state at the start of the window.
    pub(crate) slot: Slot,
    /// The operations on it in the window, in trace order.
    pub(crate) uses: Vec<(EventIndex, ObjectOp)>,
    /// Whether a result depends on the object not being released, or on its exact value.
    pub(crate) observed: bool,
}

/// A stretch of a trace.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) start: Step,
    /// Each thread's number of events before the window, for threads with events in it.
    base: IndexVec<ThreadId, u32>,
    pub(crate) events: IndexVec<ThreadId, Vec<WindowEvent>>,
    /// Objects by their number in the window; actions refer to them.
    pub(crate) objects: IndexVec<ObjectId, Used>,
    pub(crate) atoms: Vec<Atom>,
    /// The window's events by index.
    pub(crate) indices: Vec<EventIndex>,
    /// The last events of threads that a failed try-join observed as still running.
    pub(crate) watched: Vec<EventIndex>,
}

impl Window {
    /// Prepares the events from `start` to before `end`. The tracker has processed the events before `start` and is
    /// advanced to `end`.
    pub(crate) fn new(trace: &Trace, tracker: &mut Tracker<'_>, start: Step, end: Step, relaxed: bool) -> Self {
        let threads = trace.threads.len();
        let mut window = Self {
            start,
            base: IndexVec::filled(threads, 0),
            events: IndexVec::filled(threads, Vec::new()),
            objects: IndexVec::new(),
            atoms: Vec::new(),
            indices: Vec::new(),
            watched: Vec::new(),
        };
        // Backwards, so that the first event of each thread is written last.
        for event in trace.events.as_slice()[start.0 as usize..end.0 as usize].iter().rev() {
            window.base[event.id.thread] = event.id.position;
        }
        let mut local = BTreeMap::<ObjectId, ObjectId>::new();
        // What the next event of a thread requires.
        let mut required = IndexVec::<ThreadId, SmallVec<[EventIndex; 1]>>::filled(threads, SmallVec::new());
        for step in (start.0..end.0).map(Step) {
            let event = &trace.events[step];
            let thread = event.id.thread;
            let mut states = SmallVec::<[Slot; 2]>::new();
            let actions = tracker.step_with(trace, step, |slot, _| states.push(slot.clone()));
            let at = (thread, window.events[thread].len() as u32);
            let mut next = WindowEvent { index: step.0 - start.0, ..WindowEvent::default() };
            next.requires = std::mem::take(&mut required[thread]);
            for (mut action, mut slot) in actions.into_iter().zip(states) {
                let id = *local.entry(action.object).or_insert_with(|| {
                    // An object initialised in the window does not exist at its start.
                    slot.born = action.op != ObjectOp::Init;
                    window.objects.push(Used { slot, uses: Vec::new(), observed: false })
                });
                action.object = id;
                let used = &mut window.objects[id];
                used.uses.push((at, action.op));
                used.observed |=
                    matches!(action.op, ObjectOp::AcquireFailed(_) | ObjectOp::DownFailed | ObjectOp::ReadValue(_));
                next.actions.push(action);
            }
            let count = |window: &Self, thread: ThreadId| window.events[thread].len() as u32;
            match event.op {
                Op::Create { child } => required[child].push((thread, at.1 + 1)),
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
                    required[target].push((thread, at.1 + 1));
                }
                _ => {}
            }
            window.events[thread].push(next);
            window.indices.push(at);
        }
        window.divide_memory(trace, relaxed);
        window
    }

    /// The event with this index.
    pub(crate) fn at(&self, (thread, index): EventIndex) -> Option<&WindowEvent> {
        self.events[thread].get(index as usize)
    }

    /// The event's step in the trace.
    pub(crate) fn step(&self, at: EventIndex) -> Step {
        Step(self.start.0 + self.events[at.0][at.1 as usize].index)
    }

    /// The index of an event in the window.
    pub(crate) fn index_of(&self, event: EventId) -> EventIndex {
        (event.thread, event.position - self.base[event.thread])
    }

    fn divide_memory(&mut self, trace: &Trace, relaxed: bool) {
        let accesses = |index: usize| trace.events[Step(self.start.0 + index as u32)].op.accesses();
        let mut bounds: Vec<u64> = (0..self.indices.len())
            .flat_map(|index| accesses(index).iter().filter(|a| a.cell.len > 0))
            .flat_map(|access| [access.cell.start.0, access.cell.end()])
            .collect();
        bounds.sort_unstable();
        bounds.dedup();
        /// How a range of bytes is used.
        #[derive(Clone, Copy, Default)]
        struct Use {
            thread: Option<ThreadId>,
            several: bool,
            written: bool,
        }
        let range = |start: u64, end: u64| bounds.partition_point(|b| *b < start)..bounds.partition_point(|b| *b < end);
        let mut used = vec![Use::default(); bounds.len()];
        for (index, (thread, _)) in self.indices.iter().enumerate() {
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
        for (index, at) in self.indices.iter().copied().enumerate() {
            let accesses = trace.events[Step(self.start.0 + index as u32)].op.accesses();
            let next = &mut self.events[at.0][at.1 as usize];
            let atoms_of = |access: &model::Access| {
                numbers[range(access.cell.start.0, access.cell.end())].iter().flatten().copied()
            };
            for access in accesses.iter().filter(|a| a.kind.reads() && !(relaxed && a.atomic.is_none())) {
                for atom in atoms_of(access) {
                    let read = (atom, last[atom as usize]);
                    if !next.reads.contains(&read) {
                        next.reads.push(read);
                        self.atoms[atom as usize].readers.push((at, read.1));
                    }
                }
            }
            for access in accesses.iter().filter(|a| a.kind.writes()) {
                for atom in atoms_of(access) {
                    last[atom as usize] = index as u32 + 1;
                    if !next.writes.contains(&atom) {
                        next.writes.push(atom);
                        self.atoms[atom as usize].writers.push(at);
                    }
                }
            }
        }
    }
}

/// The index in the window of the thread's last event, if it is among these steps.
fn exit_index(trace: &Trace, window: &Window, steps: Range<Step>, thread: ThreadId) -> Option<u32> {
    let later = &trace.events.as_slice()[steps.start.0 as usize..steps.end.0 as usize];
    let exit = later.iter().find(|event| event.id.thread == thread && event.op == Op::Exit)?;
    Some(exit.id.position - window.base[thread])
}
