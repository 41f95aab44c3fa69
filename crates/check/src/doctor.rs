//! What of this machine works: a small program is compiled, linked and run, as any other would be.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use launch::Scratch;
use model::{Budget, Executor, Interrupt, Schedule};

use crate::Error;
use crate::build::BuildOptions;
use crate::run::Limits;
use crate::subject::Subject;

/// How a part of the machine does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Health {
    /// As it should.
    Works,
    /// Commands work, but are slower or lack a flag.
    Limited,
    /// Commands do not work without it.
    Missing,
}

/// One part of the machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Examined {
    /// Which.
    pub part: &'static str,
    /// How it does.
    pub health: Health,
    /// What was seen.
    pub seen: String,
    /// What to do.
    pub help: Option<String>,
}

const C_PROGRAM: &str = "\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;
static void *add(void *arg) {
    pthread_mutex_lock(&lock);
    sum++;
    pthread_mutex_unlock(&lock);
    return arg;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return sum != 2;
}
";

const CXX_PROGRAM: &str = "\
#include <mutex>
#include <thread>
static std::mutex lock;
static int sum;
static void add() { std::lock_guard<std::mutex> held(lock); sum++; }
int main() {
    std::thread one(add), other(add);
    one.join();
    other.join();
    return sum != 2;
}
";

/// Runs made to see how fast they are.
const RUNS: u32 = 500;

/// Below this much memory, checks of large programs end early.
const LITTLE_MEMORY: u64 = 2 << 30;

/// Looks at everything that commands need. `cache` is the folder where results are kept.
pub fn examine(cache: Option<&Path>) -> Vec<Examined> {
    let mut examined = trial("C programs", "trial.c", C_PROGRAM, true);
    examined.extend(trial("C++ programs", "trial.cpp", CXX_PROGRAM, false));
    examined.push(debugger());
    examined.push(processors());
    examined.push(memory());
    examined.push(folder(cache));
    examined
}

/// Compiles, links and runs a program; with `runs`, also says how runs are kept apart.
fn trial(part: &'static str, name: &str, source: &str, runs: bool) -> Vec<Examined> {
    let start = Instant::now();
    match run_trial(name, source, runs) {
        Ok(isolation) => {
            let seen = format!("compiled, linked and run in {:.2} s", start.elapsed().as_secs_f64());
            let works = Examined { part, health: Health::Works, seen, help: None };
            std::iter::once(works).chain(isolation).collect()
        }
        Err(error) => {
            let help =
                error.help().or_else(|| Some("on Debian and Ubuntu: apt install clang-19 lld-19 g++".to_owned()));
            vec![Examined { part, health: Health::Missing, seen: error.to_string(), help }]
        }
    }
}

fn run_trial(name: &str, source: &str, runs: bool) -> Result<Option<Examined>, Error> {
    let cannot = Error::WorkFolder;
    let folder = Scratch::new("doctor").map_err(cannot)?;
    let path = folder.path().join(name);
    std::fs::write(&path, source).map_err(cannot)?;
    let options = BuildOptions { inputs: vec![path.display().to_string()], ..BuildOptions::default() };
    let mut subject = Subject::new(&options, &Budget::unlimited(Interrupt::new()))?;
    let running = subject.must_be_running(&Limits::default())?;
    if !runs {
        return Ok(None);
    }
    let start = Instant::now();
    for _ in 0..RUNS {
        running.target.run(&Schedule::new())?;
    }
    let rate = f64::from(RUNS) / start.elapsed().as_secs_f64();
    let (health, how, help) = match running.target.forks() {
        false => (Health::Works, "by restoring memory", None),
        true => (
            Health::Limited,
            "by forking, which is many times slower",
            Some(
                "Linux 6.7 or newer restores memory, where `userfaultfd` is permitted (not in all containers)"
                    .to_owned(),
            ),
        ),
    };
    let seen = format!("kept apart {how}; {rate:.0} runs per second of a small program");
    Ok(Some(Examined { part: "runs", health, seen, help }))
}

/// `replay --gdb` needs it.
fn debugger() -> Examined {
    let output = Command::new("gdb").arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let version = output.ok().filter(|output| output.status.success());
    let first = version.and_then(|output| String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned));
    let (health, seen, help) = match first {
        Some(line) => (Health::Works, line, None),
        None => {
            let help = "on Debian and Ubuntu: apt install gdb";
            (Health::Limited, "gdb is not there: no `replay --gdb`".to_owned(), Some(help.to_owned()))
        }
    };
    Examined { part: "debugger", health, seen, help }
}

fn processors() -> Examined {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let (health, seen) = match processors {
        1 => (Health::Limited, "one: host and program take turns".to_owned()),
        n => (Health::Works, n.to_string()),
    };
    Examined { part: "processors", health, seen, help: None }
}

fn memory() -> Examined {
    let Some(available) = launch::memory::available() else {
        let seen = "how much is available is not known".to_owned();
        return Examined { part: "memory", health: Health::Limited, seen, help: Some("set `--memory`".to_owned()) };
    };
    let health = if available < LITTLE_MEMORY { Health::Limited } else { Health::Works };
    let seen = format!("{:.1} GB available", available as f64 / f64::from(1 << 30));
    let help =
        (health == Health::Limited).then(|| "checks of large programs end early: `--memory` says when".to_owned());
    Examined { part: "memory", health, seen, help }
}

/// Whether results can be kept for the next command.
fn folder(cache: Option<&Path>) -> Examined {
    let kept = |path: &Path| std::fs::create_dir_all(path).and_then(|()| tempfile_in(path));
    let (health, seen, help) = match cache.map(|path| (path, kept(path))) {
        Some((path, Ok(()))) => (Health::Works, path.display().to_string(), None),
        Some((path, Err(error))) => {
            let seen = format!("`{}` cannot be written: {error}", path.display());
            (Health::Limited, seen, Some("set XDG_CACHE_HOME to a folder that can be written".to_owned()))
        }
        None => {
            let seen = "no folder: executables are built anew by each command".to_owned();
            (Health::Limited, seen, Some("set HOME or XDG_CACHE_HOME".to_owned()))
        }
    };
    Examined { part: "cache", health, seen, help }
}

/// Writes a file there and deletes it.
fn tempfile_in(path: &Path) -> std::io::Result<()> {
    let file = path.join(format!(".doctor-{}", std::process::id()));
    std::fs::write(&file, "")?;
    std::fs::remove_file(file)
}
