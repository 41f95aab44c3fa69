//! Parsing: statements.

use model::Order;

use super::ParseError;
use super::body::Body;
use super::lexer::Token;
use super::words::{BINARY, COMPARE, JOINS, LOCKS, ORDERS, RMW, SEM_WAITS, WAITS, Words, all, value};
use crate::ir::{Callee, Expr, LocalId, Operand, Stmt, SyncOp};

impl Body<'_, '_> {
    pub(super) fn statement(&mut self) -> Result<Stmt, ParseError> {
        let dst = self.try_local()?;
        if let Some(dst) = dst {
            if self.parser.eat(',') {
                let success = self.try_local()?.ok_or_else(|| self.parser.expected("a local", ""))?;
                self.parser.expect('=')?;
                return self.compare_exchange(dst, success);
            }
            self.parser.expect('=')?;
            if let Some(value) = self.try_operand()? {
                return Ok(Stmt::Assign { dst, expr: Expr::Use(value) });
            }
        }
        let Token::Word(word) = self.parser.peek().clone() else {
            return Err(self.parser.expected("a statement", "as in `%x = load 4, @counter` or `lock @m`"));
        };
        self.parser.next();
        self.optional_result(dst, &word)
    }

    /// Statements whose result may be omitted.
    fn optional_result(&mut self, dst: Option<LocalId>, word: &str) -> Result<Stmt, ParseError> {
        match word {
            "call" => {
                let callee = if self.parser.eat('*') {
                    Callee::Indirect(self.operand()?)
                } else {
                    Callee::Direct(self.parser.function_name()?)
                };
                Ok(Stmt::Call { dst, callee, args: self.arguments()? })
            }
            "library" => {
                let function = self.parser.name("a library function's name")?;
                Ok(Stmt::Library { dst, function, args: self.arguments()? })
            }
            _ => match (self.sync(word)?, dst) {
                (Some(op), dst) => Ok(Stmt::Sync { dst, op }),
                (None, Some(dst)) => self.with_result(dst, word),
                (None, None) => self.without_result(word),
            },
        }
    }

    fn arguments(&mut self) -> Result<Vec<Operand>, ParseError> {
        self.parser.expect('(')?;
        let mut args = Vec::new();
        while !self.parser.eat(')') {
            if !args.is_empty() {
                self.parser.expect(',')?;
            }
            args.push(self.operand()?);
        }
        Ok(args)
    }

    fn with_result(&mut self, dst: LocalId, word: &str) -> Result<Stmt, ParseError> {
        Ok(match word {
            "load" => {
                let (size, atomic) = self.size_and_order()?;
                Stmt::Load { dst, address: self.further()?, size, atomic }
            }
            "rmw" => {
                let op = self.one_of(RMW, "a read-modify-write")?;
                let size = self.parser.number("a size in bytes")?;
                let order = self.one_of(ORDERS, "a memory order")?;
                Stmt::Rmw { dst, op, address: self.further()?, value: self.further()?, size, order }
            }
            "alloca" => Stmt::Alloca {
                dst,
                size: self.operand()?,
                name: self.parser.try_quoted(),
                ty: self.parser.optional_ty()?,
            },
            "alloc" => Stmt::Alloc { dst, size: self.operand()?, zeroed: false },
            "zalloc" => Stmt::Alloc { dst, size: self.operand()?, zeroed: true },
            _ => Stmt::Assign { dst, expr: self.expression(word)? },
        })
    }

    fn expression(&mut self, word: &str) -> Result<Expr, ParseError> {
        if let Some(op) = value(BINARY, word) {
            let bits = self.parser.number("a number of bits")?;
            return Ok(Expr::Binary { op, bits, left: self.operand()?, right: self.further()? });
        }
        if let Some(op) = value(COMPARE, word) {
            let bits = self.parser.number("a number of bits")?;
            return Ok(Expr::Compare { op, bits, left: self.operand()?, right: self.further()? });
        }
        Ok(match word {
            "offset" => {
                let (base, index) = (self.operand()?, self.further()?);
                self.parser.expect(',')?;
                let scale = self.parser.number("a number of bytes")?;
                self.parser.expect(',')?;
                Expr::Offset { base, index, scale, offset: self.parser.number("a number of bytes")? }
            }
            "select" => Expr::Select { condition: self.operand()?, then: self.further()?, otherwise: self.further()? },
            "sext" | "zext" => {
                let bits = self.parser.number("a number of bits")?;
                Expr::Truncate { value: self.operand()?, bits, signed: word == "sext" }
            }
            "phi" => {
                self.parser.expect('[')?;
                let mut sources = Vec::new();
                while !self.parser.eat(']') {
                    if !sources.is_empty() {
                        self.parser.expect(',')?;
                    }
                    let block = self.block_name()?;
                    self.parser.expect(':')?;
                    sources.push((block, self.operand()?));
                }
                Expr::Phi(sources)
            }
            _ => {
                let help = format!(
                    "`load`, `rmw`, `cas`, `alloca`, `alloc`, `zalloc`, `call`, `library`, `offset`, `select`, `sext`, \
                     `zext`, `phi`, {}, {}, or a thread operation",
                    all(BINARY),
                    all(COMPARE)
                );
                return Err(self.parser.error(format!("`{word}` gives no result"), help));
            }
        })
    }

