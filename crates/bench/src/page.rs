//! `docs/benchmarks.md`: the measurements as text, tables and plots.

use std::fmt::{Display, Write as _};
use std::path::Path;

use crate::Failure;
use crate::results::{Latest, LatestTable, Measured};
use crate::tables;

/// The page being written.
#[derive(Default)]
pub(crate) struct Page {
    text: String,
    /// Name of the file and content.
    plots: Vec<(String, String)>,
    /// Sentences about what other tools do better.
    defeats: Vec<String>,
}

impl Page {
    /// A paragraph, or any Markdown.
    pub(crate) fn say(&mut self, text: impl Display) {
        let _ = write!(self.text, "{text}\n\n");
    }

    /// A table whose first column is text and whose others are figures.
    pub(crate) fn table(&mut self, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
        let rule: Vec<String> = (0..head.len()).map(|at| if at == 0 { "---" } else { "--:" }.to_owned()).collect();
        let mut text = line(&head) + &format!("|{}|\n", rule.join("|"));
        rows.into_iter().for_each(|row| text += &line(&row));
        self.say(text.trim_end());
    }

    /// A plot, in a file of its own beside the page.
    pub(crate) fn plot(&mut self, name: &str, says: &str, svg: Result<String, Failure>) -> Result<(), Failure> {
        let file = format!("benchmarks-{name}.svg");
        self.say(format!("![{says}]({file})"));
        self.plots.push((file, svg?));
        Ok(())
    }

    /// Records something that another tool does better.
    pub(crate) fn defeat(&mut self, sentence: String) {
        self.defeats.push(sentence);
    }
}

/// Writes the page and its plots into a folder.
pub(crate) fn write(results: &Latest, docs: &Path) -> Result<(), Failure> {
    let mut page = Page::default();
    for table in tables::ALL {
        page.say(format!("## {}", table.title));
        match results.tables.get(table.name) {
            Some(latest) => {
                let written = (table.write)(&latest.measured.rows, &mut page);
                written.map_err(|failure| format!("{}: {failure}", table.name))?;
                page.say(circumstances(table.name, latest));
            }
            None => page.say(format!("Not measured yet. `bench --only {}` measures it.", table.name)),
        }
    }
    let mut text = head(results);
    text += "## Where others are better\n\n";
    if page.defeats.is_empty() {
        text += "On no row that was measured.\n";
    }
    for sentence in &page.defeats {
        let _ = writeln!(text, "- {sentence}");
    }
    text += "\n";
    text += page.text.trim_end();
    std::fs::write(docs.join("benchmarks.md"), text + "\n")?;
    for (file, svg) in &page.plots {
        std::fs::write(docs.join(file), svg)?;
    }
    Ok(())
}

fn head(Latest { machine, .. }: &Latest) -> String {
    format!(
        "# Benchmarks\n\nWritten by `make bench` (an hour or so) or `make bench-quick` (minutes, fewer runs) from \
         [raw results](../bench/results);\nnothing here is typed by hand. All programs are our own; those of the \
         papers have the shape that the paper describes. Tools take turns,\nround by round; a figure is the median, with \
         the least and the most behind it where there were several rounds.\n\n\
         Measured on: {}, {} processors, {} MB, Linux {}; {}. Other processes may have been running; each table \
         states the load.\n\n",
        machine.processor,
        machine.processors,
        machine.memory_megabytes,
        machine.kernel,
        machine.tools.join("; "),
    )
}

fn circumstances(name: &str, LatestTable { date, file, elsewhere, measured }: &LatestTable) -> String {
    let Measured { time, seconds, load: [before, after], quick, .. } = measured;
    let how = if *quick { "quickly, " } else { "" };
    let on =
        elsewhere.as_ref().map_or_else(String::new, |machine| format!(" (another machine: {})", machine.processor));
    format!(
        "*`bench --only {name}`, measured {how}on {date} at {time} UTC{on} in {seconds:.0} s, load {before:.1} before and \
         {after:.1} after; [raw results](../bench/results/{file}).*"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The committed page is exactly what the committed results give: nothing is typed by hand.
    #[test]
    fn the_page_is_that_of_the_latest_results() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folder = tempfile::tempdir().expect("temporary folder");
        let results = Latest::of(&root.join("bench/results")).expect("results");
        write(&results, folder.path()).expect("a page");
        for file in std::fs::read_dir(folder.path()).expect("files") {
            let file = file.expect("a file");
            let text = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
            let committed = root.join("docs").join(file.file_name());
            assert!(text(&file.path()) == text(&committed), "{:?}: `bench --page` writes it anew", file.file_name());
        }
    }
}
