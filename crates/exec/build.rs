//! Builds the runtime as a static library, to be embedded: the installed tool needs nothing beside itself.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let crates = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("..");
    let out = PathBuf::from(env::var("OUT_DIR").expect("set by cargo"));
    for part in ["runtime/src", "runtime/Cargo.toml", "wire/src", "wire/Cargo.toml", "../Cargo.toml"] {
        println!("cargo::rerun-if-changed={}", crates.join(part).display());
    }
    let target = out.join("runtime");
    let mut cargo = Command::new(env::var("CARGO").expect("set by cargo"));
    cargo
        .args(["rustc", "--quiet", "--package", "raceproof-runtime", "--lib", "--profile", "runtime"])
        .args(["--crate-type", "staticlib"])
        .arg("--manifest-path")
        .arg(crates.join("../Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        // Debuggers and profilers see through the hooks.
        .args(["--", "-C", "force-frame-pointers=yes"]);
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
    assert!(status.success(), "the runtime library does not build: see above");
    let archive = target.join("runtime/libruntime.a");
    println!("cargo::rustc-env=RACEPROOF_RUNTIME_ARCHIVE={}", archive.display());
}
