//! What thread operations take from and give to shared places.

use model::LockMode;
use program::{Expr, LocalId, Operand, Stmt, SyncOp, TryMode};

use super::decide::Abstract;
use super::graph::{Arcs, Resource};
use super::state::{Held, MOST_HELD, Move, Phase, ThreadState, step};
use super::walk::Walk;
use facts::invocations::{How, ProgramPoint};
use facts::objects::Key;

impl<'a> Walk<'a> {
    /// The once-controls that an operand may mean; one if it is known.
    pub(super) fn once_controls(&self, state: &ThreadState, operand: Option<&Operand>) -> Vec<Key> {
        let Some(operand) = operand else { return Vec::new() };
        let function = self.contexts[state.context].function;
        let onces = &self.known.synchronisation.onces;
        match self.known.objects.exact(function, operand) {
            Some(key) => vec![key],
            None => onces.iter().copied().filter(|k| self.known.objects.may_name(function, operand, *k)).collect(),
        }
    }

    pub(super) fn create(&mut self, from: &ThreadState, to: ThreadState, place: ProgramPoint) -> Vec<Move> {
        let mut moves = Vec::new();
        let started: Vec<_> = self.known.invocations.at(place).map(|i| i.callee).collect();
        for function in started {
            for (start, arcs) in self.starts(function, Some(place)) {
                moves.push(Move { arcs, to: Some(to.clone()), starts: Some(start) });
            }
        }
        if moves.is_empty() {
            moves.push(step(Arcs::default(), from.next()));
        }
        moves
    }

    pub(super) fn synchronise(
        &mut self,
        state: &ThreadState,
        dst: Option<LocalId>,
        op: &'a SyncOp,
        place: ProgramPoint,
    ) -> Vec<Move> {
        let function = place.0;
        let (objects, known) = (self.known.objects, self.known.synchronisation);
        let exact = |operand: &Operand| objects.exact(function, operand);
        let may = |operand: &Operand, key: &Key| objects.may_name(function, operand, *key);
        let pass = || vec![step(Arcs::default(), state.next())];
        match op {
            SyncOp::Create { .. } => self.create(state, state.next(), place),
            SyncOp::Join { .. } => match known.joins.waits_for(place) {
                Some(create) => vec![step(Arcs::need(Resource::Ended(create)), state.next())],
                None => pass(),
            },
            SyncOp::ExitThread => self.end_of_thread(state),
            SyncOp::Lock { lock, mode, wait } => self.lock(state, dst, lock, *mode, *wait),
            SyncOp::Unlock { lock } => self.unlock(state, lock),
            SyncOp::CondWait { lock, .. } => {
                let key = self.lock_key(state, lock);
                let meant: Vec<Key> = match key {
                    Some(key) => state.held.keys().filter(|k| **k == key).copied().collect(),
                    None => state.held.keys().filter(|k| may(lock, k)).copied().collect(),
                };
                let mut moves: Vec<Move> = meant
                    .iter()
                    .map(|key| {
                        let mut waiting = state.clone();
                        let held = waiting.held.remove(key);
                        waiting.phase = Phase::Woken(held.map(|held| (*key, held)));
                        let tokens = held.map_or(0, |held| held.tokens);
                        step(Arcs::give(Resource::Lock(*key), tokens), waiting)
                    })
                    .collect();
                if key.is_none() || meant.is_empty() {
                    moves.push(step(Arcs::default(), state.next()));
                }
                moves
            }
            SyncOp::SemPost { sem } => {
                let meant: Vec<Key> = known.semaphores.keys().filter(|key| may(sem, key)).copied().collect();
                let mut moves: Vec<Move> =
                    meant.iter().map(|key| step(Arcs::give(Resource::Semaphore(*key), 1), state.next())).collect();
                if exact(sem).is_none() || meant.is_empty() {
                    moves.push(step(Arcs::default(), state.next()));
                }
                moves
            }
            SyncOp::SemWait { sem, wait } => {
                let taken = match exact(sem).filter(|key| known.semaphores.contains_key(key)) {
                    Some(key) => Arcs::take(Resource::Semaphore(key), 1),
                    None => Arcs::default(),
                };
                self.tried(state, dst, *wait, vec![(taken, state.next())])
            }
            SyncOp::BarrierWait { barrier } => match exact(barrier) {
                Some(key) if known.barriers.contains_key(&key) => {
                    vec![step(Arcs::give(Resource::Arrived(key), 1), state.at(Phase::Arrived(key)))]
                }
                Some(_) => pass(),
                None => {
                    let meant = known.barriers.keys().filter(|key| may(barrier, key));
                    let arrive = |key: &Key| step(Arcs::give(Resource::Arrived(*key), 1), state.next());
                    meant.map(arrive).chain(pass()).collect()
                }
            },
            SyncOp::Once { control, .. } => {
                let key = exact(control);
                let (fresh, done) = match key {
                    Some(key) => (Arcs::take(Resource::Fresh(key), 1), Arcs::need(Resource::Done(key))),
                    None => Default::default(),
                };
                let mut moves = vec![step(done, state.next())];
                let routines: Vec<_> = self.known.invocations.at(place).map(|i| i.callee).collect();
                for routine in routines {
                    let entered = self.call(state, routine, How::Once);
                    moves.extend(entered.into_iter().map(|m| Move { arcs: fresh.clone(), ..m }));
                }
                moves
            }
            _ => pass(),
        }
    }

