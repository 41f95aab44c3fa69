//! Coarse replay: a run in which synchronisation happens in a wanted order and everything else as it comes.
//!
//! After Carril, "Predicting Data Races from Program Traces": a predicted order was inferred from a run that may have been
//! recorded on real threads, with accesses left out. Its positions mean nothing to another run, but its [`Turn`]s do: the
//! synchronisation events and atomics of each thread, in the order of the prediction. [`replay`] enforces these up to the
//! race, brings both threads before their accesses, and leaves the judgement to happens-before.
//!
//! A run is a function of its schedule, so no cooperation of the program is needed: where a thread's next turn is, is read
//! off the run before. A whole schedule is tried at once; where it goes wrong, the thread in question is run alone to see
//! what it really does next. Each round settles at least one more turn.
//!
//! *Can miss*: races of programs whose runs depend on more than the order of their turns. *Never wrong*: what is reached
//! is a run whose two accesses race by [`model::race`].

use std::fmt;
use std::mem::discriminant;

use decode::pseudo_cell;
use model::race::{could_race, is_race};
use model::{Access, End, Event, EventId, Executor, Op, Schedule, SiteId, Step, ThreadId, ThreadPath, Trace};

/// An event whose place in the order is enforced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Who.
    pub thread: ThreadPath,
    /// Where in the code.
    pub site: Option<SiteId>,
    /// What. Addresses and numbers of threads are not compared.
    pub op: Op,
}

/// An access that a thread makes between two of its turns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Goal {
    /// Who.
    pub thread: ThreadPath,
    /// Where in the code.
    pub site: Option<SiteId>,
}

/// The wanted order: turns, then the two accesses side by side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    /// Up to the race.
    pub turns: Vec<Turn>,
    /// What races.
    pub goals: [Goal; 2],
}

/// A run that shows the race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reached {
    /// The schedule; its last two events are the accesses where they are adjacent.
    pub schedule: Schedule,
    /// The accesses in its run.
    pub accesses: [EventId; 2],
    /// Whether both threads stand before their accesses at once.
    pub adjacent: bool,
}

/// Where a replay left the wanted order, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diverged {
    /// How many turns were as wanted.
    pub turns: usize,
    /// The thread that did something else.
    pub thread: ThreadPath,
    /// Where it should have gone.
    pub site: Option<SiteId>,
    /// What it did instead.
    pub why: String,
}

/// What became of a replay.
pub type Outcome = Result<Reached, Diverged>;

/// Whether the order of such an event is enforced: synchronisation and atomics, but nothing that merely starts, ends or
/// prepares something, which no reordering can move anyway.
pub fn is_turn(op: &Op) -> bool {
    match op {
        // What the library keeps is not recorded on real threads.
        Op::Access(access) => access.atomic.is_some() && pseudo_cell(access.cell.start).is_none(),
        Op::Accesses(_) | Op::Fence(_) | Op::Init(_) | Op::Destroy(_) | Op::Start | Op::Exit | Op::Detach { .. } => {
            false
        }
        Op::Cancel { .. } | Op::Cancelled | Op::Yield | Op::Choose(_) | Op::Await { .. } => false,
        _ => true,
    }
}

/// Whether two operations are the same but for addresses and numbers of threads.
fn is_same(wanted: &Op, found: &Op) -> bool {
    discriminant(wanted) == discriminant(found)
        && match (wanted, found) {
            (Op::Access(a), Op::Access(b)) => (a.kind, a.atomic) == (b.kind, b.atomic),
            (Op::Acquire { mode: a, .. }, Op::Acquire { mode: b, .. })
            | (Op::Release { mode: a, .. }, Op::Release { mode: b, .. }) => a == b,
            (Op::TryAcquire { success: a, .. }, Op::TryAcquire { success: b, .. })
            | (Op::SemTryWait { success: a, .. }, Op::SemTryWait { success: b, .. })
            | (Op::TryJoin { success: a, .. }, Op::TryJoin { success: b, .. })
            | (Op::OnceBegin { run: a, .. }, Op::OnceBegin { run: b, .. }) => a == b,
            (Op::WaitEnd { cause: a, .. }, Op::WaitEnd { cause: b, .. }) => a == b,
            _ => true,
        }
}

/// Why a schedule has no order to replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoOrder {
    /// The schedule does not fit the run.
    NotOfRun,
    /// More turns than wanted.
    TooLong(usize),
}

