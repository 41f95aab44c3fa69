//! What runs looked at outside of the program, for all runs of a search.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::Trace;

/// What runs looked at outside of the program; copies share it.
#[derive(Clone, Default, Debug)]
pub struct Opened(Arc<Mutex<Seen>>);

/// What is kept of it.
#[derive(Default, Debug)]
struct Seen {
    files: BTreeSet<String>,
    unmodelled: bool,
}

impl Opened {
    /// Takes note of what a run did.
    pub(crate) fn note(&self, trace: &Trace) {
        if trace.opened.is_empty() && trace.unmodelled.is_empty() {
            return;
        }
        let mut seen = self.seen();
        seen.unmodelled |= !trace.unmodelled.is_empty();
        for file in &trace.opened {
            if !seen.files.contains(&file.name) {
                seen.files.insert(file.name.clone());
            }
        }
    }

    /// The canonical names of the files that a run opened, or found missing.
    pub fn files(&self) -> BTreeSet<String> {
        self.seen().files.clone()
    }

    /// Whether a run did something that the model does not cover, which may depend on anything.
    pub fn has_unmodelled(&self) -> bool {
        self.seen().unmodelled
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
