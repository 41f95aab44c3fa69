//! `raceproof replay --step`: a run event by event, as the user asks.

use std::io::{BufRead, IsTerminal, Write};

use report::{Run, Sources, step};

use crate::failure::Failure;
use crate::output;

const HELP: &str = "Enter or n: next event; b: back; a number: that event; f: the finding; q: quit\n";

/// What the user asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ask {
    Next,
    Back,
    Goto(usize),
    Finding,
    Quit,
    Help,
}

/// Shows a run until the user has enough; the end of the input is that, too.
pub(super) fn walk(run: &Run) -> Result<(), Failure> {
    let stdin = std::io::stdin();
    let prompts = stdin.is_terminal();
    let mut sources = Sources::new();
    let mut at = 0;
    output::print(&format!("{HELP}{}", step::render(run, at, &mut sources)))?;
    let mut lines = stdin.lock();
    loop {
        if prompts {
            let _ = write!(std::io::stderr(), "> ");
        }
        let mut line = Vec::new();
        let read = lines.read_until(b'\n', &mut line).map_err(|error| {
            Failure::new(format!("cannot read what to do: {error}"), "see `raceproof replay --help`")
        })?;
        if read == 0 {
            return Ok(());
        }
        let to = match parse(String::from_utf8_lossy(&line).trim()) {
            Ask::Quit => return Ok(()),
            Ask::Help => {
                output::print(HELP)?;
                continue;
            }
            Ask::Next => Some(at + 1),
            Ask::Back => at.checked_sub(1),
            // Of very long runs the first events are not kept.
            Ask::Goto(number) => run.events.iter().position(|event| event.step >= number),
            Ask::Finding => run.events.iter().rposition(|event| event.marked),
        };
        match to.filter(|to| *to < run.events.len()) {
            Some(to) => {
                at = to;
                output::print(&step::render(run, at, &mut sources))?;
            }
            None => output::print("there is no such event\n")?,
        }
    }
}

fn parse(line: &str) -> Ask {
    match line {
        "" | "n" | "next" => Ask::Next,
        "b" | "back" => Ask::Back,
        "f" | "finding" => Ask::Finding,
        "q" | "quit" => Ask::Quit,
        number => number.parse().map_or(Ask::Help, Ask::Goto),
    }
}
