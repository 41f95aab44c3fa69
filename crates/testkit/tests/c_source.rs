//! Generated C compiles without a warning, and its lines correspond to the text program.

use std::process::Command;

use testkit::Limits;
use testkit::generator::{Case, Feature};

#[test]
fn generated_c_compiles_without_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let mut clang = Command::new("clang-19");
    clang.args(["-Wall", "-Werror", "-pthread", "-fsyntax-only"]);
    for seed in 0..testkit::programs(60) {
        let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
        let file = folder.path().join(format!("case{seed}.c"));
        std::fs::write(&file, case.c()).unwrap();
        clang.arg(file);
    }
    let output = clang.output().expect("clang-19 is installed (package clang-19)");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Every site of the text program is on a line of C that has a statement with that effect.
#[test]
fn sites_name_lines_of_the_c_source() {
    for seed in 0..testkit::programs(300) {
        let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
        let (program, c) = (case.program(), case.c());
        let lines: Vec<&str> = c.lines().collect();
        for function in &program.functions {
            for statement in function.blocks.iter().flat_map(|b| &b.statements) {
                let Some(site) = statement.site else { continue };
                let line = lines[program.sites[site].location.unwrap().line as usize - 1];
                let globals = statement.stmt.operands().into_iter().filter_map(|operand| match operand {
                    program::Operand::Global(global, _) => Some(program.globals[global].name.clone()),
                    _ => None,
                });
                for name in globals {
                    assert!(line.contains(&name), "seed {seed}: {:?} on line `{line}`", statement.stmt);
                }
            }
        }
    }
}
