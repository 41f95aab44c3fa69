//! A C program of any length, to measure how an analysis scales.
//!
//! The text grows by whole modules of two thousand lines and twenty functions; everything else is the same at every
//! length, so that doubling the lines doubles the work of a linear analysis. It is shaped like a server: a pool of
//! workers takes jobs, which are function pointers with an argument, from a queue. Each module has a few tables shared
//! by the jobs, whose locks are on the heap and are acquired through wrappers; lists of nodes with a lock each;
//! functions that acquire a lock, and functions that are called with it held. Functions call the next ones of their
//! module, some recursively, and the last of a module calls into the next module, so that chains of calls are up to
//! [`CHAIN`] modules deep. All locks are acquired in one order, and the program terminates.
//!
//! Every access is protected except one line per [`CHAIN`] modules, marked `// RACE!`.

use std::fmt::Write as _;

use crate::generator::Random;

/// Approximate lines of a module.
const MODULE_LINES: usize = 2000;
/// Functions per module that acquire locks and call each other.
const STEPS: usize = 14;
/// Functions per module that are called with the table's lock held. With the job, the initialisation and the two lock
/// wrappers a module has twenty functions.
const HELD: usize = 2;
/// Minimum lines of one of these functions.
const FUNCTION_LINES: usize = 113;
/// Modules that call each other in a chain.
pub const CHAIN: usize = 10;
/// Tables of a module.
const TABLES: usize = 4;
/// The fields a table's lock protects, besides its list.
const FIELDS: [&str; 4] = ["hits", "misses", "size", "last"];

/// A program of about this many lines and at least one module.
pub fn program(lines: usize) -> String {
    let modules = (lines / MODULE_LINES).max(1);
    let mut random = Random::new(lines as u64);
    let mut text = String::from(POOL);
    for m in 0..modules {
        declarations(&mut text, m);
    }
    for m in 0..modules {
        module(&mut text, m, modules, &mut random);
    }
    main_function(&mut text, modules);
    text
}

/// The number of functions that [`program()`] defines for this many lines, in all modules.
pub fn functions(lines: usize) -> usize {
    (lines / MODULE_LINES).max(1) * (STEPS + HELD + 4)
}

const POOL: &str = r#"#include <pthread.h>
#include <stdlib.h>

struct job {
    void (*run)(void *);
    void *arg;
    struct job *next;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct job *head;
    int closed;
};

static struct pool pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0};
static pthread_mutex_t *totals_lock;
static long totals[64];

static struct job *take(struct pool *p) {
    pthread_mutex_lock(&p->lock);
    while (p->head == NULL && !p->closed)
        pthread_cond_wait(&p->work, &p->lock);
    struct job *job = p->head;
    if (job != NULL)
        p->head = job->next;
    pthread_mutex_unlock(&p->lock);
    return job;
}

static void submit(struct pool *p, void (*run)(void *), void *arg) {
    struct job *job = malloc(sizeof *job);
    job->run = run;
    job->arg = arg;
    pthread_mutex_lock(&p->lock);
    job->next = p->head;
    p->head = job;
    pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
}

static void *worker(void *arg) {
    struct pool *p = arg;
    struct job *job;
    while ((job = take(p)) != NULL) {
        job->run(job->arg);
        free(job);
    }
    return NULL;
}

static pthread_mutex_t *new_lock(void) {
    pthread_mutex_t *lock = malloc(sizeof *lock);
    pthread_mutex_init(lock, NULL);
    return lock;
}
"#;

/// Types, data and prototypes of a module.
fn declarations(out: &mut String, m: usize) {
    let prototypes: String = (0..STEPS)
        .map(|i| format!("static long m{m}_step{i}(struct m{m}_table *t, long x);\n"))
        .chain((0..HELD).map(|i| format!("static long m{m}_held{i}(struct m{m}_table *t, long x);\n")))
        .collect();
    write!(
        out,
        "
struct m{m}_node {{
    pthread_mutex_t lock;
    long value;
    long stamp;
    struct m{m}_node *next;
}};

struct m{m}_table {{
    pthread_mutex_t *lock;
    struct m{m}_node *nodes;
    long hits, misses, size, last;
    long slots[8];
}};

static struct m{m}_table m{m}_tables[{TABLES}];
{prototypes}"
    )
    .expect("writing to a string");
}

