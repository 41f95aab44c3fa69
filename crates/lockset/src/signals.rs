//! Semaphores that are used as signals: without tokens at first, and posted by one thread alone.
//!
//! Whoever has waited for such a semaphore comes after the first post, and so after all that its poster did before.

use std::collections::BTreeMap;

use facts::Facts;
use facts::order::ThreadId;
use facts::spot::Spot;
use program::{Operand, Stmt, SyncOp};

/// The semaphores that only one thread posts, by that thread. It runs once in a run and never waits for them itself.
pub(crate) fn signals(facts: &Facts<'_>) -> BTreeMap<ThreadId, Vec<Spot>> {
    let mut posters: BTreeMap<Spot, Option<ThreadId>> = candidates(facts).into_iter().map(|spot| (spot, None)).collect();
    let mut waits: Vec<(ThreadId, Vec<Spot>)> = Vec::new();
    for context in facts.order.contexts.iter().filter(|_| !posters.is_empty()) {
        for statement in facts.program.functions[context.function].blocks.iter().flat_map(|b| &b.statements) {
            let Stmt::Sync { op: SyncOp::SemPost { sem } | SyncOp::SemWait { sem, .. }, .. } = &statement.stmt else {
                continue;
            };
            let address = facts.points_to.addresses.of(context.function, sem);
            let spots = facts.spots(context, &address);
            let thread = context.thread.filter(|thread| runs_once(facts, *thread));
            if let (Stmt::Sync { op: SyncOp::SemWait { .. }, .. }, Some(thread)) = (&statement.stmt, thread) {
                waits.push((thread, spots));
                continue;
            }
            if !matches!(statement.stmt, Stmt::Sync { op: SyncOp::SemPost { .. }, .. }) {
                continue;
            }
            posters.retain(|spot, poster| {
                if !meets(facts, &spots, spot) {
                    return true;
                }
                let known = poster.or(thread);
                *poster = known;
                thread.is_some() && known == thread
            });
        }
    }
    let mut by_thread: BTreeMap<ThreadId, Vec<Spot>> = BTreeMap::new();
    for (spot, poster) in posters {
        if let Some(poster) = poster
            && !waits.iter().any(|(thread, spots)| *thread == poster && meets(facts, spots, &spot))
        {
            by_thread.entry(poster).or_default().push(spot);
        }
    }
    by_thread
}

/// Semaphores that exist once, are set up once and without tokens, and that code without a body does not know.
fn candidates(facts: &Facts<'_>) -> Vec<Spot> {
    let mut set_up: Vec<(Vec<Spot>, bool)> = Vec::new();
    for (id, function) in facts.program.functions.iter_enumerated() {
        for (block_id, block) in function.blocks.iter_enumerated() {
            for (index, statement) in block.statements.iter().enumerate() {
                let Stmt::Sync { op: SyncOp::SemInit { sem, value }, .. } = &statement.stmt else { continue };
                let empty = facts.happens_once((id, block_id, index)) && *value == Operand::Const(0);
                set_up.push((facts.points_to.of(id, sem), empty));
            }
        }
    }
    let alone = |spot: &Spot| set_up.iter().filter(|(spots, _)| meets(facts, spots, spot)).count() == 1;
    let empty = set_up.iter().filter(|(_, empty)| *empty).filter_map(|(spots, _)| match spots[..] {
        [spot] => Some(spot),
        _ => None,
    });
    empty
        .filter(|spot| spot.stride == 0 && facts.is_unique(spot.object))
        .filter(|spot| !facts.points_to.is_known_outside(spot.object) && alone(spot))
        .collect()
}

fn meets(facts: &Facts<'_>, spots: &[Spot], spot: &Spot) -> bool {
    spots.is_empty() || facts.points_to.meet(spots, std::slice::from_ref(spot))
}

/// Whether there is one such thread at most in a run.
fn runs_once(facts: &Facts<'_>, thread: ThreadId) -> bool {
    let info = &facts.order.threads[thread];
    !info.any_time && info.made_at.is_none_or(|(_, place)| facts.happens_once(place))
}
