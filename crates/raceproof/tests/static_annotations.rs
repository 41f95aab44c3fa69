//! What the programs under `tests/static` say about their lines is true: every schedule of both twins is tried. In the
//! race-free twin there is no race, in the racy one exactly the lines marked `// RACE!` take part in races.

mod common;

use testkit::annotations::{Annotations, Lines, Mark, twin};

use common::annotated::{Bench, complete, for_each_program, items, racy_lines};

fn annotations_hold(folder: &str) {
    for_each_program(folder, |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let include = format!("-I{}", program.parent().ok_or("no folder")?.display());
        let bench = Bench::new(program);
        for (racy, flags) in [(false, format!("-DMODEL {include}")), (true, format!("-DMODEL -DRACY {include}"))] {
            let annotations = Annotations::parse(&twin(&source, racy));
            let expected = if racy { annotations.lines(Mark::Race) } else { Lines::new() };
            let name = if racy { "the racy twin" } else { "the race-free twin" };
            let flags = ["--reduction", "dpor-sleep", "--cflags", &flags];
            // Of all that is handed over through the kernel, proofs take only `epoll` to order memory.
            let strict = if source.contains("epoll") { &[][..] } else { &["--strict-posix"] };
            let (_, document) = bench.explore(&[&flags[..], strict].concat())?;
            complete(&document).map_err(|complaint| format!("{name}: {complaint}"))?;
            let reported = racy_lines(&document);
            if reported != expected {
                return Err(format!("{name}: races on lines {reported:?}, annotated are {expected:?}"));
            }
            if racy && expected.is_empty() {
                return Err("the racy twin has no race".to_owned());
            }
            let may_block = !annotations.lines(Mark::Deadlock).is_empty();
            if items(&document, "errors").iter().any(|e| e["kind"] != "deadlock" || !may_block) {
                return Err(format!("{name}: {}", document["errors"]));
            }
            if let [unknown, ..] = items(&document, "unknowns") {
                return Err(format!("{name}: {unknown}"));
            }
        }
        Ok(())
    });
}

#[test]
fn of_programs() {
    annotations_hold("static");
}

#[test]
fn of_drivers() {
    annotations_hold("static/drivers");
}

#[test]
fn of_programs_with_functions_missing() {
    annotations_hold("static/missing");
}
