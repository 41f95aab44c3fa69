//! Writes a source.

use model::Surprise;

use super::places::declare;
use super::{Access, Callback, Ending, Language, Library, Locking, Move, Operation, Order, Registered, Source};

const HEAD: &str = r#"#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <locale.h>
#include <pthread.h>
#include <raceproof.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
"#;

const CXX_HEAD: &str = r#"#include <thread>
#include <utility>
#include <vector>
struct Guard {
    pthread_mutex_t *lock;
    explicit Guard(pthread_mutex_t *taken) : lock(taken) { pthread_mutex_lock(lock); }
    ~Guard() { pthread_mutex_unlock(lock); }
};
"#;

const SHARED: &str = r#"static int f0, f1;
static pthread_mutex_t m0 = PTHREAD_MUTEX_INITIALIZER, m1 = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];
static __thread int local;
static inline void take0(void) { pthread_mutex_lock(&m0); }
static inline void take1(void) { pthread_mutex_lock(&m1); }
static inline void give0(void) { pthread_mutex_unlock(&m0); }
static inline void give1(void) { pthread_mutex_unlock(&m1); }
"#;

/// The first worker's moves, made by `main` alone; there are bytes in the pipe for all it awaits.
pub(super) const REHEARSAL: &str = r#"    for (int i = 0; i < 2; i++) {
        local += write(ends[1], "aaaaaaaa", 8);
        first_worker(0);
    }
"#;

/// The text of a source; what `main` does before it creates the workers ends with the rehearsal.
pub(super) fn text(source: &Source, rehearsal: &str) -> String {
    let unwritten = source.environment.has(Surprise::Uninitialised);
    let mut emitter = Emitter { language: source.language, unwritten, helpers: String::new(), names: 0 };
    let workers = ["first_worker", "second_worker"];
    let last = ["", source.handles.last_of_second()];
    let mut functions = String::new();
    for (worker, (moves, last)) in workers.iter().zip(source.workers.iter().zip(last)) {
        let body = emitter.moves(moves, 1);
        functions += &format!("static void *{worker}(void *unused) {{\n{body}{last}    return unused;\n}}\n");
    }
    let [create, first, rest] = source.handles.parts();
    let [beside, between, after] = [&source.beside, &source.between, &source.after].map(|m| emitter.moves(m, 1));
    let registration = emitter.registration(source);
    let ending = match source.ending {
        Ending::Return => "    return 0;\n",
        Ending::Exit => "    exit(0);\n",
        Ending::QuickExit => "    quick_exit(0);\n",
        Ending::ThreadExit => "    pthread_exit(0);\n",
    };
    let cxx = if source.language == Language::Cxx { CXX_HEAD } else { "" };
    let (variables, prepare) = declare(source.place);
    let (declarations, helpers) = (source.handles.declarations(), emitter.helpers);
    format!(
        "{HEAD}{cxx}{variables}{SHARED}{declarations}{helpers}{functions}int main(void) {{\n    if (pipe(ends))\n        return 1;\n\
         {prepare}{registration}{rehearsal}{create}{beside}{first}{between}{rest}{after}{ending}}}\n"
    )
}

struct Emitter {
    language: Language,
    /// Whether choices are locals that were never written.
    unwritten: bool,
    /// Functions and variables that moves need.
    helpers: String,
    /// Number of generated names.
    names: u32,
}

impl Emitter {
    fn fresh(&mut self) -> u32 {
        self.names += 1;
        self.names
    }

    fn registration(&mut self, source: &Source) -> String {
        if source.at_exit.is_empty() {
            return String::new();
        }
        let body = self.moves(&source.at_exit, 1);
        let (parameters, register) = match source.registered {
            Registered::AtExit => ("void", "atexit(last_handler)"),
            Registered::OnExit => ("int status, void *unused", "on_exit(last_handler, 0)"),
            Registered::AtQuickExit => ("void", "at_quick_exit(last_handler)"),
        };
        self.helpers += &format!("static void last_handler({parameters}) {{\n{body}}}\n");
        format!("    {register};\n")
    }

