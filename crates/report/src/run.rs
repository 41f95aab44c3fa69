//! The run that shows a finding, as data of the result document.

use serde::{Deserialize, Serialize};

use crate::document::Created;

/// The part of a run that matters to a finding: everything up to it, or its last events when that is long.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// All threads of the run, parents first.
    pub threads: Vec<RunThread>,
    /// Indices of the threads that the finding is about.
    pub about: Vec<usize>,
    /// In order of time, ascending by step.
    pub events: Vec<RunEvent>,
}

/// A thread of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunThread {
    /// Its path.
    pub thread: String,
    /// The function it was first seen in; empty when not known.
    pub function: String,
    /// Where it was created; `null` for the initial thread.
    pub created: Option<Created>,
}

/// What kind of thing an event does, for its mark in a picture.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Reads memory.
    Read,
    /// Writes, updates or frees memory.
    Write,
    /// Takes a lock.
    Lock,
    /// Gives a lock back.
    Unlock,
    /// Creates, starts, ends or joins a thread.
    Thread,
    /// Waits, signals, posts and the like.
    Sync,
    /// Stands before an operation that it cannot execute.
    Blocked,
    /// Fails: an assertion, a crash, a misuse.
    Fault,
}

/// One event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunEvent {
    /// Its place in the observed order of the whole run, from 0.
    pub step: usize,
    /// Index of its thread.
    pub thread: usize,
    /// What kind of thing it does.
    pub action: Action,
    /// What it does, e.g. "writes `counter`".
    pub what: String,
    /// What it found and left in memory, for an access to one number or pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The function; empty for an event without code of its own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub function: String,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// From 1; 0 when not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u32,
    /// Names of the locks its thread holds before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locks: Vec<String>,
    /// Whether the finding is about this event.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
    /// Whether the switch to this event's thread decides: without it the finding would not show.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deciding: bool,
}

/// What an access to one number or pointer found and left, as the source would write it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Value {
    /// Before the access; `null` or missing where nothing was written there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// After it; `null` or missing for a read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

impl RunEvent {
    /// What it does, with values: "writes `counter`: 1 -> 2", "reads `flag` (0)".
    pub fn told(&self) -> String {
        let Value { old, new } = self.value.clone().unwrap_or_default();
        match (old, new) {
            (Some(old), Some(new)) => format!("{}: {old} -> {new}", self.what),
            (Some(known), None) | (None, Some(known)) => format!("{} ({known})", self.what),
            (None, None) => self.what.clone(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}
