//! From characters to tokens.

use super::ParseError;
use super::words::{continues_word, starts_word};

/// A name with an optional fixed number: `i`, `"odd name"`, `i#7`, `#7`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Label {
    /// Empty when only the number is given.
    pub(super) text: String,
    /// Written in quotes, so that digits can be a name.
    pub(super) quoted: bool,
    pub(super) id: Option<u32>,
}

/// What follows a `!`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum SitePosition {
    /// `!none`.
    None,
    /// `!#7`.
    Reference,
    /// `!?`.
    Unknown,
    /// `!file:line:column`.
    At { file: String, line: u32, column: u32 },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    Word(String),
    Text(String),
    /// Starts with a digit or a minus; the context decides what it means.
    Number(String),
    Local(Label),
    Global(Label, i64),
    Function(Label),
    Id(u32),
    Site(SitePosition, Option<u32>),
    Punctuation(char),
    End,
}

impl Token {
    /// For "expected x, found …".
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Word(word) => format!("`{word}`"),
            Self::Text(text) => format!("{text:?}"),
            Self::Number(number) => format!("`{number}`"),
            Self::Local(label) => format!("`%{}`", label.text),
            Self::Global(label, _) => format!("`@{}`", label.text),
            Self::Function(label) => format!("`&{}`", label.text),
            Self::Id(id) => format!("`#{id}`"),
            Self::Site(..) => "a site".to_owned(),
            Self::Punctuation(c) => format!("`{c}`"),
            Self::End => "the end of the text".to_owned(),
        }
    }
}

/// A token and where it starts.
#[derive(Clone, Debug)]
pub(super) struct Spanned {
    pub(super) token: Token,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// The tokens of a text, `End` last.
pub(super) fn tokens(text: &str) -> Result<Vec<Spanned>, ParseError> {
    let mut lexer = Lexer { chars: text.chars().collect(), at: 0, line: 1, column: 1 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let (line, column) = (lexer.line, lexer.column);
        let token = lexer.token()?;
        let done = token == Token::End;
        tokens.push(Spanned { token, line, column });
        if done {
            return Ok(tokens);
        }
    }
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    line: u32,
    column: u32,
}

impl Lexer {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }
    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        if c == '\n' {
            (self.line, self.column) = (self.line + 1, 1);
        } else {
            self.column += 1;
        }
        Some(c)
    }
    fn eat(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        if there {
            self.bump();
        }
        there
    }
    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|c| accept(*c)) {
            text.push(c);
            self.bump();
        }
        text
    }
    fn skip_blank(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if self.peek() == Some('/') && self.chars.get(self.at + 1) == Some(&'/') {
                self.take_while(|c| c != '\n');
            } else {
                return;
            }
        }
    }
    fn error(&self, message: impl Into<String>, help: &str) -> ParseError {
        let help = (!help.is_empty()).then(|| help.to_owned());
        ParseError { line: self.line, column: self.column, message: message.into(), help }
    }

    fn token(&mut self) -> Result<Token, ParseError> {
        let Some(c) = self.peek() else { return Ok(Token::End) };
        Ok(match c {
            '%' => {
                self.bump();
                Token::Local(self.label()?)
            }
            '@' => {
                self.bump();
                let label = self.label()?;
                Token::Global(label, self.offset()?)
            }
            '&' => {
                self.bump();
                Token::Function(self.label()?)
            }
            '#' => Token::Id(self.id()?.unwrap_or_default()),
            '!' => {
                self.bump();
                self.site()?
            }
            '"' => Token::Text(self.text()?),
            '(' | ')' | '{' | '}' | '[' | ']' | ',' | ':' | '=' | '*' | '?' => {
                self.bump();
                Token::Punctuation(c)
            }
            '-' | '0'..='9' => {
                self.bump();
                Token::Number(format!("{c}{}", self.take_while(|c| c.is_ascii_alphanumeric())))
            }
            c if starts_word(c) => Token::Word(self.take_while(continues_word)),
            c => return Err(self.error(format!("`{c}` cannot start anything here"), "names with it go in quotes")),
        })
    }

    /// `#7`, if it is there.
    fn id(&mut self) -> Result<Option<u32>, ParseError> {
        if !self.eat('#') {
            return Ok(None);
        }
        let digits = self.take_while(|c| c.is_ascii_digit());
        digits.parse().map(Some).map_err(|_| self.error("expected a number after `#`", ""))
    }

    fn label(&mut self) -> Result<Label, ParseError> {
        let quoted = self.peek() == Some('"');
        let text = if quoted { self.text()? } else { self.take_while(continues_word) };
        let id = self.id()?;
        if text.is_empty() && !quoted && id.is_none() {
            return Err(self.error("expected a name", "letters, digits, `_`, `.`, `$`; other names go in quotes"));
        }
        Ok(Label { text, quoted, id })
    }

    /// `+8` or `-8` right after a global.
    fn offset(&mut self) -> Result<i64, ParseError> {
        let sign = match self.peek() {
            Some('+') => "",
            Some('-') => "-",
            _ => return Ok(0),
        };
        self.bump();
        let digits = self.take_while(|c| c.is_ascii_digit());
        format!("{sign}{digits}").parse().map_err(|_| self.error("expected a number of bytes", ""))
    }

    fn text(&mut self) -> Result<String, ParseError> {
        let unclosed = self.error("this text has no closing quote", "");
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump().ok_or_else(|| unclosed.clone())? {
                '"' => return Ok(text),
                '\\' => match self.bump().ok_or_else(|| unclosed.clone())? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'u' => text.push(self.code_point()?),
                    c @ ('"' | '\\') => text.push(c),
                    c => return Err(self.error(format!("`\\{c}` means nothing"), r#"possible are \" \\ \n \t \u{..}"#)),
                },
                c => text.push(c),
            }
        }
    }

    /// `{1f}` of a `\u{1f}`.
    fn code_point(&mut self) -> Result<char, ParseError> {
        let open = self.eat('{');
        let digits = self.take_while(|c| c.is_ascii_hexdigit());
        let close = self.eat('}');
        let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
        code.filter(|_| open && close).ok_or_else(|| self.error("expected a character's number as in `\\u{1f}`", ""))
    }

    fn site(&mut self) -> Result<Token, ParseError> {
        let place = if self.peek() == Some('"') {
            let file = self.text()?;
            let rest = self.take_while(|c| c == ':' || c.is_ascii_digit());
            self.place(file, rest.strip_prefix(':'))?
        } else {
            let text = self.take_while(|c| !c.is_whitespace() && !matches!(c, '#' | '"'));
            match text.as_str() {
                "" if self.peek() == Some('#') => SitePosition::Reference,
                "none" => SitePosition::None,
                "?" => SitePosition::Unknown,
                _ => {
                    let file = text.rsplitn(3, ':').nth(2).unwrap_or("").to_owned();
                    let rest = text.strip_prefix(&file).and_then(|rest| rest.strip_prefix(':'));
                    self.place(file, rest)?
                }
            }
        };
        Ok(Token::Site(place, self.id()?))
    }

    fn place(&self, file: String, rest: Option<&str>) -> Result<SitePosition, ParseError> {
        let numbers = rest.and_then(|rest| rest.split_once(':'));
        let parsed = numbers.and_then(|(line, column)| Some((line.parse().ok()?, column.parse().ok()?)));
        let (line, column) = parsed.ok_or_else(|| {
            self.error("expected a site", "as in `!a.c:12:5`, `!\"a file.c\":12:5`, `!?`, `!#7` or `!none`")
        })?;
        Ok(SitePosition::At { file, line, column })
    }
}
