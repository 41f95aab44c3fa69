//! An abstract machine that executes a [`Program`], one visible operation at a time.
//!
//! A thread is always right before its next visible operation; it computes everything up to there immediately after the
//! previous one. The state is a value: it can be cloned, compared and hashed, and [`Machine::step`] is a function of
//! the state and the chosen thread.
//!
//! The end of the process is postponed: a thread that returns from `main`, calls `exit`, fails an assertion or crashes
//! is parked, the others continue, and the execution ends only when none of them can run. So every execution is maximal
//! and no event of another thread is lost.

mod action;
mod advance;
mod iteration;
mod memory;
mod objects;
mod perform;
mod section;
mod thread;

pub use iteration::Waiting;

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use model::{Addr, Choice, End, Event, EventId, IndexVec, Pending, Region, SiteId, ThreadId, ThreadPath, ThreadSet};
use program::{FunctionId, GlobalId, Operand, Program};

use action::Action;
use advance::{Advance, Halt};
use memory::{FUNCTION_STRIDE, FUNCTIONS, GLOBALS, Memory, ObjectState, Slot};
use objects::Objects;
use perform::Continuation;
use thread::{After, Next, Status, Thread, entry};

/// The addresses of globals, the same in every run of a program.
#[derive(Debug)]
struct Layout {
    /// The address of a global, or the offset in the slot for a thread-local one.
    globals: IndexVec<GlobalId, u64>,
    thread_local: IndexVec<GlobalId, bool>,
}

impl Layout {
    fn new(program: &Program) -> Self {
        let (mut shared, mut local) = (GLOBALS, 0);
        let place = |cursor: &mut u64, size: u64| {
            let start = *cursor;
            *cursor = start.saturating_add(size).saturating_add(31) & !15;
            start
        };
        let globals = program
            .globals
            .iter()
            .map(|g| if g.thread_local { place(&mut local, g.size) } else { place(&mut shared, g.size) })
            .collect();
        Self { globals, thread_local: program.globals.iter().map(|g| g.thread_local).collect() }
    }
    fn global(&self, global: GlobalId, slot: Slot) -> u64 {
        self.globals[global] + if self.thread_local[global] { slot.base() } else { 0 }
    }
    fn function_at(&self, program: &Program, address: i64) -> Option<FunctionId> {
        let offset = (address as u64).checked_sub(FUNCTIONS)?;
        let id = FunctionId(u32::try_from(offset / FUNCTION_STRIDE).ok()?);
        (offset % FUNCTION_STRIDE == 0 && program.functions.get(id).is_some()).then_some(id)
    }
}

/// Something that happened besides the events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Note {
    /// An object was created.
    Allocation {
        /// Where in the code.
        site: Option<SiteId>,
        /// Heap or stack.
        region: Region,
        /// First byte.
        start: Addr,
        /// Number of bytes.
        size: u64,
    },
    /// The thread API was misused.
    Misuse {
        /// Where in the code.
        site: Option<SiteId>,
        /// One sentence.
        what: String,
        /// The object misused.
        object: Addr,
    },
    /// The program did something that the machine does not model.
    Unmodelled {
        /// Where in the code.
        site: Option<SiteId>,
        /// What.
        what: String,
    },
}

/// One executed operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stepped {
    /// The event.
    pub event: Event,
    /// Notes about the event itself.
    pub during: Vec<Note>,
    /// Notes about what its thread did after it, before its next operation.
    pub after: Vec<Note>,
}

/// Why a program cannot be executed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MachineError {
    /// There is no entry function.
    #[error("the program has no entry function: name one with `entry`, or call it `main`")]
    NoMain,
    /// The entry function cannot be executed.
    #[error("the entry function `{0}` has no body")]
    NoBody(String),
    /// The program breaks a rule of the language.
    #[error(transparent)]
    Invalid(#[from] program::Invalid),
}

/// The state of an execution.
#[derive(Clone, Debug)]
pub struct Machine {
    program: Arc<Program>,
    layout: Arc<Layout>,
    /// Whether spurious wake-ups are enabled, at most one per thread and condition variable until a signal wakes the
    /// thread there.
    spurious: bool,
    threads: IndexVec<ThreadId, Arc<Thread>>,
    handles: BTreeMap<u64, ThreadId>,
    memory: Memory,
    objects: Objects,
    /// Process ends, in the order in which threads reached them.
    ends: Vec<End>,
    waiting: Waiting,
}

/// Two states are equal if they have the same future; program, layout and options are assumed to be the same.
impl PartialEq for Machine {
    fn eq(&self, other: &Self) -> bool {
        self.threads == other.threads
            && self.memory == other.memory
            && self.objects == other.objects
            && self.ends == other.ends
    }
}
impl Eq for Machine {}
impl Hash for Machine {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.threads.hash(state);
        self.memory.hash(state);
        self.objects.hash(state);
        self.ends.hash(state);
    }
}

