//! Which synchronisation objects a net can model, with what it needs to know about them.
//!
//! - A semaphore is modelled when one statement, executed at most once, sets it to a constant. Its tokens are there
//!   from the start, as if it had been set before everything else; that can only let more happen.
//! - A barrier is modelled when all that may set it up give the same constant count.
//! - A lock is a reader-writer lock when some statement may take it shared.
//! - A join waits when its handle is the result of one creation that is executed at most once, of a thread function
//!   that starts in no other way, and nothing may have detached that thread.
//!
//! What is not modelled never waits.

use std::collections::{BTreeMap, BTreeSet};

use model::LockMode;
use program::{FunctionId, LocalId, Operand, Program, Stmt, SyncOp};

use facts::invocations::{How, Invocations, Place};
use facts::objects::{Key, Objects};
use facts::touches::touches_memory;
use facts::values::{Root, Values};

/// Bytes of a thread handle.
const HANDLE_BYTES: i64 = 8;
/// How often a handle may be copied between creation and join.
const HANDLE_COPIES: u32 = 8;

/// What is known about synchronisation objects.
pub(crate) struct Synchronisation {
    /// Semaphores with their first values.
    pub(crate) semaphores: BTreeMap<Key, u32>,
    /// Barriers with their counts.
    pub(crate) barriers: BTreeMap<Key, u32>,
    /// Once-controls.
    pub(crate) onces: BTreeSet<Key>,
    /// Joins that wait, with the thread function whose end they wait for.
    pub(crate) joins: BTreeMap<Place, FunctionId>,
    /// Operands of statements that take a lock shared.
    shared: Vec<(FunctionId, Operand)>,
}

struct Collector<'a> {
    program: &'a Program,
    values: &'a Values,
    invocations: &'a Invocations<'a>,
    objects: &'a Objects<'a>,
    statements: Vec<(Place, &'a Stmt)>,
}

impl Synchronisation {
    /// Looks through all code that can run.
    pub(crate) fn new(
        program: &Program,
        values: &Values,
        invocations: &Invocations<'_>,
        objects: &Objects<'_>,
    ) -> Self {
        let mut statements = Vec::new();
        for function in invocations.reachable() {
            for (block_id, block) in program.functions[function].blocks.iter_enumerated() {
                let placed = block.statements.iter().enumerate();
                statements.extend(placed.map(|(index, s)| ((function, block_id, index), &s.stmt)));
            }
        }
        let collector = Collector { program, values, invocations, objects, statements };
        let shared = |op: &SyncOp| match op {
            SyncOp::Lock { lock, mode: LockMode::Shared, .. } => Some(*lock),
            _ => None,
        };
        Self {
            semaphores: collector.semaphores(),
            barriers: collector.barriers(),
            onces: collector.onces(),
            joins: collector.joins(),
            shared: collector.operations().filter_map(|(place, op)| Some((place.0, shared(op)?))).collect(),
        }
    }

    /// Whether the lock may be taken shared.
    pub(crate) fn is_shared(&self, objects: &Objects<'_>, lock: Key) -> bool {
        self.shared.iter().any(|(function, operand)| objects.may_name(*function, operand, lock))
    }
    /// Whether any lock may be taken shared.
    pub(crate) fn has_shared_locks(&self) -> bool {
        !self.shared.is_empty()
    }
}

