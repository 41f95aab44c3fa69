//! Values that are kept once and known by number.

use std::hash::Hash;

use model::index::{Idx, IndexVec};
use rustc_hash::FxHashMap;

/// Numbers for values.
pub(crate) struct Interner<I, T> {
    values: IndexVec<I, T>,
    ids: FxHashMap<T, I>,
}

impl<I: Idx, T> Default for Interner<I, T> {
    fn default() -> Self {
        Self { values: IndexVec::new(), ids: FxHashMap::default() }
    }
}

impl<I: Idx, T: Clone + Eq + Hash> Interner<I, T> {
    /// The number of a value.
    pub(crate) fn id(&mut self, value: T) -> I {
        if let Some(known) = self.ids.get(&value) {
            return *known;
        }
        let id = self.values.push(value.clone());
        self.ids.insert(value, id);
        id
    }
    /// The value with a number.
    pub(crate) fn get(&self, id: I) -> &T {
        &self.values[id]
    }
    /// All values.
    pub(crate) fn into_values(self) -> IndexVec<I, T> {
        self.values
    }
}

impl<I: Idx, T: Ord> Interner<I, T> {
    /// All values in order, and for each number that of its value there.
    pub(crate) fn sorted(self) -> (IndexVec<I, T>, IndexVec<I, I>) {
        drop(self.ids);
        let mut order: Vec<(T, I)> = Vec::with_capacity(self.values.len());
        for (number, value) in self.values.into_raw().into_iter().enumerate() {
            order.push((value, I::new(number)));
        }
        order.sort_unstable();
        let mut ranks = IndexVec::filled(order.len(), I::new(0));
        let mut values = IndexVec::new();
        for (value, old) in order {
            ranks[old] = values.push(value);
        }
        (values, ranks)
    }
}
