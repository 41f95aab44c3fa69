//! The result of a command as data: the JSON document, schema 1.
//!
//! Fields are only ever added; a changed meaning is a new schema. `file` is spelled as the user spelled it, and is
//! `null` where the compiler gave no place (then `line` and `column` are 0). Races come first, then unknown, then
//! absent, each by rank; [`crate::listing`] says which are listed.

use model::AccessKind;
pub use model::is_foreign;
use model::verdict::{Engine as EngineName, Scope};
use serde::{Deserialize, Serialize};

use crate::Code;
use crate::cover::CoverStatistics;
use crate::listing::{Absent, Unlisted};
use crate::run::Run;
use crate::suite::TestResult;

/// The number of this schema.
pub const SCHEMA: u32 = 1;

/// The answer for the whole program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// At least one pair races.
    Race,
    /// Every pair is absent in the scope.
    Safe,
    /// No race was found and something stays open.
    Unknown,
}

/// The answer for one pair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PairVerdict {
    /// A run shows it: a controlled one, or a recorded one.
    Race,
    /// Something stopped us.
    Unknown,
    /// It cannot happen in the scope.
    Absent,
}

/// The command that made a result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "each is a subcommand")]
pub enum Command {
    Check,
    Static,
    Verify,
    Predict,
    Explore,
    Replay,
    Cover,
    Test,
}

/// Whether an engine finished.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Coverage {
    /// Nothing was left out.
    Complete,
    /// Something was.
    Stopped,
}

/// A result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Version of raceproof.
    pub raceproof: String,
    /// [`SCHEMA`].
    pub schema: u32,
    /// The subcommand.
    pub command: Command,
    /// Inputs as the user spelled them.
    pub inputs: Vec<String>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// The overall answer.
    pub verdict: Verdict,
    /// What it covers.
    pub scope: Scope,
    /// Pairs of accesses that may collide, with their verdicts.
    pub pairs: Vec<Pair>,
    /// The absent pairs by variable and reason, listed or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<Absent>,
    /// How many pairs are not listed; `--all-pairs` lists all.
    #[serde(default, skip_serializing_if = "Unlisted::is_none")]
    pub unlisted: Unlisted,
    /// What keeps the overall answer from being `safe`, apart from races.
    pub unknowns: Vec<Unknown>,
    /// Other errors of the program that were met.
    pub errors: Vec<Finding>,
    /// What each engine did.
    pub engines: Vec<Engine>,
    /// Ids of the assumptions the verdict rests on, as numbered in the manual.
    pub assumptions: Vec<String>,
    /// What went wrong besides, and takes nothing from the answer: files that could not be written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Whether this is the answer of an earlier command, as nothing has changed that it rests on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reused: bool,
    /// What has changed since an earlier report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<crate::Since>,
    /// The tests that were checked, of `raceproof test`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<TestResult>,
    /// Time of everything, in milliseconds.
    pub time_ms: u64,
}

/// Two accesses that may collide.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pair {
    /// `P1`, `P2`…, in the order of the report.
    pub id: String,
    /// The answer.
    pub verdict: PairVerdict,
    /// Whether a controlled run has shown the race, and replays.
    pub confirmed: bool,
    /// The engine that settled it.
    pub by: EngineName,
    /// From 1, most important first.
    pub rank: u32,
    /// What to look up with `raceproof explain`; `null` for absent pairs.
    pub code: Option<Code>,
    /// What both touch.
    pub variable: String,
    /// One sentence.
    pub reason: String,
    /// The two accesses.
    pub accesses: [Access; 2],
    /// The witness file.
    pub witness: Option<String>,
    /// What more is known.
    #[serde(flatten, default)]
    pub details: Details,
}

/// What shows a race: the three strengths, the strongest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShownBy {
    /// Confirmed: a controlled run shows it, and replays.
    Run,
    /// Observed: a recorded run on real threads left the two accesses unordered.
    Recording,
    /// Predicted: another order of a recorded run has it. Not a finding until something stronger shows it.
    Prediction,
}

/// What more is known of a pair.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Details {
    /// What shows the race; `null` or missing where nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<ShownBy>,
    /// Where an absence holds; `null` for other verdicts.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// What would settle an unknown pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<String>,
    /// The lock that would have prevented a race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<Protection>,
    /// The run of the witness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// Why the user does not want to hear of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<Suppressed>,
    /// The race of the same lines of the user's own, if library code that they call makes several: this one is a detail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
    /// The names of the tests that show it, of `raceproof test`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
}

/// Where it is said that a finding is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuppressedBy {
    /// In a suppression file.
    File,
    /// In a comment at the line.
    Comment,
    /// In an earlier result.
    Baseline,
}

/// Why a finding is known already.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Suppressed {
    /// Where that is said.
    pub by: SuppressedBy,
    /// The entry, the comment's reason, or one sentence.
    pub reason: String,
}

/// A lock that most accesses to a variable hold.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Protection {
    /// Its name.
    pub lock: String,
    /// At how many places that touch the variable it was always held.
    pub held: usize,
    /// Of how many places seen.
    pub places: usize,
}

