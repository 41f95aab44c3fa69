//! The program a command is about: its text, its facts, its executable and the process that runs it, each made once.
//!
//! Most of the time until there is an executable goes into optimising and linking instrumented code. Engines that look at
//! the text alone do not wait for it: it happens in a thread of its own, and whoever wants to run the program waits then.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use cache::Dependencies;
use facts::Facts;
use files::ProgramIdentity;
use lockset::Specification;
use model::{Budget, Interrupt, Spent};
use program::{Program, Unmodelled};

use crate::build::{BuildOptions, Built, Sources, WhyNot};
use crate::run::{Limits, Running};
use crate::{Error, LOCK_PRESETS};

/// Polling interval while the linker runs.
const POLL: Duration = Duration::from_millis(2);

/// The program a command is about.
pub struct Subject {
    /// The program in the small language, as it was lowered.
    program: Arc<Program>,
    facts: Arc<Facts>,
    /// What files say of it, if it can run.
    identity: Option<ProgramIdentity>,
    /// What its runs do without showing it in a trace.
    unmodelled: Vec<Unmodelled>,
    /// What its text is made of, if that is known.
    made_of: Option<Dependencies>,
    executable: Executable,
    running: Option<Running>,
    budget: Budget,
    /// Ends the linker.
    stop: Interrupt,
}

/// The part of the time that a program's text may take if the program can also run.
const TEXT_SHARE: f64 = 0.5;

enum Executable {
    CannotRun(WhyNot),
    Linking(JoinHandle<Result<Built, Error>>),
    Built(Arc<Built>),
    /// The link error was already returned.
    Failed,
}

impl Subject {
    /// Compiles the program, while the budget lasts, and begins to link. The sources need no `main` and may be for any
    /// machine; they may be such that they cannot run.
    pub fn new(options: &BuildOptions, budget: &Budget) -> Result<Self, Error> {
        let stop = Interrupt::new();
        let mut known = (None, Vec::new());
        let sources = Sources::compile(options, budget)?;
        let made_of = sources.made_of().cloned();
        let (program, executable) = match sources.instrument(&Budget::unlimited(stop.clone()))? {
            Ok(unlinked) => {
                let program = Arc::clone(unlinked.program());
                known = (Some(unlinked.identity().clone()), unlinked.unmodelled().to_vec());
                (program, Executable::Linking(std::thread::spawn(|| unlinked.link())))
            }
            Err((sources, why)) => (Arc::new(sources.lower()?), Executable::CannotRun(why)),
        };
        let (identity, unmodelled) = known;
        let mut subject = Self::with(program, executable, options, budget, stop)?;
        (subject.identity, subject.unmodelled, subject.made_of) = (identity, unmodelled, made_of);
        Ok(subject)
    }

    /// Compiles a program that only its text is asked about. It may be for any machine, and is not made to run.
    pub fn text(options: &BuildOptions, budget: &Budget) -> Result<Self, Error> {
        let sources = Sources::compile(options, budget)?;
        let (made_of, program) = (sources.made_of().cloned(), Arc::new(sources.lower()?));
        let mut subject =
            Self::with(program, Executable::CannotRun(WhyNot::TextOnly), options, budget, Interrupt::new())?;
        subject.made_of = made_of;
        Ok(subject)
    }

    fn with(
        program: Arc<Program>,
        executable: Executable,
        options: &BuildOptions,
        budget: &Budget,
        stop: Interrupt,
    ) -> Result<Self, Error> {
        let text = with_lock_functions(&program, options)?;
        let fact_options =
            facts::Options { assume_pure: options.assume_pure.clone(), entries: entries(&text, options)? };
        // A program that can run is run, whatever its text costs.
        let can_run = !matches!(executable, Executable::CannotRun(_));
        let of_text = if can_run { budget.share(TEXT_SHARE) } else { budget.clone() };
        let facts = Arc::new(derive(text, fact_options, of_text));
        Ok(Self {
            program,
            facts,
            identity: None,
            unmodelled: Vec::new(),
            made_of: None,
            executable,
            running: None,
            budget: budget.clone(),
            stop,
        })
    }

    /// The program in the small language.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// What files say of it, if it can run.
    pub(crate) fn identity(&self) -> Option<&ProgramIdentity> {
        self.identity.as_ref()
    }

    /// What its runs do without showing it in a trace.
    pub(crate) fn unmodelled(&self) -> &[Unmodelled] {
        &self.unmodelled
    }

    /// What its text is made of, if that is known.
    pub(crate) fn made_of(&self) -> Option<&Dependencies> {
        self.made_of.as_ref()
    }

