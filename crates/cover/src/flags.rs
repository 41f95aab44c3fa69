//! Flags: shared variables with few values, which a net can keep.
//!
//! A flag is a part of a global that every access reads or writes as a whole, that no unknown pointer may reach, that
//! few different constants are stored to and that some branch depends on. A stored value that is not a known constant
//! becomes the value *other*, which may be anything.
//!
//! Why keeping it loses nothing. A net is asked whether two accesses that happens-before does not order can be brought
//! side by side, and it is right because the events that happened before either of them, in their old order, lead
//! there (see the module `flow`). Among these events every read of a flag must find the value it found before, so the
//! write it reads from must be one of them. Therefore a flag is kept only if each read is ordered with each write by
//! happens-before in every execution: either both are atomic, the read acquires and the write releases (a read then
//! happens after the write it reads from), or the pair was proved absent before by a net that did not need the flag.
//! A flag that is accessed by plain or relaxed accesses without order, even when the hardware would not tear them, is
//! not kept in this way: its value orders nothing, and what its value seems to protect does race.
//!
//! The pairs of some flags may also be proved absent by nets that keep these flags. Of the first two accesses of such a
//! pair that are not ordered, everything that happened before either of them has only reads that are ordered with all
//! writes so far. So the net leads to the two, and if it does not, there is no such pair.
//!
//! What is left can be kept [by its writes](Keeping::Writes), of which less is said, and which asks only for pairs with a
//! plain access:
//! - a read that finds a value that only the start of the program stores finds that nothing was written yet, and the same
//!   holds among the events that happened before, because they are some of all events, in their old order. Of all
//!   read-modify-writes one at most finds that value;
//! - a read that acquires and finds another value happens after a write of it, if all writes of it release. A relaxed
//!   write directly behind a fence releases at the fence, a relaxed read acquires at the next fence.

use std::collections::{BTreeMap, BTreeSet};

use facts::invocations::{Invocations, ProgramPoint};
use facts::objects::Key;
use facts::touches::touches;
use facts::values::{Root, Values};
use model::{LockMode, Order, Pair, SiteId};
use program::arith::{extend, rmw};
use program::{Callee, Expr, FunctionId, GlobalId, LocalId, Operand, Program, RmwOp, Stmt, SyncOp};

use crate::deciding::Deciding;
use crate::flow::statements;

/// Most values of a flag.
const MOST_VALUES: usize = 8;
/// How far constants are looked for, through phis, choices and calls.
const CONSTANT_STEPS: u32 = 6;

/// A value of a flag; `None` for any other value.
pub(crate) type FlagValue = Option<i64>;

/// One access of a flag.
#[derive(Clone, Copy, Debug)]
struct FlagAccess {
    place: ProgramPoint,
    site: Option<SiteId>,
    reads: bool,
    writes: bool,
    atomic: bool,
    /// What it writes, if that is a constant.
    constant: Option<i64>,
    /// What it does with the value and a constant, if it does that.
    change: Option<(RmwOp, i64)>,
    /// It comes directly behind a fence that releases.
    fenced: bool,
    /// It is atomic and what it reads from happens before it.
    acquires: bool,
    /// It is atomic and happens before what reads from it.
    releases: bool,
}

/// What a net says of a flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Keeping {
    /// Its value.
    Value,
    /// Which values were written so far, and whether any was.
    Writes,
}

/// A shared variable with few values.
#[derive(Clone, Debug)]
pub(crate) struct Flag {
    pub(crate) key: Key,
    pub(crate) keeping: Keeping,
    size: u32,
    pub(crate) initial: i64,
    values: BTreeSet<i64>,
    /// Whether something else than the values may be stored.
    other: bool,
    accesses: Vec<FlagAccess>,
}