impl fmt::Display for NoOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOfRun => write!(f, "the recording does not have all that leads to the race"),
            Self::TooLong(longest) => write!(f, "more than {longest} operations lead to it"),
        }
    }
}

impl Order {
    /// The order of a schedule over a recorded run, whose last two events race, with at most so many turns. Threads are
    /// numbered in order of creation by the schedule, positions are those of the run.
    ///
    /// # Errors
    /// When the schedule does not fit the run, or the order is too long.
    pub fn of(recorded: &Trace, schedule: &Schedule, accesses: [EventId; 2], longest: usize) -> Result<Self, NoOrder> {
        let order = Self::within(recorded, schedule, accesses, longest).ok_or(NoOrder::NotOfRun)?;
        if order.turns.len() > longest { Err(NoOrder::TooLong(longest)) } else { Ok(order) }
    }

    /// The same; with one more turn than `longest` where there are more.
    fn within(recorded: &Trace, schedule: &Schedule, accesses: [EventId; 2], longest: usize) -> Option<Self> {
        let mut events: Vec<Vec<&Event>> = vec![Vec::new(); recorded.threads.len()];
        for event in &recorded.events {
            events.get_mut(event.id.thread.0 as usize)?.push(event);
        }
        // By number in the schedule's run: number in the recorded one, and events executed.
        let mut threads: Vec<(ThreadId, u32)> = vec![(ThreadId::MAIN, 0)];
        let path = |thread: ThreadId| Some(recorded.threads.get(thread)?.path.clone());
        let (mut turns, mut goals) = (Vec::new(), [None, None]);
        for segment in &schedule.segments {
            while threads.get(segment.thread.0 as usize)?.1 < segment.until {
                let (thread, position) = threads[segment.thread.0 as usize];
                threads[segment.thread.0 as usize].1 += 1;
                let event = events.get(thread.0 as usize)?.get(position as usize)?;
                let id = EventId { thread: segment.thread, position };
                if let Some(which) = accesses.iter().position(|access| *access == id) {
                    goals[which] = Some(Goal { thread: path(thread)?, site: event.site });
                } else if turns.len() <= longest && is_turn(&event.op) {
                    turns.push(Turn { thread: path(thread)?, site: event.site, op: event.op.clone() });
                }
                if let Op::Create { child } = event.op {
                    threads.push((child, 0));
                }
            }
        }
        let [one, other] = goals;
        Some(Self { turns, goals: [one?, other?] })
    }
}

/// A run seen as turns.
struct Seen {
    /// By thread: its path and the positions of its turns.
    threads: Vec<(ThreadPath, Vec<u32>)>,
    /// The turns in the order of the run.
    order: Vec<Turn>,
}

impl Seen {
    fn of(trace: &Trace) -> Self {
        let mut threads: Vec<_> = trace.threads.iter().map(|info| (info.path.clone(), Vec::new())).collect();
        let mut order = Vec::new();
        for event in trace.events.iter().filter(|event| is_turn(&event.op)) {
            let Some((path, positions)) = threads.get_mut(event.id.thread.0 as usize) else { continue };
            positions.push(event.id.position);
            order.push(Turn { thread: path.clone(), site: event.site, op: event.op.clone() });
        }
        Self { threads, order }
    }

    /// How many turns are as wanted, of those of the run.
    fn matched(&self, wanted: &[Turn]) -> usize {
        let same = |(a, b): &(&Turn, &Turn)| a.thread == b.thread && a.site == b.site && is_same(&a.op, &b.op);
        wanted.iter().zip(&self.order).take_while(same).count()
    }
}

/// A schedule of turns under construction: numbers threads as the run will.
#[derive(Clone)]
struct Builder {
    schedule: Schedule,
    /// Paths in order of creation, each with its number of turns and of children so far.
    threads: Vec<(ThreadPath, usize, u32)>,
}

impl Builder {
    fn new() -> Self {
        Self { schedule: Schedule::new(), threads: vec![(ThreadPath::main(), 0, 0)] }
    }

    fn number(&self, path: &ThreadPath) -> Option<usize> {
        self.threads.iter().position(|(known, ..)| known == path)
    }

