//! A firing sequence to a covering marking, as a file.
//!
//! The text form: the initial marking by place names, then the fired transitions, by number and, if they have one,
//! name.
//!
//! ```text
//! raceproof-firing-sequence 1
//! initial idle 2 lock 1
//! fire 0 enter
//! fire 0 enter
//! ```
//!
//! [`crate::certificate::replay`] checks a witness.

use std::fmt::Write as _;

use crate::backward::Answer;
use crate::certificate;
use crate::marking::Marking;
use crate::net::{Net, TransitionId};

/// From `initial`, firing `sequence` reaches a marking that covers a target.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Witness {
    /// Where it starts.
    pub initial: Marking,
    /// What fires, in order.
    pub sequence: Vec<TransitionId>,
}

/// The first line of every witness file.
pub const HEADER: &str = "raceproof-firing-sequence 1";

impl Witness {
    /// The witness of a covered answer.
    pub fn of(answer: &Answer) -> Option<Self> {
        let Answer::Covered { initial, sequence } = answer else { return None };
        Some(Self { initial: initial.clone(), sequence: sequence.clone() })
    }

    /// Fires it; the error says what is wrong.
    pub fn replay(&self, net: &Net) -> Result<(), String> {
        certificate::replay(net, &self.initial, &self.sequence)
    }

    /// The text form.
    pub fn to_text(&self, net: &Net) -> String {
        let mut out = format!("{HEADER}\ninitial");
        for (p, n) in self.initial.entries() {
            let _ = write!(out, " {} {n}", net.places[p.index()]);
        }
        out.push('\n');
        for t in &self.sequence {
            let line = format!("fire {} {}", t.0, net.transitions[t.index()].name);
            let _ = writeln!(out, "{}", line.trim_end());
        }
        out
    }

    /// Reads the text form. Errors name the line.
    pub fn from_text(text: &str, net: &Net) -> Result<Self, String> {
        let mut lines = text.lines().enumerate();
        if lines.next().map(|(_, l)| l.trim()) != Some(HEADER) {
            return Err(format!("line 1: expected `{HEADER}`"));
        }
        let mut witness = Self::default();
        for (index, line) in lines {
            let fail = |what: String| format!("line {}: {what}", index + 1);
            match line.trim().split_once(' ').unwrap_or((line.trim(), "")) {
                ("", _) => {}
                ("initial", rest) => witness.initial = net.marking(rest).map_err(fail)?,
                ("fire", rest) => {
                    let (number, name) = rest.split_once(' ').unwrap_or((rest, ""));
                    let id = number.parse().ok().filter(|n| (*n as usize) < net.transitions.len()).map(TransitionId);
                    let id = id.ok_or_else(|| fail(format!("the net has no transition number `{number}`")))?;
                    let called = &net.transitions[id.index()].name;
                    if called.trim() != name.trim() {
                        return Err(fail(format!("transition {number} is called `{called}`, not `{name}`")));
                    }
                    witness.sequence.push(id);
                }
                (word, _) => return Err(fail(format!("`{word}` is none of `initial`, `fire`"))),
            }
        }
        Ok(witness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backward::{Pruning, solve};
    use crate::lola;

    const NET: &str = "PLACE idle, busy; MARKING idle: 2; TRANSITION start CONSUME idle; PRODUCE busy;";

    #[test]
    fn written_read_and_replayed() {
        let mut net = lola::parse(NET).unwrap();
        net.targets = crate::target::parse("busy >= 2", &net).unwrap();
        let witness = Witness::of(&solve(&net, Pruning::default(), |_| true).0).unwrap();
        let text = witness.to_text(&net);
        assert_eq!(text, format!("{HEADER}\ninitial idle 2\nfire 0 start\nfire 0 start\n"));
        assert_eq!(Witness::from_text(&text, &net).as_ref(), Ok(&witness));
        assert_eq!(witness.replay(&net), Ok(()));
        let short = Witness::from_text(&text.replacen("fire 0 start\n", "", 1), &net).unwrap();
        assert!(short.replay(&net).is_err());
    }

    #[test]
    fn refuses_with_the_line() {
        let net = lola::parse(NET).unwrap();
        let error = |text: &str| Witness::from_text(&format!("{HEADER}\n{text}"), &net).unwrap_err();
        assert_eq!(Witness::from_text("", &net), Err(format!("line 1: expected `{HEADER}`")));
        assert_eq!(error("initial idle"), "line 2: a place without a number");
        assert_eq!(error("initial bed 2"), "line 2: the net has no place `bed`");
        assert_eq!(error("\nfire 7 start"), "line 3: the net has no transition number `7`");
        assert_eq!(error("fire 0 stop"), "line 2: transition 0 is called `start`, not `stop`");
        assert_eq!(error("wait"), "line 2: `wait` is none of `initial`, `fire`");
    }
}
