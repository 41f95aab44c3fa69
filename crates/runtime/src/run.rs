//! The loop that runs threads, on the process's own stack: from the request to the reply, over and over.

use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::c_void;
use core::sync::atomic::Ordering;

use wire::{Policy, Record, Reply, ReplyKind, Request, Segment, Tag, record};

use crate::cell::Global;
use crate::choice::PastChoices;
use crate::context::{self, Suspended};
use crate::hooks::{self, HOT, SITE};
use crate::plan::{Decision, Plan, View};
use crate::slots::{self, Slot};
use crate::sync::State;
use crate::threads::{Entry, Runnable, SpawnError, StartRoutine, Thread};
use crate::{checkpoint, choice, crash, entry, exceptions, link, rounds, sched, sys};

/// Why a thread went back to the scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// It arrived at an operation and its turn is over, or the operation blocks it.
    Arrived,
    /// It is about to create the first thread.
    Checkpoint,
    /// It ended or parked.
    Finished,
    /// A signal ended it.
    Crashed(crash::Signal),
    /// The host's watchdog ended the run.
    TimeLimit,
    /// The trace area is full.
    TraceFull,
}

/// A thread that ended the process.
pub struct Parked {
    /// How.
    pub kind: ReplyKind,
    /// Exit status or signal.
    pub code: i32,
    /// Who.
    pub thread: Thread,
    /// Where.
    pub site: u32,
    /// The program counter of a crash; else 0.
    pub counter: u64,
    /// In words.
    pub message: String,
}

/// The run.
pub struct Run {
    /// Threads by number.
    pub threads: Vec<Entry>,
    /// Who can run.
    pub runnable: Runnable,
    /// The running thread, or the one that ran last.
    pub current: Thread,
    /// Whether a thread is running (else the scheduler is, or the process is starting).
    pub in_thread: bool,
    /// Whether the checkpoint has been taken.
    pub checkpointed: bool,
    /// Threads that ended the process, in order.
    pub parked: Vec<Parked>,
    /// The model of synchronisation objects.
    pub state: Option<State>,
    /// Values chosen before the checkpoint.
    pub choices: PastChoices,
    /// Number of threads in rounds of loops that wait.
    pub rounds: u32,
    /// The program used descriptors.
    pub did_io: bool,
    /// What the host asked for.
    pub request: Request,
    /// The next thread resumed stops for a debugger.
    pub trap: bool,
    /// Why the last thread stopped.
    pub reason: Reason,
    /// The scheduler while a thread runs.
    pub scheduler: Suspended,
    plan: Plan,
    /// Events executed by threads that are not running.
    steps: u64,
    /// The thread of the last `Switch` record.
    switched_to: Option<Thread>,
    slots_taken: [u64; slots::COUNT as usize / 64],
}

/// The run.
pub static RUN: Global<Run> = Global::new(Run {
    threads: Vec::new(),
    runnable: Runnable::new(),
    current: 0,
    in_thread: false,
    checkpointed: false,
    parked: Vec::new(),
    state: None,
    choices: PastChoices::new(),
    rounds: 0,
    did_io: false,
    request: Request {
        segments: 0,
        spurious: 0,
        max_steps: 0,
        quantum: 0,
        trap: 0,
        quit: 0,
        choices: 0,
        stacks: 0,
        reserved: 0,
        policy: Policy::FIXED,
    },
    trap: false,
    reason: Reason::Arrived,
    scheduler: core::ptr::null_mut(),
    plan: Plan::NONE,
    steps: 0,
    switched_to: None,
    slots_taken: [0; slots::COUNT as usize / 64],
});

/// Records kept back for what the scheduler writes itself.
fn reserve() -> usize {
    (link::header().trace_capacity.load(Ordering::Relaxed) as usize / 16).max(1024)
}

impl View for Run {
    fn count(&self) -> u32 {
        self.threads.len() as u32
    }
    fn position(&self, thread: Thread) -> u32 {
        self.threads[thread as usize].position
    }
    fn is_runnable(&self, thread: Thread) -> bool {
        self.runnable.contains(thread)
    }
    fn is_reluctant(&self, thread: Thread) -> bool {
        self.request.spurious != 0 && self.state.as_ref().is_some_and(|state| self.runnable.is_reluctant(thread, state))
    }
    fn is_over(&self, thread: Thread) -> bool {
        self.threads[thread as usize].over
    }
    fn runnable_from(&self, from: Thread) -> Option<Thread> {
        self.runnable.first_from(from)
    }
    fn has_yielded(&self, thread: Thread) -> bool {
        let thread = &self.threads[thread as usize];
        thread.yielded_at == thread.position
    }
    fn steps(&self) -> u64 {
        self.steps
    }
    fn segment(&self, index: u32) -> Segment {
        link::segment(index)
    }
}

