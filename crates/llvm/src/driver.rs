//! Driving clang: finding it, compiling sources to bitcode.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use cache::{Dependencies, Looks};
use cc::{InputKind, Language, Leniency};
use model::Budget;

use crate::error::Error;
use crate::kept::{Compilation, KeptUnits};
use crate::module::Input;
use crate::process::{self, Outcome};
use crate::selection::{self, Group};
use crate::{Architecture, Options};

/// How many sources are compiled at the same time.
const JOBS: usize = 2;

/// The kind of an input, or why it is none.
fn kind(path: &Path) -> Result<InputKind, Error> {
    InputKind::of(path).ok_or_else(|| match std::fs::metadata(path) {
        Ok(_) => Error::UnknownKind { path: path.to_owned() },
        Err(cause) => Error::Unreadable { path: path.to_owned(), cause },
    })
}

/// The user's compiler flags, sorted by who they are for.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub(crate) struct Flags {
    /// For the compiler.
    pub(crate) compile: Vec<String>,
    /// For the linker: `-l`, `-L`, `-Wl,…`, `-Xlinker`, `-rdynamic`, and files that it reads.
    pub(crate) link: Vec<String>,
}

impl Flags {
    /// Sorts flags as one would pass them to a compiler that also links.
    pub(crate) fn new(flags: &[String]) -> Self {
        let mut sorted = Self::default();
        let mut rest = flags.iter();
        while let Some(flag) = rest.next() {
            if ["--sysroot=", "--gcc-toolchain="].iter().any(|prefix| flag.starts_with(prefix)) {
                // Where headers and libraries are.
                sorted.compile.push(flag.clone());
                sorted.link.push(flag.clone());
                continue;
            }
            let file = Path::new(flag).extension().and_then(OsStr::to_str);
            let for_linker = flag == "-Xlinker"
                || flag == "-rdynamic"
                || (!flag.starts_with('-') && matches!(file, Some("o" | "a" | "so")))
                || ["-l", "-L", "-Wl,"].iter().any(|prefix| flag.starts_with(prefix));
            let target = if for_linker { &mut sorted.link } else { &mut sorted.compile };
            target.push(flag.clone());
            if matches!(flag.as_str(), "-Xlinker" | "-l" | "-L") {
                target.extend(rest.next().cloned());
            }
        }
        sorted
    }
}

/// Clang of the right version.
#[derive(Clone, Debug)]
pub(crate) struct Clang {
    program: String,
    architecture: Architecture,
    /// Ends it while it runs.
    budget: Budget,
}

impl Clang {
    /// Finds clang.
    pub(crate) fn find(architecture: Architecture, budget: &Budget) -> Result<Self, Error> {
        Ok(Self { program: cc::find_clang()?, architecture, budget: budget.clone() })
    }

