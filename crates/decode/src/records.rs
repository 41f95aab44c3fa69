//! From the records of a controlled run to its [`Trace`].

use std::collections::BTreeMap;

use model::{
    Access, AccessKind, Addr, Allocation, Cell, Choice, End, Event, EventId, IndexVec, Misuse, Op, OpenedFile,
    PeerThread, Pending, Region, SiteId, Step, ThreadId, ThreadInfo, ThreadSet, Trace, Unmodelled, WakeCause,
};
use smallvec::SmallVec;
use wire::record::{flag, wake};
use wire::{Record, Tag};

use crate::operation::{memory_order, on_object};

/// Records that no runtime writes: the program wrote over the trace, or versions differ.
#[derive(Debug, thiserror::Error)]
#[error("the trace is garbled at record {record}: {what}; the program may have written over it")]
pub struct Garbled {
    /// Which record.
    pub record: usize,
    /// What is wrong with it.
    pub what: String,
}

/// Decodes a run's records.
///
/// # Errors
/// For records that no runtime writes.
pub fn decode(records: &[Record], end: End) -> Result<Trace, Garbled> {
    decode_with_notes(records, end).map(|(trace, _)| trace)
}

/// Where threads stopped before events: the event, and the return addresses on the thread's stack, innermost first.
pub type Stacks = BTreeMap<EventId, Vec<u64>>;

/// What events found in memory and what they left there: by event and bytes, as numbers; either may not be known.
pub type Values = BTreeMap<(EventId, Addr, u32), [Option<u64>; 2]>;

/// What was written down where threads stopped before events.
#[derive(Clone, Default, Debug)]
pub struct Notes {
    /// The calls on their stacks.
    pub stacks: Stacks,
    /// What memory held.
    pub values: Values,
}

/// Decodes a run's records and the notes that were asked for.
///
/// # Errors
/// For records that no runtime writes.
pub fn decode_with_notes(records: &[Record], end: End) -> Result<(Trace, Notes), Garbled> {
    let mut decoder = Decoder::new(records, end);
    decoder.all()?;
    let notes = std::mem::take(&mut decoder.notes);
    Ok((decoder.finish()?, notes))
}

/// Most records of a run that are kept for the next one.
const KEPT: usize = 1 << 16;

/// Decodes runs one after the other. What the records of a run have in common with those of the one before it at their
/// start means the same and is not decoded again.
#[derive(Default)]
pub struct Decoding {
    records: Vec<Record>,
    /// Where each event of the last run began.
    marks: Vec<Mark>,
    last: Option<Trace>,
}

/// Where an event begins.
#[derive(Clone, Copy)]
struct Mark {
    /// Its first record.
    record: usize,
    /// The thread that was running.
    current: ThreadId,
}

impl Decoding {
    /// Decodes the next run's records: `fetch` replaces the last run's by them and says how many at the start stayed.
    ///
    /// # Errors
    /// For records that no runtime writes, and when they cannot be fetched.
    pub fn decode<E: From<Garbled>>(
        &mut self,
        end: End,
        fetch: impl FnOnce(&mut Vec<Record>) -> Result<usize, E>,
    ) -> Result<Trace, E> {
        let last = self.last.take();
        let same = fetch(&mut self.records)?;
        let mut decoder = Decoder::new(&self.records, end);
        decoder.marks = std::mem::take(&mut self.marks);
        match last {
            Some(last) => decoder.resume(last, same),
            None => decoder.marks.clear(),
        }
        decoder.all()?;
        let marks = std::mem::take(&mut decoder.marks);
        let trace = decoder.finish()?;
        if self.records.len() <= KEPT {
            self.marks = marks;
            self.last = Some(trace.clone());
        }
        Ok(trace)
    }
}

struct Decoder<'a> {
    records: &'a [Record],
    at: usize,
    current: ThreadId,
    /// Next position and number of children, by thread.
    counts: IndexVec<ThreadId, (u32, u32)>,
    events: Vec<Event>,
    marks: Vec<Mark>,
    /// All but the events.
    trace: Trace,
    notes: Notes,
}

type Result<T, E = String> = std::result::Result<T, E>;

fn site(record: &Record) -> Option<SiteId> {
    (record.site() != wire::NO_SITE).then_some(SiteId(record.site()))
}

fn access(tag: Tag, record: &Record) -> Result<Access> {
    let kind = match tag {
        Tag::Read => AccessKind::Read,
        Tag::Write => AccessKind::Write,
        Tag::ReadModifyWrite => AccessKind::ReadModifyWrite,
        _ => AccessKind::Free,
    };
    Ok(Access { kind, atomic: memory_order(record.flags())?, cell: cell(record) })
}

