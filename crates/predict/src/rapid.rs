//! Traces as text, in the STD form of the RAPID tools: one event per line, `thread
//! operation(target)
//! location`.
//!
//! ```text
//! T0|fork(T1)|1
//! T0|acq(L1)|2
//! T0|w(V1)|3
//! T0|rel(L1)|4
//! T1|r(V1)|5
//! ```
//!
//! Operations are `r`, `w`, `acq`, `rel`, `fork`, `join`, and `begin` and `end` with any target or none. Threads,
//! variables, locks and locations have names of any characters but `|`, `(`, `)` and line breaks. Empty lines are
//! skipped. A [`Document`] keeps the names, so that a trace is written back as it was read, except for empty lines.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use model::{
    Access, AccessKind, Addr, Cell, End, Event, EventId, IndexVec, LockMode, Op, SiteId, Step, ThreadId, ThreadInfo,
    ThreadPath, Trace,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::unsupported::Unsupported;

/// A trace with the names it uses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Document {
    /// The trace. Each variable is a cell of its own, locks are held exclusively, locations are sites.
    pub trace: Trace,
    /// Names of threads.
    pub threads: IndexVec<ThreadId, String>,
    /// Names of locations.
    pub locations: IndexVec<SiteId, String>,
    /// Names of variables, by address.
    pub variables: BTreeMap<Addr, String>,
    /// Names of locks.
    pub locks: BTreeMap<Addr, String>,
    /// Targets of `begin` and `end` lines, by step.
    targets: BTreeMap<Step, String>,
}

/// Base address of variables; each has [`STRIDE`] bytes.
const VARIABLES: u64 = 1 << 20;
/// Base address of locks.
const LOCKS: u64 = 1 << 50;
const STRIDE: u64 = 16;

/// What is wrong with a line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Problem {
    /// Not three fields.
    #[error("expected `thread|operation(target)|location`")]
    Fields,
    /// A name is empty.
    #[error("expected a name")]
    Name,
    /// The operation is not known.
    #[error("unknown operation `{0}`: expected r, w, acq, rel, fork, join, begin or end")]
    Operation(String),
    /// The operation's target is missing or not in parentheses.
    #[error("expected a target in parentheses after `{0}`")]
    Target(String),
    /// A thread that already exists is created.
    #[error("thread `{0}` is forked after its first event or a second time")]
    Fork(String),
    /// A thread joins itself.
    #[error("thread `{0}` joins itself")]
    Join(String),
}

/// Why a text is not a trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct ReadError {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// From 0, in bytes.
    pub offset: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// Why a trace cannot be written in this form.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the event at step {step} cannot be written in RAPID's form, which has no {what}")]
pub struct Unwritable {
    /// The event.
    pub step: Step,
    /// What the form lacks.
    pub what: Unsupported,
}

/// Reads a trace.
pub fn read(text: &str) -> Result<Document, ReadError> {
    let mut reader = Reader::default();
    let mut offset = 0;
    for (line, content) in (1..).zip(text.split_inclusive('\n')) {
        let trimmed = content.trim_end_matches(['\n', '\r']);
        if !trimmed.trim().is_empty() {
            reader.line(trimmed).map_err(|(at, problem)| ReadError {
                line,
                column: trimmed[..at].chars().count() + 1,
                offset: offset + at,
                problem,
            })?;
        }
        offset += content.len();
    }
    Ok(reader.finish())
}

/// A problem and its byte offset in the line.
type At = (usize, Problem);

/// Numbers for names, in the order of first use.
#[derive(Default)]
struct NameNumbers {
    numbers: FxHashMap<String, u32>,
    names: Vec<String>,
}

impl NameNumbers {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let next = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), next);
        next
    }
}

#[derive(Default)]
struct Reader {
    threads: NameNumbers,
    locations: NameNumbers,
    variables: NameNumbers,
    locks: NameNumbers,
    infos: IndexVec<ThreadId, Option<ThreadInfo>>,
    children: IndexVec<ThreadId, u32>,
    positions: IndexVec<ThreadId, u32>,
    events: IndexVec<Step, Event>,
    targets: BTreeMap<Step, String>,
}

impl Reader {
    fn thread(&mut self, name: &str) -> ThreadId {
        let thread = ThreadId(self.threads.number(name));
        while self.infos.len() <= thread.0 as usize {
            self.infos.push(None);
            self.children.push(0);
            self.positions.push(0);
        }
        thread
    }

