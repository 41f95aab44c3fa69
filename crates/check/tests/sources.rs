//! Every engine on generated C and C++ sources, held against the complete search of the real program: nothing that races is
//! proved absent, nothing races that the search does not show, and nothing ends without an answer.
#![allow(clippy::print_stdout, reason = "how many programs the search could decide is worth seeing")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use check::{BuildOptions, LINE, Limits, RecordOptions, Recording, Request, SearchOptions, Subject, run_on};
use explore::ReductionName;
use files::{Detail, TraceFile};
use model::{Budget, Engine, Environment};
use report::{Command, PairVerdict, Report, Verdict};
use testkit::sources::Source;

const PROGRAMS: u64 = 60;

/// Executions of a search that is the truth; with more the program is left out.
const EXECUTIONS: u64 = 3_000;

/// After so many programs it says how far it is.
const REPORTED: u64 = 250;

/// Programs to try while a complaint is made smaller.
const ATTEMPTS: usize = 60;

/// Seeds on which engines once disagreed: exceptions, swapped handles, handlers at exit, also those that the last thread
/// runs, values chosen after a compare-exchange.
const KEPT: [u64; 10] = [53, 62, 76, 80, 187, 188, 563, 3506, 4625, 5375];

/// Programs that are also run with short serial stretches.
const QUIET_PROGRAMS: u64 = 24;

/// Programs that are recorded on real threads, and how long each may run there.
const RECORDED_PROGRAMS: u64 = 12;
const RECORDED_TIME: Duration = Duration::from_secs(5);

/// Makes every serial stretch quiet after two events.
const QUIET: &str = "#ifdef __cplusplus\nextern \"C\"\n#endif\nconst unsigned __raceproof_serial_events;\n\
    const unsigned __raceproof_serial_events = 2;\n";

/// Whether the search could decide a program; what is wrong with the other answers.
type Examination = fn(&Source) -> Result<bool, String>;

type Lines = BTreeSet<(u32, u32)>;

/// The lines of a pair, the smaller first.
fn lines_of(pair: &report::Pair) -> (u32, u32) {
    let [one, other] = pair.accesses.each_ref().map(|access| access.line);
    (one.min(other), one.max(other))
}

/// Pairs of lines with this verdict.
fn lines(report: &Report, verdict: PairVerdict) -> Lines {
    report.pairs_with(verdict).map(lines_of).collect()
}

/// One program, compiled once, and what commands say of it.
struct Examined<'a> {
    folder: &'a Path,
    build: BuildOptions,
    subject: Subject,
    /// What the environment may do in the runs that are asked for next.
    environment: Environment,
    /// The run that prediction is asked about.
    recording: Recording,
}

impl<'a> Examined<'a> {
    fn new(folder: &'a Path, source: &Source) -> Result<Self, String> {
        Self::of_text(folder, source, source.text())
    }

    fn of_text(folder: &'a Path, source: &Source, text: String) -> Result<Self, String> {
        let file = folder.join(source.language.file());
        std::fs::write(&file, text).unwrap();
        let build = BuildOptions { inputs: vec![file.to_string_lossy().into_owned()], ..BuildOptions::default() };
        let subject = Subject::new(&build, &Budget::default()).map_err(|error| format!("build: {error}"))?;
        Ok(Self { folder, build, subject, environment: Environment::default(), recording: Recording::default() })
    }

    fn ask(&mut self, command: Command, engines: &[Engine], search: SearchOptions) -> Result<Report, String> {
        let request = Request {
            engines: engines.to_vec(),
            search,
            recording: self.recording.clone(),
            reached_only: true,
            limits: Limits { environment: self.environment, ..Limits::default() },
            witness_dir: self.folder.join("witnesses"),
            bundle_dir: self.folder.to_owned(),
            ..Request::new(command, self.build.clone(), Budget::default())
        };
        run_on(&mut self.subject, &request, &mut ()).map_err(|error| format!("{command:?} {engines:?}: {error}"))
    }

