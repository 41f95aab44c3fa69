//! Processors to run on.

use std::mem::MaybeUninit;

use serde::{Deserialize, Serialize};

/// One of the processors that the host may use, by number among these; counted round.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Processor(pub usize);

/// The processors that the host may use when it starts.
fn usable() -> Option<libc::cpu_set_t> {
    static USABLE: std::sync::OnceLock<Option<libc::cpu_set_t>> = std::sync::OnceLock::new();
    *USABLE.get_or_init(|| {
        let mut set = MaybeUninit::<libc::cpu_set_t>::zeroed();
        // SAFETY: the call writes at most the size that is given, which is that of the set.
        let known = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), set.as_mut_ptr()) };
        // SAFETY: a set is bits only, for which zero is valid too.
        (known == 0).then(|| unsafe { set.assume_init() })
    })
}

/// Confines a process or thread to a processor, or lets it go where the host may. Where that is not allowed, nothing changes
/// but the time that runs take.
pub(crate) fn confine(id: libc::pid_t, processor: Option<Processor>) {
    let Some(mut set) = usable() else { return };
    if let Some(Processor(number)) = processor {
        // SAFETY: the numbers are below the size of a set, which the call reads.
        let is_usable = |cpu: &usize| unsafe { libc::CPU_ISSET(*cpu, &set) };
        let cpus: Vec<usize> = (0..libc::CPU_SETSIZE as usize).filter(is_usable).collect();
        let Some(cpu) = cpus.get(number % cpus.len().max(1)) else { return };
        // SAFETY: both write within the set; the number is one of those below its size.
        unsafe {
            libc::CPU_ZERO(&mut set);
            libc::CPU_SET(*cpu, &mut set);
        }
    }
    // SAFETY: the call reads as much as the size that is given, which is that of the set.
    unsafe { libc::sched_setaffinity(id, size_of::<libc::cpu_set_t>(), &set) };
}

/// Where the thread that asks for runs is confined to.
#[derive(Default)]
pub(crate) struct Confined(Option<Processor>);

impl Confined {
    /// Goes there, if it is not there.
    pub(crate) fn stay_on(&mut self, processor: Option<Processor>) {
        if self.0 != processor {
            confine(0, processor);
            self.0 = processor;
        }
    }
}
