//! Which events can be swapped.
//!
//! Two adjacent events of different threads are *independent* when executing them in the other order is possible,
//! gives the same two events, the same state, and the same happens-before order between all accesses. Then two runs
//! that differ only in the order of independent events have the same races, deadlocks and failures, and a search
//! needs only one of them. [`dependent`] may say "dependent" without need; it never says "independent" wrongly.
//!
//! It is derived from each event's [`footprint`]: the resources it uses, and how. Every happens-before edge lies
//! between dependent events (or events of one thread), so dependence is the stronger order.
//!
//! The process's end needs no resource: it is postponed until no other thread can run.

use smallvec::{SmallVec, smallvec};

use crate::{Addr, Cell, Event, LockMode, Op, ThreadId};

/// What events can meet on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource {
    /// Bytes of memory. A synchronisation object is the byte at its address, so that freeing or overwriting it meets
    /// the operations on it.
    Bytes(Cell),
    /// A thread's life.
    Thread(ThreadId),
}

/// How an event uses a resource.
///
/// Uses are as fine as [`commutes_with`](Self::commutes_with) and [`coenabled_with`](Self::coenabled_with) need.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Use {
    /// Reads memory.
    Read,
    /// Writes memory.
    Write,

    /// Takes for itself alone, waiting until that is possible: a lock, a once-control.
    Take,
    /// Takes for itself alone, without waiting, and got it.
    TryTake,
    /// Gives back what it had taken for itself alone.
    Give,
    /// Takes a lock shared, waiting.
    TakeShared,
    /// Takes a lock shared, without waiting, and got it.
    TryTakeShared,
    /// Gives back a lock held shared.
    GiveShared,
    /// Waits until nobody has the once-control, finding it done.
    Pass,
    /// Looks at the object's state and leaves it as it is: a failed try, a semaphore's value.
    Look,
    /// Adds to a semaphore.
    Post,
    /// Takes from a semaphore.
    Wait,
    /// Arrives at a barrier.
    Arrive,
    /// Leaves a barrier.
    Leave,
    /// Anything else: condition variables, initialisation, destruction.
    Change,

    /// An event of the thread itself.
    Step,
    /// The thread's last event.
    Exit,
    /// Creates the thread.
    Create,
    /// Waits for the thread's end.
    Join,
    /// Looks at, or changes, what becomes of the thread after its end, without waiting.
    Reap,
    /// Asks the thread to cancel itself.
    Cancel,
}

impl Use {
    /// Whether two uses of one resource by different threads can be swapped without anybody noticing.
    pub fn commutes_with(self, other: Self) -> bool {
        use Use::*;
        match (self, other) {
            // Memory.
            (Read, Read) => true,
            // Objects: a reader-writer lock's readers; a semaphore's posts; a barrier's leaves, which happen when
            // the generation is complete and its serial thread chosen.
            (TakeShared | TryTakeShared | GiveShared, TakeShared | TryTakeShared | GiveShared) => true,
            (Look, Look) | (Pass, Pass) | (Post, Post) | (Leave, Leave) => true,
            // Threads: a request to cancel may become visible at any event of the thread (a cancellation point
            // that finds no request is no event); its end matters to those who wait for it or look for it.
            (Step, Create | Cancel) | (Create | Cancel, Step) => false,
            (Step, _) | (_, Step) => true,
            (Exit, Join | Reap) | (Join | Reap, Exit) => false,
            (Exit, _) | (_, Exit) => true,
            (Cancel, Cancel) => true,
            _ => false,
        }
    }

    /// Whether there can be a state in which both uses of one resource, by different threads, could be executed *and
    /// would not commute*. What only the holder of a lock can do excludes taking it; the end of a thread excludes that
    /// joining it was possible before; leaving a barrier waits for the arrivals of its generation, and does not mind
    /// those of the next.
    pub fn coenabled_with(self, other: Self) -> bool {
        let excludes = |one: Self, other: Self| match one {
            Self::Give => {
                matches!(other, Self::Give | Self::GiveShared | Self::Take | Self::TakeShared | Self::Pass)
            }
            Self::GiveShared => other == Self::Take,
            Self::Arrive => other == Self::Leave,
            Self::Create => other == Self::Step,
            Self::Exit => other == Self::Join,
            _ => false,
        };
        !excludes(self, other) && !excludes(other, self)
    }
}

/// What an event uses. Its thread's own life comes first.
pub type Footprint = SmallVec<[(Resource, Use); 3]>;

