//! Loops of the C++ library that try again until they get what they want: marks for the runtime where their rounds begin
//! (assumption A20).
//!
//! | function | what it wants |
//! |---|---|
//! | `std::lock`, `std::__detail::__lock_impl` | several locks at once: it gives back what it has if it does not get the rest |
//! | `lock` of `std::atomic<std::shared_ptr>` | a bit that is a lock: what it compared with is in memory, so its rounds look as if they had an effect |
//! | what takes the lock of the state behind a `std::stop_token` | the same, and others are in the way who count its owners |

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

/// How the names of what is done to the state behind a stop token begin; which of it takes the state's lock; and how the
/// function is called that tries to.
const STATE: &str = "_ZNSt10stop_token13_Stop_state_t";
const STATE_LOCKS: [&str; 3] = ["7_M_lockEv", "15_M_request_stopEv", "20_M_register_callbackE"];
const STATE_TRIES: [&str; 2] = ["11_M_try_lockE", "20_M_try_lock_and_stopE"];

/// Whether a function has such a loop.
pub(crate) fn tries_again(function: Value<'_>) -> bool {
    let name = function.name();
    let is_pointer = name.starts_with(POINTER.0) && name.contains(POINTER.1);
    let is_lock = LOCKS.iter().any(|start| name.starts_with(start));
    !function.is_declaration() && (is_pointer || is_lock || is_of_state(&name, &STATE_LOCKS))
}

/// Whether a name is one of these functions of the state behind a stop token.
fn is_of_state(name: &str, functions: &[&str]) -> bool {
    name.strip_prefix(STATE).is_some_and(|rest| functions.iter().any(|function| rest.starts_with(function)))
}

/// Whether a function tries to take the lock of the state behind a stop token, once.
pub(crate) fn tries_once(function: Value<'_>) -> bool {
    is_of_state(&function.name(), &STATE_TRIES)
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
            let instructions = || l.blocks.iter().flat_map(|block| flow.blocks[*block].instructions());
            let calls_try = || instructions().filter_map(Value::called_function).any(tries_once);
            if is_of_state(&function.name(), &STATE_LOCKS) && !calls_try() {
                return None;
            }
            let site = instructions().filter_map(|instruction| self.plan.sites.id(instruction)).min()?;
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
