//! What a command leaves behind: processes and temporary folders.

use std::path::Path;
use std::time::{Duration, Instant};

/// Processes whose environment has this folder.
pub(crate) fn processes(folder: &Path) -> Vec<String> {
    let mark = format!("TMPDIR={}", folder.display()).into_bytes();
    let entries = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let ours = entries.filter(|path| {
        let environment = std::fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark)
    });
    ours.map(|path| path.display().to_string()).collect()
}

/// Waits until no process is left; which are, if some stay.
pub(crate) fn left_behind(folder: &Path) -> Vec<String> {
    let start = Instant::now();
    loop {
        let left = processes(folder);
        if left.is_empty() || start.elapsed() > Duration::from_secs(3) {
            return left;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Folders of ours among temporary files.
pub(crate) fn folders(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("raceproof-") && name != "raceproof-witnesses").collect()
}

/// Whether a process is the program under test.
pub(crate) fn runs_program(process: &str) -> bool {
    std::fs::read_link(Path::new(process).join("exe"))
        .is_ok_and(|path| path.file_name().is_some_and(|n| n == "program"))
}
