//! Running a witness again.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use explore::{Failure, FailureKind, Involved, looping};
use files::{RecordedAccess, RecordedFinding, Witness};
use model::{Budget, End, Engine, EventId, Executor, Schedule, SiteId, ThreadId, Trace};
use remote::Machine;
use report::{Code, Details, Finding, PairVerdict, Report, Run, ShownBy, Unknown};

use crate::Error;
use crate::build::{BuildOptions, Built};
use crate::describe::story::{self, Ending};
use crate::describe::{Describer, ObjectNames, Position, crash, stacks, values};
use crate::document::{self, ONE_RUN, Parts, race_code, race_reason};
use crate::engine::explore::cut_at;
use crate::gap::Gap;
use crate::run::{Limits, Running};
use crate::subject::build;

/// A witness that showed its finding again.
#[derive(Debug)]
pub struct Replayed {
    /// The finding, as the result document has it.
    pub report: Report,
    /// The run that shows it.
    pub run: Run,
    /// Number of segments of the schedule, all of which were as recorded.
    pub segments: usize,
    /// Thread and position of every event of the run, in the observed order.
    pub order: Vec<EventId>,
    /// Whether the program is not the one the witness was made of, although its run is the same.
    pub changed: bool,
}

/// How much of its run is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// What matters up to the finding.
    Finding,
    /// All events; of very long runs the last.
    All,
}

/// The program of a witness.
struct Rebuilt {
    witness: Witness,
    built: Arc<Built>,
    /// Whether it is not the one the witness was made of; comments are enough.
    changed: bool,
}

/// Reads a witness and builds its program.
fn rebuild(path: &Path, machine: Option<Machine>, budget: &Budget) -> Result<Rebuilt, Error> {
    let witness = Witness::read(path)?;
    let program = &witness.program;
    let built = build(&BuildOptions { machine, ..program.into() }, budget)?;
    let changed = built.identity.hash != program.hash;
    if let Some(input) = program.other_input(&built.identity) {
        return Err(Error::InputChanged { witness: path.to_owned(), input: input.to_owned() });
    }
    Ok(Rebuilt { witness, built, changed })
}

fn limits(witness: &Witness) -> Limits {
    let files::RunOptions { max_steps, environment, team_size, .. } = witness.run;
    Limits { max_steps, environment, team_size, ..Limits::default() }
}

/// Builds the witness's program, runs its schedule, on another machine if one is given, and checks that everything is as
/// recorded. A program that changed since may still have the same run, in other lines.
pub fn replay(path: &Path, machine: Option<Machine>, extent: Extent, budget: &Budget) -> Result<Replayed, Error> {
    let start = Instant::now();
    run_again(path, &rebuild(path, machine, budget)?, extent, budget, start)
}

