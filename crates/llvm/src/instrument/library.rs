//! Library calls: reporting what the table of `program::library` says they touch.
//!
//! If everything is known before the call, the event comes before it; if the library's result matters, the event
//! begins before and ends after the call. A function that calls back has one event before and one after.

use inkwell::llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMOpcode};
use model::SiteId;
use program::library::threads::ThreadFunction;
use program::library::{self, Computed, Effect, Format, FormatArgs, HookArg, LibraryFunction, LibraryState, Size};
use wire::Tag;

use super::Weaver;
use crate::ir::Value;

const _: () = assert!(LibraryState::Descriptors as u32 == wire::DESCRIPTORS);
const _: () = assert!(LibraryState::Children as u32 == wire::CHILDREN);
const _: () = assert!(LibraryState::Environment as u32 == wire::ENVIRONMENT);
const _: () = assert!(LibraryState::Keys as u32 == wire::KEYS);
const _: () = assert!(LibraryState::UnlockedOutput as u32 == wire::UNLOCKED_OUTPUT);

/// Functions after which a stream is no more; the recorder defines the first.
const CLOSES: [&str; 4] = ["fclose", "pclose", "freopen", "freopen64"];

impl<'m> Weaver<'_, 'm> {
    /// Reports what a library call touches.
    pub(super) fn library_call(&mut self, call: Value<'m>, function: &LibraryFunction, name: &str, site: SiteId) {
        for effect in function.effects {
            if let Effect::Opaque(why) = effect
                && !self.plan.assume_pure.contains(name)
            {
                self.unfollowed(call, site, format!("calls `{name}`: {why}"), name);
            }
            if let Effect::UnlockedStream(_) = effect
                && library::locks_streams(|name| self.module.function(name).is_some())
            {
                self.unfollowed(call, site, format!("calls `{name}`: {}", library::UNLOCKED), name);
            }
        }
        self.hand_over(call, function, name, site);
        if function.by_runtime || self.note_unknown_sizes(call, function.effects, name, site) {
            return;
        }
        let wanted = |effect: &&&Effect| match effect {
            Effect::Computed(computed) if computed.hook == library::OUTPUT_BUFFER => {
                library::gives_buffers(|name| self.module.function(name).is_some())
            }
            // What is behind a pointer of the thread's own may be shared.
            Effect::Computed(_) | Effect::ComputedAfter(_) if function.reaches_behind() => true,
            effect => self.is_worth_reporting(effect, call),
        };
        let (after, before): (Vec<_>, Vec<_>) =
            function.effects.iter().collect::<Vec<_>>().iter().filter(wanted).copied().partition(|e| is_after(e));
        if before.is_empty() && after.is_empty() {
            return;
        }
        self.insert.before(call);
        if function.effects.iter().any(|e| matches!(e, Effect::Calls(_))) {
            self.event(call, &before, site);
            self.allow_code_after(call);
            self.insert.after(call);
            self.event(call, &[before, after].concat(), site);
        } else if after.is_empty() && before.iter().all(|e| matches!(e, Effect::Stream(_))) {
            self.stream_event(call, &before, site);
        } else if after.is_empty() {
            self.event(call, &before, site);
        } else {
            self.insert.hook("__rp_call_begin", &[self.site(site)]);
            before.into_iter().for_each(|e| self.effect(call, e));
            self.allow_code_after(call);
            self.insert.after(call);
            after.into_iter().for_each(|e| self.effect(call, e));
            self.insert.hook("__rp_call_end", &[]);
        }
    }

    /// Lets the recorder order what is handed over through streams and descriptors by functions of the C library that it does
    /// not define itself, as they take any number of arguments or are many.
    fn hand_over(&mut self, call: Value<'m>, function: &LibraryFunction, name: &str, site: SiteId) {
        const BY_DESCRIPTOR: [&str; 4] = ["dprintf", "vdprintf", "__dprintf_chk", "__vdprintf_chk"];
        if !self.is_recorded() {
            return;
        }
        if BY_DESCRIPTOR.contains(&name)
            && let Some(fd) = call.argument(0)
        {
            self.store_site(call, site);
            self.insert.hook("__rp_descriptor_used", &[fd]);
        }
        let stream = function.effects.iter().find_map(|effect| match effect {
            Effect::Stream(i) | Effect::UnlockedStream(i) => call.argument(*i).filter(|stream| stream.is_pointer()),
            _ => None,
        });
        if let Some(stream) = stream.filter(|_| !CLOSES.contains(&name)) {
            self.store_site(call, site);
            self.insert.hook("__rp_stream_begin", &[stream]);
            self.allow_code_after(call);
            self.insert.after(call);
            self.insert.hook("__rp_stream_end", &[stream]);
        }
    }

    /// Reports the ordinary memory that a thread function touches: reads before it, writes after it, so that the
    /// operation itself is an event of its own.
    pub(super) fn thread_call(&mut self, call: Value<'m>, function: &ThreadFunction, site: SiteId) {
        if self.note_unknown_sizes(call, function.effects, function.name, site) {
            return;
        }
        let wanted: Vec<_> = function.effects.iter().filter(|e| self.is_worth_reporting(e, call)).collect();
        let (reads, writes): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|e| matches!(e, Effect::Read(..)));
        if !reads.is_empty() {
            self.insert.before(call);
            self.event(call, &reads, site);
        }
        if !writes.is_empty() {
            self.allow_code_after(call);
            self.insert.after(call);
            self.event(call, &writes, site);
        }
    }

    fn event(&self, call: Value<'m>, effects: &[&Effect], site: SiteId) {
        if effects.is_empty() {
            return;
        }
        self.insert.hook("__rp_call_begin", &[self.site(site)]);
        effects.iter().for_each(|effect| self.effect(call, effect));
        self.insert.hook("__rp_call_end", &[]);
    }

    /// The event of a call that touches nothing but streams. Only the stream at run time tells whether it is an event at
    /// all, so the call starts none: the hook makes it.
    fn stream_event(&self, call: Value<'m>, effects: &[&Effect], site: SiteId) {
        self.store_site(call, site);
        effects.iter().for_each(|effect| self.effect(call, effect));
        self.insert.hook("__rp_call_end", &[]);
    }

    /// Whether another thread could notice the effect: its arguments are there and do not point to private memory.
    fn is_worth_reporting(&self, effect: &Effect, call: Value<'m>) -> bool {
        let shared = |index: u8| call.argument(index).is_some_and(|a| self.is_shared(a));
        match effect {
            Effect::Read(i, _) | Effect::Write(i, _) | Effect::ReadAfter(i, _) | Effect::WriteAfter(i, _) => shared(*i),
            Effect::Computed(computed) | Effect::ComputedAfter(computed) => {
                let mut touched = computed.reads.iter().chain(computed.writes).peekable();
                touched.peek().is_none() || touched.any(|i| shared(*i))
            }
            Effect::Stream(i) | Effect::UnlockedStream(i) => call.argument(*i).is_some_and(Value::is_pointer),
            Effect::State(..) | Effect::File(..) | Effect::WriteResult(_) => true,
            Effect::StateWithout(i, ..) => call.argument(*i).is_some_and(|a| a.is_pointer() && !is_variable(a)),
            Effect::Format(format) => match format.args {
                FormatArgs::From(first) => {
                    shared(format.format) || call.arguments().skip(usize::from(first)).any(|a| self.is_shared(a))
                }
                FormatArgs::List(_) => true,
            },
            Effect::Returns(_)
            | Effect::ReturnsState(_)
            | Effect::ReturnsBehind(_)
            | Effect::Links(..)
            | Effect::ReturnsLinked(..)
            | Effect::ReturnsKept(_)
            | Effect::StoresPointer(..)
            | Effect::StoresBlock(_)
            | Effect::Advances(_)
            | Effect::Behind(..)
            | Effect::Copies(..)
            | Effect::Passes(_)
            | Effect::Calls(_)
            | Effect::Keeps(_)
            | Effect::KeepsIn(..)
            | Effect::Kept(..)
            | Effect::Opaque(_)
            | Effect::Unproved(_) => false,
        }
    }

    /// Whether a value is a pointer to memory that another thread could reach.
    fn is_shared(&self, value: Value<'m>) -> bool {
        value.is_pointer() && !value.is_zero() && self.needs_hook(value)
    }

    fn effect(&self, call: Value<'m>, effect: &Effect) {
        match effect {
            Effect::Read(i, size) | Effect::ReadAfter(i, size) => self.add(call, Tag::Read, *i, *size),
            Effect::Write(i, size) | Effect::WriteAfter(i, size) => self.add(call, Tag::Write, *i, *size),
            Effect::Computed(computed) | Effect::ComputedAfter(computed) => self.computed(call, computed),
            Effect::Stream(i) => {
                call.argument(*i).into_iter().for_each(|file| self.insert.hook("__rp_add_stream", &[file]));
            }
            Effect::UnlockedStream(i) => {
                // A program that locks streams itself is reported instead.
                let locked = library::locks_streams(|name| self.module.function(name).is_some());
                let hook = if locked { "__rp_add_stream" } else { "__rp_add_unlocked" };
                call.argument(*i).into_iter().for_each(|file| self.insert.hook(hook, &[file]));
            }
            Effect::State(state, access) => {
                let code = state.code(*access);
                self.insert.hook("__rp_add_state", &[self.insert.const_i32(code)]);
                self.variables(*state, code);
            }
            Effect::File(i, used) => {
                let code = self.insert.const_i32(used.code());
                if let Some(fd) = call.argument(*i) {
                    self.insert.hook("__rp_add_file", &[self.insert.widened(fd, true), code]);
                }
            }
            Effect::StateWithout(i, state, access) => {
                let code = self.insert.const_i32(state.code(*access));
                call.argument(*i).into_iter().for_each(|p| self.insert.hook("__rp_add_state_without", &[code, p]));
            }
            Effect::WriteResult(size) => self.add_to(call, Tag::Write, call, *size),
            Effect::Format(format) => self.format(call, format),
            Effect::Returns(_)
            | Effect::ReturnsState(_)
            | Effect::ReturnsBehind(_)
            | Effect::Links(..)
            | Effect::ReturnsLinked(..)
            | Effect::ReturnsKept(_)
            | Effect::StoresPointer(..)
            | Effect::StoresBlock(_)
            | Effect::Advances(_)
            | Effect::Behind(..)
            | Effect::Copies(..)
            | Effect::Passes(_)
            | Effect::Calls(_)
            | Effect::Keeps(_)
            | Effect::KeepsIn(..)
            | Effect::Kept(..)
            | Effect::Opaque(_)
            | Effect::Unproved(_) => {}
        }
    }

    /// Notes a call that touches memory of a type whose size is not known on the program's architecture; true if it does.
    fn note_unknown_sizes(&mut self, call: Value<'m>, effects: &[Effect], name: &str, site: SiteId) -> bool {
        let architecture = self.module.architecture();
        let unknown =
            |effect: &Effect| effect.size().and_then(Size::depends_on).filter(|ty| ty.size(architecture).is_none());
        let Some(ty) = effects.iter().find_map(unknown) else { return false };
        let what = format!("calls `{name}`: the size of `{}` is not known on this architecture", ty.spelling());
        self.unfollowed(call, site, what, name);
        true
    }

    /// The variables that show a state, as far as the program knows them. The code is that of the state's access.
    fn variables(&self, state: LibraryState, code: u32) {
        for (symbol, ty) in state.variables() {
            let visible = |variable: &Value<'m>| !matches!(variable.linkage(), LLVMLinkage::LLVMInternalLinkage);
            let variable = self.module.global(symbol).filter(visible);
            if let (Some(variable), Some(size)) = (variable, ty.size(self.module.architecture())) {
                let (kind, size) = (self.insert.const_i32(code >> 8), self.insert.const_i64(size));
                self.insert.hook("__rp_add", &[kind, variable, size]);
            }
        }
    }

    fn add(&self, call: Value<'m>, tag: Tag, index: u8, size: Size) {
        call.argument(index).into_iter().for_each(|pointer| self.add_to(call, tag, pointer, size));
    }

    fn add_to(&self, call: Value<'m>, tag: Tag, pointer: Value<'m>, size: Size) {
        let number = |index: u8| match call.argument(index) {
            Some(value) => self.insert.widened(value, false),
            None => self.insert.const_i64(0),
        };
        let architecture = self.module.architecture();
        let result = || self.insert.not_negative(self.insert.widened(call, true));
        let (hook, len) = match size {
            Size::Bytes(_) | Size::Of(_) | Size::Array(..) => match size.fixed(architecture) {
                Some(bytes) => ("__rp_add", self.insert.const_i64(bytes)),
                None => return,
            },
            Size::Arg(i) => ("__rp_add", number(i)),
            Size::Scaled(i, element) => match element.size(architecture) {
                Some(bytes) => ("__rp_add", self.insert.multiply(number(i), self.insert.const_i64(bytes))),
                None => return,
            },
            Size::Product(i, j) => ("__rp_add", self.insert.multiply(number(i), number(j))),
            Size::String => ("__rp_add_string", self.insert.const_i64(u64::MAX)),
            Size::StringMax(i) => ("__rp_add_string", number(i)),
            Size::WideString => ("__rp_add_wide", self.insert.const_i64(u64::MAX)),
            Size::WideStringMax(i) => ("__rp_add_wide", number(i)),
            Size::IfZero(ty) => match ty.size(architecture) {
                Some(bytes) => {
                    let (zero, bytes) = (self.insert.const_i64(0), self.insert.const_i64(bytes));
                    let sides = (self.insert.widened(call, true), zero);
                    ("__rp_add", self.insert.select(LLVMIntPredicate::LLVMIntEQ, sides, bytes, zero))
                }
                None => return,
            },
            Size::Result => ("__rp_add", result()),
            Size::ResultTimes(i) => ("__rp_add", self.insert.multiply(result(), number(i))),
        };
        self.insert.hook(hook, &[self.insert.const_i32(tag as u32), pointer, len]);
    }

    fn computed(&self, call: Value<'m>, computed: &Computed) {
        let value = |given: &HookArg| match given {
            HookArg::Arg(i) => match call.argument(*i) {
                Some(pointer) if pointer.is_pointer() => pointer,
                Some(number) => self.insert.widened(number, false),
                None => self.insert.const_i64(0),
            },
            HookArg::Result if call.is_pointer() => call,
            HookArg::Result => self.insert.widened(call, true),
            HookArg::Const(number) => self.insert.const_i64(*number),
        };
        let arguments: Vec<_> = computed.args.iter().map(value).collect();
        self.insert.hook(computed.hook, &arguments);
    }

    fn format(&self, call: Value<'m>, format: &Format) {
        let Some(text) = call.argument(format.format) else { return };
        match format.args {
            FormatArgs::List(i) => {
                let Some(list) = call.argument(i) else { return };
                let flags = self.format_flags(call, format);
                self.insert.hook("__rp_add_format_list", &[text, flags, list]);
            }
            FormatArgs::From(first) => {
                let arguments: Vec<_> = call.arguments().skip(usize::from(first)).collect();
                let array = self.spread(call, &arguments);
                if format.scan {
                    self.insert.after(call);
                }
                let flags = self.format_flags(call, format);
                let count = self.insert.const_i32(arguments.len() as u32);
                self.insert.hook("__rp_add_format", &[text, flags, count, array]);
            }
        }
    }

    /// The flags of a format hook: for a scan, which is reported after the call, with its result plus 2.
    fn format_flags(&self, call: Value<'m>, format: &Format) -> Value<'m> {
        let flags = self.insert.const_i32(format.flags());
        if !format.scan {
            return flags;
        }
        let number = |n| self.insert.const_i32(n);
        let result = self.insert.binary(LLVMOpcode::LLVMAdd, self.insert.to_i32(call), number(2));
        let shifted = self.insert.binary(LLVMOpcode::LLVMShl, result, number(8));
        self.insert.binary(LLVMOpcode::LLVMOr, shifted, flags)
    }

    /// Puts values, widened to 64 bits each, into an array in the function's frame.
    fn spread(&self, call: Value<'m>, values: &[Value<'m>]) -> Value<'m> {
        let array = self.insert.frame_array(call, values.len() as u64);
        self.insert.before(call);
        for (index, value) in (0u64..).zip(values) {
            let slot = self.insert.offset(array, self.insert.const_i64(8 * index));
            let value = self.insert.widened(*value, true);
            self.insert.store(value, slot);
        }
        array
    }
}

/// Whether an effect is known only once the call has returned.
fn is_after(effect: &Effect) -> bool {
    let scan = matches!(effect, Effect::Format(format) if format.scan);
    let after = matches!(
        effect,
        Effect::ReadAfter(..) | Effect::WriteAfter(..) | Effect::ComputedAfter(_) | Effect::WriteResult(_)
    );
    scan || after
}

/// Whether a pointer is the address of a variable, or a place in one.
fn is_variable(pointer: Value<'_>) -> bool {
    let mut at = pointer;
    while at.opcode() == Some(LLVMOpcode::LLVMGetElementPtr)
        && let Some(base) = at.operand(0)
    {
        at = base;
    }
    at.opcode() == Some(LLVMOpcode::LLVMAlloca) || at.is_global_variable()
}
