//! The run as the plan sees it.

use wire::Segment;

use wire::layout::environment;

use crate::link;
use crate::plan::View;
use crate::run::Run;
use crate::sched;
use crate::sync::SyncObjects;
use crate::threads::{Entry, Runnable, Thread};

/// What a decision of the plan looks at, borrowed once for all its questions.
pub struct Present<'r> {
    /// The run.
    pub run: &'r Run,
    /// Its threads.
    pub threads: &'r [Entry],
    /// Who can run.
    pub runnable: &'r Runnable,
}

impl View for Present<'_> {
    fn count(&self) -> u32 {
        self.threads.len() as u32
    }
    fn position(&self, thread: Thread) -> u32 {
        self.threads[thread as usize].position
    }
    fn is_runnable(&self, thread: Thread) -> bool {
        self.runnable.contains(thread)
    }
    fn is_reluctant(&self, thread: Thread) -> bool {
        let asks = |objects: &mut SyncObjects| self.runnable.is_reluctant(thread, objects);
        sched::may(environment::SPURIOUS) && self.run.objects.with(asks)
    }
    fn is_over(&self, thread: Thread) -> bool {
        self.threads[thread as usize].over
    }
    fn runnable_from(&self, from: Thread) -> Option<Thread> {
        self.runnable.first_from(from)
    }
    fn has_yielded(&self, thread: Thread) -> bool {
        let thread = &self.threads[thread as usize];
        thread.yielded_at == thread.position
    }
    fn drawn(&self, thread: Thread) -> u64 {
        let thread = &self.threads[thread as usize];
        u64::from(thread.position) + u64::from(thread.redrawn)
    }
    fn steps(&self) -> u64 {
        self.run.steps.get()
    }
    fn segment(&self, index: u32) -> Segment {
        link::segment(index)
    }
}
