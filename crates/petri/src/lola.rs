//! Reads LoLA's low-level net format.
//!
//! ```text
//! PLACE idle, busy;
//! MARKING idle: 2;
//! TRANSITION start CONSUME idle: 1; PRODUCE busy: 1;
//! ```
//! `{ … }` is a comment. `SAFE` and `SAFE n :` after `PLACE`, and `FAIR`/`STRONG FAIR` after a transition's name, are
//! promises for LoLA and are skipped. The target is given separately ([`crate::target`]).

use std::collections::BTreeMap;

use crate::net::{Initial, Net, PlaceId, Transition};

/// Why a file was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct LolaError {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, LolaError> {
        let before = &self.text[..self.at];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Err(LolaError { line, column, message: message.into() })
    }
    fn skip(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            if !self.text[self.at..].starts_with('{') {
                return;
            }
            let rest = &self.text[self.at..];
            self.at += rest.find('}').map_or(rest.len(), |end| end + 1);
        }
    }
    /// The next word or sign; empty at the end.
    fn peek(&mut self) -> &'a str {
        self.skip();
        let rest = &self.text[self.at..];
        let word = rest.find(|c: char| c.is_whitespace() || ",;:{}()".contains(c)).unwrap_or(rest.len());
        &rest[..if word == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { word }]
    }
    fn next(&mut self) -> &'a str {
        let word = self.peek();
        self.at += word.len();
        word
    }
    fn eat(&mut self, word: &str) -> bool {
        let found = self.peek() == word;
        if found {
            self.next();
        }
        found
    }
    fn expect(&mut self, word: &str) -> Result<(), LolaError> {
        let found = self.peek();
        if self.eat(word) { Ok(()) } else { self.error(format!("expected `{word}`, found `{found}`")) }
    }
    fn number(&mut self) -> Result<u32, LolaError> {
        let word = self.peek();
        let Ok(n) = word.parse() else { return self.error(format!("expected a number, found `{word}`")) };
        self.next();
        Ok(n)
    }
    /// `name: number, …;` with the number 1 where left out.
    fn list(&mut self, places: &BTreeMap<&'a str, PlaceId>) -> Result<BTreeMap<PlaceId, u32>, LolaError> {
        let mut list = BTreeMap::new();
        while !self.eat(";") {
            let name = self.peek();
            let Some(place) = places.get(name) else { return self.error(format!("`{name}` is not a place")) };
            self.next();
            let n = if self.eat(":") { self.number()? } else { 1 };
            let sum = list.entry(*place).or_insert(0u32);
            let Some(more) = sum.checked_add(n) else { return self.error("this number of tokens is too large") };
            *sum = more;
            if !self.eat(",") {
                self.expect(";")?;
                break;
            }
        }
        Ok(list)
    }
}

/// Reads a net. It has no target.
pub fn parse(text: &str) -> Result<Net, LolaError> {
    let mut reader = Reader { text, at: 0 };
    let mut net = Net::default();
    let mut places: BTreeMap<&str, PlaceId> = BTreeMap::new();
    reader.expect("PLACE")?;
    if reader.eat("SAFE") {
        if reader.peek() != ":" && reader.peek().parse::<u32>().is_ok() {
            reader.next();
        }
        reader.eat(":");
    }
    loop {
        let name = reader.peek();
        if name.is_empty() || ",;:{}()".contains(name) {
            return reader.error(format!("expected a place, found `{name}`"));
        }
        if places.insert(name, PlaceId(net.places.len() as u32)).is_some() {
            return reader.error(format!("place `{name}` is declared twice"));
        }
        reader.next();
        net.places.push(name.to_owned());
        if reader.eat(";") {
            break;
        }
        reader.expect(",")?;
    }
    reader.expect("MARKING")?;
    let marking = reader.list(&places)?;
    let tokens = |p| marking.get(&p).copied().unwrap_or(0);
    net.initial = net.place_ids().map(|p| Initial { low: tokens(p), high: Some(tokens(p)) }).collect();
    while reader.eat("TRANSITION") {
        let name = reader.next().to_owned();
        reader.eat("STRONG");
        reader.eat("WEAK");
        reader.eat("FAIR");
        reader.expect("CONSUME")?;
        let consumed = reader.list(&places)?;
        reader.expect("PRODUCE")?;
        let produced = reader.list(&places)?;
        net.transitions.push(Transition::with_arcs(name, &consumed, &produced));
    }
    let rest = reader.peek();
    if rest.is_empty() {
        Ok(net)
    } else {
        reader.error(format!("expected `TRANSITION` or the end of the file, found `{rest}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_net() {
        let net = parse("{ two threads }\nPLACE SAFE 2: idle, busy;\nMARKING idle: 2;\nTRANSITION start CONSUME idle; PRODUCE busy: 1, idle: 0;\nTRANSITION stop CONSUME busy: 1; PRODUCE idle: 1;").unwrap();
        assert_eq!(net.places, ["idle", "busy"]);
        assert_eq!(net.initial[0], Initial { low: 2, high: Some(2) });
        assert_eq!(net.transitions[0].delta, [(PlaceId(0), -1), (PlaceId(1), 1)]);
        assert_eq!(net.transitions[1].name, "stop");
    }

    #[test]
    fn errors_name_the_position() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(error("PLACES a;"), "line 1, column 1: expected `PLACE`, found `PLACES`");
        assert_eq!(error("PLACE a;\nMARKING b: 1;"), "line 2, column 9: `b` is not a place");
        assert_eq!(error("PLACE a, a;"), "line 1, column 10: place `a` is declared twice");
        assert_eq!(error("PLACE a; MARKING a: x;"), "line 1, column 21: expected a number, found `x`");
        assert_eq!(
            error("PLACE a; MARKING ; junk"),
            "line 1, column 20: expected `TRANSITION` or the end of the file, found `junk`"
        );
    }
}
