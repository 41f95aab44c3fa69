//! What a search of one input did not reach.
//!
//! A complete search settles what its input can do. Where the program reads from outside, another input may lead it to
//! accesses that no run of this one executed, and "no schedule shows it" would say less than it seems to.

use std::collections::BTreeSet;

use model::{End, Pair};
use program::Program;
use report::Code;

use super::Open;
use crate::describe::{Position, Sightings};
use crate::gap::Gap;
use crate::outside::{self, Source};
use crate::run::FirstRun;

/// What answers a search that reached too little.
const SETTLE: &str = "give an input that leads there: arguments after `--`, standard input with `--stdin FILE`; or ask about \
                      what was reached, with `--reached-only`";

/// When a search of one input is not the whole answer.
pub(crate) struct Reach {
    /// What the program reads from outside; something.
    pub(crate) sources: BTreeSet<Source>,
    /// Whether the pairs that are not reached are known: all pairs of the text are listed.
    pub(crate) lists_all: bool,
    /// Whether every pair of the text counts, and not only those that runs have.
    pub(crate) of_text: bool,
}

impl Reach {
    /// Why a pair stays open that no run executed; `None` if one did.
    pub(crate) fn missed(&self, program: &Program, sightings: &Sightings, pair: Pair) -> Option<Open> {
        let missed = pair.sites().into_iter().find(|site| !sightings.reach(*site))?;
        let reason = format!("not reached by this input: no run executes {}", Position::of(program, Some(missed)));
        Some(Open::new(Code::NOT_REACHED, reason).settled_by(SETTLE))
    }

    /// What the report says of it, if so many open pairs were not reached.
    pub(crate) fn gap(&self, pairs: usize, creates: bool, sightings: &Sightings, first: &FirstRun) -> Option<Gap> {
        let what = if creates && sightings.threads() < 2 {
            "no run with this input starts a second thread".to_owned()
        } else if self.of_text && pairs > 0 {
            let s = if pairs == 1 { " is" } else { "s are" };
            format!("{pairs} pair{s} not reached by this input")
        } else if self.of_text && !self.lists_all {
            "this input may not reach every access, and not all pairs of the program can be listed".to_owned()
        } else {
            return None;
        };
        let sources = outside::phrase(&self.sources);
        Some(Gap::new(Code::NOT_REACHED, format!("{what}, and the program reads {sources}; {}", tell(first)), SETTLE))
    }
}

/// How the first run went.
fn tell(first: &FirstRun) -> String {
    let ended = match &first.end {
        End::Exit { code } => format!("the first run ended with status {code}"),
        _ => "the first run did not end by itself".to_owned(),
    };
    let threads = match first.threads {
        0 => "without creating a thread".to_owned(),
        1 => "after creating 1 thread".to_owned(),
        many => format!("after creating {many} threads"),
    };
    let said = first.last_line.as_ref().map_or(String::new(), |line| format!("; its last line of output: `{line}`"));
    format!("{ended} {threads}{said}")
}
