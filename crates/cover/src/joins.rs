//! Who waits for whose end.
//!
//! - A join waits for a creation that is executed at most once, if its handle is certainly the one created there: the
//!   result itself, or loaded from a variable that holds nothing else.
//! - A loop that joins the slots of an array one by one waits for every thread whose handle is in them: when it has
//!   come to its end, all are over. That is claimed when the array is written by creations alone, either by one loop
//!   that counts through slots which the joining loop covers, or by creations executed at most once that each have a
//!   slot of their own. No handle may be lost before it is joined: the loop that creates runs at most once, or every
//!   way from a creation to the end of the function or back into the loop goes through the end of the joining loop,
//!   in a function that only one thread runs.
//!
//! Nothing may have detached the threads. What is not believed never waits.

use std::collections::{BTreeMap, BTreeSet};

use facts::invocations::{Invocations, ProgramPoint};
use facts::touches::{touches, touches_memory};
use facts::values::{Root, Values};
use program::{BlockId, Callee, Expr, FunctionId, LocalId, Operand, Program, Stmt, SyncOp, Terminator, TryMode};

use crate::flow::statements;
use crate::loops::{CountingLoop, counting_loops, reachable};

/// How often a handle may be copied between creation and join.
const HANDLE_COPIES: u32 = 8;

/// The end of a loop: its head and where it goes from there.
type LoopEnd = (FunctionId, BlockId, BlockId);

/// Who waits for whose end.
#[derive(Default)]
pub(crate) struct Joins {
    /// Joins that wait, with the creation of the thread they wait for.
    waits: BTreeMap<ProgramPoint, ProgramPoint>,
    /// Ends of loops that wait, with the creations of the threads they wait for.
    loops: BTreeMap<LoopEnd, Vec<ProgramPoint>>,
    /// Creations that loops wait for, and whether they are executed at most once.
    groups: BTreeMap<ProgramPoint, bool>,
}

impl Joins {
    /// Looks through all code that can run.
    pub(crate) fn new(program: &Program, values: &Values<'_>, invocations: &Invocations) -> Self {
        let functions = invocations.reachable();
        let placed = functions.flat_map(|function| statements(program, function).map(|(place, s)| (place, &s.stmt)));
        let finder = Finder { program, values, invocations, statements: placed.collect() };
        finder.find().unwrap_or_default()
    }

    /// The creation of the thread that a join waits for.
    pub(crate) fn waits_for(&self, join: ProgramPoint) -> Option<ProgramPoint> {
        self.waits.get(&join).copied()
    }
    /// The creations of threads that have ended when a loop ends.
    pub(crate) fn over_after(&self, end: LoopEnd) -> &[ProgramPoint] {
        self.loops.get(&end).map_or(&[], Vec::as_slice)
    }
    /// Whether a join waits for the thread created there.
    pub(crate) fn is_waited_for(&self, create: ProgramPoint) -> bool {
        self.waits.values().any(|waited| *waited == create)
    }
    /// How many threads of a creation that loops wait for are counted: one if it is executed at most once, else the two
    /// that are tracked. `None` if no loop waits for it.
    pub(crate) fn counted(&self, create: ProgramPoint) -> Option<u32> {
        self.groups.get(&create).map(|once| if *once { 1 } else { 2 })
    }
    /// Whether only tracked threads are counted, for some creation.
    pub(crate) fn needs_tracking(&self) -> bool {
        self.groups.values().any(|once| !once)
    }
}

/// A slot of an array, computed from a number: `base + number * scale + offset`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Slot {
    base: Operand,
    number: LocalId,
    /// How the number is widened.
    widened: Option<(u8, bool)>,
    scale: i64,
    offset: i64,
}

/// A creation whose handle goes into an array.
struct Filled<'a> {
    create: ProgramPoint,
    store: ProgramPoint,
    address: &'a Operand,
}

struct Finder<'a> {
    program: &'a Program,
    values: &'a Values<'a>,
    invocations: &'a Invocations,
    statements: Vec<(ProgramPoint, &'a Stmt)>,
}