impl Machine {
    /// The initial state: the initial thread is about to execute its `Start`.
    pub fn new(program: Arc<Program>, spurious: bool) -> Result<Self, MachineError> {
        program.validate()?;
        let main = program.main.ok_or(MachineError::NoMain)?;
        let function = &program.functions[main];
        if function.blocks.is_empty() {
            return Err(MachineError::NoBody(function.name.clone()));
        }
        let frame = entry(main, function.locals.len(), &[], After::Thread);
        let path = ThreadPath::main();
        let slot = Slot::of_path(&path).unwrap_or(Slot::of_number(0));
        let mut machine = Self {
            layout: Arc::new(Layout::new(&program)),
            program,
            spurious,
            threads: IndexVec::new(),
            handles: BTreeMap::from([(slot.base(), ThreadId::MAIN)]),
            memory: Memory::default(),
            objects: Objects::default(),
            ends: Vec::new(),
            waiting: Waiting::Block,
        };
        machine.place_globals(slot, false);
        machine.place_globals(slot, true);
        machine.threads.push(Arc::new(Thread::new(path, slot, frame)));
        Ok(machine)
    }

    /// The same with another treatment of loops that wait.
    pub fn with_waiting(self, waiting: Waiting) -> Self {
        Self { waiting, ..self }
    }

    /// Creates the globals that all threads share, or those of the thread with this slot.
    fn place_globals(&mut self, slot: Slot, thread_local: bool) {
        let program = Arc::clone(&self.program);
        for (id, global) in program.globals.iter_enumerated().filter(|(_, g)| g.thread_local == thread_local) {
            let mut bytes = global.init.clone();
            bytes.resize(global.size as usize, 0);
            for (offset, target) in &global.relocations {
                let value = match *target {
                    Operand::Const(value) => value as u64,
                    Operand::Global(target, delta) => self.layout.global(target, slot).wrapping_add_signed(delta),
                    Operand::Function(function) => FUNCTIONS + u64::from(function.0) * FUNCTION_STRIDE,
                    Operand::Local(_) | Operand::Any => 0,
                };
                let range = *offset as usize..*offset as usize + 8;
                if let Some(place) = bytes.get_mut(range) {
                    place.copy_from_slice(&value.to_le_bytes());
                }
            }
            self.memory.place(self.layout.global(id, slot), ObjectState::Variable, bytes);
        }
    }

    /// The program executed.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The threads created so far, by number.
    pub fn paths(&self) -> impl Iterator<Item = &ThreadPath> {
        self.threads.iter().map(|t| &t.path)
    }

    /// The address of a global of the initial thread.
    pub fn address_of(&self, global: GlobalId) -> Addr {
        Addr(self.layout.global(global, self.threads[ThreadId::MAIN].slot))
    }

    /// The number of complete generations of a barrier.
    pub fn barrier_generation(&self, barrier: Addr) -> u32 {
        self.objects.barriers.get(&barrier.0).map_or(0, |b| b.generation)
    }

    /// The threads whose next operation is enabled.
    pub fn runnable(&self) -> ThreadSet {
        let can_run = |(id, thread): (ThreadId, &Arc<Thread>)| {
            let next = thread.next.as_ref().filter(|_| thread.status == Status::Active)?;
            self.enabled(id, &next.action).then_some(id)
        };
        self.threads.iter_enumerated().filter_map(can_run).collect()
    }

    /// The runnable threads that can only wake up spuriously.
    pub fn reluctant(&self) -> ThreadSet {
        let is_reluctant =
            |id: &ThreadId| self.threads[*id].next.as_ref().is_some_and(|next| self.reluctant_at(*id, &next.action));
        self.runnable().iter().filter(is_reluctant).collect()
    }

    /// The number of events a thread has executed; `None` if there is no such thread yet.
    pub fn position(&self, thread: ThreadId) -> Option<u32> {
        self.threads.get(thread).map(|t| t.position)
    }

    /// The pending operations of unfinished threads.
    pub fn pending(&self) -> Vec<Pending> {
        let pending = |(id, thread): (ThreadId, &Arc<Thread>)| {
            let next = thread.next.as_ref().filter(|_| thread.status == Status::Active)?;
            let id_of_event = EventId { thread: id, position: thread.position };
            let op = next.action.op(|lock| self.objects.held_by(lock, id), self.threads.next_id());
            let event = Event { id: id_of_event, site: next.site, op };
            Some(Pending { event, enabled: self.enabled(id, &next.action) })
        };
        self.threads.iter_enumerated().filter_map(pending).collect()
    }

