//! Executes one visible operation.

use std::sync::Arc;

use model::{Addr, Choice, LockMode, Op, ThreadId, WakeCause};
use program::{LocalId, TryMode, arith};

use super::action::{Action, CompareExchange, InitKind, Wait};
use super::advance::segmentation_fault;
use super::iteration::Iteration;
use super::memory::{ObjectState, Unmapped};
use super::objects::{Barrier, Once};
use super::thread::{After, Joining, Next, Status, entry};
use super::{Machine, Note};

/// No such thread.
pub(super) const ESRCH: i64 = 3;
const EAGAIN: i64 = 11;
const EBUSY: i64 = 16;
const EINVAL: i64 = 22;
const EDEADLK: i64 = 35;
const ETIMEDOUT: i64 = 110;
/// The result for the last thread to arrive at a barrier.
const SERIAL_THREAD: i64 = -1;

/// How the thread continues after an operation.
pub(super) enum Continuation {
    /// It advances.
    Advance,
    /// Another part of the same statement comes next.
    Announce(Action),
    /// It has ended.
    Exited,
    /// The access faulted.
    Crash(String),
}

/// The executed operation, and how the thread continues.
pub(super) struct Performed {
    pub(super) op: Op,
    pub(super) then: Continuation,
}

impl Machine {
    /// Whether the thread's action is enabled.
    pub(super) fn enabled(&self, thread: ThreadId, action: &Action) -> bool {
        let cancelled = self.threads[thread].cancelled && action.is_cancellation_point();
        match *action {
            Action::Lock { lock, mode, wait: TryMode::Wait, .. } => self.objects.can_take(lock, thread, mode),
            Action::Reacquire { lock, .. } => self.objects.can_take(lock, thread, LockMode::Exclusive),
            Action::WaitEnd { ref wait, .. } => {
                wait.mode != TryMode::Wait
                    || self.has_cause_to_wake(thread, wait)
                    || self.spurious && !self.threads[thread].spurious.contains(&wait.cond)
            }
            Action::BarrierLeave { barrier, generation, .. } => {
                self.objects.barriers.get(&barrier).is_some_and(|b| b.generation > generation)
            }
            Action::SemWait { sem, wait: TryMode::Wait, .. } => {
                cancelled || self.objects.semaphores.get(&sem).is_none_or(|value| *value > 0)
            }
            Action::Await { .. } => self.threads[thread].iteration.as_ref().is_some_and(|iteration| iteration.changed),
            Action::OnceBegin { control, .. } => !matches!(self.objects.onces.get(&control), Some(Once::Running(_))),
            Action::Join { child, mode: TryMode::Wait, .. } => {
                let child_thread = &self.threads[child];
                cancelled
                    || child == thread
                    || child_thread.status == Status::Exited
                    || child_thread.joining != Joining::Joinable
            }
            _ => true,
        }
    }

    /// Whether the action is enabled only by a spurious wake-up.
    pub(super) fn reluctant_at(&self, thread: ThreadId, action: &Action) -> bool {
        matches!(action, Action::WaitEnd { wait, .. }
            if wait.mode == TryMode::Wait && !self.has_cause_to_wake(thread, wait))
    }

    /// Whether something other than its time limit ends the thread's wait.
    fn has_cause_to_wake(&self, thread: ThreadId, wait: &Wait) -> bool {
        self.threads[thread].cancelled || self.objects.cond(wait.cond).is_some_and(|c| c.may_wake(thread))
    }

