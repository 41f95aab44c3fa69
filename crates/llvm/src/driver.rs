//! Driving clang: finding it, compiling sources to bitcode.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::LLVM_VERSION;
use crate::error::Error;
use crate::module::Input;

/// How many sources are compiled at the same time.
const JOBS: usize = 2;

/// What an input is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    C,
    Cxx,
    Bitcode,
}

fn kind(path: &Path) -> Result<Kind, Error> {
    match path.extension().and_then(OsStr::to_str) {
        Some("c") => Ok(Kind::C),
        Some("cc" | "cpp" | "cxx" | "C" | "c++" | "cp" | "CPP") => Ok(Kind::Cxx),
        Some("bc" | "ll") => Ok(Kind::Bitcode),
        _ => Err(Error::UnknownKind { path: path.to_owned() }),
    }
}

/// The user's compiler flags, sorted by who they are for.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub(crate) struct Flags {
    /// For the compiler.
    pub(crate) compile: Vec<String>,
    /// For the linker: `-l`, `-L`, `-Wl,…`, `-Xlinker`, `-rdynamic`.
    pub(crate) link: Vec<String>,
}

impl Flags {
    /// Sorts flags as one would pass them to a compiler that also links.
    pub(crate) fn new(flags: &[String]) -> Self {
        let mut sorted = Self::default();
        let mut rest = flags.iter();
        while let Some(flag) = rest.next() {
            let for_linker = flag == "-Xlinker"
                || flag == "-rdynamic"
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
}

impl Clang {
    /// Finds clang.
    pub(crate) fn find() -> Result<Self, Error> {
        [format!("clang-{LLVM_VERSION}"), "clang".to_owned()]
            .into_iter()
            .find(|program| is_right_version(program))
            .map(|program| Self { program })
            .ok_or(Error::NoClang { version: LLVM_VERSION })
    }

    /// Runs clang; on failure returns what it said.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<(), Failure> {
        let output =
            Command::new(&self.program).args(arguments).stdin(Stdio::null()).output().map_err(|cause| {
                Failure::Start(Error::Io { what: format!("cannot start `{}`", self.program), cause })
            })?;
        if output.status.success() {
            return Ok(());
        }
        Err(Failure::Refused(String::from_utf8_lossy(&output.stderr).trim_end().to_owned()))
    }

    /// Compiles one source to bitcode without optimisation and with debug information.
    fn compile(&self, source: &Path, kind: Kind, flags: &Flags, bitcode: &Path) -> Result<(), Error> {
        let mut arguments: Vec<&OsStr> = flags.compile.iter().map(OsStr::new).collect();
        if kind == Kind::Cxx {
            // With its assertions on, libstdc++ leaves `std::string` to be instantiated, and so instrumented, here.
            arguments.push("-D_GLIBCXX_ASSERTIONS".as_ref());
        }
        // After the user's flags, so that these decide: an optimiser would merge racy accesses.
        arguments.extend(REQUIRED_FLAGS.iter().map(OsStr::new));
        arguments.extend([source.as_os_str(), "-o".as_ref(), bitcode.as_os_str()]);
        self.run(&arguments).map_err(|failure| {
            failure.into_error(|diagnostics| Error::Compile { path: source.to_owned(), diagnostics })
        })
    }
}

/// Flags after the user's. With `-mcx16`, atomics of 16 bytes are instructions rather than calls of a library.
const REQUIRED_FLAGS: [&str; 12] = [
    "-O0",
    "-g",
    "-Xclang",
    "-disable-O0-optnone",
    "-fno-common",
    "-fno-omit-frame-pointer",
    "-fno-discard-value-names",
    "-fno-color-diagnostics",
    "-fno-lto",
    "-mcx16",
    "-emit-llvm",
    "-c",
];

fn is_right_version(program: &str) -> bool {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let version = format!("version {LLVM_VERSION}.");
    output.is_ok_and(|o| o.status.success() && String::from_utf8_lossy(&o.stdout).contains(&version))
}

/// Why clang did not do what it was asked.
pub(crate) enum Failure {
    /// It could not be started.
    Start(Error),
    /// It said this.
    Refused(String),
}

impl Failure {
    /// The error for this failure, made from what clang said if it said something.
    pub(crate) fn into_error(self, refused: impl FnOnce(String) -> Error) -> Error {
        match self {
            Self::Start(error) => error,
            Self::Refused(diagnostics) => refused(diagnostics),
        }
    }
}

/// What the inputs became.
pub(crate) struct Compiled {
    /// Modules in the order of the inputs.
    pub(crate) inputs: Vec<Input>,
    /// Whether some input is C++ by its name.
    pub(crate) cplusplus: bool,
}

/// Compiles every source among the inputs into `work_dir`; bitcode is taken as it is.
pub(crate) fn compile(inputs: &[PathBuf], flags: &Flags, work_dir: &Path) -> Result<Compiled, Error> {
    if inputs.is_empty() {
        return Err(Error::NoInput);
    }
    let mut jobs = Vec::new();
    for (number, path) in inputs.iter().enumerate() {
        let kind = kind(path)?;
        std::fs::File::open(path).map_err(|cause| Error::Unreadable { path: path.clone(), cause })?;
        let bitcode = match kind {
            Kind::Bitcode => path.clone(),
            Kind::C | Kind::Cxx => work_dir.join(format!("input-{number}.bc")),
        };
        jobs.push((Input { path: path.clone(), bitcode }, kind));
    }
    let cplusplus = jobs.iter().any(|(_, kind)| *kind == Kind::Cxx);
    let sources: Vec<_> = jobs.iter().filter(|(_, kind)| *kind != Kind::Bitcode).collect();
    if !sources.is_empty() {
        crate::create_dir(work_dir)?;
        let clang = Clang::find()?;
        in_parallel(&sources, |(input, kind)| clang.compile(&input.path, *kind, flags, &input.bitcode))?;
    }
    Ok(Compiled { inputs: jobs.into_iter().map(|(input, _)| input).collect(), cplusplus })
}

/// Does the work for every item; of several errors the one of the first item counts.
fn in_parallel<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<(), Error> + Sync) -> Result<(), Error> {
    let queue = Mutex::new(items.iter().enumerate());
    let failures = Mutex::new(Vec::new());
    let next = || queue.lock().ok().and_then(|mut items| items.next());
    std::thread::scope(|scope| {
        for _ in 0..JOBS.min(items.len()) {
            scope.spawn(|| {
                while let Some((number, item)) = next() {
                    if let (Err(error), Ok(mut failures)) = (work(item), failures.lock()) {
                        failures.push((number, error));
                    }
                }
            });
        }
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
            ["-DX=1", "-lm", "-L", "lib", "-Wl,--as-needed", "-I", "include"].map(String::from).into();
        let sorted = Flags::new(&flags);
        assert_eq!(sorted.compile, ["-DX=1", "-I", "include"]);
        assert_eq!(sorted.link, ["-lm", "-L", "lib", "-Wl,--as-needed"]);
    }
}
