//! Answers every net in a folder and its subfolders, checks each answer, and prints a Markdown table.
//!
//! `cargo run --release -p raceproof-petri --example table -- FOLDER`
#![allow(clippy::print_stdout, reason = "an example that prints a table")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use petri::backward::{Answer, Pruning, solve};
use petri::certificate;
use petri::format::Format;

const LIMIT: Duration = Duration::from_secs(60);

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("give a folder of nets")?);
    println!("| net | places | transitions | answer | time ms | iterations | basis | invariants | markings |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for file in nets(&folder)? {
        let text = std::fs::read_to_string(&file)?;
        let name = file.strip_prefix(&folder).unwrap_or(&file).display().to_string();
        let format = file.extension().and_then(|e| Format::of_extension(e.to_str()?)).unwrap_or(Format::Spec);
        let net = format.parse(&text).map_err(|e| format!("{name}:{e}"))?;
        let start = Instant::now();
        let (answer, statistics) = solve(&net, Pruning::default(), |_| start.elapsed() < LIMIT);
        let time = start.elapsed().as_millis();
        let verdict = match &answer {
            Answer::Covered { initial, sequence } => {
                certificate::replay(&net, initial, sequence).map_err(|e| format!("{name}: {e}"))?;
                format!("covered in {}", sequence.len())
            }
            Answer::Safe(certificate) => {
                certificate::check(&net, certificate).map_err(|e| format!("{name}: {e}"))?;
                "safe".to_owned()
            }
            Answer::Stopped(_) => "unknown".to_owned(),
        };
        println!(
            "| {name} | {} | {} | {verdict} | {time} | {} | {} | {} | {} |",
            net.places.len(),
            net.transitions.len(),
            statistics.iterations,
            statistics.basis,
            statistics.invariants,
            statistics.markings
        );
    }
    Ok(())
}

/// The nets with targets of their own below a folder, by name.
fn nets(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(nets(&path)?);
        } else if path.extension().is_some_and(|e| e == "spec") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
