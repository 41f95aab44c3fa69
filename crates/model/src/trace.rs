//! What happened: events in observed order, and how the run ended.

use serde::{Deserialize, Serialize};

use crate::{Access, Addr, IndexVec, Op, Positions, Schedule, SiteId, ThreadId, ThreadPath, ThreadSet};

crate::index::index_type! {
    /// An event's position in the observed order of one trace.
    pub struct Step("#");
}

/// An event's identity, the same in every interleaving: the thread and the position among its events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct EventId {
    /// The thread.
    pub thread: ThreadId,
    /// Position among the thread's events, from 0.
    pub position: u32,
}

/// One executed operation.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Event {
    /// The thread that executed it, and its position there.
    pub id: EventId,
    /// Where in the code; `None` for events without code of their own (a thread's start).
    pub site: Option<SiteId>,
    /// What was done.
    pub op: Op,
}

impl Event {
    /// The site of one of the event's accesses.
    pub fn site_of(&self, access: usize) -> Option<SiteId> {
        match &self.op {
            Op::Section { sites, .. } => sites.get(access).copied().flatten(),
            Op::Critical(critical) => critical.sites.get(access).copied().flatten(),
            _ => self.site,
        }
    }

    /// The site of an access given by its content; the first one if several are equal.
    pub fn site_of_access(&self, access: &Access) -> Option<SiteId> {
        match &self.op {
            Op::Section { .. } | Op::Critical(_) => {
                let at = self.op.accesses().iter().position(|a| a == access);
                at.and_then(|at| self.site_of(at))
            }
            _ => self.site,
        }
    }
}

/// The operation an unfinished thread was about to execute when the run ended.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Pending {
    /// The event as it would have been. Unknown results (of a try-operation, a wait) are as if it had succeeded.
    pub event: Event,
    /// Whether it could have been executed.
    pub enabled: bool,
}

/// A thread of the run.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct ThreadInfo {
    /// Its path.
    pub path: ThreadPath,
    /// The step of the `Create` event; `None` for the initial thread.
    pub created: Option<Step>,
}

/// What kind of memory an allocation is in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Region {
    /// From `malloc` or its relatives, `operator new` included.
    Heap,
    /// A local variable that may be seen by other threads.
    Stack,
}

/// An object created during the run. (Globals are in the program's symbol table.)
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Allocation {
    /// Number of events executed before it.
    pub before: Step,
    /// The allocating thread.
    pub thread: ThreadId,
    /// Where in the code.
    pub site: Option<SiteId>,
    /// Heap or stack.
    pub region: Region,
    /// First byte.
    pub start: Addr,
    /// Number of bytes.
    pub size: u64,
}

/// What a [`Misuse`] says of a load of memory that was never written.
pub const UNWRITTEN: &str = "reads memory that was never written";

/// What a [`Misuse`] says of a handler of a signal that touches what the thread it interrupted was using; the number of the
/// thread's site follows.
pub const INTERRUPTED: &str = "a handler interrupts an access to the same memory at site ";

/// What a [`Misuse`] says of a handler of a signal that makes a call which must not come in the middle of one that the thread
/// was making; the number of the thread's site follows.
pub const UNSAFE_CALL: &str = "a handler calls what must not interrupt the call at site ";

/// What a [`Misuse`] says of an iteration of a `simd` loop that touches what another one touches that may run at the same
/// time; the number of the other one's site follows.
pub const LANES: &str = "two iterations of a `simd` loop touch the same memory, the other one at site ";

/// A wrong use of the thread API, or of memory, after which the run continued.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Misuse {
    /// Number of events executed before it.
    pub before: Step,
    /// The thread.
    pub thread: ThreadId,
    /// Where in the code.
    pub site: Option<SiteId>,
    /// One sentence, e.g. "unlocks a mutex it does not hold".
    pub what: String,
    /// The object misused.
    pub object: Addr,
}

impl Misuse {
    /// Whether locks, threads and other objects may not do what their rules say afterwards.
    pub fn breaks_rules(&self) -> bool {
        interrupted_site(&self.what).is_none()
            && interrupted_call(&self.what).is_none()
            && lane_site(&self.what).is_none()
    }
}

/// The site of the other iteration, if a [`Misuse`] is about two iterations of a `simd` loop.
pub fn lane_site(what: &str) -> Option<SiteId> {
    what.strip_prefix(LANES)?.parse().ok().map(SiteId)
}

/// The site that a handler interrupted, if that is what a [`Misuse`] says.
pub fn interrupted_site(what: &str) -> Option<SiteId> {
    what.strip_prefix(INTERRUPTED)?.parse().ok().map(SiteId)
}

/// The site of the call that a handler interrupted with another one, if that is what a [`Misuse`] says.
pub fn interrupted_call(what: &str) -> Option<SiteId> {
    what.strip_prefix(UNSAFE_CALL)?.parse().ok().map(SiteId)
}

/// Something the run did that the model does not cover; verdicts that depend on the run become unknown.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Unmodelled {
    /// The thread.
    pub thread: ThreadId,
    /// Where in the code.
    pub site: Option<SiteId>,
    /// What, e.g. "calls `fork`".
    pub what: String,
}

