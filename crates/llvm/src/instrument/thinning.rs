//! Thinning: an access is not logged if an equal one already is.
//!
//! In a long run without synchronisation most accesses are to an address that the thread has accessed since its last
//! record, as strongly: what races with the one races with the other. Each thread has a small table of what it has logged
//! ([`wire::log::SEEN`]), by address; a word that the table covers is not logged. The recorder gives a thread an empty
//! table when it has filled a buffer without a record, and takes it away with the next record. (decision 25)
//!
//! An entry is the address, the size (1, 2, 4 or 8 bytes) and whether it was written; words that stand for accesses of
//! other or of several sizes are always logged.

use inkwell::llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMOpcode};
use model::SiteId;
use wire::log::SEEN;

use super::Weaver;
use super::recording::{Memory, marked, variables};
use crate::ir::{Block, Value};

/// Bytes from the cursor to the table among a thread's variables.
const TABLE_OFFSET: u64 = 24;
/// The table of a thread that has none.
const NOTHING: &str = "__rp_nothing_seen";
/// Bits of an entry that are not the address: size and whether it was written.
const KIND_BITS: u64 = 3;
/// The kind of words that are always logged.
const ALWAYS: u8 = u8::MAX;

/// A table that stays empty.
pub(super) fn nothing<'m>(weaver: &Weaver<'_, 'm>) -> Value<'m> {
    weaver.insert.runtime_variable(NOTHING, weaver.insert.i64.array(SEEN as u64))
}

/// In `__rp_log`: returns if the table covers the word; the block to go on in otherwise.
pub(super) fn skip<'m>(weaver: &Weaver<'_, 'm>, log: Value<'m>, (address, site): (Value<'m>, Value<'m>)) -> Block<'m> {
    let insert = &weaver.insert;
    let number = |n: u64| insert.const_i64(n);
    let [look, unseen, note, seen, go_on] =
        ["look", "unseen", "note", "seen", "log"].map(|name| log.append_block(name));
    // The site is a constant where this is inlined, so its kind is too.
    let kind = insert.load(insert.i8, insert.offset(kinds(weaver), site));
    let always = insert.compare(LLVMIntPredicate::LLVMIntEQ, insert.widened(kind, false), number(ALWAYS.into()));
    insert.branch(always, go_on, look);

    insert.position_at_end(look);
    let kind = insert.widened(kind, false);
    let table = insert.load(insert.ptr, insert.offset(variables(weaver), number(TABLE_OFFSET)));
    // A call for an empty buffer may change it.
    table.set_volatile(true);
    let mixed = insert.binary(LLVMOpcode::LLVMLShr, address, number(2));
    let mixed = insert.binary(LLVMOpcode::LLVMXor, mixed, address);
    let index = insert.binary(LLVMOpcode::LLVMAnd, mixed, number(SEEN as u64 - 1));
    let slot = insert.offset(table, insert.multiply(index, number(8)));
    let entry = insert.binary(LLVMOpcode::LLVMShl, address, number(KIND_BITS));
    let entry = insert.binary(LLVMOpcode::LLVMOr, entry, kind);
    let known = marked(weaver, insert.load(insert.i64, slot), Memory::Words);
    // A read is covered by a write, whose entry is the next number.
    let ahead = insert.binary(LLVMOpcode::LLVMSub, known, entry);
    let writes = insert.binary(LLVMOpcode::LLVMAnd, kind, number(1));
    let most = insert.binary(LLVMOpcode::LLVMSub, number(1), writes);
    insert.branch(insert.compare(LLVMIntPredicate::LLVMIntULE, ahead, most), seen, unseen);

    insert.position_at_end(unseen);
    insert.branch(insert.compare(LLVMIntPredicate::LLVMIntEQ, table, nothing(weaver)), go_on, note);

    insert.position_at_end(note);
    marked(weaver, insert.store(entry, slot), Memory::Words);
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
