//! C++ objects of libstdc++: what the library does with them outside of headers, where no code is instrumented.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::Sink;
use crate::memory::{Plain, read, read_at};

/// The standard streams. A program without libstdc++ has none.
fn standard_streams() -> impl Iterator<Item = u64> {
    const NAMES: [&CStr; 8] = [
        c"_ZSt4cout",
        c"_ZSt4cerr",
        c"_ZSt4clog",
        c"_ZSt3cin",
        c"_ZSt5wcout",
        c"_ZSt5wcerr",
        c"_ZSt5wclog",
        c"_ZSt4wcin",
    ];
    static FOUND: [AtomicU64; NAMES.len()] = [const { AtomicU64::new(0) }; NAMES.len()];
    static LOOKED_UP: AtomicBool = AtomicBool::new(false);
    // Threads that come here at the same time find the same addresses.
    if !LOOKED_UP.load(Ordering::Acquire) {
        for (found, name) in FOUND.iter().zip(NAMES) {
            // SAFETY: the name is a string that ends with zero.
            let at = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
            found.store(at as u64, Ordering::Relaxed);
        }
        LOOKED_UP.store(true, Ordering::Release);
    }
    FOUND.iter().map(|found| found.load(Ordering::Relaxed)).filter(|at| *at != 0)
}

/// Whether a stream object is one of the standard ones, by the address of any of its bases.
fn is_standard_stream(object: u64) -> bool {
    const SIZE: u64 = 512;
    standard_streams().any(|at| at.abs_diff(object) < SIZE)
}

/// Whether an address is in a buffer that a standard stream uses: whatever else does, the C library's streams behind it
/// have locks.
fn is_in_standard_buffer(address: u64) -> bool {
    // A program that does not include their header never makes them.
    let made = standard_streams().filter(|at| read(*at as *const u64) != 0);
    let buffers = made.map(|at| read(ios_of(at).wrapping_add(IOS_BUFFER) as *const u64));
    buffers.into_iter().any(|own: u64| own != 0 && address.wrapping_sub(own) < BUFFER_SIZE)
}

/// The object is a buffer of a stream, not a stream.
const BUFFER: u64 = 2;
/// The object has `std::ios` as a virtual base; otherwise it is one.
const WITH_IOS: u64 = 0;
/// The object is only looked at.
const LOOKED_AT: u64 = 4;

/// `std::ios` (`std::basic_ios`): its size and where it keeps its buffer, which the ABI of libstdc++ fixes.
const IOS_SIZE: u64 = 264;
const IOS_BUFFER: u64 = 232;
/// The size of a `std::streambuf`.
const BUFFER_SIZE: u64 = 64;

/// The `std::ios` of a stream: the table of its virtual functions says how far behind it is.
fn ios_of(stream: u64) -> u64 {
    let table: u64 = read(stream as *const u64);
    stream.wrapping_add(read(table.wrapping_sub(24) as *const u64))
}

/// A C++ stream object, by the address of any of its bases, with the buffer that it uses, or a buffer alone. The standard
/// streams may be used concurrently.
pub fn iostream<S: Sink>(object: u64, how: u64) {
    let touch = if how & LOOKED_AT == 0 { S::update } else { S::read };
    let touch_buffer = |buffer: u64| {
        if buffer != 0 && !is_in_standard_buffer(buffer) {
            touch(buffer, BUFFER_SIZE);
        }
    };
    if how & BUFFER != 0 {
        return touch_buffer(object);
    }
    let is_derived = how & !LOOKED_AT == WITH_IOS;
    let ios = if is_derived { ios_of(object) } else { object };
    if is_standard_stream(ios) {
        return;
    }
    touch(ios, IOS_SIZE);
    if is_derived {
        touch_buffer(read(ios.wrapping_add(IOS_BUFFER) as *const u64));
    }
}

/// An access in code of streams that is compiled into the program.
pub fn of_stream<S: Sink>(at: u64, size: u64, writes: u64) {
    if !is_standard_stream(at) && !is_in_standard_buffer(at) {
        let touch = if writes == 0 { S::read } else { S::write };
        touch(at, size);
    }
}

/// `std::istream::read`: as many bytes as `gcount` says, which is the object's first member.
pub fn gcount<S: Sink>(stream: u64, at: u64) {
    S::write(at, u64::try_from(read_at::<i64>(stream, 1)).unwrap_or(0));
}

/// The content of a `std::string`: pointer and length.
pub fn cxx_string<S: Sink>(string: u64) {
    S::read(string, 16);
    let [start, len] = read(string as *const [u64; 2]);
    S::read(start, len);
}

/// The content of a `std::string` was written.
pub fn cxx_text<S: Sink>(string: u64) {
    let [start, len] = read(string as *const [u64; 2]);
    S::write(start, len);
}

/// A node of a red-black tree.
#[repr(C)]
#[derive(Clone, Copy)]
struct TreeNode {
    colour: u64,
    parent: u64,
    left: u64,
    right: u64,
}
const TREE_NODE: u64 = size_of::<TreeNode>() as u64;

