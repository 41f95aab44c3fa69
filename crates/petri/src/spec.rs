//! Reads and writes mist's `.spec` format.
//!
//! Sections `vars`, `rules`, `init`, `target`, optional `invariants`, in that order; `#` starts a comment. A rule is
//! comma-separated guards, `->`, comma-separated updates, `;`. A guard is `x >= n` or `true`; an update is
//! `x' = sum` where the sum has variables and numbers. What a rule does not mention keeps its value. `init` is one
//! conjunction of `x = n`, `x >= n` or `x in [a, b]`; a variable it leaves out may have any value. `target` is a
//! disjunction of conjunctions: atoms joined by commas are one conjunction.
//!
//! Guards with an upper bound (`x = n`, `x in [a, b]`) make a rule lose monotonicity; coverability is undecidable
//! then, and such files are refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::marking::Marking;
use crate::net::{Initial, Net, PlaceId, Transition};

/// Why a file was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct SpecError {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Number(u32),
    Symbol(&'static str),
    End,
}

impl Token {
    fn describe(&self) -> String {
        match self {
            Self::Word(w) => format!("`{w}`"),
            Self::Number(n) => format!("`{n}`"),
            Self::Symbol(s) => format!("`{s}`"),
            Self::End => "the end of the file".into(),
        }
    }
}

struct Lexed {
    token: Token,
    line: usize,
    column: usize,
}

const SYMBOLS: [&str; 11] = ["->", ">=", "=", ",", ";", "'", "+", "-", "[", "]", "*"];
const SECTIONS: [&str; 5] = ["vars", "rules", "init", "target", "invariants"];

fn lex(text: &str) -> Result<Vec<Lexed>, SpecError> {
    let mut tokens = Vec::new();
    let mut last_line = 1;
    for (index, line_text) in text.lines().enumerate() {
        let line = index + 1;
        last_line = line;
        let content = line_text.split('#').next().unwrap_or_default();
        let mut rest = content;
        while let Some(c) = rest.chars().next() {
            let column = content[..content.len() - rest.len()].chars().count() + 1;
            if c.is_whitespace() {
                rest = &rest[c.len_utf8()..];
                continue;
            }
            let taken = |pred: fn(char) -> bool| rest.find(|c| !pred(c)).unwrap_or(rest.len());
            let (token, len) = if c.is_ascii_digit() {
                let len = taken(|c| c.is_ascii_digit());
                let n = rest[..len].parse().map_err(|_| SpecError {
                    line,
                    column,
                    message: format!("`{}` is too large; numbers go up to {}", &rest[..len], u32::MAX),
                })?;
                (Token::Number(n), len)
            } else if c.is_alphabetic() || c == '_' {
                let len = taken(|c| c.is_alphanumeric() || c == '_' || c == '.');
                (Token::Word(rest[..len].to_owned()), len)
            } else if let Some(symbol) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) {
                (Token::Symbol(symbol), symbol.len())
            } else {
                return Err(SpecError { line, column, message: format!("unexpected character `{c}`") });
            };
            tokens.push(Lexed { token, line, column });
            rest = &rest[len..];
        }
    }
    tokens.push(Lexed { token: Token::End, line: last_line + 1, column: 1 });
    Ok(tokens)
}

struct Parser {
    tokens: Vec<Lexed>,
    at: usize,
    net: Net,
    by_name: BTreeMap<String, PlaceId>,
}