    /// Adds a turn that is at `position` in its thread.
    fn push(&mut self, turn: &Turn, position: u32) -> Option<()> {
        let number = self.number(&turn.thread)?;
        self.schedule.push(ThreadId(number as u32), position + 1);
        let (path, turns, children) = &mut self.threads[number];
        *turns += 1;
        if matches!(turn.op, Op::Create { .. }) {
            *children += 1;
            let child = path.child(*children);
            self.threads.push((child, 0, 0));
        }
        Some(())
    }

    /// Adds turns while the run seen tells where they are; returns how many.
    fn extend(&mut self, turns: &[Turn], seen: &Seen) -> usize {
        for (done, turn) in turns.iter().enumerate() {
            let position = self.number(&turn.thread).and_then(|number| {
                let (_, positions) = seen.threads.iter().find(|(path, _)| *path == turn.thread)?;
                positions.get(self.threads[number].1).copied()
            });
            match position {
                Some(position) if self.push(turn, position).is_some() => {}
                _ => return done,
            }
        }
        turns.len()
    }

    /// The schedule with `thread` running on alone, for as long as it can.
    fn alone(&self, number: usize) -> Schedule {
        let mut schedule = self.schedule.clone();
        schedule.push(ThreadId(number as u32), u32::MAX);
        schedule
    }
}

/// Replays the turns of `order` and brings both threads before their accesses. Gives up when `is_over`.
pub fn replay<E: Executor>(executor: &mut E, order: &Order, is_over: &dyn Fn() -> bool) -> Result<Outcome, E::Error> {
    let mut replay = Replay { executor, turns: &order.turns, is_over };
    let prefix = match replay.turns()? {
        Ok(prefix) => prefix,
        Err(diverged) => return Ok(Err(diverged)),
    };
    replay.accesses(&prefix, &order.goals)
}

struct Replay<'a, E> {
    executor: &'a mut E,
    turns: &'a [Turn],
    is_over: &'a dyn Fn() -> bool,
}

