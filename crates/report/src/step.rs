//! One event of a run at a time: the source line, who executes it, what it does, and who holds which locks.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use crate::{Run, Sources};

const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::BrightRed.on_default().bold();

/// Source lines shown before and after that of the event.
const AROUND: u32 = 1;

/// The event at an index of the run, as text for a terminal; empty where there is none.
pub fn render(run: &Run, index: usize, sources: &mut Sources) -> String {
    let Some(event) = run.events.get(index) else { return String::new() };
    let mut out = String::new();
    let thread = run.threads.get(event.thread);
    let name = |thread: Option<&crate::RunThread>| thread.map_or_else(String::new, |thread| thread.thread.clone());
    let function = thread.map(|thread| thread.function.as_str()).filter(|function| !function.is_empty());
    let function = function.map_or_else(String::new, |function| format!(" `{function}`"));
    let finding = if event.marked { format!("  {RED}the finding{RED:#}") } else { String::new() };
    let last = run.events.last().map_or(0, |last| last.step);
    let _ = writeln!(out, "{BOLD}event {} of {last}{BOLD:#}, thread {}{function}{finding}", event.step, name(thread));
    if let Some(file) = &event.file
        && event.line > 0
    {
        let place = if event.function.is_empty() { String::new() } else { format!(" in `{}`", event.function) };
        let _ = writeln!(out, "  {DIM}{file}:{}{place}{DIM:#}", event.line);
        for line in event.line.saturating_sub(AROUND).max(1)..=event.line.saturating_add(AROUND) {
            if let Some(text) = sources.whole_line(file, line) {
                let mark = if line == event.line { ">" } else { " " };
                let _ = writeln!(out, "  {mark} {line:>5}  {}", text.replace('\t', "    "));
            }
        }
    }
    let style = if event.marked { RED } else { Style::new() };
    let _ = writeln!(out, "  {style}{}{style:#}", event.told());
    for (number, thread) in run.threads.iter().enumerate() {
        // What a thread holds changes by its own events only.
        let next = run.events[index..].iter().find(|event| event.thread == number);
        let locks = next.map_or(&[][..], |event| &event.locks);
        if !locks.is_empty() {
            let locks = locks.iter().map(|lock| format!("`{lock}`")).collect::<Vec<_>>().join(", ");
            let _ = writeln!(out, "  thread {} holds {locks}", thread.thread);
        }
    }
    out.push('\n');
    out
}
