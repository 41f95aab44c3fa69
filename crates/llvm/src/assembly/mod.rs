//! Inline assembly: what it does to memory, by its constraints and by its instructions.
//!
//! The constraints name the memory that is an operand ([`constraints`]). What else a piece of assembly can touch follows
//! from its instructions ([`text`]): most have no memory but their operands, a string instruction goes where certain
//! registers point, and an address in brackets is made of an operand. Everything else is [`Assembly::Unknown`]: then it may
//! do to whatever it is given, or names, what a function without a body may do.
//!
//! Where each access is certain and its bytes are known ([`instructions`]), a run reports them ([`seen`]).

mod constraints;
mod instructions;
mod outside;
mod seen;
mod text;

use model::Order;

use self::constraints::{Constraints, Place};
pub(crate) use self::outside::Outside;
pub(crate) use self::seen::{Atomic, Len, Plain, Seen};
use self::text::Text;
use crate::ir::{Ty, Value};

/// Why a module with assembly outside of functions is not fully modelled.
pub(crate) const OUTSIDE: &str = "assembly outside of functions";

/// What inline assembly is called whose effects are not known.
pub(crate) const UNKNOWN: &str = "inline assembly";

/// Numbers of the kernel's calls that start a thread: `clone` and `clone3` on all architectures we know.
pub(crate) const STARTS_THREADS: [i64; 4] = [56, 120, 220, 435];

/// The effect of a piece of inline assembly on memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Assembly<'m> {
    /// None: it keeps the compiler from moving accesses, waits a moment, or computes with registers.
    Nothing,
    /// A fence.
    Fence(Order),
    /// One instruction that updates its operand in memory at once: `xchg`, or one with the prefix `lock`.
    Update,
    /// Accesses that a run reports.
    Seen(Seen<'m>),
    /// It touches its operands in memory, and what certain other operands point to, in no particular way.
    Operands,
    /// Not known.
    Unknown,
}

/// How inline assembly touches memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Touch<'m> {
    /// Reads an operand of this type.
    Read(Value<'m>, Ty<'m>),
    /// Writes an operand of this type.
    Write(Value<'m>, Ty<'m>),
    /// Writes from this pointer on.
    Fill(Value<'m>),
    /// Copies to the first pointer from the second.
    Copy(Value<'m>, Value<'m>),
    /// Reads and writes what this points to.
    Behind(Value<'m>),
}

impl<'m> Assembly<'m> {
    /// The effect of this inline assembly in a call of it.
    pub(crate) fn of(assembly: Value<'m>, call: Value<'m>) -> Self {
        let text = assembly.assembly_text();
        match Self::of_text(&text) {
            Some(Self::Update) if operands(call).next().is_none() => Self::Unknown,
            Some(effect) => effect,
            None => match touches(assembly, call) {
                Some(touches) if touches.is_empty() => Self::Nothing,
                Some(_) => seen::seen(assembly, call).map_or(Self::Operands, Self::Seen),
                None => Self::Unknown,
            },
        }
    }

    /// What the text alone says.
    fn of_text(source: &str) -> Option<Self> {
        let text = Text::parse(source);
        let Some((first, rest)) = text.instructions.split_first() else { return Some(Self::Nothing) };
        if rest.is_empty() && first.is_idle() {
            return Some(Self::Nothing);
        }
        if rest.is_empty() && first.is_fence() {
            return Some(Self::Fence(Order::SeqCst));
        }
        // What follows an update may only take a result out of the flags.
        let only_flags = rest.iter().all(|instruction| instruction.name.starts_with("set"));
        (only_flags && first.is_update()).then_some(Self::Update)
    }
}

/// The memory that a call of inline assembly touches, if that is all known.
pub(crate) fn touches<'m>(assembly: Value<'m>, call: Value<'m>) -> Option<Vec<Touch<'m>>> {
    let text = Text::parse(&assembly.assembly_text());
    let constraints = Constraints::parse(&assembly.assembly_constraints());
    let arguments: Vec<Value<'m>> = call.arguments().collect();
    let argument = |operand: usize| constraints.argument(operand).and_then(|at| arguments.get(at).copied());
    // The address of a variable as part of an instruction may be the memory that the instruction touches.
    let named = |place: &Place| place.is_immediate && argument(place.operand).is_some_and(Value::is_pointer);
    if constraints.places.iter().any(named) || !symbols(assembly, call).is_empty() {
        return None;
    }
    let mut touches = Vec::new();
    for place in constraints.places.iter().filter(|place| place.is_memory) {
        let value = argument(place.operand)?;
        let ty = call.assembly_operand(constraints.argument(place.operand)? as u32)?;
        touches.push(if place.is_output { Touch::Write(value, ty) } else { Touch::Read(value, ty) });
    }
    for instruction in &text.instructions {
        match instruction.memory()? {
            text::Memory::Operands => {}
            text::Memory::Behind(operands) => {
                for operand in operands {
                    // What was an operand and is written meanwhile may point elsewhere.
                    let place = constraints.places.get(operand).filter(|place| !place.is_output)?;
                    touches.push(Touch::Behind(argument(place.operand)?));
                }
            }
            text::Memory::Fill => touches.push(Touch::Fill(argument(constraints.register("{di}")?)?)),
            text::Memory::Copy => {
                let (to, from) = (constraints.register("{di}")?, constraints.register("{si}")?);
                touches.push(Touch::Copy(argument(to)?, argument(from)?));
            }
        }
    }
    let is_pointer = |touch: &Touch<'m>| match touch {
        Touch::Fill(to) | Touch::Behind(to) => to.is_pointer(),
        Touch::Copy(to, from) => to.is_pointer() && from.is_pointer(),
        Touch::Read(..) | Touch::Write(..) => true,
    };
    touches.iter().all(is_pointer).then_some(touches)
}

/// The argument that a piece of assembly without instructions results in, unchanged: `asm("" : "+r"(p))`.
pub(crate) fn passed_on<'m>(assembly: Value<'m>, call: Value<'m>) -> Option<Value<'m>> {
    let constraints = Constraints::parse(&assembly.assembly_constraints());
    let argument =
        constraints.only_tied().filter(|_| Text::parse(&assembly.assembly_text()).instructions.is_empty())?;
    call.arguments().nth(argument)
}

/// The functions and variables of the module that the text names.
pub(crate) fn symbols<'m>(assembly: Value<'m>, call: Value<'m>) -> Vec<Value<'m>> {
    let names = Text::parse(&assembly.assembly_text()).names;
    names.iter().flat_map(|name| call.symbol_beside(name)).collect()
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
    fn some_texts_say_it_all() {
        for idle in ["", " \n", "pause", "rep; nop", "pause;", ".p2align 5", "# comment", "rep nop"] {
            assert_eq!(Assembly::of_text(idle), Some(Assembly::Nothing), "{idle:?}");
        }
        for fence in ["mfence", "lock; addl $$0,0(%rsp)", "dmb ish", "dmb sy"] {
            assert_eq!(Assembly::of_text(fence), Some(Assembly::Fence(Order::SeqCst)), "{fence:?}");
        }
        for update in ["xchgl $0, $1", "lock; cmpxchgl $2,$1\n\tsete $0", "lock xaddq $0, $1", "lock\n incl $0"] {
            assert_eq!(Assembly::of_text(update), Some(Assembly::Update), "{update:?}");
        }
        for unknown in ["movl $1, $0", "incl $0", "xchg $0, $1; movl $$1, $2", "cpuid", "syscall"] {
            assert_eq!(Assembly::of_text(unknown), None, "{unknown:?}");
        }
    }
}
