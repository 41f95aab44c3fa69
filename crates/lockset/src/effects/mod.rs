//! Must-locksets by summaries: what functions do to locks.
//!
//! Paper: Kahlon, Yang, Sankaranarayanan and Gupta, *Fast and Accurate Static Data-Race Detection for Concurrent
//! Programs*, section 3. A function is followed once, whoever calls it: at each point, which locks it surely holds that
//! it did not hold when it was entered, and which it may have released. Locks are named by addresses in terms of
//! parameters and locals ([`Lock::Symbol`]), which callers translate; that two names mean one lock is their symbolic
//! equality, which is what tracking complete update sequences backwards finds (Algorithm 2), since locals are in SSA
//! form. Deviations: forward instead of backward, all locks at once; tried locks and what results say about them.
//!
//! Can be missed: a lock that is held under a name that ends with the function or whose locals were assigned again.
//! Never claimed wrongly: that a lock is held, if functions without a body release no lock that they were not given.

mod blocks;
mod calls;

use std::collections::{BTreeMap, BTreeSet};

use facts::address::Address;
use facts::invocations::{Invocation, ProgramPoint, ends_thread};
use facts::{Rounds, Solved};
use model::index::IndexVec;
use model::{LockMode, Spent};
use program::{BlockId, CompareOp, Expr, FunctionId, LocalId, Operand, Stmt, SyncOp, Terminator, TryMode};

use self::blocks::also;
use crate::bottom_up::bottom_up;
use crate::lock::{Held, Lock, Locks, may_be_same, meet, name};
use crate::recursive::uses_error_checking;
use crate::released::{Released, ReleasedLocks};

/// How often functions that call each other are followed.
const MOST_ROUNDS: usize = 60;
/// Most nested acquisitions that are counted.
const DEEPEST: u8 = 8;

/// Locks that depend on whether a result is zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Depends {
    zero: Locks,
    other: Locks,
}

/// What is known at a point of a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LocksetState {
    /// Taken since the function was entered, and surely held.
    pub(crate) held: Locks,
    /// What may have been released since the function was entered.
    pub(crate) released: ReleasedLocks,
    /// What may have been released and taken again by waits since the function was entered.
    pub(crate) interrupted: ReleasedLocks,
    pending: BTreeMap<LocalId, Depends>,
    /// Locks that were surely taken since the function was entered, whether they are still held or not.
    pub(crate) taken: BTreeSet<Lock>,
    /// Locks that were surely taken since a held lock was: its acquisition history.
    pub(crate) histories: BTreeMap<Lock, BTreeSet<Lock>>,
}

impl LocksetState {
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = meet(&mut self.held, &other.held);
        let size = |state: &Self| {
            let histories: usize = state.histories.values().map(|h| h.len() + 1).sum();
            ((state.released.size(), state.interrupted.size()), state.pending.len(), state.taken.len(), histories)
        };
        let before = size(self);
        self.released.extend(&other.released);
        self.interrupted.extend(&other.interrupted);
        self.taken.retain(|lock| other.taken.contains(lock));
        self.histories.retain(|lock, _| other.histories.contains_key(lock));
        for (lock, history) in &mut self.histories {
            history.retain(|taken| other.histories[lock].contains(taken));
        }
        self.pending.retain(|local, depends| other.pending.get(local) == Some(depends));
        changed |= before != size(self);
        changed
    }
}

/// What a function has done when it returns, in terms of its parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Summary {
    state: LocksetState,
    /// What holds besides if the result is zero, or is not.
    depends: Depends,
    /// What it returns, if that is always the same address.
    returned: Option<Address>,
}

impl Summary {
    fn of(state: LocksetState) -> Self {
        Self { state, depends: Depends::default(), returned: None }
    }
}

/// States of a function by block, each from a statement on.
type Changes = BTreeMap<BlockId, Vec<(usize, LocksetState)>>;

/// The effects of all functions.
pub(crate) struct Effects {
    /// For each block that can be reached, where the state changes: it holds from the statement with the number on.
    before: IndexVec<FunctionId, Changes>,
    summaries: IndexVec<FunctionId, Option<Summary>>,
    /// What functions have done when they are left by an exception or a jump.
    unwound: IndexVec<FunctionId, Option<Summary>>,
}

