//! Memory: objects at synthetic addresses.
//!
//! Functions, globals and each thread's slot (thread-local variables, stack, heap) have ranges of their own. A thread's
//! path determines its slot, so an address depends only on the allocating thread's own history. Freed blocks and the
//! locals of functions that returned stay readable, as they are in a real process; addresses outside of objects are
//! unmapped.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::ThreadPath;

/// Address of the first function; each takes [`FUNCTION_STRIDE`] bytes.
pub(super) const FUNCTIONS: u64 = 0x1000;
/// Distance between two functions' addresses.
pub(super) const FUNCTION_STRIDE: u64 = 16;
/// Address of the first global.
pub(super) const GLOBALS: u64 = 0x1000_0000;
/// Address of the first slot.
const SLOTS: u64 = 1 << 32;
/// Size of a slot: thread-local variables in its first sixteenth, then the stack, the heap in its second half.
const SLOT_SIZE: u64 = 1 << 24;
/// Limits on the children of one thread and on nesting for which slots follow from paths.
const PATH_BASE: u64 = 128;
const PATH_LEVELS: usize = 3;

/// The address range of a thread's memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Slot(u64);

impl Slot {
    /// The slot of the thread with this path, if the path is short enough.
    pub(super) fn of_path(path: &ThreadPath) -> Option<Self> {
        let mut steps = Vec::new();
        for step in path.to_string().split('.').skip(1) {
            steps.push(step.parse::<u64>().ok().filter(|k| *k < PATH_BASE)?);
        }
        (steps.len() <= PATH_LEVELS).then(|| Self(steps.iter().fold(0, |slot, k| slot * PATH_BASE + k)))
    }
    /// The slot of the `number`-th thread created, past all slots by path.
    pub(super) fn of_number(number: u32) -> Self {
        Self(PATH_BASE.pow(PATH_LEVELS as u32) + u64::from(number))
    }
    /// First byte, which is also the thread's handle.
    pub(super) fn base(self) -> u64 {
        SLOTS + self.0 * SLOT_SIZE
    }
    /// First byte of the stack.
    pub(super) fn stack(self) -> u64 {
        self.base() + SLOT_SIZE / 16
    }
    /// First byte of the heap.
    pub(super) fn heap(self) -> u64 {
        self.base() + SLOT_SIZE / 2
    }
    /// One past the last byte of the slot.
    pub(super) fn end(self) -> u64 {
        self.base() + SLOT_SIZE
    }
}

/// The state of an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum ObjectState {
    /// A global or a local variable.
    Variable,
    /// A heap block in use.
    Heap,
    /// A heap block that was freed.
    Freed,
}

/// One object.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Object {
    pub(super) state: ObjectState,
    bytes: Vec<u8>,
}

impl Object {
    /// Number of bytes.
    pub(super) fn size(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// No object covers the address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Unmapped(pub(super) u64);

/// All objects by first byte. They do not overlap.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Memory {
    objects: BTreeMap<u64, Arc<Object>>,
}

impl Memory {
    /// Creates an object with these bytes at `start`, replacing what was there.
    pub(super) fn place(&mut self, start: u64, state: ObjectState, bytes: Vec<u8>) {
        self.objects.insert(start, Arc::new(Object { state, bytes }));
    }
    /// The object that starts at this address.
    pub(super) fn object(&self, start: u64) -> Option<&Object> {
        self.objects.get(&start).map(Arc::as_ref)
    }
    /// Sets the state of the object that starts at this address.
    pub(super) fn set_state(&mut self, start: u64, state: ObjectState) {
        if let Some(object) = self.objects.get_mut(&start) {
            Arc::make_mut(object).state = state;
        }
    }
    /// Whether the address lies in an object.
    pub(super) fn is_mapped(&self, address: u64) -> bool {
        self.range(address, 1).is_ok()
    }

    /// The object that contains the whole range, and the offset in it.
    fn range(&self, address: u64, len: u64) -> Result<(u64, usize), Unmapped> {
        let (start, object) = self.objects.range(..=address).next_back().ok_or(Unmapped(address))?;
        let offset = address - start;
        match offset.checked_add(len) {
            Some(end) if end <= object.size() => Ok((*start, offset as usize)),
            _ => Err(Unmapped(address)),
        }
    }

    /// The bytes of the range.
    pub(super) fn bytes(&self, address: u64, len: u64) -> Result<&[u8], Unmapped> {
        let (start, offset) = self.range(address, len)?;
        Ok(&self.objects[&start].bytes[offset..offset + len as usize])
    }

    /// Overwrites bytes.
    pub(super) fn set_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), Unmapped> {
        let (start, offset) = self.range(address, bytes.len() as u64)?;
        let object = self.objects.get_mut(&start).ok_or(Unmapped(address))?;
        Arc::make_mut(object).bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    /// The little-endian number in the range, sign-extended; only the first eight bytes count.
    pub(super) fn load(&self, address: u64, size: u32) -> Result<i64, Unmapped> {
        let bytes = self.bytes(address, u64::from(size))?;
        let low = &bytes[..bytes.len().min(8)];
        let value = low.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
        Ok(program::arith::extend(value as i64, low.len() as u32 * 8, true))
    }

    /// Stores the low bytes of a number; beyond the eighth they are zero.
    pub(super) fn store(&mut self, address: u64, size: u32, value: i64) -> Result<(), Unmapped> {
        let mut bytes = value.to_le_bytes().to_vec();
        bytes.resize(size as usize, 0);
        self.set_bytes(address, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_size_come_back_sign_extended() {
        let mut memory = Memory::default();
        memory.place(0x100, ObjectState::Variable, vec![0; 16]);
        memory.store(0x102, 2, -2).unwrap();
        assert_eq!(memory.load(0x102, 2), Ok(-2));
        assert_eq!(memory.load(0x100, 4), Ok(-0x20000));
        assert_eq!(memory.load(0x102, 1), Ok(-2));
        assert_eq!(memory.load(0x10e, 4), Err(Unmapped(0x10e)));
        assert_eq!(memory.load(0xff, 1), Err(Unmapped(0xff)));
    }

    #[test]
    fn slots_follow_from_paths() {
        let slot = |path: &str| Slot::of_path(&path.parse().unwrap());
        let paths = ["0", "0.1", "0.127", "0.1.1", "0.1.1.5", "0.2.1"];
        let slots: std::collections::BTreeSet<_> = paths.iter().map(|p| slot(p).unwrap().base()).collect();
        assert_eq!(slots.len(), paths.len());
        assert_eq!(slot("0.128"), None);
        assert_eq!(slot("0.1.1.1.1"), None);
    }
}
