//! What the user wants checked, by `raceproof.toml` or by the `initializationOptions` of the editor.

use serde::Deserialize;

/// What is checked, and how. What the editor says counts more than the project's settings.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Options {
    /// The inputs of the one program; empty to find the program that a file belongs to.
    pub inputs: Vec<String>,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Further flags of `raceproof check`.
    pub flags: Vec<String>,
}

impl Options {
    /// These, with what `other` says instead.
    pub(crate) fn or(self, other: Self) -> Self {
        let either = |one: Vec<String>, other: Vec<String>| if other.is_empty() { one } else { other };
        Self {
            inputs: either(self.inputs, other.inputs),
            args: either(self.args, other.args),
            flags: either(self.flags, other.flags),
        }
    }
}
