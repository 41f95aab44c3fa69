//! The programs, and how each is built in three ways.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::Failure;
use crate::environment::Environment;

/// What clients say to a server.
#[derive(Clone, Copy)]
pub(super) enum Protocol {
    Memcached,
    Redis,
}

/// A program and its load.
pub(super) struct Program {
    /// Of the source package.
    pub(super) name: &'static str,
    /// Its arguments: `{text}` is a text, `{out}` the file to write, otherwise standard output is; `{folder}` an empty folder,
    /// `{port}` where to listen.
    pub(super) args: &'static str,
    /// A server has clients.
    pub(super) server: Option<Protocol>,
    /// Whether what it writes is the same in every run.
    pub(super) compares: bool,
}

const fn compressor(name: &'static str, args: &'static str) -> Program {
    Program { name, args, server: None, compares: true }
}

const fn server(name: &'static str, args: &'static str, protocol: Protocol) -> Program {
    Program { name, args, server: Some(protocol), compares: false }
}

pub(super) const PROGRAMS: &[Program] = &[
    compressor("pigz", "-p 2 -b 128 -c {text}"),
    compressor("pbzip2", "-p2 -b1 -c {text}"),
    compressor("lbzip2", "-n2 -c {text}"),
    compressor("pixz", "-t -p 2 -i {text} -o {out}"),
    compressor("xz-utils", "-T2 --block-size=1MiB -1 -c {text}"),
    server("memcached", "-u root -l 127.0.0.1 -U 0 -t 4 -p {port}", Protocol::Memcached),
    server("redis", "--port {port} --save '' --io-threads 2 --io-threads-do-reads yes", Protocol::Redis),
    Program {
        name: "leveldb",
        args: "--benchmarks=fillrandom,readrandom --threads=2 --num=4000 --db={folder}",
        server: None,
        compares: false,
    },
    Program { name: "sqlite3", args: "", server: None, compares: true },
];

/// A program built in three ways.
pub(super) struct Subject {
    pub(super) program: &'static Program,
    pub(super) version: String,
    pub(super) plain: PathBuf,
    pub(super) sanitized: PathBuf,
    pub(super) recorded: PathBuf,
}

/// Builds a program, unless that was done before; the error says why that is impossible.
pub(super) fn built(environment: &Environment, program: &'static Program) -> Result<Subject, Failure> {
    let own = environment.command().display();
    let (plain, version) = build(environment, program.name, "plain", "clang-19", "clang++-19")?;
    let sanitizer = |compiler: &str| format!("{compiler} -g -fsanitize=thread");
    let (sanitized, _) = build(environment, program.name, "tsan", &sanitizer("clang-19"), &sanitizer("clang++-19"))?;
    let (c, cxx) = (format!("{own} cc --recorder"), format!("{own} c++ --recorder"));
    let (recorded, _) = build(environment, program.name, "ours", &c, &cxx)?;
    Ok(Subject { program, version, plain, sanitized, recorded })
}

fn build(environment: &Environment, name: &str, kind: &str, c: &str, cxx: &str) -> Result<(PathBuf, String), Failure> {
    let mut script = Command::new(environment.path("scripts/build-real-code"));
    script.arg(environment.path("target/tmp/recordings").join(kind)).arg(environment.command()).arg(name);
    script.env("REAL_CODE_OPTIMIZE", "-O2");
    let output = script.env("REAL_CODE_CC", c).env("REAL_CODE_CXX", cxx).stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let Some(&[_, program, version]) = text.lines().last().map(|line| line.split(' ').collect::<Vec<_>>()).as_deref()
    else {
        let why = String::from_utf8_lossy(&output.stderr);
        // Paths of this machine say nothing elsewhere.
        return Err(why.trim().split(';').next().unwrap_or_default().to_owned().into());
    };
    Ok((program.into(), version.to_owned()))
}
