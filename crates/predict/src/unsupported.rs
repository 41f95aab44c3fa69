//! Kinds of operations that a trace format or model cannot express.

use std::fmt;

/// A kind of operation that a trace format or model cannot express.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unsupported {
    /// Atomic accesses.
    AtomicAccesses,
    /// Locks held shared.
    SharedLocks,
    /// Try-operations that failed.
    FailedTries,
    /// Condition variables.
    ConditionVariables,
    /// Barriers.
    Barriers,
    /// Semaphores.
    Semaphores,
    /// Once-controls.
    OnceControls,
    /// Cancellation of threads.
    Cancellation,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AtomicAccesses => "atomic accesses",
            Self::SharedLocks => "shared locks",
            Self::FailedTries => "failed try-operations",
            Self::ConditionVariables => "condition variables",
            Self::Barriers => "barriers",
            Self::Semaphores => "semaphores",
            Self::OnceControls => "once-controls",
            Self::Cancellation => "cancellation",
        })
    }
}