impl Flag {
    /// All its values.
    pub(crate) fn values(&self) -> impl Iterator<Item = FlagValue> + '_ {
        self.values.iter().copied().map(Some).chain(self.other.then_some(None))
    }
    /// What is in the variable after a number was stored.
    pub(crate) fn stored(&self, number: Option<i64>) -> FlagValue {
        number.map(|n| self.read(n)).filter(|n| self.values.contains(n))
    }
    /// A number as it is read back.
    pub(crate) fn read(&self, number: i64) -> i64 {
        extend(number, self.size * 8, true)
    }
    /// The size of the variable in bytes.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// The pairs whose absence makes it right to keep the flag; `None` if there is an access without a site.
    pub(crate) fn rests_on(&self) -> Option<BTreeSet<Pair>> {
        let mut pairs = BTreeSet::new();
        for read in self.accesses.iter().filter(|a| a.reads) {
            for write in self.accesses.iter().filter(|a| a.writes) {
                let fine = match self.keeping {
                    Keeping::Value => read.acquires && write.releases,
                    Keeping::Writes => read.atomic && write.atomic,
                };
                if !fine {
                    pairs.insert(Pair::new(read.site?, write.site?));
                }
            }
        }
        Some(pairs)
    }

    /// The same flag, kept by its writes; `None` if that would say nothing.
    pub(crate) fn by_writes(&self) -> Option<Self> {
        let says = !self.other || self.has_first_value() || self.values().any(|value| self.is_published(value));
        says.then(|| Self { keeping: Keeping::Writes, ..self.clone() })
    }

    /// Whether only the start of the program stores the first value.
    pub(crate) fn has_first_value(&self) -> bool {
        !self.writes_of(Some(self.initial)).any(|_| true)
    }
    /// Whether who acquires a value comes after a write of it.
    pub(crate) fn is_published(&self, value: FlagValue) -> bool {
        value != Some(self.initial) && self.writes_of(value).all(|write| write.releases || write.fenced)
    }
    /// The accesses that may write a value.
    fn writes_of(&self, value: FlagValue) -> impl Iterator<Item = &FlagAccess> {
        let may_write = move |access: &&FlagAccess| match (access.constant, access.change) {
            _ if !access.writes => false,
            (Some(constant), _) => self.stored(Some(constant)) == value,
            (_, Some((op, n))) if !self.other => {
                self.values.iter().any(|old| self.stored(rmw(op, self.size, *old, n)) == value)
            }
            _ => true,
        };
        self.accesses.iter().filter(may_write)
    }
}

/// The flags that are kept, with the statements that access them.
#[derive(Default)]
pub(crate) struct Flags {
    flags: BTreeMap<Key, Flag>,
    places: BTreeMap<ProgramPoint, Key>,
    /// Fences directly before relaxed writes of flags that are kept by their writes.
    fences: BTreeSet<ProgramPoint>,
}

impl Flags {
    pub(crate) fn add(&mut self, flag: Flag) {
        if flag.keeping == Keeping::Writes {
            let fenced = flag.accesses.iter().filter(|access| access.fenced && !access.releases);
            self.fences.extend(fenced.map(|FlagAccess { place: (f, block, index), .. }| (*f, *block, index - 1)));
        }
        self.places.extend(flag.accesses.iter().map(|access| (access.place, flag.key)));
        self.flags.insert(flag.key, flag);
    }
    /// The flag that a statement accesses.
    pub(crate) fn at(&self, place: ProgramPoint) -> Option<&Flag> {
        self.flags.get(self.places.get(&place)?)
    }
    /// Whether a fence publishes the write of a flag directly behind it.
    pub(crate) fn is_fence(&self, place: ProgramPoint) -> bool {
        self.fences.contains(&place)
    }
    /// Whether any flag is kept by its writes.
    pub(crate) fn has_writes(&self) -> bool {
        self.flags.values().any(|flag| flag.keeping == Keeping::Writes)
    }
    /// A flag by its key.
    pub(crate) fn get(&self, key: Key) -> Option<&Flag> {
        self.flags.get(&key)
    }
}

/// A part of a global: offset and size.
type Part = (i64, u32);

/// How one global is accessed.
#[derive(Default)]
struct Uses<'a> {
    /// Accesses that read or write one part of it and nothing else.
    parts: BTreeMap<Part, Vec<(FlagAccess, &'a Stmt)>>,
    /// Bytes that are accessed in other ways; `None` for all.
    spoiled: Vec<Option<(i64, u64)>>,
}

/// Looks for flags in all code that can run. They can be kept only if what they rest on is proved.
pub(crate) fn find(
    program: &Program,
    values: &Values<'_>,
    invocations: &Invocations,
    deciding: &BTreeMap<FunctionId, Deciding<'_>>,
) -> Vec<Flag> {
    let mut globals: BTreeMap<GlobalId, Uses<'_>> = BTreeMap::new();
    for (place, statement) in invocations.reachable().flat_map(|function| statements(program, function)) {
        let stmt = &statement.stmt;
        if let Some((global, part, access)) = whole(values, place, stmt) {
            let access = FlagAccess { site: statement.site, fenced: is_fenced(program, place), ..access };
            globals.entry(global).or_default().parts.entry(part).or_default().push((access, stmt));
            continue;
        }
        let touched = touches(program, values, place.0, stmt).into_iter().map(|touch| (touch.root, touch.bytes));
        for (root, bytes) in touched.chain(inside_objects(values, place.0, stmt)) {
            if let Root::Global(global) = root {
                globals.entry(global).or_default().spoiled.push(bytes);
            }
        }
    }
    let mut flags = Vec::new();
    for (global, Uses { parts, mut spoiled }) in globals {
        let (root, variable) = (Root::Global(global), &program.globals[global]);
        if variable.thread_local || values.is_escaped(root) {
            continue;
        }
        spoiled.extend(variable.relocations.iter().map(|(at, _)| Some((*at as i64, 8))));
        for (part, accesses) in &parts {
            let alone = parts.keys().all(|other| other == part || !overlap(*part, (other.0, u64::from(other.1))));
            let whole = spoiled.iter().all(|spoil| spoil.is_some_and(|bytes| !overlap(*part, bytes)));
            let decides = accesses.iter().any(|(access, stmt)| {
                let used = |dst: &LocalId| deciding.get(&access.place.0).is_some_and(|d| d.is_needed(*dst));
                access.reads && stmt.assigns().iter().any(used)
            });
            let initial = initial(&variable.init, *part).filter(|_| alone && whole && decides);
            flags.extend(initial.and_then(|n| flag(program, invocations, (root, part.0), part.1, n, accesses)));
        }
    }
    flags
}

