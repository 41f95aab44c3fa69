//! Flags that several commands share.

use check::BuildOptions;
use petri::backward::Pruning;

/// What a search for coverability may leave out.
#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub(crate) enum PruningFlag {
    /// Nothing: the algorithm as it was published
    Plain,
    /// What a place that is never marked or an invariant excludes
    #[default]
    Invariants,
}

impl From<PruningFlag> for Pruning {
    fn from(flag: PruningFlag) -> Self {
        match flag {
            PruningFlag::Plain => Self::Plain,
            PruningFlag::Invariants => Self::Invariants,
        }
    }
}

/// The program and its input.
#[derive(clap::Args)]
pub(crate) struct ProgramFlags {
    /// C or C++ sources, `.bc` or `.ll` files of one program
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<String>,

    /// Arguments of the program, after `--`
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,

    /// File to give the program as standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) stdin: Option<String>,

    /// Further compiler flags, split as a shell would; may be repeated
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub(crate) cflags: Vec<String>,

    /// Assume that an external function touches no shared memory; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) assume_pure: Vec<String>,
}

impl ProgramFlags {
    /// What to build, with these compiler flags.
    pub(crate) fn build_options(&self, cflags: Vec<String>) -> BuildOptions {
        BuildOptions {
            inputs: self.inputs.clone(),
            cflags,
            assume_pure: self.assume_pure.iter().cloned().collect(),
            args: self.args.clone(),
            stdin: self.stdin.clone(),
            machine: None,
        }
    }
}