impl Collector<'_> {
    fn operations(&self) -> impl Iterator<Item = (Place, &SyncOp)> {
        self.statements.iter().filter_map(|(place, stmt)| match stmt {
            Stmt::Sync { op, .. } => Some((*place, op)),
            _ => None,
        })
    }
    fn exact(&self, place: Place, operand: &Operand) -> Option<Key> {
        self.objects.exact(place.0, operand)
    }

    fn semaphores(&self) -> BTreeMap<Key, u32> {
        let set = |op: &SyncOp| if let SyncOp::SemInit { sem, value } = op { Some((*sem, *value)) } else { None };
        let sets: Vec<_> = self.operations().filter_map(|(place, op)| Some((place, set(op)?))).collect();
        let known = sets.iter().filter_map(|(place, (sem, value))| {
            let key = self.exact(*place, sem)?;
            let Operand::Const(value) = value else { return None };
            let others = sets.iter().filter(|(p, (s, _))| self.objects.may_name(p.0, s, key)).count();
            let once = others == 1 && self.invocations.at_most_once(*place);
            Some((key, u32::try_from(*value).ok().filter(|_| once)?))
        });
        known.collect()
    }

    fn barriers(&self) -> BTreeMap<Key, u32> {
        let set = |op: &SyncOp| match op {
            SyncOp::BarrierInit { barrier, count } => Some((*barrier, *count)),
            _ => None,
        };
        let sets: Vec<_> = self.operations().filter_map(|(place, op)| Some((place, set(op)?))).collect();
        let known = sets.iter().filter_map(|(place, (barrier, count))| {
            let key = self.exact(*place, barrier)?;
            let Operand::Const(number) = count else { return None };
            let mut meant = sets.iter().filter(|(p, (b, _))| self.objects.may_name(p.0, b, key));
            let agree = meant.all(|(_, (_, other))| other == count);
            Some((key, u32::try_from(*number).ok().filter(|n| agree && *n > 0)?))
        });
        known.collect()
    }

    fn onces(&self) -> BTreeSet<Key> {
        let control = |op: &SyncOp| if let SyncOp::Once { control, .. } = op { Some(*control) } else { None };
        self.operations().filter_map(|(place, op)| self.exact(place, &control(op)?)).collect()
    }

    fn joins(&self) -> BTreeMap<Place, FunctionId> {
        let mut detached = BTreeSet::new();
        for (place, op) in self.operations() {
            if let SyncOp::Detach { handle } = op {
                match self.created_by(place.0, handle, HANDLE_COPIES) {
                    Some(create) => detached.insert(create),
                    None => return BTreeMap::new(),
                };
            }
        }
        let waits = |(place, op): (Place, &SyncOp)| {
            let SyncOp::Join { handle, mode: program::TryMode::Wait } = op else { return None };
            let create = self.created_by(place.0, handle, HANDLE_COPIES).filter(|create| !detached.contains(create))?;
            let mut started = self.invocations.at(create);
            let job = started.next().filter(|_| started.next().is_none())?.callee;
            let only = self.invocations.only_invocation(job)?;
            let once = only.how == How::Create && only.place == create && self.invocations.at_most_once(create);
            once.then_some((place, job))
        };
        self.operations().filter_map(waits).collect()
    }

    /// The creation whose result the operand is: directly, or loaded from a variable that holds nothing else.
    /// `copies` bounds how often it may be copied on the way.
    fn created_by(&self, function: FunctionId, handle: &Operand, copies: u32) -> Option<Place> {
        let Operand::Local(local) = handle else { return None };
        let copies = copies.checked_sub(1)?;
        let (place, stmt) = self.definition(function, *local)?;
        match stmt {
            Stmt::Sync { op: SyncOp::Create { .. }, .. } => Some(place),
            Stmt::Assign { expr: program::Expr::Use(value), .. } => self.created_by(function, value, copies),
            Stmt::Load { address, .. } => {
                let mut roots = self.values.of(function, address).into_iter();
                let (slot, Some(at)) = roots.next().filter(|_| roots.next().is_none())? else { return None };
                let hidden = matches!(slot, Root::Stack(..) | Root::Global(_))
                    && !self.values.escaped.contains(&slot)
                    && !self.values.handed_over.contains(&slot);
                if !hidden {
                    return None;
                }
                let mut writes = self.statements.iter().filter(|(p, s)| self.may_write(p.0, s, slot, at));
                let (store_place, store) = writes.next().filter(|_| writes.next().is_none())?;
                let Stmt::Store { address, value: value @ Operand::Local(_), .. } = store else { return None };
                let same = self.values.of(store_place.0, address).get(&slot) == Some(&Some(at));
                same.then(|| self.created_by(store_place.0, value, copies)).flatten()
            }
            _ => None,
        }
    }

    fn definition(&self, function: FunctionId, local: LocalId) -> Option<(Place, &Stmt)> {
        let defines = |(place, stmt): &&(Place, &Stmt)| place.0 == function && stmt.assigns().contains(&local);
        self.statements.iter().find(defines).map(|(place, stmt)| (*place, *stmt))
    }

    /// Whether a statement may change the handle at this offset of the variable.
    fn may_write(&self, function: FunctionId, stmt: &Stmt, slot: Root, at: i64) -> bool {
        let named = |operand: &Operand| self.values.of(function, operand).contains_key(&slot);
        match stmt {
            Stmt::Load { .. } => false,
            Stmt::Store { address, size, .. } => match self.values.of(function, address).get(&slot) {
                Some(Some(start)) => *start < at + HANDLE_BYTES && at < *start + i64::from(*size),
                Some(None) => true,
                None => false,
            },
            _ if touches_memory(stmt) => stmt.operands().iter().any(named),
            Stmt::Call { callee, args, .. } => match callee {
                program::Callee::Direct(f) => self.program.functions[*f].blocks.is_empty() && args.iter().any(named),
                program::Callee::Indirect(_) => false,
            },
            _ => false,
        }
    }
}
