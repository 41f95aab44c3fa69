//! The state of a run just before an event: which locks its threads hold, which objects there are.
//!
//! A moment only moves forward, so many events of one run are described in one pass over it.

use std::collections::BTreeMap;

use model::{Addr, Allocation, HeldLocks, IndexVec, Op, Step, ThreadId, Trace};

/// The state of a run before one of its events.
pub(crate) struct Moment<'a> {
    trace: &'a Trace,
    held: IndexVec<ThreadId, HeldLocks>,
    /// Start → object, of those created so far that no newer one has taken the place of.
    objects: BTreeMap<Addr, &'a Allocation>,
    /// Objects created so far.
    created: usize,
    /// Events executed so far.
    at: Step,
}

impl<'a> Moment<'a> {
    /// Before the first event.
    pub(crate) fn first(trace: &'a Trace) -> Self {
        Self {
            trace,
            held: IndexVec::filled(trace.threads.len(), HeldLocks::default()),
            objects: BTreeMap::new(),
            created: 0,
            at: Step(0),
        }
    }

    /// The run.
    pub(crate) fn trace(&self) -> &'a Trace {
        self.trace
    }

    /// Moves to just before `step`, if it is not there or later already.
    pub(crate) fn advance(&mut self, step: Step) {
        while self.at < step {
            if let Some(event) = self.trace.events.get(self.at)
                && event.op.accesses().is_empty()
                && let Some(held) = self.held.get_mut(event.id.thread)
            {
                held.execute(&event.op);
            }
            self.at = Step(self.at.0 + 1);
        }
        while let Some(new) = self.trace.allocations.get(self.created).filter(|new| new.before <= step) {
            self.created += 1;
            // What began inside it is gone.
            let end = Addr(new.start.0.saturating_add(new.size));
            while let Some((&inside, _)) = self.objects.range(new.start..end.max(new.start)).next() {
                self.objects.remove(&inside);
            }
            self.objects.insert(new.start, new);
        }
    }

    /// The locks that a thread holds, by address. What a critical section does that is one event, it does with its lock.
    pub(crate) fn locks(&self, thread: ThreadId) -> impl Iterator<Item = Addr> + '_ {
        let next = self.trace.events.get(self.at).filter(|event| event.id.thread == thread);
        let own = next.and_then(|event| if let Op::Critical(section) = &event.op { Some(section.lock) } else { None });
        self.held.get(thread).into_iter().flat_map(|held| held.iter().map(|(lock, _)| lock)).chain(own)
    }

    /// The object that contains an address.
    pub(crate) fn object(&self, addr: Addr) -> Option<&'a Allocation> {
        let contains = |object: &&Allocation| addr.0 - object.start.0 < object.size.max(1);
        self.objects.range(..=addr).next_back().map(|(_, object)| *object).filter(contains)
    }
}
