//! A search with helper processes: each helper has an executor of its own and explores [subtrees](crate::subtree) that
//! the search will reach later.
//!
//! When the search reaches a subtree that a helper has started, it adopts the result: a helper that is still running
//! stops after its current execution, and the search continues from there. The search explores every unassigned subtree
//! itself. Helpers get the subtrees the search reaches last, which are the largest, so most are finished when they are
//! needed and few are interrupted. Results are adopted in the order of a search without helpers, so the executions and
//! findings are the same for any number of helpers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use model::{Event, Executor, Schedule};

use crate::helper::{Explored, Helper};
use crate::options::Options;
use crate::parts::Part;

/// Limit on the events stored for subtrees that wait to be adopted.
const MOST_EVENTS: usize = 1 << 20;

/// The state of a subtree that a helper has taken.
enum Task {
    /// Set this flag to stop the helper.
    Begun(Arc<AtomicBool>),
    Done(Option<Box<Explored>>),
}

/// State shared by the search and its helpers.
#[derive(Default)]
struct Board {
    /// Subtrees that no helper has taken, the largest first.
    offers: VecDeque<Part>,
    /// Taken subtrees, by the schedules that enter them.
    tasks: BTreeMap<Schedule, Task>,
    /// Number of events stored for subtrees that wait to be adopted.
    events: usize,
    /// Number of idle helpers.
    waiting: usize,
    /// The events each helper has numbered since the search last asked, in order.
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
        // Joining the helper's thread reports its panic.
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether more work could be offered now.
    pub(crate) fn is_idle(&self) -> bool {
        let board = self.lock();
        board.offers.len() < board.waiting && board.events < MOST_EVENTS
    }

    /// Offers subtrees, without those already taken. Returns whether there are any.
    pub(crate) fn offer(&self, parts: impl FnOnce(usize, &dyn Fn(&Schedule) -> bool) -> Vec<Part>) -> bool {
        let mut board = self.lock();
        let offers = parts(board.waiting, &|schedule| board.tasks.contains_key(schedule));
        board.offers = offers.into();
        self.work.notify_all();
        !board.offers.is_empty()
    }

    /// Stops the helper that explores the subtree the schedule enters, if there is one, and returns what it explored.
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

    /// The main loop of a helper, until the search ends.
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

/// Marks a subtree as done when dropped, even if the helper panics.
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

/// Ends the helpers when dropped, however the search ends.
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

/// Runs a search with one helper for each of these executors.
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
