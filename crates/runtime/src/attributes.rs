//! Attributes of the process that the kernel keeps and that are put back before every run: the mask of permissions, the
//! working folder and the limits.
//!
//! Other attributes cannot be put back, or not without privileges: a run that changes one of them is the last of its
//! process ([`crate::sched::spoil_process`]).

use crate::cell::Keep;
use crate::descriptors::{self, Limit, kernel_limit};
use crate::sys::{self, sys};

/// How many limits there are.
const LIMITS: usize = 16;

/// The attributes at the checkpoint.
struct Attributes {
    mask: libc::mode_t,
    /// The working folder, open.
    folder: Option<i32>,
    limits: [Limit; LIMITS],
    /// The last run changed one of them.
    changed: bool,
}

#[used]
#[unsafe(link_section = "rp_keep")]
static ATTRIBUTES: Keep<Attributes> =
    Keep::new(Attributes { mask: 0, folder: None, limits: [[0; 2]; LIMITS], changed: false });

/// The program changed one of the attributes that are put back.
pub fn note_change() {
    ATTRIBUTES.with(|attributes| attributes.changed = true);
}

/// Sets the mask; the one before.
pub fn set_mask(mask: libc::mode_t) -> libc::mode_t {
    // SAFETY: takes a number and touches no memory.
    unsafe { sys!(SYS_umask, mask) as libc::mode_t }
}

/// Notes the attributes as they are now.
pub fn checkpoint() {
    ATTRIBUTES.with(|attributes| {
        // The only call that tells the mask sets it, too.
        attributes.mask = set_mask(0);
        set_mask(attributes.mask);
        let folder = sys::open(c".", libc::O_PATH | libc::O_DIRECTORY);
        attributes.folder = (folder >= 0).then(|| descriptors::hide(folder).ok()).flatten();
        for (which, limit) in (0..).zip(&mut attributes.limits) {
            *limit = kernel_limit(which, None).unwrap_or_default();
        }
        attributes.changed = false;
    });
}

/// Puts them back, if the last run changed one.
pub fn restore() {
    ATTRIBUTES.with(|attributes| {
        if !core::mem::take(&mut attributes.changed) {
            return;
        }
        set_mask(attributes.mask);
        if let Some(folder) = attributes.folder {
            // SAFETY: takes a number and touches no memory.
            unsafe { sys!(SYS_fchdir, folder) };
        }
        for (which, limit) in (0..).zip(&attributes.limits) {
            if kernel_limit(which, None).is_ok_and(|now| now != *limit) {
                // Only soft limits differ: a run that lowers a hard one is the last of its process.
                let _ = kernel_limit(which, Some(*limit));
            }
        }
    });
}
