//! Who runs next: the schedule prefix, then the fixed policy (see `model::Schedule`).

use alloc::format;
use alloc::string::String;

use wire::policy::{Lowered, MOST_CHANGES, kind};
use wire::{Policy, Segment};

use crate::sched::Thread;

/// What the plan has to know about the run.
pub trait View {
    /// Number of threads created so far.
    fn count(&self) -> u32;
    /// Number of the thread's next event.
    fn position(&self, thread: Thread) -> u32;
    /// Whether the thread can execute it.
    fn is_runnable(&self, thread: Thread) -> bool;
    /// Whether the thread can execute it, but only by waking without a cause.
    fn is_reluctant(&self, thread: Thread) -> bool;
    /// Whether the thread will execute nothing more.
    fn is_over(&self, thread: Thread) -> bool;
    /// The runnable thread with the smallest number not below `from`.
    fn runnable_from(&self, from: Thread) -> Option<Thread>;
    /// Whether the thread's last event was a yield.
    fn has_yielded(&self, thread: Thread) -> bool;
    /// How many priorities the thread's events have drawn.
    fn drawn(&self, thread: Thread) -> u64;
    /// Number of events executed by all.
    fn steps(&self) -> u64;
    /// A segment of the prefix.
    fn segment(&self, index: u32) -> Segment;
}

/// What to do next.
pub enum Decision {
    /// Let `thread` run until its event number `limit`, then ask again.
    Run {
        /// Who.
        thread: Thread,
        /// Until where; above its position.
        limit: u32,
    },
    /// No thread can run.
    Idle,
    /// The run is as long as it may be.
    StepLimit,
    /// The prefix cannot be followed.
    Diverged {
        /// The segment that cannot be followed.
        segment: u32,
        /// What was found instead.
        message: String,
    },
}

/// A schedule and how far it has been followed.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Number of segments.
    segments: u32,
    /// The segment being followed.
    next: u32,
    /// The thread that ran last.
    running: Thread,
    /// Most events without a switch, 0 for any number.
    quantum: u32,
    /// Position of `running` at which its turn started; `None` while the prefix decides.
    turn: Option<u32>,
    /// Most events.
    max_steps: u64,
    /// Where the only thread that can run yielded last, and how often in a row.
    alone: (u32, u32),
    /// Who runs after the prefix.
    policy: Policy,
    lowered: Lowered,
}

impl Plan {
    /// No schedule.
    pub const NONE: Self = Self {
        segments: 0,
        next: 0,
        running: 0,
        quantum: 0,
        turn: None,
        max_steps: 0,
        alone: (0, 0),
        policy: Policy::FIXED,
        lowered: [0; MOST_CHANGES],
    };

    /// The plan with another policy after the prefix. While the initial thread is alone, all do the same.
    pub fn with_policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// A plan for a run in which the initial thread has already executed its first `past` events, alone. `None` when
    /// the plan would have done something else before.
    pub fn new(
        segments: u32,
        quantum: u32,
        max_steps: u64,
        past: u32,
        segment: impl Fn(u32) -> Segment,
    ) -> Option<Self> {
        let max_steps = max_steps.min(u64::from(u32::MAX - 1));
        let mut plan = Self { segments, quantum, max_steps, ..Self::NONE };
        let mut position = 0;
        while plan.next < segments && position < past {
            let Segment { thread, until } = segment(plan.next);
            if thread != 0 || until < position {
                return None;
            }
            if until > past {
                break;
            }
            position = until;
            plan.next += 1;
        }
        if plan.next == segments {
            // Turns passed without another thread to hand over to.
            let turns = (past - position).checked_div(quantum).unwrap_or(0) * quantum;
            plan.turn = Some(position + turns);
        }
        (u64::from(past) <= max_steps).then_some(plan)
    }

    /// The thread that ran last, or should have according to the prefix.
    pub fn running(&self) -> Thread {
        self.running
    }

    /// Whether the policy decides by priorities of events.
    pub fn draws_for_events(&self) -> bool {
        self.policy.kind == kind::EVENTS
    }

    /// Whether the policy decides from here on.
    pub fn is_prefix_done(&self) -> bool {
        self.next == self.segments
    }