impl Run {
    /// Makes a thread, a child of the running one; says also whether it had to take another's preferred slot.
    pub fn create(&mut self, start: StartRoutine, arg: *mut c_void) -> Result<(Thread, bool), SpawnError> {
        let parent = &mut self.threads[self.current as usize];
        let index = parent.children + 1;
        let preferred = slots::preferred(parent.slot, index);
        let mut slot = preferred;
        let mut tries = 0;
        while self.slots_taken[slot.0 as usize / 64] & 1 << (slot.0 % 64) != 0 {
            tries += 1;
            if tries == slots::HASHED_COUNT {
                return Err(SpawnError::OutOfSlots);
            }
            slot = slots::next(slot);
        }
        parent.children = index;
        let thread = self.add(slot, index, Some((start, arg)))?;
        Ok((thread, slot != preferred))
    }

    /// Adds a thread in a free slot.
    fn add(
        &mut self,
        slot: Slot,
        index: u32,
        routine: Option<(StartRoutine, *mut c_void)>,
    ) -> Result<Thread, SpawnError> {
        checkpoint::track(slot.map().map_err(|_| SpawnError::OutOfSlots)?);
        self.slots_taken[slot.0 as usize / 64] |= 1 << (slot.0 % 64);
        let thread = self.threads.len() as Thread;
        entry::fill_thread_locals(slot);
        // Safety: the slot's stack is mapped and nobody else's.
        let context = unsafe { context::prepare(slot.stack_end(), entry::thread_main, thread as usize) };
        self.threads.push(Entry::new(context, slot, index, routine));
        self.runnable.insert(thread);
        Ok(thread)
    }

    /// From the running thread to the scheduler; returns when the thread is resumed.
    ///
    /// # Safety
    /// Called on a thread's stack.
    pub unsafe fn leave_thread(&mut self, reason: Reason) {
        self.reason = reason;
        let thread = &raw mut self.threads[self.current as usize].context;
        // Safety: the scheduler suspended itself in `resume`.
        unsafe { context::switch(thread, self.scheduler) };
    }

    /// Lets a thread run until it comes back.
    fn resume(&mut self, thread: Thread, limit: u32) -> Reason {
        if self.switched_to != Some(thread) {
            hooks::append(Record::new(Tag::Switch, 0, 0, wire::NO_SITE, thread));
            self.switched_to = Some(thread);
        }
        let entry = &mut self.threads[thread as usize];
        let start = entry.position;
        let context = entry.context;
        // Safety: no borrow is held over the switch.
        unsafe {
            let hot = HOT.get();
            (*hot).position = start;
            let first = if self.rounds > 0 { start } else { limit };
            ((*hot).limit, (*hot).stop) = (first, limit);
            (*hot).end = link::trace().end.sub(reserve());
            *SITE.get() = entry.site;
            *entry::TLS_BASE.get() = entry.slot.tls();
            *libc::__errno_location() = entry.errno;
            exceptions::load(entry.exceptions);
            self.current = thread;
            self.in_thread = true;
            context::switch(&raw mut self.scheduler, context);
            // The threads' vector may have moved.
            let run = &mut *RUN.get();
            run.in_thread = false;
            let entry = &mut run.threads[thread as usize];
            entry.position = (*hot).position;
            entry.site = *SITE.get();
            entry.errno = *libc::__errno_location();
            entry.exceptions = exceptions::save();
            (*hot).end = link::trace().end;
            run.steps += u64::from((*hot).position - start);
            run.reason
        }
    }

    /// A thread will execute nothing more.
    fn finish_thread(&mut self, thread: Thread) {
        let entry = &mut self.threads[thread as usize];
        entry.over = true;
        entry.announce(&[]);
        self.rounds -= u32::from(entry.round.take().is_some());
        rounds::notice_changes();
        self.runnable.remove(thread);
        sched::reconsider();
    }

    /// Takes over the host's request for a run in which the initial thread has executed its events so far alone;
    /// says whether the request allows that.
    fn apply_request(&mut self) -> bool {
        self.request = link::request();
        if self.request.quit != 0 {
            sys::leave(0);
        }
        let Request { segments, quantum, max_steps, .. } = self.request;
        let past = self.threads[0].position;
        match Plan::new(segments, quantum, max_steps, past, link::segment) {
            Some(plan) if choice::fits(&self.choices) => {
                self.plan = plan.with_policy(self.request.policy);
                true
            }
            _ => false,
        }
    }

