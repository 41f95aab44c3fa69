//! The whole line: every engine in turn on what the ones before it left open, one ledger, one report.
//!
//! The engines work in the order of [`LINE`], cheap and general before dear and particular. Each gets only pairs that
//! are still open. What combines how:
//!
//! - A pair is `absent` in the scope of the engine that settled it; the report's scope is the narrowest of them.
//! - An engine that could not look at something (a call whose effect is not known, a spent budget) leaves pairs open.
//!   That is no obstacle to a later engine: a complete search settles everything that is left, for this input.
//! - What no engine settled is `unknown`, with what stopped the last one that tried.
//! - When no pair is left, the search only looks for other errors, within a small bound; that it was bounded takes
//!   nothing from the answer about races.
//! - Two engines that contradict each other are a bug of ours: the line stops and leaves a bundle to send. Unless the run
//!   that shows the race went astray before it ([`stray`]): then the race stands, and proofs are void.

mod book;
mod bundle;
mod foresee;
mod inspect;
mod prove;
mod search;
mod stray;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ::explore::Observer;
use model::verdict::{Inputs, Memory, Scope, Threads};
use model::{Engine, Interrupt};
use report::Report;

use crate::build::BuildOptions;
use crate::run::Limits;
use crate::subject::Subject;
use crate::{Error, ProofOptions, is_small_language, verify_small_language};

use book::Book;

/// The engines in the order in which they work.
pub const LINE: [Engine; 4] = [Engine::Static, Engine::Verify, Engine::Predict, Engine::Explore];

/// How much to try.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Effort {
    /// A few seconds, for editors and before commits.
    Quick,
    /// A minute.
    #[default]
    Normal,
    /// An hour.
    Thorough,
}

impl Effort {
    /// The time for everything but building.
    pub fn time(self) -> Duration {
        Duration::from_secs(match self {
            Self::Quick => 5,
            Self::Normal => 60,
            Self::Thorough => 3_600,
        })
    }

    /// Executions for other errors once no pair is left open.
    fn executions_for_other_errors(self) -> Option<u64> {
        match self {
            Self::Quick => None,
            Self::Normal => Some(2_000),
            Self::Thorough => Some(1_000_000),
        }
    }
}

/// What to check and how far.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// The program and its input.
    pub build: BuildOptions,
    /// The engines that may work, in any order.
    pub engines: Vec<Engine>,
    /// How much to try.
    pub effort: Effort,
    /// Most time for everything but building.
    pub time: Duration,
    /// How runs are kept apart and how long each may be.
    pub limits: Limits,
    /// Processes that run the program at once. They change nothing but the time.
    pub jobs: usize,
    /// Where witness files go; created when there is something to write.
    pub witness_dir: PathBuf,
    /// Where the bundle of a contradiction goes.
    pub bundle_dir: PathBuf,
    /// Set when the user wants to stop and see what is known.
    pub interrupt: Interrupt,
}

impl CheckOptions {
    /// When there is no time left.
    fn deadline(&self, start: Instant) -> Instant {
        start + self.time
    }
}

/// Gets told how far the line has come.
pub trait Watcher: Observer {
    /// An engine starts to work on the pairs that are open.
    fn engine(&mut self, engine: Engine, open: usize) {
        let _ = (engine, open);
    }
    /// Pairs were settled: so many are open, so many race.
    fn settled(&mut self, open: usize, races: usize) {
        let _ = (open, races);
    }
}

/// Watches nothing.
impl Watcher for () {}

/// What a search's answers cover.
fn this_input() -> Scope {
    Scope { inputs: Inputs::This, threads: Threads::These, bounded: false, memory: Memory::Sc }
}

/// Runs the whole line.
pub fn check(options: &CheckOptions, watcher: &mut dyn Watcher) -> Result<Report, Error> {
    let whole = Instant::now();
    if let [input] = options.build.inputs.as_slice()
        && is_small_language(input)
    {
        let proofs = ProofOptions { time: Some(options.time), ..ProofOptions::default() };
        return Ok(Report { command: "check".to_owned(), ..verify_small_language(input, &proofs)? });
    }
    let mut subject = match Subject::new(&options.build, &options.interrupt) {
        Err(_) if options.interrupt.is_set() => return Ok(book::nothing_known(options, whole.elapsed())),
        subject => subject?,
    };
    let program = subject.program();
    let mut book = Book::new(&program, options);
    match work(&mut subject, &mut book, options, watcher) {
        // The linker, or the program, may have been stopped by the same key.
        Err(error) if options.interrupt.is_set() && !matches!(error, Error::Contradiction(_)) => {
            Ok(book.report(options, whole.elapsed()))
        }
        Err(Error::Contradiction(contradiction)) => {
            let folder = bundle::write(options, &book, &contradiction)?;
            Err(Error::ContradictionBundled { contradiction, folder })
        }
        Err(error) => Err(error),
        Ok(()) => Ok(book.report(options, whole.elapsed())),
    }
}

/// Lets every engine work on what is open.
fn work(
    subject: &mut Subject,
    book: &mut Book<'_>,
    options: &CheckOptions,
    watcher: &mut dyn Watcher,
) -> Result<(), Error> {
    let start = Instant::now();
    for engine in LINE.into_iter().filter(|engine| options.engines.contains(engine)) {
        if options.interrupt.is_set() {
            break;
        }
        watcher.engine(engine, book.open());
        match engine {
            Engine::Static => inspect::inspect(book, options, start)?,
            Engine::Verify => prove::prove(book, options, start)?,
            Engine::Predict => {
                if let Some(built) = subject.built(&options.interrupt)? {
                    foresee::foresee(book, built, options, start)?;
                }
            }
            Engine::Explore => {
                if let Some(built) = subject.built(&options.interrupt)? {
                    search::search(book, built, options, start, watcher)?;
                }
            }
        }
        watcher.settled(book.open(), book.races());
    }
    Ok(())
}
