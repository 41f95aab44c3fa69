//! Who calls, starts and runs whom, and what can happen at most once.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use model::SiteId;
use program::library::{self, Effect, Role};
use program::{BlockId, Callee, FunctionId, Program, Stmt, SyncOp, Terminator};

use crate::values::Values;

/// How a function comes to run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum How {
    /// It is called.
    Call,
    /// A thread starts in it.
    Create,
    /// A once-control runs it.
    Once,
    /// A library function calls it back, any number of times.
    Callback,
}

/// A statement of a function.
pub type ProgramPoint = (FunctionId, BlockId, usize);

/// One statement that makes a function run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Invocation {
    /// The statement.
    pub place: ProgramPoint,
    /// How it makes the function run.
    pub how: How,
    /// The function.
    pub callee: FunctionId,
}

/// The invocations of a program.
pub struct Invocations<'a> {
    program: &'a Program,
    by_caller: BTreeMap<FunctionId, Vec<Invocation>>,
    reachable: BTreeSet<FunctionId>,
    recursive: BTreeSet<FunctionId>,
    unwinding: BTreeSet<FunctionId>,
    address_taken: BTreeSet<FunctionId>,
    /// Functions with the statement that gives them to the library to keep.
    kept: Vec<(FunctionId, Option<SiteId>)>,
    single: OnceCell<BTreeSet<FunctionId>>,
}

impl<'a> Invocations<'a> {
    /// Collects them.
    pub fn new(program: &'a Program, values: &Values) -> Self {
        let mut by_caller: BTreeMap<FunctionId, Vec<Invocation>> = BTreeMap::new();
        for (id, function) in program.functions.iter_enumerated() {
            let list = by_caller.entry(id).or_default();
            for (block_id, block) in function.blocks.iter_enumerated() {
                for (index, statement) in block.statements.iter().enumerate() {
                    let Some((how, callees)) = callees(program, values, id, &statement.stmt) else { continue };
                    let place = (id, block_id, index);
                    list.extend(callees.into_iter().map(|callee| Invocation { place, how, callee }));
                }
            }
        }
        let mut this = Self {
            program,
            by_caller,
            reachable: BTreeSet::new(),
            recursive: BTreeSet::new(),
            unwinding: BTreeSet::new(),
            address_taken: values.address_taken.clone(),
            kept: Vec::new(),
            single: OnceCell::new(),
        };
        this.reachable = program.main.map(|main| this.closure(main, true)).unwrap_or_default();
        for function in this.reachable.clone() {
            let calls_itself = this.of(function).iter().filter(|i| i.how != How::Create);
            if calls_itself.into_iter().any(|i| this.closure(i.callee, false).contains(&function)) {
                this.recursive.insert(function);
            }
        }
        this.find_unwinding();
        this.find_kept(values);
        this
    }

