//! Which sites may interfere: their operations, by different threads, may use the same object in ways that do not
//! commute, and may be possible at the same time.
//!
//! The uses of a statement are those of [`model::dependence`], over objects known by points-to. Two accesses that may
//! race count; two that a lock keeps apart do not, since what orders them are the operations on the lock.

use std::collections::BTreeMap;

use facts::touches;
use facts::values::{Root, Roots, Values};
use model::dependence::Use;
use model::{AccessKind, LockMode, Pair, SiteId};
use program::library::{self, Effect, LibraryState};
use program::{FunctionId, Operand, Program, Stmt, SyncOp, TryMode};

use crate::flow::{Flow, Sites, bit};
use crate::pairs::Pairs;

/// One use of an object by a statement.
#[derive(Clone, Debug)]
struct Used {
    root: Root,
    /// First byte and number of bytes; `None` for any.
    bytes: Option<(i64, u64)>,
    how: Use,
    /// Whether it is a plain access.
    plain: bool,
}

/// The uses of all sites.
#[derive(Default)]
pub(crate) struct Interference {
    uses: Vec<Vec<Used>>,
    /// Sites that look at, or change, what becomes of a thread after its end, without waiting.
    reaps: Sites,
    /// The same, with those that wait.
    ends: Sites,
    /// Sites that may wait for a change of anything.
    rounds: Sites,
    /// For each use, whether more than one thread may use the object.
    shared: Vec<Vec<bool>>,
    /// For each use, whether the object's address is somewhere in memory.
    escaped: Vec<Vec<bool>>,
}

impl Interference {
    pub(crate) fn new(program: &Program, values: &Values<'_>, flow: &Flow) -> Self {
        let none = || Sites::with_capacity(program.sites.len());
        let mut all = Self { reaps: none(), ends: none(), rounds: none(), ..Self::default() };
        for site in program.sites.ids() {
            let mut uses = Vec::new();
            for (function, block, index) in flow.places(site) {
                let stmt = &program.functions[*function].blocks[*block].statements[*index].stmt;
                uses.extend(accesses(program, values, *function, stmt));
                if let Stmt::Sync { op, .. } = stmt {
                    uses.extend(operations(values, *function, op));
                    if matches!(op, SyncOp::Detach { .. } | SyncOp::Join { mode: TryMode::Try | TryMode::Timed, .. }) {
                        all.reaps.insert(bit(site));
                    }
                    if matches!(op, SyncOp::Round { .. }) {
                        all.rounds.insert(bit(site));
                    }
                    if matches!(op, SyncOp::Detach { .. } | SyncOp::Join { .. }) {
                        all.ends.insert(bit(site));
                    }
                }
            }
            all.shared.push(uses.iter().map(|used| values.is_shared(used.root)).collect());
            all.escaped.push(uses.iter().map(|used| values.is_escaped(used.root)).collect());
            all.uses.push(uses);
        }
        all
    }

    /// The sites that look at, or change, what becomes of a thread after its end, without waiting.
    pub(crate) fn reaps(&self) -> &Sites {
        &self.reaps
    }

    /// The sites that may interfere with a site, by the ways in which they use what it uses.
    pub(crate) fn of(&self, site: SiteId, pairs: &Pairs) -> Vec<(Use, Sites)> {
        let mut found: BTreeMap<Use, Sites> = BTreeMap::new();
        let mut add = |how: Use, other: usize| {
            found.entry(how).or_insert_with(|| Sites::with_capacity(self.uses.len())).insert(other);
        };
        for other in (0..self.uses.len() as u32).map(SiteId) {
            self.interfere(site, other, pairs, |how| add(how, bit(other)));
        }
        if !self.uses[bit(site)].is_empty() {
            self.rounds.ones().for_each(|other| add(Use::Watch, other));
        }
        if self.ends.contains(bit(site)) {
            self.ends.ones().for_each(|other| add(Use::Join, other));
        }
        found.into_iter().collect()
    }

    /// Calls `found` with the ways in which the other site interferes with the first.
    fn interfere(&self, one: SiteId, other: SiteId, pairs: &Pairs, mut found: impl FnMut(Use)) {
        let (Some(ones), Some(others)) = (self.uses.get(bit(one)), self.uses.get(bit(other))) else { return };
        let may_race = pairs.contains(Pair::new(one, other));
        for (i, a) in ones.iter().enumerate() {
            for (j, b) in others.iter().enumerate() {
                let shared = self.shared[bit(one)][i] && self.shared[bit(other)][j];
                let meet = if a.root == b.root {
                    overlap(a.bytes, b.bytes)
                } else {
                    let escaped = self.escaped[bit(one)][i] && self.escaped[bit(other)][j];
                    (a.root == Root::Unknown || b.root == Root::Unknown) && escaped
                };
                let counts = !(a.plain || b.plain) || !is_access(a.how) || !is_access(b.how) || may_race;
                if shared && meet && counts && !a.how.commutes_with(b.how) && a.how.coenabled_with(b.how) {
                    found(b.how);
                }
            }
        }
    }
}

