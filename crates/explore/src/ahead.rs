//! Runs made before they are asked for, by helpers with executors of their own.
//!
//! A run is a function of its schedule, and a reduction knows some of the schedules it will ask for
//! ([`Reduction::ahead`](crate::reduction::Reduction::ahead)). Helpers run these meanwhile; the search takes each trace
//! when its turn comes, and runs a schedule itself when no helper has begun it. So the search is the same, execution by
//! execution, whatever the number of helpers and the order in which they finish: only its time is not.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use model::{Executor, Schedule, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// Schedules given out in advance, for each helper.
const AHEAD: usize = 32;
/// Most events of traces that wait for their turn.
const MOST_EVENTS: usize = 1 << 22;

/// What the search and its helpers share.
struct Board<E: Executor> {
    /// Schedules that nobody runs yet, the next one first.
    wanted: VecDeque<Schedule>,
    running: FxHashSet<Schedule>,
    done: FxHashMap<Schedule, Result<Trace, E::Error>>,
    /// Events of the traces that are done.
    events: usize,
    closed: bool,
}

/// The board with its lock, and who waits for it to change.
struct Office<E: Executor> {
    board: Mutex<Board<E>>,
    work: Condvar,
    results: Condvar,
}

impl<E: Executor> Office<E> {
    fn lock(&self) -> MutexGuard<'_, Board<E>> {
        // A helper that panicked is found out when its thread is joined.
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a helper does until the office closes.
    fn help(&self, executor: &mut E) {
        let mut board = self.lock();
        loop {
            if board.closed {
                return;
            }
            let next = if board.events < MOST_EVENTS { board.wanted.pop_front() } else { None };
            let Some(schedule) = next else {
                board = self.work.wait(board).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            board.running.insert(schedule.clone());
            drop(board);
            let result = executor.run(&schedule);
            board = self.lock();
            board.running.remove(&schedule);
            board.events += result.as_ref().map_or(0, |trace| trace.events.len());
            board.done.insert(schedule, result);
            self.results.notify_one();
        }
    }
}

/// Closes the office however the search ends, so that its helpers leave.
struct Closing<'a, E: Executor>(&'a Office<E>);

impl<E: Executor> Drop for Closing<'_, E> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.work.notify_all();
    }
}

/// Where a search gets its runs from.
pub(crate) struct Runs<'a, E: Executor> {
    executor: &'a mut E,
    office: Option<(&'a Office<E>, usize)>,
}

impl<'a, E: Executor> Runs<'a, E> {
    /// Without helpers.
    pub(crate) fn alone(executor: &'a mut E) -> Self {
        Self { executor, office: None }
    }

    /// The schedule's run. `ahead` tells the schedules that come next, at most so many.
    pub(crate) fn run(
        &mut self,
        schedule: &Schedule,
        ahead: impl FnOnce(usize) -> Vec<Schedule>,
    ) -> Result<Trace, E::Error> {
        let Some((office, helpers)) = self.office else { return self.executor.run(schedule) };
        let mut board = office.lock();
        if board.wanted.len() < helpers {
            drop(board);
            let next = ahead(AHEAD * helpers);
            board = office.lock();
            board.give_out(schedule, next, AHEAD * helpers);
            office.work.notify_all();
        }
        loop {
            if let Some(result) = board.done.remove(schedule) {
                board.events -= result.as_ref().map_or(0, |trace| trace.events.len());
                return result;
            }
            if !board.running.contains(schedule) {
                break;
            }
            board = office.results.wait(board).unwrap_or_else(PoisonError::into_inner);
        }
        board.wanted.retain(|wanted| wanted != schedule);
        drop(board);
        self.executor.run(schedule)
    }

    /// The search's own executor.
    pub(crate) fn executor(&mut self) -> &mut E {
        self.executor
    }

    /// A run that is none of the search's own.
    pub(crate) fn run_alone(&mut self, schedule: &Schedule) -> Result<Trace, E::Error> {
        self.executor.run(schedule)
    }
}

impl<E: Executor> Board<E> {
    /// Puts up what comes next. Traces that nobody asked for in time make room.
    fn give_out(&mut self, now: &Schedule, next: Vec<Schedule>, most: usize) {
        if self.done.len() > 4 * most || self.events >= MOST_EVENTS {
            let next: FxHashSet<&Schedule> = next.iter().chain([now]).collect();
            self.done.retain(|schedule, _| next.contains(schedule));
            self.events = self.done.values().flatten().map(|trace| trace.events.len()).sum();
        }
        let known = |s: &Schedule| s == now || self.running.contains(s) || self.done.contains_key(s);
        self.wanted = next.into_iter().filter(|schedule| !known(schedule)).collect();
    }
}

/// Makes a search with helpers, one for each of these executors.
pub(crate) fn with_helpers<E, T>(executor: &mut E, helpers: &mut [E], search: impl FnOnce(Runs<'_, E>) -> T) -> T
where
    E: Executor + Send,
    E::Error: Send,
{
    if helpers.is_empty() {
        return search(Runs::alone(executor));
    }
    let board = Board {
        wanted: VecDeque::new(),
        running: FxHashSet::default(),
        done: FxHashMap::default(),
        events: 0,
        closed: false,
    };
    let office = Office { board: Mutex::new(board), work: Condvar::new(), results: Condvar::new() };
    let count = helpers.len();
    std::thread::scope(|scope| {
        let _closing = Closing(&office);
        for helper in helpers {
            scope.spawn(|| office.help(helper));
        }
        search(Runs { executor, office: Some((&office, count)) })
    })
}
