//! What compilers and editors list: one diagnostic for each finding, at a place in the user's own code.

use crate::Code;
use crate::document::{Access, Finding, Pair, PairVerdict, Report, Unknown};
use crate::terminal;

/// How grave a diagnostic is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// A race or another error that a run shows.
    Error,
    /// What is predicted, and what keeps the absence of races from being proved.
    Warning,
}

/// What a diagnostic is about.
#[derive(Clone, Copy, Debug)]
pub enum About<'a> {
    /// Two accesses.
    Pair(&'a Pair),
    /// Another error.
    Error(&'a Finding),
    /// Something unknown of the whole program.
    Unknown(&'a Unknown),
}

/// One line of a list of findings.
#[derive(Clone, Debug)]
pub struct Diagnostic<'a> {
    /// How grave it is.
    pub severity: Severity,
    /// What to look up with `raceproof explain`.
    pub code: Code,
    /// One sentence, without the accesses.
    pub what: String,
    /// What it is about.
    pub about: About<'a>,
}

impl Severity {
    /// As compilers print it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl<'a> Diagnostic<'a> {
    /// That of a race.
    pub(crate) fn of_race(pair: &'a Pair) -> Self {
        let code = if pair.is_observed() { Code::OBSERVED_RACE } else { Code::DATA_RACE };
        let what = format!("data race on `{}`", pair.variable);
        Self { severity: Severity::Error, code, what, about: About::Pair(pair) }
    }

    /// That of another error.
    pub(crate) fn of_error(error: &'a Finding) -> Self {
        Self { severity: Severity::Error, code: error.code, what: error.message.clone(), about: About::Error(error) }
    }

    /// That of something unknown of the whole program.
    pub(crate) fn of_unknown(unknown: &'a Unknown) -> Self {
        let what = format!("no proof: {}", unknown.reason);
        Self { severity: Severity::Warning, code: unknown.code, what, about: About::Unknown(unknown) }
    }

    /// The file, line and column; of a pair those of its first access.
    pub fn place(&self) -> (Option<&'a str>, u32, u32) {
        match self.about {
            About::Pair(pair) => pair.accesses[0].own_place(),
            About::Error(error) => (error.file.as_deref(), error.line, error.column),
            About::Unknown(unknown) => (unknown.file.as_deref(), unknown.line, unknown.column),
        }
    }

    /// The sentence, with the access that is made there.
    pub fn message(&self) -> String {
        match self.about {
            About::Pair(pair) => format!("{}: {}", self.what, told(&pair.accesses[0])),
            About::Error(_) | About::Unknown(_) => self.what.clone(),
        }
    }
}

/// Races, other errors, predictions, then one open pair of each variable, then what is unknown of the whole program.
pub fn list(report: &Report) -> Vec<Diagnostic<'_>> {
    let mut list = Vec::new();
    list.extend(report.told_races().map(Diagnostic::of_race));
    list.extend(report.errors.iter().filter(|error| error.suppressed.is_none()).map(Diagnostic::of_error));
    let (predicted, open): (Vec<&Pair>, Vec<&Pair>) =
        report.pairs_with(PairVerdict::Unknown).partition(|pair| pair.is_predicted());
    let warning = |what, code, about| Diagnostic { severity: Severity::Warning, code, what, about };
    for pair in predicted {
        let what = format!("predicted data race on `{}`", pair.variable);
        list.push(warning(what, pair.code.unwrap_or(Code::NOT_ASKED), About::Pair(pair)));
    }
    for best in terminal::together(open).iter().filter_map(|group| group.first()) {
        let what = format!("not known whether accesses to `{}` race: {}", best.variable, best.reason);
        list.push(warning(what, best.code.unwrap_or(Code::NOT_ASKED), About::Pair(best)));
    }
    list.extend(report.unknowns.iter().map(Diagnostic::of_unknown));
    list
}

/// An access, who makes it, where and with which locks.
pub fn told(access: &Access) -> String {
    let locks = match access.locks.len() {
        0 => "no lock".to_owned(),
        _ => access.locks.iter().map(|lock| format!("`{lock}`")).collect::<Vec<_>>().join(", "),
    };
    let atomic = if access.atomic { "atomic " } else { "" };
    let Access { kind, thread, function, .. } = access;
    let thread = if thread.is_empty() { String::new() } else { format!(" by thread {thread}") };
    format!("{atomic}{kind}{thread} in `{function}`, holding {locks}")
}
