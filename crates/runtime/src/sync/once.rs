//! Once-controls: `pthread_once_t`, `once_flag` and the guards of C++ function-local statics.
//!
//! Whether the routine is done is kept in the program's own object, as the C library does; here is only who
//! runs it now.

use crate::sched::Thread;

use super::{Model, Object};

/// A routine that runs now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Once {
    /// Who runs it.
    pub runner: Thread,
}

impl Model for Once {
    const NAME: &'static str = "once-control";
    fn wrap(self) -> Object {
        Object::Once(self)
    }
    fn of(object: &mut Object) -> Option<&mut Self> {
        if let Object::Once(once) = object { Some(once) } else { None }
    }
}
