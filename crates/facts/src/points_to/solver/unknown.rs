//! Pointers of which nothing is known.
//!
//! They are a spot like any other while sets travel, and are taken out of the sets in the end ([`Solver::settle`]), so
//! that a set has what is known and [`Solver::may_be_unknown`] says whether that is all. What is read through them is
//! one of them. What is written through them is kept apart ([`Origin::Unknown`]'s own cells); as it may have been
//! written to anything, one of them may be read from anything then.

use super::memory::Mirror;
use super::{Node, Solver, Task};
use crate::spot::{Origin, Shift, Spot};

impl Solver {
    /// Follows them from now on; the spot that they have.
    pub(in crate::points_to) fn follow_unknown(&mut self) -> Spot {
        let object = self.unknown.unwrap_or_else(|| self.objects.push(Origin::Unknown));
        self.unknown = Some(object);
        Spot::new(object, Shift::ANYWHERE)
    }
    pub(super) fn unknown_spot(&self) -> Option<Spot> {
        self.unknown.map(|object| Spot::new(object, Shift::ANYWHERE))
    }
    /// Whether the spot is theirs.
    pub(in crate::points_to) fn is_unknown(&self, spot: Spot) -> bool {
        self.unknown == Some(spot.object)
    }
    /// Whether one of them is in a node's set; only when that has [settled](Self::settle).
    pub(in crate::points_to) fn may_be_unknown(&self, node: Node) -> bool {
        self.may_be_unknown.get(self.find(node) as usize).copied().unwrap_or(false)
    }

    pub(super) fn perform_unknown(&mut self, task: Task, unknown: Spot) {
        match task {
            Task::Load { size, to, .. } if self.may_hold_pointer(size) => self.add(to, &[unknown]),
            Task::Load { .. } | Task::Leak { .. } => {}
            Task::Store { from, .. } => {
                let cell = self.cell(unknown, None);
                self.flow(from, cell);
            }
            Task::CopyOut { .. } => self.unknown_copied = true,
            Task::CopyIn { from, .. } => self.mirror(Mirror { from: Spot::start(from), len: None, to: unknown }),
            Task::Invoke(number) => self.invoked.push((number, unknown)),
        }
    }

    /// Lets them be read from everywhere, if that may be and is new; whether there is more to solve now.
    pub(in crate::points_to) fn spread_unknown(&mut self) -> bool {
        let Some(unknown) = self.unknown_spot() else { return false };
        let written = || self.cells(unknown.object).any(|(_, _, n)| self.of(n).iter().any(|s| !self.is_unknown(*s)));
        if self.unknown_everywhere || !(self.unknown_copied || written()) {
            return false;
        }
        self.unknown_everywhere = true;
        let nodes: Vec<Node> = self.memory.iter().flat_map(|memory| memory.cells.iter().map(|c| c.node)).collect();
        nodes.into_iter().for_each(|node| self.add(node, &[unknown]));
        true
    }
}
