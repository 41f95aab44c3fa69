//! From source to trace: compiled, linked with the runtime, run.

mod common;

use exec::{Config, Target};
use model::{End, Executor, Op, Schedule, Trace};
use program::{Program, Unmodelled};

struct Run {
    program: Program,
    trace: Trace,
    output: String,
    /// What the run does not report.
    unmodelled: Vec<Unmodelled>,
}

fn run(name: &str, source: &str) -> Run {
    let snippet = common::compile(name, source);
    let directory = snippet.directory.path();
    let archive = directory.join("libruntime.a");
    std::fs::write(&archive, archives::runtime_archive()).unwrap();
    let path = directory.join("program");
    llvm::link(&snippet.compiled, &archive, &[], &path).unwrap_or_else(|e| panic!("{e}"));
    let mut target = Target::launch(&path, Config::default()).unwrap();
    let trace = target.run(&Schedule::new()).unwrap();
    assert_eq!(target.run(&Schedule::new()).unwrap(), trace, "a run is a function of its schedule");
    let output = String::from_utf8(target.output().unwrap().stdout).unwrap();
    Run { program: snippet.program().clone(), trace, output, unmodelled: snippet.compiled.unmodelled.clone() }
}

impl Run {
    /// The lines of events, as `function:line operation`.
    fn lines(&self) -> Vec<String> {
        let line = |event: &model::Event| {
            let site = &self.program.sites[event.site?];
            let name = match &event.op {
                Op::Access(access) => format!("{:?}", access.kind),
                other => format!("{other:?}").split([' ', '(']).next().unwrap().to_owned(),
            };
            Some(format!("{}:{} {name}", site.source_function, site.location?.line))
        };
        self.trace.events.iter().filter_map(line).collect()
    }
}

#[test]
fn a_c_program_runs_and_its_events_have_places() {
    let run = run(
        "program.c",
        "#include <pthread.h>
#include <stdio.h>
int counter; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {
  pthread_mutex_lock(&m);
  counter++;
  pthread_mutex_unlock(&m);
  return arg;
}
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  printf(\"%d\\n\", counter);
  return counter;
}",
    );
    assert_eq!(run.trace.end, End::Exit { code: 2 });
    assert_eq!(run.output, "2\n");
    assert_eq!(run.trace.threads.len(), 3);
    let lines = run.lines();
    let of_work: Vec<_> = lines.iter().filter(|l| l.starts_with("work")).take(4).collect();
    assert_eq!(of_work, ["work:5 Acquire", "work:6 Read", "work:6 Write", "work:7 Release"], "{lines:#?}");
    assert_eq!(run.program.unmodelled, []);
}

#[test]
fn a_cxx_program_runs() {
    let run = run(
        "program.cpp",
        "#include <condition_variable>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
std::string text; std::mutex m; std::condition_variable c; std::once_flag once; int ready;
thread_local int mine = 40; thread_local std::string own(\"o\");
void work(int i) {
  std::call_once(once, [] { text = \"once\"; });
  mine += i; own += 'x';
  std::lock_guard<std::mutex> guard(m);
  text += std::to_string(mine) + own;
  ready++;
  c.notify_one();
}
int main() {
  std::vector<std::thread> threads;
  for (int i = 1; i <= 2; i++) threads.emplace_back(work, i);
  { std::unique_lock<std::mutex> lock(m); c.wait(lock, [] { return ready == 2; }); }
  for (auto &t : threads) t.join();
  std::cout << text << std::endl;
  return 0;
}",
    );
    assert_eq!(run.trace.end, End::Exit { code: 0 }, "{}", run.output);
    assert_eq!(run.output, "once41ox42ox\n");
    assert!(run.trace.unmodelled.is_empty(), "{:?}", run.trace.unmodelled);
    assert_eq!(run.unmodelled, []);
}

#[test]
fn large_atomics_need_no_library() {
    let run = run(
        "program.c",
        "#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
typedef struct { long a, b; } pair; typedef struct { int v[10]; } big;
_Atomic pair p; _Atomic big q; _Atomic __int128 n;
int main(void) {
  pair e = {0, 0}, d = {1, 2}; big x = {{1, 2, 3}}, y = {{4}}, z;
  int first = atomic_compare_exchange_strong(&p, &e, d), second = atomic_compare_exchange_strong(&p, &e, d);
  n += 5; n ^= 1;
  q = x; z = atomic_exchange(&q, y);
  int third = atomic_compare_exchange_strong(&q, &x, y), fourth = atomic_compare_exchange_strong(&q, &x, z);
  big now = q;
  printf(\"%d%d%d%d %ld %ld %d %d %d %d\\n\", first, second, third, fourth, e.a, e.b, (int)n, z.v[2], x.v[0], now.v[1]);
  return 0;
}",
    );
    assert_eq!(run.output, "1001 1 2 4 3 4 2\n");
    assert_eq!(run.unmodelled, []);
}