fn is_access(how: Use) -> bool {
    matches!(how, Use::Read | Use::Write)
}

fn overlap(one: Option<(i64, u64)>, other: Option<(i64, u64)>) -> bool {
    let (Some((a, len_a)), Some((b, len_b))) = (one, other) else { return true };
    let end = |start: i64, len: u64| i128::from(start) + i128::from(len);
    i128::from(a) < end(b, len_b) && i128::from(b) < end(a, len_a)
}

fn accesses(program: &Program, values: &Values<'_>, function: FunctionId, stmt: &Stmt) -> Vec<Used> {
    let touched = touches::touches(program, values, function, stmt).into_iter();
    let used = |touch: touches::Touch| {
        let how = if touch.kind == AccessKind::Read { Use::Read } else { Use::Write };
        Used { root: touch.root, bytes: touch.bytes, how, plain: !touch.atomic }
    };
    touched.map(used).chain(kept(stmt)).collect()
}

/// What calls use of what the runtime keeps of pipes, sockets, files, interest lists and signals, which are not
/// distinguished: one of them may decide what another finds, or whether it waits.
fn kept(stmt: &Stmt) -> Option<Used> {
    let Stmt::Library { function: name, .. } = stmt else { return None };
    let row = library::lookup(name)?;
    let of_files = row.by_runtime || row.effects.iter().any(|e| matches!(e, Effect::Stream(_)));
    let root = match () {
        () if of_files => Root::Library(LibraryState::Bytes),
        () if library::is_about_signals(name) => Root::Library(LibraryState::SignalActions),
        () => return None,
    };
    Some(Used { root, bytes: None, how: Use::Write, plain: false })
}

/// The uses of a thread operation, over all its events and results.
fn operations(values: &Values<'_>, function: FunctionId, op: &SyncOp) -> Vec<Used> {
    let object = |operand: &Operand, ways: &[Use]| {
        let roots: Roots = values.of(function, operand);
        let used = roots.into_iter().flat_map(|(root, offset)| {
            let bytes = offset.map(|offset| (offset, 1));
            ways.iter().map(move |how| Used { root, bytes, how: *how, plain: false })
        });
        used.collect::<Vec<_>>()
    };
    match op {
        SyncOp::LockInit { lock: addr, .. }
        | SyncOp::LockDestroy { lock: addr }
        | SyncOp::CondInit { cond: addr }
        | SyncOp::CondDestroy { cond: addr }
        | SyncOp::BarrierInit { barrier: addr, .. }
        | SyncOp::BarrierDestroy { barrier: addr }
        | SyncOp::SemInit { sem: addr, .. }
        | SyncOp::SemDestroy { sem: addr }
        | SyncOp::Signal { cond: addr }
        | SyncOp::Broadcast { cond: addr } => object(addr, &[Use::Change]),
        SyncOp::Lock { lock, mode, wait } => {
            let ways: &[Use] = match (mode, wait) {
                (LockMode::Exclusive, TryMode::Wait) => &[Use::Take],
                (LockMode::Shared, TryMode::Wait) => &[Use::TakeShared],
                (LockMode::Exclusive, _) => &[Use::TryTake, Use::Look],
                (LockMode::Shared, _) => &[Use::TryTakeShared, Use::Look],
            };
            object(lock, ways)
        }
        SyncOp::Unlock { lock } => object(lock, &[Use::Give, Use::GiveShared]),
        SyncOp::CondWait { cond, lock, .. } => {
            [object(cond, &[Use::Change]), object(lock, &[Use::Give, Use::Take])].concat()
        }
        SyncOp::BarrierWait { barrier } => object(barrier, &[Use::Arrive, Use::Leave]),
        SyncOp::SemPost { sem } => object(sem, &[Use::Post]),
        SyncOp::SemWait { sem, wait: TryMode::Wait } => object(sem, &[Use::Wait]),
        SyncOp::SemWait { sem, .. } => object(sem, &[Use::Wait, Use::Look]),
        SyncOp::SemGet { sem } => object(sem, &[Use::Look]),
        SyncOp::Once { control, .. } => object(control, &[Use::Take, Use::Pass, Use::Give]),
        SyncOp::Create { .. }
        | SyncOp::Join { .. }
        | SyncOp::Detach { .. }
        | SyncOp::ExitThread
        | SyncOp::Cancel { .. }
        | SyncOp::Current
        | SyncOp::Choose { .. }
        | SyncOp::Assume { .. }
        | SyncOp::SectionBegin
        | SyncOp::SectionEnd
        | SyncOp::Round { .. }
        | SyncOp::Yield => Vec::new(),
    }
}
