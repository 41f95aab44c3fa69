//! From C and C++ sources to a [`program::Program`] and an instrumented executable.
//!
//! The only crate that knows LLVM: it drives clang, reads and links bitcode, numbers functions and sites,
//! lowers the module to a `Program`, inserts the calls described in `docs/runtime-abi.md`, and builds the
//! executable. It knows neither engines nor verdicts.

mod architecture;
mod assembly;
pub mod debug;
mod driver;
mod emit;
mod error;
pub mod escape;
pub mod functions;
mod initialisers;
pub mod instrument;
pub mod intrinsics;
mod loops;
pub mod lower;
pub mod module;
mod names;
mod once;
mod openmp;
mod pointers;
pub mod sites;
pub mod value;
mod verifier;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use inkwell::context::Context;
use inkwell::module::Module;
use model::{Interrupt, SiteId};
use program::{Program, Unmodelled};

pub use architecture::Architecture;
pub use error::Error;

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
    /// The user's flags for the compiler and linker.
    pub cflags: Vec<String>,
    /// What it is compiled for.
    pub architecture: Architecture,
    /// External functions (by linker name) that the user says touch no shared memory.
    pub assume_pure: BTreeSet<String>,
    /// An existing or new folder for intermediate files.
    pub work_dir: PathBuf,
    /// For the recorder instead of the controlled runtime: the sites whose plain accesses need not be recorded.
    pub recorded_without: Option<BTreeSet<SiteId>>,
    /// Ends compilers that are at work; the error then is [`Error::Stopped`].
    pub stop: Interrupt,
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
    /// For the recorder: what its words mean.
    pub logged: Logged,
    /// Ends the compiler and the linker while [`link`] is at work.
    pub stop: Interrupt,
}

/// Compiles, lowers and instruments a program.
pub fn compile(options: &Options) -> Result<Compiled, Error> {
    let context = Context::create();
    let front = Front::new(&context, options)?;
    if front.module.get_function("main").is_none_or(|main| main.count_basic_blocks() == 0) {
        return Err(Error::NoMain);
    }
    let mut program = front.lower(options);
    let plan = Plan {
        functions: &front.functions,
        sites: &front.sites,
        privacy: &front.privacy,
        assume_pure: &options.assume_pure,
        recorded_without: options.recorded_without.as_ref(),
    };
    let Instrumented { mut unmodelled, logged } = instrument::instrument(&front.module, &plan)?;
    unmodelled.extend(front.doubts());
    merge(&mut program.unmodelled, &unmodelled);
    let bitcode = options.work_dir.join("instrumented.bc");
    create_dir(&options.work_dir)?;
    if !front.module.write_bitcode_to_path(&bitcode) {
        let cause = std::io::Error::other("LLVM could not write the file");
        return Err(Error::Io { what: format!("cannot write `{}`", bitcode.display()), cause });
    }
    let link_flags = front.flags.link;
    let stop = options.stop.clone();
    let program = Arc::new(program);
    let architecture = options.architecture;
    Ok(Compiled { program, unmodelled, bitcode, architecture, cplusplus: front.cplusplus, link_flags, logged, stop })
}

/// Links an instrumented program with the runtime's `archive`; `extra` are the arguments that the archive needs.
pub fn link(compiled: &Compiled, archive: &Path, extra: &[String], out: &Path) -> Result<(), Error> {
    emit::link(compiled, archive, extra, out)
}

/// Compiles and lowers sources without instrumenting them; they need not have a `main`.
pub fn lower_only(options: &Options) -> Result<Program, Error> {
    let context = Context::create();
    Ok(Front::new(&context, options)?.lower(options))
}

/// The sources as one module, with functions and sites numbered.
struct Front<'c> {
    module: Module<'c>,
    functions: Functions<'c>,
    privacy: Privacy<'c>,
    sites: Sites<'c>,
    flags: Flags,
    cplusplus: bool,
    /// Whether some input had been optimised before.
    optimized: bool,
    openmp: OpenMp,
}

impl<'c> Front<'c> {
    fn new(context: &'c Context, options: &Options) -> Result<Self, Error> {
        let mut flags = Flags::new(&options.cflags);
        let compiled = driver::compile(options, &flags)?;
        // OpenMP's library is part of the program, see `openmp`.
        flags.link.splice(0..0, compiled.link.into_iter().filter(|flag| !flag.starts_with("-fopenmp")));
        let module = module::load_all(context, &compiled.inputs, options.architecture)?;
        let units = debug::compile_units(&module);
        let optimized = units.iter().any(|unit| debug::is_optimized(*unit));
        let cplusplus = compiled.cplusplus || units.iter().any(|unit| debug::is_cplusplus(*unit));
        let openmp = openmp::complete(context, &module, options)?;
        once::complete(&module);
        verifier::complete(&module);
        initialisers::complete(&module);
        pointers::stand_in(&module);
        module::promote_locals(&module)?;
        let directory = std::env::current_dir()
            .map_err(|cause| Error::Io { what: "cannot find out the working directory".into(), cause })?;
        let spelling = Spelling::new(&directory, options.inputs.iter().map(PathBuf::as_path));
        let functions = Functions::number(&module);
        let privacy = Privacy::analyse(&module, &functions);
        let sites = Sites::assign(&functions, &privacy, spelling, openmp.used);
        Ok(Self { module, functions, privacy, sites, flags, cplusplus, optimized, openmp })
    }

    fn lower(&self, options: &Options) -> Program {
        let mut program = lower::lower(&self.module, &self.functions, &self.sites, &options.assume_pure);
        program.unmodelled.extend(self.doubts());
        program
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

/// Adds what instrumentation has no model for, where lowering has not said the same already.
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
