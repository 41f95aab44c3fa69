//! A library that is there only as machine code: what it does with threads and locks is seen, what it does with memory is not.

mod common;

use std::path::Path;
use std::process::Command;

use common::Folder;
use common::annotated::items;
use serde_json::Value;

/// Explores a program that uses the library: the exit status and the document.
fn explore(flags: &str, args: &[&str]) -> (i32, Value) {
    let folder = Folder::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/library"));
    let mut compiler = Command::new("clang-19");
    compiler.args(["-shared", "-fPIC", "-o", "libworkers.so", "workers.c"]).current_dir(folder.path());
    assert!(compiler.status().unwrap().success());
    let here = folder.path().display();
    let cflags = format!("--cflags={flags} -L{here} -lworkers -Wl,-rpath,{here}");
    let run = folder.raceproof(&[&["explore", "main.c", "--json", &cflags], args].concat());
    (run.status, serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", run.stderr)))
}

fn with_verdict<'a>(document: &'a Value, verdict: &str) -> Vec<&'a Value> {
    items(document, "pairs").iter().filter(|pair| pair["verdict"] == verdict).collect()
}

#[test]
fn threads_that_a_library_makes_are_scheduled() {
    let (status, document) = explore("", &[]);
    assert_eq!(status, 1);
    assert!(!with_verdict(&document, "race").is_empty(), "{document:#}");
}

#[test]
fn locks_that_a_library_takes_order() {
    let (status, document) = explore("-DLOCKED", &[]);
    assert_eq!(status, 3, "what the library does with memory is not known");
    assert!(with_verdict(&document, "race").is_empty(), "{document:#}");
    let reasons: Vec<&str> = items(&document, "unknowns").iter().filter_map(|u| u["reason"].as_str()).collect();
    assert!(reasons.iter().any(|reason| reason.contains("`workers_enter`")), "{reasons:?}");
}

#[test]
fn a_library_that_is_trusted_leaves_nothing_open() {
    let pure = ["workers_start", "workers_wait", "workers_enter", "workers_leave"];
    let args: Vec<&str> = pure.into_iter().flat_map(|name| ["--assume-pure", name]).collect();
    let (status, document) = explore("-DLOCKED", &args);
    assert_eq!(status, 0, "{document:#}");
    assert!(!with_verdict(&document, "absent").is_empty(), "{document:#}");
}
