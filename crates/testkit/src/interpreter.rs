//! Runs text programs under schedules: the [`Executor`] of tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::dependence::dependent;
use model::{
    Allocation, End, EventId, Executor, IndexVec, Misuse, Op, Sample, Sampler, Schedule, Segment, Step, ThreadId,
    ThreadInfo, ThreadSet, Trace, Unmodelled,
};
use program::Program;
use wire::Policy;
use wire::policy::{Lowered, kind};

use crate::machine::{Machine, MachineError, Note};

/// Options of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Events a thread may execute after the prefix without a switch while others can run; 0 for no limit.
    pub quantum: u32,
    /// Limit on the events of a run.
    pub max_steps: u32,
    /// Whether spurious wake-ups are enabled, at most one per thread and condition variable until a signal wakes the
    /// thread there.
    pub spurious: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { quantum: 10_000, max_steps: 100_000, spurious: false }
    }
}

/// Runs a program under schedules.
#[derive(Clone, Debug)]
pub struct Interpreter {
    initial: Machine,
    options: Options,
}

impl Interpreter {
    /// An interpreter with default options.
    pub fn new(program: Program) -> Result<Self, MachineError> {
        Self::with_options(program, Options::default())
    }
    /// An interpreter with these options.
    pub fn with_options(program: Program, options: Options) -> Result<Self, MachineError> {
        Ok(Self { initial: Machine::new(Arc::new(program), options.spurious)?, options })
    }
    /// The program.
    pub fn program(&self) -> &Program {
        self.initial.program()
    }
    /// The initial state of every run.
    pub fn initial(&self) -> &Machine {
        &self.initial
    }
}

impl Executor for Interpreter {
    type Error = std::convert::Infallible;

    fn run(&mut self, schedule: &Schedule) -> Result<Trace, Self::Error> {
        Ok(Run::new(&self.initial, self.options, schedule).follow())
    }
}

impl Sampler for Interpreter {
    fn sample(&mut self, sample: Sample) -> Result<Trace, Self::Error> {
        let mut run = Run::new(&self.initial, self.options, const { &Schedule::new() });
        run.policy = match sample {
            Sample::Random { seed } => Policy::random(seed),
            Sample::Priorities { seed, depth, length } => Policy::priorities(seed, depth, length.into()),
            Sample::Events { seed } => Policy::events(seed),
        };
        Ok(run.follow())
    }
}

/// A run in progress.
struct Run<'a> {
    schedule: &'a Schedule,
    machine: Machine,
    options: Options,
    trace: Trace,
    runnable: ThreadSet,
    /// The thread that ran last, or that the last segment names.
    running: ThreadId,
    /// The threads whose last event was a yield.
    yielded: ThreadSet,
    policy: Policy,
    lowered: Lowered,
    /// How often what a thread was about to do drew another priority.
    redrawn: BTreeMap<ThreadId, u64>,
}

impl<'a> Run<'a> {
    fn new(initial: &Machine, options: Options, schedule: &'a Schedule) -> Self {
        let runnable = initial.runnable();
        let threads = initial.paths().map(|path| ThreadInfo { path: path.clone(), created: None }).collect();
        let trace = Trace {
            threads,
            events: IndexVec::new(),
            runnable: vec![(Step(0), runnable.clone())],
            pending: Vec::new(),
            allocations: Vec::new(),
            misuses: Vec::new(),
            unmodelled: Vec::new(),
            opened: Vec::new(),
            peers: Vec::new(),
            end: End::Exit { code: 0 },
        };
        let machine = initial.clone();
        Self {
            schedule,
            machine,
            options,
            trace,
            runnable,
            running: ThreadId::MAIN,
            yielded: ThreadSet::new(),
            policy: Policy::FIXED,
            lowered: Lowered::default(),
            redrawn: BTreeMap::new(),
        }
    }

    fn follow(mut self) -> Trace {
        let end = self.prefix().unwrap_or_else(|| self.go_on());
        self.trace.pending = self.machine.pending();
        self.trace.end = end;
        self.trace
    }

    /// Follows the segments; `Some` if the run ended in them.
    fn prefix(&mut self) -> Option<End> {
        for (segment, &Segment { thread, until }) in (0..).zip(&self.schedule.segments) {
            let diverged = |message: String| Some(End::Diverged { segment, message });
            let Some(start) = self.machine.position(thread) else {
                return diverged(format!("thread {} has not been created", thread.0));
            };
            if start > until {
                return diverged(format!("thread {} is at its event {start}, past {until}", thread.0));
            }
            self.running = thread;
            for position in start..until {
                if !self.runnable.contains(thread) {
                    let message =
                        format!("thread {} cannot execute its event {position}, on the way to {until}", thread.0);
                    return diverged(message);
                }
                if self.is_full() {
                    return Some(End::StepLimit);
                }
                self.step(thread);
            }
        }
        None
    }

