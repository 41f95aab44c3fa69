//! What values and memory may point to, for the whole program at once.
//!
//! Inclusion-based (Andersen), field by field (byte offsets, strides for unknown indices), following memory: stores and
//! loads through pointers, struct copies, heap objects by the statement that allocates them. Functions that do nothing
//! with a new block but fill and return it stand for an allocation at each call. Function pointers are resolved on the
//! way, so calls, thread functions, once-routines and callbacks of library functions come out with it. Flow- and
//! context-insensitive; `lockset` adds both for locks.
//!
//! Can be missed: pointers hidden from the language inside vectors or floating-point values; what a function without a
//! body does to memory that it was not given. Never claimed wrongly: a pointer that is computed by integer arithmetic
//! keeps its objects, at any offset. A pointer of which nothing is known has an empty set: an access through it is
//! *wild* and may touch whatever is exposed. Where nothing is known of some of a pointer's values,
//! [`PointsTo::may_be_unknown`] says so beside what is known of the others.

mod collapse;
mod constraints;

mod passages;
mod solver;
mod types;
mod wrappers;

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use model::index::IndexVec;
use model::{Budget, Spent};
use program::library::{LibraryState, Links};
use program::{FunctionId, LocalId, Operand, Program};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Options;
use crate::address::{Address, Addresses, Base};
use crate::invocations::{How, ProgramPoint};
use crate::spot::{ObjectId, Origin, Shift, Spot};
use solver::{Node, Solver};
use types::Types;

/// Solutions made by this process.
static SOLUTIONS: AtomicUsize = AtomicUsize::new(0);

/// How many points-to solutions this process has made: one for each [`Facts`](crate::Facts) that was asked for one.
pub fn solutions() -> usize {
    SOLUTIONS.load(Ordering::Relaxed)
}

/// A statement that makes functions run, with those it may run.
#[derive(Clone, Debug)]
pub struct Invoke {
    /// The statement.
    pub place: ProgramPoint,
    /// How it makes them run.
    pub how: How,
    /// The functions, in order.
    pub callees: Vec<FunctionId>,
    /// Functions without a body that may be among those meant, in order.
    pub without_body: BTreeSet<FunctionId>,
    /// Whether a function without a body, or one that is not known, may be among those meant; but for those without
    /// effect.
    pub outside: bool,
}

/// The result of the analysis.
pub struct PointsTo {
    /// What operands are made of.
    pub addresses: Addresses,
    ids: FxHashMap<Origin, ObjectId>,
    solver: Solver,
    unknown: ObjectId,
    locals: IndexVec<FunctionId, Node>,
    invokes: FxHashMap<ProgramPoint, Invoke>,
    clones: FxHashMap<ObjectId, Vec<ObjectId>>,
    outside: Node,
    /// Calls that may return something else than a new block.
    returns_others: FxHashSet<ProgramPoint>,
    /// What missing functions are given that reach no further, and what libraries keep, sorted.
    given: Vec<ObjectId>,
    /// What libraries keep, sorted.
    shared: Vec<ObjectId>,
    calls_outside: Vec<(String, ProgramPoint)>,
    by_outside: Vec<FunctionId>,
    returned: IndexVec<FunctionId, Node>,
    /// What is stored in objects that are their own homes, as far as it was asked for.
    stored: IndexVec<ObjectId, OnceLock<Vec<ObjectId>>>,
}

impl PointsTo {
    /// Runs the analysis. Only [`Facts`](crate::Facts) does, once for a program.
    pub(crate) fn new(program: &Program, options: &Options, budget: &Budget) -> Result<Self, Spent> {
        SOLUTIONS.fetch_add(1, Ordering::Relaxed);
        let first = constraints::generate(program, options, budget, Types::default())?;
        let is_collapsed = |object: &ObjectId| first.collapsed_node(*object).is_some();
        let mut collapsed = first.objects().ids().filter(is_collapsed).map(|object| first.origin(object)).peekable();
        if program.sites.iter().all(|site| site.lvalue.is_none()) || collapsed.peek().is_none() {
            drop(collapsed);
            return Ok(first);
        }
        let types = Types::new(collapsed, &program.records);
        // Two solutions at once would need twice the memory.
        drop(first);
        constraints::generate(program, options, budget, types)
    }

