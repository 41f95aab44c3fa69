//! Parsing: the parser's state, tokens and names.

use std::collections::BTreeMap;

use super::ParseError;
use super::lexer::{Label, Spanned, Token, tokens};
use super::sites::Mention;
use crate::ir::{FunctionId, GlobalId, Program};
use crate::types::TypeId;

/// Reads a program.
pub(super) fn program(file: &str, text: &str) -> Result<Program, ParseError> {
    let tokens = tokens(text)?;
    let mut parser = Parser::new(file, tokens);
    parser.declare()?;
    while *parser.peek() != Token::End {
        parser.item()?;
    }
    parser.finish()
}

pub(super) struct Parser<'a> {
    pub(super) file: &'a str,
    pub(super) tokens: Vec<Spanned>,
    pub(super) at: usize,
    pub(super) program: Program,
    pub(super) globals: BTreeMap<String, Vec<GlobalId>>,
    pub(super) functions: BTreeMap<String, Vec<FunctionId>>,
    /// As the source names them, by id.
    pub(super) function_names: Vec<String>,
    pub(super) types: BTreeMap<String, TypeId>,
    pub(super) mentions: Vec<Mention>,
    /// Where each function starts, for errors about it as a whole.
    pub(super) function_places: Vec<(u32, u32)>,
    pub(super) entry: Option<Option<FunctionId>>,
}

impl<'a> Parser<'a> {
    fn new(file: &'a str, tokens: Vec<Spanned>) -> Self {
        Self {
            file,
            tokens,
            at: 0,
            program: Program::default(),
            globals: BTreeMap::new(),
            functions: BTreeMap::new(),
            function_names: Vec::new(),
            types: BTreeMap::new(),
            mentions: Vec::new(),
            function_places: Vec::new(),
            entry: None,
        }
    }

