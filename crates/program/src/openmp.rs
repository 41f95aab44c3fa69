//! Our library for OpenMP in a program: the names by which those who read the program know its parts.

use crate::{Callee, Function, LocalId, Operand, Program, Stmt};

/// How the names end of functions that call a region's code with what it is given.
pub const ADAPTER: &str = ".region";
/// The library's function that calls them.
pub const EXECUTE: &str = "raceproof_omp_execute_region";
/// The start routine of the threads of teams.
pub const WORK: &str = "raceproof_omp_work";
/// The name of the array in which a region is given its arguments.
pub const ARGUMENTS: &str = "arguments";
/// Called where a league is made.
pub const LEAGUE: &str = "raceproof_omp_begin_league";
/// How the names of functions start that clang makes of the body of `ordered simd`.
pub const IN_ORDER: &str = "__captured_stmt";

/// What the files of the library are called.
const FILES: &str = "<openmp>";
/// Waits for an iteration that the program names, which may never come.
const SINK: &str = "__kmpc_doacross_wait";

/// Whether a function is one of the library: it makes and uses its memory and its objects in order, whatever the program
/// does.
pub fn is_own(program: &Program, function: &Function) -> bool {
    if function.symbol.starts_with("raceproof_omp_") {
        return true;
    }
    let mut sites = function.blocks.iter().flat_map(|block| &block.statements).filter_map(|statement| statement.site);
    sites.any(|site| {
        let location = program.sites.get(site).and_then(|site| site.location);
        location.and_then(|location| program.files.get(location.file)).is_some_and(|file| is_own_file(file))
    })
}

/// Whether the name of an object says that the library allocated it.
pub fn is_own_object(name: &str) -> bool {
    name.split_once('@').is_some_and(|(_, place)| place.starts_with(FILES))
}

/// Whether a file is one of the library.
pub fn is_own_file(file: &str) -> bool {
    file.starts_with(FILES)
}

/// Whether a statement of a region's code reads the number of its thread, which the library puts where its first two
/// parameters say.
pub fn reads_number(function: &Function, stmt: &Stmt) -> bool {
    let is_number = |local: &LocalId| local.0 < 2 && is_region(function);
    matches!(stmt, Stmt::Load { address: Operand::Local(local), .. } if is_number(local))
}

/// Whether the loops of a function end, whatever the program does.
pub fn loops_end(program: &Program, function: &Function) -> bool {
    is_own(program, function) && function.symbol != SINK
}

/// Whether a function only waits for threads that wait for nothing themselves, or at places that count: for those of a
/// region to start and to end, for all at a barrier, which OpenMP demands that all come to, and for the iteration before.
pub fn waits_for_others(symbol: &str) -> bool {
    symbol.starts_with("raceproof_omp_") || symbol == "__kmpc_ordered"
}

/// How the names of variables start that the compiler makes for a loop whose iterations threads share out.
const OF_LOOP: &str = ".omp.";
/// Takes the next chunk of such a loop.
const NEXT: &str = "__kmpc_dispatch_next_";
/// Takes the only one.
const ONLY: &str = "__kmpc_for_static_init_";

/// Whether a statement reads how many iterations are left for the thread, or takes more of them: there is an end to that.
pub fn is_share(program: &Program, function: &Function, stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Load { address: Operand::Local(variable), .. } => {
            let statements = function.blocks.iter().flat_map(|block| &block.statements);
            statements.into_iter().any(|statement| {
                matches!(&statement.stmt, Stmt::Alloca { dst, name: Some(name), .. } if dst == variable && name.starts_with(OF_LOOP))
            })
        }
        Stmt::Call { callee: Callee::Direct(callee), .. } => program.functions[*callee].symbol.starts_with(NEXT),
        _ => false,
    }
}

/// Whether a function is the code of a region, which is given the number of its thread first.
pub fn is_region(function: &Function) -> bool {
    function.symbol.contains(".omp_outlined")
}

/// If a statement takes the next chunk of a loop: what says whether there was one, and the variables that then hold its first
/// and its last iteration.
pub fn next_chunk(program: &Program, stmt: &Stmt) -> Option<(Option<LocalId>, [LocalId; 2])> {
    let Stmt::Call { dst, callee: Callee::Direct(callee), args } = stmt else { return None };
    match args.as_slice() {
        [_, _, _, Operand::Local(first), Operand::Local(last), ..]
            if program.functions[*callee].symbol.starts_with(NEXT) =>
        {
            Some((*dst, [*first, *last]))
        }
        _ => None,
    }
}

/// The first and the last iteration of a loop that threads share out, if both are numbers and `first` is what the compiler
/// starts the thread's share with.
pub fn iterations(program: &Program, function: &Function, first: LocalId) -> Option<(i64, i64)> {
    let statements = || function.blocks.iter().flat_map(|block| &block.statements).map(|statement| &statement.stmt);
    let lower = statements().find_map(|stmt| match stmt {
        Stmt::Load { dst, address: Operand::Local(lower), .. } if *dst == first => Some(*lower),
        _ => None,
    })?;
    let upper = statements().find_map(|stmt| {
        let Stmt::Call { callee: Callee::Direct(callee), args, .. } = stmt else { return None };
        let symbol = &program.functions[*callee].symbol;
        let at = args.iter().position(|argument| *argument == Operand::Local(lower))?;
        let is_loop = symbol.starts_with(NEXT) && at == 3 || symbol.starts_with(ONLY) && at == 4;
        match args.get(at + 1) {
            Some(Operand::Local(upper)) if is_loop => Some(*upper),
            _ => None,
        }
    })?;
    let stored = |variable: LocalId| {
        let mut numbers = statements().filter_map(|stmt| match stmt {
            Stmt::Store { address: Operand::Local(local), value: Operand::Const(number), .. } if *local == variable => {
                Some(*number)
            }
            _ => None,
        });
        numbers.next().filter(|first| numbers.all(|number| number == *first))
    };
    stored(lower).zip(stored(upper))
}
