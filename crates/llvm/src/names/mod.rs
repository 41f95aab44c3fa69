//! What a person calls things: types, variables, and the expression of each access.

mod allocation;
mod debug_type;
mod expression;
mod types;
mod variables;
mod whole;

use std::collections::BTreeSet;

use model::{IndexVec, SiteId};
use program::{Lvalue, Site};

pub(crate) use self::debug_type::DebugType;
pub(crate) use self::types::Types;
pub(crate) use self::variables::{Variables, global};
pub(crate) use self::whole::WholeAccess;
use crate::ir::Module;
use crate::lower::constant::Symbols;
use crate::sites::Sites;

/// Whether memory is used as one type at a time, as far as it was compiled with that in mind.
pub(crate) fn has_strict_types(module: Module<'_>) -> bool {
    const FLAGS: usize = 2;
    module.compile_units().iter().all(|unit| unit.string(FLAGS).is_none_or(|flags| flags != "-fno-strict-aliasing"))
}

/// What is accessed as whole structs.
#[derive(Default)]
pub(crate) struct Wholes {
    pub(crate) accesses: Vec<WholeAccess>,
    /// The structs behind whose end something may be kept.
    pub(crate) going_on: BTreeSet<String>,
}

/// Fills in what sites touch ([`Site::expression`]) and what type of object they bring into being
/// ([`Site::allocates`]).
pub(crate) fn annotate<'m>(
    symbols: &Symbols<'_, 'm>,
    sites: &Sites<'m>,
    types: &mut Types<'m>,
    table: &mut IndexVec<SiteId, Site>,
) -> Wholes {
    let mut wholes = Wholes::default();
    for (_, function) in symbols.functions.defined() {
        let names = expression::ValueNames::new(symbols, function);
        for instruction in function.instructions() {
            names.goes_on(instruction, &mut wholes.going_on);
            let Some(site) = sites.id(instruction) else { continue };
            names.wholes(site, instruction, &mut wholes.accesses);
            table[site].expression = names.expression(instruction);
            table[site].lvalue = names.scalar(instruction).map(Lvalue::Scalar);
            table[site].allocates = names.allocated_type(instruction).map(|ty| types.of(ty));
        }
    }
    wholes
}
