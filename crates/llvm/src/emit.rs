//! From instrumented bitcode to an executable.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::driver::{Clang, Failure};
use crate::error::{BuildStep, Error};
use crate::{Compiled, LLVM_VERSION, included};

/// How instrumented bitcode is compiled.
pub(crate) const FLAGS: [&str; 5] = ["-O2", "-fPIE", "-Wno-override-module", "-fno-color-diagnostics", "-w"];

/// Compiles the instrumented bitcode with optimisation (the hooks are calls that LLVM knows nothing about, so they
/// stay), to a file beside it.
pub(crate) fn generate(compiled: &Compiled) -> Result<PathBuf, Error> {
    let clang = Clang::find(compiled.architecture, &compiled.budget)?;
    let object = compiled.object();
    let mut arguments: Vec<&OsStr> = FLAGS.iter().map(OsStr::new).collect();
    arguments.extend(["-c".as_ref(), compiled.bitcode.as_os_str(), "-o".as_ref(), object.as_os_str()]);
    clang.run(&arguments).map_err(|failure| refused(BuildStep::Compile, failure))?;
    Ok(object)
}

fn refused(step: BuildStep, failure: Failure) -> Error {
    failure.into_error(|diagnostics| Error::Build { step, diagnostics })
}

/// Links an object of the program with the runtime.
pub(crate) fn link(
    compiled: &Compiled,
    object: &Path,
    archive: &Path,
    extra: &[String],
    out: &Path,
) -> Result<(), Error> {
    let clang = Clang::find(compiled.architecture, &compiled.budget)?;
    let driver = if compiled.cplusplus { "--driver-mode=g++" } else { "--driver-mode=gcc" };
    let mut arguments: Vec<OsString> = [driver, "-fPIE", "-pie", "-fuse-ld=lld", "-fno-color-diagnostics"]
        .map(OsString::from)
        .into_iter()
        // A function of the program with the name of one that the runtime models is the one that counts, as it is natively.
        .chain(["-Wl,-z,now", "-Wl,-z,muldefs", "-Wl,--export-dynamic"].map(OsString::from))
        .collect();
    let mut rule = OsString::from("-Wl,--dependency-file=");
    rule.push(rule_of(out));
    arguments.extend([rule, object.into(), archive.into()]);
    arguments.extend(compiled.link_flags.iter().chain(extra).map(OsString::from));
    arguments.extend(["-lm", "-lpthread", "-ldl", "-o"].map(OsString::from));
    arguments.push(PathBuf::from(out).into());
    // The check for a linker comes after a failure: starting a program of LLVM takes time that a good link need not pay.
    clang.run(&arguments).map_err(|failure| match failure {
        Failure::Refused(_) if !has_lld() => Error::NoLinker { version: LLVM_VERSION },
        failure => refused(BuildStep::Link, failure),
    })
}

/// Where the linker writes down what it read for an executable.
fn rule_of(executable: &Path) -> PathBuf {
    executable.with_extension("d")
}

/// The files that the linker read for an executable. `None` if it did not say.
pub(crate) fn linked_files(executable: &Path) -> Option<Vec<PathBuf>> {
    let rule = std::fs::read_to_string(rule_of(executable)).ok()?;
    Some(included::prerequisites(&rule).into_iter().map(PathBuf::from).collect())
}

fn has_lld() -> bool {
    [format!("ld.lld-{LLVM_VERSION}"), "ld.lld".to_owned()].iter().any(|program| {
        Command::new(program)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    })
}
