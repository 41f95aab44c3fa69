//! The shared memory: header, segments, message, trace area.
//!
//! ```text
//! 0                 Header
//! SEGMENTS_OFFSET   [Segment; SEGMENT_CAPACITY]     the request's schedule prefix
//! CHOICES_OFFSET    [Chosen; CHOICE_CAPACITY]       the values that the request decides
//! MESSAGE_OFFSET    [u8; MESSAGE_CAPACITY]          the reply's text
//! PEERS_OFFSET      [u8; PEERS_CAPACITY]            what the program's peers do ([`crate::peers`])
//! TRACE_OFFSET      [Record; header.trace_capacity] the run's records
//! ```

use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::Policy;

/// Most segments a schedule prefix can have.
pub const SEGMENT_CAPACITY: usize = 1 << 20;
/// Most values a schedule can decide.
pub const CHOICE_CAPACITY: usize = 1 << 16;
/// Longest text of a reply, in bytes.
pub const MESSAGE_CAPACITY: usize = 4096;
/// Where the segments start.
pub const SEGMENTS_OFFSET: usize = 4096;
/// Where the decided values start.
pub const CHOICES_OFFSET: usize = SEGMENTS_OFFSET + SEGMENT_CAPACITY * size_of::<Segment>();
/// Where the message starts.
pub const MESSAGE_OFFSET: usize = CHOICES_OFFSET + CHOICE_CAPACITY * size_of::<Chosen>();
/// Longest script for the program's peers, in bytes.
pub const PEERS_CAPACITY: usize = 1 << 26;
/// Where that script starts.
pub const PEERS_OFFSET: usize = MESSAGE_OFFSET + MESSAGE_CAPACITY;
/// Where the trace starts.
pub const TRACE_OFFSET: usize = PEERS_OFFSET + PEERS_CAPACITY;

/// One segment of a schedule prefix: run `thread` until it is about to execute its event number `until`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Thread number in order of creation.
    pub thread: u32,
    /// Position before which the thread stops.
    pub until: u32,
}

/// A value that the schedule decides. Listed ascending by thread, position, index.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chosen {
    /// Thread number in order of creation.
    pub thread: u32,
    /// Position of the event that chooses.
    pub position: u32,
    /// Which of the event's choices, from 0.
    pub index: u32,
    /// Keeps the size a multiple of eight.
    pub reserved: u32,
    /// The value.
    pub value: i64,
}

/// How runs are kept apart.
pub mod isolation {
    /// Checkpoint at the first thread creation; restore dirty pages in process.
    pub const RESTORE: u32 = 0;
    /// Fork at the first thread creation for every run.
    pub const FORK: u32 = 1;
    /// One run from the start of the process, which then leaves; for debuggers.
    pub const ONCE: u32 = 2;
}

/// What the environment may do, in bits.
pub mod environment {
    /// Wake-ups without a cause are possible in condition-variable waits, at most one per thread and condition variable
    /// until a signal wakes the thread there. The policy after the prefix chooses one only when no thread can do
    /// anything else. A weak compare-exchange may fail although the values are equal, at most once in a row.
    pub const SPURIOUS: u32 = 1;
    /// The creation of a thread may fail.
    pub const CREATION: u32 = 2;
    /// The program's own allocations may fail.
    pub const ALLOCATION: u32 = 4;
    /// Memory that was never written may hold several values.
    pub const UNINITIALISED: u32 = 8;
    /// What is handed over through the kernel orders no memory.
    pub const UNORDERED: u32 = 16;
    /// A time limit ends a wait wherever the schedule says so, also one that a search would not let it end: of runs that show
    /// something again.
    pub const TIME: u32 = 32;
}

/// What the host asks for. Written by the host before it rings.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Request {
    /// Number of segments in the segment area.
    pub segments: u32,
    /// What the environment may do: bits of [`environment`].
    pub environment: u32,
    /// Most events of the run; then it ends with [`ReplyKind::StepLimit`].
    pub max_steps: u64,
    /// Events a thread may execute without a switch while others can run, after the prefix.
    pub quantum: u32,
    /// 1: after the last segment stop for a debugger (`SIGTRAP`) before the thread's next event.
    pub trap: u32,
    /// 1: leave instead of running.
    pub quit: u32,
    /// Number of decided values in their area.
    pub choices: u32,
    /// 1: write a [`crate::Tag::Stack`] record wherever a thread stops before an event, and [`crate::Tag::Value`] records of
    /// what the event finds and leaves.
    pub stacks: u32,
    /// 1: before each run but the first, check that the process is as it was before the first.
    pub verify: u32,
    /// Who runs after the prefix.
    pub policy: Policy,
}

