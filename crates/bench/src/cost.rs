//! The time that work of a process takes.

use std::mem::MaybeUninit;
use std::time::Instant;

/// Seconds that something took.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    /// Of processor time.
    pub(crate) processor: f64,
    /// Wall-clock time.
    pub(crate) clock: f64,
}

/// The cost of work in this process and in the children it waited for.
pub(crate) fn of<E>(work: impl FnOnce() -> Result<(), E>) -> Result<Cost, E> {
    let (start, before) = (Instant::now(), processor_time());
    work()?;
    Ok(Cost { processor: processor_time() - before, clock: start.elapsed().as_secs_f64() })
}

/// The processor time of this process and of the children it has waited for.
fn processor_time() -> f64 {
    let of = |who| {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: fills in a struct that is numbers only, for which zero is valid.
        let usage = unsafe {
            libc::getrusage(who, usage.as_mut_ptr());
            usage.assume_init()
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        seconds(usage.ru_utime) + seconds(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}
