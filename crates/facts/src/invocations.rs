//! Who calls, starts and runs whom, and what can happen at most once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::index::{Idx, IndexVec};
use model::{Budget, SiteId, Spent};
use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use program::library::{self, Effect, Role};
use program::{BlockId, Callee, Function, FunctionId, Operand, Program, Stmt, SyncOp, Terminator};

use crate::flow_graph::FlowGraph;
use crate::points_to::PointsTo;
use crate::{Options, Rounds};

/// What makes a function run.
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
pub struct Invocations {
    program: Arc<Program>,
    by_caller: IndexVec<FunctionId, Vec<Invocation>>,
    reachable: BTreeSet<FunctionId>,
    recursive: BTreeSet<FunctionId>,
    unwinding: BTreeSet<FunctionId>,
    /// Functions with the statement that gives them to the library to keep.
    kept: Vec<(FunctionId, Option<SiteId>)>,
    /// Statements that go through a pointer to code outside of the program.
    leaving: BTreeSet<ProgramPoint>,
    /// For each function that runs at most once, which of its blocks may be executed again.
    single: IndexVec<FunctionId, Option<Vec<bool>>>,
}

impl Invocations {
    pub(crate) fn new(
        program: &Arc<Program>,
        points_to: &PointsTo,
        graphs: &IndexVec<FunctionId, FlowGraph>,
        options: &Options,
        budget: &Budget,
    ) -> Result<Self, Spent> {
        let count = program.functions.len();
        let mut this = Self {
            program: Arc::clone(program),
            by_caller: IndexVec::filled(count, Vec::new()),
            reachable: BTreeSet::new(),
            recursive: BTreeSet::new(),
            unwinding: BTreeSet::new(),
            kept: Vec::new(),
            leaving: BTreeSet::new(),
            single: IndexVec::filled(count, None),
        };
        this.collect(points_to);
        Rounds::new(budget, 1).begin()?;
        let roots = program.main.iter().chain(&options.entries);
        this.reachable = this.closure_of(roots.copied(), true);
        this.find_recursive();
        this.find_unwinding();
        this.find_kept(points_to);
        this.find_single(points_to, graphs, &options.entries);
        Ok(this)
    }

    /// Takes over what the points-to analysis found. A pointer of which nothing is known may call every function whose
    /// address is used and that takes no more arguments than there are.
    fn collect(&mut self, points_to: &PointsTo) {
        let program = Arc::clone(&self.program);
        for (id, function) in program.functions.iter_enumerated() {
            for (block_id, block) in function.blocks.iter_enumerated() {
                for (index, statement) in block.statements.iter().enumerate() {
                    let place = (id, block_id, index);
                    let Some(invoke) = points_to.invoke(place) else { continue };
                    let mut callees: BTreeSet<FunctionId> = invoke.callees.iter().copied().collect();
                    callees.extend(&invoke.without_body);
                    let pointers = called_pointers(&statement.stmt);
                    for (_, most) in pointers.iter().filter(|(pointer, _)| points_to.may_be_unknown(id, pointer)) {
                        let taken = points_to.functions_as_values();
                        callees.extend(taken.filter(|f| program.functions[*f].params <= *most));
                    }
                    if !pointers.is_empty() && invoke.outside && invoke.without_body.is_empty() {
                        self.leaving.insert(place);
                    }
                    let how = invoke.how;
                    self.by_caller[id].extend(callees.into_iter().map(|callee| Invocation { place, how, callee }));
                }
            }
        }
    }

