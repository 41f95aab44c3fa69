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
use crate::subtree::Subtree;

/// Limit on the events stored for subtrees that wait to be adopted.
const MOST_EVENTS: usize = 1 << 20;

/// The state of a subtree that a helper has taken.
enum Assignment {
    /// Set this flag to stop the helper.
    Started(Arc<AtomicBool>),
    Done(Option<Box<Explored>>),
}

/// State shared by the search and its helpers.
#[derive(Default)]
struct WorkQueue {
    /// Subtrees that no helper has taken, the largest first.
    offers: VecDeque<Subtree>,
    /// RunKind subtrees, by the schedules that enter them.
    assignments: BTreeMap<Schedule, Assignment>,
    /// Number of events stored for subtrees that wait to be adopted.
    events: usize,
    /// Number of idle helpers.
    waiting: usize,
    /// The events each helper has numbered since the search last asked, in order.
    numbered: Vec<Vec<Event>>,
    closed: bool,
}

/// The helpers of a search.
pub(crate) struct Helpers {
    queue: Mutex<WorkQueue>,
    work: Condvar,
    results: Condvar,
    /// Whether no shortcuts are taken any more.
    no_shortcuts: AtomicBool,
}

impl Helpers {
    fn lock(&self) -> MutexGuard<'_, WorkQueue> {
        // Joining the helper's thread reports its panic.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on, no shortcuts are taken. What helpers have explored with them is dropped.
    pub(crate) fn take_no_shortcuts(&self) {
        self.no_shortcuts.store(true, Ordering::Relaxed);
        let mut queue = self.lock();
        queue.offers.clear();
        for assignment in queue.assignments.values() {
            if let Assignment::Started(stop) = assignment {
                stop.store(true, Ordering::Relaxed);
            }
        }
        while queue.assignments.values().any(|assignment| matches!(assignment, Assignment::Started(_))) {
            queue = self.results.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        queue.assignments.clear();
        queue.numbered.iter_mut().for_each(Vec::clear);
        queue.events = 0;
    }

    /// Whether more work could be offered now.
    pub(crate) fn is_idle(&self) -> bool {
        let queue = self.lock();
        queue.offers.len() < queue.waiting && queue.events < MOST_EVENTS
    }

    /// Offers subtrees, without those already taken. Returns whether there are any.
    pub(crate) fn offer(&self, subtrees: impl FnOnce(usize, &dyn Fn(&Schedule) -> bool) -> Vec<Subtree>) -> bool {
        let mut queue = self.lock();
        let offers = subtrees(queue.waiting, &|schedule| queue.assignments.contains_key(schedule));
        queue.offers = offers.into();
        self.work.notify_all();
        !queue.offers.is_empty()
    }

    /// Stops the helper that explores the subtree the schedule enters, if there is one, and returns what it explored.
    pub(crate) fn claim(&self, schedule: &Schedule) -> Option<Explored> {
        let mut queue = self.lock();
        queue.offers.retain(|subtree| subtree.schedule != *schedule);
        if let Assignment::Started(stop) = queue.assignments.get(schedule)? {
            stop.store(true, Ordering::Relaxed);
        }
        while matches!(queue.assignments.get(schedule), Some(Assignment::Started(_))) {
            queue = self.results.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        let Some(Assignment::Done(explored)) = queue.assignments.remove(schedule) else { return None };
        let mut explored = *explored?;
        queue.events -= explored.events();
        explored.numbered = std::mem::take(&mut queue.numbered[explored.helper]);
        self.work.notify_all();
        Some(explored)
    }

    /// The main loop of a helper, until the search ends.
    fn help<E: Executor>(&self, executor: &mut E, mut helper: Helper) {
        let mut queue = self.lock();
        while !queue.closed {
            let next = if queue.events < MOST_EVENTS { queue.offers.pop_front() } else { None };
            let Some(subtree) = next else {
                queue.waiting += 1;
                queue = self.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
                queue.waiting -= 1;
                continue;
            };
            let stop = Arc::new(AtomicBool::new(false));
            queue.assignments.insert(subtree.schedule.clone(), Assignment::Started(Arc::clone(&stop)));
            drop(queue);
            if self.no_shortcuts.load(Ordering::Relaxed) {
                helper.take_no_shortcuts();
            }
            let mut guard = AssignmentGuard { helpers: self, schedule: subtree.schedule.clone(), explored: None };
            guard.explored = helper.explore(executor, subtree, &stop).map(Box::new);
            drop(guard);
            queue = self.lock();
        }
    }
}

/// Marks a subtree as done when dropped, even if the helper panics.
struct AssignmentGuard<'a> {
    helpers: &'a Helpers,
    schedule: Schedule,
    explored: Option<Box<Explored>>,
}

impl Drop for AssignmentGuard<'_> {
    fn drop(&mut self) {
        let mut queue = self.helpers.lock();
        if let Some(explored) = &mut self.explored {
            queue.events += explored.events();
            queue.numbered[explored.helper].append(&mut explored.numbered);
        }
        queue.assignments.insert(std::mem::take(&mut self.schedule), Assignment::Done(self.explored.take()));
        self.helpers.results.notify_all();
    }
}

/// Ends the helpers when dropped, however the search ends.
struct ShutdownGuard<'a>(&'a Helpers);

impl Drop for ShutdownGuard<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.closed = true;
        for assignment in queue.assignments.values() {
            if let Assignment::Started(stop) = assignment {
                stop.store(true, Ordering::Relaxed);
            }
        }
        drop(queue);
        self.0.work.notify_all();
    }
}

/// Runs a search with one helper for each of these executors.
pub(crate) fn with_helpers<E, T>(
    executors: &mut [E],
    options: &Options,
    search: impl FnOnce(Option<&Helpers>) -> T,
) -> T
where
    E: Executor + Send,
{
    if executors.is_empty() || !options.can_be_split() {
        return search(None);
    }
    let queue = WorkQueue { numbered: vec![Vec::new(); executors.len()], ..WorkQueue::default() };
    let (queue, work, results) = (Mutex::new(queue), Condvar::new(), Condvar::new());
    let helpers = Helpers { queue, work, results, no_shortcuts: AtomicBool::new(false) };
    std::thread::scope(|scope| {
        let _shutdown = ShutdownGuard(&helpers);
        for (number, executor) in executors.iter_mut().enumerate() {
            let helpers = &helpers;
            scope.spawn(move || helpers.help(executor, Helper::new(number, options)));
        }
        search(Some(&helpers))
    })
}