fn cell(record: &Record) -> Cell {
    Cell { start: Addr(record.address()), len: record.argument() }
}

fn is_access(tag: Tag) -> bool {
    matches!(tag, Tag::Read | Tag::Write | Tag::ReadModifyWrite | Tag::Free)
}

impl<'a> Decoder<'a> {
    fn new(records: &'a [Record], end: End) -> Self {
        Self {
            records,
            at: 0,
            current: ThreadId::MAIN,
            counts: IndexVec::filled(1, (0, 0)),
            events: Vec::new(),
            marks: Vec::new(),
            trace: Trace::empty(end),
            notes: Notes::default(),
        }
    }

    /// Goes on where a run that is known, with its marks, leaves this one: `same` of its records are the same.
    fn resume(&mut self, known: Trace, same: usize) {
        let marked = self.marks.partition_point(|mark| mark.record <= same);
        // What is not modelled has no place among the events.
        let Some(step) = marked.checked_sub(1).filter(|_| known.unmodelled.is_empty()) else {
            return self.marks.clear();
        };
        let Mark { record, current } = self.marks[step];
        self.marks.truncate(step);
        (self.at, self.current) = (record, current);
        let Trace { threads, events, mut runnable, mut allocations, mut misuses, mut opened, mut peers, .. } = known;
        self.events = events.into_raw();
        self.events.truncate(step);
        let step = Step(step as u32);
        runnable.truncate(runnable.partition_point(|(from, _)| *from <= step));
        allocations.truncate(allocations.partition_point(|allocation| allocation.before <= step));
        misuses.truncate(misuses.partition_point(|misuse| misuse.before <= step));
        opened.truncate(opened.partition_point(|file| file.before <= step));
        peers.truncate(peers.partition_point(|peer| peer.before <= step));
        (self.trace.threads, self.trace.runnable) = (threads, runnable);
        (self.trace.allocations, self.trace.misuses) = (allocations, misuses);
        (self.trace.opened, self.trace.peers) = (opened, peers);
        for event in &self.events {
            self.counts[event.id.thread].0 = event.id.position + 1;
            if let Op::Create { .. } = event.op {
                self.counts[event.id.thread].1 += 1;
                self.counts.push((0, 0));
            }
        }
        self.trace.threads.truncate(self.counts.len());
    }

    fn next_step(&self) -> Step {
        Step(self.events.len() as u32)
    }

    /// Decodes all records from `at` on.
    fn all(&mut self) -> Result<(), Garbled> {
        self.events.reserve(self.records.len() - self.at);
        /// Records of the longest remark or event.
        const LONGEST: usize = 256;
        while self.at < self.records.len() {
            let first = self.at;
            match self.record() {
                // Its time ended while the program was writing.
                Err(_) if self.trace.end == End::TimeLimit && self.records.len() - first <= LONGEST => break,
                result => result.map_err(|what| Garbled { record: self.at, what })?,
            }
        }
        Ok(())
    }

    /// Decodes the record at `at` with what belongs to it, and moves on.
    fn record(&mut self) -> Result<()> {
        let (first, known) = (self.at, self.events.len());
        let result = self.any_record();
        if self.events.len() > known {
            self.marks.push(Mark { record: first, current: self.current });
        }
        result
    }

    fn any_record(&mut self) -> Result<()> {
        let record = self.records[self.at];
        let Some(tag) = record.tag() else { return Err(format!("no record has tag {}", (record.w0 >> 48) as u8)) };
        if is_access(tag) {
            return self.access(tag, &record);
        }
        if record.flags() & flag::MORE != 0 && matches!(tag, Tag::Choose | Tag::Await) {
            return self.more(tag, &record);
        }
        if tag.is_event() {
            let op = self.operation(tag, &record)?;
            return self.event(op, &record);
        }
        self.at += 1;
        match tag {
            Tag::Switch => self.current = self.thread(record.argument())?,
            Tag::Runnable => {
                let words: SmallVec<[u64; 4]> = self.words(&record)?.collect();
                let (step, set) = (self.next_step(), ThreadSet::from_words(&words));
                match self.trace.runnable.last_mut() {
                    Some(last) if last.0 == step => last.1 = set,
                    _ => self.trace.runnable.push((step, set)),
                }
            }
            Tag::Alloc => {
                let region = if record.flags() & flag::STACK != 0 { Region::Stack } else { Region::Heap };
                self.trace.allocations.push(Allocation {
                    before: self.next_step(),
                    thread: self.current,
                    site: site(&record),
                    region,
                    start: Addr(record.address()),
                    size: record.argument().into(),
                });
            }
            Tag::Misuse => {
                let what = self.text(&record)?;
                let (before, thread) = (self.next_step(), self.current);
                let object = Addr(record.address());
                self.trace.misuses.push(Misuse { before, thread, site: site(&record), what, object });
            }
            Tag::Unmodelled => {
                let what = self.text(&record)?;
                self.trace.unmodelled.push(Unmodelled { thread: self.current, site: site(&record), what });
            }
            Tag::Opened => {
                let name = self.text(&record)?;
                self.trace.opened.push(OpenedFile { before: self.next_step(), name });
            }
            Tag::Peer => {
                let name = self.text(&record)?;
                self.trace.peers.push(PeerThread { before: self.next_step(), thread: self.current, name });
            }
            Tag::Stack => {
                let counters = self.words(&record)?.collect();
                let id = EventId { thread: self.current, position: self.counts[self.current].0 };
                self.notes.stacks.insert(id, counters);
            }
            Tag::Value => {
                let next = self.counts[self.current].0;
                let is_after = record.flags() & flag::AFTER != 0;
                let position = if is_after { next.checked_sub(1).ok_or("a value after no event")? } else { next };
                let id = EventId { thread: self.current, position };
                let value = self.raw(1)?[0].w0;
                let values = &mut self.notes.values;
                let known = values.entry((id, Addr(record.address()), record.argument())).or_default();
                known[usize::from(is_after)] = Some(value);
            }
            Tag::Pending => return self.pending(&record),
            _ => return Err(format!("a record {tag:?} belongs to no event")),
        }
        Ok(())
    }

