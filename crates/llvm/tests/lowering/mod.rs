//! Lowering snippets and looking at the program's text.

#![allow(dead_code, reason = "each test file uses its part")]

use llvm::{Architecture, Options};
use program::Program;

/// Lowers one source; `name` says in which language it is. The program keeps the rules of its language.
pub(crate) fn lower(name: &str, source: &str) -> Program {
    lower_for(Architecture::default(), name, source)
}

/// The same, for an architecture.
pub(crate) fn lower_for(architecture: Architecture, name: &str, source: &str) -> Program {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(name), source).unwrap();
    let options = Options {
        architecture,
        inputs: vec![directory.path().join(name)],
        work_dir: directory.path().join("work"),
        ..Options::default()
    };
    let program = llvm::lower_only(&options).unwrap_or_else(|e| panic!("{e}"));
    program.validate().unwrap_or_else(|e| panic!("{e}\n{program}"));
    program
}

/// Lowers a C source.
pub(crate) fn c(source: &str) -> Program {
    lower("snippet.c", source)
}

/// Lowers a C++ source.
pub(crate) fn cxx(source: &str) -> Program {
    lower("snippet.cpp", source)
}

/// The text of a function without its sites, except for the expressions they touch.
pub(crate) fn body(program: &Program, function: &str) -> String {
    let text = program.to_string();
    let named = |line: &&str| {
        let symbol = line.strip_prefix("fn ").and_then(|rest| rest.split(['(', ' ']).next());
        symbol == Some(function) || line.contains(&format!("\"{function}\"("))
    };
    let mut lines = text.lines().skip_while(|line| !named(line));
    let first = lines.next().unwrap_or_else(|| panic!("no function `{function}` in\n{text}"));
    let mut result = vec![first.to_owned()];
    for line in lines.take_while(|line| *line != "}") {
        let (statement, site) = line.split_once('!').unwrap_or((line, ""));
        let expression = site.split('"').nth(1).map_or_else(String::new, |e| format!("  ; {e}"));
        result.push(format!("{}{expression}", statement.trim_end()));
    }
    result.join("\n") + "\n"
}

/// Asserts the text of a function; the expected text is indented as the test is.
#[track_caller]
pub(crate) fn assert_body(program: &Program, function: &str, expected: &str) {
    let lines: Vec<_> = expected.lines().filter(|line| !line.trim().is_empty()).collect();
    let indent = lines.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let expected: String = lines.iter().map(|line| format!("{}\n", &line[indent..])).collect();
    assert_eq!(body(program, function), expected, "\n{}", body(program, function));
}

/// What the sites of a function touch, in order; sites without an expression are left out.
pub(crate) fn expressions(program: &Program, function: &str) -> Vec<String> {
    let of = |site: &&program::Site| site.source_function == function;
    program.sites.iter().filter(of).filter_map(|site| site.expression.clone()).collect()
}

/// What could not be expressed.
pub(crate) fn unmodelled(program: &Program) -> Vec<&str> {
    program.unmodelled.iter().map(|entry| entry.what.as_str()).collect()
}