    fn without_result(&mut self, word: &str) -> Result<Stmt, ParseError> {
        Ok(match word {
            "store" => {
                let (size, atomic) = self.size_and_order()?;
                Stmt::Store { address: self.further()?, value: self.further()?, size, atomic }
            }
            "fence" => Stmt::Fence(self.one_of(ORDERS, "a memory order")?),
            "copy" => Stmt::Copy { to: self.operand()?, from: self.further()?, len: self.further()? },
            "fill" => Stmt::Fill { to: self.operand()?, value: self.further()?, len: self.further()? },
            "free" => Stmt::Free { address: self.operand()? },
            "assert" => Stmt::Assert { condition: self.operand()? },
            "exit" => Stmt::Exit { code: self.operand()? },
            _ => return Err(self.parser.error(format!("`{word}` is no statement"), "computations start with `%x = `")),
        })
    }

    fn compare_exchange(&mut self, dst: LocalId, success: LocalId) -> Result<Stmt, ParseError> {
        if !self.parser.eat_word("cas") {
            return Err(self.parser.expected("`cas`", "only a compare-exchange gives two results"));
        }
        let size = self.parser.number("a size in bytes")?;
        let order = self.one_of(ORDERS, "a memory order")?;
        let failure = self.one_of(ORDERS, "the memory order of a failure")?;
        let (address, expected, new) = (self.further()?, self.further()?, self.further()?);
        Ok(Stmt::CompareExchange { dst, success, address, expected, new, size, order, failure })
    }

    /// The thread operation that starts with this word.
    fn sync(&mut self, word: &str) -> Result<Option<SyncOp>, ParseError> {
        if let Some((mode, wait)) = value(LOCKS, word) {
            return Ok(Some(SyncOp::Lock { lock: self.operand()?, mode, wait }));
        }
        if let Some(mode) = value(JOINS, word) {
            return Ok(Some(SyncOp::Join { handle: self.operand()?, mode }));
        }
        if let Some(wait) = value(WAITS, word) {
            return Ok(Some(SyncOp::CondWait { cond: self.operand()?, lock: self.further()?, wait }));
        }
        if let Some(wait) = value(SEM_WAITS, word) {
            return Ok(Some(SyncOp::SemWait { sem: self.operand()?, wait }));
        }
        Ok(Some(match word {
            "create" => SyncOp::Create { function: self.operand()?, arg: self.further()? },
            "detach" => SyncOp::Detach { handle: self.operand()? },
            "exit_thread" => SyncOp::ExitThread,
            "cancel" => SyncOp::Cancel { handle: self.operand()? },
            "current" => SyncOp::Current,
            "lock_init" => SyncOp::LockInit { lock: self.operand()?, recursive: self.parser.eat_word("recursive") },
            "lock_destroy" => SyncOp::LockDestroy { lock: self.operand()? },
            "unlock" => SyncOp::Unlock { lock: self.operand()? },
            "cond_init" => SyncOp::CondInit { cond: self.operand()? },
            "cond_destroy" => SyncOp::CondDestroy { cond: self.operand()? },
            "signal" => SyncOp::Signal { cond: self.operand()? },
            "broadcast" => SyncOp::Broadcast { cond: self.operand()? },
            "barrier_init" => SyncOp::BarrierInit { barrier: self.operand()?, count: self.further()? },
            "barrier_destroy" => SyncOp::BarrierDestroy { barrier: self.operand()? },
            "barrier_wait" => SyncOp::BarrierWait { barrier: self.operand()? },
            "sem_init" => SyncOp::SemInit { sem: self.operand()?, value: self.further()? },
            "sem_destroy" => SyncOp::SemDestroy { sem: self.operand()? },
            "sem_post" => SyncOp::SemPost { sem: self.operand()? },
            "sem_get" => SyncOp::SemGet { sem: self.operand()? },
            "once" => SyncOp::Once { control: self.operand()?, function: self.further()? },
            "yield" => SyncOp::Yield,
            "choose" => SyncOp::Choose { lo: self.operand()?, hi: self.further()? },
            "assume" => SyncOp::Assume { condition: self.operand()? },
            "section_begin" => SyncOp::SectionBegin,
            "section_end" => SyncOp::SectionEnd,
            "round" => SyncOp::Round { again: self.operand()? },
            _ => return Ok(None),
        }))
    }

    fn size_and_order(&mut self) -> Result<(u32, Option<Order>), ParseError> {
        let size = self.parser.number("a size in bytes")?;
        let atomic = match self.parser.peek() {
            Token::Word(_) => Some(self.one_of(ORDERS, "a memory order")?),
            _ => None,
        };
        Ok((size, atomic))
    }

    /// A word of a table.
    fn one_of<T: Copy>(&mut self, words: &Words<T>, what: &str) -> Result<T, ParseError> {
        let found = match self.parser.peek() {
            Token::Word(word) => value(words, word),
            _ => None,
        };
        let found = found.ok_or_else(|| self.parser.expected(what, format!("one of {}", all(words))))?;
        self.parser.next();
        Ok(found)
    }
}
