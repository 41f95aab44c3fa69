//! What the records of a controlled run say is what is in its trace.

use decode::records::{Decoding, Garbled, decode};
use model::{
    Access, AccessKind, Addr, Cell, End, EventId, LockMode, Op, Order, Region, SiteId, Step, ThreadId, ThreadSet,
};
use proptest::prelude::*;
use wire::record::{flag, order};
use wire::{NO_SITE, Record, Tag};

fn plain(tag: Tag, address: u64, argument: u32) -> Record {
    Record::new(tag, 0, address, 7, argument)
}

fn switch(thread: u32) -> Record {
    Record::new(Tag::Switch, 0, 0, NO_SITE, thread)
}

fn runnable(threads: u64) -> [Record; 2] {
    [Record::new(Tag::Runnable, 0, 0, NO_SITE, 1), Record { w0: threads, w1: 0 }]
}

fn access(kind: AccessKind, atomic: Option<Order>, start: u64, len: u32) -> Access {
    Access { kind, atomic, cell: Cell { start: Addr(start), len } }
}

#[test]
fn events_have_the_thread_and_the_bytes_of_their_records() {
    let mut records = runnable(0b01).to_vec();
    records.push(plain(Tag::Create, 0, 1));
    records.extend(runnable(0b11));
    records.extend([
        switch(1),
        plain(Tag::Start, 0, 0),
        Record::new(Tag::Alloc, flag::STACK, 0x7000, 3, 16),
        Record::new(Tag::Acquire, flag::SHARED, 0x9000, 4, 0),
        Record::new(Tag::Write, 0, 0x7000, 5, 8),
        Record::new(Tag::Read, flag::MORE, 0x1000, 5, 4),
        switch(0),
        Record::new(Tag::ReadModifyWrite, order::ACQ_REL, 0x1000, 6, 4),
        Record::new(Tag::Acquire, 0, 0x9000, NO_SITE, 0),
    ]);
    let trace = decode(&records, End::Deadlock).unwrap();
    let lock = Addr(0x9000);
    let both = [access(AccessKind::Write, None, 0x7000, 8), access(AccessKind::Read, None, 0x1000, 4)];
    let expected = [
        (0, 0, Some(7), Op::Create { child: ThreadId(1) }),
        (1, 0, Some(7), Op::Start),
        (1, 1, Some(4), Op::Acquire { lock, mode: LockMode::Shared }),
        (1, 2, Some(5), Op::Accesses(Box::new(both))),
        (0, 1, Some(6), Op::Access(access(AccessKind::ReadModifyWrite, Some(Order::AcqRel), 0x1000, 4))),
        (0, 2, None, Op::Acquire { lock, mode: LockMode::Exclusive }),
    ];
    assert_eq!(trace.events.len(), expected.len());
    for (event, (thread, position, site, op)) in trace.events.iter().zip(expected) {
        assert_eq!(event.id, EventId { thread: ThreadId(thread), position });
        assert_eq!((event.site, &event.op), (site.map(SiteId), &op));
    }
    let [stack] = &trace.allocations[..] else { panic!("{:?}", trace.allocations) };
    assert_eq!((stack.before, stack.thread, stack.region, stack.size), (Step(2), ThreadId(1), Region::Stack, 16));
    let sets = [(Step(0), ThreadSet::from_words(&[0b01])), (Step(1), ThreadSet::from_words(&[0b11]))];
    assert_eq!(trace.runnable, sets);
}

/// Something that a run of up to three threads does.
#[derive(Clone, Debug)]
enum Did {
    Access { write: bool, address: u64, more: bool },
    Alloc(u64),
    Create,
    Switch(u32),
    Runnable(u64),
    Misuse,
}

fn did() -> impl Strategy<Value = Did> {
    prop_oneof![
        4 => (any::<bool>(), 0u64..4, any::<bool>())
            .prop_map(|(write, address, more)| Did::Access { write, address, more }),
        2 => (0u64..4).prop_map(Did::Alloc),
        1 => Just(Did::Create),
        2 => (0u32..3).prop_map(Did::Switch),
        2 => (1u64..8).prop_map(Did::Runnable),
        1 => Just(Did::Misuse),
    ]
}

/// The records of a run that does this, as a runtime would write them.
fn records(all: &[Did]) -> Vec<Record> {
    let mut records = runnable(1).to_vec();
    let (mut threads, mut after_access) = (1, false);
    for did in all {
        let mut is_access = false;
        match did {
            Did::Access { write, address, more } => {
                let tag = if *write { Tag::Write } else { Tag::Read };
                let flags = if *more && after_access { flag::MORE } else { 0 };
                records.push(Record::new(tag, flags, 0x1000 + address, 1, 4));
                is_access = true;
            }
            Did::Alloc(address) => records.push(plain(Tag::Alloc, 0x2000 + 16 * address, 16)),
            Did::Create => {
                records.push(plain(Tag::Create, 0, threads));
                threads += 1;
            }
            Did::Switch(thread) => records.push(switch(thread % threads)),
            Did::Runnable(set) => records.extend(runnable(*set)),
            Did::Misuse => {
                records.extend([
                    plain(Tag::Misuse, 0x9000, 3),
                    Record { w0: u64::from_le_bytes(*b"bad\0\0\0\0\0"), w1: 0 },
                ]);
            }
        }
        after_access = is_access;
    }
    records
}

/// What fetching fails with: nothing but records that no runtime writes.
#[derive(Debug)]
struct Failed;

impl From<Garbled> for Failed {
    fn from(_: Garbled) -> Self {
        Self
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn a_run_with_a_known_beginning_is_decoded_as_if_alone(
        beginning in prop::collection::vec(did(), 0..12),
        ends in prop::collection::vec(prop::collection::vec(did(), 0..8), 1..5),
    ) {
        let mut decoding = Decoding::default();
        for end in ends {
            let run = records(&[&beginning[..], &end].concat());
            let fetched = decoding.decode::<Failed>(End::Deadlock, |last| {
                let same = last.iter().zip(&run).take_while(|(a, b)| a == b).count();
                last.clone_from(&run);
                Ok(same)
            });
            let alone = decode(&run, End::Deadlock);
            prop_assert!(alone.is_ok(), "{:?}", alone);
            prop_assert_eq!(fetched.ok(), alone.ok(), "{:?} and then {:?}", beginning, end);
        }
    }
}

/// The runtime writes the texts, and reports know them by the model's names for them.
#[test]
fn texts_of_misuses_are_one() {
    assert_eq!(wire::UNWRITTEN, model::UNWRITTEN);
    assert_eq!(wire::INTERRUPTED, model::INTERRUPTED);
    assert_eq!(wire::UNSAFE_CALL, model::UNSAFE_CALL);
    assert_eq!(wire::LANES, model::LANES);
}