    /// Whether memory is taken for typed where pointers do not tell objects apart.
    pub fn uses_types(&self) -> bool {
        self.solver.types.are_used()
    }

    /// Where an operand of a function may point to, sorted.
    pub fn of(&self, function: FunctionId, operand: &Operand) -> Vec<Spot> {
        self.spots(function, &self.addresses.of(function, operand))
    }
    /// Where an address in a function may point to, sorted.
    pub fn spots(&self, function: FunctionId, address: &Address) -> Vec<Spot> {
        let shift = address.shift();
        match address.base {
            Base::Number | Base::Any => Vec::new(),
            Base::Global(global) => self.fixed(Origin::Global(global)).map(|s| s.shifted(shift)).into_iter().collect(),
            Base::Function(f) => self.fixed(Origin::Function(f)).into_iter().collect(),
            Base::Local(local) => {
                let mut spots: Vec<Spot> = self.local(function, local).iter().map(|s| s.shifted(shift)).collect();
                spots.sort_unstable();
                spots.dedup();
                spots
            }
        }
    }
    /// Where the value of a local may point to, sorted; only for locals that are bases of addresses.
    pub fn local(&self, function: FunctionId, local: LocalId) -> &[Spot] {
        self.solver.of(self.locals[function] + local.0)
    }
    /// What a function may return, sorted.
    pub fn returned(&self, function: FunctionId) -> &[Spot] {
        self.solver.of(self.returned[function])
    }
    fn fixed(&self, origin: Origin) -> Option<Spot> {
        self.ids.get(&origin).map(|object| Spot::start(*object))
    }

    /// What the objects stand for.
    pub fn objects(&self) -> &IndexVec<ObjectId, Origin> {
        &self.solver.objects
    }
    /// What an object stands for.
    pub fn origin(&self, object: ObjectId) -> Origin {
        self.solver.objects[object]
    }
    /// The object that stands for this.
    pub fn object(&self, origin: Origin) -> Option<ObjectId> {
        self.ids.get(&origin).copied()
    }
    /// Blocks that a function fills before its callers know them by names of their own: touching this object may mean
    /// touching one of those.
    pub fn clones(&self, object: ObjectId) -> &[ObjectId] {
        self.clones.get(&object).map_or(&[], Vec::as_slice)
    }

    /// Whether a local holds what a call of an allocating function returns there, and that is a new block whenever it is
    /// made.
    pub fn is_new_block(&self, place: ProgramPoint, local: LocalId) -> bool {
        let own = self.object(Origin::Heap(place)).filter(|_| !self.returns_others.contains(&place));
        let spots = self.local(place.0, local);
        own.is_some_and(|own| !spots.is_empty() && spots.iter().all(|spot| spot.object == own))
    }

    /// Whether no other object stands for memory of this one.
    pub fn has_one_name(&self, object: ObjectId) -> bool {
        self.clones(object).is_empty()
            && !self.clones.values().any(|clones| clones.contains(&object))
            && self.collapsed_node(object).is_none()
            && self.members(object).is_empty()
    }

    /// The collapsed node that an object is in: spots of the collapsed node may be spots of the object.
    pub fn collapsed_node(&self, object: ObjectId) -> Option<ObjectId> {
        self.solver.collapsed_nodes.of(object)
    }
    /// The objects of a collapsed node.
    pub fn members(&self, collapsed: ObjectId) -> &[ObjectId] {
        self.solver.collapsed_nodes.members(collapsed)
    }
    /// Whether bytes from one spot on may be bytes from the other on; `None` for an unknown number of bytes.
    pub fn overlap(&self, one: (Spot, Option<u64>), other: (Spot, Option<u64>)) -> bool {
        let (a, b) = (one.0.object, other.0.object);
        let same = a == b || self.collapsed_node(a) == Some(b) || self.collapsed_node(b) == Some(a);
        same && Spot { object: b, ..one.0 }.overlaps(one.1, other.0, other.1)
    }
    /// Whether one of these spots may be one of the others.
    pub fn meet(&self, one: &[Spot], other: &[Spot]) -> bool {
        one.iter().any(|a| other.iter().any(|b| self.overlap((*a, Some(1)), (*b, Some(1)))))
    }