/// How the run ended.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReplyKind {
    /// No run yet.
    #[default]
    None = 0,
    /// `main` returned or `exit` was called; `code` is the status.
    Exit = 1,
    /// Threads are left and none can run.
    Deadlock = 2,
    /// A failed assertion; the message is its text.
    Assertion = 3,
    /// A fatal signal; the message says which.
    Crash = 4,
    /// Too many events.
    StepLimit = 5,
    /// The host's watchdog interrupted the run.
    TimeLimit = 6,
    /// The schedule could not be followed; `code` is the segment, the message what was found.
    Diverged = 7,
    /// The trace area is full.
    TraceFull = 8,
    /// The runtime cannot go on; the message says why. Not a property of the program.
    Failure = 9,
    /// The prefix parts from the common past of this process's runs before the checkpoint: ask a new process.
    Fresh = 10,
    /// A thread came to an assumption that does not hold.
    Assumed = 11,
}

impl ReplyKind {
    /// The kind with this number.
    pub fn from_u32(n: u32) -> Option<Self> {
        use ReplyKind::*;
        [None, Exit, Deadlock, Assertion, Crash, StepLimit, TimeLimit, Diverged, TraceFull, Failure, Fresh, Assumed]
            .into_iter()
            .find(|k| *k as u32 == n)
    }
}

/// What the runtime answers. Written by the runtime before it rings back.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Reply {
    /// A [`ReplyKind`].
    pub kind: u32,
    /// Exit status or segment.
    pub code: i32,
    /// The thread it happened in.
    pub thread: u32,
    /// The last site that thread reached.
    pub site: u32,
    /// Bytes of text in the message area.
    pub message_len: u32,
    /// 1: the run changed something that outlives it and that the runtime cannot put back. The next run needs a new process.
    pub spoiled: u32,
    /// Records in the trace area, from its start.
    pub records: u64,
    /// Of these, how many were there at the checkpoint; the same in every run of this process.
    pub checkpoint_records: u64,
    /// Of a crash: the program counter of the code that crashed, which may be a library's; else 0.
    pub counter: u64,
}

/// The first page of the shared memory.
#[repr(C)]
#[derive(Debug)]
pub struct Header {
    /// [`crate::MAGIC`].
    pub magic: AtomicU64,
    /// [`crate::VERSION`].
    pub version: AtomicU32,
    /// One of [`isolation`], fixed at launch. The runtime changes `RESTORE` to `FORK` when it cannot restore
    /// and the host allowed that in `fallback`.
    pub isolation: AtomicU32,
    /// 1: the runtime may fall back to forking.
    pub fallback: AtomicU32,
    /// Counts requests; the host increments and wakes it (futex).
    pub requested: AtomicU32,
    /// The last request answered; the runtime sets and wakes it (futex).
    pub answered: AtomicU32,
    /// 1 once the checkpoint at the first thread creation has been taken. If the program ended before, it
    /// stays 0 and the process leaves after its reply.
    pub checkpointed: AtomicU32,
    /// Room in the trace area, in records.
    pub trace_capacity: AtomicU64,
    /// Bytes of the script for the program's peers, fixed at launch; 0 if there are none.
    pub peers_len: AtomicU32,
    /// Where the executable is loaded, to resolve symbols.
    pub load_base: AtomicU64,
    /// The program's exclusive process that runs (the forked child while forking), for the host's watchdog.
    pub running_pid: AtomicU32,
    /// 1 while the host sleeps on `answered` (else it spins and needs no waking).
    pub host_sleeps: AtomicU32,
    /// 1 while the runtime sleeps on `requested`.
    pub runtime_sleeps: AtomicU32,
    /// 1: processors are scarce, so that whoever waits for the other sleeps at once.
    pub crowded: AtomicU32,
    /// The current request.
    pub request: core::cell::UnsafeCell<Request>,
    /// The last reply.
    pub reply: core::cell::UnsafeCell<Reply>,
}

const _: () = assert!(size_of::<Header>() <= SEGMENTS_OFFSET);
const _: () = assert!(TRACE_OFFSET.is_multiple_of(4096));
