//! Values by where they were made, across calls: a parameter is the caller's argument.

use program::{FunctionId, LocalId, Operand, Program, Stmt};

use super::ContextId;
use crate::address::{Address, Addresses, Base};
use crate::invocations::ProgramPoint;

/// What a canonical value starts from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Root {
    /// The value of a local in a context.
    Local(ContextId, LocalId),
    /// What does not depend on a context; never a local.
    Fixed(Base),
}

/// `root + index · scale + offset`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Canonical {
    pub(super) root: Root,
    pub(super) index: Option<(ContextId, LocalId, i64)>,
    pub(super) offset: i64,
}

impl Canonical {
    /// The number it is, if it is one.
    pub(super) fn number(&self) -> Option<i64> {
        (self.root == Root::Fixed(Base::Number) && self.index.is_none()).then_some(self.offset)
    }
}

/// What is needed to follow parameters: who calls a context.
pub(super) trait Callers {
    /// The only caller of a context.
    fn only_caller(&self, context: ContextId) -> Option<(ContextId, ProgramPoint)>;
    /// The function of a context.
    fn function(&self, context: ContextId) -> FunctionId;
}

/// Follows parameters to the arguments of callers, as long as there is only one.
pub(super) fn canonical(
    program: &Program,
    addresses: &Addresses,
    callers: &impl Callers,
    mut context: ContextId,
    address: Address,
) -> Canonical {
    let mut index = address.index.map(|(local, scale)| (context, local, scale));
    let (mut base, mut offset) = (address.base, address.offset);
    while let Base::Local(local) = base {
        let Some(next) = argument(program, addresses, callers, context, local) else { break };
        let (caller, next): (ContextId, Address) = next;
        let Some(sum) = offset.checked_add(next.offset).filter(|_| index.is_none() || next.index.is_none()) else {
            break;
        };
        index = index.or(next.index.map(|(local, scale)| (caller, local, scale)));
        (context, base, offset) = (caller, next.base, sum);
    }
    let root = match base {
        Base::Local(local) => Root::Local(context, local),
        other => Root::Fixed(other),
    };
    // A counter may be handed on as it is.
    if let Some((at, local, scale)) = index
        && let Some((caller, value)) = argument(program, addresses, callers, at, local)
        && let (Base::Local(local), None, 0) = (value.base, value.index, value.offset)
    {
        index = Some((caller, local, scale));
    }
    Canonical { root, index, offset }
}

/// The argument that a parameter stands for.
fn argument(
    program: &Program,
    addresses: &Addresses,
    callers: &impl Callers,
    context: ContextId,
    local: LocalId,
) -> Option<(ContextId, Address)> {
    let (caller, place) = callers.only_caller(context)?;
    let statement = program.functions[place.0].blocks[place.1].statements.get(place.2)?;
    let Stmt::Call { args, .. } = &statement.stmt else { return None };
    let params = program.functions[callers.function(context)].params;
    let arg: &Operand = args.get(local.0 as usize).filter(|_| local.0 < params)?;
    Some((caller, addresses.of(place.0, arg)))
}
