//! What keeps an answer from being better, and what would settle it.

use explore::Failure;
use model::{SiteId, Spent};
use program::Program;
use report::{Code, Unknown};

use crate::describe::Position;

/// Something that stopped an engine, not tied to one pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Gap {
    /// What to look up with `raceproof explain`.
    pub(crate) code: Code,
    /// One sentence.
    pub(crate) reason: String,
    /// The external function to blame, if it is one.
    pub(crate) function: Option<String>,
    /// Where in the program, if it is somewhere.
    pub(crate) site: Option<SiteId>,
    /// What would settle it.
    pub(crate) settle: String,
    /// The run that was cut at a limit, if this is about one.
    pub(crate) endless: Option<Failure>,
}

impl Gap {
    /// A gap that concerns the whole program.
    pub(crate) fn new(code: Code, reason: impl Into<String>, settle: impl Into<String>) -> Self {
        Self { code, reason: reason.into(), function: None, site: None, settle: settle.into(), endless: None }
    }

    /// Two runs of one schedule differ.
    pub(crate) fn unrepeatable(reason: impl Into<String>) -> Self {
        Self::new(
            Code::UNREPEATABLE,
            reason,
            "look for what the program takes from outside (time, addresses, other processes); `raceproof record` and \
             `predict` analyse single runs",
        )
    }

    /// A limit that was reached before something could be done.
    pub(crate) fn limit(what: &str, spent: Spent) -> Self {
        let settle = match spent {
            Spent::Memory => "raise `--memory`",
            Spent::Time | Spent::Interrupt => "raise `--time`",
            Spent::Pairs => "`raceproof static` judges pairs of classes, however many there are",
        };
        Self::new(Code::SEARCH_BOUND, format!("{what}: {spent}"), settle)
    }

    /// The same at a site.
    pub(crate) fn at(self, site: Option<SiteId>) -> Self {
        Self { site, ..self }
    }

    /// As the document has it.
    pub(crate) fn resolve(&self, program: &Program) -> Unknown {
        let Position { file, line, column, .. } = Position::of(program, self.site);
        let Self { code, reason, function, settle, .. } = self.clone();
        Unknown { code, reason, function, file, line, column, settle, witness: None, tests: Vec::new() }
    }

    /// As the document has it, for answers without a program.
    pub(crate) fn without_place(self) -> Unknown {
        let Self { code, reason, function, settle, .. } = self;
        let Position { file, line, column, .. } = Position::default();
        Unknown { code, reason, function, file, line, column, settle, witness: None, tests: Vec::new() }
    }
}
