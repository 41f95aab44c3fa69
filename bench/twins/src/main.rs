//! Rust twins of five programs of `tests/search`, run by Shuttle schedule after schedule: `twins NAME EXECUTIONS` prints how
//! many were executed and the seconds they took. The driver of the benchmarks holds them beside ours.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use shuttle::sync::atomic::{AtomicI32, Ordering as Shared};
use shuttle::sync::{Arc, Mutex};
use shuttle::thread;

static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

/// Eight readers and one writer of an atomic.
fn readers() {
    let x = Arc::new(AtomicI32::new(0));
    let reader = || {
        let x = x.clone();
        thread::spawn(move || {
            let _ = x.load(Shared::SeqCst);
        })
    };
    let mut threads: Vec<_> = (0..8).map(|_| reader()).collect();
    let written = x.clone();
    threads.push(thread::spawn(move || written.store(1, Shared::SeqCst)));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Writer i sets a word to one more than the word before it; the reader looks for the last zero.
fn lastzero() {
    const N: usize = 8;
    let words: Arc<Vec<AtomicI32>> = Arc::new((0..=N).map(|_| AtomicI32::new(0)).collect());
    let seen = words.clone();
    let mut threads = vec![thread::spawn(move || {
        let mut i = N;
        while seen[i].load(Shared::SeqCst) != 0 {
            i -= 1;
        }
    })];
    threads.extend((1..=N).map(|i| {
        let words = words.clone();
        thread::spawn(move || words[i].store(words[i - 1].load(Shared::SeqCst) + 1, Shared::SeqCst))
    }));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Two threads add to a counter ten times each under its lock.
fn locked() {
    let counter = Arc::new(Mutex::new(0));
    let add = || {
        let counter = counter.clone();
        thread::spawn(move || (0..10).for_each(|_| *counter.lock().unwrap() += 1))
    };
    [add(), add()].into_iter().for_each(|thread| thread.join().unwrap());
}

/// Task threads that report under two locks. (The word that no lock protects is an atomic: Rust has no races.)
fn launch_control() {
    let (status, lines) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let armed = Arc::new(AtomicI32::new(0));
    let task = |number: i32| {
        let (status, lines, armed) = (status.clone(), lines.clone(), armed.clone());
        thread::spawn(move || {
            *status.lock().unwrap() += 1;
            *lines.lock().unwrap() += 1;
            if number < 3 {
                armed.store(number, Shared::SeqCst);
            }
        })
    };
    let threads: Vec<_> = (1..=3).map(task).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Paper 000's figure 1: a word touched under one lock or the other, depending on what was seen.
fn figure1() {
    let (x, z) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let y = Arc::new(AtomicI32::new(0));
    let add = |y: &AtomicI32| y.store(y.load(Shared::SeqCst) + 1, Shared::SeqCst);
    let first = {
        let (x, y, z) = (x.clone(), y.clone(), z.clone());
        thread::spawn(move || {
            *x.lock().unwrap() += 1;
            let held = x.lock().unwrap();
            add(&y);
            drop(held);
            *z.lock().unwrap() += 1;
        })
    };
    let second = thread::spawn(move || {
        let mut held = z.lock().unwrap();
        let seen = *x.lock().unwrap();
        *held += 1;
        drop(held);
        let held = z.lock().unwrap();
        if seen == 0 {
            add(&y);
        }
        drop(held);
    });
    [first, second].into_iter().for_each(|thread| thread.join().unwrap());
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let twin = match args.get(1).map(String::as_str) {
        Some("readers") => readers,
        Some("lastzero") => lastzero,
        Some("locked") => locked,
        Some("launch_control") => launch_control,
        Some("figure1") => figure1,
        _ => return ExitCode::from(2),
    };
    let Some(most) = args.get(2).and_then(|most| most.parse().ok()) else { return ExitCode::from(2) };
    let start = Instant::now();
    let body = move || {
        EXECUTIONS.fetch_add(1, Ordering::Relaxed);
        twin();
    };
    shuttle::check_dfs(body, Some(most));
    println!("{} {}", EXECUTIONS.load(Ordering::Relaxed), start.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}
