//! The locks a thread holds.

use std::collections::BTreeMap;

use crate::{Addr, LockMode, Op, Step, Trace};

/// The locks that the thread of the event at `step` held just before it, by address.
///
/// A lock held both ways (which no lock of POSIX allows) is listed as exclusive. Waiting on a condition variable gives
/// up its mutex however often it is held, and takes it back as often.
pub fn locks_held(trace: &Trace, step: Step) -> Vec<(Addr, LockMode)> {
    let thread = trace.events[step].id.thread;
    let mut held = BTreeMap::<Addr, (u32, LockMode)>::new();
    let mut given_up = BTreeMap::<Addr, u32>::new();
    for event in trace.events.iter().take(step.0 as usize).filter(|e| e.id.thread == thread) {
        match event.op {
            Op::Acquire { lock, mode } | Op::TryAcquire { lock, mode, success: true } => {
                let (levels, strongest) = held.entry(lock).or_insert((0, mode));
                *levels += given_up.remove(&lock).unwrap_or(1);
                *strongest = mode.max(*strongest);
            }
            Op::Release { lock, .. } => {
                if let Some((levels, _)) = held.get_mut(&lock) {
                    *levels -= 1;
                    if *levels == 0 {
                        held.remove(&lock);
                    }
                }
            }
            Op::WaitBegin { lock, .. } => {
                if let Some((levels, _)) = held.remove(&lock) {
                    given_up.insert(lock, levels);
                }
            }
            _ => {}
        }
    }
    held.into_iter().map(|(lock, (_, mode))| (lock, mode)).collect()
}
