//! The tables: each measures rows, and writes its part of the page from rows.

mod again;
mod defaults;
mod dhtc;
mod growth;
mod lbzip2;
mod nets;
mod openmp;
mod pdp;
mod prediction;
mod programs;
mod rare;
mod recording;
mod scenarios;
mod search;
mod speed;
mod static_drivers;
mod tools;
mod twins;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Failure;
use crate::environment::Environment;
use crate::page::Page;

/// What a table measures.
trait Rows: Serialize + DeserializeOwned {
    const NAME: &'static str;
    /// The heading on the page.
    const TITLE: &'static str;
    fn measure(environment: &Environment) -> Result<Self, Failure>;
    fn write(&self, page: &mut Page) -> Result<(), Failure>;
}

/// A table, whatever its rows are.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) measure: fn(&Environment) -> Result<Value, Failure>,
    pub(crate) write: fn(&Value, &mut Page) -> Result<(), Failure>,
}

const fn table<R: Rows>() -> Table {
    Table {
        name: R::NAME,
        title: R::TITLE,
        measure: |environment| Ok(serde_json::to_value(R::measure(environment)?)?),
        write: |rows, page| R::deserialize(rows)?.write(page),
    }
}

/// All, in the order of the page.
pub(crate) const ALL: &[Table] = &[
    table::<rare::Rare>(),
    table::<openmp::Kernels>(),
    table::<pdp::Pdp>(),
    table::<nets::Nets>(),
    table::<scenarios::Scenarios>(),
    table::<recording::Recording>(),
    table::<programs::Programs>(),
    table::<prediction::Prediction>(),
    table::<dhtc::Dhtc>(),
    table::<static_drivers::Drivers>(),
    table::<defaults::Defaults>(),
    table::<speed::Speed>(),
    table::<twins::Twins>(),
    table::<growth::Growth>(),
    table::<again::Again>(),
];
