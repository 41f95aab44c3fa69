//! What a person calls objects, locks and threads.

use facts::Solved;
use facts::invocations::ProgramPoint;
use facts::order::ThreadId;
use facts::spot::{Origin, Spot};
use model::SiteId;
use program::naming;

use crate::lock::Lock;

pub(crate) fn site_at(facts: &Solved<'_>, (function, block, index): ProgramPoint) -> Option<SiteId> {
    facts.program.functions.get(function)?.blocks.get(block)?.statements.get(index)?.site
}

/// The memory at a spot; the expression of a site says it better where the spot is not of one object.
pub(crate) fn variable(facts: &Solved<'_>, site: SiteId, spot: Spot, len: Option<u64>) -> String {
    let program = facts.program;
    let expression = || program.sites.get(site).and_then(|site| site.expression.clone());
    let (offset, bytes) = (u64::try_from(spot.offset).unwrap_or(0), len.unwrap_or(0));
    let exact = spot.stride == 0 && len.is_some();
    match facts.points_to.origin(spot.object) {
        Origin::Global(global) if exact => naming::name_global(program, global, offset, bytes),
        Origin::Global(global) => expression().unwrap_or_else(|| program.globals[global].name.clone()),
        Origin::Stack(function, local) => expression().unwrap_or_else(|| {
            let at = facts.points_to.addresses.defined_at(function, local);
            let site = at.and_then(|(block, index)| site_at(facts, (function, block, index as usize)));
            naming::name_stack(program, site, offset, bytes)
        }),
        Origin::Heap(place) => {
            expression().unwrap_or_else(|| naming::name_heap(program, site_at(facts, place), offset, bytes))
        }
        Origin::Library(state) => state.name().replace('`', ""),
        Origin::Stream(global) => format!("the stream of {}", program.globals[global].name),
        Origin::Arguments | Origin::ArgumentTexts => {
            expression().unwrap_or_else(|| "the arguments of the program".to_owned())
        }
        _ => expression().unwrap_or_else(|| "unnamed memory".to_owned()),
    }
}

/// The object at a spot, without a site's help.
pub(crate) fn object(facts: &Solved<'_>, spot: Spot, len: u64) -> String {
    let program = facts.program;
    let offset = u64::try_from(spot.offset).unwrap_or(0);
    match facts.points_to.origin(spot.object) {
        Origin::Global(global) => naming::name_global(program, global, offset, len),
        Origin::Stack(function, local) => {
            let at = facts.points_to.addresses.defined_at(function, local);
            let site = at.and_then(|(block, index)| site_at(facts, (function, block, index as usize)));
            naming::name_stack(program, site, offset, len)
        }
        Origin::Heap(place) => naming::name_heap(program, site_at(facts, place), offset, len),
        Origin::Function(f) => program.functions[f].name.clone(),
        Origin::AnyFunction => "a function".to_owned(),
        Origin::Thread(_) => "a thread's handle".to_owned(),
        Origin::Library(state) => state.name().replace('`', ""),
        Origin::Stream(global) => format!("the stream of {}", program.globals[global].name),
        Origin::Errno => "errno".to_owned(),
        Origin::Constants => "a constant".to_owned(),
        Origin::Arguments | Origin::ArgumentTexts => "the arguments of the program".to_owned(),
        Origin::Collapsed => "one of many objects".to_owned(),
        Origin::Outside | Origin::Unknown | Origin::Transfer(_) => "memory outside of the program".to_owned(),
    }
}

/// What a person repairs at once: a global or a member of it, a member of a struct, or all of a block without a known type.
/// Elements of arrays are not told apart, nor where a struct is allocated.
pub(crate) fn variable_group(facts: &Solved<'_>, spot: Spot) -> String {
    let program = facts.program;
    let offset = u64::try_from(spot.offset).unwrap_or(0);
    let site = match facts.points_to.origin(spot.object) {
        Origin::Stack(function, local) => {
            let at = facts.points_to.addresses.defined_at(function, local);
            at.and_then(|(block, index)| site_at(facts, (function, block, index as usize)))
        }
        Origin::Heap(place) => site_at(facts, place),
        _ => None,
    };
    let allocated = site.and_then(|site| program.sites.get(site)?.allocates);
    let member = allocated.and_then(|ty| naming::name_member(program, ty, offset));
    member.unwrap_or_else(|| match facts.points_to.origin(spot.object) {
        Origin::Global(global) => naming::name_global_member(program, global, offset),
        _ => object(facts, Spot::start(spot.object), 0),
    })
}

/// A lock.
pub(crate) fn lock(facts: &Solved<'_>, lock: &Lock) -> String {
    match lock {
        Lock::At(spot) => object(facts, *spot, 40),
        Lock::Symbol(_) => "a lock in the same object".to_owned(),
        Lock::Once(spot) | Lock::Passed(spot) | Lock::NotPosted(spot) => object(facts, *spot, 4),
    }
}

/// A thread: what it starts in, and where it is made.
pub(crate) fn thread(facts: &Solved<'_>, thread: Option<ThreadId>) -> String {
    let Some(thread) = thread else { return "any thread".to_owned() };
    let info = &facts.order.threads[thread];
    let name = |f: &program::FunctionId| facts.program.functions[*f].name.clone();
    let functions: Vec<String> = info.functions.iter().map(name).collect();
    let functions = if functions.is_empty() { "unknown".to_owned() } else { functions.join(" or ") };
    let Some((_, place)) = info.made_at else { return functions };
    let location = site_at(facts, place).and_then(|site| facts.program.sites.get(site)?.location);
    match location {
        Some(at) => format!("{functions}, started at {}:{}", facts.program.files[at.file], at.line),
        None => functions,
    }
}
