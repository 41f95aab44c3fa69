//! The compiler: does what was requested, then embeds the bitcode of every source in the output.
//!
//! The native build decides: its messages are shown, and its failure is the wrapper's. If a source cannot be compiled
//! to bitcode (clang may refuse flags of another compiler), there is a warning and an object without bitcode; its
//! functions are then unknown to every engine and reported by name.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use crate::capture::{Made, is_trial};
use crate::command::{Argument, CommandLine, Language, Stage};
use crate::directives::{Dropped, asks_for_openmp, without_code};
use crate::embedded::{Embedded, Link, Unit};
use crate::error::{Error, FileAction};
use crate::{
    BITCODE_FLAGS, LENIENT_FLAGS, Leniency, X86_64_BITCODE_FLAGS, asks_for_other_processor, bitcode_flags, container,
    response,
};

/// The programs used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tools {
    /// The native compiler with its first arguments.
    pub native: Vec<String>,
    /// The clang for bitcode, of LLVM's version.
    pub clang: String,
    /// The tool that adds sections to objects.
    pub objcopy: String,
    /// The machine that the native compiler makes code for, where that is not what its arguments say.
    pub target: Option<String>,
}

/// What was done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// The exit status of the native compiler.
    pub status: i32,
    /// What was made.
    pub made: Vec<Made>,
    /// To be printed.
    pub warnings: Vec<String>,
}

/// The one LLVM major version in use.
pub const LLVM_VERSION: u32 = 19;

/// The name of a clang of that version; searched once.
pub fn find_clang() -> Result<String, Error> {
    static FOUND: OnceLock<String> = OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Ok(found.clone());
    }
    let version = LLVM_VERSION;
    let said = format!("version {version}.");
    for program in [format!("clang-{version}"), "clang".to_owned()] {
        match Command::new(&program).arg("--version").stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() && String::from_utf8_lossy(&output.stdout).contains(&said) => {
                return Ok(FOUND.get_or_init(|| program).clone());
            }
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => return Err(Error::Start { program, cause }),
            _ => {}
        }
    }
    Err(Error::NoClang { version })
}

/// Compiles as `raceproof cc` (or `raceproof c++`) with these arguments.
pub fn wrap(tools: &Tools, language: Language, arguments: &[String]) -> Result<Outcome, Error> {
    let line = CommandLine::new(&response::expand(arguments));
    let mut wrapper = Wrapper { tools, language, made: Vec::new(), warnings: Vec::new() };
    let is_trial = is_trial(&here()?, line.sources().map(|(source, _)| source));
    let status = match line.stage {
        _ if is_trial => wrapper.run(arguments)?,
        Stage::Neither => wrapper.run(arguments)?,
        Stage::Compile => wrapper.compile(&line, arguments)?,
        Stage::Link => wrapper.link(&line)?,
    };
    let Wrapper { made, warnings, .. } = wrapper;
    Ok(Outcome { status, made, warnings })
}

struct Wrapper<'a> {
    tools: &'a Tools,
    language: Language,
    made: Vec<Made>,
    warnings: Vec<String>,
}