impl Effects {
    /// Follows all functions, callees first.
    pub(crate) fn new(facts: &Solved<'_>) -> Result<Self, Spent> {
        let mut round = Rounds::new(facts.budget, 16);
        let count = facts.program.functions.len();
        let mut this = Self {
            before: IndexVec::filled(count, BTreeMap::new()),
            summaries: IndexVec::filled(count, None),
            unwound: IndexVec::filled(count, None),
        };
        let recursive_types = !uses_error_checking(facts);
        for group in bottom_up(facts) {
            let mut rounds = 0;
            let mut last: BTreeSet<FunctionId> = group.iter().copied().collect();
            loop {
                let mut changed = BTreeSet::new();
                for function in &group {
                    // Only what functions have done that it calls can change what it has.
                    let calls = |i: &Invocation| last.contains(&i.callee) || changed.contains(&i.callee);
                    if rounds > 0 && !facts.invocations.of(*function).iter().any(calls) {
                        continue;
                    }
                    round.begin()?;
                    let analysis = Analysis { facts, effects: &this, function: *function, recursive_types };
                    let (states, summary, unwound) = analysis.run();
                    if this.summaries[*function] != summary || this.unwound[*function] != unwound {
                        changed.insert(*function);
                    }
                    this.before[*function] = states;
                    this.summaries[*function] = summary;
                    this.unwound[*function] = unwound;
                }
                rounds += 1;
                if changed.is_empty() {
                    break;
                }
                last = changed;
                // Everything only shrinks, so this ends; the bound is a safeguard that gives up all claims.
                if rounds > MOST_ROUNDS {
                    for function in &group {
                        let mut state = LocksetState::default();
                        state.released.insert(Released::Anything);
                        this.summaries[*function] = Some(Summary::of(state));
                        this.unwound[*function] = this.summaries[*function].clone();
                    }
                    for function in &group {
                        let analysis = Analysis { facts, effects: &this, function: *function, recursive_types };
                        this.before[*function] = analysis.run().0;
                    }
                    break;
                }
            }
        }
        Ok(this)
    }

    /// What is known before a statement; `None` where it cannot be reached.
    pub(crate) fn at(&self, (function, block, index): ProgramPoint) -> Option<&LocksetState> {
        let list = self.before[function].get(&block)?;
        let next = list.partition_point(|(from, _)| *from <= index);
        list.get(next.checked_sub(1)?).map(|(_, state)| state)
    }
}

struct Analysis<'a, 'p> {
    facts: &'a Solved<'p>,
    effects: &'a Effects,
    function: FunctionId,
    recursive_types: bool,
}

impl Analysis<'_, '_> {
    /// States, and what the function has done when it returns and when it is left otherwise.
    fn run(&self) -> (Changes, Option<Summary>, Option<Summary>) {
        let (body, graph) = (&self.facts.program.functions[self.function], &self.facts.graphs[self.function]);
        let mut at: BTreeMap<BlockId, LocksetState> = BTreeMap::new();
        let mut edges: BTreeMap<(BlockId, BlockId), LocksetState> = BTreeMap::new();
        let mut open: BTreeSet<(u32, BlockId)> = BTreeSet::new();
        let rank: BTreeMap<BlockId, u32> = graph.order.iter().enumerate().map(|(i, b)| (*b, i as u32)).collect();
        if let Some(first) = graph.order.first() {
            at.insert(*first, LocksetState::default());
            open.insert((0, *first));
        }
        while let Some((_, block)) = open.pop_first() {
            let left = self.through(block, at[&block].clone(), None);
            for (target, next) in self.targets(block, &left) {
                edges.insert((block, target), next.clone());
                let changed = match at.get_mut(&target) {
                    Some(known) => known.join(&next),
                    None => {
                        at.insert(target, next);
                        true
                    }
                };
                if changed {
                    open.insert((rank.get(&target).copied().unwrap_or(0), target));
                }
            }
        }
        let mut states = BTreeMap::new();
        for (block, state) in &at {
            let mut list = vec![(0, state.clone())];
            self.through(*block, state.clone(), Some(&mut list));
            states.insert(*block, list);
        }
        let summary = self.summary(&at, &edges);
        let mut unwound: Option<LocksetState> = None;
        for (block, state) in at.iter().filter(|(b, _)| body.blocks[**b].terminator == Terminator::Resume) {
            also(&mut unwound, self.through(*block, state.clone(), None).end);
        }
        (states, summary, unwound.map(Summary::of))
    }

