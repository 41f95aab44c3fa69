//! Raw results: one file per day and machine, to which each table adds its measurements.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Failure;
use crate::environment::Environment;
use crate::machine::{Machine, load, now};
use crate::tables::Table;

/// The measurements of one day on one machine.
#[derive(Serialize, Deserialize)]
pub(crate) struct Results {
    date: String,
    machine: Machine,
    /// By name of the table.
    tables: BTreeMap<String, Measured>,
}

/// The latest measurement of each table.
pub(crate) struct Latest {
    /// The machine that was measured last.
    pub(crate) machine: Machine,
    /// By name of the table.
    pub(crate) tables: BTreeMap<String, LatestTable>,
}

/// The latest measurement of one table.
pub(crate) struct LatestTable {
    pub(crate) date: String,
    /// The file's name.
    pub(crate) file: String,
    /// The machine, where it is not the one that was measured last.
    pub(crate) elsewhere: Option<Machine>,
    pub(crate) measured: Measured,
}

impl Latest {
    pub(crate) fn of(folder: &Path) -> Result<Self, Failure> {
        let files = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let paths = files.filter_map(|file| Some(file.ok()?.path()));
        let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
        // Names begin with the date.
        paths.sort();
        let read = |path: &PathBuf| Ok(serde_json::from_str::<Results>(&std::fs::read_to_string(path)?)?);
        let all = paths.iter().map(read).collect::<Result<Vec<Results>, Failure>>()?;
        let machine = all.last().ok_or("nothing has been measured yet")?.machine.clone();
        let mut tables = BTreeMap::new();
        for results in all {
            let (date, file) = (results.date.clone(), results.name());
            let elsewhere = (results.machine.slug() != machine.slug()).then_some(results.machine);
            let latest = |measured| LatestTable {
                date: date.clone(),
                file: file.clone(),
                elsewhere: elsewhere.clone(),
                measured,
            };
            tables.extend(results.tables.into_iter().map(|(name, measured)| (name, latest(measured))));
        }
        Ok(Self { machine, tables })
    }
}

/// The measurement of one table.
#[derive(Serialize, Deserialize)]
pub(crate) struct Measured {
    /// When it began, in UTC.
    pub(crate) time: String,
    /// How long it took.
    pub(crate) seconds: f64,
    /// Load of the machine at the start and at the end; the second includes the measurement itself.
    pub(crate) load: [f64; 2],
    pub(crate) quick: bool,
    pub(crate) rows: Value,
}

impl Results {
    /// Today's measurements on this machine so far.
    fn of_today(folder: &Path, environment: &Environment) -> Result<Self, Failure> {
        let empty =
            Self { date: environment.date.clone(), machine: environment.machine.clone(), tables: BTreeMap::new() };
        match std::fs::read_to_string(empty.path(folder)) {
            Ok(text) => Ok(Self { tables: serde_json::from_str::<Self>(&text)?.tables, ..empty }),
            Err(_) => Ok(empty),
        }
    }

    /// Measures a table and adds it to today's results, including those that other processes added meanwhile.
    pub(crate) fn measure(folder: &Path, table: &Table, environment: &Environment) -> Result<(), Failure> {
        let (start, (_, time), before) = (Instant::now(), now()?, load());
        let rows = (table.measure)(environment).map_err(|failure| format!("{}: {failure}", table.name))?;
        let (seconds, load) = (start.elapsed().as_secs_f64(), [before, load()]);
        let mut today = Self::of_today(folder, environment)?;
        today.tables.insert(table.name.to_owned(), Measured { time, seconds, load, quick: environment.quick, rows });
        today.save(folder)
    }

    fn save(&self, folder: &Path) -> Result<(), Failure> {
        std::fs::create_dir_all(folder)?;
        let text = serde_json::to_string_pretty(self)?;
        std::fs::write(self.path(folder), text + "\n")?;
        Ok(())
    }

    /// The file's name.
    fn name(&self) -> String {
        format!("{}-{}.json", self.date, self.machine.slug())
    }

    fn path(&self, folder: &Path) -> PathBuf {
        folder.join(self.name())
    }
}
