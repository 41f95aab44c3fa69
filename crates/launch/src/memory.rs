//! How much memory there is, and how much processes use.

/// Bytes that are available on this machine; `None` where the system does not say.
pub fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Bytes that a process and its descendants use.
pub fn used_by(process: u32) -> u64 {
    let mut bytes = 0;
    let mut open = vec![process.to_string()];
    while let Some(process) = open.pop() {
        // A process that has ended meanwhile uses nothing.
        bytes += resident(&process).unwrap_or(0);
        open.extend(children(&process));
    }
    bytes
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
        let used = used_by(std::process::id());
        assert!(used >= block.len() as u64 && available().is_some_and(|available| available > 0), "{used}");
    }
}
