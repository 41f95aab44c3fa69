//! Which abstract locations more than one thread may know.

use std::collections::BTreeSet;

use model::index::IndexVec;
use program::{Operand, Program, Stmt, SyncOp};

use crate::points_to::PointsTo;
use crate::spot::{ObjectId, Origin};

/// Abstract locations whose addresses statements hand to other threads, or store where nothing is known.
pub(crate) struct HandedOn {
    /// Given to new threads as their argument.
    pub(crate) to_threads: BTreeSet<ObjectId>,
    /// Returned by the functions that threads start in.
    pub(crate) by_threads: BTreeSet<ObjectId>,
    /// Stored through pointers of which nothing is known: they may be stored in anything.
    pub(crate) anywhere: BTreeSet<ObjectId>,
}

impl HandedOn {
    pub(crate) fn new(program: &Program, points_to: &PointsTo) -> Self {
        let (mut to_threads, mut by_threads) = (BTreeSet::new(), BTreeSet::new());
        let mut anywhere: BTreeSet<ObjectId> = points_to.written_anywhere().iter().copied().collect();
        for (id, function) in program.functions.iter_enumerated() {
            let of = |operand: &Operand| points_to.of(id, operand).into_iter().map(|spot| spot.object);
            for (block_id, block) in function.blocks.iter_enumerated() {
                for (index, statement) in block.statements.iter().enumerate() {
                    match &statement.stmt {
                        Stmt::Sync { op: SyncOp::Create { arg, .. }, .. } => {
                            to_threads.extend(of(arg));
                            let started = points_to.invoke((id, block_id, index)).map_or(&[][..], |i| &i.callees);
                            by_threads.extend(started.iter().flat_map(|f| points_to.returned(*f)).map(|s| s.object));
                        }
                        Stmt::Store { address, value, .. }
                        | Stmt::Rmw { address, value, .. }
                        | Stmt::CompareExchange { address, new: value, .. }
                            if points_to.is_wild(id, address) =>
                        {
                            anywhere.extend(of(value));
                        }
                        _ => {}
                    }
                }
            }
        }
        Self { to_threads, by_threads, anywhere }
    }
}

/// Objects that more than one thread may know: reachable from globals, from arguments of threads, or from outside.
pub(crate) fn exposed(program: &Program, points_to: &PointsTo) -> IndexVec<ObjectId, bool> {
    let mut exposed = IndexVec::filled(points_to.objects().len(), false);
    let mut open: Vec<ObjectId> = Vec::new();
    for (id, origin) in points_to.objects().iter_enumerated() {
        let known_to_all = match origin {
            Origin::Global(global) => !program.globals[*global].thread_local,
            Origin::Outside | Origin::Library(_) | Origin::Stream(_) => true,
            _ => false,
        };
        open.extend(known_to_all.then_some(id));
    }
    open.extend(points_to.outside().iter().map(|s| s.object));
    open.extend(points_to.known_to_libraries());
    open.extend(in_lanes(program, points_to));
    let HandedOn { to_threads, by_threads, anywhere } = HandedOn::new(program, points_to);
    open.extend(to_threads.into_iter().chain(by_threads).chain(anywhere));
    while let Some(object) = open.pop() {
        if !std::mem::replace(&mut exposed[object], true) {
            open.extend(points_to.stored_in(object));
            open.extend(points_to.clones(object));
            open.extend(points_to.members(object));
        }
    }
    // A block is known by the names that callers gave it, and a collapsed node by any of its members.
    for object in points_to.objects().ids() {
        if points_to.clones(object).iter().any(|clone| exposed[*clone]) {
            exposed[object] = true;
        }
    }
    for object in points_to.objects().ids() {
        if points_to.members(object).iter().any(|member| exposed[*member]) {
            exposed[object] = true;
        }
    }
    // Code is not data, what the handle of a thread stands for is none of the program, and constants are never written,
    // as long as a program is defined at all. (What they point to is another matter.)
    for (object, origin) in points_to.objects().iter_enumerated() {
        exposed[object] &= match origin {
            Origin::Function(_) | Origin::AnyFunction | Origin::Thread(_) | Origin::Constants => false,
            Origin::Global(global) => !program.globals[*global].constant,
            _ => true,
        };
    }
    exposed
}

/// What several lanes of a loop may touch: they are as good as threads.
fn in_lanes(program: &Program, points_to: &PointsTo) -> Vec<ObjectId> {
    let lanes = program.lanes();
    let mut touched = Vec::new();
    for (id, function) in program.functions.iter_enumerated() {
        for statement in function.blocks.iter().flat_map(|block| &block.statements) {
            if statement.site.is_some_and(|site| lanes.contains(&site)) {
                let operands = statement.stmt.operands();
                touched.extend(operands.iter().flat_map(|o| points_to.of(id, o)).map(|spot| spot.object));
            }
        }
    }
    touched
}