/// One access of a pair.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Access {
    /// What it does: `read`, `write`, `read-modify-write` or `free`.
    pub kind: AccessKind,
    /// Whether atomic.
    pub atomic: bool,
    /// The file.
    pub file: Option<String>,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// The function, as the source names it.
    pub function: String,
    /// The function of a system header that is called there and makes the access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
    /// The thread's path; empty for an access that no run has shown, then its locks are not known either.
    pub thread: String,
    /// Names of the locks held.
    pub locks: Vec<String>,
    /// Where the thread was created; `null` for the initial thread.
    pub created: Option<Created>,
    /// The calls that led there, the innermost first; empty when no run has shown it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
}

/// A call that leads somewhere: the function that calls, and where.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Frame {
    /// As the source names it.
    pub function: String,
    /// The file.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 when not known.
    pub column: u32,
}

impl Frame {
    /// Whether the file belongs to the system, or to our library for OpenMP, and not to the user.
    pub fn is_foreign(&self) -> bool {
        is_foreign(&self.file) || self.file.starts_with("<openmp>")
    }
}

impl Access {
    /// The innermost call by code of the user's own, for an access in code that is not.
    pub fn own_call(&self) -> Option<&Frame> {
        self.own_call_index().map(|at| &self.stack[at])
    }

    /// The function of the library that the user's own code calls, for an access inside it.
    pub fn called(&self) -> Option<&str> {
        if let Some(inside) = &self.inside {
            return Some(inside);
        }
        let at = self.own_call_index()?;
        Some(at.checked_sub(1).map_or(&self.function, |inner| &self.stack[inner].function))
    }

    fn own_call_index(&self) -> Option<usize> {
        self.file.as_deref().filter(|file| is_foreign(file))?;
        self.stack.iter().position(|frame| !frame.is_foreign())
    }

    /// Where it is in the user's own code: file, line and column.
    pub fn own_place(&self) -> (Option<&str>, u32, u32) {
        match self.own_call() {
            Some(Frame { file, line, column, .. }) => (Some(file), *line, *column),
            None => (self.file.as_deref(), self.line, self.column),
        }
    }
}

/// What a pair of accesses tells the user, of which at least one is inside the library: the lines of the user's own, and the
/// variable if only one is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OwnLines {
    lines: [(Option<String>, u32); 2],
    variable: Option<String>,
}

impl OwnLines {
    /// What accesses to a variable tell; `None` if they are the user's own.
    pub fn of(variable: &str, accesses: [&Access; 2]) -> Option<Self> {
        // Where no call by the user's own code is known, the function of the library says enough.
        let is_apart = |access: &Access| access.own_place().0.is_some_and(is_foreign);
        let inside = accesses.iter().filter(|access| access.called().is_some() || is_apart(access)).count();
        let mut lines = accesses.map(|access| match access.own_place() {
            _ if is_apart(access) => (Some(access.function.clone()), 0),
            (file, line, _) => (file.map(str::to_owned), line),
        });
        lines.sort_unstable();
        (inside > 0).then(|| Self { lines, variable: (inside == 1).then(|| variable.to_owned()) })
    }
}

impl Pair {
    /// What it tells, if library code makes at least one of its accesses.
    pub fn own_lines(&self) -> Option<OwnLines> {
        OwnLines::of(&self.variable, self.accesses.each_ref())
    }

    /// Whether it is told by itself and not known already.
    pub fn is_to_be_told(&self) -> bool {
        self.is_told() && self.details.suppressed.is_none()
    }

    /// Whether it is told by itself, and not with another race of the same lines.
    pub fn is_told(&self) -> bool {
        self.details.inside.is_none()
    }
}

/// Where a thread was created.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Created {
    /// By which thread.
    pub thread: String,
    /// In which function.
    pub function: String,
    /// The file.
    pub file: Option<String>,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// The calls that led there, the innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
}

/// Kinds of errors other than races.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorKind {
    /// Threads are blocked for ever.
    Deadlock,
    /// An assertion fails.
    Assertion,
    /// The program crashes.
    Crash,
    /// The thread API is used wrongly.
    Misuse,
    /// Memory is read that was never written.
    Uninitialised,
    /// A signal handler races with the code that it interrupts.
    Signal,
    /// Two iterations of a `simd` loop race.
    Lanes,
}

impl ErrorKind {
    /// Its code.
    pub fn code(self) -> Code {
        match self {
            Self::Deadlock => Code::DEADLOCK,
            Self::Assertion => Code::ASSERTION,
            Self::Crash => Code::CRASH,
            Self::Misuse => Code::MISUSE,
            Self::Uninitialised => Code::UNINITIALISED,
            Self::Signal => Code::SIGNAL_RACE,
            Self::Lanes => Code::LANE_RACE,
        }
    }
}