    /// Runs clang; on failure returns what it wrote.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<(), Failure> {
        self.run_in(Path::new("."), arguments).map(drop)
    }

    /// The same, from a folder. Returns what it wrote.
    fn run_in<S: AsRef<OsStr>>(&self, folder: &Path, arguments: &[S]) -> Result<String, Failure> {
        let mut command = Command::new(&self.program);
        command.args(self.architecture.flags()).args(arguments).current_dir(folder);
        match process::run(&mut command, &self.budget) {
            Err(cause) => Err(Failure::NotRun(Error::Io { what: format!("cannot start `{}`", self.program), cause })),
            Ok(Outcome::Killed(spent)) => Err(Failure::NotRun(Error::Spent(spent))),
            Ok(Outcome::Ended(status, written)) => {
                let written = String::from_utf8_lossy(&written).trim_end().to_owned();
                if status.success() { Ok(written) } else { Err(Failure::Refused(written)) }
            }
        }
    }

    /// Flags after the user's, which may ask for code of another processor.
    fn bitcode_flags<'a>(&self, users: &[&String]) -> impl Iterator<Item = &'a OsStr> + use<'a> {
        let is_other = cc::asks_for_other_processor(users.iter().copied());
        let own = if is_other { &[] } else { self.architecture.bitcode_flags() };
        own.iter().chain(&cc::BITCODE_FLAGS).map(OsStr::new)
    }

    /// Compiles a source of ours in `folder`, which debug information calls `name`.
    pub(crate) fn compile_own(&self, unit: &Path, folder: &Path, name: &str, bitcode: &Path) -> Result<(), Error> {
        let map = format!("-fdebug-prefix-map={}={name}", folder.display());
        let mut arguments: Vec<&OsStr> = vec![map.as_ref(), "-w".as_ref()];
        arguments.extend(self.bitcode_flags(&[]));
        arguments.extend([unit.as_os_str(), "-o".as_ref(), bitcode.as_os_str()]);
        self.run(&arguments)
            .map_err(|failure| failure.into_error(|diagnostics| Error::Compile { path: unit.to_owned(), diagnostics }))
    }

    /// Compiles one source to bitcode without optimisation and with debug information. Our headers are in `include`.
    fn compile(
        &self,
        source: &Source,
        flags: &Flags,
        include: &Path,
        bitcode: &Path,
        more: &[&str],
    ) -> Result<CompiledSource, Error> {
        let refused = |diagnostics| Error::Compile { path: source.path.clone(), diagnostics };
        let mut leniency = Leniency::default();
        let said = loop {
            match self.compile_once(source, flags, &leniency, include, more, bitcode) {
                Err(Failure::Refused(diagnostics)) if leniency.adapt(&diagnostics) => {}
                // The user sees what clang says without our further flags.
                Err(Failure::Refused(_)) if !more.is_empty() => {
                    return self.compile(source, flags, include, bitcode, &[]);
                }
                Err(failure) => return Err(failure.into_error(refused)),
                Ok(said) => break said,
            }
        };
        let dropped = self.dropped(source, flags, &leniency, include, bitcode)?;
        Ok(CompiledSource { said, dropped })
    }

    /// The same, unless what was compiled before will do.
    fn compile_or_recall(
        &self,
        source: &Source,
        flags: &Flags,
        include: &Path,
        kept: &KeptUnits,
        input: usize,
        bitcode: &Path,
    ) -> Result<Option<cc::Dropped>, Error> {
        if source.flags.iter().chain(&flags.compile).any(|flag| names_file(flag)) {
            kept.note(input, None);
            return Ok(self.compile(source, flags, include, bitcode, &[])?.dropped);
        }
        let key = kept.key(&source.directory, &format!("{source:?} {flags:?} {:?}", self.architecture));
        if kept.find(&key, input, bitcode) {
            return Ok(None);
        }
        let rule = bitcode.with_extension("d");
        let rule_name = rule.to_string_lossy();
        let compiled = self.compile(source, flags, include, bitcode, &["-v", "-MD", "-MF", &rule_name])?;
        match compiled.dropped {
            // The next command is to say so, too.
            Some(_) => kept.note(input, None),
            None => {
                let compilation =
                    Compilation { folder: &source.directory, rule: &rule, said: &compiled.said, own: include, bitcode };
                kept.keep(&key, input, &compilation);
            }
        }
        Ok(compiled.dropped)
    }

    /// A directive of OpenMP in the source that clang made no code of, if there is one.
    fn dropped(
        &self,
        source: &Source,
        flags: &Flags,
        leniency: &Leniency,
        include: &Path,
        bitcode: &Path,
    ) -> Result<Option<cc::Dropped>, Error> {
        if !cc::asks_for_openmp(&source.flags) && !cc::asks_for_openmp(&flags.compile) {
            return Ok(None);
        }
        let text = bitcode.with_extension("i");
        let refused = |diagnostics| Error::Compile { path: source.path.clone(), diagnostics };
        let preprocessed = self.compile_once(source, flags, leniency, include, &["-E"], &text);
        preprocessed.map_err(|failure| failure.into_error(refused))?;
        let read = std::fs::read(&text)
            .map_err(|cause| Error::Io { what: format!("cannot read `{}`", text.display()), cause })?;
        Ok(cc::without_code(&String::from_utf8_lossy(&read)))
    }

    fn compile_once(
        &self,
        source: &Source,
        flags: &Flags,
        leniency: &Leniency,
        include: &Path,
        more: &[&str],
        output: &Path,
    ) -> Result<String, Failure> {
        // What the user gives us is meant; what a build gives to gcc may be for gcc alone.
        let users: Vec<&String> =
            source.flags.iter().filter(|flag| leniency.keeps(flag)).chain(&flags.compile).collect();
        let changed: Vec<String> = leniency.flags().collect();
        let mut arguments: Vec<&OsStr> = users.iter().copied().chain(&changed).map(OsStr::new).collect();
        if source.language == Language::Cxx {
            // With assertions on, libstdc++ has no `std::string` compiled in advance: it is compiled, and instrumented, here.
            arguments.push("-D_GLIBCXX_ASSERTIONS".as_ref());
        }
        // The folder differs from run to run; the program must not.
        let map = format!("-fdebug-prefix-map={}=<raceproof>", include.display());
        arguments.extend(["-idirafter".as_ref(), include.as_os_str(), map.as_ref()]);
        arguments.extend(self.bitcode_flags(&users));
        arguments.extend(cc::note_on_types(users.iter().copied()).iter().map(OsStr::new));
        arguments.extend(cc::LENIENT_FLAGS.map(OsStr::new));
        arguments.extend(more.iter().map(OsStr::new));
        arguments.extend([source.path.as_os_str(), "-o".as_ref(), output.as_os_str()]);
        self.run_in(&source.directory, &arguments)
    }
}

