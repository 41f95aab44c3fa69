//! Models of library functions, from source to trace: what calls touch, files, pipes, clocks.

mod common;

use exec::{Config, Isolation, Target};
use model::{AccessKind, End, Executor, Op, Order, Schedule, Trace};
use program::Program;
use program::library::LibraryState;

struct Run {
    program: Program,
    trace: Trace,
    output: String,
}

/// Runs several times, restoring in process and forking; all must be the same.
fn run(name: &str, source: &str) -> Run {
    let snippet = common::compile(name, source);
    let directory = snippet.directory.path();
    let archive = directory.join("libruntime.a");
    std::fs::write(&archive, archives::runtime_archive()).unwrap();
    let path = directory.join("program");
    llvm::link(&snippet.compiled, &archive, &[], &path).unwrap_or_else(|e| panic!("{e}"));
    let mut runs = Vec::new();
    for isolation in [Isolation::Auto, Isolation::Fork] {
        let mut target = Target::launch(&path, Config { isolation, ..Config::default() }).unwrap();
        for _ in 0..3 {
            let trace = target.run(&Schedule::new()).unwrap();
            let output = String::from_utf8(target.output().unwrap().stdout).unwrap();
            runs.push((trace, output));
        }
    }
    let (trace, output) = runs.swap_remove(0);
    for (other, text) in runs {
        assert_eq!(text, output, "output differs between runs");
        assert!(other == trace, "traces differ between runs: {:?} {:?}", trace.end, other.end);
    }
    Run { program: snippet.program().clone(), trace, output }
}

impl Run {
    /// Kinds and sizes of the accesses at a line, atomic ones marked with `~`.
    fn touched(&self, line: u32) -> Vec<String> {
        let at_line = |site: Option<model::SiteId>| {
            site.is_some_and(|s| self.program.sites[s].location.is_some_and(|l| l.line == line))
        };
        let events = self.trace.events.iter().filter(|e| at_line(e.site));
        let text = |a: &model::Access| {
            let kind = match a.kind {
                AccessKind::Read => "read",
                AccessKind::Write => "write",
                AccessKind::ReadModifyWrite => "rmw",
                AccessKind::Free => "free",
            };
            format!("{}{kind} {}", if a.atomic == Some(Order::Relaxed) { "~" } else { "" }, a.cell.len)
        };
        events.flat_map(|e| e.op.accesses().iter().map(text)).collect()
    }
    fn ends_well(&self) {
        assert_eq!(self.trace.end, End::Exit { code: 0 }, "{}", self.output);
        assert_eq!(self.trace.unmodelled, []);
        assert_eq!(self.program.unmodelled, []);
    }
}

#[test]
fn calls_touch_what_they_say() {
    let run = run(
        "touch.c",
        r#"#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
char a[32] = "hello", b[32], words[32] = "one,two"; int numbers[4] = {3, 1, 2, 0}; char *end;
static int less(const void *x, const void *y) { return *(const int *)x - *(const int *)y; }
static void *work(void *arg) {
  strcpy(b, a);
  strcat(b, a);
  memcpy(b, a, 3);
  sprintf(b, "%s:%d", a, 7);
  sscanf("42 x", "%d %s %d", &numbers[3], b, &numbers[0]);
  qsort(numbers, 4, sizeof *numbers, less);
  strtol(a, &end, 10);
  strtok(words, ",");
  rand();
  if (strcmp(a, "help") == 0) return 0;
  char *copy = strdup(a);
  puts(copy); free(copy);
  return arg;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  pthread_join(t, 0);
  printf("%d %d %s\n", numbers[0], numbers[3], b);
}"#,
    );
    run.ends_well();
    assert_eq!(run.output, "hello\n1 42 x\n");
    assert_eq!(run.touched(8), ["read 6", "write 6"]);
    assert_eq!(run.touched(9), ["read 6", "read 6", "write 6"]);
    assert_eq!(run.touched(10), ["read 3", "write 3"]);
    assert!(run.touched(11).contains(&"write 8".to_owned()), "{:?}", run.touched(11));
    let scanned = run.touched(12);
    assert!(scanned.contains(&"write 4".to_owned()) && scanned.contains(&"write 2".to_owned()), "{scanned:?}");
    assert_eq!(scanned.iter().filter(|t| **t == "write 4").count(), 1, "only what was stored: {scanned:?}");
    // Two halves of two, then both, after the array was looked at; each merge is an event.
    let merges = [2, 2, 4].map(|many| 4 * many).map(|bytes| [format!("read {bytes}"), format!("write {bytes}")]);
    let around = [format!("read {}", 16), format!("write {}", 16)];
    assert_eq!(run.touched(13), [&around[..], &merges.concat(), &around].concat());
    assert_eq!(run.touched(14), ["read 1", "write 8"]);
    assert_eq!(run.touched(15), ["rmw 8", "read 2", "read 4", "write 1"]);
    assert_eq!(run.touched(16), ["~rmw 8"]);
    assert_eq!(run.touched(17), ["read 4", "read 4"]);
    assert_eq!(run.touched(18), ["read 6"]);
    assert_eq!(run.touched(19), ["read 6", "free 6"]);
    let state = wire::LIBRARY_STATE + 8 * u64::from(LibraryState::Strtok.index());
    assert!(run.trace.accesses().any(|(_, _, a)| a.cell.start.0 == state && a.atomic.is_none()));
}

