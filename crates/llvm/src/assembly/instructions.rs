//! What instructions of x86-64 do to their operands, as far as a run can report it.
//!
//! An instruction that is not in the tables is not reported: fences, instructions with the prefix `lock`, jumps (what follows
//! them may not be executed), and addresses that are more than an operand.

use super::text::Instruction;

/// Instructions that read their operands.
const READ: [&str; 13] =
    ["cmp", "test", "mul", "imul", "div", "idiv", "crc32", "popcnt", "bsf", "bsr", "lzcnt", "tzcnt", "ldmxcsr"];

/// Instructions that read their operands and write the last one.
const UPDATE: [&str; 20] = [
    "add", "adc", "sub", "sbb", "and", "or", "xor", "inc", "dec", "neg", "not", "shl", "sal", "shr", "sar", "rol",
    "ror", "xadd", "cmpxchg", "rcl",
];

/// Instructions that write the last operand.
const WRITE: [&str; 3] = ["stmxcsr", "fnstcw", "fnstsw"];

/// Instructions that copy the first operand to the last, whatever their size.
const MOVE: [&str; 9] = ["movdqu", "movdqa", "movups", "movaps", "movupd", "movapd", "movss", "movsd", "movd"];

/// Instructions that have an operand in memory and use its address only.
const ADDRESS: [&str; 4] = ["clflush", "clflushopt", "clwb", "lea"];

/// What follows is not reported if the text has one of these, with or without an operand in memory.
const ORDERING: [&str; 8] = ["mfence", "sfence", "lfence", "dmb", "dsb", "isb", "std", "serialize"];

/// One use of an operand in memory by an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Use {
    /// The number of the operand.
    pub(super) operand: usize,
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// How many bytes, where the instruction says so.
    pub(super) bytes: Option<u32>,
}

/// A string instruction: it fills memory from where the destination register points, or copies there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// It reads from where the source register points.
    pub(super) copies: bool,
    /// It is repeated as often as the counting register says.
    pub(super) repeated: bool,
    /// Bytes each time.
    pub(super) unit: u32,
}

/// What an instruction does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Doing {
    Uses(Vec<Use>),
    Run(Run),
}

/// What an instruction does, given which operands are memory; `None` if that is not known exactly.
pub(super) fn doing(instruction: &Instruction, is_memory: impl Fn(usize) -> bool) -> Option<Doing> {
    let name = instruction.name.as_str();
    if let Some(run) = run(instruction) {
        return Some(Doing::Run(run));
    }
    let orders = ORDERING.contains(&name) || instruction.has_prefix("lock") || instruction.jumps();
    if orders || instruction.memory()? != super::text::Memory::Operands {
        return None;
    }
    let mut operands = Vec::new();
    for written in instruction.operands.split(',').map(str::trim).filter(|written| !written.is_empty()) {
        operands.push(operand(written)?.filter(|number| is_memory(*number)));
    }
    if operands.iter().all(Option::is_none) || name.starts_with("prefetch") || sized(name, &ADDRESS).is_some() {
        return Some(Doing::Uses(Vec::new()));
    }
    let (last_reads, last_writes, bytes) = if let Some(bytes) = moved(name) {
        (false, true, bytes)
    } else if let Some(bytes) = sized(name, &UPDATE) {
        (true, true, bytes)
    } else if let Some(bytes) = sized(name, &READ).or_else(|| name.starts_with("cmov").then_some(None)) {
        (true, false, bytes)
    } else if let Some(bytes) = sized(name, &WRITE).or_else(|| name.starts_with("set").then_some(Some(1))) {
        (false, true, bytes)
    } else {
        return None;
    };
    let last = operands.len().checked_sub(1)?;
    let uses = operands.into_iter().enumerate().filter_map(|(at, number)| {
        let (reads, writes) = if at == last { (last_reads, last_writes) } else { (true, false) };
        Some(Use { operand: number?, reads, writes, bytes })
    });
    Some(Doing::Uses(uses.collect()))
}

fn run(instruction: &Instruction) -> Option<Run> {
    let name = instruction.name.as_str();
    let (copies, size) = match (name.strip_prefix("stos"), name.strip_prefix("movs")) {
        (Some(size), _) => (false, size),
        (_, Some(size)) => (true, size),
        _ => return None,
    };
    let unit = bytes_of(if size == "d" { "l" } else { size })?;
    let repeated = instruction.has_prefix("rep");
    instruction.operands.is_empty().then_some(Run { copies, repeated, unit })
}

