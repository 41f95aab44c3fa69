//! Switching stacks.
//!
//! A suspended context is its stack pointer: what a function call must preserve lies on its stack, and the address
//! to go on at on top of that. Vector registers need not be preserved over a call on either architecture (but for the
//! low halves of `d8`–`d15` on aarch64).

use core::arch::naked_asm;

/// A suspended context.
pub type Suspended = *mut u8;

/// Suspends the running context to `*save` and continues with `to`.
///
/// # Safety
/// `to` was suspended by this function or made by [`prepare`], and has not been resumed since.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub unsafe extern "C" fn switch(save: *mut Suspended, to: Suspended) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "stmxcsr [rsp]",
        "fnstcw [rsp + 4]",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "jmp {resume}",
        resume = sym resume,
    )
}

/// Clears what the floating-point unit remembers of exceptions and a switch does not save.
pub fn forget_exceptions() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: changes the status of the x87 unit and nothing else.
    unsafe {
        core::arch::asm!("fnclex", options(nomem, nostack));
    }
}

/// Goes on with the context whose stack pointer is loaded. Not to be called: signal handlers return into it.
///
/// # Safety
/// The stack pointer is a [`Suspended`].
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub unsafe extern "C" fn resume() {
    naked_asm!(
        "ldmxcsr [rsp]",
        "fldcw [rsp + 4]",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// The bottom frame of a stack. Unwinders and debuggers stop here.
///
/// # Safety
/// Not to be called: a context made by [`prepare`] starts here.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn bottom() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        "xor ebp, ebp",
        "mov rdi, r13",
        "call r12",
        "ud2",
        ".cfi_endproc"
    )
}

/// Makes a context on the stack that ends at `top`: it will call `entry(argument)`, which never returns.
///
/// # Safety
/// `top` is the end of a writable stack.
#[cfg(target_arch = "x86_64")]
pub unsafe fn prepare(top: *mut u8, entry: extern "C" fn(usize) -> !, argument: usize) -> Suspended {
    // Control words as the psABI wants them at process start: all exceptions masked, round to nearest.
    const CONTROL_WORDS: u64 = 0x037f_0000_1f80;
    let frame: [u64; 10] =
        [CONTROL_WORDS, 0, 0, argument as u64, entry as usize as u64, 0, 0, bottom as *const () as u64, 0, 0];
    let sp = (top as usize & !15).wrapping_sub(size_of_val(&frame));
    // SAFETY: by the caller the stack is writable below `top`; `sp` is 16-aligned and leaves room for the frame.
    unsafe { (sp as *mut [u64; 10]).write(frame) };
    sp as Suspended
}

/// Suspends the running context to `*save` and continues with `to`.
///
/// # Safety
/// `to` was suspended by this function or made by [`prepare`], and has not been resumed since.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub unsafe extern "C" fn switch(save: *mut Suspended, to: Suspended) {
    naked_asm!(
        "sub sp, sp, #176",
        "stp x19, x20, [sp, #0]",
        "stp x21, x22, [sp, #16]",
        "stp x23, x24, [sp, #32]",
        "stp x25, x26, [sp, #48]",
        "stp x27, x28, [sp, #64]",
        "stp x29, x30, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "mrs x9, fpcr",
        "str x9, [sp, #160]",
        "mov x9, sp",
        "str x9, [x0]",
        "mov sp, x1",
        "b {resume}",
        resume = sym resume,
    )
}

/// Goes on with the context whose stack pointer is loaded. Not to be called: signal handlers return into it.
///
/// # Safety
/// The stack pointer is a [`Suspended`].
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub unsafe extern "C" fn resume() {
    naked_asm!(
        "ldr x9, [sp, #160]",
        "msr fpcr, x9",
        "ldp x19, x20, [sp, #0]",
        "ldp x21, x22, [sp, #16]",
        "ldp x23, x24, [sp, #32]",
        "ldp x25, x26, [sp, #48]",
        "ldp x27, x28, [sp, #64]",
        "ldp x29, x30, [sp, #80]",
        "ldp d8, d9, [sp, #96]",
        "ldp d10, d11, [sp, #112]",
        "ldp d12, d13, [sp, #128]",
        "ldp d14, d15, [sp, #144]",
        "add sp, sp, #176",
        "ret",
    )
}

/// The bottom frame of a stack. Unwinders and debuggers stop here.
///
/// # Safety
/// Not to be called: a context made by [`prepare`] starts here.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn bottom() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined x30",
        "mov x29, #0",
        "mov x30, #0",
        "mov x0, x20",
        "blr x19",
        "brk #1",
        ".cfi_endproc"
    )
}

/// Makes a context on the stack that ends at `top`: it will call `entry(argument)`, which never returns.
///
/// # Safety
/// `top` is the end of a writable stack.
#[cfg(target_arch = "aarch64")]
pub unsafe fn prepare(top: *mut u8, entry: extern "C" fn(usize) -> !, argument: usize) -> Suspended {
    let mut frame = [0u64; 22];
    frame[0] = entry as usize as u64;
    frame[1] = argument as u64;
    frame[11] = bottom as *const () as u64;
    let sp = (top as usize & !15).wrapping_sub(size_of_val(&frame));
    // SAFETY: by the caller the stack is writable below `top`; `sp` is 16-aligned and leaves room for the frame.
    unsafe { (sp as *mut [u64; 22]).write(frame) };
    sp as Suspended
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::{Cell, RefCell};

    struct Pair {
        main: Cell<Suspended>,
        other: Cell<Suspended>,
        log: RefCell<Vec<u32>>,
    }

    extern "C" fn other(argument: usize) -> ! {
        // SAFETY: the test passes a pair that outlives this context.
        let pair = unsafe { &*(argument as *const Pair) };
        let rounding = format!("{:.3}", 2.0f64 / 3.0);
        for n in 0.. {
            pair.log.borrow_mut().push(n + rounding.len() as u32);
            // SAFETY: the test suspended itself to come here, and has not been resumed since.
            unsafe { switch(pair.other.as_ptr(), pair.main.get()) };
        }
        unreachable!()
    }

    #[test]
    fn two_contexts_take_turns() {
        let mut stack = vec![0u8; 1 << 16];
        let pair = Pair {
            main: Cell::new(core::ptr::null_mut()),
            other: Cell::new(core::ptr::null_mut()),
            log: RefCell::new(Vec::new()),
        };
        let top = stack.as_mut_ptr_range().end;
        // SAFETY: `top` is the end of a stack that nothing else uses.
        pair.other.set(unsafe { prepare(top, other, &raw const pair as usize) });
        for n in 0..3 {
            pair.log.borrow_mut().push(n * 100);
            // SAFETY: the other context was just made, or suspended itself since it was last resumed.
            unsafe { switch(pair.main.as_ptr(), pair.other.get()) };
        }
        assert_eq!(*pair.log.borrow(), [0, 5, 100, 6, 200, 7]);
    }
}
