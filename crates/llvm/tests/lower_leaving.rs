//! Lowering of ways out of a function besides returning: exceptions, jumps, the end of the thread or of the program.

mod lowering;

use lowering::{assert_body, body, c, cxx};

#[test]
fn exceptions_go_to_handlers_and_out_of_functions() {
    let program = cxx("int x;
        static void fail() { throw 1; }
        static void pass() { fail(); }
        int work() { try { pass(); } catch (...) { return ++x; } return 0; }
        static int fine() { return x; }
        int safe() noexcept { return fine(); }
        int main() { return work() + safe(); }");
    assert_body(
        &program,
        "_ZL4passv",
        r#"
        fn _ZL4passv "pass"() {
        b0:
          call _ZL4failv()
          invoke b1, b2
        b1:
          return
        b2:
          resume
        "#,
    );
    assert!(body(&program, "_Z4workv").contains("call _ZL4passv()\n  invoke"), "{program}");
    for caught in ["_Z4workv", "_Z4safev"] {
        assert!(!body(&program, caught).contains("resume"), "{program}");
    }
}

#[test]
fn jumps_go_to_where_setjmp_returned() {
    let program = c("#include <setjmp.h>
        static jmp_buf back;
        static void fail(void) { longjmp(back, 1); }
        int again(void) { if (setjmp(back) == 0) fail(); return 0; }
        int main(void) { return again(); }");
    let again = body(&program, "again");
    // After the call: on, or to where `setjmp` returned, or out.
    assert!(again.contains("call fail()\n  invoke"), "{again}");
    assert!(again.contains("any [") && again.contains("resume"), "{again}");
    let after = again.split("goto ").nth(1).and_then(|rest| rest.split('\n').next()).unwrap_or_default();
    assert!(again.contains(&format!("any [{after}, ")), "{again}");
    assert!(body(&program, "fail").contains("resume"), "{program}");
}

#[test]
fn the_end_of_a_thread_unwinds_its_stack() {
    let program = cxx("#include <pthread.h>
        int x;
        struct Count { ~Count() { x++; } };
        static void leave() { Count count; pthread_exit(nullptr); }
        int main() { leave(); }");
    let leave = body(&program, "_ZL5leavev");
    assert!(leave.contains("any [") && leave.contains("exit_thread"), "{leave}");
    assert!(leave.matches("call _ZN5CountD2Ev").count() == 1 && leave.contains("resume"), "{leave}");
}

#[test]
fn handlers_of_the_end_of_the_program_run() {
    let program = c("#define _GNU_SOURCE
        #include <stdlib.h>
        int x;
        static void one(void) { x++; }
        static void two(int status, void *arg) { x += status + (arg == &x); }
        static void three(void) { x--; }
        int main(int n, char **v) {
            void (*chosen)(void) = n > 1 ? one : three;
            (void)v;
            on_exit(two, &x); atexit(chosen); at_quick_exit(three);
            if (n > 2) quick_exit(0);
            return 0;
        }");
    let handlers = body(&program, "__rp_exit_handlers");
    assert!(handlers.contains("call two(?, @x)") && handlers.contains("call *"), "{handlers}");
    assert!(!handlers.contains("call three"), "{handlers}");
    assert!(body(&program, "__rp_quick_exit_handlers").contains("call three()"), "{program}");
    assert!(body(&program, "main").contains("call __rp_quick_exit_handlers()"), "{program}");
}

#[test]
fn addresses_that_are_computed_with_are_not_forgotten() {
    let program = c("#include <stdint.h>
        static int x __attribute__((section(\"data_x\"), used));
        extern int __start_data_x[];
        static void hidden(void) { x++; }
        static uintptr_t word;
        int main(void) { word = (uintptr_t)hidden ^ 90; __start_data_x[0] = 1; return 0; }");
    assert!(program.globals.iter().any(|g| g.name == "computed addresses" && !g.relocations.is_empty()), "{program}");
    assert!(body(&program, "main").contains("store 4, ?, 1"), "{program}");
}

#[test]
fn values_meet_after_calls_that_may_be_left() {
    // What is checked is that the program keeps the rules of its language: each phi has a value for each predecessor.
    let program = cxx("#include <setjmp.h>
        #include <stdexcept>
        int number(int n) { if (n < 0) throw std::out_of_range(\"n\"); return n; }
        static int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += n > 1 ? number(i) : i; return s; }
        static jmp_buf back;
        static int jump(int n) { if (n) longjmp(back, n); return n; }
        int both(int n) {
            int r = 0;
            if (setjmp(back)) return 1;
            try { r = n ? sum(n) : jump(n); } catch (const std::exception &e) { r = e.what()[0]; }
            return r && jump(r) ? sum(r) : r;
        }
        int main(int n, char **) { return both(n); }");
    assert!(body(&program, "_Z4bothi").contains("invoke"), "{program}");
}

#[test]
fn accesses_in_simd_loops_are_noted() {
    let source = "int a[8];
        int main(void) {
            _Pragma(\"omp simd\")
            for (int i = 1; i < 8; i++) a[i] = a[i - 1];
            return a[7];
        }";
    // Without `-fopenmp` the directive means nothing.
    assert!(c(source).lanes().is_empty());
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("snippet.c");
    std::fs::write(&input, source).unwrap();
    let options = llvm::Options {
        inputs: vec![input],
        work_dir: directory.path().join("work"),
        cflags: vec!["-fopenmp".into()],
        ..Default::default()
    };
    let program = llvm::lower_only(&options).unwrap_or_else(|e| panic!("{e}"));
    let lines: Vec<u32> = program.lanes().iter().map(|s| program.sites[*s].location.map_or(0, |l| l.line)).collect();
    assert!(lines.len() == 2 && lines.iter().all(|line| *line == 4), "{lines:?}\n{program}");
}
