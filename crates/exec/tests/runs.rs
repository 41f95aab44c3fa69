//! Runs of real programs.

mod support;

use exec::Isolation;
use model::{End, Executor, Schedule};
use support::{build, schedule};

#[test]
fn counter() {
    let program = build("counter.c");
    let mut target = program.isolated(Isolation::Restore);
    let first = target.run(&Schedule::new()).unwrap();
    println!("{first:#?}");
    assert_eq!(first.end, End::Exit { code: 0 });
    println!("{:?}", String::from_utf8_lossy(&target.output().unwrap().stdout));
    for _ in 0..1000 {
        assert_eq!(target.run(&Schedule::new()).unwrap(), first);
    }
    let t = target.run(&schedule(&[(0, 3), (1, 2), (2, 8)])).unwrap();
    println!("{:?} {:?}", t.end, String::from_utf8_lossy(&target.output().unwrap().stdout));
}