    /// Gives a path to a thread that no thread forks when its first event is read. The first such thread is the initial
    /// one.
    fn appear(&mut self, thread: ThreadId) {
        if self.infos[thread].is_none() {
            let path = if thread == ThreadId::MAIN {
                ThreadPath::main()
            } else {
                self.children[ThreadId::MAIN] += 1;
                ThreadPath::main().child(self.children[ThreadId::MAIN])
            };
            self.infos[thread] = Some(ThreadInfo { path, created: None });
        }
    }

    fn line(&mut self, line: &str) -> Result<(), At> {
        let mut fields = SmallVec::<[(usize, &str); 4]>::new();
        let mut start = 0;
        for field in line.split('|') {
            fields.push((start, field));
            start += field.len() + 1;
        }
        let [(thread_at, thread), (op_at, operation), (location_at, location)] = fields[..] else {
            let at = fields.get(3).map_or(line.len(), |(at, _)| at - 1);
            return Err((at, Problem::Fields));
        };
        let thread = name(thread_at, thread)?;
        let location = name(location_at, location)?;
        let thread = self.thread(thread);
        self.appear(thread);
        let step = self.events.next_id();
        let op = self.operation(thread, step, op_at, operation)?;
        let id = EventId { thread, position: self.positions[thread] };
        self.positions[thread] += 1;
        let site = Some(SiteId(self.locations.number(location)));
        self.events.push(Event { id, site, op });
        Ok(())
    }

    fn operation(&mut self, thread: ThreadId, step: Step, at: usize, text: &str) -> Result<Op, At> {
        let (word, rest) = text.split_once('(').map_or((text, None), |(word, rest)| (word, Some(rest)));
        let missing = (at + word.len(), Problem::Target(word.to_owned()));
        let target = match rest {
            None => None,
            Some(rest) => Some(rest.strip_suffix(')').ok_or_else(|| missing.clone())?),
        };
        let target_at = at + word.len() + 1;
        let target = |missing: At| match target {
            Some(target) => name(target_at, target),
            None => Err(missing),
        };
        Ok(match word {
            "r" => self.access(AccessKind::Read, target(missing)?),
            "w" => self.access(AccessKind::Write, target(missing)?),
            "acq" => Op::Acquire { lock: self.lock(target(missing)?), mode: LockMode::Exclusive },
            "rel" => Op::Release { lock: self.lock(target(missing)?), mode: LockMode::Exclusive },
            "fork" => {
                let name = target(missing)?;
                let child = self.thread(name);
                if self.infos[child].is_some() {
                    return Err((target_at, Problem::Fork(name.to_owned())));
                }
                self.children[thread] += 1;
                let parent = self.infos[thread].as_ref().map_or_else(ThreadPath::main, |info| info.path.clone());
                let path = parent.child(self.children[thread]);
                self.infos[child] = Some(ThreadInfo { path, created: Some(step) });
                Op::Create { child }
            }
            "join" => {
                let name = target(missing)?;
                let child = self.thread(name);
                if child == thread {
                    return Err((target_at, Problem::Join(name.to_owned())));
                }
                Op::Join { child }
            }
            "begin" | "end" => {
                if rest.is_some() {
                    self.targets.insert(step, target(missing)?.to_owned());
                }
                if word == "begin" { Op::Start } else { Op::Exit }
            }
            _ => return Err((at, Problem::Operation(word.to_owned()))),
        })
    }

    fn access(&mut self, kind: AccessKind, variable: &str) -> Op {
        let start = Addr(VARIABLES + STRIDE * u64::from(self.variables.number(variable)));
        Op::Access(Access { kind, atomic: None, cell: Cell { start, len: 8 } })
    }

    fn lock(&mut self, name: &str) -> Addr {
        Addr(LOCKS + STRIDE * u64::from(self.locks.number(name)))
    }

    fn finish(mut self) -> Document {
        self.infos.ids().for_each(|thread| self.appear(thread));
        let named = |base: u64, names: NameNumbers| {
            let addresses = (0..).map(|number| Addr(base + STRIDE * number));
            addresses.zip(names.names).collect::<BTreeMap<Addr, String>>()
        };
        let trace = Trace {
            threads: self.infos.iter().flatten().cloned().collect(),
            events: self.events,
            runnable: Vec::new(),
            pending: Vec::new(),
            allocations: Vec::new(),
            misuses: Vec::new(),
            unmodelled: Vec::new(),
            opened: Vec::new(),
            peers: Vec::new(),
            end: End::Exit { code: 0 },
        };
        Document {
            trace,
            threads: IndexVec::from_raw(self.threads.names),
            locations: IndexVec::from_raw(self.locations.names),
            variables: named(VARIABLES, self.variables),
            locks: named(LOCKS, self.locks),
            targets: self.targets,
        }
    }
}

