//! From sources to an instrumented executable.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cache::{Cache, Dependencies};
use exec::{Config, Target};
use files::ProgramIdentity;
use files::hash;
use launch::Scratch;
use llvm::instrument::Logged;
use llvm::{Architecture, Instrumentation};
use model::{Budget, SiteId};
use program::{Program, Unmodelled};
use remote::Machine;

use crate::given::Given;
use crate::{Error, objects};

/// The program and its input.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BuildOptions {
    /// Sources or bitcode, as the user spelled them.
    pub inputs: Vec<String>,
    /// Which executable of a compilation database, if it has several.
    pub executable: Option<String>,
    /// Extra compiler flags.
    pub cflags: Vec<String>,
    /// External functions assumed to touch no shared memory.
    pub assume_pure: BTreeSet<String>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// Where it runs, if not in the current folder.
    pub folder: Option<String>,
    /// Variables of its environment that are set, or removed where there is no value.
    pub variables: BTreeMap<String, Option<String>>,
    /// A file to give it as standard input.
    pub stdin: Option<String>,
    /// A script for its peers.
    pub peers: Option<String>,
    /// The machine that it runs on, if not this one.
    pub machine: Option<Machine>,
    /// Functions that any number of threads may run at any time, for code without `main`.
    pub entries: Vec<String>,
    /// A specification of lock functions: a preset or a file.
    pub locks: Option<String>,
    /// Where executables are kept that were built before.
    pub cache: Option<PathBuf>,
}

/// Specifications of lock functions that need no file.
pub const LOCK_PRESETS: [&str; 1] = ["linux"];

/// An instrumented program, ready to run. Its files are deleted with it.
#[derive(Debug)]
pub struct Built {
    /// The program in the small language, with its sites.
    pub program: Arc<Program>,
    /// What its runs do without showing it in a trace.
    pub unmodelled: Vec<Unmodelled>,
    /// What it has that its runs show in one way only.
    pub features: llvm::Features,
    /// What witness files say of it.
    pub identity: ProgramIdentity,
    /// What it is given from outside.
    pub(crate) given: Given,
    /// The machine that it runs on, if not this one.
    pub(crate) machine: Option<Machine>,
    /// What its child processes did, for all that is done with it.
    pub(crate) children: exec::Children,
    /// What its runs look at outside, for all that is done with it.
    pub(crate) opened: exec::Opened,
    /// Its inputs as bitcode.
    units: llvm::Units,
    folder: Scratch,
    /// Where machine code is kept that was made before.
    cache: Option<PathBuf>,
}

impl Built {
    /// The executable.
    pub fn executable(&self) -> PathBuf {
        self.folder().join("program")
    }

    /// Starts it where it runs.
    pub(crate) fn launch(&self, config: Config) -> Result<Target, exec::Error> {
        match &self.machine {
            None => Target::launch(&self.executable(), config),
            Some(machine) => remote::launch(machine, &self.executable(), config),
        }
    }

    /// The files that the linker read, but for ours. `None` if it did not say.
    pub(crate) fn linked_with(&self) -> Option<Vec<PathBuf>> {
        let files = llvm::linked_files(&self.executable())?;
        Some(files.into_iter().filter(|file| !file.starts_with(self.folder())).collect())
    }

    /// Its name: the first input's, without folder and extension.
    pub(crate) fn name(&self) -> String {
        name_of(&self.identity.inputs, self.identity.executable.as_deref())
    }

    /// The program again, for the recorder: the executable, and what its words mean. Its sources are not compiled again.
    /// Plain accesses of the sites in `without` are not recorded.
    pub(crate) fn build_recorder(
        &self,
        without: BTreeSet<SiteId>,
        budget: &Budget,
    ) -> Result<(PathBuf, Logged), Error> {
        let folder = self.folder().join("recorder");
        std::fs::create_dir_all(&folder).map_err(Error::WorkFolder)?;
        let recorded = Instrumentation::Recorded { without, folder: folder.clone() };
        let compiled = self.units.instrument(&recorded, budget)?;
        let executable = folder.join("program");
        let object = objects::of(&compiled, self.cache.as_deref())?;
        link(&compiled, &object, archives::recorder_archive(), &folder.join("librecorder.a"), &executable)?;
        Ok((executable, compiled.logged))
    }

