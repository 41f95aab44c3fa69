//! Every valid program survives printing and parsing, whatever its names, numbers and order.

use model::{LockMode, Order, SiteId};
use program::members::{Content, Lvalue, Member, Record, RecordId, Slot, Whole};
use program::{
    BinaryOp, Block, BlockId, Callee, CompareOp, Expr, Field, FileId, Frame, Function, FunctionId, Global, GlobalId,
    Local, LocalId, Location, Operand, Program, RmwOp, Site, Statement, Stmt, SyncOp, Terminator, TryMode, Type,
    TypeId, Unmodelled,
};
use testkit::generator::Random;

const ORDERS: &[Order] =
    &[Order::Relaxed, Order::Continuing, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];
const NAMES: &[&str] = &["x", "x", "main", "lock", "a b", "", "7", "none", "é\"\\\n\t\u{1}", "ns::f(int)", "b0", "_.$"];

const CONTENTS: &[Content] = &[Content::Pointer, Content::Float, Content::Integer, Content::Union, Content::Text];
const RECORDS: usize = 2;

/// Builds valid programs that no compiler would produce.
struct Maker {
    random: Random,
    files: usize,
    types: usize,
    globals: usize,
    functions: usize,
    sites: usize,
    /// Of the function being made.
    locals: usize,
    blocks: usize,
    next_local: Vec<u32>,
}

impl Maker {
    fn program(seed: u64) -> Program {
        let mut random = Random::new(seed);
        let mut size = || random.below(5);
        let (files, types, globals, functions, sites) = (size(), size(), size(), size() + 1, size() * 2);
        let mut maker =
            Self { random, files, types, globals, functions, sites, locals: 0, blocks: 0, next_local: vec![] };
        maker.make()
    }

    fn make(&mut self) -> Program {
        let files = (0..self.files).map(|i| format!("{}{i}", self.random.pick(&["a.c", "a b.c", "d/é.h", "#", "q\""])));
        let mut program = Program { files: files.collect(), ..Program::default() };
        program.types = (0..self.types).map(|_| self.ty()).collect();
        program.records = (0..RECORDS).map(|_| self.record()).collect();
        program.globals = (0..self.globals).map(|_| self.global()).collect();
        program.functions = (0..self.functions).map(|_| self.function()).collect();
        program.sites = (0..self.sites).map(|_| self.site()).collect();
        program.unmodelled = (0..self.random.below(3)).map(|_| self.unmodelled()).collect();
        let with_body = program.functions.iter_enumerated().filter(|(_, f)| !f.blocks.is_empty()).map(|(id, _)| id);
        let with_body: Vec<FunctionId> = with_body.collect();
        program.main = (!with_body.is_empty() && self.random.one_in(2)).then(|| self.random.pick(&with_body));
        program
    }

    fn number(&mut self) -> u64 {
        self.random.pick(&[0, 1, 4, 8, 40, u64::MAX >> 1])
    }
    fn signed(&mut self) -> i64 {
        self.random.pick(&[0, 1, -1, 8, -40, i64::MAX, i64::MIN])
    }
    fn name(&mut self) -> String {
        self.random.pick(NAMES).to_owned()
    }
    fn maybe_name(&mut self) -> Option<String> {
        self.random.one_in(2).then(|| self.name())
    }
    fn maybe_type(&mut self) -> Option<TypeId> {
        (self.types > 0 && self.random.one_in(2)).then(|| TypeId(self.random.below(self.types) as u32))
    }
    fn maybe_site(&mut self) -> Option<SiteId> {
        (self.sites > 0 && !self.random.one_in(4)).then(|| SiteId(self.random.below(self.sites) as u32))
    }
    fn order(&mut self) -> Order {
        self.random.pick(ORDERS)
    }
    fn maybe_order(&mut self) -> Option<Order> {
        self.random.one_in(2).then(|| self.order())
    }

    fn ty(&mut self) -> Type {
        let (name, size) = (self.name(), self.number());
        let ty = TypeId(self.random.below(self.types) as u32);
        match self.random.below(3) {
            0 => Type::Scalar { name, size },
            1 => {
                let fields = (0..self.random.below(3)).map(|_| Field { name: self.name(), offset: self.number(), ty });
                Type::Struct { fields: fields.collect(), name, size }
            }
            _ => Type::Array { element: ty, stride: self.number().max(1), count: self.number() },
        }
    }

