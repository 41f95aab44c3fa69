//! Which events commute.
//!
//! Two adjacent events of different threads are *independent* when they can be executed in the other order and this
//! gives the same two events, the same state, and the same happens-before order between all accesses (up to the numbers
//! of threads, which follow the order of creation; their paths stay the same). Then two runs that differ only in the
//! order of independent events have the same races, deadlocks and failures, and a search needs only one of them.
//! [`dependent`] may say "dependent" unnecessarily; it never says "independent" wrongly.
//!
//! Dependence is derived from each event's [`footprint`]: the resources it uses, and how. Every happens-before edge
//! connects dependent events (or events of one thread), so dependence is the stronger order.
//!
//! The end of the process uses no resource: it is postponed until no other thread can run.

use crate::{Access, Addr, Cell, Critical, Event, LockMode, Op, ThreadId, Update};

/// What two events can have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource {
    /// Bytes of memory. A synchronisation object is the byte at its address, so that freeing or overwriting the object
    /// conflicts with operations on it.
    Bytes(Cell),
    /// A thread's lifetime.
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
    /// Waits for a change of memory, or for a lock or semaphore to become available.
    Watch,

    /// Acquires exclusively, blocking: a lock, a once-control.
    Take,
    /// Acquires exclusively with a successful try-operation.
    TryTake,
    /// Releases an exclusive hold.
    Give,
    /// Acquires a lock shared, blocking.
    TakeShared,
    /// Acquires a lock shared with a successful try-operation.
    TryTakeShared,
    /// Releases a shared hold.
    GiveShared,
    /// Waits until no thread runs the once-control's routine, and finds it done.
    Pass,
    /// Reads the object's state without changing it: a failed try-operation, a semaphore's value.
    Look,
    /// Increments a semaphore.
    Post,
    /// Decrements a semaphore.
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
    /// Tries to join the thread without blocking.
    Reap,
    /// Detaches the thread.
    Detach,
    /// Requests the thread's cancellation.
    Cancel,

    /// Acquires and releases a lock exclusively, in one [event](crate::shortcuts) with all that the thread does with it.
    Critical,
    /// Adds to a number of one byte, in a critical section that does not use what it was.
    AddByte,
    /// Adds to an aligned number of two bytes, likewise.
    AddShort,
    /// Adds to an aligned number of four bytes, likewise.
    AddWord,
    /// Adds to an aligned number of eight bytes, likewise.
    AddLong,
    /// Keeps some bits of some bytes, likewise.
    And,
    /// Sets some bits of some bytes, likewise.
    Or,
    /// Flips some bits of some bytes, likewise.
    Xor,
    /// Arrives at a barrier where the order of the arrivals of a generation does not matter.
    Meet,
}

impl Use {
    /// All uses, in order.
    const ALL: [Self; 32] = {
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
            Detach,
            Cancel,
            Critical,
            AddByte,
            AddShort,
            AddWord,
            AddLong,
            And,
            Or,
            Xor,
            Meet,
        ]
    };

    /// Whether two uses of one resource by different threads can be swapped without an observable difference.
    #[inline]
    pub const fn commutes_with(self, other: Self) -> bool {
        COMMUTES[self as usize] >> other as u32 & 1 != 0
    }

    /// Whether there can be a state in which both uses of one resource, by different threads, are enabled *and do not
    /// commute*. An operation that needs the lock held excludes acquiring it; a thread's end excludes an earlier join
    /// of it; leaving a barrier waits for the arrivals of its generation and is not affected by those of the next.
    #[inline]
    pub const fn coenabled_with(self, other: Self) -> bool {
        EXCLUDES[self as usize] >> other as u32 & 1 == 0 && EXCLUDES[other as usize] >> self as u32 & 1 == 0
    }
}

/// For each use, the uses that commute with it, as bits.
const COMMUTES: [u32; Use::ALL.len()] = {
    let mut table = [0; Use::ALL.len()];
    let mut at = 0;
    while at < table.len() * table.len() {
        let (one, other) = (at / table.len(), at % table.len());
        if commute(Use::ALL[one], Use::ALL[other]) {
            table[one] |= 1 << other;
        }
        at += 1;
    }
    table
};

/// For each use, the uses it excludes, as bits.
const EXCLUDES: [u32; Use::ALL.len()] = {
    let mut table = [0; Use::ALL.len()];
    let mut at = 0;
    while at < table.len() * table.len() {
        let (one, other) = (at / table.len(), at % table.len());
        if excludes(Use::ALL[one], Use::ALL[other]) {
            table[one] |= 1 << other;
        }
        at += 1;
    }
    table
};

