//! One message with its source excerpts, as compilers show it.

use annotate_snippets::{Annotation, AnnotationKind, Level, Origin, Renderer, Snippet};

use crate::Code;
use crate::source::{Sources, token};

/// How grave a message is.
#[derive(Clone, Copy)]
pub(crate) enum Severity {
    Error,
    Warning,
}

/// A labelled place in a source file.
pub(crate) struct Mark<'a> {
    pub(crate) file: Option<&'a str>,
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// Empty for a place that needs no words.
    pub(crate) label: String,
}

impl Mark<'_> {
    fn label(&self) -> Option<&str> {
        (!self.label.is_empty()).then_some(&*self.label)
    }
}

/// A line under the excerpts.
pub(crate) enum Note {
    Note(String),
    Help(String),
}

/// A message.
pub(crate) struct Message<'a> {
    pub(crate) severity: Severity,
    pub(crate) code: Code,
    pub(crate) title: String,
    /// The first one is what the message is about.
    pub(crate) marks: Vec<Mark<'a>>,
    pub(crate) notes: Vec<Note>,
}

impl Message<'_> {
    /// The message with ANSI styles, without a final newline. Marks whose source is not there become notes.
    pub(crate) fn render(&self, sources: &mut Sources, width: usize) -> String {
        let mut files: Vec<&str> = Vec::new();
        for file in self.marks.iter().filter_map(|mark| mark.file) {
            sources.load(file);
            if !files.contains(&file) {
                files.push(file);
            }
        }
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(&*self.title).id(self.code.name());
        let mut group = annotate_snippets::Group::with_title(title);
        let mut without_source: Vec<&Mark<'_>> = self.marks.iter().filter(|mark| mark.file.is_none()).collect();
        for file in files {
            let text = sources.text(file).unwrap_or_default();
            let mut snippet = Snippet::<Annotation<'_>>::source(text).path(file);
            let mut shown = false;
            for (i, mark) in self.marks.iter().enumerate().filter(|(_, mark)| mark.file == Some(file)) {
                let kind = if i == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                match token(text, mark.line, mark.column) {
                    Some(span) => snippet = snippet.annotation(kind.span(span).label(mark.label())),
                    None => without_source.push(mark),
                }
                shown |= token(text, mark.line, mark.column).is_some();
            }
            if shown {
                group = group.element(snippet);
            }
        }
        for mark in without_source {
            if let Some(file) = mark.file {
                group = group.element(Origin::path(file).line(mark.line as usize).char_column(mark.column as usize));
            }
            group = group.elements(mark.label().map(|label| Level::NOTE.message(label)));
        }
        group = group.elements(self.notes.iter().map(|note| match note {
            Note::Note(text) => Level::NOTE.message(&**text),
            Note::Help(text) => Level::HELP.message(&**text),
        }));
        Renderer::styled().term_width(width).render(&[group])
    }
}
