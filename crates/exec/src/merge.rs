//! From the words of each thread to one trace.
//!
//! Numbered events come in the order of their numbers; a plain access comes right after its thread's last numbered event.
//! For accesses that synchronisation orders this is the order in which they happened. Two that nothing orders may be the
//! other way round than they were; such a pair is a race in any order.
//!
//! Addresses stand for objects: where the heap hands out an address again, or a thread gets the stack of one that ended,
//! the new object gets an address that nothing else has. An access belongs to the object that is there when its thread's
//! last numbered event happened.

use std::collections::{BTreeMap, BinaryHeap};

use model::{
    Access, AccessKind, Addr, Allocation, Cell, End, Event, EventId, IndexVec, Op, Order, Region, SiteId, Step,
    ThreadId, ThreadInfo, ThreadPath, ThreadSet, Trace, WakeCause,
};
use rustc_hash::{FxHashMap, FxHashSet};
use wire::Tag;
use wire::log::{ADDRESS_BITS, MORE, Unpacked, tag, unpack};
use wire::record::{flag, wake};

use crate::format::trace::Head;
use crate::operation::{memory_order, on_object};

/// Where in a block, and what is wrong there.
type At = (usize, String);

/// One thread's words: plain accesses as they are, records with their place among all records.
#[derive(Default)]
struct Words {
    /// A plain access, or with the highest bit the number of a record.
    items: Vec<u64>,
    records: Vec<[u64; 4]>,
    /// Accesses since the last numbered event.
    recent: FxHashSet<u64>,
    /// The rest of the thread is not complete.
    cut: bool,
}

const RECORD: u64 = 1 << 63;

/// Collects the blocks of a file.
pub(crate) struct Merge<'a> {
    head: &'a Head,
    /// Events with larger numbers are left out; 0 for none.
    last: u64,
    threads: BTreeMap<u32, Words>,
}

impl<'a> Merge<'a> {
    pub(crate) fn new(head: &'a Head, last: u64) -> Self {
        Self { head, last, threads: BTreeMap::new() }
    }

    /// Takes in the next block of a thread.
    pub(crate) fn block(&mut self, thread: u32, bytes: &[u8]) -> Result<(), At> {
        let words = self.threads.entry(thread).or_default();
        let (accesses, last) = (&self.head.accesses, self.last);
        let mut unknown = None;
        let read = unpack(bytes, |unpacked| {
            if words.cut {
                return false;
            }
            match unpacked {
                Unpacked::Plain(word) => {
                    let site = SiteId((word >> ADDRESS_BITS) as u32);
                    if !accesses.contains_key(&site) {
                        unknown = Some(site);
                        return false;
                    }
                    // Whatever races with the first of equal accesses races with the others.
                    if words.recent.insert(word) {
                        words.items.push(word);
                    }
                }
                Unpacked::Record(record) => {
                    let numbered = record[2] != 0;
                    if numbered && last != 0 && record[2] > last {
                        words.cut = true;
                        return false;
                    }
                    if numbered {
                        words.recent.clear();
                    }
                    words.items.push(RECORD | words.records.len() as u64);
                    words.records.push(record);
                }
            }
            true
        });
        if let Some(site) = unknown {
            return Err((0, format!("an access at {site}, which makes none")));
        }
        read.map_err(|at| (at, "the packed words make no sense".to_owned()))
    }
}

