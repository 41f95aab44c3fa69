use super::*;

/// The text after the edit for accesses in the lines that end with `// HERE`, at the variable's last name.
fn edited(name: &str, text: &str, variable: &str, lock: &str) -> Option<String> {
    let last = variable.rsplit('.').next().unwrap();
    let here = (1..).zip(text.lines()).filter(|(_, line)| line.contains("// HERE"));
    let places = here.map(|(n, line)| (n, line.find(last).unwrap() as u32 + 1)).collect();
    let wish = Wish { variable: variable.to_owned(), lock: lock.to_owned(), places };
    let (edits, _) = hold(text, Path::new(name), &wish)?;
    let mut edited = text.to_owned();
    for (range, new) in edits.into_iter().rev() {
        edited.replace_range(range, &new);
    }
    Some(edited)
}

const GLOBAL: &str = "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic int x, y;\n";

fn in_function(body: &str) -> Option<String> {
    let text = format!("{GLOBAL}void f(int *p) {{\n{body}\n}}\n");
    let edited = edited("a.c", &text, "x", "m")?;
    let start = edited.find("{\n").unwrap() + 2;
    Some(edited[start..edited.len() - 3].to_owned())
}

#[test]
fn a_whole_statement_is_surrounded() {
    assert_eq!(
        in_function("    x = 10; // HERE").as_deref(),
        Some("    pthread_mutex_lock(&m);\n    x = 10; // HERE\n    pthread_mutex_unlock(&m);")
    );
    assert_eq!(
        in_function("\tprintf(\"%d\",\n\t\tx); // HERE").as_deref(),
        Some("\tpthread_mutex_lock(&m);\n\tprintf(\"%d\",\n\t\tx); // HERE\n\tpthread_mutex_unlock(&m);")
    );
    assert_eq!(
        in_function("  x++; // HERE\r").as_deref(),
        Some("  pthread_mutex_lock(&m);\r\n  x++; // HERE\r\n  pthread_mutex_unlock(&m);\r")
    );
}

#[test]
fn nothing_else_is() {
    for body in [
        "    if (x) // HERE\n        y = 1;",
        "    while (x) {} // HERE",
        "    return x; // HERE",
        "    int z = x; // HERE",
        "    y = 1; x = 2; // HERE",
        "    if (y)\n        x = 2; // HERE",
        "    x = g(); // HERE",
        "    pthread_join(x, 0); // HERE",
        "    x = ({ goto out; 1; }); // HERE\nout:;",
        "    switch (y) {\n    case 1:\n        x = 1; // HERE\n    }",
        "    pthread_mutex_t m;\n    x = 1; // HERE",
        "    x = 1; // HERE\n    x = 2; // HERE",
        "    x = ; // HERE",
        "    x = 1; /* HERE */ /* // HERE */ y = 2; /* */",
        "    /* */ x = 1; // HERE",
        "    for (;;) x = 1; // HERE",
    ] {
        assert_eq!(in_function(body), None, "{body}");
    }
    let text = "static int x;\nvoid f(void) {\n    x = 1; // HERE\n}\n";
    assert_eq!(edited("a.c", text, "x", "m"), None, "the lock is not declared");
    let text = format!("{}pthread_mutex_t *p;\nvoid f(void) {{\n    x = 1; // HERE\n}}\n", GLOBAL);
    assert_eq!(edited("a.c", &text, "x", "p"), None, "a pointer is not a lock");
}

/// A lock that is held already, on some way to the statement, is not taken again.
#[test]
fn a_lock_is_not_taken_twice() {
    let add = "static void add(void) {\n    x += 1; // HERE\n}\n";
    let with = |rest: &str| edited("a.c", &format!("{GLOBAL}{add}{rest}"), "x", "m");
    assert!(
        with("void f(void) { add(); }\nvoid g(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }\n").is_some()
    );
    assert_eq!(with("void f(void) { pthread_mutex_lock(&m); add(); pthread_mutex_unlock(&m); }\n"), None);
    assert_eq!(with("void f(void) { add(); }\nvoid g(void) { pthread_mutex_lock(&m); f(); }\n"), None);
    let take = "void take(void) { pthread_mutex_lock(&m); }\n";
    assert_eq!(with(&format!("{take}void f(void) {{ take(); add(); }}\n")), None);
    assert!(with(&format!("{take}void g(void) {{ take(); }}\nvoid f(void) {{ add(); }}\n")).is_some());
    let after = format!("{GLOBAL}{take}void f(void) {{\n    take();\n    x = 1; // HERE\n}}\n");
    assert_eq!(edited("a.c", &after, "x", "m"), None);
    assert_eq!(in_function("    if (y) pthread_mutex_lock(&m);\n    x = 1; // HERE"), None);
    assert!(in_function("    x = 1; // HERE\n    pthread_mutex_lock(&m);").is_some());
}

const FIELDS: &str = "struct account {\n    pthread_mutex_t lock;\n    long balance;\n};\nstruct account savings;\n";

#[test]
fn a_lock_is_reached_as_its_neighbour_is() {
    let of = |body: &str| {
        let text = format!("{FIELDS}void f(struct account *a, struct account *v, int i) {{\n{body}\n}}\n");
        let edited = edited("a.c", &text, "savings.balance", "savings.lock")?;
        let line = edited.lines().find(|line| line.contains("pthread_mutex_lock"))?.trim().to_owned();
        Some(line)
    };
    assert_eq!(of("    a->balance -= 1; // HERE").as_deref(), Some("pthread_mutex_lock(&a->lock);"));
    assert_eq!(of("    savings.balance = a->balance; // HERE"), None, "two owners");
    assert_eq!(of("    v[i].balance = 2; // HERE").as_deref(), Some("pthread_mutex_lock(&v[i].lock);"));
    assert_eq!(of("    v[i++].balance = 2; // HERE"), None);
    assert_eq!(of("    (i = 3, v[i].balance = 2); // HERE"), None);
    assert_eq!(of("    i = a->balance; // HERE").as_deref(), Some("pthread_mutex_lock(&a->lock);"));
    let two = format!(
        "struct other {{ int lock; long balance; }};\n{FIELDS}void f(struct other *a) {{\n    a->balance = 1; // HERE\n}}\n"
    );
    assert_eq!(edited("a.c", &two, "savings.balance", "savings.lock"), None, "which struct?");
}

#[test]
fn mutexes_of_cxx_are_held_by_a_block() {
    let text = "#include <mutex>\nclass Queue {\n    std::mutex lock;\n    int size;\n    void add() {\n        size += 1; // HERE\n    }\n};\n";
    let expected = text.replace(
        "        size += 1; // HERE\n",
        "        {\n            std::lock_guard<std::mutex> guard(lock);\n            size += 1; // HERE\n        }\n",
    );
    assert_eq!(edited("a.cpp", text, "queue.size", "queue.lock"), Some(expected));
    assert_eq!(edited("a.c", text, "queue.size", "queue.lock"), None);
}
