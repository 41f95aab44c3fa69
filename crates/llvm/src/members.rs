//! As which member of a struct each instruction touches memory ([`program::members`]).
//!
//! Clang computes the address of `p->count` from `p` by the struct's type, so the address says which struct and which bytes
//! of it are meant: the innermost struct that the last computations name. An element of an array inside of a struct is a
//! member only as the whole array, and not if the array is the last member, which often goes on behind the struct.
//!
//! Members of a union are the same bytes, and addresses do not show that: a struct that may be inside of a union has no
//! members here. Which those are, debug information says; a module without it has no members at all.

use std::collections::BTreeSet;

use inkwell::llvm_sys::LLVMOpcode;
use model::{IndexVec, SiteId};
use program::members::{Content, Slot, Whole};
use program::whole::MOST_SLOTS;
use program::{Lvalue, Member, Record, RecordId, Site};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::functions::Functions;
use crate::ir::{Layout, Module, Node, Ty, Value};
use crate::names::{DebugType, WholeAccess, Wholes};
use crate::sites::Sites;

/// Fills in as which members sites touch memory. Returns the structs.
pub(crate) fn annotate<'m>(
    module: Module<'m>,
    functions: &Functions<'m>,
    sites: &Sites<'m>,
    wholes: &Wholes,
    table: &mut IndexVec<SiteId, Site>,
) -> IndexVec<RecordId, Record> {
    if module.compile_units().is_empty() {
        return IndexVec::new();
    }
    let mut members = Members {
        layout: module.layout(),
        overlaid: overlaid(module, functions),
        of_type: FxHashMap::default(),
        ids: FxHashMap::default(),
        records: IndexVec::new(),
        going_on: wholes.going_on.iter().filter_map(|name| plain_name(name)).collect(),
    };
    // A struct of which only parts are accessed tells what may be in one block.
    for (_, function) in functions.defined() {
        for source in function.instructions().iter().filter_map(|instruction| instruction.gep_source()) {
            members.record(source);
        }
    }
    for (_, function) in functions.defined() {
        for instruction in function.instructions() {
            let Some(site) = sites.id(instruction) else { continue };
            if let Some(member) = members.of(instruction) {
                table[site].lvalue = Some(Lvalue::Member(member));
            }
        }
    }
    members.add_wholes(wholes, table);
    members.records
}

struct Members<'m> {
    layout: Layout<'m>,
    /// Names of structs that may be inside of unions.
    overlaid: BTreeSet<String>,
    /// What types are; `None` for those without members.
    of_type: FxHashMap<Ty<'m>, Option<RecordId>>,
    ids: FxHashMap<Record, RecordId>,
    records: IndexVec<RecordId, Record>,
    /// Names of structs behind whose end something may be kept.
    going_on: BTreeSet<String>,
}

/// Bytes of a struct.
#[derive(Clone, Copy)]
struct Place<'m> {
    record: Ty<'m>,
    start: u32,
    size: u32,
}

impl<'m> Members<'m> {
    fn of(&mut self, instruction: Value<'m>) -> Option<Member> {
        let touched = match instruction.opcode()? {
            LLVMOpcode::LLVMLoad => instruction.ty(),
            LLVMOpcode::LLVMStore => instruction.part(0).ty(),
            LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => instruction.part(1).ty(),
            _ => return None,
        };
        let size = u32::try_from(self.layout.store_size(touched)).ok()?;
        let place = self.place(instruction.address()?, size)?;
        let (record, end) = (self.record(place.record)?, place.start.checked_add(place.size)?);
        Some(Member { record, start: place.start, end }).filter(|member| member.start < member.end)
    }

