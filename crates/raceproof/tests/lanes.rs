//! Iterations of `simd` loops that may run at the same time: the programs under `tests/lanes`, each race-free and, with
//! `-DRACY`, racy.

mod common;

use common::annotated::{Bench, for_each_program, racy_lines};
use testkit::annotations::{Annotations, Mark};

#[test]
fn lanes_race_where_they_share() {
    for_each_program("lanes", |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let marked = Annotations::parse(&source).lines(Mark::Race);
        let bench = Bench::new(program);
        let ask = |command, flag| bench.run(command, &["--cflags=-fopenmp", flag]);
        if ask("static", "--cflags=-DRACY")?.0 != 3 {
            return Err("static does not warn".to_owned());
        }
        for command in ["explore", "check"] {
            let (status, document) = ask(command, "--cflags=-DRIGHT")?;
            if status != 0 {
                return Err(format!("{command}, race-free: status {status}, {document}"));
            }
            let (status, document) = ask(command, "--cflags=-DRACY")?;
            let raced = racy_lines(&document);
            if status != 1 || document["verdict"] != "race" || !raced.iter().all(|line| marked.contains(line)) {
                return Err(format!("{command}, racy: status {status}, lines {raced:?} of {marked:?}, {document}"));
            }
            bench.replay_all(&document)?;
        }
        Ok(())
    });
}
