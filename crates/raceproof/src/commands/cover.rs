//! `raceproof cover`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use cover::sml::{self, Sml};
use petri::backward::{Answer, Pruning, Stop, solve};
use petri::certificate::{self, Certificate};
use petri::format::Format;
use petri::witness::{self, Witness};
use petri::{Net, TransitionId, pnml, spec, target};
use report::document::SCHEMA;
use report::{Command, CoverReport, CoverStatistics, CoverVariable, CoverVerdict};

use crate::commands::flags::{PruningFlag, seconds};
use crate::failure::Failure;
use crate::output;

/// Say whether a reachable marking of a net covers a target
///
/// A net file with one of the endings `.spec` (mist), `.pnml`, `.lola` or `.net` (LoLA), or a program of the small
/// language, `.sml`: then each shared variable is a question.
///
/// Exit status: 0 safe; 1 covered; 2 wrong use; 3 not settled in the time given.
#[derive(clap::Args)]
pub(crate) struct Cover {
    /// The net
    #[arg(value_name = "NET")]
    net: PathBuf,

    /// What is to be covered instead of the file's own targets: commas join, semicolons part
    #[arg(long, value_name = "TARGETS")]
    target: Option<String>,

    /// Stop after this many seconds
    #[arg(long, value_name = "SECS")]
    time: Option<f64>,

    /// Show the counters of the search
    #[arg(long)]
    stats: bool,

    /// What the search may leave out
    #[arg(long, value_enum, value_name = "PRUNING", default_value_t)]
    pruning: PruningFlag,

    /// Write the initial marking and the firing sequence of a covered target to a file
    #[arg(long, value_name = "FILE")]
    witness: Option<PathBuf>,

    /// Write what shows that no target can be covered to a file
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,

    /// Check a file written by `--certificate` or `--witness` instead of searching
    #[arg(long, value_name = "FILE", conflicts_with_all = ["certificate", "witness", "emit", "json", "stats"])]
    check_certificate: Option<PathBuf>,

    /// Print the net and stop there
    #[arg(long, value_enum, value_name = "FORMAT")]
    emit: Option<Emit>,

    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,
}

/// What a net can be printed as.
#[derive(Clone, Copy, ValueEnum)]
enum Emit {
    /// Graphviz
    Dot,
    /// mist
    Spec,
    /// PNML
    Pnml,
}

/// One question about a net, with the shared variable it is about where there is one.
struct Question {
    variable: Option<String>,
    net: Net,
}

impl Cover {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let start = Instant::now();
        let limit = self.time.map(|time| seconds("--time", time)).transpose()?;
        let input = Input::read(&self.net)?;
        if let Some(emit) = self.emit {
            output::print(&emit.render(&input.net(self.target.as_deref())?)?);
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(path) = &self.check_certificate {
            return check(&input.net_with_targets(self.target.as_deref())?, path);
        }
        let questions = self.questions(&input)?;
        let go_on = || limit.is_none_or(|limit| start.elapsed() < limit);
        let answered: Vec<Answered> = questions
            .into_iter()
            .map(|question| answer(question, self.pruning.into(), go_on))
            .collect::<Result<_, _>>()?;
        self.write_files(&answered)?;
        let report = self.report(&answered, start.elapsed());
        output::print(&if self.json { report.json() } else { report.terminal(self.stats) });
        Ok(ExitCode::from(report.exit_status()))
    }

    /// The questions: one per variable of a program, unless targets are given or one certificate is wanted for all.
    fn questions(&self, input: &Input) -> Result<Vec<Question>, Failure> {
        match input {
            Input::Program(sml) if self.target.is_none() && self.certificate.is_none() => {
                let question = |variable: usize| Question {
                    variable: Some(sml.shared[variable].clone()),
                    net: sml::net::net_for(sml, &[variable]),
                };
                Ok(sml.variables().into_iter().map(question).collect())
            }
            _ => Ok(vec![Question { variable: None, net: input.net_with_targets(self.target.as_deref())? }]),
        }
    }

    fn write_files(&self, answered: &[Answered]) -> Result<(), Failure> {
        for Answered { net, answer, .. } in answered {
            if let (Answer::Safe(certificate), Some(path)) = (answer, &self.certificate) {
                output::write_file(path, &certificate.to_text(net))?;
            }
        }
        let covered = answered.iter().find_map(|one| Some((one, Witness::of(&one.answer)?)));
        match (covered, &self.witness) {
            (Some((one, witness)), Some(path)) => output::write_file(path, &witness.to_text(&one.net)),
            _ => Ok(()),
        }
    }

