//! Parts of the facts that are computed when they are first asked for.

use std::sync::{Mutex, OnceLock, PoisonError};

use model::Spent;

/// A value that is made at most once, by whoever asks first; the others wait for it.
///
/// If its making ends early, nothing is kept: who asks next tries again.
pub(crate) struct Part<T> {
    value: OnceLock<T>,
    making: Mutex<()>,
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        Self { value: OnceLock::new(), making: Mutex::new(()) }
    }
}

impl<T> Part<T> {
    /// The value, if it was made.
    pub(crate) fn known(&self) -> Option<&T> {
        self.value.get()
    }

    /// The value, made now if there is none yet.
    pub(crate) fn get(&self, make: impl FnOnce() -> Result<T, Spent>) -> Result<&T, Spent> {
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        let _only_one = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        let value = make()?;
        Ok(self.value.get_or_init(|| value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_early_is_made_again_and_what_is_made_is_kept() {
        let part = Part::default();
        assert_eq!(part.get(|| Err::<u32, _>(Spent::Time)), Err(Spent::Time));
        assert_eq!(part.get(|| Ok(7)), Ok(&7));
        assert_eq!(part.get(|| Err(Spent::Time)), Ok(&7));
    }
}
