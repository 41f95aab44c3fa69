//! Words for orders and operators, shared by printer and parser.

use model::{LockMode, Order};

use crate::ir::{BinaryOp, CompareOp, RmwOp, TryMode};
use crate::members::Content;

/// A word for each value.
pub(super) type Words<T> = [(&'static str, T)];

pub(super) const ORDERS: &Words<Order> = &[
    ("relaxed", Order::Relaxed),
    ("continuing", Order::Continuing),
    ("acquire", Order::Acquire),
    ("release", Order::Release),
    ("acq_rel", Order::AcqRel),
    ("seq_cst", Order::SeqCst),
];

pub(super) const CONTENTS: &Words<Content> = &[
    ("pointer", Content::Pointer),
    ("float", Content::Float),
    ("integer", Content::Integer),
    ("union", Content::Union),
    ("text", Content::Text),
    ("stream", Content::Stream),
    ("bytes", Content::Bytes),
];

pub(super) const BINARY: &Words<BinaryOp> = &[
    ("add", BinaryOp::Add),
    ("sub", BinaryOp::Sub),
    ("mul", BinaryOp::Mul),
    ("sdiv", BinaryOp::SDiv),
    ("udiv", BinaryOp::UDiv),
    ("srem", BinaryOp::SRem),
    ("urem", BinaryOp::URem),
    ("and", BinaryOp::And),
    ("or", BinaryOp::Or),
    ("xor", BinaryOp::Xor),
    ("shl", BinaryOp::Shl),
    ("lshr", BinaryOp::LShr),
    ("ashr", BinaryOp::AShr),
];

pub(super) const COMPARE: &Words<CompareOp> = &[
    ("eq", CompareOp::Eq),
    ("ne", CompareOp::Ne),
    ("slt", CompareOp::SLt),
    ("sle", CompareOp::SLe),
    ("sgt", CompareOp::SGt),
    ("sge", CompareOp::SGe),
    ("ult", CompareOp::ULt),
    ("ule", CompareOp::ULe),
    ("ugt", CompareOp::UGt),
    ("uge", CompareOp::UGe),
];

pub(super) const RMW: &Words<RmwOp> = &[
    ("exchange", RmwOp::Exchange),
    ("add", RmwOp::Add),
    ("sub", RmwOp::Sub),
    ("and", RmwOp::And),
    ("or", RmwOp::Or),
    ("xor", RmwOp::Xor),
    ("max", RmwOp::Max),
    ("min", RmwOp::Min),
    ("umax", RmwOp::UMax),
    ("umin", RmwOp::UMin),
    ("other", RmwOp::Other),
];

pub(super) const LOCKS: &Words<(LockMode, TryMode)> = &[
    ("lock", (LockMode::Exclusive, TryMode::Wait)),
    ("trylock", (LockMode::Exclusive, TryMode::Try)),
    ("timedlock", (LockMode::Exclusive, TryMode::Timed)),
    ("rdlock", (LockMode::Shared, TryMode::Wait)),
    ("tryrdlock", (LockMode::Shared, TryMode::Try)),
    ("timedrdlock", (LockMode::Shared, TryMode::Timed)),
];

pub(super) const JOINS: &Words<TryMode> =
    &[("join", TryMode::Wait), ("tryjoin", TryMode::Try), ("timedjoin", TryMode::Timed)];

pub(super) const WAITS: &Words<TryMode> =
    &[("wait", TryMode::Wait), ("trywait", TryMode::Try), ("timedwait", TryMode::Timed)];

pub(super) const SEM_WAITS: &Words<TryMode> =
    &[("sem_wait", TryMode::Wait), ("sem_trywait", TryMode::Try), ("sem_timedwait", TryMode::Timed)];

/// The word for a value of a complete table.
pub(super) fn word<T: PartialEq>(words: &Words<T>, value: &T) -> &'static str {
    words.iter().find(|(_, v)| v == value).map_or("", |(word, _)| word)
}

/// The value of a word.
pub(super) fn value<T: Copy>(words: &Words<T>, text: &str) -> Option<T> {
    words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
}

/// All words of a table, for error messages.
pub(super) fn all<T>(words: &Words<T>) -> String {
    words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Whether the text can be written without quotes.
pub(super) fn is_word(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(starts_word) && chars.all(continues_word)
}
/// First character of a word.
pub(super) fn starts_word(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '.' | '$')
}
/// Further character of a word.
pub(super) fn continues_word(c: char) -> bool {
    starts_word(c) || c.is_ascii_digit()
}

/// The text in quotes.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The text, in quotes where it is not a word.
pub(super) fn name(text: &str) -> String {
    if is_word(text) { text.to_owned() } else { quote(text) }
}