/// Reads a net.
pub fn parse(text: &str) -> Result<Net, SpecError> {
    let mut parser = Parser { tokens: lex(text)?, at: 0, net: Net::default(), by_name: BTreeMap::new() };
    parser.net()?;
    Ok(parser.net)
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }
    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }
    fn error<T>(&self, message: impl Into<String>) -> Result<T, SpecError> {
        let Lexed { line, column, .. } = self.tokens[self.at];
        Err(SpecError { line, column, message: message.into() })
    }
    fn expected<T>(&self, what: &str) -> Result<T, SpecError> {
        self.error(format!("expected {what}, found {}", self.peek().describe()))
    }
    fn eat(&mut self, symbol: &'static str) -> bool {
        let found = *self.peek() == Token::Symbol(symbol);
        if found {
            self.next();
        }
        found
    }
    fn symbol(&mut self, symbol: &'static str) -> Result<(), SpecError> {
        if self.eat(symbol) { Ok(()) } else { self.expected(&format!("`{symbol}`")) }
    }
    fn section(&mut self, name: &str) -> Result<(), SpecError> {
        if self.at_word(name) {
            self.next();
            return Ok(());
        }
        self.expected(&format!("section `{name}`"))
    }
    fn at_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if w == word)
    }
    fn number(&mut self) -> Result<u32, SpecError> {
        match *self.peek() {
            Token::Number(n) => {
                self.next();
                Ok(n)
            }
            _ => self.expected("a number"),
        }
    }
    fn place(&mut self) -> Result<PlaceId, SpecError> {
        let Token::Word(name) = self.peek() else { return self.expected("a variable") };
        let Some(&place) = self.by_name.get(name) else {
            return self.error(format!("`{name}` is not declared under `vars`"));
        };
        self.next();
        Ok(place)
    }
    fn at_section_or_end(&self) -> bool {
        match self.peek() {
            Token::Word(w) => SECTIONS.contains(&w.as_str()) && !self.by_name.contains_key(w),
            Token::End => true,
            _ => false,
        }
    }

    fn net(&mut self) -> Result<(), SpecError> {
        self.section("vars")?;
        while !self.at_section_or_end() {
            let Token::Word(name) = self.peek().clone() else { return self.expected("a variable or `rules`") };
            let place = PlaceId(self.net.places.len() as u32);
            if self.by_name.insert(name.clone(), place).is_some() {
                return self.error(format!("`{name}` is declared twice"));
            }
            self.net.places.push(name);
            self.next();
            self.eat(",");
        }
        self.section("rules")?;
        while !self.at_section_or_end() {
            self.rule()?;
        }
        self.section("init")?;
        self.init()?;
        self.section("target")?;
        while !self.at_section_or_end() {
            let target = self.conjunction()?;
            self.net.targets.push(target);
        }
        if self.net.targets.is_empty() {
            return self.expected("a target");
        }
        if self.at_word("invariants") {
            self.invariants()?;
        }
        if *self.peek() != Token::End {
            return self.expected("the end of the file");
        }
        Ok(())
    }

    fn conjunction(&mut self) -> Result<Marking, SpecError> {
        let mut entries = Vec::new();
        loop {
            let place = self.place()?;
            if !self.eat(">=") {
                return self.expected("`>=` (a target must be upward closed)");
            }
            entries.push((place, self.number()?));
            if !self.eat(",") {
                return Ok(Marking::new(entries));
            }
        }
    }

    fn rule(&mut self) -> Result<(), SpecError> {
        let start = self.at;
        let mut rule = Transition::default();
        let mut guards: BTreeMap<PlaceId, u32> = BTreeMap::new();
        if self.at_word("true") {
            self.next();
        } else if *self.peek() != Token::Symbol("->") {
            loop {
                let place = self.place()?;
                if matches!(self.peek(), Token::Symbol("=")) || self.at_word("in") {
                    return self.error("a guard with an upper bound is not monotone; only `>=` is supported in rules");
                }
                self.symbol(">=")?;
                let n = self.number()?;
                let guard = guards.entry(place).or_default();
                *guard = n.max(*guard);
                if !self.eat(",") {
                    break;
                }
            }
        }
        self.symbol("->")?;
        let mut updates: BTreeMap<PlaceId, (Vec<PlaceId>, i64)> = BTreeMap::new();
        while *self.peek() != Token::Symbol(";") {
            let place = self.place()?;
            self.symbol("'")?;
            self.symbol("=")?;
            let sum = self.sum()?;
            if updates.insert(place, sum).is_some() {
                return self.error("a rule changes one variable twice");
            }
            if !self.eat(",") {
                break;
            }
        }
        self.symbol(";")?;

        let mut flows: BTreeMap<PlaceId, Vec<PlaceId>> = BTreeMap::new();
        for (target, (sources, constant)) in &updates {
            if *constant != 0 {
                rule.delta.push((*target, *constant));
            }
            flows.entry(*target).or_default();
            for source in sources {
                if !updates.contains_key(source) && !flows.contains_key(source) {
                    flows.insert(*source, vec![*source]);
                }
                flows.entry(*source).or_default().push(*target);
            }
        }
        rule.flows = flows
            .into_iter()
            .map(|(from, mut to)| {
                to.sort_unstable();
                (from, to)
            })
            .filter(|(from, to)| to.as_slice() != std::slice::from_ref(from))
            .collect();
        rule.guard = guards.into_iter().filter(|(_, n)| *n > 0).collect();
        self.net.transitions.push(rule);
        let check = Net {
            places: self.net.places.clone(),
            transitions: vec![self.net.transitions.last().cloned().unwrap_or_default()],
            initial: vec![Initial { low: 0, high: None }; self.net.places.len()],
            targets: Vec::new(),
        };
        if let Err(message) = check.validate() {
            self.at = start;
            let rest = message.split_once(' ').and_then(|(_, r)| r.split_once(' ')).map_or("", |(_, r)| r);
            return self.error(format!("this rule {rest}"));
        }
        Ok(())
    }

    fn sum(&mut self) -> Result<(Vec<PlaceId>, i64), SpecError> {
        let (mut places, mut constant) = (Vec::new(), 0i64);
        let mut negative = self.eat("-");
        loop {
            match self.peek() {
                Token::Number(n) => {
                    let n = i64::from(*n);
                    constant += if negative { -n } else { n };
                    self.next();
                }
                Token::Word(_) if negative => return self.error("subtracting a variable is not monotone"),
                Token::Word(_) => places.push(self.place()?),
                _ => return self.expected("a variable or a number"),
            }
            negative = if self.eat("+") {
                false
            } else if self.eat("-") {
                true
            } else {
                return Ok((places, constant));
            };
        }
    }

    fn init(&mut self) -> Result<(), SpecError> {
        self.net.initial = vec![Initial { low: 0, high: None }; self.net.places.len()];
        while !self.at_section_or_end() {
            let place = self.place()?;
            let initial = if self.eat(">=") {
                Initial { low: self.number()?, high: None }
            } else if self.eat("=") {
                let n = self.number()?;
                Initial { low: n, high: Some(n) }
            } else if self.at_word("in") {
                self.next();
                self.symbol("[")?;
                let low = self.number()?;
                self.symbol(",")?;
                let high = self.number()?;
                if high < low {
                    return self.error(format!("the range [{low}, {high}] is empty"));
                }
                self.symbol("]")?;
                Initial { low, high: Some(high) }
            } else {
                return self.expected("`=`, `>=` or `in`");
            };
            self.net.initial[place.index()] = initial;
            if !self.eat(",") {
                break;
            }
        }
        Ok(())
    }

    /// Weights of place invariants. They are only hints, and the solver finds its own, so they are read and ignored.
    fn invariants(&mut self) -> Result<(), SpecError> {
        self.next();
        while *self.peek() != Token::End {
            self.place()?;
            self.symbol("=")?;
            self.number()?;
            self.eat(",");
        }
        Ok(())
    }
}

