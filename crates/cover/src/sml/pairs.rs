//! Pairs of statements of the small language that access the same variable.

use super::{Action, Sml};

/// A statement that accesses a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SmlAccess {
    /// Index into [`Sml::jobs`].
    pub job: usize,
    /// Index into the job's statements.
    pub statement: usize,
    /// Whether it writes.
    pub writes: bool,
}

/// Two statements that access the same variable, at least one writing. A statement can be both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SmlPair {
    /// Index into [`Sml::shared`].
    pub variable: usize,
    /// In order of the text.
    pub accesses: [SmlAccess; 2],
}

impl Sml {
    /// All pairs, by variable and then in order of the text.
    pub fn pairs(&self) -> Vec<SmlPair> {
        let mut pairs = Vec::new();
        for variable in self.variables() {
            let accesses = self.accesses(variable);
            for (number, one) in accesses.iter().enumerate() {
                let others = accesses[number..].iter().filter(|other| one.writes || other.writes);
                pairs.extend(others.map(|other| SmlPair { variable, accesses: [*one, *other] }));
            }
        }
        pairs
    }

    fn accesses(&self, variable: usize) -> Vec<SmlAccess> {
        let mut accesses = Vec::new();
        for (job, body) in self.jobs.iter().enumerate() {
            for (statement, one) in body.statements.iter().enumerate() {
                match one.action {
                    Action::Read(v) if v == variable => accesses.push(SmlAccess { job, statement, writes: false }),
                    Action::Write(v) if v == variable => accesses.push(SmlAccess { job, statement, writes: true }),
                    _ => {}
                }
            }
        }
        accesses
    }
}