/// The number of an operand of the assembly; `Some(None)` for a register or a number.
fn operand(written: &str) -> Option<Option<usize>> {
    let is_word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric());
    if let Some(constant) = written.strip_prefix("$$") {
        return is_word(constant.trim_start_matches('-')).then_some(None);
    }
    if let Some(register) = written.strip_prefix('%') {
        return is_word(register).then_some(None);
    }
    let number = written.strip_prefix('$')?;
    // With a letter for a part of it in a register; the others change what an address is of.
    let number = match number.strip_prefix('{').and_then(|inside| inside.strip_suffix('}')) {
        Some(inside) => inside.split_once(':').filter(|(_, letter)| matches!(*letter, "b" | "w" | "k" | "q"))?.0,
        None => number,
    };
    number.parse().ok().map(Some)
}

/// The size that the last letter of an instruction's name says, if it is one of these.
fn sized(name: &str, known: &[&str]) -> Option<Option<u32>> {
    let after = known.iter().filter_map(|known| name.strip_prefix(known));
    let mut sizes = after.filter_map(|size| if size.is_empty() { Some(None) } else { bytes_of(size).map(Some) });
    sizes.next()
}

/// The bytes that an instruction moves to or from memory, if it is one that moves.
fn moved(name: &str) -> Option<Option<u32>> {
    if MOVE.contains(&name) {
        return Some(None);
    }
    let size = name.strip_prefix("mov")?;
    // With an extension, the first letter is about what is read, which is what can be memory.
    let extended = size.strip_prefix(['s', 'z']).filter(|sizes| sizes.len() == 2);
    match extended {
        Some(sizes) => bytes_of(&sizes[..1]).filter(|_| bytes_of(&sizes[1..]).is_some()).map(Some),
        None if size.is_empty() => Some(None),
        None => bytes_of(size).map(Some),
    }
}

fn bytes_of(letter: &str) -> Option<u32> {
    Some(match letter {
        "b" => 1,
        "w" => 2,
        "l" => 4,
        "q" => 8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::text::Text;
    use super::*;

    /// What a single instruction does if the operands 0 and 1 are memory.
    fn of(text: &str) -> Option<Doing> {
        let instructions = Text::parse(text).instructions;
        assert_eq!(instructions.len(), 1, "{text}");
        doing(&instructions[0], |operand| operand < 2)
    }

    fn uses(uses: &[(usize, bool, bool, Option<u32>)]) -> Option<Doing> {
        let make =
            |&(operand, reads, writes, bytes): &(usize, bool, bool, Option<u32>)| Use { operand, reads, writes, bytes };
        Some(Doing::Uses(uses.iter().map(make).collect()))
    }

    #[test]
    fn the_last_operand_is_where_a_result_goes() {
        assert_eq!(of("movl $2, $0"), uses(&[(0, false, true, Some(4))]));
        assert_eq!(of("mov $0, ${2:k}"), uses(&[(0, true, false, None)]));
        assert_eq!(of("movb $$1,$0"), uses(&[(0, false, true, Some(1))]));
        assert_eq!(of("movzbl $1, %eax"), uses(&[(1, true, false, Some(1))]));
        assert_eq!(of("incl $0"), uses(&[(0, true, true, Some(4))]));
        assert_eq!(of("addq $1, $2"), uses(&[(1, true, false, Some(8))]));
        assert_eq!(of("cmpl $$0, $1"), uses(&[(1, true, false, Some(4))]));
        assert_eq!(of("sete $0"), uses(&[(0, false, true, Some(1))]));
        assert_eq!(of("movsd $0, %xmm0"), uses(&[(0, true, false, None)]));
    }

    #[test]
    fn addresses_are_no_accesses() {
        for text in ["prefetchnta $0", "leaq $1, $2", "clflush $0", "bswap $2", "cpuid", "movl %eax, %ebx"] {
            assert_eq!(of(text), uses(&[]), "{text}");
        }
    }

    #[test]
    fn string_instructions_run() {
        assert_eq!(of("rep stosq"), Some(Doing::Run(Run { copies: false, repeated: true, unit: 8 })));
        assert_eq!(of("movsb"), Some(Doing::Run(Run { copies: true, repeated: false, unit: 1 })));
        assert_eq!(of("movsd"), Some(Doing::Run(Run { copies: true, repeated: false, unit: 4 })));
    }

    #[test]
    fn what_is_not_exact_is_not_reported() {
        for text in [
            "movl $2, 4+$0",
            "movl ${0:H}, $2",
            "movl %fs:0, $2",
            "movl 4($2), $3",
            "lock incl $0",
            "xchgl $2, $0",
            "mfence",
            "std",
            "jne 1b",
            "btsl $2, $0",
            "movntiq $2, $0",
            "vmovdqu $0, %ymm0",
            "paddd $0, %xmm0",
            "movl counter, $2",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
