//! Which events conflict, as far as schedules chosen at random want to know ([`wire::policy`]): a guess that is wrong changes
//! how likely schedules are, and nothing else.

use wire::{Record, Tag};

use crate::threads::{Entry, Thread};

/// What conflicts with the event that a thread is about to execute draws another priority.
pub fn draw_again(threads: &mut [Entry], thread: Thread) {
    let (before, rest) = threads.split_at_mut(thread as usize);
    let Some((running, after)) = rest.split_first_mut() else { return };
    let next = running.pending();
    for other in before.iter_mut().chain(after).filter(|other| !other.over) {
        if next.iter().any(|one| other.pending().iter().any(|two| conflict(one, two))) {
            other.redrawn += 1;
        }
    }
}

/// Whether two records are about the same bytes, or the same object, and not both only read.
fn conflict(one: &Record, other: &Record) -> bool {
    let reads = |record: &Record| record.tag() == Some(Tag::Read);
    let end = |record: &Record| match record.tag() {
        Some(Tag::Read | Tag::Write | Tag::ReadModifyWrite | Tag::Free) => {
            record.address().saturating_add(record.argument().into())
        }
        _ => record.address() + 1,
    };
    let named = one.address() != 0 && other.address() != 0;
    named && one.address() < end(other) && other.address() < end(one) && !(reads(one) && reads(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_conflict_where_one_changes_what_the_other_uses() {
        let record = |tag, address, len| Record::new(tag, 0, address, wire::NO_SITE, len);
        let (read, write) = (record(Tag::Read, 100, 4), record(Tag::Write, 102, 4));
        assert!(conflict(&read, &write) && conflict(&write, &read) && conflict(&write, &write));
        assert!(!conflict(&read, &read));
        assert!(!conflict(&record(Tag::Read, 100, 2), &write), "the bytes beside it");
        let lock = record(Tag::Acquire, 102, 0);
        assert!(conflict(&lock, &lock) && conflict(&lock, &write));
        assert!(!conflict(&Entry::START, &lock));
    }
}
