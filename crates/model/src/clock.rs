//! Vector clocks.

use std::fmt;

use smallvec::SmallVec;

use crate::{EventId, ThreadId};

/// A vector clock: for each thread, the number of its first events in a downward-closed set of events.
///
/// Threads past the end of the vector count as 0. Eight threads are stored inline.
#[derive(Default)]
pub struct Clock {
    counts: SmallVec<[u32; 8]>,
}

impl Clone for Clock {
    fn clone(&self) -> Self {
        Self { counts: SmallVec::from_slice(&self.counts) }
    }
    /// Reuses the allocation.
    fn clone_from(&mut self, source: &Self) {
        let common = self.counts.len().min(source.counts.len());
        self.counts.truncate(common);
        self.counts.copy_from_slice(&source.counts[..common]);
        if common < source.counts.len() {
            self.counts.extend_from_slice(&source.counts[common..]);
        }
    }
}

impl Clock {
    /// The clock without events.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of events of `thread` in the clock.
    #[inline]
    pub fn count(&self, thread: ThreadId) -> u32 {
        self.counts.get(thread.0 as usize).copied().unwrap_or(0)
    }

    /// Threads with a number from this on have no events in the clock.
    pub fn threads(&self) -> u32 {
        self.counts.len() as u32
    }

    /// Whether the event is in the clock.
    #[inline]
    pub fn contains(&self, event: EventId) -> bool {
        self.count(event.thread) > event.position
    }

    /// Adds an event and all earlier ones of its thread.
    #[inline]
    pub fn learn(&mut self, event: EventId) {
        let index = event.thread.0 as usize;
        while self.counts.len() <= index {
            self.counts.push(0);
        }
        let slot = &mut self.counts[index];
        *slot = (*slot).max(event.position + 1);
    }

    /// Removes an event and all later ones of its thread.
    pub fn forget(&mut self, event: EventId) {
        if let Some(slot) = self.counts.get_mut(event.thread.0 as usize) {
            *slot = (*slot).min(event.position);
        }
    }

    /// Adds everything in `other`.
    pub fn join(&mut self, other: &Self) {
        self.join_counts(&other.counts);
    }

    /// Adds this many first events of each thread, by thread number.
    pub fn join_counts(&mut self, counts: &[u32]) {
        let common = self.counts.len().min(counts.len());
        for (mine, theirs) in self.counts.iter_mut().zip(counts) {
            *mine = (*mine).max(*theirs);
        }
        if common < counts.len() {
            self.counts.extend_from_slice(&counts[common..]);
        }
    }

    /// The same; calls `report` with the previous count of each thread whose count grows.
    pub(crate) fn join_reporting(&mut self, other: &Self, mut report: impl FnMut(ThreadId, u32)) {
        while self.counts.len() < other.counts.len() {
            self.counts.push(0);
        }
        for (thread, (mine, theirs)) in (0..).map(ThreadId).zip(self.counts.iter_mut().zip(&other.counts)) {
            if *mine < *theirs {
                report(thread, *mine);
                *mine = *theirs;
            }
        }
    }

    /// Sets the count of a thread that has one.
    pub(crate) fn reset(&mut self, thread: ThreadId, count: u32) {
        if let Some(slot) = self.counts.get_mut(thread.0 as usize) {
            *slot = count;
        }
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.counts.clear();
    }

    /// Whether `other` contains everything in this clock.
    pub fn is_within(&self, other: &Self) -> bool {
        let (common, more) = self.counts.split_at(self.counts.len().min(other.counts.len()));
        common.iter().zip(&other.counts).all(|(mine, theirs)| mine <= theirs) && more.iter().all(|count| *count == 0)
    }
}

impl PartialEq for Clock {
    fn eq(&self, other: &Self) -> bool {
        self.is_within(other) && other.is_within(self)
    }
}
impl Eq for Clock {}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = (0..).map(ThreadId).zip(&self.counts).filter(|(_, count)| **count > 0);
        f.debug_map().entries(known).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: u32, position: u32) -> EventId {
        EventId { thread: ThreadId(thread), position }
    }

    #[test]
    fn knows_what_it_learnt() {
        let mut clock = Clock::new();
        assert!(!clock.contains(event(0, 0)));
        clock.learn(event(2, 4));
        assert!(clock.contains(event(2, 0)) && clock.contains(event(2, 4)) && !clock.contains(event(2, 5)));
        clock.learn(event(2, 1));
        assert_eq!(clock.count(ThreadId(2)), 5);
        assert_eq!(format!("{clock:?}"), "{t2: 5}");
    }

    #[test]
    fn join_is_the_least_upper_bound() {
        let (mut a, mut b) = (Clock::new(), Clock::new());
        a.learn(event(0, 3));
        b.learn(event(40, 0));
        b.learn(event(0, 1));
        let mut both = a.clone();
        both.join(&b);
        assert!(a.is_within(&both) && b.is_within(&both) && !both.is_within(&a));
        assert_eq!((both.count(ThreadId(0)), both.count(ThreadId(40))), (4, 1));
        both.clear();
        assert_eq!(both, Clock::new());
    }
}
