//! Which synchronisation objects a net can model, with what it needs to know about them.
//!
//! - A semaphore is modelled when one statement, executed at most once, sets it to a constant. Its tokens are there
//!   from the start, as if it had been set before everything else; that can only let more happen.
//! - A barrier is modelled when all that may set it up give the same constant count.
//! - A lock is a reader-writer lock when some statement may take it shared.
//! - Which joins wait for whom is in the module `joins`.
//!
//! What is not modelled never waits.

use std::collections::{BTreeMap, BTreeSet};

use model::LockMode;
use program::{FunctionId, Operand, Program, Stmt, SyncOp};

use crate::flow::statements;
use crate::joins::Joins;
use facts::invocations::{Invocations, ProgramPoint};
use facts::objects::{Key, Objects};
use facts::values::Values;

/// What is known about synchronisation objects.
pub(crate) struct Synchronisation {
    /// Semaphores with their first values.
    pub(crate) semaphores: BTreeMap<Key, u32>,
    /// Barriers with their counts.
    pub(crate) barriers: BTreeMap<Key, u32>,
    /// Once-controls.
    pub(crate) onces: BTreeSet<Key>,
    /// Who waits for whose end.
    pub(crate) joins: Joins,
    /// Operands of statements that take a lock shared.
    shared: Vec<(FunctionId, Operand)>,
}

struct Collector<'a> {
    invocations: &'a Invocations,
    objects: &'a Objects<'a>,
    statements: Vec<(ProgramPoint, &'a Stmt)>,
}

impl Synchronisation {
    /// Looks through all code that can run.
    pub(crate) fn new(
        program: &Program,
        values: &Values<'_>,
        invocations: &Invocations,
        objects: &Objects<'_>,
    ) -> Self {
        let functions = invocations.reachable();
        let placed = functions.flat_map(|function| statements(program, function).map(|(place, s)| (place, &s.stmt)));
        let collector = Collector { invocations, objects, statements: placed.collect() };
        let shared = |op: &SyncOp| match op {
            SyncOp::Lock { lock, mode: LockMode::Shared, .. } => Some(*lock),
            _ => None,
        };
        Self {
            semaphores: collector.semaphores(),
            barriers: collector.barriers(),
            onces: collector.onces(),
            joins: Joins::new(program, values, invocations),
            shared: collector.operations().filter_map(|(place, op)| Some((place.0, shared(op)?))).collect(),
        }
    }

    /// Whether the lock may be taken shared.
    pub(crate) fn is_shared(&self, objects: &Objects<'_>, lock: Key) -> bool {
        self.shared.iter().any(|(function, operand)| objects.may_name(*function, operand, lock))
    }
    /// Whether something can only be said of two chosen threads.
    pub(crate) fn needs_tracking(&self) -> bool {
        !self.shared.is_empty() || self.joins.needs_tracking()
    }
}

impl Collector<'_> {
    fn operations(&self) -> impl Iterator<Item = (ProgramPoint, &SyncOp)> {
        self.statements.iter().filter_map(|(place, stmt)| match stmt {
            Stmt::Sync { op, .. } => Some((*place, op)),
            _ => None,
        })
    }
    fn exact(&self, place: ProgramPoint, operand: &Operand) -> Option<Key> {
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
}