impl<E: Executor> Replay<'_, E> {
    /// A schedule whose run has all turns as wanted.
    fn turns(&mut self) -> Result<Result<Builder, Diverged>, E::Error> {
        let mut settled = Builder::new();
        let mut done = 0;
        let mut seen = Seen::of(&self.executor.run(&settled.schedule)?);
        loop {
            let mut attempt = settled.clone();
            let tried = done + attempt.extend(&self.turns[done..], &seen);
            let trace = self.executor.run(&attempt.schedule)?;
            let run = Seen::of(&trace);
            let matched = run.matched(self.turns).min(tried);
            if matched == self.turns.len() && !matches!(trace.end, End::Diverged { .. }) {
                return Ok(Ok(attempt));
            }
            let mut better = settled.clone();
            let reached = done + better.extend(&self.turns[done..matched.max(done)], &run);
            (settled, done) = (better, reached);
            let Some(turn) = self.turns.get(done) else { return Ok(Ok(settled)) };
            if (self.is_over)() {
                let (thread, site) = (turn.thread.clone(), turn.site);
                let why = "the time for one replay was spent".to_owned();
                return Ok(Err(Diverged { turns: done, thread, site, why }));
            }
            // Alone, the thread shows what it does next.
            let position = match self.next_turn(&settled, turn)? {
                Ok(position) => position,
                Err(why) => {
                    let (thread, site) = (turn.thread.clone(), turn.site);
                    return Ok(Err(Diverged { turns: done, thread, site, why }));
                }
            };
            if settled.push(turn, position).is_none() {
                let why = "the thread does not exist yet".to_owned();
                return Ok(Err(Diverged { turns: done, thread: turn.thread.clone(), site: turn.site, why }));
            }
            done += 1;
            seen = Seen::of(&self.executor.run(&settled.schedule)?);
        }
    }

    /// The position of a thread's next turn, if it is the wanted one.
    fn next_turn(&mut self, settled: &Builder, turn: &Turn) -> Result<Result<u32, String>, E::Error> {
        let Some(number) = settled.number(&turn.thread) else {
            return Ok(Err("the thread does not exist yet".to_owned()));
        };
        let trace = self.executor.run(&settled.alone(number))?;
        let thread = ThreadId(number as u32);
        let own = trace.events.iter().filter(|event| event.id.thread == thread && is_turn(&event.op));
        let Some(next) = own.into_iter().nth(settled.threads[number].1) else {
            let waits = trace.pending.iter().any(|pending| pending.event.id.thread == thread && !pending.enabled);
            let what = if waits { "the thread waits instead" } else { "the thread ends or goes on without it" };
            return Ok(Err(what.to_owned()));
        };
        if next.site != turn.site {
            return Ok(Err("the thread took another way".to_owned()));
        }
        if !is_same(&turn.op, &next.op) {
            return Ok(Err("the operation had another result".to_owned()));
        }
        Ok(Ok(next.id.position))
    }

    /// Brings both threads before accesses at the sites of the goals that race.
    fn accesses(&mut self, prefix: &Builder, goals: &[Goal; 2]) -> Result<Outcome, E::Error> {
        let turns = self.turns.len();
        let diverged = |goal: &Goal, why: &str| {
            let (thread, site) = (goal.thread.clone(), goal.site);
            Ok(Err(Diverged { turns, thread, site, why: why.to_owned() }))
        };
        let mut reachable = Vec::new();
        for goal in goals {
            let Some(number) = prefix.number(&goal.thread) else {
                return diverged(goal, "the thread does not exist yet");
            };
            let trace = self.executor.run(&prefix.alone(number))?;
            let found = accesses_before_next_turn(&trace, ThreadId(number as u32), prefix.threads[number].1, goal.site);
            if found.is_empty() {
                return match self.one_after_the_other(prefix, goals)? {
                    Some(reached) => Ok(Ok(reached)),
                    None => diverged(goal, "the thread did not come to the access"),
                };
            }
            reachable.push(found);
        }
        let meet = |a: &[Access], b: &[Access]| a.iter().any(|a| b.iter().any(|b| could_race(a, b)));
        let both = reachable[0].iter().flat_map(|a| reachable[1].iter().map(move |b| (a, b)));
        let Some(((one, _), (other, _))) = both.into_iter().find(|((_, a), (_, b))| meet(a, b)) else {
            return diverged(&goals[0], "the two accesses touch different memory");
        };
        let accesses = [*one, *other];
        let mut schedule = prefix.schedule.clone();
        for access in [accesses[1], accesses[0]] {
            schedule.push(access.thread, access.position);
        }
        for access in accesses {
            schedule.push(access.thread, access.position + 1);
        }
        let trace = self.executor.run(&schedule)?;
        let step = |id: EventId| trace.events.iter().position(|event| event.id == id).map(|at| Step(at as u32));
        match (step(accesses[0]), step(accesses[1])) {
            (Some(first), Some(second)) if is_race(&trace, first, second) => {
                Ok(Ok(Reached { schedule, accesses, adjacent: second.0 == first.0 + 1 }))
            }
            _ => diverged(&goals[1], "the accesses came side by side, but they do not race"),
        }
    }

    /// A race of accesses that cannot come side by side, as what leads to one depends on the other by something that is
    /// no synchronisation.
    fn one_after_the_other(&mut self, prefix: &Builder, goals: &[Goal; 2]) -> Result<Option<Reached>, E::Error> {
        let trace = self.executor.run(&prefix.schedule)?;
        let sites = |one: Option<SiteId>, other: Option<SiteId>| (one.min(other), one.max(other));
        let wanted = sites(goals[0].site, goals[1].site);
        let found = model::race::races(&trace)
            .into_iter()
            .find(|race| sites(trace.events[race.first].site, trace.events[race.second].site) == wanted);
        Ok(found.map(|race| Reached {
            schedule: trace.schedule_to(Step(race.second.0 + 1)),
            accesses: [race.first, race.second].map(|step| trace.events[step].id),
            adjacent: false,
        }))
    }
}

/// Events of a thread at a site that make accesses, after its first `turns` turns and up to its next one.
fn accesses_before_next_turn(
    trace: &Trace,
    thread: ThreadId,
    turns: usize,
    site: Option<SiteId>,
) -> Vec<(EventId, Vec<Access>)> {
    let (mut found, mut passed) = (Vec::new(), 0);
    for event in trace.events.iter().filter(|event| event.id.thread == thread) {
        let accesses = event.op.accesses();
        if passed == turns && event.site == site && !accesses.is_empty() {
            found.push((event.id, accesses.to_vec()));
        }
        passed += usize::from(is_turn(&event.op));
        if passed > turns {
            break;
        }
    }
    found
}
