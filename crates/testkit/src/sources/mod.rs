//! Generated C and C++ sources, for what the [small programs](crate::generator) cannot say: handles of threads that are
//! copied and overwritten, exceptions and destructors, `longjmp`, every memory order, library calls with a state, handlers
//! at exit, callbacks, descriptors, weak compare-exchanges that fail, locals that were never written, addresses that are
//! kept in other forms.
//!
//! There is no brute force for these: the complete search of the real program is the truth that the other engines are held
//! against. Every access has a line of its own, so that pairs can be compared by their lines.

use model::Environment;

mod compose;
mod emit;
mod handles;
mod places;
mod shrink;

pub use handles::Handles;

/// The language of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// C11 with GNU extensions.
    C,
    /// C++17.
    Cxx,
}

impl Language {
    /// How a file of the language is named.
    pub fn file(self) -> &'static str {
        match self {
            Self::C => "case.c",
            Self::Cxx => "case.cpp",
        }
    }
}

/// A program of two worker threads and what `main` does around them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Its language.
    pub language: Language,
    /// Where the shared variables are.
    pub place: Place,
    /// How `main` creates and joins the workers.
    pub handles: Handles,
    /// What each worker does.
    pub workers: [Vec<Move>; 2],
    /// What `main` does when both workers are created.
    pub beside: Vec<Move>,
    /// What `main` does after some joins.
    pub between: Vec<Move>,
    /// What `main` does after all joins.
    pub after: Vec<Move>,
    /// What a handler at exit does; there is none without moves.
    pub at_exit: Vec<Move>,
    /// How the handler is registered.
    pub registered: Registered,
    /// How `main` ends.
    pub ending: Ending,
    /// What the environment may do. Where it is asked what unwritten memory holds, [`Move::Chosen`] reads a local that was
    /// never written.
    pub environment: Environment,
}

/// Where the shared variables are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Two globals.
    Globals,
    /// Fields of a structure.
    Fields,
    /// A heap block.
    Heap,
    /// The stack of `main`.
    Stack,
    /// The initial thread's instance of a thread-local variable.
    ThreadLocal,
    /// An array, by indices that are read from memory.
    Indexed,
    /// Globals that threads reach by an address in another form.
    Carried(Carrier),
}

/// In which form the address of the shared variables is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carrier {
    /// The upper half of a number of 128 bits.
    Wide,
    /// An element of a vector.
    Vector,
    /// Combined with another address, by exclusive or.
    Mixed,
    /// With a tag in its lowest bit, since the program started.
    Tagged,
    /// Bytes that are copied one at a time.
    Bytes,
    /// A pointer that came through a pipe.
    Piped,
    /// A pointer that inline assembly moved from one register to another.
    Assembly,
}

/// A shared variable, 0 or 1.
pub type Variable = u8;

/// One of two locks, 0 or 1.
pub type Lock = u8;

/// What a thread does next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Move {
    /// Reads a variable.
    Read(Variable),
    /// Writes a variable.
    Write(Variable),
    /// Moves under a lock.
    Locked(Lock, Locking, Vec<Self>),
    /// Moves in a function that throws in the end, and those of the handler around it.
    Thrown {
        /// Who holds the lock meanwhile.
        guard: Option<Lock>,
        /// A variable that a destructor writes on the way out.
        destroyed: Option<Variable>,
        /// What comes before.
        inner: Vec<Self>,
        /// What the handler does.
        handler: Vec<Self>,
    },
    /// Moves up to a `longjmp`, and those after the second return.
    Jumped {
        /// A lock that is taken before the jump and released after it.
        held: Option<Lock>,
        /// Whether the jump is made through a pointer to a function.
        by_pointer: bool,
        /// What comes before the jump.
        inner: Vec<Self>,
        /// What comes after the second return.
        landed: Vec<Self>,
    },
    /// Sets a flag.
    Publish(Access),
    /// Moves if a flag is set.
    Taken(Access, Vec<Self>),
    /// A fence.
    Fence(Order),
    /// A call of a library function that has a state.
    Library(Library),
    /// Moves in a function that a library function calls.
    Called(Callback, Vec<Self>),
    /// A byte sent through a pipe.
    Send,
    /// A byte awaited from a pipe, and moves after it.
    Received(Vec<Self>),
    /// Moves if a value that is left open is not zero.
    Chosen(Vec<Self>),
}

/// How a lock is taken and released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Locking {
    /// Here.
    Plain,
    /// By functions that only do that.
    InCallees,
    /// Only if a flag is set, and so is the release.
    OneBranch,
    /// If it is free; the moves are made in any case.
    TryAnyway,
    /// If it is free; else nothing is done.
    Try,
    /// By an object whose destructor releases it; as [`Plain`](Self::Plain) in C.
    Guard,
}

/// An access to an atomic flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Which flag, 0 or 1.
    pub flag: u8,
    /// What is done to it.
    pub operation: Operation,
    /// The order of the operation; of a compare-exchange that succeeds.
    pub order: Order,
    /// The order of a compare-exchange that fails.
    pub failure: Order,
}

/// An operation on an atomic flag. Those that are no use to set or to test a flag are emitted as a store or a load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A store to set, a load to test.
    Plain,
    /// An exchange.
    Exchange,
    /// A compare-exchange; `true` for a weak one.
    CompareExchange(bool),
    /// A bitwise or.
    Or,
    /// A bitwise and; sets nothing, so a publication adds instead.
    And,
    /// An addition.
    Add,
    /// One of the older builtins, which are barriers.
    Sync,
}

/// A memory order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names of the standard")]
pub enum Order {
    Relaxed,
    Consume,
    Acquire,
    Release,
    AcquireRelease,
    Sequential,
}

/// A library function with a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names of the functions")]
pub enum Library {
    Rand,
    Drand48,
    Strtok,
    Localtime,
    Getenv,
    Setenv,
    Strerror,
    Mblen,
}

/// A library function that calls back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callback {
    /// `qsort`.
    Sort,
    /// `bsearch`.
    Search,
    /// `pthread_once`, with a control for each caller's line.
    Once,
    /// A cleanup handler that is popped and run.
    Cleanup,
    /// A destructor of a thread's key.
    Key,
}

/// How a handler at exit is registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registered {
    /// `atexit`.
    AtExit,
    /// `on_exit`.
    OnExit,
    /// `at_quick_exit`.
    AtQuickExit,
}

/// How `main` ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// By returning.
    Return,
    /// By `exit`.
    Exit,
    /// By `quick_exit`.
    QuickExit,
    /// By `pthread_exit`: the program goes on until the last thread ends.
    ThreadExit,
}

impl Source {
    /// The source with this seed.
    pub fn generate(seed: u64) -> Self {
        compose::source(seed)
    }

    /// Its text.
    pub fn text(&self) -> String {
        emit::text(self, "")
    }

    /// Its text, where `main` goes through what the first worker does twice before there is another thread.
    pub fn rehearsed_text(&self) -> String {
        emit::text(self, emit::REHEARSAL)
    }

    /// The smallest source found that still fails, trying at most so many.
    pub fn shrink(&self, attempts: usize, fails: impl FnMut(&Self) -> bool) -> Self {
        shrink::shrink(self, attempts, fails)
    }
}