/// Makes the trace.
pub(crate) fn merge(merge: Merge<'_>, end: End) -> Result<Trace, String> {
    let mut building = Building::new(merge.head, end);
    let failed: FxHashSet<u32> = merge
        .threads
        .values()
        .flat_map(|words| &words.records)
        .filter(|record| (record[0] >> 48) as u8 == tag::CREATE_FAILED)
        .map(|record| (record[1] >> 32) as u32)
        .collect();
    building.failed = failed;
    let mut at: BTreeMap<u32, usize> = merge.threads.keys().map(|thread| (*thread, 0)).collect();
    // The smallest number first.
    let mut next = BinaryHeap::new();
    for (thread, words) in &merge.threads {
        next.extend(number_at(words, 0).map(|number| std::cmp::Reverse((number, *thread))));
    }
    while let Some(std::cmp::Reverse((_, thread))) = next.pop() {
        let (Some(words), Some(place)) = (merge.threads.get(&thread), at.get_mut(&thread)) else { continue };
        let mut first = true;
        while let Some(item) = words.items.get(*place) {
            if *item & RECORD == 0 {
                building.plain(thread, *item)?;
            } else {
                let record = words.records.get((*item & !RECORD) as usize).ok_or("a record is missing")?;
                if record[2] != 0 && !first {
                    next.push(std::cmp::Reverse((record[2], thread)));
                    break;
                }
                building.record(thread, record)?;
            }
            first = false;
            *place += 1;
        }
    }
    Ok(building.finish())
}

/// The number of the record at a place; threads start with a numbered one.
fn number_at(words: &Words, at: usize) -> Option<u64> {
    let item = words.items.get(at)?;
    let record = if item & RECORD == 0 { None } else { words.records.get((item & !RECORD) as usize) };
    Some(record.map_or(0, |record| record[2]))
}

/// Objects whose addresses were used before, by first byte: last byte plus one, and what to add to addresses in them.
#[derive(Default)]
struct Lives {
    moved: BTreeMap<u64, (u64, u64)>,
    /// Ranges that were objects before, by first byte.
    used: BTreeMap<u64, u64>,
    next: u64,
}

/// Addresses from here on are used by nothing else.
const FRESH: u64 = 1 << 52;

impl Lives {
    fn address(&self, address: u64) -> u64 {
        match self.moved.range(..=address).next_back() {
            Some((_, (end, offset))) if address < *end => address.wrapping_add(*offset),
            _ => address,
        }
    }

    /// An object comes into being.
    fn begin(&mut self, start: u64, size: u64) {
        let end = start.saturating_add(size.max(1));
        let overlaps = |map: &BTreeMap<u64, u64>| map.range(..end).next_back().is_some_and(|(_, used)| *used > start);
        let again = overlaps(&self.used);
        // What lay here before is gone.
        let mut gone = Vec::new();
        for (at, (last, _)) in self.moved.range(..end).rev() {
            if *last <= start {
                break;
            }
            gone.push(*at);
        }
        for at in gone {
            self.moved.remove(&at);
        }
        if again {
            self.next = (self.next.max(FRESH) + 63) & !63;
            // The same place in a cache line, for accesses that are not aligned.
            let fresh = self.next + start % 64;
            self.moved.insert(start, (end, fresh.wrapping_sub(start)));
            self.next = fresh + size.max(1);
        }
        let merged: Vec<(u64, u64)> = {
            let touching = self.used.range(..=end).rev().take_while(|(_, last)| **last >= start);
            touching.map(|(at, last)| (*at, *last)).collect()
        };
        let from = merged.iter().map(|(at, _)| *at).min().unwrap_or(start).min(start);
        let to = merged.iter().map(|(_, last)| *last).max().unwrap_or(end).max(end);
        for (at, _) in merged {
            self.used.remove(&at);
        }
        self.used.insert(from, to);
    }
}

struct Building<'a> {
    head: &'a Head,
    failed: FxHashSet<u32>,
    lives: Lives,
    /// Sizes of heap blocks by their real address.
    blocks: FxHashMap<u64, u64>,
    /// By the recorder's number.
    numbers: FxHashMap<u32, ThreadId>,
    counts: IndexVec<ThreadId, (u32, u32)>,
    trace: Trace,
    /// By barrier: the last arrival, to be told that it was the last when a thread leaves.
    arrived: FxHashMap<u64, (Step, ThreadId)>,
    /// Arrivals that completed a generation.
    complete: BTreeMap<Step, ThreadId>,
}

