//! The document itself.

use std::io::{Result, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use crate::Report;

/// The report as one JSON document with a final newline: indented, but with each access, frame and event on a line of its
/// own, so that a thousand pairs take less than a megabyte.
pub fn render(report: &Report) -> String {
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, Shallow::default());
    report.serialize(&mut serializer).expect("raceproof bug: a report that cannot be serialised");
    let mut text = String::from_utf8(text).expect("raceproof bug: JSON is UTF-8");
    text.push('\n');
    text
}

/// Reads a document of this or an earlier version.
pub fn read(text: &str) -> std::result::Result<Report, serde_json::Error> {
    serde_json::from_str(text)
}

/// How deep a document is indented: the fields of a pair are, those of its accesses are not.
const DEPTH: usize = 4;

/// Indents to [`DEPTH`] and writes what is deeper on one line.
#[derive(Default)]
struct Shallow {
    pretty: PrettyFormatter<'static>,
    compact: CompactFormatter,
    depth: usize,
}

/// The formatter for what is at the present depth.
macro_rules! at_depth {
    ($self:ident, $call:ident($($argument:expr),*)) => {
        if $self.depth <= DEPTH { $self.pretty.$call($($argument),*) } else { $self.compact.$call($($argument),*) }
    };
}

impl Formatter for Shallow {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.depth += 1;
        at_depth!(self, begin_array(writer))
    }
    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        let ended = at_depth!(self, end_array(writer));
        self.depth -= 1;
        ended
    }
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        at_depth!(self, begin_array_value(writer, first))
    }
    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        at_depth!(self, end_array_value(writer))
    }
    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.depth += 1;
        at_depth!(self, begin_object(writer))
    }
    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        let ended = at_depth!(self, end_object(writer));
        self.depth -= 1;
        ended
    }
    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        at_depth!(self, begin_object_key(writer, first))
    }
    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        at_depth!(self, begin_object_value(writer))
    }
    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        at_depth!(self, end_object_value(writer))
    }
}
