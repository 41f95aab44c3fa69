//! Uninterruptible sections: one step with everything they do.

use std::sync::Arc;

use model::{Choice, End, Op, Order, ThreadId};

use super::action::Action;
use super::perform::Continuation;
use super::thread::Status;
use super::{Machine, Note};

/// Operations in one section after which a thread counts as an endless loop.
const LONGEST: usize = 1_000;

impl Machine {
    /// Executes a section. If an assumption in it does not hold, its writes are undone.
    pub(super) fn section(
        &mut self,
        id: ThreadId,
        notes: &mut Vec<Note>,
        choose: &mut dyn FnMut(u32, i64, i64) -> i64,
    ) -> Op {
        let before = self.memory.clone();
        let (mut accesses, mut sites, mut choices) = (Vec::new(), Vec::new(), Vec::<Choice>::new());
        Arc::make_mut(&mut self.threads[id]).in_section = true;
        Arc::make_mut(&mut self.threads[id]).iteration = None;
        self.advance(id, notes);
        let mut operations = 0;
        while let Some(next) = self.threads[id].next.clone().filter(|_| self.threads[id].status == Status::Active) {
            operations += 1;
            let covered = matches!(
                next.action,
                Action::Load { .. }
                    | Action::Store { .. }
                    | Action::Rmw { .. }
                    | Action::CompareExchange(_)
                    | Action::Fence(_)
                    | Action::Copy { .. }
                    | Action::Fill { .. }
                    | Action::Free { .. }
                    | Action::Choose { .. }
            );
            if next.action == Action::SectionEnd {
                Arc::make_mut(&mut self.threads[id]).in_section = false;
                self.advance(id, notes);
                break;
            }
            if !covered {
                let what = "does more than access memory in an atomic section".to_owned();
                notes.push(Note::Unmodelled { site: next.site, what });
                break;
            }
            if operations > LONGEST {
                let thread = Arc::make_mut(&mut self.threads[id]);
                (thread.status, thread.next) = (Status::Spinning, None);
                break;
            }
            let number = choices.len() as u32;
            let performed = self.perform(id, &next, notes, &mut |_, lo, hi| choose(number, lo, hi));
            choices.extend(performed.op.choices());
            let atomic = performed.op.accesses().iter().map(|a| model::Access { atomic: Some(Order::SeqCst), ..*a });
            accesses.extend(atomic);
            sites.resize(accesses.len(), next.site);
            if matches!(performed.then, Continuation::Exited | Continuation::Announce(_)) {
                break;
            }
            self.follow(id, performed.then, next.site, notes);
        }
        Arc::make_mut(&mut self.threads[id]).in_section = false;
        let assumed = matches!(self.ends.last(), Some(End::Assumed { thread, .. }) if *thread == id);
        if assumed && self.threads[id].status == Status::Parked {
            self.memory = before;
        }
        Op::Section { accesses: accesses.into(), sites: sites.into(), choices: choices.into() }
    }
}
