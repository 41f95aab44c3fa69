//! Addresses that are surely inside of an object, and texts that surely are texts.

use facts::address::{Address, Addresses, Base};
use program::openmp;
use program::{BinaryOp, Expr, FunctionId, LocalId, Operand, Program, Stmt};

/// How many choices between addresses are followed.
const DEPTH: u32 = 4;

/// Whether so many bytes at an address surely belong to one object.
pub(crate) fn address(program: &Program, addresses: &Addresses, function: FunctionId, at: &Operand, len: u64) -> bool {
    inside(program, addresses, function, addresses.of(function, at), len, DEPTH)
}

fn inside(
    program: &Program,
    addresses: &Addresses,
    function: FunctionId,
    address: Address,
    len: u64,
    depth: u32,
) -> bool {
    let size = match address.base {
        Base::Global(global) => program.globals[global].size,
        Base::Local(local) => match addresses.definition(program, function, local) {
            Some(Stmt::Alloca { size: Operand::Const(size), .. } | Stmt::Alloc { size: Operand::Const(size), .. }) => {
                u64::try_from(*size).unwrap_or(0)
            }
            Some(Stmt::Assign { expr, .. }) if depth > 0 => {
                let sources: Vec<Operand> = match expr {
                    Expr::Select { then, otherwise, .. } => vec![*then, *otherwise],
                    Expr::Phi(sources) => sources.iter().map(|(_, value)| *value).collect(),
                    _ => return false,
                };
                return sources.iter().all(|source| {
                    let source = addresses.of(function, source);
                    let moved = match (source.index, address.index) {
                        (None, index) => Address { index, ..source }.plus(address.offset),
                        (_, None) => source.plus(address.offset),
                        _ => None,
                    };
                    moved.is_some_and(|moved| inside(program, addresses, function, moved, len, depth - 1))
                });
            }
            _ => return false,
        },
        Base::Function(_) | Base::Number | Base::Any => return false,
    };
    let Some((least, most)) = (match address.index {
        None => Some((0, 0)),
        Some((index, scale)) => range(program, addresses, function, index).map(|(least, most)| {
            let ends = (i128::from(least) * i128::from(scale), i128::from(most) * i128::from(scale));
            (ends.0.min(ends.1), ends.0.max(ends.1))
        }),
    }) else {
        return false;
    };
    let offset = i128::from(address.offset);
    least + offset >= 0 && most + offset + i128::from(len) <= i128::from(size)
}

/// The least and the most that a local can be, where its computation says so.
fn range(program: &Program, addresses: &Addresses, function: FunctionId, local: LocalId) -> Option<(i64, i64)> {
    match addresses.definition(program, function, local)? {
        Stmt::Assign { expr: Expr::Binary { op: BinaryOp::And, left, right, .. }, .. } => match (left, right) {
            (Operand::Const(mask), _) | (_, Operand::Const(mask)) if *mask >= 0 => Some((0, *mask)),
            _ => None,
        },
        Stmt::Assign { expr: Expr::Binary { op: BinaryOp::URem, right: Operand::Const(n), .. }, .. } if *n > 0 => {
            Some((0, n - 1))
        }
        Stmt::Assign { expr: Expr::Compare { .. }, .. } => Some((0, 1)),
        Stmt::Assign { expr: Expr::Binary { op, left, right, .. }, .. } => {
            let (of, number) = match (left, right) {
                (Operand::Local(of), Operand::Const(number)) => (*of, *number),
                (Operand::Const(number), Operand::Local(of)) if *op != BinaryOp::Sub => (*of, *number),
                _ => return None,
            };
            let (least, most) = range(program, addresses, function, of)?;
            match op {
                BinaryOp::Add => Some((least.checked_add(number)?, most.checked_add(number)?)),
                BinaryOp::Sub => Some((least.checked_sub(number)?, most.checked_sub(number)?)),
                BinaryOp::Mul if number >= 0 => Some((least.checked_mul(number)?, most.checked_mul(number)?)),
                _ => None,
            }
        }
        // In rounds of a loop that threads share out, the number of the iteration.
        Stmt::Assign { expr: Expr::Phi(sources), .. } => sources.iter().find_map(|(_, source)| match source {
            Operand::Local(first) => openmp::iterations(program, &program.functions[function], *first),
            _ => None,
        }),
        _ => None,
    }
}

/// Whether it is the address of a constant that ends with a zero byte.
pub(crate) fn is_text(program: &Program, at: &Operand) -> bool {
    constant(program, at).is_some()
}

/// The bytes of a constant text up to its zero byte.
fn constant<'p>(program: &'p Program, at: &Operand) -> Option<&'p [u8]> {
    let Operand::Global(global, offset) = at else { return None };
    let global = program.globals.get(*global).filter(|global| global.constant && global.relocations.is_empty())?;
    let start = usize::try_from(*offset).ok().filter(|start| (*start as u64) < global.size)?;
    let bytes = global.init.get(start..).unwrap_or(&[]);
    match bytes.iter().position(|byte| *byte == 0) {
        Some(end) => Some(&bytes[..end]),
        None => ((global.init.len() as u64) < global.size).then_some(bytes),
    }
}

/// Whether a format of `printf` is known and has no conversion of a pointer to memory.
pub(crate) fn prints_numbers(program: &Program, format: &Operand) -> bool {
    let Some(text) = constant(program, format) else { return false };
    let mut text = text.iter().copied();
    while let Some(byte) = text.next() {
        if byte != b'%' {
            continue;
        }
        let conversion = text.by_ref().find(|b| !(b.is_ascii_digit() || b" #+-.$'hlLjztqI".contains(b)));
        if !conversion.is_some_and(|b| b"%diouxXcCpaAeEfFgG".contains(&b)) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the last statement's address is good.
    fn is_good(body: &str) -> bool {
        let text = format!("global x: 8\nfn main(%n) {{\nentry:\n{body}\n  return 0\n}}\nentry main\n");
        let program = Program::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let main = program.main.unwrap();
        let stores = program.functions[main].blocks.iter().flat_map(|b| &b.statements);
        let mut stores =
            stores.filter_map(|s| if let Stmt::Store { address, .. } = &s.stmt { Some(address) } else { None });
        address(&program, &Addresses::new(&program), main, stores.next_back().unwrap(), 4)
    }

    #[test]
    fn inside_of_an_object_or_not() {
        assert!(is_good("store 4, @x, 1"));
        assert!(is_good("store 4, @x+4, 1"));
        assert!(!is_good("store 4, @x+5, 1"));
        assert!(!is_good("store 4, 0, 1"));
        assert!(!is_good("store 4, %n, 1"));
        assert!(is_good("%b = and 32 %n, 1\n%a = offset @x, %b, 4, 0\nstore 4, %a, 1"));
        assert!(!is_good("%b = and 32 %n, 3\n%a = offset @x, %b, 4, 0\nstore 4, %a, 1"));
        assert!(!is_good("%a = offset @x, %n, 4, 0\nstore 4, %a, 1"));
        assert!(is_good("%l = alloca 4\n%a = select %n, @x, %l\nstore 4, %a, 1"));
        assert!(!is_good("%a = select %n, @x, 0\nstore 4, %a, 1"));
    }
}
