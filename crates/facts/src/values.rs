//! What values may point to, object by object: a view of the points-to solution.
//!
//! The solution has spots of abstract locations; some of these stand for the same memory. Here every piece of memory has one
//! name, its [`Root`]: a collapsed node is all its members, a block that a function fills before its callers know it by names
//! of their own is that block and all of theirs, and what nothing is known of is [`Root::Unknown`], which stands for every
//! object whose address is somewhere in memory (*escaped*). A pointer with an empty points-to set is `Unknown` too. Handles of
//! threads point to no memory of the program.
//!
//! Can be missed: pointers hidden from the language, inside vectors or floating-point values; memory that a library function
//! keeps for itself and returns without its row saying so, where the same pointer may also be to memory of the program. Never
//! claimed wrongly: a value points to nothing outside its set, if pointer arithmetic stays inside objects, as C demands.

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
    /// A heap block, by the statement that makes it: an allocation, or a call of a function that does nothing but allocate.
    Heap(ProgramPoint),
    /// A function.
    Function(FunctionId),
    /// Memory of the library.
    Library(LibraryState),
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
        let stored: BTreeSet<ObjectId> = homes.flat_map(|object| points_to.stored_in(object)).collect();
        let HandedOn { to_threads, by_threads, anywhere } = HandedOn::new(program, points_to);
        let outside = points_to.outside().iter().map(|spot| spot.object);
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
        Origin::Errno => Some(Root::Errno),
        Origin::Outside => Some(Root::Outside),
        Origin::Unknown => Some(Root::Unknown),
        Origin::Thread(_) | Origin::Transfer(_) | Origin::Collapsed => None,
    }
}

/// Everything that touching an abstract location may mean.
fn add_roots(points_to: &PointsTo, object: ObjectId, add: &mut impl FnMut(Root)) {
    let members = points_to.members(object).iter();
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
            Root::Library(_) | Root::Outside | Root::Unknown => true,
            Root::Function(_) => false,
            Root::Global(_) | Root::Stack(..) | Root::Heap(_) | Root::Errno => self.reach.shared.contains(&root),
        }
    }
}
