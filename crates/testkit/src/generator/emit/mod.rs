//! Writes a sketch as C and as a text program, in lockstep: every statement has a line of its own in the C source, and
//! the sites of the text program refer to that line.

mod control;
mod operands;

use std::collections::BTreeSet;

use operands::{order_in_c, order_in_text, store_order_in_text};

use super::sketch::{Item, LockRef, Sketch, Test};

/// The name of the C source in sites.
pub const FILE: &str = "case.c";

/// A sketch in both languages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Emitted {
    /// The C source.
    pub c: String,
    /// The text program.
    pub text: String,
}

/// Writes the sketch in both languages.
pub(super) fn emit(sketch: &Sketch) -> Emitted {
    let mut emitter = Emitter::default();
    emitter.head(sketch);
    for (thread, items) in sketch.threads.iter().enumerate().rev() {
        emitter.function(sketch, thread, items);
    }
    emitter.text.push_str("entry main\n");
    Emitted { c: emitter.c.join("\n") + "\n", text: emitter.text }
}

#[derive(Default)]
struct Emitter {
    /// Lines.
    c: Vec<String>,
    text: String,
    /// Nesting depth of the C block.
    indent: usize,
    /// Number of generated names.
    names: u32,
    /// The current block.
    label: String,
    /// Locals that are defined here.
    defined: BTreeSet<u8>,
    /// Threads created in this function.
    created: BTreeSet<usize>,
}

