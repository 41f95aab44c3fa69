//! Where and when something was measured, without names of hosts.

use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::Failure;

/// The machine and the versions of the tools on it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) processors: usize,
    pub(crate) memory_megabytes: u64,
    pub(crate) kernel: String,
    /// The version line of each installed tool.
    pub(crate) tools: Vec<String>,
}

impl Machine {
    pub(crate) fn here() -> Self {
        let of = |file: &str, key: &str| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with(key)).map(str::to_owned);
            line.and_then(|line| Some(line.split_once(':')?.1.trim().to_owned()))
        };
        let kilobytes = of("/proc/meminfo", "MemTotal").and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
        let version = |tool: &str| {
            let output = Command::new(tool).arg("--version").output().ok()?;
            Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_owned())
        };
        Self {
            processor: of("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".to_owned()),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory_megabytes: kilobytes.unwrap_or_default() / 1024,
            kernel: std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
            tools: ["clang-19", "valgrind", "rustc"].iter().filter_map(|tool| version(tool)).collect(),
        }
    }

    /// A name for files: the processor and how many.
    pub(crate) fn slug(&self) -> String {
        let words = self.processor.to_lowercase().replace("(r)", "").replace("(tm)", "");
        let words: Vec<&str> =
            words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        format!("{}-{}", words.join("-"), self.processors)
    }
}

/// Today's date and the time, in UTC.
pub(crate) fn now() -> Result<(String, String), Failure> {
    let output = Command::new("date").args(["-u", "+%F %H:%M"]).output()?;
    let text = String::from_utf8(output.stdout)?;
    let (date, time) = text.trim().split_once(' ').ok_or("`date` prints no date")?;
    Ok((date.to_owned(), time.to_owned()))
}

/// The load average of the last minute.
pub(crate) fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(f64::NAN)
}
