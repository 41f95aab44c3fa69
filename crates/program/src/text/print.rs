//! Printing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use model::SiteId;

use super::number::explicit;
use super::words::{BINARY, COMPARE, CONTENTS, JOINS, LOCKS, ORDERS, RMW, SEM_WAITS, WAITS, name, quote, word};
use crate::architecture::Architecture;
use crate::ir::{
    Callee, Expr, Function, FunctionId, Global, GlobalId, LocalId, Operand, Program, Statement, Stmt, SyncOp,
    Terminator,
};
use crate::members::{Lvalue, Member, Slot, Whole};
use crate::site::{Location, Site};
use crate::types::Type;

/// Sites are written from this column on, if the statement is short enough.
const SITE_COLUMN: usize = 44;

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printer = Printer {
            program: self,
            globals: repeated(self.globals.iter().map(|g| g.symbol.as_str())),
            functions: repeated(self.functions.iter().map(|f| f.symbol.as_str())),
            sites: SitePlan::new(self),
        };
        printer.program(f)
    }
}

/// Ambiguous names: empty, or used twice.
fn repeated<'a>(names: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::from([""]);
    names.filter(|name| !seen.insert(*name)).collect()
}

/// Where each site is described, and whether its number is written.
struct SitePlan {
    /// The statement that describes it: the first that has it, in the site's own function.
    described_at: BTreeMap<SiteId, (FunctionId, usize)>,
    numbered: BTreeSet<SiteId>,
}

impl SitePlan {
    fn new(program: &Program) -> Self {
        let mut described_at = BTreeMap::new();
        let mut in_text_order = Vec::new();
        let mut must: BTreeSet<SiteId> = program.unmodelled.iter().filter_map(|u| u.site).collect();
        for (id, function) in program.functions.iter_enumerated() {
            let statements = function.blocks.iter().flat_map(|b| &b.statements);
            for (index, site) in statements.enumerate().filter_map(|(i, s)| Some((i, s.site?))) {
                let own = program.sites.get(site).is_some_and(|s| s.function == id);
                if own && !described_at.contains_key(&site) {
                    described_at.insert(site, (id, index));
                    in_text_order.push(site.0);
                } else {
                    must.insert(site);
                }
            }
        }
        must.extend(program.sites.ids().filter(|site| !described_at.contains_key(site)));
        let explicit = explicit(&in_text_order, |id| must.contains(&SiteId(id)));
        let by_order = in_text_order.iter().zip(explicit).filter(|(_, explicit)| *explicit).map(|(id, _)| SiteId(*id));
        let mut numbered: BTreeSet<SiteId> = by_order.collect();
        numbered.extend(must);
        Self { described_at, numbered }
    }
}

struct Printer<'a> {
    program: &'a Program,
    /// Symbols that need a number.
    globals: BTreeSet<&'a str>,
    functions: BTreeSet<&'a str>,
    sites: SitePlan,
}

/// The text of each local of one function.
struct Locals(Vec<String>);

impl Locals {
    fn new(function: &Function) -> Self {
        let assigned = function.blocks.iter().flat_map(|b| &b.statements).flat_map(|s| s.stmt.assigns());
        let in_text_order: Vec<u32> = (0..function.params).chain(assigned.map(|local| local.0)).collect();
        let ambiguous = repeated(function.locals.iter().filter_map(|l| l.name.as_deref()));
        let is_ambiguous = |id: u32| {
            let local = function.locals.get(LocalId(id));
            local.and_then(|l| l.name.as_deref()).is_some_and(|name| ambiguous.contains(name))
        };
        let explicit = explicit(&in_text_order, is_ambiguous);
        let explicit: BTreeSet<u32> =
            in_text_order.iter().zip(explicit).filter(|(_, explicit)| *explicit).map(|(id, _)| *id).collect();
        let text = |(id, local): (LocalId, &crate::ir::Local)| match (&local.name, explicit.contains(&id.0)) {
            (Some(text), false) => format!("%{}", name(text)),
            (Some(text), true) => format!("%{}#{}", name(text), id.0),
            (None, false) => format!("%{}", id.0),
            (None, true) => format!("%#{}", id.0),
        };
        Self(function.locals.iter_enumerated().map(text).collect())
    }
    fn get(&self, local: LocalId) -> &str {
        self.0.get(local.0 as usize).map_or("%?", String::as_str)
    }
}