    /// The folder it is in, for further files of its runs.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// The name of a program: that of the executable in a compilation database, else the first input's, without folder and
/// extension.
pub(crate) fn name_of(inputs: &[String], executable: Option<&str>) -> String {
    let chosen = executable.or(inputs.first().map(String::as_str));
    let first = chosen.map(Path::new).and_then(Path::file_stem);
    first.map_or_else(|| "program".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// What a file says of the program it was made with, so that it can be built again.
impl From<&ProgramIdentity> for BuildOptions {
    fn from(program: &ProgramIdentity) -> Self {
        Self {
            inputs: program.inputs.clone(),
            executable: program.executable.clone(),
            folder: program.folder.clone(),
            variables: program.variables.clone(),
            cflags: program.cflags.clone(),
            assume_pure: program.assume_pure.iter().cloned().collect(),
            args: program.args.clone(),
            stdin: program.stdin.clone(),
            peers: program.peers.clone(),
            ..Self::default()
        }
    }
}

impl BuildOptions {
    fn compiler_options(&self, folder: &Path, budget: &Budget) -> Result<llvm::Options, Error> {
        Ok(llvm::Options {
            architecture: self.architecture()?,
            inputs: self.inputs.iter().map(PathBuf::from).collect(),
            executable: self.executable.clone(),
            cflags: self.cflags.clone(),
            assume_pure: self.assume_pure.clone(),
            work_dir: folder.to_owned(),
            budget: budget.clone(),
            cache: self.cache.as_deref().and_then(Cache::open).map(Arc::new),
        })
    }

    /// What files say of the program with this hash.
    pub(crate) fn identity(&self, hash: String, given: &Given) -> ProgramIdentity {
        ProgramIdentity {
            hash,
            stdin_hash: given.stdin.as_deref().map(files::hash),
            peers_hash: given.peers_hash(),
            inputs: self.inputs.clone(),
            executable: self.executable.clone(),
            folder: self.folder.clone(),
            variables: self.variables.clone(),
            cflags: self.cflags.clone(),
            assume_pure: self.assume_pure.iter().cloned().collect(),
            args: self.args.clone(),
            stdin: self.stdin.clone(),
            peers: self.peers.clone(),
        }
    }

    /// What it is compiled for.
    fn architecture(&self) -> Result<Architecture, Error> {
        let Some(machine) = &self.machine else { return Ok(Architecture::default()) };
        Architecture::named(machine.architecture()).ok_or_else(|| Error::Architecture {
            address: machine.address().to_owned(),
            architecture: machine.architecture().to_owned(),
        })
    }
}

/// A program whose sources are compiled.
pub(crate) struct Sources {
    options: BuildOptions,
    folder: Scratch,
    units: llvm::Units,
    given: Given,
}

impl Sources {
    /// Compiles them, while the budget lasts.
    pub(crate) fn compile(options: &BuildOptions, budget: &Budget) -> Result<Self, Error> {
        let folder = Scratch::new("").map_err(Error::WorkFolder)?;
        let units = llvm::Units::new(&options.compiler_options(folder.path(), budget)?)?;
        Ok(Self { options: options.clone(), folder, units, given: Given::read(options)? })
    }

    /// What they are made of, if that is known.
    pub(crate) fn made_of(&self) -> Option<&Dependencies> {
        self.units.made_of()
    }

    /// A hash of all that what is made of the sources depends on.
    pub(crate) fn content(&self) -> Result<String, Error> {
        let BuildOptions { assume_pure, .. } = &self.options;
        let mut parts = vec![env!("CARGO_PKG_VERSION").to_owned(), format!("{assume_pure:?}")];
        parts.extend(self.units.linked_with().cloned());
        for file in self.units.bitcode() {
            parts.push(hash(&std::fs::read(file).map_err(Error::WorkFolder)?));
        }
        Ok(hash(parts.join("\n").as_bytes()))
    }

    /// What files say of the program: the same as long as its sources, its flags and the numbers of its sites are. How its files
    /// are spelled depends on the folder that it is looked at from, so that is no part of it.
    pub(crate) fn identity(&self, program: &Program) -> Result<ProgramIdentity, Error> {
        let place = |site: &program::Site| site.location.as_ref().map(|at| (at.line, at.column));
        let sites: Vec<_> = program.sites.iter().map(|site| (site.function, place(site), &site.expression)).collect();
        let hash = hash(format!("{}\n{sites:?}", self.content()?).as_bytes());
        Ok(self.options.identity(hash, &self.given))
    }

    /// What the program is given from outside.
    pub(crate) fn given(&self) -> &Given {
        &self.given
    }

    /// Functions that the user says touch no shared memory.
    pub(crate) fn assume_pure(&self) -> &BTreeSet<String> {
        &self.options.assume_pure
    }

    /// The program with the recorder's hooks, but for plain accesses of the sites that `without` gives.
    pub(crate) fn record(
        &self,
        folder: &Path,
        budget: &Budget,
        without: impl FnOnce(&Arc<Program>) -> BTreeSet<SiteId>,
    ) -> Result<llvm::Compiled, Error> {
        let recorded = |program: &_| Instrumentation::Recorded { without: without(program), folder: folder.to_owned() };
        Ok(self.units.instrument_as(recorded, budget)?)
    }

    /// The program in the small language. It needs no `main`.
    pub(crate) fn lower(&self) -> Result<Program, Error> {
        Ok(self.units.lower()?)
    }

    /// The program with the runtime's hooks, or the sources again and why they cannot run. `budget` is the linker's.
    pub(crate) fn instrument(self, budget: &Budget) -> Result<Result<Unlinked, (Self, WhyNot)>, Error> {
        match self.units.instrument(&Instrumentation::Controlled, budget) {
            Ok(compiled) => {
                let identity = self.identity(&compiled.program)?;
                Ok(Ok(Unlinked { sources: self, compiled, identity }))
            }
            Err(llvm::Error::NoMain) => Ok(Err((self, WhyNot::NoMain))),
            Err(llvm::Error::Target { path, triple, architecture }) => {
                Ok(Err((self, WhyNot::OtherTarget { path, triple, architecture })))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Why a program does not run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum WhyNot {
    /// Only its text is asked about.
    TextOnly,
    /// The sources define no `main`.
    NoMain,
    /// It is for another machine.
    OtherTarget {
        /// An input, as the user spelled it.
        path: PathBuf,
        /// What it is compiled for.
        triple: String,
        /// What could run.
        architecture: Architecture,
    },
}

impl WhyNot {
    /// As an error of a command that has to run it.
    pub(crate) fn error(&self) -> Error {
        Error::Llvm(match self.clone() {
            Self::TextOnly | Self::NoMain => llvm::Error::NoMain,
            Self::OtherTarget { path, triple, architecture } => llvm::Error::Target { path, triple, architecture },
        })
    }
}

/// A program that is compiled and instrumented: what can be said of its text needs no more.
pub(crate) struct Unlinked {
    sources: Sources,
    compiled: llvm::Compiled,
    identity: ProgramIdentity,
}

impl Unlinked {
    /// The program in the small language.
    pub(crate) fn program(&self) -> &Arc<Program> {
        &self.compiled.program
    }

    /// What files say of it.
    pub(crate) fn identity(&self) -> &ProgramIdentity {
        &self.identity
    }

    /// What its runs do without showing it in a trace.
    pub(crate) fn unmodelled(&self) -> &[Unmodelled] {
        &self.compiled.unmodelled
    }

    pub(crate) fn link(self) -> Result<Built, Error> {
        let Self { sources: Sources { options, folder, units, given }, compiled, identity } = self;
        let executable = folder.path().join("program");
        let runtime = options.machine.as_ref().map(Machine::runtime).transpose()?;
        let runtime = runtime.as_deref().unwrap_or(archives::runtime_archive());
        let object = objects::of(&compiled, options.cache.as_deref())?;
        link(&compiled, &object, runtime, &folder.path().join("libraceproof_runtime.a"), &executable)?;
        let llvm::Compiled { program, unmodelled, features, .. } = compiled;
        let (machine, children, opened) = (options.machine, exec::Children::default(), exec::Opened::default());
        let cache = options.cache;
        Ok(Built { program, unmodelled, features, identity, given, machine, children, opened, units, folder, cache })
    }
}

/// Links an object with a library of ours, which is written to a file first.
pub(crate) fn link(
    compiled: &llvm::Compiled,
    object: &Path,
    library: &[u8],
    archive: &Path,
    executable: &Path,
) -> Result<(), Error> {
    std::fs::write(archive, library).map_err(Error::WorkFolder)?;
    let extra: Vec<String> =
        [archives::link_args(), archives::link_libraries()].concat().into_iter().map(Into::into).collect();
    Ok(llvm::link_object(compiled, object, archive, &extra, executable)?)
}
