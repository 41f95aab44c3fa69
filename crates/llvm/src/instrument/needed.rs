//! The program's own definitions of functions that the runtime calls: they stay the program's.
//!
//! A program may define `memcpy`. The runtime, which is linked with it, has to call the C library's: the program's is
//! instrumented, and its hooks would come back to the runtime in the middle of a hook.

use inkwell::llvm_sys::LLVMLinkage;

use super::Weaver;

/// What the runtime and the recorder call of the C library.
pub const NEEDED: [&str; 51] = [
    "abort",
    "atexit",
    "atoi",
    "bcmp",
    "dl_iterate_phdr",
    "dladdr",
    "dlsym",
    "dlvsym",
    "exit",
    "fcntl",
    "fflush",
    "fileno",
    "fstat",
    "getauxval",
    "getenv",
    "getpeername",
    "getpid",
    "getsockname",
    "getsockopt",
    "gnu_get_libc_version",
    "malloc_usable_size",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "mmap",
    "munmap",
    "pause",
    "pthread_atfork",
    "pthread_attr_destroy",
    "pthread_attr_getdetachstate",
    "pthread_attr_getstack",
    "pthread_getattr_np",
    "pthread_key_create",
    "pthread_mutexattr_getrobust",
    "pthread_mutexattr_gettype",
    "pthread_rwlockattr_getkind_np",
    "pthread_self",
    "pthread_setspecific",
    "sched_getaffinity",
    "sigaltstack",
    "sigfillset",
    "siglongjmp",
    "strchr",
    "strerror",
    "strlen",
    "strncmp",
    "strnlen",
    "strrchr",
    "syscall",
    "unsetenv",
];

/// Keeps definitions with such names to the program.
pub(super) fn keep_own(weaver: &Weaver<'_, '_>) {
    for name in NEEDED {
        if let Some(function) = weaver.module.function(name).filter(|function| !function.is_declaration()) {
            function.set_linkage(LLVMLinkage::LLVMInternalLinkage);
            function.set_name(&format!("{name}.program"));
        }
    }
}
