//! Which locks a thread surely holds, and which it may hold, at each statement.
//!
//! Only locks known by name count as surely held ([`Objects::exact`]): at a constant offset in memory that there is
//! once. Both are found by summaries of functions, given relative to what the caller holds (paper 000's acquired and
//! released sets): a function surely adds what it holds at all its ends when it starts with nothing, and may take away
//! all that it, or what it calls, ever unlocks.
//!
//! A successful try counts on the branch that tests its result, right after it.

use std::collections::{BTreeMap, BTreeSet};

use facts::invocations::{How, Invocations, ProgramPoint};
use facts::objects::{Key, Objects};
use model::LockMode;
use program::{
    BlockId, CompareOp, Expr, Function, FunctionId, LocalId, Operand, Program, Statement, Stmt, SyncOp, Terminator,
    TryMode,
};

/// A lock that may be held: one with a name, or any other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Lock {
    Named(Key),
    Other,
}

/// Locks surely held, and how.
pub(crate) type Held = BTreeMap<Key, LockMode>;
/// Locks perhaps held.
pub(crate) type MayHold = BTreeSet<Lock>;

/// The locks at every statement that can be reached.
#[derive(Default)]
pub(crate) struct Locks {
    must: BTreeMap<ProgramPoint, Held>,
    may: BTreeMap<ProgramPoint, MayHold>,
    /// What a thread may hold at its end, by the function it started in.
    pub(crate) left_held: BTreeMap<FunctionId, MayHold>,
}

/// What a function does to the locks of its caller.
#[derive(Clone, PartialEq, Eq, Default)]
struct Effect {
    /// Surely held at its end.
    adds: Held,
    /// Unlocked somewhere in it.
    releases: BTreeSet<Lock>,
    /// Perhaps held at its end.
    may_add: MayHold,
    /// Surely not held at its end if held before.
    drops: BTreeSet<Key>,
}

/// Both kinds of sets at a point.
#[derive(Clone, PartialEq, Eq)]
struct Point {
    must: Held,
    may: MayHold,
    /// Locks that were not held before they were tried, in this block.
    tried: BTreeSet<Key>,
}

impl Point {
    fn nothing() -> Self {
        Self { must: Held::new(), may: MayHold::new(), tried: BTreeSet::new() }
    }

    /// What holds on either of two ways. Whether that is less than before.
    fn meet(&mut self, other: &Self) -> bool {
        let before = self.clone();
        self.must.retain(|key, _| other.must.contains_key(key));
        for (key, mode) in &mut self.must {
            *mode = (*mode).min(other.must[key]);
        }
        self.may.extend(&other.may);
        *self != before
    }
}

impl Locks {
    pub(crate) fn new(program: &Program, objects: &Objects<'_>, invocations: &Invocations) -> Self {
        let (effects, keys, nested) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        let mut analysis = Analysis { program, objects, invocations, effects, keys, nested };
        analysis.find_keys();
        loop {
            analysis.find_effects();
            let locks = analysis.spread();
            if !analysis.find_nested(&locks) {
                return locks;
            }
        }
    }

    /// The locks surely held when the statement is executed.
    pub(crate) fn held(&self, place: ProgramPoint) -> Held {
        self.must.get(&place).cloned().unwrap_or_default()
    }

    /// The locks perhaps held when the statement is executed.
    pub(crate) fn may_hold(&self, place: ProgramPoint) -> MayHold {
        self.may.get(&place).cloned().unwrap_or_default()
    }
}

struct Analysis<'a> {
    program: &'a Program,
    objects: &'a Objects<'a>,
    invocations: &'a Invocations,
    effects: BTreeMap<FunctionId, Effect>,
    /// Every lock with a name.
    keys: BTreeSet<Key>,
    /// Those that a thread may take while it holds them: it may hold them still when it has given them back.
    nested: BTreeSet<Key>,
}

