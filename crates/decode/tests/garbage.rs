//! Whatever the program writes over its trace, decoding ends with a trace or an error.

use std::cell::Cell;

use decode::records::decode;
use model::End;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use wire::{Record, Tag};

fn record() -> impl Strategy<Value = Record> {
    let sensible =
        (0u8..76, any::<u8>(), 0u64..4096, 0u32..9, 0u32..6).prop_map(|(tag, flags, address, site, argument)| {
            let tag = Tag::from_u8(tag).unwrap_or(Tag::Read);
            Record::new(tag, flags & 0x83, address, site, argument)
        });
    prop_oneof![9 => sensible, 1 => (any::<u64>(), any::<u64>()).prop_map(|(w0, w1)| Record { w0, w1 })]
}

#[test]
fn decoding_never_panics() {
    let (decoded, refused) = (Cell::new(0), Cell::new(0));
    let records = prop_oneof![prop::collection::vec(record(), 0..6), prop::collection::vec(record(), 6..60)];
    let input = (records, any::<bool>());
    let result = TestRunner::deterministic().run(&input, |(mut records, whole)| {
        if whole {
            let runnable = [Record::new(Tag::Runnable, 0, 0, 0, 1), Record { w0: 1, w1: 0 }];
            records.splice(0..0, runnable);
        }
        let Ok(trace) = decode(&records, End::Deadlock) else {
            refused.set(refused.get() + 1);
            return Ok(());
        };
        prop_assert!(trace.events.iter().all(|event| trace.threads.get(event.id.thread).is_some()));
        prop_assert_eq!(trace.runnable[0].0.0, 0);
        prop_assert!(trace.runnable.windows(2).all(|pair| pair[0].0 < pair[1].0));
        decoded.set(decoded.get() + 1);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let counts = [decoded.get(), refused.get()];
    assert!(counts.iter().all(|count| *count >= 5), "{counts:?} decoded and refused");
}
