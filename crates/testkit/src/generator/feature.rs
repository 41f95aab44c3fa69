//! What generated programs may contain.

use super::sketch::{Item, LockRef, Sketch, Test};

/// What a program may contain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Feature {
    /// Accesses under one mutex.
    Lock,
    /// Two mutexes at once, released in either order.
    TwoLocks,
    /// A mutex acquired with a try-lock.
    TryLock,
    /// A mutex acquired twice.
    RecursiveLock,
    /// An address that depends on shared data.
    DataAddress,
    /// A lock that depends on shared data.
    DataLock,
    /// A branch on shared data.
    Branch,
    /// A loop.
    Loop,
    /// Release stores and acquire loads, and weaker ones.
    Atomics,
    /// Fences.
    Fences,
    /// Compare-exchange and other read-modify-writes.
    CompareExchange,
    /// Waiting and signalling.
    Condition,
    /// Readers and writers.
    ReadWriteLock,
    /// Semaphores.
    Semaphore,
    /// Barriers.
    Barrier,
    /// Once-controls.
    Once,
    /// A heap block, also freed.
    Heap,
    /// Accesses of different sizes to the same bytes.
    MixedSize,
    /// Assertions.
    Assertion,
    /// Yields.
    Yield,
    /// Threads created or joined between accesses.
    LateCreate,
    /// Threads that create threads.
    NestedCreate,
    /// Threads that are detached.
    Detach,
    /// Values left open, and assumptions about them.
    Choice,
    /// Uninterruptible sections.
    Section,
    /// Loops that wait for a change.
    Await,
    /// A loop whose bound depends on shared data.
    DataLoop,
    /// A pointer that may be null.
    Pointer,
    /// A division by shared data.
    Division,
    /// Locks that are never released, released by another thread, or destroyed.
    Misuse,
    /// Updates of a number under a lock whose order does not matter, or does.
    Update,
    /// Variables each with a lock of its own.
    Element,
    /// Barriers whose last thread does something else.
    Serial,
    /// Two threads that do the same.
    Alike,
}

impl Feature {
    /// All features except those that only the search supports.
    pub const ALL: [Self; 23] = [
        Self::Lock,
        Self::TwoLocks,
        Self::TryLock,
        Self::RecursiveLock,
        Self::DataAddress,
        Self::DataLock,
        Self::Branch,
        Self::Loop,
        Self::Atomics,
        Self::Fences,
        Self::CompareExchange,
        Self::Condition,
        Self::ReadWriteLock,
        Self::Semaphore,
        Self::Barrier,
        Self::Once,
        Self::Heap,
        Self::MixedSize,
        Self::Assertion,
        Self::Yield,
        Self::LateCreate,
        Self::NestedCreate,
        Self::Detach,
    ];

    /// The features that only the search supports.
    pub const SEARCH: [Self; 3] = [Self::Choice, Self::Section, Self::Await];

    /// Features that make races depend on shared data or on when a thread is created, and what decides such data.
    pub const DEPENDENT: [Self; 6] =
        [Self::DataAddress, Self::DataLock, Self::DataLoop, Self::LateCreate, Self::NestedCreate, Self::Lock];

    /// Features that make threads fail, and what decides whether they do.
    pub const FAILING: [Self; 10] = [
        Self::Pointer,
        Self::Division,
        Self::Misuse,
        Self::Heap,
        Self::Assertion,
        Self::Lock,
        Self::TwoLocks,
        Self::TryLock,
        Self::Atomics,
        Self::Semaphore,
    ];

    /// Features of programs whose threads do much that commutes, and what lets them notice when it does not.
    pub const COMMUTING: [Self; 11] = [
        Self::Update,
        Self::Element,
        Self::Serial,
        Self::Alike,
        Self::Lock,
        Self::TryLock,
        Self::Loop,
        Self::Barrier,
        Self::Semaphore,
        Self::Assertion,
        Self::Await,
    ];