/// Checks that a name is not empty.
fn name(at: usize, text: &str) -> Result<&str, At> {
    let bad = text.find(['(', ')']);
    match bad.or(text.is_empty().then_some(0)) {
        Some(offset) => Err((at + offset, Problem::Name)),
        None => Ok(text),
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |names: &BTreeMap<Addr, String>, addr: &Addr| names.get(addr).cloned().unwrap_or_default();
        for (step, event) in self.trace.events.iter_enumerated() {
            let target = || self.targets.get(&step).map_or_else(String::new, |target| format!("({target})"));
            let operation = match &event.op {
                Op::Access(access) if access.kind == AccessKind::Read => {
                    format!("r({})", of(&self.variables, &access.cell.start))
                }
                Op::Access(access) => format!("w({})", of(&self.variables, &access.cell.start)),
                Op::Acquire { lock, .. } => format!("acq({})", of(&self.locks, lock)),
                Op::Release { lock, .. } => format!("rel({})", of(&self.locks, lock)),
                Op::Create { child } => format!("fork({})", self.threads[*child]),
                Op::Join { child } => format!("join({})", self.threads[*child]),
                Op::Exit => format!("end{}", target()),
                _ => format!("begin{}", target()),
            };
            let location = event.site.map_or("", |site| self.locations[site].as_str());
            writeln!(f, "{}|{operation}|{location}", self.threads[event.id.thread])?;
        }
        Ok(())
    }
}