impl Printer<'_> {
    fn program(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.program;
        if program.architecture != Architecture::default() {
            writeln!(f, "architecture {}", program.architecture)?;
        }
        for file in &program.files {
            writeln!(f, "file {}", quote(file))?;
        }
        for (id, ty) in program.types.iter_enumerated() {
            writeln!(f, "type {id} = {}", type_text(ty))?;
        }
        for record in &program.records {
            writeln!(f, "record {} {{ {} }}", quote(&record.name), join(&record.slots, slot_text))?;
        }
        for global in &program.globals {
            writeln!(f, "{}", self.global(global))?;
        }
        for (id, function) in program.functions.iter_enumerated() {
            self.function(f, id, function)?;
        }
        match program.main {
            Some(main) => writeln!(f, "entry {}", self.function_name(main))?,
            None => writeln!(f, "entry ?")?,
        }
        for (id, site) in program.sites.iter_enumerated().filter(|(id, _)| !self.sites.described_at.contains_key(id)) {
            writeln!(f, "site {} {}", self.function_name(site.function), self.site(id, site))?;
        }
        for entry in &program.unmodelled {
            write!(f, "unmodelled {}", quote(&entry.what))?;
            if let Some(site) = entry.site {
                write!(f, " at #{}", site.0)?;
            }
            if let Some(function) = &entry.function {
                write!(f, " function {}", quote(function))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }

    fn global(&self, global: &Global) -> String {
        let mut text = String::new();
        for (flag, word) in [(global.thread_local, "thread_local "), (global.constant, "constant ")] {
            text.push_str(if flag { word } else { "" });
        }
        let _ = write!(text, "global {}{}: {}", name(&global.symbol), alias(&global.symbol, &global.name), global.size);
        if let Some(ty) = global.ty {
            let _ = write!(text, " as {ty}");
        }
        if !global.init.is_empty() {
            text.push_str(" = ");
            global.init.iter().for_each(|byte| text.push_str(&format!("{byte:02x}")));
        }
        if !global.relocations.is_empty() {
            let none = Locals(Vec::new());
            let pointer = |(offset, to): &(u64, Operand)| format!("{offset}: {}", self.operand(&none, to));
            let _ = write!(text, " {{ {} }}", join(&global.relocations, pointer));
        }
        text
    }

    fn function(&self, f: &mut fmt::Formatter<'_>, id: FunctionId, function: &Function) -> fmt::Result {
        let locals = Locals::new(function);
        let params: Vec<LocalId> = (0..function.params).map(LocalId).collect();
        let params = join(&params, |p| locals.get(*p).to_owned());
        let head = format!("fn {}{}({params})", name(&function.symbol), alias(&function.symbol, &function.name));
        if function.blocks.is_empty() {
            return writeln!(f, "extern {head}");
        }
        writeln!(f, "\n{head} {{")?;
        let mut index = 0;
        for (block_id, block) in function.blocks.iter_enumerated() {
            writeln!(f, "{block_id}:")?;
            for statement in &block.statements {
                let text = self.statement(&locals, &statement.stmt);
                match self.site_suffix(id, index, statement) {
                    Some(site) => writeln!(f, "  {text:SITE_COLUMN$} {site}")?,
                    None => writeln!(f, "  {text}")?,
                }
                index += 1;
            }
            writeln!(f, "  {}", self.terminator(&locals, &block.terminator))?;
        }
        writeln!(f, "}}\n")
    }

    /// The text after a statement.
    fn site_suffix(&self, function: FunctionId, index: usize, statement: &Statement) -> Option<String> {
        let Some(id) = statement.site else { return statement.stmt.is_visible().then(|| "!none".to_owned()) };
        match self.program.sites.get(id) {
            Some(site) if self.sites.described_at.get(&id) == Some(&(function, index)) => Some(self.site(id, site)),
            _ => Some(format!("!#{}", id.0)),
        }
    }

    fn site(&self, id: SiteId, site: &Site) -> String {
        let mut text = self.place(site.location);
        if self.sites.numbered.contains(&id) {
            let _ = write!(text, "#{}", id.0);
        }
        if let Some(expression) = &site.expression {
            let _ = write!(text, " {}", quote(expression));
        }
        if let Some(ty) = site.allocates {
            let _ = write!(text, " as {ty}");
        }
        text.extend(site.lvalue.map(lvalue_text));
        text.extend(site.source.map(|source| format!(" copying{}", lvalue_text(source))));
        if self.program.functions.get(site.function).is_none_or(|f| f.name != site.source_function) {
            let _ = write!(text, " in {}", quote(&site.source_function));
        }
        for frame in &site.inlined_at {
            let _ = write!(text, " from {} {}", quote(&frame.function), self.place(frame.location));
        }
        text
    }

    fn place(&self, location: Option<Location>) -> String {
        let Some(Location { file, line, column }) = location else { return "!?".to_owned() };
        let file = self.program.files.get(file).map_or("", String::as_str);
        let bare = !file.is_empty() && !file.contains(|c: char| c.is_whitespace() || matches!(c, '#' | '"'));
        let file = if bare { file.to_owned() } else { quote(file) };
        format!("!{file}:{line}:{column}")
    }

    fn function_name(&self, id: FunctionId) -> String {
        let symbol = self.program.functions.get(id).map_or("", |f| f.symbol.as_str());
        let number = if self.functions.contains(symbol) { format!("#{}", id.0) } else { String::new() };
        format!("{}{number}", name(symbol))
    }

    fn global_name(&self, id: GlobalId) -> String {
        let symbol = self.program.globals.get(id).map_or("", |g| g.symbol.as_str());
        let number = if self.globals.contains(symbol) { format!("#{}", id.0) } else { String::new() };
        format!("{}{number}", name(symbol))
    }

    fn operand(&self, locals: &Locals, operand: &Operand) -> String {
        match *operand {
            Operand::Const(value) => value.to_string(),
            Operand::Local(local) => locals.get(local).to_owned(),
            Operand::Global(global, 0) => format!("@{}", self.global_name(global)),
            Operand::Global(global, offset) => format!("@{}{offset:+}", self.global_name(global)),
            Operand::Function(function) => format!("&{}", self.function_name(function)),
            Operand::Any => "?".to_owned(),
        }
    }

    fn statement(&self, locals: &Locals, stmt: &Stmt) -> String {
        let v = |operand: &Operand| self.operand(locals, operand);
        let args = |args: &[Operand]| join(args, v);
        let result = |dst: &Option<LocalId>| dst.map_or(String::new(), |d| format!("{} = ", locals.get(d)));
        let order = |atomic: &Option<model::Order>| atomic.map_or(String::new(), |o| format!(" {}", word(ORDERS, &o)));
        match stmt {
            Stmt::Assign { dst, expr } => format!("{} = {}", locals.get(*dst), self.expression(locals, expr)),
            Stmt::Load { dst, address, size, atomic } => {
                format!("{} = load {size}{}, {}", locals.get(*dst), order(atomic), v(address))
            }
            Stmt::Store { address, value, size, atomic } => {
                format!("store {size}{}, {}, {}", order(atomic), v(address), v(value))
            }
            Stmt::Rmw { dst, op, address, value, size, order } => {
                let (op, order) = (word(RMW, op), word(ORDERS, order));
                format!("{} = rmw {op} {size} {order}, {}, {}", locals.get(*dst), v(address), v(value))
            }
            Stmt::CompareExchange { dst, success, address, expected, new, size, order, failure } => {
                let (order, failure) = (word(ORDERS, order), word(ORDERS, failure));
                let results = format!("{}, {}", locals.get(*dst), locals.get(*success));
                format!("{results} = cas {size} {order} {failure}, {}, {}, {}", v(address), v(expected), v(new))
            }
            Stmt::Fence(order) => format!("fence {}", word(ORDERS, order)),
            Stmt::Copy { to, from, len } => format!("copy {}, {}, {}", v(to), v(from), v(len)),
            Stmt::Fill { to, value, len } => format!("fill {}, {}, {}", v(to), v(value), v(len)),
            Stmt::Alloca { dst, size, name, ty } => {
                let name = name.as_ref().map_or(String::new(), |n| format!(" {}", quote(n)));
                let ty = ty.map_or(String::new(), |ty| format!(" as {ty}"));
                format!("{} = alloca {}{name}{ty}", locals.get(*dst), v(size))
            }
            Stmt::Alloc { dst, size, zeroed } => {
                format!("{} = {} {}", locals.get(*dst), if *zeroed { "zalloc" } else { "alloc" }, v(size))
            }
            Stmt::Free { address } => format!("free {}", v(address)),
            Stmt::Call { dst, callee: Callee::Direct(function), args: a } => {
                format!("{}call {}({})", result(dst), self.function_name(*function), args(a))
            }
            Stmt::Call { dst, callee: Callee::Indirect(pointer), args: a } => {
                format!("{}call *{}({})", result(dst), v(pointer), args(a))
            }
            Stmt::Library { dst, function, args: a } => {
                format!("{}library {}({})", result(dst), name(function), args(a))
            }
            Stmt::Sync { dst, op } => format!("{}{}", result(dst), self.sync(locals, op)),
            Stmt::Assert { condition } => format!("assert {}", v(condition)),
            Stmt::Exit { code } => format!("exit {}", v(code)),
        }
    }

    fn expression(&self, locals: &Locals, expr: &Expr) -> String {
        let v = |operand: &Operand| self.operand(locals, operand);
        match expr {
            Expr::Use(value) => v(value),
            Expr::Binary { op, bits, left, right } => format!("{} {bits} {}, {}", word(BINARY, op), v(left), v(right)),
            Expr::Compare { op, bits, left, right } => {
                format!("{} {bits} {}, {}", word(COMPARE, op), v(left), v(right))
            }
            Expr::Offset { base, index, scale, offset } => {
                format!("offset {}, {}, {scale}, {offset}", v(base), v(index))
            }
            Expr::Select { condition, then, otherwise } => {
                format!("select {}, {}, {}", v(condition), v(then), v(otherwise))
            }
            Expr::Truncate { value, bits, signed } => {
                format!("{} {bits} {}", if *signed { "sext" } else { "zext" }, v(value))
            }
            Expr::Phi(sources) => format!("phi [{}]", join(sources, |(block, value)| format!("{block}: {}", v(value)))),
        }
    }

    fn sync(&self, locals: &Locals, op: &SyncOp) -> String {
        let v = |operand: &Operand| self.operand(locals, operand);
        match op {
            SyncOp::Create { function, arg } => format!("create {}, {}", v(function), v(arg)),
            SyncOp::Join { handle, mode } => format!("{} {}", word(JOINS, mode), v(handle)),
            SyncOp::Detach { handle } => format!("detach {}", v(handle)),
            SyncOp::ExitThread => "exit_thread".to_owned(),
            SyncOp::Cancel { handle } => format!("cancel {}", v(handle)),
            SyncOp::Current => "current".to_owned(),
            SyncOp::LockInit { lock, recursive } => {
                format!("lock_init {}{}", v(lock), if *recursive { " recursive" } else { "" })
            }
            SyncOp::LockDestroy { lock } => format!("lock_destroy {}", v(lock)),
            SyncOp::Lock { lock, mode, wait } => format!("{} {}", word(LOCKS, &(*mode, *wait)), v(lock)),
            SyncOp::Unlock { lock } => format!("unlock {}", v(lock)),
            SyncOp::CondInit { cond } => format!("cond_init {}", v(cond)),
            SyncOp::CondDestroy { cond } => format!("cond_destroy {}", v(cond)),
            SyncOp::CondWait { cond, lock, wait } => format!("{} {}, {}", word(WAITS, wait), v(cond), v(lock)),
            SyncOp::Signal { cond } => format!("signal {}", v(cond)),
            SyncOp::Broadcast { cond } => format!("broadcast {}", v(cond)),
            SyncOp::BarrierInit { barrier, count } => format!("barrier_init {}, {}", v(barrier), v(count)),
            SyncOp::BarrierDestroy { barrier } => format!("barrier_destroy {}", v(barrier)),
            SyncOp::BarrierWait { barrier } => format!("barrier_wait {}", v(barrier)),
            SyncOp::SemInit { sem, value } => format!("sem_init {}, {}", v(sem), v(value)),
            SyncOp::SemDestroy { sem } => format!("sem_destroy {}", v(sem)),
            SyncOp::SemPost { sem } => format!("sem_post {}", v(sem)),
            SyncOp::SemWait { sem, wait } => format!("{} {}", word(SEM_WAITS, wait), v(sem)),
            SyncOp::SemGet { sem } => format!("sem_get {}", v(sem)),
            SyncOp::Once { control, function } => format!("once {}, {}", v(control), v(function)),
            SyncOp::Yield => "yield".to_owned(),
            SyncOp::Choose { lo, hi } => format!("choose {}, {}", v(lo), v(hi)),
            SyncOp::Assume { condition } => format!("assume {}", v(condition)),
            SyncOp::SectionBegin => "section_begin".to_owned(),
            SyncOp::SectionEnd => "section_end".to_owned(),
            SyncOp::Round { again } => format!("round {}", v(again)),
        }
    }

    fn terminator(&self, locals: &Locals, terminator: &Terminator) -> String {
        let v = |operand: &Operand| self.operand(locals, operand);
        match terminator {
            Terminator::Goto(to) => format!("goto {to}"),
            Terminator::Branch { condition, then, otherwise } => {
                format!("branch {}, {then}, {otherwise}", v(condition))
            }
            Terminator::Switch { value, cases, default } => {
                format!("switch {} [{}], {default}", v(value), join(cases, |(case, to)| format!("{case}: {to}")))
            }
            Terminator::Any(blocks) => format!("any [{}]", join(blocks, ToString::to_string)),
            Terminator::Invoke { then, handler } => format!("invoke {then}, {handler}"),
            Terminator::Resume => "resume".to_owned(),
            Terminator::Return(None) => "return".to_owned(),
            Terminator::Return(Some(value)) => format!("return {}", v(value)),
            Terminator::Unreachable => "unreachable".to_owned(),
        }
    }
}

fn join<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// The source's name, if it differs from the symbol.
fn alias(symbol: &str, name: &str) -> String {
    if symbol == name { String::new() } else { format!(" {}", quote(name)) }
}

fn lvalue_text(lvalue: Lvalue) -> String {
    match lvalue {
        Lvalue::Member(Member { record, start, end }) => format!(" member {} {start} {end}", record.0),
        Lvalue::Scalar(content) => format!(" {}", word(CONTENTS, &content)),
        Lvalue::Whole(Whole { record, len: Some(len) }) => format!(" struct {} {len}", record.0),
        Lvalue::Whole(Whole { record, len: None }) => format!(" block {}", record.0),
    }
}

fn slot_text(slot: &Slot) -> String {
    format!("{} {} {}", word(CONTENTS, &slot.content), slot.start, slot.size)
}

fn type_text(ty: &Type) -> String {
    match ty {
        Type::Scalar { name, size } => format!("scalar {} {size}", quote(name)),
        Type::Struct { name, size, fields } => {
            let fields = join(fields, |f| format!("{} {} {}", quote(&f.name), f.offset, f.ty));
            format!("struct {} {size} {{ {fields} }}", quote(name))
        }
        Type::Array { element, stride, count } => format!("array {element} stride {stride} count {count}"),
    }
}
