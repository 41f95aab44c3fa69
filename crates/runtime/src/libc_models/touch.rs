//! Hooks that work out what a library call touches, and add it to the call's event. Rows of the library table
//! (`program::library`) name them with their arguments.
//!
//! Nothing here changes the program's memory. Strings and structures are looked at as the library is about to look at
//! them, or has just done.

use core::ffi::c_void;

use wire::Tag;

use super::format::{self, Args, Text, string_len};
use crate::cell::Global;
use crate::text::text;

/// Adds an access.
fn add(tag: Tag, at: u64, len: u64) {
    #[cfg(not(test))]
    crate::hooks::add(tag, wire::record::order::PLAIN, at, len);
    #[cfg(test)]
    tests::SEEN.with_borrow_mut(|seen| seen.push((tag, at, len)));
}
fn read(at: u64, len: u64) {
    add(Tag::Read, at, len);
}
fn write(at: u64, len: u64) {
    add(Tag::Write, at, len);
}
fn both(at: u64, len: u64) {
    read(at, len);
    write(at, len);
}
/// Kinds as in `__rp_add`.
fn tag(kind: u64) -> Tag {
    if kind == 1 { Tag::Read } else { Tag::Write }
}

/// Flags of strings.
const WIDE: u64 = 1;
const FOLD: u64 = 2;

/// The character at an index of a string.
unsafe fn character(string: u64, index: u64, wide: bool) -> u32 {
    unsafe {
        if wide {
            *(string as *const u32).add(index as usize)
        } else {
            u32::from(*(string as *const u8).add(index as usize))
        }
    }
}

/// Whether a character is in a string of delimiters.
unsafe fn member(c: u32, set: u64, wide: bool) -> bool {
    let mut i = 0;
    loop {
        match unsafe { character(set, i, wide) } {
            0 => return false,
            found if found == c => return true,
            _ => i += 1,
        }
    }
}

/// The position `strtok` keeps, followed here since the library does not show its own.
static STRTOK: Global<u64> = Global::new(0);

/// What finding the next token touches, from `start` on; where the next one starts (0: there is none).
unsafe fn token(start: u64, delimiters: u64, wide: bool) -> u64 {
    let unit = if wide { 4 } else { 1 };
    unsafe {
        read(delimiters, string_len(delimiters, wide, u64::MAX));
        if start == 0 {
            return 0;
        }
        let mut i = 0;
        while character(start, i, wide) != 0 && member(character(start, i, wide), delimiters, wide) {
            i += 1;
        }
        let empty = character(start, i, wide) == 0;
        while character(start, i, wide) != 0 && !member(character(start, i, wide), delimiters, wide) {
            i += 1;
        }
        read(start, (i + 1) * unit);
        if character(start, i, wide) == 0 {
            return if empty || wide { 0 } else { start + i * unit };
        }
        write(start + i * unit, unit);
        start + (i + 1) * unit
    }
}

/// What `print` or `scan` touches: the format, and what its conversions say.
unsafe fn formatted(format: u64, flags: u32, args: &mut dyn Args) {
    let (scan, wide) = (flags & 1 != 0, flags & 2 != 0);
    // The result of a scan plus 2; 0 if it is not known.
    let assigned = (flags >> 8).checked_sub(2).map_or((flags >> 8 == 1).then_some(-1), |n| Some(n as i32));
    unsafe {
        read(format, string_len(format, wide, u64::MAX));
        if let Err(error) = format::walk(Text::new(format, wide), scan, assigned, args, &mut add) {
            let what = match error {
                format::Error::UnknownConversion(c) => {
                    text!("uses the conversion `%{}` in a format", c.escape_default())
                }
                format::Error::TooManyArguments => text!("uses a format with more than 64 arguments"),
            };
            super::unmodelled(what.as_str());
        }
    }
}

/// A node of a red-black tree of libstdc++: colour, parent, left, right.
#[repr(C)]
struct TreeNode {
    colour: u64,
    parent: u64,
    left: u64,
    right: u64,
}
const TREE_NODE: u64 = size_of::<TreeNode>() as u64;

unsafe fn tree_node<'a>(at: u64) -> &'a TreeNode {
    unsafe { &*(at as *const TreeNode) }
}

