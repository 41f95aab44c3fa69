//! The program under test while it is being made: its text can be judged before it can run.
//!
//! Most of the time until there is an executable goes into optimising and linking instrumented code. Engines that look at
//! the text alone need not wait for it: it happens in a thread of its own, and whoever wants to run the program waits then.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use model::{Budget, Interrupt};
use program::Program;

use crate::Error;
use crate::build::{BuildOptions, Built, Unlinked, lower_until};

/// How often a linker at work is looked after.
const LOOK: Duration = Duration::from_millis(2);

/// The program, and how far it is.
pub(crate) struct Subject {
    program: Arc<Program>,
    state: State,
    /// Ends the linker.
    stop: Interrupt,
}

enum State {
    /// The sources define no `main`.
    CannotRun,
    Linking(JoinHandle<Result<Built, Error>>),
    Built(Box<Built>),
    /// Its failure was told.
    Failed,
}

impl Subject {
    /// Compiles, until it is interrupted, and begins to link. The sources need no `main`; without one they cannot run.
    pub(crate) fn new(options: &BuildOptions, interrupt: &Interrupt) -> Result<Self, Error> {
        let stop = Interrupt::new();
        match Unlinked::new(options, interrupt) {
            Ok(mut unlinked) => {
                unlinked.compiled.budget = Budget::unlimited(stop.clone());
                let program = Arc::clone(&unlinked.compiled.program);
                Ok(Self { program, state: State::Linking(std::thread::spawn(|| unlinked.link())), stop })
            }
            Err(Error::Llvm(llvm::Error::NoMain)) => {
                Ok(Self { program: Arc::new(lower_until(options, interrupt)?), state: State::CannotRun, stop })
            }
            Err(error) => Err(error),
        }
    }

    /// The program in the small language.
    pub(crate) fn program(&self) -> Arc<Program> {
        Arc::clone(&self.program)
    }

    /// The executable, as soon as it is there; `None` when there will be none, or when it is interrupted.
    pub(crate) fn built(&mut self, interrupt: &Interrupt) -> Result<Option<&Built>, Error> {
        while let State::Linking(linking) = &self.state {
            if linking.is_finished() {
                let State::Linking(linking) = std::mem::replace(&mut self.state, State::Failed) else { break };
                let built = linking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                self.state = State::Built(Box::new(built));
            } else if interrupt.is_set() {
                return Ok(None);
            } else {
                std::thread::sleep(LOOK);
            }
        }
        Ok(if let State::Built(built) = &self.state { Some(built) } else { None })
    }
}

/// Nobody waits for the linker any longer. Its files go with it.
impl Drop for Subject {
    fn drop(&mut self) {
        self.stop.set();
        if let State::Linking(linking) = std::mem::replace(&mut self.state, State::Failed) {
            // Whatever it says, nobody asks any more.
            let _ = linking.join();
        }
    }
}