    fn moves(&mut self, moves: &[Move], depth: usize) -> String {
        moves.iter().map(|one| self.one(one, depth)).collect()
    }

    /// A block of moves behind its head.
    fn block(&mut self, head: &str, moves: &[Move], depth: usize) -> String {
        let (pad, body) = ("    ".repeat(depth), self.moves(moves, depth + 1));
        format!("{pad}{head} {{\n{body}{pad}}}\n")
    }

    fn one(&mut self, one: &Move, depth: usize) -> String {
        let pad = "    ".repeat(depth);
        match one {
            Move::Read(variable) => format!("{pad}local += x{variable};\n"),
            Move::Write(variable) => format!("{pad}x{variable} = 1;\n"),
            Move::Locked(lock, how, inner) => self.locked(*lock, *how, inner, depth),
            Move::Thrown { guard, destroyed, inner, handler } => self.thrown(*guard, *destroyed, inner, handler, depth),
            Move::Jumped { held, by_pointer, inner, landed } => self.jumped(*held, *by_pointer, inner, landed, depth),
            Move::Publish(access) => format!("{pad}{}\n", publish(*access)),
            Move::Taken(access, inner) => {
                let (before, test) = take(*access, self.fresh());
                let before = if before.is_empty() { before } else { format!("{pad}{before}\n") };
                before + &self.block(&format!("if ({test})"), inner, depth)
            }
            Move::Fence(order) => {
                let order = if *order == Order::Consume { Order::Acquire } else { *order };
                format!("{pad}__atomic_thread_fence({});\n", name(order))
            }
            Move::Library(function) => self.library(*function, &pad),
            Move::Called(callback, inner) => self.called(*callback, inner, &pad),
            Move::Send => format!("{pad}local += write(ends[1], \"a\", 1);\n"),
            Move::Received(inner) => {
                let number = self.fresh();
                let block = self.block(&format!("if (read(ends[0], &byte{number}, 1) == 1)"), inner, depth);
                format!("{pad}char byte{number};\n{block}")
            }
            Move::Chosen(inner) if self.unwritten => {
                let number = self.fresh();
                format!("{pad}int open{number};\n") + &self.block(&format!("if (open{number})"), inner, depth)
            }
            Move::Chosen(inner) => self.block("if (raceproof_choose(0, 1))", inner, depth),
        }
    }

    fn locked(&mut self, lock: u8, how: Locking, inner: &[Move], depth: usize) -> String {
        let pad = "    ".repeat(depth);
        let (take, give) = (format!("pthread_mutex_lock(&m{lock});"), format!("pthread_mutex_unlock(&m{lock});"));
        match how {
            Locking::Guard if self.language == Language::Cxx => {
                let (number, body) = (self.fresh(), self.moves(inner, depth + 1));
                format!("{pad}{{\n{pad}    Guard guard{number}(&m{lock});\n{body}{pad}}}\n")
            }
            Locking::Plain | Locking::Guard => {
                let body = self.moves(inner, depth);
                format!("{pad}{take}\n{body}{pad}{give}\n")
            }
            Locking::InCallees => {
                let body = self.moves(inner, depth);
                format!("{pad}take{lock}();\n{body}{pad}give{lock}();\n")
            }
            Locking::OneBranch => {
                let (held, body) = (format!("held{}", self.fresh()), self.moves(inner, depth));
                format!(
                    "{pad}int {held} = __atomic_load_n(&f1, __ATOMIC_SEQ_CST);\n{pad}if ({held})\n{pad}    {take}\n{body}\
                     {pad}if ({held})\n{pad}    {give}\n"
                )
            }
            Locking::TryAnyway => {
                let (held, body) = (format!("held{}", self.fresh()), self.moves(inner, depth));
                format!(
                    "{pad}int {held} = !pthread_mutex_trylock(&m{lock});\n{body}{pad}if ({held})\n{pad}    {give}\n"
                )
            }
            Locking::Try => {
                let body = self.moves(inner, depth + 1);
                format!("{pad}if (!pthread_mutex_trylock(&m{lock})) {{\n{body}{pad}    {give}\n{pad}}}\n")
            }
        }
    }

