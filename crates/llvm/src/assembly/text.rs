//! The text of inline assembly: instructions, and which memory each can touch.
//!
//! Operands of the assembly are written `$0` or `${0:w}` there, and `$$` is a dollar sign.

/// Instructions that the prefix `lock` makes atomic, without the letter for their size.
const LOCKABLE: [&str; 17] = [
    "cmpxchg",
    "cmpxchg8b",
    "cmpxchg16b",
    "xadd",
    "xchg",
    "inc",
    "dec",
    "add",
    "sub",
    "or",
    "and",
    "xor",
    "not",
    "neg",
    "bts",
    "btr",
    "btc",
];

/// Instructions that wait or order this processor's own work, and do nothing else.
const IDLE: [&str; 6] = ["nop", "pause", "yield", "isb", "wfe", "sev"];

/// Directives that only say where instructions are put.
const PLACING: [&str; 4] = [".p2align", ".align", ".balign", ".nops"];

/// Instructions that go to other code, to the kernel, or to memory that no operand names.
const ELSEWHERE: [&str; 45] = [
    "bl",
    "blr",
    "blx",
    "blraa",
    "blrab",
    "br",
    "brk",
    "bx",
    "bxj",
    "call",
    "callq",
    "calll",
    "dc",
    "enter",
    "hlt",
    "hvc",
    "in",
    "int",
    "int3",
    "ins",
    "iret",
    "iretq",
    "jmp",
    "jmpq",
    "lcall",
    "ldm",
    "leave",
    "ljmp",
    "maskmovdqu",
    "maskmovq",
    "monitor",
    "monitorx",
    "out",
    "ret",
    "retq",
    "rfe",
    "smc",
    "stm",
    "svc",
    "swi",
    "sysenter",
    "syscall",
    "sysret",
    "xlat",
    "xlatb",
];

/// Which memory an instruction can touch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Memory {
    /// Its operands.
    Operands,
    /// Its operands, and what these operands of the assembly point to.
    Behind(Vec<usize>),
    /// What the destination register points to.
    Fill,
    /// What the source and the destination register point to.
    Copy,
}

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Instruction {
    /// Words before the name: `lock`, `rep`.
    prefixes: Vec<String>,
    pub(super) name: String,
    /// The rest of the line.
    pub(super) operands: String,
}

/// The whole text.
pub(super) struct Text {
    pub(super) instructions: Vec<Instruction>,
    /// Words in operands that may be names of functions and variables.
    pub(super) names: Vec<String>,
}

impl Text {
    pub(super) fn parse(source: &str) -> Self {
        let source = without_comments(source);
        let mut instructions: Vec<Instruction> = Vec::new();
        let mut prefixes = Vec::new();
        for line in source.split([';', '\n']) {
            // The line of a comment of ARM's ends here; there is no other use of the sign.
            let mut rest = line.split('@').next().unwrap_or_default().trim();
            while let Some((_, after)) = label(rest) {
                rest = after;
            }
            while !rest.is_empty() {
                let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                let word = word.to_ascii_lowercase();
                rest = after.trim();
                // A prefix may be written as an instruction of its own.
                if matches!(word.as_str(), "lock" | "rep" | "repe" | "repz" | "repne" | "repnz") {
                    prefixes.push(word);
                    continue;
                }
                let operands = std::mem::take(&mut rest).to_owned();
                if !PLACING.contains(&word.as_str()) {
                    instructions.push(Instruction { prefixes: std::mem::take(&mut prefixes), name: word, operands });
                }
            }
        }
        let names = instructions.iter().flat_map(Instruction::names).collect();
        Self { instructions, names }
    }
}

/// The label that a line begins with, and the rest of the line.
fn label(line: &str) -> Option<(&str, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    line.split_once(':').filter(|(label, _)| label.chars().all(is_part)).map(|(label, after)| (label, after.trim()))
}

