//! Types of debug information as types of the program.

use model::IndexVec;
use program::{Field, Type, TypeId};
use rustc_hash::FxHashMap;

use super::debug_type::{DebugType, Member, Shape};

/// The program's types in the making.
#[derive(Default)]
pub(crate) struct Types<'m> {
    table: IndexVec<TypeId, Type>,
    of: FxHashMap<DebugType<'m>, TypeId>,
    /// Storage units of bit-fields, by size.
    units: FxHashMap<u64, TypeId>,
}

impl<'m> Types<'m> {
    /// The number of a type.
    pub(crate) fn of(&mut self, ty: DebugType<'m>) -> TypeId {
        if let Some(&known) = self.of.get(&ty) {
            return known;
        }
        // Typedefs of one type are one type, unless they give it its only name.
        let stripped = ty.stripped();
        if stripped != ty && stripped.spelled() == ty.spelled() {
            let id = self.of(stripped);
            self.of.insert(ty, id);
            return id;
        }
        let id = match ty.shape() {
            Shape::Struct(members) => {
                let fields = members.into_iter().map(|m| self.field(m)).collect();
                self.table.push(Type::Struct { name: ty.spelled(), size: ty.size(), fields })
            }
            Shape::Array(dimensions, element) => {
                let (mut inner, mut stride) = (self.of(element), element.size());
                for &count in dimensions.iter().rev() {
                    inner = self.table.push(Type::Array { element: inner, stride: stride.max(1), count });
                    stride *= count;
                }
                inner
            }
            Shape::Scalar => self.table.push(Type::Scalar { name: ty.spelled(), size: ty.size() }),
        };
        self.of.insert(ty, id);
        id
    }

    fn field(&mut self, member: Member<'m>) -> Field {
        let ty = match member.ty {
            Some(ty) => self.of(ty),
            None => {
                let (table, size) = (&mut self.table, member.size);
                *self
                    .units
                    .entry(size)
                    .or_insert_with(|| table.push(Type::Scalar { name: "bit-field".to_owned(), size }))
            }
        };
        Field { name: member.name, offset: member.offset, ty }
    }

    /// All types.
    pub(crate) fn into_table(self) -> IndexVec<TypeId, Type> {
        self.table
    }
}
