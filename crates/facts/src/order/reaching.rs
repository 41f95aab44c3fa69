//! Which creation's handle is in a local variable at a point of straight-line code.

use program::{FunctionId, LocalId, Operand, Stmt, SyncOp};

use super::walk::Tree;
use crate::accesses::{Designator, accesses};
use crate::address::{Address, Base};
use crate::invocations::ProgramPoint;
use crate::spot::Origin;

/// How many statements are looked at on the way back.
const MOST_STEPS: usize = 2000;

impl Tree<'_> {
    /// The creation whose handle a join is given: the result itself, or what was stored last in a variable of the
    /// function's own, however often it was copied between such variables. Ways that branch are not followed.
    pub(super) fn creation_of(&self, at: ProgramPoint, handle: &Operand) -> Option<ProgramPoint> {
        let function = at.0;
        let (mut value, mut steps) = (*handle, MOST_STEPS);
        loop {
            let Operand::Local(local) = value else { return None };
            let (block, index) = self.points_to.addresses.defined_at(function, local)?;
            let place = (function, block, index as usize);
            match self.points_to.addresses.definition(self.program, function, local)? {
                Stmt::Sync { op: SyncOp::Create { .. }, .. } => return Some(place),
                Stmt::Load { address, size, .. } if *size == self.program.architecture.pointer_size() => {
                    let slot = self.points_to.addresses.of(function, address);
                    value = self.last_stored(place, slot, &mut steps)?;
                }
                _ => return None,
            }
        }
    }

    /// What was stored last in a variable before a statement.
    fn last_stored(
        &self,
        (function, mut block, index): ProgramPoint,
        slot: Address,
        steps: &mut usize,
    ) -> Option<Operand> {
        let Base::Local(variable) = slot.base else { return None };
        if slot.index.is_some() || !self.is_own(function, variable) {
            return None;
        }
        let body = &self.program.functions[function];
        let mut before = index;
        loop {
            for statement in body.blocks[block].statements[..before].iter().rev() {
                *steps = steps.checked_sub(1)?;
                match &statement.stmt {
                    Stmt::Store { address, value, size, .. }
                        if *size == self.program.architecture.pointer_size()
                            && self.points_to.addresses.of(function, address) == slot =>
                    {
                        return Some(*value);
                    }
                    stmt if self.may_change(function, stmt, slot) => return None,
                    _ => {}
                }
            }
            let [only] = self.graphs[function].predecessors[block][..] else { return None };
            (block, before) = (only, body.blocks[only].statements.len());
        }
    }

    /// Whether a statement may write to the bytes of a handle.
    fn may_change(&self, function: FunctionId, stmt: &Stmt, slot: Address) -> bool {
        let size = u64::from(self.program.architecture.pointer_size());
        let spots = self.points_to.spots(function, &slot);
        accesses(self.program, function, stmt).iter().filter(|access| access.kind.writes()).any(|access| {
            let Designator::Pointer(operand) = access.designator else { return true };
            let there = self.points_to.of(function, &operand);
            self.points_to.is_wild(function, &operand)
                || there
                    .iter()
                    .any(|s| spots.iter().any(|own| self.points_to.overlap((*s, access.len), (*own, Some(size)))))
        })
    }

    /// Whether a local is a variable that no other function, thread or outer call of this one writes to.
    fn is_own(&self, function: FunctionId, variable: LocalId) -> bool {
        if let Some(known) = self.own.borrow().get(&(function, variable)) {
            return *known;
        }
        let own = self.points_to.object(Origin::Stack(function, variable)).is_some_and(|object| {
            let outside = !self.points_to.calls_outside().is_empty() && self.points_to.is_known_outside(object);
            let others = self.program.functions.iter_enumerated().filter(|(id, _)| *id != function);
            let mut statements =
                others.flat_map(|(id, f)| f.blocks.iter().flat_map(|b| &b.statements).map(move |s| (id, s)));
            let writes = |(id, statement): (FunctionId, &program::Statement)| {
                accesses(self.program, id, &statement.stmt).iter().filter(|access| access.kind.writes()).any(|access| {
                    match access.designator {
                        Designator::Pointer(operand) => {
                            !access.perhaps && self.points_to.is_wild(id, &operand)
                                || self.points_to.of(id, &operand).iter().any(|spot| {
                                    spot.object == object || self.points_to.collapsed_node(object) == Some(spot.object)
                                })
                        }
                        Designator::Library(_) => false,
                        Designator::Behind(..)
                        | Designator::Linked(..)
                        | Designator::BehindLibrary(_)
                        | Designator::List(_) => true,
                    }
                })
            };
            !outside && !self.invocations.is_recursive(function) && !statements.any(writes)
        });
        self.own.borrow_mut().insert((function, variable), own);
        own
    }
}
