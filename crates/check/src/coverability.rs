//! Plain coverability questions: net files and programs of the small language, answered, checked and printed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cover::sml::{self, Sml};
use model::Budget;
use petri::backward::{Answer, Pruning, Stop, solve};
use petri::certificate::{self, Certificate};
use petri::format::Format;
use petri::witness::{self, Witness};
use petri::{Net, TransitionId, pnml, spec, target};
use report::document::SCHEMA;
use report::{Command, CoverReport, CoverStatistics, CoverVariable, CoverVerdict};

use crate::Error;

/// A file with something to cover.
pub enum NetFile {
    /// A net.
    Net(Net),
    /// A program of the small language.
    Program(Sml),
}

/// What a net can be printed as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NetForm {
    /// Graphviz.
    Dot,
    /// mist.
    Spec,
    /// PNML.
    Pnml,
}

impl NetFile {
    /// Reads a net or a program, by the end of the file's name.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let format = Format::of_extension(ending);
        if format.is_none() && ending != "sml" {
            return Err(Error::NetKind { path: path.to_owned() });
        }
        let text = text(path)?;
        let malformed = |cause: String| Error::Malformed { path: path.to_owned(), cause };
        match format {
            Some(format) => Ok(Self::Net(format.parse(&text).map_err(|e| malformed(e.to_string()))?)),
            None => Ok(Self::Program(Sml::parse(&text).map_err(|e| malformed(e.to_string()))?)),
        }
    }

    /// The net, with the targets given or else its own.
    pub fn net(&self, targets: Option<&str>) -> Result<Net, Error> {
        let mut net = match self {
            Self::Net(net) => net.clone(),
            Self::Program(sml) => sml::net::net(sml),
        };
        if let Some(targets) = targets {
            let refused = |cause: String| Error::Targets { targets: targets.to_owned(), cause };
            net.targets = target::parse(targets, &net).map_err(|error| refused(error.to_string()))?;
        }
        Ok(net)
    }

    /// The same; a net without a target is refused.
    pub fn net_with_targets(&self, targets: Option<&str>) -> Result<Net, Error> {
        let net = self.net(targets)?;
        if net.targets.is_empty() && matches!(self, Self::Net(_)) {
            return Err(Error::NoTarget);
        }
        Ok(net)
    }

    /// The questions: one per variable of a program, unless targets are given or one answer is wanted for all.
    fn questions(&self, targets: Option<&str>, as_one: bool) -> Result<Vec<(Option<String>, Net)>, Error> {
        match self {
            Self::Program(sml) if targets.is_none() && !as_one => {
                let question = |v: usize| (Some(sml.shared[v].clone()), sml::net::net_for(sml, &[v]));
                Ok(sml.variables().into_iter().map(question).collect())
            }
            _ => Ok(vec![(None, self.net_with_targets(targets)?)]),
        }
    }
}

/// A net as text.
pub fn print_net(net: &Net, form: NetForm) -> Result<String, Error> {
    match form {
        NetForm::Dot => Ok(cover::dot::dot(net)),
        NetForm::Spec => Ok(spec::write(net)),
        NetForm::Pnml => pnml::write(net).map_err(|error| Error::NotPnml(error.to_string())),
    }
}

/// A question with its answer.
struct Answered {
    /// The shared variable it is about, where there is one.
    variable: Option<String>,
    net: Net,
    answer: Answer,
    statistics: CoverStatistics,
    basis: u64,
}

/// The answers about one file.
pub struct Coverability {
    path: PathBuf,
    answered: Vec<Answered>,
    start: Instant,
}

/// Answers what a file asks, or what `targets` ask about it; `as_one` wants one answer for all variables of a program.
pub fn cover(
    path: &Path,
    file: &NetFile,
    targets: Option<&str>,
    as_one: bool,
    pruning: Pruning,
    budget: &Budget,
) -> Result<Coverability, Error> {
    let start = Instant::now();
    let questions = file.questions(targets, as_one)?.into_iter();
    let answered = questions.map(|(variable, net)| answer(variable, net, pruning, budget)).collect::<Result<_, _>>()?;
    Ok(Coverability { path: path.to_owned(), answered, start })
}

/// Answers a question; a firing sequence is replayed before anything is said about it.
fn answer(variable: Option<String>, net: Net, pruning: Pruning, budget: &Budget) -> Result<Answered, Error> {
    let (answer, found) = solve(&net, pruning, |_| !budget.is_spent());
    if let Some(Err(error)) = Witness::of(&answer).map(|witness| witness.replay(&net)) {
        return Err(Error::FiringSequence(error.to_string()));
    }
    let statistics = CoverStatistics {
        places: net.places.len() as u64,
        transitions: net.transitions.len() as u64,
        iterations: found.iterations,
        configurations: found.configurations,
        subsumed: found.subsumed,
        excluded: found.excluded,
        invariants: found.invariants,
    };
    Ok(Answered { variable, net, answer, statistics, basis: found.basis })
}

