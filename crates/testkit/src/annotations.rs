//! Line annotations of test programs.
//!
//! | comment at the end of a line | meaning |
//! |---|---|
//! | `// RACE!` | a real race has an access on this line; missing it is unsound |
//! | `// RACE` | an alarm here is accepted for now |
//! | `// NORACE` | no race has an access on this line |
//! | `// DEADLOCK` | a thread can be blocked here for ever |
//! | `// ASSERT` | this assertion can fail |
//! | `// CRASH` | the program can crash here |
//! | `// SPIN` | a thread can loop here for ever |
//! | `// MISUSE` | the thread API can be used wrongly here; further words say how |
//!
//! Several may follow each other, as in `// RACE! ASSERT`. A comment that starts with another word is an ordinary
//! comment.

use std::collections::{BTreeMap, BTreeSet};

/// One of the two programs in a source: blanks the lines of the other one, between `#ifdef RACY` and `#endif`, and the
/// directives. Lines keep their numbers.
pub fn twin(source: &str, racy: bool) -> String {
    let mut open: Vec<Option<bool>> = Vec::new();
    let mut text = String::new();
    for line in source.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["#ifdef", "RACY", ..] => open.push(Some(racy)),
            ["#ifndef", "RACY", ..] => open.push(Some(!racy)),
            ["#if" | "#ifdef" | "#ifndef", ..] => open.push(None),
            ["#else", ..] => {
                if let Some(Some(active)) = open.last_mut() {
                    *active = !*active;
                }
            }
            ["#endif", ..] => drop(open.pop()),
            _ if open.contains(&Some(false)) => {}
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

/// What an annotation says about its line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mark {
    /// `// RACE!`
    Race,
    /// `// RACE`
    Alarm,
    /// `// NORACE`
    NoRace,
    /// `// DEADLOCK`
    Deadlock,
    /// `// ASSERT`
    Assertion,
    /// `// CRASH`
    Crash,
    /// `// SPIN`
    Spin,
    /// `// MISUSE`
    Misuse,
}

const WORDS: &[(&str, Mark)] = &[
    ("RACE!", Mark::Race),
    ("RACE", Mark::Alarm),
    ("NORACE", Mark::NoRace),
    ("DEADLOCK", Mark::Deadlock),
    ("ASSERT", Mark::Assertion),
    ("CRASH", Mark::Crash),
    ("SPIN", Mark::Spin),
    ("MISUSE", Mark::Misuse),
];

/// Lines, from 1.
pub type Lines = BTreeSet<u32>;

/// The annotations of one file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Annotations {
    marks: BTreeMap<Mark, Lines>,
}

impl Annotations {
    /// Reads the annotations of a source.
    pub fn parse(source: &str) -> Self {
        let mut marks: BTreeMap<Mark, Lines> = BTreeMap::new();
        for (line, text) in (1..).zip(source.lines()) {
            let Some((_, comment)) = text.rsplit_once("//") else { continue };
            let known = comment.split_whitespace().map_while(|word| WORDS.iter().find(|(w, _)| *w == word));
            for (_, mark) in known {
                marks.entry(*mark).or_default().insert(line);
            }
        }
        Self { marks }
    }

    /// The lines with this mark.
    pub fn lines(&self, mark: Mark) -> Lines {
        self.marks.get(&mark).cloned().unwrap_or_default()
    }

    /// Compares with the lines on which races were reported.
    pub fn compare(&self, reported: &Lines) -> Comparison {
        let (real, accepted, free) = (self.lines(Mark::Race), self.lines(Mark::Alarm), self.lines(Mark::NoRace));
        let unmarked = reported - &real;
        let unmarked = &unmarked - &accepted;
        Comparison { missed: &real - reported, wrong: reported & &free, unmarked: &unmarked - &free }
    }
}

/// How reported races differ from the annotations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Comparison {
    /// Real races that were not reported.
    pub missed: Lines,
    /// Lines marked as free of races that were reported.
    pub wrong: Lines,
    /// Lines without a mark that were reported.
    pub unmarked: Lines,
}

impl Comparison {
    /// Whether no real race was missed and no line marked as race-free was reported.
    pub fn holds(&self) -> bool {
        self.missed.is_empty() && self.wrong.is_empty()
    }
    /// The same, and nothing else was reported.
    pub fn is_exact(&self) -> bool {
        self.holds() && self.unmarked.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_are_told_apart() {
        let source = "a\n#ifdef RACY\nb\n#else\nc\n#ifndef N\nd\n#endif\n#endif\n#ifndef RACY\ne\n#endif\nf\n";
        assert_eq!(twin(source, true), "a\n\nb\n\n\n\n\n\n\n\n\n\nf\n");
        assert_eq!(twin(source, false), "a\n\n\n\nc\n\nd\n\n\n\ne\n\nf\n");
    }

    #[test]
    fn marks_are_read_from_the_ends_of_lines() {
        let source = "x = 1; // RACE!\ny = 1; // RACE\n// RACE conditions are bad\nz = 1; // not a RACE!\n\
                      q = \"//\"; // NORACE\na(); // RACE! ASSERT here\nfree(m); // MISUSE frees it\n";
        let annotations = Annotations::parse(source);
        assert_eq!(annotations.lines(Mark::Race), Lines::from([1, 6]));
        assert_eq!(annotations.lines(Mark::Alarm), Lines::from([2, 3]));
        assert_eq!(annotations.lines(Mark::NoRace), Lines::from([5]));
        assert_eq!(annotations.lines(Mark::Assertion), Lines::from([6]));
        assert_eq!(annotations.lines(Mark::Misuse), Lines::from([7]));
        let comparison = annotations.compare(&Lines::from([1, 2, 4, 5]));
        assert_eq!(comparison.missed, Lines::from([6]));
        assert_eq!((comparison.wrong.clone(), comparison.unmarked.clone()), (Lines::from([5]), Lines::from([4])));
        assert!(!comparison.holds());
        assert!(annotations.compare(&Lines::from([1, 6])).is_exact());
    }
}