    /// The 64-bit words that follow a record.
    fn words(&mut self, record: &Record) -> Result<impl Iterator<Item = u64>> {
        let words = record.argument() as usize;
        let raw = self.raw(words.div_ceil(2))?;
        Ok(raw.iter().flat_map(|r| [r.w0, r.w1]).take(words))
    }

    /// An access: an event, or one more access of the event before.
    fn access(&mut self, tag: Tag, record: &Record) -> Result<()> {
        let (access, site) = (access(tag, record)?, site(record));
        if record.flags() & flag::MORE == 0 {
            return self.event(Op::Access(access), record);
        }
        self.at += 1;
        match self.events.last_mut() {
            Some(last) if last.id.thread == self.current => add_access(&mut last.op, access, site),
            _ => Err("another access of no event".into()),
        }
    }

    /// One more choice of a section, or one more cell of a wait for a change.
    fn more(&mut self, tag: Tag, record: &Record) -> Result<()> {
        let choice = if tag == Tag::Choose { Some(self.choice()?) } else { None };
        self.at += 1;
        let last = self.events.last_mut().filter(|last| last.id.thread == self.current);
        match (last.map(|last| &mut last.op), choice) {
            (Some(Op::Section { choices, .. }), Some(choice)) => push(choices, choice),
            (Some(Op::Await { cells }), None) => push(cells, cell(record)),
            _ => return Err(format!("one more {tag:?} of no such event")),
        }
        Ok(())
    }

    /// The choice at the current record; `at` moves to its last unit.
    fn choice(&mut self) -> Result<Choice> {
        let Some([_, range, value]) = self.records.get(self.at..self.at.saturating_add(3)) else {
            return Err("a choice that is cut off".into());
        };
        let choice = Choice { lo: range.w0 as i64, hi: range.w1 as i64, value: value.w0 as i64 };
        if !(choice.lo..=choice.hi).contains(&choice.value) {
            return Err(format!("{} is chosen from {} to {}", choice.value, choice.lo, choice.hi));
        }
        self.at += 2;
        Ok(choice)
    }

    fn event(&mut self, op: Op, record: &Record) -> Result<()> {
        let created = Some(self.next_step());
        let (position, children) = &mut self.counts[self.current];
        let id = EventId { thread: self.current, position: *position };
        *position += 1;
        if let Op::Create { child } = op {
            *children += 1;
            let path = self.trace.threads[self.current].path.child(*children);
            if child != self.trace.threads.next_id() {
                return Err(format!("thread {child} is created as thread {}", self.trace.threads.next_id()));
            }
            self.trace.threads.push(ThreadInfo { path, created });
            self.counts.push((0, 0));
        }
        self.events.push(Event { id, site: site(record), op });
        self.at += 1;
        Ok(())
    }

    fn thread(&self, number: u32) -> Result<ThreadId> {
        match self.trace.threads.get(ThreadId(number)) {
            Some(_) => Ok(ThreadId(number)),
            None => Err(format!("there is no thread {number}")),
        }
    }