impl Wrapper<'_> {
    /// Calls the native compiler.
    fn run(&self, arguments: &[String]) -> Result<i32, Error> {
        let (program, first) = self.tools.native.split_first().ok_or(Error::NoCompiler)?;
        let mut leniency = Leniency::default();
        if *program == self.tools.clang {
            // It is the user's choice by default only: flags of gcc that it does not know are left out.
            let planned = Command::new(program).args(first).args(arguments).arg("-###").stdin(Stdio::null()).output();
            leniency.adapt(
                &planned.map(|planned| String::from_utf8_lossy(&planned.stderr).into_owned()).unwrap_or_default(),
            );
        }
        let kept = arguments.iter().filter(|argument| leniency.keeps(argument));
        let status = Command::new(program).args(first).args(kept).status();
        status.map(code).map_err(|cause| Error::Start { program: program.clone(), cause })
    }

    fn compile(&mut self, line: &CommandLine, arguments: &[String]) -> Result<i32, Error> {
        let mut native = arguments.to_vec();
        if line.flags().iter().any(|flag| flag.starts_with("-flto")) {
            // With link-time optimisation there is no native object to embed into.
            native.push("-fno-lto".to_owned());
        }
        let status = self.run(&native)?;
        if status == 0 {
            for (source, language) in line.sources() {
                let object = line.output().map_or_else(|| Path::new(source).with_extension("o"), PathBuf::from);
                let object =
                    if line.output().is_some() { Some(object.as_path()) } else { object.file_name().map(Path::new) };
                if let Some(object) = object.filter(|object| object.is_file()) {
                    self.keep_bitcode(line, source, language, object);
                }
            }
        }
        Ok(status)
    }

    /// Links. Sources on the command line are compiled first, each to an object of its own.
    fn link(&mut self, line: &CommandLine) -> Result<i32, Error> {
        let folder = scratch()?;
        let mut arguments = Vec::new();
        let mut linked = Vec::new();
        for (number, argument) in line.arguments.iter().enumerate() {
            match argument {
                Argument::Source(source, language) => {
                    let object = folder.path().join(format!("{number}.o")).to_string_lossy().into_owned();
                    let status = self.compile_for_link(line, source, *language, &object)?;
                    if status != 0 {
                        return Ok(status);
                    }
                    arguments.push(object);
                }
                Argument::Other(file) => {
                    arguments.push(file.clone());
                    linked.push(file.clone());
                }
                Argument::Linker(words) => {
                    arguments.extend_from_slice(words);
                    linked.extend(words.iter().filter(|word| *word != "-s").cloned());
                }
                Argument::Output(path) => arguments.extend(["-o".to_owned(), path.clone()]),
                Argument::Flag(words) => {
                    arguments.extend_from_slice(words);
                    if matches!(words[0].as_str(), "-pthread" | "-fopenmp") {
                        linked.push(words[0].clone());
                    }
                }
                Argument::Dependencies(_) => {}
            }
        }
        let entry = Embedded::Link(Link {
            directory: here()?.to_string_lossy().into_owned(),
            cplusplus: self.language == Language::Cxx,
            arguments: linked,
        });
        let object = folder.path().join("link.o");
        match self.write_link(&entry, line, &object, folder.path()) {
            Ok(()) => arguments.push(object.to_string_lossy().into_owned()),
            Err(error) => self.warnings.push(format!("what the executable is linked with is not known later: {error}")),
        }
        let status = self.run(&arguments)?;
        let is_library = line.flags().iter().any(|flag| flag == "-shared");
        let output = here()?.join(line.output().unwrap_or("a.out"));
        if status == 0 && !is_library && output.is_file() {
            self.made.push(Made::Linked { executable: output });
        }
        Ok(status)
    }

    /// Writes an object with the entry of a link, for the machine that is linked for.
    fn write_link(&self, entry: &Embedded, line: &CommandLine, object: &Path, folder: &Path) -> Result<(), Error> {
        if self.tools.target.is_none() && !asks_for_other_processor(&line.flags()) {
            return container::write_object(entry, object);
        }
        let source = folder.join("link.c");
        std::fs::write(&source, "").map_err(|cause| Error::File {
            action: FileAction::Write,
            path: source.clone(),
            cause,
        })?;
        let mut arguments = line.flags();
        arguments.retain(|flag| flag != "-shared" && !flag.starts_with("-flto"));
        arguments.extend(["-c", "-x", "c"].map(String::from));
        arguments.extend([&source, Path::new("-o"), object].map(|path| path.to_string_lossy().into_owned()));
        match self.run(&arguments)? {
            0 => container::attach(entry, object, &self.tools.objcopy, folder),
            _ => Err(Error::NoCompiler),
        }
    }

    fn compile_for_link(
        &mut self,
        line: &CommandLine,
        source: &str,
        language: Language,
        object: &str,
    ) -> Result<i32, Error> {
        let mut arguments = line.flags();
        arguments.retain(|flag| flag != "-shared" && flag != "-pie" && flag != "-static" && !flag.starts_with("-flto"));
        let dependencies = line.arguments.iter().filter_map(|argument| match argument {
            Argument::Dependencies(words) => Some(words.as_slice()),
            _ => None,
        });
        arguments.extend(dependencies.flatten().cloned());
        let writes = |flag: &str| arguments.iter().any(|argument| argument == flag);
        if (writes("-MD") || writes("-MMD")) && !writes("-MF") {
            // Named after the output, as compilers do, not after our object.
            let named =
                line.output().map_or_else(|| Path::new(source).file_name().map(PathBuf::from), |o| Some(o.into()));
            let file = named.unwrap_or_default().with_extension("d");
            arguments.extend(["-MF".to_owned(), file.to_string_lossy().into_owned()]);
        }
        let name = language.name(Path::new(source)).to_owned();
        arguments.extend(["-c", "-x"].map(String::from));
        arguments.extend([name, source.to_owned(), "-o".to_owned(), object.to_owned()]);
        let status = self.run(&arguments)?;
        if status == 0 {
            self.keep_bitcode(line, source, language, Path::new(object));
        }
        Ok(status)
    }

    /// The call of clang that compiles a source to bitcode, without its output.
    fn clang(&self, line: &CommandLine, source: &str, language: Language, leniency: &Leniency) -> Command {
        let mut clang = Command::new(&self.tools.clang);
        if language == Language::Cxx {
            // With its assertions on, libstdc++ leaves `std::string` to be instantiated, and so instrumented, here.
            clang.args(["--driver-mode=g++", "-D_GLIBCXX_ASSERTIONS"]);
        }
        clang.args(bitcode_flags(&line.flags()).iter().filter(|flag| leniency.keeps(flag))).args(leniency.flags());
        if let Some(target) = &self.tools.target {
            clang.arg(format!("--target={target}"));
        }
        let is_other = self.tools.target.as_ref().is_some_and(|target| !target.starts_with("x86_64"));
        if !is_other && !asks_for_other_processor(&line.flags()) {
            clang.args(X86_64_BITCODE_FLAGS);
        }
        clang.args(BITCODE_FLAGS).args(LENIENT_FLAGS).arg("-w");
        clang.args(["-x", language.name(Path::new(source)), source]).stdin(Stdio::null());
        clang
    }

    /// A directive in the source that clang made no code of.
    fn dropped(
        &self,
        line: &CommandLine,
        source: &str,
        language: Language,
        leniency: &Leniency,
    ) -> Result<Option<Dropped>, Error> {
        if !asks_for_openmp(&line.flags()) {
            return Ok(None);
        }
        let mut clang = self.clang(line, source, language, leniency);
        let output = clang.args(["-E", "-o", "-"]).output();
        let output = output.map_err(|cause| Error::Start { program: self.tools.clang.clone(), cause })?;
        Ok(without_code(&String::from_utf8_lossy(&output.stdout)))
    }

    /// Compiles a source to bitcode and embeds it in its object. Where that fails, the build goes on without.
    fn keep_bitcode(&mut self, line: &CommandLine, source: &str, language: Language, object: &Path) {
        let failed = match self.embed(line, source, language, object) {
            Ok(failed) => failed,
            Err(error) => Some(error.to_string()),
        };
        let source = source.to_owned();
        if let Some(reason) = failed {
            self.warnings.push(format!("`{source}` has no bitcode, so raceproof cannot analyse it: {reason}"));
            self.made.push(Made::Without { source, reason });
        } else {
            self.made.push(Made::Compiled { source });
        }
    }

    /// The same; why there is no bitcode, if there is none.
    fn embed(
        &mut self,
        line: &CommandLine,
        source: &str,
        language: Language,
        object: &Path,
    ) -> Result<Option<String>, Error> {
        let folder = scratch()?;
        let bitcode = folder.path().join("bitcode.bc");
        let mut leniency = Leniency::default();
        let refused = loop {
            let mut clang = self.clang(line, source, language, &leniency);
            let output = clang
                .arg("-o")
                .arg(&bitcode)
                .output()
                .map_err(|cause| Error::Start { program: self.tools.clang.clone(), cause })?;
            let said = String::from_utf8_lossy(&output.stderr);
            if output.status.success() || !leniency.adapt(&said) {
                break (!output.status.success()).then(|| said.into_owned());
            }
        };
        if line.flags().iter().any(|flag| flag == "-v" || flag == "--verbose") {
            let said = leniency.left_out().iter().map(|flag| format!("`{flag}` was left out: clang does not know it"));
            self.warnings.extend(said);
        }
        if let Some(said) = refused {
            let first = said.lines().find(|line| line.contains("error:")).unwrap_or("clang refuses it");
            return Ok(Some(format!("clang cannot compile it to bitcode: {first}")));
        }
        if let Some(Dropped { directive, file, line: at }) = self.dropped(line, source, language, &leniency)? {
            return Ok(Some(format!(
                "clang makes no code of `{directive}` ({file}:{at}); write `masked` around `taskloop`"
            )));
        }
        let bitcode = std::fs::read(&bitcode).map_err(|cause| Error::File {
            action: FileAction::Read,
            path: bitcode.clone(),
            cause,
        })?;
        let entry = Embedded::Unit(Unit {
            source: source.to_owned(),
            directory: here()?.to_string_lossy().into_owned(),
            cplusplus: language == Language::Cxx,
            bitcode,
        });
        container::attach(&entry, object, &self.tools.objcopy, folder.path())?;
        Ok(None)
    }
}

fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

fn here() -> Result<PathBuf, Error> {
    std::env::current_dir().map_err(|cause| Error::File { action: FileAction::FindFolder, path: ".".into(), cause })
}

fn scratch() -> Result<tempfile::TempDir, Error> {
    let made = tempfile::Builder::new().prefix("raceproof-cc-").tempdir();
    made.map_err(|cause| Error::File { action: FileAction::CreateFolder, path: std::env::temp_dir(), cause })
}
