//! When a search asks whether a state is [closed](crate::pruner).
//!
//! Asking takes as long as a few executions. Where it prunes much that is little, and where it prunes nothing it is all
//! that the search does. So what was pruned pays for asking: once the [credit](Thrift::credit) is used up, only one
//! of many executions asks, until what it prunes pays again. An execution that does not ask takes all of its states
//! for open, which is always right.
//!
//! It counts executions and no time, so the same search always asks in the same executions.

use serde::{Deserialize, Serialize};

/// What asking takes with so many threads, in executions: it compares the future of each thread with the events of each
/// other.
fn price(threads: usize) -> i64 {
    4 + (threads * threads / 12) as i64
}

/// The most credit, so that a search notices when pruning stops to pay.
const MOST: i64 = 1 << 16;

/// How much asking has brought beyond what it took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Thrift {
    /// In executions.
    credit: i64,
    /// Without credit, one of so many executions asks; fewer where asking takes longer than with few threads.
    seldom: u32,
    /// What asking took last.
    price: i64,
    /// Executions since the last one that asked.
    silent: u32,
}

/// Small searches ask always.
impl Default for Thrift {
    fn default() -> Self {
        Self::new(256, 64)
    }
}

impl Thrift {
    /// Asking may take as long as so many executions before it prunes anything; without credit, one of `seldom` executions
    /// asks, and fewer with many threads.
    pub fn new(credit: u32, seldom: u32) -> Self {
        Self { credit: credit.into(), seldom, price: price(0), silent: 0 }
    }

    /// Whether asking pays so far.
    pub(crate) fn pays(&self) -> bool {
        self.credit > 0
    }

    /// Whether the next execution asks.
    pub(crate) fn asks(&mut self) -> bool {
        self.silent += 1;
        let asks = self.pays() || i64::from(self.silent) >= i64::from(self.seldom) * self.price / price(0);
        if asks {
            self.silent = 0;
        }
        asks
    }

    /// An execution of so many threads asked, and so many of its plans were dropped. Each of these could have been followed
    /// with and without each other one.
    pub(crate) fn asked(&mut self, dropped: u64, threads: usize) {
        let saved = (1 << dropped.min(16)) - 1;
        self.price = price(threads);
        self.credit = (self.credit.max(0) + saved - self.price).min(MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of so many executions, which all drop as many plans when they ask, how many ask.
    fn asking(executions: u32, dropped: u64) -> usize {
        let mut thrift = Thrift::default();
        let asks = |thrift: &mut Thrift| {
            let asks = thrift.asks();
            if asks {
                thrift.asked(dropped, 2);
            }
            asks
        };
        (0..executions).filter(|_| asks(&mut thrift)).count()
    }

    #[test]
    fn a_search_asks_while_it_pays() {
        assert_eq!(asking(64, 0), 64, "small searches ask always");
        assert_eq!(asking(100_000, 3), 100_000, "it pays");
        let few = asking(100_000, 0);
        assert!((1_500..2_000).contains(&few), "{few}: asking for nothing is rare");
    }

    #[test]
    fn what_pays_again_is_noticed() {
        let mut thrift = Thrift::default();
        (0..10_000).for_each(|_| {
            if thrift.asks() {
                thrift.asked(0, 2)
            }
        });
        let first = (1..=64).find(|_| thrift.asks());
        assert!(first.is_some());
        thrift.asked(10, 2);
        assert!((0..100).all(|_| thrift.asks()));
    }
}
