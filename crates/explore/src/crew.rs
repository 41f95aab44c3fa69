//! A search in several processes: helpers, each with an executor of its own, explore [parts](crate::parts) that the search
//! will come to.
//!
//! When the search comes to a part, it takes over what a helper has explored of it: one that is still at work stops after
//! its current execution, and the search goes on from there. It explores itself what nobody has begun. Helpers get the
//! parts that the search comes to last, which are the largest: most are done before they are needed, and few are cut.
//! Everything is taken in in the order of a search without helpers, so the executions and what they show are the same for
//! any number of helpers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use model::{Event, Executor, Schedule};

use crate::helper::{Explored, Helper};
use crate::options::Options;
use crate::parts::Part;

/// Most events that are kept of parts that wait to be taken over.
const MOST_EVENTS: usize = 1 << 20;

/// A part that was given to a helper.
enum Task {
    /// Set to stop it.
    Begun(Arc<AtomicBool>),
    Done(Option<Box<Explored>>),
}

/// What the search and its helpers share.
#[derive(Default)]
struct Board {
    /// Parts that nobody has begun, the largest first.
    offers: VecDeque<Part>,
    /// By the schedules that begin them.
    tasks: BTreeMap<Schedule, Task>,
    /// Events that are kept of parts that wait to be taken over.
    events: usize,
    /// Helpers with nothing to do.
    waiting: usize,
    /// What each helper has numbered, in order, since the search asked last.
    numbered: Vec<Vec<Event>>,
    closed: bool,
}

/// The helpers of a search.
pub(crate) struct Crew {
    board: Mutex<Board>,
    work: Condvar,
    results: Condvar,
}

impl Crew {
    fn lock(&self) -> MutexGuard<'_, Board> {
        // A helper that panicked is found out when its thread is joined.
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether helpers have nothing to do.
    pub(crate) fn is_idle(&self) -> bool {
        let board = self.lock();
        board.offers.len() < board.waiting && board.events < MOST_EVENTS
    }

    /// Puts up parts: at most so many, without those that are known. Whether there are any.
    pub(crate) fn offer(&self, parts: impl FnOnce(usize, &dyn Fn(&Schedule) -> bool) -> Vec<Part>) -> bool {
        let mut board = self.lock();
        let offers = parts(board.waiting, &|schedule| board.tasks.contains_key(schedule));
        board.offers = offers.into();
        self.work.notify_all();
        !board.offers.is_empty()
    }

    /// What was explored of the part that the schedule begins, if a helper has begun it. It stops there.
    pub(crate) fn claim(&self, schedule: &Schedule) -> Option<Explored> {
        let mut board = self.lock();
        board.offers.retain(|part| part.schedule != *schedule);
        if let Task::Begun(stop) = board.tasks.get(schedule)? {
            stop.store(true, Ordering::Relaxed);
        }
        while matches!(board.tasks.get(schedule), Some(Task::Begun(_))) {
            board = self.results.wait(board).unwrap_or_else(PoisonError::into_inner);
        }
        let Some(Task::Done(explored)) = board.tasks.remove(schedule) else { return None };
        let mut explored = *explored?;
        board.events -= explored.events();
        explored.numbered = std::mem::take(&mut board.numbered[explored.helper]);
        self.work.notify_all();
        Some(explored)
    }

    /// What a helper does until the search is over.
    fn help<E: Executor>(&self, executor: &mut E, mut helper: Helper) {
        let mut board = self.lock();
        while !board.closed {
            let next = if board.events < MOST_EVENTS { board.offers.pop_front() } else { None };
            let Some(part) = next else {
                board.waiting += 1;
                board = self.work.wait(board).unwrap_or_else(PoisonError::into_inner);
                board.waiting -= 1;
                continue;
            };
            let stop = Arc::new(AtomicBool::new(false));
            board.tasks.insert(part.schedule.clone(), Task::Begun(Arc::clone(&stop)));
            drop(board);
            let mut begun = Begun { crew: self, schedule: part.schedule.clone(), explored: None };
            begun.explored = helper.explore(executor, part, &stop).map(Box::new);
            drop(begun);
            board = self.lock();
        }
    }
}

/// A part that a helper has begun; done with when it is dropped, whatever happened.
struct Begun<'a> {
    crew: &'a Crew,
    schedule: Schedule,
    explored: Option<Box<Explored>>,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        let mut board = self.crew.lock();
        if let Some(explored) = &mut self.explored {
            board.events += explored.events();
            board.numbered[explored.helper].append(&mut explored.numbered);
        }
        board.tasks.insert(std::mem::take(&mut self.schedule), Task::Done(self.explored.take()));
        self.crew.results.notify_all();
    }
}

/// Sends the helpers home however the search ends.
struct Closing<'a>(&'a Crew);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let mut board = self.0.lock();
        board.closed = true;
        for task in board.tasks.values() {
            if let Task::Begun(stop) = task {
                stop.store(true, Ordering::Relaxed);
            }
        }
        drop(board);
        self.0.work.notify_all();
    }
}

/// Makes a search with helpers, one for each of these executors.
pub(crate) fn with_crew<E, T>(helpers: &mut [E], options: &Options, search: impl FnOnce(Option<&Crew>) -> T) -> T
where
    E: Executor + Send,
{
    if helpers.is_empty() || !options.can_be_split() {
        return search(None);
    }
    let board = Board { numbered: vec![Vec::new(); helpers.len()], ..Board::default() };
    let (board, work, results) = (Mutex::new(board), Condvar::new(), Condvar::new());
    let crew = Crew { board, work, results };
    std::thread::scope(|scope| {
        let _closing = Closing(&crew);
        for (number, executor) in helpers.iter_mut().enumerate() {
            let crew = &crew;
            scope.spawn(move || crew.help(executor, Helper::new(number, &options.choices)));
        }
        search(Some(&crew))
    })
}
