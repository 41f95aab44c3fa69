//! Which sites may meet: touch the same memory from different threads.
//!
//! Sites that touch exactly the same form a class. Classes are compared, object by object, until they meet; their sites
//! are multiplied out at the end. Templates and pointers to very many objects make large classes: comparing sites instead
//! would take the square of their number for each object.

use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;
use model::{AccessKind, Budget, Pair, SiteId, Spent};
use program::Program;

use crate::Rounds;
use crate::invocations::Invocations;
use crate::objects;
use crate::touches::{Touch, touches};
use crate::values::{Root, Values};

/// Two sites that may touch the same memory, with an example of how they meet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meeting {
    /// The sites.
    pub pair: Pair,
    /// What each does in the example, in the order of the pair's sites.
    pub accesses: [MeetingAccess; 2],
    /// The site that names the memory.
    namer: SiteId,
    /// The object, and the bytes that the namer touches; `None` for the whole object.
    memory: (Root, Option<(i64, u64)>),
}

/// One side of a meeting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeetingAccess {
    /// What it does.
    pub kind: AccessKind,
    /// Whether atomically.
    pub atomic: bool,
}

impl Meeting {
    /// The object.
    pub fn root(&self) -> Root {
        self.memory.0
    }

    /// What a person calls the memory.
    pub fn variable(&self, program: &Program) -> String {
        let expression = || program.sites.get(self.namer).and_then(|site| site.expression.clone());
        let (root, bytes) = self.memory;
        let (offset, len) = bytes.unwrap_or((0, 0));
        let named = || objects::name(program, (root, offset), len);
        match root {
            Root::Global(_) if bytes.is_some() => named(),
            Root::Global(global) => expression().unwrap_or_else(|| program.globals[global].name.clone()),
            Root::Library(_) => named(),
            _ => expression().unwrap_or_else(named),
        }
    }
}

/// More meetings are listed for nobody: they would take all memory, and no time would be left to look at them.
const MOST_MEETINGS: u64 = 2_000_000;

/// Every pair of sites that may touch the same memory from different threads, at least one writing and one plain, in
/// order; [`Spent::Pairs`] if there are very many. Only code that can run is looked at, or `everything` where something is not modelled. Never misses a pair that
/// can race, if pointer arithmetic stays inside objects.
pub(crate) fn meetings(
    program: &Program,
    values: Values<'_>,
    invocations: &Invocations,
    everything: bool,
    budget: &Budget,
) -> Result<Vec<Meeting>, Spent> {
    let mut rounds = Rounds::new(budget, 64);
    let classes = classes(program, &values, invocations, everything, &mut rounds)?;
    let mut meetings = Vec::new();
    for (one, other, root) in meeting_classes(&classes, &values, &mut rounds)? {
        let escaped = values.is_escaped(root);
        let (one, other) = (&classes[one], &classes[other]);
        let examples = [Example::new(one, other, root, escaped), Example::new(other, one, root, escaped)];
        for a in &one.sites {
            rounds.begin()?;
            for b in &other.sites {
                // Of a class with itself, each pair of sites comes twice.
                let example = if a <= b { &examples[0] } else { &examples[1] };
                let is_double = std::ptr::eq(one, other) && a > b;
                meetings.extend(example.iter().filter(|_| !is_double).map(|example| example.of(*a, *b)));
            }
        }
    }
    meetings.sort_unstable_by_key(|meeting: &Meeting| meeting.pair);
    Ok(meetings)
}

/// Sites that touch exactly the same.
struct Class {
    sites: Vec<SiteId>,
    /// What they touch, in order: object by object.
    touches: Vec<Touch>,
}

impl Class {
    /// What is touched of one object.
    fn of(&self, root: Root) -> &[Touch] {
        let from = self.touches.partition_point(|touch| touch.root < root);
        let len = self.touches[from..].partition_point(|touch| touch.root == root);
        &self.touches[from..from + len]
    }

    /// What may be in an object: what is touched of it, and what may be anywhere if the object may be reached from
    /// anywhere.
    fn perhaps(&self, root: Root, escaped: bool) -> impl Iterator<Item = &Touch> {
        self.of(root).iter().chain(self.of(Root::Unknown).iter().filter(move |_| escaped))
    }
}

/// The classes, by what they touch.
fn classes(
    program: &Program,
    values: &Values<'_>,
    invocations: &Invocations,
    everything: bool,
    rounds: &mut Rounds<'_>,
) -> Result<Vec<Class>, Spent> {
    let mut by_site: BTreeMap<SiteId, BTreeSet<Touch>> = BTreeMap::new();
    for function in program.functions.ids().filter(|f| everything || invocations.is_reachable(*f)) {
        for block in &program.functions[function].blocks {
            for statement in &block.statements {
                let Some(site) = statement.site else { continue };
                by_site.entry(site).or_default().extend(touches(program, values, function, &statement.stmt));
            }
        }
        rounds.begin()?;
    }
    let mut by_touches: BTreeMap<Vec<Touch>, Vec<SiteId>> = BTreeMap::new();
    for (site, touches) in by_site.into_iter().filter(|(_, touches)| !touches.is_empty()) {
        by_touches.entry(touches.into_iter().collect()).or_default().push(site);
    }
    Ok(by_touches.into_iter().map(|(touches, sites)| Class { sites, touches }).collect())
}

