//! Who runs when the schedule does not say.
//!
//! The fixed policy is described at `model::Schedule`; the others try schedules at random, for programs with too many of
//! them. All are functions of their seed:
//!
//! - *random*: before every event one of the threads that can run, each with the same probability;
//! - *priorities*: S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, "A randomized scheduler with probabilistic
//!   guarantees of finding bugs", ASPLOS 2010 (PCT). Each thread has a random priority, the highest that can run does,
//!   and at `depth - 1` random points of the run the running thread's priority drops below all others. A bug that needs
//!   `depth` ordered events is met with a probability of at least 1 / (threads × length^(depth - 1)) in each run. A thread
//!   that offers to let others run does so, or a loop that waits for another thread would never end;
//! - *events*: X. Yuan, J. Yang, R. Gu, "Partial order aware concurrency sampling", CAV 2018 (POS). The next event of each
//!   thread has a random priority, the one with the highest is executed, and then those that conflict with it draw another.
//!   Schedules that differ in the order of independent events count as one, so it is closer to uniform over what can
//!   happen than a choice of threads is.

/// Kinds of policy.
pub mod kind {
    /// The fixed policy.
    pub const FIXED: u32 = 0;
    /// Any thread, before every event.
    pub const RANDOM: u32 = 1;
    /// By priorities.
    pub const PRIORITIES: u32 = 2;
    /// By priorities of events.
    pub const EVENTS: u32 = 3;
}

/// Most priority changes of a run.
pub const MOST_CHANGES: usize = 15;

/// A policy.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Policy {
    /// One of [`kind`].
    pub kind: u32,
    /// Of priorities: one more than the number of changes, which is at most [`MOST_CHANGES`].
    pub depth: u32,
    /// Different seeds give different runs.
    pub seed: u64,
    /// Of priorities: how many events a run has, about.
    pub length: u64,
}

/// What a policy has to remember of a run: for each change that has happened, one more than the thread it was for.
pub type Lowered = [u32; MOST_CHANGES];

impl Policy {
    /// The fixed policy.
    pub const FIXED: Self = Self { kind: kind::FIXED, depth: 0, seed: 0, length: 0 };

    /// Any thread, before every event.
    pub const fn random(seed: u64) -> Self {
        Self { kind: kind::RANDOM, seed, ..Self::FIXED }
    }

    /// By priorities.
    pub const fn priorities(seed: u64, depth: u32, length: u64) -> Self {
        Self { kind: kind::PRIORITIES, depth, seed, length }
    }

    /// By priorities of events.
    pub const fn events(seed: u64) -> Self {
        Self { kind: kind::EVENTS, seed, ..Self::FIXED }
    }

    /// The n-th of the seed's pseudo-random numbers (splitmix64).
    fn draw(&self, n: u64) -> u64 {
        let mut z = self.seed.wrapping_add(n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The thread to execute the event number `step` of the run, out of those that can; `running` executed the last one.
    /// `drawn` says how many priorities the events of a thread have drawn so far. `None` for the fixed policy, and when
    /// nobody can run.
    pub fn choose(
        &self,
        lowered: &mut Lowered,
        step: u64,
        running: u32,
        offers: bool,
        able: impl Iterator<Item = u32> + Clone,
        drawn: impl Fn(u32) -> u64,
    ) -> Option<u32> {
        match self.kind {
            kind::RANDOM => {
                let count = able.clone().count() as u64;
                able.clone().nth(self.draw(step).checked_rem(count)? as usize)
            }
            kind::PRIORITIES => {
                let changes = (self.depth.saturating_sub(1) as usize).min(MOST_CHANGES);
                for (at, change) in lowered.iter_mut().enumerate().take(changes) {
                    let point = self.draw(at as u64) % self.length.max(1);
                    if point == step && *change == 0 {
                        *change = running + 1;
                    }
                }
                let priority = |thread: &u32| {
                    let low = lowered.iter().position(|change| *change == thread + 1);
                    let eager = !(offers && *thread == running);
                    match low {
                        Some(change) => (eager, 0, change as u64),
                        None => (eager, 1, self.draw(1000 + u64::from(*thread))),
                    }
                };
                able.max_by_key(priority)
            }
            kind::EVENTS => {
                let priority = |thread: &u32| {
                    let eager = !(offers && *thread == running);
                    (eager, self.draw((u64::from(*thread) + 1) << 40 | drawn(*thread)))
                };
                able.max_by_key(priority)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_choices_reach_every_thread_and_depend_on_the_seed_alone() {
        let policy = Policy::random(7);
        let mut counts = [0; 3];
        for step in 0..300 {
            let choose = || policy.choose(&mut Lowered::default(), step, 0, false, 0..3, |_| 0);
            assert_eq!(choose(), choose());
            counts[choose().unwrap() as usize] += 1;
        }
        assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
        assert_eq!(policy.choose(&mut Lowered::default(), 0, 0, false, 0..0, |_| 0), None);
    }

    #[test]
    fn the_highest_priority_runs_until_it_drops() {
        let mut order = [false; 2];
        for seed in 0..40 {
            let policy = Policy::priorities(seed, 2, 10);
            let mut lowered = Lowered::default();
            let mut last = policy.choose(&mut lowered, 0, 9, false, 0..2, |_| 0).unwrap();
            order[last as usize] = true;
            let (mut changes, mut back) = (0, 0);
            for step in 1..20 {
                let next = policy.choose(&mut lowered, step, last, false, 0..2, |_| 0).unwrap();
                changes += usize::from(next != last && changes == 0);
                back += usize::from(changes > 0 && next != last);
                last = next;
            }
            assert!(changes <= 1 && back <= 1, "seed {seed}: one change at most");
            let offered = policy.choose(&mut lowered, 30, last, true, 0..2, |_| 0).unwrap();
            assert_ne!(offered, last, "an offer is taken up");
        }
        assert!(order.iter().all(|first| *first), "either comes first");
    }

    #[test]
    fn an_event_keeps_its_priority_until_it_draws_another() {
        let mut changed = 0;
        for seed in 0..40 {
            let policy = Policy::events(seed);
            let first = |drawn: [u64; 2], offers| {
                policy.choose(&mut Lowered::default(), 0, 0, offers, 0..2, |thread| drawn[thread as usize]).unwrap()
            };
            assert_eq!(first([3, 5], false), first([3, 5], false));
            assert_eq!(first([3, 5], true), 1, "an offer is taken up");
            changed += usize::from(first([3, 5], false) != first([3, 6], false));
        }
        assert!((10..30).contains(&changed), "{changed}");
    }
}
