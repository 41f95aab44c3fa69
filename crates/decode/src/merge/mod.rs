//! From the words of each thread to one trace.
//!
//! Numbered events come in the order of their numbers; a plain access comes right after its thread's last numbered event.
//! For accesses that synchronisation orders this is the order in which they happened. Two that nothing orders may be the
//! other way round than they were; such a pair is a race in any order.
//!
//! The words are gone through twice, a buffer of each thread at a time: first to see which memory can matter, then to make
//! the trace. So what takes room is the trace, which may leave out accesses that do not matter.

mod lives;
mod sites;
mod streams;
mod survey;

use std::collections::BTreeMap;

use model::{
    Access, AccessKind, Addr, Allocation, Cell, End, Event, EventId, IndexVec, Op, Order, Region, SiteId, Step,
    ThreadId, ThreadInfo, ThreadSet, Trace, WakeCause,
};
use rustc_hash::{FxHashMap, FxHashSet};
use wire::Tag;
use wire::log::MORE;
use wire::record::{flag, wake};

use crate::operation::{memory_order, on_object};
use lives::Lives;
use sites::{Sites, address_of};
use streams::Visitor;
use survey::{Survey, Usage};

pub use sites::SiteTable;
pub use streams::{Blocks, Refused};

/// Which accesses of a recording on real threads are put into its trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// All.
    Every,
    /// Those to memory that several threads use and one writes: all that can race.
    Shared,
}

/// Makes the trace, and says how many accesses are not in it. Events with numbers above `last` are left out, if it is
/// not 0.
///
/// # Errors
/// For words that no recorder writes.
pub fn merge(
    blocks: &Blocks<'_>,
    sites: &SiteTable,
    last: u64,
    end: End,
    detail: Detail,
) -> Result<(Trace, u64), Refused> {
    let sites = Sites::new(sites).map_err(Refused::whole)?;
    let mut survey = Survey::new(&sites);
    blocks.visit(&sites, last, &mut survey)?;
    let Survey { usage, failed, .. } = survey;
    let mut building = Building::new(&sites, usage, failed, detail, end);
    blocks.visit(&sites, last, &mut building)?;
    Ok(building.finish())
}

struct Building<'a> {
    sites: &'a Sites,
    usage: Usage,
    /// Threads whose creation failed.
    failed: FxHashSet<u32>,
    detail: Detail,
    /// Accesses that are not in the trace.
    left_out: u64,
    /// By the recorder's number of a thread: words since its last numbered event.
    recent: FxHashMap<u32, FxHashSet<u64>>,
    lives: Lives,
    /// By the recorder's number.
    numbers: FxHashMap<u32, ThreadId>,
    counts: IndexVec<ThreadId, (u32, u32)>,
    trace: Trace,
    /// By barrier: the arrivals of the generation that nobody has left yet.
    arrived: FxHashMap<u64, Vec<(Step, ThreadId)>>,
    /// Arrivals that completed a generation.
    complete: BTreeMap<Step, ThreadId>,
}

impl<'a> Building<'a> {
    fn new(sites: &'a Sites, usage: Usage, failed: FxHashSet<u32>, detail: Detail, end: End) -> Self {
        Self {
            sites,
            usage,
            failed,
            detail,
            left_out: 0,
            recent: FxHashMap::default(),
            lives: Lives::default(),
            numbers: std::iter::once((0, ThreadId::MAIN)).collect(),
            counts: IndexVec::filled(1, (0, 0)),
            trace: Trace::empty(end),
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

    fn happened(&mut self, number: u32, record: &[u64; 4]) -> Result<(), String> {
        let thread = self.thread(number);
        let (tag, flags) = ((record[0] >> 48) as u8, (record[0] >> 56) as u8 & 0x7f);
        let raw = record[0] & ((1 << 48) - 1);
        let (site, argument) = (record[1] as u32, (record[1] >> 32) as u32);
        let site = (site != wire::NO_SITE).then_some(SiteId(site));
        self.lives.record(record);
        let Some(known) = Tag::from_u8(tag) else { return Ok(()) };
        match known {
            Tag::Alloc => {
                let stack = flags & flag::STACK != 0;
                let size = u64::from(argument);
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
            Tag::Free if !self.lives.is_block(raw) => return Ok(()),
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
                self.arrived.entry(barrier.0).or_default().push((step, thread));
            }
            Op::BarrierLeave { barrier } => {
                // The first that leaves a generation shows that it was complete. Others may leave when threads have already
                // arrived in the next one.
                let arrived = self.arrived.entry(barrier.0).or_default();
                if arrived.iter().any(|(_, other)| *other == thread) {
                    self.complete.extend(std::mem::take(arrived).pop());
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
                let len = self.lives.end_block(raw);
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

    fn finish(mut self) -> (Trace, u64) {
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
        (self.trace, self.left_out)
    }
}

impl Visitor for Building<'_> {
    fn plain(&mut self, number: u32, word: u64) -> Result<(), String> {
        let thread = self.thread(number);
        let start = self.lives.address(address_of(word));
        let sites = self.sites.of(word);
        let len = sites.iter().map(|(_, _, len)| *len).max().unwrap_or(0);
        if self.detail == Detail::Shared && !self.usage.matters(start, len.into()) {
            self.left_out += sites.len() as u64;
            return Ok(());
        }
        // Whatever races with the first of equal accesses races with the others.
        if !self.recent.entry(number).or_default().insert(word) {
            return Ok(());
        }
        for &(site, writes, len) in sites {
            let kind = if writes { AccessKind::Write } else { AccessKind::Read };
            let op = Op::Access(Access { kind, atomic: None, cell: Cell { start: Addr(start), len } });
            self.event(thread, Some(site), op)?;
        }
        Ok(())
    }

    fn record(&mut self, number: u32, record: &[u64; 4]) -> Result<(), String> {
        if record[2] != 0
            && let Some(recent) = self.recent.get_mut(&number)
        {
            recent.clear();
        }
        self.happened(number, record)
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