    fn global(&mut self) -> Global {
        let symbol = self.name();
        let name = if self.random.one_in(2) { symbol.clone() } else { self.name() };
        let init = (0..self.random.below(20)).map(|_| self.random.bits() as u8).collect();
        self.locals = 0;
        let relocations = (0..self.random.below(3)).map(|i| (i as u64 * 8, self.operand())).collect();
        let (thread_local, constant) = (self.random.one_in(4), self.random.one_in(4));
        Global { symbol, name, size: 64, ty: self.maybe_type(), init, relocations, thread_local, constant }
    }

    fn location(&mut self) -> Option<Location> {
        (self.files > 0 && !self.random.one_in(4)).then(|| Location {
            file: FileId(self.random.below(self.files) as u32),
            line: self.random.below(9) as u32,
            column: self.random.below(9) as u32,
        })
    }

    fn site(&mut self) -> Site {
        let frames = self.random.below(3);
        Site {
            function: FunctionId(self.random.below(self.functions) as u32),
            source_function: self.name(),
            location: self.location(),
            inlined_at: (0..frames).map(|_| Frame { function: self.name(), location: self.location() }).collect(),
            expression: self.maybe_name(),
            allocates: self.maybe_type(),
            lvalue: self.maybe_lvalue(),
            source: self.maybe_lvalue(),
        }
    }

    fn record(&mut self) -> Record {
        let count = self.random.below(3);
        let slots = (0..count).map(|at| Slot { start: at as u32 * 8, size: 8, content: self.random.pick(CONTENTS) });
        Record { slots: slots.collect(), name: self.name() }
    }

    fn maybe_lvalue(&mut self) -> Option<Lvalue> {
        let record = RecordId(self.random.below(RECORDS) as u32);
        match self.random.below(4) {
            0 => None,
            1 => Some(Lvalue::Scalar(self.random.pick(CONTENTS))),
            2 => Some(Lvalue::Whole(Whole { record, len: Some(8).filter(|_| self.random.below(2) == 0) })),
            _ => Some(Lvalue::Member(Member { record, start: 8, end: 8 + 1 + self.random.below(8) as u32 })),
        }
    }

    fn unmodelled(&mut self) -> Unmodelled {
        Unmodelled { site: self.maybe_site(), what: self.name(), function: self.maybe_name() }
    }

    fn operand(&mut self) -> Operand {
        match self.random.below(5) {
            0 if self.locals > 0 => Operand::Local(LocalId(self.random.below(self.locals) as u32)),
            1 if self.globals > 0 => Operand::Global(GlobalId(self.random.below(self.globals) as u32), self.signed()),
            2 => Operand::Function(FunctionId(self.random.below(self.functions) as u32)),
            3 => Operand::Any,
            _ => Operand::Const(self.signed()),
        }
    }
    fn operands(&mut self) -> Vec<Operand> {
        (0..self.random.below(3)).map(|_| self.operand()).collect()
    }

    fn function(&mut self) -> Function {
        let (symbol, params) = (self.name(), self.random.below(3));
        let name = if self.random.one_in(2) { symbol.clone() } else { self.name() };
        let external = self.random.one_in(4);
        let assigned = if external { 0 } else { self.random.below(8) };
        self.locals = params + assigned;
        self.blocks = if external { 0 } else { 1 + self.random.below(3) };
        let locals = (0..self.locals).map(|_| Local { name: self.maybe_name() }).collect();
        self.next_local = (params as u32..self.locals as u32).collect();
        if self.random.one_in(2) {
            self.next_local.reverse();
        }
        let terminators: Vec<Terminator> = (0..self.blocks).map(|_| self.terminator()).collect();
        let mut blocks = Vec::new();
        for (index, terminator) in terminators.iter().enumerate() {
            let mut statements = Vec::new();
            let last = index + 1 == self.blocks;
            let id = BlockId(index as u32);
            let from: Vec<BlockId> = (0..)
                .map(BlockId)
                .zip(&terminators)
                .filter(|(_, t)| t.targets().contains(&id))
                .map(|(b, _)| b)
                .collect();
            if self.random.one_in(3) && !self.next_local.is_empty() {
                let sources = from.into_iter().map(|b| (b, self.operand())).collect();
                let dst = self.dst();
                statements
                    .push(Statement { site: self.maybe_site(), stmt: Stmt::Assign { dst, expr: Expr::Phi(sources) } });
            }
            while (last && !self.next_local.is_empty()) || !self.random.one_in(4) {
                let stmt = self.statement();
                statements.push(Statement { site: self.maybe_site(), stmt });
            }
            blocks.push(Block { statements, terminator: terminator.clone() });
        }
        Function { symbol, name, params: params as u32, locals, blocks: blocks.into_iter().collect() }
    }

