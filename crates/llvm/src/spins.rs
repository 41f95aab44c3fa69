//! Loops of the C++ library that look several times before they wait.
//!
//! `std::atomic::wait` and all that is made of it (latches, barriers, semaphores) look 16 times whether there is anything to
//! wait for (`std::__detail::__atomic_spin`). Each look is a read that a schedule may come before or after, so two threads that
//! wait for each other have thousands of schedules which do the same. One look is enough: a thread that would have seen the
//! change at a later look either sees it at its first one, in the schedule in which the change comes sooner, or goes to the
//! wait itself, which compares once more and looks again afterwards. What the look reads, and how it orders, stays as it is.

use inkwell::llvm_sys::LLVMOpcode;

use crate::ir::Module;

/// How the names of the functions begin.
const SPINS: &str = "_ZNSt8__detail13__atomic_spin";

/// How often they look (`std::__detail::__atomic_spin_count`).
const LOOKS: i64 = 16;

/// Lets every such loop look once.
pub(crate) fn shorten(linked: &inkwell::module::Module<'_>) {
    let module = Module::of(linked);
    for function in module.functions().into_iter().filter(|function| function.name().starts_with(SPINS)) {
        for compare in function.instructions() {
            let is_compare = compare.opcode() == Some(LLVMOpcode::LLVMICmp);
            if is_compare && compare.part(1).as_integer() == Some(LOOKS) {
                compare.set_operand(1, compare.part(1).ty().number(1));
            }
        }
    }
}
