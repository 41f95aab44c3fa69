//! Which locks are surely held when a context is entered, whoever calls it.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use facts::address::Address;
use facts::invocations::ProgramPoint;
use facts::order::{ContextId, ThreadId};
use facts::{Rounds, Solved};
use model::index::IndexVec;
use model::{LockMode, Spent};
use program::{Operand, Stmt, SyncOp};
use rustc_hash::FxHashMap;

use crate::effects::{Effects, LocksetState};
use crate::lock::{Held, Lock, Locks, in_context, meet, name, to_callee};
use crate::released::may_release;
use crate::signals::signals;

/// What is surely held at a point of a context, with what was surely taken since each was.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Holding {
    pub(crate) locks: Locks,
    pub(crate) histories: std::collections::BTreeMap<Lock, BTreeSet<Lock>>,
}

impl Holding {
    fn meet(&mut self, other: &Self) -> bool {
        let mut changed = meet(&mut self.locks, &other.locks);
        let size = |h: &Self| h.histories.values().map(|h| h.len() + 1).sum::<usize>();
        let before = size(self);
        self.histories.retain(|lock, _| other.histories.contains_key(lock));
        for (lock, history) in &mut self.histories {
            history.retain(|taken| other.histories[lock].contains(taken));
        }
        changed |= before != size(self);
        changed
    }
}

/// Entry locks of all contexts; `None` for one that is never entered.
pub(crate) struct Entries {
    of: IndexVec<ContextId, Option<Holding>>,
}

impl Entries {
    pub(crate) fn new(facts: &Solved<'_>, effects: &Effects) -> Result<Self, Spent> {
        let mut rounds = Rounds::new(facts.budget, 16);
        let signals = signals(facts);
        let contexts = &facts.order.contexts;
        let mut this = Self { of: IndexVec::filled(contexts.len(), None) };
        let mut open: std::collections::VecDeque<ContextId> = Default::default();
        let mut queued: BTreeSet<ContextId> = BTreeSet::new();
        let mut together: FxHashMap<_, Holding> = FxHashMap::default();
        let mut made_by: FxHashMap<(ContextId, ProgramPoint), Vec<ThreadId>> = FxHashMap::default();
        for (thread, info) in facts.order.threads.iter_enumerated() {
            if let Some(at) = info.made_at {
                made_by.entry(at).or_default().push(thread);
            }
        }
        // Roots first: contexts that threads start in.
        for (id, context) in contexts.iter_enumerated() {
            if context.starts || context.callers.is_empty() {
                let mut holding = Holding::default();
                for spot in
                    context.thread.filter(|_| context.starts).and_then(|t| signals.get(&t)).into_iter().flatten()
                {
                    holding.locks.insert(Lock::NotPosted(*spot), Held { mode: LockMode::Exclusive, depth: 1 });
                }
                this.of[id] = Some(holding);
                open.push_back(id);
                queued.insert(id);
            }
        }
        while let Some(id) = open.pop_front() {
            rounds.begin()?;
            queued.remove(&id);
            let function = contexts[id].function;
            for (block_id, block) in facts.program.functions[function].blocks.iter_enumerated() {
                for (index, statement) in block.statements.iter().enumerate() {
                    let place = (function, block_id, index);
                    let (called, shared) = (facts.order.calls(id, place), facts.order.shared_calls(id, place));
                    if called.is_empty() && shared.is_empty() {
                        continue;
                    }
                    let Some(holding) = this.at(facts, effects, id, place) else { continue };
                    let arguments: Vec<Address> = match &statement.stmt {
                        Stmt::Call { args, .. } => {
                            args.iter().map(|a| facts.points_to.addresses.of(function, a)).collect()
                        }
                        _ => Vec::new(),
                    };
                    let mut given = translated(&holding, &arguments);
                    if let Stmt::Sync { op: SyncOp::Once { control, .. }, .. } = &statement.stmt {
                        given.locks.extend(once(facts, function, control));
                    }
                    // What is entered by all alike holds what all of them hold.
                    let news = shared.is_empty() || {
                        let key = (place, contexts[id].thread, contexts[id].moment_at(place.1, place.2));
                        match together.entry(key) {
                            Entry::Occupied(mut known) => known.get_mut().meet(&given),
                            Entry::Vacant(slot) => {
                                slot.insert(given.clone());
                                true
                            }
                        }
                    };
                    let shared = if news { shared } else { &[] };
                    for callee in called.iter().chain(shared) {
                        let changed = match &mut this.of[*callee] {
                            Some(known) => known.meet(&given),
                            slot @ None => {
                                *slot = Some(given.clone());
                                true
                            }
                        };
                        if changed && queued.insert(*callee) {
                            open.push_back(*callee);
                        }
                    }
                }
            }
        }
        Ok(this)
    }

    /// What is surely held just before a statement of a context; `None` where it cannot be reached.
    pub(crate) fn at(
        &self,
        facts: &Solved<'_>,
        effects: &Effects,
        id: ContextId,
        place: ProgramPoint,
    ) -> Option<Holding> {
        let entry = self.of[id].as_ref()?;
        let state = effects.at(place)?;
        Some(holding(facts, id, entry, state))
    }
}

fn holding(facts: &Solved<'_>, id: ContextId, entry: &Holding, state: &LocksetState) -> Holding {
    let context = &facts.order.contexts[id];
    let mut now = Holding::default();
    let mean = |lock: &Lock| in_context(facts, context, *lock);
    for (name, held) in &entry.locks {
        let lock = mean(name);
        if !state.released.iter().any(|released| may_release(facts, context, &released, &lock)) {
            now.locks.insert(lock, *held);
            // A wait in between begins a new history; nothing is kept of the old one.
            if !state.interrupted.is_empty() {
                now.histories.insert(lock, BTreeSet::new());
                continue;
            }
            let history = entry.histories.get(name).into_iter().flatten().chain(&state.taken);
            now.histories.insert(lock, history.map(mean).filter(|taken| *taken != lock).collect());
        }
    }
    for (name, held) in &state.held {
        let lock = mean(name);
        let known = now.locks.entry(lock).or_insert(*held);
        if held.mode == LockMode::Exclusive {
            known.mode = held.mode;
        }
        if let Some(history) = state.histories.get(name) {
            now.histories.insert(lock, history.iter().map(mean).collect());
        }
    }
    now
}

/// What a caller holds, in the terms of a callee.
fn translated(holding: &Holding, arguments: &[Address]) -> Holding {
    let mut given = Holding::default();
    for (lock, held) in &holding.locks {
        let history = holding.histories.get(lock);
        let history: BTreeSet<Lock> = history.into_iter().flatten().flat_map(|l| to_callee(l, arguments)).collect();
        for lock in to_callee(lock, arguments) {
            given.locks.insert(lock, *held);
            given.histories.insert(lock, history.clone());
        }
    }
    given
}

fn once(facts: &Solved<'_>, function: program::FunctionId, control: &Operand) -> Option<(Lock, Held)> {
    let address = facts.points_to.addresses.of(function, control);
    let Lock::At(spot) = name(facts, function, address) else { return None };
    Some((Lock::Once(spot), Held { mode: LockMode::Exclusive, depth: 1 }))
}
