//! Which pages were written: asked from the kernel (userfaultfd in asynchronous write-protect mode, `PAGEMAP_SCAN`).
//!
//! The first write to a protected page is a page fault that the kernel resolves itself and counts ([`faults`]); so is
//! the first touch of a page that is not there. As long as the count stands still, nothing was written but pages that
//! were found written before. Other faults (a page that was swapped out) only make us look without need.

use core::ops::Range;

use crate::cell::Keep;
use crate::descriptors;
use crate::kept::{self, Table};
use crate::sys::{self, sys};

/// A range of pages, as the kernel writes it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Region {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    categories: u64,
}

impl Region {
    /// As a range of addresses.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// What the kernel is asked through.
struct Kernel {
    faults: i32,
    pagemap: i32,
    regions: Table<Region>,
}

#[used]
#[unsafe(link_section = "rp_keep")]
static KERNEL: Keep<Kernel> = Keep::new(Kernel { faults: -1, pagemap: -1, regions: Table::new(kept::REGIONS) });

/// Kernel interfaces: `linux/userfaultfd.h` and `linux/fs.h`.
mod kernel {
    pub(super) const UFFD_USER_MODE_ONLY: usize = 1;
    pub(super) const UFFD_API: u64 = 0xaa;
    pub(super) const UFFD_FEATURE_WP_UNPOPULATED: u64 = 1 << 13;
    pub(super) const UFFD_FEATURE_WP_ASYNC: u64 = 1 << 15;
    pub(super) const UFFDIO_API: usize = 0xc018_aa3f;
    pub(super) const UFFDIO_REGISTER: usize = 0xc020_aa00;
    pub(super) const UFFDIO_REGISTER_MODE_WP: u64 = 1 << 1;
    pub(super) const PAGEMAP_SCAN: usize = 0xc060_6610;
    pub(super) const PM_SCAN_WP_MATCHING: u64 = 1;
    pub(super) const PAGE_IS_WPALLOWED: u64 = 1;
    pub(super) const PAGE_IS_WRITTEN: u64 = 1 << 1;
    pub(super) const PAGE_IS_PRESENT: u64 = 1 << 3;
    pub(super) const PAGE_IS_SWAPPED: u64 = 1 << 4;

    /// `struct uffdio_api`.
    #[repr(C)]
    pub(super) struct Api {
        pub(super) api: u64,
        pub(super) features: u64,
        pub(super) ioctls: u64,
    }
    /// `struct uffdio_register`.
    #[repr(C)]
    pub(super) struct Register {
        pub(super) start: u64,
        pub(super) len: u64,
        pub(super) mode: u64,
        pub(super) ioctls: u64,
    }
    /// `struct pm_scan_arg`.
    #[repr(C)]
    #[derive(Default)]
    pub(super) struct Scan {
        pub(super) size: u64,
        pub(super) flags: u64,
        pub(super) start: u64,
        pub(super) end: u64,
        pub(super) walk_end: u64,
        pub(super) vec: u64,
        pub(super) vec_len: u64,
        pub(super) max_pages: u64,
        pub(super) category_inverted: u64,
        pub(super) category_mask: u64,
        pub(super) category_anyof_mask: u64,
        pub(super) return_mask: u64,
    }
}
use kernel::*;

/// Most regions asked for in one call: as many as the kernel gathers in a buffer of its own. With more, pages were once
/// put back wrongly (seen with more than 256 live threads); why is not known for certain, so we stay below.
const AT_ONCE: u64 = 512;

/// Which pages are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// In memory.
    Present,
    /// Written since they were protected.
    Written,
    /// As `Written`, and protected now.
    Protect,
}

/// Why a descriptor of the runtime cannot be had.
const NO_NUMBER: &str = "the limit on open files (ulimit -n) is too low";