impl<'a> Finder<'a> {
    fn find(&self) -> Option<Joins> {
        let mut detached = BTreeSet::new();
        for (place, op) in self.operations() {
            if let SyncOp::Detach { handle } = op {
                detached.insert(self.created_by(place.0, handle, HANDLE_COPIES)?);
            }
        }
        let mut joins = Joins::default();
        for (place, op) in self.operations() {
            let SyncOp::Join { handle, mode: TryMode::Wait } = op else { continue };
            if let Some(create) = self.created_by(place.0, handle, HANDLE_COPIES)
                && self.invocations.at_most_once(create)
                && !detached.contains(&create)
            {
                joins.waits.insert(place, create);
            } else if let Some((end, creates)) = self.joining_loop(place, handle)
                && creates.keys().all(|create| !detached.contains(create))
            {
                joins.loops.entry(end).or_default().extend(creates.keys());
                joins.groups.extend(creates);
            }
        }
        Some(joins)
    }

    fn operations(&self) -> impl Iterator<Item = (ProgramPoint, &'a SyncOp)> {
        self.statements.iter().filter_map(|(place, stmt)| match stmt {
            Stmt::Sync { op, .. } => Some((*place, op)),
            _ => None,
        })
    }

    fn definition(&self, function: FunctionId, local: LocalId) -> Option<(ProgramPoint, &'a Stmt)> {
        let defines = |(place, stmt): &&(ProgramPoint, &Stmt)| place.0 == function && stmt.assigns().contains(&local);
        self.statements.iter().find(defines).copied()
    }

    /// The creation whose result the operand is: directly, or loaded from a variable that holds nothing else.
    /// `copies` bounds how often it may be copied on the way.
    fn created_by(&self, function: FunctionId, handle: &Operand, copies: u32) -> Option<ProgramPoint> {
        let Operand::Local(local) = handle else { return None };
        let copies = copies.checked_sub(1)?;
        let (place, stmt) = self.definition(function, *local)?;
        match stmt {
            Stmt::Sync { op: SyncOp::Create { .. }, .. } => Some(place),
            Stmt::Assign { expr: Expr::Use(value), .. } => self.created_by(function, value, copies),
            Stmt::Load { address, .. } => {
                let (slot, at) = self.hidden(function, address)?;
                let at = at?;
                let mut writes = self.statements.iter().filter(|(p, s)| self.may_write(p.0, s, slot, at));
                let (store_place, store) = writes.next().filter(|_| writes.next().is_none())?;
                let Stmt::Store { address, value: value @ Operand::Local(_), .. } = store else { return None };
                let same = self.values.of(store_place.0, address).get(&slot) == Some(&Some(at));
                same.then(|| self.created_by(store_place.0, value, copies)).flatten()
            }
            _ => None,
        }
    }

    /// The variable that an address is certainly in, if only the functions that name it can reach it.
    fn hidden(&self, function: FunctionId, address: &Operand) -> Option<(Root, Option<i64>)> {
        let mut roots = self.values.of(function, address).into_iter();
        let (root, at) = roots.next().filter(|_| roots.next().is_none())?;
        let kept = matches!(root, Root::Stack(..) | Root::Global(_) | Root::Heap(..));
        let seen = self.values.is_escaped(root) || self.values.is_handed_over(root);
        (kept && !seen).then_some((root, at))
    }

    /// Bytes of a thread handle.
    fn handle_size(&self) -> i64 {
        self.program.architecture.pointer_size().into()
    }

    /// Whether a statement may change the handle at this offset of the variable.
    fn may_write(&self, function: FunctionId, stmt: &Stmt, slot: Root, at: i64) -> bool {
        let named = |operand: &Operand| self.values.of(function, operand).contains_key(&slot);
        match stmt {
            Stmt::Load { .. } => false,
            Stmt::Store { address, size, .. } => match self.values.of(function, address).get(&slot) {
                Some(Some(start)) => *start < at + self.handle_size() && at < *start + i64::from(*size),
                Some(None) => true,
                None => false,
            },
            _ if touches_memory(stmt) => stmt.operands().iter().any(named),
            Stmt::Call { callee, args, .. } => match callee {
                Callee::Direct(f) => self.program.functions[*f].blocks.is_empty() && args.iter().any(named),
                Callee::Indirect(_) => false,
            },
            _ => false,
        }
    }

