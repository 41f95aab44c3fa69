//! Types, as far as they are needed to name the bytes of an object.

use model::index::{IndexVec, index_type};
use serde::{Deserialize, Serialize};

index_type! {
    /// A type of the program.
    pub struct TypeId("ty");
}

/// A field of a struct, class or union.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Field {
    /// Its name; empty for an anonymous struct or union, whose fields are then named directly.
    pub name: String,
    /// First byte, from the start of the struct.
    pub offset: u64,
    /// Its type.
    pub ty: TypeId,
}

/// A type.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Type {
    /// Not divided further: numbers, pointers, unknown.
    Scalar {
        /// As the source writes it, e.g. `int` or `struct node *`.
        name: String,
        /// In bytes.
        size: u64,
    },
    /// A struct, class or union.
    Struct {
        /// As the source writes it, e.g. `struct node`.
        name: String,
        /// In bytes.
        size: u64,
        /// In order of offset; base classes are fields with their class's name.
        fields: Vec<Field>,
    },
    /// An array.
    Array {
        /// Element type.
        element: TypeId,
        /// Bytes from one element to the next; never 0.
        stride: u64,
        /// Number of elements.
        count: u64,
    },
}

impl Type {
    /// As the source writes it; arrays have no name of their own.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Scalar { name, .. } | Self::Struct { name, .. } => Some(name),
            Self::Array { .. } => None,
        }
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Scalar { size, .. } | Self::Struct { size, .. } => *size,
            Self::Array { stride, count, .. } => stride.saturating_mul(*count),
        }
    }
}

/// The path from an object of type `ty` to the byte at `offset`: `.head`, `[3]`, `[2].next`. Empty if the type is not
/// divided there. `len` is the size of the access: the path ends at the smallest part that contains it.
pub fn path_to(types: &IndexVec<TypeId, Type>, ty: TypeId, offset: u64, len: u64) -> String {
    let mut path = String::new();
    let (mut ty, mut offset) = (ty, offset);
    loop {
        match &types[ty] {
            Type::Scalar { .. } => return path,
            Type::Array { element, stride, count } => {
                let index = offset / stride;
                if index >= *count || (offset % stride) + len > *stride {
                    return path;
                }
                path.push_str(&format!("[{index}]"));
                (ty, offset) = (*element, offset % stride);
            }
            Type::Struct { fields, .. } => {
                let holds = |f: &&Field| f.offset <= offset && offset + len <= f.offset + types[f.ty].size();
                let Some(field) = fields.iter().find(holds) else { return path };
                if !field.name.is_empty() {
                    path.push('.');
                    path.push_str(&field.name);
                }
                (ty, offset) = (field.ty, offset - field.offset);
            }
        }
    }
}

/// The scalar that is exactly `len` bytes at `offset` of an object of type `ty`: how the source writes its type. `None` in
/// unions, whose bytes are of several types.
pub fn scalar_at(types: &IndexVec<TypeId, Type>, ty: TypeId, offset: u64, len: u64) -> Option<&str> {
    let (mut ty, mut offset) = (ty, offset);
    loop {
        match types.get(ty)? {
            Type::Scalar { name, size } => return (offset == 0 && *size == len).then_some(name),
            Type::Array { element, stride, count } => {
                let inside = offset / stride < *count;
                (ty, offset) = (inside.then_some(*element)?, offset % stride);
            }
            Type::Struct { fields, .. } => {
                let holds = |f: &&Field| f.offset <= offset && offset + len <= f.offset + types[f.ty].size();
                let mut holding = fields.iter().filter(holds);
                let field = holding.next().filter(|_| holding.next().is_none())?;
                (ty, offset) = (field.ty, offset - field.offset);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_a_byte_by_fields_and_elements() {
        let mut types = IndexVec::new();
        let int = types.push(Type::Scalar { name: "int".into(), size: 4 });
        let field = |name: &str, offset, ty| Field { name: name.into(), offset, ty };
        let node = types.push(Type::Struct {
            name: "struct node".into(),
            size: 8,
            fields: vec![field("id", 0, int), field("next", 4, int)],
        });
        let nodes = types.push(Type::Array { element: node, stride: 8, count: 4 });
        assert_eq!(path_to(&types, nodes, 20, 4), "[2].next");
        assert_eq!(path_to(&types, nodes, 16, 8), "[2]");
        assert_eq!(path_to(&types, nodes, 12, 8), "");
        assert_eq!(path_to(&types, nodes, 32, 1), "");
        assert_eq!(path_to(&types, int, 0, 1), "");
        assert_eq!(scalar_at(&types, nodes, 20, 4), Some("int"));
        for (offset, len) in [(20, 2), (21, 4), (16, 8), (32, 4)] {
            assert_eq!(scalar_at(&types, nodes, offset, len), None, "{offset}, {len}");
        }
        let both = vec![field("i", 0, int), field("j", 0, int)];
        let union = types.push(Type::Struct { name: "union u".into(), size: 4, fields: both });
        assert_eq!(scalar_at(&types, union, 0, 4), None);
    }
}