/// Whether a flag makes the compiler read a file that its rule of make does not name.
fn names_file(flag: &str) -> bool {
    ["@", "--config", "-fplugin", "-fpass-plugin", "-fprofile", "-load", "-include-pch", "-fmodule", "-B"]
        .iter()
        .any(|start| flag.starts_with(start))
}

/// What clang says of a source that it has compiled.
struct CompiledSource {
    /// What it wrote.
    said: String,
    /// A directive of OpenMP that it made no code of.
    dropped: Option<cc::Dropped>,
}

/// A source to be compiled.
#[derive(Debug)]
struct Source {
    path: PathBuf,
    language: Language,
    /// Where the compiler is called.
    directory: PathBuf,
    /// Flags of its own.
    flags: Vec<String>,
}

/// Why clang made nothing.
pub(crate) enum Failure {
    /// It could not be started, or did not end in time.
    NotRun(Error),
    /// It wrote this.
    Refused(String),
}

impl Failure {
    /// The error for this failure, made from what clang wrote if it ran.
    pub(crate) fn into_error(self, refused: impl FnOnce(String) -> Error) -> Error {
        match self {
            Self::NotRun(error) => error,
            Self::Refused(diagnostics) => refused(diagnostics),
        }
    }
}

/// What the inputs became.
#[derive(Default, Debug)]
pub(crate) struct Compiled {
    /// Modules in the order of the inputs.
    pub(crate) inputs: Vec<Input>,
    /// Whether some input is C++ by its name.
    pub(crate) cplusplus: bool,
    /// What else the inputs were linked with.
    pub(crate) link: Vec<String>,
    /// Directives of OpenMP that clang made no code of.
    pub(crate) dropped: Vec<cc::Dropped>,
    /// What all this was made of, if that is known.
    pub(crate) made_of: Option<Dependencies>,
}