    /// Decides. Every thread but the one that ran last is about to execute an event; so is that one unless it is over.
    pub fn decide(&mut self, view: &impl View) -> Decision {
        while self.next < self.segments {
            let index = self.next;
            let Segment { thread, until } = view.segment(index);
            let diverged = |message| Decision::Diverged { segment: index, message };
            if thread >= view.count() {
                return diverged(format!("thread {thread} has not been created"));
            }
            let position = view.position(thread);
            self.running = thread;
            if position == until {
                self.next += 1;
            } else if position > until {
                return diverged(format!("thread {thread} is at its event {position}, past {until}"));
            } else if view.is_over(thread) {
                return diverged(format!("thread {thread} ended after {position} events, before {until}"));
            } else if !view.is_runnable(thread) {
                return diverged(format!("thread {thread} cannot execute its event {position}, on the way to {until}"));
            } else {
                return self.run(view, thread, u64::from(until));
            }
        }
        let position = view.position(self.running);
        let turn = *self.turn.get_or_insert(position);
        let expired = self.quantum > 0 && position - turn >= self.quantum;
        if self.policy.kind != kind::FIXED {
            let able = core::iter::successors(eager_from(view, 0), |thread| eager_from(view, thread + 1));
            let offers = expired || view.has_yielded(self.running);
            let drawn = |thread| view.drawn(thread);
            let chosen = self.policy.choose(&mut self.lowered, view.steps(), self.running, offers, able, drawn);
            let Some(thread) = chosen.or_else(|| view.runnable_from(0)) else { return Decision::Idle };
            if expired || thread != self.running {
                self.turn = Some(view.position(thread));
            }
            self.running = thread;
            return self.run(view, thread, u64::from(view.position(thread)) + 1);
        }
        if self.idles(view) {
            return Decision::StepLimit;
        }
        let thread = if expired || view.has_yielded(self.running) {
            eager_from(view, self.running + 1).or_else(|| eager_from(view, 0))
        } else if view.is_runnable(self.running) && !view.is_reluctant(self.running) {
            Some(self.running)
        } else {
            eager_from(view, 0)
        };
        let Some(thread) = thread.or_else(|| view.runnable_from(0)) else { return Decision::Idle };
        if expired || thread != self.running {
            self.turn = Some(view.position(thread));
        }
        self.running = thread;
        let limit = match (self.quantum, self.turn) {
            (1.., Some(turn)) => u64::from(turn) + u64::from(self.quantum),
            _ => u64::MAX,
        };
        self.run(view, thread, limit)
    }

    /// Whether the only thread that can run does nothing but yield, as a server does that sleeps for ever: more of it shows
    /// nothing new.
    fn idles(&mut self, view: &impl View) -> bool {
        /// Events of that kind in a row.
        const MANY: u32 = 100_000;
        let position = view.position(self.running);
        let is_alone = view.runnable_from(0) == Some(self.running) && view.runnable_from(self.running + 1).is_none();
        let (last, many) = self.alone;
        let goes_on = position == last + 1 && view.has_yielded(self.running) && is_alone;
        self.alone = (position, if goes_on { many + 1 } else { 0 });
        self.alone.1 >= MANY
    }

    /// Lets a thread run, within the number of events allowed.
    fn run(&self, view: &impl View, thread: Thread, limit: u64) -> Decision {
        let left = self.max_steps.saturating_sub(view.steps());
        if left == 0 {
            return Decision::StepLimit;
        }
        let limit = limit.min(u64::from(view.position(thread)) + left).min(u64::from(u32::MAX));
        Decision::Run { thread, limit: limit as u32 }
    }
}