/// Whether a statement comes directly behind a fence that releases.
fn is_fenced(program: &Program, (function, block, index): ProgramPoint) -> bool {
    let before = index.checked_sub(1).and_then(|at| program.functions[function].blocks[block].statements.get(at));
    before.is_some_and(|before| matches!(before.stmt, Stmt::Fence(order) if order.releases()))
}

/// The access of a statement that reads or writes one part of a global and nothing else.
fn whole(values: &Values<'_>, place: ProgramPoint, stmt: &Stmt) -> Option<(GlobalId, Part, FlagAccess)> {
    let (address, size, reads, writes, acquires, releases) = match stmt {
        Stmt::Load { address, size, atomic, .. } => {
            (address, *size, true, false, atomic.is_some_and(Order::acquires), false)
        }
        Stmt::Store { address, size, atomic, .. } => {
            (address, *size, false, true, false, atomic.is_some_and(Order::releases))
        }
        Stmt::Rmw { address, size, order, .. } => (address, *size, true, true, order.acquires(), order.releases()),
        Stmt::CompareExchange { address, size, order, failure, .. } => {
            (address, *size, true, true, order.acquires() && failure.acquires(), order.releases())
        }
        _ => return None,
    };
    let mut roots = values.of(place.0, address).into_iter();
    let (Root::Global(global), Some(offset)) = roots.next().filter(|_| roots.next().is_none())? else { return None };
    let fits = matches!(size, 1 | 2 | 4 | 8);
    let atomic = !matches!(stmt, Stmt::Load { atomic: None, .. } | Stmt::Store { atomic: None, .. });
    let number = |value: &Operand| if let Operand::Const(n) = value { Some(*n) } else { None };
    let constant = stored(stmt).and_then(number);
    let change = match stmt {
        Stmt::Rmw { op, value, .. } => number(value).map(|n| (*op, n)).filter(|_| constant.is_none()),
        _ => None,
    };
    let (site, fenced) = (None, false);
    let access = FlagAccess { place, site, reads, writes, atomic, constant, change, fenced, acquires, releases };
    fits.then_some((global, (offset, size), access))
}

/// What a statement stores, where that does not depend on what was there.
fn stored(stmt: &Stmt) -> Option<&Operand> {
    match stmt {
        Stmt::Store { value, .. } | Stmt::Rmw { op: RmwOp::Exchange, value, .. } => Some(value),
        Stmt::CompareExchange { new, .. } => Some(new),
        _ => None,
    }
}

/// The bytes of synchronisation objects, which only the thread library changes.
fn inside_objects(values: &Values<'_>, function: FunctionId, stmt: &Stmt) -> Vec<(Root, Option<(i64, u64)>)> {
    let Stmt::Sync { op, .. } = stmt else { return Vec::new() };
    let bytes = match op {
        SyncOp::Create { .. } | SyncOp::Join { .. } | SyncOp::Detach { .. } | SyncOp::Cancel { .. } => {
            return Vec::new();
        }
        SyncOp::Lock { mode: LockMode::Shared, .. } => 56,
        SyncOp::CondWait { .. } | SyncOp::Signal { .. } | SyncOp::Broadcast { .. } => 48,
        SyncOp::Once { .. } => 4,
        SyncOp::SemPost { .. } | SyncOp::SemWait { .. } | SyncOp::BarrierWait { .. } => 32,
        _ => 40,
    };
    let roots = op.operands().into_iter().flat_map(|operand| values.of(function, &operand));
    roots.map(|(root, offset)| (root, offset.map(|offset| (offset, bytes)))).collect()
}