fn module(out: &mut String, m: usize, modules: usize, random: &mut Random) {
    write!(
        out,
        "
static void m{m}_enter(struct m{m}_table *t) {{
    pthread_mutex_lock(t->lock);
}}

static void m{m}_leave(struct m{m}_table *t) {{
    pthread_mutex_unlock(t->lock);
}}
"
    )
    .expect("writing to a string");
    for i in 0..HELD {
        function(out, &format!("m{m}_held{i}"), m, random, |body, random| {
            body.update(random, "    ");
            while body.lines < FUNCTION_LINES {
                if random.one_in(3) { body.update(random, "    ") } else { body.compute(random) }
            }
        });
    }
    for i in 0..STEPS {
        function(out, &format!("m{m}_step{i}"), m, random, |body, random| {
            while body.lines < FUNCTION_LINES {
                match random.below(8) {
                    0..4 => body.compute(random),
                    4 => body.critical_section(random),
                    5 => body.walk(random),
                    6 => body.insert(random),
                    _ => body.total(random),
                }
            }
            if i == 7 && m.is_multiple_of(CHAIN) {
                body.line("    t->last = a; // RACE!");
            }
            body.calls(i, modules);
        });
    }
    write!(
        out,
        "
static void m{m}_job(void *arg) {{
    struct m{m}_table *t = arg;
    long x = m{m}_step0(t, 24 + (t - m{m}_tables));
    pthread_mutex_lock(totals_lock);
    totals[{}] += x;
    pthread_mutex_unlock(totals_lock);
}}

static void m{m}_set_up(void) {{
    for (int i = 0; i < {TABLES}; i++) {{
        struct m{m}_table *t = &m{m}_tables[i];
        t->lock = new_lock();
        t->nodes = NULL;
        t->hits = t->misses = t->size = t->last = 0;
    }}
}}
",
        m % 64
    )
    .expect("writing to a string");
}

fn function(out: &mut String, name: &str, m: usize, random: &mut Random, fill: impl Fn(&mut Body<'_>, &mut Random)) {
    write!(out, "\nstatic long {name}(struct m{m}_table *t, long x) {{\n    long a = x, b = {}, c = 1;\n", m + 1)
        .expect("writing to a string");
    let mut body = Body { out, module: m, lines: 4 };
    fill(&mut body, random);
    body.line("    return a + b + c;\n}");
}

/// The statements of one function.
struct Body<'a> {
    out: &'a mut String,
    module: usize,
    lines: usize,
}