/// A node and the nodes below it, to this depth, are read and written.
unsafe fn change_subtree(node: u64, depth: u64) {
    if node == 0 {
        return;
    }
    both(node, TREE_NODE);
    if depth > 0 {
        unsafe {
            change_subtree(tree_node(node).left, depth - 1);
            change_subtree(tree_node(node).right, depth - 1);
        }
    }
}

/// A node of a list of libstdc++: next, previous.
unsafe fn next(node: u64) -> u64 {
    unsafe { *(node as *const u64) }
}
unsafe fn previous(node: u64) -> u64 {
    unsafe { *(node as *const u64).add(1) }
}

/// Where a node's pointer to the next or previous one is.
const NEXT: u64 = 0;
const PREVIOUS: u64 = 8;

unsafe extern "C" {
    static stdin: *const c_void;
    #[cfg(not(test))]
    fn __rp_add_stream(file: *const c_void);
}

/// Whether a stream object is one of the standard ones, which libstdc++ may not even be there for.
unsafe fn is_standard_stream(object: u64) -> bool {
    const NAMES: [&core::ffi::CStr; 8] = [
        c"_ZSt4cout",
        c"_ZSt4cerr",
        c"_ZSt4clog",
        c"_ZSt3cin",
        c"_ZSt5wcout",
        c"_ZSt5wcerr",
        c"_ZSt5wclog",
        c"_ZSt4wcin",
    ];
    static FOUND: Global<Option<[u64; NAMES.len()]>> = Global::new(None);
    let look_up = || NAMES.map(|name| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as u64 });
    // Safety: no borrow outlives the expression.
    unsafe { (*FOUND.get()).get_or_insert_with(look_up) }.iter().any(|&at| at != 0 && at.abs_diff(object) < 512)
}

