//! From C and C++ sources to a [`program::Program`] and an instrumented executable.
//!
//! The only crate that knows LLVM: it drives clang, reads and links bitcode, numbers functions and sites,
//! lowers the module to a `Program`, inserts the calls described in `docs/runtime-abi.md`, and builds the
//! executable. It knows neither engines nor verdicts.

#![warn(clippy::undocumented_unsafe_blocks)]

mod architecture;
mod assembly;
mod debug;
mod driver;
mod emit;
mod error;
mod escape;
mod functions;
mod headers;
mod included;
mod initialisers;
pub mod instrument;
mod intrinsics;
mod ir;
mod kept;
mod lanes;
mod loops;
mod lower;
mod members;
mod module;
mod names;
mod once;
mod openmp;
mod pointers;
mod process;
mod selection;
mod sites;
mod spins;
mod system_calls;
mod unwritten;
mod verifier;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cache::{Cache, Dependencies};
use inkwell::context::Context;
use inkwell::module::Module;
use model::{Budget, SiteId};
use program::{Program, Unmodelled};

pub use architecture::Architecture;
pub use error::{BuildStep, Error, Stage};

use driver::Flags;
use escape::Privacy;
use functions::Functions;
use instrument::{Instrumented, Logged, Plan};
use openmp::OpenMp;
use sites::{Sites, Spelling};

pub use cc::LLVM_VERSION;

/// What to compile, and how.
#[derive(Clone, Default, Debug)]
pub struct Options {
    /// C and C++ sources, `.bc` and `.ll` files, as the user spelled them.
    pub inputs: Vec<PathBuf>,
    /// Which executable of a compilation database, if it has several.
    pub executable: Option<String>,
    /// The user's flags for the compiler and linker.
    pub cflags: Vec<String>,
    /// What it is compiled for.
    pub architecture: Architecture,
    /// External functions, by linker name or as the source names them, that the user says touch no shared memory.
    pub assume_pure: BTreeSet<String>,
    /// An existing or new folder for intermediate files.
    pub work_dir: PathBuf,
    /// Ends compilers that run when it is spent; the error then is [`Error::Spent`].
    pub budget: Budget,
    /// Where bitcode is kept that was compiled before.
    pub cache: Option<Arc<Cache>>,
}

/// A program ready to be linked with the runtime.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program; its sites are those that the instrumented code reports.
    pub program: Arc<Program>,
    /// What a run of the instrumented program does not report; all of it is in `program.unmodelled` too, together
    /// with what only lowering cannot express.
    pub unmodelled: Vec<Unmodelled>,
    /// The instrumented module.
    pub bitcode: PathBuf,
    /// What it was compiled for.
    pub architecture: Architecture,
    /// Whether C++ is among the sources, so that the C++ library is needed.
    pub cplusplus: bool,
    /// The user's flags for the linker.
    pub link_flags: Vec<String>,
    /// What the program has that its runs show in one way only.
    pub features: Features,
    /// For the recorder: what its words mean.
    pub logged: Logged,
    /// Ends the compiler and the linker of [`link`] when it is spent.
    pub budget: Budget,
}

/// What a program has that its runs show in one way only.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Features {
    /// Loops whose iterations may be executed in lanes (`omp simd`), a limited number of them together.
    pub limited_lanes: bool,
    /// Compare-exchanges that may fail although the values are equal.
    pub weak_exchange: bool,
    /// Some local in a register is read that may never have been written.
    pub unwritten: bool,
    /// Teams of OpenMP whose number of threads the program leaves open.
    pub open_teams: bool,
    /// Loops of the C++ library that try again until they get what they want.
    pub retries: bool,
}

impl Features {
    fn of(module: ir::Module<'_>, openmp: &OpenMp) -> Self {
        let instructions = || module.functions().into_iter().flat_map(|function| function.instructions());
        Self {
            limited_lanes: lanes::has_limited(module),
            weak_exchange: instructions().any(|i| i.is_weak()),
            unwritten: instructions().any(unwritten::is_value),
            open_teams: openmp.open_teams,
            retries: module.functions().into_iter().any(instrument::tries_again),
        }
    }
}

/// What a program is instrumented for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Instrumentation {
    /// The runtime that controls its threads.
    Controlled,
    /// The recorder of real threads.
    Recorded {
        /// Sites whose plain accesses need not be recorded.
        without: BTreeSet<SiteId>,
        /// Where the instrumented module goes.
        folder: PathBuf,
    },
}

/// The inputs of a program as bitcode: its sources are compiled once, whatever is made of them.
#[derive(Debug)]
pub struct Units {
    options: Options,
    flags: Flags,
    compiled: driver::Compiled,
}

impl Units {
    /// Compiles the sources among the inputs.
    pub fn new(options: &Options) -> Result<Self, Error> {
        let flags = Flags::new(&options.cflags);
        let compiled = driver::compile(options, &flags)?;
        Ok(Self { options: options.clone(), flags, compiled })
    }

