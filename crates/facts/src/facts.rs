//! All facts about a program together.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use model::index::IndexVec;
use program::{FunctionId, Program};

use crate::address::{Address, Base};
use crate::flow_graph::{FlowGraph, flow_graphs};
use crate::invocations::{How, ProgramPoint};
use crate::order::{Binding, Context, Order};
use crate::points_to::PointsTo;
use crate::spot::{ObjectId, Origin, Spot};

/// What holds of a program in every run.
pub struct Facts<'p> {
    /// The program.
    pub program: &'p Program,
    /// What values and memory may point to, and who calls whom.
    pub points_to: PointsTo,
    /// The blocks of functions.
    pub graphs: IndexVec<FunctionId, FlowGraph>,
    /// Threads, contexts and what may happen in parallel.
    pub order: Order,
    /// How long each part took, in order.
    pub phases: Vec<(&'static str, Duration)>,
    exposed: IndexVec<ObjectId, bool>,
    single: IndexVec<FunctionId, bool>,
}

/// What is taken for granted, and where the program starts besides `main`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Functions without a body that touch no memory, create no threads and call nothing back, by linker name.
    pub assume_pure: BTreeSet<String>,
    /// Functions that any number of threads may run at any time.
    pub entries: Vec<FunctionId>,
}

impl<'p> Facts<'p> {
    /// Derives them.
    pub fn new(program: &'p Program, options: &Options) -> Self {
        let mut phases = Vec::new();
        let mut last = Instant::now();
        let mut ended = |name: &'static str| {
            phases.push((name, last.elapsed()));
            last = Instant::now();
        };
        let points_to = PointsTo::new(program, &options.assume_pure, &options.entries);
        ended("pointers");
        let graphs = flow_graphs(program);
        let exposed = exposed(program, &points_to);
        let single = single(program, &points_to, &graphs, &options.entries);
        let order = Order::new(program, &points_to, &graphs, &single, &options.entries);
        ended("threads");
        Self { program, phases, points_to, graphs, order, exposed, single }
    }

    /// Whether the object is data that more than one thread may know.
    pub fn is_exposed(&self, object: ObjectId) -> bool {
        self.exposed[object]
    }
    /// Whether the function runs at most once in a run.
    pub fn runs_once(&self, function: FunctionId) -> bool {
        self.single[function]
    }
    /// Whether the statement is executed at most once in a run.
    pub fn happens_once(&self, (function, block, _): ProgramPoint) -> bool {
        self.single[function] && !self.graphs[function].repeats(block)
    }
    /// Whether the object stands for one object only.
    pub fn is_unique(&self, object: ObjectId) -> bool {
        match self.points_to.origin(object) {
            Origin::Global(global) => !self.program.globals[global].thread_local,
            Origin::Stack(function, local) => {
                let at = self.points_to.addresses.defined_at(function, local);
                at.is_some_and(|(block, index)| self.happens_once((function, block, index as usize)))
            }
            Origin::Heap(place) => self.happens_once(place),
            _ => false,
        }
    }

    /// Where an address may point to in a context, sorted.
    pub fn spots(&self, context: &Context, address: &Address) -> Vec<Spot> {
        if let Base::Local(local) = address.base
            && let Some(Binding::Spot(spot)) = context.bindings.get(local.0 as usize)
        {
            return vec![spot.shifted(address.shift())];
        }
        self.points_to.spots(context.function, address)
    }
    /// The one byte that an address certainly is in a context.
    pub fn certain(&self, context: &Context, address: &Address) -> Option<Spot> {
        let spots = self.spots(context, address);
        let [spot] = spots[..] else { return None };
        (spot.stride == 0 && self.is_unique(spot.object)).then_some(spot)
    }
    /// How far an address is from the argument of the context's thread: bytes, and what the argument is multiplied by.
    pub fn from_argument(&self, context: &Context, address: &Address) -> Option<FromArgument> {
        let bound = |local: program::LocalId| match context.bindings.get(local.0 as usize) {
            Some(Binding::Argument(offset)) => Some(*offset),
            _ => None,
        };
        match (address.base, address.index) {
            (Base::Local(base), None) => {
                let offset = bound(base)?.checked_add(address.offset)?;
                Some(FromArgument { base: None, scale: 1, offset })
            }
            (base @ (Base::Global(_) | Base::Local(_)), Some((index, scale))) => {
                let offset = bound(index)?.checked_mul(scale)?.checked_add(address.offset)?;
                let spots = self.spots(context, &Address { base, index: None, offset: 0 });
                let [spot] = spots[..] else { return None };
                let fixed = spot.stride == 0 && self.is_unique(spot.object);
                fixed.then_some(FromArgument { base: Some(spot), scale, offset })
            }
            _ => None,
        }
    }
}

