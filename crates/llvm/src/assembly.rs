//! Inline assembly: the little of it whose effect is known.

use model::Order;

use crate::ir::Value;

/// Why a module with assembly outside of functions is not fully modelled.
pub(crate) const OUTSIDE: &str = "assembly outside of functions";

/// The effect of a piece of inline assembly on memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Assembly {
    /// None: it keeps the compiler from moving accesses, or waits a moment.
    Nothing,
    /// A fence.
    Fence(Order),
    /// Not known.
    Unknown,
}

impl Assembly {
    /// The effect of this inline assembly.
    pub(crate) fn of(assembly: Value<'_>) -> Self {
        Self::of_text(&assembly.assembly_text())
    }

    fn of_text(text: &str) -> Self {
        let words: Vec<_> = text.split(|c: char| c.is_whitespace() || c == ';').filter(|w| !w.is_empty()).collect();
        match words[..] {
            [] | ["pause"] | ["rep", "nop"] => Self::Nothing,
            ["mfence"] => Self::Fence(Order::SeqCst),
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_understood_is_known() {
        for idle in ["", " \n", "pause", "rep; nop", "pause;"] {
            assert_eq!(Assembly::of_text(idle), Assembly::Nothing, "{idle:?}");
        }
        assert_eq!(Assembly::of_text("mfence"), Assembly::Fence(Order::SeqCst));
        for unknown in ["movl $1, $0", "lock; addl $$0,0(%rsp)", "# comment"] {
            assert_eq!(Assembly::of_text(unknown), Assembly::Unknown, "{unknown:?}");
        }
    }
}
