//! The printed form; reading it gives an equal program, but for line numbers.

use std::fmt;

use super::{Action, Job, Multiplicity, Sml};

impl fmt::Display for Sml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.shared.is_empty() {
            writeln!(f, "shared {};", self.shared.join(", "))?;
        }
        for job in &self.jobs {
            let multiplicity = match job.multiplicity {
                Multiplicity::One => "",
                Multiplicity::Many => "many ",
                Multiplicity::Created => "created ",
            };
            writeln!(f, "\njob {} {multiplicity}{{", job.name)?;
            for (number, statement) in job.statements.iter().enumerate() {
                labels(f, job, number)?;
                writeln!(f, "    {};", self.action(job, statement.action))?;
            }
            labels(f, job, job.statements.len())?;
            writeln!(f, "}}")?;
        }
        Ok(())
    }
}

fn labels(f: &mut fmt::Formatter<'_>, job: &Job, number: usize) -> fmt::Result {
    let here = job.labels.iter().filter(|(_, at)| *at == number);
    here.into_iter().try_for_each(|(label, _)| writeln!(f, "  {label}:"))
}

impl Sml {
    /// A statement as it is written, without the semicolon.
    pub(super) fn action(&self, job: &Job, action: Action) -> String {
        let name = |index: usize| &self.shared[index];
        let label = |to: usize| job.labels.iter().find(|(_, at)| *at == to).map_or("", |(label, _)| label);
        match action {
            Action::Acquire(lock) => format!("acquire {}", name(lock)),
            Action::Release(lock) => format!("release {}", name(lock)),
            Action::Read(variable) => format!("read {}", name(variable)),
            Action::Write(variable) => format!("write {}", name(variable)),
            Action::Wait { condition, lock } => format!("wait {}, {}", name(condition), name(lock)),
            Action::Signal(condition) => format!("signal {}", name(condition)),
            Action::Broadcast(condition) => format!("broadcast {}", name(condition)),
            Action::Branch(to) => format!("branch {}", label(to)),
            Action::Goto(to) => format!("goto {}", label(to)),
            Action::Create(child) => format!("create {}", self.jobs[child].name),
            Action::Join(child) => format!("join {}", self.jobs[child].name),
        }
    }
}
