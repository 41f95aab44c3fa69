//! What the events of a run found in memory and what they left there, for the document.
//!
//! Traces have no values: a search has no use for them. The run of a finding is made once more, with a stop before and after
//! each event that is told.

use std::collections::BTreeSet;

use exec::Target;
use model::index::Idx;
use model::{AccessKind, Addr, Cell, Event, Op, Schedule, Segment, Step, Trace};
use report::{Run, Value};

use super::ObjectNames;
use crate::Error;

/// Most accesses of a run that are looked at.
const MOST: usize = 2_000;

/// Most thread switches of a run that is made again for its values.
const MOST_SWITCHES: usize = 100_000;

/// Most events before an access that are searched for a write.
const LOOKED_AT: usize = 20_000;

/// Adds values to the events of a run that are accesses to one number or pointer.
pub(crate) fn add(
    target: &mut Target,
    names: &ObjectNames<'_>,
    schedule: &Schedule,
    trace: &Trace,
    run: &mut Run,
) -> Result<(), Error> {
    let event_of = |step: usize| trace.events.get(Idx::new(step)).filter(|event| is_told(event));
    let wanted: BTreeSet<_> =
        run.events.iter().rev().filter_map(|told| event_of(told.step)).take(MOST).map(|e| e.id).collect();
    let exactly = exactly(trace, schedule);
    // What is told matters more than the values in it.
    if wanted.is_empty() || exactly.segments.len() > MOST_SWITCHES || target.config().budget.is_spent() {
        return Ok(());
    }
    let (again, values) = target.run_with_values(&exactly, &wanted)?;
    // To stop may change what a program does that waits in rounds. Then nothing is known of this run.
    if again.events != trace.events {
        return Ok(());
    }
    for told in &mut run.events {
        let Some(event) = event_of(told.step) else { continue };
        let Op::Access(access) = &event.op else { continue };
        let known = values.get(&(event.id, access.cell.start, access.cell.len));
        let Some([Some(before), after]) = known else { continue };
        let Some(name) = names.scalar(trace, access.cell) else { continue };
        let text = |bits: u64| text(name, access.cell.len, bits, |addr| names.pointee(trace, name, addr));
        let was_written = was_written(trace, Idx::new(told.step), access.cell);
        let old = text(*before).filter(|_| was_written);
        let value = match (access.kind, after) {
            (AccessKind::Read, _) => Value { old, new: None },
            (AccessKind::Write | AccessKind::ReadModifyWrite, Some(after)) => Value { old, new: text(*after) },
            _ => Value::default(),
        };
        // Half of a change would read like a read.
        let is_whole = was_written == value.old.is_some() && (access.kind == AccessKind::Read || value.new.is_some());
        told.value = (is_whole && value != Value::default()).then_some(value);
    }
    Ok(())
}

/// Whether something is known to have been written to bytes before a step: to globals always, to a block or a local by an event
/// since it was allocated. What lies in fresh memory is of no meaning, and not the same everywhere.
fn was_written(trace: &Trace, step: Step, cell: Cell) -> bool {
    let Some(allocation) = trace.allocation_of(cell.start, step) else { return true };
    let since = allocation.before.index()..step.index();
    let writes = |event: &Event| {
        let mut accesses = event.op.accesses().iter();
        accesses.any(|access| access.kind != AccessKind::Read && access.cell.overlaps(&cell))
    };
    since.rev().take(LOOKED_AT).any(|step| trace.events.get(Idx::new(step)).is_some_and(writes))
}

fn is_told(event: &Event) -> bool {
    matches!(&event.op, Op::Access(access) if matches!(access.cell.len, 1 | 2 | 4 | 8))
}

/// The schedule that leaves nothing of a run to the policy.
fn exactly(trace: &Trace, schedule: &Schedule) -> Schedule {
    let mut segments: Vec<Segment> = Vec::new();
    for event in &trace.events {
        let (thread, until) = (event.id.thread, event.id.position + 1);
        match segments.last_mut().filter(|last| last.thread == thread) {
            Some(last) => last.until = until,
            None => segments.push(Segment { thread, until }),
        }
    }
    Schedule { segments, choices: schedule.choices.clone() }
}

/// A value of a type as the source would write it; `None` for types that are not known, and for pointers to what has no name.
fn text(name: &str, len: u32, bits: u64, pointee: impl Fn(Addr) -> Option<String>) -> Option<String> {
    let name = name.trim_start_matches("const ").trim_start_matches("volatile ").trim_start_matches("_Atomic ");
    if name.ends_with('*') && len == 8 {
        return if bits == 0 { Some("null".to_owned()) } else { pointee(Addr(bits)).map(|name| format!("&{name}")) };
    }
    let signed = match len {
        1 => i64::from(bits as u8 as i8),
        2 => i64::from(bits as u16 as i16),
        4 => i64::from(bits as u32 as i32),
        8 => bits as i64,
        _ => return None,
    };
    Some(match name {
        "_Bool" | "bool" => match bits {
            0 => "false".to_owned(),
            1 => "true".to_owned(),
            other => other.to_string(),
        },
        "char" => match char::from(bits as u8) {
            c @ (' '..='~') => format!("{c:?}"),
            _ => signed.to_string(),
        },
        "float" if len == 4 => format!("{:?}", f32::from_bits(bits as u32)),
        "double" if len == 8 => format!("{:?}", f64::from_bits(bits)),
        _ if name.starts_with("unsigned ") || UNSIGNED.contains(&name) => bits.to_string(),
        _ if name.starts_with("enum ") || SIGNED.contains(&name) => signed.to_string(),
        _ => return None,
    })
}

const UNSIGNED: [&str; 14] = [
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "size_t",
    "uintptr_t",
    "uint",
    "ulong",
    "ushort",
    "uchar",
    "char8_t",
    "char16_t",
    "char32_t",
    "std::size_t",
];

const SIGNED: [&str; 18] = [
    "signed char",
    "short",
    "int",
    "long",
    "long long",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "ssize_t",
    "ptrdiff_t",
    "intptr_t",
    "time_t",
    "off_t",
    "long int",
    "long long int",
    "short int",
    "wchar_t",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_as_the_source_writes_them() {
        let text = |name, len, bits| text(name, len, bits, |addr| (addr.0 == 16).then(|| "queue.head".to_owned()));
        let told = [
            ("int", 4, u64::from(u32::MAX), "-1"),
            ("unsigned int", 4, u64::from(u32::MAX), "4294967295"),
            ("long", 8, u64::MAX, "-1"),
            ("signed char", 1, 0x80, "-128"),
            ("char", 1, 0x41, "'A'"),
            ("char", 1, 0, "0"),
            ("_Bool", 1, 1, "true"),
            ("bool", 1, 2, "2"),
            ("float", 4, 0x3fc0_0000, "1.5"),
            ("double", 8, 0xbff8_0000_0000_0000, "-1.5"),
            ("double", 8, 1.5e300f64.to_bits(), "1.5e300"),
            ("struct node *", 8, 0, "null"),
            ("struct node *", 8, 16, "&queue.head"),
            ("volatile int", 4, 7, "7"),
            ("enum colour", 4, 2, "2"),
        ];
        for (name, len, bits, expected) in told {
            assert_eq!(text(name, len, bits).as_deref(), Some(expected), "{name}");
        }
        for (name, len, bits) in [("struct node *", 8, 24), ("long double", 16, 0), ("my_type", 4, 1)] {
            assert_eq!(text(name, len, bits), None, "{name}");
        }
    }
}
