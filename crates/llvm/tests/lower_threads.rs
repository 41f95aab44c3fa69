//! Lowering of thread operations, in C and C++.

mod lowering;

use lowering::{assert_body, body, c, cxx, unmodelled};

#[test]
fn create_and_join_in_loops() {
    let program = c("#include <pthread.h>
        int x;
        static void *work(void *arg) { x++; return arg; }
        int main(void) {
            pthread_t t[2];
            for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, &x);
            for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
            return 0;
        }");
    assert_body(
        &program,
        "main",
        r#"
        fn main() {
        b0:
          %#0 = alloca 16 "t" as ty2
          goto b1
        b1:
          %i#1 = phi [b0: 0, b3: %i#5]
          %#2 = slt 32 %i#1, 2
          branch %#2, b2, b4
        b2:
          %#3 = offset %#0, %i#1, 8, 0
          %#12 = create &work, @x
          store 8, %#3, %#12
          %#4 = 0
          goto b3
        b3:
          %i#5 = add 32 %i#1, 1
          goto b1
        b4:
          goto b5
        b5:
          %i#6 = phi [b4: 0, b7: %i#11]
          %#7 = slt 32 %i#6, 2
          branch %#7, b6, b8
        b6:
          %#8 = offset %#0, %i#6, 8, 0
          %#9 = load 8, %#8  ; t[i]
          %#10 = join %#9
          goto b7
        b7:
          %i#11 = add 32 %i#6, 1
          goto b5
        b8:
          return 0
        "#,
    );
}

#[test]
fn posix_operations() {
    let program = c("#include <pthread.h>
        #include <semaphore.h>
        #include <sched.h>
        pthread_mutex_t m; pthread_cond_t cv; pthread_rwlock_t rw; pthread_spinlock_t spin;
        pthread_barrier_t bar; sem_t sem; pthread_once_t once; int v;
        static void init(void) {}
        int work(void) {
            pthread_mutex_init(&m, 0); pthread_mutex_lock(&m); pthread_cond_wait(&cv, &m); pthread_mutex_unlock(&m);
            pthread_rwlock_rdlock(&rw); pthread_rwlock_wrlock(&rw); pthread_rwlock_unlock(&rw);
            pthread_spin_lock(&spin); pthread_spin_unlock(&spin);
            pthread_cond_signal(&cv); pthread_cond_broadcast(&cv);
            pthread_barrier_init(&bar, 0, 3); pthread_barrier_wait(&bar);
            sem_init(&sem, 0, 1); sem_wait(&sem); sem_post(&sem); sem_getvalue(&sem, &v);
            pthread_once(&once, init); sched_yield();
            return pthread_mutex_trylock(&m);
        }");
    assert_body(
        &program,
        "work",
        "
        fn work() {
        b0:
          %#0 = lock_init @m
          %#1 = lock @m
          %#2 = wait @cv, @m
          %#3 = unlock @m
          %#4 = rdlock @rw
          %#5 = lock @rw
          %#6 = unlock @rw
          %#7 = lock @spin
          %#8 = unlock @spin
          %#9 = signal @cv
          %#10 = broadcast @cv
          %#11 = barrier_init @bar, 3
          %#12 = barrier_wait @bar
          %#13 = sem_init @sem, 1
          %#14 = sem_wait @sem
          %#15 = sem_post @sem
          %#20 = sem_get @sem
          store 4, @v, %#20
          %#16 = 0
          %#17 = once @once, &init
          %#18 = yield
          %#19 = trylock @m
          return %#19
        ",
    );
    assert!(unmodelled(&program).is_empty());
}

#[test]
fn c11_threads() {
    let program = c("#include <threads.h>
        mtx_t m; cnd_t cv; thrd_t t;
        static int work(void *arg) { mtx_lock(&m); cnd_wait(&cv, &m); mtx_unlock(&m); return 0; }
        int main(void) { thrd_create(&t, work, 0); thrd_join(t, 0); return 0; }");
    let text = body(&program, "main");
    assert!(text.contains("create &work, 0") && text.contains("store 8, @t,"), "{text}");
    assert!(body(&program, "work").contains("wait @cv, @m"));
}

#[test]
fn std_thread_runs_its_state() {
    let program = cxx("#include <thread>
        int x;
        static void work(int n) { x += n; }
        int main() { std::thread a(work, 1); std::thread b([] { x = 2; }); a.join(); b.detach(); }");
    let text = program.to_string();
    assert_eq!(text.matches(" = create &__rp_thread_routine.").count(), 2, "each class of state has a routine\n{text}");
    for routine in ["__rp_thread_routine.0", "__rp_thread_routine.1"] {
        let routine = body(&program, routine);
        assert!(routine.contains("_M_runEv(%0)"), "{routine}");
        assert!(routine.contains("D0Ev(%0)"), "{routine}");
    }
    let main = body(&program, "main");
    assert_eq!((main.matches("join %").count(), main.matches("detach %").count()), (1, 1), "{main}");
    assert_eq!(unmodelled(&program), [""; 0]);
}

#[test]
fn std_mutex_and_condition_variable() {
    let program = cxx("#include <condition_variable>
        #include <mutex>
        std::mutex m; std::condition_variable cv; bool ready;
        void wait() { std::unique_lock<std::mutex> l(m); while (!ready) cv.wait(l); }
        void post() { std::lock_guard<std::mutex> l(m); ready = true; cv.notify_one(); }");
    let wait = body(&program, "wait");
    assert!(wait.contains("wait @cv, %"), "{wait}");
    let post = body(&program, "post");
    assert!(post.contains("; ready") && post.contains("signal @cv"), "{post}");
    let text = program.to_string();
    assert!(text.contains("= lock %") && text.contains("= unlock %"), "{text}");
    assert!(body(&program, "__rp_exit_handlers").contains("cond_destroy @cv"));
    assert_eq!(unmodelled(&program), [""; 0]);
}

#[test]
fn static_variables_of_functions_are_guarded() {
    let program = cxx("struct S { int n; S() : n(1) {} };
        S &get() { static S s; return s; }");
    let text = body(&program, "get");
    assert!(text.contains("load 1 acquire, @_ZGVZ3getvE1s"), "{text}");
    assert!(text.contains("call __cxa_guard_acquire(@_ZGVZ3getvE1s)"), "{text}");
    assert_body(
        &program,
        "__cxa_guard_acquire",
        "
        fn __cxa_guard_acquire(%0) {
        b0:
          lock %0
          %1 = load 1 acquire, %0
          branch %1, b1, b2
        b1:
          unlock %0
          return 0
        b2:
          return 1
        ",
    );
}

#[test]
fn call_once_runs_the_function() {
    let program = cxx("#include <mutex>
        std::once_flag flag; int x;
        void init() { x = 1; }
        void work() { std::call_once(flag, init); }");
    let text = program.to_string();
    assert!(text.contains("= once @flag") && text.contains("&__once_proxy"), "{text}");
    assert!(body(&program, "__once_proxy").contains("call *%"));
    assert_eq!(unmodelled(&program), [""; 0]);
}

#[test]
fn thread_specific_values_are_destroyed_at_the_end_of_threads() {
    let program = c("#include <pthread.h>
        #include <stdlib.h>
        static pthread_key_t key;
        int x;
        static void destroy(void *p) { x = 1; free(p); }
        static void *work(void *arg) { pthread_setspecific(key, arg); return pthread_getspecific(key); }
        int main(void) {
            pthread_t t;
            pthread_key_create(&key, destroy);
            pthread_create(&t, 0, work, malloc(4));
            pthread_exit(0);
        }");
    assert_eq!(unmodelled(&program), [""; 0]);
    let main = body(&program, "main");
    assert!(main.contains("create &__rp_thread.work, "), "{main}");
    assert!(main.contains("call __rp_thread_end()\n  exit_thread"), "{main}");
    assert!(body(&program, "__rp_thread.work").contains("call work(%0)\n  call __rp_thread_end()"));
    assert_body(
        &program,
        "__rp_thread_end",
        r#"
        fn __rp_thread_end "thread end"() {
        b0:
          any [b1, b3]
        b1:
          %0 = load 8, @key.value
          branch %0, b2, b0
        b2:
          store 8, @key.value, 0
          call destroy(%0)
          goto b0
        b3:
          return
        "#,
    );
    let work = body(&program, "work");
    assert!(work.contains("store 8, @key.value, %arg") && work.contains("= load 8, @key.value"), "{work}");
}

#[test]
fn thread_local_objects_are_destroyed_at_the_end_of_threads() {
    let program = cxx("#include <thread>
        int x;
        struct S { int n; ~S() { x = n; } };
        thread_local S s;
        int main() { std::thread t([] { s.n = 1; }); t.join(); }");
    let end = body(&program, "__rp_thread_end");
    assert!(end.contains("call _ZN1SD2Ev(@s)"), "{end}");
    assert!(body(&program, "__rp_thread_routine.0").contains("call __rp_thread_end()"));
    assert!(body(&program, "__rp_start").contains("call __rp_thread_end()"));
    assert_eq!(unmodelled(&program), [""; 0]);
}