impl Emitter {
    /// Adds a line of C.
    fn line(&mut self, text: &str) {
        self.c.push(format!("{:1$}{text}", "", self.indent * 4));
    }
    /// Adds a visible statement of the text program that belongs to the last line of C.
    fn op(&mut self, text: &str) {
        let site = format!("!{FILE}:{}:1", self.c.len());
        self.text.push_str(&format!("  {text:44} {site}\n"));
    }
    /// Adds a statement without a site.
    fn pure(&mut self, text: &str) {
        self.text.push_str(&format!("  {text}\n"));
    }
    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }
    fn begin(&mut self, label: &str) {
        self.text.push_str(&format!("{label}:\n"));
        self.label = label.to_owned();
    }
    /// Adds a statement in both languages.
    fn both(&mut self, c: &str, text: &str) {
        self.line(c);
        self.op(text);
    }

    fn head(&mut self, sketch: &Sketch) {
        for header in ["assert", "pthread", "sched", "semaphore", "stdlib", "time"] {
            self.line(&format!("#include <{header}.h>"));
        }
        if sketch.has(|i| matches!(i, Item::Choose { .. })) {
            self.line("#include <raceproof.h>");
        }
        if sketch.has(|i| matches!(i, Item::Assume { .. })) {
            self.line("void __VERIFIER_assume(int condition);");
        }
        if sketch.has(|i| matches!(i, Item::Section(_))) {
            self.line("void __VERIFIER_atomic_begin(void);");
            self.line("void __VERIFIER_atomic_end(void);");
        }
        // Only `main` is visible outside, so that several programs can be linked together.
        self.line("#define OWN static __attribute__((unused))");
        const GLOBALS: &[(&str, &str)] = &[
            ("int x0;", "x0: 4"),
            ("int x1;", "x1: 4"),
            ("int x2;", "x2: 4"),
            ("int a[2];", "a: 8"),
            ("union { int word; unsigned char bytes[4]; } w;", "w: 4"),
            ("int *heap;", "heap: 8"),
            ("pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};", "m: 80"),
            ("pthread_mutex_t recursive;", "recursive: 40"),
            ("pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;", "rw: 56"),
            ("pthread_cond_t c = PTHREAD_COND_INITIALIZER;", "c: 48"),
            ("sem_t s;", "s: 32"),
            ("pthread_barrier_t b;", "b: 32"),
            ("pthread_once_t o = PTHREAD_ONCE_INIT;", "o: 4"),
        ];
        for (c, text) in GLOBALS {
            self.line(&format!("OWN {c}"));
            self.text.push_str(&format!("global {text}\n"));
        }
        if sketch.has(|i| matches!(i, Item::SetPointer { .. } | Item::FollowPointer { .. })) {
            self.line("OWN int *p;");
            self.text.push_str("global p: 8\n");
        }
        self.line("OWN const struct timespec soon = {0, 0};");
        for thread in 1..sketch.threads.len() {
            self.line(&format!("OWN void *thread{thread}(void *arg);"));
        }
        self.line("OWN void once_routine(void);");
        self.line("");
        self.line("void once_routine(void) {");
        self.text.push_str("\nfn once_routine() {\n");
        self.body(&sketch.once);
        self.line("}");
        self.pure("return");
        self.text.push_str("}\n");
    }

    fn function(&mut self, sketch: &Sketch, thread: usize, items: &[Item]) {
        self.defined.clear();
        self.created.clear();
        self.line("");
        if thread == 0 {
            self.line("int main(void) {");
            self.text.push_str("\nfn main() {\n");
        } else {
            self.line(&format!("void *thread{thread}(void *arg) {{"));
            self.text.push_str(&format!("\nfn thread{thread}(%arg) {{\n"));
        }
        self.indent = 1;
        if thread != 0 {
            self.line("(void)arg;");
        }
        self.begin("entry");
        for item in items {
            if let Item::Create(child) = item {
                self.line(&format!("pthread_t t{child};"));
            }
        }
        if thread == 0 {
            self.set_up(sketch);
        }
        self.items(items);
        self.line(if thread == 0 { "return 0;" } else { "return NULL;" });
        self.pure("return 0");
        self.indent = 0;
        self.line("}");
        self.text.push_str("}\n");
    }

    /// Initialises the objects that need it.
    fn set_up(&mut self, sketch: &Sketch) {
        let recursive = |lock: &LockRef| *lock == LockRef::Recursive;
        let uses_recursive = |item: &Item| match item {
            Item::Lock(lock) | Item::Unlock(lock) | Item::If { test: Test::TryLock(lock), .. } => recursive(lock),
            _ => false,
        };
        if sketch.has(uses_recursive) {
            self.line("pthread_mutexattr_t attr;");
            self.line("pthread_mutexattr_init(&attr);");
            self.line("pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);");
            self.both("pthread_mutex_init(&recursive, &attr);", "lock_init @recursive recursive");
        }
        if sketch.has(|i| matches!(i, Item::Post | Item::Take | Item::If { test: Test::TryWait, .. })) {
            let tokens = sketch.tokens;
            self.both(&format!("sem_init(&s, 0, {tokens});"), &format!("sem_init @s, {tokens}"));
        }
        if sketch.has(|i| matches!(i, Item::Meet | Item::If { test: Test::Serial, .. })) {
            self.both("pthread_barrier_init(&b, NULL, 2);", "barrier_init @b, 2");
        }
        if sketch.has(|i| matches!(i, Item::ReadHeap { .. } | Item::WriteHeap { .. } | Item::FreeHeap)) {
            self.line("heap = malloc(sizeof *heap);");
            self.op("%block = alloc 4");
            self.op("store 8, @heap, %block");
        }
    }

    /// Writes the items of an inner C block.
    fn body(&mut self, items: &[Item]) {
        self.indent += 1;
        let outer = self.defined.clone();
        self.items(items);
        self.defined = outer;
        self.indent -= 1;
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Read { var, local } => {
                self.read_line(*local, &format!("x{var}"));
                self.op(&format!("%l{local} = load 4, @x{var}"));
            }
            Item::Write { var, value } => {
                let (c, text) = self.value(*value);
                self.both(&format!("x{var} = {c};"), &format!("store 4, @x{var}, {text}"));
            }
            Item::Increment { var } => {
                let (old, new) = (self.fresh("old"), self.fresh("new"));
                self.both(&format!("x{var} = x{var} + 1;"), &format!("%{old} = load 4, @x{var}"));
                self.pure(&format!("%{new} = add 32 %{old}, 1"));
                self.op(&format!("store 4, @x{var}, %{new}"));
            }
            Item::Update { what, old, changes } => self.update(*what, *old, changes),
            Item::ReadElement { index, local } => {
                let c = self.index_in_c(*index);
                self.read_line(*local, &format!("a[{c}]"));
                let address = self.element(*index);
                self.op(&format!("%l{local} = load 4, %{address}"));
            }
            Item::WriteElement { index, value } => {
                let (c, text) = self.value(*value);
                let index_in_c = self.index_in_c(*index);
                self.line(&format!("a[{index_in_c}] = {c};"));
                let address = self.element(*index);
                self.op(&format!("store 4, %{address}, {text}"));
            }
            Item::ReadWord { local } => {
                self.read_line(*local, "w.word");
                self.op(&format!("%l{local} = load 4, @w"));
            }
            Item::WriteWord { value } => {
                let (c, text) = self.value(*value);
                self.both(&format!("w.word = {c};"), &format!("store 4, @w, {text}"));
            }
            Item::WriteByte { byte, value } => {
                let (c, text) = self.value(*value);
                self.both(&format!("w.bytes[{byte}] = {c};"), &format!("store 1, @w+{byte}, {text}"));
            }
            Item::ReadHeap { local } => {
                self.read_line(*local, "*heap");
                let pointer = self.load_pointer();
                self.op(&format!("%l{local} = load 4, %{pointer}"));
            }
            Item::WriteHeap { value } => {
                let (c, text) = self.value(*value);
                self.line(&format!("*heap = {c};"));
                let pointer = self.load_pointer();
                self.op(&format!("store 4, %{pointer}, {text}"));
            }
            Item::FreeHeap => {
                self.line("free(heap);");
                let pointer = self.load_pointer();
                self.op(&format!("free %{pointer}"));
            }
            Item::SetPointer { null } => {
                let (c, text) = if *null { ("NULL", "0") } else { ("&x0", "@x0") };
                self.both(
                    &format!("__atomic_store_n(&p, {c}, __ATOMIC_SEQ_CST);"),
                    &format!("store 8 seq_cst, @p, {text}"),
                );
            }
            Item::FollowPointer { local } => {
                let pointer = self.fresh("pointer");
                self.read_line(*local, "*__atomic_load_n(&p, __ATOMIC_SEQ_CST)");
                self.op(&format!("%{pointer} = load 8 seq_cst, @p"));
                self.op(&format!("%l{local} = load 4, %{pointer}"));
            }
            Item::Divide { var, local } => {
                let read = self.fresh("read");
                self.read_line(*local, &format!("6 / __atomic_load_n(&x{var}, __ATOMIC_SEQ_CST)"));
                self.op(&format!("%{read} = load 4 seq_cst, @x{var}"));
                self.pure(&format!("%l{local} = sdiv 32 6, %{read}"));
            }
            Item::Destroy(mutex) => {
                let offset = u32::from(*mutex) * 40;
                self.both(&format!("pthread_mutex_destroy(&m[{mutex}]);"), &format!("lock_destroy @m+{offset}"));
            }
            Item::AtomicLoad { var, order, local } => {
                self.read_line(*local, &format!("__atomic_load_n(&x{var}, {})", order_in_c(*order)));
                self.op(&format!("%l{local} = load 4 {}, @x{var}", order_in_text(*order)));
            }
            Item::AtomicStore { var, value, order } => {
                let (c, text) = self.value(*value);
                self.both(
                    &format!("__atomic_store_n(&x{var}, {c}, {});", order_in_c(*order)),
                    &format!("store 4 {}, @x{var}, {text}", store_order_in_text(*order)),
                );
            }
            Item::FetchAdd { var, order } => {
                let old = self.fresh("old");
                self.both(
                    &format!("__atomic_fetch_add(&x{var}, 1, {});", order_in_c(*order)),
                    &format!("%{old} = rmw add 4 {}, @x{var}, 1", order_in_text(*order)),
                );
            }
            Item::Fence(order) => self.both(
                &format!("__atomic_thread_fence({});", order_in_c(*order)),
                &format!("fence {}", order_in_text(*order)),
            ),
            Item::Lock(lock) => {
                let function = match lock {
                    LockRef::Read => "pthread_rwlock_rdlock",
                    LockRef::Write => "pthread_rwlock_wrlock",
                    LockRef::Mutex(_) | LockRef::Chosen(_) | LockRef::Recursive => "pthread_mutex_lock",
                };
                let word = if *lock == LockRef::Read { "rdlock" } else { "lock" };
                self.lock_operation(function, word, *lock);
            }
            Item::Unlock(lock) => {
                let shared = matches!(lock, LockRef::Read | LockRef::Write);
                let function = if shared { "pthread_rwlock_unlock" } else { "pthread_mutex_unlock" };
                self.lock_operation(function, "unlock", *lock);
            }
            Item::Wait { var, repeat, timed } => self.wait(*var, *repeat, *timed),
            Item::Signal => self.both("pthread_cond_signal(&c);", "signal @c"),
            Item::Broadcast => self.both("pthread_cond_broadcast(&c);", "broadcast @c"),
            Item::Post => self.both("sem_post(&s);", "sem_post @s"),
            Item::Take => self.both("sem_wait(&s);", "sem_wait @s"),
            Item::Meet => self.both("pthread_barrier_wait(&b);", "barrier_wait @b"),
            Item::Once => self.both("pthread_once(&o, once_routine);", "once @o, &once_routine"),
            Item::Yield => self.both("sched_yield();", "yield"),
            Item::AssertNot { var, value } => {
                let (read, holds) = (self.fresh("read"), self.fresh("holds"));
                self.both(&format!("assert(x{var} != {value});"), &format!("%{read} = load 4, @x{var}"));
                self.pure(&format!("%{holds} = ne 32 %{read}, {value}"));
                self.op(&format!("assert %{holds}"));
            }
            Item::Choose { hi, local } => {
                self.read_line(*local, &format!("(int)raceproof_choose(0, {hi})"));
                self.op(&format!("%l{local} = choose 0, {hi}"));
            }
            Item::Assume { local, value } => {
                let (c, text) = self.local(*local);
                let holds = self.fresh("holds");
                self.line(&format!("__VERIFIER_assume({c} == {value});"));
                self.pure(&format!("%{holds} = eq 32 {text}, {value}"));
                self.op(&format!("assume %{holds}"));
            }
            Item::Section(items) => {
                self.both("__VERIFIER_atomic_begin();", "section_begin");
                self.items(items);
                self.both("__VERIFIER_atomic_end();", "section_end");
            }
            Item::Await { var, value, how } => self.awaiting(*var, *value, *how),
            Item::If { test, then } => self.branch(test, then),
            Item::Repeat { times, body } => self.repeat(&(times.to_string(), times.to_string()), body),
            Item::RepeatUpTo { local, body } => self.repeat(&self.local(*local), body),
            Item::Create(child) => {
                self.created.insert(*child);
                self.both(
                    &format!("pthread_create(&t{child}, NULL, thread{child}, NULL);"),
                    &format!("%t{child} = create &thread{child}, 0"),
                );
            }
            Item::Join(child) if self.created.contains(child) => {
                self.both(&format!("pthread_join(t{child}, NULL);"), &format!("join %t{child}"));
            }
            Item::Detach(child) if self.created.contains(child) => {
                self.both(&format!("pthread_detach(t{child});"), &format!("detach %t{child}"));
            }
            Item::Join(_) | Item::Detach(_) => {}
        }
    }
}