    fn block(&mut self) -> BlockId {
        BlockId(self.random.below(self.blocks) as u32)
    }
    fn terminator(&mut self) -> Terminator {
        match self.random.below(7) {
            0 => Terminator::Goto(self.block()),
            1 => Terminator::Branch { condition: self.operand(), then: self.block(), otherwise: self.block() },
            2 => {
                let cases = (0..self.random.below(3)).map(|i| (i as i64 - 1, self.block())).collect();
                Terminator::Switch { value: self.operand(), cases, default: self.block() }
            }
            3 => Terminator::Any((0..self.random.below(3)).map(|_| self.block()).collect()),
            4 => Terminator::Return(None),
            5 => Terminator::Return(Some(self.operand())),
            _ => Terminator::Unreachable,
        }
    }

    fn dst(&mut self) -> LocalId {
        LocalId(self.next_local.pop().expect("checked by the caller"))
    }
    fn maybe_dst(&mut self) -> Option<LocalId> {
        (!self.next_local.is_empty() && self.random.one_in(2)).then(|| self.dst())
    }

    fn statement(&mut self) -> Stmt {
        let (a, b, c) = (self.operand(), self.operand(), self.operand());
        let size = self.random.pick(&[1, 2, 4, 8, 16]);
        if self.next_local.len() >= 2 && self.random.one_in(4) {
            let (dst, success) = (self.dst(), self.dst());
            let (order, failure) = (self.order(), self.order());
            return Stmt::CompareExchange { dst, success, address: a, expected: b, new: c, size, order, failure };
        }
        if !self.next_local.is_empty() && self.random.one_in(2) {
            let dst = self.dst();
            return match self.random.below(6) {
                0 => Stmt::Load { dst, address: a, size, atomic: self.maybe_order() },
                1 => {
                    let op = self.random.pick(&[RmwOp::Exchange, RmwOp::Add, RmwOp::UMin, RmwOp::Other]);
                    Stmt::Rmw { dst, op, address: a, value: b, size, order: self.order() }
                }
                2 => Stmt::Alloca { dst, size: a, name: self.maybe_name(), ty: self.maybe_type() },
                3 => Stmt::Alloc { dst, size: a, zeroed: self.random.one_in(2) },
                _ => Stmt::Assign { dst, expr: self.expression() },
            };
        }
        match self.random.below(12) {
            0 => Stmt::Store { address: a, value: b, size, atomic: self.maybe_order() },
            1 => Stmt::Fence(self.order()),
            2 => Stmt::Copy { to: a, from: b, len: c },
            3 => Stmt::Fill { to: a, value: b, len: c },
            4 => Stmt::Free { address: a },
            5 => Stmt::Assert { condition: a },
            6 => Stmt::Exit { code: a },
            7 => Stmt::Library { dst: self.maybe_dst(), function: self.name(), args: self.operands() },
            8 => {
                let direct = Callee::Direct(FunctionId(self.random.below(self.functions) as u32));
                let callee = if self.random.one_in(2) { direct } else { Callee::Indirect(a) };
                Stmt::Call { dst: self.maybe_dst(), callee, args: self.operands() }
            }
            _ => Stmt::Sync { dst: self.maybe_dst(), op: self.sync() },
        }
    }

    fn expression(&mut self) -> Expr {
        let (left, right) = (self.operand(), self.operand());
        let bits = self.random.pick(&[1, 8, 32, 64]);
        match self.random.below(6) {
            0 => Expr::Use(left),
            1 => Expr::Binary {
                op: self.random.pick(&[BinaryOp::Add, BinaryOp::URem, BinaryOp::AShr]),
                bits,
                left,
                right,
            },
            2 => Expr::Compare { op: self.random.pick(&[CompareOp::Eq, CompareOp::UGe]), bits, left, right },
            3 => Expr::Offset { base: left, index: right, scale: self.signed(), offset: self.signed() },
            4 => Expr::Select { condition: left, then: right, otherwise: left },
            _ => Expr::Truncate { value: left, bits, signed: self.random.one_in(2) },
        }
    }

