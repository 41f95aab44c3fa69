//! Which sites may interfere: their operations, by different threads, may use the same object in ways that do not
//! commute, and may be possible at the same time.
//!
//! The uses of a statement are those of [`model::dependence`], over objects known by points-to. Two accesses that may
//! race count; two that a lock keeps apart do not, since what orders them are the operations on the lock.

use std::collections::{BTreeMap, BTreeSet};

use facts::touches;
use facts::values::{Root, Roots, Values};
use model::dependence::Use;
use model::{AccessKind, LockMode, SiteId};
use program::library::{self, Effect, LibraryState};
use program::{FunctionId, Operand, Program, Stmt, SyncOp, TryMode};

use crate::flow::{Flow, Sites, bit};
use crate::pairs::Pairs;

/// One use of an object by a statement.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Used {
    root: Root,
    /// First byte and number of bytes; `None` for any.
    bytes: Option<(i64, u64)>,
    how: Use,
    /// Whether it is a plain access.
    plain: bool,
}

/// All sites that use an object in one way. What interferes with one of them interferes with all, but for races.
struct Class {
    used: Used,
    /// Whether the object's address is somewhere in memory.
    escaped: bool,
    /// Ascending.
    sites: Vec<usize>,
}

/// A class by its number.
type ClassNumber = usize;

/// Sites that interfere with a site.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Rival {
    /// All that use an object in one way.
    Class(ClassNumber),
    /// One that may race with it.
    Racing(usize),
    /// All that may wait for a change of anything.
    Round,
    /// All that look at, or change, what becomes of a thread after its end.
    End,
}

/// The uses of all sites, of objects that more than one thread may use.
#[derive(Default)]
pub(crate) struct Interference {
    classes: Vec<Class>,
    /// For each site, the classes it is in.
    of_site: Vec<Vec<ClassNumber>>,
    of_root: BTreeMap<Root, Vec<ClassNumber>>,
    /// Those of objects whose address is somewhere in memory.
    escaped: Vec<ClassNumber>,
    /// Whether a site uses anything at all.
    uses: Sites,
    /// Sites that look at, or change, what becomes of a thread after its end, without waiting.
    reaps: Sites,
    /// The same, with those that wait.
    ends: Sites,
    /// Sites that may wait for a change of anything.
    rounds: Sites,
}

impl Interference {
    pub(crate) fn new(program: &Program, values: &Values<'_>, flow: &Flow) -> Self {
        let none = || Sites::with_capacity(program.sites.len());
        let mut all = Self { uses: none(), reaps: none(), ends: none(), rounds: none(), ..Self::default() };
        let mut numbers: BTreeMap<Used, ClassNumber> = BTreeMap::new();
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
            all.uses.set(bit(site), !uses.is_empty());
            let shared: BTreeSet<Used> = uses.into_iter().filter(|used| values.is_shared(used.root)).collect();
            let classes = shared.into_iter().map(|used| {
                let new = all.classes.len();
                let number = *numbers.entry(used.clone()).or_insert(new);
                if number == new {
                    let escaped = values.is_escaped(used.root);
                    all.of_root.entry(used.root).or_default().push(new);
                    all.escaped.extend(escaped.then_some(new));
                    all.classes.push(Class { used, escaped, sites: Vec::new() });
                }
                all.classes[number].sites.push(bit(site));
                number
            });
            let classes = classes.collect();
            all.of_site.push(classes);
        }
        all
    }

    /// The sites that look at, or change, what becomes of a thread after its end, without waiting.
    pub(crate) fn reaps(&self) -> &Sites {
        &self.reaps
    }

    /// The sites that may interfere with a site, with the ways in which they use what it uses.
    pub(crate) fn of(&self, site: SiteId, pairs: &Pairs) -> BTreeSet<(Use, Rival)> {
        let mut found = BTreeSet::new();
        for one in self.of_site.get(bit(site)).into_iter().flatten() {
            let one = &self.classes[*one];
            for other in self.meeting(one) {
                let how = self.classes[other].used.how;
                if !(one.used.plain || self.classes[other].used.plain) || !is_access(one.used.how) || !is_access(how) {
                    found.insert((how, Rival::Class(other)));
                } else {
                    let racing = pairs.partners(site).map(bit).filter(|rival| self.of_site[*rival].contains(&other));
                    found.extend(racing.map(|rival| (how, Rival::Racing(rival))));
                }
            }
        }
        if self.uses.contains(bit(site)) {
            found.insert((Use::Watch, Rival::Round));
        }
        if self.ends.contains(bit(site)) {
            found.insert((Use::Join, Rival::End));
        }
        found
    }

    /// Whether one of the sites that interfere is among these.
    pub(crate) fn is_among(&self, rival: Rival, sites: &Sites) -> bool {
        let meets = |some: &Sites| sites.intersection(some).next().is_some();
        match rival {
            Rival::Class(class) => self.classes[class].sites.iter().any(|site| sites.contains(*site)),
            Rival::Racing(site) => sites.contains(site),
            Rival::Round => meets(&self.rounds),
            Rival::End => meets(&self.ends),
        }
    }

    /// The classes that use the same memory in a way that does not commute with that of a class, and may be possible at the
    /// same time.
    fn meeting<'a>(&'a self, one: &'a Class) -> impl Iterator<Item = ClassNumber> + 'a {
        let of = |root| self.of_root.get(&root).map_or(&[][..], Vec::as_slice);
        let unknown = match one.used.root {
            _ if !one.escaped => &[][..],
            Root::Unknown => self.escaped.as_slice(),
            _ => of(Root::Unknown),
        };
        let same = of(one.used.root).iter();
        let same = same.filter(|other| overlap(one.used.bytes, self.classes[**other].used.bytes));
        let other = |number: &&ClassNumber| {
            let other = &self.classes[**number];
            other.escaped && other.used.root != one.used.root
        };
        let clashes = |number: &&ClassNumber| {
            let (a, b) = (one.used.how, self.classes[**number].used.how);
            !a.commutes_with(b) && a.coenabled_with(b)
        };
        same.chain(unknown.iter().filter(other)).filter(clashes).copied()
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
