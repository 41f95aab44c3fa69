//! Waits, tests, branches and loops in both languages.

use super::Emitter;
use super::operands::{order_in_c, order_in_text};
use crate::generator::sketch::{Awaiting, Item, LockRef, Test};

impl Emitter {
    pub(super) fn wait(&mut self, var: u8, repeat: bool, timed: bool) {
        let (head, inside, after) = (self.fresh("head"), self.fresh("wait"), self.fresh("after"));
        let (read, zero) = (self.fresh("read"), self.fresh("zero"));
        self.pure(&format!("goto {head}"));
        self.begin(&head);
        let keyword = if repeat { "while" } else { "if" };
        self.both(&format!("{keyword} (x{var} == 0)"), &format!("%{read} = load 4, @x{var}"));
        self.pure(&format!("%{zero} = eq 32 %{read}, 0"));
        self.pure(&format!("branch %{zero}, {inside}, {after}"));
        self.begin(&inside);
        self.indent += 1;
        match timed {
            true => self.both("pthread_cond_timedwait(&c, &m[0], &soon);", "timedwait @c, @m"),
            false => self.both("pthread_cond_wait(&c, &m[0]);", "wait @c, @m"),
        }
        self.indent -= 1;
        self.pure(&format!("goto {}", if repeat { &head } else { &after }));
        self.begin(&after);
    }

    /// Writes the head of an `if`; returns the local that is 1 if the test holds.
    pub(super) fn test(&mut self, test: &Test) -> String {
        let (read, holds) = (self.fresh("read"), self.fresh("holds"));
        match *test {
            Test::Shared(var, value) => {
                self.both(&format!("if (x{var} == {value}) {{"), &format!("%{read} = load 4, @x{var}"));
                self.pure(&format!("%{holds} = eq 32 %{read}, {value}"));
            }
            Test::Atomic(var, value, order) => {
                let load = format!("__atomic_load_n(&x{var}, {})", order_in_c(order));
                self.line(&format!("if ({load} == {value}) {{"));
                self.op(&format!("%{read} = load 4 {}, @x{var}", order_in_text(order)));
                self.pure(&format!("%{holds} = eq 32 %{read}, {value}"));
            }
            Test::Local(local, value) => {
                let (c, text) = self.local(local);
                self.line(&format!("if ({c} == {value}) {{"));
                self.pure(&format!("%{holds} = eq 32 {text}, {value}"));
            }
            Test::TryLock(lock) => {
                let (c, text) = self.lock(lock);
                let (function, word) = match lock {
                    LockRef::Read => ("pthread_rwlock_tryrdlock", "tryrdlock"),
                    LockRef::Write => ("pthread_rwlock_trywrlock", "trylock"),
                    LockRef::Mutex(_) | LockRef::Chosen(_) | LockRef::Recursive => ("pthread_mutex_trylock", "trylock"),
                };
                self.both(&format!("if ({function}({c}) == 0) {{"), &format!("%{read} = {word} {text}"));
                self.pure(&format!("%{holds} = eq 32 %{read}, 0"));
            }
            Test::TryWait => {
                self.both("if (sem_trywait(&s) == 0) {", &format!("%{read} = sem_trywait @s"));
                self.pure(&format!("%{holds} = eq 32 %{read}, 0"));
            }
            Test::Serial => {
                let c = "if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD) {";
                self.both(c, &format!("%{read} = barrier_wait @b"));
                self.pure(&format!("%{holds} = ne 32 %{read}, 0"));
            }
            Test::CompareExchange(var, from, to, order, failure) => {
                let expected = self.fresh("expected");
                let orders = format!("{}, {}", order_in_c(order), order_in_c(failure));
                let exchange = format!("__atomic_compare_exchange_n(&x{var}, &{expected}, {to}, 0, {orders})");
                self.line(&format!("int {expected} = {from};"));
                self.line(&format!("if ({exchange}) {{"));
                let orders = format!("{} {}", order_in_text(order), order_in_text(failure));
                self.op(&format!("%{read}, %{holds} = cas 4 {orders}, @x{var}, {from}, {to}"));
            }
        }
        holds
    }

    pub(super) fn branch(&mut self, test: &Test, then: &[Item]) {
        let (inside, after) = (self.fresh("then"), self.fresh("after"));
        let holds = self.test(test);
        self.pure(&format!("branch %{holds}, {inside}, {after}"));
        self.begin(&inside);
        self.body(then);
        self.line("}");
        self.pure(&format!("goto {after}"));
        self.begin(&after);
    }