impl Analysis<'_> {
    fn lock(&self, function: FunctionId, operand: &Operand) -> Lock {
        self.objects.exact(function, operand).map_or(Lock::Other, Lock::Named)
    }

    fn find_keys(&mut self) {
        for (id, function) in self.program.functions.iter_enumerated() {
            for statement in function.blocks.iter().flat_map(|b| &b.statements) {
                if let Stmt::Sync { op: SyncOp::Lock { lock, .. } | SyncOp::CondWait { lock, .. }, .. } =
                    &statement.stmt
                    && let Lock::Named(key) = self.lock(id, lock)
                {
                    self.keys.insert(key);
                }
            }
        }
    }

    /// Looks for locks that are taken while they may be held. Whether there are more than was known.
    fn find_nested(&mut self, locks: &Locks) -> bool {
        let before = self.nested.len();
        for (place, may) in &locks.may {
            let statement = &self.program.functions[place.0].blocks[place.1].statements[place.2];
            if let Stmt::Sync { op: SyncOp::Lock { lock, .. }, .. } = &statement.stmt
                && let Lock::Named(key) = self.lock(place.0, lock)
                && may.contains(&Lock::Named(key))
            {
                self.nested.insert(key);
            }
        }
        self.nested.len() > before
    }

    /// Summaries, from nothing known on: each round is right given the one before.
    fn find_effects(&mut self) {
        for function in self.program.functions.ids() {
            let mut releases = BTreeSet::new();
            for callee in self.invocations.closure(function, false) {
                for statement in self.program.functions[callee].blocks.iter().flat_map(|b| &b.statements) {
                    if let Stmt::Sync { op: SyncOp::Unlock { lock }, .. } = &statement.stmt {
                        releases.insert(self.lock(callee, lock));
                    }
                }
            }
            self.effects.insert(function, Effect { releases, ..Effect::default() });
        }
        let everything: MayHold = self.keys.iter().copied().map(Lock::Named).collect();
        loop {
            let mut changed = false;
            for function in self.program.functions.ids() {
                let unwinds = self.invocations.unwinds(function);
                let ends = self.ends(function, Point::nothing());
                let all = self.ends(function, Point { may: everything.clone(), ..Point::nothing() });
                let mut effect = self.effects[&function].clone();
                if let (Some(ends), Some(all)) = (ends, all) {
                    effect.may_add.extend(ends.may);
                    if !unwinds {
                        effect.adds = ends.must;
                    }
                    if !unwinds && !self.invocations.is_recursive(function) {
                        let stays = |key: &Key| all.may.contains(&Lock::Named(*key));
                        effect.drops = self.keys.iter().copied().filter(|key| !stays(key)).collect();
                    }
                }
                changed |= self.effects.get(&function) != Some(&effect);
                self.effects.insert(function, effect);
            }
            if !changed {
                return;
            }
        }
    }

    /// What holds at the function's ends, given what holds at its start; `None` if it never returns.
    fn ends(&self, function: FunctionId, start: Point) -> Option<Point> {
        let mut end: Option<Point> = None;
        self.walk(
            function,
            start,
            |_, _| {},
            |point| match &mut end {
                None => end = Some(point.clone()),
                Some(end) => drop(end.meet(point)),
            },
        );
        end
    }

    /// From the starts of threads down into calls, until nothing changes.
    fn spread(&self) -> Locks {
        let mut locks = Locks::default();
        let mut starts: BTreeMap<FunctionId, Point> = BTreeMap::new();
        let mut open: BTreeSet<FunctionId> = BTreeSet::new();
        let threads = self.program.functions.ids().flat_map(|f| self.invocations.of(f));
        let threads = threads.filter(|i| i.how == How::Create).map(|i| i.callee);
        let threads: BTreeSet<FunctionId> = threads.chain(self.program.main).collect();
        for thread in &threads {
            starts.insert(*thread, Point::nothing());
            open.insert(*thread);
        }
        while let Some(function) = open.pop_first() {
            let mut calls: Vec<(FunctionId, Point)> = Vec::new();
            let mut points: BTreeMap<ProgramPoint, Point> = BTreeMap::new();
            let start = starts[&function].clone();
            self.walk(
                function,
                start,
                |place, point| {
                    points.insert(place, point.clone());
                    for call in self.invocations.at(place).filter(|i| i.how != How::Create) {
                        calls.push((call.callee, point.clone()));
                    }
                },
                |_| {},
            );
            for (place, point) in points {
                locks.must.insert(place, point.must);
                locks.may.insert(place, point.may);
            }
            for (callee, point) in calls {
                let changed = match starts.get_mut(&callee) {
                    Some(known) => known.meet(&point),
                    None => starts.insert(callee, point).is_none(),
                };
                if changed {
                    open.insert(callee);
                }
            }
        }
        for thread in threads {
            let mut left = self.effects[&thread].may_add.clone();
            for function in self.invocations.closure(thread, false) {
                for (block, code) in self.program.functions[function].blocks.iter_enumerated() {
                    for (index, statement) in code.statements.iter().enumerate() {
                        if matches!(statement.stmt, Stmt::Sync { op: SyncOp::ExitThread, .. }) {
                            left.extend(locks.may_hold((function, block, index)));
                        }
                    }
                }
                // An exception that is not caught ends the thread, or the process.
                if self.invocations.unwinds(function) {
                    left.extend(self.effects[&function].may_add.iter().copied());
                }
            }
            locks.left_held.insert(thread, left);
        }
        locks
    }

    /// Visits every statement that can be reached with what holds before it, and every return, once all is known.
    fn walk(
        &self,
        function: FunctionId,
        start: Point,
        mut at: impl FnMut(ProgramPoint, &Point),
        mut end: impl FnMut(&Point),
    ) {
        let body = &self.program.functions[function];
        let mut before: BTreeMap<BlockId, Point> = BTreeMap::new();
        let Some(first) = body.blocks.ids().next() else { return };
        before.insert(first, start);
        let mut open = BTreeSet::from([first]);
        while let Some(block) = open.pop_first() {
            let mut point = before[&block].clone();
            for (index, statement) in body.blocks[block].statements.iter().enumerate() {
                self.statement((function, block, index), &statement.stmt, &mut point);
            }
            for (to, point) in self.edges(function, block, point) {
                let changed = match before.get_mut(&to) {
                    Some(known) => known.meet(&point),
                    None => before.insert(to, point).is_none(),
                };
                if changed {
                    open.insert(to);
                }
            }
        }
        for (block, mut point) in before {
            for (index, statement) in body.blocks[block].statements.iter().enumerate() {
                at((function, block, index), &point);
                self.statement((function, block, index), &statement.stmt, &mut point);
            }
            if matches!(body.blocks[block].terminator, Terminator::Return(_) | Terminator::Resume) {
                end(&point);
            }
        }
    }

    fn statement(&self, place: ProgramPoint, stmt: &Stmt, point: &mut Point) {
        let function = place.0;
        match stmt {
            Stmt::Sync { op: SyncOp::Lock { lock, mode, wait }, .. } => {
                let lock = self.lock(function, lock);
                if let (true, Lock::Named(key)) = (point.may.insert(lock) && *wait != TryMode::Wait, lock) {
                    point.tried.insert(key);
                }
                if let (Lock::Named(key), TryMode::Wait) = (lock, wait) {
                    let held = point.must.entry(key).or_insert(*mode);
                    *held = (*held).max(*mode);
                }
            }
            Stmt::Sync { op: SyncOp::CondWait { lock, .. }, .. } => drop(point.may.insert(self.lock(function, lock))),
            Stmt::Sync { op: SyncOp::Unlock { lock }, .. } => match self.lock(function, lock) {
                Lock::Named(key) => {
                    point.must.remove(&key);
                    if !self.nested.contains(&key) {
                        point.may.remove(&Lock::Named(key));
                    }
                }
                Lock::Other => point.must.clear(),
            },
            _ => {
                let calls: Vec<_> = self.invocations.at(place).filter(|i| i.how != How::Create).collect();
                if calls.is_empty() {
                    return;
                }
                // One of them runs; a callback any number of times, none included.
                let mut after: Option<Point> =
                    calls.iter().any(|c| matches!(c.how, How::Callback | How::Once)).then(|| point.clone());
                for call in calls {
                    let mut then = point.clone();
                    self.call(call.callee, &mut then);
                    match &mut after {
                        None => after = Some(then),
                        Some(after) => drop(after.meet(&then)),
                    }
                }
                if let Some(after) = after {
                    *point = after;
                }
            }
        }
    }

    fn call(&self, callee: FunctionId, point: &mut Point) {
        let effect = &self.effects[&callee];
        if effect.releases.contains(&Lock::Other) {
            point.must.clear();
        }
        point.must.retain(|key, _| !effect.releases.contains(&Lock::Named(*key)));
        for (key, mode) in &effect.adds {
            let held = point.must.entry(*key).or_insert(*mode);
            *held = (*held).max(*mode);
        }
        point.may.retain(|lock| !matches!(lock, Lock::Named(key) if effect.drops.contains(key)));
        point.may.extend(&effect.may_add);
    }

    /// Where a block goes, with what holds there.
    fn edges(&self, function: FunctionId, block: BlockId, mut point: Point) -> Vec<(BlockId, Point)> {
        let tried = std::mem::take(&mut point.tried);
        let body = &self.program.functions[function];
        let code = &body.blocks[block];
        if let Terminator::Branch { condition, then, otherwise } = &code.terminator
            && let Some((result, zero_then)) = tested(body, condition, 0)
            && let Some((key, mode)) = self.tried(function, &code.statements, result)
        {
            let mut had = point.clone();
            let held = had.must.entry(key).or_insert(mode);
            *held = (*held).max(mode);
            if tried.contains(&key) {
                point.may.remove(&Lock::Named(key));
            }
            return if zero_then {
                vec![(*then, had), (*otherwise, point)]
            } else {
                vec![(*then, point), (*otherwise, had)]
            };
        }
        code.terminator.targets().into_iter().map(|to| (to, point.clone())).collect()
    }

    /// The lock whose try gave this result, if nothing since may have given it back.
    fn tried(&self, function: FunctionId, statements: &[Statement], result: LocalId) -> Option<(Key, LockMode)> {
        for statement in statements.iter().rev() {
            match &statement.stmt {
                Stmt::Sync { dst: Some(dst), op: SyncOp::Lock { lock, mode, wait } } if *dst == result => {
                    let key = self.objects.exact(function, lock)?;
                    return (*wait != TryMode::Wait).then_some((key, *mode));
                }
                Stmt::Assign { .. } | Stmt::Load { .. } | Stmt::Store { .. } => {}
                _ => return None,
            }
        }
        None
    }
}

/// The local that a condition compares with zero, and whether the condition holds if it is zero.
fn tested(body: &Function, condition: &Operand, depth: u32) -> Option<(LocalId, bool)> {
    let Operand::Local(local) = condition else { return None };
    if depth > 4 {
        return None;
    }
    let mut assigned = body.blocks.iter().flat_map(|b| &b.statements).filter_map(|s| match &s.stmt {
        Stmt::Assign { dst, expr } if dst == local => Some(expr),
        _ => None,
    });
    match assigned.next() {
        None => Some((*local, false)),
        Some(Expr::Use(value) | Expr::Truncate { value, .. }) => tested(body, value, depth + 1),
        Some(Expr::Compare { op, left, right: Operand::Const(0), .. }) => {
            let (result, zero) = tested(body, left, depth + 1)?;
            match op {
                CompareOp::Eq => Some((result, !zero)),
                CompareOp::Ne => Some((result, zero)),
                _ => None,
            }
        }
        Some(_) => None,
    }
}