    /// The races of a complete search; `None` if there are too many schedules or something is not modelled.
    fn truth(&mut self) -> Result<Option<Lines>, String> {
        let search = SearchOptions {
            reduction: ReductionName::Optimal,
            max_executions: Some(EXECUTIONS),
            ..SearchOptions::default()
        };
        let report = self.ask(Command::Explore, &[Engine::Explore], search)?;
        Ok(report.unknowns.is_empty().then(|| lines(&report, PairVerdict::Race)))
    }

    /// What a proof engine says of pairs that race.
    fn proofs(&mut self, command: Command, engine: Engine, racing: &Lines) -> Result<(), String> {
        let report = self.ask(command, &[engine], SearchOptions::default())?;
        if report.verdict == Verdict::Safe && !racing.is_empty() {
            return Err(format!("{engine}: safe, but {racing:?} race"));
        }
        let [open, absent] = [PairVerdict::Unknown, PairVerdict::Absent].map(|verdict| lines(&report, verdict));
        let missed = |pair: &&(u32, u32)| !open.contains(pair) && (report.unknowns.is_empty() || absent.contains(pair));
        match racing.iter().find(missed) {
            Some(pair) => Err(format!("{engine}: the race {pair:?} is not among the open pairs {open:?}")),
            None => Ok(()),
        }
    }

    /// What all engines together say.
    fn whole(&mut self, racing: &Lines) -> Result<(), String> {
        let whole = self.ask(Command::Check, &LINE, SearchOptions::default())?;
        let races = lines(&whole, PairVerdict::Race);
        if races != *racing {
            return Err(format!("check: {races:?} race, by the search {racing:?}"));
        }
        if racing.is_empty() != (whole.verdict == Verdict::Safe) {
            return Err(format!("check: {:?}, by the search {racing:?} race: {:?}", whole.verdict, whole.unknowns));
        }
        Ok(())
    }
}

/// Whether the search could decide it; what is wrong with the other answers.
fn examine(source: &Source) -> Result<bool, String> {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Examined::new(folder.path(), source)?;
    let Some(racing) = program.truth()? else { return Ok(false) };
    program.proofs(Command::Static, Engine::Static, &racing)?;
    program.proofs(Command::Verify, Engine::Verify, &racing)?;
    let predicted = program.ask(Command::Predict, &[Engine::Predict], SearchOptions::default())?;
    let predicted = lines(&predicted, PairVerdict::Race);
    if !predicted.is_subset(&racing) {
        return Err(format!("predict: {predicted:?} race, by the search {racing:?}"));
    }
    program.whole(&racing)?;
    if source.environment == Environment::default() {
        return Ok(true);
    }
    program.environment = source.environment;
    let Some(racing) = program.truth()? else { return Ok(false) };
    program.whole(&racing)?;
    Ok(true)
}

/// Whether the search could decide it; how its races differ where a thread that is alone is recorded for two events only.
fn compare_quiet(source: &Source) -> Result<bool, String> {
    let folder = tempfile::tempdir().unwrap();
    let text = source.rehearsed_text();
    let mut quiet = Examined::of_text(folder.path(), source, format!("{text}{QUIET}"))?;
    let Some(racing) = Examined::of_text(folder.path(), source, text)?.truth()? else { return Ok(false) };
    let found = quiet.truth()?;
    if found.as_ref() != Some(&racing) {
        return Err(format!("quiet: {found:?} race, recorded in full {racing:?}"));
    }
    quiet.whole(&racing)?;
    Ok(true)
}

/// What a recording shows by itself, and what of it does not.
fn compare_observed(path: &Path, detail: Detail) -> Result<TraceFile, String> {
    let file = check::read_trace(path, detail).map_err(|error| format!("record: {error}"))?;
    let observed: BTreeSet<_> =
        predict::observe(&file.trace, &|| false).races().iter().map(|race| race.sites).collect();
    let unordered = testkit::unordered(&file.trace);
    if observed != unordered {
        return Err(format!("record: {observed:?} observed, {unordered:?} unordered in the recorded order"));
    }
    Ok(file)
}