/// An error of the program other than a race.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// What kind.
    pub kind: ErrorKind,
    /// One sentence.
    pub message: String,
    /// What to look up with `raceproof explain`.
    pub code: Code,
    /// The file.
    pub file: Option<String>,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// The function; empty when not known.
    pub function: String,
    /// The thread; `null` where no single one is to blame.
    pub thread: Option<String>,
    /// Of a deadlock: who waits, where and for what.
    pub waiting: Vec<Waiting>,
    /// The witness file.
    pub witness: Option<String>,
    /// The run of the witness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// Why the user does not want to hear of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<Suppressed>,
    /// The names of the tests that show it, of `raceproof test`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
}

/// A thread that waits for ever.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Waiting {
    /// The thread.
    pub thread: String,
    /// For what, e.g. "to lock `m`".
    pub waits: String,
    /// Names of the locks it holds.
    pub locks: Vec<String>,
    /// The function.
    pub function: String,
    /// The file.
    pub file: Option<String>,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

/// Something that stopped us.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Unknown {
    /// What to look up with `raceproof explain`.
    pub code: Code,
    /// One sentence.
    pub reason: String,
    /// The external function to blame, if it is one.
    pub function: Option<String>,
    /// The file.
    pub file: Option<String>,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// What would settle it.
    pub settle: String,
    /// The file that replays the run in question, for limits on a run.
    pub witness: Option<String>,
    /// The names of the tests that leave it open, of `raceproof test`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
}

/// What an engine did.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Engine {
    /// Which one.
    pub name: EngineName,
    /// Whether it finished.
    pub coverage: Coverage,
    /// Why it stopped.
    pub reason: Option<String>,
    /// In milliseconds.
    pub time_ms: u64,
    /// The reduction used.
    pub reduction: String,
    /// Runs of the program.
    pub executions: u64,
    /// Of these, runs cut short because they would only have repeated another.
    pub blocked: u64,
    /// Further runs whose schedules were chosen at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// What they promise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<Assurance>,
    /// Events executed in all runs.
    pub transitions: u64,
    /// Times the search asked whether a subspace is free of races.
    pub race_free_checks: u64,
    /// Times the answer was yes.
    pub race_free_yes: u64,
    /// Reversals left out because of it.
    pub skipped_backtracks: u64,
    /// Most threads that a run of the search had, the initial one included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Counters of the nets that were asked about, where they were wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nets: Option<NetStatistics>,
    /// Whether the program wrote the same in all runs, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Outputs>,
}

/// What schedules chosen at random promise: of bugs that need `depth` events in a certain order, each one shows with this
/// probability at least.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Assurance {
    /// How many events.
    pub depth: u32,
    /// In thousandths.
    pub permille: u32,
}

/// What the program wrote to standard output in the runs that finished.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Outputs {
    /// How many runs there were.
    pub runs: u64,
    /// How many different outputs or exit statuses.
    pub different: u64,
}

/// Counters of all nets that an engine asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NetStatistics {
    /// How many nets.
    pub nets: u64,
    /// Elements of the final bases, of all nets together.
    pub basis: u64,
    /// Places and transitions of the largest net; sums over all nets of the rest.
    #[serde(flatten)]
    pub sums: CoverStatistics,
}

impl std::fmt::Display for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Check => "check",
            Self::Static => "static",
            Self::Verify => "verify",
            Self::Predict => "predict",
            Self::Explore => "explore",
            Self::Replay => "replay",
            Self::Cover => "cover",
            Self::Test => "test",
        })
    }
}

impl std::fmt::Display for Coverage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Complete => "complete",
            Self::Stopped => "stopped",
        })
    }
}

impl Pair {
    /// Whether a recorded run shows the race and no controlled run does.
    pub fn is_observed(&self) -> bool {
        self.verdict == PairVerdict::Race && self.details.shown == Some(ShownBy::Recording)
    }

    /// Whether only a prediction has the race.
    pub fn is_predicted(&self) -> bool {
        self.details.shown == Some(ShownBy::Prediction)
    }
}

impl Engine {
    /// Whether nothing was left out.
    pub fn is_complete(&self) -> bool {
        self.coverage == Coverage::Complete
    }
}

impl Report {
    /// The pairs with this verdict.
    pub fn pairs_with(&self, verdict: PairVerdict) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(move |pair| pair.verdict == verdict)
    }

    /// The races to be told: those that are not known already, and of several in the same lines one.
    pub fn told_races(&self) -> impl Iterator<Item = &Pair> {
        self.pairs_with(PairVerdict::Race).filter(|pair| pair.is_to_be_told())
    }

    /// The races that are details of this one.
    pub fn inside(&self, told: &Pair) -> impl Iterator<Item = &Pair> {
        self.pairs_with(PairVerdict::Race).filter(|pair| pair.details.inside.as_ref() == Some(&told.id))
    }

    /// The exit status: 1 something was found, a race or another error with its witness; else 3 something is unknown;
    /// else 0, every pair is absent in the scope.
    pub fn exit_status(&self) -> u8 {
        match self.verdict {
            Verdict::Race => 1,
            _ if self.errors.iter().any(|error| error.suppressed.is_none()) => 1,
            Verdict::Unknown => 3,
            Verdict::Safe => 0,
        }
    }
}
