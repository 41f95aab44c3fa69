//! Functions that a handler must not call if it may interrupt one of them (decision 99): they keep a heap, streams or other data
//! of the library's own, and POSIX does not list them as async-signal-safe.

use super::{Role, cxx_streams, lookup};

/// Those that do not allocate or free by their row in the table.
const UNSAFE: [&str; 56] = [
    "asctime",
    "asprintf",
    "at_quick_exit",
    "atexit",
    "clearerr",
    "closedir",
    "ctime",
    "exit",
    "fclose",
    "fdopen",
    "fflush",
    "fgetc",
    "fgets",
    "fileno",
    "fopen",
    "fprintf",
    "fputc",
    "fputs",
    "fread",
    "freopen",
    "fscanf",
    "fseek",
    "ftell",
    "fwrite",
    "getc",
    "getchar",
    "getdelim",
    "getline",
    "gmtime",
    "localtime",
    "mktime",
    "opendir",
    "openlog",
    "pclose",
    "perror",
    "popen",
    "printf",
    "putc",
    "putchar",
    "putenv",
    "puts",
    "readdir",
    "rewind",
    "scanf",
    "setbuf",
    "setenv",
    "setlocale",
    "setvbuf",
    "strtok",
    "syslog",
    "tmpfile",
    "ungetc",
    "unsetenv",
    "vfprintf",
    "vprintf",
    "vsyslog",
];

/// Whether the function with this linker name is one of them.
pub fn is_unsafe_in_handlers(name: &str) -> bool {
    let Some(row) = lookup(name) else { return false };
    let keeps_heap = matches!(
        row.role,
        Role::Allocate { .. }
            | Role::Reallocate { .. }
            | Role::AllocateInto { .. }
            | Role::AllocateInside
            | Role::Free(_)
    );
    keeps_heap || UNSAFE.binary_search(&row.name).is_ok() || cxx_streams::by_prefix(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_known() {
        assert!(UNSAFE.is_sorted());
        let unknown: Vec<_> = UNSAFE.iter().filter(|name| lookup(name).is_none_or(|row| row.name != **name)).collect();
        assert_eq!(unknown, [&""; 0], "names of rows");
    }

    #[test]
    fn what_posix_lists_is_safe() {
        for name in ["write", "_exit", "kill", "memcpy", "strlen", "sem_post", "read", "abort", "signal", "time"] {
            assert!(!is_unsafe_in_handlers(name), "{name}");
        }
        for name in ["malloc", "free", "_Znwm", "strdup", "fopen64", "printf"] {
            assert!(is_unsafe_in_handlers(name), "{name}");
        }
    }
}
