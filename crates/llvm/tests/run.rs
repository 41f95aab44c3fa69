//! The instrumented program, optimised and linked with a runtime that writes down which hooks were called.

mod common;

use std::process::Command;

/// One thread, no scheduling: every hook prints its name and its numbers.
const RUNTIME: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
uint32_t __rp_site;
char *__rp_tls_base;
extern const char __rp_tls_image[];
extern const uint64_t __rp_tls_size, __rp_tls_align;
extern char __start_rp_data[], __stop_rp_data[], __start_rp_bss[], __stop_rp_bss[];
int __rp_user_main(int, char **, char **);
void __rp_user_ctors(void);
void __rp_user_dtors(void);
static const char *where(const void *at) {
    const char *p = at;
    if (p >= __start_rp_data && p < __stop_rp_data) return "data";
    if (p >= __start_rp_bss && p < __stop_rp_bss) return "bss";
    if (p >= __rp_tls_base && p < __rp_tls_base + __rp_tls_size) return "tls";
    return "elsewhere";
}
void __rp_read(const void *p, uint32_t size, uint32_t site) { printf("read %s %u\n", where(p), size); }
void __rp_write(void *p, uint32_t size, uint32_t site) { printf("write %s %u\n", where(p), size); }
void __rp_atomic(void *p, uint32_t size, uint32_t kind, uint32_t site) { printf("atomic %s %u %x\n", where(p), size, kind); }
void __rp_cas_result(uint32_t success) { printf("cas %u\n", success); }
void __rp_call_begin(uint32_t site) { printf("begin\n"); }
void __rp_add(uint32_t kind, const void *p, uint64_t len) { printf("add %u %s %d\n", kind, where(p), (int)len); }
void __rp_stack(void *p, uint64_t size, uint32_t site) { printf("stack %d\n", (int)size); }
void __rp_copy(void *to, const void *from, uint64_t len, uint32_t site) { printf("copy %d\n", (int)len); }
void __rp_set(void *to, uint64_t len, uint32_t site) { printf("set %d\n", (int)len); }
void __rp_allocation(uint32_t site, uint32_t shared) {}
void __rp_call_end(void) { printf("end\n"); }
int main(int argc, char **argv, char **envp) {
    __rp_tls_base = aligned_alloc(64, 4096);
    memcpy(__rp_tls_base, __rp_tls_image, __rp_tls_size);
    __rp_user_ctors();
    int status = __rp_user_main(argc, argv, envp);
    __rp_user_dtors();
    return status;
}
"#;

fn run(name: &str, source: &str) -> (i32, String) {
    let snippet = common::compile(name, source);
    let directory = snippet.directory.path();
    let runtime = directory.join("runtime.o");
    std::fs::write(directory.join("runtime.c"), RUNTIME).unwrap();
    let compiled = Command::new("clang-19")
        .args(["-O1", "-fPIE", "-c"])
        .arg(directory.join("runtime.c"))
        .arg("-o")
        .arg(&runtime)
        .status();
    assert!(compiled.unwrap().success());
    let program = directory.join("program");
    llvm::link(&snippet.compiled, &runtime, &[], &program).unwrap_or_else(|e| panic!("{e}"));
    let output = Command::new(&program).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn hooks_survive_optimisation_in_order() {
    let (status, output) = run(
        "program.c",
        "#include <stdatomic.h>
         int x; static int y = 1; __thread int t = 40; int *out; atomic_int a;
         __attribute__((constructor)) static void init(void) { x = 1; }
         int main(void) {
             x = x + 1; x = x + 1;
             int e = 0; atomic_compare_exchange_strong(&a, &e, 5);
             out = &t;
             return t + x - y;
         }",
    );
    assert_eq!(status, 42);
    let expected = [
        "write bss 4",
        "read bss 4",
        "write bss 4",
        "read bss 4",
        "write bss 4",
        "atomic bss 4 50503",
        "cas 1",
        "write bss 8",
        "read tls 4",
        "read bss 4",
        "read data 4",
    ];
    assert_eq!(output.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn zeroed_globals_take_no_room_in_the_file() {
    let snippet = common::c("char big[50000000]; int main(void) { return big[3]; }");
    let object = snippet.directory.path().join("runtime.o");
    let failure = llvm::link(&snippet.compiled, &object, &[], &snippet.directory.path().join("out")).unwrap_err();
    assert!(failure.to_string().starts_with("the instrumented program cannot be linked"), "{failure}");
    let object = std::fs::metadata(snippet.compiled.bitcode.with_extension("o")).unwrap();
    assert!(object.len() < 100_000);
}

#[test]
fn cxx_programs_link_and_run() {
    let (status, output) = run(
        "program.cpp",
        "#include <stdexcept>
         #include <vector>
         static std::vector<int> v; int g;
         int main() {
             for (int i = 0; i < 3; i++) v.push_back(i);
             try { g = v.at(7); } catch (const std::out_of_range &) { g = 7; }
             return g;
         }",
    );
    assert_eq!(status, 7, "{output}");
    assert!(output.contains("write bss 8"), "{output}");
}
