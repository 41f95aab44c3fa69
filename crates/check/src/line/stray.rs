//! Accesses that leave their objects.
//!
//! Proofs assume that none does (A10). A data race can make one: a pointer and a size that were written halfway lead
//! anywhere, and then accesses meet that have nothing to do with each other. So a race that contradicts a proof is no bug of
//! an engine when the very run that shows it went astray before.

use std::collections::BTreeMap;
use std::path::Path;

use files::{RecordedFinding, Witness};
use model::{AccessKind, Executor, Region, SiteId, Step, Trace};

use crate::Error;
use crate::build::Built;
use crate::finding::step_of;
use crate::run::{Limits, launch};

/// Bytes behind every heap block that belong to no other block: the next one's header.
const BEHIND: u64 = 16;

/// A heap block of the run.
struct Block {
    size: u64,
    freed: bool,
}

/// An access that touches memory outside of the block it began in, or memory that was freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stray {
    /// The access.
    pub(super) site: Option<SiteId>,
    /// What it did, for a sentence that begins with its place.
    pub(super) what: &'static str,
}

/// The first access that leaves its heap block in the run of a race's witness, up to the race.
pub(super) fn in_witness(built: &Built, limits: &Limits, witness: Option<String>) -> Result<Option<Stray>, Error> {
    let Some(path) = witness else { return Ok(None) };
    let witness = Witness::read(Path::new(&path))?;
    let RecordedFinding::Race { accesses, .. } = &witness.finding else { return Ok(None) };
    let (mut target, ..) = launch(built, limits)?;
    let trace = target.run(&witness.schedule())?;
    let steps = accesses.iter().filter_map(|access| step_of(&trace, witness.event(&access.event)?));
    Ok(steps.max().and_then(|last| first(&trace, last)))
}

/// The first access up to and including step `last` that leaves its heap block. Locals and globals are not looked at:
/// a run does not tell where a local's life ends.
pub(super) fn first(trace: &Trace, last: Step) -> Option<Stray> {
    let mut blocks: BTreeMap<u64, Block> = BTreeMap::new();
    let mut allocations = trace.allocations.iter().peekable();
    for (step, event) in trace.events.iter_enumerated().take_while(|(step, _)| *step <= last) {
        while let Some(new) = allocations.next_if(|allocation| allocation.before <= step) {
            let (start, end) = (new.start.0, new.start.0.saturating_add(new.size.max(1)));
            let reused: Vec<u64> = blocks.range(start..end).map(|(start, _)| *start).collect();
            reused.iter().for_each(|start| _ = blocks.remove(start));
            if new.region == Region::Heap {
                blocks.insert(start, Block { size: new.size, freed: false });
            }
        }
        for (i, access) in event.op.accesses().iter().enumerate() {
            let Some((start, block)) = blocks.range_mut(..=access.cell.start.0).next_back() else { continue };
            let end = start + block.size;
            let what = if access.kind == AccessKind::Free {
                block.freed |= *start == access.cell.start.0;
                continue;
            } else if access.cell.start.0 >= end + BEHIND {
                continue;
            } else if access.cell.end() > end {
                "touches memory behind a heap block"
            } else if block.freed {
                "touches a heap block that was freed"
            } else {
                continue;
            };
            return Some(Stray { site: event.site_of(i), what });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use model::{Access, Addr, Allocation, Cell, End, Event, EventId, Op, ThreadId};

    use super::*;

    const AT: u64 = 0x1000;

    fn access(kind: AccessKind, start: u64, len: u32) -> Access {
        Access { kind, atomic: None, cell: Cell { start: Addr(start), len } }
    }

    /// A run that allocates 24 bytes before its first event and then does `accesses`.
    fn run(accesses: &[Access]) -> Trace {
        let thread = ThreadId(0);
        let event = |(position, access): (usize, &Access)| {
            let id = EventId { thread, position: position as u32 };
            Event { id, op: Op::Access(*access), site: Some(SiteId(position as u32)) }
        };
        let block = |before, start| Allocation {
            before: Step(before),
            thread,
            site: None,
            region: Region::Heap,
            start: Addr(start),
            size: 24,
        };
        Trace {
            events: accesses.iter().enumerate().map(event).collect(),
            allocations: vec![block(0, AT), block(0, AT + 48), block(2, AT)],
            ..Trace::empty(End::Exit { code: 0 })
        }
    }

    fn strays(accesses: &[Access]) -> Option<u32> {
        first(&run(accesses), Step(9)).and_then(|stray| stray.site).map(|site| site.0)
    }

    #[test]
    fn blocks_have_ends() {
        use AccessKind::{Free, Read, Write};
        assert_eq!(strays(&[access(Write, AT, 24), access(Read, AT + 48, 4), access(Read, 0x10, 8)]), None);
        assert_eq!(strays(&[access(Write, AT + 20, 4), access(Write, AT + 24, 4)]), Some(1));
        assert_eq!(strays(&[access(Write, AT + 16, 16)]), Some(0));
        assert_eq!(strays(&[access(Write, AT + 40, 8)]), None, "nothing is known of what lies there");
        assert_eq!(strays(&[access(Free, AT, 24), access(Read, AT + 8, 4)]), Some(1));
        assert_eq!(
            strays(&[access(Free, AT, 24), access(Free, AT, 24), access(Read, AT + 8, 4)]),
            None,
            "handed out again"
        );
    }

    #[test]
    fn what_comes_later_does_not_count() {
        let trace = run(&[access(AccessKind::Read, AT, 4), access(AccessKind::Read, AT + 24, 4)]);
        assert_eq!(first(&trace, Step(0)), None);
        assert!(first(&trace, Step(1)).is_some());
    }
}