    /// For each object the pieces of memory in which a pointer to it may be stored; for members of a collapsed node,
    /// those of pointers to it alone.
    pub fn holders(&self) -> FxHashMap<ObjectId, Vec<(Spot, Option<u32>)>> {
        let mut holders: FxHashMap<ObjectId, Vec<(Spot, Option<u32>)>> = FxHashMap::default();
        for home in self.objects().ids().filter(|object| self.collapsed_node(*object).is_none()) {
            for (spot, size, node) in self.solver.cells(home) {
                for object in self.solver.of(node).iter().map(|s| s.object) {
                    let places = holders.entry(object).or_default();
                    if places.last() != Some(&(spot, size)) {
                        places.push((spot, size));
                    }
                }
            }
        }
        holders
    }
    /// Every object that is stored somewhere in an object, sorted.
    pub fn stored_in(&self, object: ObjectId) -> &[ObjectId] {
        // Members of a collapsed node have its memory, and are asked about often.
        let home = self.collapsed_node(object).unwrap_or(object);
        self.stored[home].get_or_init(|| {
            let cells = self.solver.cells(home);
            let nodes: BTreeSet<Node> = cells.map(|(_, _, node)| self.solver.find(node)).collect();
            let found: FxHashSet<ObjectId> =
                nodes.into_iter().flat_map(|node| self.solver.of(node)).map(|spot| spot.object).collect();
            let mut found: Vec<ObjectId> = found.into_iter().collect();
            found.sort_unstable();
            found
        })
    }
    /// Where the pointers stored in what an operand points to may point to, anywhere there, so many times over; wherever
    /// functions without a body may if nothing is known.
    pub fn behind(&self, function: FunctionId, operand: &Operand, times: u8) -> Vec<Spot> {
        let mut objects: Vec<ObjectId> = self.of(function, operand).iter().map(|spot| spot.object).collect();
        for _ in 0..times {
            objects = objects.iter().flat_map(|object| self.stored_in(*object)).copied().collect();
            objects.sort_unstable();
            objects.dedup();
        }
        if objects.is_empty() {
            return self.outside().to_vec();
        }
        objects.into_iter().map(|object| Spot::new(object, Shift::ANYWHERE)).collect()
    }
    /// The nodes that may be linked with those that an operand points to, however far away, and these.
    pub fn linked(&self, function: FunctionId, node: &Operand, links: Links) -> Vec<Spot> {
        let mut found: BTreeSet<Spot> = self.of(function, node).into_iter().collect();
        let mut new: Vec<Spot> = found.iter().copied().collect();
        while let Some(node) = new.pop() {
            let home = self.collapsed_node(node.object).unwrap_or(node.object);
            for (at, size, cell) in self.solver.cells(home) {
                let is_link = |offset: &i64| {
                    let link = Spot { object: home, ..node }.shifted(Shift { offset: *offset, stride: 0 });
                    link.overlaps(Some(8), at, size.map(u64::from))
                };
                if links.offsets().iter().any(is_link) {
                    new.extend(self.solver.of(cell).iter().filter(|spot| found.insert(**spot)));
                }
            }
        }
        found.into_iter().collect()
    }
    /// Where the arguments may point to that a list (`va_list`) has; wherever functions without a body may if nothing is
    /// known of it. The list is in memory itself, or its value is all there is to it.
    pub fn listed(&self, function: FunctionId, list: &Operand) -> Vec<Spot> {
        let stored = |objects: &BTreeSet<ObjectId>| -> BTreeSet<ObjectId> {
            objects.iter().flat_map(|object| self.stored_in(*object)).copied().collect()
        };
        let list = self.of(function, list).iter().map(|spot| spot.object).collect();
        let near = stored(&list);
        if near.is_empty() {
            return self.outside().to_vec();
        }
        let far = stored(&near);
        near.union(&far).map(|object| Spot::new(*object, Shift::ANYWHERE)).collect()
    }
    /// Where the pointers may point to that calls left in memory of the library.
    pub fn behind_library(&self, state: LibraryState) -> Vec<Spot> {
        let kept = self.object(Origin::Library(state)).map_or(&[][..], |object| self.stored_in(object));
        kept.iter().map(|object| Spot::new(*object, Shift::ANYWHERE)).collect()
    }
    /// Where functions without a body may point to.
    pub fn outside(&self) -> &[Spot] {
        self.solver.of(self.outside)
    }
    /// Objects that functions of a library may know which other calls of it were given, sorted.
    pub(crate) fn known_to_libraries(&self) -> &[ObjectId] {
        &self.shared
    }
    /// Whether functions without a body may know the object, or one of the collapsed node, be it only while they are
    /// called.
    pub fn is_known_outside(&self, object: ObjectId) -> bool {
        let knows = |object: ObjectId| {
            let spots = self.outside();
            spots.get(spots.partition_point(|s| s.object < object)).is_some_and(|s| s.object == object)
                || self.given.binary_search(&object).is_ok()
        };
        knows(object)
            || self.collapsed_node(object).is_some_and(knows)
            || self.members(object).iter().any(|member| knows(*member))
    }
    /// Calls of functions without a body whose effects are not known, in order.
    pub fn calls_outside(&self) -> &[(String, ProgramPoint)] {
        &self.calls_outside
    }

