//! One run as columns, one per thread: who did what, and where the schedule switched.
//!
//! ```text
//!    thread 0.1, `worker`                 | thread 0.2, `worker`
//!    -------------------------------------+------------------------------------
//!    a.c:9   pthread_mutex_lock(&m);      |
//!            locks `m`                    |
//! ---- switch ----------------------------+------------------------------------
//! ```

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::document::is_foreign;
use crate::run::RunEvent;
use crate::{Action, Run, Sources};

const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::BrightRed.on_default().bold();
const BLUE: Style = AnsiColor::BrightBlue.on_default().bold();

/// A run, or the part of it that matters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Story {
    /// One per thread shown, left to right.
    pub columns: Vec<Column>,
    /// In order of time.
    pub rows: Vec<Row>,
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// Its path.
    pub thread: String,
    /// The function it began in.
    pub function: String,
}

/// One line of the story.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Row {
    /// Events that are not shown.
    Skipped {
        /// How many.
        events: usize,
    },
    /// The running thread changes here, and this is why the finding shows.
    DecidingSwitch,
    /// An event.
    Event {
        /// Index of the column.
        column: usize,
        /// The file, where known.
        file: Option<String>,
        /// From 1.
        line: u32,
        /// What was done, e.g. "writes `counter`".
        what: String,
        /// Whether this is one of the accesses or waits the story is about.
        marked: bool,
    },
}

/// Events shown per thread.
const SHOWN: usize = 6;

impl Story {
    /// The last events of the threads that the finding is about, without those inside the system's headers.
    pub fn of(run: &Run) -> Self {
        let column = |thread: usize| run.about.iter().position(|t| *t == thread);
        let mut left = vec![SHOWN; run.about.len()];
        let mut shown: Vec<(usize, &RunEvent)> = Vec::new();
        let is_own = |event: &RunEvent| event.marked || !event.file.as_deref().is_some_and(is_foreign);
        for event in run.events.iter().rev().filter(|event| is_own(event)) {
            if let Some(column) = column(event.thread)
                && let Some(left) = left.get_mut(column)
                && (*left > 0 || event.marked)
            {
                let executed = !matches!(event.action, Action::Blocked | Action::Fault);
                let is_new = shown.last().is_none_or(|(_, later)| !says_the_same(event, later));
                *left = left.saturating_sub(usize::from(executed && is_new));
                shown.push((column, event));
            }
        }
        let mut rows = Vec::new();
        let mut next = 0;
        for (column, event) in shown.into_iter().rev() {
            if event.step > next {
                rows.push(Row::Skipped { events: event.step - next });
            }
            next = event.step + 1;
            if event.deciding {
                rows.push(Row::DecidingSwitch);
            }
            let (file, line, what, marked) = (event.file.clone(), event.line, event.told(), event.marked);
            let row = Row::Event { column, file, line, what, marked };
            if rows.last() != Some(&row) {
                rows.push(row);
            }
        }
        let columns = run.about.iter().filter_map(|index| {
            let thread = run.threads.get(*index)?;
            Some(Column { thread: thread.thread.clone(), function: thread.function.clone() })
        });
        Self { columns: columns.collect(), rows }
    }
}

/// Whether two events, one after the other, are told by the same words.
fn says_the_same(one: &RunEvent, other: &RunEvent) -> bool {
    let told = |event: &RunEvent| (event.thread, event.line, event.marked);
    told(one) == told(other) && one.file == other.file && one.told() == other.told()
}

/// Narrowest column that is still readable.
const NARROWEST: usize = 24;

