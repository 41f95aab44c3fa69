//! The facts that engines which follow threads share, all computed.

use model::Budget;
use model::index::IndexVec;
use program::{FunctionId, Program};

use crate::address::{Address, Base};
use crate::flow_graph::FlowGraph;
use crate::invocations::{Invocations, ProgramPoint};
use crate::objects;
use crate::order::{Binding, Context, Order};
use crate::points_to::PointsTo;
use crate::spot::{ObjectId, Spot};

/// What holds of a program in every run, for those who follow its threads.
#[derive(Clone, Copy)]
pub struct Solved<'f> {
    /// The program.
    pub program: &'f Program,
    /// What going on from here may use.
    pub budget: &'f Budget,
    /// What values and memory may point to, and who calls whom.
    pub points_to: &'f PointsTo,
    /// The blocks of functions.
    pub graphs: &'f IndexVec<FunctionId, FlowGraph>,
    /// What can happen at most once.
    pub invocations: &'f Invocations,
    /// Threads, contexts and what may happen in parallel.
    pub order: &'f Order,
    pub(crate) exposed: &'f IndexVec<ObjectId, bool>,
}

impl Solved<'_> {
    /// Whether the object is data that more than one thread may know.
    pub fn is_exposed(&self, object: ObjectId) -> bool {
        self.exposed[object]
    }
    /// Whether the function runs at most once in a run.
    pub fn runs_once(&self, function: FunctionId) -> bool {
        self.invocations.runs_once(function)
    }
    /// Whether the statement is executed at most once in a run.
    pub fn happens_once(&self, point: ProgramPoint) -> bool {
        self.invocations.at_most_once(point)
    }
    /// Whether the object stands for one object only.
    pub fn is_unique(&self, object: ObjectId) -> bool {
        objects::is_unique(self.program, self.points_to, self.invocations, object)
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
