//! The CSP model of a trace, for a refinement checker.
//!
//! After Carril: one process for each thread, lock, creation, join, signal and barrier; `PROGRAM` is all reorderings of
//! the trace that synchronisation allows. For each variable a watchdog `RACE(v)` accepts accesses of two threads one
//! right after the other, and an assertion says that it never gets that far: `STOP` is trace-refined by the program
//! with its watchdog and everything but `race` hidden. A failing assertion is a race, and the checker's counterexample
//! is the order that shows it.
//!
//! *Deviations*. Any number of threads and variables. After one access, the paper's watchdog refuses other accesses to
//! the variable that make no race, and so blocks threads; this one accepts them. A broadcast can end several waits.
//!
//! *Can wrongly claim*, as in the paper: the model ignores values, failed try-operations, and that a wait begins before
//! the signal that ends it; so a reported race may be infeasible. *Can miss* nothing that the trace's events allow,
//! since the only fixed choice is which signal wakes which waiter, as observed in the trace. Operations without a
//! process are refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use model::race::could_race;
use model::{Access, Addr, IndexVec, LockMode, Op, Step, ThreadId, Trace, WakeCause};

use crate::unsupported::Unsupported;

/// Why a trace has no model.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the event at step {step} has no CSP model: {what}")]
pub struct Unmodelled {
    /// The event.
    pub step: Step,
    /// What the model lacks.
    pub what: Unsupported,
}

/// The model of a trace, in the language of FDR. `name` names variables, locks and other objects; objects without a
/// name get one from their kind and number.
pub fn write(trace: &Trace, name: impl Fn(Addr) -> Option<String>) -> Result<String, Unmodelled> {
    let taken = trace.threads.ids().map(|thread| format!("t{}", thread.0));
    let taken = taken.chain(CHANNELS.map(str::to_owned)).collect();
    let model = Model::new(trace, &mut Naming { name: &name, taken })?;
    Ok(model.print())
}

/// ObjectNames of one kind of object.
#[derive(Default)]
struct ObjectNames {
    names: BTreeMap<Addr, String>,
}

/// All channels a model may use.
const CHANNELS: [&str; 12] = [
    "read",
    "write",
    "lock",
    "unlock",
    "signal",
    "wait",
    "barrier_enter",
    "barrier_exit",
    "fork",
    "start",
    "join",
    "end",
];

/// Reserved words that are no names, in addition to those of threads.
const RESERVED: [&str; 14] = [
    "assert", "channel", "datatype", "diff", "else", "false", "if", "let", "race", "then", "true", "union", "v",
    "within",
];

impl ObjectNames {
    /// The object's name, distinct from all others.
    fn get(&mut self, addr: Addr, kind: &str, naming: &mut Naming<'_>) -> String {
        let number = self.names.len();
        let fresh = || {
            let wanted = (naming.name)(addr).map_or_else(|| format!("{kind}{number}"), |name| identifier(&name));
            let mut name = wanted.clone();
            let mut n = 1;
            while RESERVED.contains(&name.as_str()) || !naming.taken.insert(name.clone()) {
                n += 1;
                name = format!("{wanted}_{n}");
            }
            name
        };
        self.names.entry(addr).or_insert_with(fresh).clone()
    }
    /// All names, in order.
    fn list(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.names.values().map(String::as_str).collect();
        names.into_iter().collect()
    }
}

/// How names are chosen.
struct Naming<'a> {
    name: &'a dyn Fn(Addr) -> Option<String>,
    taken: BTreeSet<String>,
}

/// A name as CSPm allows it: letters, digits and underscores, a letter first.
fn identifier(name: &str) -> String {
    let mut text: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        text.insert_str(0, "o_");
    }
    text
}

/// A signal or broadcast and the threads it woke.
struct Wake {
    cond: String,
    by: ThreadId,
    woken: Vec<ThreadId>,
}

/// The parts of a model.
#[derive(Default)]
struct Model {
    /// Each thread's events in CSP notation.
    threads: IndexVec<ThreadId, Vec<String>>,
    variables: ObjectNames,
    locks: ObjectNames,
    conds: ObjectNames,
    barriers: ObjectNames,
    /// Accesses to each variable, distinct by thread or kind.
    uses: BTreeMap<String, Vec<(ThreadId, Access)>>,
    /// Variables on which two accesses of different threads could race.
    watched: BTreeSet<String>,
    /// Creations and joins: the acting thread and its child.
    forks: Vec<(ThreadId, ThreadId)>,
    joins: Vec<(ThreadId, ThreadId)>,
    wakes: Vec<Wake>,
    /// Complete generations: the barrier and the threads that met there.
    meetings: Vec<(String, Vec<ThreadId>)>,
    /// Recursion depth of held locks.
    levels: BTreeMap<(ThreadId, Addr), u32>,
    /// Waiting threads, each with the signals sent since, by index.
    waiting: BTreeMap<(Addr, ThreadId), Vec<usize>>,
    /// Threads of incomplete generations.
    arrived: BTreeMap<Addr, Vec<ThreadId>>,
}