    /// Executes the thread's announced action.
    pub(super) fn perform(
        &mut self,
        id: ThreadId,
        next: &Next,
        notes: &mut Vec<Note>,
        choose: &mut dyn FnMut(u32, i64, i64) -> i64,
    ) -> Performed {
        let action = &next.action;
        let held = |lock| self.objects.held_by(lock, id);
        let mut op = action.op(held, self.threads.next_id());
        if self.threads[id].cancelled && action.is_cancellation_point() && !matches!(action, Action::WaitEnd { .. }) {
            return Performed { op: Op::Cancelled, then: Continuation::Announce(Action::Exit) };
        }
        let mut misuse = |object: u64, what: &str| {
            notes.push(Note::Misuse { site: next.site, what: what.into(), object: Addr(object) })
        };
        let then = match *action {
            Action::Start | Action::Fence(_) | Action::Section | Action::SectionEnd => Continuation::Advance,
            Action::Await { .. } => {
                Arc::make_mut(&mut self.threads[id]).iteration = Some(Iteration::default());
                Continuation::Advance
            }
            Action::Choose { dst, lo, hi } => {
                let value = choose(0, lo, hi);
                op = Op::Choose(Choice { lo, hi, value });
                self.finish(id, dst, value)
            }
            Action::Yield { dst } => self.finish(id, dst, 0),
            Action::Exit => {
                if let Some(lock) = self.objects.locks_of(id).next() {
                    misuse(lock, "thread ends while it holds a mutex");
                }
                Continuation::Exited
            }
            Action::Cancelled => Continuation::Announce(Action::Exit),
            Action::Load { dst, address, size, .. } => match self.memory.load(address, size) {
                Ok(value) => self.finish(id, Some(dst), value),
                Err(fault) => crash(fault),
            },
            Action::Store { address, value, size, .. } => access(self.memory.store(address, size, value)),
            Action::Rmw { dst, op, address, value, size, .. } => match self.memory.load(address, size) {
                Ok(old) => {
                    let new = arith::rmw(op, size, old, value).unwrap_or_else(|| {
                        let what = "makes a read-modify-write whose result is not known; nothing is stored".to_owned();
                        notes.push(Note::Unmodelled { site: next.site, what });
                        old
                    });
                    match self.memory.store(address, size, new) {
                        Ok(()) => self.finish(id, Some(dst), old),
                        Err(fault) => crash(fault),
                    }
                }
                Err(fault) => crash(fault),
            },
            Action::CompareExchange(ref cas) => match self.compare_exchange(id, cas) {
                Ok(success) => {
                    op = cas.op(success);
                    Continuation::Advance
                }
                Err(fault) => crash(fault),
            },
            Action::Copy { to, from, len } => {
                let bytes = self.memory.bytes(from, len).map(<[u8]>::to_vec);
                access(bytes.and_then(|bytes| self.memory.set_bytes(to, &bytes)))
            }
            Action::Fill { to, value, len } => match self.memory.bytes(to, len).map(<[u8]>::len) {
                Ok(len) => access(self.memory.set_bytes(to, &vec![value; len])),
                Err(fault) => crash(fault),
            },
            Action::Free { address, size } => {
                if self.memory.object(address).is_some_and(|o| o.state == ObjectState::Freed) {
                    misuse(address, "frees a block that was freed before");
                } else {
                    for object in self.objects.forget(address, size) {
                        misuse(object, "frees the memory of a synchronisation object in use");
                    }
                    self.memory.set_state(address, ObjectState::Freed);
                    Arc::make_mut(&mut self.threads[id]).free_blocks.entry(size).or_default().push(address);
                }
                Continuation::Advance
            }
            Action::Lock { dst, lock, mode, wait } => {
                let had = self.objects.can_take(lock, id, mode);
                if had {
                    self.objects.change_lock(lock, |l| l.take(id, mode, 1));
                }
                if let Op::TryAcquire { success, .. } = &mut op {
                    *success = had;
                }
                self.finish(id, dst, if had { 0 } else { refusal(wait) })
            }
            Action::Unlock { dst, lock } => {
                if self.objects.held_by(lock, id).is_none() {
                    misuse(lock, "unlocks a mutex it does not hold");
                }
                self.objects.change_lock(lock, |l| l.give_back(id));
                self.finish(id, dst, 0)
            }
            Action::Init { dst, object, ref kind } => {
                if self.objects.destroy(object) {
                    misuse(object, "initialises a synchronisation object in use");
                }
                match *kind {
                    InitKind::Lock { recursive } => self.objects.change_lock(object, |l| l.recursive = recursive),
                    InitKind::Cond => {}
                    InitKind::Barrier { count } => {
                        self.objects.barriers.insert(object, Barrier { count, arrived: 0, generation: 0 });
                    }
                    InitKind::Semaphore { value } => {
                        self.objects.semaphores.insert(object, value);
                    }
                }
                self.finish(id, dst, 0)
            }
            Action::Destroy { dst, object } => {
                if self.objects.destroy(object) {
                    misuse(object, "destroys a synchronisation object in use");
                }
                self.finish(id, dst, 0)
            }
            Action::WaitBegin { ref wait } => {
                if self.objects.held_by(wait.lock, id) != Some(LockMode::Exclusive) {
                    misuse(wait.lock, "waits on a condition variable without holding the mutex");
                }
                let depth = self.release_all(id, wait.lock);
                self.objects.change_cond(wait.cond, |c| {
                    c.waiters.insert(id);
                });
                Continuation::Announce(Action::WaitEnd { wait: wait.clone(), depth })
            }
            Action::WaitEnd { ref wait, depth } => {
                let cause = self.wake_cause(id, wait);
                self.objects.change_cond(wait.cond, |c| c.leave(id));
                let spurious = &mut Arc::make_mut(&mut self.threads[id]).spurious;
                match cause {
                    WakeCause::Spurious => spurious.insert(wait.cond),
                    WakeCause::Signalled => spurious.remove(&wait.cond),
                    WakeCause::TimedOut | WakeCause::Cancelled => false,
                };
                op = Op::WaitEnd { cond: Addr(wait.cond), cause };
                Continuation::Announce(Action::Reacquire { dst: wait.dst, lock: wait.lock, depth, cause })
            }
            Action::Reacquire { dst, lock, depth, cause } => {
                self.objects.change_lock(lock, |l| l.take(id, LockMode::Exclusive, depth));
                match cause {
                    WakeCause::Cancelled => Continuation::Announce(Action::Cancelled),
                    WakeCause::TimedOut => self.finish(id, dst, ETIMEDOUT),
                    WakeCause::Signalled | WakeCause::Spurious => self.finish(id, dst, 0),
                }
            }
            Action::Signal { dst, cond } => {
                self.objects.change_cond(cond, |c| c.signal());
                self.finish(id, dst, 0)
            }
            Action::Broadcast { dst, cond } => {
                self.objects.change_cond(cond, |c| c.broadcast());
                self.finish(id, dst, 0)
            }
            Action::BarrierArrive { dst, barrier } => match self.objects.barriers.get_mut(&barrier) {
                Some(state) => {
                    let generation = state.generation;
                    state.arrived += 1;
                    let serial = state.arrived >= state.count;
                    if serial {
                        state.arrived = 0;
                        state.generation += 1;
                    }
                    Continuation::Announce(Action::BarrierLeave { dst, barrier, generation, serial })
                }
                None => {
                    misuse(barrier, "waits at a barrier that was not initialised");
                    self.finish(id, dst, EINVAL)
                }
            },
            Action::BarrierLeave { dst, serial, .. } => self.finish(id, dst, if serial { SERIAL_THREAD } else { 0 }),
            Action::SemPost { dst, sem } => {
                match self.objects.semaphores.get_mut(&sem) {
                    Some(value) => *value = value.saturating_add(1),
                    None => misuse(sem, "posts a semaphore that was not initialised"),
                }
                self.finish(id, dst, 0)
            }
            Action::SemWait { dst, sem, wait } => {
                let had = match self.objects.semaphores.get_mut(&sem) {
                    Some(value) => value.checked_sub(1).map(|less| *value = less).is_some(),
                    None => {
                        misuse(sem, "waits for a semaphore that was not initialised");
                        true
                    }
                };
                if let Op::SemTryWait { success, .. } = &mut op {
                    *success = had;
                }
                let refused = if wait == TryMode::Try { EAGAIN } else { ETIMEDOUT };
                self.finish(id, dst, if had { 0 } else { refused })
            }
            Action::SemGet { dst, sem } => {
                let value = self.objects.semaphores.get(&sem).copied();
                if value.is_none() {
                    misuse(sem, "reads a semaphore that was not initialised");
                }
                self.finish(id, dst, value.unwrap_or(0).into())
            }
            Action::OnceBegin { dst, control, function } => {
                let run = !self.objects.onces.contains_key(&control);
                op = Op::OnceBegin { once: Addr(control), run };
                if run {
                    self.objects.onces.insert(control, Once::Running(id));
                    let locals = self.program.functions[function].locals.len();
                    let after = After::Once { dst, control, site: next.site };
                    Arc::make_mut(&mut self.threads[id]).frames.push(entry(function, locals, &[], after));
                    Continuation::Advance
                } else {
                    self.finish(id, dst, 0)
                }
            }
            Action::OnceEnd { dst, control } => {
                self.objects.onces.insert(control, Once::Done);
                self.finish(id, dst, 0)
            }
            Action::Create { dst, function, arg } => {
                let handle = self.spawn(id, function, arg, notes);
                self.finish(id, dst, handle)
            }
            Action::Join { dst, child, mode } => {
                let refused = if child == id {
                    misuse(self.threads[child].slot.base(), "joins itself");
                    Some(EDEADLK)
                } else if self.threads[child].joining != Joining::Joinable {
                    misuse(self.threads[child].slot.base(), "joins a thread that was detached or joined before");
                    Some(EINVAL)
                } else {
                    (self.threads[child].status != Status::Exited).then(|| refusal(mode))
                };
                match refused {
                    Some(error) => {
                        op = Op::TryJoin { child, success: false };
                        self.finish(id, dst, error)
                    }
                    None => {
                        Arc::make_mut(&mut self.threads[child]).joining = Joining::Joined;
                        self.finish(id, dst, 0)
                    }
                }
            }
            Action::Detach { dst, child } => {
                if self.threads[child].joining == Joining::Joinable {
                    Arc::make_mut(&mut self.threads[child]).joining = Joining::Detached;
                    self.finish(id, dst, 0)
                } else {
                    misuse(self.threads[child].slot.base(), "detaches a thread that was detached or joined before");
                    self.finish(id, dst, EINVAL)
                }
            }
            Action::Cancel { dst, target } => {
                Arc::make_mut(&mut self.threads[target]).cancelled = true;
                self.finish(id, dst, 0)
            }
        };
        Performed { op, then }
    }