    /// The innermost struct with the scalar at an address, its first byte there and how many bytes from that on may be meant.
    fn place(&self, address: Value<'m>, size: u32) -> Option<Place<'m>> {
        let mut ty = address.gep_source()?;
        let mut found = None;
        let mut indices = address.operands().skip(1);
        // The first index goes from one object to the next.
        let first = indices.next()?.as_integer();
        for index in indices {
            if let Some(elements) = ty.struct_elements() {
                let number = u32::try_from(index.as_integer()?).ok()?;
                let start = self.layout.element_offset(ty, number);
                found = Some(Place { record: ty, start: u32::try_from(start).ok()?, size });
                ty = *elements.get(number as usize)?;
            } else {
                let (element, _) = ty.sequence().filter(|_| ty.is_array())?;
                // Elements of elements are inside of the outermost array.
                found = found.filter(|place| place.size > size).or_else(|| self.array(found?, ty));
                ty = element;
            }
        }
        if found.is_none() && first == Some(0) {
            // An array whose address was computed before.
            let array = address.gep_source().filter(|ty| ty.is_array())?;
            found = self.array(self.place_of_array(address.part(0), array)?, array);
        }
        let is_scalar = ty.struct_elements().is_none() && !ty.is_array();
        found.filter(|_| is_scalar && self.layout.store_size(ty) == u64::from(size))
    }

    /// Where in a struct an array is whose address was computed so.
    fn place_of_array(&self, address: Value<'m>, array: Ty<'m>) -> Option<Place<'m>> {
        let (source, indices) = (address.gep_source()?, address.operands().skip(2).collect::<Vec<_>>());
        let [index] = indices.as_slice() else { return None };
        let number = u32::try_from(index.as_integer()?).ok()?;
        let element = *source.struct_elements()?.get(number as usize)?;
        let start = u32::try_from(self.layout.element_offset(source, number)).ok()?;
        (element == array).then_some(Place { record: source, start, size: 0 })
    }

    /// An array that is a member, as a whole; not the last member, behind whose end there may be more elements.
    fn array(&self, at: Place<'m>, array: Ty<'m>) -> Option<Place<'m>> {
        let last = at.record.struct_elements()?.len() as u32 - 1;
        let is_last = self.layout.element_offset(at.record, last) <= u64::from(at.start);
        let size = u32::try_from(self.layout.stride(array)).ok()?;
        (!is_last && size > 0).then_some(Place { size, ..at })
    }

    /// Fills in what is accessed as whole structs. Which struct is meant has to be certain.
    fn add_wholes(&self, wholes: &Wholes, table: &mut IndexVec<SiteId, Site>) {
        let mut by_name: FxHashMap<&str, Vec<RecordId>> = FxHashMap::default();
        for (id, record) in self.records.iter_enumerated() {
            by_name.entry(&record.name).or_default().push(id);
        }
        for WholeAccess { site, is_source, names, len } in &wholes.accesses {
            let plain: Vec<String> = names.iter().filter_map(|name| plain_name(name)).collect();
            let called: BTreeSet<RecordId> =
                plain.iter().filter_map(|name| by_name.get(name.as_str())).flatten().copied().collect();
            let is_vague = len.is_none() && plain.iter().any(|name| self.going_on.contains(name));
            let [record] = called.into_iter().collect::<Vec<_>>()[..] else { continue };
            if !is_vague {
                let lvalue = Some(Lvalue::Whole(Whole { record, len: *len }));
                let site = &mut table[*site];
                if *is_source { site.source = lvalue } else { site.lvalue = lvalue }
            }
        }
    }

    /// Whether what a struct ends with is an array, which may go on behind it.
    fn ends_in_array(&self, ty: Ty<'m>) -> bool {
        let last = ty.struct_elements().and_then(|elements| elements.last().copied());
        ty.is_array() || last.is_some_and(|last| self.ends_in_array(last))
    }

    fn record(&mut self, ty: Ty<'m>) -> Option<RecordId> {
        if let Some(known) = self.of_type.get(&ty) {
            return *known;
        }
        let described = self.described(ty);
        if let Some(record) = described.as_ref().filter(|_| self.ends_in_array(ty)) {
            self.going_on.insert(record.name.clone());
        }
        let id = described.map(|record| match self.ids.get(&record) {
            Some(id) => *id,
            None => {
                let id = self.records.push(record.clone());
                self.ids.insert(record, id);
                id
            }
        });
        self.of_type.insert(ty, id);
        id
    }

    fn described(&self, ty: Ty<'m>) -> Option<Record> {
        let name = plain_name(&ty.struct_name()?).filter(|name| !self.overlaid.contains(name))?;
        let mut slots = Vec::new();
        self.divide(ty, 0, &mut slots);
        Some(Record { name, slots })
    }

    /// Appends the parts of a type. A union is one.
    fn divide(&self, ty: Ty<'m>, start: u64, slots: &mut Vec<Slot>) {
        let is_union = ty.struct_name().is_some_and(|name| name.starts_with("union."));
        if slots.len() >= MOST_SLOTS {
            return;
        }
        if let Some(elements) = ty.struct_elements().filter(|_| !is_union) {
            for (index, element) in (0..).zip(elements) {
                self.divide(element, start + self.layout.element_offset(ty, index), slots);
            }
        } else if let Some((element, count)) = ty.sequence().filter(|_| ty.is_array()) {
            let stride = self.layout.stride(element);
            (0..count.min(MOST_SLOTS as u64)).for_each(|n| self.divide(element, start + n * stride, slots));
        } else {
            let content = if ty.is_pointer() {
                Content::Pointer
            } else if ty.is_float() {
                Content::Float
            } else if is_union {
                Content::Union
            } else {
                Content::Integer
            };
            let size = self.layout.store_size(ty);
            slots.extend(u32::try_from(start).ok().zip(u32::try_from(size).ok()).map(|(start, size)| Slot {
                start,
                size,
                content,
            }));
        }
    }
}