fn run_again(
    path: &Path,
    rebuilt: &Rebuilt,
    extent: Extent,
    budget: &Budget,
    start: Instant,
) -> Result<Replayed, Error> {
    let Rebuilt { witness, built, changed } = rebuilt;
    let changed = *changed;
    let or_changed = |error| {
        let witness_path = path.to_owned();
        match witness.data.iter().find(|file| file.has_changed()) {
            _ if changed => Error::ProgramChanged { witness: witness_path },
            Some(file) => Error::DataChanged { witness: witness_path, file: file.name.clone() },
            None => error,
        }
    };
    let Running { mut target, symbols, .. } = Running::launch(Arc::clone(built), &limits(witness), budget)?;
    let trace = target.run_alone(&witness.schedule())?;
    let differs = |difference| or_changed(Error::ReplayDiffers { witness: path.to_owned(), difference });
    witness.compare(&trace).map_err(differs)?;
    let names = ObjectNames::new(&built.program, &symbols);
    let describer = Describer { program: &built.program, names: &names };
    let spelled = Some(path.to_string_lossy().into_owned());
    let Shown { mut pair, error, unknown, mut run } = show(&describer, witness, changed, &trace, spelled, extent)
        .ok_or_else(|| or_changed(Error::NotShown { witness: path.to_owned(), finding: kind(&witness.finding) }))?;
    if let (Some(pair), RecordedFinding::Race { accesses, .. }) = (&mut pair, &witness.finding)
        && let [Some(first), Some(second)] = [&accesses[0], &accesses[1]].map(|access| witness.event(&access.event))
    {
        let [one, other] = &mut pair.accesses;
        let shown = [(first, one), (second, other)];
        stacks::add(&mut target, &built.program, &witness.schedule(), &trace, shown, &mut run)?;
    }
    values::add(&mut target, &names, &witness.schedule(), &trace, &mut run)?;
    let error = error.map(|error| crash::at_its_line(error, &built.program, &mut target)).transpose()?;
    let report = document::assemble(Parts {
        command: report::Command::Replay,
        inputs: built.identity.inputs.clone(),
        args: built.identity.args.clone(),
        pairs: pair.into_iter().collect(),
        unknowns: unknown.into_iter().collect(),
        errors: error.into_iter().collect(),
        figures: Vec::new(),
        assumptions: BTreeSet::new(),
        scope: ONE_RUN,
        incomplete: true,
        warnings: Vec::new(),
        start,
    });
    let order = trace.events.iter().map(|event| event.id).collect();
    Ok(Replayed { report, run, segments: witness.segments.len(), order, changed })
}

fn kind(finding: &RecordedFinding) -> &'static str {
    match finding {
        RecordedFinding::Race { .. } => "race",
        RecordedFinding::Deadlock { .. } => "deadlock",
        RecordedFinding::Assertion { .. } => "failed assertion",
        RecordedFinding::Crash { .. } => "crash",
        RecordedFinding::Misuse { .. } => "misuse",
        RecordedFinding::Endless { .. } => "run without end",
    }
}

/// A finding that a run shows.
struct Shown {
    pair: Option<report::Pair>,
    error: Option<Finding>,
    unknown: Option<Unknown>,
    run: Run,
}

