//! The constants a program compares with: values at which its behaviour may change.

use std::collections::BTreeSet;

use crate::ir::{Expr, Operand, Program, Stmt, Terminator};

/// The constants that the program compares something with, each with its neighbours, at most `most`, those nearest to
/// zero first.
pub fn compared(program: &Program, most: usize) -> Vec<i64> {
    let mut constants = BTreeSet::new();
    for block in program.functions.iter().flat_map(|f| &f.blocks) {
        for statement in &block.statements {
            if let Stmt::Assign { expr: Expr::Compare { left, right, .. }, .. } = &statement.stmt {
                for operand in [left, right] {
                    if let Operand::Const(value) = operand {
                        constants.insert(*value);
                    }
                }
            }
        }
        if let Terminator::Switch { cases, .. } = &block.terminator {
            constants.extend(cases.iter().map(|(value, _)| *value));
        }
    }
    let mut constants: Vec<i64> = constants.into_iter().collect();
    constants.sort_by_key(|value| (value.unsigned_abs(), *value));
    let mut values = Vec::new();
    for constant in constants {
        for value in [Some(constant), constant.checked_add(1), constant.checked_sub(1)].into_iter().flatten() {
            if !values.contains(&value) && values.len() < most {
                values.push(value);
            }
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_come_with_their_neighbours() {
        let text = "fn main() {\nentry:\n%v = choose 0, 1000\n%c = slt 32 %v, 77\nbranch %c, small, large\nsmall:\n\
                    switch %v [5: large], large\nlarge:\nreturn 0\n}\nentry main\n";
        let program = Program::parse(text).unwrap();
        assert_eq!(compared(&program, 100), [5, 6, 4, 77, 78, 76]);
        assert_eq!(compared(&program, 4), [5, 6, 4, 77]);
    }
}