    /// If a join is the work of a loop that goes through the slots of an array: where the loop ends, and the creations
    /// whose threads are over then, with whether each is executed at most once.
    fn joining_loop(&self, join: ProgramPoint, handle: &Operand) -> Option<(LoopEnd, BTreeMap<ProgramPoint, bool>)> {
        let Operand::Local(handle) = handle else { return None };
        let (_, Stmt::Load { address, size, .. }) = self.definition(join.0, *handle)? else { return None };
        if i64::from(*size) != self.handle_size() {
            return None;
        }
        let (array, _) = self.hidden(join.0, address)?;
        let slot = self.slot(join.0, address)?;
        let joining = self.loop_of(join, &slot)?;
        let body = &self.program.functions[join.0];
        let (_, block, _) = join;
        // Every round executes the join.
        let Terminator::Branch { then, .. } = body.blocks[joining.head].terminator else { return None };
        let around = reachable(body, then, |_, to| to != block && joining.inside.contains(&to));
        if then != block && around.contains(&joining.head) {
            return None;
        }
        let filled = self.filled(array)?;
        let end = (join.0, joining.head, joining.exit);
        if let [one] = filled.as_slice()
            && one.create.0 == join.0
            && let Some(creates) = self.created_in_loop(one, &slot, &joining)
        {
            return Some((end, creates));
        }
        self.created_one_by_one(&filled, array, join.0, &slot, &joining).map(|creates| (end, creates))
    }

    /// An address as a slot.
    fn slot(&self, function: FunctionId, address: &Operand) -> Option<Slot> {
        let Operand::Local(address) = address else { return None };
        let (_, Stmt::Assign { expr, .. }) = self.definition(function, *address)? else { return None };
        let Expr::Offset { base, index: Operand::Local(index), scale, offset } = expr else { return None };
        let widened = match self.definition(function, *index) {
            Some((_, Stmt::Assign { expr: Expr::Truncate { value: Operand::Local(of), bits, signed }, .. })) => {
                Some((*of, *bits, *signed))
            }
            _ => None,
        };
        let (number, widened) = widened.map_or((*index, None), |(of, bits, signed)| (of, Some((bits, signed))));
        let base = self.origin(function, *base);
        (*scale >= self.handle_size()).then_some(Slot { base, number, widened, scale: *scale, offset: *offset })
    }

    /// An operand without the copies in between.
    fn origin(&self, function: FunctionId, mut operand: Operand) -> Operand {
        for _ in 0..HANDLE_COPIES {
            match operand {
                Operand::Local(local) => match self.definition(function, local) {
                    Some((_, Stmt::Assign { expr: Expr::Use(value), .. })) => operand = *value,
                    _ => break,
                },
                _ => break,
            }
        }
        operand
    }

    /// The loop around a statement whose counter is the number of a slot.
    fn loop_of(&self, place: ProgramPoint, slot: &Slot) -> Option<CountingLoop> {
        let loops = counting_loops(&self.program.functions[place.0]).into_iter();
        loops.into_iter().find(|l| l.counter == slot.number && l.inside.contains(&place.1))
    }

