//! A real program: lbzip2, built by its own makefile with three compilers, compressing some megabytes of text.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::recording::Subject;
use crate::Failure;
use crate::environment::Environment;

/// Lines of the text, of about 20 bytes each.
const LINES: u64 = 200_000;

/// Builds it in `folder`; the error says why that is impossible.
pub(super) fn subject(environment: &Environment, folder: &Path) -> Result<Subject, Failure> {
    let configured = configured(environment)?;
    let raceproof = format!("{} cc", environment.command().display());
    let native = made(&configured, folder, "native", "clang-19", "-O2")?;
    let sanitized = made(&configured, folder, "sanitized", "clang-19", "-O2 -g -fsanitize=thread")?;
    let kept = made(&configured, folder, "kept", &raceproof, "-O2")?;
    let input = folder.join("text");
    let text: String = (0..LINES).map(|i| format!("line {} of {}\n", i * 7919 % 65_537, i % 977)).collect();
    std::fs::write(&input, text)?;
    let args = ["-n", "2", "-c", &input.display().to_string()].map(str::to_owned).to_vec();
    Ok(Subject { name: "lbzip2".to_owned(), native, sanitized, input: kept, args })
}

/// The sources, fetched and configured once.
fn configured(environment: &Environment) -> Result<PathBuf, Failure> {
    let sources = environment.path("target/tmp/sources");
    let configured = sources.join("lbzip2-configured");
    if configured.join("Makefile").exists() {
        return Ok(configured);
    }
    let script = environment.path("scripts/fetch-source");
    succeed(Command::new(script).arg(&sources).arg("lbzip2"))?;
    // Remove what an interrupted run has left.
    let _ = std::fs::remove_dir_all(&configured);
    copy(&sources.join("lbzip2"), &configured)?;
    let mut configure = Command::new("./configure");
    // Its copy of gnulib needs these definitions for current C libraries.
    configure.args(["CC=clang-19", "CPPFLAGS=-D_IO_ftrylockfile -D_IO_IN_BACKUP=0x100"]).current_dir(&configured);
    succeed(&mut configure)?;
    Ok(configured)
}

/// Builds a copy of the configured sources with a compiler and returns the program.
fn made(configured: &Path, folder: &Path, name: &str, compiler: &str, flags: &str) -> Result<PathBuf, Failure> {
    let folder = folder.join(name);
    copy(configured, &folder)?;
    let mut make = Command::new("make");
    make.args(["-j2", &format!("CC={compiler}"), &format!("CFLAGS={flags}")]).current_dir(&folder);
    succeed(&mut make)?;
    Ok(folder.join("src/lbzip2"))
}

/// Copies files with their times, which `make` compares.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    succeed(Command::new("cp").arg("-a").arg(from).arg(to))
}

fn succeed(command: &mut Command) -> Result<(), Failure> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let program =
                Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
            Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim()).into())
        }
    }
}
