//! A real program: lbzip2, built by its own makefile with three compilers, compressing some megabytes of text.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Subject, instrumented};

/// Lines of the text, of about 20 bytes each.
const LINES: u64 = 200_000;

/// Builds it in `folder`, or says why that cannot be done.
pub(super) fn subject(folder: &Path) -> Result<Subject, String> {
    let configured = configured()?;
    let raceproof = format!("{} cc", env!("CARGO_BIN_EXE_raceproof"));
    let native = made(&configured, folder, "native", "clang-19", "-O2")?;
    let sanitized = made(&configured, folder, "sanitized", "clang-19", "-O2 -g -fsanitize=thread")?;
    let kept = made(&configured, folder, "kept", &raceproof, "-O2")?;
    let input = folder.join("text");
    let text: String = (0..LINES).map(|i| format!("line {} of {}\n", i * 7919 % 65_537, i % 977)).collect();
    std::fs::write(&input, text).map_err(|error| error.to_string())?;
    let args = ["-n", "2", "-c", &input.display().to_string()].map(str::to_owned).to_vec();
    let (built, is_settled) = (instrumented(&kept, &args), false);
    Ok(Subject { name: "lbzip2", native, sanitized, built, args, is_settled })
}

/// The sources, fetched and configured once.
fn configured() -> Result<PathBuf, String> {
    let sources = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sources");
    let configured = sources.join("lbzip2-configured");
    if configured.join("Makefile").exists() {
        return Ok(configured);
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/fetch-source");
    let output = Command::new(script).arg(&sources).arg("lbzip2").output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    // What an interrupted bench has left.
    let _ = std::fs::remove_dir_all(&configured);
    copy(&sources.join("lbzip2"), &configured)?;
    let mut configure = Command::new("./configure");
    // What its copy of gnulib needs to know of today's C library.
    configure.args(["CC=clang-19", "CPPFLAGS=-D_IO_ftrylockfile -D_IO_IN_BACKUP=0x100"]).current_dir(&configured);
    succeed(&mut configure)?;
    Ok(configured)
}

/// A copy of the configured sources, made with a compiler: the program.
fn made(configured: &Path, folder: &Path, name: &str, compiler: &str, flags: &str) -> Result<PathBuf, String> {
    let folder = folder.join(name);
    copy(configured, &folder)?;
    let mut make = Command::new("make");
    make.args(["-j2", &format!("CC={compiler}"), &format!("CFLAGS={flags}")]).current_dir(&folder);
    succeed(&mut make)?;
    Ok(folder.join("src/lbzip2"))
}

/// Copies with the times of files, by which `make` decides.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    succeed(Command::new("cp").arg("-a").arg(from).arg(to))
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    let errors = || String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(format!("{command:?}: {}", errors())) }
}
