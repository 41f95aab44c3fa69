//! Where handles of threads are stored besides by their creation.

use std::collections::{BTreeMap, BTreeSet};

use program::library::{self, Effect};
use program::{FunctionId, Operand, Program, Stmt, SyncOp};

use crate::accesses::{Designator, accesses};
use crate::invocations::ProgramPoint;
use crate::points_to::PointsTo;
use crate::spot::{ObjectId, Origin};

/// The objects into which handles are copied, by creation: something stores them there besides the statement after the
/// creation, or may exchange them there. What overwrites a handle with anything but a handle leaves nothing to join.
#[derive(Default)]
pub(super) struct Copied {
    into: BTreeMap<ProgramPoint, BTreeSet<ObjectId>>,
    /// Creations whose handles are stored through pointers of which nothing is known.
    anywhere: BTreeSet<ProgramPoint>,
}

impl Copied {
    pub(super) fn new(program: &Program, points_to: &PointsTo) -> Self {
        let mut finder = Finder { program, points_to, found: Self::default() };
        for (id, function) in program.functions.iter_enumerated() {
            for statement in function.blocks.iter().flat_map(|b| &b.statements) {
                finder.statement(id, &statement.stmt);
            }
        }
        if !points_to.calls_outside().is_empty() {
            for object in points_to.objects().ids().filter(|object| points_to.is_known_outside(*object)) {
                let handles = finder.inside(object);
                finder.add(handles, [object]);
            }
        }
        finder.found
    }

    /// Whether handles of a creation may have been copied into one of these objects.
    pub(super) fn is_in(&self, points_to: &PointsTo, place: ProgramPoint, objects: &[ObjectId]) -> bool {
        let node = |object: ObjectId| points_to.collapsed_node(object).unwrap_or(object);
        let into = self.into.get(&place);
        let hit = |object: &ObjectId| into.is_some_and(|into| into.iter().any(|to| node(*to) == node(*object)));
        self.anywhere.contains(&place) || objects.iter().any(hit)
    }
}

struct Finder<'a> {
    program: &'a Program,
    points_to: &'a PointsTo,
    found: Copied,
}

impl Finder<'_> {
    fn statement(&mut self, function: FunctionId, stmt: &Stmt) {
        match stmt {
            Stmt::Store { value, .. } if self.is_made_here(function, value) => {}
            Stmt::Store { address, value, .. }
            | Stmt::Rmw { address, value, .. }
            | Stmt::CompareExchange { address, new: value, .. } => {
                let spots = self.points_to.of(function, value);
                let handles = spots.into_iter().filter_map(|spot| self.handle(spot.object)).collect();
                self.copy(function, handles, address);
            }
            Stmt::Copy { to, from, .. } => {
                let handles = self.content(function, from);
                self.copy(function, handles, to);
            }
            Stmt::Library { function: name, args, .. } => self.library(function, name, args, stmt),
            _ => {}
        }
    }

    /// Whether the value is the result of a creation in the same function.
    fn is_made_here(&self, function: FunctionId, value: &Operand) -> bool {
        let Operand::Local(local) = value else { return false };
        let definition = self.points_to.addresses.definition(self.program, function, *local);
        matches!(definition, Some(Stmt::Sync { op: SyncOp::Create { .. }, .. }))
    }
    fn handle(&self, object: ObjectId) -> Option<ProgramPoint> {
        if let Origin::Thread(place) = self.points_to.origin(object) { Some(place) } else { None }
    }
    /// The handles in an object.
    fn inside(&self, object: ObjectId) -> Vec<ProgramPoint> {
        self.points_to.stored_in(object).iter().filter_map(|o| self.handle(*o)).collect()
    }
    /// The handles in the objects that an operand may point to.
    fn content(&self, function: FunctionId, address: &Operand) -> Vec<ProgramPoint> {
        let objects: BTreeSet<ObjectId> = self.points_to.of(function, address).iter().map(|s| s.object).collect();
        objects.into_iter().flat_map(|object| self.inside(object)).collect()
    }

    fn add(&mut self, handles: Vec<ProgramPoint>, objects: impl IntoIterator<Item = ObjectId> + Clone) {
        for handle in handles {
            self.found.into.entry(handle).or_default().extend(objects.clone());
        }
    }
    fn copy(&mut self, function: FunctionId, handles: Vec<ProgramPoint>, to: &Operand) {
        if handles.is_empty() {
            return;
        }
        if self.points_to.may_be_unknown(function, to) {
            self.found.anywhere.extend(handles.iter().copied());
        }
        let objects: Vec<ObjectId> = self.points_to.of(function, to).iter().map(|s| s.object).collect();
        self.add(handles, objects);
    }
    /// What a library function copies, or writes where handles are: it may sort them.
    fn library(&mut self, function: FunctionId, name: &str, args: &[Operand], stmt: &Stmt) {
        for effect in library::lookup(name).map_or(&[][..], |row| row.effects) {
            if let Effect::Copies(to, from) = effect
                && let (Some(to), Some(from)) = (args.get(usize::from(*to)), args.get(usize::from(*from)))
            {
                let handles = self.content(function, from);
                self.copy(function, handles, to);
            }
        }
        for access in accesses(self.program, function, stmt).into_iter().filter(|access| access.kind.writes()) {
            if let Designator::Pointer(address) = access.designator {
                let handles = self.content(function, &address);
                self.copy(function, handles, &address);
            }
        }
    }
}
