//! What makes a finding the same finding after the lines around it have moved.

use crate::document::{Access, Finding, Pair};

/// A race by its variable and both accesses, without lines, columns and threads. Two pairs of one program may share it.
pub fn of_pair(pair: &Pair) -> String {
    let mut accesses = pair.accesses.each_ref().map(of_access);
    accesses.sort();
    format!("{}|{}|{}", pair.variable, accesses[0], accesses[1])
}

/// Another error by its kind, message and function.
pub fn of_error(error: &Finding) -> String {
    let kind = error.code.name();
    format!("{kind}|{}|{}|{}", error.message, error.file.as_deref().unwrap_or_default(), error.function)
}

fn of_access(access: &Access) -> String {
    let atomic = if access.atomic { "atomic " } else { "" };
    format!("{atomic}{} in {} of {}", access.kind, access.function, access.file.as_deref().unwrap_or_default())
}
