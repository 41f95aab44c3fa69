//! The links of a build folder for ninja: the `build` statements whose rule links.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Step, Word, normal};

/// Variables of a statement with words of its link, as CMake and Meson call them.
const VARIABLES: [&str; 4] = ["LINK_FLAGS", "LINK_LIBRARIES", "LINK_ARGS", "ARGS"];

/// Limit on files that include each other.
const DEPTH: u32 = 8;

/// The links of a build folder; none if it is not ninja's.
pub(super) fn steps(folder: &Path) -> Vec<Step> {
    let mut reader = Reader { folder, variables: BTreeMap::new(), steps: Vec::new() };
    reader.read("build.ninja", DEPTH);
    reader.steps
}

struct Reader<'a> {
    folder: &'a Path,
    /// Those of the whole file.
    variables: BTreeMap<String, String>,
    steps: Vec<Step>,
}

/// A `build` statement.
#[derive(Default, PartialEq, Eq, Debug)]
struct Statement {
    outputs: Vec<String>,
    rule: String,
    /// With implicit ones; what only has to be there before is left out.
    inputs: Vec<String>,
}

impl Reader<'_> {
    fn read(&mut self, name: &str, depth: u32) {
        let Ok(text) = std::fs::read_to_string(self.folder.join(name)) else { return };
        // A `$` at the end of a line joins it with the next one.
        let text = text.replace("\r\n", "\n").replace("$\n", "$\u{0}");
        let mut lines = text.lines().map(joined).peekable();
        while let Some(line) = lines.next() {
            let mut own: BTreeMap<String, String> = BTreeMap::new();
            while let Some(inside) = lines.next_if(|next| next.starts_with([' ', '\t'])) {
                if let Some((name, value)) = inside.split_once('=') {
                    own.insert(name.trim().to_owned(), self.expand(value.trim()));
                }
            }
            if let Some(statement) = line.strip_prefix("build ") {
                let statement = self.statement(statement);
                self.steps.extend(step(statement, &own, self.folder));
            } else if let Some(file) = line.strip_prefix("include ").or_else(|| line.strip_prefix("subninja ")) {
                let file = self.expand(file.trim());
                if depth > 0 {
                    self.read(&file, depth - 1);
                }
            } else if let Some((name, value)) = line.split_once('=').filter(|_| !line.starts_with(['#', ' ', '\t'])) {
                let value = self.expand(value.trim());
                self.variables.insert(name.trim().to_owned(), value);
            }
        }
    }

    /// A text with its variables replaced and its escapes resolved.
    fn expand(&self, text: &str) -> String {
        let mut expanded = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            expanded.push_str(before);
            rest = self.escape(after, &mut expanded);
        }
        expanded + rest
    }

    /// Resolves what follows a `$`; returns what follows that.
    fn escape<'t>(&self, after: &'t str, to: &mut String) -> &'t str {
        let (name, rest) = if let Some((name, rest)) = after.strip_prefix('{').and_then(|text| text.split_once('}')) {
            (name, rest)
        } else {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            after.split_at(after.find(|c| !is_part(c)).unwrap_or(after.len()))
        };
        if name.is_empty() {
            // An escaped space, colon or dollar sign.
            let mut characters = after.chars();
            to.extend(characters.next());
            return characters.as_str();
        }
        to.push_str(self.variables.get(name).map_or("", String::as_str));
        rest
    }

    /// `out | more: rule in | implicit || before`
    fn statement(&self, text: &str) -> Statement {
        #[derive(PartialEq)]
        enum Part {
            Outputs,
            Rule,
            Inputs,
            Before,
        }
        let mut statement = Statement::default();
        let mut part = Part::Outputs;
        let mut word = String::new();
        let mut rest = text;
        let mut end = |part: &mut Part, word: &mut String| {
            let word = std::mem::take(word);
            match part {
                _ if word.is_empty() || word == "|" => {}
                _ if word == "||" || word == "|@" => *part = Part::Before,
                Part::Outputs => statement.outputs.push(word),
                Part::Rule => {
                    statement.rule = word;
                    *part = Part::Inputs;
                }
                Part::Inputs => statement.inputs.push(word),
                Part::Before => {}
            }
        };
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '$' => rest = self.escape(rest, &mut word),
                ' ' | '\t' => end(&mut part, &mut word),
                ':' if part == Part::Outputs => {
                    end(&mut part, &mut word);
                    part = Part::Rule;
                }
                c => word.push(c),
            }
        }
        end(&mut part, &mut word);
        statement
    }
}

/// A line whose continuations are joined: what leads the next line is no part of it.
fn joined(line: &str) -> String {
    let mut parts = line.split("$\u{0}");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |line, next| line + next.trim_start())
}

/// The link that a statement makes.
fn step(statement: Statement, variables: &BTreeMap<String, String>, folder: &Path) -> Option<Step> {
    let Statement { outputs, rule, inputs } = statement;
    if !rule.to_ascii_lowercase().contains("link") {
        return None;
    }
    let flags = VARIABLES.iter().filter_map(|name| shlex::split(variables.get(*name)?)).flatten();
    // The flags may name inputs again; the first time counts.
    let words = Word::all_of(inputs.into_iter().chain(flags), folder);
    Some(Step { output: normal(&folder.join(outputs.first()?)), words })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# comment\nbuilddir = out\nrule c_LINKER\n command = cc -o $out $in $LINK_ARGS\n\n\
        build a$ b.p/main.c.o: c_COMPILER ../main.c\n ARGS = -g\n\
        build ${builddir}/app: c_LINKER a$ b.p/main.c.o $\n    x.o | libfoo.a || before.stamp\n \
        LINK_ARGS = -Wl,--as-needed -shared-libgcc -Wl,--start-group libfoo.a -lm '-lz'\n\
        build libfoo.a: STATIC_LINKER foo.c.o\n LINK_ARGS = csrD\nbuild all: phony $builddir/app libfoo.a\n";

    #[test]
    fn statements_that_link() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("build.ninja"), TEXT).unwrap();
        let steps = steps(folder.path());
        assert_eq!(steps.len(), 2);
        let at = |name: &str| Word::File(folder.path().join(name));
        assert_eq!(steps[0].output, folder.path().join("out/app"));
        let flag = |text: &str| Word::Flag(text.to_owned());
        let expected = [
            at("a b.p/main.c.o"),
            at("x.o"),
            at("libfoo.a"),
            flag("-Wl,--as-needed"),
            flag("-Wl,--start-group"),
            at("libfoo.a"),
            flag("-lm"),
            flag("-lz"),
        ];
        assert_eq!(steps[0].words, expected);
        assert_eq!(steps[1].words[0], at("foo.c.o"));
    }

    /// Damaged files give no steps or fewer, and end.
    #[test]
    fn damaged_files_are_read_to_their_end() {
        let folder = tempfile::tempdir().unwrap();
        for cut in 0..TEXT.len() {
            std::fs::write(folder.path().join("build.ninja"), &TEXT[..cut]).unwrap();
            assert!(steps(folder.path()).len() <= 2);
        }
        std::fs::write(folder.path().join("build.ninja"), "include build.ninja\nbuild $").unwrap();
        assert_eq!(steps(folder.path()), []);
    }
}
