//! How much memory there is, and how much this process and those it started use.

use std::time::Duration;

use model::Budget;

/// Time between two measurements.
const INTERVAL: Duration = Duration::from_millis(100);

/// Bytes that are available on this machine; `None` where the system does not say.
pub(crate) fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Measures from now on, and says when the budget's memory is used up. Ends with the process.
pub(crate) fn watch(budget: &Budget) {
    let Some(limit) = budget.memory() else { return };
    let budget = budget.clone();
    std::thread::spawn(move || {
        while used().is_none_or(|used| used <= limit) {
            std::thread::sleep(INTERVAL);
        }
        budget.exhaust_memory();
    });
}

/// Bytes that this process and its descendants use.
fn used() -> Option<u64> {
    let mut bytes = 0;
    let mut open = vec!["self".to_owned()];
    while let Some(process) = open.pop() {
        // A process that has ended meanwhile uses nothing.
        bytes += resident(&process).unwrap_or(0);
        open.extend(children(&process));
    }
    Some(bytes)
}

fn resident(process: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    // Memory shared with another process of ours would be counted twice.
    Some((field("RssAnon:")? + field("RssShmem:").unwrap_or(0)) * 1024)
}

fn children(process: &str) -> Vec<String> {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    let lists = tasks.flatten().filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_memory() {
        let block = vec![1u8; 64 << 20];
        let used = used().expect("Linux tells");
        assert!(used >= block.len() as u64 && available().is_some_and(|available| available > 0), "{used}");
    }
}
