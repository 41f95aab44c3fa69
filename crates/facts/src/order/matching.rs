//! Which threads a join waits for, and which values are equal for that.

use std::collections::BTreeSet;

use model::AccessKind;
use program::{BlockId, Function, FunctionId, Operand, Stmt};

use super::canonical::{Canonical, Root, canonical};
use super::joins::{Creation, JoinLoop};
use super::walk::Tree;
use super::{ContextId, Moment, ThreadId};
use crate::accesses::{Designator, accesses};
use crate::address::{Address, Base};
use crate::invocations::ProgramPoint;
use crate::spot::{ObjectId, Origin, Spot};

/// The statements that store to a variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writers {
    /// How often they are executed; 2 for more than once.
    count: usize,
    /// The last of them that was found.
    last: Option<ProgramPoint>,
}

impl Tree<'_> {
    /// Threads that a handle may name; `None` if it may be something else.
    pub(super) fn named(&self, function: FunctionId, handle: &Operand) -> Option<BTreeSet<ThreadId>> {
        if self.points_to.may_be_unknown(function, handle) {
            return None;
        }
        let mut places = BTreeSet::new();
        for spot in self.points_to.of(function, handle) {
            match self.points_to.origin(spot.object) {
                Origin::Thread(place) => places.insert(place),
                _ => return None,
            };
        }
        let made = self.made.iter().filter(|((_, place), _)| places.contains(place));
        Some(made.map(|(_, thread)| *thread).collect())
    }

    /// The thread that has certainly ended when a join returns.
    pub(super) fn joined(
        &self,
        context: ContextId,
        function: FunctionId,
        handle: &Operand,
        moment: &Moment,
    ) -> Option<ThreadId> {
        let mut named = self.named(function, handle)?;
        let canonical = self.canonical(context, self.points_to.addresses.of(function, handle));
        if let (Root::Local(at, local), None, 0) = (canonical.root, canonical.index, canonical.offset) {
            let there = self.contexts[at].function;
            let place = self.points_to.addresses.defined_at(there, local).map(|(b, i)| (there, b, i as usize));
            let exact = place.and_then(|place| self.creation_of(place, &Operand::Local(local)));
            let exact = exact.and_then(|creation| self.made.get(&(at, creation)).copied());
            match self.points_to.addresses.definition(self.program, there, local) {
                _ if exact.is_some() => named = exact.into_iter().collect(),
                Some(Stmt::Load { address, size, .. }) if *size == self.program.architecture.pointer_size() => {
                    let from = self.canonical(at, self.points_to.addresses.of(there, address));
                    let objects = self.objects(there, address);
                    named.retain(|thread| {
                        let elsewhere = self.stored_at(*thread).is_some_and(|to| self.apart(&from, &to));
                        !elsewhere || self.is_copied(*thread, &objects)
                    });
                }
                _ => {}
            }
        }
        let maker = self.contexts[context].thread;
        let makes = |t: &ThreadId| std::iter::successors(Some(*t), |t| self.threads[*t].parent).any(|t| t == maker);
        let mut running = named.iter().filter(|t| moment.alive.contains(t));
        let only = running.next().copied().filter(|_| running.next().is_none())?;
        (self.is_alone(only) && named.iter().all(makes)).then_some(only)
    }

    pub(super) fn canonical(&self, context: ContextId, address: Address) -> Canonical {
        canonical(self.program, &self.points_to.addresses, self, context, address)
    }
    /// Where a thread's handle is stored.
    pub(super) fn stored_at(&self, thread: ThreadId) -> Option<Canonical> {
        let (context, place) = self.threads[thread].made_at?;
        let creation = self.code.get(&place.0)?.creations.iter().find(|c| c.place == place)?;
        Some(self.canonical(context, creation.stored_at?))
    }

    /// The objects that an operand may point to.
    fn objects(&self, function: FunctionId, address: &Operand) -> Vec<ObjectId> {
        self.points_to.of(function, address).into_iter().map(|spot| spot.object).collect()
    }
    /// Whether the thread's handle may have got into one of the objects otherwise than by its creation.
    fn is_copied(&self, thread: ThreadId, objects: &[ObjectId]) -> bool {
        self.threads[thread].made_at.is_none_or(|(_, place)| self.copied.is_in(self.points_to, place, objects))
    }
    /// Whether handles of these threads stay where they were stored as long as the threads run: nothing copies handles
    /// there, and no creation overwrites them.
    fn stays(&self, function: FunctionId, row: &JoinLoop, thread: ThreadId) -> bool {
        let Some((named, own)) = self.named(function, &row.handle).zip(self.stored_at(thread)) else { return false };
        let Operand::Local(handle) = row.handle else { return false };
        let Some(Stmt::Load { address, .. }) = self.points_to.addresses.definition(self.program, function, handle)
        else {
            return false;
        };
        let objects = self.objects(function, address);
        named.iter().all(|other| {
            let later = || self.threads[*other].before.contains(&thread) || self.threads[*other].any_time;
            let apart = || self.stored_at(*other).is_some_and(|to| self.apart(&own, &to));
            !self.is_copied(*other, &objects) && (*other == thread || !later() || apart())
        })
    }

    /// Whether a loop over handles joins all running threads of this kind.
    pub(super) fn joins(&self, context: ContextId, row: &JoinLoop, thread: ThreadId) -> bool {
        let Some((made_in, place)) = self.threads[thread].made_at else { return false };
        if !self.stays(self.contexts[context].function, row, thread) {
            return false;
        }
        let creation = self.code.get(&place.0).and_then(|c| c.creations.iter().find(|c| c.place == place));
        let Some((creation, to)) = creation.zip(self.stored_at(thread)) else { return false };
        let from = self.canonical(context, row.loaded_from);
        let Some((_, _, scale)) = from.index else { return false };
        if !self.same_root(&to.root, &from.root) || self.threads[thread].any_time {
            return false;
        }
        let value = |context: ContextId, function: FunctionId, operand: &Operand| {
            self.canonical(context, self.points_to.addresses.of(function, operand))
        };
        let function = self.contexts[context].function;
        let start = value(context, function, &row.first);
        let end = value(context, function, &row.end);
        let Some(offset) = end.offset.checked_add(row.beyond) else { return false };
        let bound = self.stored(Canonical { offset, ..end }, (made_in, place));
        match (to.index, creation.counted) {
            (Some((_, index, to_scale)), Some(counted)) => {
                let made_function = self.contexts[made_in].function;
                let first = value(made_in, made_function, &counted.counter.start);
                let last = value(made_in, made_function, &counted.bound);
                index == counted.counter.local
                    && (to_scale, to.offset) == (scale, from.offset)
                    // A bound that is still zero makes no thread.
                    && first == start && first.number().is_some_and(|first| first >= 0)
                    && (self.same(&last, &bound) || self.is_after(context, row, creation, made_in, &bound))
                    && !self.before_loop.get(&thread).is_some_and(|before| before.contains(&thread))
            }
            (None, _) if self.is_alone(thread) => {
                let (Some(start), Some(bound)) = (start.number(), bound.number()) else { return false };
                let bytes = to.offset - from.offset;
                scale != 0 && bytes % scale == 0 && (start..bound).contains(&(bytes / scale))
            }
            _ => false,
        }
    }

    /// Whether a value is that of the counter of the loop around a creation, after the loop was left at its header: the
    /// number of the first handle that was not filled.
    fn is_after(
        &self,
        context: ContextId,
        row: &JoinLoop,
        creation: &Creation,
        made_in: ContextId,
        value: &Canonical,
    ) -> bool {
        let function = self.contexts[made_in].function;
        let around = self.graphs[function].loops.iter().find(|l| Some(l.header) == creation.around);
        let Some((around, counted)) = around.zip(creation.counted) else { return false };
        let counter = Canonical { root: Root::Local(made_in, counted.counter.local), index: None, offset: 0 };
        context == made_in
            && *value == counter
            && !around.contains(row.header)
            && self.graphs[function].leaves_at_header(&self.program.functions[function], around)
    }

    pub(super) fn same(&self, earlier: &Canonical, later: &Canonical) -> bool {
        let (one, other) = (earlier, later);
        one.index == other.index && one.offset == other.offset && self.same_root(&one.root, &other.root)
    }
    /// Whether two values are equal: made by the same statement, or loaded from a variable that nothing stores to between
    /// the two loads, the earlier one given first.
    pub(super) fn same_root(&self, earlier: &Root, later: &Root) -> bool {
        if earlier == later {
            return *earlier != Root::Fixed(Base::Any);
        }
        match (self.cell(earlier), self.cell(later)) {
            (Some(a), Some(b)) => a == b && self.is_set_before(a, earlier),
            _ => false,
        }
    }
    /// Whether a variable that is set at most once keeps its value from a load on, or had nothing useful before: zero or
    /// nothing at all as a number of threads makes none, and as a pointer leads nowhere.
    fn is_set_before(&self, (spot, size): (Spot, u32), load: &Root) -> bool {
        if !self.is_set_once(spot, size) {
            return false;
        }
        let Some(store) = self.writers.borrow().get(&spot).and_then(|writers| writers.last) else { return true };
        let follows = || {
            let Root::Local(context, local) = load else { return true };
            let function = self.contexts[*context].function;
            let Some((block, index)) = self.points_to.addresses.defined_at(function, *local) else { return true };
            let body = &self.program.functions[function];
            function != store.0
                || if block == store.1 {
                    (index as usize) < store.2 || self.graphs[function].repeats(block)
                } else {
                    reaches(body, block, store.1)
                }
        };
        self.starts_empty(spot, size) || !follows()
    }
    /// Whether a variable is zero or not set when it comes into being.
    fn starts_empty(&self, spot: Spot, size: u32) -> bool {
        match self.points_to.origin(spot.object) {
            Origin::Global(global) => {
                let global = &self.program.globals[global];
                let Ok(start) = u64::try_from(spot.offset) else { return false };
                let end = start + u64::from(size);
                let pointer = u64::from(self.program.architecture.pointer_size());
                let bytes = (start..end).filter_map(|at| global.init.get(at as usize));
                let points = global.relocations.iter().any(|(at, _)| *at < end && start < at + pointer);
                bytes.copied().all(|byte| byte == 0) && !points
            }
            Origin::Stack(..) => true,
            Origin::Heap((function, block, index)) => {
                let statement = self.program.functions[function].blocks[block].statements.get(index);
                matches!(statement.map(|s| &s.stmt), Some(Stmt::Alloc { .. }))
            }
            _ => false,
        }
    }
    /// The variable that a value was loaded from.
    pub(super) fn cell(&self, root: &Root) -> Option<(Spot, u32)> {
        let Root::Local(context, local) = root else { return None };
        let function = self.contexts[*context].function;
        let Some(Stmt::Load { address, size, .. }) =
            self.points_to.addresses.definition(self.program, function, *local)
        else {
            return None;
        };
        let [spot] = self.points_to.of(function, address)[..] else { return None };
        let known = spot.stride == 0 && !self.points_to.is_wild(function, address);
        (known && self.is_one(spot.object)).then_some((spot, *size))
    }
    /// Whether an object stands for one piece of memory, and no other object for the same: a global, or what a statement
    /// that is executed once allocates.
    fn is_one(&self, object: ObjectId) -> bool {
        let once = |function: FunctionId, block| self.invocations.at_most_once((function, block, 0));
        let one = match self.points_to.origin(object) {
            Origin::Global(global) => !self.program.globals[global].thread_local,
            Origin::Stack(function, local) => {
                let made = self.points_to.addresses.defined_at(function, local);
                made.is_some_and(|(block, _)| once(function, block))
            }
            Origin::Heap((function, block, _)) => once(function, block),
            _ => false,
        };
        one && self.points_to.has_one_name(object)
    }
    /// A value, or what was stored in the variable it was loaded from, if that is stored once, before the threads of a
    /// statement are made.
    pub(super) fn stored(&self, value: Canonical, made_at: (ContextId, ProgramPoint)) -> Canonical {
        let Some((spot, size)) = self.cell(&value.root).filter(|_| value.index.is_none() && value.offset == 0) else {
            return value;
        };
        let (context, place) = made_at;
        let body = &self.program.functions[place.0];
        if !self.is_set_once(spot, size) {
            return value;
        }
        for (block_id, block) in body.blocks.iter_enumerated() {
            for (index, statement) in block.statements.iter().enumerate() {
                let Stmt::Store { address, value: stored, size: bytes, .. } = &statement.stmt else { continue };
                let before = if block_id == place.1 {
                    index < place.2
                } else {
                    self.graphs[place.0].dominates(block_id, place.1)
                };
                let spots = self.points_to.of(place.0, address);
                if before && *bytes == size && spots[..] == [spot] {
                    return self.canonical(context, self.points_to.addresses.of(place.0, stored));
                }
            }
        }
        value
    }
    /// Whether nothing stores to a variable but perhaps one statement that is executed once. A store through a pointer of
    /// which nothing is known may be to any variable, and code without a body stores to what it knows.
    pub(super) fn is_set_once(&self, spot: Spot, size: u32) -> bool {
        if let Some(writers) = self.writers.borrow().get(&spot) {
            return writers.count <= 1;
        }
        let mut last = None;
        let outside = !self.points_to.calls_outside().is_empty() && self.points_to.is_known_outside(spot.object);
        let mut count = if outside { 2 } else { 0 };
        for (id, function) in self.program.functions.iter_enumerated() {
            for (block_id, block) in function.blocks.iter_enumerated() {
                for (index, statement) in block.statements.iter().enumerate() {
                    let found = accesses(self.program, id, &statement.stmt);
                    // Who reads what was freed has worse problems (A10).
                    for access in found.iter().filter(|a| a.kind.writes() && a.kind != AccessKind::Free) {
                        let spots = match access.designator {
                            Designator::Pointer(operand) => self.points_to.of(id, &operand),
                            Designator::Behind(operand, times) => self.points_to.behind(id, &operand, times),
                            Designator::Linked(node, links) => self.points_to.linked(id, &node, links),
                            Designator::List(list) => self.points_to.listed(id, &list),
                            Designator::BehindLibrary(state) => self.points_to.behind_library(state),
                            Designator::Library(_) => continue,
                        };
                        let written = (spot, Some(u64::from(size)));
                        let wild = matches!(access.designator, Designator::Pointer(operand)
                            if !access.perhaps && self.points_to.is_wild(id, &operand));
                        let hits = wild || spots.iter().any(|s| self.points_to.overlap((*s, access.len), written));
                        if hits {
                            let once = self.invocations.at_most_once((id, block_id, 0));
                            count += if once { 1 } else { 2 };
                            last = Some((id, block_id, index));
                        }
                    }
                }
            }
        }
        self.writers.borrow_mut().insert(spot, Writers { count, last });
        count <= 1
    }

    /// Whether two handles never meet.
    pub(super) fn apart(&self, one: &Canonical, other: &Canonical) -> bool {
        let object = |c: &Canonical| match c.root {
            Root::Fixed(Base::Global(_)) => true,
            Root::Local(context, local) => {
                let function = self.contexts[context].function;
                let made = self.points_to.addresses.definition(self.program, function, local);
                matches!(made, Some(Stmt::Alloca { .. }))
            }
            Root::Fixed(_) => false,
        };
        let far = one.offset.abs_diff(other.offset) >= self.program.architecture.pointer_size().into();
        match (one.index, other.index) {
            (None, None) if one.root == other.root => far,
            _ => one.root != other.root && object(one) && object(other),
        }
    }
}

/// Whether a block can come after another one was left.
fn reaches(body: &Function, from: BlockId, to: BlockId) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), body.blocks[from].terminator.targets());
    while let Some(next) = open.pop() {
        if next == to {
            return true;
        }
        if seen.insert(next) {
            open.extend(body.blocks[next].terminator.targets());
        }
    }
    false
}
