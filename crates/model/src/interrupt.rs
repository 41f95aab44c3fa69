//! A request to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop, set once from anywhere. Long computations check it regularly and return what they know. Clones
/// share the request.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl From<Arc<AtomicBool>> for Interrupt {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}

impl Interrupt {
    /// No request yet.
    pub fn new() -> Self {
        Self::default()
    }
    /// Requests to stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Whether to stop.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
