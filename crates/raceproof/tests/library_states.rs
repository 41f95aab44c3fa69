//! The twins about library functions and the states of the library, in every engine that reads the library table: no
//! engine calls a racy twin safe, and `check` has the right answer for both. `explore` is tested in `programs.rs`.

mod common;

use std::path::Path;

use serde_json::Value;
use testkit::annotations::{Annotations, Lines, Mark};

use common::Folder;
use common::annotated::{Bench, for_each_program, items, racy_lines};

/// The document of a command for a program.
fn document(bench: &Bench, program: &Path, command: &str, flags: &[&str]) -> Result<Value, String> {
    let name = program.file_name().and_then(|name| name.to_str()).ok_or("no name")?;
    let run = bench.raceproof(&[&[command, name, "--json"], flags].concat());
    serde_json::from_str(&run.stdout).map_err(|e| format!("{command}: {e}, status {}: {}", run.status, run.stderr))
}

/// The lines of pairs that are not shown to be absent.
fn open_lines(document: &Value) -> Lines {
    let open = items(document, "pairs").iter().filter(|p| p["verdict"] != "absent");
    open.flat_map(|p| items(p, "accesses")).filter_map(|a| a["line"].as_u64()).map(|line| line as u32).collect()
}

#[test]
fn every_engine_sees_the_races() {
    for_each_program("twins", |program| {
        let name = program.file_stem().unwrap_or_default().to_string_lossy();
        if !name.starts_with("state_") && !name.starts_with("libc_") {
            return Ok(());
        }
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let expected = Annotations::parse(&source).lines(Mark::Race);
        let bench = Bench::new(program);
        for command in ["static", "verify"] {
            let racy = document(&bench, program, command, &["--cflags=-DRACY"])?;
            let open = open_lines(&racy);
            if racy["verdict"] == "safe" || !expected.is_subset(&open) {
                return Err(format!("{command}: {}, open lines {open:?}, races on {expected:?}", racy["verdict"]));
            }
        }
        let racy = document(&bench, program, "check", &["--time", "120", "--cflags=-DRACY"])?;
        if racy["verdict"] != "race" || racy_lines(&racy) != expected {
            return Err(format!("check: {} on lines {:?}, not {expected:?}", racy["verdict"], racy_lines(&racy)));
        }
        let safe = document(&bench, program, "check", &["--time", "120"])?;
        if safe["verdict"] != "safe" {
            return Err(format!("check: the race-free twin is {}: {}", safe["verdict"], safe["unknowns"]));
        }
        Ok(())
    });
}

/// A program that maps a file twice, to be shared, and writes through both maps.
const TWO_MAPS: &str = r#"
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
static int *one, *two;
static void *worker(void *arg) {
    *one = 1;
    return arg;
}
int main(void) {
    pthread_t thread;
    int fd = open("mapped.bin", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, 4096))
        return 1;
    one = mmap(NULL, 4096, PROT_READ | PROT_WRITE, KIND, fd, 0);
    two = mmap(NULL, 4096, PROT_READ | PROT_WRITE, KIND, fd, 0);
    if (one == MAP_FAILED || two == MAP_FAILED)
        return 2;
    pthread_create(&thread, NULL, worker, NULL);
    *two = 2;
    pthread_join(thread, NULL);
    return 0;
}
"#;

#[test]
fn two_shared_maps_of_a_file_are_the_same_bytes() {
    let folder = Folder::empty();
    std::fs::write(folder.path().join("maps.c"), TWO_MAPS).unwrap();
    for command in ["static", "verify", "check"] {
        let shared = folder.raceproof(&[command, "maps.c", "--cflags=-DKIND=MAP_SHARED"]);
        assert_eq!(shared.status, 3, "{command}: {}{}", shared.stdout, shared.stderr);
        assert!(format!("{}{}", shared.stdout, shared.stderr).contains("the shared maps of files"), "{command}");
        let private = folder.raceproof(&[command, "maps.c", "--cflags=-DKIND=MAP_PRIVATE"]);
        assert_eq!(private.status, 0, "{command}: {}{}", private.stdout, private.stderr);
    }
}

/// A program that uses a stream without the library's lock, under a lock that it takes itself.
const OWN_LOCK: &str = r"
#include <pthread.h>
#include <stdio.h>
static FILE *file;
static void *worker(void *arg) {
    flockfile(file);
    putc_unlocked('x', file);
    funlockfile(file);
    return arg;
}
int main(void) {
    pthread_t thread;
    file = tmpfile();
    if (!file)
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
    worker(NULL);
    pthread_join(thread, NULL);
    fclose(file);
    return 0;
}
";

#[test]
fn locks_of_streams_are_not_followed_and_named() {
    let folder = Folder::empty();
    std::fs::write(folder.path().join("own.c"), OWN_LOCK).unwrap();
    for command in ["static", "explore", "check"] {
        let run = folder.raceproof(&[command, "own.c"]);
        assert_eq!(run.status, 3, "{command}: {}{}", run.stdout, run.stderr);
        assert!(format!("{}{}", run.stdout, run.stderr).contains("putc_unlocked"), "{command}");
    }
}
