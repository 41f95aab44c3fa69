//! What real threads logged becomes one trace: in the order of the sequence numbers, with every access that can race.

use decode::Detail;
use decode::merge::{Blocks, SiteTable, merge};
use model::{AccessKind, Addr, End, LockMode, Op, SiteId, ThreadId, Trace};
use wire::Tag;
use wire::log::{Packer, head, plain, words};

const WRITE: u32 = 1;
const READ: u32 = 2;
const OTHER_READ: u32 = 3;

fn sites() -> SiteTable {
    let accesses = [(WRITE, true), (READ, false), (OTHER_READ, false)];
    let accesses = accesses.into_iter().map(|(site, writes)| (SiteId(site), (writes, 4))).collect();
    SiteTable { accesses, ..SiteTable::default() }
}

/// The words of a record with this sequence number.
fn record(tag: Tag, address: u64, argument: u32, number: u64) -> Vec<u64> {
    assert_eq!(words(tag as u8, 0), (3, true));
    vec![head(tag as u8, 0, address), 9 | u64::from(argument) << 32, number]
}

/// A thread's block of words, packed.
fn packed(words: &[Vec<u64>]) -> Vec<u8> {
    let words = words.concat();
    let mut bytes = vec![0; Packer::room(words.len())];
    let len = Packer::new().pack(&words, &mut bytes);
    bytes.truncate(len);
    bytes
}

/// The trace of threads with these words, and how many accesses are not in it.
fn merged(threads: &[Vec<Vec<u64>>], last: u64, detail: Detail) -> (Trace, u64) {
    let packed: Vec<Vec<u8>> = threads.iter().map(|words| packed(words)).collect();
    let mut blocks = Blocks::default();
    (0..).zip(&packed).for_each(|(thread, bytes)| blocks.push(thread, 0, bytes));
    merge(&blocks, &sites(), last, End::Exit { code: 0 }, detail).unwrap()
}

/// Threads and operations of a trace, in order.
fn events(trace: &Trace) -> Vec<(u32, Op)> {
    trace.events.iter().map(|event| (event.id.thread.0, event.op.clone())).collect()
}

/// Threads, kinds and addresses of the accesses of a trace, in order.
fn accesses(trace: &Trace) -> Vec<(u32, AccessKind, u64)> {
    let of = |event: &model::Event| {
        let thread = event.id.thread.0;
        event.op.accesses().iter().map(move |a| (thread, a.kind, a.cell.start.0)).collect::<Vec<_>>()
    };
    trace.events.iter().flat_map(of).collect()
}

const X: u64 = 0x1000;
const Y: u64 = 0x2000;
const LOCK: u64 = 0x9000;

/// Main and its child write `X` under a lock, the child first; main also writes `Y`.
fn two_sections() -> Vec<Vec<Vec<u64>>> {
    let main = vec![
        vec![plain(WRITE, Y)],
        record(Tag::Create, 0, 1, 1),
        record(Tag::Acquire, LOCK, 0, 5),
        vec![plain(WRITE, X)],
        record(Tag::Release, LOCK, 0, 6),
        record(Tag::Join, 0, 1, 8),
    ];
    let child = vec![
        record(Tag::Start, 0, 0, 2),
        record(Tag::Acquire, LOCK, 0, 3),
        vec![plain(READ, X), plain(WRITE, X), plain(OTHER_READ, X)],
        record(Tag::Release, LOCK, 0, 4),
        record(Tag::Exit, 0, 0, 7),
    ];
    vec![main, child]
}

#[test]
fn numbered_events_come_in_the_order_of_their_numbers() {
    let (trace, left_out) = merged(&two_sections(), 0, Detail::Every);
    let lock = Addr(LOCK);
    let mode = LockMode::Exclusive;
    let order: Vec<(u32, Op)> = events(&trace).into_iter().filter(|(_, op)| op.accesses().is_empty()).collect();
    let expected = [
        (0, Op::Create { child: ThreadId(1) }),
        (1, Op::Start),
        (1, Op::Acquire { lock, mode }),
        (1, Op::Release { lock, mode }),
        (0, Op::Acquire { lock, mode }),
        (0, Op::Release { lock, mode }),
        (1, Op::Exit),
        (0, Op::Join { child: ThreadId(1) }),
    ];
    assert_eq!((order, left_out), (expected.to_vec(), 0));
    use AccessKind::{Read, Write};
    let expected = [(0, Write, Y), (1, Read, X), (1, Write, X), (1, Read, X), (0, Write, X)];
    assert_eq!(accesses(&trace), expected);
}

