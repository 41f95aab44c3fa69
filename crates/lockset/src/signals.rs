//! Semaphores that are used as signals: without tokens at first, and posted by one thread alone.
//!
//! Whoever has waited for such a semaphore comes after the first post, and so after all that its poster did before.

use std::collections::{BTreeMap, BTreeSet};

use facts::Solved;
use facts::order::ThreadId;
use facts::spot::Spot;
use program::{Operand, Stmt, SyncOp};

/// The semaphores that only one thread posts, by that thread. It runs once in a run and never waits for them itself.
pub(crate) fn signals(facts: &Solved<'_>) -> BTreeMap<ThreadId, Vec<Spot>> {
    let candidates = candidates(facts);
    let mut by_thread: BTreeMap<ThreadId, Vec<Spot>> = BTreeMap::new();
    if candidates.is_empty() {
        return by_thread;
    }
    // Who posts and who waits, and which semaphores that may be.
    let (mut posts, mut waits) = (Vec::new(), Vec::new());
    for context in &facts.order.contexts {
        for statement in facts.program.functions[context.function].blocks.iter().flat_map(|b| &b.statements) {
            let (list, sem) = match &statement.stmt {
                Stmt::Sync { op: SyncOp::SemPost { sem }, .. } => (&mut posts, sem),
                Stmt::Sync { op: SyncOp::SemWait { sem, .. }, .. } => (&mut waits, sem),
                _ => continue,
            };
            let address = facts.points_to.addresses.of(context.function, sem);
            list.push((context.thread, facts.spots(context, &address)));
        }
    }
    for spot in candidates {
        let of = |list: &[(Option<ThreadId>, Vec<Spot>)]| -> BTreeSet<Option<ThreadId>> {
            list.iter().filter(|(_, spots)| meets(facts, spots, &spot)).map(|(thread, _)| *thread).collect()
        };
        let mut posters = of(&posts).into_iter();
        if let (Some(Some(poster)), None) = (posters.next(), posters.next())
            && runs_once(facts, poster)
            && !of(&waits).iter().any(|waiter| waiter.is_none_or(|waiter| waiter == poster))
        {
            by_thread.entry(poster).or_default().push(spot);
        }
    }
    by_thread
}

/// Semaphores that exist once, are initialised once and without tokens, and that code without a body does not know.
fn candidates(facts: &Solved<'_>) -> Vec<Spot> {
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

fn meets(facts: &Solved<'_>, spots: &[Spot], spot: &Spot) -> bool {
    spots.is_empty() || facts.points_to.meet(spots, std::slice::from_ref(spot))
}

/// Whether there is one such thread at most in a run.
fn runs_once(facts: &Solved<'_>, thread: ThreadId) -> bool {
    let info = &facts.order.threads[thread];
    !info.any_time && info.made_at.is_none_or(|(_, place)| facts.happens_once(place))
}