    /// What the inputs are made of, if that is known; only where there is a cache.
    pub fn made_of(&self) -> Option<&Dependencies> {
        self.compiled.made_of.as_ref()
    }

    /// Lowers the program without instrumenting it; it needs no `main` and may be for any machine.
    pub fn lower(&self) -> Result<Program, Error> {
        let context = Context::create();
        let sources = Sources::load(&context, self, None)?;
        Ok(Numbered::new(&sources, &self.options)?.lower(&self.options))
    }

    /// The files with the bitcode of the inputs.
    pub fn bitcode(&self) -> impl Iterator<Item = &Path> {
        self.compiled.inputs.iter().map(|input| input.bitcode.as_path())
    }

    /// Arguments for the linker, besides what an archive of ours needs.
    pub fn linked_with(&self) -> impl Iterator<Item = &String> {
        self.compiled.link.iter().chain(&self.flags.link)
    }

    /// Lowers and instruments the program. The budget is for what is done from now on.
    pub fn instrument(&self, what_for: &Instrumentation, budget: &Budget) -> Result<Compiled, Error> {
        self.instrument_as(|_| what_for.clone(), budget)
    }

    /// The same for what is decided when the program is lowered.
    pub fn instrument_as(
        &self,
        what_for: impl FnOnce(&Arc<Program>) -> Instrumentation,
        budget: &Budget,
    ) -> Result<Compiled, Error> {
        let Options { assume_pure, work_dir, architecture, .. } = &self.options;
        let context = Context::create();
        let sources = Sources::load(&context, self, Some(*architecture))?;
        if ir::Module::of(&sources.module).function("main").is_none_or(|main| main.is_declaration()) {
            return Err(Error::NoMain);
        }
        let numbered = Numbered::new(&sources, &self.options)?;
        let assume_pure = &numbered.symbols(assume_pure);
        let mut program = Arc::new(numbered.lower(&self.options));
        let what_for = what_for(&program);
        let (recorded_without, folder) = match &what_for {
            Instrumentation::Controlled => (None, work_dir),
            Instrumentation::Recorded { without, folder } => (Some(without), folder),
        };
        let plan = Plan {
            functions: &numbered.functions,
            sites: &numbered.sites,
            privacy: &numbered.privacy,
            assume_pure,
            recorded_without,
        };
        let Instrumented { mut unmodelled, logged } = instrument::instrument(&sources.module, &plan)?;
        unmodelled.extend(sources.doubts());
        merge(&mut Arc::make_mut(&mut program).unmodelled, &unmodelled);
        let bitcode = folder.join("instrumented.bc");
        create_dir(folder)?;
        // LLVM would end the process where the disk is full.
        std::fs::write(&bitcode, sources.module.write_bitcode_to_memory().as_slice())
            .map_err(|cause| Error::Io { what: format!("cannot write `{}`", bitcode.display()), cause })?;
        Ok(Compiled {
            program,
            unmodelled,
            bitcode,
            architecture: *architecture,
            cplusplus: sources.cplusplus,
            link_flags: sources.link.into_iter().chain(sources.openmp.link_flags()).collect(),
            features: sources.features,
            logged,
            budget: budget.clone(),
        })
    }
}

/// Compiles, lowers and instruments a program for the controlled runtime.
pub fn compile(options: &Options) -> Result<Compiled, Error> {
    Units::new(options)?.instrument(&Instrumentation::Controlled, &options.budget)
}

impl Compiled {
    /// Where its machine code goes.
    pub fn object(&self) -> PathBuf {
        self.bitcode.with_extension("o")
    }

    /// All that its machine code depends on besides its bitcode.
    pub fn code_flags(&self) -> String {
        format!("clang {LLVM_VERSION} {:?} {}", self.architecture, emit::FLAGS.join(" "))
    }
}

/// Makes machine code of an instrumented program; of a large program, this takes most of the time until it runs.
pub fn generate(compiled: &Compiled) -> Result<PathBuf, Error> {
    emit::generate(compiled)
}

/// Links the machine code of a program with the runtime's `archive`; `extra` are the arguments that the archive needs.
pub fn link_object(
    compiled: &Compiled,
    object: &Path,
    archive: &Path,
    extra: &[String],
    out: &Path,
) -> Result<(), Error> {
    emit::link(compiled, object, archive, extra, out)
}

/// The files that the linker read for an executable that was linked here. `None` if it did not say.
pub fn linked_files(executable: &Path) -> Option<Vec<PathBuf>> {
    emit::linked_files(executable)
}

/// Makes machine code of an instrumented program and links it.
pub fn link(compiled: &Compiled, archive: &Path, extra: &[String], out: &Path) -> Result<(), Error> {
    link_object(compiled, &generate(compiled)?, archive, extra, out)
}

/// The source's name for a linker symbol, without parameters: `Queue::push`.
pub fn source_name_of(symbol: &str) -> String {
    functions::demangle(symbol)
}

