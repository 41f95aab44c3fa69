//! Assembly outside of functions.
//!
//! Kernels and libraries use it for tables: a section with addresses of functions and variables, which other code goes
//! through. It runs nothing itself, so all that matters is which names it makes known. With instructions, or with a further
//! name for something of the program's own, it could do anything.

use super::text::{Text, labels};
use crate::ir::{Module, Value};
use crate::lower::FUNCTION_SECTIONS;

/// Directives that place data.
const DATA: [&str; 12] =
    [".2byte", ".4byte", ".8byte", ".asciz", ".byte", ".hword", ".int", ".long", ".quad", ".short", ".string", ".word"];

/// Directives that say where data goes, place perhaps nothing, or say how names are seen from outside.
const PLACES: [&str; 24] = [
    ".align",
    ".ascii",
    ".balign",
    ".bss",
    ".data",
    ".file",
    ".global",
    ".globl",
    ".hidden",
    ".ident",
    ".internal",
    ".local",
    ".p2align",
    ".popsection",
    ".previous",
    ".protected",
    ".pushsection",
    ".section",
    ".size",
    ".skip",
    ".space",
    ".text",
    ".type",
    ".zero",
];

/// Directives that say how the text is to be read, or what it is called, and place nothing.
const SETTINGS: [&str; 15] = [
    ".arch",
    ".arch_extension",
    ".arm",
    ".att_syntax",
    ".code",
    ".code16",
    ".code32",
    ".code64",
    ".cpu",
    ".eabi_attribute",
    ".fpu",
    ".intel_syntax",
    ".symver",
    ".syntax",
    ".thumb",
];

/// The type of a function whose result is called in its place.
const INDIRECT: &str = "gnu_indirect_function";

/// What a module's assembly outside of functions does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outside<'m> {
    /// It makes these functions and variables known to code that is not here; often none.
    Tables(Vec<Value<'m>>),
    /// Not known.
    Unknown,
}

impl<'m> Outside<'m> {
    /// What that of a module does.
    pub(crate) fn of(module: Module<'m>) -> Self {
        let source = module.assembly();
        let symbol = |name: &String| module.function(name).or_else(|| module.global(name));
        match names(&source) {
            Some(names) if !labels(&source).iter().any(|label| is_further_name(module, label)) => {
                Self::Tables(names.iter().filter_map(symbol).collect())
            }
            _ => Self::Unknown,
        }
    }
}

/// Whether a label may be a function, or where a variable of the program's begins: unless data of its own comes next.
fn is_further_name(module: Module<'_>, (label, next): &(String, Option<String>)) -> bool {
    let has_data = next.as_deref().is_some_and(|next| DATA.contains(&next));
    module.function(label).is_some() || module.global(label).is_some() && !has_data
}

/// The words that may be names, if the text has nothing but tables.
fn names(source: &str) -> Option<Vec<String>> {
    let text = Text::parse(source);
    // What is in these sections runs before or after `main`, and an indirect function stands for another one.
    let runs = FUNCTION_SECTIONS.iter().chain(&[INDIRECT]).any(|part| source.contains(part));
    let mut names = Vec::new();
    for instruction in &text.instructions {
        match instruction.name.as_str() {
            _ if instruction.has_prefix("") || runs => return None,
            name if SETTINGS.contains(&name) => {}
            name if DATA.contains(&name) || PLACES.contains(&name) => names.extend(instruction.names()),
            _ => return None,
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_told_from_code() {
        let of = |source: &str| names(source).map(|names| names.join(" "));
        assert_eq!(of(".symver f_old, f@V1\n.symver f_new, f@@V2").as_deref(), Some(""));
        assert_eq!(of("").as_deref(), Some(""));
        assert_eq!(of(".syntax unified").as_deref(), Some(""));
        let entry = ".section\t\".initcall6.init\", \"a\"\n__initcall_6:\n.long\tdevice_init - .\n.previous";
        assert!(of(entry).is_some_and(|names| names.ends_with("device_init")), "{:?}", of(entry));
        for other in [
            ".set a, b",
            "a = b",
            ".globl f\nf: ret",
            ".weak f",
            ".type f, @gnu_indirect_function",
            ".comm x,4",
            ".macro m\n.endm",
            ".include \"x.s\"",
            ".section .init_array,\"aw\"\n.quad f",
        ] {
            assert_eq!(of(other), None, "{other:?}");
        }
    }

    #[test]
    fn labels_are_found() {
        let found = labels("a: .long 1\n  b:\nc: d: .zero 4; e: # f:\n.ascii \"g:\"\nh:");
        let text: Vec<String> =
            found.iter().map(|(label, next)| format!("{label}{}", next.as_deref().unwrap_or("!"))).collect();
        assert_eq!(text, ["a.long", "b.zero", "c.zero", "d.zero", "e.ascii", "h!"]);
    }
}