    fn thrown(
        &mut self,
        guard: Option<u8>,
        destroyed: Option<u8>,
        inner: &[Move],
        handler: &[Move],
        depth: usize,
    ) -> String {
        let (number, body) = (self.fresh(), self.moves(inner, 1));
        let guard = guard.map_or(String::new(), |lock| format!("    Guard guard(&m{lock});\n"));
        let writer = destroyed.map_or(String::new(), |variable| {
            self.helpers +=
                &format!("struct Writer{number} {{\n    ~Writer{number}() {{\n        x{variable} = 1;\n    }}\n}};\n");
            format!("    Writer{number} writer;\n")
        });
        self.helpers += &format!("static void throw{number}(void) {{\n{guard}{writer}{body}    throw 1;\n}}\n");
        let (pad, handler) = ("    ".repeat(depth), self.moves(handler, depth + 1));
        format!("{pad}try {{\n{pad}    throw{number}();\n{pad}}} catch (int) {{\n{handler}{pad}}}\n")
    }

    fn jumped(&mut self, held: Option<u8>, by_pointer: bool, inner: &[Move], landed: &[Move], depth: usize) -> String {
        let (number, body) = (self.fresh(), self.moves(inner, 1));
        let take = held.map_or(String::new(), |lock| format!("    pthread_mutex_lock(&m{lock});\n"));
        let (pointer, call) = if by_pointer {
            let pointer = format!("static void (*volatile far{number})(jmp_buf, int) = longjmp;\n");
            (pointer, format!("far{number}"))
        } else {
            (String::new(), "longjmp".to_owned())
        };
        self.helpers += &format!(
            "static __thread jmp_buf jump{number};\n{pointer}static void leap{number}(void) {{\n{body}{take}    \
             {call}(jump{number}, 1);\n}}\n"
        );
        let (pad, landed) = ("    ".repeat(depth), self.moves(landed, depth + 1));
        let give = held.map_or(String::new(), |lock| format!("{pad}    pthread_mutex_unlock(&m{lock});\n"));
        format!(
            "{pad}if (setjmp(jump{number}) == 0) {{\n{pad}    leap{number}();\n{pad}}} else {{\n{landed}{give}{pad}}}\n"
        )
    }

    fn library(&mut self, function: Library, pad: &str) -> String {
        let number = self.fresh();
        match function {
            Library::Rand => format!("{pad}local += rand();\n"),
            Library::Drand48 => format!("{pad}local += drand48() > 0.5;\n"),
            Library::Strtok => {
                format!("{pad}char text{number}[] = \"a b\";\n{pad}local += strtok(text{number}, \" \") != 0;\n")
            }
            Library::Localtime => {
                format!("{pad}time_t now{number} = 0;\n{pad}local += localtime(&now{number})->tm_sec;\n")
            }
            Library::Getenv => format!("{pad}local += getenv(\"A\") != 0;\n"),
            Library::Setenv => format!("{pad}setenv(\"A\", \"1\", 1);\n"),
            Library::Strerror => format!("{pad}local += strerror(9999) != 0;\n"),
            Library::Mblen => format!("{pad}local += mblen(\"a\", 1);\n"),
        }
    }

