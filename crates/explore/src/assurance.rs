//! What schedules chosen by priorities promise: in each of them a bug that needs `d` events in a certain order shows with a
//! probability of at least 1 / (n k^(d-1)), for n threads and k events (S. Burckhardt and others, ASPLOS 2010). Runs are
//! independent of each other, so the probability that all miss it is the product.

use model::{Sample, Trace};

/// The depths that something is said about, from 2 on.
const DEPTHS: usize = 4;

/// Every bug of a depth, and the probability with which the samples show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assurance {
    /// How many events have to come in a certain order.
    pub depth: u32,
    /// At least so many of a thousand such bugs show.
    pub permille: u32,
}

/// The probabilities that all samples so far missed a bug, by its depth: their logarithms.
#[derive(Clone, Copy, Default)]
pub(crate) struct Missed([f64; DEPTHS]);

impl Missed {
    /// A sample was made, and this is its run.
    pub(crate) fn add(&mut self, sample: &Sample, trace: &Trace) {
        let Sample::Priorities { depth, length, .. } = *sample else { return };
        let events = f64::from(length.max(trace.events.len() as u32).max(1));
        let shows = 1.0 / (trace.threads.len() as f64 * events.powi(depth as i32 - 1));
        for (_, missed) in (2..=depth).zip(&mut self.0) {
            *missed += (-shows).ln_1p();
        }
    }

    /// What the samples promise: for the largest depth of which most bugs show, or else for the smallest.
    pub(crate) fn assurance(&self) -> Option<Assurance> {
        let each = || (2..).zip(self.0).map(|(depth, missed)| (depth, (-missed.exp_m1() * 1000.0) as u32));
        let most = each().filter(|(_, permille)| *permille >= 500).last();
        let (depth, permille) = most.or_else(|| each().next())?;
        (permille > 0).then_some(Assurance { depth, permille })
    }
}

#[cfg(test)]
mod tests {
    use model::{End, ThreadInfo, ThreadPath};

    use super::*;

    fn after(samples: u32, depth: u32, length: u32) -> Option<Assurance> {
        let thread = || ThreadInfo { path: ThreadPath::main(), created: None };
        let trace = Trace { threads: [thread(), thread()].into_iter().collect(), ..Trace::empty(End::Deadlock) };
        let mut missed = Missed::default();
        (0..samples).for_each(|seed| missed.add(&Sample::Priorities { seed: seed.into(), depth, length }, &trace));
        missed.assurance()
    }

    #[test]
    fn more_samples_promise_more() {
        assert_eq!(after(0, 2, 10), None);
        // Each shows it with a probability of 1/20.
        assert_eq!(after(1, 2, 10), Some(Assurance { depth: 2, permille: 50 }));
        assert_eq!(after(20, 2, 10), Some(Assurance { depth: 2, permille: 641 }));
        // 1/200 at depth 3.
        assert_eq!(after(400, 3, 10), Some(Assurance { depth: 3, permille: 865 }));
        let mut random = Missed::default();
        random.add(&Sample::Random { seed: 1 }, &Trace::empty(End::Deadlock));
        assert_eq!(random.assurance(), None, "nothing is known of the others");
    }
}