    /// What the function has done when it returns.
    fn summary(
        &self,
        at: &BTreeMap<BlockId, LocksetState>,
        edges: &BTreeMap<(BlockId, BlockId), LocksetState>,
    ) -> Option<Summary> {
        let body = &self.facts.program.functions[self.function];
        let (mut all, mut zero, mut other): (Option<LocksetState>, Option<LocksetState>, Option<LocksetState>) =
            (None, None, None);
        let mut returned: Option<Option<Address>> = None;
        for (block, state) in at {
            let Terminator::Return(value) = &body.blocks[*block].terminator else { continue };
            // The values that may be returned, each with the state in which it is.
            let mut ways: Vec<(Option<Operand>, LocksetState)> = Vec::new();
            let phi = body.blocks[*block].statements.iter().find_map(|s| match (&s.stmt, value) {
                (Stmt::Assign { dst, expr: Expr::Phi(sources) }, Some(Operand::Local(v))) if dst == v => Some(sources),
                _ => None,
            });
            match phi {
                Some(sources) => {
                    for (from, value) in sources {
                        if let Some(state) = edges.get(&(*from, *block)) {
                            ways.push((Some(*value), state.clone()));
                        }
                    }
                }
                None => ways.push((*value, state.clone())),
            }
            for (value, state) in ways {
                let Some(state) = self.through(*block, state, None).end else { continue };
                let address = value.map(|v| self.facts.points_to.addresses.of(self.function, &v));
                returned = Some(match returned {
                    None => address,
                    Some(known) => known.filter(|known| Some(*known) == address),
                });
                let add = |to: &mut Option<LocksetState>, state: &LocksetState| also(to, Some(state.clone()));
                add(&mut all, &state);
                let (mut if_zero, mut if_other) = (state.clone(), state.clone());
                if let Some(Operand::Local(local)) = value
                    && let Some((tested, flipped)) = self.tested(local)
                    && let Some(depends) = state.pending.get(&tested)
                {
                    let (a, b) = (depends.zero.clone(), depends.other.clone());
                    let (a, b) = if flipped { (b, a) } else { (a, b) };
                    if_zero.held.extend(a);
                    if_other.held.extend(b);
                }
                match value {
                    Some(Operand::Const(0)) => add(&mut zero, &if_zero),
                    Some(Operand::Const(_)) => add(&mut other, &if_other),
                    _ => {
                        add(&mut zero, &if_zero);
                        add(&mut other, &if_other);
                    }
                }
            }
        }
        let state = all?;
        let besides = |way: Option<LocksetState>| {
            let held = way.map(|w| w.held).unwrap_or_default();
            held.into_iter().filter(|(lock, _)| !state.held.contains_key(lock)).collect::<Locks>()
        };
        let depends = Depends { zero: besides(zero), other: besides(other) };
        Some(Summary { state, depends, returned: returned.flatten() })
    }

    /// The local that a local tests for zero, and whether the test is nonzero exactly where the tested one is zero.
    fn tested(&self, local: LocalId) -> Option<(LocalId, bool)> {
        let (mut local, mut flipped) = (local, false);
        for _ in 0..16 {
            match self.facts.points_to.addresses.definition(self.facts.program, self.function, local) {
                Some(Stmt::Assign { expr, .. }) => match expr {
                    Expr::Use(Operand::Local(source)) | Expr::Truncate { value: Operand::Local(source), .. } => {
                        local = *source;
                    }
                    Expr::Compare { op, left: Operand::Local(source), right: Operand::Const(0), .. } => match op {
                        CompareOp::Eq => (local, flipped) = (*source, !flipped),
                        CompareOp::Ne => local = *source,
                        _ => return None,
                    },
                    _ => return Some((local, flipped)),
                },
                _ => return Some((local, flipped)),
            }
        }
        None
    }

    /// What is known after going to a block.
    fn across(&self, state: &LocksetState, terminator: &Terminator, target: BlockId) -> LocksetState {
        let mut state = state.clone();
        if let Terminator::Branch { condition: Operand::Local(condition), then, otherwise } = terminator
            && then != otherwise
            && let Some((tested, flipped)) = self.tested(*condition)
            && let Some(depends) = state.pending.get(&tested).cloned()
        {
            let nonzero = (target == *then) != flipped;
            // The result may be tested again, as long as the lock is not released.
            for (lock, held) in if nonzero { depends.other } else { depends.zero } {
                if !state.held.contains_key(&lock) {
                    self.acquire(&mut state, lock, held.mode);
                }
            }
        }
        state
    }

    fn acquire(&self, state: &mut LocksetState, lock: Lock, mode: LockMode) {
        if !lock.is_lock() {
            state.held.insert(lock, Held { mode, depth: 1 });
            return;
        }
        let again = state.held.get(&lock).is_some_and(|held| held.depth > 0);
        let counts = again && self.counts(&lock);
        let held = state.held.entry(lock).or_insert(Held { mode, depth: 0 });
        if !again || counts {
            held.depth = (held.depth + 1).min(DEEPEST);
        }
        if mode == LockMode::Exclusive {
            held.mode = mode;
        }
        state.taken.insert(lock);
        for (other, history) in &mut state.histories {
            if *other != lock {
                history.insert(lock);
            }
        }
        if !again {
            state.histories.insert(lock, BTreeSet::new());
        }
    }
    /// Whether a lock counts how often it was taken.
    fn counts(&self, lock: &Lock) -> bool {
        self.recursive_types && crate::recursive::is_recursive(self.facts, self.function, lock)
    }