export! {
    /// A format with its arguments widened to 64 bits.
    fn __rp_add_format(format: u64, flags: u32, count: u32, args: *const u64) {
        let args: &[u64] = if count == 0 { &[] } else { unsafe { core::slice::from_raw_parts(args, count as usize) } };
        unsafe { formatted(format, flags, &mut format::Slice(args)) };
    }
    /// A format with a `va_list`.
    fn __rp_add_format_list(format: u64, flags: u32, list: *const format::List) {
        unsafe { formatted(format, flags, &mut { *list }) };
    }
    /// A number at the start of a string, in this base; base `u64::MAX` for a floating one.
    fn __rp_add_number(string: u64, base: u64) {
        let at = |i| unsafe { character(string, i, false) } as u8;
        let mut len = 0;
        while at(len).is_ascii_whitespace() || at(len) == 0x0b {
            len += 1;
        }
        let floating = base == u64::MAX;
        let part = |c: u8| match floating {
            true => c.is_ascii_alphanumeric() || matches!(c, b'+' | b'-' | b'.'),
            false => {
                // `0x` makes the base 16 where none is given; letters end the number in smaller bases.
                let radix = if base as u32 == 0 { 16 } else { (base as u32).clamp(2, 36) };
                char::from(c).is_digit(radix) || matches!(c, b'x' | b'X')
            }
        };
        if matches!(at(len), b'+' | b'-') {
            len += 1;
        }
        while part(at(len)) {
            len += 1;
        }
        read(string, len + 1);
    }
    /// `memccpy`: what was copied ends before the result, or has `max` bytes.
    fn __rp_add_copied(to: u64, from: u64, result: u64, max: u64) {
        let len = if result == 0 { max } else { result - to };
        read(from, len);
        write(to, len);
    }
    /// Bytes up to and with the one the result points to, or `max`.
    fn __rp_add_until(kind: u64, at: u64, result: u64, max: u64) {
        add(tag(kind), at, if result == 0 { max } else { result - at + 1 });
    }
    /// Two strings up to their first difference.
    fn __rp_add_compare(left: u64, right: u64, max: u64, flags: u64) {
        let wide = flags & WIDE != 0;
        let fold = |c: u32| match flags & FOLD {
            0 => c,
            _ => u32::from((c as u8).to_ascii_lowercase()),
        };
        let mut len = 0;
        while len < max {
            let (l, r) = unsafe { (character(left, len, wide), character(right, len, wide)) };
            len += 1;
            if fold(l) != fold(r) || l == 0 {
                break;
            }
        }
        let bytes = if wide { len * 4 } else { len };
        read(left, bytes);
        read(right, bytes);
    }
    /// `strcat`: the second string goes behind the first, without its end if it has `max` characters or more.
    fn __rp_add_append(to: u64, from: u64, max: u64, flags: u64) {
        let wide = flags & WIDE != 0;
        let unit = if wide { 4 } else { 1 };
        unsafe {
            let old = string_len(to, wide, u64::MAX);
            let added = string_len(from, wide, max);
            read(to, old);
            read(from, added);
            let ended = added > 0 && character(from, added / unit - 1, wide) == 0;
            write(to + old - unit, if ended { added } else { added + unit });
        }
    }
    /// `strtok_r`, or `strtok` without a place to keep its position.
    fn __rp_add_token(string: u64, delimiters: u64, position: *mut u64) {
        unsafe {
            if position.is_null() {
                let start = if string == 0 { *STRTOK.get() } else { string };
                *STRTOK.get() = token(start, delimiters, false);
            } else {
                let start = if string == 0 { *position } else { string };
                both(position as u64, 8);
                token(start, delimiters, false);
            }
        }
    }
    /// `wcstok`.
    fn __rp_add_token_wide(string: u64, delimiters: u64, position: *const u64) {
        unsafe {
            let start = if string == 0 { *position } else { string };
            both(position as u64, 8);
            token(start, delimiters, true);
        }
    }
    /// `strsep`: the token ends at the first delimiter.
    fn __rp_add_separate(string: *const u64, delimiters: u64) {
        unsafe {
            read(string as u64, 8);
            let start = *string;
            if start == 0 {
                return;
            }
            read(delimiters, string_len(delimiters, false, u64::MAX));
            let mut len = 0;
            while character(start, len, false) != 0 && !member(character(start, len, false), delimiters, false) {
                len += 1;
            }
            read(start, len + 1);
            if character(start, len, false) != 0 {
                write(start + len, 1);
            }
            write(string as u64, 8);
        }
    }
    /// `lsearch`: an element that was not found is appended, which the result then points to.
    fn __rp_add_lsearch(base: u64, count: *const u64, width: u64, result: u64) {
        let elements = unsafe { *count };
        if elements > 0 && result == base + (elements - 1) * width {
            write(result, width);
            write(count as u64, 8);
        }
    }
    /// A string was stored unless the result is null; `wide` is 1 for `wchar_t`.
    fn __rp_add_string_result(wide: u64, at: u64, result: u64, max: u64) {
        if result != 0 && at != 0 {
            write(at, unsafe { string_len(at, wide != 0, max) });
        }
    }
    /// `getline`: the line and its terminator were stored.
    fn __rp_add_line(line: *const u64, result: i64) {
        if let Ok(len) = u64::try_from(result) {
            write(unsafe { *line }, len + 1);
        }
    }
    /// Standard input.
    fn __rp_add_standard_input() {
        #[cfg(not(test))]
        unsafe { __rp_add_stream(stdin) };
        #[cfg(test)]
        add(Tag::ReadModifyWrite, unsafe { stdin } as u64, 1);
    }
    /// `strftime`: as many characters as the result says and a terminator, unless it is 0.
    fn __rp_add_produced(unit: u64, at: u64, result: u64) {
        if result > 0 {
            write(at, (result + 1).saturating_mul(unit));
        }
    }
    /// The parts of an `iovec` array that the transferred bytes are in.
    fn __rp_add_vector(kind: u64, vector: *const libc::iovec, count: u64, result: i64) {
        let mut left = u64::try_from(result).unwrap_or(0);
        for i in 0..count as usize {
            let part = unsafe { &*vector.add(i) };
            let len = left.min(part.iov_len as u64);
            add(tag(kind), part.iov_base as u64, len);
            left -= len;
        }
    }
    /// As many bytes as the `socklen_t` behind the second argument says.
    fn __rp_add_sized(at: u64, len: *const u32) {
        if at != 0 && !len.is_null() {
            write(at, u64::from(unsafe { *len }));
        }
    }
    /// A network address of a family.
    fn __rp_add_inet(kind: u64, family: u64, at: u64) {
        add(tag(kind), at, if family as i32 == libc::AF_INET6 { 16 } else { 4 });
    }
    /// A C++ stream object: the standard ones may be used concurrently.
    fn __rp_add_iostream(object: u64) {
        if !unsafe { is_standard_stream(object) } {
            both(object, 8);
        }
    }
    /// `std::istream::read`: as many bytes as `gcount` says, which is the object's first member.
    fn __rp_add_gcount(stream: *const i64, at: u64) {
        write(at, u64::try_from(unsafe { *stream.add(1) }).unwrap_or(0));
    }
    /// The content of a `std::string`: pointer and length.
    fn __rp_add_cxx_string(string: *const u64) {
        read(string as u64, 16);
        unsafe { read(*string, *string.add(1)) };
    }
    /// Inserting below or removing a node changes its ancestors up to the header and nodes near them.
    fn __rp_add_tree_change(node: u64, header: u64, depth: u64) {
        unsafe {
            let mut at = node;
            // Removing a node with two children takes the smallest node of the right subtree out of its place.
            if depth > 1 && tree_node(node).left != 0 && tree_node(node).right != 0 {
                at = tree_node(node).right;
                while tree_node(at).left != 0 {
                    at = tree_node(at).left;
                }
            }
            while at != header && at != 0 {
                change_subtree(at, depth);
                at = tree_node(at).parent;
            }
            both(header, TREE_NODE);
        }
    }
    /// The next (`forward`) or previous node in order.
    fn __rp_add_tree_step(node: u64, forward: u64) {
        let child = |at: u64, near: bool| unsafe { if near == (forward != 0) { tree_node(at).right } else { tree_node(at).left } };
        read(node, TREE_NODE);
        let mut at = child(node, true);
        if at != 0 {
            while at != 0 {
                read(at, TREE_NODE);
                at = child(at, false);
            }
            return;
        }
        let mut from = node;
        let mut at = unsafe { tree_node(node).parent };
        read(at, TREE_NODE);
        while from == child(at, true) {
            from = at;
            at = unsafe { tree_node(at).parent };
            read(at, TREE_NODE);
        }
    }
    /// A list node is put before another.
    fn __rp_add_list_hook(node: u64, position: u64) {
        write(node, 16);
        both(position + PREVIOUS, 8);
        write(unsafe { previous(position) } + NEXT, 8);
    }
    /// A list node is taken out.
    fn __rp_add_list_unhook(node: u64) {
        read(node, 16);
        unsafe {
            write(next(node) + PREVIOUS, 8);
            write(previous(node) + NEXT, 8);
        }
    }
    /// The nodes from `first` up to `last` are moved before a node.
    fn __rp_add_list_transfer(node: u64, first: u64, last: u64) {
        if node == last {
            return;
        }
        unsafe {
            for at in [node, first, last] {
                both(at + PREVIOUS, 8);
                write(previous(at) + NEXT, 8);
            }
        }
    }
    /// All nodes of a list, with its header.
    fn __rp_add_list_all(header: u64) {
        let mut at = header;
        loop {
            both(at, 16);
            at = unsafe { next(at) };
            if at == header {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::vec::Vec;

    std::thread_local! {
        pub(super) static SEEN: RefCell<Vec<(Tag, u64, u64)>> = const { RefCell::new(Vec::new()) };
    }
    const R: Tag = Tag::Read;
    const W: Tag = Tag::Write;

    fn seen() -> Vec<(Tag, u64, u64)> {
        SEEN.take()
    }
    fn at(text: &[u8]) -> u64 {
        text.as_ptr() as u64
    }

    #[test]
    fn strings_are_compared_up_to_the_difference() {
        let (a, b) = (at(b"same\0"), at(b"sAme..\0"));
        unsafe { __rp_add_compare(a, b, u64::MAX, 0) };
        assert_eq!(seen(), [(R, a, 2), (R, b, 2)]);
        unsafe { __rp_add_compare(a, b, u64::MAX, FOLD) };
        assert_eq!(seen(), [(R, a, 5), (R, b, 5)]);
        unsafe { __rp_add_compare(a, a, 3, 0) };
        assert_eq!(seen(), [(R, a, 3), (R, a, 3)]);
    }

    #[test]
    fn appending_writes_from_the_old_end() {
        let (to, from) = (at(b"ab\0..."), at(b"xyz\0"));
        unsafe { __rp_add_append(to, from, u64::MAX, 0) };
        assert_eq!(seen(), [(R, to, 3), (R, from, 4), (W, to + 2, 4)]);
        unsafe { __rp_add_append(to, from, 2, 0) };
        assert_eq!(seen(), [(R, to, 3), (R, from, 2), (W, to + 2, 3)]);
    }

    #[test]
    fn tokens_are_followed() {
        let mut text = *b",,ab,c\0";
        let (s, delimiters) = (text.as_mut_ptr() as u64, at(b",\0"));
        unsafe { __rp_add_token(s, delimiters, core::ptr::null_mut()) };
        assert_eq!(seen(), [(R, delimiters, 2), (R, s, 5), (W, s + 4, 1)]);
        unsafe { *((s + 4) as *mut u8) = 0 };
        unsafe { __rp_add_token(0, delimiters, core::ptr::null_mut()) };
        assert_eq!(seen(), [(R, delimiters, 2), (R, s + 5, 2)]);
        unsafe { __rp_add_token(0, delimiters, core::ptr::null_mut()) };
        assert_eq!(seen(), [(R, delimiters, 2), (R, s + 6, 1)]);
        let mut rest = s;
        let position = &raw mut rest as u64;
        unsafe { __rp_add_separate(position as *const u64, delimiters) };
        assert_eq!(seen(), [(R, position, 8), (R, delimiters, 2), (R, s, 1), (W, s, 1), (W, position, 8)]);
    }

    #[test]
    fn numbers_end_at_the_first_other_character() {
        for (text, base, len) in [
            (&b"  -12x\0"[..], 10u64, 6),
            (b"0x1fg", 16, 5),
            (b"777,8", 0, 4),
            (b"1.5e+3;", u64::MAX, 7),
            (b"\0", 10, 1),
        ] {
            unsafe { __rp_add_number(at(text), base) };
            let found = seen()[0].2;
            // One more where a letter could have gone on.
            assert!(found == len || found == len + 1, "{text:?}: {found}");
        }
    }

    #[test]
    fn formats_are_walked() {
        let (format, s) = (at(b"%s %d\0"), at(b"str\0"));
        unsafe { __rp_add_format(format, 0, 2, [s, 1].as_ptr()) };
        assert_eq!(seen(), [(R, format, 6), (R, s, 4)]);
        let format = at(b"%d\0");
        for (result, writes) in [(1, 1), (0, 0), (-1, 0)] {
            let flags = 1 | ((result + 2) as u32) << 8;
            unsafe { __rp_add_format(format, flags, 1, [64].as_ptr()) };
            assert_eq!(seen().len(), 1 + writes, "{result}");
        }
    }

    #[test]
    fn lists_and_trees_touch_neighbours() {
        // Three nodes in a ring.
        let mut ring = [[0u64; 2]; 3];
        let node = |i: usize| ring.as_ptr() as u64 + 16 * (i % 3) as u64;
        let links: Vec<[u64; 2]> = (0..3).map(|i| [node(i + 1), node(i + 2)]).collect();
        ring.copy_from_slice(&links);
        let node = |i: usize| ring.as_ptr() as u64 + 16 * i as u64;
        unsafe { __rp_add_list_unhook(node(1)) };
        assert_eq!(seen(), [(R, node(1), 16), (W, node(2) + 8, 8), (W, node(0), 8)]);
        unsafe { __rp_add_list_all(node(0)) };
        assert_eq!(seen().len(), 6);
        // A header, its root and a left child.
        let mut tree = [[0u64; 4]; 3];
        let at = |i: usize| tree.as_ptr() as u64 + 32 * i as u64;
        let nodes = [[0, at(1), at(2), at(1)], [1, at(0), at(2), 0], [0, at(1), 0, 0]];
        tree.copy_from_slice(&nodes);
        let at = |i: usize| tree.as_ptr() as u64 + 32 * i as u64;
        unsafe { __rp_add_tree_step(at(2), 1) };
        assert_eq!(seen(), [(R, at(2), 32), (R, at(1), 32)]);
        unsafe { __rp_add_tree_change(at(2), at(0), 1) };
        assert_eq!(seen().iter().filter(|(tag, start, _)| *tag == W && *start == at(0)).count(), 1);
    }
}
