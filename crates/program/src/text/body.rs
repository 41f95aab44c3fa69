//! Parsing: a function's locals and blocks.

use std::collections::BTreeMap;

use model::{IndexVec, SiteId};

use super::ParseError;
use super::lexer::{Label, Spanned, Token};
use super::number::{assign, refused};
use super::parse::Parser;
use crate::ir::{Block, BlockId, FunctionId, Local, LocalId, Operand, Statement, Terminator};

/// The locals and blocks of a function.
pub(super) type Parts = (IndexVec<LocalId, Local>, IndexVec<BlockId, Block>);

/// The body of one function.
pub(super) struct Body<'a, 'b> {
    pub(super) parser: &'a mut Parser<'b>,
    function: FunctionId,
    name: &'a str,
    locals: BTreeMap<Label, LocalId>,
    names: IndexVec<LocalId, Local>,
    blocks: BTreeMap<String, BlockId>,
}

impl<'a, 'b> Body<'a, 'b> {
    /// Finds the locals and blocks of the body that starts at the parser's next token, unless it has none.
    pub(super) fn new(
        parser: &'a mut Parser<'b>,
        function: FunctionId,
        name: &'a str,
        params: Vec<Definition<Label>>,
        external: bool,
    ) -> Result<Self, ParseError> {
        let (mut defined, mut started) = (params, Vec::new());
        if !external {
            scan(parser, &mut defined, &mut started);
        }
        let fixed: Vec<Option<u32>> = defined.iter().map(|d| d.name.id).collect();
        let ids = assign(&fixed).map_err(|i| {
            let Definition { name, place } = &defined[i];
            refused(place.0, place.1, name.id, defined.len())
        })?;
        let mut names = IndexVec::filled(defined.len(), Local::default());
        let mut locals = BTreeMap::new();
        for (Definition { name: label, place }, id) in defined.into_iter().zip(ids) {
            let unnamed = !label.quoted && label.text.chars().all(|c| c.is_ascii_digit());
            names[LocalId(id)].name = (!unnamed).then(|| label.text.clone());
            if locals.insert(label.clone(), LocalId(id)).is_some() {
                let message = format!("`%{}` of this function is assigned twice", label.text);
                return Err(twice(place, message, "each local is assigned once; name another"));
            }
        }
        let mut blocks = BTreeMap::new();
        for (Definition { name, place }, index) in started.into_iter().zip(0..) {
            if blocks.insert(name.clone(), BlockId(index)).is_some() {
                return Err(twice(place, format!("there are two blocks `{name}` in this function"), "rename one"));
            }
        }
        Ok(Self { parser, function, name, locals, names, blocks })
    }

    /// The locals alone, of a function without a body.
    pub(super) fn into_locals(self) -> IndexVec<LocalId, Local> {
        self.names
    }

    /// Reads the blocks up to the closing brace.
    pub(super) fn blocks(mut self) -> Result<Parts, ParseError> {
        let mut blocks = IndexVec::new();
        while !self.parser.eat('}') {
            if self.at_label() || !blocks.is_empty() {
                self.parser.name("a block's name")?;
                self.parser.expect(':')?;
            }
            blocks.push(self.block()?);
        }
        if blocks.is_empty() {
            return Err(self.parser.error("a function without blocks", "write `extern fn` for one without a body"));
        }
        Ok((self.names, blocks))
    }

    fn at_label(&self) -> bool {
        let mut rest = self.parser.rest();
        let named = rest.next().is_some_and(|s| matches!(s.token, Token::Word(_) | Token::Text(_)));
        named && rest.next().is_some_and(|s| s.token == Token::Punctuation(':'))
    }

    fn block(&mut self) -> Result<Block, ParseError> {
        let mut statements = Vec::new();
        loop {
            if let Some(terminator) = self.terminator()? {
                return Ok(Block { statements, terminator });
            }
            if self.at_label() || matches!(self.parser.peek(), Token::Punctuation('}') | Token::End) {
                let help = "a block ends with `goto`, `branch`, `switch`, `any`, `return` or `unreachable`";
                return Err(self.parser.expected("a statement", help));
            }
            let start = self.parser.place();
            let stmt = self.statement()?;
            let site: Option<SiteId> =
                self.parser.site_of_statement(self.function, self.name, start, stmt.is_visible())?;
            statements.push(Statement { site, stmt });
        }
    }