    /// Completes the statement with this result.
    fn finish(&mut self, id: ThreadId, dst: Option<LocalId>, value: i64) -> Continuation {
        Arc::make_mut(&mut self.threads[id]).set(dst, value);
        Continuation::Advance
    }

    /// Compares and possibly stores; returns whether it stored.
    fn compare_exchange(&mut self, id: ThreadId, cas: &CompareExchange) -> Result<bool, Unmapped> {
        let old = self.memory.load(cas.address, cas.size)?;
        let bits = cas.size.saturating_mul(8);
        let success = arith::extend(cas.expected, bits, true) == old;
        if success {
            self.memory.store(cas.address, cas.size, cas.new)?;
        }
        self.finish(id, Some(cas.dst), old);
        self.finish(id, Some(cas.success), i64::from(success));
        Ok(success)
    }

    /// Releases all levels of a wait's mutex; returns their number.
    fn release_all(&mut self, id: ThreadId, lock: u64) -> u32 {
        let depth = self.objects.lock(lock).and_then(|l| l.exclusive).filter(|(holder, _)| *holder == id);
        let depth = depth.map_or(0, |(_, depth)| depth);
        self.objects.change_lock(lock, |l| (0..depth).for_each(|_| l.give_back(id)));
        depth.max(1)
    }

    fn wake_cause(&self, id: ThreadId, wait: &Wait) -> WakeCause {
        if self.objects.cond(wait.cond).is_some_and(|c| c.may_wake(id)) {
            WakeCause::Signalled
        } else if self.threads[id].cancelled {
            WakeCause::Cancelled
        } else if wait.mode != TryMode::Wait {
            WakeCause::TimedOut
        } else {
            WakeCause::Spurious
        }
    }
}

fn access(result: Result<(), Unmapped>) -> Continuation {
    result.map_or_else(crash, |()| Continuation::Advance)
}

fn crash(fault: Unmapped) -> Continuation {
    Continuation::Crash(segmentation_fault(fault.0))
}

/// The result of an operation that failed instead of blocking.
fn refusal(mode: TryMode) -> i64 {
    if mode == TryMode::Timed { ETIMEDOUT } else { EBUSY }
}
