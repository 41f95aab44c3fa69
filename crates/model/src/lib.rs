//! The vocabulary of all other crates: threads, sites, accesses, events, traces, schedules, verdicts.
//!
//! This crate knows nothing of LLVM, processes, files or engines. Its types describe what happened in a run ([`Trace`])
//! and the decisions that make it happen ([`Schedule`]). The data race is defined once, in [`race`].

pub mod access;
pub mod budget;
pub mod choice;
pub mod clock;
pub mod dependence;
pub mod environment;
pub mod happens_before;
pub mod index;
pub mod interrupt;
pub mod lockset;
pub mod op;
pub mod race;
pub mod sample;
pub mod schedule;
pub mod shadow;
pub mod shortcuts;
pub mod thread;
pub mod trace;
pub mod verdict;
pub mod work;

pub use access::{Access, AccessKind, Addr, Cell, Order};
pub use budget::{Budget, Spent};
pub use choice::{Choice, Chosen};
pub use clock::Clock;
pub use environment::{Environment, Surprise, UnknownSurprise};
pub use index::IndexVec;
pub use interrupt::Interrupt;
pub use lockset::{HeldLocks, locks_held};
pub use op::{LockMode, Op, WakeCause};
pub use race::{Race, races};
pub use sample::{Sample, Sampler};
pub use schedule::{Positions, Schedule, Segment};
pub use shortcuts::{Critical, CriticalSection, Shortcuts, Update};
pub use thread::{ThreadId, ThreadPath, ThreadSet};
pub use trace::{
    Allocation, End, Event, EventId, INTERRUPTED, LANES, Misuse, OpenedFile, PeerThread, Pending, Region, Step,
    ThreadInfo, Trace, UNSAFE_CALL, UNWRITTEN, Unmodelled, interrupted_call, interrupted_site, lane_site,
};
pub use verdict::{Engine, Inputs, Memory, Pair, Scope, Threads};

index::index_type! {
    /// A point in the code that does something visible. Indexes the site table of the `Program`
    /// whose instrumented build produced the trace.
    pub struct SiteId("s");
}

/// Runs the program under a schedule prefix and returns the trace.
///
/// A run is a function: the same prefix gives the same trace, whichever process or machine runs it.
pub trait Executor {
    /// Why there is no trace: the executor itself failed. (Errors of the program are in the trace.)
    type Error: std::error::Error;

    /// Runs once.
    fn run(&mut self, schedule: &Schedule) -> Result<Trace, Self::Error>;

    /// A run that will probably be asked for soon: an executor may make it while the caller works on the last one. Returns
    /// false where another one can be named instead, because this one is made already.
    fn prefetch(&mut self, schedule: &Schedule) -> bool {
        let _ = schedule;
        true
    }

    /// No run of those named will be asked for.
    fn forget_prefetched(&mut self) {}

    /// Runs once, where no earlier run can have left anything behind. If runs are kept apart as they should be, the trace
    /// is that of [`run`](Self::run); what is reported as a finding is confirmed by this one.
    fn run_alone(&mut self, schedule: &Schedule) -> Result<Trace, Self::Error> {
        self.run(schedule)
    }
}

/// Whether a file is a header or source of the system, which the user did not write; also of a system for other machines.
pub fn is_foreign(file: &str) -> bool {
    let Some(path) = file.strip_prefix("/usr/") else { return false };
    let of_other_machine = |(first, rest): (&str, &str)| first.contains("-linux-") && rest.starts_with("include/");
    ["include/", "lib/", "local/include/"].iter().any(|folder| path.starts_with(folder))
        || path.split_once('/').is_some_and(of_other_machine)
}
