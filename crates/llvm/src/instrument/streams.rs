//! Code of the standard streams that is compiled into the program.
//!
//! Standard stream objects (`std::cout` and the like) may be used by several threads at once without a data race,
//! although the code of their classes, where templates or inline functions put it into the program, accesses them
//! without synchronisation. Whether an object is one of these is known only when the code runs, so a hook decides about
//! each of its accesses.

use inkwell::llvm_sys::LLVMOpcode;
use model::SiteId;

use super::Weaver;
use crate::debug::DebugLocation;
use crate::ir::Value;

/// Beginnings of the mangled names of members of stream classes and of `std::operator<<`, `std::operator>>` and
/// the manipulators.
const PREFIXES: [&str; 20] = [
    "_ZNKSd",
    "_ZNKSi",
    "_ZNKSo",
    "_ZNKSt13basic_istream",
    "_ZNKSt13basic_ostream",
    "_ZNKSt15basic_streambuf",
    "_ZNKSt8ios_base",
    "_ZNKSt9basic_ios",
    "_ZNSd",
    "_ZNSi",
    "_ZNSo",
    "_ZNSt13basic_istream",
    "_ZNSt13basic_ostream",
    "_ZNSt15basic_streambuf",
    "_ZNSt8ios_base",
    "_ZNSt9basic_ios",
    "_ZSt4endl",
    "_ZSt5flush",
    "_ZStls",
    "_ZStrs",
];

/// Whether the function with this linker name is code of the standard streams.
pub(super) fn is_stream_function(symbol: &str) -> bool {
    PREFIXES.iter().any(|prefix| symbol.starts_with(prefix))
}

/// Whether an instruction is code of the standard streams that was inlined where it is.
pub(super) fn is_of_stream(instruction: Value<'_>) -> bool {
    let symbol = DebugLocation::of(instruction).and_then(DebugLocation::symbol);
    symbol.is_some_and(|symbol| is_stream_function(&symbol))
}

impl<'m> Weaver<'_, 'm> {
    /// A load or store in code of the standard streams: an event if it is not one of theirs that is accessed.
    pub(super) fn access_of_stream(&mut self, instruction: Value<'m>, site: SiteId) {
        let Some(address) = instruction.address() else { return };
        if !self.needs_hook(address) || !self.is_ordinary(address, site) {
            return;
        }
        let is_load = instruction.opcode() == Some(LLVMOpcode::LLVMLoad);
        let accessed = if is_load { Some(instruction) } else { instruction.operand(0) };
        let Some(size) = accessed.map(|value| self.size(value.ty())).filter(|size| *size > 0) else { return };
        self.insert.before(instruction);
        self.insert.hook("__rp_call_begin", &[self.site(site)]);
        let [size, writes] = [u64::from(size), u64::from(!is_load)].map(|number| self.insert.const_i64(number));
        self.insert.hook("__rp_add_of_stream", &[address, size, writes]);
        self.insert.hook("__rp_call_end", &[]);
    }
}
