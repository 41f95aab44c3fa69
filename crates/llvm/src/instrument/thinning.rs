//! Thinning: an access is not logged if an equal one already is.
//!
//! In a long run without synchronisation most accesses are to an address that the thread has accessed since its last
//! record, as strongly: what races with the one races with the other. Each thread has a small table of what it has logged
//! ([`wire::log::SEEN`]), by address; a word that the table covers is not logged. The recorder gives a thread an empty
//! table when it has filled a buffer without a record, and takes it away with the next record. (decision 25)
//!
//! An entry is the address of eight bytes with masks of those that the thread has read and written; what is written counts
//! as read. Accesses that are not aligned are always logged, as are words that stand for accesses of several sizes.

use inkwell::llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMOpcode};
use model::SiteId;
use wire::log::SEEN_SHIFT;

use super::Weaver;
use super::recording::{Memory, marked, variables};
use crate::ir::{Block, Value};

/// Bytes from the cursor to the table among a thread's variables.
const TABLE_OFFSET: u64 = 24;
/// Bytes from there to the number of its last entry.
const LAST_OFFSET: u64 = 8;
/// The table of a thread that has none: one entry, which stays empty.
const NOTHING: &str = "__rp_nothing_seen";
/// Bytes of memory that an entry is about.
const GRANULE: u64 = 8;
/// How far an address is moved to be mixed into the number of its entry, besides that of its eight bytes.
const MIXED: u64 = 15;
/// The kind of words that are always logged.
const ALWAYS: u8 = u8::MAX;

/// A table that stays empty.
pub(super) fn nothing<'m>(weaver: &Weaver<'_, 'm>) -> Value<'m> {
    weaver.insert.runtime_variable(NOTHING, weaver.insert.i64)
}

/// In `__rp_log`: returns if the table covers the word; the block to go on in otherwise.
///
/// With `M` the mask of the bytes, moved to the half for writes if one is written, an entry covers the word if it has the
/// address of the eight bytes and all of `M`. An address that is not aligned keeps its low bits, which no entry has.
pub(super) fn skip<'m>(weaver: &Weaver<'_, 'm>, log: Value<'m>, (address, site): (Value<'m>, Value<'m>)) -> Block<'m> {
    use LLVMOpcode::{LLVMAnd as AND, LLVMLShr as SHR, LLVMOr as OR, LLVMShl as SHL, LLVMSub as SUB, LLVMXor as XOR};
    let insert = &weaver.insert;
    let number = |n: u64| insert.const_i64(n);
    let binary = |op, left, right| insert.binary(op, left, right);
    let [look, unseen, note, seen, go_on] =
        ["look", "unseen", "note", "seen", "log"].map(|name| log.append_block(name));
    // The site is a constant where this is inlined, so its kind is too.
    let kind = insert.load(insert.i8, insert.offset(kinds(weaver), site));
    let kind = insert.widened(kind, false);
    insert.branch(insert.compare(LLVMIntPredicate::LLVMIntEQ, kind, number(ALWAYS.into())), go_on, look);

    insert.position_at_end(look);
    let size = binary(SHL, number(1), binary(SHR, kind, number(1)));
    let all = binary(SUB, binary(SHL, number(1), size), number(1));
    let bytes = binary(SHL, all, binary(AND, address, number(GRANULE - 1)));
    let half = insert.multiply(binary(AND, kind, number(1)), number(u64::from(SEEN_SHIFT) / 2));
    let mask = binary(SHL, bytes, half);
    let variables = insert.offset(variables(weaver), number(TABLE_OFFSET));
    let table = insert.load(insert.ptr, variables);
    let last = insert.load(insert.i64, insert.offset(variables, number(LAST_OFFSET)));
    // A call for an empty buffer may change both.
    table.set_volatile(true);
    last.set_volatile(true);
    let granule = binary(SHR, address, number(GRANULE.ilog2().into()));
    let index = binary(AND, binary(XOR, granule, binary(SHR, address, number(MIXED))), last);
    let slot = insert.offset(table, insert.multiply(index, number(8)));
    let known = marked(weaver, insert.load(insert.i64, slot), Memory::Words);
    let place = binary(AND, address, binary(XOR, binary(SUB, number(GRANULE), size), number(u64::MAX)));
    let covering = binary(OR, binary(SHL, place, number(SEEN_SHIFT.into())), mask);
    let looked_at = binary(OR, mask, number(u64::MAX << SEEN_SHIFT));
    let covers = insert.compare(LLVMIntPredicate::LLVMIntEQ, binary(AND, known, looked_at), covering);
    insert.branch(covers, seen, unseen);

    insert.position_at_end(unseen);
    let is_aligned = binary(AND, address, binary(SUB, size, number(1)));
    let is_aligned = insert.compare(LLVMIntPredicate::LLVMIntEQ, is_aligned, number(0));
    let has_table = insert.compare(LLVMIntPredicate::LLVMIntNE, table, nothing(weaver));
    insert.branch(binary(AND, is_aligned, has_table), note, go_on);

    insert.position_at_end(note);
    let empty = binary(SHL, binary(AND, address, number(!(GRANULE - 1))), number(SEEN_SHIFT.into()));
    let difference = (binary(XOR, known, empty), number(1 << SEEN_SHIFT));
    let kept = insert.select(LLVMIntPredicate::LLVMIntULT, difference, known, empty);
    let noted = binary(OR, kept, binary(OR, mask, bytes));
    marked(weaver, insert.store(noted, slot), Memory::Words);
    insert.jump(go_on);

    insert.position_at_end(seen);
    insert.ret(None);

    insert.position_at_end(go_on);
    go_on
}

/// A constant with the kind of each site's words.
fn kinds<'m>(weaver: &Weaver<'_, 'm>) -> Value<'m> {
    let count = weaver.logged.accesses.last_key_value().map_or(0, |(site, _)| site.0 + 1);
    let i8 = weaver.insert.i8;
    let kinds: Vec<_> = (0..count).map(|site| i8.number(kind(weaver, SiteId(site)).into())).collect();
    let global = weaver.module.define_global("__rp_kinds", i8.const_array(&kinds));
    global.set_constant_global();
    global.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    global
}

/// The size of the accesses that a word of this site stands for, and whether one of them writes.
fn kind(weaver: &Weaver<'_, '_>, site: SiteId) -> u8 {
    let logged = &weaver.logged;
    let all = std::iter::once(&site).chain(logged.together.get(&site).into_iter().flatten());
    let mut accesses = all.filter_map(|site| logged.accesses.get(site));
    let Some(&(first_writes, size)) = accesses.next().filter(|(_, size)| matches!(size, 1 | 2 | 4 | 8)) else {
        return ALWAYS;
    };
    let mut writes = first_writes;
    for &(also_writes, other) in accesses {
        if other != size {
            return ALWAYS;
        }
        writes |= also_writes;
    }
    (size.trailing_zeros() as u8) << 1 | u8::from(writes)
}
