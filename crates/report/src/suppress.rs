//! Findings that the user knows and does not want to hear of: a file in ThreadSanitizer's format, comments in the
//! sources, and the findings of an earlier result.
//!
//! A suppressed finding stays in the document with who suppressed it and why; only races and other errors can be
//! suppressed, so `unknown` never becomes `safe` this way.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::document::{ErrorKind, Finding, Pair, PairVerdict, Report, Suppressed, SuppressedBy, Verdict};
use crate::fingerprint;
use crate::source::Sources;

/// What kind of finding an entry is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// `race` and `race_top`.
    Race,
    /// `deadlock`.
    Deadlock,
    /// One that ThreadSanitizer has and raceproof does not.
    Other,
}

/// One entry of a suppression file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    kind: Kind,
    pattern: String,
    /// Its line in the file, from 1.
    pub line: usize,
    /// As it is written.
    pub text: String,
}

/// A line that is no entry.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: `{text}` is not a suppression: expected `race:PATTERN` or `deadlock:PATTERN`")]
pub struct Malformed {
    /// From 1.
    pub line: usize,
    /// As it is written.
    pub text: String,
}

/// The kinds of ThreadSanitizer's format that raceproof has nothing for.
const OTHER_KINDS: [&str; 5] = ["thread", "mutex", "signal", "called_from_lib", "leak"];

/// Reads a suppression file: `kind:pattern` per line, `#` starts a comment.
pub fn parse(text: &str) -> Result<Vec<Entry>, Malformed> {
    let mut entries = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let malformed = || Malformed { line, text: text.to_owned() };
        let (kind, pattern) = text.split_once(':').ok_or_else(malformed)?;
        let kind = match kind {
            "race" | "race_top" => Kind::Race,
            "deadlock" => Kind::Deadlock,
            other if OTHER_KINDS.contains(&other) => Kind::Other,
            _ => return Err(malformed()),
        };
        entries.push(Entry { kind, pattern: pattern.to_owned(), line, text: text.to_owned() });
    }
    Ok(entries)
}