// SAFETY: integers only.
unsafe impl Plain for TreeNode {}

fn tree_node(at: u64) -> TreeNode {
    read(at as *const TreeNode)
}

/// A node and the nodes below it, to this depth, are read and written.
fn change_subtree<S: Sink>(node: u64, depth: u64) {
    if node == 0 {
        return;
    }
    S::update(node, TREE_NODE);
    if depth > 0 {
        let TreeNode { left, right, .. } = tree_node(node);
        change_subtree::<S>(left, depth - 1);
        change_subtree::<S>(right, depth - 1);
    }
}

/// Inserting below or removing a node changes its ancestors up to the header and nodes near them.
pub fn tree_change<S: Sink>(node: u64, header: u64, depth: u64) {
    let mut at = node;
    // Removing a node with two children takes the smallest node of the right subtree out of its place.
    if depth > 1 && tree_node(node).left != 0 && tree_node(node).right != 0 {
        at = tree_node(node).right;
        while tree_node(at).left != 0 {
            at = tree_node(at).left;
        }
    }
    while at != header && at != 0 {
        change_subtree::<S>(at, depth);
        at = tree_node(at).parent;
    }
    S::update(header, TREE_NODE);
}

/// The next (`forward`) or previous node in order.
pub fn tree_step<S: Sink>(node: u64, forward: u64) {
    let child = |at: u64, near: bool| if near == (forward != 0) { tree_node(at).right } else { tree_node(at).left };
    S::read(node, TREE_NODE);
    let mut at = child(node, true);
    if at != 0 {
        while at != 0 {
            S::read(at, TREE_NODE);
            at = child(at, false);
        }
        return;
    }
    let mut from = node;
    let mut at = tree_node(node).parent;
    S::read(at, TREE_NODE);
    while from == child(at, true) {
        from = at;
        at = tree_node(at).parent;
        S::read(at, TREE_NODE);
    }
}

/// Where a list node's pointer to the next node is.
const NEXT: u64 = 0;
/// Where a list node's pointer to the previous node is.
const PREVIOUS: u64 = 8;

fn next(node: u64) -> u64 {
    read((node + NEXT) as *const u64)
}

fn previous(node: u64) -> u64 {
    read((node + PREVIOUS) as *const u64)
}

/// A list node is put before another.
pub fn list_hook<S: Sink>(node: u64, position: u64) {
    S::write(node, 16);
    S::update(position + PREVIOUS, 8);
    S::write(previous(position) + NEXT, 8);
}

/// A list node is taken out.
pub fn list_unhook<S: Sink>(node: u64) {
    S::read(node, 16);
    S::write(next(node) + PREVIOUS, 8);
    S::write(previous(node) + NEXT, 8);
}

/// The nodes from `first` up to `last` are moved before a node.
pub fn list_transfer<S: Sink>(node: u64, first: u64, last: u64) {
    if node == last {
        return;
    }
    for at in [node, first, last] {
        S::update(at + PREVIOUS, 8);
        S::write(previous(at) + NEXT, 8);
    }
}

/// All nodes of a list, with its header.
pub fn list_all<S: Sink>(header: u64) {
    let mut at = header;
    loop {
        S::update(at, 16);
        at = next(at);
        if at == header {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::{R, Seen, W, seen};

    #[test]
    fn lists_touch_neighbours() {
        // Three nodes in a ring.
        let mut ring = [[0u64; 2]; 3];
        let node = |ring: &[[u64; 2]; 3], i: usize| ring.as_ptr() as u64 + 16 * (i % 3) as u64;
        for i in 0..3 {
            ring[i] = [node(&ring, i + 1), node(&ring, i + 2)];
        }
        let node = |i| node(&ring, i);
        list_unhook::<Seen>(node(1));
        assert_eq!(seen(), [(R, node(1), 16), (W, node(2) + 8, 8), (W, node(0), 8)]);
        list_all::<Seen>(node(0));
        assert_eq!(seen().len(), 6);
    }

    #[test]
    fn trees_touch_ancestors() {
        // A header, its root and a left child.
        let mut tree = [[0u64; 4]; 3];
        let at = |tree: &[[u64; 4]; 3], i: usize| tree.as_ptr() as u64 + 32 * i as u64;
        let nodes = {
            let at = |i| at(&tree, i);
            [[0, at(1), at(2), at(1)], [1, at(0), at(2), 0], [0, at(1), 0, 0]]
        };
        tree.copy_from_slice(&nodes);
        let at = |i| at(&tree, i);
        tree_step::<Seen>(at(2), 1);
        assert_eq!(seen(), [(R, at(2), 32), (R, at(1), 32)]);
        tree_change::<Seen>(at(2), at(0), 1);
        assert_eq!(seen().iter().filter(|(tag, start, _)| *tag == W && *start == at(0)).count(), 1);
    }
}