impl Model {
    fn new(trace: &Trace, name: &mut Naming<'_>) -> Result<Self, Unmodelled> {
        let mut model = Self { threads: IndexVec::filled(trace.threads.len(), Vec::new()), ..Self::default() };
        for (step, event) in trace.events.iter_enumerated() {
            model.add(event.id.thread, &event.op, name).map_err(|what| Unmodelled { step, what })?;
        }
        // Arrivals of an incomplete generation meet no other thread; without a process they could never happen.
        let arrived = std::mem::take(&mut model.arrived);
        for (barrier, threads) in arrived {
            let name = model.barriers.get(barrier, "b", name);
            model.meetings.push((name, threads));
        }
        Ok(model)
    }

    /// Adds a thread's next operation. The error names what the model lacks.
    fn add(&mut self, thread: ThreadId, op: &Op, name: &mut Naming<'_>) -> Result<(), Unsupported> {
        let t = thread.0;
        match op {
            Op::Access(_) | Op::Accesses(_) | Op::Section { .. } | Op::Critical(_) => {
                for access in op.accesses() {
                    self.access(thread, access, name);
                }
            }
            Op::Acquire { mode: LockMode::Shared, .. }
            | Op::TryAcquire { mode: LockMode::Shared, .. }
            | Op::Release { mode: LockMode::Shared, .. } => return Err(Unsupported::SharedLocks),
            Op::Acquire { lock, .. } | Op::TryAcquire { lock, success: true, .. } => {
                let level = self.levels.entry((thread, *lock)).or_default();
                *level += 1;
                if *level == 1 {
                    let lock = self.locks.get(*lock, "m", name);
                    self.threads[thread].push(format!("lock.t{t}.{lock}"));
                }
            }
            Op::Release { lock, .. } => {
                let level = self.levels.entry((thread, *lock)).or_default();
                *level = level.saturating_sub(1);
                if *level == 0 {
                    let lock = self.locks.get(*lock, "m", name);
                    self.threads[thread].push(format!("unlock.t{t}.{lock}"));
                }
            }
            Op::WaitBegin { cond, lock } => {
                self.levels.insert((thread, *lock), 0);
                let lock = self.locks.get(*lock, "m", name);
                self.threads[thread].push(format!("unlock.t{t}.{lock}"));
                self.waiting.insert((*cond, thread), Vec::new());
            }
            Op::WaitEnd { cond, cause } => {
                let signals = self.waiting.remove(&(*cond, thread)).unwrap_or_default();
                // A signal wakes one waiter, a broadcast all; a wake-up without a cause is unconstrained.
                if let (WakeCause::Signalled, Some(signal)) = (cause, signals.first()) {
                    self.wakes[*signal].woken.push(thread);
                    let cond = self.conds.get(*cond, "c", name);
                    self.threads[thread].push(format!("wait.t{t}.{cond}"));
                }
            }
            Op::Signal { cond } | Op::Broadcast { cond } => {
                let index = self.wakes.len();
                let waiting = self.waiting.iter_mut().filter(|((waited, _), _)| waited == cond);
                waiting.for_each(|(_, signals)| signals.push(index));
                let cond = self.conds.get(*cond, "c", name);
                self.threads[thread].push(format!("signal.t{t}.{cond}"));
                self.wakes.push(Wake { cond, by: thread, woken: Vec::new() });
            }
            Op::BarrierArrive { barrier } | Op::Meet { barrier } => {
                self.arrived.entry(*barrier).or_default().push(thread);
                let barrier = self.barriers.get(*barrier, "b", name);
                self.threads[thread].push(format!("barrier_enter.t{t}.{barrier}"));
            }
            Op::BarrierLeave { barrier } => {
                let met = self.arrived.get(barrier).is_some_and(|threads| threads.contains(&thread));
                let threads = met.then(|| self.arrived.remove(barrier)).flatten();
                let barrier = self.barriers.get(*barrier, "b", name);
                self.threads[thread].push(format!("barrier_exit.t{t}.{barrier}"));
                self.meetings.extend(threads.map(|threads| (barrier, threads)));
            }
            Op::Create { child } => {
                self.threads[thread].push(format!("fork.t{t}.t{}", child.0));
                self.forks.push((thread, *child));
            }
            Op::Join { child } | Op::TryJoin { child, success: true } => {
                self.threads[thread].push(format!("join.t{t}.t{}", child.0));
                self.joins.push((thread, *child));
            }
            Op::SemPost { .. } | Op::SemWait { .. } | Op::SemTryWait { .. } | Op::SemGet { .. } => {
                return Err(Unsupported::Semaphores);
            }
            Op::OnceBegin { .. } | Op::OnceEnd { .. } => return Err(Unsupported::OnceControls),
            Op::Cancel { .. } | Op::Cancelled => return Err(Unsupported::Cancellation),
            Op::TryAcquire { success: false, .. }
            | Op::TryJoin { success: false, .. }
            | Op::Fence(_)
            | Op::Init(_)
            | Op::Destroy(_)
            | Op::Start
            | Op::Exit
            | Op::Detach { .. }
            | Op::Choose(_)
            | Op::Await { .. }
            | Op::Yield => {}
        }
        Ok(())
    }

