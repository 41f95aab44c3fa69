//! A check that is interrupted in any phase has a complete report: every pair, what the engines before had settled, and
//! that it was interrupted.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use check::{BuildOptions, LINE, Request, Watcher, run};
use explore::Observer;
use model::{Budget, Engine, Interrupt};
use report::{Code, Command, PairVerdict, Report, Verdict};

/// Most time until there is a report. Other tests may be running.
const SOON: Duration = Duration::from_secs(30);

/// Variables with a lock each, which `static` settles; one that only `explore` can settle, after more schedules than
/// anybody has time for; and one race, which `predict` shows.
fn program() -> String {
    let mut text = String::from(
        "#include <pthread.h>\n#include <stdatomic.h>\nstatic int forgotten, slots[64];\nstatic atomic_int turns;\n",
    );
    for k in 0..30 {
        let _ = writeln!(
            text,
            "static int value_{k};\nstatic pthread_mutex_t lock_{k} = PTHREAD_MUTEX_INITIALIZER;\n\
             static void work_{k}(void) {{\n    pthread_mutex_lock(&lock_{k});\n    value_{k}++;\n    \
             pthread_mutex_unlock(&lock_{k});\n    slots[atomic_fetch_add(&turns, 1) % 64]++;\n}}"
        );
    }
    text.push_str("static void *worker(void *arg) {\n");
    for k in 0..30 {
        let _ = writeln!(text, "    work_{k}();");
    }
    text.push_str(
        "    forgotten = 1;\n    return arg;\n}\nint main(void) {\n    pthread_t threads[2];\n    \
         for (int i = 0; i < 2; i++)\n        pthread_create(&threads[i], NULL, worker, NULL);\n    \
         for (int i = 0; i < 2; i++)\n        pthread_join(threads[i], NULL);\n    return 0;\n}\n",
    );
    text
}

fn request(folder: &Path) -> Request {
    let file = folder.join("long.c");
    std::fs::write(&file, program()).unwrap();
    let build = BuildOptions { inputs: vec![file.to_string_lossy().into_owned()], ..BuildOptions::default() };
    // The verifier takes a quarter of the time.
    let budget = Budget::new(Some(Duration::from_secs(20)), None, Interrupt::new());
    let (witness_dir, bundle_dir) = (folder.join("witnesses"), folder.to_owned());
    Request { witness_dir, bundle_dir, ..Request::new(Command::Check, build, budget) }
}

/// Interrupts some time after an engine began.
struct Impatient {
    engine: Engine,
    after: Duration,
    interrupt: Interrupt,
    /// When.
    at: Option<Instant>,
}

impl Observer for Impatient {}

impl Watcher for Impatient {
    fn engine(&mut self, engine: Engine, _: usize) {
        if engine == self.engine {
            self.at = Some(Instant::now() + self.after);
            interrupt_after(self.after, self.interrupt.clone());
        }
    }
}

fn interrupt_after(after: Duration, interrupt: Interrupt) {
    std::thread::spawn(move || {
        std::thread::sleep(after);
        interrupt.set();
    });
}

fn assert_interrupted(report: &Report) {
    assert_ne!(report.verdict, Verdict::Safe);
    assert!(report.unknowns.iter().any(|unknown| unknown.code == Code::INTERRUPTED), "{:?}", report.unknowns);
    assert!(report.pairs.iter().all(|pair| pair.verdict != PairVerdict::Unknown || pair.details.settle.is_some()));
}

/// Locked variables have two pairs each, the slots two, the race one.
const PAIRS: usize = 30 * 2;

#[test]
fn in_any_engine() {
    for engine in LINE {
        for after in [0, 3, 40] {
            let folder = tempfile::tempdir().unwrap();
            let request = request(folder.path());
            let after = Duration::from_millis(after);
            let mut watcher = Impatient { engine, after, interrupt: request.budget.interrupt().clone(), at: None };
            let report = run(&request, &mut watcher).unwrap();
            let waited = watcher.at.expect("every engine begins").elapsed();
            assert!(waited < SOON, "{engine}, {after:?}: {waited:?}");
            assert_interrupted(&report);
            let absent = report.pairs_with(PairVerdict::Absent).count();
            let races: Vec<_> = report.pairs_with(PairVerdict::Race).collect();
            assert!(report.pairs.len() > PAIRS, "{engine}, {after:?}: {} pairs", report.pairs.len());
            if engine != Engine::Static {
                assert!(absent >= PAIRS, "{engine}, {after:?}: {absent} absent");
            }
            if engine == Engine::Explore {
                assert!(!races.is_empty(), "{after:?}");
            }
            for race in races {
                assert!(Path::new(race.witness.as_ref().unwrap()).exists());
            }
        }
    }
}

#[test]
fn in_the_compiler() {
    for after in [0, 20, 100] {
        let folder = tempfile::tempdir().unwrap();
        let request = request(folder.path());
        let began = Instant::now();
        interrupt_after(Duration::from_millis(after), request.budget.interrupt().clone());
        let report = run(&request, &mut ()).unwrap();
        assert!(began.elapsed() < SOON, "{after} ms");
        assert_interrupted(&report);
    }
}