/// The resources an event uses, and how.
pub fn footprint(event: &Event) -> Footprint {
    let object = |addr: Addr| Resource::Bytes(Cell { start: addr, len: 1 });
    let thread = event.id.thread;
    let mut uses: Footprint = smallvec![(Resource::Thread(thread), Use::Step)];
    match &event.op {
        Op::Access(_) | Op::Accesses(_) => uses.extend(event.op.accesses().iter().map(|access| {
            let how = if access.kind.writes() { Use::Write } else { Use::Read };
            (Resource::Bytes(access.cell), how)
        })),
        Op::Acquire { lock, mode } => uses.push(match mode {
            LockMode::Exclusive => (object(*lock), Use::Take),
            LockMode::Shared => (object(*lock), Use::TakeShared),
        }),
        Op::TryAcquire { lock, mode, success: true } => uses.push(match mode {
            LockMode::Exclusive => (object(*lock), Use::TryTake),
            LockMode::Shared => (object(*lock), Use::TryTakeShared),
        }),
        Op::Release { lock, mode } => uses.push(match mode {
            LockMode::Exclusive => (object(*lock), Use::Give),
            LockMode::Shared => (object(*lock), Use::GiveShared),
        }),
        Op::TryAcquire { lock: addr, success: false, .. }
        | Op::SemTryWait { sem: addr, success: false }
        | Op::SemGet { sem: addr } => uses.push((object(*addr), Use::Look)),
        Op::WaitBegin { cond, lock } => {
            uses.extend([(object(*cond), Use::Change), (object(*lock), Use::Give)]);
        }
        Op::Init(addr)
        | Op::Destroy(addr)
        | Op::WaitEnd { cond: addr, .. }
        | Op::Signal { cond: addr }
        | Op::Broadcast { cond: addr } => uses.push((object(*addr), Use::Change)),
        Op::BarrierArrive { barrier } => uses.push((object(*barrier), Use::Arrive)),
        Op::BarrierLeave { barrier } => uses.push((object(*barrier), Use::Leave)),
        Op::SemPost { sem } => uses.push((object(*sem), Use::Post)),
        Op::SemWait { sem } => uses.push((object(*sem), Use::Wait)),
        Op::SemTryWait { sem, success: true } => uses.push((object(*sem), Use::Wait)),
        Op::OnceBegin { once, run: true } => uses.push((object(*once), Use::Take)),
        Op::OnceBegin { once, run: false } => uses.push((object(*once), Use::Pass)),
        Op::OnceEnd { once } => uses.push((object(*once), Use::Give)),
        Op::Create { child } => uses.push((Resource::Thread(*child), Use::Create)),
        Op::Exit => uses.push((Resource::Thread(thread), Use::Exit)),
        Op::Join { child } => uses.push((Resource::Thread(*child), Use::Join)),
        Op::TryJoin { child, .. } | Op::Detach { child } => uses.push((Resource::Thread(*child), Use::Reap)),
        Op::Cancel { target } => uses.push((Resource::Thread(*target), Use::Cancel)),
        Op::Fence(_) | Op::Start | Op::Cancelled | Op::Yield => {}
    }
    uses
}

/// The ways in which two events use a resource both use.
fn shared_uses(one: &Event, other: &Event) -> impl Iterator<Item = (Use, Use)> {
    let (ones, others) = (footprint(one), footprint(other));
    ones.into_iter().flat_map(move |(resource, how)| {
        let meets = move |theirs: Resource| match (resource, theirs) {
            (Resource::Bytes(a), Resource::Bytes(b)) => a.overlaps(&b),
            (Resource::Thread(a), Resource::Thread(b)) => a == b,
            _ => false,
        };
        let met: SmallVec<[(Use, Use); 2]> =
            others.iter().filter(|(theirs, _)| meets(*theirs)).map(|(_, their_use)| (how, *their_use)).collect();
        met
    })
}

/// Whether swapping two adjacent events of different threads can change anything. Events of one thread are always
/// dependent.
pub fn dependent(one: &Event, other: &Event) -> bool {
    one.id.thread == other.id.thread || shared_uses(one, other).any(|(a, b)| !a.commutes_with(b))
}

/// Whether there can be a state in which two dependent events of different threads are both possible. Where this is
/// false, one of them has to come first in every run, or they commute after all.
pub fn may_be_coenabled(one: &Event, other: &Event) -> bool {
    one.id.thread != other.id.thread && shared_uses(one, other).all(|(a, b)| a.coenabled_with(b))
}