/// Compiles every source among the inputs into the folder for intermediate files; bitcode is taken as it is, or from the file that carries it.
pub(crate) fn compile(options: &Options, flags: &Flags) -> Result<Compiled, Error> {
    let Options { inputs, work_dir, architecture, budget, .. } = options;
    if inputs.is_empty() {
        return Err(Error::NoInput);
    }
    let mut compiled = Compiled::default();
    let (mut jobs, mut groups) = (Vec::new(), Vec::new());
    for path in inputs {
        let kind = kind(path)?;
        std::fs::File::open(path).map_err(|cause| Error::Unreadable { path: path.clone(), cause })?;
        let new_file = |number: usize| work_dir.join(format!("input-{number}.bc"));
        match kind {
            InputKind::Bitcode => compiled.inputs.push(Input { path: path.clone(), bitcode: path.clone() }),
            InputKind::Source(language) => {
                let source = Source { path: path.clone(), language, directory: ".".into(), flags: Vec::new() };
                compiled.inputs.push(Input { path: path.clone(), bitcode: new_file(compiled.inputs.len()) });
                jobs.push((source, compiled.inputs.len() - 1));
            }
            InputKind::Database => {
                let cc::Selection { candidates, linker_arguments, by_main } =
                    cc::select(path, options.executable.as_deref())?;
                let first = compiled.inputs.len();
                let mut on_demand = BTreeSet::new();
                for cc::Candidate { entry, on_demand: is_on_demand } in candidates {
                    let cc::Entry { source: path, language, directory, flags, .. } = entry;
                    let number = compiled.inputs.len();
                    on_demand.extend(is_on_demand.then_some(number));
                    compiled.inputs.push(Input { path: path.clone(), bitcode: new_file(number) });
                    jobs.push((Source { path, language, directory, flags }, number));
                }
                compiled.link.extend(linker_arguments);
                let range = first..compiled.inputs.len();
                groups.push(Group { database: path.clone(), range, on_demand, by_main });
            }
            InputKind::Container => {
                let carried = cc::embedded_contents(path)?;
                crate::create_dir(work_dir)?;
                for unit in carried.units {
                    let bitcode = new_file(compiled.inputs.len());
                    std::fs::write(&bitcode, &unit.bitcode)
                        .map_err(|cause| Error::Io { what: format!("cannot write `{}`", bitcode.display()), cause })?;
                    compiled.cplusplus |= unit.cplusplus;
                    compiled.inputs.push(Input { path: Path::new(&unit.directory).join(unit.source), bitcode });
                }
                compiled.cplusplus |= carried.cplusplus;
                compiled.link.extend(carried.linker_arguments);
            }
        }
    }
    if let (Some(name), []) = (&options.executable, groups.as_slice()) {
        return Err(Error::NoDatabase { name: name.clone() });
    }
    compiled.cplusplus |= jobs.iter().any(|(source, _)| source.language == Language::Cxx);
    if !jobs.is_empty() {
        crate::create_dir(work_dir)?;
        let clang = Clang::find(*architecture, budget)?;
        let include = write_headers(work_dir)?;
        let kept = options.cache.as_ref().and_then(|cache| KeptUnits::new(cache, &clang.program));
        let dropped = Mutex::new(Vec::new());
        in_parallel(&jobs, |(source, input)| {
            let bitcode = &compiled.inputs[*input].bitcode;
            let found = match &kept {
                Some(kept) => clang.compile_or_recall(source, flags, &include, kept, *input, bitcode)?,
                None => clang.compile(source, flags, &include, bitcode, &[])?.dropped,
            };
            dropped.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(found);
            Ok(())
        })?;
        compiled.dropped = dropped.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        compiled.made_of = kept.and_then(|kept| kept.made_of());
    } else if options.cache.is_some() {
        compiled.made_of = Some(Dependencies::default());
    }
    if let Some(made_of) = &mut compiled.made_of {
        let databases = inputs.iter().filter(|path| path.is_dir()).map(|path| path.join(cc::DATABASE));
        let mut files = inputs.iter().filter(|path| !path.is_dir()).cloned().chain(databases);
        let mut looks = Looks::default();
        let added = files.try_for_each(|file| made_of.add_file(&file, &mut looks));
        compiled.made_of = added.is_ok().then(|| std::mem::take(made_of));
    }
    compiled.inputs = selection::select(&groups, compiled.inputs, options.executable.as_deref())?;
    Ok(compiled)
}

/// Headers for programs under test; `omp.h` where the system has none.
const HEADERS: [(&str, &str); 2] =
    [("raceproof.h", include_str!("../include/raceproof.h")), ("omp.h", include_str!("../include/omp.h"))];

/// Writes the headers for programs under test into a folder of their own and returns that.
fn write_headers(work_dir: &Path) -> Result<PathBuf, Error> {
    let folder = work_dir.join("include");
    crate::create_dir(&folder)?;
    for (name, text) in HEADERS {
        let file = folder.join(name);
        std::fs::write(&file, text)
            .map_err(|cause| Error::Io { what: format!("cannot write `{}`", file.display()), cause })?;
    }
    // Sources may be compiled from other folders.
    std::path::absolute(&folder)
        .map_err(|cause| Error::Io { what: format!("cannot find `{}`", folder.display()), cause })
}

/// Does the work for every item; of several errors the one of the first item counts.
fn in_parallel<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<(), Error> + Sync) -> Result<(), Error> {
    let queue = Mutex::new(items.iter().enumerate());
    let failures = Mutex::new(Vec::new());
    let next = || queue.lock().ok().and_then(|mut items| items.next());
    let work_through = || {
        while let Some((number, item)) = next() {
            if let (Err(error), Ok(mut failures)) = (work(item), failures.lock()) {
                failures.push((number, error));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..JOBS.min(items.len()) {
            // Without room for another thread, this one does it all.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work_through);
        }
        work_through();
    });
    let failures = failures.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    failures.into_iter().min_by_key(|(number, _)| *number).map_or(Ok(()), |(_, error)| Err(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linker_flags_are_kept_from_the_compiler() {
        let flags: Vec<String> =
            ["-DX=1", "-lm", "-L", "lib", "-Wl,--as-needed", "-I", "include", "fast.o", "--sysroot=/board"]
                .map(String::from)
                .into();
        let sorted = Flags::new(&flags);
        assert_eq!(sorted.compile, ["-DX=1", "-I", "include", "--sysroot=/board"]);
        assert_eq!(sorted.link, ["-lm", "-L", "lib", "-Wl,--as-needed", "fast.o", "--sysroot=/board"]);
    }
}
