//! The promise about limits: a report comes in time, whatever an engine is doing.
//!
//! Engines ask their budget and stop by themselves, with all they have. One that does not come to ask is left where it is:
//! a second thread prints what was known when the last engine had finished, and ends the process.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use check::Request;
use launch::Scratch;
use model::{Budget, Spent};
use report::Report;
use report::suppress::Known;

use crate::commands::flags::ReportFlags;
use crate::failure::Failure;
use crate::progress::Line;

/// How long after the end of its budget a command may still be at work. Its report takes part of it.
const LATE: Duration = Duration::from_millis(1_400);

/// The same after an interrupt.
const HASTY: Duration = Duration::from_millis(750);

/// Time between two looks.
const INTERVAL: Duration = Duration::from_millis(25);

/// What is known so far, written after each engine.
pub(crate) type SoFar = Arc<Mutex<Option<Report>>>;

/// Whose turn it is to speak: the first who asks gets it.
#[derive(Clone, Default)]
struct Turn(Arc<AtomicBool>);

impl Turn {
    fn take(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }

    fn is_taken(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Carries out a request and shows the report, in time.
pub(crate) fn carry_out(
    request: &Request,
    flags: &ReportFlags,
    known: Known,
    work: impl FnOnce(&Request, &mut Line) -> Result<Report, Failure>,
) -> Result<ExitCode, Failure> {
    let (turn, so_far) = (Turn::default(), SoFar::default());
    let watch = Watch {
        turn: turn.clone(),
        so_far: Arc::clone(&so_far),
        request: request.clone(),
        flags: flags.clone(),
        known: known.clone(),
        start: Instant::now(),
    };
    std::thread::spawn(move || watch.until_late());
    let mut line = Line::new(&request.budget, so_far, flags.shows_progress());
    let result = work(request, &mut line);
    drop(line);
    while !turn.take() {
        // The other thread speaks, and ends the process.
        std::thread::park();
    }
    flags.show(result?, known)
}

/// The second thread.
struct Watch {
    turn: Turn,
    so_far: SoFar,
    request: Request,
    flags: ReportFlags,
    known: Known,
    start: Instant,
}

impl Watch {
    fn until_late(self) {
        let budget = &self.request.budget;
        let (late, hasty) = (budget.with_grace(LATE), budget.with_grace(HASTY));
        loop {
            std::thread::sleep(INTERVAL);
            if self.turn.is_taken() {
                return;
            }
            let interrupted = hasty.spent() == Some(Spent::Interrupt);
            if interrupted || late.is_spent() || is_overfull(budget) {
                break;
            }
        }
        if self.turn.take() {
            let spent = self.request.budget.spent().unwrap_or(Spent::Time);
            let known = self.so_far.lock().unwrap_or_else(PoisonError::into_inner).take();
            let report = check::cut_short(&self.request, known, spent, self.start);
            let status = self.flags.show_report(report, self.known).unwrap_or_else(|failure| {
                failure.report();
                2
            });
            end(status.into());
        }
    }
}

/// Whether memory is used far beyond its limit.
fn is_overfull(budget: &Budget) -> bool {
    let limit = budget.memory().filter(|_| budget.spent() == Some(Spent::Memory));
    limit.is_some_and(|limit| launch::memory::used_by(std::process::id()) > limit.saturating_add(limit / 4))
}

/// Ends the process at once, with all it started. Destructors do not run, but what lies about is removed.
pub(crate) fn end(status: i32) -> ! {
    Scratch::remove_all();
    std::process::exit(status)
}
