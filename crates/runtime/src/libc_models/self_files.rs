//! What the kernel says of the process under `/proc/self`: its use of memory and time depends on the machine and on earlier
//! runs, so every run is told the same.

use alloc::string::String;
use core::ffi::CStr;
use core::fmt::Write as _;

use super::identity::PROCESS;

/// Pages of memory: all, and those in use.
const PAGES: [u64; 2] = [25_600, 2_560];
const PAGE: u64 = crate::sys::PAGE as u64;

/// How many fields `stat` has after the process's number, its name and its state.
const FIELDS: u64 = 49;

/// The content of a file about the process; `None` for all others.
pub(super) fn content(path: &CStr) -> Option<String> {
    let path = path.to_str().ok()?.strip_prefix("/proc/")?;
    let (process, name) = path.split_once('/')?;
    if process != "self" && process != "thread-self" && process.parse() != Ok(PROCESS) {
        return None;
    }
    let [size, resident] = PAGES;
    let mut text = String::new();
    match name {
        "stat" => {
            let _ = write!(text, "{PROCESS} (program) R");
            for field in 0..FIELDS {
                let value = match field {
                    0 => u64::from(PROCESS.unsigned_abs()) - 1,
                    1 | 2 => u64::from(PROCESS.unsigned_abs()),
                    14 => 20,
                    16 => 1,
                    19 => size * PAGE,
                    20 => resident,
                    21 => u64::MAX,
                    _ => 0,
                };
                let _ = write!(text, " {value}");
            }
            text.push('\n');
        }
        "statm" => {
            let _ = writeln!(text, "{size} {resident} 0 0 0 {resident} 0");
        }
        "status" => {
            let (size, resident) = (size * PAGE / 1024, resident * PAGE / 1024);
            let _ = write!(text, "Name:\tprogram\nState:\tR (running)\nTgid:\t{PROCESS}\nPid:\t{PROCESS}\n");
            let _ = write!(text, "PPid:\t{}\nVmPeak:\t{size} kB\nVmSize:\t{size} kB\n", PROCESS - 1);
            let _ = writeln!(text, "VmHWM:\t{resident} kB\nVmRSS:\t{resident} kB\nThreads:\t1");
        }
        _ => return None,
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_about_the_process() {
        let stat = content(c"/proc/self/stat").unwrap();
        assert_eq!(stat.split_whitespace().count(), 52);
        assert_eq!(stat.split_whitespace().nth(23), Some("2560"), "pages in use");
        assert_eq!(content(c"/proc/1000/statm").as_deref(), Some("25600 2560 0 0 0 2560 0\n"));
        assert!(content(c"/proc/self/status").unwrap().contains("\nVmRSS:\t10240 kB\n"));
        assert_eq!((content(c"/proc/1/stat"), content(c"/proc/self/maps"), content(c"/proc/stat")), (None, None, None));
    }
}
