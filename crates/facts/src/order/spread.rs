//! Contexts of all other code: one per function, thread, moment and arguments that matter.
//!
//! Such code changes nothing about threads, so what is known when it is entered holds throughout. A function that would
//! get too many contexts is followed without its arguments, then once for all moments of a thread with threads beside it,
//! and in the end, if very many threads run it, once for any thread at any time.

use std::collections::{BTreeSet, HashMap, VecDeque};

use model::index::IndexVec;
use model::{Budget, Spent};
use program::{FunctionId, LocalId, Operand, Program, Stmt};
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::walk::Tree;
use super::{Binding, Context, ContextId, Moment, MomentId, Order, ThreadId};
use crate::Rounds;
use crate::address::{Address, Base};
use crate::invocations::{How, ProgramPoint};
use crate::points_to::{Invoke, PointsTo};
use crate::spot::{Origin, Shift, Spot};

/// Callees of a statement that are entered by what is known of their arguments.
const MOST_CALLEES: usize = 8;
/// Contexts of a function and thread that differ in moment or arguments.
const MOST_PER_THREAD: usize = 8;
/// Contexts of a function before all of a thread's are one.
const MOST_PER_FUNCTION: usize = 24;
/// Threads that a function is followed in one by one.
const MOST_THREADS: usize = 32;
/// Calls between contexts before a function has one for all of a thread's.
const MANY_CALLS: usize = 60_000;

type Key = (FunctionId, Option<ThreadId>, MomentId, Vec<Binding>);

struct Spread<'p> {
    program: &'p Program,
    points_to: &'p PointsTo,
    concerned: BTreeSet<FunctionId>,
    /// Which parameters addresses are made of, directly or in callees.
    matters: IndexVec<FunctionId, Vec<bool>>,
    moments: IndexVec<MomentId, Moment>,
    moment_ids: HashMap<Moment, MomentId, FxBuildHasher>,
    contexts: IndexVec<ContextId, Context>,
    known: FxHashMap<Key, ContextId>,
    /// How many contexts a function has.
    of_function: IndexVec<FunctionId, usize>,
    calls: FxHashMap<(ContextId, ProgramPoint), Vec<ContextId>>,
    /// What statements with many callees enter, whoever executes them in a thread at a moment.
    shared: FxHashMap<(ProgramPoint, Option<ThreadId>, MomentId), Vec<ContextId>>,
    open: VecDeque<ContextId>,
    /// Call statements of functions.
    call_places: IndexVec<FunctionId, Vec<ProgramPoint>>,
    /// How many contexts a function has in a thread.
    in_thread: FxHashMap<(FunctionId, ThreadId), usize>,
    /// How many threads run a function.
    threads_of: IndexVec<FunctionId, usize>,
    /// What is known of parameters where the caller knows nothing of its own.
    plain: FxHashMap<(ProgramPoint, FunctionId), Vec<Binding>>,
    /// How many calls between contexts there are.
    entered: usize,
    /// Stands for no moment in particular.
    whenever: MomentId,
    /// For each thread the moment that stands for all of its moments.
    sometime: IndexVec<ThreadId, MomentId>,
}

pub(super) fn spread(program: &Program, points_to: &PointsTo, tree: Tree<'_>, budget: &Budget) -> Result<Order, Spent> {
    let mut moments = IndexVec::new();
    let whenever = moments.push(Moment::default());
    let mut spread = Spread {
        program,
        points_to,
        concerned: tree.concerned.clone(),
        matters: matters(program, points_to),
        moments,
        moment_ids: HashMap::default(),
        contexts: IndexVec::new(),
        known: FxHashMap::default(),
        of_function: IndexVec::filled(program.functions.len(), 0),
        calls: FxHashMap::default(),
        shared: FxHashMap::default(),
        open: VecDeque::new(),
        call_places: call_places(program, points_to),
        in_thread: FxHashMap::default(),
        threads_of: IndexVec::filled(program.functions.len(), 0),
        plain: FxHashMap::default(),
        entered: 0,
        whenever,
        sometime: IndexVec::new(),
    };
    spread.all_moments(&tree);
    spread.take_over(&tree);
    for (thread, info) in tree.threads.iter_enumerated() {
        let start = spread.moment(tree.starts.get(&thread).cloned().unwrap_or_default());
        for function in info.functions.iter().filter(|f| !tree.concerned.contains(f)) {
            let made = info.made_at.is_some();
            let bindings = spread.start_bindings(*function, made);
            let id = spread.enter(*function, Some(thread), start, bindings);
            spread.contexts[id].starts = true;
        }
    }
    spread.outsiders(tree.threads.iter().any(|thread| !thread.functions.is_empty()));
    let mut rounds = Rounds::new(budget, 16);
    while let Some(context) = spread.open.pop_front() {
        rounds.begin()?;
        spread.visit(context);
    }
    let Spread { moments, contexts, calls, shared, .. } = spread;
    let rows = tree.rows();
    Ok(Order { threads: tree.threads, moments, contexts, calls, shared, rows })
}

