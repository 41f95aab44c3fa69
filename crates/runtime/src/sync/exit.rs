//! What has to be called when a thread or the program ends.

use alloc::vec::Vec;

use crate::sched::Thread;

/// A function of the program with what it was registered with. Functions and arguments are addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handler {
    /// `atexit`, `at_quick_exit`: takes nothing.
    Plain(u64),
    /// `__cxa_atexit`: takes the argument.
    WithArgument(u64, u64),
    /// `on_exit`: takes the exit status and the argument.
    WithStatus(u64, u64),
}

/// A destructor of a C++ `thread_local` object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadDestructor {
    thread: Thread,
    /// The function.
    pub function: u64,
    /// The object.
    pub object: u64,
}

/// Handlers in order of registration; they are called last first.
#[derive(Clone, Debug, Default)]
pub struct Handlers {
    /// For `exit`.
    pub exit: Vec<Handler>,
    /// For `quick_exit`.
    pub quick_exit: Vec<Handler>,
    /// A thread is calling or has called the handlers of `exit`.
    pub exiting: bool,
    thread: Vec<ThreadDestructor>,
}

impl Handlers {
    /// None.
    pub const fn new() -> Self {
        Self { exit: Vec::new(), quick_exit: Vec::new(), exiting: false, thread: Vec::new() }
    }
    /// Registers a destructor for when `thread` ends.
    pub fn at_thread_end(&mut self, thread: Thread, function: u64, object: u64) {
        self.thread.push(ThreadDestructor { thread, function, object });
    }
    /// Takes out the destructor that `thread` registered last.
    pub fn next_thread_destructor(&mut self, thread: Thread) -> Option<ThreadDestructor> {
        let last = self.thread.iter().rposition(|d| d.thread == thread)?;
        Some(self.thread.remove(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threads_destructors_come_last_first_and_apart_from_others() {
        let mut handlers = Handlers::new();
        for (thread, object) in [(1, 10), (2, 20), (1, 11)] {
            handlers.at_thread_end(thread, 0xf, object);
        }
        let mut next = |thread| handlers.next_thread_destructor(thread).map(|d| d.object);
        assert_eq!([next(1), next(1), next(1), next(2)], [Some(11), Some(10), None, Some(20)]);
    }
}