    fn release(&self, state: &mut LocksetState, lock: Lock) {
        state.pending.clear();
        if let Some(held) = state.held.get_mut(&lock) {
            held.depth = held.depth.saturating_sub(1);
            if held.depth == 0 {
                state.held.remove(&lock);
                state.histories.remove(&lock);
            }
            return;
        }
        // It was taken before the function was entered, or is known here by another name.
        state.held.retain(|held, _| !may_be_same(self.facts, self.function, None, held, &lock));
        state.histories.retain(|held, _| state.held.contains_key(held));
        state.released.insert(Released::Named(lock));
    }

    /// A local is assigned: names that mention it mean something else from now on.
    fn assigned(&self, state: &mut LocksetState, local: LocalId) {
        if state.held.keys().any(|lock| lock.mentions(local)) {
            state.held.retain(|lock, _| !lock.mentions(local));
        }
        state.pending.remove(&local);
        if state.pending.values().any(|d| d.zero.keys().chain(d.other.keys()).any(|l| l.mentions(local))) {
            state.pending.retain(|_, d| !d.zero.keys().chain(d.other.keys()).any(|l| l.mentions(local)));
        }
        state.taken.retain(|l| !l.mentions(local));
        state.histories.retain(|l, _| !l.mentions(local));
        state.histories.values_mut().for_each(|h| h.retain(|l| !l.mentions(local)));
        for list in [&mut state.released, &mut state.interrupted] {
            for lock in list.take(|lock| lock.mentions(local)) {
                list.insert(self.among(&lock));
            }
        }
    }
    fn among(&self, lock: &Lock) -> Released {
        match lock {
            Lock::Symbol(address) => {
                let spots = self.facts.points_to.spots(self.function, address);
                if spots.is_empty() { Released::Outside } else { Released::Among(spots.into()) }
            }
            other => Released::Named(*other),
        }
    }

    /// Follows a statement; `false` if nothing comes after it.
    fn statement(&self, state: &mut LocksetState, place: ProgramPoint, stmt: &Stmt) -> bool {
        let of = |operand: &Operand| {
            let address = self.facts.points_to.addresses.of(self.function, operand);
            name(self.facts, self.function, address)
        };
        if ends_thread(stmt) {
            return false;
        }
        for local in stmt.assigns() {
            self.assigned(state, local);
        }
        match stmt {
            Stmt::Sync { dst, op } => match op {
                SyncOp::Lock { lock, mode, wait } => self.take(state, *dst, &[of(lock)], *mode, *wait),
                // Only a semaphore that is known by name can be seen to be used as a lock or as a signal.
                SyncOp::SemWait { sem, wait } => {
                    if let Lock::At(spot) = of(sem) {
                        let gained = [Lock::At(spot), Lock::Passed(spot)];
                        self.take(state, *dst, &gained, LockMode::Exclusive, *wait);
                    }
                }
                SyncOp::Unlock { lock } => self.release(state, of(lock)),
                SyncOp::SemPost { sem } => self.release(state, of(sem)),
                // The lock is released and taken again: it is held before and after, but not since it was taken.
                SyncOp::CondWait { lock, .. } => {
                    let lock = of(lock);
                    state.interrupted.insert(Released::Named(lock));
                    state.taken.insert(lock);
                    state.histories.insert(lock, BTreeSet::new());
                    for (other, history) in &mut state.histories {
                        if *other != lock {
                            history.insert(lock);
                            if may_be_same(self.facts, self.function, None, other, &lock) {
                                history.clear();
                            }
                        }
                    }
                    state.histories.retain(|lock, _| state.held.contains_key(lock));
                }
                SyncOp::Once { control, .. } => {
                    let done = self.invoke(state, place, stmt);
                    if let Lock::At(spot) = of(control) {
                        let held = Held { mode: LockMode::Exclusive, depth: 1 };
                        state.held.insert(Lock::Passed(spot), held);
                    }
                    return done;
                }
                _ => {}
            },
            Stmt::Call { .. } | Stmt::Library { .. } => return self.invoke(state, place, stmt),
            _ => {}
        }
        true
    }

    fn take(&self, state: &mut LocksetState, dst: Option<LocalId>, locks: &[Lock], mode: LockMode, wait: TryMode) {
        if wait == TryMode::Wait {
            return locks.iter().for_each(|lock| self.acquire(state, *lock, mode));
        }
        if let Some(dst) = dst {
            let zero = locks.iter().map(|lock| (*lock, Held { mode, depth: 1 })).collect();
            state.pending.insert(dst, Depends { zero, other: Locks::new() });
        }
    }
}