/// Finds the witness's finding in a run of its schedule; in a program that changed, perhaps in other lines.
fn show(
    describer: &Describer<'_>,
    witness: &Witness,
    changed: bool,
    trace: &Trace,
    spelled: Option<String>,
    extent: Extent,
) -> Option<Shown> {
    let program = describer.program;
    let tell = |ending: &Ending<'_>| match extent {
        Extent::Finding => story::tell(describer.program, describer.names, trace, ending),
        Extent::All => story::tell_all(describer.program, describer.names, trace, ending),
    };
    let fault = |kind, thread: ThreadId, site, message: &str, what: &str| {
        let involved = vec![Involved { site, thread: trace.threads.get(thread)?.path.clone() }];
        let failure = Failure { kind, involved, message: message.to_owned(), schedule: Schedule::new() };
        let error = Finding { witness: spelled.clone(), ..describer.failure(trace, &failure)? };
        Some(Shown { pair: None, error: Some(error), unknown: None, run: tell(&Ending::Fault { thread, site, what }) })
    };
    match (&witness.finding, &trace.end) {
        (RecordedFinding::Race { accesses, adjacent, .. }, _) => {
            let [first, second] = [witness.event(&accesses[0].event)?, witness.event(&accesses[1].event)?];
            let is_at = |site, recorded: &RecordedAccess| {
                let Position { function, line, column, .. } = Position::of(describer.program, site);
                let in_line = if changed { function == recorded.function } else { line == recorded.line };
                in_line && column == recorded.column
            };
            let wanted = |[one, other]: [Option<SiteId>; 2]| is_at(one, &accesses[0]) && is_at(other, &accesses[1]);
            let shown = describer.race(trace, first, second, wanted)?;
            let sites = shown.each_ref().map(|(step, _)| trace.events[*step].site);
            let [(first, one), (second, other)] = shown;
            if *adjacent && second.0 != first.0 + 1 {
                return None;
            }
            let pair = report::Pair {
                id: String::new(),
                verdict: PairVerdict::Race,
                confirmed: true,
                by: Engine::Explore,
                rank: 0,
                code: Some(sites[0].zip(sites[1]).map_or(Code::DATA_RACE, |(a, b)| race_code(program, [a, b]))),
                variable: one.variable.clone(),
                reason: race_reason(program, sites.map(|site| site.unwrap_or(SiteId(u32::MAX))), *adjacent),
                accesses: [one.access, other.access],
                witness: spelled,
                details: Details { shown: Some(ShownBy::Run), ..Details::default() },
            };
            Some(Shown { pair: Some(pair), error: None, unknown: None, run: tell(&Ending::Race { first, second }) })
        }
        (RecordedFinding::Deadlock { .. }, End::Deadlock) => {
            let blocked = trace.pending.iter().filter(|p| !p.enabled);
            let involved = blocked.map(|p| {
                let thread = trace.threads.get(p.event.id.thread)?.path.clone();
                Some(Involved { site: p.event.site, thread })
            });
            let failure = Failure {
                kind: FailureKind::Deadlock,
                involved: involved.collect::<Option<_>>()?,
                message: String::new(),
                schedule: Schedule::new(),
            };
            let error = Finding { witness: spelled, ..describer.failure(trace, &failure)? };
            Some(Shown { pair: None, error: Some(error), unknown: None, run: tell(&Ending::Waiting) })
        }
        (RecordedFinding::Assertion { message: expected }, End::Assertion { thread, site, message })
            if expected == message =>
        {
            fault(FailureKind::Assertion, *thread, *site, message, &format!("assertion fails: {message}"))
        }
        (RecordedFinding::Crash { message: expected }, End::Crash { thread, site, message }) if expected == message => {
            fault(FailureKind::Crash, *thread, *site, message, &format!("crashes: {message}"))
        }
        (RecordedFinding::Misuse { message }, _) => {
            let misuse = trace.misuses.iter().find(|misuse| misuse.what == *message)?;
            fault(FailureKind::Misuse, misuse.thread, misuse.site, message, message)
        }
        (RecordedFinding::Endless { message }, End::StepLimit | End::TimeLimit) => {
            let (thread, site) = looping(trace)?;
            let who = &trace.threads.get(thread)?.path;
            let (code, settle) = cut_at(&trace.end);
            let gap = Gap::new(code, format!("{message}: thread {who} was still running"), settle).at(site);
            let unknown = Unknown { witness: spelled, ..gap.resolve(describer.program) };
            let run = tell(&Ending::Fault { thread, site, what: "still runs" });
            Some(Shown { pair: None, error: None, unknown: Some(unknown), run })
        }
        _ => None,
    }
}

/// Most events of a run in which gdb can go to any event.
const MOST_STEPS: usize = 1_000_000;

/// The command that runs the witness's program under gdb and stops right before the last event of its schedule: the
/// second access of a race. `more` are further arguments of gdb. The program lives as long as what is returned with it.
pub fn debugger(path: &Path, more: &[String], budget: &Budget) -> Result<(Command, Arc<Built>), Error> {
    let rebuilt = rebuild(path, None, budget)?;
    if rebuilt.changed {
        return Err(Error::ProgramChanged { witness: path.to_owned() });
    }
    let replayed = run_again(path, &rebuilt, Extent::All, budget, Instant::now())?;
    let Rebuilt { witness, built, .. } = rebuilt;
    let mut schedule = witness.schedule();
    if let Some(last) = schedule.segments.last_mut() {
        last.until = last.until.saturating_sub(1);
    }
    let config = limits(&witness).config(&built, budget);
    let order = if replayed.order.len() > MOST_STEPS { &[] } else { &replayed.order[..] };
    let story = serde_json::json!({
        "run": replayed.run,
        "order": order.iter().map(|event| [event.thread.0, event.position]).collect::<Vec<_>>(),
    });
    let (executable, folder) = (built.executable(), built.folder());
    let command = exec::gdb_command(&executable, &config, &schedule, folder, &story.to_string(), more)?;
    Ok((command, built))
}
