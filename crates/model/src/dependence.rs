//! Which events can be swapped.
//!
//! Two adjacent events of different threads are *independent* when executing them in the other order is possible,
//! gives the same two events, the same state, and the same happens-before order between all accesses (all up to the
//! numbers of threads, which are given in order of creation; their paths stay the same). Then two runs
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
    /// Waits for a change of memory, or of what keeps a lock or semaphore from being had.
    Watch,

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
    /// Waits for the thread's end no longer than now.
    Reap,
    /// Says that nobody will wait for the thread's end.
    Detach,
    /// Asks the thread to cancel itself.
    Cancel,
}

impl Use {
    /// Whether two uses of one resource by different threads can be swapped without anybody noticing.
    pub fn commutes_with(self, other: Self) -> bool {
        use Use::*;
        match (self, other) {
            // Memory.
            (Read | Watch, Read | Watch) => true,
            (Look, Watch) | (Watch, Look) => true,
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
        Op::Access(_) | Op::Accesses(_) | Op::Section { .. } => uses.extend(event.op.accesses().iter().map(|access| {
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
        Op::TryJoin { child, .. } => uses.push((Resource::Thread(*child), Use::Reap)),
        Op::Detach { child } => uses.push((Resource::Thread(*child), Use::Detach)),
        Op::Cancel { target } => uses.push((Resource::Thread(*target), Use::Cancel)),
        Op::Await { cells } => uses.extend(cells.iter().map(|cell| (Resource::Bytes(*cell), Use::Watch))),
        Op::Fence(_) | Op::Start | Op::Cancelled | Op::Choose(_) | Op::Yield => {}
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, AccessKind, EventId, Order};

    const USES: [Use; 22] = {
        use Use::*;
        [
            Read,
            Write,
            Watch,
            Take,
            TryTake,
            Give,
            TakeShared,
            TryTakeShared,
            GiveShared,
            Pass,
            Look,
            Post,
            Wait,
            Arrive,
            Leave,
            Change,
            Step,
            Exit,
            Create,
            Join,
            Reap,
            Cancel,
        ]
    };

    fn event(thread: u32, op: Op) -> Event {
        Event { id: EventId { thread: ThreadId(thread), position: 3 }, site: None, op }
    }
    fn access(thread: u32, kind: AccessKind, start: u64, len: u32) -> Event {
        event(thread, Op::Access(Access { kind, atomic: Some(Order::SeqCst), cell: Cell { start: Addr(start), len } }))
    }

    #[test]
    fn relations_are_symmetric() {
        for (a, b) in USES.iter().flat_map(|a| USES.iter().map(move |b| (*a, *b))) {
            assert_eq!(a.commutes_with(b), b.commutes_with(a), "{a:?} {b:?}");
            assert_eq!(a.coenabled_with(b), b.coenabled_with(a), "{a:?} {b:?}");
        }
    }

    #[test]
    fn accesses_depend_by_overlap_and_writing() {
        let write = access(0, AccessKind::Write, 0x10, 4);
        assert!(dependent(&write, &access(1, AccessKind::Read, 0x13, 2)));
        assert!(!dependent(&write, &access(1, AccessKind::Write, 0x14, 4)));
        assert!(!dependent(&access(0, AccessKind::Read, 0x10, 4), &access(1, AccessKind::Read, 0x10, 4)));
        assert!(may_be_coenabled(&write, &access(1, AccessKind::Read, 0x13, 2)));
        assert!(dependent(&write, &access(0, AccessKind::Read, 0x99, 1)), "one thread's events are never swapped");
    }

    #[test]
    fn freeing_a_lock_meets_its_operations() {
        let free = access(0, AccessKind::Free, 0x100, 64);
        let lock = Op::Acquire { lock: Addr(0x120), mode: LockMode::Exclusive };
        assert!(dependent(&free, &event(1, lock)));
        assert!(!dependent(&free, &event(1, Op::SemPost { sem: Addr(0x140) })));
    }

    #[test]
    fn locks_are_taken_in_either_order_and_given_back_by_their_holder() {
        let lock = Addr(0x20);
        let take = |thread, mode| event(thread, Op::Acquire { lock, mode });
        let give = |thread, mode| event(thread, Op::Release { lock, mode });
        let tried = |success| event(1, Op::TryAcquire { lock, mode: LockMode::Exclusive, success });
        use LockMode::{Exclusive, Shared};
        assert!(dependent(&take(0, Exclusive), &take(1, Exclusive)));
        assert!(may_be_coenabled(&take(0, Exclusive), &take(1, Exclusive)));
        assert!(!dependent(&take(0, Shared), &take(1, Shared)));
        assert!(!dependent(&give(0, Shared), &take(1, Shared)));
        assert!(dependent(&give(0, Shared), &take(1, Exclusive)));
        assert!(dependent(&give(0, Exclusive), &take(1, Shared)));
        assert!(!may_be_coenabled(&give(0, Exclusive), &take(1, Exclusive)));
        assert!(dependent(&give(0, Exclusive), &tried(false)) && may_be_coenabled(&give(0, Exclusive), &tried(false)));
    }

    #[test]
    fn waiting_uses_the_mutex_too() {
        let (cond, lock) = (Addr(0x30), Addr(0x20));
        let wait = |thread| event(thread, Op::WaitBegin { cond, lock });
        let signal = event(1, Op::Signal { cond });
        assert!(dependent(&wait(0), &signal) && may_be_coenabled(&wait(0), &signal));
        assert!(dependent(&wait(0), &wait(1)) && !may_be_coenabled(&wait(0), &wait(1)), "only one holds the mutex");
    }

    #[test]
    fn lives_of_threads() {
        let child = ThreadId(1);
        let exit = event(1, Op::Exit);
        let join = event(0, Op::Join { child });
        assert!(dependent(&exit, &join) && !may_be_coenabled(&exit, &join));
        let look = event(0, Op::TryJoin { child, success: false });
        assert!(dependent(&exit, &look) && may_be_coenabled(&exit, &look));
        assert!(dependent(&event(0, Op::Create { child }), &event(1, Op::Start)));
        assert!(!dependent(&event(0, Op::Join { child }), &event(1, Op::Yield)));
        let write = access(1, AccessKind::Write, 0x10, 4);
        assert!(dependent(&event(0, Op::Cancel { target: child }), &write), "a cancellation point may follow it");
    }
}
