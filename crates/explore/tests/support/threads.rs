//! Programs built from one body per thread.

use std::fmt::Write as _;

/// A program whose `main` starts a thread for each body and then joins them.
pub(crate) fn threads(globals: &str, bodies: &[String]) -> String {
    let mut text = format!("{globals}\n");
    let mut main = String::from("fn main() {\nentry:\n");
    for (number, body) in bodies.iter().enumerate() {
        writeln!(text, "fn t{number}(%tid) {{\nentry:\n{body}\n  return\n}}").unwrap();
        writeln!(main, "  %h{number} = create &t{number}, {number}").unwrap();
    }
    for number in 0..bodies.len() {
        writeln!(main, "  join %h{number}").unwrap();
    }
    text + &main + "  return 0\n}\nentry main\n"
}
