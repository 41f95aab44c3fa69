//! Waits that may last for ever.
//!
//! A blocked thread waits for a lock whose holder is blocked too, or for something that no thread may ever do. Locks
//! that all threads take in one order cannot block for ever: the holder of the last one in the order goes on. So only
//! these waits are a *risk*:
//! - two threads together: a lock on a cycle of the order in which locks are taken while others are held, and joining;
//! - one thread alone: a lock that is taken while it may be held, or that a thread may keep at its end; condition variables,
//!   semaphores and barriers; bytes, connections and signals; joining while holding a lock; a loop that waits for a change;
//!   an assumption.
//!
//! Our library for OpenMP waits with semaphores for threads of a team, which is like joining them in one order.

use std::collections::{BTreeMap, BTreeSet};

use facts::invocations::{How, Invocations, ProgramPoint};
use facts::objects::Objects;
use program::library;
use program::openmp;
use program::{Program, Stmt, SyncOp, TryMode};

use crate::flow::{Flow, Sites, bit};
use crate::locks::{Lock, Locks};
use crate::loops;

/// Sites at which a thread may wait for ever.
pub(crate) struct Waits {
    /// Alone.
    pub(crate) alone: Sites,
    /// If another thread may, too.
    pub(crate) together: Sites,
    /// Joins, which are one more way to wait together.
    pub(crate) joins: Sites,
}

impl Waits {
    pub(crate) fn new(
        program: &Program,
        objects: &Objects<'_>,
        invocations: &Invocations,
        flow: &Flow,
        locks: &Locks,
        same: &dyn Fn(ProgramPoint) -> bool,
    ) -> Self {
        let none = || Sites::with_capacity(program.sites.len());
        let mut waits = Self { alone: loops::waiting(program, same), together: none(), joins: none() };
        let mut order = Order::default();
        let mut taken: Vec<(usize, Lock, BTreeSet<Lock>)> = Vec::new();
        let kept: BTreeSet<Lock> = locks.left_held.values().flatten().copied().collect();
        for site in program.sites.ids() {
            for place in flow.places(site) {
                let statement = &program.functions[place.0].blocks[place.1].statements[place.2];
                if let Stmt::Library { function: name, .. } = &statement.stmt
                    && library::may_wait(name)
                {
                    waits.alone.insert(bit(site));
                }
                let Stmt::Sync { op, .. } = &statement.stmt else { continue };
                if openmp::waits_for_others(&program.functions[place.0].symbol) {
                    continue;
                }
                let lock_of = |lock| objects.exact(place.0, lock).map_or(Lock::Other, Lock::Named);
                let held = locks.may_hold(*place);
                match op {
                    SyncOp::Lock { lock, wait: TryMode::Wait, .. } => taken.push((bit(site), lock_of(lock), held)),
                    SyncOp::CondWait { lock, wait, .. } => {
                        if *wait == TryMode::Wait {
                            waits.alone.insert(bit(site));
                        }
                        let lock = lock_of(lock);
                        let others = held.into_iter().filter(|h| *h != lock).collect();
                        taken.push((bit(site), lock, others));
                    }
                    SyncOp::SemWait { wait: TryMode::Wait, .. }
                    | SyncOp::BarrierWait { .. }
                    | SyncOp::Assume { .. }
                    | SyncOp::Round { .. } => waits.alone.insert(bit(site)),
                    SyncOp::Join { mode: TryMode::Wait, .. } => {
                        waits.joins.insert(bit(site));
                        if !held.is_empty() {
                            waits.alone.insert(bit(site));
                        }
                    }
                    SyncOp::Once { .. } => {
                        let routines = invocations.at(*place).filter(|i| i.how == How::Once);
                        let functions = routines.flat_map(|i| invocations.closure(i.callee, false));
                        let mut statements =
                            functions.flat_map(|f| &program.functions[f].blocks).flat_map(|b| &b.statements);
                        if statements.any(|s| matches!(s.stmt, Stmt::Sync { .. })) {
                            waits.alone.insert(bit(site));
                        }
                    }
                    _ => {}
                }
            }
        }
        for (_, lock, held) in &taken {
            order.add(*lock, held);
        }
        for (site, lock, held) in taken {
            if held.contains(&lock) || kept.contains(&lock) || (lock == Lock::Other && !kept.is_empty()) {
                waits.alone.insert(site);
            } else if held.iter().any(|h| order.leads(lock, *h)) {
                waits.together.insert(site);
            }
        }
        waits
    }
}

/// Which locks are taken while which are held.
#[derive(Default)]
struct Order {
    then: BTreeMap<Lock, BTreeSet<Lock>>,
}

impl Order {
    fn add(&mut self, lock: Lock, held: &BTreeSet<Lock>) {
        for before in held {
            self.then.entry(*before).or_default().insert(lock);
        }
    }

    /// Whether one lock is taken while another is held, directly or by way of others.
    fn leads(&self, from: Lock, to: Lock) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(lock) = open.pop() {
            for next in self.then.get(&lock).into_iter().flatten() {
                if *next == to {
                    return true;
                }
                if seen.insert(*next) {
                    open.push(*next);
                }
            }
        }
        false
    }
}
