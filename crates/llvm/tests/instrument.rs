//! What instrumentation inserts, and what it leaves alone.

mod common;

use common::{c, cxx};
use llvm::{Architecture, Options};

/// The `kind_order` argument of `__rp_atomic`.
fn kind_order(tag: u32, order: u32, failure: u32) -> u32 {
    tag | order << 8 | failure << 16
}

const READ: u32 = 1;
const WRITE: u32 = 2;
const READ_MODIFY_WRITE: u32 = 3;
const RELAXED: u32 = 1;
const ACQUIRE: u32 = 2;
const RELEASE: u32 = 3;
const ACQ_REL: u32 = 4;
const SEQ_CST: u32 = 5;

#[test]
fn globals_have_hooks_with_their_size() {
    let s = c("int x; volatile char y; double d; struct { int a : 3; int b : 5; } bits;
               int main(void) { x++; y = 1; d = 2; bits.b = 1; return 0; }");
    assert_eq!(
        s.hooks("__rp_user_main"),
        [
            "__rp_read(@x, 4)",
            "__rp_write(@x, 4)",
            "__rp_write(@y, 1)",
            "__rp_write(@d, 8)",
            "__rp_read(@bits, 1)",
            "__rp_write(@bits, 1)"
        ]
    );
}

#[test]
fn every_access_of_the_source_keeps_its_hook() {
    let s = c("int x; int main(void) { x = x + 1; x = x + 1; x = x + 1; while (!x); return 0; }");
    let hooks = s.hooks("__rp_user_main");
    assert_eq!(hooks.iter().filter(|h| h.starts_with("__rp_write")).count(), 3);
    assert_eq!(hooks.iter().filter(|h| h.starts_with("__rp_read")).count(), 4);
}

#[test]
fn private_memory_has_no_hooks() {
    let s = c(r#"#include <errno.h>
        #include <stdio.h>
        #include <string.h>
        static const int table[] = {1, 2, 3};
        static __thread int own;
        struct pair { int a, b; };
        int sum(struct pair p) { return p.a + p.b; }
        int main(int argc, char **argv) {
            int array[4] = {0}; char text[16]; struct pair p = {argc, 2}, q;
            for (int i = 0; i < 4; i++) array[i] = i;
            q = p;
            errno = table[argc & 1];
            own++;
            snprintf(text, sizeof text, "%d", array[argc & 3]);
            return sum(q) + (int)strlen(text) + *strchr("abc", 'b');
        }"#);
    assert_eq!(s.hooks("sum"), [""; 0]);
    // The result of `strchr` is not known to be constant.
    assert_eq!(s.hooks("__rp_user_main"), ["__rp_read(%call11, 1)"]);
    assert_eq!(s.unmodelled(), []);
}

#[test]
fn locals_that_leave_are_announced_and_instrumented() {
    let s = c("void *volatile shared; int *p;
        int main(int argc, char **argv) {
            int by_store = 1, by_call = 2, mine = 3; int *pm = &mine;
            p = &by_store; shared = &by_call;
            int length[argc]; p = length;
            return by_call + *pm;
        }");
    let hooks = s.hooks("__rp_user_main");
    assert_eq!(hooks[0], "__rp_stack(%by_store, 4)");
    assert_eq!(hooks[1], "__rp_stack(%by_call, 4)");
    assert!(hooks.contains(&"__rp_write(%by_store, 4)".to_owned()), "{hooks:?}");
    assert!(hooks.contains(&"__rp_read(%by_call, 4)".to_owned()), "{hooks:?}");
    assert!(hooks.iter().any(|h| h.starts_with("__rp_stack(%vla, %")), "{hooks:?}");
    assert!(!hooks.iter().any(|h| h.contains("%mine")), "{hooks:?}");
}

#[test]
fn atomics_carry_kind_and_orders() {
    let s = c("#include <stdatomic.h>
        atomic_int a; atomic_long l; _Atomic char b; int plain;
        int main(void) {
            int e = 1;
            atomic_load_explicit(&a, memory_order_acquire);
            atomic_store_explicit(&l, 1, memory_order_release);
            atomic_fetch_add_explicit(&b, 1, memory_order_relaxed);
            atomic_compare_exchange_strong_explicit(&a, &e, 2, memory_order_acq_rel, memory_order_relaxed);
            atomic_thread_fence(memory_order_seq_cst);
            atomic_signal_fence(memory_order_seq_cst);
            __sync_fetch_and_add(&plain, 1);
            return 0;
        }");
    let hooks = s.hooks("__rp_user_main");
    let expected = [
        format!("__rp_atomic(@a, 4, {})", kind_order(READ, ACQUIRE, 0)),
        format!("__rp_atomic(@l, 8, {})", kind_order(WRITE, RELEASE, 0)),
        format!("__rp_atomic(@b, 1, {})", kind_order(READ_MODIFY_WRITE, RELAXED, 0)),
        format!("__rp_atomic(@a, 4, {})", kind_order(READ_MODIFY_WRITE, ACQ_REL, RELAXED)),
    ];
    assert_eq!(hooks[..4], expected);
    assert!(hooks[4].starts_with("__rp_cas_result(%"), "{hooks:?}");
    assert_eq!(hooks[5], format!("__rp_fence({SEQ_CST})"));
    assert_eq!(hooks[6], format!("__rp_atomic(@plain, 4, {})", kind_order(READ_MODIFY_WRITE, SEQ_CST, 0)));
    assert_eq!(hooks.len(), 7);
}

#[test]
fn atomic_library_calls_are_atomic() {
    let s = c("#include <stdatomic.h>
        struct big { int v[16]; }; _Atomic struct big a; struct big b, plain;
        int main(void) { struct big local = {{0}}; atomic_store(&a, local); local = a;
            __atomic_load(&b, &plain, __ATOMIC_ACQUIRE); return 0; }");
    assert_eq!(
        s.hooks("__rp_user_main"),
        [
            format!("__rp_atomic(@a, 64, {})", kind_order(WRITE, SEQ_CST, 0)),
            format!("__rp_atomic(@a, 64, {})", kind_order(READ, SEQ_CST, 0)),
            format!("__rp_atomic(@b, 64, {})", kind_order(READ, ACQUIRE, 0)),
            "__rp_call_begin()".into(),
            format!("__rp_add({WRITE}, @plain, 64)"),
            "__rp_call_end()".into(),
        ]
    );
}

#[test]
fn copies_and_fills() {
    let s = c("#include <string.h>
        struct s { char c[40]; } a, b;
        void take(struct s s);
        int main(int n, char **v) {
            struct s local;
            a = b; local = a; b = local;
            memset(&a, 0, sizeof a); memmove(a.c, a.c + 1, n); memcpy(&local, a.c, n);
            return local.c[0];
        }");
    let hooks = s.hooks("__rp_user_main");
    assert_eq!(hooks[..4], ["__rp_copy(@a, @b, 40)", "__rp_read(@a, 40)", "__rp_set(@b, 40)", "__rp_set(@a, 40)"]);
    assert!(hooks[4].starts_with("__rp_copy(@a, getelementptr inbounds"), "{hooks:?}");
    assert_eq!(hooks[5], "__rp_call_begin()");
    assert!(hooks[6].starts_with(&format!("__rp_add({READ}, @a, %")), "{hooks:?}");
    assert_eq!(hooks[7..], ["__rp_call_end()"]);
}

#[test]
fn library_calls_report_what_the_table_says() {
    let s = c(r#"#include <stdio.h>
        #include <string.h>
        #include <stdlib.h>
        char a[9], b[9]; int v; struct node { int n; } *volatile p;
        int main(void) {
            strcpy(a, b);
            printf("%s %d\n", a, v);
            v = (int)fread(a, 1, 8, stdin);
            p = malloc(8);
            free(p);
            return 0;
        }"#);
    let hooks = s.hooks("__rp_user_main");
    let has = |text: &str| assert!(hooks.iter().any(|h| h.starts_with(text)), "no {text} in {hooks:#?}");
    has(&format!("__rp_add_string({READ}, @b, -1)"));
    has("__rp_add_format(@.str, 0, 2, %");
    has("__rp_add_stream(%");
    let begins = hooks.iter().filter(|h| *h == "__rp_call_begin()").count();
    assert_eq!(begins, hooks.iter().filter(|h| *h == "__rp_call_end()").count());
    // The runtime itself defines `malloc`: it only needs to know the place.
    let body = s.function("__rp_user_main");
    let before_malloc = body.split("@malloc").next().unwrap().lines().rev().nth(1).unwrap();
    assert!(before_malloc.contains("store volatile i32") && before_malloc.contains("@__rp_site"), "{before_malloc}");
    assert_eq!(s.unmodelled(), []);
}

#[test]
fn accesses_known_after_the_call_end_its_event_after_it() {
    let s = c(r#"#include <stdio.h>
        char a[9]; FILE *f;
        int main(void) { return (int)fread(a, 1, 8, f); }"#);
    let body = s.function("__rp_user_main");
    let at = |text: &str| body.find(text).unwrap_or_else(|| panic!("no {text} in {body}"));
    assert!(at("__rp_call_begin") < at("@fread") && at("@fread") < at("__rp_call_end"), "{body}");
}

#[test]
fn threads_report_where_they_are_and_what_they_store() {
    let s = c("#include <pthread.h>
        pthread_t global; void *f(void *p) { return p; } void *result;
        int main(void) { pthread_t local;
            pthread_create(&global, 0, f, 0); pthread_create(&local, 0, f, 0);
            pthread_join(local, &result); return 0; }");
    let hooks = s.hooks("__rp_user_main");
    assert_eq!(
        hooks,
        [
            "__rp_call_begin()",
            "__rp_add(2, @global, 8)",
            "__rp_call_end()",
            "__rp_call_begin()",
            "__rp_add(2, @result, 8)",
            "__rp_call_end()"
        ]
    );
    assert_eq!(s.function("__rp_user_main").matches("ptr @__rp_site").count(), 3);
}

#[test]
fn states_are_used_with_the_variables_that_show_them() {
    let s = c("extern int optind, signgam; extern long timezone; double lgamma(double); void tzset(void);
        int getopt(int, char *const[], const char *);
        int main(int count, char **words) {
            getopt(count, words, \"a\"); lgamma(1.0); tzset(); return optind + signgam + (int)timezone; }");
    let hooks = s.hooks("__rp_user_main");
    for hook in ["__rp_add(3, @optind, 4)", "__rp_add(3, @signgam, 4)", "__rp_add(259, @timezone, 8)"] {
        assert!(hooks.iter().any(|found| found == hook), "{hook} in {hooks:?}");
    }
}

#[test]
fn printing_is_reported_where_the_program_may_own_the_buffer() {
    let hooks = |text: &str| c(&format!("#include <stdio.h>\n{text}")).hooks("__rp_user_main");
    let none: [&str; 0] = [];
    assert_eq!(hooks("int main(void) { puts(\"a\"); return 0; }"), none);
    let own = hooks("static char room[8]; int main(void) { setbuf(stdout, room); puts(\"a\"); return 0; }");
    assert!(own.iter().any(|hook| hook == "__rp_add_standard_output()"), "{own:?}");
}

#[test]
fn a_join_that_may_fail_stores_only_if_it_does_not() {
    let s = c("#define _GNU_SOURCE
        #include <pthread.h>
        void *result;
        int main(void) { return pthread_tryjoin_np(pthread_self(), &result); }");
    let hooks = s.hooks("__rp_user_main");
    assert!(hooks.iter().any(|hook| hook.starts_with("__rp_add(2, @result, %")), "{hooks:?}");
}

#[test]
fn what_has_no_model_is_listed_with_its_place() {
    let s = c("int frobnicate(int *); int pure_enough(void); int x; int (*fp)(int *) = frobnicate;
        int main(void) {
            frobnicate(&x);
            __asm__ volatile(\"\" ::: \"memory\");
            __asm__ volatile(\"pause\");
            __asm__ volatile(\"incl %0\" : \"+m\"(x) : : \"memory\");
            return 0;
        }");
    let unmodelled = s.unmodelled();
    let find = |line: u32| unmodelled.iter().find(|u| u.0 == line).unwrap_or_else(|| panic!("{unmodelled:#?}"));
    assert_eq!(find(3).2.as_deref(), Some("frobnicate"));
    assert_eq!(find(6).1, program::Unmodelled::UNSEEN_ASSEMBLY);
    assert_eq!(find(0).2.as_deref(), Some("frobnicate"));
    assert_eq!(unmodelled.len(), 3, "{unmodelled:#?}");
}

#[test]
fn assembly_reports_its_accesses() {
    let hooks = |text: &str| {
        let s = c(&format!("int x; char buffer[64]; int main(void) {{ {text} return 0; }}"));
        assert_eq!(s.unmodelled(), [], "{text}");
        s.hooks("__rp_user_main")
    };
    let one = |text: &str, start: &str| {
        let hooks = hooks(text);
        assert!(hooks.iter().any(|hook| hook.starts_with(start)), "{text}: {hooks:?}");
    };
    // A write that is a release, one that continues, a read that acquires.
    one("__asm__ volatile(\"movl $1, %0\" : \"+m\"(x) : : \"memory\");", "__rp_atomic(@x, 4, 770)");
    one("__asm__ volatile(\"movl $1, %0\" : \"=m\"(x));", "__rp_atomic(@x, 4, 1538)");
    one("int y; __asm__ volatile(\"movl %1, %0\" : \"=r\"(y) : \"m\"(x) : \"memory\");", "__rp_atomic(@x, 4, 513)");
    // Plain ones.
    one("__asm__(\"incl %0\" : \"+m\"(x));", "__rp_add(1, @x, 4)");
    one("__asm__(\"incl %0\" : \"+m\"(x));", "__rp_add(2, @x, 4)");
    one("__asm__ volatile(\"incl %0\" : \"+m\"(x));", "__rp_add(1, @x, 4)");
    let fill = "char *to = buffer; long n = 8; __asm__ volatile(\"rep stosq\" : \"+c\"(n), \"+D\"(to) : \"a\"(0L) : \"memory\");";
    one(fill, "__rp_add(2, @buffer, 64)");
    // The operand is an address only.
    assert_eq!(hooks("__asm__ volatile(\"prefetchnta %0\" : : \"m\"(x));"), [""; 0]);
}

#[test]
fn assumed_pure_functions_are_not_listed() {
    let directory = common::folder(&[("a.c", "int frob(int *); int x; int main(void) { return frob(&x); }")]);
    let mut options = common::options(directory.path(), &["a.c"]);
    options.assume_pure.insert("frob".into());
    assert_eq!(llvm::compile(&options).unwrap().program.unmodelled, []);
}

#[test]
fn library_functions_behind_pointers_get_a_stand_in() {
    let s = c("#include <string.h>
        unsigned long (*length)(const char *) = strlen; char text[9];
        int main(void) { return (int)length(text) + (int)strlen(text); }");
    assert!(s.ir().contains("@length = dso_local global ptr @strlen.pointer"), "{}", s.ir());
    assert!(s.hooks("strlen.pointer").iter().any(|h| h.starts_with("__rp_add_string(1, %")));
    assert!(s.function("__rp_user_main").contains("@strlen("));
    assert_eq!(s.unmodelled(), []);
}

#[test]
fn thread_locals_live_in_the_image() {
    let s = c("__thread int a = 7; static __thread long b; __thread char c[3] = \"xy\"; int *out;
        int main(void) { out = &a; b = 2; return a + c[1]; }");
    assert!(!s.ir().contains("thread_local global"), "{}", s.ir());
    let image = s.ir().lines().find(|l| l.starts_with("@__rp_tls_image")).unwrap();
    assert!(image.contains("i32 7, [3 x i8] c\"xy\\00\", [1 x i8] zeroinitializer, i64 0"), "{image}");
    assert!(s.ir().contains("@__rp_tls_size = constant i64 16"));
    assert!(s.ir().contains("@__rp_tls_align = constant i64 8"));
    // Only `a` leaves its thread.
    let hooks = s.hooks("__rp_user_main");
    assert_eq!(hooks.len(), 2, "{hooks:?}");
    assert_eq!(hooks[0], "__rp_write(@out, 8)");
}

#[test]
fn constructors_and_destructors_are_called_in_order() {
    let s = c("int x;
        __attribute__((constructor(200))) static void second(void) { x = 2; }
        __attribute__((constructor(150))) static void first(void) { x = 1; }
        __attribute__((constructor)) static void last(void) { x = 3; }
        __attribute__((destructor)) static void end(void) { x = 4; }
        int main(void) { return x; }");
    let calls = |name: &str| -> Vec<String> {
        let body = s.function(name);
        body.lines().filter_map(|l| l.trim().strip_prefix("call void @")).map(String::from).collect()
    };
    assert_eq!(calls("__rp_user_ctors"), ["first()", "second()", "last()"]);
    assert_eq!(calls("__rp_user_dtors"), ["end()"]);
    assert!(!s.ir().contains("llvm.global_ctors") && !s.ir().contains("llvm.global_dtors"));
}

#[test]
fn writable_globals_are_in_the_two_sections() {
    let s =
        c("int zero; int one = 1; static int s = 2; const int k = 3; int kept __attribute__((section(\"mine\"))) = 4;
        int main(void) { return zero + one + s++ + k + kept; }");
    let global = |name: &str| s.ir().lines().find(|l| l.starts_with(&format!("@{name} ="))).unwrap_or_default();
    assert!(global("zero").contains("section \"rp_bss\""));
    assert!(global("one").contains("section \"rp_data\""));
    assert!(global("s").contains("section \"rp_data\""));
    assert!(!global("k").contains("section"));
    assert!(global("kept").contains("section \"mine\""));
}

#[test]
fn promises_about_memory_are_taken_back() {
    let s = c("int x;
        __attribute__((pure)) int get(void) { return x; }
        int main(void) { return get() + get(); }");
    let attributes =
        |text: &str| text.lines().next().unwrap().rsplit('#').next().unwrap().split(' ').next().unwrap().to_owned();
    let group = attributes(&s.function("get"));
    let line = s.ir().lines().find(|l| l.starts_with(&format!("attributes #{group} "))).unwrap();
    assert!(!line.contains("memory(") && !line.contains("willreturn"), "{line}");
}

#[test]
fn cxx_invokes_have_hooks_and_streams_do_not() {
    let s = cxx("#include <cstdio>
        #include <iostream>
        struct guard { ~guard() { std::puts(\"x\"); } };
        char a[9]; int n;
        int main() { guard g; std::cout.width(3); std::cout << n; return (int)std::fread(a, 1, 8, stdin); }");
    let body = s.function("__rp_user_main");
    let at = |text: &str| body.find(text).unwrap_or_else(|| panic!("no {text} in {body}"));
    assert!(body.contains("= invoke i64 @fread"), "{body}");
    assert!(body[..at("@fread")].rfind("__rp_call_begin") > body[..at("@fread")].rfind("__rp_call_end"), "{body}");
    assert!(body[at("@fread")..].contains("__rp_call_end"), "{body}");
    let hooks = s.hooks("__rp_user_main");
    assert!(!hooks.iter().any(|hook| hook.starts_with("__rp_write")), "of the width: {hooks:?}");
}

#[test]
fn cxx_strings_are_compiled_here() {
    let s = cxx("#include <string>
        std::string text;
        int main() { text += 'x'; return (int)text.size(); }");
    let hooks = s.hooks("__rp_user_main");
    assert!(hooks.iter().any(|hook| hook.starts_with("__rp_read")), "of the size: {hooks:?}");
}

#[test]
fn call_once_does_not_use_the_library_s_thread_locals() {
    let s = cxx("#include <mutex>
        std::once_flag flag; int x;
        int main() { std::call_once(flag, [] { x = 1; }); return x; }");
    assert!(!s.ir().contains("@_ZSt11__once_call ="), "{}", s.ir());
    assert!(s.function("__once_proxy").contains("@__rp_tls_base"));
}

#[test]
fn dynamic_thread_locals_keep_their_wrapper() {
    let s = cxx("struct counter { int n; counter() : n(1) {} ~counter() {} };
        thread_local counter c; counter *out;
        int main() { out = &c; return c.n; }");
    assert!(s.function("_ZTW1c").contains("@__rp_tls_base"), "{}", s.function("_ZTW1c"));
    assert!(s.ir().contains("call i32 @__cxa_thread_atexit("));
    assert!(!s.ir().contains("thread_local global"));
}

#[test]
fn thread_locals_of_another_source_need_no_initialiser() {
    let directory = common::folder(&[
        ("a.cpp", "extern thread_local int n; int *out; int main() { out = &n; return n; }"),
        ("b.cpp", "thread_local int n = 3;"),
    ]);
    let compiled = llvm::compile(&common::options(directory.path(), &["a.cpp", "b.cpp"])).unwrap();
    assert_eq!(compiled.program.unmodelled, []);
    let ir = common::text_of(&compiled.bitcode);
    assert!(ir.contains("@__rp_tls_image = constant <{ i32 }> <{ i32 3 }>"), "{ir}");
}

#[test]
fn sizes_of_library_types_are_those_of_the_architecture() {
    let source = "#include <sys/stat.h>\n#include <pthread.h>\n\
        struct stat status; pthread_attr_t attributes;\n\
        int main(void) { stat(\"f\", &status); pthread_attr_init(&attributes); return 0; }\n";
    for (architecture, name, stat, attributes) in
        [(Architecture::X86_64, "x86_64", 144, 56), (Architecture::Aarch64, "aarch64", 128, 64)]
    {
        let directory = common::folder(&[("sizes.c", source)]);
        let options = Options { architecture, ..common::options(directory.path(), &["sizes.c"]) };
        let compiled = llvm::compile(&options).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(compiled.program.architecture.name(), name);
        let ir = common::text_of(&compiled.bitcode);
        for (global, size) in [("status", stat), ("attributes", attributes)] {
            let call = format!("@__rp_add(i32 2, ptr @{global}, i64 {size})");
            assert!(ir.contains(&call), "{name}: no `{call}`");
        }
    }
}