    fn access(&mut self, thread: ThreadId, access: &Access, name: &mut Naming<'_>) {
        let variable = self.variables.get(access.cell.start, "v", name);
        let kind = if access.kind.writes() { "write" } else { "read" };
        self.threads[thread].push(format!("{kind}.t{}.{variable}", thread.0));
        let uses = self.uses.entry(variable.clone()).or_default();
        if uses.iter().any(|(other, theirs)| *other != thread && could_race(access, theirs)) {
            self.watched.insert(variable);
        }
        if !uses.contains(&(thread, *access)) {
            uses.push((thread, *access));
        }
    }

    /// A thread's events with `start` and `end` where creations and joins need them.
    fn events_of(&self, thread: ThreadId) -> Vec<String> {
        let mut events = self.threads[thread].clone();
        if self.forks.iter().any(|(_, child)| *child == thread) {
            events.insert(0, format!("start.t{}", thread.0));
        }
        if self.joins.iter().any(|(_, child)| *child == thread) {
            events.push(format!("end.t{}", thread.0));
        }
        events
    }

    fn print(&self) -> String {
        let mut text = String::new();
        let threads: Vec<String> = self.threads.ids().map(|t| format!("t{}", t.0)).collect();
        line(&mut text, format_args!("datatype Thread = {}", threads.join(" | ")));
        let kinds = [
            ("Variable", self.variables.list(), &["read", "write"][..]),
            ("Mutex", self.locks.list(), &["lock", "unlock"]),
            ("Condition", self.conds.list(), &["signal", "wait"]),
            ("Barrier", self.barriers.list(), &["barrier_enter", "barrier_exit"]),
        ];
        let mut sync = Vec::new();
        for (kind, names, channels) in kinds.iter().filter(|(_, names, _)| !names.is_empty()) {
            line(&mut text, format_args!("datatype {kind} = {}", names.join(" | ")));
            line(&mut text, format_args!("channel {} : Thread.{kind}", channels.join(", ")));
            if *kind != "Variable" {
                sync.extend(channels.iter().copied());
            }
        }
        for (lives, [both, alone]) in [(&self.forks, ["fork", "start"]), (&self.joins, ["join", "end"])] {
            if !lives.is_empty() {
                line(&mut text, format_args!("channel {both} : Thread.Thread\nchannel {alone} : Thread"));
                sync.extend([both, alone]);
            }
        }
        line(&mut text, format_args!("channel race\n"));
        for thread in self.threads.ids() {
            let events: String = self.events_of(thread).iter().map(|event| format!("{event} -> ")).collect();
            line(&mut text, format_args!("THREAD{} = {events}SKIP", thread.0));
        }
        let names: Vec<String> = self.threads.ids().map(|t| format!("THREAD{}", t.0)).collect();
        line(&mut text, format_args!("THREAD_INTERLEAVING = {}\n", names.join(" ||| ")));
        let program = self.print_objects(&mut text);
        line(&mut text, format_args!("PROGRAM = {program}\n"));
        self.print_races(&mut text, &sync);
        text
    }

