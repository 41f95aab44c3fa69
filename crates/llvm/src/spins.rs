//! Loops of the C++ library that look several times before they wait.
//!
//! `std::atomic::wait` and what is made of it (latches, barriers) look 16 times whether there is anything to wait for
//! (`std::__detail::__atomic_spin`). Each look is a read that a schedule may come before or after, so two threads that wait for
//! each other have thousands of schedules which do the same. One look is enough: a thread that would have seen the change at a
//! later look either sees it at its first one, in the schedule in which the change comes sooner, or goes to the wait itself,
//! which compares once more and looks again afterwards. What the look reads, and how it orders, stays as it is.
//!
//! A look that changes something is no mere look, and its loop stays as it is: that of `std::counting_semaphore` takes a
//! permit by a compare-exchange, whose failure tells the next one what to expect.

use std::collections::BTreeSet;

use inkwell::llvm_sys::LLVMOpcode;

use crate::ir::{Module, Value};

/// How the names of the functions begin.
const SPINS: &str = "_ZNSt8__detail13__atomic_spin";

/// How often they look (`std::__detail::__atomic_spin_count`).
const LOOKS: i64 = 16;

/// Lets every such loop look once.
pub(crate) fn shorten(linked: &inkwell::module::Module<'_>) {
    let module = Module::of(linked);
    let spins = module.functions().into_iter().filter(|function| function.name().starts_with(SPINS));
    for function in spins.filter(|function| only_looks(*function)) {
        for compare in function.instructions() {
            let is_compare = compare.opcode() == Some(LLVMOpcode::LLVMICmp);
            if is_compare && compare.part(1).as_integer() == Some(LOOKS) {
                compare.set_operand(1, compare.part(1).ty().number(1));
            }
        }
    }
}

/// Whether neither a function nor what it calls changes anything atomically. What is called through a pointer may.
fn only_looks(function: Value<'_>) -> bool {
    let (mut left, mut known) = (vec![function], BTreeSet::new());
    while let Some(function) = left.pop() {
        if !known.insert(function.name()) {
            continue;
        }
        for instruction in function.instructions() {
            match instruction.opcode() {
                Some(LLVMOpcode::LLVMAtomicCmpXchg | LLVMOpcode::LLVMAtomicRMW) => return false,
                Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke) => match instruction.called_function() {
                    Some(callee) => left.push(callee),
                    None => return false,
                },
                _ => {}
            }
        }
    }
    true
}
