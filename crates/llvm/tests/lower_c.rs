//! Lowering of C: memory, control flow, calls.

mod lowering;

use llvm::Architecture;
use lowering::{assert_body, body, c, lower_for, unmodelled};
use program::Operand;

#[test]
fn struct_fields_and_heap_lists() {
    let program = c("#include <stdlib.h>
        struct node { int id; struct node *next; };
        struct { struct node *head; int len; } queue;
        void push(int id) {
            struct node *n = malloc(sizeof *n);
            n->id = id; n->next = queue.head; queue.head = n; queue.len++;
        }
        int total(void) { int s = 0; for (struct node *p = queue.head; p; p = p->next) s += p->id; return s; }");
    assert_body(
        &program,
        "push",
        "
        fn push(%id) {
        b0:
          %n = alloc 16
          store 4, %n, %id  ; n->id
          %2 = load 8, @queue  ; queue.head
          %3 = offset %n, 0, 0, 8
          store 8, %3, %2  ; n->next
          store 8, @queue, %n  ; queue.head
          %4 = load 4, @queue+8  ; queue.len
          %5 = add 32 %4, 1
          store 4, @queue+8, %5  ; queue.len
          return
        ",
    );
    assert_body(
        &program,
        "total",
        "
        fn total() {
        b0:
          %p#0 = load 8, @queue  ; queue.head
          goto b1
        b1:
          %p#1 = phi [b0: %p#0, b3: %p#7]
          %s#2 = phi [b0: 0, b3: %s#5]
          %3 = ne 64 %p#1, 0
          branch %3, b2, b4
        b2:
          %4 = load 4, %p#1  ; p->id
          %s#5 = add 32 %s#2, %4
          goto b3
        b3:
          %6 = offset %p#1, 0, 0, 8
          %p#7 = load 8, %6  ; p->next
          goto b1
        b4:
          return %s#2
        ",
    );
}

#[test]
fn arrays_of_several_dimensions() {
    let program = c("int matrix[3][4]; long line[8];
        void put(int i, unsigned j) { matrix[i][j] = 1; matrix[2][1] = 2; line[i + 1] = line[j]; }");
    assert_body(
        &program,
        "put",
        "
        fn put(%i, %j) {
        b0:
          %2 = offset @matrix, %i, 16, 0
          %3 = zext 32 %j
          %4 = offset %2, %3, 4, 0
          store 4, %4, 1  ; matrix[i][j]
          store 4, @matrix+36, 2  ; matrix[2][1]
          %5 = zext 32 %j
          %6 = offset @line, %5, 8, 0
          %7 = load 8, %6  ; line[j]
          %8 = add 32 %i, 1
          %9 = offset @line, %8, 8, 0
          store 8, %9, %7  ; line[i + 1]
          return
        ",
    );
}

#[test]
fn unions_bit_fields_and_nesting() {
    let program = c("struct { unsigned a : 3, b : 5; struct { union { int i; float f; }; char tag; } v[2]; } s;
        void set(void) { s.b = 1; s.v[1].i = 2; s.v[1].tag = 3; }");
    assert_body(
        &program,
        "set",
        "
        fn set() {
        b0:
          %0 = load 1, @s  ; s.{a, b}
          %1 = and 8 %0, 7
          %2 = or 8 %1, 8
          store 1, @s, %2  ; s.{a, b}
          store 4, @s+12, 2  ; s.v[1].i
          store 1, @s+16, 3  ; s.v[1].tag
          return
        ",
    );
}

#[test]
fn globals_have_content_types_and_names() {
    let program = c("static int numbers[4] = {1, 2};
        int *pointer = &numbers[1];
        int (*function)(void);
        const char *text = \"hi\";
        double real = 2.5;
        long double wide = 1;
        static _Thread_local int mine = 7;
        extern int elsewhere;
        int next(void) { static int count = 3; function = next; return count++ + mine + numbers[0] + elsewhere; }");
    let global = |name: &str| program.globals.iter().find(|g| g.name == name).unwrap_or_else(|| panic!("no {name}"));
    assert_eq!(global("numbers").init, [1, 0, 0, 0, 2]);
    assert_eq!(global("numbers").size, 16);
    assert!(matches!(global("pointer").relocations[..], [(0, Operand::Global(_, 4))]));
    assert_eq!(global("real").init, 2.5f64.to_le_bytes());
    assert_eq!(global("wide").relocations, [(0, Operand::Any), (8, Operand::Any)]);
    assert!(global("mine").thread_local && global("mine").init == [7]);
    assert_eq!(global("next.count").init, [3]);
    assert_eq!(global("elsewhere").relocations, [(0, Operand::Any)]);
    let literal = program.globals.iter().find(|g| g.constant).unwrap();
    assert_eq!(literal.init, b"hi");
    assert_eq!(body(&program, "next").matches("; next.count").count(), 2);
}

#[test]
fn switch_goto_and_computed_goto() {
    let program = c("int x;
        void pick(int n) { switch (n) { case 1: case -2: x = 1; break; case 7: x = 2; default: x = 3; } }
        void back(void) { again: if (x--) goto again; }
        void jump(int i) { static void *to[] = { &&one, &&two }; goto *to[i]; one: x = 1; two: x = 2; }");
    assert!(body(&program, "pick").contains("switch %n [1: b1, -2: b1, 7: b2], b3"));
    assert!(body(&program, "back").contains("goto b1"));
    assert!(body(&program, "jump").contains("any [b1, b2]"));
}

#[test]
fn calls_direct_indirect_and_by_value() {
    let program = c("struct big { long v[5]; } big;
        int twice(int x) { return 2 * x; }
        long third(struct big b) { return b.v[2]; }
        int (*op)(int) = twice;
        long all(int n) { op(n); return twice(n) + third(big); }");
    assert_body(
        &program,
        "all",
        "
        fn all(%n#0) {
        b0:
          %#1 = load 8, @op  ; op
          %#2 = call *%#1(%n#0)
          %#3 = call twice(%n#0)
          %#6 = alloca 40
          copy %#6, @big, 40
          %#4 = call third(%#6)
          %#5 = add 64 %#3, %#4
          return %#5
        ",
    );
}

#[test]
fn variadic_functions_read_unknown_arguments() {
    let program = c("#include <stdarg.h>
        long first(int n, ...) { va_list ap; va_start(ap, n); long r = va_arg(ap, long); va_end(ap); return r; }
        long use(void) { return first(1, 5L); }");
    let text = body(&program, "first");
    assert!(text.contains("alloca ?") && text.contains("fill"), "{text}");
    assert!(body(&program, "use").contains("call first(1, 5)"));
    assert!(program.unmodelled.is_empty());
}

/// Of a `va_list` on x86-64, the first word counts and two words point; on aarch64 the first three point and one counts.
#[test]
fn argument_lists_have_the_layout_of_the_architecture() {
    let source = "#include <stdarg.h>
        void take(va_list);
        void pass(int n, ...) { va_list a, b; va_start(a, n); va_copy(b, a); take(b); }";
    for (architecture, offsets, size) in
        [(Architecture::X86_64, [8, 16].as_slice(), 24), (Architecture::Aarch64, &[24, 8, 16], 32)]
    {
        let text = body(&lower_for(architecture, "list.c", source), "pass");
        let found: Vec<&str> = text.lines().filter(|line| line.contains("= offset")).collect();
        let ends: Vec<String> = offsets.iter().map(|at| format!(", {at}")).collect();
        assert!(found.len() == ends.len() && found.iter().zip(&ends).all(|(line, end)| line.ends_with(end)), "{text}");
        assert!(
            text.lines().any(|line| line.trim().starts_with("copy ") && line.ends_with(&format!(", {size}"))),
            "{text}"
        );
    }
}

#[test]
fn floats_and_wide_integers_are_any() {
    let program = c("double d; long double w; __int128 i;
        void add(float f) { d += f; w = d; i += 1; }");
    assert_body(
        &program,
        "add",
        "
        fn add(%f) {
        b0:
          %1 = load 8, @d  ; d
          %2 = load 8, @d
          store 8, @\"addresses in vectors\", %2
          store 8, @d, ?  ; d
          %3 = load 8, @d  ; d
          %4 = load 8, @d
          store 8, @\"addresses in vectors\", %4
          store 10, @w, ?  ; w
          %5 = load 16, @i  ; i
          %6 = load 8, @i
          store 8, @\"addresses in vectors\", %6
          %7 = load 8, @i+8
          store 8, @\"addresses in vectors\", %7
          store 16, @i, ?  ; i
          %8 = load 8, @\"addresses in vectors\"
          %9 = offset %8, ?, 1, 0
          store 8, @i, %9
          %10 = load 8, @\"addresses in vectors\"
          %11 = offset %10, ?, 1, 0
          store 8, @i+8, %11
          return
        ",
    );
}

#[test]
fn widths_and_signs() {
    let program = c("signed char c; unsigned short h; _Bool b;
        void mix(unsigned u) { c = u; h = c + 1; b = !b; u = u / 3 + (u >> 2); h = u < 7; }");
    assert_body(
        &program,
        "mix",
        "
        fn mix(%u#0) {
        b0:
          %1 = sext 8 %u#0
          store 1, @c, %1  ; c
          %2 = load 1, @c  ; c
          %3 = add 32 %2, 1
          %4 = sext 16 %3
          store 2, @h, %4  ; h
          %5 = load 1, @b  ; b
          %6 = zext 1 %5
          %7 = xor 8 %6, 1
          store 1, @b, %7  ; b
          %8 = udiv 32 %u#0, 3
          %9 = lshr 32 %u#0, 2
          %u#10 = add 32 %8, %9
          %11 = ult 32 %u#10, 7
          %12 = sext 16 %11
          store 2, @h, %12  ; h
          return
        ",
    );
}

#[test]
fn copies_fills_and_library_calls() {
    let program = c("#include <string.h>
        #include <stdlib.h>
        struct s { int a[20]; } x, y; char buf[16];
        void work(char *p) {
            x = y; memset(&x, 0, sizeof x); memmove(buf, p, 4); strcpy(buf, p);
            int *v = calloc(3, 4); v = realloc(v, 24); free(v);
        }");
    assert_body(
        &program,
        "work",
        "
        fn work(%p) {
        b0:
          copy @x, @y, 80
          fill @x, 0, 80
          copy @buf, %p, 4
          %1 = library strcpy(@buf, %p)
          %v#2 = zalloc 12
          %v#3 = alloc 24  ; *v
          copy %v#3, %v#2, ?
          free %v#2
          free %v#3  ; *v
          return
        ",
    );
}

#[test]
fn atomics_and_fences() {
    let program = c("#include <stdatomic.h>
        _Atomic int a; int plain; struct big { long v[4]; }; _Atomic struct big big;
        int work(void) {
            atomic_fetch_add_explicit(&a, 1, memory_order_relaxed);
            atomic_store_explicit(&a, 2, memory_order_release);
            int e = 3;
            int ok = atomic_compare_exchange_strong_explicit(&a, &e, 4, memory_order_acq_rel, memory_order_acquire);
            atomic_thread_fence(memory_order_seq_cst);
            atomic_signal_fence(memory_order_seq_cst);
            __sync_fetch_and_or(&plain, 8);
            return ok + atomic_load_explicit(&a, memory_order_acquire);
        }
        void large(struct big *p) { *p = big; }");
    let text = body(&program, "work");
    for line in [
        "%0 = rmw add 4 relaxed, @a, 1  ; a",
        "store 4 release, @a, 2  ; a",
        "cas 4 acq_rel acquire, @a, 3, 4  ; a",
        "fence seq_cst",
        "rmw or 4 seq_cst, @plain, 8  ; plain",
        "load 4 acquire, @a  ; a",
    ] {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
    assert_eq!(text.matches("fence").count(), 1);
    assert!(body(&program, "large").contains("load 32 seq_cst, @big"), "{}", body(&program, "large"));
}

#[test]
fn ends_of_the_program() {
    let program = c("#include <assert.h>
        #include <stdlib.h>
        #include <errno.h>
        int x;
        static void done(void) { x = 0; }
        int main(int argc, char **argv) {
            atexit(done);
            assert(x == 3);
            if (argc > 2) abort();
            errno = 0;
            if (argc > 1) exit(4);
            return 0;
        }");
    let text = body(&program, "main");
    assert_eq!(text.matches("assert 0").count(), 2);
    assert!(text.contains(" = @errno\n"));
    assert!(text.contains("call __rp_exit_handlers()\n  exit 4"), "{text}");
    assert_body(
        &program,
        "__rp_start",
        r#"
        fn __rp_start "start"(%0, %1) {
        b0:
          %2 = call main(%0, %1)
          call __rp_exit_handlers()
          return %2
        "#,
    );
    assert!(body(&program, "__rp_exit_handlers").contains("call done()"));
    assert!(program.globals.iter().any(|g| g.name == "errno" && g.thread_local));
}

#[test]
fn what_cannot_be_expressed_is_listed() {
    let program = c("#include <setjmp.h>
        jmp_buf jb; int x;
        void frobnicate(int *);
        int work(void) {
            if (setjmp(jb)) return x;
            __asm__ volatile(\"\" ::: \"memory\");
            __asm__ volatile(\"cpuid\" ::: \"eax\", \"ebx\", \"ecx\", \"edx\");
            __asm__ volatile(\"incl x\");
            frobnicate(&x);
            longjmp(jb, 1);
        }");
    assert_eq!(
        unmodelled(&program),
        ["calls `frobnicate`, whose effect on memory is not known", "calls `longjmp`, a jump out of a function"]
    );
    assert!(program.unmodelled.iter().all(|entry| entry.site.is_some()));
    assert!(body(&program, "work").contains("call frobnicate(@x)"));
    assert_eq!(body(&program, "work").matches("call \"inline assembly\"(@x)").count(), 1);
}

/// Memory operands, string instructions and addresses in brackets become accesses; what computes with registers is nothing.
#[cfg(target_arch = "x86_64")]
#[test]
fn inline_assembly_touches_what_its_constraints_say() {
    let program = c("int x, y;
        char work(char *p, char *q, unsigned long n) {
            __asm__ volatile(\"movl %1, %0\" : \"=m\"(x) : \"m\"(y));
            __asm__ volatile(\"lock; incl %0\" : \"+m\"(x));
            __asm__ volatile(\"cld; rep; stosb\" : : \"D\"(p), \"a\"(0), \"c\"(n) : \"memory\");
            __asm__ volatile(\"rep movsb\" : : \"D\"(p), \"S\"(q), \"c\"(n) : \"memory\");
            __asm__ volatile(\"crc32b (%1), %0\" : \"+r\"(n) : \"r\"(q));
            __asm__ volatile(\"bswap %0\" : \"+r\"(n));
            __asm__ volatile(\"\" : \"+r\"(q));
            return *q;
        }");
    assert_eq!(unmodelled(&program), [""; 0]);
    let body = body(&program, "work");
    let lines: Vec<&str> = body.lines().map(|line| line.split('!').next().unwrap_or_default().trim()).collect();
    let has = |start: &str| lines.iter().any(|line| line.contains(start));
    for effect in ["store 4, @x, ?", "load 4, @y", "rmw other 4 seq_cst, @x", "fill %p#0, ?, ?", "copy %p#0, %q#1, ?"] {
        assert!(has(effect), "{effect}: {body}");
    }
    assert!(has("fill %q#1, ?, ?") && !has("call"), "{body}");
}

#[test]
fn macros_and_inline_functions_keep_their_places() {
    let program = c("int x;
#define BUMP(v) ((v)++)
static inline void raise(void) { x = 9; }
void work(void) {
  BUMP(x);
  raise();
}");
    let lines: Vec<_> = program.sites.iter().map(|s| (s.source_function.as_str(), s.location.unwrap().line)).collect();
    assert_eq!(lines, [("work", 5), ("work", 5), ("work", 6), ("raise", 3)]);
}

#[test]
fn structs_are_returned_part_by_part() {
    let program = c("struct pair { int *a, *b; };
        static struct pair make(int *x) { struct pair p = { x, x + 1 }; return p; }
        void work(int *x) { *make(x).b = 3; }");
    let make = body(&program, "make");
    assert!(make.contains("store 8, @make.result, ") && make.contains("store 8, @make.result+8, "), "{make}");
    let work = body(&program, "work");
    assert!(work.contains("= load 8, @make.result+8"), "{work}");
    assert!(program.globals.iter().any(|g| g.symbol == "make.result" && g.thread_local && g.size == 16));
}
