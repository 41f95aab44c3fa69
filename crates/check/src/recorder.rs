//! Programs made ready to be recorded on real threads.
//!
//! Only the recorder's executable is built, and it is kept in the user's cache, so that the next recording starts at once.
//! Accesses that the static engine shows to be harmless are not recorded, as far as it comes in a few seconds. What they
//! read may have decided what a thread did, so a prediction from such a recording may turn out impossible; the replay tells.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use files::ProgramIdentity;
use files::hash;
use files::trace::SiteTable;
use launch::Scratch;
use llvm::instrument::Logged;
use lockset::Answer;
use model::{Budget, SiteId};
use program::Program;
use recording::{Figures, RecordConfig};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::build::{self, BuildOptions, Sources};
use crate::record::RecordOptions;
use crate::subject;
use cache::Cache;

/// How long the static engine may look for accesses that need not be recorded.
const STATIC_TIME: Duration = Duration::from_secs(3);

/// A program that is ready to be recorded on real threads.
#[derive(Debug)]
pub struct Recorder {
    executable: PathBuf,
    config: RecordConfig,
    /// Where the executable is, unless that is in the cache.
    _folder: Option<Scratch>,
}

impl Recorder {
    /// Runs the program once and writes what happened to `output`.
    pub fn run(&self, output: &Path) -> Result<Figures, Error> {
        Ok(recording::record(&self.executable, &self.config, output)?)
    }
}

/// What is known of an executable besides itself.
#[derive(Serialize, Deserialize)]
struct Prepared {
    /// What its words mean.
    sites: SiteTable,
    /// What files call the program.
    hash: String,
    /// Whether the program asks its checker something (a value, a section), which only the controlled scheduler answers.
    asks_checker: bool,
}

/// Names of the files of an entry of the cache.
const EXECUTABLE: &str = "program";
const PREPARED: &str = "prepared";

/// Makes a program ready, or finds it ready in the cache. `None` if only the controlled scheduler can run it.
pub fn prepare_recorder(
    build: &BuildOptions,
    options: &RecordOptions,
    budget: &Budget,
) -> Result<Option<Recorder>, Error> {
    let sources = Sources::compile(build, budget)?;
    let cache = build.cache.as_deref().and_then(Cache::open);
    let key = hash(format!("{} {} {}", sources.content()?, archive_hash(), options.every_access).as_bytes());
    let known = cache.as_ref().and_then(|cache| cache.get(&key));
    if let Some((entry, prepared)) = known.and_then(|entry| Some((entry.clone(), read(&entry)?))) {
        return Ok(ready(build, options, budget, prepared, &sources, entry.join(EXECUTABLE), None));
    }
    let folder = Scratch::new("").map_err(Error::WorkFolder)?;
    let executable = folder.path().join(EXECUTABLE);
    let prepared = make(&sources, options, folder.path(), &executable, budget)?;
    let fill = |entry: &Path| {
        std::fs::copy(&executable, entry.join(EXECUTABLE))?;
        std::fs::write(entry.join(PREPARED), postcard::to_stdvec(&prepared).map_err(std::io::Error::other)?)
    };
    if let Some(cache) = &cache {
        cache.put(&key, fill);
    }
    Ok(ready(build, options, budget, prepared, &sources, executable, Some(folder)))
}

fn read(entry: &Path) -> Option<Prepared> {
    postcard::from_bytes(&std::fs::read(entry.join(PREPARED)).ok()?).ok()
}

fn archive_hash() -> String {
    hash(archives::recorder_archive())
}

/// Instruments and links the program for the recorder.
fn make(
    sources: &Sources,
    options: &RecordOptions,
    folder: &Path,
    executable: &Path,
    budget: &Budget,
) -> Result<Prepared, Error> {
    let mut left_out = false;
    let mut compiled = sources.record(folder, budget, |program| {
        let without =
            if options.every_access { BTreeSet::new() } else { harmless_sites(program, sources.assume_pure(), budget) };
        left_out = !without.is_empty();
        without
    })?;
    if left_out && !compiled.unmodelled.is_empty() {
        // What is not modelled may touch anything.
        compiled = sources.record(folder, budget, |_| BTreeSet::new())?;
    }
    let asks_checker = asks_checker(&compiled.program);
    if !asks_checker {
        // The executable as a whole is kept.
        let object = llvm::generate(&compiled)?;
        build::link(&compiled, &object, archives::recorder_archive(), &folder.join("librecorder.a"), executable)?;
    } else {
        std::fs::write(executable, []).map_err(Error::WorkFolder)?;
    }
    let hash = sources.identity(&compiled.program)?.hash;
    let Logged { accesses, together } = compiled.logged;
    Ok(Prepared { sites: SiteTable { accesses, together }, hash, asks_checker })
}

/// The recorder of an executable, unless only the controlled scheduler can run it.
fn ready(
    build: &BuildOptions,
    options: &RecordOptions,
    budget: &Budget,
    prepared: Prepared,
    sources: &Sources,
    executable: PathBuf,
    folder: Option<Scratch>,
) -> Option<Recorder> {
    let given = sources.given();
    let program = build.identity(prepared.hash, given);
    let stdin = given.stdin.clone();
    let config = config(
        program,
        build::name_of(&build.inputs, build.executable.as_deref()),
        prepared.sites,
        options,
        stdin,
        budget,
    );
    (!prepared.asks_checker && given.peers.is_empty()).then_some(Recorder { executable, config, _folder: folder })
}

/// How to record a program.
pub(crate) fn config(
    program: ProgramIdentity,
    name: String,
    sites: SiteTable,
    options: &RecordOptions,
    stdin: Option<Vec<u8>>,
    budget: &Budget,
) -> RecordConfig {
    RecordConfig {
        args: program.args.iter().map(Into::into).collect(),
        program,
        sites,
        max_trace: options.max_trace,
        time: shorter(options.time, budget.remaining()),
        stdin,
        name: name.into(),
        show_output: options.show_output,
    }
}

/// The shorter of two limits, where there are any.
fn shorter(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Whether the program asks its checker something (a value, a section), which only the controlled scheduler answers.
pub(crate) fn asks_checker(program: &Program) -> bool {
    let asks = |symbol: &str| {
        symbol.starts_with("__VERIFIER_") || matches!(symbol, "raceproof_choose" | "reach_error" | "__rp_error")
    };
    program.functions.iter().any(|function| asks(&function.symbol))
}

/// Sites that are in no pair that may race, by the static engine, if it finds out soon. What is not modelled may touch
/// anything, so then there are none.
pub(crate) fn harmless_sites(
    program: &Arc<Program>,
    assume_pure: &BTreeSet<String>,
    budget: &Budget,
) -> BTreeSet<SiteId> {
    if !program.unmodelled.is_empty() {
        return BTreeSet::new();
    }
    let options = facts::Options { assume_pure: assume_pure.clone(), entries: Vec::new() };
    let facts = subject::derive(Arc::clone(program), options, budget.at_most(STATIC_TIME));
    let Ok(analysis) = lockset::analyse(&facts) else { return BTreeSet::new() };
    if !analysis.obstacles.is_empty() || analysis.more_warnings > 0 {
        return BTreeSet::new();
    }
    let open = analysis.findings.iter().filter(|finding| matches!(finding.answer, Answer::Unknown { .. }));
    let open: BTreeSet<SiteId> = open.flat_map(|finding| finding.pair.sites()).collect();
    program.sites.ids().filter(|site| !open.contains(site)).collect()
}
