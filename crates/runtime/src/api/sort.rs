//! Sorting: `qsort`, `qsort_r`.
//!
//! The C library moves elements between two calls of the program's comparison function, which may be interrupted there.
//! So its writes would come about at places that no event stands for. Here every merge moves its elements at once, in an
//! event of its own. The frame that calls the comparison is one that an exception can pass.
//!
//! Instrumented code reports the array right before the call if another thread may reach it; only then merges are events.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::arch::naked_asm;
use core::ffi::c_int;

use wire::Tag;
use wire::record::order;

use crate::hooks::{self, HOT};
use crate::{memory, sched};

/// A merge sort from small runs to large ones, interrupted at every comparison. Stable, as the C library's usually is.
struct Sort {
    base: u64,
    count: usize,
    size: usize,
    /// Where the call is, if other threads may reach the array.
    shared_at: Option<u32>,
    /// Length of the runs that are merged in pairs.
    width: usize,
    /// The pair of runs being merged starts here.
    low: usize,
    /// The next element of each of the two runs.
    left: usize,
    right: usize,
    /// The elements merged so far, by their old places.
    merged: Vec<usize>,
}

impl Sort {
    fn new(base: u64, count: usize, size: usize, shared_at: Option<u32>) -> Self {
        Self { base, count, size, shared_at, width: 1, low: 0, left: 0, right: 1, merged: Vec::new() }
    }

    /// Where the second run starts and ends.
    fn bounds(&self) -> (usize, usize) {
        let middle = self.low.saturating_add(self.width).min(self.count);
        (middle, middle.saturating_add(self.width).min(self.count))
    }

    fn begin_pair(&mut self, low: usize) {
        self.low = low;
        (self.left, self.right) = (low, self.bounds().0);
        self.merged.clear();
    }

    /// The next two elements to compare, by place; `None` when the array is sorted.
    fn next(&mut self) -> Option<(usize, usize)> {
        while self.width < self.count {
            let (middle, end) = self.bounds();
            if self.left < middle && self.right < end {
                return Some((self.left, self.right));
            }
            self.merged.extend(self.left..middle);
            self.merged.extend(self.right..end);
            if middle < end {
                self.move_elements();
            }
            if end < self.count {
                self.begin_pair(end);
            } else {
                self.width = self.width.saturating_mul(2);
                self.begin_pair(0);
            }
        }
        None
    }

    /// Takes the result of the comparison asked for.
    fn compared(&mut self, order: c_int) {
        let next = if order <= 0 { &mut self.left } else { &mut self.right };
        self.merged.push(*next);
        *next += 1;
    }

    /// Moves the elements of both runs to their new places, in one event.
    fn move_elements(&self) {
        let start = self.base + (self.low * self.size) as u64;
        let len = self.merged.len() * self.size;
        if let Some(site) = self.shared_at {
            hooks::call(site, || {
                hooks::add(Tag::Read, order::PLAIN, start, len as u64);
                hooks::add(Tag::Write, order::PLAIN, start, len as u64);
            });
        }
        let old = memory::bytes(start, len);
        let element = |place: usize| &old[(place - self.low) * self.size..][..self.size];
        let new: Vec<u8> = self.merged.iter().flat_map(|place| element(*place)).copied().collect();
        memory::write_bytes(start, &new);
    }
}

/// Whether the last record says that instrumented code is about to hand the array to a function that writes it.
fn is_reported(base: u64, bytes: u64) -> bool {
    // SAFETY: while a run is on, the cursor is in the trace area, and the area starts with the record of the first switch.
    let last = unsafe { *HOT.cursor.get().sub(1) };
    last.tag() == Some(Tag::Write) && last.address() == base && u64::from(last.argument()) == bytes
}

extern "C" fn begin(base: u64, count: usize, size: usize) -> *mut Sort {
    let bytes = (count as u64).saturating_mul(size as u64);
    let shared = sched::running() && is_reported(base, bytes);
    Box::into_raw(Box::new(Sort::new(base, count, size, shared.then(sched::site))))
}

/// Takes the result of the last comparison, if there was one, and stores which elements come next. Returns 0 at the end.
extern "C" fn step(sort: *mut Sort, result: c_int, elements: &mut [u64; 3]) -> c_int {
    // SAFETY: `begin` made the sort, and this function is called with it until it returns 0, from one frame.
    let state = unsafe { &mut *sort };
    // The third word says whether a comparison was asked for.
    if elements[2] != 0 {
        state.compared(result);
    }
    match state.next() {
        Some((left, right)) => {
            let [left, right] = [left, right].map(|place| state.base + (place * state.size) as u64);
            *elements = [left, right, 1];
            1
        }
        None => {
            // SAFETY: it was made by `Box::into_raw`, and the frame forgets it.
            drop(unsafe { Box::from_raw(sort) });
            0
        }
    }
}

