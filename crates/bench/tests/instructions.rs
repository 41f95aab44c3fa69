//! Instructions of the five kernels of `examples/kernels.rs`, counted by callgrind and pinned with a tolerance: a guard
//! against slower code that does not depend on the machine's load.
//!
//! `BLESS=1` pins what is counted now; see `testkit::ui`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const KERNELS: [&str; 5] = ["best", "causality", "lockset", "petri", "predict"];
/// Largest difference in percent, either way: compilers differ, and faster code is pinned again.
const TOLERANCE: f64 = 15.0;

/// The example, which `cargo test` builds beside the driver.
fn kernels() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_bench")).parent().expect("a folder");
    folder.join("examples/kernels")
}

/// The instructions that callgrind counts inside `measured`.
fn instructions(kernel: &str) -> u64 {
    let folder = tempfile::tempdir().expect("temporary folder");
    let out = format!("--callgrind-out-file={}", folder.path().join("out").display());
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--toggle-collect=*measured*", &out]).arg(kernels()).arg(kernel);
    let output = valgrind.output().expect("valgrind, which `scripts/setup --tests` installs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{kernel}: {text}");
    let collected = text.lines().find_map(|line| line.split_once("Collected : "));
    collected.and_then(|(_, n)| n.trim().parse().ok()).unwrap_or_else(|| panic!("{kernel}: no count in {text}"))
}

#[test]
fn kernels_take_as_many_instructions_as_pinned() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/instructions.json");
    let counted: BTreeMap<&str, u64> = KERNELS.map(|kernel| (kernel, instructions(kernel))).into();
    if testkit::ui::blesses() {
        let text = serde_json::to_string_pretty(&counted).expect("numbers") + "\n";
        std::fs::write(&path, text).expect("the pinned counts can be written");
    }
    let text = std::fs::read_to_string(&path).expect("the pinned counts");
    let pinned: BTreeMap<String, u64> = serde_json::from_str(&text).expect("numbers");
    let mut differ = Vec::new();
    for (kernel, count) in &counted {
        let pinned = *pinned.get(*kernel).unwrap_or_else(|| panic!("{kernel} is not pinned"));
        let percent = 100.0 * (*count as f64 / pinned as f64 - 1.0);
        if percent.abs() > TOLERANCE {
            differ.push(format!("{kernel}: {count} instructions, pinned are {pinned} ({percent:+.1} %)"));
        }
    }
    assert!(differ.is_empty(), "{}\nif this is meant, pin it with BLESS=1", differ.join("\n"));
}