/// Compiles and lowers sources without instrumenting them; they need not have a `main`.
pub fn lower_only(options: &Options) -> Result<Program, Error> {
    Units::new(options)?.lower()
}

/// The sources as one module that is complete: with what it needs of libraries, and locals in registers.
struct Sources<'c> {
    module: Module<'c>,
    /// Arguments for the linker.
    link: Vec<String>,
    cplusplus: bool,
    /// Whether some input had been optimised before.
    optimized: bool,
    openmp: OpenMp,
    features: Features,
}

impl<'c> Sources<'c> {
    /// Those of a program that is to run on an architecture, or of one for any machine.
    fn load(
        context: &'c Context,
        Units { options, flags, compiled }: &Units,
        runs_on: Option<Architecture>,
    ) -> Result<Self, Error> {
        // OpenMP's library is part of the program, see `openmp`.
        let linked_with = compiled.link.iter().filter(|flag| !flag.starts_with("-fopenmp"));
        let link = linked_with.chain(&flags.link).cloned().collect();
        let module = module::load_all(context, &compiled.inputs, runs_on)?;
        let units = ir::Module::of(&module).compile_units();
        let optimized = units.iter().any(|unit| debug::is_optimized(*unit));
        let cplusplus = compiled.cplusplus || units.iter().any(|unit| debug::is_cplusplus(*unit));
        let openmp = openmp::complete(context, &module, &compiled.dropped, options)?;
        let handle = ir::Module::of(&module);
        once::complete(handle);
        verifier::complete(handle);
        initialisers::complete(handle);
        pointers::stand_in(handle);
        unwritten::complete(handle);
        spins::shorten(&module);
        headers::dissolve(&module)?;
        lanes::mark(handle);
        let features = Features::of(handle, &openmp);
        module::promote_locals(&module)?;
        options.budget.spent().map_or(Ok(()), |spent| Err(Error::Spent(spent)))?;
        Ok(Self { module, link, cplusplus, optimized, openmp, features })
    }

    /// What is not as the sources say, in the program as a whole.
    fn doubts(&self) -> Vec<Unmodelled> {
        const OPTIMIZED: &str = "an input was optimised when it was compiled: accesses may have been merged or removed";
        const TASKS: &str = "OpenMP tasks have thread-private variables of their own here, not those of the thread that would execute them";
        let doubts = [(self.optimized, OPTIMIZED), (self.openmp.private_tasks, TASKS)];
        let whole = |what: &str| Unmodelled { site: None, what: what.into(), function: None };
        doubts.into_iter().filter(|(holds, _)| *holds).map(|(_, what)| whole(what)).collect()
    }
}

/// A module with its functions and sites numbered.
struct Numbered<'s, 'c> {
    sources: &'s Sources<'c>,
    functions: Functions<'s>,
    privacy: Privacy<'s>,
    sites: Sites<'s>,
}

impl<'s, 'c> Numbered<'s, 'c> {
    fn new(sources: &'s Sources<'c>, options: &Options) -> Result<Self, Error> {
        let directory = std::env::current_dir()
            .map_err(|cause| Error::Io { what: "cannot find out the working directory".into(), cause })?;
        let spelling = Spelling::new(&directory, options.inputs.iter().map(PathBuf::as_path));
        let module = ir::Module::of(&sources.module);
        let functions = Functions::number(module);
        let privacy = Privacy::analyse(module, &functions);
        let sites = Sites::assign(&functions, &privacy, spelling, sources.openmp.used);
        Ok(Self { sources, functions, privacy, sites })
    }

    /// These functions by linker names, where some are named as in the source.
    fn symbols(&self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let is_named = |symbol: &String| names.contains(&functions::demangle(symbol));
        let symbols = self.functions.table.iter().map(|function| function.name());
        names.iter().cloned().chain(symbols.filter(|symbol| !names.is_empty() && is_named(symbol))).collect()
    }

    fn lower(&self, options: &Options) -> Program {
        let module = ir::Module::of(&self.sources.module);
        let assume_pure = self.symbols(&options.assume_pure);
        let mut program = lower::lower(module, &self.functions, &self.sites, &assume_pure);
        program.unmodelled.extend(self.sources.doubts());
        program
    }
}

/// Adds what instrumentation has no model for, unless lowering has already listed it.
fn merge(known: &mut Vec<Unmodelled>, more: &[Unmodelled]) {
    for entry in more {
        let same_place = |k: &&Unmodelled| k.site == entry.site && k.function == entry.function;
        let same = |k: &Unmodelled| entry.site.is_some() || entry.function.is_some() || k.what == entry.what;
        if !known.iter().filter(same_place).any(same) {
            known.push(entry.clone());
        }
    }
}

fn create_dir(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path)
        .map_err(|cause| Error::Io { what: format!("cannot create `{}`", path.display()), cause })
}
