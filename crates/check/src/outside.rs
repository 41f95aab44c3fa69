//! What a program reads from outside: another input may lead it where no run of this one goes.

use std::collections::BTreeSet;
use std::fmt;

use model::SiteId;
use program::{Callee, Operand, Program, Statement, Stmt};

/// A part of what the program does not decide itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Source {
    /// What `main` is given.
    Arguments,
    /// Standard input.
    StandardInput,
    /// Variables of the environment.
    Environment,
    /// Files: their content, or that they are there.
    Files,
    /// The network.
    Network,
    /// Clocks.
    Time,
    /// Number of processors, identities, names, random numbers.
    System,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arguments => "its arguments",
            Self::StandardInput => "standard input",
            Self::Environment => "the environment",
            Self::Files => "files",
            Self::Network => "the network",
            Self::Time => "the time",
            Self::System => "the system",
        })
    }
}

/// Everything the program's text reads from outside.
pub(crate) fn sources(program: &Program) -> BTreeSet<Source> {
    let statements = || program.functions.iter().flat_map(|f| &f.blocks).flat_map(|block| &block.statements);
    // What our own library for OpenMP reads only chooses the number of threads.
    let own = |site: SiteId| program.sites.get(site).and_then(|site| program.files.get(site.location?.file));
    let is_users = |s: &&Statement| s.site.and_then(own).is_none_or(|file| !file.starts_with('<'));
    let calls = || statements().filter(is_users).filter_map(|statement| called(program, &statement.stmt));
    let reads_descriptor = |(symbol, args): &(&str, &[Operand])| {
        let first = args.first();
        DESCRIPTOR_READS.contains(symbol)
            && (first == Some(&Operand::Const(0))
                || !matches!(first, Some(Operand::Const(_))) && !calls().any(makes_pipe))
    };
    let mut sources: BTreeSet<Source> = calls().filter_map(|(symbol, _)| source(symbol)).collect();
    if calls().any(|call| reads_descriptor(&call)) {
        sources.insert(Source::StandardInput);
    }
    if program.main.is_some_and(|main| uses_parameters(&program.functions[main])) {
        sources.insert(Source::Arguments);
    }
    let names = |name: &str| ["environ", "__environ", "_environ"].contains(&name);
    if program.globals.iter().any(|global| names(&global.symbol)) {
        sources.insert(Source::Environment);
    }
    sources
}

/// The function without a body that a statement calls, with the arguments.
pub(crate) fn called<'a>(program: &'a Program, stmt: &'a Stmt) -> Option<(&'a str, &'a [Operand])> {
    match stmt {
        Stmt::Library { function, args, .. } => Some((function, args)),
        Stmt::Call { callee: Callee::Direct(callee), args, .. } => {
            let function = &program.functions[*callee];
            function.blocks.is_empty().then_some((function.symbol.as_str(), args))
        }
        _ => None,
    }
}

/// Whether a function does anything with what it is given.
fn uses_parameters(function: &program::Function) -> bool {
    let is_parameter = |operand: &Operand| matches!(operand, Operand::Local(local) if local.0 < function.params);
    function.blocks.iter().any(|block| {
        let in_statements = block.statements.iter().any(|statement| statement.stmt.operands().iter().any(is_parameter));
        in_statements || block.terminator.operands().iter().any(is_parameter)
    })
}

/// Functions that read from a descriptor, which may be standard input.
const DESCRIPTOR_READS: [&str; 4] = ["read", "readv", "pread", "pread64"];

/// Whether a call makes descriptors that both ends of the program hold.
fn makes_pipe((symbol, _): (&str, &[Operand])) -> bool {
    ["eventfd", "pipe", "pipe2", "socketpair"].contains(&symbol)
}

/// What a library function reads, by its symbol.
fn source(symbol: &str) -> Option<Source> {
    const TABLE: [(Source, &[&str]); 6] = [
        (
            Source::StandardInput,
            &[
                "__isoc23_scanf",
                "__isoc99_scanf",
                "fgetc",
                "fgetc_unlocked",
                "fgets",
                "fgets_unlocked",
                "fgetwc",
                "fgetws",
                "fread",
                "fread_unlocked",
                "fscanf",
                "__isoc23_fscanf",
                "__isoc99_fscanf",
                "getc",
                "getc_unlocked",
                "getchar",
                "getchar_unlocked",
                "getdelim",
                "getline",
                "gets",
                "getwc",
                "getwchar",
                "isatty",
                "readline",
                "scanf",
                "vfscanf",
                "vscanf",
            ],
        ),
        (Source::Environment, &["getenv", "secure_getenv"]),
        (
            Source::Files,
            &[
                "access",
                "faccessat",
                "fopen",
                "fopen64",
                "freopen",
                "ftw",
                "getcwd",
                "glob",
                "lstat",
                "nftw",
                "open",
                "open64",
                "openat",
                "opendir",
                "readdir",
                "readlink",
                "realpath",
                "scandir",
                "stat",
                "stat64",
                "statvfs",
            ],
        ),
        (
            Source::Network,
            &["accept", "accept4", "connect", "getaddrinfo", "gethostbyname", "recv", "recvfrom", "recvmsg"],
        ),
        (Source::Time, &["clock", "clock_gettime", "ftime", "gettimeofday", "time", "times", "timespec_get"]),
        (
            Source::System,
            &[
                "arc4random",
                "arc4random_uniform",
                "get_nprocs",
                "get_nprocs_conf",
                "getegid",
                "getentropy",
                "geteuid",
                "getgid",
                "gethostname",
                "getpid",
                "getppid",
                "getpwnam",
                "getpwuid",
                "getrandom",
                "getuid",
                "sched_getaffinity",
                "sysconf",
                "sysinfo",
                "uname",
                "_ZNSt6thread20hardware_concurrencyEv",
            ],
        ),
    ];
    let listed = || TABLE.iter().find(|(_, symbols)| symbols.contains(&symbol)).map(|(source, _)| *source);
    let by_prefix = || {
        const PREFIXES: [(&str, Source); 5] = [
            ("_ZNSi", Source::StandardInput),
            ("_ZStrs", Source::StandardInput),
            ("_ZNSt14basic_ifstream", Source::Files),
            ("_ZNSt6chrono", Source::Time),
            ("_ZNSt13random_device", Source::System),
        ];
        PREFIXES.iter().find(|(prefix, _)| symbol.starts_with(prefix)).map(|(_, source)| *source)
    };
    listed().or_else(by_prefix)
}

/// Sources in one phrase.
pub(crate) fn phrase(sources: &BTreeSet<Source>) -> String {
    let names: Vec<String> = sources.iter().map(Source::to_string).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