#[test]
fn only_accesses_that_cannot_race_are_left_out() {
    let (trace, left_out) = merged(&two_sections(), 0, Detail::Shared);
    use AccessKind::{Read, Write};
    assert_eq!(accesses(&trace), [(1, Read, X), (1, Write, X), (1, Read, X), (0, Write, X)]);
    assert_eq!(left_out, 1, "the write of Y");

    // The child is the last to use what main wrote, and uses it again.
    let main = vec![record(Tag::Create, 0, 1, 1), vec![plain(WRITE, X)], record(Tag::Exit, 0, 0, 2)];
    let child = vec![record(Tag::Start, 0, 0, 3), vec![plain(READ, X), plain(OTHER_READ, X), plain(READ, Y)]];
    let (trace, left_out) = merged(&[main, child], 0, Detail::Shared);
    assert_eq!(accesses(&trace), [(0, Write, X), (1, Read, X), (1, Read, X)]);
    assert_eq!(left_out, 1, "the read of Y");
}

#[test]
fn equal_accesses_count_again_after_synchronisation() {
    let main = vec![
        vec![plain(WRITE, X), plain(WRITE, X)],
        record(Tag::Acquire, LOCK, 0, 1),
        vec![plain(WRITE, X), plain(READ, X), plain(WRITE, X)],
        record(Tag::Release, LOCK, 0, 2),
        vec![plain(WRITE, X)],
    ];
    let (trace, _) = merged(&[main], 0, Detail::Every);
    use AccessKind::{Read, Write};
    assert_eq!(accesses(&trace).iter().map(|(_, kind, _)| *kind).collect::<Vec<_>>(), [Write, Write, Read, Write]);
}

#[test]
fn events_that_are_not_complete_are_left_out() {
    let (trace, _) = merged(&two_sections(), 4, Detail::Every);
    let last = events(&trace).pop().unwrap();
    assert_eq!(last, (1, Op::Release { lock: Addr(LOCK), mode: LockMode::Exclusive }));
    assert_eq!(accesses(&trace).len(), 4, "main's access under the lock is not complete");
}

#[test]
fn a_block_at_a_used_address_is_another_object() {
    const BLOCK: u64 = 0x5000;
    let main = vec![
        record(Tag::Alloc, BLOCK, 32, 1),
        vec![plain(WRITE, BLOCK + 8)],
        record(Tag::Free, BLOCK, 0, 2),
        record(Tag::Alloc, BLOCK, 32, 3),
        vec![plain(WRITE, BLOCK + 8)],
    ];
    let (trace, _) = merged(&[main], 0, Detail::Every);
    let [old, new] = &trace.allocations[..] else { panic!("{:?}", trace.allocations) };
    let [(_, AccessKind::Write, first), (_, AccessKind::Free, freed), (_, AccessKind::Write, second)] =
        accesses(&trace)[..]
    else {
        panic!("{:?}", trace.events)
    };
    assert_eq!((freed, first, second), (old.start.0, old.start.0 + 8, new.start.0 + 8));
    assert!(old.start.0.abs_diff(new.start.0) >= 32, "{old:?} {new:?}");
}

/// A thread arrives at a barrier again before others have left it.
#[test]
fn generations_of_a_barrier_may_overlap() {
    const BARRIER: u64 = 0x7000;
    let passes = |numbers: [u64; 4]| {
        let tags = [Tag::BarrierArrive, Tag::BarrierLeave, Tag::BarrierArrive, Tag::BarrierLeave];
        tags.into_iter().zip(numbers).map(|(tag, number)| record(tag, BARRIER, 0, number)).collect::<Vec<_>>()
    };
    let main = [vec![record(Tag::Create, 0, 1, 1)], passes([3, 5, 6, 9])].concat();
    let child = [vec![record(Tag::Start, 0, 0, 2)], passes([4, 7, 8, 10])].concat();
    let (trace, _) = merged(&[main, child], 0, Detail::Every);
    let step_of = |number: u32| model::Step(number - 1);
    let alone = |thread| std::iter::once(ThreadId(thread)).collect::<model::ThreadSet>();
    let none = model::ThreadSet::new();
    let after = |number| model::Step(step_of(number).0 + 1);
    let complete = vec![
        (model::Step(0), none.clone()),
        (after(4), alone(1)),
        (after(5), none.clone()),
        (after(8), alone(1)),
        (after(9), none),
    ];
    assert_eq!(trace.runnable, complete);
}