    /// The creations whose handles are in an array, if nothing else is ever written there.
    fn filled(&self, array: Root) -> Option<Vec<Filled<'a>>> {
        let mut filled = Vec::new();
        for (place, stmt) in &self.statements {
            let written = touches(self.program, self.values, place.0, stmt);
            let passed = matches!(stmt, Stmt::Call { .. }) && self.may_write(place.0, stmt, array, 0);
            if !passed && !written.iter().any(|touch| touch.root == array && touch.kind.writes()) {
                continue;
            }
            let Stmt::Store { address, value: Operand::Local(handle), size, .. } = stmt else { return None };
            if i64::from(*size) != self.handle_size() {
                return None;
            }
            let (create, Stmt::Sync { op: SyncOp::Create { .. }, .. }) = self.definition(place.0, *handle)? else {
                return None;
            };
            // Between creation and store there is nothing but computation.
            let between = (create.0, create.1) == (place.0, place.1) && create.2 < place.2;
            let statements = &self.program.functions[place.0].blocks[place.1].statements;
            let pure = |s: &program::Statement| matches!(s.stmt, Stmt::Assign { .. });
            if !between || !statements[create.2 + 1..place.2].iter().all(pure) {
                return None;
            }
            filled.push(Filled { create, store: *place, address });
        }
        Some(filled)
    }

    /// One loop creates what another of the same function joins.
    fn created_in_loop(
        &self,
        filled: &Filled<'_>,
        joined: &Slot,
        joining: &CountingLoop,
    ) -> Option<BTreeMap<ProgramPoint, bool>> {
        let (function, ..) = filled.create;
        let slot = self.slot(function, filled.address)?;
        let creating = self.loop_of(filled.store, &slot)?;
        let same_slots = Slot { number: joined.number, ..slot } == *joined;
        let body = &self.program.functions[function];
        let apart = !creating.inside.contains(&joining.head) && !joining.inside.contains(&creating.head);
        // What both loops are made of means the same in both.
        let round = reachable(body, creating.head, |_, _| true);
        let fixed = |operand: Operand| match operand {
            Operand::Local(local) => {
                self.definition(function, local).is_none_or(|(place, _)| !round.contains(&place.1))
            }
            Operand::Const(_) | Operand::Global(..) => true,
            _ => false,
        };
        let alike = same_slots && apart && fixed(slot.base) && fixed(creating.range.bound);
        if !alike || !joining.range.covers(&creating.range) {
            return None;
        }
        let runs_once = self.runs_once(function) && {
            let exits = creating.inside.iter().flat_map(|b| body.blocks[*b].terminator.targets());
            let mut exits = exits.filter(|to| !creating.inside.contains(to));
            !exits.any(|exit| reachable(body, exit, |_, _| true).contains(&creating.head))
        };
        let kept = runs_once || (self.runs_in_one_thread(function) && self.always_joined(function, &creating, joining));
        kept.then(|| BTreeMap::from([(filled.create, false)]))
    }

    fn runs_once(&self, function: FunctionId) -> bool {
        let entry = self.program.functions[function].blocks.ids().next();
        entry.is_some_and(|entry| self.invocations.at_most_once((function, entry, 0)))
    }

    /// Whether only one thread of the program ever runs a function, never inside of itself.
    fn runs_in_one_thread(&self, function: FunctionId) -> bool {
        let jobs = self.statements.iter().filter(|(_, s)| matches!(s, Stmt::Sync { op: SyncOp::Create { .. }, .. }));
        let started: BTreeSet<FunctionId> =
            jobs.flat_map(|(place, _)| self.invocations.at(*place).map(|i| i.callee)).collect();
        let runs = |job: &FunctionId| self.invocations.closure(*job, false).contains(&function);
        !self.invocations.is_recursive(function) && !started.iter().any(runs)
    }

    /// Whether every way from the creating loop out of the function, or back into the loop, goes through the end of
    /// the joining one.
    fn always_joined(&self, function: FunctionId, creating: &CountingLoop, joining: &CountingLoop) -> bool {
        let body = &self.program.functions[function];
        let ways = reachable(body, creating.head, |from, to| (from, to) != (joining.head, joining.exit));
        ways.iter().all(|block| {
            let terminator = &body.blocks[*block].terminator;
            let leaves = matches!(terminator, Terminator::Return(_) | Terminator::Resume);
            let again = !creating.inside.contains(block) && terminator.targets().contains(&creating.head);
            let mut invoked = self.invocations.of(function).iter().filter(|i| i.place.1 == *block);
            !leaves && !again && !invoked.any(|i| self.invocations.unwinds(i.callee))
        })
    }

    /// Creations that are executed at most once each, into slots of their own, and joined by a loop.
    fn created_one_by_one(
        &self,
        filled: &[Filled<'_>],
        array: Root,
        function: FunctionId,
        joined: &Slot,
        joining: &CountingLoop,
    ) -> Option<BTreeMap<ProgramPoint, bool>> {
        let start = self.values.of(function, &joined.base).get(&array).copied()??.checked_add(joined.offset)?;
        let mut slots = BTreeSet::new();
        for one in filled {
            let at = self.values.of(one.store.0, one.address).get(&array).copied()??;
            let distance = at.checked_sub(start)?;
            let number = distance / joined.scale;
            let known = distance % joined.scale == 0 && joining.range.contains(number) && slots.insert(number);
            if !known || !self.invocations.at_most_once(one.create) {
                return None;
            }
        }
        (!filled.is_empty()).then(|| filled.iter().map(|one| (one.create, true)).collect())
    }
}