#[test]
fn files_stay_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    std::fs::write(&kept, "disk\n").unwrap();
    let source = r#"#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define AT "FOLDER/"
static void show(const char *path) {
  char line[64];
  FILE *f = fopen(path, "r");
  if (!f) { printf("%s: none\n", path + sizeof AT - 1); return; }
  while (fgets(line, sizeof line, f)) printf("%s: %s", path + sizeof AT - 1, line);
  fclose(f);
}
static void *work(void *arg) {
  FILE *f = fopen(AT "early", "a");
  fprintf(f, "second\n");
  fclose(f);
  int fd = open(AT "kept", O_WRONLY);
  if (write(fd, "D", 1) != 1) return 0;
  close(fd);
  rename(AT "kept", AT "moved");
  unlink(AT "early2");
  return arg;
}
int main(void) {
  struct stat st;
  FILE *f = fopen(AT "early", "w"), *g = fopen(AT "early2", "w");
  fputs("first\n", f); fclose(f); fputs("gone\n", g); fclose(g);
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  pthread_join(t, 0);
  show(AT "early"); show(AT "early2"); show(AT "kept"); show(AT "moved");
  printf("%d %d\n", stat(AT "kept", &st), access(AT "moved", R_OK));
}"#
    .replace("FOLDER", folder.path().to_str().unwrap());
    let run = run("files.c", &source);
    run.ends_well();
    assert_eq!(run.output, "early: first\nearly: second\nearly2: none\nkept: none\nmoved: Disk\n-1 0\n");
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["kept"], "nothing on disk changes");
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "disk\n");
}

#[test]
fn pipes_connect_threads() {
    let run = run(
        "pipe.c",
        r#"#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int ends[2];
static void *reader(void *arg) {
  char buffer[8]; ssize_t n; int total = 0;
  struct pollfd p = {ends[0], POLLIN, 0};
  if (poll(&p, 1, -1) != 1) return 0;
  while ((n = read(ends[0], buffer, sizeof buffer)) > 0) total += (int)n;
  printf("read %d\n", total);
  return arg;
}
int main(void) {
  pthread_t t;
  char block[100] = {0};
  if (pipe(ends)) return 1;
  pthread_create(&t, 0, reader, 0);
  for (int i = 0; i < 1000; i++) if (write(ends[1], block, sizeof block) != 100) return 2;
  close(ends[1]);
  pthread_join(t, 0);
  puts("done");
}"#,
    );
    run.ends_well();
    assert_eq!(run.output, "read 100000\ndone\n");
}

#[test]
fn a_pipe_that_nobody_writes_is_a_deadlock() {
    let run = run(
        "stuck.c",
        r#"#include <pthread.h>
#include <unistd.h>
int ends[2];
static void *reader(void *arg) { char c; return read(ends[0], &c, 1) == 1 ? arg : 0; }
int main(void) {
  pthread_t t;
  if (pipe(ends)) return 1;
  pthread_create(&t, 0, reader, 0);
  pthread_join(t, 0);
}"#,
    );
    assert_eq!(run.trace.end, End::Deadlock);
}