/// Call statements by function, creations left out.
fn call_places(program: &Program, points_to: &PointsTo) -> IndexVec<FunctionId, Vec<ProgramPoint>> {
    let mut places = IndexVec::filled(program.functions.len(), Vec::new());
    for (id, function) in program.functions.iter_enumerated() {
        for (block_id, block) in function.blocks.iter_enumerated() {
            for index in 0..block.statements.len() {
                let place = (id, block_id, index);
                if points_to.invoke(place).is_some_and(|i| i.how != How::Create && !i.callees.is_empty()) {
                    places[id].push(place);
                }
            }
        }
    }
    places
}

/// Parameters that addresses of accesses, locks and the like are made of.
fn matters(program: &Program, points_to: &PointsTo) -> IndexVec<FunctionId, Vec<bool>> {
    let mut matters: IndexVec<FunctionId, Vec<bool>> = IndexVec::new();
    for function in &program.functions {
        matters.push(vec![false; function.params as usize]);
    }
    let addresses = &points_to.addresses;
    // Where a parameter is passed on: (callee, its parameter) depends on (caller, its parameter).
    let mut passed: FxHashMap<(FunctionId, u32), Vec<(FunctionId, u32)>> = FxHashMap::default();
    let mut open: Vec<(FunctionId, u32)> = Vec::new();
    let param = |f: FunctionId, operand: &Operand| {
        let address = addresses.of(f, operand);
        let params = program.functions[f].params;
        let of = |local: LocalId| (local.0 < params).then_some((f, local.0));
        let base = if let Base::Local(local) = address.base { of(local) } else { None };
        [base, address.index.and_then(|(local, _)| of(local))].into_iter().flatten().collect::<Vec<_>>()
    };
    for (id, function) in program.functions.iter_enumerated() {
        for (block_id, block) in function.blocks.iter_enumerated() {
            for (index, statement) in block.statements.iter().enumerate() {
                let place = (id, block_id, index);
                match &statement.stmt {
                    Stmt::Call { args, .. } => {
                        let callees = points_to.invoke(place).map_or(&[][..], |i| &i.callees);
                        for (position, arg) in args.iter().enumerate() {
                            for from in param(id, arg) {
                                for callee in callees {
                                    passed.entry((*callee, position as u32)).or_default().push(from);
                                }
                            }
                        }
                    }
                    Stmt::Assign { .. } | Stmt::Assert { .. } | Stmt::Exit { .. } => {}
                    Stmt::Store { address, .. } => open.extend(param(id, address)),
                    stmt => stmt.operands().iter().for_each(|o| open.extend(param(id, o))),
                }
            }
        }
    }
    while let Some((function, position)) = open.pop() {
        let Some(slot) = matters[function].get_mut(position as usize) else { continue };
        if !std::mem::replace(slot, true) {
            open.extend(passed.get(&(function, position)).into_iter().flatten());
        }
    }
    matters
}

