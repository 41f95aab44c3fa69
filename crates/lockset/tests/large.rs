//! What large programs have: functions that start threads of their own kind, pointers to very many functions, texts,
//! arguments beyond the parameters, functions of libraries. Each in a version that races and in one that does not, where
//! that is not the same.

use facts::Facts;
use lockset::{Answer, analyse};
use program::Program;

/// Whether a warning is about two accesses to a variable.
fn warned(text: &str, variable: &str) -> bool {
    let program = Program::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let findings = analyse(&Facts::of(program)).unwrap().findings;
    findings.iter().any(|f| f.variable == variable && matches!(f.answer, Answer::Unknown { .. }))
}

#[test]
fn threads_that_start_their_own_kind_run_after_the_first_was_started() {
    let text = |before: &str, inside: &str, after: &str| {
        format!(
            "global x: 4\nfn work(%arg) {{\nentry:\n{inside}\n%t = create &work, 0\nreturn 0\n}}\n\
             fn main() {{\nentry:\n{before}\n%t = create &work, 0\njoin %t\n{after}\nreturn 0\n}}\nentry main\n"
        )
    };
    let store = "store 4, @x, 1";
    assert!(!warned(&text(store, "%a = load 4, @x", ""), "x"), "before any of them");
    assert!(warned(&text("", "%a = load 4, @x", store), "x"), "the first one's child may still run");
    assert!(warned(&text("", store, ""), "x"), "two of them");
}

#[test]
fn any_of_very_many_functions_may_be_called() {
    let text = |count: usize, body: &str| {
        let functions: String = (0..count)
            .map(|n| format!("fn f{n}(%a) {{\nentry:\n{}\nreturn 0\n}}\n", if n == 70 { body } else { "" }))
            .collect();
        let stores: String = (0..count).map(|n| format!("store 8, @p, &f{n}\n")).collect();
        format!(
            "global x: 4\nglobal p: 8\nglobal m: 40\n{functions}\
             fn work(%arg) {{\nentry:\n%f = load 8 seq_cst, @p\ncall *%f(0)\nreturn 0\n}}\n\
             fn main() {{\nentry:\n{stores}%t = create &work, 0\nlock @m\nstore 4, @x, 1\nunlock @m\njoin %t\nreturn 0\n}}\n\
             entry main\n"
        )
    };
    assert!(warned(&text(100, "store 4, @x, 2"), "x"));
    assert!(!warned(&text(100, "lock @m\nstore 4, @x, 2\nunlock @m"), "x"));
}

#[test]
fn texts_are_one_location_that_holds_nothing() {
    let text = |other: &str| {
        format!(
            "constant global .a: 4 = 616263\nconstant global .b: 4 = 646566\nglobal x: 4\nglobal y: 4\nglobal p: 8\nglobal q: 8\n\
             fn work(%arg) {{\nentry:\n%s = load 8, @p\n%v = load 4, %s\n%r = load 8, @q\nstore 4, %r, 1\nreturn 0\n}}\n\
             fn main() {{\nentry:\nstore 8, @p, @.a\nstore 8, @p, @.b\nstore 8, @q, @x\n%t = create &work, 0\n\
             store 4, {other}, 1\njoin %t\nreturn 0\n}}\nentry main\n"
        )
    };
    assert!(warned(&text("@x"), "x"));
    assert!(!warned(&text("@y"), "y") && !warned(&text("@y"), "x"));
}

#[test]
fn arguments_beyond_the_parameters_reach_their_function() {
    let text = |given: &str| {
        format!(
            "global x: 4\nglobal y: 4\n\
             fn many(%n) {{\nentry:\n%area = alloca ?\nfill %area, ?, ?\n%q = load 8, %area\nstore 4, %q, 1\nreturn 0\n}}\n\
             fn work(%arg) {{\nentry:\ncall many(1, {given})\nreturn 0\n}}\n\
             fn main() {{\nentry:\n%t = create &work, 0\nstore 4, @x, 1\njoin %t\nreturn 0\n}}\nentry main\n"
        )
    };
    assert!(warned(&text("@x"), "x"));
    assert!(!warned(&text("@y"), "x"));
}

#[test]
fn libraries_call_back_while_they_are_called() {
    // The stream has a function of the program, which the library calls in the thread that calls the library.
    let text = |after: &str, store: &str| {
        format!(
            "global x: 4\nglobal stream: 80\nextern fn BZ2_bzCompress(%0, %1)\n\
             fn allocate(%a, %b, %c) {{\nentry:\n{store}\nreturn 0\n}}\n\
             fn work(%arg) {{\nentry:\n%a = load 4, @x\nreturn 0\n}}\n\
             fn main() {{\nentry:\nstore 8, @stream, &allocate\n%r = call BZ2_bzCompress(@stream, 0)\n\
             %t = create &work, 0\n{after}\njoin %t\nreturn 0\n}}\nentry main\n"
        )
    };
    let store = "store 4, @x, 1";
    assert!(!warned(&text("", store), "x"), "before there is another thread");
    assert!(warned(&text("%s = call BZ2_bzCompress(@stream, 0)", store), "x"));
    // Of other functions nothing is known.
    assert!(warned(&text("", store).replace("BZ2_bzCompress", "missing"), "x"));
}

#[test]
fn functions_that_reach_bytes_are_still_named() {
    let text = "global x: 4\nextern fn BZ2_bzBuffToBuffCompress(%0, %1)\n\
                fn main() {\nentry:\n%r = call BZ2_bzBuffToBuffCompress(@x, 0)\nreturn 0\n}\nentry main\n";
    let facts = Facts::of(Program::parse(text).unwrap());
    assert!(facts.obstacles().unwrap().iter().any(|o| o.what.contains("BZ2_bzBuffToBuffCompress")));
    assert!(analyse(&facts).unwrap().outside.contains_key("BZ2_bzBuffToBuffCompress"));
}
