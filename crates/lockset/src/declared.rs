//! What variables are, whatever a pointer to very many objects may be to.
//!
//! A variable has the type that it was declared with: an access as a member of a struct is to none that contains no such
//! struct (assumption A24, as for [`crate::lvalues`]). What has characters in it may be used as storage for anything, and so
//! may unions. And a variable is never freed.

use std::collections::BTreeSet;

use facts::Solved;
use facts::spot::{ObjectId, Origin};
use fixedbitset::FixedBitSet;
use model::index::IndexVec;
use program::members::{Lvalue, Record, RecordId};
use program::{Field, Program, Stmt, Type, TypeId};
use rustc_hash::{FxHashMap, FxHashSet};

/// More parts of a type are not looked at: it may be anything.
const MOST_PARTS: usize = 512;

/// Variables, by object.
pub(crate) struct Declared {
    of: FxHashMap<ObjectId, Option<TypeId>>,
    /// By type, the lvalues that are nowhere in it, by number.
    without: FxHashMap<TypeId, FixedBitSet>,
}

impl Declared {
    /// The variables that are members of collapsed nodes, and which of these lvalues they cannot be accessed as.
    pub(crate) fn new(facts: &Solved<'_>, lvalues: &[Lvalue]) -> Self {
        let program = facts.program;
        let mut of = FxHashMap::default();
        let of_locals = types_of_locals(program);
        for (object, origin) in facts.points_to.objects().iter_enumerated() {
            let ty = match origin {
                Origin::Global(global) => program.globals[*global].ty,
                Origin::Stack(function, local) => of_locals.get(&(*function, *local)).copied(),
                _ => continue,
            };
            of.insert(object, ty);
        }
        let in_nodes = of.iter().filter(|(object, _)| facts.points_to.collapsed_node(**object).is_some());
        let types: BTreeSet<TypeId> = in_nodes.filter_map(|(_, ty)| *ty).collect();
        let mut without = FxHashMap::default();
        for ty in types {
            let mut missing = FixedBitSet::with_capacity(lvalues.len());
            if let Some(parts) = Parts::of(&program.types, ty) {
                let is_missing = |lvalue: &Lvalue| !parts.may_have(&program.records, *lvalue);
                lvalues.iter().enumerate().for_each(|(at, lvalue)| missing.set(at, is_missing(lvalue)));
            }
            without.insert(ty, missing);
        }
        Self { of, without }
    }

    /// Whether an object is a variable.
    pub(crate) fn is_variable(&self, object: ObjectId) -> bool {
        self.of.contains_key(&object)
    }
    /// The lvalues that an object has nowhere, by number.
    pub(crate) fn without(&self, object: ObjectId) -> Option<&FixedBitSet> {
        self.of.get(&object).copied().flatten().and_then(|ty| self.without.get(&ty))
    }
}

fn types_of_locals(program: &Program) -> FxHashMap<(program::FunctionId, program::LocalId), TypeId> {
    let mut found = FxHashMap::default();
    for (id, function) in program.functions.iter_enumerated() {
        for statement in function.blocks.iter().flat_map(|block| &block.statements) {
            if let Stmt::Alloca { dst, ty: Some(ty), .. } = &statement.stmt {
                found.insert((id, *dst), *ty);
            }
        }
    }
    found
}

/// What a type is made of.
struct Parts {
    structs: FxHashSet<String>,
    /// First byte and size of all that is not divided further, in order.
    scalars: Vec<(u64, u64)>,
}

impl Parts {
    /// The parts of a type; `None` if it may be used as anything.
    fn of(types: &IndexVec<TypeId, Type>, ty: TypeId) -> Option<Self> {
        let mut parts = Self { structs: FxHashSet::default(), scalars: Vec::new() };
        parts.add(types, ty, 0)?;
        Some(parts)
    }

    fn add(&mut self, types: &IndexVec<TypeId, Type>, ty: TypeId, start: u64) -> Option<()> {
        match &types[ty] {
            // Of characters, and of what is not known.
            Type::Scalar { size: 0 | 1, .. } => return None,
            Type::Scalar { size, .. } => self.scalars.push((start, *size)),
            Type::Array { element, stride, count } => {
                for number in 0..(*count).min(MOST_PARTS as u64) {
                    self.add(types, *element, start + number * stride)?;
                }
            }
            Type::Struct { name, fields, .. } => {
                if name.starts_with("union ") || overlap(types, fields) {
                    return None;
                }
                self.structs.insert(plain(name));
                for field in fields {
                    self.add(types, field.ty, start + field.offset)?;
                }
            }
        }
        (self.scalars.len() <= MOST_PARTS).then_some(())
    }

    fn may_have(&self, records: &IndexVec<RecordId, Record>, lvalue: Lvalue) -> bool {
        let (record, end) = match lvalue {
            Lvalue::Member(member) => (&records[member.record], member.end),
            Lvalue::Whole(whole) => (&records[whole.record], whole.len.unwrap_or(1)),
            Lvalue::Scalar(_) => return true,
        };
        if self.structs.contains(&record.name) {
            return true;
        }
        // A struct that is divided in the same way as far as that goes.
        let first: Vec<(u64, u64)> =
            record.slots.iter().take_while(|slot| slot.start < end).map(|s| (s.start.into(), s.size.into())).collect();
        first.is_empty()
            || self.scalars.windows(first.len()).any(|part| {
                part.iter().zip(&first).all(|(there, here)| there.1 == here.1 && there.0 - part[0].0 == here.0)
            })
    }
}

/// Whether some fields have bytes in common.
fn overlap(types: &IndexVec<TypeId, Type>, fields: &[Field]) -> bool {
    let mut end = 0;
    fields.iter().any(|field| {
        let begins_before = field.offset < end;
        end = end.max(field.offset + types[field.ty].size());
        begins_before
    })
}

/// The last name of a struct, without its kind and template arguments.
fn plain(name: &str) -> String {
    let without_arguments = name.split('<').next().unwrap_or(name);
    let last = without_arguments.rsplit("::").next().unwrap_or(without_arguments);
    last.rsplit(' ').next().unwrap_or(last).to_owned()
}
