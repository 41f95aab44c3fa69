//! Loops that may go round until another thread changes something.
//!
//! A loop that is left by what its thread computes alone waits for nobody. If something that is read in the loop decides,
//! or nothing does, it may wait for ever. (The runtime turns such loops into waits for a change; in programs written as
//! text they are marked.)

use std::collections::{BTreeMap, BTreeSet};

use facts::invocations::ProgramPoint;
use program::openmp;
use program::{BlockId, Function, FunctionId, LocalId, Operand, Program, Stmt, Terminator};

use crate::flow::{Sites, bit};

/// The sites in such loops. `same` says of a read whether it is made, and with which result, in every schedule: where such reads
/// decide, the loop ends in every schedule or in none.
pub(crate) fn waiting(program: &Program, same: &dyn Fn(ProgramPoint) -> bool) -> Sites {
    let mut sites = Sites::with_capacity(program.sites.len());
    let functions = program.functions.iter_enumerated();
    for (id, function) in functions.filter(|(_, function)| !openmp::loops_end(program, function)) {
        for blocks in loops(function).iter().filter(|blocks| waits(program, same, id, blocks)) {
            let statements = blocks.iter().flat_map(|block| &function.blocks[*block].statements);
            sites.extend(statements.filter_map(|statement| statement.site).map(bit));
        }
    }
    sites
}

/// Whether an exit of the loop depends on something read in it that may differ from schedule to schedule, or there is none.
fn waits(program: &Program, same: &dyn Fn(ProgramPoint) -> bool, id: FunctionId, blocks: &BTreeSet<BlockId>) -> bool {
    let function = &program.functions[id];
    let exits = |block: &&BlockId| {
        let terminator = &function.blocks[**block].terminator;
        terminator.targets().iter().any(|to| !blocks.contains(to))
            || matches!(terminator, Terminator::Return(_) | Terminator::Resume)
    };
    let mut exits = blocks.iter().filter(exits).map(|block| &function.blocks[*block].terminator).peekable();
    if exits.peek().is_none() {
        return true;
    }
    let mut made: BTreeMap<LocalId, (ProgramPoint, &Stmt)> = BTreeMap::new();
    for block in blocks {
        for (index, statement) in function.blocks[*block].statements.iter().enumerate() {
            let made_here = |local| (local, ((id, *block, index), &statement.stmt));
            made.extend(statement.stmt.assigns().into_iter().map(made_here));
        }
    }
    let mut open: Vec<Operand> = exits.flat_map(Terminator::operands).collect();
    let mut seen = BTreeSet::new();
    while let Some(operand) = open.pop() {
        match operand {
            Operand::Any => return true,
            Operand::Local(local) if seen.insert(local) => match made.get(&local) {
                Some((_, Stmt::Assign { expr, .. })) => open.extend(expr.operands()),
                Some((_, stmt)) if openmp::is_share(program, function, stmt) => {}
                Some((place, Stmt::Load { address, atomic: None, .. })) if same(*place) => open.push(*address),
                Some(_) => return true,
                None => {}
            },
            _ => {}
        }
    }
    false
}

/// The loops of a function: blocks from each of which all others are reached.
fn loops(function: &Function) -> Vec<BTreeSet<BlockId>> {
    let mut loops: Vec<BTreeSet<BlockId>> = Vec::new();
    let mut sources: BTreeMap<BlockId, Vec<BlockId>> = BTreeMap::new();
    for (block, contents) in function.blocks.iter_enumerated() {
        contents.terminator.targets().into_iter().for_each(|to| sources.entry(to).or_default().push(block));
    }
    // Kosaraju: in the reverse order of their ends, what leads to a block and was not taken before is its component.
    let mut taken = BTreeSet::new();
    for block in ends(function).into_iter().rev() {
        let mut component = BTreeSet::new();
        let mut open = vec![block];
        while let Some(block) = open.pop() {
            if taken.insert(block) {
                component.insert(block);
                open.extend(sources.get(&block).into_iter().flatten().copied());
            }
        }
        let repeats = |b: &BlockId| function.blocks[*b].terminator.targets().contains(b);
        if component.len() > 1 || component.iter().any(repeats) {
            loops.push(component);
        }
    }
    loops
}

/// The blocks in the order in which a depth-first walk leaves them.
fn ends(function: &Function) -> Vec<BlockId> {
    let (mut seen, mut ends) = (BTreeSet::new(), Vec::new());
    for start in function.blocks.ids() {
        let mut open = vec![(start, false)];
        while let Some((block, left)) = open.pop() {
            if left {
                ends.push(block);
            } else if seen.insert(block) {
                open.push((block, true));
                open.extend(function.blocks[block].terminator.targets().into_iter().map(|to| (to, false)));
            }
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(body: &str) -> Vec<usize> {
        let text = format!("global x: 4\nfn main() {{\nentry:\n{body}\n  return 0\n}}\nentry main\n");
        let program = Program::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        waiting(&program, &|_| false).ones().collect()
    }

    #[test]
    fn what_is_read_in_a_loop_may_keep_it_going() {
        let counting = "goto head\nhead:\n%i = phi [entry: 0, body: %j]\n%more = slt 32 %i, 3\nbranch %more, body, after\n\
                        body:\nstore 4, @x, 1\n%j = add 32 %i, 1\ngoto head\nafter:";
        assert!(lines(counting).is_empty());
        let waiting =
            "goto head\nhead:\n%v = load 4 seq_cst, @x\n%more = eq 32 %v, 0\nbranch %more, head, after\nafter:";
        assert_eq!(lines(waiting).len(), 1);
        let bounded = "%n = load 4, @x\ngoto head\nhead:\n%i = phi [entry: 0, body: %j]\n%more = slt 32 %i, %n\n\
                       branch %more, body, after\nbody:\nstore 4, @x, 1\n%j = add 32 %i, 1\ngoto head\nafter:";
        assert!(lines(bounded).is_empty(), "the bound is read before");
    }
}