/// Writes a net. [`parse`] reads it back, except that characters in place names that the format does not allow become
/// `_`.
pub fn write(net: &Net) -> String {
    let names = names(net);
    let name = |p: PlaceId| &names[p.index()];
    let mut out = format!("vars\n    {}\n\nrules\n", names.join(" "));
    for t in &net.transitions {
        let guard: Vec<String> = t.guard.iter().map(|(p, n)| format!("{} >= {n}", name(*p))).collect();
        let guard = if guard.is_empty() { "true".to_owned() } else { guard.join(", ") };
        let mut changed: Vec<PlaceId> = t.delta.iter().map(|(p, _)| *p).collect();
        changed.extend(t.flows.iter().flat_map(|(from, to)| std::iter::once(*from).chain(to.iter().copied())));
        changed.sort_unstable();
        changed.dedup();
        let updates: Vec<String> = changed
            .into_iter()
            .map(|p| {
                let mut terms: Vec<&str> = Vec::new();
                if !t.flows.iter().any(|(from, _)| *from == p) {
                    terms.push(name(p));
                }
                for (from, to) in &t.flows {
                    terms.extend(to.iter().filter(|q| **q == p).map(|_| name(*from).as_str()));
                }
                let mut sum = terms.join(" + ");
                let constant = t.change(p);
                if sum.is_empty() {
                    sum = constant.to_string();
                } else if constant != 0 {
                    let _ = write!(sum, " {} {}", if constant < 0 { '-' } else { '+' }, constant.unsigned_abs());
                }
                format!("{}' = {sum}", name(p))
            })
            .collect();
        let _ = writeln!(out, "    {guard} ->\n        {};\n", updates.join(",\n        "));
    }
    let init: Vec<String> = net
        .place_ids()
        .filter_map(|p| match net.initial[p.index()] {
            Initial { low, high: Some(high) } if low == high => Some(format!("{} = {low}", name(p))),
            Initial { low, high: Some(high) } => Some(format!("{} in [{low}, {high}]", name(p))),
            Initial { low: 0, high: None } => None,
            Initial { low, high: None } => Some(format!("{} >= {low}", name(p))),
        })
        .collect();
    let _ = write!(out, "init\n    {}\n\ntarget\n", init.join(", "));
    for target in &net.targets {
        let atoms: Vec<String> = target.entries().iter().map(|(p, n)| format!("{} >= {n}", name(*p))).collect();
        let atoms = if atoms.is_empty() { format!("{} >= 0", name(PlaceId(0))) } else { atoms.join(", ") };
        let _ = writeln!(out, "    {atoms}");
    }
    out
}