impl<'a> Building<'a> {
    fn new(head: &'a Head, end: End) -> Self {
        let main = ThreadInfo { path: ThreadPath::main(), created: None };
        Self {
            head,
            failed: FxHashSet::default(),
            lives: Lives::default(),
            blocks: FxHashMap::default(),
            numbers: std::iter::once((0, ThreadId::MAIN)).collect(),
            counts: IndexVec::filled(1, (0, 0)),
            trace: Trace {
                threads: IndexVec::filled(1, main),
                events: IndexVec::new(),
                runnable: Vec::new(),
                pending: Vec::new(),
                allocations: Vec::new(),
                misuses: Vec::new(),
                unmodelled: Vec::new(),
                end,
            },
            arrived: FxHashMap::default(),
            complete: BTreeMap::new(),
        }
    }

    /// The thread with the recorder's number; one that nobody saw being created is a child of the initial one.
    fn thread(&mut self, number: u32) -> ThreadId {
        match self.numbers.get(&number) {
            Some(thread) => *thread,
            None => self.create(ThreadId::MAIN, number, None),
        }
    }

    fn create(&mut self, parent: ThreadId, number: u32, created: Option<Step>) -> ThreadId {
        let children = &mut self.counts[parent].1;
        *children += 1;
        let path = self.trace.threads[parent].path.child(*children);
        let thread = self.trace.threads.push(ThreadInfo { path, created });
        self.counts.push((0, 0));
        self.numbers.insert(number, thread);
        thread
    }

    fn event(&mut self, thread: ThreadId, site: Option<SiteId>, op: Op) -> Result<Step, String> {
        let position = &mut self.counts[thread].0;
        let id = EventId { thread, position: *position };
        *position = position.checked_add(1).ok_or("more events than a trace can have")?;
        if self.trace.events.len() >= u32::MAX as usize - 1 {
            return Err("more events than a trace can have".to_owned());
        }
        Ok(self.trace.events.push(Event { id, site, op }))
    }

    fn plain(&mut self, number: u32, word: u64) -> Result<(), String> {
        let thread = self.thread(number);
        let first = SiteId((word >> ADDRESS_BITS) as u32);
        let start = Addr(self.lives.address(word & ((1 << ADDRESS_BITS) - 1)));
        let head = self.head;
        for site in std::iter::once(&first).chain(head.together.get(&first).into_iter().flatten()) {
            let &(writes, len) = head.accesses.get(site).ok_or("an access at a site that makes none")?;
            let kind = if writes { AccessKind::Write } else { AccessKind::Read };
            let op = Op::Access(Access { kind, atomic: None, cell: Cell { start, len } });
            self.event(thread, Some(*site), op)?;
        }
        Ok(())
    }