/// The classes that touch an object.
#[derive(Clone)]
struct Row {
    all: FixedBitSet,
    /// Those that may write it.
    writers: FixedBitSet,
}

impl Row {
    fn new(classes: usize) -> Self {
        Self { all: FixedBitSet::with_capacity(classes), writers: FixedBitSet::with_capacity(classes) }
    }
}

/// Every two classes that meet, once, with the first object where they do.
fn meeting_classes(
    classes: &[Class],
    values: &Values<'_>,
    rounds: &mut Rounds<'_>,
) -> Result<Vec<(usize, usize, Root)>, Spent> {
    let mut rows: BTreeMap<Root, Row> = BTreeMap::new();
    for (number, class) in classes.iter().enumerate() {
        rounds.begin()?;
        for touch in class.touches.iter().filter(|touch| values.is_shared(touch.root)) {
            let row = rows.entry(touch.root).or_insert_with(|| Row::new(classes.len()));
            row.all.insert(number);
            row.writers.set(number, row.writers.contains(number) || touch.kind.writes());
        }
    }
    let anywhere = rows.get(&Root::Unknown).cloned().unwrap_or_else(|| Row::new(classes.len()));
    let mut met = vec![FixedBitSet::new(); classes.len()];
    let (mut found, mut pairs) = (Vec::new(), 0);
    for (root, row) in rows {
        let escaped = values.is_escaped(root);
        let mut others = row.clone();
        if escaped {
            others.all.union_with(&anywhere.all);
            others.writers.union_with(&anywhere.writers);
        }
        for one in row.all.ones() {
            rounds.begin()?;
            // What only reads meets only what writes.
            let mut candidates = if row.writers.contains(one) { others.all.clone() } else { others.writers.clone() };
            candidates.difference_with(&met[one]);
            for other in candidates.ones() {
                let there = |a| classes[other].perhaps(root, escaped).any(|b| meet(a, b));
                if classes[one].of(root).iter().any(there) {
                    met[one].grow_and_insert(other);
                    met[other].grow_and_insert(one);
                    found.push((one, other, root));
                    pairs += (classes[one].sites.len() * classes[other].sites.len()) as u64;
                    if pairs > MOST_MEETINGS {
                        return Err(Spent::Pairs);
                    }
                }
            }
        }
    }
    Ok(found)
}

/// How sites of two classes meet.
struct Example<'a> {
    /// What the sites do, the lower one first.
    touches: [&'a Touch; 2],
    /// Whether the lower site names the memory.
    is_lower_namer: bool,
}

impl<'a> Example<'a> {
    /// How a site of `lower` meets a later one of `upper` in an object. Whoever touches the object itself names it, the
    /// lower site if both do. `None` if they do not meet there.
    fn new(lower: &'a Class, upper: &'a Class, root: Root, escaped: bool) -> Option<Self> {
        let first = |one: &'a Class, other: &'a Class| {
            let mut pairs = one.of(root).iter().flat_map(|a| other.perhaps(root, escaped).map(move |b| (a, b)));
            pairs.find(|(a, b)| meet(a, b))
        };
        let by_lower = first(lower, upper).map(|(a, b)| Self { touches: [a, b], is_lower_namer: true });
        by_lower.or_else(|| first(upper, lower).map(|(a, b)| Self { touches: [b, a], is_lower_namer: false }))
    }

    fn of(&self, a: SiteId, b: SiteId) -> Meeting {
        let pair = Pair::new(a, b);
        let index = usize::from(!self.is_lower_namer);
        let named = self.touches[index];
        Meeting {
            pair,
            accesses: self.touches.map(|touch| MeetingAccess { kind: touch.kind, atomic: touch.atomic }),
            namer: pair.sites()[index],
            memory: (named.root, named.bytes),
        }
    }
}

fn meet(one: &Touch, other: &Touch) -> bool {
    let overlap = match (one.bytes, other.bytes) {
        (Some((a, len_a)), Some((b, len_b))) if one.root == other.root => {
            let end = |start: i64, len: u64| i128::from(start) + i128::from(len);
            i128::from(a) < end(b, len_b) && i128::from(b) < end(a, len_a)
        }
        _ => true,
    };
    (one.kind.writes() || other.kind.writes()) && !(one.atomic && other.atomic) && overlap
}