/// An address that is made of the argument of a thread: `base + argument · scale + offset`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FromArgument {
    /// `None` if the argument itself is the pointer.
    pub base: Option<Spot>,
    /// What it is multiplied by.
    pub scale: i64,
    /// Bytes added.
    pub offset: i64,
}

/// Objects that more than one thread may know: reachable from globals, from arguments of threads, or from outside.
fn exposed(program: &Program, points_to: &PointsTo) -> IndexVec<ObjectId, bool> {
    let mut exposed = IndexVec::filled(points_to.objects().len(), false);
    let mut open: Vec<ObjectId> = Vec::new();
    for (id, origin) in points_to.objects().iter_enumerated() {
        let known_to_all = match origin {
            Origin::Global(global) => !program.globals[*global].thread_local,
            Origin::Outside | Origin::Library(_) => true,
            _ => false,
        };
        open.extend(known_to_all.then_some(id));
    }
    open.extend(points_to.outside().iter().map(|s| s.object));
    for (id, function) in program.functions.iter_enumerated() {
        for (block_id, block) in function.blocks.iter_enumerated() {
            for (index, statement) in block.statements.iter().enumerate() {
                let program::Stmt::Sync { op: program::SyncOp::Create { arg, .. }, .. } = &statement.stmt else {
                    continue;
                };
                open.extend(points_to.of(id, arg).iter().map(|s| s.object));
                let started = points_to.invoke((id, block_id, index)).map_or(&[][..], |i| &i.callees);
                open.extend(started.iter().flat_map(|f| points_to.returned(*f)).map(|s| s.object));
            }
        }
    }
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
    // Code is not data, what the handle of a thread stands for is none of the program, and constants are never written, as
    // long as a program is defined at all. (What they point to is another matter.)
    for (object, origin) in points_to.objects().iter_enumerated() {
        exposed[object] &= match origin {
            Origin::Function(_) | Origin::Thread(_) => false,
            Origin::Global(global) => !program.globals[*global].constant,
            _ => true,
        };
    }
    exposed
}

/// Functions that run at most once: `main`, and those whose only invocation is executed at most once.
fn single(
    program: &Program,
    points_to: &PointsTo,
    graphs: &IndexVec<FunctionId, FlowGraph>,
    entries: &[FunctionId],
) -> IndexVec<FunctionId, bool> {
    let mut invoked: IndexVec<FunctionId, Vec<(ProgramPoint, How)>> = IndexVec::filled(program.functions.len(), Vec::new());
    for (id, function) in program.functions.iter_enumerated() {
        for (block_id, block) in function.blocks.iter_enumerated() {
            for index in 0..block.statements.len() {
                let place = (id, block_id, index);
                if let Some(invoke) = points_to.invoke(place) {
                    invoke.callees.iter().for_each(|callee| invoked[*callee].push((place, invoke.how)));
                }
            }
        }
    }
    let by_others = |f: FunctionId| entries.contains(&f) || points_to.called_by_outside().binary_search(&f).is_ok();
    let mut single = IndexVec::filled(program.functions.len(), false);
    let mut open: Vec<FunctionId> =
        program.main.into_iter().filter(|f| invoked[*f].is_empty() && !by_others(*f)).collect();
    let mut callees: std::collections::BTreeMap<FunctionId, Vec<FunctionId>> = Default::default();
    for (callee, places) in invoked.iter_enumerated() {
        if let [((caller, block, _), how)] = places[..]
            && how != How::Callback
            && !graphs[caller].repeats(block)
            && !by_others(callee)
            && Some(callee) != program.main
        {
            callees.entry(caller).or_default().push(callee);
        }
    }
    while let Some(function) = open.pop() {
        if !std::mem::replace(&mut single[function], true) {
            open.extend(callees.get(&function).into_iter().flatten());
        }
    }
    single
}