    fn record(&mut self, number: u32, record: &[u64; 4]) -> Result<(), String> {
        let thread = self.thread(number);
        let (tag, flags) = ((record[0] >> 48) as u8, (record[0] >> 56) as u8 & 0x7f);
        let raw = record[0] & ((1 << 48) - 1);
        let (site, argument) = (record[1] as u32, (record[1] >> 32) as u32);
        let site = (site != wire::NO_SITE).then_some(SiteId(site));
        let Some(known) = Tag::from_u8(tag) else {
            if tag == tag::STACK_RANGE {
                self.lives.begin(raw, record[3]);
            }
            return Ok(());
        };
        match known {
            Tag::Alloc => {
                let stack = flags & flag::STACK != 0;
                let size = u64::from(argument);
                if !stack {
                    self.lives.begin(raw, size);
                    self.blocks.insert(raw, size);
                }
                self.trace.allocations.push(Allocation {
                    before: self.trace.events.next_id(),
                    thread,
                    site,
                    region: if stack { Region::Stack } else { Region::Heap },
                    start: Addr(self.lives.address(raw)),
                    size,
                });
                return Ok(());
            }
            Tag::Create if self.failed.contains(&argument) => return Ok(()),
            Tag::Free if !self.blocks.contains_key(&raw) => return Ok(()),
            _ => {}
        }
        let address = Addr(self.lives.address(raw));
        if flags & MORE != 0 && matches!(known, Tag::Read | Tag::Write | Tag::ReadModifyWrite) {
            let access = access(known, flags & !MORE, address, argument)?;
            return match self.trace.events.iter_mut().next_back() {
                Some(last) if last.id.thread == thread && !last.op.accesses().is_empty() => {
                    let mut all = last.op.accesses().to_vec();
                    all.push(access);
                    last.op = Op::Accesses(all.into());
                    Ok(())
                }
                // The first access of the event was left out as a repetition.
                _ => self.event(thread, site, Op::Access(access)).map(|_| ()),
            };
        }
        let op = self.operation(thread, known, flags, address, argument, record)?;
        let step = self.event(thread, site, op)?;
        match self.trace.events[step].op {
            Op::Create { child } => self.trace.threads[child].created = Some(step),
            Op::BarrierArrive { barrier } => {
                self.arrived.insert(barrier.0, (step, thread));
            }
            Op::BarrierLeave { barrier } => {
                if let Some((step, thread)) = self.arrived.remove(&barrier.0) {
                    self.complete.insert(step, thread);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn operation(
        &mut self,
        thread: ThreadId,
        tag: Tag,
        flags: u8,
        address: Addr,
        argument: u32,
        record: &[u64; 4],
    ) -> Result<Op, String> {
        if let Some(op) = on_object(tag, flags, address) {
            return Ok(op);
        }
        let success = flags & flag::SUCCESS != 0;
        Ok(match tag {
            Tag::Read | Tag::Write | Tag::ReadModifyWrite => Op::Access(access(tag, flags, address, argument)?),
            Tag::Free => {
                let raw = record[0] & ((1 << 48) - 1);
                let size = self.blocks.remove(&raw).unwrap_or(1).max(1);
                let len = u32::try_from(size).unwrap_or(u32::MAX);
                Op::Access(Access { kind: AccessKind::Free, atomic: None, cell: Cell { start: address, len } })
            }
            Tag::Fence => Op::Fence(memory_order(flags)?.unwrap_or(Order::SeqCst)),
            Tag::WaitBegin => Op::WaitBegin { cond: address, lock: Addr(self.lives.address(record[3])) },
            Tag::WaitEnd => {
                let cause = if flags == wake::TIMED_OUT { WakeCause::TimedOut } else { WakeCause::Signalled };
                Op::WaitEnd { cond: address, cause }
            }
            Tag::Create => Op::Create { child: self.create(thread, argument, None) },
            Tag::Start => Op::Start,
            Tag::Exit => Op::Exit,
            Tag::Join => Op::Join { child: self.thread(argument) },
            Tag::TryJoin => Op::TryJoin { child: self.thread(argument), success },
            Tag::Detach => Op::Detach { child: self.thread(argument) },
            other => return Err(format!("a record {other:?}, which is not recorded")),
        })
    }

    fn finish(mut self) -> Trace {
        // All that is known of who could run: a thread that completes a barrier's generation can leave.
        let mut runnable = vec![(Step(0), ThreadSet::new())];
        for (step, thread) in self.complete {
            let after = Step(step.0 + 1);
            if runnable.last().is_some_and(|(last, _)| *last == after) {
                runnable.pop();
            }
            runnable.push((after, std::iter::once(thread).collect()));
            runnable.push((Step(after.0 + 1), ThreadSet::new()));
        }
        self.trace.runnable = runnable;
        self.trace
    }
}

fn access(tag: Tag, flags: u8, start: Addr, len: u32) -> Result<Access, String> {
    let kind = match tag {
        Tag::Read => AccessKind::Read,
        Tag::Write => AccessKind::Write,
        _ => AccessKind::ReadModifyWrite,
    };
    Ok(Access { kind, atomic: memory_order(flags)?, cell: Cell { start, len } })
}
