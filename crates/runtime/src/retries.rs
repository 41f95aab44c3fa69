//! Loops of the C++ library that try again until they get what they want: `std::lock`, which gives back what it has when it
//! does not get the rest, and the lock inside an atomic shared pointer. Two threads could get in each other's way for ever.
//! So a call tries again a few times; a thread that would try once more stays there, without effect (assumption A20).
//!
//! Instrumentation tells where a round of such a loop begins. How many there were is the thread's own past, so what others
//! do commutes with it as before.

use alloc::vec::Vec;

use wire::{Record, Tag};

use crate::api::verifier;
use crate::run::RUN;
use crate::sched;
use crate::sync::Blocker;

/// How often a call tries again.
const MOST_RETRIES: u32 = 2;

/// The calls of a thread in such loops, outermost first: a loop's site, its activation, and how often it tried again.
#[derive(Default)]
pub struct Retries(Vec<((u32, usize), u32)>);

impl Retries {
    /// A round of a loop begins. Says how often this call has tried again.
    fn begin(&mut self, of: (u32, usize), again: bool) -> u32 {
        // Stacks grow down: what is below has returned.
        self.0.retain(|(other, _)| other.1 > of.1 || *other == of);
        match self.0.last_mut().filter(|(other, _)| *other == of) {
            Some((_, count)) => {
                *count = if again { *count + 1 } else { 0 };
                *count
            }
            None => {
                self.0.push((of, 0));
                0
            }
        }
    }
}

/// A round of such a loop begins; `again`: not the first one.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_retry(site: u32, again: u32) {
    if !sched::running() || crate::section::is_open() {
        return;
    }
    let activation = 0u8;
    let of = (site, &raw const activation as usize);
    let count = RUN.with_thread(sched::current(), |entry| entry.retries.begin(of, again != 0));
    if count > MOST_RETRIES {
        verifier::give_up();
    }
    if count > 0 {
        // Whoever has what is wanted goes on.
        let yields = Record::new(Tag::Yield, 0, 0, site, 0);
        sched::arrive(yields, None, Blocker::None);
        sched::commit(yields, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_counts_its_own_rounds() {
        let mut retries = Retries::default();
        let (outer, inner) = ((1, 0x200), (1, 0x100));
        assert_eq!([false, true].map(|again| retries.begin(outer, again)), [0, 1]);
        assert_eq!([false, true].map(|again| retries.begin(inner, again)), [0, 1]);
        assert_eq!(retries.begin(outer, true), 2, "the inner call has returned");
        assert_eq!(retries.begin(inner, true), 0, "another call at the same place");
        assert_eq!(retries.begin(outer, false), 0, "another call");
    }
}
