//! What a search looks for, and where it is kept.

use std::collections::BTreeSet;
use std::path::PathBuf;

use check::SearchOptions;
use explore::Check;

use crate::failure::Failure;
use crate::output;

/// What a search looks for, and where it is kept.
#[derive(clap::Args)]
pub(crate) struct SearchFlags {
    /// What to look for, separated by commas [default: race,deadlock,assert,crash,misuse]. Crashes and misuses are reported
    /// wherever a run meets them. What `check` is asked for here beside races, it looks for in every schedule
    #[arg(long, value_delimiter = ',', value_name = "CHECKS",
          value_parser = clap::builder::PossibleValuesParser::new(Check::ALL.map(Check::as_str)))]
    check: Vec<String>,

    /// Stop at the first finding
    #[arg(long)]
    first: bool,

    /// Write a checkpoint of the search to a file, every few seconds and when the search is stopped
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// Go on with the search from a checkpoint
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
}

impl SearchFlags {
    /// How to search, with everything else as usual. The checkpoint's file is tried, so that a mistake costs no time.
    pub(crate) fn options(&self) -> Result<SearchOptions, Failure> {
        if let Some(file) = &self.checkpoint {
            output::try_file(file)?;
        }
        Ok(SearchOptions {
            checks: self.checks()?.unwrap_or_else(|| Check::ALL.into()),
            stop_at_first: self.first,
            checkpoint: self.checkpoint.clone(),
            resume: self.resume.clone(),
            ..SearchOptions::default()
        })
    }

    /// Whether other errors than races are asked for by name.
    pub(crate) fn names_other_errors(&self) -> bool {
        self.check.iter().any(|check| check != Check::Race.as_str())
    }

    /// What to look for, if that was said.
    fn checks(&self) -> Result<Option<BTreeSet<Check>>, Failure> {
        let unknown = |e: explore::UnknownCheck| Failure::new(e.to_string(), "see `raceproof explore --help`");
        let named =
            self.check.iter().map(|check| check.parse().map_err(unknown)).collect::<Result<BTreeSet<_>, _>>()?;
        Ok(Some(named).filter(|named| !named.is_empty()))
    }
}