    /// What a function invokes, in order.
    pub fn of(&self, caller: FunctionId) -> &[Invocation] {
        self.by_caller.get(&caller).map_or(&[], Vec::as_slice)
    }
    /// What a statement invokes.
    pub fn at(&self, place: ProgramPoint) -> impl Iterator<Item = &Invocation> {
        self.of(place.0).iter().filter(move |i| i.place == place)
    }
    /// Functions that can run, in order.
    pub fn reachable(&self) -> impl Iterator<Item = FunctionId> + '_ {
        self.reachable.iter().copied()
    }
    /// Whether a function can run.
    pub fn is_reachable(&self, function: FunctionId) -> bool {
        self.reachable.contains(&function)
    }
    /// Whether a function may come to run again before it has returned, in the same thread.
    pub fn is_recursive(&self, function: FunctionId) -> bool {
        self.recursive.contains(&function)
    }
    /// Whether a function may be left by an exception.
    pub fn unwinds(&self, function: FunctionId) -> bool {
        self.unwinding.contains(&function)
    }

    /// All that a function may make run, itself included; in other threads too if asked for.
    pub fn closure(&self, from: FunctionId, other_threads: bool) -> BTreeSet<FunctionId> {
        let mut found = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(function) = open.pop() {
            for invocation in self.of(function) {
                if (other_threads || invocation.how != How::Create) && found.insert(invocation.callee) {
                    open.push(invocation.callee);
                }
            }
        }
        found
    }

    /// Whether a statement is executed at most once in a run.
    pub fn at_most_once(&self, (function, block, _): ProgramPoint) -> bool {
        self.single.get_or_init(|| self.find_single()).contains(&function) && !self.is_on_cycle(function, block)
    }
    /// The only statement that makes the function run, if there is only one and nobody else knows the function.
    pub fn only_invocation(&self, function: FunctionId) -> Option<Invocation> {
        let all = self.reachable.iter().flat_map(|caller| self.of(*caller)).filter(|i| i.callee == function);
        let mut all = all.copied();
        let only = all.next().filter(|_| all.next().is_none())?;
        (!self.address_taken.contains(&function) && Some(function) != self.program.main).then_some(only)
    }

    fn is_on_cycle(&self, function: FunctionId, block: BlockId) -> bool {
        let blocks = &self.program.functions[function].blocks;
        let mut found = BTreeSet::new();
        let mut open = blocks[block].terminator.targets();
        while let Some(next) = open.pop() {
            if found.insert(next) {
                open.extend(blocks[next].terminator.targets());
            }
        }
        found.contains(&block)
    }

    /// Functions that run at most once: `main`, and those whose only invocation is executed at most once.
    fn find_single(&self) -> BTreeSet<FunctionId> {
        let main = self.program.main;
        let invoked = |f: FunctionId| self.reachable.iter().flat_map(|c| self.of(*c)).any(|i| i.callee == f);
        let taken = |f: FunctionId| self.address_taken.contains(&f);
        let mut single: BTreeSet<FunctionId> = main.into_iter().filter(|f| !invoked(*f) && !taken(*f)).collect();
        loop {
            let before = single.len();
            for function in self.reachable() {
                let Some(only) = self.only_invocation(function) else { continue };
                let (caller, block, _) = only.place;
                let repeats = only.how == How::Callback || self.is_on_cycle(caller, block);
                if !repeats && single.contains(&caller) && !self.is_recursive(function) {
                    single.insert(function);
                }
            }
            if single.len() == before {
                return single;
            }
        }
    }

    fn find_kept(&mut self, values: &Values) {
        for function in &self.reachable {
            for statement in self.program.functions[*function].blocks.iter().flat_map(|b| &b.statements) {
                let Stmt::Library { function: name, args, .. } = &statement.stmt else { continue };
                let effects = library::lookup(name).map_or(&[][..], |row| row.effects);
                let kept = effects.iter().filter_map(|e| if let Effect::Keeps(n) = e { Some(*n) } else { None });
                let kept = kept.filter_map(|n| args.get(usize::from(n)));
                let functions = kept.flat_map(|arg| values.functions(self.program, *function, arg, u32::MAX));
                self.kept.extend(functions.map(|f| (f, statement.site)));
            }
        }
    }

    fn find_unwinding(&mut self) {
        let leaves = |function: FunctionId| {
            self.program.functions[function].blocks.iter().any(|block| {
                block.terminator == Terminator::Unreachable && !block.statements.iter().any(|s| ends_thread(&s.stmt))
            })
        };
        self.unwinding = self.reachable.iter().copied().filter(|f| leaves(*f)).collect();
        loop {
            let calls =
                |f: &FunctionId| self.of(*f).iter().any(|i| i.how != How::Create && self.unwinding.contains(&i.callee));
            let more: Vec<_> =
                self.reachable.iter().copied().filter(|f| !self.unwinding.contains(f) && calls(f)).collect();
            if more.is_empty() {
                return;
            }
            self.unwinding.extend(more);
        }
    }

    /// All that can run and is not modelled, each once. `assume_pure` names functions without a body that have no
    /// effect.
    pub fn obstacles(&self, assume_pure: &BTreeSet<String>) -> Vec<Obstacle> {
        let program = self.program;
        let mut found = Vec::new();
        let mut add = |site: Option<SiteId>, what: String| {
            let obstacle = Obstacle { site, what };
            if !found.contains(&obstacle) {
                found.push(obstacle);
            }
        };
        if program.main.is_none() {
            add(None, "the program has no `main`".to_owned());
        }
        for entry in &program.unmodelled {
            let runs = entry.site.is_none_or(|site| self.reachable.contains(&program.sites[site].function));
            if runs && !entry.function.as_ref().is_some_and(|f| assume_pure.contains(f)) {
                add(entry.site, entry.what.clone());
            }
        }
        for (function, site) in &self.kept {
            let body = &program.functions[*function];
            if !self.is_reachable(*function) && !body.blocks.is_empty() {
                add(*site, format!("lets the library call `{}` later", body.name));
            }
        }
        let site_of = |(f, block, index): ProgramPoint| program.functions[f].blocks[block].statements[index].site;
        for function in self.reachable() {
            for invocation in self.of(function) {
                let callee = &program.functions[invocation.callee];
                let site = site_of(invocation.place);
                if callee.blocks.is_empty() && !assume_pure.contains(&callee.symbol) {
                    add(site, format!("calls `{}`, whose effects are not known", callee.name));
                }
                if invocation.how == How::Once && self.unwinds(invocation.callee) {
                    add(site, format!("runs `{}` once, which may be left by an exception", callee.name));
                }
            }
            for statement in program.functions[function].blocks.iter().flat_map(|b| &b.statements) {
                if let Some(what) = not_modelled(&statement.stmt, assume_pure) {
                    add(statement.site, what);
                }
            }
        }
        found
    }
}