/// Distinct names for the places that the format allows.
fn names(net: &Net) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut allowed = |name: &String| {
        let mut word: String =
            name.chars().map(|c| if c.is_alphanumeric() || c == '_' || c == '.' { c } else { '_' }).collect();
        if !word.starts_with(|c: char| c.is_alphabetic() || c == '_') || is_keyword(&word) {
            word.insert(0, '_');
        }
        while !taken.insert(word.clone()) {
            word.push('_');
        }
        word
    };
    net.places.iter().map(&mut allowed).collect()
}

fn is_keyword(word: &str) -> bool {
    SECTIONS.contains(&word) || word == "true" || word == "in"
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "\
vars
    x y z
rules
    x >= 1 -> x' = x - 1, y' = y + 1;   # a step
    y >= 2 -> y' = 0, z' = z + y;
    true -> z' = 0;
init
    x >= 3, y = 0, z in [0, 2]
target
    z >= 2, x >= 1
    y >= 5
";

    #[test]
    fn reads_and_writes() {
        let net = parse(SMALL).unwrap();
        assert_eq!(net.places, ["x", "y", "z"]);
        assert_eq!(net.transitions[1].flows, [(PlaceId(1), vec![PlaceId(2)])]);
        assert_eq!(net.transitions[2].flows, [(PlaceId(2), vec![])]);
        assert_eq!(net.targets.len(), 2);
        assert_eq!(parse(&write(&net)).unwrap(), net);
    }

    #[test]
    fn fires_transfers_and_resets() {
        let net = parse(SMALL).unwrap();
        let m = Marking::new([(PlaceId(0), 1), (PlaceId(1), 3), (PlaceId(2), 1)]);
        let after = net.fire(&m, crate::TransitionId(1)).unwrap();
        assert_eq!(after, Marking::new([(PlaceId(0), 1), (PlaceId(2), 4)]));
        assert_eq!(net.fire(&after, crate::TransitionId(1)), None);
        assert_eq!(net.fire(&after, crate::TransitionId(2)).unwrap(), Marking::new([(PlaceId(0), 1)]));
    }

    #[test]
    fn errors_name_the_position() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(
            error("vars\n x\nrules\n x = 1 -> x' = x;\ninit\ntarget x>=1"),
            "line 4, column 4: a guard with an upper bound is not monotone; only `>=` is supported in rules"
        );
        assert_eq!(error("vars x rules q >= 1 -> ;"), "line 1, column 14: `q` is not declared under `vars`");
        assert_eq!(
            error("vars x rules x >= 1 -> x' = x - 2; init x = 0 target x >= 1"),
            "line 1, column 14: this rule takes 2 tokens from `x` but its guard asks for fewer"
        );
        assert_eq!(error("vars x x"), "line 1, column 8: `x` is declared twice");
        assert_eq!(
            error("vars x rules init x = 0 target"),
            "line 2, column 1: expected a target, found the end of the file"
        );
        assert_eq!(
            error("vars x rules init x = 99999999999"),
            "line 1, column 23: `99999999999` is too large; numbers go up to 4294967295"
        );
    }
}