    pub(super) fn spanned(&self) -> &Spanned {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }
    pub(super) fn peek(&self) -> &Token {
        &self.spanned().token
    }
    pub(super) fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }
    /// The tokens not read yet.
    pub(super) fn rest(&self) -> impl Iterator<Item = &Spanned> {
        self.tokens[self.at.min(self.tokens.len())..].iter()
    }
    pub(super) fn place(&self) -> (u32, u32) {
        (self.spanned().line, self.spanned().column)
    }
    pub(super) fn error(&self, message: impl Into<String>, help: impl Into<String>) -> ParseError {
        let ((line, column), help) = (self.place(), help.into());
        ParseError { line, column, message: message.into(), help: (!help.is_empty()).then_some(help) }
    }
    pub(super) fn expected(&self, what: &str, help: impl Into<String>) -> ParseError {
        self.error(format!("expected {what}, found {}", self.peek().describe()), help)
    }
    pub(super) fn eat(&mut self, punctuation: char) -> bool {
        let there = *self.peek() == Token::Punctuation(punctuation);
        self.at += usize::from(there);
        there
    }
    pub(super) fn expect(&mut self, punctuation: char) -> Result<(), ParseError> {
        if self.eat(punctuation) { Ok(()) } else { Err(self.expected(&format!("`{punctuation}`"), "")) }
    }
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let there = matches!(self.peek(), Token::Word(w) if w == word);
        self.at += usize::from(there);
        there
    }
    pub(super) fn word(&mut self, what: &str) -> Result<String, ParseError> {
        match self.peek().clone() {
            Token::Word(word) => {
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.expected(what, "")),
        }
    }
    /// A word, or any text in quotes.
    pub(super) fn name(&mut self, what: &str) -> Result<String, ParseError> {
        match self.peek().clone() {
            Token::Word(name) | Token::Text(name) => {
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.expected(what, "names that are not words go in quotes")),
        }
    }
    pub(super) fn quoted(&mut self, what: &str) -> Result<String, ParseError> {
        self.try_quoted().ok_or_else(|| self.expected(what, "it goes in quotes"))
    }
    pub(super) fn try_quoted(&mut self) -> Option<String> {
        let Token::Text(text) = self.peek().clone() else { return None };
        self.at += 1;
        Some(text)
    }
    pub(super) fn number<N: std::str::FromStr>(&mut self, what: &str) -> Result<N, ParseError> {
        let Token::Number(digits) = self.peek() else { return Err(self.expected(what, "")) };
        let number = digits.parse().map_err(|_| self.error(format!("`{digits}` is not {what}"), ""))?;
        self.at += 1;
        Ok(number)
    }
    pub(super) fn id(&mut self) -> Option<u32> {
        let Token::Id(id) = *self.peek() else { return None };
        self.at += 1;
        Some(id)
    }
    /// Items up to `close`, separated by commas.
    pub(super) fn list<T>(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut items = Vec::new();
        while !self.eat(close) {
            if !items.is_empty() {
                self.expect(',')?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Finds all names first, so that they can be used before they are defined.
    fn declare(&mut self) -> Result<(), ParseError> {
        let mut depth = 0usize;
        let (mut globals, mut types) = (0, 0);
        while *self.peek() != Token::End {
            match self.next() {
                Token::Punctuation('{') => depth += 1,
                Token::Punctuation('}') => depth = depth.saturating_sub(1),
                Token::Word(word) if depth == 0 && word == "global" => {
                    let name = self.name("the global's name")?;
                    self.globals.entry(name).or_default().push(GlobalId(globals));
                    globals += 1;
                }
                Token::Word(word) if depth == 0 && word == "fn" => {
                    let name = self.name("the function's name")?;
                    let id = FunctionId(self.function_names.len() as u32);
                    let source_name = self.try_quoted().unwrap_or_else(|| name.clone());
                    self.function_names.push(source_name);
                    self.functions.entry(name).or_default().push(id);
                }
                Token::Word(word) if depth == 0 && word == "type" => {
                    let name = self.word("the type's name")?;
                    if self.types.insert(name.clone(), TypeId(types)).is_some() {
                        return Err(self.error(format!("there are two types `{name}`"), "rename one"));
                    }
                    types += 1;
                }
                _ => {}
            }
        }
        self.at = 0;
        Ok(())
    }

    pub(super) fn resolve<I: Copy + PartialEq>(
        &self,
        what: &str,
        table: &BTreeMap<String, Vec<I>>,
        label: &Label,
        make: fn(u32) -> I,
    ) -> Result<I, ParseError> {
        let known = table.get(&label.text).map_or(&[][..], Vec::as_slice);
        match (label.id.map(make), known) {
            (Some(id), _) if known.contains(&id) => Ok(id),
            (Some(_), _) => Err(self.error(format!("there is no {what} `{}` with this number", label.text), "")),
            (None, [only]) => Ok(*only),
            (None, []) => Err(self.error(format!("there is no {what} `{}`", label.text), format!("define the {what}"))),
            (None, _) => {
                let help = "say which by its number, as in `name#2`";
                Err(self.error(format!("there are several {what}s `{}`", label.text), help))
            }
        }
    }
    pub(super) fn global_of(&self, label: &Label) -> Result<GlobalId, ParseError> {
        self.resolve("global", &self.globals, label, GlobalId)
    }
    pub(super) fn function_of(&self, label: &Label) -> Result<FunctionId, ParseError> {
        self.resolve("function", &self.functions, label, FunctionId)
    }
    /// A function's name without a sigil.
    pub(super) fn function_name(&mut self) -> Result<FunctionId, ParseError> {
        let start = self.at;
        let text = self.name("a function's name")?;
        let label = Label { text, quoted: false, id: self.id() };
        let found = self.function_of(&label);
        if found.is_err() {
            self.at = start;
            return self.function_of(&label);
        }
        found
    }
    pub(super) fn ty(&mut self) -> Result<TypeId, ParseError> {
        let known = match self.peek() {
            Token::Word(name) => self.types.get(name).copied(),
            _ => None,
        };
        let ty = known.ok_or_else(|| self.expected("a type's name", "types are defined with `type name = …`"))?;
        self.at += 1;
        Ok(ty)
    }
    /// `as name`.
    pub(super) fn optional_ty(&mut self) -> Result<Option<TypeId>, ParseError> {
        if self.eat_word("as") { self.ty().map(Some) } else { Ok(None) }
    }

    fn finish(mut self) -> Result<Program, ParseError> {
        self.program.main = match self.entry {
            Some(entry) => entry,
            None => self.functions.get("main").and_then(|ids| ids.first().copied()),
        };
        self.number_sites()?;
        if let Err(invalid) = self.program.validate() {
            let problem = invalid.problems.into_iter().next();
            let function = problem.as_ref().and_then(|p| p.function);
            let place = function.and_then(|f| self.function_places.get(f.0 as usize));
            let (line, column) = place.copied().unwrap_or((1, 1));
            let message = problem.map_or(String::new(), |p| p.message);
            return Err(ParseError { line, column, message, help: None });
        }
        Ok(self.program)
    }
}