impl Answered {
    fn verdict(&self) -> CoverVerdict {
        match self.answer {
            Answer::Covered { .. } => CoverVerdict::Covered,
            Answer::Safe(_) => CoverVerdict::Safe,
            Answer::Stopped(_) => CoverVerdict::Unknown,
        }
    }

    /// What stopped the search.
    fn reason(&self) -> Option<&'static str> {
        match self.answer {
            Answer::Stopped(Stop::Asked) => Some("the search was stopped by `--time`"),
            Answer::Stopped(Stop::Tokens) => Some("the numbers of tokens became too large"),
            _ => None,
        }
    }

    /// Places with tokens where the firing sequence starts.
    fn initial(&self) -> BTreeMap<String, u32> {
        let witness = Witness::of(&self.answer).unwrap_or_default();
        witness.initial.entries().iter().map(|(p, n)| (self.net.places[p.index()].clone(), *n)).collect()
    }

    /// What fires, by name; by number where there is none.
    fn steps(&self) -> Vec<String> {
        let name = |t: &TransitionId| {
            let name = &self.net.transitions[t.index()].name;
            if name.is_empty() { format!("transition {}", t.0) } else { name.clone() }
        };
        Witness::of(&self.answer).unwrap_or_default().sequence.iter().map(name).collect()
    }
}

impl Coverability {
    /// What shows that no target can be covered, as text, if none can.
    pub fn certificate(&self) -> Option<String> {
        self.answered.iter().rev().find_map(|Answered { net, answer, .. }| match answer {
            Answer::Safe(certificate) => Some(certificate.to_text(net)),
            _ => None,
        })
    }

    /// The initial marking and the firing sequence of the first covered target, as text, if one is covered.
    pub fn witness(&self) -> Option<String> {
        self.answered.iter().find_map(|one| Some(Witness::of(&one.answer)?.to_text(&one.net)))
    }

    /// The answers as a document.
    pub fn report(&self) -> CoverReport {
        let answered = &self.answered;
        let variable = |one: &Answered| {
            Some(CoverVariable { name: one.variable.clone()?, verdict: one.verdict(), steps: one.steps() })
        };
        let covered = answered.iter().find(|one| one.verdict() == CoverVerdict::Covered);
        let total = |field: fn(&CoverStatistics) -> u64| answered.iter().map(|one| field(&one.statistics)).sum();
        let most = |field: fn(&CoverStatistics) -> u64| answered.iter().map(|one| field(&one.statistics)).max();
        CoverReport {
            raceproof: env!("CARGO_PKG_VERSION").to_owned(),
            schema: SCHEMA,
            command: Command::Cover,
            inputs: vec![self.path.display().to_string()],
            verdict: answered.iter().map(Answered::verdict).min().unwrap_or(CoverVerdict::Safe),
            initial: covered.map(Answered::initial).unwrap_or_default(),
            steps: covered.map(Answered::steps).unwrap_or_default(),
            basis: answered.iter().map(|one| one.basis).sum(),
            time_ms: self.start.elapsed().as_millis() as u64,
            reason: answered.iter().find_map(Answered::reason).map(str::to_owned),
            statistics: CoverStatistics {
                places: most(|s| s.places).unwrap_or(0),
                transitions: most(|s| s.transitions).unwrap_or(0),
                iterations: total(|s| s.iterations),
                configurations: total(|s| s.configurations),
                subsumed: total(|s| s.subsumed),
                excluded: total(|s| s.excluded),
                invariants: total(|s| s.invariants),
            },
            variables: answered.iter().filter_map(variable).collect(),
        }
    }
}

/// What a checked file shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checked {
    /// It is a firing sequence, and it covers a target.
    Covered,
    /// It is a certificate, and no target can be covered.
    Safe,
}

/// Checks a certificate or a firing sequence, by the independent checker.
pub fn check_certificate(net: &Net, path: &Path) -> Result<Checked, Error> {
    let text = text(path)?;
    let refused = |cause: String| Error::Certificate { path: path.to_owned(), cause };
    if text.starts_with(witness::HEADER) {
        Witness::from_text(&text, net).and_then(|witness| witness.replay(net)).map_err(refused)?;
        return Ok(Checked::Covered);
    }
    let certificate = Certificate::from_text(&text, net).map_err(refused)?;
    certificate::check(net, &certificate).map_err(refused)?;
    Ok(Checked::Safe)
}

fn text(path: &Path) -> Result<String, Error> {
    let bytes = std::fs::read(path).map_err(|cause| Error::Unreadable { path: path.to_owned(), cause })?;
    String::from_utf8(bytes).map_err(|_| Error::NotText { path: path.to_owned() })
}