/// The smallest runnable thread not below `from` that need not wake without a cause.
fn eager_from(view: &impl View, mut from: Thread) -> Option<Thread> {
    loop {
        let thread = view.runnable_from(from)?;
        if !view.is_reluctant(thread) {
            return Some(thread);
        }
        from = thread + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads that execute `lengths` events each, those with an odd number only once thread 0 is over.
    struct Toy {
        segments: Vec<(u32, u32)>,
        positions: Vec<u32>,
        lengths: Vec<u32>,
        yields: bool,
        reluctant: Vec<u32>,
    }
    impl View for Toy {
        fn count(&self) -> u32 {
            self.positions.len() as u32
        }
        fn position(&self, thread: u32) -> u32 {
            self.positions[thread as usize]
        }
        fn is_runnable(&self, thread: u32) -> bool {
            !self.is_over(thread) && (thread.is_multiple_of(2) || self.is_over(0))
        }
        fn is_reluctant(&self, thread: u32) -> bool {
            self.reluctant.contains(&thread)
        }
        fn is_over(&self, thread: u32) -> bool {
            self.positions[thread as usize] == self.lengths[thread as usize]
        }
        fn runnable_from(&self, from: u32) -> Option<u32> {
            (from..self.count()).find(|t| self.is_runnable(*t))
        }
        fn has_yielded(&self, thread: u32) -> bool {
            self.yields && self.position(thread) > 0
        }
        fn drawn(&self, _: u32) -> u64 {
            0
        }
        fn steps(&self) -> u64 {
            self.positions.iter().map(|p| u64::from(*p)).sum()
        }
        fn segment(&self, index: u32) -> Segment {
            let (thread, until) = self.segments[index as usize];
            Segment { thread, until }
        }
    }
    impl Toy {
        fn new(segments: &[(u32, u32)], lengths: &[u32]) -> Self {
            let positions = vec![0; lengths.len()];
            Self { segments: segments.to_vec(), positions, lengths: lengths.to_vec(), yields: false, reluctant: vec![] }
        }
        /// Runs from `past` on and writes down the turns and the end.
        fn run(&mut self, quantum: u32, max_steps: u64, past: u32) -> String {
            let plan = Plan::new(self.segments.len() as u32, quantum, max_steps, past, |i| self.segment(i));
            let Some(mut plan) = plan else { return "fresh".into() };
            self.positions[0] = past;
            let mut log = String::new();
            loop {
                match plan.decide(self) {
                    Decision::Run { thread, limit } => {
                        let t = thread as usize;
                        assert!(limit > self.positions[t], "no progress");
                        self.positions[t] = limit.min(self.lengths[t]);
                        if self.yields {
                            self.positions[t] = self.positions[t].min(limit);
                        }
                        log += &format!("{thread}:{} ", self.positions[t]);
                    }
                    Decision::Idle => return log + "idle",
                    Decision::StepLimit => return log + "limit",
                    Decision::Diverged { segment, message } => return log + &format!("{segment} {message}"),
                }
            }
        }
    }

    #[test]
    fn the_running_thread_goes_on_then_the_smallest() {
        assert_eq!(Toy::new(&[], &[2, 3, 4]).run(0, 100, 0), "0:2 1:3 2:4 idle");
        assert_eq!(Toy::new(&[(2, 1)], &[2, 3, 4]).run(0, 100, 0), "2:1 2:4 0:2 1:3 idle");
        assert_eq!(Toy::new(&[(2, 1), (0, 1), (2, 2)], &[2, 3, 4]).run(0, 100, 0), "2:1 0:1 2:2 2:4 0:2 1:3 idle");
    }

    #[test]
    fn quantum_and_yield_hand_over_in_a_circle() {
        assert_eq!(Toy::new(&[], &[4, 0, 3]).run(2, 100, 0), "0:2 2:2 0:4 2:3 idle");
        let mut toy = Toy::new(&[], &[2, 0, 2]);
        toy.yields = true;
        assert_eq!(toy.run(1, 100, 0), "0:1 2:1 0:2 2:2 idle");
    }

    #[test]
    fn waking_without_a_cause_comes_last_but_where_the_prefix_says_so() {
        let with = |segments: &[(u32, u32)], reluctant: &[u32], quantum| {
            let mut toy = Toy::new(segments, &[2, 0, 2, 0, 2]);
            toy.reluctant = reluctant.to_vec();
            toy.run(quantum, 100, 0)
        };
        assert_eq!(with(&[], &[0], 0), "2:2 4:2 0:2 idle");
        assert_eq!(with(&[], &[0, 4], 1), "2:1 2:2 0:1 0:2 4:1 4:2 idle");
        assert_eq!(with(&[(0, 1)], &[0], 0), "0:1 2:2 4:2 0:2 idle");
    }

    #[test]
    fn divergence_says_what_was_found() {
        let lengths = [2, 3, 4];
        let told = |segments: &[(u32, u32)]| Toy::new(segments, &lengths).run(0, 100, 0);
        assert_eq!(told(&[(3, 1)]), "0 thread 3 has not been created");
        assert_eq!(told(&[(1, 1)]), "0 thread 1 cannot execute its event 0, on the way to 1");
        assert_eq!(told(&[(0, 2), (1, 1), (0, 3)]), "0:2 1:1 2 thread 0 ended after 2 events, before 3");
        assert_eq!(told(&[(0, 2), (2, 1), (0, 1)]), "0:2 2:1 2 thread 0 is at its event 2, past 1");
    }

    #[test]
    fn the_number_of_events_is_limited() {
        assert_eq!(Toy::new(&[], &[2, 3, 4]).run(0, 4, 0), "0:2 1:2 limit");
        assert_eq!(Toy::new(&[], &[2, 3, 4]).run(0, 9, 0), "0:2 1:3 2:4 idle", "a complete run is not cut");
    }

    #[test]
    fn a_past_that_the_plan_would_not_have_had_is_refused() {
        let from = |segments: &[(u32, u32)], quantum, max| Toy::new(segments, &[9, 0, 9]).run(quantum, max, 5);
        assert_eq!(from(&[], 0, 100), "0:9 2:9 idle");
        assert_eq!(
            from(&[(0, 3)], 4, 100),
            Toy::new(&[(0, 3)], &[9, 0, 9]).run(4, 100, 0)[4..],
            "same turns as from 0"
        );
        assert_eq!(from(&[(0, 3), (2, 1)], 0, 100), "fresh");
        assert_eq!(from(&[(2, 1)], 0, 100), "fresh");
        assert_eq!(from(&[(0, 5), (2, 1)], 0, 100), "2:1 2:9 0:9 idle");
        assert_eq!(from(&[(0, 7), (2, 1)], 0, 100), "0:7 2:1 2:9 0:9 idle");
        assert_eq!(from(&[], 0, 4), "fresh");
        assert_eq!(from(&[], 0, 5), "limit");
    }
}