impl Body<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
        self.lines += 1 + text.matches('\n').count();
    }

    /// Uses locals only, as most of real code does.
    fn compute(&mut self, random: &mut Random) {
        let (n, k) = (random.below(90) + 3, random.below(7) + 2);
        match random.below(4) {
            0 => self.line(&format!(
                "    for (int i = 0; i < {k}; i++) {{\n        a += b * i;\n        b ^= a >> {k};\n    }}"
            )),
            1 => self.line(&format!(
                "    if (a > b) {{\n        c = a - {n};\n        a = b;\n    }} else {{\n        c += {n};\n    }}"
            )),
            2 => self.line(&format!(
                "    switch (a & 3) {{\n    case 0:\n        b += {n};\n        break;\n    case 1:\n        \
                 c -= b;\n        break;\n    default:\n        a = a * {k} + {n};\n    }}"
            )),
            _ => self.line(&format!("    b = (b << 1) ^ {n};\n    a += b % {k};\n    c = c * {k} + a;")),
        }
    }

    /// Updates the table while its lock is held.
    fn update(&mut self, random: &mut Random, indent: &str) {
        let (field, other, n) = (random.pick(&FIELDS), random.pick(&FIELDS), random.below(8));
        self.line(&format!(
            "{indent}t->{field} += a;\n{indent}t->slots[(a + {n}) & 7] ^= b;\n{indent}if (t->{other} > c)\n\
             {indent}    c = t->slots[{n}];"
        ));
    }

    fn critical_section(&mut self, random: &mut Random) {
        let m = self.module;
        self.line(&format!("    m{m}_enter(t);"));
        self.update(random, "    ");
        if random.one_in(2) {
            self.line(&format!("    b += m{m}_held{}(t, c);", random.below(HELD)));
        }
        self.line(&format!("    m{m}_leave(t);"));
    }

    /// The table's lock protects the list, a node's own lock its data.
    fn walk(&mut self, random: &mut Random) {
        let (m, n) = (self.module, random.below(50));
        self.line(&format!(
            "    pthread_mutex_lock(t->lock);
    for (struct m{m}_node *n = t->nodes; n != NULL; n = n->next) {{
        pthread_mutex_lock(&n->lock);
        n->value += a;
        if (n->stamp < {n})
            n->stamp = b;
        pthread_mutex_unlock(&n->lock);
    }}
    pthread_mutex_unlock(t->lock);"
        ));
    }

    /// A node is private until it is in the list.
    fn insert(&mut self, random: &mut Random) {
        let (m, n) = (self.module, random.below(50));
        self.line(&format!(
            "    if (a % 7 == 0) {{
        struct m{m}_node *n = malloc(sizeof *n);
        pthread_mutex_init(&n->lock, NULL);
        n->value = a;
        n->stamp = {n};
        m{m}_enter(t);
        n->next = t->nodes;
        t->nodes = n;
        t->size++;
        m{m}_leave(t);
    }}"
        ));
    }

    fn total(&mut self, random: &mut Random) {
        let n = random.below(64);
        self.line(&format!(
            "    pthread_mutex_lock(totals_lock);\n    totals[{n}] += b;\n    c ^= totals[{n}];\n    \
             pthread_mutex_unlock(totals_lock);"
        ));
    }

    /// The calls of step `i`: one of the next two steps, or into the next module. Some steps call themselves or the one
    /// before; `x` decreases with every call inside a module.
    fn calls(&mut self, i: usize, modules: usize) {
        let m = self.module;
        match i {
            5 => self.line(&format!("    if (x > 20)\n        return a + m{m}_step5(t, x - 1);")),
            9 => self.line(&format!("    if (x > 10)\n        return b + m{m}_step8(t, x - 1);")),
            _ => {}
        }
        match STEPS - 1 - i {
            0 if !(m + 1).is_multiple_of(CHAIN) && m + 1 < modules => {
                let next = m + 1;
                self.line(&format!("    a += m{next}_step0(&m{next}_tables[a & {}], b & 31);", TABLES - 1));
            }
            0 => {}
            1 => self.line(&format!("    a += m{m}_step{}(t, x - 1);", i + 1)),
            _ => self.line(&format!(
                "    if (a & 1)\n        b += m{m}_step{}(t, x - 1);\n    else\n        b += m{m}_step{}(t, x - 2);",
                i + 1,
                i + 2
            )),
        }
    }
}

fn main_function(out: &mut String, modules: usize) {
    out.push_str("\nint main(void) {\n    pthread_t workers[8];\n    totals_lock = new_lock();\n");
    for m in 0..modules {
        writeln!(out, "    m{m}_set_up();").expect("writing to a string");
    }
    out.push_str("    for (int i = 0; i < 8; i++)\n        pthread_create(&workers[i], NULL, worker, &pool);\n");
    for m in 0..modules {
        writeln!(out, "    for (int i = 0; i < 8; i++)\n        submit(&pool, m{m}_job, &m{m}_tables[i % {TABLES}]);")
            .expect("writing to a string");
    }
    out.push_str(
        "    pthread_mutex_lock(&pool.lock);
    pool.closed = 1;
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < 8; i++)
        pthread_join(workers[i], NULL);
    return totals[0] != 0;
}
",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_and_functions_are_as_asked_for() {
        for lines in [2_000, 25_000, 200_000] {
            let text = program(lines);
            let length = text.lines().count();
            assert!(length.abs_diff(lines) * 20 < lines, "{length} lines instead of {lines}");
            let defined = text.lines().filter(|l| l.starts_with("static ") && l.ends_with(") {")).count();
            assert_eq!(defined, functions(lines) + 4, "and those of the pool");
            let races = text.lines().filter(|l| l.ends_with("// RACE!")).count();
            assert_eq!(races, (lines / MODULE_LINES).div_ceil(CHAIN));
        }
        assert_eq!(functions(200_000), 2_000);
        assert_eq!(program(50_000), program(50_000));
    }
}
