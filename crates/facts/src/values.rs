//! What values may point to, object by object: a view of the points-to solution.
//!
//! The solution has spots of abstract locations; some of these stand for the same memory. Here every piece of memory
//! has one name, its [`Root`]: a collapsed node is all its members, a block that a function fills before its callers
//! know it by names of their own is that block and all of theirs, and what nothing is known of is [`Root::Unknown`],
//! which stands for every object whose address is somewhere in memory (*escaped*). A pointer with an empty points-to
//! set is `Unknown` too. Handles of threads point to no memory of the program.
//!
//! Can be missed: pointers hidden from the language, inside vectors or floating-point values; memory that a library
//! function keeps for itself and returns without its row saying so, where the same pointer may also be to memory of the
//! program. Never claimed wrongly: a value points to nothing outside its set, if pointer arithmetic stays inside
//! objects, as C demands.

use std::collections::{BTreeMap, BTreeSet};

use model::index::IndexVec;
use program::library::LibraryState;
use program::{FunctionId, GlobalId, LocalId, Operand, Program};

use crate::address::Base;
use crate::exposed::HandedOn;
use crate::invocations::ProgramPoint;
use crate::points_to::PointsTo;
use crate::spot::{ObjectId, Origin, Spot};

/// What a value may point to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Root {
    /// A global.
    Global(GlobalId),
    /// A local variable in memory, by the local that holds its address.
    Stack(FunctionId, LocalId),
    /// A heap block, by the statement that makes it: an allocation, or a call of a function that does nothing but
    /// allocate.
    Heap(ProgramPoint),
    /// A function.
    Function(FunctionId),
    /// Memory of the library.
    Library(LibraryState),
    /// The stream behind a variable of the C library.
    Stream(GlobalId),
    /// The error numbers of all threads.
    Errno,
    /// Memory of functions without a body, and of whoever started the program.
    Outside,
    /// Any escaped object.
    Unknown,
}

/// Objects with the byte offset into them, `None` for any.
pub type Roots = BTreeMap<Root, Option<i64>>;

/// Which objects are reached by whom.
#[derive(Default)]
pub(crate) struct Reach {
    escaped: BTreeSet<Root>,
    shared: BTreeSet<Root>,
    handed_over: BTreeSet<Root>,
}

impl Reach {
    pub(crate) fn new(program: &Program, points_to: &PointsTo, exposed: &IndexVec<ObjectId, bool>) -> Self {
        let mut this = Self::default();
        // The cells of a member are those of its collapsed node.
        let homes = points_to.objects().ids().filter(|object| points_to.collapsed_node(*object).is_none());
        let stored: BTreeSet<ObjectId> = homes.flat_map(|object| points_to.stored_in(object)).copied().collect();
        let HandedOn { to_threads, by_threads, anywhere } = HandedOn::new(program, points_to);
        let outside =
            points_to.outside().iter().map(|spot| spot.object).chain(points_to.known_to_libraries().iter().copied());
        for object in stored.into_iter().chain(by_threads).chain(anywhere).chain(outside) {
            add_roots(points_to, object, &mut |root| this.escaped.extend([root]));
        }
        for object in to_threads {
            add_roots(points_to, object, &mut |root| this.handed_over.extend([root]));
        }
        for (object, _) in exposed.iter_enumerated().filter(|(_, exposed)| **exposed) {
            this.shared.extend(root(points_to.origin(object)));
        }
        this
    }
}

/// The memory that an abstract location stands for, where it stands for one piece.
fn root(origin: Origin) -> Option<Root> {
    match origin {
        Origin::Global(global) => Some(Root::Global(global)),
        Origin::Stack(function, local) => Some(Root::Stack(function, local)),
        Origin::Heap(point) => Some(Root::Heap(point)),
        Origin::Function(function) => Some(Root::Function(function)),
        Origin::Library(state) => Some(Root::Library(state)),
        Origin::Stream(global) => Some(Root::Stream(global)),
        Origin::Errno => Some(Root::Errno),
        Origin::Outside | Origin::Arguments | Origin::ArgumentTexts => Some(Root::Outside),
        Origin::Unknown => Some(Root::Unknown),
        Origin::AnyFunction | Origin::Thread(_) | Origin::Transfer(_) | Origin::Constants | Origin::Collapsed => None,
    }
}

/// Everything that touching an abstract location may mean.
fn add_roots(points_to: &PointsTo, object: ObjectId, add: &mut impl FnMut(Root)) {
    let members = points_to.members(object).iter();
    if points_to.origin(object) == Origin::AnyFunction {
        points_to.functions_as_values().for_each(|function| add(Root::Function(function)));
    }
    for object in members.chain([&object]) {
        let names = points_to.clones(*object).iter().chain([object]);
        names.filter_map(|name| root(points_to.origin(*name))).for_each(&mut *add);
    }
}

/// The view.
#[derive(Clone, Copy)]
pub struct Values<'f> {
    pub(crate) points_to: &'f PointsTo,
    pub(crate) reach: &'f Reach,
}

