//! Thread-specific data: keys and each thread's values.

use alloc::vec::Vec;

use crate::sched::Thread;

/// Most keys at a time (`PTHREAD_KEYS_MAX`).
pub const MAX: usize = 1024;

/// All keys.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// By key: the address of the destructor (0 for none), or `None` where no such key is.
    destructors: Vec<Option<u64>>,
    /// By thread and key; missing ones are 0.
    values: Vec<Vec<u64>>,
}

impl Keys {
    /// No keys.
    pub const fn new() -> Self {
        Self { destructors: Vec::new(), values: Vec::new() }
    }

    /// A new key, with every thread's value 0; `None` when there are too many.
    pub fn create(&mut self, destructor: u64) -> Option<u32> {
        let free = self.destructors.iter().position(Option::is_none).unwrap_or(self.destructors.len());
        if free == MAX {
            return None;
        }
        if free == self.destructors.len() {
            self.destructors.push(None);
        }
        self.destructors[free] = Some(destructor);
        Some(free as u32)
    }

    fn exists(&self, key: u32) -> bool {
        self.destructors.get(key as usize).is_some_and(Option::is_some)
    }

    /// Ends a key; no destructor is called. `false` if there is none.
    pub fn delete(&mut self, key: u32) -> bool {
        let existed = self.exists(key);
        if existed {
            self.destructors[key as usize] = None;
            self.values.iter_mut().filter_map(|values| values.get_mut(key as usize)).for_each(|value| *value = 0);
        }
        existed
    }

    /// The thread's value; 0 for a key that is not.
    pub fn get(&self, thread: Thread, key: u32) -> u64 {
        self.values.get(thread as usize).and_then(|values| values.get(key as usize)).copied().unwrap_or(0)
    }

    /// Sets the thread's value; `false` if there is no such key.
    pub fn set(&mut self, thread: Thread, key: u32, value: u64) -> bool {
        if !self.exists(key) {
            return false;
        }
        let (thread, key) = (thread as usize, key as usize);
        if self.values.len() <= thread {
            self.values.resize(thread + 1, Vec::new());
        }
        let values = &mut self.values[thread];
        if values.len() <= key {
            values.resize(key + 1, 0);
        }
        values[key] = value;
        true
    }

    /// The next destructor to call in a round over the thread's values, from key `from` on: the key, the
    /// destructor and the value it gets. The value is 0 from then on.
    pub fn next_destructor(&mut self, thread: Thread, from: u32) -> Option<(u32, u64, u64)> {
        let values = self.values.get_mut(thread as usize)?;
        for (key, value) in values.iter_mut().enumerate().skip(from as usize) {
            let destructor = self.destructors[key].unwrap_or(0);
            if *value != 0 && destructor != 0 {
                return Some((key as u32, destructor, core::mem::take(value)));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_belong_to_threads_and_die_with_the_key() {
        let mut keys = Keys::new();
        let (a, b) = (keys.create(0).unwrap(), keys.create(0xd).unwrap());
        assert!(keys.set(1, a, 5) && keys.set(2, a, 6) && keys.set(2, b, 7));
        assert_eq!((keys.get(1, a), keys.get(2, a), keys.get(1, b), keys.get(9, b)), (5, 6, 0, 0));
        assert_eq!(keys.next_destructor(2, 0), Some((b, 0xd, 7)), "a has no destructor");
        assert_eq!((keys.next_destructor(2, 0), keys.get(2, b)), (None, 0));
        assert!(keys.delete(a) && !keys.delete(a) && !keys.set(1, a, 1));
        assert_eq!(keys.create(0), Some(a));
        assert_eq!(keys.get(1, a), 0);
    }

    #[test]
    fn there_is_a_largest_number_of_keys() {
        let mut keys = Keys::new();
        assert!((0..MAX).all(|_| keys.create(0).is_some()));
        assert_eq!(keys.create(0), None);
    }
}
