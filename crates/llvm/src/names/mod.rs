//! What a person calls things: types, variables, and the expression of each access.

mod allocation;
mod debug_type;
mod expression;
mod types;
mod variables;

use model::{IndexVec, SiteId};
use program::{Lvalue, Site};

pub(crate) use self::debug_type::DebugType;
pub(crate) use self::types::Types;
pub(crate) use self::variables::{Variables, global};
use crate::lower::constant::Symbols;
use crate::sites::Sites;

/// Fills in what sites touch ([`Site::expression`]) and what type of object they bring into being
/// ([`Site::allocates`]).
pub(crate) fn annotate<'m>(
    symbols: &Symbols<'_, 'm>,
    sites: &Sites<'m>,
    types: &mut Types<'m>,
    table: &mut IndexVec<SiteId, Site>,
) {
    for (_, function) in symbols.functions.defined() {
        let names = expression::ValueNames::new(symbols, function);
        for instruction in function.instructions() {
            let Some(site) = sites.id(instruction) else { continue };
            table[site].expression = names.expression(instruction);
            table[site].lvalue = names.scalar(instruction).map(Lvalue::Scalar);
            table[site].allocates = names.allocated_type(instruction).map(|ty| types.of(ty));
        }
    }
}