    fn sync(&mut self) -> SyncOp {
        let (a, b) = (self.operand(), self.operand());
        let mode = self.random.pick(&[TryMode::Wait, TryMode::Try, TryMode::Timed]);
        match self.random.below(25) {
            0 => SyncOp::Create { function: a, arg: b },
            1 => SyncOp::Join { handle: a, mode },
            2 => SyncOp::Detach { handle: a },
            3 => SyncOp::ExitThread,
            4 => SyncOp::Cancel { handle: a },
            5 => SyncOp::Current,
            6 => SyncOp::LockInit { lock: a, recursive: self.random.one_in(2) },
            7 => SyncOp::LockDestroy { lock: a },
            8 => SyncOp::Lock { lock: a, mode: self.random.pick(&[LockMode::Shared, LockMode::Exclusive]), wait: mode },
            9 => SyncOp::Unlock { lock: a },
            10 => SyncOp::CondInit { cond: a },
            11 => SyncOp::CondDestroy { cond: a },
            12 => SyncOp::CondWait { cond: a, lock: b, wait: mode },
            13 => SyncOp::Signal { cond: a },
            14 => SyncOp::Broadcast { cond: a },
            15 => SyncOp::BarrierInit { barrier: a, count: b },
            16 => SyncOp::BarrierDestroy { barrier: a },
            17 => SyncOp::BarrierWait { barrier: a },
            18 => SyncOp::SemInit { sem: a, value: b },
            19 => SyncOp::SemDestroy { sem: a },
            20 => SyncOp::SemPost { sem: a },
            21 => SyncOp::SemWait { sem: a, wait: mode },
            22 => SyncOp::SemGet { sem: a },
            23 => SyncOp::Once { control: a, function: b },
            _ => SyncOp::Yield,
        }
    }
}

#[test]
fn any_valid_program_comes_back() {
    for seed in 0..testkit::programs(3_000) {
        let program = Maker::program(seed);
        program.validate().unwrap_or_else(|invalid| panic!("seed {seed}: {invalid}"));
        let text = program.to_string();
        let again = Program::parse(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        assert!(again == program, "seed {seed}:\n{text}\nbecame\n{again}");
    }
}

/// A validator message, and a change that triggers it.
type Break = (&'static str, fn(&mut Program));

#[test]
fn broken_rules_are_found() {
    let base = Program::parse("global x: 4\nfn main() { a: %v = load 4, @x\n goto b\n b: return %v }").unwrap();
    let breaks: [Break; 7] = [
        ("%0 is assigned 2 times", |p| {
            let block = &mut p.functions[FunctionId(0)].blocks[BlockId(0)];
            block.statements.push(block.statements[0].clone());
        }),
        ("jumps to b9, which does not exist", |p| {
            p.functions[FunctionId(0)].blocks[BlockId(0)].terminator = Terminator::Goto(BlockId(9));
        }),
        ("Local(%5) does not exist", |p| {
            let terminator = Terminator::Return(Some(Operand::Local(LocalId(5))));
            p.functions[FunctionId(0)].blocks[BlockId(1)].terminator = terminator;
        }),
        ("there is no s4", |p| {
            p.functions[FunctionId(0)].blocks[BlockId(0)].statements[0].site = Some(SiteId(4));
        }),
        ("the entry function fn3 has no body", |p| p.main = Some(FunctionId(3))),
        ("8 initial bytes in 4", |p| p.globals[GlobalId(0)].init = vec![0; 8]),
        ("a phi comes after another statement", |p| {
            let block = &mut p.functions[FunctionId(0)].blocks[BlockId(1)];
            let assign = |dst, expr| Statement { site: None, stmt: Stmt::Assign { dst: LocalId(dst), expr } };
            block.statements.push(assign(1, Expr::Use(Operand::Const(0))));
            block.statements.push(assign(2, Expr::Phi(vec![(BlockId(0), Operand::Const(0))])));
            p.functions[FunctionId(0)].locals.push(Local::default());
            p.functions[FunctionId(0)].locals.push(Local::default());
        }),
    ];
    for (expected, break_it) in breaks {
        let mut program = base.clone();
        break_it(&mut program);
        let invalid = program.validate().expect_err(expected);
        assert!(invalid.to_string().contains(expected), "expected `{expected}`: {invalid}");
    }
}