    /// Success by one of these, or failure if it can give up.
    pub(super) fn tried(
        &self,
        state: &ThreadState,
        dst: Option<LocalId>,
        wait: TryMode,
        had: Vec<(Arcs, ThreadState)>,
    ) -> Vec<Move> {
        let result = |mut to: ThreadState, value: Abstract| {
            if let Some(dst) = dst.filter(|_| wait != TryMode::Wait) {
                to.results.insert((to.context, dst), value);
            }
            to
        };
        let mut moves: Vec<Move> =
            had.into_iter().map(|(arcs, to)| step(arcs, result(to, Abstract::Number(0)))).collect();
        if wait != TryMode::Wait {
            moves.push(step(Arcs::default(), result(state.next(), Abstract::NotZero)));
        }
        moves
    }

    pub(super) fn lock(
        &self,
        state: &ThreadState,
        dst: Option<LocalId>,
        lock: &Operand,
        mode: LockMode,
        wait: TryMode,
    ) -> Vec<Move> {
        let Some(key) = self.lock_key(state, lock) else {
            return self.tried(state, dst, wait, vec![(Arcs::default(), state.next())]);
        };
        let shared = self.known.synchronisation.is_shared(self.known.objects, key);
        let had = match state.held.get(&key) {
            Some(held) => {
                let mut deeper = state.next();
                deeper.held.insert(key, Held { depth: (held.depth + 1).min(MOST_HELD), ..*held });
                vec![(Arcs::default(), deeper), (Arcs::default(), state.next())]
            }
            None if shared && !state.tracked => vec![(Arcs::default(), state.next())],
            None => {
                let tokens = if shared && mode == LockMode::Exclusive { 2 } else { 1 };
                let mut holding = state.next();
                holding.held.insert(key, Held { depth: 1, tokens });
                vec![(Arcs::take(Resource::Lock(key), tokens), holding)]
            }
        };
        self.tried(state, dst, wait, had)
    }

    pub(super) fn unlock(&self, state: &ThreadState, lock: &Operand) -> Vec<Move> {
        let function = self.contexts[state.context].function;
        let key = self.lock_key(state, lock);
        let meant: Vec<(Key, Held)> = state
            .held
            .iter()
            .filter(|(held, _)| match key {
                Some(key) => **held == key,
                None => self.known.objects.may_name(function, lock, **held),
            })
            .map(|(key, held)| (*key, *held))
            .collect();
        let mut moves = Vec::new();
        for (key, held) in &meant {
            let mut without = state.next();
            let arcs = if held.depth > 1 {
                without.held.insert(*key, Held { depth: held.depth - 1, ..*held });
                Arcs::default()
            } else {
                without.held.remove(key);
                Arcs::give(Resource::Lock(*key), held.tokens)
            };
            moves.push(step(arcs, without));
        }
        let saturated = meant.iter().any(|(_, held)| held.depth == MOST_HELD);
        if key.is_none() || meant.is_empty() || saturated {
            moves.push(step(Arcs::default(), state.next()));
        }
        moves
    }

    /// The lock an operand means in this context: parameters are followed to the calls' arguments.
    pub(super) fn lock_key(&self, state: &ThreadState, operand: &Operand) -> Option<Key> {
        let (mut context, mut operand, mut moved) = (state.context, *operand, 0i64);
        for _ in 0..64 {
            let function = self.contexts[context].function;
            if let Some((root, at)) = self.known.objects.exact(function, &operand) {
                return Some((root, at.checked_add(moved)?));
            }
            let Operand::Local(local) = operand else { return None };
            if let Some((caller, argument)) = self.argument(context, local) {
                (context, operand) = (caller, argument);
                continue;
            }
            match self.definition(context, local)? {
                Stmt::Assign { expr: Expr::Use(value), .. } => operand = *value,
                Stmt::Assign { expr: Expr::Offset { base, index, scale, offset }, .. } => {
                    let Abstract::Number(index) = self.value_in(state, context, index)? else { return None };
                    moved = moved.checked_add(index.checked_mul(*scale)?.checked_add(*offset)?)?;
                    operand = *base;
                }
                _ => return None,
            }
        }
        None
    }
}
