//! What makes a finding the same finding after the lines around it have moved.

use std::collections::BTreeMap;

use crate::document::{Access, Finding, Pair};

/// A race by its variable and both accesses, without lines, columns and threads. Two pairs of one program may share it.
pub fn of_pair(pair: &Pair) -> String {
    let mut accesses = pair.accesses.each_ref().map(of_access);
    accesses.sort();
    format!("{}|{}|{}", without_line(&pair.variable), accesses[0], accesses[1])
}

/// A variable's name without the line of the allocation in it: `heap@pool.c:43.lock` is `heap@pool.c.lock`.
fn without_line(variable: &str) -> String {
    let Some((before, place)) = variable.split_once("heap@") else { return variable.to_owned() };
    let Some((file, after)) = place.split_once(':') else { return variable.to_owned() };
    format!("{before}heap@{file}{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Another error by its kind, message and function.
pub fn of_error(error: &Finding) -> String {
    let kind = error.code.name();
    format!("{kind}|{}|{}|{}", error.message, error.file.as_deref().unwrap_or_default(), error.function)
}

fn of_access(access: &Access) -> String {
    let atomic = if access.atomic { "atomic " } else { "" };
    let function = access.own_call().map_or(&access.function, |call| &call.function);
    format!("{atomic}{} in {function} of {}", access.kind, access.own_place().0.unwrap_or_default())
}

/// Numbers fingerprints that findings share.
#[derive(Default)]
pub(crate) struct Fingerprints(BTreeMap<String, usize>);

impl Fingerprints {
    /// The print itself the first time, with a number each further time.
    pub(crate) fn unique(&mut self, print: String) -> String {
        let n = self.0.entry(print.clone()).or_default();
        *n += 1;
        if *n == 1 { print } else { format!("{print}#{n}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_fingerprints_are_numbered() {
        let mut prints = Fingerprints::default();
        assert_eq!([(); 2].map(|()| prints.unique("x".to_owned())), ["x", "x#2"]);
    }
}