/// The name of a struct as debug information and LLVM's types both have it: without its kind, scopes and template arguments,
/// and without the number that LLVM gives to types of one name. `None` for structs without a name of their own.
fn plain_name(name: &str) -> Option<String> {
    let mut depth = 0;
    let mut plain = String::new();
    for character in name.chars() {
        depth += i32::from(character == '<');
        if depth == 0 {
            plain.push(character);
        }
        depth -= i32::from(character == '>' && depth > 0);
    }
    let plain = plain.trim_start_matches("struct.").trim_start_matches("class.");
    let last = plain.rsplit("::").next()?.rsplit(' ').next()?.split('.').next()?;
    (!last.is_empty() && last != "anon" && !last.ends_with(')')).then(|| last.to_owned())
}

/// The names of all structs that are inside of unions.
fn overlaid<'m>(module: Module<'m>, functions: &Functions<'m>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut seen: FxHashSet<Node<'m>> = FxHashSet::default();
    let mut open = module.compile_units();
    open.extend(module.globals().into_iter().flat_map(Value::attached));
    for (_, function) in functions.defined() {
        open.extend(function.subprogram());
        for instruction in function.instructions() {
            open.extend(instruction.operands().filter_map(Node::of));
        }
    }
    let mut inside: FxHashSet<DebugType<'m>> = FxHashSet::default();
    while let Some(node) = open.pop() {
        if !seen.insert(node) {
            continue;
        }
        if let Some(union) = DebugType::new(node).filter(|ty| ty.is_union()) {
            union.parts().into_iter().for_each(|part| note_structs(part, &mut inside, &mut names));
        }
        open.extend(node.operands().into_iter().flatten());
    }
    names
}

/// Notes the names of a type and of all that it is made of.
fn note_structs<'m>(ty: DebugType<'m>, seen: &mut FxHashSet<DebugType<'m>>, names: &mut BTreeSet<String>) {
    if !seen.insert(ty) {
        return;
    }
    names.extend(ty.aliases().iter().filter_map(|name| plain_name(name)));
    for part in ty.parts() {
        note_structs(part, seen, names);
    }
}