    pub(super) fn awaiting(&mut self, var: u8, value: u8, how: Awaiting) {
        let (head, latch, after) = (self.fresh("head"), self.fresh("latch"), self.fresh("after"));
        let (again, read, holds, other) =
            (self.fresh("again"), self.fresh("read"), self.fresh("holds"), self.fresh("other"));
        let entered_from = self.label.clone();
        let c = match how {
            Awaiting::Plain => format!("while (x{var} != {value}) {{}}"),
            Awaiting::Atomic(order) => {
                format!("while (__atomic_load_n(&x{var}, {}) != {value}) sched_yield();", order_in_c(order))
            }
            Awaiting::Exchange(order) => {
                format!("while (__atomic_exchange_n(&x{var}, 1, {}) != {value}) {{}}", order_in_c(order))
            }
            Awaiting::TryLock => "while (pthread_mutex_trylock(&m[0])) {}".to_owned(),
            Awaiting::Two(_) => format!("int {other}; do"),
            Awaiting::Locked => "for (;;) {".to_owned(),
        };
        self.line(&c);
        self.pure(&format!("goto {head}"));
        self.begin(&head);
        self.pure(&format!("%{again} = phi [{entered_from}: 0, {latch}: 1]"));
        self.op(&format!("round %{again}"));
        match how {
            Awaiting::Plain => self.op(&format!("%{read} = load 4, @x{var}")),
            Awaiting::TryLock => self.op(&format!("%{read} = trylock @m")),
            Awaiting::Atomic(order) => self.op(&format!("%{read} = load 4 {}, @x{var}", order_in_text(order))),
            Awaiting::Exchange(order) => {
                self.op(&format!("%{read} = rmw exchange 4 {}, @x{var}, 1", order_in_text(order)));
            }
            Awaiting::Two(order) => {
                let load = |var: u8| format!("__atomic_load_n(&x{var}, {})", order_in_c(order));
                self.line(&format!("    {other} = {};", load(0)));
                self.op(&format!("%{other} = load 4 {}, @x0", order_in_text(order)));
                self.line(&format!("while ({} != {value});", load(var)));
                self.op(&format!("%{read} = load 4 {}, @x{var}", order_in_text(order)));
            }
            Awaiting::Locked => {
                self.indent += 1;
                self.both("pthread_mutex_lock(&m[0]);", "lock @m");
                self.both(&format!("int {read} = x{var};"), &format!("%{read} = load 4, @x{var}"));
                self.both("pthread_mutex_unlock(&m[0]);", "unlock @m");
                self.line(&format!("if ({read} == {value}) break;"));
                self.indent -= 1;
                self.line("}");
            }
        }
        self.pure(&format!("%{holds} = eq 32 %{read}, {value}"));
        self.pure(&format!("branch %{holds}, {after}, {latch}"));
        self.begin(&latch);
        if let Awaiting::Atomic(_) = how {
            self.op("yield");
        }
        self.pure(&format!("goto {head}"));
        self.begin(&after);
        if let Awaiting::Two(_) = how {
            self.both(&format!("x1 = {other};"), &format!("store 4, @x1, %{other}"));
        }
    }

    /// Writes a loop with this bound in both languages.
    pub(super) fn repeat(&mut self, (c_times, times): &(String, String), body: &[Item]) {
        let (head, inside, after) = (self.fresh("head"), self.fresh("loop"), self.fresh("after"));
        let (i, next, more, latch) = (self.fresh("i"), self.fresh("next"), self.fresh("more"), self.fresh("<latch>"));
        self.line(&format!("for (int {i} = 0; {i} < {c_times}; {i}++) {{"));
        let entered_from = self.label.clone();
        self.pure(&format!("goto {head}"));
        self.begin(&head);
        self.pure(&format!("%{i} = phi [{entered_from}: 0, {latch}: %{next}]"));
        self.pure(&format!("%{more} = slt 32 %{i}, {times}"));
        self.pure(&format!("branch %{more}, {inside}, {after}"));
        self.begin(&inside);
        self.body(body);
        self.line("}");
        self.pure(&format!("%{next} = add 32 %{i}, 1"));
        self.pure(&format!("goto {head}"));
        self.text = self.text.replace(&latch, &self.label);
        self.begin(&after);
    }
}