#[test]
fn clocks_and_numbers_are_the_same_in_every_run() {
    let run = run(
        "clock.c",
        r#"#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
static void *work(void *arg) {
  struct timespec t; unsigned r; char *p = mmap(0, 5000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  p[4999] = 1;
  clock_gettime(CLOCK_MONOTONIC, &t);
  if (getrandom(&r, sizeof r, 0) != sizeof r) return 0;
  printf("%ld.%09ld %u %d %ld %p %ld\n", (long)t.tv_sec, t.tv_nsec, r, getpid(), (long)time(0), (void *)p, (long)clock());
  return (void *)(long)munmap(p, 5000);
}
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
}"#,
    );
    run.ends_well();
    assert_eq!(run.output.lines().count(), 2);
}

#[test]
fn time_passes_for_those_who_wait() {
    let run = run(
        "wait.cpp",
        r#"#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
std::mutex m; std::condition_variable c; bool never;
static void work() {
  using namespace std::chrono;
  auto start = steady_clock::now();
  std::this_thread::sleep_for(seconds(3));
  std::unique_lock<std::mutex> lock(m);
  bool woken = c.wait_for(lock, seconds(5), [] { return never; });
  auto until = system_clock::now() + seconds(2);
  woken |= c.wait_until(lock, until, [] { return never; });
  std::printf("%d %lld\n", woken, (long long)duration_cast<seconds>(steady_clock::now() - start).count());
}
int main() {
  std::thread t(work);
  t.join();
}"#,
    );
    assert_eq!((run.trace.end.clone(), &run.output[..]), (End::Exit { code: 0 }, "0 10\n"));
}

#[test]
fn streams_on_one_file_depend_on_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let source = r#"#include <pthread.h>
#include <stdio.h>
static void *work(void *arg) {
  FILE *f = fopen("FOLDER/log", "a");
  fputs("x", f);
  fclose(f);
  return arg;
}
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return 0;
}"#
    .replace("FOLDER", folder.path().to_str().unwrap());
    let run = run("streams.c", &source);
    run.ends_well();
    // Each content has a cell of its own.
    let contents =
        run.trace.accesses().filter(|(_, _, a)| (wire::FILE_CONTENT..wire::FILE_POSITION).contains(&a.cell.start.0));
    let mut cells: std::collections::BTreeMap<_, std::collections::BTreeSet<_>> = Default::default();
    for (_, event, access) in contents {
        cells.entry(access.cell.start).or_default().insert(event.id.thread);
    }
    assert!(cells.values().any(|threads| threads.len() == 2), "both threads touch one content: {cells:?}");
}

#[test]
fn cxx_library_calls_are_known() {
    let run = run(
        "library.cpp",
        r#"#include <fstream>
#include <iostream>
#include <list>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
std::map<int, int> tree; std::list<int> list; std::unordered_map<int, int> table; std::ostringstream shared;
static void work(int n) {
  for (int i = 0; i < n; i++) { tree[i * 7 % 5] = i; list.push_back(i); table[i] = i; }
  tree.erase(0);
  for (auto &entry : tree) list.push_front(entry.second);
  shared << "n" << 1.5 << n;
  std::random_device device;
  std::cout << list.size() << ' ' << table.size() << ' ' << device() << std::endl;
  try { table.at(99); } catch (const std::out_of_range &) { std::cout << "thrown\n"; }
}
int main() {
  std::thread t(work, 6);
  t.join();
  std::cout << shared.str() << std::endl;
}"#,
    );
    assert_eq!(run.trace.end, End::Exit { code: 0 }, "{}", run.output);
    assert_eq!(run.trace.unmodelled, []);
    let unknown: std::collections::BTreeSet<_> = run.program.unmodelled.iter().map(|u| &u.what[..]).collect();
    assert_eq!(unknown, [].into());
    assert!(run.output.ends_with("thrown\nn1.56\n"), "{}", run.output);
}

#[test]
fn what_is_not_modelled_is_said() {
    let run = run(
        "refused.c",
        r#"#include <pthread.h>
#include <sys/stat.h>
static void *work(void *arg) { return mkfifo("no-such-folder/pipe", 0600) == -1 ? arg : 0; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  pthread_join(t, 0);
}"#,
    );
    assert_eq!(run.trace.unmodelled.iter().map(|u| &u.what[..]).collect::<Vec<_>>(), ["calls `mkfifo`"]);
    assert!(run.trace.events.iter().any(|e| matches!(e.op, Op::Exit)));
}