/// Sorts an array. Takes an array, its number of elements, their size and a comparison function.
///
/// # Safety
/// As for the C function.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn qsort() {
    naked_asm!(
        "xor r8d, r8d",
        "jmp {sort}",
        sort = sym qsort_r,
    )
}

/// The same with a fifth argument, which the comparison function gets as its third.
///
/// # Safety
/// As for the C function.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn qsort_r() {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "sub rsp, 48",
        "mov [rbp - 8], rcx",
        "mov [rbp - 16], r8",
        // The elements to compare, and whether there are any.
        "mov qword ptr [rbp - 32], 0",
        "call {begin}",
        "mov [rbp - 24], rax",
        "2: mov rdi, [rbp - 24]",
        "mov esi, eax",
        "lea rdx, [rbp - 48]",
        "call {step}",
        "test eax, eax",
        "je 3f",
        "mov rdi, [rbp - 48]",
        "mov rsi, [rbp - 40]",
        "mov rdx, [rbp - 16]",
        "call [rbp - 8]",
        "jmp 2b",
        "3: leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        begin = sym begin,
        step = sym step,
    )
}

/// Sorts an array. Takes an array, its number of elements, their size and a comparison function.
///
/// # Safety
/// As for the C function.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn qsort() {
    naked_asm!(
        "mov x4, xzr",
        "b {sort}",
        sort = sym qsort_r,
    )
}

/// The same with a fifth argument, which the comparison function gets as its third.
///
/// # Safety
/// As for the C function.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn qsort_r() {
    naked_asm!(
        ".cfi_startproc",
        "sub sp, sp, #64",
        ".cfi_def_cfa_offset 64",
        "stp x29, x30, [sp, #48]",
        ".cfi_offset x29, -16",
        ".cfi_offset x30, -8",
        "add x29, sp, #48",
        // The elements to compare, whether there are any, the sort, the comparison and its argument.
        "stp x3, x4, [sp, #32]",
        "str xzr, [sp, #16]",
        "bl {begin}",
        "str x0, [sp, #24]",
        "2: mov w1, w0",
        "ldr x0, [sp, #24]",
        "mov x2, sp",
        "bl {step}",
        "cbz w0, 3f",
        "ldp x0, x1, [sp]",
        "ldp x9, x2, [sp, #32]",
        "blr x9",
        "b 2b",
        "3: ldp x29, x30, [sp, #48]",
        "add sp, sp, #64",
        ".cfi_def_cfa_offset 0",
        "ret",
        ".cfi_endproc",
        begin = sym begin,
        step = sym step,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_and_keeps_the_order_of_equals() {
        for count in [0usize, 1, 2, 3, 7, 8, 31] {
            // The upper half decides, the lower half numbers the elements.
            let mut array: Vec<u64> = (0..count as u64).map(|n| ((n * 7919) % 5) << 32 | n).collect();
            let mut expected = array.clone();
            expected.sort();
            let mut sort = Sort::new(array.as_mut_ptr() as u64, count, 8, None);
            while let Some((left, right)) = sort.next() {
                sort.compared((array[left] >> 32).cmp(&(array[right] >> 32)) as c_int);
            }
            assert_eq!(array, expected);
        }
    }

    #[test]
    fn the_frame_calls_the_comparison_with_its_argument() {
        extern "C" fn compare(left: *const u32, right: *const u32, calls: *mut u32) -> c_int {
            // SAFETY: the elements are of the array below, and `calls` is the counter.
            unsafe {
                *calls += 1;
                (*left).cmp(&*right) as c_int
            }
        }
        type Qsort = unsafe extern "C" fn(*mut u32, usize, usize, *const (), *mut u32);
        let mut array = [5u32, 3, 9, 1];
        let mut calls = 0;
        // SAFETY: the function has this type, and array, size and comparison fit each other.
        unsafe {
            let sort: Qsort = core::mem::transmute(qsort_r as *const ());
            sort(array.as_mut_ptr(), 4, 4, compare as *const (), &mut calls);
        }
        assert_eq!((array, calls > 2), ([1, 3, 5, 9], true));
    }
}