/// Lays the story out for a terminal of this width, with ANSI styles.
pub fn render(story: &Story, sources: &mut Sources, width: usize) -> String {
    let columns = story.columns.len().max(1);
    let each = (width.saturating_sub(3 * (columns - 1) + 3) / columns).max(NARROWEST);
    let layout = Layout { columns, each };
    let mut out = String::new();
    let heads = story.columns.iter().map(|c| format!("thread {}, `{}`", c.thread, c.function));
    let heads: Vec<_> = heads.map(|head| (BOLD, head)).collect();
    layout.line(&mut out, &heads.iter().map(|(style, text)| (*style, text.as_str())).collect::<Vec<_>>());
    layout.rule(&mut out, DIM, "");
    // The line of code that stands last in the story; what comes from it again is not said again.
    let mut last = None;
    for row in &story.rows {
        if !matches!(row, Row::Event { .. }) {
            last = None;
        }
        match row {
            Row::Skipped { events } => {
                let plural = if *events == 1 { "" } else { "s" };
                layout.rule(&mut out, DIM, &format!(" {events} event{plural} not shown "));
            }
            Row::DecidingSwitch => layout.rule(&mut out, BLUE, " switch "),
            Row::Event { column, file, line, what, marked } => {
                // The excerpts have the whole path.
                let name = |file: &String| file.rsplit('/').next().unwrap_or(file).to_owned();
                let place = file.as_ref().map(|file| format!("{}:{line}", name(file)));
                let code = file.as_ref().and_then(|file| sources.line(file, *line)).unwrap_or_default();
                let style = if *marked { RED } else { Style::new() };
                let here = place.map(|place| (*column, place));
                if let Some((_, place)) = here.as_ref().filter(|_| here != last) {
                    layout.cell(&mut out, *column, Style::new(), &format!("{place}  {code}"));
                }
                last = here;
                let pointer = if *marked { ">>" } else { "  " };
                layout.cell(&mut out, *column, style, &format!("{pointer} {what}"));
            }
        }
    }
    out
}

struct Layout {
    columns: usize,
    each: usize,
}

impl Layout {
    /// A line with text in one column.
    fn cell(&self, out: &mut String, column: usize, style: Style, text: &str) {
        let cells: Vec<_> =
            (0..self.columns).map(|c| if c == column { (style, text) } else { (Style::new(), "") }).collect();
        self.line(out, &cells);
    }

    fn line(&self, out: &mut String, cells: &[(Style, &str)]) {
        let mut line = String::from("   ");
        for (i, (style, text)) in cells.iter().enumerate() {
            if i > 0 {
                let _ = write!(line, " {DIM}|{DIM:#} ");
            }
            let text = cut(text, self.each);
            let padding = if i + 1 < cells.len() { self.each - text.width() } else { 0 };
            let _ = write!(line, "{style}{text}{style:#}{:padding$}", "");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }

    /// A line across all columns with a text at its start.
    fn rule(&self, out: &mut String, style: Style, text: &str) {
        let mut rule = "-".repeat(self.each);
        for _ in 1..self.columns {
            rule.push_str("-+-");
            rule.push_str(&"-".repeat(self.each));
        }
        let text = cut(text, rule.len().saturating_sub(4));
        let rest = if text.is_empty() { rule.as_str() } else { &rule[(text.width() + 2).min(rule.len())..] };
        let lead = if text.is_empty() { "" } else { "--" };
        let _ = writeln!(out, "   {style}{lead}{text}{rest}{style:#}");
    }
}

/// The start of a text that fits into `width`, ending in `…` when something was cut.
fn cut(text: &str, width: usize) -> String {
    let text = text.replace('\t', " ");
    if text.width() <= width {
        return text;
    }
    let mut kept = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(c);
    }
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_columns() {
        let folder = std::env::temp_dir();
        let column = |thread: &str, function: &str| Column { thread: thread.into(), function: function.into() };
        let event = |column, what: &str, marked| Row::Event { column, file: None, line: 0, what: what.into(), marked };
        let story = Story {
            columns: vec![column("0.1", "left"), column("0.2", "a_function_with_a_long_name")],
            rows: vec![
                Row::Skipped { events: 3 },
                event(0, "locks `m`", false),
                event(0, "writes `x`", true),
                Row::DecidingSwitch,
                event(1, "reads `x`", true),
            ],
        };
        let text = render(&story, &mut Sources::in_folder(folder), 60);
        let plain = anstream::adapter::strip_str(&text).to_string();
        testkit::ui::assert_text(
            plain,
            snapbox::str![[r#"
   thread 0.1, `left`          | thread 0.2, `a_function_wi…
   ----------------------------+----------------------------
   -- 3 events not shown ------+----------------------------
      locks `m`                |
   >> writes `x`               |
   -- switch ------------------+----------------------------
                               | >> reads `x`

"#]],
        );
    }
}
