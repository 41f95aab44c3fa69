//! The accesses of inline assembly that a run reports (decision 97).
//!
//! They are reported where each is certain to happen and its bytes are known. A single access of at most eight bytes in
//! `volatile` assembly is an atomic one, as it is to the machine: programs write their own atomics so. With `memory` among what
//! the assembly changes it orders what is around it, otherwise it is relaxed. Other accesses are plain. Accesses that the
//! machine makes one after the other, in assembly that names `memory`, are not reported: `incl` may give a lock back that only
//! its owner counts. Taken for plain they would be false races, and taken for one they would hide what happens in between.

use model::Order;
use wire::Tag;

use super::constraints::Constraints;
use super::instructions::{self, Doing, Use};
use super::text::Text;
use crate::ir::{Ty, Value};

/// The accesses of one piece of assembly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Seen<'m> {
    Atomic(Atomic<'m>),
    Plain(Vec<Plain<'m>>),
}

/// A single load or store that the machine makes at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Atomic<'m> {
    pub(crate) place: Value<'m>,
    pub(crate) bytes: u32,
    pub(crate) writes: bool,
    pub(crate) order: Order,
}

/// A plain access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Plain<'m> {
    pub(crate) place: Value<'m>,
    pub(crate) len: Len<'m>,
    pub(crate) tag: Tag,
}

/// How many bytes an access touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Len<'m> {
    Bytes(u32),
    /// As many as there are in an operand of this type.
    All(Ty<'m>),
    /// So many bytes, as often as this value says.
    Times(u32, Value<'m>),
}

/// The accesses of a call of inline assembly, if a run can report them all. The caller knows that the assembly names no
/// memory but by its operands.
pub(super) fn seen<'m>(assembly: Value<'m>, call: Value<'m>) -> Option<Seen<'m>> {
    let text = Text::parse(&assembly.assembly_text());
    let constraints = Constraints::parse(&assembly.assembly_constraints());
    let arguments: Vec<Value<'m>> = call.arguments().collect();
    let argument = |operand: usize| constraints.argument(operand).and_then(|at| arguments.get(at).copied());
    let register = |name: &str| argument(constraints.register(name)?);
    let is_memory = |operand: usize| constraints.places.get(operand).is_some_and(|place| place.is_memory);
    if !assembly.is_gnu_assembly() {
        return None;
    }
    let mut uses: Vec<(Value<'m>, Ty<'m>, Use)> = Vec::new();
    let mut plain = Vec::new();
    for instruction in &text.instructions {
        match instructions::doing(instruction, is_memory)? {
            Doing::Uses(of_instruction) => {
                for used in of_instruction {
                    let ty = call.assembly_operand(constraints.argument(used.operand)? as u32)?;
                    uses.push((argument(used.operand)?, ty, used));
                }
            }
            // After a string instruction, its registers point elsewhere.
            Doing::Run(_) if !plain.is_empty() => return None,
            Doing::Run(run) => {
                let len = if run.repeated { Len::Times(run.unit, register("{cx}")?) } else { Len::Bytes(run.unit) };
                let from = if run.copies { Some(register("{si}")?) } else { None };
                plain.extend(from.map(|place| Plain { place, len, tag: Tag::Read }));
                plain.push(Plain { place: register("{di}")?, len, tag: Tag::Write });
            }
        }
    }
    if let ([(place, ty, used)], true) = (&uses[..], plain.is_empty() && assembly.is_volatile_assembly())
        && let Some(bytes) = at_once(used, *ty)
    {
        let order = order(constraints.memory, used.writes);
        return Some(Seen::Atomic(Atomic { place: *place, bytes, writes: used.writes, order }));
    }
    if !uses.is_empty() && constraints.memory {
        return None;
    }
    for (place, ty, used) in uses {
        let len = used.bytes.map_or(Len::All(ty), Len::Bytes);
        plain.extend(used.reads.then_some(Plain { place, len, tag: Tag::Read }));
        plain.extend(used.writes.then_some(Plain { place, len, tag: Tag::Write }));
    }
    Some(Seen::Plain(plain))
}

/// The bytes of an access that the machine makes at once; `None` if it may make it in parts.
fn at_once(used: &Use, ty: Ty<'_>) -> Option<u32> {
    let bits = ty.int_bits().or_else(|| ty.is_pointer().then_some(64));
    let bytes = used.bytes.or_else(|| bits.map(|bits| bits / 8))?;
    (matches!(bytes, 1 | 2 | 4 | 8) && !(used.reads && used.writes)).then_some(bytes)
}

/// What the machine and the compiler promise of an access: x86-64 moves no access across it in its direction, and the
/// compiler moves none if the assembly names `memory`.
fn order(is_barrier: bool, writes: bool) -> Order {
    match (is_barrier, writes) {
        (true, true) => Order::Release,
        (true, false) => Order::Acquire,
        (false, true) => Order::Continuing,
        (false, false) => Order::Relaxed,
    }
}
