//! Values, addresses, locks and memory orders in both languages.

use model::Order;

use super::Emitter;
use crate::generator::sketch::{Change, Index, LockRef, Number, Value};

impl Emitter {
    /// Writes `int l3 = x0;`; the local is defined from here on.
    pub(super) fn read_line(&mut self, local: u8, what: &str) {
        self.line(&format!("int l{local} = {what}; (void)l{local};"));
        self.defined.insert(local);
    }

    pub(super) fn value(&self, value: Value) -> (String, String) {
        match value {
            Value::Constant(value) => (value.to_string(), value.to_string()),
            Value::Local(local) => self.local(local),
        }
    }

    /// A local in both languages; 0 if it is not defined.
    pub(super) fn local(&self, local: u8) -> (String, String) {
        if self.defined.contains(&local) {
            (format!("l{local}"), format!("%l{local}"))
        } else {
            ("0".to_owned(), "0".to_owned())
        }
    }

    pub(super) fn index_in_c(&self, index: Index) -> String {
        match index {
            Index::Shared(var) => format!("x{var} & 1"),
            Index::Local(local) => format!("{} & 1", self.local(local).0),
        }
    }

    /// The address of an element of the array.
    pub(super) fn element(&mut self, index: Index) -> String {
        let value = match index {
            Index::Shared(var) => {
                let read = self.fresh("read");
                self.op(&format!("%{read} = load 4, @x{var}"));
                format!("%{read}")
            }
            Index::Local(local) => self.local(local).1,
        };
        self.select("@a", &value, 4)
    }

    /// The address of element `value & 1` of an array.
    pub(super) fn select(&mut self, base: &str, value: &str, scale: u32) -> String {
        let (bit, address) = (self.fresh("bit"), self.fresh("address"));
        self.pure(&format!("%{bit} = and 32 {value}, 1"));
        self.pure(&format!("%{address} = offset {base}, %{bit}, {scale}, 0"));
        address
    }

    pub(super) fn load_pointer(&mut self) -> String {
        let pointer = self.fresh("pointer");
        self.op(&format!("%{pointer} = load 8, @heap"));
        pointer
    }

    /// A lock in both languages.
    pub(super) fn lock(&mut self, lock: LockRef) -> (String, String) {
        match lock {
            LockRef::Mutex(number) => (format!("&m[{number}]"), format!("@m+{}", u32::from(number) * 40)),
            LockRef::Chosen(local) => {
                let (c, text) = self.local(local);
                (format!("&m[{c} & 1]"), format!("%{}", self.select("@m", &text, 40)))
            }
            LockRef::Recursive => ("&recursive".to_owned(), "@recursive".to_owned()),
            LockRef::Read | LockRef::Write => ("&rw".to_owned(), "@rw".to_owned()),
        }
    }

    /// Writes `x0 = (x0 + 1) ^ 2;`, or the same from a local on.
    pub(super) fn update(&mut self, what: Number, old: Option<u8>, changes: &[(Change, u8)]) {
        let words = |change: Change| match change {
            Change::Add => ("+", "add"),
            Change::Subtract => ("-", "sub"),
            Change::And => ("&", "and"),
            Change::Or => ("|", "or"),
            Change::Xor => ("^", "xor"),
        };
        let (place_in_c, size, place) = match what {
            Number::Integer(var) => (format!("x{var}"), 4, format!("@x{var}")),
            Number::Word => ("w.word".to_owned(), 4, "@w".to_owned()),
            Number::Byte(byte) => (format!("w.bytes[{byte}]"), 1, format!("@w+{byte}")),
        };
        let (from_in_c, mut from) = match old {
            None => (place_in_c.clone(), format!("%{}", self.fresh("old"))),
            Some(local) => self.local(local),
        };
        let term = |term: String, (change, value): &(Change, u8)| format!("({term} {} {value})", words(*change).0);
        self.line(&format!("{place_in_c} = {};", changes.iter().fold(from_in_c, term)));
        if old.is_none() {
            self.op(&format!("{from} = load {size}, {place}"));
        }
        for (change, value) in changes {
            let new = self.fresh("new");
            self.pure(&format!("%{new} = {} 32 {from}, {value}", words(*change).1));
            from = format!("%{new}");
        }
        self.op(&format!("store {size}, {place}, {from}"));
    }

    pub(super) fn lock_operation(&mut self, function: &str, word: &str, lock: LockRef) {
        let (c, text) = self.lock(lock);
        self.both(&format!("{function}({c});"), &format!("{word} {text}"));
    }
}

pub(super) fn order_in_c(order: Order) -> &'static str {
    match order {
        Order::Relaxed | Order::Continuing => "__ATOMIC_RELAXED",
        Order::Acquire => "__ATOMIC_ACQUIRE",
        Order::Release => "__ATOMIC_RELEASE",
        Order::AcqRel => "__ATOMIC_ACQ_REL",
        Order::SeqCst => "__ATOMIC_SEQ_CST",
    }
}

/// The order of a store in the text, whose other form is C.
pub(super) fn store_order_in_text(order: Order) -> &'static str {
    order_in_text(if order == Order::Relaxed { Order::Continuing } else { order })
}

pub(super) fn order_in_text(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "relaxed",
        Order::Continuing => "continuing",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq_rel",
        Order::SeqCst => "seq_cst",
    }
}
