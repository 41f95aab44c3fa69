//! Code of the standard streams that is compiled into the program.
//!
//! Standard stream objects (`std::cout` and the like) may be used by several threads at once without a data race,
//! although the code of their classes, where templates or inline functions put it into the program, accesses them
//! without synchronisation. Such code's accesses are not reported. What it calls is.

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