    /// Runs threads until the run ends.
    fn execute(&mut self) -> Ending {
        loop {
            let mut plan = self.plan;
            let decision = plan.decide(self);
            self.plan = plan;
            let (thread, limit) = match decision {
                Decision::Run { thread, limit } => (thread, limit),
                Decision::Idle => return self.idle(),
                Decision::StepLimit => return Ending::plain(ReplyKind::StepLimit, self.current),
                Decision::Diverged { segment, message } => {
                    return Ending {
                        code: segment as i32,
                        message,
                        ..Ending::plain(ReplyKind::Diverged, self.current)
                    };
                }
            };
            if self.request.trap != 0 && self.plan.is_prefix_done() {
                self.request.trap = 0;
                self.trap = true;
            }
            match self.resume(thread, limit) {
                Reason::Arrived => {}
                Reason::Finished => self.finish_thread(thread),
                Reason::Crashed(signal) => {
                    let site = self.threads[thread as usize].site;
                    let message = crash::describe(signal, self.threads[thread as usize].slot);
                    let message = message.as_str().into();
                    let (kind, code, counter) = (ReplyKind::Crash, signal.number, signal.counter as u64);
                    self.parked.push(Parked { kind, code, thread, site, counter, message });
                    self.finish_thread(thread);
                }
                Reason::TimeLimit => return Ending::plain(ReplyKind::TimeLimit, thread),
                Reason::TraceFull => return Ending::plain(ReplyKind::TraceFull, thread),
                Reason::Checkpoint => {
                    self.checkpointed = true;
                    checkpoint::take();
                    if !self.apply_request() {
                        return Ending::plain(ReplyKind::Fresh, thread);
                    }
                }
            }
        }
    }

    /// No thread can run: the process ends, or the threads are stuck.
    fn idle(&mut self) -> Ending {
        // A failure comes first, then an exit, then an assumption that kept a thread.
        let rank = |p: &Parked| match p.kind {
            ReplyKind::Assumed => 2,
            ReplyKind::Exit => 1,
            _ => 0,
        };
        let first = (0..self.parked.len()).min_by_key(|at| rank(&self.parked[*at]));
        if let Some(first) = first {
            let Parked { kind, code, thread, site, counter, message } = self.parked.swap_remove(first);
            return Ending { kind, code, thread, site: Some(site), counter, message };
        }
        let stuck = self.threads.iter().any(|thread| !thread.over);
        Ending::plain(if stuck { ReplyKind::Deadlock } else { ReplyKind::Exit }, self.current)
    }

    /// Writes what unfinished threads were about to do, and the reply.
    fn answer(&mut self, ending: Ending) {
        for (thread, entry) in self.threads.iter().enumerate().filter(|(_, entry)| !entry.pending().is_empty()) {
            let flags = if self.runnable.contains(thread as Thread) { record::flag::ENABLED } else { 0 };
            hooks::append(Record::new(Tag::Pending, flags, 0, wire::NO_SITE, thread as u32));
            hooks::append_all(entry.pending());
        }
        let site =
            ending.site.unwrap_or_else(|| self.threads.get(ending.thread as usize).map_or(wire::NO_SITE, |t| t.site));
        let start = link::trace().start;
        // Safety: both point into the trace area.
        let records = unsafe { (*HOT.get()).cursor.offset_from(start) } as u64;
        let reply = Reply {
            code: ending.code,
            thread: ending.thread,
            site,
            records,
            checkpoint_records: checkpoint::records(),
            counter: ending.counter,
            ..Reply::default()
        };
        link::reply(reply, ending.kind, &ending.message);
    }
}

/// How a run ended.
struct Ending {
    kind: ReplyKind,
    code: i32,
    thread: Thread,
    /// `None`: the thread's last one.
    site: Option<u32>,
    counter: u64,
    message: String,
}

impl Ending {
    fn plain(kind: ReplyKind, thread: Thread) -> Self {
        Self { kind, code: 0, thread, site: None, counter: 0, message: String::new() }
    }
}

/// Ends the process with a failure of the runtime itself.
pub fn fail(message: &str) -> ! {
    link::reply(Reply::default(), ReplyKind::Failure, message);
    checkpoint::ring_and_leave()
}

/// Serves the host's requests; the first one has arrived. Comes back never.
pub fn serve() -> ! {
    // Safety: the only borrow of the run on this stack, renewed where other code may have used the run.
    let run = RUN.get();
    unsafe {
        (*HOT.get()).cursor = link::trace().start;
        (*HOT.get()).end = link::trace().end;
        if (*run).add(Slot::MAIN, 0, None).is_err() {
            fail("cannot map the program's memory");
        }
        if !(*run).apply_request() {
            fail("the request does not fit a new process");
        }
        sched::reconsider();
    }
    loop {
        // Safety: as above. A restore goes back to the checkpoint taken in `execute`, with the initial thread suspended.
        unsafe {
            let ending = (*run).execute();
            let last = matches!(ending.kind, ReplyKind::TimeLimit | ReplyKind::Failure) || !(*run).checkpointed;
            (*run).answer(ending);
            if last {
                checkpoint::ring_and_leave();
            }
            checkpoint::ring_and_restore();
            while !(*run).apply_request() {
                (*run).answer(Ending::plain(ReplyKind::Fresh, 0));
                checkpoint::ring_and_restore();
            }
        }
    }
}
