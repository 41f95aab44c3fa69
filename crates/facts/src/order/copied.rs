//! Handles of threads that are in other places than where their creation stored them.

use std::collections::BTreeSet;

use model::index::IndexVec;
use program::library::{self, Effect};
use program::{FunctionId, Operand, Program, Stmt, SyncOp};

use crate::accesses::{Designator, accesses};
use crate::invocations::ProgramPoint;
use crate::points_to::PointsTo;
use crate::spot::{ObjectId, Origin};

/// The creations whose handles may be anywhere: something stores them besides the statement after the creation, or may
/// have exchanged the content of memory that they are in. That an object whose handle was overwritten with anything but
/// a handle is not joined is the program's problem, since there is nothing to join then.
pub(super) fn copied(program: &Program, points_to: &PointsTo) -> BTreeSet<ProgramPoint> {
    let mut finder = Finder { points_to, inside: IndexVec::filled(points_to.objects().len(), None), found: BTreeSet::new() };
    for (id, function) in program.functions.iter_enumerated() {
        for statement in function.blocks.iter().flat_map(|b| &b.statements) {
            match &statement.stmt {
                Stmt::Store { value, .. } if finder.is_own(program, id, value) => {}
                Stmt::Store { value, .. } | Stmt::Rmw { value, .. } | Stmt::CompareExchange { new: value, .. } => {
                    finder.value(id, value);
                }
                Stmt::Copy { from, .. } => finder.content(id, from),
                Stmt::Library { function: name, args, .. } => {
                    finder.library(program, id, name, args, &statement.stmt);
                }
                _ => {}
            }
        }
    }
    if !points_to.calls_outside().is_empty() {
        let known: Vec<ObjectId> = points_to.outside().iter().map(|spot| spot.object).collect();
        known.into_iter().for_each(|object| finder.object(object));
    }
    finder.found
}

struct Finder<'a> {
    points_to: &'a PointsTo,
    /// The creations whose handles are in an object, once somebody asked.
    inside: IndexVec<ObjectId, Option<Vec<ProgramPoint>>>,
    found: BTreeSet<ProgramPoint>,
}

impl Finder<'_> {
    /// Whether the value is the result of a creation in the same function.
    fn is_own(&self, program: &Program, function: FunctionId, value: &Operand) -> bool {
        let Operand::Local(local) = value else { return false };
        let definition = self.points_to.addresses.definition(program, function, *local);
        matches!(definition, Some(Stmt::Sync { op: SyncOp::Create { .. }, .. }))
    }
    fn handle(&self, object: ObjectId) -> Option<ProgramPoint> {
        if let Origin::Thread(place) = self.points_to.origin(object) { Some(place) } else { None }
    }
    fn value(&mut self, function: FunctionId, value: &Operand) {
        let spots = self.points_to.of(function, value);
        self.found.extend(spots.into_iter().filter_map(|spot| self.handle(spot.object)).collect::<Vec<_>>());
    }
    /// All handles in the objects that an operand may point to.
    fn content(&mut self, function: FunctionId, address: &Operand) {
        self.points_to.of(function, address).into_iter().for_each(|spot| self.object(spot.object));
    }
    fn object(&mut self, object: ObjectId) {
        if self.inside[object].is_none() {
            let stored = self.points_to.stored_in(object);
            self.inside[object] = Some(stored.into_iter().filter_map(|o| self.handle(o)).collect());
        }
        self.found.extend(self.inside[object].iter().flatten().copied());
    }
    /// What a library function copies, or writes where handles are: it may sort them.
    fn library(&mut self, program: &Program, function: FunctionId, name: &str, args: &[Operand], stmt: &Stmt) {
        let effects = library::lookup(name).map_or(&[][..], |row| row.effects);
        for effect in effects {
            if let Effect::Copies(_, from) = effect
                && let Some(from) = args.get(usize::from(*from))
            {
                self.content(function, from);
            }
        }
        for access in accesses(program, stmt).into_iter().filter(|access| access.kind.writes()) {
            if let Designator::Pointer(address) = access.designator {
                self.content(function, &address);
            }
        }
    }
}
