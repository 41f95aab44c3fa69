//! Parsing: what stands outside of functions.

use std::collections::BTreeMap;

use model::{IndexVec, SiteId};

use super::ParseError;
use super::body::{Body, Definition};
use super::lexer::{Label, Place, Spanned, Token, tokens};
use super::number::{assign, refused};
use crate::architecture::Architecture;
use crate::ir::{Function, FunctionId, Global, GlobalId, Operand, Program, Unmodelled};
use crate::site::{FileId, Frame, Location, Site};
use crate::types::{Field, Type, TypeId};

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

/// A site as the text gives it. Until the end of the text, statements hold its index here instead of its id.
struct Mention {
    line: u32,
    column: u32,
    id: Option<u32>,
    /// `None` refers to one described elsewhere.
    site: Option<Site>,
}

pub(super) struct Parser<'a> {
    file: &'a str,
    tokens: Vec<Spanned>,
    at: usize,
    pub(super) program: Program,
    globals: BTreeMap<String, Vec<GlobalId>>,
    functions: BTreeMap<String, Vec<FunctionId>>,
    /// As the source names them, by id.
    function_names: Vec<String>,
    types: BTreeMap<String, TypeId>,
    mentions: Vec<Mention>,
    /// Where each function starts, for errors about it as a whole.
    function_places: Vec<(u32, u32)>,
    entry: Option<Option<FunctionId>>,
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

    // ---- tokens ----

    fn spanned(&self) -> &Spanned {
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
    fn quoted(&mut self, what: &str) -> Result<String, ParseError> {
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
    fn id(&mut self) -> Option<u32> {
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

    // ---- names ----

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

    fn resolve<I: Copy + PartialEq>(
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
    fn ty(&mut self) -> Result<TypeId, ParseError> {
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

    // ---- sites ----

    fn file_id(&mut self, name: &str) -> FileId {
        let known = self.program.files.iter_enumerated().find(|(_, file)| *file == name).map(|(id, _)| id);
        known.unwrap_or_else(|| self.program.files.push(name.to_owned()))
    }
    fn location(&mut self, place: &Place) -> Option<Location> {
        match place {
            Place::At { file, line, column } => {
                Some(Location { file: self.file_id(file), line: *line, column: *column })
            }
            Place::None | Place::Reference | Place::Unknown => None,
        }
    }
    fn mention(&mut self, (line, column): (u32, u32), id: Option<u32>, site: Option<Site>) -> SiteId {
        self.mentions.push(Mention { line, column, id, site });
        SiteId((self.mentions.len() - 1) as u32)
    }

    /// The site after a statement, as an index of its mention; `visible` statements get one in any case.
    pub(super) fn site_of_statement(
        &mut self,
        function: FunctionId,
        name: &str,
        start: (u32, u32),
        visible: bool,
    ) -> Result<Option<SiteId>, ParseError> {
        if !matches!(self.peek(), Token::Site(..)) {
            return Ok(visible.then(|| {
                let file = self.file.to_owned();
                let location = Location { file: self.file_id(&file), line: start.0, column: start.1 };
                let source_function = name.to_owned();
                let (location, inlined_at) = (Some(location), Vec::new());
                let site = Site { function, source_function, location, inlined_at, expression: None, allocates: None };
                self.mention(start, None, Some(site))
            }));
        }
        self.site(function, name)
    }

    fn site(&mut self, function: FunctionId, name: &str) -> Result<Option<SiteId>, ParseError> {
        let at = self.place();
        let Token::Site(place, id) = self.peek().clone() else {
            return Err(self.expected("a site", "as in `!a.c:12:5`"));
        };
        self.at += 1;
        match place {
            Place::None => return Ok(None),
            Place::Reference => return Ok(Some(self.mention(at, id, None))),
            Place::Unknown | Place::At { .. } => {}
        }
        let location = self.location(&place);
        let expression = self.try_quoted();
        let allocates = self.optional_ty()?;
        let source_function =
            if self.eat_word("in") { self.quoted("the inlined function's name")? } else { name.to_owned() };
        let mut inlined_at = Vec::new();
        while self.eat_word("from") {
            let function = self.quoted("the calling function's name")?;
            let Token::Site(place, _) = self.next() else {
                return Err(self.expected("the place of the call", "as in `from \"f\" !a.c:12:5`"));
            };
            inlined_at.push(Frame { function, location: self.location(&place) });
        }
        let site = Site { function, source_function, location, inlined_at, expression, allocates };
        Ok(Some(self.mention(at, id, Some(site))))
    }

    /// Gives all sites their ids and puts those into the statements.
    fn number_sites(&mut self) -> Result<(), ParseError> {
        let described: Vec<&Mention> = self.mentions.iter().filter(|m| m.site.is_some()).collect();
        let fixed: Vec<Option<u32>> = described.iter().map(|m| m.id).collect();
        let ids = assign(&fixed)
            .map_err(|i| refused(described[i].line, described[i].column, described[i].id, described.len()))?;
        let mut next = ids.iter();
        let mut sites = vec![None; ids.len()];
        let mut id_of_mention = Vec::new();
        for mention in &self.mentions {
            let id = match &mention.site {
                Some(site) => {
                    let id = next.next().copied().unwrap_or_default();
                    sites[id as usize] = Some(site.clone());
                    id
                }
                None => mention.id.filter(|id| (*id as usize) < ids.len()).ok_or_else(|| ParseError {
                    line: mention.line,
                    column: mention.column,
                    message: "no site has this number".to_owned(),
                    help: Some("describe it at a statement, as in `!a.c:12:5#7`, or with `site`".to_owned()),
                })?,
            };
            id_of_mention.push(SiteId(id));
        }
        self.program.sites = sites.into_iter().flatten().collect();
        for block in self.program.functions.iter_mut().flat_map(|f| f.blocks.iter_mut()) {
            for statement in &mut block.statements {
                statement.site = statement.site.map(|mention| id_of_mention[mention.0 as usize]);
            }
        }
        Ok(())
    }

    // ---- items ----

    fn item(&mut self) -> Result<(), ParseError> {
        const ITEMS: &str =
            "`architecture`, `file`, `type`, `global`, `fn`, `extern fn`, `entry`, `site`, `unmodelled`";
        let Token::Word(word) = self.peek().clone() else {
            return Err(self.expected("an item", format!("one of {ITEMS}")));
        };
        match word.as_str() {
            "architecture" => {
                self.at += 1;
                let named = Architecture::ALL.into_iter().find(|architecture| self.eat_word(architecture.name()));
                self.program.architecture = named.ok_or_else(|| {
                    let names = Architecture::ALL.map(|architecture| format!("`{architecture}`")).join(", ");
                    self.expected("an architecture", format!("one of {names}"))
                })?;
            }
            "file" => {
                self.at += 1;
                let name = self.quoted("the file's name")?;
                self.file_id(&name);
            }
            "type" => self.type_item()?,
            "global" | "thread_local" | "constant" => self.global_item()?,
            "fn" | "extern" => self.function_item()?,
            "entry" => {
                self.at += 1;
                self.entry = Some(if self.eat('?') { None } else { Some(self.function_name()?) });
            }
            "site" => {
                self.at += 1;
                let function = self.function_name()?;
                let name = self.function_names[function.0 as usize].clone();
                self.site(function, &name)?;
            }
            "unmodelled" => {
                self.at += 1;
                let what = self.quoted("what is not modelled")?;
                let site = match self.eat_word("at") {
                    true => Some(SiteId(self.id().ok_or_else(|| self.expected("a site's number", "as in `#7`"))?)),
                    false => None,
                };
                let function = if self.eat_word("function") { Some(self.quoted("the function's name")?) } else { None };
                self.program.unmodelled.push(Unmodelled { site, what, function });
            }
            _ => return Err(self.expected("an item", format!("one of {ITEMS}"))),
        }
        Ok(())
    }

    fn type_item(&mut self) -> Result<(), ParseError> {
        self.at += 1;
        self.word("the type's name")?;
        self.expect('=')?;
        let ty = if self.eat_word("scalar") {
            Type::Scalar { name: self.quoted("the type's name in the source")?, size: self.number("a size")? }
        } else if self.eat_word("struct") {
            let (name, size) = (self.quoted("the type's name in the source")?, self.number("a size")?);
            self.expect('{')?;
            let fields = self.list('}', |p| {
                let (name, offset) = (p.quoted("a field's name")?, p.number("the field's offset")?);
                Ok(Field { name, offset, ty: p.ty()? })
            })?;
            Type::Struct { name, size, fields }
        } else if self.eat_word("array") {
            let element = self.ty()?;
            let mut part = |word: &str| -> Result<u64, ParseError> {
                if !self.eat_word(word) {
                    return Err(self.expected(&format!("`{word}`"), ""));
                }
                self.number("a number")
            };
            Type::Array { element, stride: part("stride")?, count: part("count")? }
        } else {
            return Err(self.expected("`scalar`, `struct` or `array`", ""));
        };
        self.program.types.push(ty);
        Ok(())
    }

    fn global_item(&mut self) -> Result<(), ParseError> {
        let thread_local = self.eat_word("thread_local");
        let constant = self.eat_word("constant");
        if !self.eat_word("global") {
            return Err(self.expected("`global`", "`thread_local` and `constant` come before it, in this order"));
        }
        let symbol = self.name("the global's name")?;
        let name = self.try_quoted().unwrap_or_else(|| symbol.clone());
        self.expect(':')?;
        let size = self.number("the global's size in bytes")?;
        let ty = self.optional_ty()?;
        let init = if self.eat('=') { self.bytes()? } else { Vec::new() };
        let mut relocations = Vec::new();
        if self.eat('{') {
            relocations = self.list('}', |p| {
                let offset = p.number("a byte's offset")?;
                p.expect(':')?;
                Ok((offset, p.constant()?))
            })?;
        }
        self.program.globals.push(Global { symbol, name, size, ty, init, relocations, thread_local, constant });
        Ok(())
    }

    /// `00ff12`.
    fn bytes(&mut self) -> Result<Vec<u8>, ParseError> {
        let (Token::Word(digits) | Token::Number(digits)) = self.peek().clone() else {
            return Err(self.expected("initial bytes", "two hexadecimal digits each"));
        };
        let pairs = digits.as_bytes().chunks(2).map(|pair| {
            let text = std::str::from_utf8(pair).ok().filter(|t| t.len() == 2 && !t.contains(['-', '+']))?;
            u8::from_str_radix(text, 16).ok()
        });
        let bytes = pairs.collect::<Option<Vec<u8>>>();
        let bytes = bytes.ok_or_else(|| self.expected("initial bytes", "two hexadecimal digits each"))?;
        self.at += 1;
        Ok(bytes)
    }

    /// A value that needs no locals.
    fn constant(&mut self) -> Result<Operand, ParseError> {
        match self.try_constant()? {
            Some(operand) => Ok(operand),
            None => Err(self.expected("a value", "as in `@global+8` or `&function`")),
        }
    }
    /// A value that needs no locals, if there is one.
    pub(super) fn try_constant(&mut self) -> Result<Option<Operand>, ParseError> {
        let operand = match self.peek() {
            Token::Global(label, offset) => Operand::Global(self.global_of(label)?, *offset),
            Token::Function(label) => Operand::Function(self.function_of(label)?),
            Token::Punctuation('?') => Operand::Any,
            Token::Number(_) => return Ok(Some(Operand::Const(self.number("a 64-bit number")?))),
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(operand))
    }

    fn function_item(&mut self) -> Result<(), ParseError> {
        let place = self.place();
        let external = self.eat_word("extern");
        if !self.eat_word("fn") {
            return Err(self.expected("`fn`", ""));
        }
        let symbol = self.name("the function's name")?;
        let name = self.try_quoted().unwrap_or_else(|| symbol.clone());
        self.expect('(')?;
        let params = self.list(')', |p| {
            let place = p.place();
            let Token::Local(name) = p.peek().clone() else { return Err(p.expected("a parameter", "as in `%arg`")) };
            p.at += 1;
            Ok(Definition { name, place })
        })?;
        self.function_places.push(place);
        let id = self.program.functions.next_id();
        let param_count = params.len() as u32;
        if !external {
            self.expect('{')?;
        }
        let body = Body::new(self, id, &name, params, external)?;
        let (locals, blocks) = if external { (body.into_locals(), IndexVec::new()) } else { body.blocks()? };
        self.program.functions.push(Function { symbol, name, params: param_count, locals, blocks });
        Ok(())
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
