//! Every way in which sources can fail to become a program.

use std::fmt;
use std::path::PathBuf;

use model::Spent;

use crate::architecture::Architecture;

/// Why there is no program. Each message says what is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No linker that clang can use.
    #[error("no lld {version} found: install the Debian package `lld-{version}`")]
    NoLinker {
        /// The major version needed.
        version: u32,
    },
    /// The budget was spent; the compiler or linker was ended.
    #[error("the program was not compiled: {0}")]
    Spent(Spent),
    /// Nothing to compile.
    #[error("no input: name at least one C or C++ source, `.bc` or `.ll` file")]
    NoInput,
    /// An input that is not there.
    #[error("`{path}` cannot be read: {cause}")]
    Unreadable {
        /// As the user spelled it.
        path: PathBuf,
        /// The system's reason.
        cause: std::io::Error,
    },
    /// An input of a kind we do not compile.
    #[error(
        "`{path}` is neither C (.c), C++ (.cc, .cpp, .cxx, .C, .c++), LLVM bitcode (.bc, .ll), a program built by `raceproof cc` nor a folder with `compile_commands.json`"
    )]
    UnknownKind {
        /// As the user spelled it.
        path: PathBuf,
    },
    /// What a build left behind cannot be used.
    #[error(transparent)]
    Built(#[from] cc::Error),
    /// An executable is chosen, and there is nothing to choose from.
    #[error("`--executable {name}` chooses from a compilation database, and no input is one")]
    NoDatabase {
        /// What was asked for.
        name: String,
    },
    /// The compiler refused a source.
    #[error("`{path}` does not compile:\n{diagnostics}")]
    Compile {
        /// As the user spelled it.
        path: PathBuf,
        /// Clang's messages.
        diagnostics: String,
    },
    /// A bitcode file that LLVM cannot read.
    #[error(
        "`{path}` is not readable as LLVM {version} bitcode ({message}): produce it with `clang-{version} -g -O0 -emit-llvm -c`"
    )]
    Bitcode {
        /// As the user spelled it.
        path: PathBuf,
        /// The major version we read.
        version: u32,
        /// LLVM's message.
        message: String,
    },
    /// A bitcode file without debug information: no race in it could be shown.
    #[error("`{path}` has no debug information: produce it with `-g`")]
    NoDebugInfo {
        /// As the user spelled it.
        path: PathBuf,
    },
    /// Code for another machine.
    #[error(
        "`{path}` is compiled for `{triple}`: only {architecture} Linux programs can be run (remove `-m32`, `-target` and the like, or use `static`, which runs nothing)"
    )]
    Target {
        /// As the user spelled it.
        path: PathBuf,
        /// What it was compiled for.
        triple: String,
        /// What it should have been compiled for.
        architecture: Architecture,
    },
    /// Code for a machine that LLVM does not know.
    #[error("code for `{triple}` is not known to LLVM {version}")]
    UnknownTarget {
        /// What it was compiled for.
        triple: String,
        /// The version of LLVM.
        version: u32,
    },
    /// Code for two machines.
    #[error("`{first}` is compiled for `{}`, and `{second}` for `{}`: pass the code of one program only", .triples[0], .triples[1])]
    Targets {
        /// An input.
        first: PathBuf,
        /// Another input.
        second: PathBuf,
        /// What they were compiled for.
        triples: [String; 2],
    },
    /// Two inputs define the same thing.
    #[error("`{symbol}` is defined in `{first}` and in `{second}`: pass the sources of one program only")]
    Duplicate {
        /// The name, as the source has it.
        symbol: String,
        /// An input.
        first: PathBuf,
        /// Another input.
        second: PathBuf,
    },
    /// The modules do not fit together.
    #[error("`{path}` cannot be linked with the inputs before it: {message}")]
    Link {
        /// As the user spelled it.
        path: PathBuf,
        /// LLVM's message.
        message: String,
    },
    /// Nothing to run.
    #[error("no input defines `main`: a program to run needs one")]
    NoMain,
    /// The instrumented program could not be made into an executable.
    #[error("the instrumented program cannot be {step}:\n{diagnostics}")]
    Build {
        /// Which step failed.
        step: BuildStep,
        /// Clang's messages.
        diagnostics: String,
    },
    /// A file of ours could not be written or a tool could not be started.
    #[error("{what}: {cause}")]
    Io {
        /// What was tried.
        what: String,
        /// The system's reason.
        cause: std::io::Error,
    },
    /// LLVM refused what we made: our mistake.
    #[error("raceproof bug: LLVM refuses the module {stage}: {message}; please report this with the source")]
    Internal {
        /// At which point.
        stage: Stage,
        /// LLVM's message.
        message: String,
    },
}

/// A step on the way from instrumented bitcode to an executable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuildStep {
    /// Machine code from bitcode.
    Compile,
    /// An executable from machine code, the runtime and libraries.
    Link,
}

impl fmt::Display for BuildStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compile => "compiled",
            Self::Link => "linked",
        })
    }
}

/// A point at which LLVM checks a module of ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// With OpenMP's library linked in.
    OpenMp,
    /// When the program's own code is complete.
    BeforeInstrumentation,
    /// With all hooks.
    AfterInstrumentation,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenMp => "with OpenMP's library",
            Self::BeforeInstrumentation => "before instrumentation",
            Self::AfterInstrumentation => "after instrumentation",
        })
    }
}