/// The labels of a text, each with the directive or instruction that comes next.
pub(super) fn labels(source: &str) -> Vec<(String, Option<String>)> {
    let source = without_comments(source);
    let (mut labels, mut waiting) = (Vec::new(), Vec::new());
    for line in source.split([';', '\n']) {
        let mut rest = line.trim();
        while let Some((name, after)) = label(rest) {
            waiting.push(name.to_owned());
            rest = after;
        }
        if let Some(next) = rest.split_whitespace().next() {
            labels.extend(waiting.drain(..).map(|name| (name, Some(next.to_ascii_lowercase()))));
        }
    }
    labels.extend(waiting.into_iter().map(|name| (name, None)));
    labels
}

/// Comments are until the end of the line, or in between.
fn without_comments(source: &str) -> String {
    let mut text = String::new();
    let mut rest = source;
    while let Some((before, after)) = rest.split_once("/*") {
        text.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let lines = text.lines().map(|line| {
        let line = line.split("//").next().unwrap_or_default();
        // A number of ARM's is written with the sign of a comment of x86's.
        let comment = line.char_indices().find(|(at, c)| {
            *c == '#'
                && !line[at + 1..].starts_with(|next: char| next.is_ascii_digit() || matches!(next, '-' | '$' | '('))
        });
        comment.map_or(line, |(at, _)| &line[..at])
    });
    lines.collect::<Vec<_>>().join("\n")
}

impl Instruction {
    /// Words in the operands that may be names of functions and variables.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '%');
        let words = self.operands.split(move |c| !is_part(c));
        words.filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_')).map(str::to_owned)
    }

    pub(super) fn has_prefix(&self, prefix: &str) -> bool {
        self.prefixes.iter().any(|p| p.starts_with(prefix))
    }

    /// Whether nothing happens that another thread could notice.
    pub(super) fn is_idle(&self) -> bool {
        IDLE.contains(&self.name.as_str()) && !self.has_prefix("lock")
    }

    /// Whether it orders all accesses of this thread.
    pub(super) fn is_fence(&self) -> bool {
        let on_stack = self.operands.ends_with("(%rsp)") || self.operands.ends_with("(%esp)");
        self.name == "mfence" || self.name == "dmb" || self.has_prefix("lock") && is(&self.name, "add") && on_stack
    }

    /// Whether it updates an operand in memory at once. An operand in memory is a string of bits to the instructions that
    /// set one: the number of the bit may lead out of the operand unless it is written there.
    pub(super) fn is_update(&self) -> bool {
        let any_bit =
            ["bts", "btr", "btc"].iter().any(|known| is(&self.name, known)) && !self.operands.starts_with("$$");
        if any_bit {
            return false;
        }
        let alone = is(&self.name, "xchg") && !self.operands.is_empty();
        let update = self.has_prefix("lock") && LOCKABLE.iter().any(|known| is(&self.name, known)) || alone;
        update && !self.operands.contains(['(', '[']) && !self.operands.contains('%')
    }

    /// The memory that it can touch; `None` if that is not known.
    pub(super) fn memory(&self) -> Option<Memory> {
        let name = self.name.as_str();
        if name.starts_with(['.', '$']) || ELSEWHERE.contains(&name) {
            return None;
        }
        if self.operands.is_empty() {
            if string_instruction(name, "stos") {
                return Some(Memory::Fill);
            }
            if string_instruction(name, "movs") {
                return Some(Memory::Copy);
            }
        }
        // The other string instructions, and groups of registers loaded from or stored to where a register points.
        let implicit = ["lods", "cmps", "scas", "ins", "outs", "stos"].iter().any(|s| string_instruction(name, s));
        let groups = ["ldm", "stm", "xsave", "xrstor", "fxsave", "fxrstor"].iter().any(|s| name.starts_with(s));
        if implicit || groups || self.leaves() {
            return None;
        }
        let mut behind = Vec::new();
        let mut rest = self.operands.as_str();
        while let Some(open) = rest.find(['(', '[']) {
            let close = open + rest[open..].find([')', ']'])?;
            behind.extend(made_of_operands(&rest[open + 1..close])?);
            rest = &rest[close + 1..];
        }
        Some(if behind.is_empty() { Memory::Operands } else { Memory::Behind(behind) })
    }

    /// Whether it may go on elsewhere than behind it.
    pub(super) fn jumps(&self) -> bool {
        self.name.starts_with('j')
            || self.name.starts_with("loop")
            || matches!(self.name.as_str(), "b" | "cbz" | "cbnz" | "tbz" | "tbnz" | "xbegin")
            || self.name.starts_with("b.")
            || self.name.len() == 3 && self.name.starts_with('b') && CONDITIONS.contains(&&self.name[1..])
    }

    /// Whether it goes on anywhere but at a numbered label of the same text.
    fn leaves(&self) -> bool {
        let target = self.operands.rsplit([',', ' ', '\t']).next().unwrap_or_default();
        let local =
            target.strip_suffix(['f', 'b']).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        self.jumps() && !local
    }
}