/// Writes a trace. Threads are `T0`, `T1` and so on; variables `V0`..., one for each range of bytes that every access
/// covers entirely or not at all; locks `L0`...; a location is the site's number plus one, or 0 for none. An event with
/// several accesses becomes several lines; acquiring a lock that is already held becomes none.
///
/// Omitted because nothing depends on them: yields, detaching, initialising, and fences (without atomics they have no
/// effect). Refused because the form cannot express them: atomics, shared locks, failed try-operations, condition
/// variables, barriers, semaphores, once-controls, cancellation.
pub fn write(trace: &Trace) -> Result<String, Unwritable> {
    let mut bounds: Vec<u64> = trace
        .accesses()
        .filter(|(_, _, access)| access.cell.len > 0)
        .flat_map(|(_, _, access)| [access.cell.start.0, access.cell.end()])
        .collect();
    bounds.sort_unstable();
    bounds.dedup();
    let mut locks = BTreeMap::<Addr, usize>::new();
    let mut levels = BTreeMap::<(ThreadId, Addr), u32>::new();
    let mut text = String::new();
    for (step, event) in trace.events.iter_enumerated() {
        let refuse = |what| Err(Unwritable { step, what });
        let thread = event.id.thread;
        let location = event.site.map_or(0, |site| u64::from(site.0) + 1);
        let mut line = |operation: fmt::Arguments<'_>| {
            let _ = writeln!(text, "T{}|{operation}|{location}", thread.0);
        };
        let mut lock_number = |lock: &Addr| {
            let next = locks.len();
            *locks.entry(*lock).or_insert(next)
        };
        match &event.op {
            Op::Access(_) | Op::Accesses(_) | Op::Section { .. } | Op::Critical(_) => {
                for access in event.op.accesses() {
                    if access.atomic.is_some() {
                        return refuse(Unsupported::AtomicAccesses);
                    }
                    let index = |byte: u64| bounds.partition_point(|bound| *bound < byte);
                    let variables = index(access.cell.start.0)..index(access.cell.end());
                    if access.kind.reads() {
                        variables.clone().for_each(|variable| line(format_args!("r(V{variable})")));
                    }
                    if access.kind.writes() {
                        variables.for_each(|variable| line(format_args!("w(V{variable})")));
                    }
                }
            }
            Op::Acquire { mode: LockMode::Shared, .. }
            | Op::TryAcquire { mode: LockMode::Shared, .. }
            | Op::Release { mode: LockMode::Shared, .. } => return refuse(Unsupported::SharedLocks),
            Op::TryAcquire { success: false, .. } => return refuse(Unsupported::FailedTries),
            Op::Acquire { lock, .. } | Op::TryAcquire { lock, .. } => {
                let level = levels.entry((thread, *lock)).or_default();
                *level += 1;
                if *level == 1 {
                    line(format_args!("acq(L{})", lock_number(lock)));
                }
            }
            Op::Release { lock, .. } => {
                let level = levels.entry((thread, *lock)).or_default();
                *level = level.saturating_sub(1);
                if *level == 0 {
                    line(format_args!("rel(L{})", lock_number(lock)));
                }
            }
            Op::Create { child } => line(format_args!("fork(T{})", child.0)),
            Op::Join { child } | Op::TryJoin { child, success: true } => line(format_args!("join(T{})", child.0)),
            Op::Start => line(format_args!("begin(T{})", thread.0)),
            Op::Exit => line(format_args!("end(T{})", thread.0)),
            Op::Fence(_) | Op::Init(_) | Op::Destroy(_) | Op::Detach { .. } | Op::Yield => {}
            Op::Choose(_) | Op::Await { .. } => {}
            Op::TryJoin { success: false, .. } => return refuse(Unsupported::FailedTries),
            Op::WaitBegin { .. } | Op::WaitEnd { .. } | Op::Signal { .. } | Op::Broadcast { .. } => {
                return refuse(Unsupported::ConditionVariables);
            }
            Op::BarrierArrive { .. } | Op::BarrierLeave { .. } | Op::Meet { .. } => {
                return refuse(Unsupported::Barriers);
            }
            Op::SemPost { .. } | Op::SemWait { .. } | Op::SemTryWait { .. } | Op::SemGet { .. } => {
                return refuse(Unsupported::Semaphores);
            }
            Op::OnceBegin { .. } | Op::OnceEnd { .. } => return refuse(Unsupported::OnceControls),
            Op::Cancel { .. } | Op::Cancelled => return refuse(Unsupported::Cancellation),
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "main|fork(T1)|1\nmain|begin|9\nmain|acq(l)|2\nmain|w(x y)|3\nmain|rel(l)|a.c:4\nT1|begin(T1)|5\n\
                        T1|r(x y)|6\nT1|end(T1)|7\nmain|join(T1)|8\n";

    #[test]
    fn reading_and_writing_round_trips() {
        let document = read(TEXT).unwrap();
        assert_eq!(document.to_string(), TEXT);
        assert_eq!(read(&TEXT.replace('\n', "\r\n\n")).unwrap(), document);
        assert_eq!(document.trace.threads[ThreadId(1)].path.to_string(), "0.1");
        assert_eq!(document.trace.threads[ThreadId(1)].created, Some(Step(0)));
        assert_eq!(document.trace.events[Step(6)].id, EventId { thread: ThreadId(1), position: 1 });
        assert_eq!(document.locations[document.trace.events[Step(4)].site.unwrap()], "a.c:4");
    }

    #[test]
    fn traces_without_names_are_written_and_read() {
        let text = write(&read(TEXT).unwrap().trace).unwrap();
        let again = read(&text).unwrap();
        assert_eq!(again.to_string(), text);
        assert_eq!(write(&again.trace).unwrap().lines().count(), TEXT.lines().count());
        assert!(text.starts_with("T0|fork(T1)|1\nT0|begin(T0)|2\nT0|acq(L0)|3\nT0|w(V0)|4\n"), "{text}");
    }

    #[test]
    fn unsupported_operations_are_refused() {
        let mut document = read("a|acq(l)|1\na|rel(l)|2\n").unwrap();
        let lock = Addr(LOCKS);
        document.trace.events[Step(0)].op = Op::Acquire { lock, mode: LockMode::Shared };
        let error = write(&document.trace).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the event at step #0 cannot be written in RAPID's form, which has no shared locks"
        );
    }

    #[test]
    fn errors_say_where() {
        let cases = [
            ("T0|r(x)", 1, 8, 7, Problem::Fields),
            ("T0|r(x)|1\nT0|w(y)|2|3\n", 2, 10, 19, Problem::Fields),
            ("T0|r(x)|1\n\nT0|rd(y)|2", 3, 4, 14, Problem::Operation("rd".into())),
            ("é|r|1", 1, 4, 4, Problem::Target("r".into())),
            ("T0|r(x|1", 1, 5, 4, Problem::Target("r".into())),
            ("|r(x)|1", 1, 1, 0, Problem::Name),
            ("T0|r()|1", 1, 6, 5, Problem::Name),
            ("T0|r(x)|", 1, 9, 8, Problem::Name),
            ("T0|r(x)|1\nT1|fork(T0)|2", 2, 9, 18, Problem::Fork("T0".into())),
            ("T0|join(T0)|1", 1, 9, 8, Problem::Join("T0".into())),
        ];
        for (text, line, column, offset, problem) in cases {
            assert_eq!(read(text), Err(ReadError { line, column, offset, problem }), "{text:?}");
        }
    }
}
