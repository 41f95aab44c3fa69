//! Inserting the calls described in `docs/runtime-abi.md`.
//!
//! Happens before any optimisation (an optimiser merges racy accesses) and after sites are numbered. What has no
//! hook is memory that no other thread can write (see `escape`); everything else that touches memory has one, or
//! is listed as unmodelled.

mod access;
mod atomics;
mod attributes;
mod bodies;
mod calls;
mod ctors;
mod insert;
mod interrupts;
mod lanes;
mod library;
mod needed;
mod quiet;
mod recording;
mod retries;
mod rounds;
mod sections;
mod shared_words;
mod streams;
mod thinning;
mod tls;

use std::collections::{BTreeMap, BTreeSet};

use inkwell::llvm_sys::LLVMOpcode;
use model::SiteId;
use program::Unmodelled;

use crate::error::{Error, Stage};
use crate::escape::Privacy;
use crate::functions::Functions;
use crate::intrinsics;
use crate::ir::{Module, Value};
use crate::module::verify;
use crate::sites::Sites;
use insert::Insert;
pub(crate) use retries::{tries_again, tries_once};

pub use needed::NEEDED;

/// What instrumenting a module needs to know.
pub(crate) struct Plan<'a, 'm> {
    /// The functions as numbered.
    pub(crate) functions: &'a Functions<'m>,
    /// The sites as numbered.
    pub(crate) sites: &'a Sites<'m>,
    /// What no other thread can reach.
    pub(crate) privacy: &'a Privacy<'m>,
    /// External functions that the user says touch no shared memory.
    pub(crate) assume_pure: &'a BTreeSet<String>,
    /// For the recorder: the sites whose plain accesses need not be recorded. `None` for the controlled runtime.
    pub(crate) recorded_without: Option<&'a BTreeSet<SiteId>>,
}

/// What instrumentation has to say.
#[derive(Clone, Default, Debug)]
pub(crate) struct Instrumented {
    /// What has no model, in order of sites.
    pub(crate) unmodelled: Vec<Unmodelled>,
    /// For the recorder: what its words mean.
    pub(crate) logged: Logged,
}

/// What the words of plain accesses mean.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Logged {
    /// Sites whose plain accesses are logged without a record, with whether they write and their size.
    pub accesses: BTreeMap<SiteId, (bool, u32)>,
    /// For sites with a word of their own: the sites whose accesses to the same address come right after it and have none.
    pub together: BTreeMap<SiteId, Vec<SiteId>>,
}

/// Instruments the module.
pub(crate) fn instrument<'m>(
    linked: &'m inkwell::module::Module<'_>,
    plan: &Plan<'_, 'm>,
) -> Result<Instrumented, Error> {
    let module = Module::of(linked);
    let insert = Insert::new(module);
    let watched = lanes::Watched::of(plan);
    let mut weaver = Weaver {
        module,
        plan,
        insert,
        watched,
        unmodelled: Vec::new(),
        logged: Logged::default(),
        volatile: Vec::new(),
        may_interrupt: interrupts::may_be(module),
    };
    weaver.addresses_taken();
    for (_, function) in plan.functions.defined() {
        weaver.function(function);
    }
    ctors::take_out(&weaver);
    needed::keep_own(&weaver);
    bodies::define(&weaver);
    attributes::strip(plan.functions);
    if plan.recorded_without.is_some() {
        recording::define(&weaver);
    } else {
        attributes::keep_frames(plan.functions);
        tls::move_into_image(&mut weaver);
        quiet::define(&weaver);
        interrupts::define(&weaver);
        sections::assign(&mut weaver);
    }
    verify(linked, Stage::AfterInstrumentation)?;
    Ok(Instrumented { unmodelled: weaver.unmodelled, logged: weaver.logged })
}

/// Inserts hooks into one module.
struct Weaver<'a, 'm> {
    module: Module<'m>,
    plan: &'a Plan<'a, 'm>,
    insert: Insert<'m>,
    /// What lanes of `simd` loops execute.
    watched: lanes::Watched<'m>,
    unmodelled: Vec<Unmodelled>,
    logged: Logged,
    /// Sites of volatile accesses to a `sig_atomic_t`.
    volatile: Vec<SiteId>,
    /// Whether handlers of signals may interrupt threads.
    may_interrupt: bool,
}

impl<'m> Weaver<'_, 'm> {
    fn function(&mut self, function: Value<'m>) {
        // Only what has a site is touched; the list is made before the function changes.
        let visible: Vec<_> = function
            .instructions()
            .into_iter()
            .filter_map(|instruction| Some((instruction, self.plan.sites.id(instruction)?)))
            .collect();
        let is_stream_function = streams::is_stream_function(&function.name());
        let waiting = if is_stream_function { Vec::new() } else { self.waiting_loops(function) };
        let retrying = if self.is_recorded() { Vec::new() } else { self.retrying_loops(function, &waiting) };
        self.locals(function, &visible);
        for (instruction, site) in visible {
            self.lane_access(instruction, site);
            let is_of_stream = is_stream_function || streams::is_of_stream(instruction);
            match instruction.opcode() {
                Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore) if is_of_stream => {
                    self.access_of_stream(instruction, site)
                }
                Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore) => self.access(instruction, site),
                Some(LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg) => {
                    self.atomic_update(instruction, site)
                }
                Some(LLVMOpcode::LLVMFence) => self.fence(instruction, site),
                Some(LLVMOpcode::LLVMFreeze) => self.unwritten(instruction, site),
                Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr) => {
                    match intrinsics::of_call(instruction) {
                        Some(_) if is_of_stream => {}
                        Some(effect) => self.intrinsic(instruction, effect, site),
                        None => self.call(instruction, site),
                    }
                }
                _ => {}
            }
        }
        waiting.iter().for_each(|waiting| self.round(waiting));
        retrying.iter().for_each(|retrying| self.retry(retrying));
        self.lanes(function);
    }

    /// Notes something that has no model.
    fn unmodelled(&mut self, site: Option<SiteId>, what: impl Into<String>, function: Option<String>) {
        self.unmodelled.push(Unmodelled { site, what: what.into(), function });
    }

    /// Whether the program is made for the recorder.
    fn is_recorded(&self) -> bool {
        self.plan.recorded_without.is_some()
    }

    fn site(&self, site: SiteId) -> Value<'m> {
        self.insert.const_i32(site.0)
    }

    /// Whether accesses through `pointer` need a hook.
    fn needs_hook(&self, pointer: Value<'m>) -> bool {
        !self.plan.privacy.is_private(pointer)
    }

    /// Whether a pointer is an ordinary one; others (segment-relative ones) are noted and have no hook.
    fn is_ordinary(&mut self, pointer: Value<'m>, site: SiteId) -> bool {
        let ordinary = pointer.ty().address_space().is_none_or(|space| space == 0);
        if !ordinary {
            self.unmodelled(Some(site), Unmodelled::SPECIAL_MEMORY, None);
        }
        ordinary
    }
}