const fn commute(one: Use, other: Use) -> bool {
    use Use::*;
    match (one, other) {
        // Memory.
        (Read | Watch, Read | Watch) => true,
        (Look, Watch) | (Watch, Look) => true,
        // Critical sections of one lock depend on each other by what they touch. Numbers of one size that overlap and are
        // aligned are one number; in others a carry may be lost.
        (Critical, Critical) | (And, And) | (Or, Or) | (Xor, Xor) => true,
        (AddByte, AddByte) | (AddShort, AddShort) | (AddWord, AddWord) | (AddLong, AddLong) => true,
        // Objects: readers of a reader-writer lock; posts to a semaphore; departures from a barrier, since these happen
        // when the generation is complete and its serial thread chosen.
        (TakeShared | TryTakeShared | GiveShared, TakeShared | TryTakeShared | GiveShared) => true,
        (Look, Look) | (Pass, Pass) | (Post, Post) | (Leave, Leave) | (Meet, Meet) => true,
        // Threads: a cancellation request may become visible at any event of the thread (a cancellation point without a
        // pending request is not an event); a thread's end matters to those who wait or poll for it.
        (Step, Create | Cancel) | (Create | Cancel, Step) => false,
        (Step, _) | (_, Step) => true,
        (Exit, Join | Reap) | (Join | Reap, Exit) => false,
        (Exit, _) | (_, Exit) => true,
        (Cancel, Cancel) => true,
        _ => false,
    }
}

const fn excludes(one: Use, other: Use) -> bool {
    use Use::*;
    match one {
        Give => matches!(other, Give | GiveShared | Take | TakeShared | Pass | Critical),
        GiveShared => matches!(other, Take | Critical),
        Arrive | Meet => matches!(other, Leave),
        Create => matches!(other, Step),
        Exit => matches!(other, Join),
        _ => false,
    }
}

/// The resources an event uses and how, computed without allocating. Its own thread's lifetime comes first.
#[derive(Clone, Debug)]
pub struct Footprint<'a> {
    /// The event's thread, until it has been returned.
    own: Option<ThreadId>,
    others: OtherUses<'a>,
}

/// The resources an event uses besides its own thread's lifetime.
#[derive(Clone, Copy, Debug)]
enum OtherUses<'a> {
    Nothing,
    One((Resource, Use)),
    Two([(Resource, Use); 2]),
    Accesses(&'a [Access]),
    Watched(&'a [Cell]),
    /// A critical section's accesses, and how they update.
    Updates(&'a [Access], &'a [Option<Update>]),
    /// The whole of a critical section.
    Critical(&'a Critical),
}

impl Iterator for OtherUses<'_> {
    type Item = (Resource, Use);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Nothing => None,
            Self::One(one) => {
                let one = *one;
                *self = Self::Nothing;
                Some(one)
            }
            Self::Two([one, other]) => {
                let (one, other) = (*one, *other);
                *self = Self::One(other);
                Some(one)
            }
            Self::Accesses(accesses) => {
                let (access, more) = accesses.split_first()?;
                *accesses = more;
                Some(use_of(access))
            }
            Self::Watched(cells) => {
                let (cell, more) = cells.split_first()?;
                *cells = more;
                Some((Resource::Bytes(*cell), Use::Watch))
            }
            Self::Updates(accesses, updates) => {
                let ((access, more), (update, later)) = (accesses.split_first()?, updates.split_first()?);
                (*accesses, *updates) = (more, later);
                Some((Resource::Bytes(access.cell), use_in_section(access, *update)))
            }
            Self::Critical(critical) => {
                let lock = Resource::Bytes(Cell { start: critical.lock, len: 1 });
                *self = Self::Updates(&critical.accesses, &critical.updates);
                Some((lock, Use::Critical))
            }
        }
    }
}

impl Iterator for Footprint<'_> {
    type Item = (Resource, Use);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.own.take() {
            Some(thread) => Some((Resource::Thread(thread), Use::Step)),
            None => self.others.next(),
        }
    }
}

#[inline]
fn use_of(access: &Access) -> (Resource, Use) {
    (Resource::Bytes(access.cell), if access.kind.writes() { Use::Write } else { Use::Read })
}

/// How an access in a critical section uses its bytes.
pub(crate) fn use_in_section(access: &Access, update: Option<Update>) -> Use {
    let Cell { start, len } = access.cell;
    let add = match len {
        1 => Some(Use::AddByte),
        2 => Some(Use::AddShort),
        4 => Some(Use::AddWord),
        8 => Some(Use::AddLong),
        _ => None,
    };
    let updates = update.and_then(|update| match update {
        Update::Add => add.filter(|_| start.0.is_multiple_of(u64::from(len))),
        Update::And => Some(Use::And),
        Update::Or => Some(Use::Or),
        Update::Xor => Some(Use::Xor),
    });
    updates.unwrap_or_else(|| use_of(access).1)
}

/// The resources an event uses, and how.
#[inline]
pub fn footprint(event: &Event) -> Footprint<'_> {
    Footprint { own: Some(event.id.thread), others: other_uses(event) }
}

