//! From instrumented bitcode to an executable.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::driver::{Clang, Failure};
use crate::error::{BuildStep, Error};
use crate::{Compiled, LLVM_VERSION};

/// Compiles the instrumented bitcode with optimisation (the hooks are calls that LLVM knows nothing about, so they
/// stay) and links it with the runtime.
pub(crate) fn link(compiled: &Compiled, archive: &Path, extra: &[String], out: &Path) -> Result<(), Error> {
    let clang = Clang::find(compiled.architecture, &compiled.budget)?;
    let object = compiled.bitcode.with_extension("o");
    let refused =
        |step: BuildStep| move |failure: Failure| failure.into_error(|diagnostics| Error::Build { step, diagnostics });
    let compile: [&OsStr; 9] = [
        "-O2".as_ref(),
        "-fPIE".as_ref(),
        "-Wno-override-module".as_ref(),
        "-fno-color-diagnostics".as_ref(),
        "-c".as_ref(),
        compiled.bitcode.as_os_str(),
        "-o".as_ref(),
        object.as_os_str(),
        "-w".as_ref(),
    ];
    clang.run(&compile).map_err(refused(BuildStep::Compile))?;

    let driver = if compiled.cplusplus { "--driver-mode=g++" } else { "--driver-mode=gcc" };
    let mut arguments: Vec<OsString> = [driver, "-fPIE", "-pie", "-fuse-ld=lld", "-fno-color-diagnostics"]
        .map(OsString::from)
        .into_iter()
        // A function of the program with the name of one that the runtime models is the one that counts, as it is natively.
        .chain(["-Wl,-z,now", "-Wl,-z,muldefs", "-Wl,--export-dynamic"].map(OsString::from))
        .collect();
    arguments.extend([object.into(), archive.into()]);
    arguments.extend(compiled.link_flags.iter().chain(extra).map(OsString::from));
    arguments.extend(["-lm", "-lpthread", "-ldl", "-o"].map(OsString::from));
    arguments.push(PathBuf::from(out).into());
    // The check for a linker comes after a failure: starting a program of LLVM takes time that a good link need not pay.
    clang.run(&arguments).map_err(|failure| match failure {
        Failure::Refused(_) if !has_lld() => Error::NoLinker { version: LLVM_VERSION },
        failure => refused(BuildStep::Link)(failure),
    })
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