fn overlap(part: Part, bytes: (i64, u64)) -> bool {
    let end = |start: i64, len: u64| i128::from(start) + i128::from(len);
    i128::from(part.0) < end(bytes.0, bytes.1) && i128::from(bytes.0) < end(part.0, u64::from(part.1))
}

/// The number in a part of an initial content, which is zero beyond its end.
fn initial(content: &[u8], (offset, size): Part) -> Option<i64> {
    let start = usize::try_from(offset).ok()?;
    let byte = |at: usize| content.get(start.checked_add(at)?).copied();
    let number = (0..size as usize).rev().fold(0u64, |n, at| n << 8 | u64::from(byte(at).unwrap_or(0)));
    Some(extend(number as i64, size * 8, true))
}

fn flag(
    program: &Program,
    invocations: &Invocations,
    key: Key,
    size: u32,
    initial: i64,
    accesses: &[(FlagAccess, &Stmt)],
) -> Option<Flag> {
    let mut constants = Constants { program, invocations, found: BTreeSet::from([initial]) };
    let mut other = false;
    for (access, stmt) in accesses {
        let Some(stored) = stored(stmt) else {
            other |= access.writes && access.change.is_none();
            continue;
        };
        other |= !matches!(stored, Operand::Const(_));
        constants.collect(access.place.0, stored, CONSTANT_STEPS);
    }
    let mut values: BTreeSet<i64> = constants.found.into_iter().map(|n| extend(n, size * 8, true)).collect();
    let accesses: Vec<FlagAccess> = accesses.iter().map(|(access, _)| *access).collect();
    let changes: Vec<_> = accesses.iter().filter_map(|access| access.change).collect();
    match closed(&values, &changes, size) {
        Some(closed) => values = closed,
        None => other = true,
    }
    (values.len() <= MOST_VALUES).then_some(Flag {
        key,
        keeping: Keeping::Value,
        size,
        initial,
        values,
        other,
        accesses,
    })
}

/// The values with all that changes make of them; `None` if they are many.
fn closed(values: &BTreeSet<i64>, changes: &[(RmwOp, i64)], size: u32) -> Option<BTreeSet<i64>> {
    let mut closed = values.clone();
    loop {
        let made: Option<Vec<i64>> = closed
            .iter()
            .flat_map(|old| changes.iter().map(|(op, n)| Some(extend(rmw(*op, size, *old, *n)?, size * 8, true))))
            .collect();
        let before = closed.len();
        closed.extend(made?);
        if closed.len() > MOST_VALUES {
            return None;
        }
        if closed.len() == before {
            return Some(closed);
        }
    }
}

/// Constants that a stored value may be. What is not found is stored as *other*.
struct Constants<'a> {
    program: &'a Program,
    invocations: &'a Invocations,
    found: BTreeSet<i64>,
}

impl Constants<'_> {
    fn collect(&mut self, function: FunctionId, value: &Operand, steps: u32) {
        let (Operand::Const(_) | Operand::Local(_), Some(steps)) = (value, steps.checked_sub(1)) else { return };
        let local = match value {
            Operand::Local(local) => *local,
            Operand::Const(n) => {
                self.found.insert(*n);
                return;
            }
            _ => return,
        };
        let body = &self.program.functions[function];
        if local.0 < body.params {
            return self.arguments(function, local, steps);
        }
        let statements = body.blocks.iter().flat_map(|b| &b.statements);
        let definition = statements.map(|s| &s.stmt).find(|s| s.assigns().contains(&local));
        match definition {
            Some(Stmt::Assign { expr: Expr::Compare { .. }, .. }) => self.found.extend([0, 1]),
            Some(Stmt::Assign { expr: expr @ (Expr::Use(_) | Expr::Phi(_) | Expr::Truncate { .. }), .. }) => {
                expr.operands().iter().for_each(|operand| self.collect(function, operand, steps));
            }
            Some(Stmt::Assign { expr: Expr::Select { then, otherwise, .. }, .. }) => {
                [then, otherwise].into_iter().for_each(|operand| self.collect(function, operand, steps));
            }
            Some(Stmt::Assign { expr: expr @ Expr::Binary { bits: 1, .. }, .. }) => {
                expr.operands().iter().for_each(|operand| self.collect(function, operand, steps));
            }
            _ => {}
        }
    }

    fn arguments(&mut self, function: FunctionId, parameter: LocalId, steps: u32) {
        for caller in self.invocations.reachable() {
            for statement in self.program.functions[caller].blocks.iter().flat_map(|b| &b.statements) {
                let Stmt::Call { callee: Callee::Direct(callee), args, .. } = &statement.stmt else { continue };
                if *callee == function
                    && let Some(arg) = args.get(parameter.0 as usize)
                {
                    self.collect(caller, arg, steps);
                }
            }
        }
    }
}