/// A file on disk that the run opened, or found missing: what it did may depend on the content.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct OpenedFile {
    /// Number of events executed before it.
    pub before: Step,
    /// Its canonical name.
    pub name: String,
}

/// A thread that plays a peer of the program, outside it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct PeerThread {
    /// Number of events executed before it said so.
    pub before: Step,
    /// The thread.
    pub thread: ThreadId,
    /// The peer's name.
    pub name: String,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum End {
    /// `main` returned or `exit` was called.
    Exit {
        /// The exit status.
        code: i32,
    },
    /// Threads remain and none of them can run.
    Deadlock,
    /// A thread reached an assumption that does not hold and stays there; the others continued until none could.
    Assumed {
        /// The thread.
        thread: ThreadId,
        /// Where.
        site: Option<SiteId>,
    },
    /// A failed `assert`.
    Assertion {
        /// The thread.
        thread: ThreadId,
        /// Where.
        site: Option<SiteId>,
        /// The condition as written.
        message: String,
    },
    /// A signal that ends the process.
    Crash {
        /// The thread.
        thread: ThreadId,
        /// The last site reached; the crash is there or after it.
        site: Option<SiteId>,
        /// e.g. "segmentation fault at address 0x0", "stack overflow", "abort".
        message: String,
    },
    /// More events than allowed.
    StepLimit,
    /// More time than allowed.
    TimeLimit,
    /// The program could not follow the schedule.
    Diverged {
        /// Which segment.
        segment: u32,
        /// What was found instead.
        message: String,
    },
}

/// One run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// Threads by number.
    pub threads: IndexVec<ThreadId, ThreadInfo>,
    /// Events in observed order.
    pub events: IndexVec<Step, Event>,
    /// Runnable threads: `(s, set)` says that from the state before event `s` on, up to the next entry,
    /// `set` was runnable. Ascending; the first entry is for step 0.
    pub runnable: Vec<(Step, ThreadSet)>,
    /// The pending operations of unfinished threads at the end, by thread.
    pub pending: Vec<Pending>,
    /// Objects created, in order.
    pub allocations: Vec<Allocation>,
    /// Wrong uses of the thread API, in order.
    pub misuses: Vec<Misuse>,
    /// What the run did that the model does not cover, in order.
    pub unmodelled: Vec<Unmodelled>,
    /// Files on disk that it opened, in order.
    pub opened: Vec<OpenedFile>,
    /// Threads that are not the program's, but play its peers.
    pub peers: Vec<PeerThread>,
    /// How it ended.
    pub end: End,
}

impl Trace {
    /// A trace with the initial thread only and this end.
    pub fn empty(end: End) -> Self {
        Self {
            threads: IndexVec::filled(1, ThreadInfo { path: ThreadPath::main(), created: None }),
            events: IndexVec::new(),
            runnable: Vec::new(),
            pending: Vec::new(),
            allocations: Vec::new(),
            misuses: Vec::new(),
            unmodelled: Vec::new(),
            opened: Vec::new(),
            peers: Vec::new(),
            end,
        }
    }

    /// The threads that could run in the state before `step`; for the step after the last, in the last state.
    pub fn runnable_at(&self, step: Step) -> &ThreadSet {
        let after = self.runnable.partition_point(|(from, _)| *from <= step);
        &self.runnable[after - 1].1
    }

    /// The schedule that reproduces the first `steps` events.
    pub fn schedule_to(&self, steps: Step) -> Schedule {
        let mut schedule = Schedule::new();
        let mut done = Positions::default();
        for event in self.events.iter().take(steps.0 as usize) {
            schedule.execute(done.execute(event.id.thread, &event.op), &event.op);
        }
        schedule
    }

    /// The first of the run's events that the operation at `step` stands for.
    pub fn first_event_of(&self, step: Step) -> EventId {
        let EventId { thread, .. } = self.events[step].id;
        let earlier = self.events.iter().take(step.0 as usize).filter(|event| event.id.thread == thread);
        EventId { thread, position: earlier.map(|event| event.op.events()).sum() }
    }

    /// The newest allocation before `step` that contains `addr`.
    pub fn allocation_of(&self, addr: Addr, step: Step) -> Option<&Allocation> {
        let known = self.allocations.partition_point(|a| a.before <= step);
        self.allocations[..known].iter().rev().find(|a| a.start <= addr && addr.0 - a.start.0 < a.size.max(1))
    }

    /// All accesses with their steps.
    pub fn accesses(&self) -> impl Iterator<Item = (Step, &Event, &Access)> {
        self.accesses_from(Step(0))
    }

    /// The accesses of the events from `from` on, with their steps.
    pub fn accesses_from(&self, from: Step) -> impl Iterator<Item = (Step, &Event, &Access)> {
        let events = self.events.iter_enumerated().skip(from.0 as usize);
        events.flat_map(|(step, e)| e.op.accesses().iter().map(move |a| (step, e, a)))
    }
}
