//! Visible operations: all that one thread can do that another could notice.

use serde::{Deserialize, Serialize};

use crate::{Access, Addr, Cell, Choice, Order, SiteId, ThreadId};

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
    /// No cause; only when spurious wake-ups are asked for.
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
    /// A section of code that no other thread interrupts, executed in one step, with all it does. Its accesses are
    /// atomic, so they do not race with those of other sections. What a section will do is not known before: as a pending
    /// operation it is empty.
    Section {
        /// Its accesses, in order.
        accesses: Box<[Access]>,
        /// Where in the code each access is made.
        sites: Box<[Option<SiteId>]>,
        /// Its choices, in order.
        choices: Box<[Choice]>,
    },
    /// Chooses a value that the program leaves open. No other thread notices.
    Choose(Choice),
    /// Another round of a loop whose last one did nothing but read, and left the thread as it had been: it waits for a
    /// change. Enabled when one of the cells has had another value, after some event since the thread read it in that
    /// round. (A lock that could not be had is the byte at its address.)
    Await {
        /// What was read.
        cells: Box<[Cell]>,
    },

    /// Takes a lock. Enabled when the lock can be had in this mode.
    Acquire {
        /// The lock.
        lock: Addr,
        /// How.
        mode: LockMode,
    },
    /// Tries to take a lock and says whether it was had. A timed lock is this too: scheduled while the
    /// lock is held by another thread, it has timed out.
    TryAcquire {
        /// The lock.
        lock: Addr,
        /// How.
        mode: LockMode,
        /// Whether it was had.
        success: bool,
    },
    /// Gives a lock back. (Taking or releasing a recursive mutex again while held is an `Acquire` or
    /// `Release` too; only the outermost ones change who can run.)
    Release {
        /// The lock.
        lock: Addr,
        /// How it was held.
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
    /// Wakes up; an `Acquire` of the mutex follows as the thread's next event. Enabled when a signal or
    /// broadcast sent since `WaitBegin` can be consumed, or always for timed waits (then it timed out)
    /// and, where spurious wake-ups are asked for, if the thread has not woken so on this condition variable
    /// since a signal last woke it there.
    WaitEnd {
        /// The condition variable.
        cond: Addr,
        /// Why it woke.
        cause: WakeCause,
    },
    /// Wakes one waiter, any; lost when nobody waits.
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
    /// Leaves a barrier. Enabled when all have arrived.
    BarrierLeave {
        /// The barrier.
        barrier: Addr,
    },

    /// Adds one to a semaphore.
    SemPost {
        /// The semaphore.
        sem: Addr,
    },
    /// Takes one from a semaphore. Enabled when it is above zero.
    SemWait {
        /// The semaphore.
        sem: Addr,
    },
    /// Tries to take one from a semaphore (or timed out on it) and says whether it did.
    SemTryWait {
        /// The semaphore.
        sem: Addr,
        /// Whether one was taken.
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
        /// Whether this thread runs the routine (else it was already done).
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
    /// Looks whether a thread has ended, without waiting (`pthread_tryjoin_np`, or a timed join that timed
    /// out).
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
    /// Asks a thread to cancel itself.
    Cancel {
        /// The thread asked.
        target: ThreadId,
    },
    /// Acts on a cancellation request (a cancellation point found one pending).
    Cancelled,
    /// Offers to let others run: `sched_yield`, sleeps.
    Yield,
}

impl Op {
    /// The memory accesses of this operation; empty for synchronisation.
    #[inline]
    pub fn accesses(&self) -> &[Access] {
        match self {
            Self::Access(access) => std::slice::from_ref(access),
            Self::Accesses(accesses) | Self::Section { accesses, .. } => accesses,
            _ => &[],
        }
    }
    /// The values it chooses.
    pub fn choices(&self) -> &[Choice] {
        match self {
            Self::Choose(choice) => std::slice::from_ref(choice),
            Self::Section { choices, .. } => choices,
            _ => &[],
        }
    }
    /// Whether this is memory access only, without an atomic part.
    pub fn is_plain_access(&self) -> bool {
        let accesses = self.accesses();
        !accesses.is_empty() && accesses.iter().all(|a| a.atomic.is_none())
    }
}
