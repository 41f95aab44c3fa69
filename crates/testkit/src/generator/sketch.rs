//! Sketches: small concurrent programs in a language-independent form.
//!
//! All programs share one set of objects: integers `x[..]`, an array `a[2]`, a word that is also accessed by bytes, a
//! pointer to a heap block, two mutexes, a recursive mutex, a reader-writer lock, a condition variable, a semaphore, a
//! barrier for two and a once-control. Thread 0 is `main`.

use model::Order;

/// A small program.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Sketch {
    /// What each thread does, by number.
    pub threads: Vec<Vec<Item>>,
    /// What the once-routine does.
    pub once: Vec<Item>,
    /// The semaphore's initial value.
    pub tokens: u8,
}

/// A value to store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// A number.
    Constant(u8),
    /// The value read into this local; 0 if it is not defined.
    Local(u8),
}

/// An index into the array, 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Index {
    /// Read from this shared integer in the same statement.
    Shared(u8),
    /// Read earlier into this local.
    Local(u8),
}

/// A lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LockRef {
    /// Mutex 0 or 1.
    Mutex(u8),
    /// The mutex whose number is in this local.
    Chosen(u8),
    /// The recursive mutex.
    Recursive,
    /// The reader-writer lock, shared.
    Read,
    /// The reader-writer lock, exclusive.
    Write,
}

/// What a branch depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Test {
    /// A shared integer has this value.
    Shared(u8, u8),
    /// The same, read atomically.
    Atomic(u8, u8, Order),
    /// A local has this value.
    Local(u8, u8),
    /// A try-lock succeeded.
    TryLock(LockRef),
    /// A try-wait on the semaphore succeeded.
    TryWait,
    /// It was the last of its generation at the barrier.
    Serial,
    /// A shared integer was changed from the first value to the second.
    CompareExchange(u8, u8, u8, Order, Order),
}

/// A shared number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Number {
    /// A shared integer.
    Integer(u8),
    /// The word.
    Word,
    /// A byte of the word.
    Byte(u8),
}

/// How a number is updated.
#[allow(missing_docs, reason = "the names say it")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Change {
    Add,
    Subtract,
    And,
    Or,
    Xor,
}

/// How a loop waits for a value of a shared integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Awaiting {
    /// Reads it with plain accesses.
    Plain,
    /// Reads it atomically and yields.
    Atomic(Order),
    /// Reads it under mutex 0.
    Locked,
    /// Also reads another integer, which is written to `x1` afterwards.
    Two(Order),
    /// Exchanges it with 1, which acquires a spin lock if the value is 0.
    Exchange(Order),
    /// Repeats a try-lock of mutex 0 until it succeeds; the integer does not matter.
    TryLock,
}

/// A statement.
#[allow(missing_docs, reason = "fields of variants are explained by the variant")]
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Item {
    /// Reads a shared integer into a local.
    Read { var: u8, local: u8 },
    /// Writes a shared integer.
    Write { var: u8, value: Value },
    /// Reads and writes a shared integer.
    Increment { var: u8 },
    /// Updates a number with others, starting from what it is or from what was read into a local.
    Update { what: Number, old: Option<u8>, changes: Vec<(Change, u8)> },
    /// Reads an element of the array into a local.
    ReadElement { index: Index, local: u8 },
    /// Writes an element of the array.
    WriteElement { index: Index, value: Value },
    /// Reads the word into a local.
    ReadWord { local: u8 },
    /// Writes the word.
    WriteWord { value: Value },
    /// Writes one byte of the word.
    WriteByte { byte: u8, value: Value },
    /// Reads the heap block into a local.
    ReadHeap { local: u8 },
    /// Writes the heap block.
    WriteHeap { value: Value },
    /// Frees the heap block.
    FreeHeap,
    /// Reads a shared integer atomically into a local.
    AtomicLoad { var: u8, order: Order, local: u8 },
    /// Writes a shared integer atomically.
    AtomicStore { var: u8, value: Value, order: Order },
    /// Adds one to a shared integer atomically.
    FetchAdd { var: u8, order: Order },
    /// A fence.
    Fence(Order),
    /// Acquires a lock.
    Lock(LockRef),
    /// Releases a lock.
    Unlock(LockRef),
    /// Waits on the condition variable with mutex 0 if a shared integer is 0, or while it is.
    Wait { var: u8, repeat: bool, timed: bool },
    /// Wakes one waiter.
    Signal,
    /// Wakes all waiters.
    Broadcast,
    /// Increments the semaphore.
    Post,
    /// Decrements the semaphore.
    Take,
    /// Waits at the barrier.
    Meet,
    /// Runs the once-routine if no thread has.
    Once,
    /// Yields to other threads.
    Yield,
    /// Stores any value of a range in a local.
    Choose { hi: u8, local: u8 },
    /// Continues only if the local has this value.
    Assume { local: u8, value: u8 },
    /// Accesses and choices that no other thread interrupts.
    Section(Vec<Item>),
    /// Waits in a loop until a shared integer has this value.
    Await { var: u8, value: u8, how: Awaiting },
    /// Makes the shared pointer point to the first shared integer, or sets it to null.
    SetPointer { null: bool },
    /// Follows the shared pointer and reads into a local.
    FollowPointer { local: u8 },
    /// Divides by a shared integer, read atomically, into a local.
    Divide { var: u8, local: u8 },
    /// Destroys mutex 0 or 1.
    Destroy(u8),
    /// Fails if the shared integer has this value.
    AssertNot { var: u8, value: u8 },
    /// Executes items only if the test holds.
    If { test: Test, then: Vec<Item> },
    /// Executes items several times.
    Repeat { times: u8, body: Vec<Item> },
    /// Executes items as often as the local says.
    RepeatUpTo { local: u8, body: Vec<Item> },
    /// Creates a thread; not inside branches and loops.
    Create(usize),
    /// Joins a thread that this one created.
    Join(usize),
    /// Detaches a thread this one created.
    Detach(usize),
}

impl Sketch {
    /// Visits all items, outer ones first.
    pub fn visit(&self, mut visitor: impl FnMut(&Item)) {
        fn walk(items: &[Item], visitor: &mut impl FnMut(&Item)) {
            for item in items {
                visitor(item);
                if let Item::If { then: inner, .. }
                | Item::Repeat { body: inner, .. }
                | Item::RepeatUpTo { body: inner, .. }
                | Item::Section(inner) = item
                {
                    walk(inner, visitor);
                }
            }
        }
        for items in self.threads.iter().chain([&self.once]) {
            walk(items, &mut visitor);
        }
    }

    /// Whether an item like this occurs.
    pub fn has(&self, wanted: impl Fn(&Item) -> bool) -> bool {
        let mut found = false;
        self.visit(|item| found |= wanted(item));
        found
    }
}
