//! The locks a thread holds.

use std::collections::BTreeMap;

use crate::{Addr, LockMode, Op, Step, Trace};

/// The locks one thread holds, updated event by event.
///
/// A lock held in both modes (which no POSIX lock allows) is listed as exclusive. Waiting on a condition variable
/// releases all levels of its mutex and later restores them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HeldLocks {
    held: BTreeMap<Addr, (u32, LockMode)>,
    given_up: BTreeMap<Addr, u32>,
}

impl HeldLocks {
    /// Applies the thread's next operation.
    pub fn execute(&mut self, op: &Op) {
        match *op {
            Op::Acquire { lock, mode } | Op::TryAcquire { lock, mode, success: true } => {
                let (levels, strongest) = self.held.entry(lock).or_insert((0, mode));
                *levels += self.given_up.remove(&lock).unwrap_or(1);
                *strongest = mode.max(*strongest);
            }
            Op::Release { lock, .. } => {
                if let Some((levels, _)) = self.held.get_mut(&lock) {
                    *levels -= 1;
                    if *levels == 0 {
                        self.held.remove(&lock);
                    }
                }
            }
            Op::WaitBegin { lock, .. } => {
                if let Some((levels, _)) = self.held.remove(&lock) {
                    self.given_up.insert(lock, levels);
                }
            }
            _ => {}
        }
    }

    /// The locks held now, by address.
    pub fn iter(&self) -> impl Iterator<Item = (Addr, LockMode)> + '_ {
        self.held.iter().map(|(lock, (_, mode))| (*lock, *mode))
    }
}

/// The locks that the thread of the event at `step` held just before it, by address.
pub fn locks_held(trace: &Trace, step: Step) -> Vec<(Addr, LockMode)> {
    let thread = trace.events[step].id.thread;
    let mut held = HeldLocks::default();
    for event in trace.events.iter().take(step.0 as usize).filter(|e| e.id.thread == thread) {
        held.execute(&event.op);
    }
    // What a critical section does, it does with its lock.
    let own = if let Op::Critical(critical) = &trace.events[step].op { Some(critical.lock) } else { None };
    let mut all: Vec<_> = held.iter().collect();
    all.extend(own.map(|lock| (lock, LockMode::Exclusive)));
    all.sort_unstable();
    all
}
