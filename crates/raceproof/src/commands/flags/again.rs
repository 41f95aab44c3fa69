//! What a command does that was there before.

use report::{Report, Since};

use crate::commands::flags::ReportFlags;
use crate::failure::Failure;
use crate::revision::Revision;
use crate::watch;

/// What a command does that was there before.
#[derive(clap::Args)]
pub(crate) struct AgainFlags {
    /// Work as if for the first time: give no earlier answer again if nothing has changed, and do not say what is new
    #[arg(long, env = "RACEPROOF_FRESH", hide_env = true, action = clap::ArgAction::SetTrue,
          value_parser = clap::builder::FalseyValueParser::new(), help_heading = "Again")]
    pub(crate) fresh: bool,

    /// Report only what is not in a revision of the git repository: findings of the same program there are known
    #[arg(long, value_name = "REVISION", help_heading = "Again")]
    since: Option<String>,

    /// Run again whenever a file changes that the answer rests on, until Ctrl-C
    #[arg(long, conflicts_with_all = ["json", "since"], help_heading = "Again")]
    watch: bool,

    /// Write the names of the files that the answer rests on to a file
    #[arg(long, value_name = "FILE", hide = true)]
    rests_on: Option<std::path::PathBuf>,
}

impl AgainFlags {
    /// Watches, if that is asked for: never returns then.
    pub(crate) fn watch(&self) -> Result<(), Failure> {
        if self.watch { watch::run() } else { Ok(()) }
    }

    /// The same, but as if for the first time where that is needed.
    pub(crate) fn afresh_if(self, needed: bool) -> Self {
        Self { fresh: self.fresh || needed, ..self }
    }

    /// Carries out a request: what the earlier revision shows, if one is named, and then what there is now.
    pub(crate) fn carry_out(
        &self,
        request: &check::Request,
        flags: &ReportFlags,
        mut known: report::suppress::Known,
        more: impl FnOnce(&crate::progress::Line),
    ) -> Result<std::process::ExitCode, Failure> {
        let request = check::Request { fresh: self.fresh, all_pairs: flags.lists_all_pairs(), ..request.clone() };
        let earlier = match &self.since {
            Some(name) => Some((name, Revision::find(name)?.report(&request)?)),
            None => None,
        };
        if let Some((name, earlier)) = &earlier {
            known.earlier(earlier, &format!("known since `{name}`"));
        }
        crate::guard::carry_out(&request, flags, known, |request, line| {
            let mut report: Report = check::run(request, line)?;
            if let Some(file) = &self.rests_on {
                let names: Vec<_> = line.rests_on().iter().map(|path| path.to_string_lossy()).collect();
                crate::output::write_file(file, &names.join("\n"))?;
            }
            if let Some((name, earlier)) = &earlier {
                report.since = Some(Since::of(&report, earlier, &format!("`{name}`")));
            }
            more(line);
            Ok(report)
        })
    }
}
