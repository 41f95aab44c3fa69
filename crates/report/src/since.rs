//! What is new in a report, and what is gone, beside an earlier one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::document::{PairVerdict, Report};
use crate::fingerprint;

/// What has changed since an earlier report. Findings are the same as long as their variable, functions and kinds are,
/// whatever their lines.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Since {
    /// What the earlier report is of: `the last run`, or a revision.
    pub earlier: String,
    /// The ids of races that are new.
    pub new: Vec<String>,
    /// How many other errors are new.
    pub new_errors: usize,
    /// How many races and other errors are gone.
    pub gone: usize,
}

impl Since {
    /// What has changed in `report` since an earlier one.
    pub fn of(report: &Report, earlier: &Report, name: &str) -> Self {
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for print in races(earlier).map(|(_, print)| print).chain(errors(earlier)) {
            *known.entry(print).or_default() += 1;
        }
        let mut is_known = |print: &String| match known.get_mut(print) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        };
        let new = races(report).filter(|(_, print)| !is_known(print)).map(|(id, _)| id.to_owned()).collect();
        let new_errors = errors(report).filter(|print| !is_known(print)).count();
        Self { earlier: name.to_owned(), new, new_errors, gone: known.into_values().sum() }
    }

    /// Whether anything is new or gone.
    pub fn has_changes(&self) -> bool {
        !self.new.is_empty() || self.new_errors > 0 || self.gone > 0
    }

    /// In one line.
    pub fn sentence(&self) -> String {
        let Self { earlier, new, new_errors, gone } = self;
        let errors = match new_errors {
            0 => None,
            1 => Some("1 other error".to_owned()),
            n => Some(format!("{n} other errors")),
        };
        let new: Vec<String> = new.iter().cloned().chain(errors).collect();
        let gone = (*gone > 0).then(|| format!("{gone} gone"));
        let new = (!new.is_empty()).then(|| format!("new: {}", new.join(", ")));
        let changed: Vec<String> = new.into_iter().chain(gone).collect();
        let changed = if changed.is_empty() { "the same findings".to_owned() } else { changed.join("; ") };
        format!("since {earlier}: {changed}")
    }
}

fn races(report: &Report) -> impl Iterator<Item = (&str, String)> {
    let races = report.pairs_with(PairVerdict::Race).filter(|pair| pair.is_told());
    races.map(|pair| (pair.id.as_str(), fingerprint::of_pair(pair)))
}

fn errors(report: &Report) -> impl Iterator<Item = String> {
    report.errors.iter().map(fingerprint::of_error)
}
