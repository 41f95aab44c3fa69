//! The answer of an earlier command that asked the same, while nothing has changed that it rests on.
//!
//! An answer rests on the text of the program and how it is compiled, on the libraries that it is linked with, and on what its
//! runs read: their arguments and standard input, files, the environment. Of a program that asks for more (the network, which
//! names there are in a folder, what other programs do), no answer is kept. Neither is one that was interrupted, that found a
//! mistake of ours, or that could not write its witnesses.
//!
//! An answer that says `unknown` for want of time is given again to who allows no more time.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use cache::{Cache, Dependencies, Fact, Looks, Remembered};
use model::Spent;
use program::Program;
use program::library::{self, Effect, LibraryState};
use report::{Code, Command, PairVerdict, Report};
use serde::{Deserialize, Serialize};

use crate::document::is_witness_of_another;
use crate::given::Given;
use crate::outside::{self, Source};
use crate::request::{Recording, Request};
use crate::subject::Subject;

/// The files of an entry.
const ANSWER: &str = "answer";
const REPORT: &str = "report";

/// Variables that any program may be asked to mind, by the loader and the C library.
const VARIABLES: [&str; 8] =
    ["LD_LIBRARY_PATH", "LD_PRELOAD", "GLIBC_TUNABLES", "TZ", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE"];

/// A file that the C library reads without being told.
const TIME_ZONE: &str = "/etc/localtime";

/// What an entry says besides the report.
#[derive(Serialize, Deserialize)]
struct Answer {
    /// The time that the command was allowed, if it was limited.
    time: Option<Duration>,
    /// Whether more time changes nothing.
    is_final: bool,
}

/// Where the answers to one request are kept.
pub(crate) struct Answers {
    cache: Cache,
    key: String,
    began: SystemTime,
    time: Option<Duration>,
}

impl Answers {
    /// Those to a request that begins now. `None` if none is kept for it.
    pub(crate) fn new(request: &Request) -> Option<Self> {
        let cache = Cache::open(request.build.cache.as_deref()?)?;
        let began = cache.now()?;
        Some(Self { key: key(request)?, cache, began, time: request.budget.remaining().map(rounded) })
    }

    /// An earlier answer that still holds. Its witnesses are where the report says.
    pub(crate) fn find(&self, start: Instant) -> Option<(Report, Vec<PathBuf>)> {
        let Remembered { folder, made_of } = self.cache.recall(&self.key, &mut Looks::default())?;
        let answer: Answer = postcard::from_bytes(&fs::read(folder.join(ANSWER)).ok()?).ok()?;
        let has_as_much = answer.time.is_none_or(|had| self.time.is_some_and(|time| time <= had));
        if !answer.is_final && !has_as_much {
            return None;
        }
        let mut report: Report = serde_json::from_slice(&fs::read(folder.join(REPORT)).ok()?).ok()?;
        for (number, path) in witnesses(&report).into_iter().enumerate() {
            put_back(&folder.join(number.to_string()), &path)?;
        }
        (report.reused, report.since) = (true, None);
        report.time_ms = start.elapsed().as_millis() as u64;
        Some((report, files_of(&made_of)))
    }

    /// The last answer to this request, whatever has changed since.
    pub(crate) fn last(&self) -> Option<Report> {
        let entry = self.cache.get(&self.last_key())?;
        serde_json::from_slice(&fs::read(entry.join(REPORT)).ok()?).ok()
    }

    fn last_key(&self) -> String {
        format!("last-{}", self.key)
    }

    /// Keeps an answer as the last one, and to be given again if that can be done. Says on which files it rests, as far as that
    /// is known.
    pub(crate) fn keep(&self, request: &Request, subject: &mut Subject, report: &Report) -> Vec<PathBuf> {
        let mut listed = report.clone();
        if !request.all_pairs {
            listed.shorten();
        }
        let report = &listed;
        let write = |entry: &Path| fs::write(entry.join(REPORT), serde_json::to_vec(report)?);
        self.cache.replace(&self.last_key(), write);
        let text = subject.made_of().map(files_of).unwrap_or_default();
        let interrupted = matches!(request.budget.spent(), Some(Spent::Interrupt | Spent::Memory));
        let is_ours = |code: Code| [Code::CONTRADICTION, Code::UNCONFIRMED, Code::UNREPEATABLE].contains(&code);
        let doubtful = report.unknowns.iter().any(|unknown| is_ours(unknown.code)) || !report.warnings.is_empty();
        if interrupted || doubtful {
            return text;
        }
        let Some(made_of) = rests_on(request, subject) else { return text };
        let is_open = |pair: &report::Pair| pair.verdict == PairVerdict::Unknown;
        let is_final = report.unknowns.is_empty() && !report.pairs.iter().any(is_open);
        let answer = Answer { time: self.time, is_final };
        self.cache.remember(&self.key, self.began, &made_of, |entry| {
            fs::write(entry.join(ANSWER), postcard::to_stdvec(&answer).map_err(io::Error::other)?)?;
            fs::write(entry.join(REPORT), serde_json::to_vec(report)?)?;
            let copy = |(number, path): (usize, PathBuf)| fs::copy(path, entry.join(number.to_string())).map(drop);
            witnesses(report).into_iter().enumerate().try_for_each(copy)
        });
        files_of(&made_of)
    }
}

fn files_of(made_of: &Dependencies) -> Vec<PathBuf> {
    made_of.files().map(Path::to_owned).collect()
}

/// A limit without what the command has used of it until it begins to work.
fn rounded(left: Duration) -> Duration {
    const STEP: u128 = 500;
    Duration::from_millis(u64::try_from(left.as_millis().div_ceil(STEP) * STEP).unwrap_or(u64::MAX))
}

/// The name of all that is asked, but for the content of files. `None` if the answer is not kept.
fn key(request: &Request) -> Option<String> {
    let Request { command, build, engines, effort, limits, team_sizes, proofs, prediction, .. } = request;
    let Request { recording, search, promises_other_errors, reached_only, all_pairs, witness_dir, bundle_dir, .. } =
        request;
    // What is no file can be read once only, and that is not our turn.
    let reads_once =
        [&build.stdin, &build.peers].into_iter().flatten().any(|file| file == "-" || !Path::new(file).is_file());
    let goes_on = search.checkpoint.is_some() || search.resume.is_some();
    if reads_once || goes_on || build.machine.is_some() || !matches!(recording, Recording::Controlled) {
        return None;
    }
    let given = Given::read(build).ok()?;
    let asked = format!(
        "{} {command:?} {:?} {engines:?} {effort:?} {limits:?} {team_sizes:?} {proofs:?} {prediction:?} {search:?} \
         {promises_other_errors} {reached_only} {all_pairs} {witness_dir:?} {bundle_dir:?} {:?} {:?} {:?}",
        cache::tool(),
        crate::BuildOptions { cache: None, ..build.clone() },
        std::path::absolute(".").ok()?,
        given.stdin.as_deref().map(cache::hash),
        given.peers_hash(),
    );
    Some(format!("answer-{}", cache::hash(asked.as_bytes())))
}

/// What the answer about a program rests on. `None` if that cannot be said.
fn rests_on(request: &Request, subject: &mut Subject) -> Option<Dependencies> {
    let mut made_of = subject.made_of()?.clone();
    let mut looks = Looks::default();
    if let Some(locks) = request.build.locks.as_deref().filter(|locks| !crate::LOCK_PRESETS.contains(locks)) {
        made_of.add_file(Path::new(locks), &mut looks).ok()?;
    }
    if request.command == Command::Static {
        return Some(made_of);
    }
    let reads = outside::sources(subject.program());
    if reads.contains(&Source::Network) && request.build.peers.is_none() || asks_for_more(subject.program()) {
        return None;
    }
    if reads.contains(&Source::Environment) {
        made_of.add_fact(Fact::Environment);
    }
    if reads.contains(&Source::System) {
        made_of.add_fact(Fact::System);
    }
    if let Ok(Some(built)) = subject.built() {
        if built.opened.has_unmodelled() {
            return None;
        }
        VARIABLES.into_iter().for_each(|name| made_of.add_fact(Fact::Variable(name.to_owned())));
        let opened = built.opened.files().into_iter().map(PathBuf::from);
        for file in built.linked_with()?.into_iter().chain(opened).chain([PathBuf::from(TIME_ZONE)]) {
            made_of.add_file(&file, &mut looks).ok()?;
        }
    }
    Some(made_of)
}

/// How calls begin that start other programs, read files which nobody names (those of users, hosts and services), or ask for
/// what other processes share or the machine does.
const OTHERS: [&str; 21] = [
    "exec",
    "fork",
    "vfork",
    "system",
    "popen",
    "posix_spawn",
    "getpw",
    "getgr",
    "gethost",
    "getaddrinfo",
    "getserv",
    "getproto",
    "shm_open",
    "shmget",
    "mq_open",
    "msgget",
    "semget",
    "sysinfo",
    "getrusage",
    "getloadavg",
    "dlopen",
];

/// Calls that read names and nothing else of the disk than what [`exec::Opened`] knows.
const OPENS: [&str; 9] = ["open", "open64", "openat", "openat64", "creat", "fopen", "fopen64", "freopen", "freopen64"];

/// Whether the program asks for something outside that is neither a file it opens nor part of its environment.
fn asks_for_more(program: &Program) -> bool {
    let statements = program.functions.iter().flat_map(|f| &f.blocks).flat_map(|block| &block.statements);
    let called: BTreeSet<&str> = statements
        .filter_map(|statement| outside::called(program, &statement.stmt))
        .map(|(symbol, _)| symbol)
        .collect();
    let looks_up_names = |symbol: &str| {
        let uses_names = |effect: &Effect| matches!(effect, Effect::State(LibraryState::Names, _));
        !OPENS.contains(&symbol) && library::lookup(symbol).is_some_and(|row| row.effects.iter().any(uses_names))
    };
    let is_other = |symbol: &str| OTHERS.iter().any(|start| symbol.starts_with(start));
    called.into_iter().any(|symbol| is_other(symbol) || looks_up_names(symbol))
}

/// The witness files of a report, as it names them.
fn witnesses(report: &Report) -> BTreeSet<PathBuf> {
    let pairs = report.pairs.iter().filter_map(|pair| pair.witness.as_ref());
    let errors = report.errors.iter().filter_map(|error| error.witness.as_ref());
    let unknowns = report.unknowns.iter().filter_map(|unknown| unknown.witness.as_ref());
    pairs.chain(errors).chain(unknowns).map(PathBuf::from).collect()
}

/// Makes a witness file as it was. `None` if that cannot be done, or if another program's witness is there.
fn put_back(kept: &Path, path: &Path) -> Option<()> {
    let content = fs::read(kept).ok()?;
    if fs::read(path).is_ok_and(|there| there == content) {
        return Some(());
    }
    if is_witness_of_another(path, kept) {
        return None;
    }
    fs::create_dir_all(path.parent()?).ok()?;
    fs::write(path, content).ok()
}
