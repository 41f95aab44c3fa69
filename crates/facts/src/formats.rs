//! What the conversions of a `printf` or `scanf` can be.

use program::library::Format;
use program::{Operand, Program};

/// Whether a format may have one of these conversions: it has, or it is not known. Modifiers that are conversions of
/// their own elsewhere (`m` of `scanf`) count if they are asked for.
pub fn may_convert(program: &Program, format: &Format, text: &Operand, conversions: &[u8]) -> bool {
    let Operand::Global(global, 0) = text else { return true };
    let Some(global) = program.globals.get(*global).filter(|global| global.constant) else { return true };
    let width = if format.wide { 4 } else { 1 };
    let letters = global.init.chunks(width).map(|letter| letter.first().copied().unwrap_or(0));
    let mut letters = letters.take_while(|letter| *letter != 0).peekable();
    while let Some(letter) = letters.next() {
        if letter != b'%' {
            continue;
        }
        while letters.peek().is_some_and(|l| l.is_ascii_digit() || b" #+-.*$'hlLjztqI".contains(l)) {
            letters.next();
        }
        if letters.next().is_some_and(|letter| conversions.contains(&letter)) {
            return true;
        }
    }
    false
}

/// Whether a `scanf` may store a pointer: one that it finds in the text, or to a block that it allocates.
pub fn may_store_pointer(program: &Program, format: &Format, text: &Operand) -> bool {
    format.scan && may_convert(program, format, text, b"pm")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may(text: &str, wide: bool, conversions: &[u8]) -> bool {
        let bytes: Vec<u8> = match wide {
            true => text.chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect(),
            false => text.as_bytes().to_vec(),
        };
        let init: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let source = format!(
            "constant global f: {} = {init}\nfn main() {{\nentry:\n  return 0\n}}\nentry main\n",
            bytes.len() + 4
        );
        let program = Program::parse(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
        let format = Format { format: 0, args: program::library::FormatArgs::From(1), scan: true, wide };
        let global = program.globals.ids().next().expect("a global");
        may_convert(&program, &format, &Operand::Global(global, 0), conversions)
    }

    #[test]
    fn conversions_are_found() {
        assert!(may("%d %p", false, b"p") && may("%*p", false, b"p") && may("%-10.3lln", false, b"n"));
        assert!(!may("%d p %%p", false, b"p") && !may("100%", false, b"p"));
        assert!(may("%ms", false, b"pm") && !may("%s m", false, b"pm"));
        assert!(may("a %n", true, b"n") && !may("a %d", true, b"n"));
    }
}