    /// What a function invokes, in order.
    pub fn of(&self, caller: FunctionId) -> &[Invocation] {
        &self.by_caller[caller]
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
    /// Whether a function may run again before it has returned, in the same thread.
    pub fn is_recursive(&self, function: FunctionId) -> bool {
        self.recursive.contains(&function)
    }
    /// Whether a function may be left by an exception.
    pub fn unwinds(&self, function: FunctionId) -> bool {
        self.unwinding.contains(&function)
    }

    /// All that a function may make run, itself included; in other threads too if asked for.
    pub fn closure(&self, from: FunctionId, other_threads: bool) -> BTreeSet<FunctionId> {
        self.closure_of([from], other_threads)
    }
    fn closure_of(&self, from: impl IntoIterator<Item = FunctionId>, other_threads: bool) -> BTreeSet<FunctionId> {
        let mut found: BTreeSet<FunctionId> = from.into_iter().collect();
        let mut open: Vec<FunctionId> = found.iter().copied().collect();
        while let Some(function) = open.pop() {
            for invocation in self.of(function) {
                if (other_threads || invocation.how != How::Create) && found.insert(invocation.callee) {
                    open.push(invocation.callee);
                }
            }
        }
        found
    }

    /// Whether a function runs at most once in a run.
    pub fn runs_once(&self, function: FunctionId) -> bool {
        self.single[function].is_some()
    }
    /// Whether a statement is executed at most once in a run.
    pub fn at_most_once(&self, (function, block, _): ProgramPoint) -> bool {
        self.single[function].as_ref().is_some_and(|repeats| !repeats[block.index()])
    }

    /// Functions that are in a cycle of calls in one thread.
    fn find_recursive(&mut self) {
        let edges = |caller: &FunctionId| self.of(*caller).iter().filter(|i| i.how != How::Create);
        let calls = self.reachable.iter().flat_map(|f| edges(f).map(|i| (f.0, i.callee.0)));
        let graph: DiGraphMap<u32, ()> = DiGraphMap::from_edges(calls);
        for group in kosaraju_scc(&graph) {
            if group.len() > 1 || graph.contains_edge(group[0], group[0]) {
                self.recursive.extend(group.into_iter().map(FunctionId));
            }
        }
    }

    /// Functions that run at most once: `main`, and those whose only invocation is executed at most once. Code that the
    /// program does not show may call what it knows any number of times.
    fn find_single(&mut self, points_to: &PointsTo, graphs: &IndexVec<FunctionId, FlowGraph>, entries: &[FunctionId]) {
        let by_outside = points_to.called_by_outside();
        let runs: BTreeSet<FunctionId> =
            self.closure_of(by_outside.iter().chain(&self.reachable).copied(), true).into_iter().collect();
        let mut invoked: BTreeMap<FunctionId, Vec<Invocation>> = BTreeMap::new();
        for invocation in runs.iter().flat_map(|caller| self.of(*caller)) {
            invoked.entry(invocation.callee).or_default().push(*invocation);
        }
        let by_others = |f: FunctionId| entries.contains(&f) || by_outside.binary_search(&f).is_ok();
        let main = self.program.main;
        let mut open: Vec<FunctionId> =
            main.into_iter().filter(|f| !invoked.contains_key(f) && !by_others(*f)).collect();
        let mut then: BTreeMap<FunctionId, Vec<FunctionId>> = BTreeMap::new();
        for (callee, all) in &invoked {
            let [only] = all[..] else { continue };
            let (caller, block, _) = only.place;
            let repeats = only.how == How::Callback || graphs[caller].repeats(block);
            if !repeats && !by_others(*callee) && Some(*callee) != main {
                then.entry(caller).or_default().push(*callee);
            }
        }
        while let Some(function) = open.pop() {
            if self.single[function].is_none() {
                let blocks = self.program.functions[function].blocks.ids();
                self.single[function] = Some(blocks.map(|block| graphs[function].repeats(block)).collect());
                open.extend(then.get(&function).into_iter().flatten());
            }
        }
    }

    fn find_kept(&mut self, points_to: &PointsTo) {
        for function in &self.reachable {
            for statement in self.program.functions[*function].blocks.iter().flat_map(|b| &b.statements) {
                let Stmt::Library { function: name, args, .. } = &statement.stmt else { continue };
                let effects = library::lookup(name).map_or(&[][..], |row| row.effects);
                let kept = effects.iter().filter_map(|e| if let Effect::Keeps(n) = e { Some(*n) } else { None });
                for arg in kept.filter_map(|n| args.get(usize::from(n))) {
                    let known = points_to.functions(*function, arg);
                    let others = points_to.functions_as_values();
                    let others = others.filter(|_| points_to.may_be_unknown(*function, arg));
                    self.kept.extend(known.into_iter().chain(others).map(|f| (f, statement.site)));
                }
            }
        }
    }

    /// Functions in which control gets from a call that unwinds, or from a library function, to where it leaves them.
    fn find_unwinding(&mut self) {
        let program = Arc::clone(&self.program);
        loop {
            let leaves = |f: &FunctionId| !self.unwinding.contains(f) && self.leaves(&program.functions[*f], *f);
            let more: Vec<_> = self.reachable.iter().copied().filter(leaves).collect();
            if more.is_empty() {
                return;
            }
            self.unwinding.extend(more);
        }
    }
    fn leaves(&self, function: &Function, id: FunctionId) -> bool {
        let (mut seen, mut open) = (BTreeSet::new(), Vec::new());
        open.extend(function.blocks.ids().next());
        while let Some(block) = open.pop() {
            seen.insert(block);
            let code = &function.blocks[block];
            match code.terminator {
                Terminator::Resume => return true,
                Terminator::Invoke { then, handler } => {
                    open.push(then);
                    let place = code.invoking().map(|index| (id, block, index));
                    if place.is_none_or(|place| self.may_be_left(place)) {
                        open.push(handler);
                    }
                }
                ref other => open.extend(other.targets()),
            }
            open.retain(|next| !seen.contains(next));
        }
        false
    }
    /// Whether a statement may be left by an exception or a jump: it runs a function that may, or a library function.
    pub fn may_be_left(&self, place: ProgramPoint) -> bool {
        let (mut invoked, mut any) = (self.at(place), false);
        let unwinds = invoked.any(|i| {
            any = true;
            self.unwinds(i.callee) || self.program.functions[i.callee].blocks.is_empty() || i.how == How::Callback
        });
        unwinds || !any
    }

    /// All that can run and is not modelled, each once. `assume_pure` names functions without a body that have no
    /// effect.
    pub(crate) fn obstacles(&self, assume_pure: &BTreeSet<String>) -> Vec<Obstacle> {
        let program = &self.program;
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
        for entry in program.unmodelled.iter().filter(|entry| !entry.is_about_lanes() && !entry.is_about_runs()) {
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
        for point in self.leaving.iter().filter(|point| self.is_reachable(point.0)) {
            add(site_of(*point), "calls through a pointer whose targets are not known".to_owned());
        }
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
            Effect::Opaque(why) | Effect::Unproved(why) => Some(format!("calls `{name}`: {why}")),
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

/// The pointers through which a statement runs functions, with how many arguments these get at most.
fn called_pointers(stmt: &Stmt) -> Vec<(Operand, u32)> {
    let mut pointers = match stmt {
        Stmt::Call { callee: Callee::Indirect(pointer), args, .. } => vec![(*pointer, args.len() as u32)],
        Stmt::Sync { op: SyncOp::Create { function, .. }, .. } => vec![(*function, 1)],
        Stmt::Sync { op: SyncOp::Once { function, .. }, .. } => vec![(*function, 0)],
        Stmt::Library { function, args, .. } => {
            let effects = library::lookup(function).map_or(&[][..], |row| row.effects).iter();
            let called =
                effects.filter_map(|e| if let Effect::Calls(n) = e { args.get(usize::from(*n)) } else { None });
            called.map(|pointer| (*pointer, u32::MAX)).collect()
        }
        _ => Vec::new(),
    };
    pointers.retain(|(pointer, _)| !matches!(pointer, Operand::Function(_)));
    pointers
}
