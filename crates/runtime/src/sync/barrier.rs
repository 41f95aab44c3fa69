//! Barriers: all arrive, then all may leave.

use super::{Model, Object, SyncObjects};

/// A barrier. Each round has a number that no other round of any barrier has, so a thread that still has to
/// leave is not confused by a later round, nor by a new barrier in the same memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Barrier {
    count: u32,
    arrived: u32,
    round: u64,
}

impl Barrier {
    /// Whether threads wait for others to arrive.
    pub fn waited_on(&self) -> bool {
        self.arrived > 0
    }
    /// The round that is not complete yet.
    pub fn round(&self) -> u64 {
        self.round
    }
}

impl Model for Barrier {
    const NAME: &'static str = "barrier";
    fn wrap(self) -> Object {
        Object::Barrier(self)
    }
    fn of(object: &mut Object) -> Option<&mut Self> {
        if let Object::Barrier(barrier) = object { Some(barrier) } else { None }
    }
}

/// A thread's arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// The round it arrived in.
    pub round: u64,
    /// Whether it was the last to arrive.
    pub last: bool,
}

impl SyncObjects {
    /// Makes a barrier for `count` threads, at least one.
    pub fn init_barrier(&mut self, barrier: u64, count: u32) {
        let round = self.next_round();
        self.put(barrier, Barrier { count, arrived: 0, round });
    }

    /// A thread arrives; `None` if there is no barrier.
    pub fn arrive_at_barrier(&mut self, barrier: u64) -> Option<Arrival> {
        let next = self.next_round();
        let object = self.find::<Barrier>(barrier)?;
        object.arrived += 1;
        let arrival = Arrival { round: object.round, last: object.arrived == object.count };
        if arrival.last {
            object.arrived = 0;
            object.round = next;
        }
        Some(arrival)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::Blocker;

    const B: u64 = 0x1000;

    #[test]
    fn rounds_follow_each_other() {
        let mut objects = SyncObjects::new();
        objects.init_barrier(B, 2);
        let blocked =
            |objects: &SyncObjects, a: Arrival| objects.blocked(0, &Blocker::Barrier { barrier: B, round: a.round });
        let first = objects.arrive_at_barrier(B).unwrap();
        assert!(!first.last && blocked(&objects, first));
        let second = objects.arrive_at_barrier(B).unwrap();
        assert!(second.last && !blocked(&objects, first) && !blocked(&objects, second));
        // The second thread is already in the next round while the first has not left.
        let again = objects.arrive_at_barrier(B).unwrap();
        assert!(blocked(&objects, again) && !blocked(&objects, first));
        let last = objects.arrive_at_barrier(B).unwrap();
        assert!(last.last && !blocked(&objects, again) && !blocked(&objects, first));
    }

    #[test]
    fn a_new_barrier_in_the_same_memory_blocks_no_old_leaver() {
        let mut objects = SyncObjects::new();
        objects.init_barrier(B, 1);
        let old = objects.arrive_at_barrier(B).unwrap();
        objects.destroy(B, Barrier::NAME);
        assert_eq!(objects.arrive_at_barrier(B), None);
        objects.init_barrier(B, 3);
        assert!(!objects.blocked(0, &Blocker::Barrier { barrier: B, round: old.round }));
    }
}