    /// The operation of an event that is no access; `at` moves past records before its last one.
    fn operation(&mut self, tag: Tag, record: &Record) -> Result<Op> {
        let object = Addr(record.address());
        if let Some(op) = on_object(tag, record.flags(), object) {
            return Ok(op);
        }
        let success = record.flags() & flag::SUCCESS != 0;
        // Whether a thread exists is the program's matter: it may join one that was never created.
        let child = ThreadId(record.argument());
        Ok(match tag {
            Tag::Fence => Op::Fence(memory_order(record.flags())?.ok_or("a fence without an order")?),
            Tag::WaitBegin => {
                self.at += 1;
                let extra = self.records.get(self.at).filter(|r| r.tag() == Some(Tag::Extra));
                let lock = Addr(extra.ok_or("a wait without its mutex")?.address());
                Op::WaitBegin { cond: object, lock }
            }
            Tag::WaitEnd => {
                let cause = match record.flags() {
                    wake::SIGNALLED => WakeCause::Signalled,
                    wake::TIMED_OUT => WakeCause::TimedOut,
                    wake::SPURIOUS => WakeCause::Spurious,
                    wake::CANCELLED => WakeCause::Cancelled,
                    other => return Err(format!("no cause of a wake-up has number {other}")),
                };
                Op::WaitEnd { cond: object, cause }
            }
            Tag::Create => Op::Create { child },
            Tag::Start => Op::Start,
            Tag::Exit => Op::Exit,
            Tag::Join => Op::Join { child },
            Tag::TryJoin => Op::TryJoin { child, success },
            Tag::Detach => Op::Detach { child },
            Tag::Cancel => Op::Cancel { target: child },
            Tag::Cancelled => Op::Cancelled,
            Tag::Yield => Op::Yield,
            Tag::Choose => Op::Choose(self.choice()?),
            Tag::Section => Op::Section { accesses: Box::default(), sites: Box::default(), choices: Box::default() },
            Tag::Await => Op::Await { cells: Box::new([cell(record)]) },
            _ => return Err(format!("{tag:?} is no operation")),
        })
    }

    /// What a thread was about to do: the event records after this one.
    fn pending(&mut self, record: &Record) -> Result<()> {
        let thread = self.thread(record.argument())?;
        let Some(first) = self.records.get(self.at).copied() else { return Err("pending nothing".into()) };
        let Some(tag) = first.tag().filter(|tag| tag.is_event()) else { return Err("pending no event".into()) };
        let mut op = if is_access(tag) { Op::Access(access(tag, &first)?) } else { self.operation(tag, &first)? };
        self.at += 1;
        while let Some(more) = self.records.get(self.at)
            && let Some(tag) = more.tag().filter(|_| more.flags() & flag::MORE != 0)
        {
            match (tag, &mut op) {
                (Tag::Await, Op::Await { cells }) => push(cells, cell(more)),
                (tag, op) if is_access(tag) => add_access(op, access(tag, more)?, site(more))?,
                _ => break,
            }
            self.at += 1;
        }
        let id = EventId { thread, position: self.counts[thread].0 };
        let event = Event { id, site: site(&first), op };
        self.trace.pending.push(Pending { event, enabled: record.flags() & flag::ENABLED != 0 });
        Ok(())
    }

    /// Payload after the current record.
    fn raw(&mut self, units: usize) -> Result<&'a [Record]> {
        let end = self.at.checked_add(units).ok_or("a payload without end")?;
        let raw = self.records.get(self.at..end).ok_or("a payload that is cut off")?;
        self.at = end;
        Ok(raw)
    }

    fn text(&mut self, record: &Record) -> Result<String> {
        let len = record.argument() as usize;
        let raw = self.raw(len.div_ceil(16))?;
        let bytes: Vec<u8> = raw.iter().flat_map(|r| [r.w0.to_le_bytes(), r.w1.to_le_bytes()]).flatten().collect();
        Ok(String::from_utf8_lossy(&bytes[..len]).into_owned())
    }

    fn finish(mut self) -> Result<Trace, Garbled> {
        self.trace.events = IndexVec::from_raw(self.events);
        self.trace.runnable.dedup_by(|later, earlier| later.1 == earlier.1);
        match self.trace.runnable.first() {
            Some((Step(0), _)) => Ok(self.trace),
            _ => Err(Garbled { record: 0, what: "nobody was runnable at the start".into() }),
        }
    }
}

/// Adds an access to an event of accesses.
fn add_access(op: &mut Op, access: Access, site: Option<SiteId>) -> Result<()> {
    match op {
        Op::Access(first) => *op = Op::Accesses(Box::new([*first, access])),
        Op::Accesses(accesses) => push(accesses, access),
        Op::Section { accesses, sites, .. } => {
            push(accesses, access);
            push(sites, site);
        }
        other => return Err(format!("an access added to {other:?}")),
    }
    Ok(())
}

fn push<T>(list: &mut Box<[T]>, item: T) {
    let mut all = std::mem::take(list).into_vec();
    all.push(item);
    *list = all.into();
}
