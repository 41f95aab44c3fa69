//! The limits of a command: time, memory and the user's interrupt.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::Interrupt;

/// Why a stage has to stop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Spent {
    /// The user interrupted.
    Interrupt,
    /// The deadline passed.
    Time,
    /// The memory limit was reached.
    Memory,
    /// There are more pairs of lines than anybody looks at. No budget says so: it is the answer of who would list them.
    Pairs,
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Interrupt => "interrupted",
            Self::Time => "the time limit was reached",
            Self::Memory => "the memory limit was reached",
            Self::Pairs => "there are too many",
        })
    }
}

/// The deadline, memory limit and interrupt of one command, made from its flags and passed to every stage.
///
/// Every stage is anytime: it calls [`is_spent`](Self::is_spent) regularly and, once the budget is spent, returns what
/// it has settled so far. Clones share the interrupt and the memory state. Each call reads the clock, so inner loops
/// call it once in many iterations.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    deadline: Option<Instant>,
    memory: Option<u64>,
    interrupt: Interrupt,
    /// Set by the process that measures memory, when the limit is reached.
    exhausted: Interrupt,
    /// How long it lasts after it would be spent.
    grace: Duration,
    /// When that was first noticed, where no deadline tells.
    noticed: Arc<OnceLock<Instant>>,
}

impl Budget {
    /// No limits; only the interrupt ends it.
    pub fn unlimited(interrupt: Interrupt) -> Self {
        Self { interrupt, ..Self::default() }
    }

    /// A budget with this much time from now on and this many bytes of memory for all processes together; `None` for no
    /// limit.
    pub fn new(time: Option<Duration>, memory: Option<u64>, interrupt: Interrupt) -> Self {
        // A deadline that the clock cannot represent is no limit.
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        Self { deadline, memory, interrupt, ..Self::default() }
    }

    /// A fraction of the remaining time, for a stage that others follow.
    pub fn share(&self, part: f64) -> Self {
        match self.remaining() {
            Some(left) => self.at_most(left.mul_f64(part)),
            None => self.clone(),
        }
    }

    /// The same budget with at most this much time from now on.
    pub fn at_most(&self, time: Duration) -> Self {
        let sooner = Instant::now().checked_add(time);
        let deadline = match (self.deadline, sooner) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self { deadline, ..self.clone() }
    }

    /// A budget that lasts this much longer: to tell what was found while the other lasted.
    pub fn with_grace(&self, grace: Duration) -> Self {
        Self { grace, noticed: Arc::default(), ..self.clone() }
    }

    /// The deadline.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The remaining time; `None` for no limit.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Memory limit in bytes for all processes together; `None` for no limit.
    pub fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// The user's request to stop.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Records that the memory limit is reached.
    pub fn exhaust_memory(&self) {
        self.exhausted.set();
    }

    /// Whether to stop now.
    pub fn is_spent(&self) -> bool {
        self.spent().is_some()
    }

    /// Why to stop now, if the budget is spent.
    pub fn spent(&self) -> Option<Spent> {
        let now = Instant::now();
        let (why, since) = if self.interrupt.is_set() {
            (Spent::Interrupt, None)
        } else if self.exhausted.is_set() {
            (Spent::Memory, None)
        } else {
            (Spent::Time, Some(self.deadline.filter(|deadline| now >= *deadline)?))
        };
        let since = since.unwrap_or_else(|| *self.noticed.get_or_init(|| now));
        (now.saturating_duration_since(since) >= self.grace).then_some(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_end_no_later_than_the_whole() {
        let hour = Duration::from_secs(3_600);
        let whole = Budget::new(Some(hour), None, Interrupt::new());
        assert!(whole.share(0.5).deadline() < whole.deadline());
        assert_eq!(whole.at_most(2 * hour).deadline(), whole.deadline());
        assert_eq!(whole.at_most(Duration::MAX).deadline(), whole.deadline());
        assert!(Budget::new(Some(Duration::MAX), None, Interrupt::new()).deadline().is_none());
    }

    #[test]
    fn every_limit_ends_it_and_its_parts() {
        let all = [
            (Spent::Time, Budget::new(Some(Duration::ZERO), None, Interrupt::new())),
            (Spent::Memory, Budget::default()),
            (Spent::Interrupt, Budget::default()),
        ];
        for (why, budget) in all {
            let part = budget.at_most(Duration::from_secs(3_600));
            match why {
                Spent::Memory => budget.exhaust_memory(),
                Spent::Interrupt => budget.interrupt().set(),
                Spent::Time | Spent::Pairs => {}
            }
            assert_eq!(part.spent(), Some(why));
        }
        assert!(!Budget::default().is_spent());
    }

    #[test]
    fn a_grace_comes_after_the_end() {
        let spent = Budget::new(Some(Duration::ZERO), None, Interrupt::new());
        assert!(spent.is_spent() && spent.with_grace(Duration::ZERO).is_spent());
        assert!(!spent.with_grace(Duration::from_secs(3_600)).is_spent());
        let interrupted = Budget::default();
        let short = interrupted.with_grace(Duration::from_millis(5));
        interrupted.interrupt().set();
        assert!(!short.is_spent());
        std::thread::sleep(Duration::from_millis(6));
        assert_eq!(short.spent(), Some(Spent::Interrupt));
    }
}