impl Spread<'_> {
    fn moment(&mut self, moment: Moment) -> MomentId {
        if let Some(id) = self.moment_ids.get(&moment) {
            return *id;
        }
        let id = self.moments.push(moment.clone());
        self.moment_ids.insert(moment, id);
        id
    }

    /// For each thread, what is known at all of its points.
    fn all_moments(&mut self, tree: &Tree<'_>) {
        let mut all: IndexVec<ThreadId, Moment> = IndexVec::filled(tree.threads.len(), Moment::default());
        for (thread, moment) in &tree.starts {
            all[*thread].join(moment);
        }
        for walked in &tree.contexts {
            walked.entry.iter().chain(walked.changes.values()).for_each(|moment| {
                all[walked.thread].join(moment);
            });
        }
        self.sometime = all.iter().map(|moment| self.moment(moment.clone())).collect();
    }

    /// Takes over the contexts of thread code, with the same numbers.
    fn take_over(&mut self, tree: &Tree<'_>) {
        for (id, walked) in tree.contexts.iter_enumerated() {
            let moment = walked.entry.clone().map_or(self.whenever, |m| self.moment(m));
            let changes = walked.changes.iter().map(|(at, m)| (*at, self.moment(m.clone()))).collect();
            let made = tree.threads[walked.thread].made_at.is_some();
            let root = tree.roots.get(&(walked.thread, walked.function)) == Some(&id);
            let bindings = if root {
                self.start_bindings(walked.function, made)
            } else {
                vec![Binding::Any; self.params(walked.function)]
            };
            let function = walked.function;
            let (thread, callers) = (Some(walked.thread), walked.callers.clone());
            self.contexts.push(Context { function, thread, bindings, starts: root, callers, moment, changes });
            self.count(function, thread);
        }
        for (id, walked) in tree.contexts.iter_enumerated() {
            for (place, callees) in &walked.calls {
                self.calls.insert((id, *place), callees.iter().copied().collect());
            }
            if walked.entry.is_some() {
                self.open.push_back(id);
            }
        }
        // Arguments of calls between them, callers first.
        for _ in 0..4 {
            for id in tree.contexts.ids() {
                let [(caller, place)] = self.contexts[id].callers[..] else { continue };
                let root = tree.roots.values().any(|c| *c == id);
                if !root {
                    let (function, known) = (self.contexts[id].function, self.contexts[caller].bindings.clone());
                    self.contexts[id].bindings = self.bindings(&known, place, function);
                }
            }
        }
    }

    /// A function has one more context.
    fn count(&mut self, function: FunctionId, thread: Option<ThreadId>) {
        self.of_function[function] += 1;
        if let Some(thread) = thread {
            let mine = self.in_thread.entry((function, thread)).or_default();
            self.threads_of[function] += usize::from(*mine == 0);
            *mine += 1;
        }
    }

    fn params(&self, function: FunctionId) -> usize {
        self.program.functions[function].params as usize
    }
    fn start_bindings(&self, function: FunctionId, made: bool) -> Vec<Binding> {
        let first = if made { Binding::Argument(0) } else { Binding::Any };
        (0..self.params(function)).map(|p| if p == 0 { first } else { Binding::Any }).collect()
    }

    /// What is known of the parameters of a function that is called there, by what the caller knows of its own.
    fn bindings(&mut self, known: &[Binding], place: ProgramPoint, callee: FunctionId) -> Vec<Binding> {
        let plain = known.iter().all(|binding| *binding == Binding::Any);
        if let Some(known) = self.plain.get(&(place, callee)).filter(|_| plain) {
            return known.clone();
        }
        let statement = &self.program.functions[place.0].blocks[place.1].statements[place.2].stmt;
        let args = if let Stmt::Call { args, .. } = statement { &args[..] } else { &[] };
        let matters = &self.matters[callee];
        let bindings: Vec<Binding> = (0..self.params(callee))
            .map(|position| match args.get(position) {
                Some(arg) if matters[position] => self.binding(place.0, known, arg),
                _ => Binding::Any,
            })
            .collect();
        if plain {
            self.plain.insert((place, callee), bindings.clone());
        }
        bindings
    }
    fn binding(&self, function: FunctionId, known: &[Binding], arg: &Operand) -> Binding {
        let address = self.points_to.addresses.of(function, arg);
        if let Some(argument) = argument_offset(known, &address) {
            return Binding::Argument(argument);
        }
        match self.exact(function, known, &address) {
            Some(spot) => Binding::Spot(spot),
            None => Binding::Any,
        }
    }
    /// The only spot that an address may be in this context.
    fn exact(&self, function: FunctionId, known: &[Binding], address: &Address) -> Option<Spot> {
        if address.index.is_some() {
            return None;
        }
        let bound = match address.base {
            Base::Local(local) => known.get(local.0 as usize).copied(),
            _ => None,
        };
        if let Some(Binding::Spot(spot)) = bound {
            return Some(spot.shifted(Shift { offset: address.offset, stride: 0 }));
        }
        if matches!(address.base, Base::Local(local) if self.points_to.local(function, local).len() != 1) {
            return None;
        }
        let spots = self.points_to.spots(function, address);
        let [spot] = spots[..] else { return None };
        let known = !matches!(self.points_to.origin(spot.object), Origin::Outside | Origin::Thread(_));
        (spot.stride == 0 && known).then_some(spot)
    }

    fn enter(
        &mut self,
        function: FunctionId,
        thread: Option<ThreadId>,
        moment: MomentId,
        bindings: Vec<Binding>,
    ) -> ContextId {
        let key = (function, thread, moment, bindings);
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let (function, thread, moment, bindings) = key.clone();
        if let Some(less) = self.less(&key) {
            let (function, thread, moment, bindings) = less;
            let id = self.enter(function, thread, moment, bindings);
            self.known.insert(key, id);
            return id;
        }
        let id = self.contexts.push(Context {
            function,
            thread,
            bindings,
            starts: false,
            callers: Vec::new(),
            moment,
            changes: Default::default(),
        });
        self.count(function, thread);
        self.known.insert(key, id);
        self.open.push_back(id);
        id
    }

    /// What a function is entered with instead where it has too many contexts. It stands for all that is known in the
    /// wanted one, and for more.
    fn less(&self, (function, thread, moment, bindings): &Key) -> Option<Key> {
        let thread = (*thread)?;
        let mine = self.in_thread.get(&(*function, thread)).copied().unwrap_or(0);
        let anything = vec![Binding::Any; bindings.len()];
        let all = self.of_function[*function];
        if mine == 0 && all >= MOST_PER_FUNCTION && self.threads_of[*function] >= MOST_THREADS {
            return Some((*function, None, self.whenever, anything));
        }
        let few = mine < MOST_PER_THREAD && all < MOST_PER_FUNCTION;
        if few && self.entered < MANY_CALLS {
            return None;
        }
        if *bindings != anything {
            return Some((*function, Some(thread), *moment, anything));
        }
        // Alone, nothing of the thread races; that is worth knowing wherever it is so.
        let sometime = self.sometime[thread];
        let differs = *moment != sometime && !self.moments[*moment].alive.is_empty();
        differs.then_some((*function, Some(thread), sometime, anything))
    }

    fn visit(&mut self, context: ContextId) {
        let (function, thread) = (self.contexts[context].function, self.contexts[context].thread);
        let points_to = self.points_to;
        for number in 0..self.call_places[function].len() {
            let place = self.call_places[function][number];
            let Some(invoke) = points_to.invoke(place) else { continue };
            let moment = self.contexts[context].moment_at(place.1, place.2);
            if invoke.callees.len() > MOST_CALLEES {
                // Thread code that was walked to is entered by this context alone.
                if !self.shared.contains_key(&(place, thread, moment)) {
                    let entered = self.enter_all((context, place), invoke, (thread, moment), &[]);
                    self.shared.insert((place, thread, moment), entered);
                }
                continue;
            }
            let walked = self.calls.get(&(context, place)).cloned().unwrap_or_default();
            let known = self.contexts[context].bindings.clone();
            let mut entered = self.enter_all((context, place), invoke, (thread, moment), &known);
            entered.extend(walked);
            entered.sort_unstable();
            entered.dedup();
            self.calls.insert((context, place), entered);
        }
    }
    /// Enters what a statement may run in a thread at a moment, by what the caller knows of its parameters.
    fn enter_all(
        &mut self,
        from: (ContextId, ProgramPoint),
        invoke: &Invoke,
        (thread, moment): (Option<ThreadId>, MomentId),
        known: &[Binding],
    ) -> Vec<ContextId> {
        let mut entered = Vec::new();
        for callee in &invoke.callees {
            // Thread code that was not walked to cannot run, unless the thread is not known.
            let walked = self.concerned.contains(callee) && thread.is_some();
            if walked || self.program.functions[*callee].blocks.is_empty() {
                continue;
            }
            let bindings = match invoke.how {
                How::Call => self.bindings(known, from.1, *callee),
                _ => vec![Binding::Any; self.params(*callee)],
            };
            let id = self.enter(*callee, thread, moment, bindings);
            self.contexts[id].callers.push(from);
            self.entered += 1;
            entered.push(id);
        }
        entered.sort_unstable();
        entered.dedup();
        entered
    }

    /// Functions that code without a body may run: those it was given. In a source without a start, all that there are.
    fn outsiders(&mut self, has_start: bool) {
        let mut functions: BTreeSet<FunctionId> = self.points_to.called_by_outside().iter().copied().collect();
        if !has_start && !self.points_to.calls_outside().is_empty() {
            let defined = self.program.functions.iter_enumerated().filter(|(_, function)| !function.blocks.is_empty());
            functions.extend(defined.map(|(id, _)| id));
        }
        for function in functions {
            let anything = vec![Binding::Any; self.params(function)];
            let id = self.enter(function, None, self.whenever, anything);
            self.contexts[id].starts = true;
        }
    }
}

/// How far an address is from the thread's argument, if it is made of it.
fn argument_offset(bindings: &[Binding], address: &Address) -> Option<i64> {
    let Base::Local(local) = address.base else { return None };
    let Some(Binding::Argument(offset)) = bindings.get(local.0 as usize) else { return None };
    offset.checked_add(address.offset).filter(|_| address.index.is_none())
}