/// Conditions of jumps of ARM.
const CONDITIONS: [&str; 16] =
    ["al", "cc", "cs", "eq", "ge", "gt", "hi", "hs", "le", "lo", "ls", "lt", "mi", "ne", "pl", "vs"];

/// Whether this is the instruction, perhaps with the letter for its size.
fn is(word: &str, name: &str) -> bool {
    word.strip_prefix(name).is_some_and(|size| matches!(size, "" | "b" | "w" | "l" | "q"))
}

fn string_instruction(word: &str, name: &str) -> bool {
    word.strip_prefix(name).is_some_and(|size| matches!(size, "b" | "w" | "l" | "q" | "d"))
}

/// The operands that an address in brackets is made of, if it is made of nothing else but numbers.
fn made_of_operands(address: &str) -> Option<Vec<usize>> {
    let mut operands = Vec::new();
    for part in address.split([',', '+', ' ', '*']).filter(|part| !part.is_empty()) {
        let number = |text: &str| text.parse::<usize>().ok();
        match part.strip_prefix('$') {
            Some(rest) => {
                let inside = rest.strip_prefix('{').map(|r| r.trim_end_matches('}')).unwrap_or(rest);
                operands.push(number(inside.split(':').next().unwrap_or_default())?);
            }
            None => {
                let part = part.trim_start_matches(['#', '-']);
                number(part)?;
            }
        }
    }
    (!operands.is_empty()).then_some(operands)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(text: &str) -> Vec<Option<Memory>> {
        Text::parse(text).instructions.iter().map(Instruction::memory).collect()
    }

    #[test]
    fn most_instructions_have_operands_only() {
        for text in
            ["bswap $0", "cpuid", "rdtsc", "movl $1, $0", "crc32q $1, $0", "mrs $0, cntvct_el0", "popcnt $1, $0"]
        {
            assert_eq!(memory(text), [Some(Memory::Operands)], "{text}");
        }
        assert_eq!(memory("1: rdrand $0\n jnc 1b"), [Some(Memory::Operands), Some(Memory::Operands)]);
        assert_eq!(memory("movsbl $1, $0"), [Some(Memory::Operands)]);
    }

    #[test]
    fn brackets_are_made_of_operands() {
        assert_eq!(memory("crc32q 16($1), $0"), [Some(Memory::Behind(vec![1]))]);
        assert_eq!(memory("ldrex $0, [$1, #4]"), [Some(Memory::Behind(vec![1]))]);
        assert_eq!(memory("mov (%rax), $0"), [None]);
        assert_eq!(memory("mov counter(%rip), $0"), [None]);
        assert_eq!(memory("ldr r0, [r1]"), [None]);
    }

    #[test]
    fn string_instructions_go_where_registers_point() {
        assert_eq!(memory("cld; rep; stosq"), [Some(Memory::Operands), Some(Memory::Fill)]);
        assert_eq!(memory("rep movsb"), [Some(Memory::Copy)]);
        assert_eq!(memory("repne scasb"), [None]);
    }

    #[test]
    fn other_code_is_not_known() {
        for text in
            ["call f", "jmp *$0", "jmp f", "syscall", "svc #0", "bl f", ".byte 0x90", "ldmia $0!, {r4}", "int $$0x80"]
        {
            assert_eq!(memory(text), [None], "{text}");
        }
    }

    #[test]
    fn names_are_words() {
        let text = Text::parse("call f ; incl counter(%rip) # x\nmov $0, %rax");
        assert!(["f", "counter"].iter().all(|name| text.names.iter().any(|n| n == name)));
        assert!(!text.names.iter().any(|n| n == "x" || n.contains("rax")));
    }
}
