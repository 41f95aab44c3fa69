//! Reading the small language.

use std::collections::BTreeMap;

use super::{Action, Job, Multiplicity, Sml, Statement};

/// The text is not a program of the small language.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct SmlError {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

const WORDS: [&str; 15] = [
    "acquire",
    "branch",
    "broadcast",
    "create",
    "created",
    "goto",
    "job",
    "join",
    "many",
    "read",
    "release",
    "shared",
    "signal",
    "wait",
    "write",
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Position {
    line: u32,
    column: u32,
}

impl Position {
    fn error<T>(self, message: impl Into<String>) -> Result<T, SmlError> {
        Err(SmlError { line: self.line, column: self.column, message: message.into() })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Token<'a> {
    /// Empty at the end of the text.
    text: &'a str,
    at: Position,
}

impl Token<'_> {
    fn is_name(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
    fn shown(&self) -> String {
        if self.text.is_empty() { "the end of the text".to_owned() } else { format!("`{}`", self.text) }
    }
}

/// Splits the text; the last token is the empty one.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut at = Position { line: 1, column: 1 };
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let in_name = |c: char| c.is_alphanumeric() || c == '_';
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if in_name(first) {
            rest.find(|c| !in_name(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(len);
        if !first.is_whitespace() && !token.starts_with("//") {
            tokens.push(Token { text: token, at });
        }
        match first {
            '\n' => at = Position { line: at.line + 1, column: 1 },
            _ => at.column += token.chars().count() as u32,
        }
        rest = after;
    }
    tokens.push(Token { text: "", at });
    tokens
}

/// What a shared name is used as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    Variable,
    Lock,
    Condition,
}

impl Use {
    fn noun(self) -> &'static str {
        match self {
            Self::Variable => "a variable",
            Self::Lock => "a lock",
            Self::Condition => "a condition variable",
        }
    }
}

/// A statement whose names are not looked up yet.
struct Raw<'a> {
    word: Token<'a>,
    names: Vec<Token<'a>>,
}

struct RawJob<'a> {
    name: Token<'a>,
    multiplicity: Multiplicity,
    statements: Vec<Raw<'a>>,
    labels: Vec<(Token<'a>, usize)>,
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.tokens[self.next]
    }
    fn take(&mut self) -> Token<'a> {
        let token = self.peek();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }
    fn accept(&mut self, text: &str) -> bool {
        let found = self.peek().text == text;
        if found {
            self.take();
        }
        found
    }
    fn expect(&mut self, text: &str) -> Result<(), SmlError> {
        let token = self.peek();
        if self.accept(text) { Ok(()) } else { token.at.error(format!("expected `{text}`, found {}", token.shown())) }
    }
    fn name(&mut self, what: &str) -> Result<Token<'a>, SmlError> {
        let token = self.take();
        if !token.is_name() {
            return token.at.error(format!("expected {what}, found {}", token.shown()));
        }
        if WORDS.contains(&token.text) {
            return token.at.error(format!("expected {what}; `{}` is a word of the language", token.text));
        }
        Ok(token)
    }

    fn job(&mut self) -> Result<RawJob<'a>, SmlError> {
        let name = self.name("the job's name")?;
        let multiplicity = match self.peek().text {
            "many" => Multiplicity::Many,
            "created" => Multiplicity::Created,
            _ => Multiplicity::One,
        };
        if multiplicity != Multiplicity::One {
            self.take();
        }
        let mut job = RawJob { name, multiplicity, statements: Vec::new(), labels: Vec::new() };
        self.expect("{")?;
        while !self.accept("}") {
            let word = self.take();
            if word.is_name() && self.peek().text == ":" && !WORDS.contains(&word.text) {
                self.take();
                if job.labels.iter().any(|(label, _)| label.text == word.text) {
                    return word.at.error(format!("the label `{}` is already there", word.text));
                }
                job.labels.push((word, job.statements.len()));
                continue;
            }
            let wanted: &[&str] = match word.text {
                "acquire" | "release" => &["a lock"],
                "read" | "write" => &["a variable"],
                "wait" => &["a condition variable", "a lock"],
                "signal" | "broadcast" => &["a condition variable"],
                "branch" | "goto" => &["a label"],
                "create" | "join" => &["a job"],
                _ => return word.at.error(format!("expected a statement, a label or `}}`, found {}", word.shown())),
            };
            let mut names = Vec::new();
            for (i, what) in wanted.iter().enumerate() {
                if i > 0 {
                    self.expect(",")?;
                }
                names.push(self.name(what)?);
            }
            self.expect(";")?;
            job.statements.push(Raw { word, names });
        }
        Ok(job)
    }
}