/// Whether the search could decide it; how it differs from what a recording on real threads shows and lets predict.
fn compare_recorded(source: &Source) -> Result<bool, String> {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Examined::new(folder.path(), source)?;
    let path = folder.path().join("t.rpt");
    let options = RecordOptions { time: Some(RECORDED_TIME), ..RecordOptions::default() };
    check::record(&program.build, &options, &Budget::default(), &path).map_err(|error| format!("record: {error}"))?;
    compare_observed(&path, Detail::Every)?;
    let shared = compare_observed(&path, Detail::Shared)?;
    let observed = testkit::unordered(&shared.trace).len();
    let Some(racing) = program.truth()? else { return Ok(false) };
    program.recording = Recording::Given(Arc::new(shared));
    let report = program.ask(Command::Predict, &[Engine::Predict], SearchOptions::default())?;
    let shown = |pair: &&report::Pair| pair.details.shown.is_some();
    let found: Lines = report.pairs.iter().filter(shown).map(lines_of).collect();
    if !found.is_subset(&racing) {
        return Err(format!("recorded: {found:?} race, by the search {racing:?}"));
    }
    if report.pairs_with(PairVerdict::Race).count() < observed {
        return Err(format!("recorded: {observed} pairs are unordered, and {found:?} are reported"));
    }
    Ok(true)
}

/// A complaint with the smallest program found that deserves one.
fn complain(seed: u64, source: &Source, complaint: &str, examine: Examination) -> String {
    let engine = |complaint: &str| complaint.split([':', ' ']).next().unwrap_or_default().to_owned();
    let same = |source: &Source| examine(source).is_err_and(|found| engine(&found) == engine(complaint));
    let small = source.shrink(ATTEMPTS, same);
    let complaint = examine(&small).err().unwrap_or_else(|| complaint.to_owned());
    format!("seed {seed}: {complaint}\n{}", small.text())
}

/// Examines generated programs, two at a time; all complaints fail the test.
fn examine_all(seeds: &[u64], examine: Examination) {
    let (next, decided, complaints) = (AtomicU64::new(0), AtomicU64::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(seed) = seeds.get(number as usize) else { break };
                    if number.is_multiple_of(REPORTED) && number > 0 {
                        println!("{number} programs, {} complaints", complaints.lock().unwrap().len());
                    }
                    let source = Source::generate(*seed);
                    match examine(&source) {
                        Ok(is_decided) => drop(decided.fetch_add(is_decided.into(), Ordering::Relaxed)),
                        Err(complaint) => {
                            println!("seed {seed}: {complaint}");
                            complaints.lock().unwrap().push(complain(*seed, &source, &complaint, examine));
                        }
                    }
                }
            });
        }
    });
    let complaints = complaints.into_inner().unwrap();
    assert!(complaints.is_empty(), "{} of {}:\n{}", complaints.len(), seeds.len(), complaints.join("\n"));
    let decided = decided.into_inner();
    println!("{decided} of {} programs decided by the search", seeds.len());
    assert!(
        decided * 10 >= seeds.len() as u64 * 9,
        "{decided} of {}: the generator makes programs too large",
        seeds.len()
    );
}

#[test]
fn engines_agree_with_the_search_of_the_real_program() {
    let numbers = testkit::numbers(PROGRAMS);
    let kept = KEPT.into_iter().filter(|seed| !numbers.contains(seed));
    let seeds: Vec<u64> = numbers.clone().chain(kept).collect();
    examine_all(&seeds, examine);
}

/// Decision 49: what is left out of a quiet serial stretch changes no race.
#[test]
fn quiet_stretches_hide_no_race() {
    let seeds: Vec<u64> = testkit::numbers(QUIET_PROGRAMS).collect();
    examine_all(&seeds, compare_quiet);
}

/// What a recording on real threads shows is what its order leaves unordered; that, and what is predicted of it, are races
/// that the search knows.
#[test]
fn recordings_show_races_of_the_search() {
    let seeds: Vec<u64> = testkit::numbers(RECORDED_PROGRAMS).collect();
    examine_all(&seeds, compare_recorded);
}