    /// What the command may use.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What holds of it in every run.
    pub(crate) fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }

    /// Whether engines that run it have something to run.
    pub(crate) fn can_run(&self) -> bool {
        self.why_not().is_none()
    }

    /// Why it does not run.
    pub(crate) fn why_not(&self) -> Option<&WhyNot> {
        if let Executable::CannotRun(why) = &self.executable { Some(why) } else { None }
    }

    /// The executable, as soon as it is there; `None` when there will be none, or when the budget is spent.
    pub(crate) fn built(&mut self) -> Result<Option<Arc<Built>>, Error> {
        while let Executable::Linking(linking) = &self.executable {
            if linking.is_finished() {
                let Executable::Linking(linking) = std::mem::replace(&mut self.executable, Executable::Failed) else {
                    break;
                };
                let built = linking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                self.executable = Executable::Built(Arc::new(built));
            } else if self.budget.is_spent() {
                return Ok(None);
            } else {
                std::thread::sleep(POLL);
            }
        }
        Ok(if let Executable::Built(built) = &self.executable { Some(Arc::clone(built)) } else { None })
    }

    /// The executable of a program that must run.
    pub(crate) fn must_run(&mut self) -> Result<Arc<Built>, Error> {
        if let Some(why) = self.why_not() {
            return Err(why.error());
        }
        self.built()?.ok_or_else(|| self.spent())
    }

    /// The error of a budget that was spent before the program could run.
    fn spent(&self) -> Error {
        Error::Llvm(llvm::Error::Spent(self.budget.spent().unwrap_or(Spent::Interrupt)))
    }

    /// The program under control, which must run.
    pub(crate) fn must_be_running(&mut self, limits: &Limits) -> Result<&mut Running, Error> {
        self.must_run()?;
        if self.running(limits)?.is_none() {
            return Err(self.spent());
        }
        self.running.as_mut().ok_or(Error::Llvm(llvm::Error::NoMain))
    }

    /// The program under control, launched when first asked for; `None` as for [`built`](Self::built).
    pub(crate) fn running(&mut self, limits: &Limits) -> Result<Option<&mut Running>, Error> {
        // One with teams of another size is of no use.
        self.running.take_if(|running| running.team_size != limits.team_size_of(&running.built));
        if self.running.is_none()
            && let Some(built) = self.built()?
        {
            self.running = Some(Running::launch(built, limits, &self.budget)?);
        }
        Ok(self.running.as_mut())
    }

    /// The program under control, if an engine has launched it.
    pub(crate) fn launched(&mut self) -> Option<&mut Running> {
        self.running.as_mut()
    }
}

/// What holds of a program in every run, derived on demand within a budget.
pub(crate) fn derive(program: Arc<Program>, options: facts::Options, budget: Budget) -> Facts {
    Facts::new(program, options, budget)
}

/// Builds a program that must run.
pub fn build(options: &BuildOptions, budget: &Budget) -> Result<Arc<Built>, Error> {
    Subject::new(options, budget)?.must_run()
}

/// Ends the linker; its files go with it.
impl Drop for Subject {
    fn drop(&mut self) {
        self.stop.set();
        if let Executable::Linking(linking) = std::mem::replace(&mut self.executable, Executable::Failed) {
            // Nobody needs its result any more.
            let _ = linking.join();
        }
    }
}

/// The program with the user's lock functions as lock operations.
fn with_lock_functions(program: &Arc<Program>, options: &BuildOptions) -> Result<Arc<Program>, Error> {
    let Some(path) = &options.locks else { return Ok(Arc::clone(program)) };
    let specification = if LOCK_PRESETS.contains(&path.as_str()) {
        Specification::linux()
    } else {
        let text = std::fs::read_to_string(path).map_err(|cause| Error::NoLocks { path: path.clone(), cause })?;
        Specification::parse(&text).map_err(|cause| Error::Locks { path: path.clone(), cause })?
    };
    let mut text = (**program).clone();
    specification.apply(&mut text);
    Ok(Arc::new(text))
}

/// The functions that any number of threads may run at any time.
fn entries(program: &Program, options: &BuildOptions) -> Result<Vec<program::FunctionId>, Error> {
    let find = |name: &String| {
        let defined = |f: &program::Function| !f.blocks.is_empty() && (f.symbol == *name || f.name == *name);
        let found = program.functions.iter_enumerated().find(|(_, f)| defined(f));
        found.map(|(id, _)| id).ok_or_else(|| Error::NoSuchEntry(name.clone()))
    };
    options.entries.iter().map(find).collect()
}
