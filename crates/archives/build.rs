//! Builds the libraries that are linked into programs as static libraries, to be embedded: the installed tool needs
//! nothing beside itself.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let crates = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("..");
    for part in ["runtime", "recorder", "effects", "wire"] {
        for what in ["src", "Cargo.toml"] {
            println!("cargo::rerun-if-changed={}", crates.join(part).join(what).display());
        }
    }
    println!("cargo::rerun-if-changed={}", crates.join("../Cargo.toml").display());
    for (name, variable) in [("runtime", "RACEPROOF_RUNTIME_ARCHIVE"), ("recorder", "RACEPROOF_RECORDER_ARCHIVE")] {
        println!("cargo::rustc-env={variable}={}", archive(&crates, name).display());
    }
}

/// Builds a crate as a static library.
fn archive(crates: &Path, name: &str) -> PathBuf {
    let target = PathBuf::from(env::var("OUT_DIR").expect("set by cargo")).join("runtime");
    let mut cargo = Command::new(env::var("CARGO").expect("set by cargo"));
    cargo
        .args(["rustc", "--quiet", "--package", &format!("raceproof-{name}"), "--lib", "--profile", "runtime"])
        .args(["--crate-type", "staticlib"])
        .arg("--manifest-path")
        .arg(crates.join("../Cargo.toml"))
        .arg("--target-dir")
        .arg(&target);
    let mut folder = target.clone();
    let [host, machine] = ["HOST", "TARGET"].map(|variable| env::var(variable).expect("set by cargo"));
    if machine != host {
        // A build for another machine: so are the libraries.
        cargo.args(["--target", &machine]);
        folder.push(machine);
    }
    cargo
        // Debuggers and profilers see through the hooks, and so does a thread that looks at its own stack.
        .args(["--", "-C", "force-frame-pointers=yes", "-C", "force-unwind-tables=yes"]);
    // What is meant for the outer build must not reach the inner one: coverage or sanitizer flags, lint wrappers.
    for variable in [
        "CARGO_BUILD_RUSTFLAGS",
        "CARGO_BUILD_TARGET",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_TARGET_DIR",
        "CLIPPY_ARGS",
        "RUSTC",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_WRAPPER",
        "RUSTDOC",
        "RUSTFLAGS",
    ] {
        cargo.env_remove(variable);
    }
    let status = cargo.status().expect("cannot run cargo");
    assert!(status.success(), "the library `{name}` does not build: see above");
    folder.join(format!("runtime/lib{name}.a"))
}
