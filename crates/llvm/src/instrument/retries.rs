//! Loops of the C++ library that try again until they get what they want: marks for the runtime where their rounds begin
//! (assumption A20).
//!
//! | function | what it wants |
//! |---|---|
//! | `std::lock`, `std::__detail::__lock_impl` | several locks at once: it gives back what it has if it does not get the rest |
//! | `lock` of `std::atomic<std::shared_ptr>` | a bit that is a lock: what it compared with is in memory, so its rounds look as if they had an effect |

use std::collections::BTreeSet;

use model::SiteId;

use super::Weaver;
use super::rounds::{self, WaitingLoop};
use crate::ir::{Block, Value};
use crate::loops::Flow;

/// How the names of `std::lock` and of what it calls begin.
const LOCKS: [&str; 2] = ["_ZSt4lockI", "_ZNSt8__detail11__lock_impl"];

/// How the name of the lock in an atomic shared pointer begins, and what is in it.
const POINTER: (&str, &str) = ("_ZNKSt10_Sp_atomicI", "13_Atomic_count4lockE");

/// Whether a function has such a loop.
pub(crate) fn tries_again(function: Value<'_>) -> bool {
    let name = function.name();
    let is_pointer = name.starts_with(POINTER.0) && name.contains(POINTER.1);
    !function.is_declaration() && (is_pointer || LOCKS.iter().any(|start| name.starts_with(start)))
}

/// Such a loop.
pub(super) struct RetryingLoop<'m> {
    header: Block<'m>,
    /// The blocks from which another round begins.
    again: BTreeSet<Block<'m>>,
    site: SiteId,
}

impl<'m> Weaver<'_, 'm> {
    /// The outermost loops of such a function but for those that wait; before anything is inserted.
    pub(super) fn retrying_loops(&self, function: Value<'m>, waiting: &[WaitingLoop<'m>]) -> Vec<RetryingLoop<'m>> {
        if !tries_again(function) {
            return Vec::new();
        }
        let flow = Flow::of(function);
        let loops = flow.loops();
        let is_inner = |header: usize| loops.iter().any(|l| l.header != header && l.blocks.contains(&header));
        let outer = loops.iter().filter(|l| !is_inner(l.header));
        let retrying = outer.filter_map(|l| {
            let header = flow.blocks[l.header];
            let again = flow.predecessors(l.header).iter().copied().filter(|b| l.blocks.contains(b));
            let again: Vec<usize> = again.collect();
            // It goes through an array, of the locks for example.
            if rounds::phis(&flow, l).any(|phi| rounds::counts(&flow, phi, &again)) {
                return None;
            }
            let instructions = l.blocks.iter().flat_map(|block| flow.blocks[*block].instructions());
            let site = instructions.filter_map(|instruction| self.plan.sites.id(instruction)).min()?;
            Some(RetryingLoop { header, again: again.iter().map(|block| flow.blocks[*block]).collect(), site })
        });
        retrying.filter(|l| waiting.iter().all(|waiting| waiting.header() != l.header)).collect()
    }

    /// Inserts the hook that marks the beginning of a round.
    pub(super) fn retry(&self, RetryingLoop { header, again, site }: &RetryingLoop<'m>) {
        let Some(phi) = self.is_again(*header, again) else { return };
        self.insert.hook("__rp_retry", &[self.site(*site), phi]);
    }
}
