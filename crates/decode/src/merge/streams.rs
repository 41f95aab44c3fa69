//! The words of all threads in the order of their numbers, one buffer of each thread at a time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use model::SiteId;
use wire::log::{ADDRESS_BITS, BUFFER, Unpacked, unpack};

use super::sites::Sites;

/// Words that no recorder writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// Where in the file; `None` for a problem of the whole recording.
    pub at: Option<usize>,
    /// What is wrong there.
    pub what: String,
}

impl Refused {
    pub(super) fn whole(what: String) -> Self {
        Self { at: None, what }
    }
}

/// Takes in what happened, in order.
pub(super) trait Visitor {
    /// The word of plain accesses of a thread, by the recorder's number.
    fn plain(&mut self, thread: u32, word: u64) -> Result<(), String>;
    /// A record of a thread.
    fn record(&mut self, thread: u32, record: &[u64; 4]) -> Result<(), String>;
}

/// The blocks of each thread: where they are in the file, and their bytes.
#[derive(Default)]
pub struct Blocks<'a> {
    threads: BTreeMap<u32, Vec<(usize, &'a [u8])>>,
}

impl<'a> Blocks<'a> {
    /// Takes in the next block of a thread, whose bytes are at this place of the file.
    pub fn push(&mut self, thread: u32, at: usize, bytes: &'a [u8]) {
        self.threads.entry(thread).or_default().push((at, bytes));
    }

    /// Shows a visitor all that happened up to the number `last`, or to the end if that is 0. What the visitor refuses is
    /// a problem of the whole file.
    pub(super) fn visit(&self, sites: &Sites, last: u64, visitor: &mut impl Visitor) -> Result<(), Refused> {
        let mut streams: BTreeMap<u32, Stream<'_>> = BTreeMap::new();
        // The smallest number first.
        let mut next = BinaryHeap::new();
        for (thread, blocks) in &self.threads {
            let mut stream = Stream { sites, last, blocks: blocks.iter(), items: Vec::new(), at: 0, over: false };
            next.extend(stream.peek()?.map(|item| Reverse((number(&item).unwrap_or(0), *thread))));
            streams.insert(*thread, stream);
        }
        while let Some(Reverse((_, thread))) = next.pop() {
            let Some(stream) = streams.get_mut(&thread) else { continue };
            let mut first = true;
            while let Some(item) = stream.peek()? {
                match (&item, number(&item)) {
                    (_, Some(number)) if !first => {
                        next.push(Reverse((number, thread)));
                        break;
                    }
                    (Unpacked::Plain(word), _) => visitor.plain(thread, *word).map_err(Refused::whole)?,
                    (Unpacked::Record(record), _) => visitor.record(thread, record).map_err(Refused::whole)?,
                }
                first = false;
                stream.at += 1;
            }
        }
        Ok(())
    }
}

/// The sequence number of an item that has one.
fn number(item: &Unpacked) -> Option<u64> {
    match item {
        Unpacked::Record(record) if record[2] != 0 => Some(record[2]),
        _ => None,
    }
}

/// What is left of one thread.
struct Stream<'a> {
    sites: &'a Sites,
    last: u64,
    blocks: std::slice::Iter<'a, (usize, &'a [u8])>,
    /// The words of the last block, and which of them is next.
    items: Vec<Unpacked>,
    at: usize,
    /// The rest of the thread is not complete.
    over: bool,
}

impl Stream<'_> {
    /// Words that fit into a thread's buffer; no block has more.
    const MOST: usize = BUFFER / 8;

    fn peek(&mut self) -> Result<Option<Unpacked>, Refused> {
        while self.at == self.items.len() {
            let Some((place, bytes)) = self.blocks.next().filter(|_| !self.over) else { return Ok(None) };
            self.items.clear();
            self.at = 0;
            let Self { sites, last, items, over, .. } = self;
            let mut problem = None;
            let read = unpack(bytes, |item| {
                match item {
                    _ if items.len() == Self::MOST => problem = Some("more words than a buffer holds".to_owned()),
                    Unpacked::Plain(word) if sites.of(word).is_empty() => {
                        let site = SiteId((word >> ADDRESS_BITS) as u32);
                        problem = Some(format!("an access at {site}, which makes none"));
                    }
                    Unpacked::Plain(_) => {}
                    Unpacked::Record(record) => *over = *last != 0 && record[2] > *last,
                }
                let go_on = problem.is_none() && !*over;
                items.extend(go_on.then_some(item));
                go_on
            });
            if let Some(problem) = problem {
                return Err(Refused { at: Some(*place), what: problem });
            }
            read.map_err(|at| Refused { at: Some(place + at), what: "the packed words make no sense".to_owned() })?;
        }
        Ok(self.items.get(self.at).copied())
    }
}
