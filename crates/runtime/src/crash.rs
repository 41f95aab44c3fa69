//! Signals: a crash ends a thread, not the process; the host's watchdog ends the run.

use core::ffi::{c_int, c_void};

use crate::context;
use crate::kept;
use crate::libc_models::library_function::LibraryFunction;
use crate::run::{self, RUN, Reason};
use crate::slots::Slot;
use crate::text::{Text, text};

/// A signal that ended a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signal {
    /// Which.
    pub number: c_int,
    code: c_int,
    address: usize,
    /// Where in the code.
    pub counter: usize,
}

/// A description of the crash; `slot` is the thread's.
pub fn describe(signal: Signal, slot: Slot) -> Text {
    let address = signal.address;
    match signal.number {
        libc::SIGSEGV if slot.guard().contains(&address) => text!("stack overflow"),
        libc::SIGSEGV => text!("segmentation fault at address {address:#x}"),
        libc::SIGBUS => text!("bus error at address {address:#x}"),
        libc::SIGFPE if signal.code == FPE_INTDIV => text!("integer division by zero"),
        libc::SIGFPE => text!("arithmetic error"),
        libc::SIGILL => text!("illegal instruction"),
        libc::SIGABRT => text!("abort"),
        number => text!("signal {number}"),
    }
}

const FPE_INTDIV: c_int = 1;

extern "C" fn handle(number: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let alarm = number == libc::SIGALRM;
    if !RUN.in_thread.get() && alarm {
        // Between runs, or about to be answered; the watchdog tries again if not.
        return;
    }
    // SAFETY: the kernel hands in both structures for the handler to read and change, since it was installed with
    // `SA_SIGINFO`. All signals but the alarm are faults here, or sent by the process to itself; `si_addr` of those only
    // reads a field.
    let (code, address, machine) = unsafe {
        let machine = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext;
        ((*info).si_code, (*info).si_addr() as usize, machine)
    };
    if !RUN.in_thread.get() {
        run::fail(text!("the runtime itself received signal {number} at address {address:#x}").as_str());
    }
    // The thread will never continue, so what it borrowed is free again.
    crate::cell::abandon_borrows();
    RUN.reason.set(if alarm {
        Reason::TimeLimit
    } else {
        Reason::Crashed(Signal { number, code, address, counter: counter(machine) })
    });
    // The return from the signal goes on with the scheduler; the thread's context is given up.
    leave_to(machine, RUN.scheduler.get());
}

#[cfg(target_arch = "x86_64")]
fn counter(machine: &libc::mcontext_t) -> usize {
    machine.gregs[libc::REG_RIP as usize] as usize
}

#[cfg(target_arch = "aarch64")]
fn counter(machine: &libc::mcontext_t) -> usize {
    machine.pc as usize
}

#[cfg(target_arch = "x86_64")]
fn leave_to(machine: &mut libc::mcontext_t, scheduler: context::Suspended) {
    const DIRECTION_FLAG: i64 = 0x400;
    machine.gregs[libc::REG_RIP as usize] = context::resume as *const () as i64;
    machine.gregs[libc::REG_RSP as usize] = scheduler as i64;
    machine.gregs[libc::REG_EFL as usize] &= !DIRECTION_FLAG;
}

#[cfg(target_arch = "aarch64")]
fn leave_to(machine: &mut libc::mcontext_t, scheduler: context::Suspended) {
    machine.pc = context::resume as *const () as u64;
    machine.sp = scheduler as u64;
}

/// Installs the handlers: in the kernel, not among the program's.
pub fn install() {
    type Sigaction = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
    // SAFETY: the type is that of the C library's function.
    static SIGACTION: LibraryFunction<Sigaction> = unsafe { LibraryFunction::new(c"sigaction") };
    let stack = kept::SIGNAL_STACK;
    // SAFETY: the stack is mapped and used for nothing else; the handler has the type that `SA_SIGINFO` asks for; all zero
    // is a value of the structure.
    unsafe {
        let stack = libc::stack_t { ss_sp: stack.start as *mut c_void, ss_flags: 0, ss_size: stack.len() };
        libc::sigaltstack(&stack, core::ptr::null_mut());
        let mut action: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigfillset(&mut action.sa_mask);
        let signals = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGALRM];
        for signal in signals {
            SIGACTION.get()(signal, &raw const action, core::ptr::null_mut());
        }
    }
}
