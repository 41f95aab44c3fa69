//! Inline assembly: the little of it whose effect is known.

use model::Order;

use crate::ir::{Ty, Value};

/// Why a module with assembly outside of functions is not fully modelled.
pub(crate) const OUTSIDE: &str = "assembly outside of functions";

/// The effect of a piece of inline assembly on memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Assembly {
    /// None: it keeps the compiler from moving accesses, or waits a moment.
    Nothing,
    /// A fence.
    Fence(Order),
    /// One instruction that updates its operand in memory at once: `xchg`, or one with the prefix `lock`.
    Update,
    /// Not known.
    Unknown,
}

/// Instructions that the prefix `lock` makes atomic, without the letter for their size.
const LOCKABLE: [&str; 13] =
    ["cmpxchg", "xadd", "xchg", "inc", "dec", "add", "sub", "or", "and", "xor", "not", "neg", "bts"];

impl Assembly {
    /// The effect of this inline assembly in a call of it.
    pub(crate) fn of<'m>(assembly: Value<'m>, call: Value<'m>) -> Self {
        match Self::of_text(&assembly.assembly_text()) {
            Self::Update if operands(call).next().is_none() => Self::Unknown,
            effect => effect,
        }
    }

    fn of_text(text: &str) -> Self {
        let parts = text.split([';', '\n']).map(|part| part.split_whitespace().collect::<Vec<_>>());
        let mut words: Vec<Vec<&str>> = parts.filter(|words| !words.is_empty()).collect();
        // The prefix may be written as an instruction of its own.
        if let [first, second, ..] = words.as_mut_slice()
            && first.as_slice() == ["lock"]
        {
            first.append(second);
            words.remove(1);
        }
        let Some((first, rest)) = words.split_first() else { return Self::Nothing };
        // What follows may only take a result out of the flags.
        let only_flags = rest.iter().all(|words| words[0].starts_with("set"));
        match first.as_slice() {
            ["pause"] if rest.is_empty() => Self::Nothing,
            ["rep", "nop"] if rest.is_empty() => Self::Nothing,
            ["rep"] if rest == [["nop"]] => Self::Nothing,
            ["mfence"] if rest.is_empty() => Self::Fence(Order::SeqCst),
            ["lock", add, operands @ ..] if is(add, "add") && rest.is_empty() && is_on_stack(operands) => {
                Self::Fence(Order::SeqCst)
            }
            ["lock", name, ..] if only_flags && LOCKABLE.iter().any(|known| is(name, known)) => Self::Update,
            [name, _, ..] if only_flags && is(name, "xchg") => Self::Update,
            _ => Self::Unknown,
        }
    }
}

/// Whether this is the instruction, perhaps with the letter for its size.
fn is(word: &str, name: &str) -> bool {
    word.strip_prefix(name).is_some_and(|size| matches!(size, "" | "b" | "w" | "l" | "q"))
}

/// Whether the operands name the top of the stack, which no other thread touches.
fn is_on_stack(operands: &[&str]) -> bool {
    operands.concat().ends_with("(%rsp)") || operands.concat().ends_with("(%esp)")
}

/// The memory that a call of inline assembly updates: where it is, and its type. Each place once.
pub(crate) fn operands<'m>(call: Value<'m>) -> impl Iterator<Item = (Value<'m>, Ty<'m>)> {
    let arguments: Vec<_> = call.arguments().collect();
    let touched = (0..).zip(arguments).filter_map(move |(index, place)| Some((place, call.assembly_operand(index)?)));
    let mut known = Vec::new();
    touched.filter(move |(place, _)| {
        let new = !known.contains(place);
        known.push(*place);
        new
    })
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
        assert_eq!(Assembly::of_text("lock; addl $$0,0(%rsp)"), Assembly::Fence(Order::SeqCst));
        for update in ["xchgl $0, $1", "lock; cmpxchgl $2,$1\n\tsete $0", "lock xaddq $0, $1", "lock\n incl $0"] {
            assert_eq!(Assembly::of_text(update), Assembly::Update, "{update:?}");
        }
        for unknown in ["movl $1, $0", "incl $0", "xchg $0, $1; movl $$1, $2", "lock cmpxchg16b $0", "# comment"] {
            assert_eq!(Assembly::of_text(unknown), Assembly::Unknown, "{unknown:?}");
        }
    }
}