impl Values<'_> {
    /// What an operand of a function may point to.
    pub fn of(&self, function: FunctionId, operand: &Operand) -> Roots {
        let address = self.points_to.addresses.of(function, operand);
        let mut roots = self.roots(&self.points_to.spots(function, &address));
        let number = address.base == Base::Number && address.offset != 0;
        if number || self.points_to.may_be_unknown(function, operand) {
            roots.insert(Root::Unknown, None);
        }
        roots
    }
    /// What is at these spots.
    pub(crate) fn roots(&self, spots: &[Spot]) -> Roots {
        let mut roots = Roots::new();
        for spot in spots {
            let at = (spot.stride == 0).then_some(i64::from(spot.offset));
            add_roots(self.points_to, spot.object, &mut |root| {
                let known = roots.entry(root).or_insert(at);
                *known = known.filter(|known| Some(*known) == at);
            });
        }
        roots
    }

    /// Whether the object's address is somewhere in memory, so that an unknown pointer may point to it.
    pub fn is_escaped(&self, root: Root) -> bool {
        root == Root::Unknown || self.reach.escaped.contains(&root)
    }
    /// Whether the object's address is given to a new thread.
    pub fn is_handed_over(&self, root: Root) -> bool {
        self.reach.handed_over.contains(&root)
    }
    /// Whether more than one thread may touch the object.
    pub fn is_shared(&self, root: Root) -> bool {
        match root {
            Root::Library(_) | Root::Stream(_) | Root::Outside | Root::Unknown => true,
            Root::Function(_) => false,
            Root::Global(_) | Root::Stack(..) | Root::Heap(_) | Root::Errno => self.reach.shared.contains(&root),
        }
    }
}

#[cfg(test)]
mod tests {
    use program::Stmt;

    use super::*;
    use crate::Facts;

    /// What the address of the last store in `main` may point to, and the facts.
    fn last_store(body: &str) -> (Facts, Roots) {
        let text = format!(
            "global x: 8\nglobal p: 8\nfn main(%n) {{\nentry:\n{body}\n  return 0\n}}\n\
             fn make() {{\nentry:\n  %b = alloc 8\n  store 4, %b, 0\n  return %b\n}}\nentry main\n"
        );
        let facts = Facts::of(Program::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}")));
        let main = facts.program().main.unwrap();
        let statements = facts.program().functions[main].blocks.iter().flat_map(|b| &b.statements);
        let mut addresses = statements.filter_map(|s| match s.stmt {
            Stmt::Store { address, .. } => Some(address),
            _ => None,
        });
        let address = addresses.next_back().unwrap();
        let roots = facts.values().unwrap().of(main, &address);
        (facts, roots)
    }

    fn roots(body: &str) -> Vec<(Root, Option<i64>)> {
        last_store(body).1.into_iter().collect()
    }

    const X: Root = Root::Global(GlobalId(0));

    #[test]
    fn memory_is_followed() {
        assert_eq!(roots("store 8, @p, @x+4\n%q = load 8, @p\nstore 4, %q, 1"), [(X, Some(4))]);
        assert_eq!(roots("%a = offset @x, %n, 4, 0\nstore 4, %a, 1"), [(X, None)]);
    }

    #[test]
    fn what_nothing_is_known_of_is_unknown() {
        let unknown = (Root::Unknown, None);
        assert_eq!(roots("%q = load 8, @p\nstore 4, %q, 1"), [unknown], "nothing was ever stored there");
        assert_eq!(roots("store 4, 4096, 1"), [unknown]);
        assert_eq!(roots("store 4, 0, 1"), []);
        assert_eq!(roots("%q = select %n, @x, ?\nstore 4, %q, 1"), [(X, Some(0)), unknown]);
        assert_eq!(roots("%q = load 8, ?\n%r = select %n, @x, %q\nstore 4, %r, 1"), [(X, Some(0)), unknown]);
        let anything = "store 8, @p, @x\nstore 8, ?, @x\n%q = load 8, @p\nstore 4, %q, 1";
        assert_eq!(roots(anything), [(X, Some(0)), unknown], "the store may have been to `p`");
    }

    #[test]
    fn what_is_stored_escapes() {
        let (facts, _) = last_store("store 8, ?, @x\nstore 4, @p, 1");
        let values = facts.values().unwrap();
        assert!(values.is_escaped(X) && !values.is_escaped(Root::Global(GlobalId(1))));
    }

    #[test]
    fn a_block_has_the_names_of_all_callers() {
        let (facts, caller) = last_store("%q = call make()\nstore 4, %q, 1");
        let caller: Vec<Root> = caller.into_keys().collect();
        assert!(matches!(caller[..], [Root::Heap(_)]), "{caller:?}");
        let make = facts.program().functions.ids().nth(1).unwrap();
        let inside: Vec<Root> = facts.values().unwrap().of(make, &Operand::Local(LocalId(0))).into_keys().collect();
        assert!(inside.len() == 2 && inside.contains(&caller[0]), "{inside:?}");
    }
}
