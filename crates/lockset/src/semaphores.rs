//! Semaphores that are used as locks: one token, which only its taker releases.

use std::collections::BTreeSet;

use facts::Solved;
use facts::spot::Spot;
use program::{FunctionId, Operand, Stmt, SyncOp};

use crate::effects::Effects;
use crate::entries::Entries;
use crate::lock::{Lock, in_context, name};

/// Which spots are semaphores, and which of those are locks.
pub(crate) struct Semaphores {
    all: BTreeSet<Spot>,
    locks: BTreeSet<Spot>,
}

impl Semaphores {
    pub(crate) fn new(facts: &Solved<'_>, effects: &Effects, entries: &Entries) -> Self {
        let mut all = BTreeSet::new();
        let mut set_up: Vec<(Vec<Spot>, bool)> = Vec::new();
        let mut posts: Vec<FunctionId> = Vec::new();
        for (id, function) in facts.program.functions.iter_enumerated() {
            for (block_id, block) in function.blocks.iter_enumerated() {
                for (index, statement) in block.statements.iter().enumerate() {
                    let Stmt::Sync { op, .. } = &statement.stmt else { continue };
                    match op {
                        SyncOp::SemWait { sem, .. } => all.extend(facts.points_to.of(id, sem)),
                        SyncOp::SemPost { .. } => posts.push(id),
                        SyncOp::SemInit { sem, value } => {
                            let once = facts.happens_once((id, block_id, index));
                            set_up.push((facts.points_to.of(id, sem), once && *value == Operand::Const(1)));
                        }
                        _ => {}
                    }
                }
            }
        }
        let meets =
            |spots: &[Spot], spot: &Spot| spots.is_empty() || facts.points_to.meet(spots, std::slice::from_ref(spot));
        let good_start = |spot: &Spot| {
            let mut mine = set_up.iter().filter(|(spots, _)| meets(spots, spot));
            spot.stride == 0 && mine.next().is_some_and(|(_, good)| *good) && mine.next().is_none()
        };
        let mut locks: BTreeSet<Spot> =
            all.iter().copied().filter(|s| facts.is_unique(s.object) && good_start(s)).collect();
        posts.dedup();
        for (id, context) in facts.order.contexts.iter_enumerated() {
            if locks.is_empty() || !posts.contains(&context.function) {
                continue;
            }
            for (block_id, block) in facts.program.functions[context.function].blocks.iter_enumerated() {
                for (index, statement) in block.statements.iter().enumerate() {
                    let Stmt::Sync { op: SyncOp::SemPost { sem }, .. } = &statement.stmt else { continue };
                    let place = (context.function, block_id, index);
                    let Some(holding) = entries.at(facts, effects, id, place) else { continue };
                    let address = facts.points_to.addresses.of(context.function, sem);
                    let lock = in_context(facts, context, name(facts, context.function, address));
                    let spots = facts.spots(context, &address);
                    locks.retain(|spot| {
                        !meets(&spots, spot) || lock == Lock::At(*spot) && holding.locks.contains_key(&lock)
                    });
                }
            }
        }
        Self { all, locks }
    }

    /// Whether holding what is there keeps others out.
    pub(crate) fn excludes(&self, facts: &Solved<'_>, spot: &Spot) -> bool {
        let may_be_one = self.all.iter().any(|s| facts.points_to.meet(&[*s], &[*spot]));
        !may_be_one || self.locks.contains(spot)
    }
}
