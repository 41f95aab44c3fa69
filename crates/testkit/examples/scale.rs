//! Prints the C program of `testkit::scale` with about as many lines as the argument says.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command")]

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).and_then(|lines| lines.parse().ok()) {
        Some(lines) => {
            print!("{}", testkit::scale::program(lines));
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("usage: scale LINES");
            ExitCode::from(2)
        }
    }
}
