//! `raceproof cover`.

use std::path::PathBuf;
use std::process::ExitCode;

use check::{Checked, NetFile, NetForm};
use clap::ValueEnum;

use crate::commands::flags::{BudgetFlags, PruningFlag};
use crate::failure::Failure;
use crate::output;
use crate::settings::Settings;

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

    #[command(flatten)]
    budget: BudgetFlags,
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

impl From<Emit> for NetForm {
    fn from(emit: Emit) -> Self {
        match emit {
            Emit::Dot => Self::Dot,
            Emit::Spec => Self::Spec,
            Emit::Pnml => Self::Pnml,
        }
    }
}

impl Cover {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let budget = self.budget.budget(&Settings::default(), None)?;
        let (file, targets) = (NetFile::read(&self.net)?, self.target.as_deref());
        if let Some(emit) = self.emit {
            output::print(&check::print_net(&file.net(targets)?, emit.into())?)?;
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(path) = &self.check_certificate {
            let (text, status) = match check::check_certificate(&file.net_with_targets(targets)?, path)? {
                Checked::Covered => ("covered: the firing sequence is right\n", 1),
                Checked::Safe => ("safe: the certificate is right\n", 0),
            };
            output::print(text)?;
            return Ok(ExitCode::from(status));
        }
        let as_one = self.certificate.is_some();
        let answers = check::cover(&self.net, &file, targets, as_one, self.pruning.into(), &budget)?;
        for (path, text) in [(&self.certificate, answers.certificate()), (&self.witness, answers.witness())] {
            if let (Some(path), Some(text)) = (path, text) {
                output::write_file(path, &text)?;
            }
        }
        let report = answers.report();
        output::print(&if self.json { report.json() } else { report.terminal(self.stats) })?;
        Ok(ExitCode::from(report.exit_status()))
    }
}
