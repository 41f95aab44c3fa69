//! How prediction grows with the length of a trace in which every other event acquires or releases a lock, for few and many
//! threads and locks: one plot for each number of threads.

use std::io::Write as _;

use serde::{Deserialize, Serialize};

use super::Rows;
use crate::Failure;
use crate::environment::Environment;
use crate::page::Page;
use crate::plot::{Line, powers};
use crate::statistics::{Figure, exponent};

const THREADS: [usize; 3] = [2, 8, 64];
const LOCKS: [usize; 3] = [1, 100, 10_000];

/// Millions of events.
const QUICK: &[f64] = &[0.25, 0.5, 1.0];
const FULL: &[f64] = &[1.25, 2.5, 5.0, 10.0];

/// What is asked for at the greatest length: seconds, megabytes, and the exponent.
const GOAL: (f64, f64, f64) = (30.0, 1000.0, 1.2);

/// One length and its cost.
#[derive(Serialize, Deserialize)]
struct Point {
    events: u64,
    /// Of processor time.
    seconds: f64,
    megabytes: f64,
    /// Races found and predicted.
    races: usize,
}

#[derive(Serialize, Deserialize)]
struct Row {
    threads: usize,
    locks: usize,
    points: Vec<Point>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Prediction(Vec<Row>);

impl Rows for Prediction {
    const NAME: &'static str = "prediction";
    const TITLE: &'static str = "Prediction from long traces";

    fn measure(environment: &Environment) -> Result<Self, Failure> {
        let mut rows = Vec::new();
        for (threads, locks) in THREADS.into_iter().flat_map(|threads| LOCKS.map(|locks| (threads, locks))) {
            let sizes = environment.either(QUICK, FULL).iter();
            let points = sizes.map(|millions| point(environment, (millions * 1e6) as usize, threads, locks));
            rows.push(Row { threads, locks, points: points.collect::<Result<_, _>>()? });
        }
        Ok(Self(rows))
    }

    fn write(&self, page: &mut Page) -> Result<(), Failure> {
        page.say(
            "`raceproof predict` on traces in RAPID's text form, with its default settings: threads that do nothing but enter \
             critical sections of one of so many locks, one in eight with another nested in it, and now and then write what \
             only the order of two sections protects. Processor time of the whole command, reading the text included; the \
             exponent is the slope of the logarithms by least squares.",
        );
        let Some(sizes) = self.0.first().map(|row| row.points.iter().map(|point| point.events)) else { return Ok(()) };
        let mut head = vec!["threads".to_owned(), "locks".to_owned()];
        head.extend(sizes.map(|events| format!("{} M events, s", Figure(events as f64 / 1e6))));
        head.extend(["MB".to_owned(), "races".to_owned(), "exponent".to_owned()]);
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        page.table(&head, self.0.iter().map(Row::cells));
        let longest = self.0.iter().filter_map(|row| row.points.last());
        let seconds = longest.clone().map(|point| point.seconds).fold(0.0, f64::max);
        let megabytes = longest.clone().map(|point| point.megabytes).fold(0.0, f64::max);
        let events = longest.map(|point| point.events).max().unwrap_or_default() as f64 / 1e6;
        let steepest = self.0.iter().map(Row::exponent).fold(0.0, f64::max);
        let than = |figure: f64, goal: f64| if figure <= goal { "within" } else { "beyond" };
        page.say(format!(
            "{} million events take at most {} s and {megabytes:.0} MB ({} the {} s and {} the {} MB that are asked for); time \
             grows at most as n^{steepest:.2} ({} n^{}).",
            Figure(events),
            Figure(seconds),
            than(seconds, GOAL.0),
            GOAL.0,
            than(megabytes, GOAL.1),
            GOAL.1,
            than(steepest, GOAL.2),
            GOAL.2
        ));
        for threads in THREADS {
            let rows = self.0.iter().filter(|row| row.threads == threads);
            let line = |row: &Row| Line {
                label: format!("{} locks: n^{:.2}", row.locks, row.exponent()),
                points: row.curve(),
            };
            let svg = powers("events", "seconds of processor time", &rows.map(line).collect::<Vec<_>>());
            let name = format!("prediction-{threads}");
            page.plot(&name, &format!("time over events of {threads} threads"), svg)?;
        }
        Ok(())
    }
}

impl Row {
    fn curve(&self) -> Vec<(f64, f64)> {
        self.points.iter().map(|point| (point.events as f64, point.seconds)).collect()
    }

    fn exponent(&self) -> f64 {
        exponent(&self.curve())
    }

    fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.threads.to_string(), self.locks.to_string()];
        cells.extend(self.points.iter().map(|point| Figure(point.seconds).to_string()));
        let last = self.points.last();
        cells.push(last.map_or_else(String::new, |point| format!("{:.0}", point.megabytes)));
        cells.push(last.map_or_else(String::new, |point| point.races.to_string()));
        cells.push(format!("{:.2}", self.exponent()));
        cells
    }
}

fn point(environment: &Environment, events: usize, threads: usize, locks: usize) -> Result<Point, Failure> {
    let folder = environment.scratch_folder()?;
    let path = folder.path().join("trace.std");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path)?);
    testkit::traces::lock_heavy(events, threads, locks, &mut file)?;
    file.flush()?;
    drop(file);
    let answer = environment.raceproof("predict", &path.display().to_string(), &[], Some(1))?;
    let races = answer.document["pairs"].as_array().map_or(0, Vec::len);
    let counted = answer.document["engines"][0]["transitions"].as_u64().unwrap_or(events as u64);
    Ok(Point { events: counted, seconds: answer.usage.processor, megabytes: answer.usage.megabytes, races })
}