    /// Continues with the policy.
    fn go_on(&mut self) -> End {
        let mut turn = 0;
        loop {
            if let Some(end) = self.machine.end() {
                return end;
            }
            if self.is_full() {
                return End::StepLimit;
            }
            let expired = self.options.quantum > 0 && turn >= self.options.quantum;
            let thread = self.choose(expired || self.yielded.contains(self.running));
            if expired || thread != self.running {
                turn = 0;
            }
            self.running = thread;
            self.draw_again(thread);
            self.step(thread);
            turn += 1;
        }
    }

    /// The thread the policy runs next; some thread is runnable.
    fn choose(&mut self, rotate: bool) -> ThreadId {
        // Spurious wake-ups come last.
        let reluctant = self.machine.reluctant();
        let eager: ThreadSet = self.runnable.iter().filter(|t| !reluctant.contains(*t)).collect();
        let (step, able) = (self.trace.events.len() as u64, eager.iter().map(|t| t.0).collect::<Vec<_>>());
        let drawn = |thread: u32| {
            let position = self.machine.position(ThreadId(thread)).unwrap_or(0);
            u64::from(position) + self.redrawn.get(&ThreadId(thread)).copied().unwrap_or(0)
        };
        let chosen = self.policy.choose(&mut self.lowered, step, self.running.0, rotate, able.into_iter(), drawn);
        if let Some(thread) = chosen {
            return ThreadId(thread);
        }
        let smallest = || eager.iter().chain(self.runnable.iter()).next().unwrap_or(self.running);
        if rotate {
            eager.iter().find(|t| *t > self.running).unwrap_or_else(smallest)
        } else if eager.contains(self.running) {
            self.running
        } else {
            smallest()
        }
    }

    /// What conflicts with the event that a thread is about to execute draws another priority.
    fn draw_again(&mut self, thread: ThreadId) {
        if self.policy.kind != kind::EVENTS {
            return;
        }
        let pending = self.machine.pending();
        let Some(next) = pending.iter().find(|p| p.event.id.thread == thread) else { return };
        let others = pending.iter().filter(|p| p.event.id.thread != thread && dependent(&p.event, &next.event));
        others.for_each(|p| *self.redrawn.entry(p.event.id.thread).or_default() += 1);
    }

    fn is_full(&self) -> bool {
        self.trace.events.len() >= self.options.max_steps as usize
    }

    /// Executes the next event of a runnable thread.
    fn step(&mut self, thread: ThreadId) {
        let Some(position) = self.machine.position(thread) else { return };
        let (schedule, event) = (self.schedule, EventId { thread, position });
        let choose = &mut |index, lo, hi| schedule.value_of(event, index, lo, hi);
        let Some(stepped) = self.machine.step_choosing(thread, choose) else { return };
        match stepped.event.op {
            Op::Yield => self.yielded.insert(thread),
            _ => self.yielded.remove(thread),
        };
        let before = self.trace.events.next_id();
        self.note(thread, before, stepped.during);
        self.trace.events.push(stepped.event);
        let after = self.trace.events.next_id();
        self.note(thread, after, stepped.after);
        for path in self.machine.paths().skip(self.trace.threads.len()) {
            self.trace.threads.push(ThreadInfo { path: path.clone(), created: Some(before) });
        }
        let runnable = self.machine.runnable();
        if runnable != self.runnable {
            self.trace.runnable.push((after, runnable.clone()));
            self.runnable = runnable;
        }
    }

    fn note(&mut self, thread: ThreadId, before: Step, notes: Vec<Note>) {
        for note in notes {
            match note {
                Note::Allocation { site, region, start, size } => {
                    self.trace.allocations.push(Allocation { before, thread, site, region, start, size });
                }
                Note::Misuse { site, what, object } => {
                    self.trace.misuses.push(Misuse { before, thread, site, what, object });
                }
                Note::Unmodelled { site, what } => {
                    let entry = Unmodelled { thread, site, what };
                    if !self.trace.unmodelled.contains(&entry) {
                        self.trace.unmodelled.push(entry);
                    }
                }
            }
        }
    }
}