    /// Prints the processes of objects and returns the threads composed with all of them.
    fn print_objects(&self, text: &mut String) -> String {
        let mut program = "THREAD_INTERLEAVING".to_owned();
        let mut compose = |title: &str, channels: &str| {
            program = format!("({program} [| {{| {channels} |}} |] {title})");
        };
        if !self.locks.names.is_empty() {
            text.push_str("MUTEX(i) = [] t : Thread @ lock.t.i -> unlock.t.i -> MUTEX(i)\n");
            text.push_str("MUTEXES = ||| i : Mutex @ MUTEX(i)\n\n");
            compose("MUTEXES", "lock, unlock");
        }
        let steps = |events: &[String]| events.iter().map(|e| format!("{e} -> ")).collect::<String>() + "SKIP";
        let forks =
            self.forks.iter().map(|(t, c)| steps(&[format!("fork.t{}.t{}", t.0, c.0), format!("start.t{}", c.0)]));
        let joins =
            self.joins.iter().map(|(t, c)| steps(&[format!("end.t{}", c.0), format!("join.t{}.t{}", t.0, c.0)]));
        let all = |channel: &str, object: &str, threads: &[ThreadId]| {
            let each: Vec<String> = threads.iter().map(|t| format!("({channel}.t{}.{object} -> SKIP)", t.0)).collect();
            if each.is_empty() { "SKIP".to_owned() } else { format!("({})", each.join(" ||| ")) }
        };
        let signals = self
            .wakes
            .iter()
            .map(|wake| format!("signal.t{}.{} -> {}", wake.by.0, wake.cond, all("wait", &wake.cond, &wake.woken)));
        let barriers = self.meetings.iter().map(|(barrier, threads)| {
            format!("{} ; {}", all("barrier_enter", barrier, threads), all("barrier_exit", barrier, threads))
        });
        for (name, processes, channels) in [
            ("FORK", forks.collect::<Vec<_>>(), "fork, start"),
            ("JOIN", joins.collect(), "join, end"),
            ("SIGNAL", signals.collect(), "signal, wait"),
            ("BARRIER", barriers.collect(), "barrier_enter, barrier_exit"),
        ] {
            if processes.is_empty() {
                continue;
            }
            for (at, process) in processes.iter().enumerate() {
                line(text, format_args!("{name}{at} = {process}"));
            }
            let names: Vec<String> = (0..processes.len()).map(|at| format!("{name}{at}")).collect();
            line(text, format_args!("{name}S = {}\n", names.join(" ||| ")));
            compose(&format!("{name}S"), channels);
        }
        program
    }

    fn print_races(&self, text: &mut String, sync: &[&str]) {
        if self.watched.is_empty() {
            return;
        }
        let sync_ops = if sync.is_empty() { "{}".to_owned() } else { format!("{{| {} |}}", sync.join(", ")) };
        line(text, format_args!("sync_ops = {sync_ops}"));
        text.push_str(
            "RACE(v) = ([] t : Thread @ (read.t.v -> READ(t, v) [] write.t.v -> WRITTEN(t, v))) [] SYNC(v)\n\
             READ(t, v) = read.t.v -> READ(t, v) [] write.t.v -> WRITTEN(t, v)\n\
             \x20 [] ([] u : diff(Thread, {t}) @ (read.u.v -> READ(u, v) [] write.u.v -> race -> STOP)) [] SYNC(v)\n\
             WRITTEN(t, v) = read.t.v -> READ(t, v) [] write.t.v -> WRITTEN(t, v)\n\
             \x20 [] ([] u : diff(Thread, {t}) @ (read.u.v -> race -> STOP [] write.u.v -> race -> STOP)) [] SYNC(v)\n\
             SYNC(v) = [] x : sync_ops @ x -> RACE(v)\n\
             accesses(v) = {| read.t.v, write.t.v | t <- Thread |}\n\n",
        );
        for variable in &self.watched {
            line(
                text,
                format_args!(
                    "assert STOP [T= (PROGRAM [| union(accesses({variable}), sync_ops) |] RACE({variable})) \\ \
                     diff(Events, {{race}})"
                ),
            );
        }
    }
}

/// Adds a line. Writing to a string does not fail.
fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{content}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rapid;

    /// The example of the paper.
    #[test]
    fn the_papers_example() {
        let text = "t1|w(y)|1\nt1|acq(m)|2\nt1|w(x)|3\nt1|rel(m)|4\nt2|acq(m)|5\nt2|w(x)|6\nt2|rel(m)|7\nt2|r(y)|8\n";
        let document = rapid::read(text).unwrap();
        let name = |addr| document.variables.get(&addr).or_else(|| document.locks.get(&addr)).cloned();
        let model = write(&document.trace, name).unwrap();
        assert_eq!(model, include_str!("../tests/golden/paper.csp"));
    }

    #[test]
    fn unsupported_operations_are_refused() {
        let mut document = rapid::read("a|acq(l)|1\n").unwrap();
        document.trace.events[Step(0)].op = Op::SemPost { sem: Addr(8) };
        let error = write(&document.trace, |_| None).unwrap_err();
        assert_eq!(error.to_string(), "the event at step #0 has no CSP model: semaphores");
    }
}
