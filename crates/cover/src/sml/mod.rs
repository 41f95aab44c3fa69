//! The small multithreaded language of Abdulla, Haziza and Kindahl, as an input of its own.
//!
//! A program declares shared names and jobs (thread types). Data is abstracted: `read x` and `write x` say that the
//! variable is accessed, `branch` goes either way. What a shared name is follows from its use: a variable, a lock or a
//! condition variable, and only one of these.
//!
//! ```text
//! program   = { shared | job }
//! shared    = "shared" name { "," name } ";"
//! job       = "job" name [ "many" | "created" ] "{" { label ":" | statement } "}"
//! statement = ( "acquire" lock | "release" lock
//!             | "read" variable | "write" variable
//!             | "wait" condition "," lock | "signal" condition | "broadcast" condition
//!             | "branch" label | "goto" label
//!             | "create" job | "join" job ) ";"
//! name      = letter or "_", then letters, digits and "_"
//! ```
//!
//! `//` starts a comment that goes to the end of the line. Words of the grammar are not names.
//!
//! - A `job` starts as one thread, `many` as any number of threads, `created` as none: only `create` makes them.
//! - `branch l` goes to `l` or on; `goto l` goes to `l`. Labels belong to their job. A job ends after its last
//!   statement.
//! - `wait c, L` gives `L` back, waits for a signal of `c` and takes `L` again. `signal c` wakes one waiter or is lost;
//!   `broadcast c` wakes all. A wake-up without a signal is written as a `branch` around the wait.
//! - `create j` starts a thread of job `j`; `join j` waits for the end of a thread of `j` that was not joined before.
//!
//! [`net::net`] builds the paper's Petri net with the question whether a variable can be raced on; [`Sml::pairs`] lists
//! pairs of statements and [`net::net_of_pair`] asks about one.

pub mod net;
mod pairs;
mod parse;
mod print;

pub use pairs::{SmlAccess, SmlPair};
pub use parse::SmlError;

/// A program of the small language.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sml {
    /// Shared names in order of declaration.
    pub shared: Vec<String>,
    /// Jobs in order of declaration.
    pub jobs: Vec<Job>,
}

/// How many threads of a job there are at the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Multiplicity {
    /// One.
    One,
    /// Any number.
    Many,
    /// None.
    Created,
}

/// A thread type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// How many there are at the start.
    pub multiplicity: Multiplicity,
    /// What its threads do.
    pub statements: Vec<Statement>,
    /// Labels with the number of the statement they stand before (or of statements, for the end), in source order.
    pub labels: Vec<(String, usize)>,
}

/// A statement with its line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// From 1.
    pub line: u32,
    /// What it does.
    pub action: Action,
}

/// What a statement does. Shared names are indices into [`Sml::shared`], jobs into [`Sml::jobs`], labels are the
/// number of the statement to go to.
#[allow(missing_docs, reason = "fields of variants are explained by the variant")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Takes a lock.
    Acquire(usize),
    /// Gives a lock back.
    Release(usize),
    /// Reads a variable.
    Read(usize),
    /// Writes a variable.
    Write(usize),
    /// Gives `lock` back, waits on `condition`, takes `lock` again.
    Wait { condition: usize, lock: usize },
    /// Wakes one waiter.
    Signal(usize),
    /// Wakes all waiters.
    Broadcast(usize),
    /// Goes there or on.
    Branch(usize),
    /// Goes there.
    Goto(usize),
    /// Starts a thread.
    Create(usize),
    /// Waits for the end of a thread.
    Join(usize),
}

impl Sml {
    /// The variables: shared names that are read or written, in order of declaration.
    pub fn variables(&self) -> Vec<usize> {
        let accessed = |name: usize| {
            let accesses = |s: &Statement| matches!(s.action, Action::Read(v) | Action::Write(v) if v == name);
            self.jobs.iter().flat_map(|job| &job.statements).any(accesses)
        };
        (0..self.shared.len()).filter(|name| accessed(*name)).collect()
    }
}
