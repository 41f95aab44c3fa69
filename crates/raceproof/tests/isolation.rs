//! Programs that reach beyond their own memory: thread-locals of libraries, and ends that take the process along.

mod common;

use std::path::Path;
use std::process::Command;

use common::Folder;

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

/// A shared library that was not compiled here, and the C library, have thread-locals of their own for each thread.
#[test]
fn thread_locals_of_libraries_belong_to_threads() {
    const LIBRARY: &str =
        "__thread int value = 7;\nvoid lib_set(int v) { value = v; }\nint lib_get(void) { return value; }\n";
    const PROGRAM: &str = "#include <assert.h>\n#include <locale.h>\n#include <pthread.h>\n\
        void lib_set(int);\nint lib_get(void);\n\
        static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
        static void *run(void *arg) {\n    assert(lib_get() == 7);\n    lib_set((int)(long)arg);\n\
        \x20   locale_t mine = newlocale(LC_ALL_MASK, \"C\", 0);\n    uselocale(mine);\n\
        \x20   pthread_mutex_lock(&m);\n    pthread_mutex_unlock(&m);\n\
        \x20   assert(lib_get() == (int)(long)arg && uselocale(0) == mine);\n    return 0;\n}\n\
        int main(void) {\n    pthread_t a, b;\n    pthread_create(&a, 0, run, (void *)1);\n\
        \x20   pthread_create(&b, 0, run, (void *)2);\n    pthread_join(a, 0);\n    pthread_join(b, 0);\n\
        \x20   assert(uselocale(0) == LC_GLOBAL_LOCALE && lib_get() == 7);\n}\n";
    let folder = Folder::empty();
    write(folder.path(), "lib.c", LIBRARY);
    write(folder.path(), "tls.c", PROGRAM);
    let mut compiler = Command::new("clang-19");
    compiler.args(["-shared", "-fPIC", "lib.c", "-o", "libtl.so"]).current_dir(folder.path());
    assert!(compiler.status().expect("clang-19 is installed").success());
    let path = format!("-Wl,-rpath,{}", folder.path().display());
    assert_eq!(folder.raceproof(&["cc", "tls.c", "-L.", "-ltl", &path, "-o", "tls"]).status, 0);
    for reduction in ["best", "none"] {
        let pure = ["--assume-pure", "lib_set", "--assume-pure", "lib_get"];
        let run = folder.raceproof(&[&["explore", "tls", "--reduction", reduction][..], &pure[..]].concat());
        assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    }
}

/// So does a library that the program loads while threads run, also for threads that were there before.
#[test]
fn thread_locals_of_loaded_libraries_belong_to_threads() {
    const LIBRARY: &str = "static __thread int own = 5;\n__thread char room[5000];\n\
        int next(void) { room[own] = 1; return ++own; }\n";
    const PROGRAM: &str = "#include <assert.h>\n#include <dlfcn.h>\n#include <pthread.h>\n#include <semaphore.h>\n\
        static int (*next)(void);\nstatic sem_t loaded;\nstatic int seen[2];\n\
        static void *run(void *arg) {\n    sem_wait(&loaded);\n    seen[(long)arg] = next() + next();\n    return 0;\n}\n\
        int main(void) {\n    pthread_t a, b;\n    sem_init(&loaded, 0, 0);\n    pthread_create(&a, 0, run, (void *)0);\n\
        \x20   void *library = dlopen(\"./late.so\", RTLD_NOW);\n    assert(library);\n\
        \x20   next = (int (*)(void))dlsym(library, \"next\");\n    assert(next() == 6);\n\
        \x20   pthread_create(&b, 0, run, (void *)1);\n    sem_post(&loaded);\n    sem_post(&loaded);\n\
        \x20   pthread_join(a, 0);\n    pthread_join(b, 0);\n    dlclose(library);\n\
        \x20   assert(seen[0] == 13 && seen[1] == 13);\n}\n";
    let folder = Folder::empty();
    write(folder.path(), "late.c", LIBRARY);
    write(folder.path(), "loads.c", PROGRAM);
    let mut compiler = Command::new("clang-19");
    compiler.args(["-shared", "-fPIC", "late.c", "-o", "late.so"]).current_dir(folder.path());
    assert!(compiler.status().expect("clang-19 is installed").success());
    for reduction in ["best", "none"] {
        let run = folder.raceproof(&["explore", "loads.c", "--reduction", reduction, "--max-executions", "300"]);
        let is_named = run.stdout.contains("loads code that was not instrumented");
        assert!(run.status == 3 && is_named && !run.stdout.contains("failed"), "{}{}", run.stdout, run.stderr);
    }
}

/// A program that ends by a signal of its own keeps what was found before.
#[test]
fn an_end_by_a_signal_hides_nothing() {
    for end in ["raise(SIGKILL)", "kill(getpid(), SIGKILL)", "raise(SIGTERM)"] {
        let source = format!(
            "#include <pthread.h>\n#include <signal.h>\n#include <unistd.h>\nint x;\n\
             static void *run(void *a) {{ x = 1; return a; }}\n\
             int main(void) {{ pthread_t t; pthread_create(&t, 0, run, 0); x = 2; pthread_join(t, 0); {end}; }}\n"
        );
        let folder = Folder::empty();
        write(folder.path(), "ends.c", &source);
        let run = folder.raceproof(&["explore", "ends.c"]);
        assert!(run.status == 1 && run.stdout.contains("data race"), "{end}: {}{}", run.stdout, run.stderr);
    }
}
