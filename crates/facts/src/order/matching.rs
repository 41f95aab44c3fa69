//! Which threads a join waits for, and which values are equal for that.

use std::collections::BTreeSet;

use program::{FunctionId, Operand, Stmt, SyncOp};

use super::canonical::{Canonical, Root, canonical};
use super::joins::JoinLoop;
use super::walk::Tree;
use super::{ContextId, Moment, ThreadId};
use crate::accesses::{Target, accesses};
use crate::address::{Address, Base};
use crate::invocations::Place;
use crate::spot::{Origin, Shift, Spot};

impl Tree<'_> {
    /// Threads that a handle may name.
    pub(super) fn named(&self, function: FunctionId, handle: &Operand) -> Option<BTreeSet<ThreadId>> {
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
            match self.points_to.addresses.definition(self.program, there, local) {
                Some(Stmt::Sync { op: SyncOp::Create { .. }, .. }) => {
                    let (block, index) = self.points_to.addresses.defined_at(there, local)?;
                    let made = self.made.get(&(at, (there, block, index as usize))).copied()?;
                    named = BTreeSet::from([made]);
                }
                Some(Stmt::Load { address, size: 8, .. }) => {
                    let from = self.canonical(at, self.points_to.addresses.of(there, address));
                    named.retain(|thread| self.stored_at(*thread).is_none_or(|to| !self.apart(&from, &to)));
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

    /// Whether a loop over handles joins all running threads of this kind.
    pub(super) fn joins(&self, context: ContextId, row: &JoinLoop, thread: ThreadId) -> bool {
        let Some((made_in, place)) = self.threads[thread].made_at else { return false };
        let creation = self.code.get(&place.0).and_then(|c| c.creations.iter().find(|c| c.place == place));
        let Some((creation, to)) = creation.zip(self.stored_at(thread)) else { return false };
        let from = self.canonical(context, row.loaded_from);
        let Some((_, _, scale)) = from.index else { return false };
        if !self.same_root(&from.root, &to.root) || self.threads[thread].any_time {
            return false;
        }
        let value = |context: ContextId, function: FunctionId, operand: &Operand| {
            self.canonical(context, self.points_to.addresses.of(function, operand))
        };
        let function = self.contexts[context].function;
        let start = value(context, function, &row.counted.counter.start);
        let bound = self.stored(value(context, function, &row.counted.bound), (made_in, place));
        match (to.index, creation.counted) {
            (Some((_, index, to_scale)), Some(counted)) => {
                let made_function = self.contexts[made_in].function;
                let first = value(made_in, made_function, &counted.counter.start);
                let last = value(made_in, made_function, &counted.bound);
                index == counted.counter.local
                    && (to_scale, to.offset) == (scale, from.offset)
                    && self.same(&first, &start)
                    && self.same(&last, &bound)
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

    pub(super) fn same(&self, one: &Canonical, other: &Canonical) -> bool {
        one.index == other.index && one.offset == other.offset && self.same_root(&one.root, &other.root)
    }
    /// Whether two values are equal: made by the same statement, or loaded from a variable that is set at most once.
    pub(super) fn same_root(&self, one: &Root, other: &Root) -> bool {
        if one == other {
            return *one != Root::Fixed(Base::Any);
        }
        match (self.cell(one), self.cell(other)) {
            (Some(a), Some(b)) => a == b && self.is_set_once(a.0, a.1),
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
        let from = self.canonical(*context, self.points_to.addresses.of(function, address));
        let object = match (from.root, from.index) {
            (Root::Fixed(Base::Global(global)), None) => self.points_to.object(Origin::Global(global))?,
            (Root::Local(context, local), None) => {
                let function = self.contexts[context].function;
                let (block, _) = self.points_to.addresses.defined_at(function, local)?;
                let made = self.points_to.addresses.definition(self.program, function, local);
                let once = self.single[function] && !self.graphs[function].repeats(block);
                let object = self.points_to.object(Origin::Stack(function, local))?;
                if !once || !matches!(made, Some(Stmt::Alloca { .. })) {
                    return None;
                }
                object
            }
            _ => return None,
        };
        Some((Spot::start(object).shifted(Shift { offset: from.offset, stride: 0 }), *size))
    }
    /// A value, or what was stored in the variable it was loaded from, if that is stored once, before the threads of a
    /// statement are made.
    pub(super) fn stored(&self, value: Canonical, made_at: (ContextId, Place)) -> Canonical {
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
        if let Some(count) = self.writers.borrow().get(&spot) {
            return *count <= 1;
        }
        let outside = !self.points_to.calls_outside().is_empty() && self.points_to.is_known_outside(spot.object);
        let mut count = if outside { 2 } else { 0 };
        for (id, function) in self.program.functions.iter_enumerated() {
            for (block_id, block) in function.blocks.iter_enumerated() {
                for statement in &block.statements {
                    for access in accesses(self.program, &statement.stmt).iter().filter(|a| a.kind.writes()) {
                        let spots = match access.target {
                            Target::Pointer(operand) => self.points_to.of(id, &operand),
                            Target::List => self.points_to.outside().to_vec(),
                            Target::Library(_) => continue,
                        };
                        let written = (spot, Some(u64::from(size)));
                        let wild = matches!(access.target, Target::Pointer(operand)
                            if !access.perhaps && self.points_to.is_wild(id, &operand));
                        let hits = wild || spots.iter().any(|s| self.points_to.overlap((*s, access.len), written));
                        let once = self.single[id] && !self.graphs[id].repeats(block_id);
                        count += if !hits {
                            0
                        } else if once {
                            1
                        } else {
                            2
                        };
                    }
                }
            }
        }
        self.writers.borrow_mut().insert(spot, count);
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
        let far = one.offset.abs_diff(other.offset) >= 8;
        match (one.index, other.index) {
            (None, None) if one.root == other.root => far,
            _ => one.root != other.root && object(one) && object(other),
        }
    }
}
