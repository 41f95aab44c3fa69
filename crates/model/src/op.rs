//! Visible operations: everything a thread does that another thread could observe.

use serde::{Deserialize, Serialize};

use crate::{Access, Addr, Cell, Choice, Critical, Order, SiteId, ThreadId};

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum LockMode {
    /// Together with other shared holders (the read side of a reader-writer lock).
    Shared,
    /// Alone.
    Exclusive,
}

/// Why a condition-variable wait ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum WakeCause {
    /// A signal or broadcast.
    Signalled,
    /// The time limit of a timed wait.
    TimedOut,
    /// No cause; only when spurious wake-ups are enabled.
    Spurious,
    /// The thread was cancelled while waiting.
    Cancelled,
}

/// One visible operation, executed in one indivisible step.
///
/// Synchronisation objects (locks, condition variables, barriers, semaphores, once-controls) are named by
/// the address of the object in the program's memory. "Enabled when" states the condition under which a
/// thread about to execute the operation is runnable; without such a line it always is.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Op {
    /// A load, store, read-modify-write or free.
    Access(Access),
    /// Several accesses made in one step: a struct copy, `memcpy`, a library function. Never empty.
    Accesses(Box<[Access]>),
    /// A fence.
    Fence(Order),
    /// A section of code that no other thread interrupts, executed in one step with everything it does. Its accesses
    /// are atomic, so they do not race with those of other sections. What a section will do is not known in advance: as
    /// a pending operation it is empty.
    Section {
        /// Its accesses, in order.
        accesses: Box<[Access]>,
        /// Where in the code each access is made.
        sites: Box<[Option<SiteId>]>,
        /// Its choices, in order.
        choices: Box<[Choice]>,
    },
    /// Chooses a value that the program leaves open. Other threads do not observe it.
    Choose(Choice),
    /// Starts another iteration of a loop whose last iteration only read memory and left the thread unchanged: the
    /// thread waits for a change. Enabled when one of the cells has had another value, after some event since the
    /// thread read it in that iteration. (A lock that could not be acquired is the byte at its address.)
    Await {
        /// The cells that were read.
        cells: Box<[Cell]>,
    },

    /// Acquires a lock. Enabled when the lock is available in this mode.
    Acquire {
        /// The lock.
        lock: Addr,
        /// In which mode.
        mode: LockMode,
    },
    /// Tries to acquire a lock and reports whether it succeeded. A timed lock is this too: scheduled while another
    /// thread holds the lock, it times out.
    TryAcquire {
        /// The lock.
        lock: Addr,
        /// In which mode.
        mode: LockMode,
        /// Whether it was acquired.
        success: bool,
    },
    /// Releases a lock. (Acquiring or releasing a recursive mutex while it is held is an `Acquire` or `Release` too;
    /// only the outermost ones change which threads can run.)
    Release {
        /// The lock.
        lock: Addr,
        /// The mode in which it was held.
        mode: LockMode,
    },
    /// Initialises a synchronisation object.
    Init(Addr),
    /// Destroys a synchronisation object.
    Destroy(Addr),

    /// Releases `lock` and starts waiting on `cond`, in one step.
    WaitBegin {
        /// The condition variable.
        cond: Addr,
        /// The mutex released.
        lock: Addr,
    },
    /// Wakes up; an `Acquire` of the mutex follows as the thread's next event. Enabled when a signal or broadcast sent
    /// since `WaitBegin` can be consumed; always for timed waits (then it timed out); and, if spurious wake-ups are
    /// enabled, unless the thread has had one on this condition variable since a signal last woke it there.
    WaitEnd {
        /// The condition variable.
        cond: Addr,
        /// Why it woke up.
        cause: WakeCause,
    },
    /// Wakes one waiter, any; lost when no thread waits.
    Signal {
        /// The condition variable.
        cond: Addr,
    },
    /// Wakes all waiters.
    Broadcast {
        /// The condition variable.
        cond: Addr,
    },

    /// Arrives at a barrier.
    BarrierArrive {
        /// The barrier.
        barrier: Addr,
    },
    /// Leaves a barrier. Enabled when all threads have arrived.
    BarrierLeave {
        /// The barrier.
        barrier: Addr,
    },

    /// Increments a semaphore.
    SemPost {
        /// The semaphore.
        sem: Addr,
    },
    /// Decrements a semaphore. Enabled when it is above zero.
    SemWait {
        /// The semaphore.
        sem: Addr,
    },
    /// Tries to decrement a semaphore (or times out) and reports whether it succeeded.
    SemTryWait {
        /// The semaphore.
        sem: Addr,
        /// Whether it was decremented.
        success: bool,
    },
    /// Reads a semaphore's value.
    SemGet {
        /// The semaphore.
        sem: Addr,
    },

    /// Enters a once-control. Enabled when no other thread is between `OnceBegin { run: true }` and
    /// `OnceEnd` of it.
    OnceBegin {
        /// The control object.
        once: Addr,
        /// Whether this thread runs the routine (otherwise it was already done).
        run: bool,
    },
    /// The once-routine has returned.
    OnceEnd {
        /// The control object.
        once: Addr,
    },

    /// Creates a thread.
    Create {
        /// The new thread.
        child: ThreadId,
    },
    /// A thread's first event.
    Start,
    /// A thread's last event.
    Exit,
    /// Waits for a thread's end. Enabled when the thread has exited.
    Join {
        /// The thread joined.
        child: ThreadId,
    },
    /// Joins a thread if it has ended, without blocking (`pthread_tryjoin_np`, or a timed join that timed out).
    TryJoin {
        /// The thread.
        child: ThreadId,
        /// Whether it was joined.
        success: bool,
    },
    /// Detaches a thread.
    Detach {
        /// The thread detached.
        child: ThreadId,
    },
    /// Requests a thread's cancellation.
    Cancel {
        /// The thread to cancel.
        target: ThreadId,
    },
    /// Acts on a cancellation request: a cancellation point found one pending.
    Cancelled,
    /// Yields to other threads: `sched_yield`, sleeps.
    Yield,

    // Runs never report these: a search puts them in the place of what a run reports.
    /// A short critical section as one event; see [`shortcuts`](crate::shortcuts). Enabled when its lock is available.
    Critical(Box<Critical>),
    /// Arrives at a barrier, where it does not matter in which order the threads of a generation arrive; see
    /// [`shortcuts`](crate::shortcuts).
    Meet {
        /// The barrier.
        barrier: Addr,
    },
}

impl Op {
    /// The memory accesses of this operation; empty for synchronisation.
    #[inline]
    pub fn accesses(&self) -> &[Access] {
        match self {
            Self::Access(access) => std::slice::from_ref(access),
            Self::Accesses(accesses) | Self::Section { accesses, .. } => accesses,
            Self::Critical(critical) => &critical.accesses,
            _ => &[],
        }
    }
    /// The values the operation chooses.
    pub fn choices(&self) -> &[Choice] {
        match self {
            Self::Choose(choice) => std::slice::from_ref(choice),
            Self::Section { choices, .. } => choices,
            _ => &[],
        }
    }
    /// The number of events that a run makes of this operation.
    pub fn events(&self) -> u32 {
        if let Self::Critical(critical) = self { critical.events() } else { 1 }
    }
    /// Whether this consists only of plain memory accesses.
    pub fn is_plain_access(&self) -> bool {
        let accesses = if let Self::Critical(_) = self { &[] } else { self.accesses() };
        !accesses.is_empty() && accesses.iter().all(|a| a.atomic.is_none())
    }
}
