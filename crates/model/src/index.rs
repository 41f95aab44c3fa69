//! Typed indices and the vectors they index.
//!
//! An id is a newtype over `u32`, so that a thread cannot be mistaken for a site. [`IndexVec`] only
//! accepts its own kind of id.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

/// A small-integer id that indexes an [`IndexVec`].
pub trait Idx: Copy + Eq + Ord {
    /// The id with this number. Panics above `u32::MAX`, which no table reaches.
    fn new(index: usize) -> Self;
    /// The number of this id.
    fn index(self) -> usize;
}

/// Defines id types: `pub struct SiteId("s");` prints as `s7`.
#[macro_export]
macro_rules! index_type {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident($prefix:literal);)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        $vis struct $name(pub u32);

        impl $crate::index::Idx for $name {
            fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("raceproof bug: more than u32::MAX ids of one kind"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )*};
}
pub use index_type;

/// A vector indexed by one kind of id.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IndexVec<I, T> {
    raw: Vec<T>,
    #[serde(skip)]
    _id: PhantomData<fn(I) -> I>,
}

impl<I: Idx, T> IndexVec<I, T> {
    /// An empty vector.
    pub const fn new() -> Self {
        Self { raw: Vec::new(), _id: PhantomData }
    }
    /// The elements in order.
    pub fn into_raw(self) -> Vec<T> {
        self.raw
    }
    /// A vector with these elements, numbered from zero.
    pub fn from_raw(raw: Vec<T>) -> Self {
        Self { raw, _id: PhantomData }
    }
    /// `n` copies of `value`.
    pub fn filled(n: usize, value: T) -> Self
    where
        T: Clone,
    {
        Self::from_raw(vec![value; n])
    }
    /// Appends and returns the new element's id.
    pub fn push(&mut self, value: T) -> I {
        let id = self.next_id();
        self.raw.push(value);
        id
    }
    /// The id the next [`push`](Self::push) will return.
    pub fn next_id(&self) -> I {
        I::new(self.raw.len())
    }
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.raw.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }
    /// The element, if the id is in range.
    pub fn get(&self, id: I) -> Option<&T> {
        self.raw.get(id.index())
    }
    /// The element, if the id is in range.
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.raw.get_mut(id.index())
    }
    /// All ids in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.raw.len()).map(I::new)
    }
    /// The elements in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.raw.iter()
    }
    /// The elements in order, mutable.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.raw.iter_mut()
    }
    /// Elements with their ids.
    pub fn iter_enumerated(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.raw.iter().enumerate().map(|(i, v)| (I::new(i), v))
    }
    /// The elements as a plain slice.
    pub fn as_slice(&self) -> &[T] {
        &self.raw
    }
    /// Keeps the first `len` elements.
    pub fn truncate(&mut self, len: usize) {
        self.raw.truncate(len);
    }
    /// Removes all elements, keeping the memory.
    pub fn clear(&mut self) {
        self.raw.clear();
    }
}

impl<I: Idx, T> Extend<T> for IndexVec<I, T> {
    fn extend<It: IntoIterator<Item = T>>(&mut self, iter: It) {
        self.raw.extend(iter);
    }
}
impl<I: Idx, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}
impl<I: Idx, T> Index<I> for IndexVec<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.raw[id.index()]
    }
}
impl<I: Idx, T> IndexMut<I> for IndexVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.raw[id.index()]
    }
}
impl<I, T: std::fmt::Debug> std::fmt::Debug for IndexVec<I, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.raw.fmt(f)
    }
}
impl<I: Idx, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(iter: It) -> Self {
        Self::from_raw(iter.into_iter().collect())
    }
}
impl<'a, I: Idx, T> IntoIterator for &'a IndexVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.raw.iter()
    }
}
