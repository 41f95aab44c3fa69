//! Prints time, basis and answer for each net given on the command line.
#![allow(clippy::print_stdout, reason = "an example that prints a table")]

use std::time::{Duration, Instant};

use petri::backward::{Answer, Pruning, solve};
use petri::{certificate, spec};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{:<70} {:>8} {:>9} {:>8} {:>8} {:>5}  answer", "net", "time ms", "iters", "basis", "excl", "inv");
    for file in std::env::args().skip(1) {
        let net = spec::parse(&std::fs::read_to_string(&file)?)?;
        let start = Instant::now();
        let (answer, s) = solve(&net, Pruning::default(), |_| start.elapsed() < Duration::from_secs(60));
        let time = start.elapsed().as_millis();
        let verdict = match &answer {
            Answer::Covered { initial, sequence } => {
                certificate::replay(&net, initial, sequence)?;
                format!("covered in {}", sequence.len())
            }
            Answer::Safe(c) => {
                certificate::check(&net, c)?;
                "safe".into()
            }
            Answer::Stopped => "stopped".into(),
        };
        println!(
            "{file:<70} {time:>8} {:>9} {:>8} {:>8} {:>5}  {verdict}",
            s.iterations, s.basis, s.excluded, s.invariants
        );
    }
    Ok(())
}
