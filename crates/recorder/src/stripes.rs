//! Locks of the recorder's own, by address: what happens to one address happens one at a time.

use core::sync::atomic::{AtomicU32, Ordering};

const COUNT: usize = 1024;

/// One lock, with the number of times something was written under it.
#[repr(align(64))]
pub struct Stripe {
    taken: AtomicU32,
    /// Number of writes.
    pub writes: AtomicU32,
}

static STRIPES: [Stripe; COUNT] = [const { Stripe { taken: AtomicU32::new(0), writes: AtomicU32::new(0) } }; COUNT];

/// The lock of an address; atomics that overlap without being equal are not ordered.
pub fn of(address: u64) -> &'static Stripe {
    let mixed = (address >> 4) ^ (address >> 14);
    &STRIPES[mixed as usize % COUNT]
}

impl Stripe {
    /// Takes the lock. Sections are short, so it spins; now and then it lets others run.
    #[inline]
    pub fn lock(&self) {
        let mut spins = 0u32;
        while self.taken.compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            while self.taken.load(Ordering::Relaxed) != 0 {
                spins += 1;
                if spins.is_multiple_of(64) {
                    // SAFETY: touches no memory.
                    unsafe { libc::syscall(libc::SYS_sched_yield) };
                } else {
                    core::hint::spin_loop();
                }
            }
        }
    }
    /// Gives it back.
    #[inline]
    pub fn unlock(&self) {
        self.taken.store(0, Ordering::Release);
    }
}
