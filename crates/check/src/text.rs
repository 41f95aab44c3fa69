//! Intermediate values that the text of a program gives, for `--emit`.

use model::Budget;

use crate::Error;
use crate::engine::verify::{self, ProofOptions};
use crate::subject::Subject;

/// The facts that verdicts of the static engine rest on, as text or for Graphviz.
pub fn facts_text(subject: &Subject, graph: bool) -> Result<String, Error> {
    let facts = subject.facts();
    let text = if graph { lockset::emit::graph(facts) } else { lockset::emit::text(facts) };
    text.map_err(|spent| Error::Llvm(llvm::Error::Spent(spent)))
}

/// The net of the first pair that is not proved absent, or of the first pair, as Graphviz; `None` when there is no
/// pair or no net.
pub fn net(subject: &Subject, options: &ProofOptions, budget: &Budget) -> Option<String> {
    verify::net(subject.facts(), options, budget)
}
