//! The formats of net files, chosen by file extension.

use crate::net::Net;
use crate::{lola, pnml, spec};

/// A format of net files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// mist's `.spec`; the only format that contains targets.
    Spec,
    /// PNML place/transition nets.
    Pnml,
    /// LoLA's low-level nets.
    Lola,
}

/// Why a text is not a net.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct FormatError {
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl Format {
    /// The format of files with this extension, without the dot.
    pub fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "spec" => Some(Self::Spec),
            "pnml" => Some(Self::Pnml),
            "lola" | "net" => Some(Self::Lola),
            _ => None,
        }
    }

    /// Reads a net.
    pub fn parse(self, text: &str) -> Result<Net, FormatError> {
        match self {
            Self::Spec => {
                spec::parse(text).map_err(|e| FormatError { line: e.line, column: e.column, message: e.message })
            }
            Self::Lola => {
                lola::parse(text).map_err(|e| FormatError { line: e.line, column: e.column, message: e.message })
            }
            Self::Pnml => pnml::parse(text).map_err(|error| match error {
                pnml::PnmlError::Content { line, column, message } => {
                    FormatError { line: line as usize, column: column as usize, message }
                }
                pnml::PnmlError::Inexpressible(message) => FormatError { line: 1, column: 1, message },
            }),
        }
    }
}