/// The same without its own thread's lifetime.
fn other_uses(event: &Event) -> OtherUses<'_> {
    let object = |addr: &Addr, how| OtherUses::One((Resource::Bytes(Cell { start: *addr, len: 1 }), how));
    let life = |thread: &ThreadId, how| OtherUses::One((Resource::Thread(*thread), how));
    let by = |mode: &LockMode, exclusive, shared| if *mode == LockMode::Exclusive { exclusive } else { shared };
    match &event.op {
        Op::Access(access) => OtherUses::One(use_of(access)),
        Op::Accesses(accesses) | Op::Section { accesses, .. } => OtherUses::Accesses(accesses),
        Op::Critical(critical) => OtherUses::Critical(critical),
        Op::Acquire { lock, mode } => object(lock, by(mode, Use::Take, Use::TakeShared)),
        Op::TryAcquire { lock, mode, success: true } => object(lock, by(mode, Use::TryTake, Use::TryTakeShared)),
        Op::Release { lock, mode } => object(lock, by(mode, Use::Give, Use::GiveShared)),
        Op::TryAcquire { lock: addr, success: false, .. }
        | Op::SemTryWait { sem: addr, success: false }
        | Op::SemGet { sem: addr } => object(addr, Use::Look),
        Op::WaitBegin { cond, lock } => {
            let object = |addr: &Addr| Resource::Bytes(Cell { start: *addr, len: 1 });
            OtherUses::Two([(object(cond), Use::Change), (object(lock), Use::Give)])
        }
        Op::Init(addr)
        | Op::Destroy(addr)
        | Op::WaitEnd { cond: addr, .. }
        | Op::Signal { cond: addr }
        | Op::Broadcast { cond: addr } => object(addr, Use::Change),
        Op::BarrierArrive { barrier } => object(barrier, Use::Arrive),
        Op::BarrierLeave { barrier } => object(barrier, Use::Leave),
        Op::Meet { barrier } => object(barrier, Use::Meet),
        Op::SemPost { sem } => object(sem, Use::Post),
        Op::SemWait { sem } | Op::SemTryWait { sem, success: true } => object(sem, Use::Wait),
        Op::OnceBegin { once, run: true } => object(once, Use::Take),
        Op::OnceBegin { once, run: false } => object(once, Use::Pass),
        Op::OnceEnd { once } => object(once, Use::Give),
        Op::Create { child } => life(child, Use::Create),
        Op::Exit => life(&event.id.thread, Use::Exit),
        Op::Join { child } => life(child, Use::Join),
        Op::TryJoin { child, .. } => life(child, Use::Reap),
        Op::Detach { child } => life(child, Use::Detach),
        Op::Cancel { target } => life(target, Use::Cancel),
        Op::Await { cells } => OtherUses::Watched(cells),
        Op::Fence(_) | Op::Start | Op::Cancelled | Op::Choose(_) | Op::Yield => OtherUses::Nothing,
    }
}

/// Whether two events of different threads use a resource in ways for which `matters` holds.
#[inline]
fn meet(one: &Event, other: &Event, matters: impl Fn(Use, Use) -> bool) -> bool {
    let is_life_of = |resource: Resource, event: &Event| resource == Resource::Thread(event.id.thread);
    let theirs = other_uses(other);
    for (resource, how) in other_uses(one) {
        let meets = |theirs: Resource| match (resource, theirs) {
            (Resource::Bytes(a), Resource::Bytes(b)) => a.overlaps(&b),
            (Resource::Thread(a), Resource::Thread(b)) => a == b,
            _ => false,
        };
        if (is_life_of(resource, other) && matters(how, Use::Step))
            || theirs.into_iter().any(|(resource, their_use)| meets(resource) && matters(how, their_use))
        {
            return true;
        }
    }
    theirs.into_iter().any(|(resource, their_use)| is_life_of(resource, one) && matters(Use::Step, their_use))
}

/// Whether swapping two adjacent events of different threads can change anything. Events of one thread are always
/// dependent.
pub fn dependent(one: &Event, other: &Event) -> bool {
    one.id.thread == other.id.thread || meet(one, other, |a, b| !a.commutes_with(b))
}

/// Whether there can be a state in which two dependent events of different threads are both enabled. Where this is
/// false, one of them comes first in every run, or they commute after all.
pub fn may_be_coenabled(one: &Event, other: &Event) -> bool {
    one.id.thread != other.id.thread && !meet(one, other, |a, b| !a.coenabled_with(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AccessKind, EventId, Order};

    fn event(thread: u32, op: Op) -> Event {
        Event { id: EventId { thread: ThreadId(thread), position: 3 }, site: None, op }
    }
    fn access(thread: u32, kind: AccessKind, start: u64, len: u32) -> Event {
        event(thread, Op::Access(Access { kind, atomic: Some(Order::SeqCst), cell: Cell { start: Addr(start), len } }))
    }

    #[test]
    fn relations_are_symmetric() {
        for (at, a) in Use::ALL.iter().enumerate() {
            assert_eq!(*a as usize, at, "the tables are by number");
        }
        for (a, b) in Use::ALL.iter().flat_map(|a| Use::ALL.iter().map(move |b| (*a, *b))) {
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