/// Opens the kernel's interfaces.
///
/// # Errors
/// What the kernel lacks.
pub fn open() -> Result<(), &'static str> {
    let flags = libc::O_CLOEXEC as usize | libc::O_NONBLOCK as usize | UFFD_USER_MODE_ONLY;
    // SAFETY: touches no memory.
    let faults = unsafe { sys!(SYS_userfaultfd, flags) };
    if faults < 0 {
        return Err("the kernel does not allow userfaultfd");
    }
    let faults = descriptors::hide(faults).map_err(|_| NO_NUMBER)?;
    KERNEL.with(|kernel| kernel.faults = faults);
    let features = UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_WP_UNPOPULATED;
    let mut api = Api { api: UFFD_API, features, ioctls: 0 };
    // SAFETY: the kernel reads and writes `api`, which has the layout that this command takes and outlives the call.
    if unsafe { sys!(SYS_ioctl, faults, UFFDIO_API, &raw mut api) } != 0 {
        return Err("the kernel has no asynchronous write protection (it came with Linux 6.7)");
    }
    let pagemap = sys::open(c"/proc/self/pagemap", libc::O_RDONLY);
    if pagemap < 0 {
        return Err("/proc/self/pagemap cannot be opened");
    }
    let pagemap = descriptors::hide(pagemap).map_err(|_| NO_NUMBER)?;
    KERNEL.with(|kernel| kernel.pagemap = pagemap);
    Ok(())
}

/// Starts tracking memory; pages not touched yet count as zero.
///
/// # Errors
/// That the kernel refused.
pub fn track(range: &Range<usize>) -> Result<(), &'static str> {
    let mut register =
        Register { start: range.start as u64, len: range.len() as u64, mode: UFFDIO_REGISTER_MODE_WP, ioctls: 0 };
    let faults = KERNEL.with(|kernel| kernel.faults);
    // SAFETY: the kernel reads and writes `register`, which has the layout that this command takes; of the range it only
    // changes how writes are noticed.
    let result = unsafe { sys!(SYS_ioctl, faults, UFFDIO_REGISTER, &raw mut register) };
    if result == 0 { Ok(()) } else { Err("the kernel refused to track a memory range") }
}

/// Number of page faults of this operating-system thread so far, those on its behalf in system calls included.
pub fn faults() -> u64 {
    // SAFETY: all zero is a value of this structure of integers, and the kernel fills it in.
    unsafe {
        let mut usage: libc::rusage = core::mem::zeroed();
        sys!(SYS_getrusage, libc::RUSAGE_THREAD, &raw mut usage);
        (usage.ru_minflt + usage.ru_majflt) as u64
    }
}

/// Calls `visit` with the pages of `range` that are looked for, in ascending order.
///
/// # Errors
/// That the kernel refused.
pub fn scan(range: &Range<usize>, look: Look, mut visit: impl FnMut(&Region)) -> Result<(), &'static str> {
    KERNEL.with(|kernel| scan_with(kernel, range, look, &mut visit))
}

fn scan_with(
    kernel: &mut Kernel,
    range: &Range<usize>,
    look: Look,
    visit: &mut impl FnMut(&Region),
) -> Result<(), &'static str> {
    let mut scan = Scan {
        size: size_of::<Scan>() as u64,
        flags: if look == Look::Protect { PM_SCAN_WP_MATCHING } else { 0 },
        start: range.start as u64,
        end: range.end as u64,
        ..Scan::default()
    };
    // Only tracked memory is walked. Pages never touched count as written for the kernel, but not for us.
    scan.category_mask = PAGE_IS_WPALLOWED;
    scan.category_anyof_mask = PAGE_IS_PRESENT | PAGE_IS_SWAPPED;
    if look != Look::Present {
        scan.category_mask |= PAGE_IS_WRITTEN;
    }
    scan.vec = kernel.regions.start() as u64;
    scan.vec_len = (kernel.regions.capacity() as u64).min(AT_ONCE);
    // Neighbouring pages are reported as one region when these bits are the same.
    scan.return_mask = PAGE_IS_WPALLOWED;
    loop {
        // SAFETY: the kernel reads and writes `scan` and writes at most `vec_len` regions, for which the table has room.
        let found = unsafe { sys!(SYS_ioctl, kernel.pagemap, PAGEMAP_SCAN, &raw mut scan) };
        if found < 0 {
            return Err("the kernel refused to say which memory was written (PAGEMAP_SCAN)");
        }
        // SAFETY: the kernel wrote that many.
        unsafe { kernel.regions.set_len(found as usize) };
        kernel.regions.items().iter().for_each(&mut *visit);
        if scan.walk_end >= scan.end {
            return Ok(());
        }
        scan.start = scan.walk_end;
    }
}