/// Something that can run and is not modelled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Obstacle {
    /// Where, if it is somewhere.
    pub site: Option<SiteId>,
    /// What, e.g. "cancels a thread".
    pub what: String,
}

impl Obstacle {
    /// What and where: `a.c:12:5: cancels a thread`.
    pub fn describe(&self, program: &Program) -> String {
        let location = self.site.and_then(|site| program.sites.get(site)?.location);
        let place = location.map(|l| format!("{}:{}:{}: ", program.files[l.file], l.line, l.column));
        place.unwrap_or_default() + &self.what
    }
}

/// What a statement does that is not modelled.
fn not_modelled(stmt: &Stmt, assume_pure: &BTreeSet<String>) -> Option<String> {
    let name = match stmt {
        Stmt::Sync { op: SyncOp::Cancel { .. }, .. } => return Some("cancels a thread".to_owned()),
        Stmt::Library { function, .. } => function,
        _ => return None,
    };
    match library::lookup(name) {
        None => (!assume_pure.contains(name)).then(|| format!("calls `{name}`, whose effects are not known")),
        Some(row) if row.role == Role::LongJump => Some(format!("calls `{name}`, a jump out of a function")),
        Some(row) => row.effects.iter().find_map(|effect| match effect {
            Effect::Opaque(why) => Some(format!("calls `{name}`: {why}")),
            _ => None,
        }),
    }
}

/// Whether a thread never gets past the statement.
pub fn ends_thread(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Exit { .. } | Stmt::Sync { op: SyncOp::ExitThread, .. } => true,
        Stmt::Library { function, .. } => library::lookup(function)
            .is_some_and(|row| matches!(row.role, Role::Exit(_) | Role::Abort | Role::AssertionFailed)),
        _ => false,
    }
}

fn callees(program: &Program, values: &Values, function: FunctionId, stmt: &Stmt) -> Option<(How, Vec<FunctionId>)> {
    Some(match stmt {
        Stmt::Call { callee: Callee::Direct(callee), .. } => (How::Call, vec![*callee]),
        Stmt::Call { callee: Callee::Indirect(pointer), args, .. } => {
            (How::Call, values.functions(program, function, pointer, args.len() as u32))
        }
        Stmt::Sync { op: SyncOp::Create { function: start, .. }, .. } => {
            (How::Create, values.functions(program, function, start, 1))
        }
        Stmt::Sync { op: SyncOp::Once { function: routine, .. }, .. } => {
            (How::Once, values.functions(program, function, routine, 0))
        }
        Stmt::Library { function: name, args, .. } => {
            let effects = library::lookup(name)?.effects.iter();
            let called =
                effects.filter_map(|e| if let Effect::Calls(n) = e { args.get(usize::from(*n)) } else { None });
            let mut callees = Vec::new();
            called.for_each(|pointer| callees.extend(values.functions(program, function, pointer, u32::MAX)));
            (How::Callback, callees)
        }
        _ => return None,
    })
}
