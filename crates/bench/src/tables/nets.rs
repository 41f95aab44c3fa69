//! Paper 001, Table 1: seven programs as nets.

use serde::{Deserialize, Serialize};
use testkit::race_freeness::{Row, TABLE};

use super::Rows;
use crate::Failure;
use crate::environment::Environment;
use crate::page::Page;
use crate::statistics::{Figure, Sample};

/// One file with one pruning.
#[derive(Serialize, Deserialize)]
struct Proof {
    program: String,
    pruning: String,
    verdict: String,
    nets: u64,
    configurations: u64,
    subsumed: u64,
    iterations: u64,
    /// Wall-clock time of the whole command.
    seconds: Sample,
}

/// Four rows for each program: the small language and C, without and with pruning.
#[derive(Serialize, Deserialize)]
pub(super) struct Nets(Vec<Vec<Proof>>);

impl Rows for Nets {
    const NAME: &'static str = "nets";
    const TITLE: &'static str = "Paper 001, Table 1: race-freeness as coverability";

    fn measure(environment: &Environment) -> Result<Self, Failure> {
        let row = |(_, small, c, ..): &Row| {
            let files = [format!("examples/sml/{small}.sml"), format!("examples/verify/{c}.c")];
            let cases = files.iter().flat_map(|file| ["plain", "invariants"].map(|pruning| (file, pruning)));
            cases.map(|(file, pruning)| proof(environment, file, pruning)).collect::<Result<Vec<_>, _>>()
        };
        TABLE.iter().map(row).collect::<Result<_, _>>().map(Self)
    }

    fn write(&self, page: &mut Page) -> Result<(), Failure> {
        page.say(
            "The seven programs in the small language and as C with threads, by `raceproof verify --stats` with the published \
             algorithm (`--pruning plain`) and with what a net's invariants exclude. The paper's figures are for one net each, \
             narrowed down by hand; ours are sums over one net for each pair of accesses. A candidate of the small \
             language stays unknown, because nothing can run it. Seconds are wall-clock time of the whole command. More on the same \
             programs is in [the paper's table 1](table1.md).",
        );
        let head =
            ["program", "version", "pruning", "verdict", "nets", "configurations", "subsumed", "iterations", "seconds"];
        let mut rows = Vec::new();
        for ((name, _, _, safe, paper), proofs) in TABLE.iter().zip(&self.0) {
            let answer = if *safe { "safe" } else { "race" };
            let mut cells: Vec<String> = [name, "paper", "plain", answer, "1"].map(str::to_owned).to_vec();
            cells.extend(paper.map(|figure| figure.to_string()));
            cells.push("< 1".to_owned());
            rows.push(cells);
            rows.extend(proofs.iter().map(|proof| {
                let kind = if proof.program.ends_with(".c") { "C" } else { "small language" };
                let link = format!("[{kind}](../{})", proof.program);
                let mut cells = vec![String::new(), link, proof.pruning.clone(), proof.verdict.clone()];
                let counts = [proof.nets, proof.configurations, proof.subsumed, proof.iterations];
                cells.extend(counts.map(|count| count.to_string()));
                cells.push(Figure(proof.seconds.median()).to_string());
                cells
            }));
        }
        page.table(&head, rows);
        Ok(())
    }
}

fn proof(environment: &Environment, program: &str, pruning: &str) -> Result<Proof, Failure> {
    let (mut seconds, mut last) = (Sample::default(), None);
    for _ in 0..environment.either(1, 3) {
        let answer = environment.raceproof("verify", program, &["--stats", "--pruning", pruning], Some(1))?;
        seconds.0.push(answer.usage.clock);
        last = Some(answer);
    }
    let answer = last.ok_or("no round")?;
    let nets = &answer.document["engines"][0]["nets"];
    let number = |key: &str| nets[key].as_u64().ok_or_else(|| format!("{program}: no {key}"));
    Ok(Proof {
        program: program.to_owned(),
        pruning: pruning.to_owned(),
        verdict: answer.document["verdict"].as_str().unwrap_or_default().to_owned(),
        nets: number("nets")?,
        configurations: number("configurations")?,
        subsumed: number("subsumed")?,
        iterations: number("iterations")?,
        seconds,
    })
}