    fn called(&mut self, callback: Callback, inner: &[Move], pad: &str) -> String {
        let (number, body) = (self.fresh(), self.moves(inner, 1));
        match callback {
            Callback::Sort | Callback::Search => {
                self.helpers += &format!(
                    "static int order{number}(const void *a, const void *b) {{\n{body}    \
                     return *(const int *)a - *(const int *)b;\n}}\n"
                );
                let call = if callback == Callback::Sort {
                    format!("qsort(keys{number}, 2, sizeof(int), order{number});")
                } else {
                    format!("local += bsearch(keys{number}, keys{number}, 2, sizeof(int), order{number}) != 0;")
                };
                format!("{pad}int keys{number}[2] = {{2, 1}};\n{pad}{call}\n")
            }
            Callback::Once => {
                self.helpers += &format!(
                    "static pthread_once_t once{number} = PTHREAD_ONCE_INIT;\nstatic void first{number}(void) {{\n{body}}}\n"
                );
                format!("{pad}pthread_once(&once{number}, first{number});\n")
            }
            Callback::Cleanup => {
                self.helpers += &format!("static void clean{number}(void *unused) {{\n{body}}}\n");
                format!("{pad}pthread_cleanup_push(clean{number}, 0);\n{pad}pthread_cleanup_pop(1);\n")
            }
            Callback::Key => {
                self.helpers += &format!(
                    "static pthread_key_t key{number};\nstatic void drop{number}(void *unused) {{\n{body}}}\n"
                );
                format!(
                    "{pad}pthread_key_create(&key{number}, drop{number});\n{pad}pthread_setspecific(key{number}, ends);\n"
                )
            }
        }
    }
}

/// The statement that sets a flag.
fn publish(Access { flag, operation, order, failure }: Access) -> String {
    let order_name = name(order);
    match operation {
        Operation::Plain => {
            let order = if matches!(order, Order::Release | Order::Sequential) { order } else { Order::Relaxed };
            format!("__atomic_store_n(&f{flag}, 1, {});", name(order))
        }
        Operation::Exchange => format!("local += __atomic_exchange_n(&f{flag}, 1, {order_name});"),
        Operation::CompareExchange(weak) => {
            let (weak, failure) = (u8::from(weak), name(failure));
            format!(
                "{{ int old = 0; local += __atomic_compare_exchange_n(&f{flag}, &old, 1, {weak}, {order_name}, {failure}); }}"
            )
        }
        Operation::Or => format!("local += __atomic_fetch_or(&f{flag}, 1, {order_name});"),
        Operation::And | Operation::Add => format!("local += __atomic_add_fetch(&f{flag}, 1, {order_name});"),
        Operation::Sync => format!("local += __sync_lock_test_and_set(&f{flag}, 1);"),
    }
}

/// What comes before testing a flag, and the test.
fn take(Access { flag, operation, order, failure }: Access, number: u32) -> (String, String) {
    let order_name = name(order);
    let test = match operation {
        Operation::Plain => {
            let store = matches!(order, Order::Release | Order::AcquireRelease);
            let order = if store { Order::Relaxed } else { order };
            format!("__atomic_load_n(&f{flag}, {})", name(order))
        }
        Operation::Exchange => format!("__atomic_exchange_n(&f{flag}, 0, {order_name})"),
        // A strong one reads the flag by failing, a weak one by succeeding.
        Operation::CompareExchange(weak) => {
            let (before, not) = if weak { (1, "") } else { (0, "!") };
            let test = format!(
                "{not}__atomic_compare_exchange_n(&f{flag}, &old{number}, 0, {}, {order_name}, {})",
                u8::from(weak),
                name(failure)
            );
            return (format!("int old{number} = {before};"), test);
        }
        Operation::Or => format!("__atomic_fetch_or(&f{flag}, 0, {order_name})"),
        Operation::And => format!("__atomic_fetch_and(&f{flag}, 0, {order_name})"),
        Operation::Add => format!("__atomic_fetch_add(&f{flag}, 0, {order_name})"),
        Operation::Sync => format!("__sync_val_compare_and_swap(&f{flag}, 1, 2)"),
    };
    (String::new(), test)
}

fn name(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "__ATOMIC_RELAXED",
        Order::Consume => "__ATOMIC_CONSUME",
        Order::Acquire => "__ATOMIC_ACQUIRE",
        Order::Release => "__ATOMIC_RELEASE",
        Order::AcquireRelease => "__ATOMIC_ACQ_REL",
        Order::Sequential => "__ATOMIC_SEQ_CST",
    }
}