    /// How the execution ended; `None` while a thread can run.
    ///
    /// A thread that loops without a visible operation is reported at once, since nothing can be said about what
    /// follows.
    pub fn end(&self) -> Option<End> {
        if self.threads.iter().any(|t| t.status == Status::Spinning) {
            return Some(End::TimeLimit);
        }
        if !self.runnable().is_empty() {
            return None;
        }
        // A failure takes precedence, then an exit, then a failed assumption.
        let rank = |end: &&End| match end {
            End::Assumed { .. } => 2,
            End::Exit { .. } => 1,
            _ => 0,
        };
        let unfinished = self.threads.iter().any(|t| t.status == Status::Active);
        Some(match self.ends.iter().min_by_key(rank) {
            Some(end) => end.clone(),
            None if unfinished => End::Deadlock,
            None => End::Exit { code: 0 },
        })
    }

    /// Executes the next operation of a runnable thread with default choices. `None`, and no change, if it cannot run.
    pub fn step(&mut self, id: ThreadId) -> Option<Stepped> {
        self.step_choosing(id, &mut |_, lo, hi| Choice::default_value(lo, hi))
    }

    /// The same with the values that `choose` returns, given the index of the choice and its range.
    pub fn step_choosing(&mut self, id: ThreadId, choose: &mut dyn FnMut(u32, i64, i64) -> i64) -> Option<Stepped> {
        let thread = self.threads.get(id).filter(|t| t.status == Status::Active)?;
        let next = thread.next.clone().filter(|next| self.enabled(id, &next.action))?;
        let position = thread.position;
        let (mut during, mut after) = (Vec::new(), Vec::new());
        Arc::make_mut(&mut self.threads[id]).position += 1;
        let op = if next.action == Action::Section {
            self.section(id, &mut during, choose)
        } else {
            self.record_action(id, &next.action);
            let performed = self.perform(id, &next, &mut during, choose);
            self.record_result(id, &performed.op);
            self.follow(id, performed.then, next.site, &mut after);
            performed.op
        };
        self.update_changes();
        let event = Event { id: EventId { thread: id, position }, site: next.site, op };
        Some(Stepped { event, during, after })
    }

    /// Continues the thread after an operation.
    fn follow(&mut self, id: ThreadId, then: Continuation, site: Option<SiteId>, notes: &mut Vec<Note>) {
        let thread = Arc::make_mut(&mut self.threads[id]);
        match then {
            Continuation::Advance => self.advance(id, notes),
            Continuation::Announce(action) => thread.next = Some(Next { action, site }),
            Continuation::Exited => (thread.status, thread.next) = (Status::Exited, None),
            Continuation::Crash(message) => self.park(id, End::Crash { thread: id, site, message }),
        }
    }

    /// Advances the thread to its next visible operation.
    fn advance(&mut self, id: ThreadId, notes: &mut Vec<Note>) {
        let thread = Arc::make_mut(&mut self.threads[id]);
        let halt = Advance {
            program: &self.program,
            layout: &self.layout,
            handles: &self.handles,
            memory: &mut self.memory,
            id,
            thread,
            notes,
            waiting: self.waiting,
        }
        .run();
        match halt {
            Halt::Announce(next) => thread.next = Some(next),
            Halt::Spin => (thread.status, thread.next) = (Status::Spinning, None),
            Halt::Assume(site) => self.park(id, End::Assumed { thread: id, site }),
            Halt::ExitProcess(code) => self.park(id, End::Exit { code }),
            Halt::FailAssertion(site) => {
                let message = self.assertion_text(site);
                self.park(id, End::Assertion { thread: id, site, message });
            }
            Halt::Crash(message) => {
                let site = thread.site;
                self.park(id, End::Crash { thread: id, site, message });
            }
        }
    }

    fn assertion_text(&self, site: Option<SiteId>) -> String {
        let expression = site.and_then(|s| self.program.sites.get(s)).and_then(|s| s.expression.clone());
        expression.unwrap_or_else(|| "assertion failed".to_owned())
    }

    fn park(&mut self, id: ThreadId, end: End) {
        let thread = Arc::make_mut(&mut self.threads[id]);
        (thread.status, thread.next) = (Status::Parked, None);
        self.ends.push(end);
    }

    /// Creates a thread that is about to start; returns its handle.
    fn spawn(&mut self, parent: ThreadId, function: FunctionId, arg: i64, notes: &mut Vec<Note>) -> i64 {
        let number = self.threads.next_id();
        let creator = Arc::make_mut(&mut self.threads[parent]);
        creator.children += 1;
        let path = creator.path.child(creator.children);
        let slot = Slot::of_path(&path).unwrap_or_else(|| {
            notes.push(Note::Unmodelled { site: None, what: "addresses depend on the order of creation".to_owned() });
            Slot::of_number(number.0)
        });
        let locals = self.program.functions[function].locals.len();
        let mut thread = Thread::new(path, slot, entry(function, locals, &[arg], After::Thread));
        if self.program.functions[function].blocks.is_empty() {
            thread.frames.clear();
        }
        self.threads.push(Arc::new(thread));
        self.handles.insert(slot.base(), number);
        self.place_globals(slot, true);
        slot.base() as i64
    }
}
