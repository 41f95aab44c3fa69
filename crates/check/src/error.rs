//! Why there is no result.

use std::path::PathBuf;

use files::Difference;
use report::Code;

use crate::gap::Gap;

/// Why there is no result. What the user's program does wrong is never an error here.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are the parts of the messages")]
pub enum Error {
    /// The sources do not become a program.
    #[error(transparent)]
    Llvm(#[from] llvm::Error),
    /// The program could not be run.
    #[error(transparent)]
    Exec(#[from] exec::Error),
    /// The program could not be recorded.
    #[error(transparent)]
    Recording(#[from] recording::Error),
    /// A file could not be read or written.
    #[error(transparent)]
    Format(#[from] files::Error),
    /// The search failed.
    #[error(transparent)]
    Search(Box<explore::Error<exec::Error>>),
    /// A program of the small language cannot be read.
    #[error("cannot read `{}`: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: std::io::Error },
    /// A net file of no kind that we know.
    #[error("`{}`: not known what kind of net this is", path.display())]
    NetKind { path: PathBuf },
    /// A file that should be text is not.
    #[error("`{}` is not text in UTF-8", path.display())]
    NotText { path: PathBuf },
    /// A net file is malformed.
    #[error("{}:{cause}", path.display())]
    Malformed { path: PathBuf, cause: String },
    /// Targets that the net does not have.
    #[error("`--target {targets}`: {cause}")]
    Targets { targets: String, cause: String },
    /// A net without anything to cover.
    #[error("the net has no target")]
    NoTarget,
    /// A net that PNML cannot express.
    #[error("{0}")]
    NotPnml(String),
    /// A certificate or firing sequence that is wrong.
    #[error("{}: {cause}", path.display())]
    Certificate { path: PathBuf, cause: String },
    /// A firing sequence of ours that cannot be fired.
    #[error("raceproof bug: the firing sequence found cannot be fired: {0}")]
    FiringSequence(String),
    /// A program of the small language is malformed.
    #[error("{}:{cause}", path.display())]
    SmallLanguage { path: PathBuf, cause: cover::sml::SmlError },
    /// A command that runs programs is given something else.
    #[error("`{}` is {is}", path.display())]
    WrongInput { path: PathBuf, is: &'static str, takes: &'static str },
    /// Programs of the small language cannot be joined.
    #[error("a program of the small language is one file")]
    SeveralSmallLanguage,
    /// A function given as an entry is not there.
    #[error("there is no function `{0}` with a body, given with `--entry`")]
    NoSuchEntry(String),
    /// A specification of lock functions is malformed.
    #[error("`{path}`, given with `--locks`: {cause}")]
    Locks { path: String, cause: lockset::specification::Unreadable },
    /// A specification of lock functions cannot be read.
    #[error("cannot read `{path}`, given with `--locks`: {cause}")]
    NoLocks { path: String, cause: std::io::Error },
    /// No place to work.
    #[error("cannot work in the folder for temporary files: {0}")]
    WorkFolder(std::io::Error),
    /// A target that programs cannot be compiled for.
    #[error("the target at `{address}` runs {architecture} programs, and raceproof compiles none")]
    Architecture { address: String, architecture: String },
    /// The file for standard input cannot be read.
    #[error("cannot read `{}`, given as standard input: {cause}", path.display())]
    Stdin { path: PathBuf, cause: std::io::Error },
    /// A script for peers cannot be used.
    #[error("cannot use the peers' script `{}`: {what}", path.display())]
    Peers { path: PathBuf, what: String },
    /// The program is not the one the witness was made of.
    #[error("the program changed since `{}` was made", witness.display())]
    ProgramChanged { witness: PathBuf },
    /// A checkpoint is of another program, other arguments or another input.
    #[error("`{}` is not a checkpoint of this program with these arguments, limits and this input", path.display())]
    OtherCheckpoint { path: PathBuf },
    /// The program is not the one that was recorded.
    #[error("the program changed since `{}` was recorded", trace.display())]
    RecordedChanged { trace: PathBuf },
    /// A trace of another tool is malformed.
    #[error("`{}` is neither a raceproof trace nor one in RAPID's form: byte {}, {cause}", path.display(), cause.offset)]
    ForeignTrace { path: PathBuf, cause: Box<predict::rapid::ReadError> },
    /// A trace cannot be written in another form.
    #[error("{what}")]
    Unwritable { what: String },
    /// The input is not the one the witness was made with.
    #[error("the input `{input}` changed since `{}` was made", witness.display())]
    InputChanged { witness: PathBuf, input: String },
    /// A file that the program reads is not as it was.
    #[error("the program takes another way than in `{}`: it reads `{file}`, which changed since", witness.display())]
    DataChanged { witness: PathBuf, file: String },
    /// The replay took another way.
    #[error("the replay of `{}` differs: {difference}", witness.display())]
    ReplayDiffers { witness: PathBuf, difference: Difference },
    /// The replay went the same way but the finding is not there.
    #[error("the replay of `{}` followed its schedule, but does not show the {finding}", witness.display())]
    NotShown { witness: PathBuf, finding: &'static str },
}

impl From<cc::Error> for Error {
    fn from(error: cc::Error) -> Self {
        Self::Llvm(error.into())
    }
}

impl From<explore::Error<exec::Error>> for Error {
    fn from(error: explore::Error<exec::Error>) -> Self {
        match error {
            explore::Error::Executor(error) => Self::Exec(error),
            other => Self::Search(Box::new(other)),
        }
    }
}

impl Error {
    /// Whether the user gave something that cannot be used, whatever the budget.
    pub(crate) fn is_misuse(&self) -> bool {
        matches!(
            self,
            Self::NoSuchEntry(_) | Self::Locks { .. } | Self::NoLocks { .. } | Self::Stdin { .. } | Self::Peers { .. }
        )
    }

    /// What keeps the program from running although there is a text to look at: functions or variables that no input has.
    pub(crate) fn unlinked(&self) -> Option<Gap> {
        const NAMED: usize = 3;
        let Self::Llvm(llvm::Error::Build { diagnostics, .. }) = self else { return None };
        let names: Vec<&str> = diagnostics
            .lines()
            .filter_map(|line| line.split_once("undefined symbol: "))
            .map(|(_, name)| name)
            .collect();
        let named = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let more = if names.len() > NAMED { format!(" and {} more", names.len() - NAMED) } else { String::new() };
        let reason = format!("the program cannot be run: no input defines {named}{more}");
        let settle = "give all sources of the program; libraries go into `--cflags`, for example `--cflags -lz`";
        (!names.is_empty()).then(|| Gap::new(Code::NOT_ASKED, reason, settle))
    }

    /// What the program did to its own run, so that the run tells nothing; `None` for failures of the machine and of ours.
    pub(crate) fn lost_run(&self) -> Option<Gap> {
        use exec::Error::{Died, Garbled, Runtime, ScheduleTooLong, TooManyChoices};
        let error = match self {
            Self::Exec(error) => error,
            Self::Search(error) => match &**error {
                explore::Error::Executor(error) => error,
                _ => return None,
            },
            _ => return None,
        };
        let is_of_program =
            matches!(error, Died { .. } | Runtime { .. } | Garbled(_) | ScheduleTooLong { .. } | TooManyChoices { .. });
        let settle = "look for what the program does to its own process: descriptors it closes, memory it overwrites";
        is_of_program.then(|| Gap::new(Code::UNMODELLED, format!("a run was lost: {error}"), settle))
    }

    /// What the user can do about it, where the message does not say.
    pub fn help(&self) -> Option<String> {
        let bug = "please report this with the program, if you can share it";
        Some(match self {
            Self::Format(error) => error.help().to_owned(),
            Self::WorkFolder(_) => "make room there, or set TMPDIR to another folder".to_owned(),
            Self::SmallLanguage { .. } => "correct the file at this place".to_owned(),
            Self::NetKind { .. } => "give a file with the ending .spec, .pnml, .lola, .net or .sml".to_owned(),
            Self::NotText { .. } => "give a file in UTF-8".to_owned(),
            Self::Malformed { .. } => "correct the file at this place".to_owned(),
            Self::Targets { .. } => "write it as `p >= 1, q >= 2; r >= 1`".to_owned(),
            Self::NoTarget => "say what is to be covered: `--target \"place >= 1\"`".to_owned(),
            Self::NotPnml(_) => "use `--emit spec`, which can express every net".to_owned(),
            Self::Certificate { .. } => "give the file and the net that it was made for".to_owned(),
            Self::FiringSequence(_) => "please report this with the net, if you can share it".to_owned(),
            Self::WrongInput { takes, .. } => (*takes).to_owned(),
            Self::SeveralSmallLanguage => "give that file alone".to_owned(),
            Self::NoSuchEntry(_) => "name functions that the sources define".to_owned(),
            Self::Locks { .. } => "correct the file; its form is described in docs/lock-functions.md".to_owned(),
            Self::NoLocks { .. } => {
                format!(
                    "check the spelling and the permissions; known without a file: {}",
                    crate::LOCK_PRESETS.join(", ")
                )
            }
            Self::Peers { .. } => "see `docs/peers.md` for the form of a script".to_owned(),
            Self::Stdin { .. } | Self::Unreadable { .. } => "check the spelling and the permissions".to_owned(),
            Self::ProgramChanged { .. } | Self::InputChanged { .. } | Self::DataChanged { .. } => {
                "explore the program again to get a witness of its present state; `--target` replays what was found at a target".to_owned()
            }
            Self::OtherCheckpoint { .. } => {
                "give the inputs and flags it was made with, or search from the start without `--resume`".to_owned()
            }
            Self::Search(error) if matches!(**error, explore::Error::Checkpoint { .. }) => {
                "give the flags it was made with, or search from the start without `--resume`".to_owned()
            }
            Self::Architecture { .. } => "programs can be checked on x86_64 and aarch64".to_owned(),
            Self::RecordedChanged { .. } => "record it again".to_owned(),
            Self::ForeignTrace { .. } => {
                "give a file of `raceproof record`, or lines `thread|operation(target)|location`".to_owned()
            }
            Self::Unwritable { .. } => {
                "record a part of the program that does not use it, or choose another form".to_owned()
            }
            Self::NotShown { .. } => bug.to_owned(),
            Self::ReplayDiffers { .. } => {
                "the program depends on something outside (time, files, another kernel), or this is a bug of raceproof"
                    .to_owned()
            }
            Self::Llvm(error) => return build_help(error).map(str::to_owned),
            Self::Exec(error) => return error.help().map(str::to_owned),
            Self::Recording(_) | Self::Search(_) => return None,
        })
    }
}

fn build_help(error: &llvm::Error) -> Option<&'static str> {
    match error {
        llvm::Error::Built(cc::Error::NoClang { .. }) | llvm::Error::NoLinker { .. } => {
            Some("on Debian and Ubuntu: apt install clang-19 llvm-19 lld-19")
        }
        llvm::Error::Built(cc::Error::SeveralExecutables { .. }) => Some("choose one with `--executable NAME`"),
        llvm::Error::Unreadable { .. } => Some("check the spelling and the permissions"),
        llvm::Error::UnknownKind { .. } => Some("give sources or bitcode"),
        llvm::Error::Compile { .. } => Some("these are clang's messages; further flags for it go into `--cflags`"),
        llvm::Error::NoMain => {
            Some("give the file that defines it as a further input; `static` takes `--entry` instead")
        }
        llvm::Error::Build { step: llvm::BuildStep::Link, .. } => {
            Some("give all sources of the program; libraries go into `--cflags`, for example `--cflags -lz`")
        }
        _ => None,
    }
}