    fn terminator(&mut self) -> Result<Option<Terminator>, ParseError> {
        if self.at_label() {
            return Ok(None);
        }
        Ok(Some(if self.parser.eat_word("goto") {
            Terminator::Goto(self.block_name()?)
        } else if self.parser.eat_word("branch") {
            let condition = self.operand()?;
            self.parser.expect(',')?;
            let then = self.block_name()?;
            self.parser.expect(',')?;
            Terminator::Branch { condition, then, otherwise: self.block_name()? }
        } else if self.parser.eat_word("switch") {
            let value = self.operand()?;
            self.parser.expect('[')?;
            let mut cases = Vec::new();
            while !self.parser.eat(']') {
                if !cases.is_empty() {
                    self.parser.expect(',')?;
                }
                let case = self.parser.number("a case's number")?;
                self.parser.expect(':')?;
                cases.push((case, self.block_name()?));
            }
            self.parser.expect(',')?;
            Terminator::Switch { value, cases, default: self.block_name()? }
        } else if self.parser.eat_word("any") {
            self.parser.expect('[')?;
            let mut blocks = Vec::new();
            while !self.parser.eat(']') {
                if !blocks.is_empty() {
                    self.parser.expect(',')?;
                }
                blocks.push(self.block_name()?);
            }
            Terminator::Any(blocks)
        } else if self.parser.eat_word("invoke") {
            let then = self.block_name()?;
            self.parser.expect(',')?;
            Terminator::Invoke { then, handler: self.block_name()? }
        } else if self.parser.eat_word("resume") {
            Terminator::Resume
        } else if self.parser.eat_word("return") {
            Terminator::Return(self.try_operand()?)
        } else if self.parser.eat_word("unreachable") {
            Terminator::Unreachable
        } else {
            return Ok(None);
        }))
    }

    pub(super) fn block_name(&mut self) -> Result<BlockId, ParseError> {
        let known = match self.parser.peek() {
            Token::Word(name) | Token::Text(name) => self.blocks.get(name).copied(),
            _ => return Err(self.parser.expected("a block's name", "")),
        };
        let block = known.ok_or_else(|| {
            let found = self.parser.peek().describe();
            self.parser.error(format!("there is no block {found} in this function"), "blocks start with `name:`")
        })?;
        self.parser.next();
        Ok(block)
    }

    fn local(&self, label: &Label) -> Result<LocalId, ParseError> {
        self.locals.get(label).copied().ok_or_else(|| {
            let help = "it must be a parameter or be assigned in this function";
            self.parser.error(format!("there is no local `%{}`", label.text), help)
        })
    }

    /// The local that is assigned, if the statement starts with one.
    pub(super) fn try_local(&mut self) -> Result<Option<LocalId>, ParseError> {
        let Token::Local(label) = self.parser.peek().clone() else { return Ok(None) };
        let local = self.local(&label)?;
        self.parser.next();
        Ok(Some(local))
    }

    pub(super) fn try_operand(&mut self) -> Result<Option<Operand>, ParseError> {
        match self.try_local()? {
            Some(local) => Ok(Some(Operand::Local(local))),
            None => self.parser.try_constant(),
        }
    }

    pub(super) fn operand(&mut self) -> Result<Operand, ParseError> {
        match self.try_operand()? {
            Some(operand) => Ok(operand),
            None => Err(self.parser.expected("a value", "a number, `%local`, `@global`, `&function` or `?`")),
        }
    }

    /// A value after a comma.
    pub(super) fn further(&mut self) -> Result<Operand, ParseError> {
        self.parser.expect(',')?;
        self.operand()
    }
}

/// A name and the position where it is defined.
pub(super) struct Definition<T> {
    pub(super) name: T,
    pub(super) place: (u32, u32),
}

fn twice((line, column): (u32, u32), message: String, help: &str) -> ParseError {
    ParseError { line, column, message, help: Some(help.to_owned()) }
}

/// Collects the assigned locals and the names of the blocks, up to the end of the body.
///
/// A local before `=` is assigned; so is one before a comma before such a local. A name before `:` outside of brackets
/// starts a block.
fn scan(parser: &Parser<'_>, locals: &mut Vec<Definition<Label>>, blocks: &mut Vec<Definition<String>>) {
    let in_body = |s: &&Spanned| !matches!(s.token, Token::Punctuation('}') | Token::End);
    let body: Vec<&Spanned> = parser.rest().take_while(in_body).collect();
    let token = |index: usize| body.get(index).map(|s| &s.token);
    let is = |index: usize, c: char| token(index) == Some(&Token::Punctuation(c));
    let mut depth = 0usize;
    for (index, spanned) in body.iter().enumerate() {
        let place = (spanned.line, spanned.column);
        match &spanned.token {
            Token::Punctuation('[') => depth += 1,
            Token::Punctuation(']') => depth = depth.saturating_sub(1),
            Token::Local(label)
                if is(index + 1, '=')
                    || is(index + 1, ',')
                        && matches!(token(index + 2), Some(Token::Local(_)))
                        && is(index + 3, '=') =>
            {
                locals.push(Definition { name: label.clone(), place });
            }
            Token::Word(name) | Token::Text(name) if depth == 0 && is(index + 1, ':') => {
                // The first block may have no name.
                if index > 0 && blocks.is_empty() {
                    blocks.push(Definition { name: String::new(), place });
                }
                blocks.push(Definition { name: name.clone(), place });
            }
            _ => {}
        }
    }
}
