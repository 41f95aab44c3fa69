//! The memory of abstract locations: cells, and content that flows from one to another.

use std::cmp::Ordering;

use program::Lvalue;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Node, Solver, Task};
use crate::spot::{ObjectId, Shift, Spot};

/// Cells of one object before they become one.
const MOST_CELLS: usize = 192;

/// A piece of an object's memory; of typed memory as this lvalue.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) spot: Spot,
    pub(super) size: Option<u32>,
    pub(super) lvalue: Option<Lvalue>,
    /// What is stored there.
    pub(super) node: Node,
    /// What is found there: also what was stored as narrower lvalues that these bytes may be.
    pub(super) read: Node,
}

/// How much an lvalue may be: a member is one place, a scalar any place of its kind, and what is not known anything.
fn breadth(lvalue: Option<Lvalue>) -> u8 {
    match lvalue {
        Some(Lvalue::Member(_)) => 0,
        Some(Lvalue::Scalar(_)) => 1,
        Some(Lvalue::Whole(_)) | None => 2,
    }
}

/// Content that flows on to another object.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Mirror {
    pub(super) from: Spot,
    pub(super) len: Option<u32>,
    pub(super) to: Spot,
}

#[derive(Default)]
pub(super) struct Memory {
    pub(super) cells: Vec<Cell>,
    found: FxHashMap<(Spot, Option<u32>, Option<Lvalue>), usize>,
    pub(super) mirrors: Vec<Mirror>,
    pub(super) known_mirrors: FxHashSet<Mirror>,
    pub(super) leaks: Vec<Node>,
    pub(super) collapsed: bool,
}

impl Solver {
    /// What is in an object is in its collapsed node from now on.
    pub(super) fn move_memory(&mut self, object: ObjectId, collapsed: ObjectId) {
        let memory = std::mem::take(self.memory(object));
        let of = |spot: Spot| Spot { object: collapsed, ..spot };
        for cell in memory.cells {
            let there = self.piece(of(cell.spot), cell.size, cell.lvalue);
            self.merge(there.node, cell.node);
            self.merge(there.read, cell.read);
        }
        for mirror in memory.mirrors {
            self.mirror(Mirror { from: of(mirror.from), ..mirror });
        }
        for to in memory.leaks {
            self.perform(Task::Leak { to }, Spot::start(collapsed));
        }
    }

    /// The memory of an object that is its own home.
    pub(super) fn memory(&mut self, object: ObjectId) -> &mut Memory {
        let index = object.0 as usize;
        if self.memory.len() <= index {
            self.memory.resize_with(index + 1, Memory::default);
        }
        &mut self.memory[index]
    }

    /// The node of what is stored in a piece of memory.
    pub(in crate::points_to) fn cell(&mut self, spot: Spot, size: Option<u32>) -> Node {
        self.piece(spot, size, None).node
    }

    /// A piece of memory, merged with all pieces that it overlaps. In typed memory, what is stored as one lvalue is kept
    /// apart from what is stored as another; a broader one finds what was stored as narrower ones, and the other way round,
    /// but it does not join them.
    pub(super) fn piece(&mut self, spot: Spot, size: Option<u32>, lvalue: Option<Lvalue>) -> Cell {
        let spot = Spot { object: self.collapsed_nodes.home(spot.object), ..spot };
        let lvalue = lvalue.filter(|_| self.types.is_typed(self.objects[spot.object]));
        let memory = self.memory(spot.object);
        // Before anything is reflected: the cells of an object that mirrors itself further along have no end.
        memory.collapsed |= memory.cells.len() >= MOST_CELLS && !memory.found.contains_key(&(spot, size, lvalue));
        let (spot, size) =
            if memory.collapsed { (Spot::new(spot.object, Shift::ANYWHERE), None) } else { (spot, size) };
        if let Some(cell) = memory.found.get(&(spot, size, lvalue)) {
            return memory.cells[*cell];
        }
        let len = |size: Option<u32>| size.map(u64::from);
        let overlapped: Vec<Cell> = {
            let cells = memory.cells.iter().filter(|c| spot.overlaps(len(size), c.spot, len(c.size)));
            cells.copied().collect()
        };
        let node = self.node();
        let read = if breadth(lvalue) > 0 && self.types.are_used() { self.node() } else { node };
        self.edge(node, read, Shift::default());
        let cell = Cell { spot, size, lvalue, node, read };
        let memory = &mut self.memory[spot.object.0 as usize];
        memory.found.insert((spot, size, lvalue), memory.cells.len());
        memory.cells.push(cell);
        let mirrors = memory.mirrors.clone();
        for other in overlapped {
            let is_apart = |(one, another)| !self.types.may_be_same(one, another);
            if lvalue.zip(other.lvalue).is_some_and(is_apart) {
                continue;
            }
            match breadth(lvalue).cmp(&breadth(other.lvalue)) {
                Ordering::Equal => {
                    self.merge(node, other.node);
                    self.merge(read, other.read);
                }
                Ordering::Less => {
                    self.edge(other.node, node, Shift::default());
                    self.edge(node, other.read, Shift::default());
                }
                Ordering::Greater => {
                    self.edge(node, other.node, Shift::default());
                    self.edge(other.node, read, Shift::default());
                }
            }
        }
        for mirror in mirrors {
            self.reflect(mirror, cell);
        }
        if self.unknown_everywhere
            && let Some(unknown) = self.unknown_spot()
        {
            self.add(node, &[unknown]);
        }
        cell
    }

    pub(super) fn mirror(&mut self, mirror: Mirror) {
        let from = Spot { object: self.collapsed_nodes.home(mirror.from.object), ..mirror.from };
        let mirror = Mirror { from, ..mirror };
        let memory = self.memory(from.object);
        if !memory.known_mirrors.insert(mirror) {
            return;
        }
        memory.mirrors.push(mirror);
        for cell in memory.cells.clone() {
            self.reflect(mirror, cell);
        }
    }
    /// What flows from one cell through a mirror.
    fn reflect(&mut self, mirror: Mirror, cell: Cell) {
        let size = cell.size.map(u64::from);
        if !mirror.from.overlaps(mirror.len.map(u64::from), cell.spot, size) {
            return;
        }
        let from = mirror.from.within();
        let back = Shift { offset: -from.offset, stride: from.stride };
        let within = cell.spot.within().then(back);
        let to = mirror.to.shifted(within);
        let to = self.piece(to, cell.size, cell.lvalue);
        self.edge(cell.node, to.node, Shift::default());
    }
}

#[cfg(test)]
mod tests {
    use model::Budget;

    use super::super::Source;
    use super::*;
    use crate::spot::Origin;

    /// `a[i + 1] = a[i]` over structures: each cell of the array flows into the next one.
    #[test]
    fn an_object_that_mirrors_itself_has_few_cells() {
        let mut solver = Solver::default();
        let object = solver.objects.push(Origin::Outside);
        let start = Spot::start(object);
        let along = Shift { offset: 56, stride: 0 };
        let content = Spot::start(solver.objects.push(Origin::Errno));
        solver.task(
            Source::Spot(start),
            Task::Store { shift: Shift::default(), size: Some(8), lvalue: None, from: Source::Spot(content) },
        );
        solver.mirror(Mirror { from: start, len: None, to: start.shifted(along) });
        solver.solve(&Budget::default()).unwrap();
        assert!(solver.cells(object).count() <= MOST_CELLS + 1);
        let far = solver.cell(Spot::new(object, Shift { offset: 56 * 10_000, stride: 0 }), Some(8));
        solver.solve(&Budget::default()).unwrap();
        assert_eq!(solver.of(far), [content]);
    }
}
