//! What the C library's objects say about themselves.
//!
//! Mutexes, condition variables and reader-writer locks have static initialisers, so what kind they are is read from
//! the program's memory, in the GNU C library's layout, at every use; and a destroyed one is marked there, so that
//! initialising it again by assignment works. All else is in the model.

use crate::memory;

/// Where an object keeps its kind, and which kinds there are.
pub struct Layout {
    /// What people call the object.
    pub name: &'static str,
    size: usize,
    /// Offset of the 32-bit word with the kind.
    offset: usize,
    /// All bits a valid kind can have.
    bits: u32,
}

/// `pthread_mutex_t`: the type in the low bits, then robustness, protocol, process-sharing, lock elision.
pub const MUTEX: Layout = Layout { name: "mutex", size: size_of::<libc::pthread_mutex_t>(), offset: 16, bits: 0x3f3 };
/// `pthread_cond_t`: process-sharing and the clock.
pub const COND: Layout =
    Layout { name: "condition variable", size: size_of::<libc::pthread_cond_t>(), offset: 36, bits: 3 };
/// `pthread_rwlock_t`: the preference of readers or writers.
pub const RWLOCK: Layout =
    Layout { name: "reader-writer lock", size: size_of::<libc::pthread_rwlock_t>(), offset: 48, bits: 3 };

const DESTROYED: u32 = u32::MAX;

/// Why an object cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unusable {
    /// It was destroyed.
    Destroyed,
    /// Its memory does not look like one.
    NotInitialised,
}

impl Unusable {
    /// How a sentence about the misuse ends.
    pub fn description(self) -> &'static str {
        match self {
            Self::Destroyed => "that was destroyed",
            Self::NotInitialised => "that was not initialised",
        }
    }
}

impl Layout {
    fn kind_at(&self, object: u64) -> *mut u32 {
        (object as usize + self.offset) as *mut u32
    }

    /// The kind of the object.
    pub fn kind(&self, object: u64) -> Result<u32, Unusable> {
        match memory::read(self.kind_at(object)) {
            DESTROYED => Err(Unusable::Destroyed),
            kind if kind & !self.bits != 0 => Err(Unusable::NotInitialised),
            kind => Ok(kind),
        }
    }

    /// Makes the memory an object of this kind.
    pub fn init(&self, object: u64, kind: u32) {
        memory::zero(object as *mut u8, self.size);
        memory::write(self.kind_at(object), kind);
    }

    /// Marks the object as destroyed.
    pub fn destroy(&self, object: u64) {
        memory::write(self.kind_at(object), DESTROYED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_initialisers_are_recognised() {
        let mutex = |m: &libc::pthread_mutex_t| MUTEX.kind(m as *const _ as u64);
        assert_eq!(mutex(&libc::PTHREAD_MUTEX_INITIALIZER), Ok(0));
        assert_eq!(mutex(&libc::PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP), Ok(1));
        assert_eq!(mutex(&libc::PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP), Ok(2));
        let cond = libc::PTHREAD_COND_INITIALIZER;
        let rwlock = libc::PTHREAD_RWLOCK_INITIALIZER;
        assert_eq!(COND.kind(&raw const cond as u64), Ok(0));
        assert_eq!(RWLOCK.kind(&raw const rwlock as u64), Ok(0));
    }

    #[test]
    fn the_c_librarys_own_initialisation_is_recognised() {
        // SAFETY: all zero is a value of both structures, and each function gets one that the one before initialised.
        unsafe {
            let mut attributes: libc::pthread_mutexattr_t = core::mem::zeroed();
            let mut mutex: libc::pthread_mutex_t = core::mem::zeroed();
            libc::pthread_mutexattr_init(&mut attributes);
            for kind in [libc::PTHREAD_MUTEX_NORMAL, libc::PTHREAD_MUTEX_RECURSIVE, libc::PTHREAD_MUTEX_ERRORCHECK] {
                libc::pthread_mutexattr_settype(&mut attributes, kind);
                libc::pthread_mutex_init(&mut mutex, &attributes);
                assert_eq!(MUTEX.kind(&raw const mutex as u64).map(|k| k & 3), Ok(kind as u32));
            }
            libc::pthread_mutex_destroy(&mut mutex);
            assert_eq!(MUTEX.kind(&raw const mutex as u64), Err(Unusable::Destroyed));
        }
    }

    #[test]
    fn marks() {
        let mut memory = [0xabu8; 64];
        let object = memory.as_mut_ptr() as u64;
        for layout in [&MUTEX, &COND, &RWLOCK] {
            memory.fill(0xab);
            assert_eq!(layout.kind(object), Err(Unusable::NotInitialised));
            layout.init(object, 1);
            assert_eq!(layout.kind(object), Ok(1));
            layout.destroy(object);
            assert_eq!(layout.kind(object), Err(Unusable::Destroyed));
        }
    }
}