    fn report(&self, answered: &[Answered], time: Duration) -> CoverReport {
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
            inputs: vec![self.net.display().to_string()],
            verdict: answered.iter().map(Answered::verdict).min().unwrap_or(CoverVerdict::Safe),
            initial: covered.map(Answered::initial).unwrap_or_default(),
            steps: covered.map(Answered::steps).unwrap_or_default(),
            basis: answered.iter().map(|one| one.basis).sum(),
            time_ms: time.as_millis() as u64,
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

/// A question with its answer.
struct Answered {
    variable: Option<String>,
    net: Net,
    answer: Answer,
    statistics: CoverStatistics,
    basis: u64,
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

/// Answers a question; a firing sequence is replayed before anything is said about it.
fn answer(question: Question, pruning: Pruning, go_on: impl Fn() -> bool) -> Result<Answered, Failure> {
    let Question { variable, net } = question;
    let (answer, found) = solve(&net, pruning, |_| go_on());
    if let Some(Err(error)) = Witness::of(&answer).map(|witness| witness.replay(&net)) {
        let message = format!("raceproof bug: the firing sequence found cannot be fired: {error}");
        return Err(Failure::new(message, "please report this with the net, if you can share it"));
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

/// Checks a certificate or a firing sequence.
fn check(net: &Net, path: &Path) -> Result<ExitCode, Failure> {
    let text = read(path)?;
    let refused = |error: String| {
        Failure::new(format!("{}: {error}", path.display()), "give the file and the net that it was made for")
    };
    if text.starts_with(witness::HEADER) {
        Witness::from_text(&text, net).and_then(|witness| witness.replay(net)).map_err(refused)?;
        output::print("covered: the firing sequence is right\n");
        return Ok(ExitCode::from(1));
    }
    let certificate = Certificate::from_text(&text, net).map_err(refused)?;
    certificate::check(net, &certificate).map_err(refused)?;
    output::print("safe: the certificate is right\n");
    Ok(ExitCode::SUCCESS)
}

/// What the user gave.
enum Input {
    /// A net.
    Net(Net),
    /// A program of the small language.
    Program(Sml),
}

impl Input {
    fn read(path: &Path) -> Result<Self, Failure> {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let format = Format::of_extension(ending);
        if format.is_none() && ending != "sml" {
            let message = format!("`{}`: not known what kind of net this is", path.display());
            return Err(Failure::new(message, "give a file with the ending .spec, .pnml, .lola, .net or .sml"));
        }
        let text = read(path)?;
        let malformed =
            |error: String| Failure::new(format!("{}:{error}", path.display()), "correct the file at this place");
        match format {
            Some(format) => Ok(Self::Net(format.parse(&text).map_err(|e| malformed(e.to_string()))?)),
            None => Ok(Self::Program(Sml::parse(&text).map_err(|e| malformed(e.to_string()))?)),
        }
    }

    /// The net, with the targets given or else its own.
    fn net(&self, targets: Option<&str>) -> Result<Net, Failure> {
        let mut net = match self {
            Self::Net(net) => net.clone(),
            Self::Program(sml) => sml::net::net(sml),
        };
        if let Some(targets) = targets {
            net.targets = target::parse(targets, &net).map_err(|error| {
                Failure::new(format!("`--target {targets}`: {error}"), "write it as `p >= 1, q >= 2; r >= 1`")
            })?;
        }
        Ok(net)
    }

    /// The same; a net without a target is refused.
    fn net_with_targets(&self, targets: Option<&str>) -> Result<Net, Failure> {
        let net = self.net(targets)?;
        if net.targets.is_empty() && matches!(self, Self::Net(_)) {
            return Err(Failure::new("the net has no target", "say what is to be covered: `--target \"place >= 1\"`"));
        }
        Ok(net)
    }
}

impl Emit {
    fn render(self, net: &Net) -> Result<String, Failure> {
        match self {
            Self::Dot => Ok(cover::dot::dot(net)),
            Self::Spec => Ok(spec::write(net)),
            Self::Pnml => pnml::write(net)
                .map_err(|error| Failure::new(error.to_string(), "use `--emit spec`, which can express every net")),
        }
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let help = "check the spelling and the permissions";
    let bytes = std::fs::read(path)
        .map_err(|error| Failure::new(format!("cannot read `{}`: {error}", path.display()), help))?;
    String::from_utf8(bytes)
        .map_err(|_| Failure::new(format!("`{}` is not text in UTF-8", path.display()), "give a file in UTF-8"))
}
