//! Paper 003, Table 3: launch control with more and more threads.

use serde::{Deserialize, Serialize};

use super::Rows;
use super::search::{Search, Searches, searches};
use crate::Failure;
use crate::environment::Environment;
use crate::page::Page;
use crate::plot::{Line, exponentials};

const REDUCTIONS: [&str; 3] = ["dpor-sleep", "dhtc", "best"];

/// Thousands of transitions and seconds of DPOR with sleep sets, then of the paper's algorithm, from two threads on.
const PAPER: [[&str; 4]; 5] = [
    ["0.9", "1.1", "0.7", "1.8"],
    ["3.7", "5", "0.71", "1.9"],
    ["12", "19", "0.73", "1.9"],
    ["50", "82", "1", "3.7"],
    ["212", "375", "2", "9.9"],
];

/// From two threads on.
#[derive(Serialize, Deserialize)]
pub(super) struct Dhtc(Vec<Searches>);

impl Rows for Dhtc {
    const NAME: &'static str = "dhtc";
    const TITLE: &'static str = "Paper 003, Table 3: happens-before with thread states";

    fn measure(environment: &Environment) -> Result<Self, Failure> {
        let row = |tasks: u32| {
            searches(environment, "tests/search/launch_control.c", &format!("-DTASKS={tasks}"), &REDUCTIONS)
        };
        (2..=10).map(row).collect::<Result<_, _>>().map(Self)
    }

    fn write(&self, page: &mut Page) -> Result<(), Failure> {
        page.say(
            "Task threads that report under locks, two of which share a word that no lock protects. The paper's columns are \
             its SDPOR with sleep sets and its algorithm, thousands of transitions and seconds, for a program that it does \
             not print; ours are executions, transitions and seconds.",
        );
        let mut head = vec!["threads".to_owned(), "paper: SDPOR".to_owned(), "paper: DHTC".to_owned()];
        head.extend(REDUCTIONS.map(|name| format!("`{name}`")));
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let ours = |search: &Search| {
            format!("{}; {}; {} s", search.count(search.executions), search.count(search.transitions), search.time())
        };
        page.table(
            &head,
            (0..).zip(&self.0).map(|(at, searches)| {
                let paper = |from: usize| {
                    PAPER.get(at).map_or(String::new(), |row| format!("{} k; {} s", row[from], row[from + 1]))
                };
                let mut cells = vec![(at + 2).to_string(), paper(0), paper(2)];
                cells.extend(REDUCTIONS.map(|name| searches.get(name).map_or_else(String::new, ours)));
                cells
            }),
        );
        let line = |name: &str| Line {
            label: name.to_owned(),
            points: (2..)
                .zip(&self.0)
                .filter_map(|(threads, searches)| Some((threads, searches.get(name)?)))
                .filter(|(_, search)| search.is_complete)
                .map(|(threads, search)| (f64::from(threads), search.executions as f64))
                .collect(),
        };
        page.plot("dhtc", "executions over threads", exponentials("threads", "executions", &REDUCTIONS.map(line)))
    }
}
