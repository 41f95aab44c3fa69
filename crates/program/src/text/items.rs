//! Parsing: items, which are everything outside of function bodies.

use model::{IndexVec, SiteId};

use super::ParseError;
use super::body::{Body, Definition};
use super::lexer::Token;
use super::parse::Parser;
use super::words::CONTENTS;
use crate::architecture::Architecture;
use crate::ir::{Function, Global, Operand, Unmodelled};
use crate::members::{Lvalue, Member, Record, RecordId, Slot, Whole};
use crate::types::{Field, Type};

impl Parser<'_> {
    pub(super) fn item(&mut self) -> Result<(), ParseError> {
        const ITEMS: &str =
            "`architecture`, `file`, `type`, `record`, `global`, `fn`, `extern fn`, `entry`, `site`, `unmodelled`";
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
            "record" => self.record_item()?,
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

    fn record_item(&mut self) -> Result<(), ParseError> {
        self.at += 1;
        let name = self.quoted("the struct's name")?;
        self.expect('{')?;
        let slots = self.list('}', |p| {
            let content = CONTENTS.iter().find(|(word, _)| p.eat_word(word)).map(|(_, content)| *content);
            let content =
                content.ok_or_else(|| p.expected("what the part holds", "`pointer`, `float`, `integer` or `union`"))?;
            Ok(Slot { start: p.number("its first byte")?, size: p.number("its size")?, content })
        })?;
        self.program.records.push(Record { name, slots });
        Ok(())
    }

    /// As what a site touches memory: `member` with the number of a record, the first byte and the one after the last, or
    /// what it holds; `struct` with a number of bytes or `block` for a struct with all that is in it.
    pub(super) fn lvalue(&mut self) -> Result<Option<Lvalue>, ParseError> {
        if self.eat_word("member") {
            let record = RecordId(self.number("the number of a record")?);
            let (start, end) = (self.number("the first byte")?, self.number("the byte after the last")?);
            return Ok(Some(Lvalue::Member(Member { record, start, end })));
        }
        if self.eat_word("struct") {
            let (record, len) =
                (RecordId(self.number("the number of a record")?), Some(self.number("a number of bytes")?));
            return Ok(Some(Lvalue::Whole(Whole { record, len })));
        }
        if self.eat_word("block") {
            let record = RecordId(self.number("the number of a record")?);
            return Ok(Some(Lvalue::Whole(Whole { record, len: None })));
        }
        let content = CONTENTS.iter().find(|(word, _)| self.eat_word(word)).map(|(_, content)| *content);
        Ok(content.map(Lvalue::Scalar))
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
    pub(super) fn constant(&mut self) -> Result<Operand, ParseError> {
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
}