    /// Features of programs that update numbers under locks.
    pub const UPDATING: [Self; 3] = [Self::Update, Self::Element, Self::Alike];

    /// The same with numbers of different sizes in the same bytes.
    pub const UPDATING_PARTS: [Self; 2] = [Self::Update, Self::MixedSize];

    /// The same with threads that notice that a lock is held.
    pub const NOTICING: [Self; 3] = [Self::Update, Self::TryLock, Self::Await];

    /// Whether the sketch has it.
    pub fn occurs_in(self, sketch: &Sketch) -> bool {
        let has = |wanted: fn(&Item) -> bool| sketch.has(wanted);
        match self {
            Self::Lock => has(|i| matches!(i, Item::Lock(LockRef::Mutex(_)))),
            Self::TwoLocks => has(|i| matches!(i, Item::Lock(LockRef::Mutex(1)))),
            Self::TryLock => has(|i| matches!(i, Item::If { test: Test::TryLock(_), .. })),
            Self::RecursiveLock => has(|i| matches!(i, Item::Lock(LockRef::Recursive))),
            Self::DataAddress => has(|i| matches!(i, Item::ReadElement { .. } | Item::WriteElement { .. })),
            Self::DataLock => has(|i| matches!(i, Item::Lock(LockRef::Chosen(_)))),
            Self::Branch => has(|i| matches!(i, Item::If { test: Test::Shared(..) | Test::Local(..), .. })),
            Self::Loop => has(|i| matches!(i, Item::Repeat { .. })),
            Self::Atomics => has(|i| matches!(i, Item::AtomicStore { .. } | Item::AtomicLoad { .. })),
            Self::Fences => has(|i| matches!(i, Item::Fence(_))),
            Self::CompareExchange => has(|i| matches!(i, Item::If { test: Test::CompareExchange(..), .. })),
            Self::Condition => has(|i| matches!(i, Item::Wait { .. })),
            Self::ReadWriteLock => has(|i| matches!(i, Item::Lock(LockRef::Read | LockRef::Write))),
            Self::Semaphore => has(|i| matches!(i, Item::Take | Item::If { test: Test::TryWait, .. })),
            Self::Barrier => has(|i| matches!(i, Item::Meet)),
            Self::Once => has(|i| matches!(i, Item::Once)),
            Self::Heap => has(|i| matches!(i, Item::FreeHeap)),
            Self::MixedSize => has(|i| matches!(i, Item::WriteByte { .. })),
            Self::Assertion => has(|i| matches!(i, Item::AssertNot { .. })),
            Self::Yield => has(|i| matches!(i, Item::Yield)),
            Self::LateCreate => {
                let main = sketch.threads.first().map_or(&[][..], Vec::as_slice);
                let first = main.iter().position(|i| matches!(i, Item::Create(_)));
                let last = main.iter().rposition(|i| matches!(i, Item::Create(_)));
                first.zip(last).is_some_and(|(first, last)| last > first + 1)
            }
            Self::NestedCreate => sketch.threads.iter().skip(1).flatten().any(|i| matches!(i, Item::Create(_))),
            Self::Detach => has(|i| matches!(i, Item::Detach(_))),
            Self::Choice => has(|i| matches!(i, Item::Choose { .. })),
            Self::Section => has(|i| matches!(i, Item::Section(_))),
            Self::Await => has(|i| matches!(i, Item::Await { .. })),
            Self::DataLoop => has(|i| matches!(i, Item::RepeatUpTo { .. })),
            Self::Pointer => has(|i| matches!(i, Item::FollowPointer { .. })),
            Self::Division => has(|i| matches!(i, Item::Divide { .. })),
            Self::Misuse => has(|i| matches!(i, Item::Destroy(_))),
            Self::Update | Self::Element => has(|i| matches!(i, Item::Update { .. })),
            Self::Serial => has(|i| matches!(i, Item::If { test: Test::Serial, .. })),
            Self::Alike => matches!(&sketch.threads[..], [_, one, other] if one == other),
        }
    }
}
