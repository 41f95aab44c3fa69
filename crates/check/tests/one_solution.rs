//! One `check` solves points-to once, whatever engines ask of it.

use check::{BuildOptions, LINE, Request, run};
use model::Budget;
use report::Command;

#[test]
fn a_check_solves_points_to_once() {
    let folder = tempfile::tempdir().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bank.c");
    let build = BuildOptions { inputs: vec![source.to_owned()], ..BuildOptions::default() };
    let request = Request {
        witness_dir: folder.path().join("witnesses"),
        ..Request::new(Command::Check, build, Budget::default())
    };
    let before = facts::points_to::solutions();
    let report = run(&request, &mut ()).unwrap();
    let worked: Vec<_> = report.engines.iter().map(|engine| engine.name).collect();
    assert_eq!(worked, LINE, "every engine has something to do");
    assert_eq!(facts::points_to::solutions() - before, 1);
}
