//! Types in debug information, and the parts that bytes of them are.

use crate::ir::{MetadataKind, Node, Value};

/// Tags of DWARF, as far as types have them.
mod tag {
    pub(super) const ARRAY: u16 = 0x01;
    pub(super) const CLASS: u16 = 0x02;
    pub(super) const ENUMERATION: u16 = 0x04;
    pub(super) const MEMBER: u16 = 0x0d;
    pub(super) const POINTER: u16 = 0x0f;
    pub(super) const REFERENCE: u16 = 0x10;
    pub(super) const STRUCTURE: u16 = 0x13;
    pub(super) const TYPEDEF: u16 = 0x16;
    pub(super) const UNION: u16 = 0x17;
    pub(super) const INHERITANCE: u16 = 0x1c;
    pub(super) const CONST: u16 = 0x26;
    pub(super) const VOLATILE: u16 = 0x35;
    pub(super) const RESTRICT: u16 = 0x37;
    pub(super) const RVALUE_REFERENCE: u16 = 0x42;
    pub(super) const ATOMIC: u16 = 0x47;
}

const FLAG_STATIC_MEMBER: i32 = 1 << 12;
const FLAG_BIT_FIELD: i32 = 1 << 19;

/// A type. (Operands of a type node: 1 scope, 2 name, 3 base type; of a composite type also 4 elements,
/// 7 identifier; of a member 4 the offset of a bit-field's storage unit, in bits.)
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct DebugType<'m>(Node<'m>);

/// A part of a struct, class or union that is accessed as one: a member, a base class, or all bit-fields that
/// share a storage unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Member<'m> {
    /// As the source names it; empty for anonymous members, `{a, b}` for bit-fields.
    pub(crate) name: String,
    /// First byte.
    pub(crate) offset: u64,
    /// In bytes.
    pub(crate) size: u64,
    /// `None` for bit-fields, which have no addressable type.
    pub(crate) ty: Option<DebugType<'m>>,
    /// A base class: expressions name its members without it.
    pub(crate) is_base: bool,
}