/// Looks names up.
struct Declarations<'a> {
    shared: BTreeMap<&'a str, usize>,
    jobs: BTreeMap<&'a str, usize>,
    uses: BTreeMap<usize, Use>,
}

impl<'a> Declarations<'a> {
    fn shared(&mut self, name: Token<'a>, as_: Use) -> Result<usize, SmlError> {
        let Some(index) = self.shared.get(name.text).copied() else {
            return name.at.error(format!("there is no shared name `{}`", name.text));
        };
        let first = *self.uses.entry(index).or_insert(as_);
        if first != as_ {
            let text = name.text;
            return name.at.error(format!("`{text}` is {} here but {} before", as_.noun(), first.noun()));
        }
        Ok(index)
    }
    fn job(&self, name: Token<'_>) -> Result<usize, SmlError> {
        self.jobs.get(name.text).copied().map_or_else(|| name.at.error(format!("there is no job `{}`", name.text)), Ok)
    }
    fn action(&mut self, raw: &Raw<'a>, labels: &[(Token<'_>, usize)]) -> Result<Action, SmlError> {
        let first = raw.names[0];
        let label = || match labels.iter().find(|(label, _)| label.text == first.text) {
            Some((_, to)) => Ok(*to),
            None => first.at.error(format!("there is no label `{}` in this job", first.text)),
        };
        Ok(match raw.word.text {
            "acquire" => Action::Acquire(self.shared(first, Use::Lock)?),
            "release" => Action::Release(self.shared(first, Use::Lock)?),
            "read" => Action::Read(self.shared(first, Use::Variable)?),
            "write" => Action::Write(self.shared(first, Use::Variable)?),
            "wait" => Action::Wait {
                condition: self.shared(first, Use::Condition)?,
                lock: self.shared(raw.names[1], Use::Lock)?,
            },
            "signal" => Action::Signal(self.shared(first, Use::Condition)?),
            "broadcast" => Action::Broadcast(self.shared(first, Use::Condition)?),
            "branch" => Action::Branch(label()?),
            "goto" => Action::Goto(label()?),
            "create" => Action::Create(self.job(first)?),
            _ => Action::Join(self.job(first)?),
        })
    }
}

impl Sml {
    /// Reads a program; errors name line and column.
    pub fn parse(text: &str) -> Result<Self, SmlError> {
        let mut parser = Parser { tokens: tokens(text), next: 0 };
        let mut sml = Self::default();
        let mut jobs: Vec<RawJob<'_>> = Vec::new();
        let mut names = Declarations { shared: BTreeMap::new(), jobs: BTreeMap::new(), uses: BTreeMap::new() };
        while !parser.peek().text.is_empty() {
            let word = parser.take();
            match word.text {
                "shared" => loop {
                    let name = parser.name("a shared name")?;
                    if names.shared.insert(name.text, sml.shared.len()).is_some() {
                        return name.at.error(format!("`{}` is already shared", name.text));
                    }
                    sml.shared.push(name.text.to_owned());
                    if !parser.accept(",") {
                        parser.expect(";")?;
                        break;
                    }
                },
                "job" => {
                    let job = parser.job()?;
                    if names.jobs.insert(job.name.text, jobs.len()).is_some() {
                        return job.name.at.error(format!("the job `{}` is already there", job.name.text));
                    }
                    jobs.push(job);
                }
                _ => return word.at.error(format!("expected `shared` or `job`, found {}", word.shown())),
            }
        }
        for job in &jobs {
            let mut statements = Vec::new();
            for raw in &job.statements {
                let action = names.action(raw, &job.labels)?;
                statements.push(Statement { line: raw.word.at.line, action });
            }
            sml.jobs.push(Job {
                name: job.name.text.to_owned(),
                multiplicity: job.multiplicity,
                statements,
                labels: job.labels.iter().map(|(label, at)| (label.text.to_owned(), *at)).collect(),
            });
        }
        Ok(sml)
    }
}