    /// Functions that code without a body was given and may call, at any time and in any thread.
    pub fn called_by_outside(&self) -> &[FunctionId] {
        &self.by_outside
    }

    /// What a statement makes run.
    pub fn invoke(&self, place: ProgramPoint) -> Option<&Invoke> {
        self.invokes.get(&place)
    }
    /// Whether a statement may run a function without a body whose effects are not known.
    pub fn leaves(&self, place: ProgramPoint) -> bool {
        self.invoke(place).is_some_and(|i| i.outside)
    }

    /// Whether an operand may point to something that is not in its set: nothing is known of it, or not all.
    pub fn may_be_unknown(&self, function: FunctionId, operand: &Operand) -> bool {
        match self.addresses.of(function, operand).base {
            Base::Any => true,
            Base::Local(local) => {
                let node = self.locals[function] + local.0;
                self.solver.may_be_unknown(node) || self.solver.of(node).is_empty()
            }
            Base::Number | Base::Global(_) | Base::Function(_) => false,
        }
    }
    /// Whether an operand is certainly no pointer.
    pub fn is_number(&self, function: FunctionId, operand: &Operand) -> bool {
        match self.addresses.of(function, operand).base {
            Base::Number => true,
            Base::Local(local) => {
                let node = self.locals[function] + local.0;
                self.solver.of(node).is_empty() && !self.solver.may_be_unknown(node)
            }
            Base::Any | Base::Global(_) | Base::Function(_) => false,
        }
    }
    /// The functions that an operand may point to, in order.
    pub fn functions(&self, function: FunctionId, operand: &Operand) -> Vec<FunctionId> {
        let spots = self.of(function, operand);
        let mut found: Vec<FunctionId> = spots.iter().filter_map(|s| self.function(*s)).collect();
        if spots.iter().any(|s| self.origin(s.object) == Origin::AnyFunction) {
            found.extend(self.functions_as_values());
        }
        found.sort_unstable();
        found.dedup();
        found
    }
    fn function(&self, spot: Spot) -> Option<FunctionId> {
        if let Origin::Function(function) = self.origin(spot.object) { Some(function) } else { None }
    }
    /// The functions whose addresses are used as values.
    pub fn functions_as_values(&self) -> impl Iterator<Item = FunctionId> + '_ {
        self.objects().iter().filter_map(|o| if let Origin::Function(f) = o { Some(*f) } else { None })
    }
    /// Objects whose addresses were written through pointers of which nothing is known, sorted.
    pub fn written_anywhere(&self) -> &[ObjectId] {
        self.stored_in(self.unknown)
    }
    /// The operands of a statement's accesses that are wild: nothing is known about where they point.
    pub fn is_wild(&self, function: FunctionId, operand: &Operand) -> bool {
        let address = self.addresses.of(function, operand);
        match address.base {
            Base::Any => true,
            Base::Local(local) => self.local(function, local).is_empty(),
            Base::Number => false,
            Base::Global(_) | Base::Function(_) => false,
        }
    }
}

/// The first node of each function's locals.
fn local_nodes(program: &Program, solver: &mut Solver) -> IndexVec<FunctionId, Node> {
    let mut nodes = IndexVec::new();
    for function in &program.functions {
        nodes.push(solver.nodes(function.locals.len()));
    }
    nodes
}