/// What a type is divided into.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Shape<'m> {
    /// Members in order of offset.
    Struct(Vec<Member<'m>>),
    /// Lengths of the dimensions, outermost first, and the element.
    Array(Vec<u64>, DebugType<'m>),
    /// Nothing.
    Scalar,
}

impl<'m> DebugType<'m> {
    /// The type of a node that stands for one.
    pub(crate) fn new(node: Node<'m>) -> Option<Self> {
        use MetadataKind::*;
        matches!(
            node.kind(),
            LLVMDIBasicTypeMetadataKind
                | LLVMDIDerivedTypeMetadataKind
                | LLVMDICompositeTypeMetadataKind
                | LLVMDISubroutineTypeMetadataKind
        )
        .then_some(Self(node))
    }

    fn tag(self) -> u16 {
        self.0.type_tag()
    }
    fn base(self) -> Option<Self> {
        if matches!(self.0.kind(), MetadataKind::LLVMDIBasicTypeMetadataKind) {
            return None;
        }
        self.0.operand(3).and_then(Self::new)
    }
    fn own_name(self) -> Option<String> {
        self.0.string(2)
    }

    /// Looks through typedefs, `const`, `volatile`, `restrict` and `_Atomic`.
    pub(crate) fn stripped(self) -> Self {
        let mut at = self;
        while let tag::TYPEDEF | tag::CONST | tag::VOLATILE | tag::RESTRICT | tag::ATOMIC = at.tag() {
            match at.base() {
                Some(base) => at = base,
                None => break,
            }
        }
        at
    }

    /// Its name, and the names behind it if it is a typedef.
    pub(crate) fn aliases(self) -> Vec<String> {
        let mut names = Vec::new();
        let mut at = Some(self);
        while let Some(ty) = at {
            names.extend(ty.own_name());
            let goes_on = matches!(ty.tag(), tag::TYPEDEF | tag::CONST | tag::VOLATILE | tag::RESTRICT | tag::ATOMIC);
            at = ty.base().filter(|_| goes_on);
        }
        names
    }

    /// Whether it is a union.
    pub(crate) fn is_union(self) -> bool {
        self.tag() == tag::UNION
    }

    /// Whether it is a struct or class.
    pub(crate) fn is_struct(self) -> bool {
        matches!(self.stripped().tag(), tag::STRUCTURE | tag::CLASS)
    }

    /// The types that it is made of: of members and base classes, or of elements.
    pub(crate) fn parts(self) -> Vec<Self> {
        match self.shape() {
            Shape::Struct(members) => members.into_iter().filter_map(|member| member.ty).collect(),
            Shape::Array(_, element) => vec![element],
            Shape::Scalar => Vec::new(),
        }
    }

    /// In bytes; 0 for incomplete types.
    pub(crate) fn size(self) -> u64 {
        let mut at = self.stripped();
        // An enumeration or array has its own size; whatever has none takes its base's.
        while at.0.type_bits() == 0 && at.tag() == tag::ENUMERATION {
            match at.base() {
                Some(base) => at = base.stripped(),
                None => return 0,
            }
        }
        at.0.type_bits().div_ceil(8)
    }

    /// What a pointer or reference refers to; `None` for other types and for `void *`.
    pub(crate) fn pointee(self) -> Option<Self> {
        let at = self.stripped();
        matches!(at.tag(), tag::POINTER | tag::REFERENCE | tag::RVALUE_REFERENCE).then(|| at.base()).flatten()
    }
    /// Whether it is a pointer.
    pub(crate) fn is_pointer(self) -> bool {
        self.stripped().tag() == tag::POINTER
    }
    /// Whether it is a C++ reference.
    pub(crate) fn is_reference(self) -> bool {
        matches!(self.stripped().tag(), tag::REFERENCE | tag::RVALUE_REFERENCE)
    }

    /// What it is divided into.
    pub(crate) fn shape(self) -> Shape<'m> {
        let at = self.stripped();
        match at.tag() {
            tag::STRUCTURE | tag::CLASS | tag::UNION => Shape::Struct(at.members()),
            tag::ARRAY => match at.base() {
                Some(element) if element.size() > 0 => Shape::Array(at.dimensions(element.size()), element),
                _ => Shape::Scalar,
            },
            _ => Shape::Scalar,
        }
    }

    /// As the source writes it: `int`, `struct node *`, `ns::Queue`.
    pub(crate) fn spelled(self) -> String {
        match self.tag() {
            tag::CONST | tag::VOLATILE | tag::RESTRICT | tag::ATOMIC => {
                self.base().map_or_else(|| "void".to_owned(), Self::spelled)
            }
            // A typedef is resolved, unless it is the only name there is.
            tag::TYPEDEF => match self.base() {
                Some(base) if base.stripped().has_name() => base.spelled(),
                _ => self.own_name().unwrap_or_default(),
            },
            tag::POINTER | tag::REFERENCE | tag::RVALUE_REFERENCE => {
                let mark = match self.tag() {
                    tag::POINTER => "*",
                    tag::REFERENCE => "&",
                    _ => "&&",
                };
                let pointee = self.base().map_or_else(|| "void".to_owned(), Self::spelled);
                if pointee.ends_with(['*', '&']) { format!("{pointee}{mark}") } else { format!("{pointee} {mark}") }
            }
            tag::STRUCTURE => self.tagged("struct"),
            tag::CLASS => self.tagged("class"),
            tag::UNION => self.tagged("union"),
            tag::ENUMERATION => self.tagged("enum"),
            tag::ARRAY => {
                let element = self.base();
                let dimensions = element.map_or_else(Vec::new, |e| self.dimensions(e.size()));
                let suffix: String = dimensions.iter().map(|n| format!("[{n}]")).collect();
                format!("{}{suffix}", element.map_or_else(String::new, Self::spelled))
            }
            _ => self.own_name().unwrap_or_else(|| "function".to_owned()),
        }
    }

    fn has_name(self) -> bool {
        !matches!(self.tag(), tag::STRUCTURE | tag::CLASS | tag::UNION | tag::ENUMERATION) || self.own_name().is_some()
    }

    /// A struct's name; C++ needs no keyword but has scopes.
    fn tagged(self, keyword: &str) -> String {
        let Some(name) = self.own_name() else { return format!("(anonymous {keyword})") };
        match self.0.string(7) {
            None => format!("{keyword} {name}"),
            Some(_) => self.0.operand(1).map_or_else(String::new, scope_prefix) + &name,
        }
    }

    /// Lengths of an array's dimensions, outermost first. A length that is not constant is what the size says
    /// (for one dimension), else 0.
    fn dimensions(self, element: u64) -> Vec<u64> {
        let Some(elements) = self.0.operand(4) else { return Vec::new() };
        let mut lengths: Vec<_> =
            elements.operands().into_iter().flatten().map(|range| range.operand(0).and_then(constant)).collect();
        if let [length @ None] = lengths.as_mut_slice() {
            *length = Some((self.size() / element.max(1)) as i64);
        }
        lengths.into_iter().map(|n| n.unwrap_or(0).max(0) as u64).collect()
    }

    fn members(self) -> Vec<Member<'m>> {
        let Some(elements) = self.0.operand(4) else { return Vec::new() };
        let mut members = Vec::new();
        let mut units: Vec<(u64, u64, Vec<String>)> = Vec::new();
        for element in elements.operands().into_iter().flatten().filter_map(Self::new) {
            let flags = element.0.type_flags();
            let offset = element.0.type_offset_bits();
            match element.tag() {
                tag::MEMBER if flags & FLAG_STATIC_MEMBER != 0 => {}
                tag::MEMBER if flags & FLAG_BIT_FIELD != 0 => {
                    let unit = element.0.operand(4).and_then(constant).map_or(offset, |bits| bits as u64);
                    let end = offset + element.0.type_bits();
                    let name = element.own_name().unwrap_or_default();
                    match units.iter_mut().find(|(start, ..)| *start == unit) {
                        Some((_, last, names)) => {
                            *last = (*last).max(end);
                            names.push(name);
                        }
                        None => units.push((unit, end, vec![name])),
                    }
                }
                tag::MEMBER | tag::INHERITANCE => {
                    let Some(ty) = element.base() else { continue };
                    let is_base = element.tag() == tag::INHERITANCE;
                    let name = if is_base { ty.spelled() } else { element.own_name().unwrap_or_default() };
                    members.push(Member { name, offset: offset / 8, size: ty.size(), ty: Some(ty), is_base });
                }
                _ => {}
            }
        }
        let starts: Vec<u64> = members.iter().map(|m| m.offset).chain(units.iter().map(|u| u.0 / 8)).collect();
        for (start, end, names) in units {
            // The compiler may access more bytes than the bits need, but no other member.
            let offset = start / 8;
            let limit =
                starts.iter().copied().filter(|&s| s > offset).min().unwrap_or(self.size()).max(end.div_ceil(8));
            let size = (end.div_ceil(8) - offset).next_power_of_two().min(limit - offset);
            let name = match names.as_slice() {
                [name] => name.clone(),
                _ => format!("{{{}}}", names.join(", ")),
            };
            members.push(Member { name, offset, size, ty: None, is_base: false });
        }
        members.sort_by_key(|m| m.offset);
        members
    }

    /// Result and parameter types of a function's type; `None` stands for `void`.
    pub(crate) fn signature(subprogram: Node<'m>) -> Vec<Option<Self>> {
        let types = subprogram.operand(4).and_then(|ty| ty.operand(3));
        types.map_or_else(Vec::new, |list| list.operands().into_iter().map(|t| t.and_then(Self::new)).collect())
    }
}

/// The number in a constant that metadata wraps.
fn constant(node: Node<'_>) -> Option<i64> {
    node.value().and_then(Value::as_integer)
}

/// The names of the scopes around a declaration, e.g. `ns::Queue::`; of a function's local scope `f.`.
pub(crate) fn scope_prefix(scope: Node<'_>) -> String {
    use MetadataKind::*;
    match scope.kind() {
        LLVMDINamespaceMetadataKind | LLVMDICompositeTypeMetadataKind => {
            let outer = scope.operand(1).map_or_else(String::new, scope_prefix);
            match scope.string(2) {
                Some(name) => format!("{outer}{name}::"),
                None => outer,
            }
        }
        LLVMDISubprogramMetadataKind => {
            crate::debug::subprogram_name(scope).map_or_else(String::new, |name| format!("{name}."))
        }
        LLVMDILexicalBlockMetadataKind | LLVMDILexicalBlockFileMetadataKind => {
            scope.operand(1).map_or_else(String::new, scope_prefix)
        }
        _ => String::new(),
    }
}