/// Whether a pattern is in a text: `*` stands for anything, `^` and `$` for the text's ends.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, from_start) = pattern.strip_prefix('^').map_or((pattern, false), |rest| (rest, true));
    let (pattern, to_end) = pattern.strip_suffix('$').map_or((pattern, false), |rest| (rest, true));
    let mut rest = text;
    let parts: Vec<&str> = pattern.split('*').collect();
    for (number, part) in parts.iter().enumerate() {
        let (first, last) = (number == 0, number + 1 == parts.len());
        let found = if last && to_end {
            rest.len().checked_sub(part.len()).filter(|_| rest.ends_with(part))
        } else {
            rest.find(part)
        };
        match found {
            Some(at) if first && from_start && at > 0 => return false,
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

/// What is known and need not be told again.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Known {
    entries: Vec<(PathBuf, Entry)>,
    /// How often each finding of an earlier result was there, and what is said of it.
    baseline: BTreeMap<String, (usize, String)>,
}

impl Known {
    /// The entries of a suppression file.
    pub fn suppressions(&mut self, file: &Path, entries: Vec<Entry>) {
        self.entries.extend(entries.into_iter().map(|entry| (file.to_owned(), entry)));
    }

    /// The findings of an earlier result.
    pub fn baseline(&mut self, earlier: &Report) {
        self.earlier(earlier, "known from an earlier result");
    }

    /// The same with what is said of findings that are known by it.
    pub fn earlier(&mut self, earlier: &Report, why: &str) {
        let pairs = earlier.pairs_with(PairVerdict::Race).filter(|pair| pair.is_told()).map(fingerprint::of_pair);
        for print in pairs.chain(earlier.errors.iter().map(fingerprint::of_error)) {
            self.baseline.entry(print).or_insert_with(|| (0, why.to_owned())).0 += 1;
        }
    }

    /// Marks what is known and corrects the overall verdict. Returns the entries that matched nothing, with their files.
    pub fn apply(mut self, report: &mut Report, sources: &mut Sources) -> Vec<(PathBuf, Entry)> {
        let mut used = vec![false; self.entries.len()];
        for pair in report.pairs.iter_mut().filter(|pair| pair.verdict == PairVerdict::Race && pair.is_told()) {
            let names = names_of_pair(pair);
            pair.details.suppressed = self
                .by_entry(Kind::Race, &names, &mut used)
                .or_else(|| by_comment(pair, sources))
                .or_else(|| self.by_baseline(fingerprint::of_pair(pair)));
        }
        for error in &mut report.errors {
            let names = names_of_error(error);
            let kind = match error.kind {
                ErrorKind::Deadlock => Kind::Deadlock,
                ErrorKind::Lanes => Kind::Race,
                _ => Kind::Other,
            };
            error.suppressed = (kind != Kind::Other)
                .then(|| self.by_entry(kind, &names, &mut used))
                .flatten()
                .or_else(|| self.by_baseline(fingerprint::of_error(error)));
        }
        let races =
            |pair: &Pair| pair.verdict == PairVerdict::Race && pair.is_told() && pair.details.suppressed.is_none();
        let lanes = |error: &Finding| error.kind == ErrorKind::Lanes && error.suppressed.is_none();
        if report.verdict == Verdict::Race && !report.pairs.iter().any(races) && !report.errors.iter().any(lanes) {
            let open = report.pairs_with(PairVerdict::Unknown).next().is_some() || !report.unknowns.is_empty();
            report.verdict = if open { Verdict::Unknown } else { Verdict::Safe };
        }
        report.settle_tests();
        self.entries.into_iter().zip(used).filter(|(_, used)| !used).map(|(entry, _)| entry).collect()
    }

    fn by_entry(&self, kind: Kind, names: &[&str], used: &mut [bool]) -> Option<Suppressed> {
        let hit = |entry: &Entry| entry.kind == kind && names.iter().any(|name| matches(&entry.pattern, name));
        let mut found = None;
        for (entry, used) in self.entries.iter().map(|(_, entry)| entry).zip(used).filter(|(entry, _)| hit(entry)) {
            *used = true;
            found.get_or_insert_with(|| Suppressed { by: SuppressedBy::File, reason: entry.text.clone() });
        }
        found
    }

    fn by_baseline(&mut self, print: String) -> Option<Suppressed> {
        let (left, why) = self.baseline.get_mut(&print).filter(|(left, _)| *left > 0)?;
        *left -= 1;
        Some(Suppressed { by: SuppressedBy::Baseline, reason: why.clone() })
    }
}

fn names_of_pair(pair: &Pair) -> Vec<&str> {
    let accesses = pair.accesses.iter().flat_map(|access| [Some(access.function.as_str()), access.file.as_deref()]);
    accesses.flatten().chain([pair.variable.as_str()]).collect()
}

fn names_of_error(error: &Finding) -> Vec<&str> {
    let waiting = error.waiting.iter().flat_map(|waiting| {
        let locks = waiting.locks.iter().map(String::as_str);
        locks.chain([waiting.function.as_str()]).chain(waiting.file.as_deref())
    });
    waiting.chain([error.function.as_str()]).chain(error.file.as_deref()).collect()
}

/// A comment on the line of one of the accesses, or on the line before it.
fn by_comment(pair: &Pair, sources: &mut Sources) -> Option<Suppressed> {
    pair.accesses.iter().find_map(|access| {
        let file = access.file.as_deref()?;
        [access.line, access.line.saturating_sub(1)].into_iter().find_map(|line| {
            let reason = comment(sources.line(file, line)?, line == access.line)?;
            Some(Suppressed { by: SuppressedBy::Comment, reason: reason.to_owned() })
        })
    })
}

/// The reason in `raceproof: ignore(reason)`. The line before an access only counts when it is all comment.
fn comment(line: &str, own_line: bool) -> Option<&str> {
    let at = line.find("//").or_else(|| line.find("/*"))?;
    if !own_line && at > 0 {
        return None;
    }
    let (_, rest) = line[at..].split_once("raceproof: ignore(")?;
    let reason = rest.rsplit_once(')').map(|(reason, _)| reason.trim())?;
    (!reason.is_empty()).then_some(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("foo", "a_foo_b", true),
            ("^foo", "a_foo", false),
            ("foo$", "a_foo", true),
            ("^f*o$", "fabco", true),
            ("^f*o$", "fabcox", false),
            ("a*b*c", "xaybzc", true),
            ("a*b*c", "xacb", false),
            ("*", "", true),
            ("^aa$", "a", false),
            ("^a*a$", "a", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} in {text}");
        }
    }

    #[test]
    fn files() {
        let entries = parse("# known\n\nrace:counter\n  race_top:^f$\ndeadlock:m1\nsignal:x\n").unwrap();
        assert_eq!(
            entries.iter().map(|e| (e.kind, e.line)).collect::<Vec<_>>(),
            [(Kind::Race, 3), (Kind::Race, 4), (Kind::Deadlock, 5), (Kind::Other, 6)]
        );
        assert_eq!(parse("race counter").unwrap_err().line, 1);
        assert_eq!(parse("a:b\n").unwrap_err().text, "a:b");
    }

    #[test]
    fn comments() {
        assert_eq!(comment("x = 1; // raceproof: ignore(only statistics)", true), Some("only statistics"));
        assert_eq!(comment("x = 1; /* raceproof: ignore(f(x) is enough) */", true), Some("f(x) is enough"));
        assert_eq!(comment("y = 1; // raceproof: ignore(why)", false), None);
        assert_eq!(comment("// raceproof: ignore(why)", false), Some("why"));
        assert_eq!(comment("x = 1; // raceproof: ignore()", true), None);
        assert_eq!(comment("puts(\"raceproof: ignore(x)\");", true), None);
    }
}
