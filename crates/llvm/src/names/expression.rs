//! The expression of an access: `counter`, `queue.head`, `arr[i]`, `head->next`, `*p`.
//!
//! Pointers in LLVM have no types, so fields are found by byte offset in the type that debug information gives to
//! the variable or pointer an address starts from. Where a pointer has no name its type stands for it:
//! `(struct node).next`. A name is given only when it is certain to cover the access.

use inkwell::llvm_sys::LLVMOpcode;
use program::library::{self, Role};
use program::members::Content;

use super::debug_type::{DebugType, Member, Shape};
use super::variables::{Variables, global};
use crate::functions::source_name;
use crate::intrinsics::{self, Intrinsic};
use crate::ir::Value;
use crate::lower::constant::{Step, Symbols};

/// Longest chain of pointers, e.g. `a->b->c`, that is spelled out.
pub(super) const MAX_DEPTH: u32 = 6;

/// What an index is called when it has no short name.
const SOME_INDEX: &str = "..";

/// Names for the values of one function.
pub(super) struct ValueNames<'a, 'm> {
    symbols: &'a Symbols<'a, 'm>,
    pub(super) function: Value<'m>,
    pub(super) variables: Variables<'m>,
}

/// A pointer: how it is spelled and what it points to, as far as known.
pub(super) struct Pointer<'m> {
    text: Option<String>,
    pub(super) pointee: Option<DebugType<'m>>,
    reference: bool,
}

/// Memory being spelled as an expression, part by part.
struct Lvalue<'m> {
    text: String,
    /// The text is a pointer, and the lvalue is what it points to.
    deref: bool,
    shape: Part<'m>,
    /// Bytes from the start of the shape, not yet spelled.
    offset: i64,
    /// It is inside of a union.
    of_union: bool,
}

/// What an lvalue is, as far as it is spelled.
#[derive(Clone)]
enum Part<'m> {
    Typed(DebugType<'m>),
    /// Some dimensions of an array.
    Array(Vec<u64>, DebugType<'m>),
    /// Not divided, this many bytes.
    Unit(u64),
    /// Of unknown type.
    Unknown,
}

impl<'m> Part<'m> {
    fn size(&self) -> u64 {
        match self {
            Self::Typed(ty) => ty.size(),
            Self::Array(dimensions, element) => dimensions.iter().product::<u64>() * element.size(),
            Self::Unit(size) => *size,
            Self::Unknown => 0,
        }
    }
}

impl<'a, 'm> ValueNames<'a, 'm> {
    pub(super) fn new(symbols: &'a Symbols<'a, 'm>, function: Value<'m>) -> Self {
        Self { symbols, function, variables: Variables::of(function) }
    }

    /// What the instruction touches; `None` if nothing, or if there is no name for it.
    pub(super) fn expression(&self, instruction: Value<'m>) -> Option<String> {
        if instruction.opcode() == Some(LLVMOpcode::LLVMAlloca) {
            return self.variables.at_address(instruction).map(|v| v.name.clone());
        }
        if let Some(address) = instruction.address() {
            let accessed = match instruction.opcode() {
                Some(LLVMOpcode::LLVMLoad) => instruction,
                Some(LLVMOpcode::LLVMStore) => instruction.operand(0)?,
                _ => instruction.operand(1)?,
            };
            let size = self.symbols.layout.store_size(accessed.ty());
            return self.lvalue(address, size, MAX_DEPTH)?.spelled();
        }
        // A block that is freed is what the pointer points to.
        let row =
            instruction.called_function().filter(|f| f.is_declaration()).and_then(|f| library::lookup(&f.name()))?;
        let freed = match row.role {
            Role::Free(arg) => arg,
            Role::Reallocate { .. } => 0,
            _ => return None,
        };
        let pointer = instruction.arguments().nth(usize::from(freed))?;
        self.pointer(pointer, MAX_DEPTH)?.text.map(|text| format!("*{text}"))
    }

    /// What a plain access to something of more than a byte touches there, as the source and the instruction both say;
    /// `None` if that is a part of a union, or not known.
    pub(super) fn scalar(&self, instruction: Value<'m>) -> Option<Content> {
        let accessed = match instruction.opcode()? {
            LLVMOpcode::LLVMLoad => instruction,
            LLVMOpcode::LLVMStore => instruction.part(0),
            _ => return None,
        };
        let size = self.symbols.layout.store_size(accessed.ty());
        if instruction.is_atomic() || size < 2 {
            return None;
        }
        let lvalue = self.lvalue(instruction.address()?, size, MAX_DEPTH).filter(|lvalue| !lvalue.of_union)?;
        let Part::Typed(ty) = lvalue.shape else { return None };
        let is_pointer = ty.is_pointer() || ty.is_reference();
        let is_whole = lvalue.offset == 0 && ty.size() == size && ty.shape() == Shape::Scalar;
        match accessed.ty() {
            _ if !is_whole => None,
            accessed if accessed.is_pointer() => is_pointer.then_some(Content::Pointer),
            accessed if accessed.is_integer() => (!is_pointer).then_some(Content::Integer),
            accessed if accessed.is_float() => (!is_pointer).then_some(Content::Float),
            _ => None,
        }
    }

    /// The type of the part of `len` bytes at an address.
    pub(super) fn type_at(&self, address: Value<'m>, len: u64) -> Option<DebugType<'m>> {
        match self.lvalue(address, len, MAX_DEPTH)?.shape {
            Part::Typed(ty) => Some(ty),
            _ => None,
        }
    }

    /// The lvalue at an address, down to the smallest part that holds `len` bytes (0: as far as the address says).
    fn lvalue(&self, address: Value<'m>, len: u64, depth: u32) -> Option<Lvalue<'m>> {
        let depth = depth.checked_sub(1)?;
        let mut steps = Vec::new();
        let mut at = address.resolved();
        loop {
            let named = self.variables.value(at).is_some_and(|v| v.ty.is_some_and(|ty| ty.pointee().is_some()));
            if named && at.opcode().is_some() {
                break;
            }
            match at.operation() {
                Some(LLVMOpcode::LLVMGetElementPtr) if self.variables.at_address(at).is_none() => {
                    let mut earlier = self.symbols.steps(at);
                    earlier.append(&mut steps);
                    steps = earlier;
                    at = at.part(0).resolved();
                }
                Some(LLVMOpcode::LLVMBitCast | LLVMOpcode::LLVMAddrSpaceCast | LLVMOpcode::LLVMFreeze) => {
                    at = at.part(0)
                }
                _ => match intrinsics::of_call(at) {
                    Some(Intrinsic::ThreadLocal | Intrinsic::PassesPointer) => at = at.part(0).resolved(),
                    _ => break,
                },
            }
        }
        let mut lvalue = self.base(at, depth)?;
        for step in steps {
            match step {
                Step::Bytes(bytes) => lvalue.offset = lvalue.offset.checked_add(bytes)?,
                Step::Index { index, scale } => lvalue.index(scale, &self.index(index, depth))?,
            }
        }
        lvalue.descend(len)?;
        Some(lvalue)
    }

    /// What an address that is not computed from another refers to.
    fn base(&self, at: Value<'m>, depth: u32) -> Option<Lvalue<'m>> {
        let variable = match self.variables.at_address(at) {
            Some(variable) => Some(variable.clone()),
            None => at.is_global_variable().then(|| global(at)),
        };
        if let Some(variable) = variable {
            let shape = variable.ty.map_or(Part::Unknown, Part::Typed);
            return Some(Lvalue { text: variable.name, deref: false, shape, offset: 0, of_union: false });
        }
        let pointer = self.pointer(at, depth)?;
        let shape = pointer.pointee.map_or(Part::Unknown, Part::Typed);
        let (text, deref) = match (pointer.text, pointer.pointee) {
            (Some(text), _) => (text, !pointer.reference),
            (None, Some(ty)) => (format!("({})", ty.spelled()), false),
            (None, None) => return None,
        };
        Some(Lvalue { text, deref, shape, offset: 0, of_union: false })
    }

    /// What is known about a pointer.
    pub(super) fn pointer(&self, value: Value<'m>, depth: u32) -> Option<Pointer<'m>> {
        let depth = depth.checked_sub(1)?;
        if let Some(variable) = self.variables.value(value) {
            let ty = variable.ty?;
            let (pointee, reference) = (ty.pointee(), ty.is_reference());
            return Some(Pointer { text: Some(variable.name.clone()), pointee, reference });
        }
        match value.opcode()? {
            LLVMOpcode::LLVMLoad => {
                let lvalue = self.lvalue(value.part(0), self.symbols.layout.store_size(value.ty()), depth)?;
                let Part::Typed(ty) = lvalue.shape.clone() else { return None };
                if !ty.is_pointer() && !ty.is_reference() {
                    return None;
                }
                let (pointee, reference) = (ty.pointee(), ty.is_reference());
                Some(Pointer { text: lvalue.spelled(), pointee, reference })
            }
            LLVMOpcode::LLVMPHI => {
                let mut pointees = value.incoming().into_iter().filter_map(|(_, v)| self.pointer(v, depth)?.pointee);
                Some(Pointer { text: None, pointee: Some(pointees.next()?), reference: false })
            }
            LLVMOpcode::LLVMSelect => {
                let mut pointees = (1..3).filter_map(|i| self.pointer(value.part(i), depth)?.pointee);
                Some(Pointer { text: None, pointee: Some(pointees.next()?), reference: false })
            }
            LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke => {
                let function = value.called_function()?;
                let result = DebugType::signature(function.subprogram()?).first().copied().flatten()?;
                let text = Some(format!("{}()", source_name(function)));
                Some(Pointer { text, pointee: result.pointee(), reference: result.is_reference() })
            }
            LLVMOpcode::LLVMBitCast | LLVMOpcode::LLVMFreeze => self.pointer(value.part(0), depth),
            _ => None,
        }
    }

    /// How an index is spelled.
    fn index(&self, value: Value<'m>, depth: u32) -> String {
        self.short_index(value, depth).unwrap_or_else(|| SOME_INDEX.to_owned())
    }

    fn short_index(&self, value: Value<'m>, depth: u32) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        if let Some(number) = value.as_number() {
            return Some(number.to_string());
        }
        if let Some(variable) = self.variables.value(value) {
            return Some(variable.name.clone());
        }
        let constant = |i| value.operand(i).and_then(Value::as_number);
        match value.opcode()? {
            LLVMOpcode::LLVMSExt | LLVMOpcode::LLVMZExt | LLVMOpcode::LLVMTrunc => {
                self.short_index(value.part(0), depth)
            }
            LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub => {
                let minus = value.opcode() == Some(LLVMOpcode::LLVMSub);
                let number = constant(1)?;
                let left = self.short_index(value.part(0), depth)?;
                let sign = if minus != (number < 0) { '-' } else { '+' };
                Some(format!("{left} {sign} {}", number.unsigned_abs()))
            }
            LLVMOpcode::LLVMLoad => {
                self.lvalue(value.part(0), self.symbols.layout.store_size(value.ty()), depth)?.spelled()
            }
            _ => None,
        }
    }
}

/// The text as the left operand of `->` or `[]`.
fn grouped(text: &str) -> String {
    if text.starts_with('*') { format!("({text})") } else { text.to_owned() }
}

impl<'m> Lvalue<'m> {
    fn field(&mut self, name: &str) {
        let text = if self.deref { grouped(&self.text) } else { std::mem::take(&mut self.text) };
        self.text = format!("{text}{}{name}", if self.deref { "->" } else { "." });
        self.deref = false;
    }

    /// An element of the array that the lvalue is.
    fn element(&mut self, index: &str) {
        let text = match self.deref {
            true => format!("(*{})", self.text),
            false => std::mem::take(&mut self.text),
        };
        self.text = format!("{text}[{index}]");
        self.deref = false;
    }

    /// An element of what the pointer points to, taken as an array.
    fn element_of_pointer(&mut self, index: &str) {
        self.text = format!("{}[{index}]", grouped(&self.text));
        self.deref = false;
    }

    /// Takes a pointer to be one to an array's element where the offset is beyond one object.
    fn settle_pointer(&mut self) -> Option<()> {
        let size = i64::try_from(self.shape.size()).ok()?;
        if self.deref && size > 0 && !(0..size).contains(&self.offset) {
            let index = self.offset.div_euclid(size);
            self.element_of_pointer(&index.to_string());
            self.offset = self.offset.rem_euclid(size);
        }
        Some(())
    }

    /// Moves on by an index that is not constant.
    fn index(&mut self, scale: i64, index: &str) -> Option<()> {
        let size = i64::try_from(self.shape.size()).ok()?;
        if self.deref && size > 0 && scale == size && self.offset % size == 0 {
            let index = match self.offset / size {
                0 => index.to_owned(),
                more => format!("{index} + {more}"),
            };
            self.offset = 0;
            self.element_of_pointer(&index);
            return Some(());
        }
        self.settle_pointer()?;
        loop {
            match self.parts()? {
                Shape::Array(dimensions, element) => {
                    let (stride, inner) = inner_array(&dimensions, element)?;
                    let (stride, here) = (i64::try_from(stride).ok()?, self.offset);
                    if stride == scale {
                        let text = match here / stride {
                            0 => index.to_owned(),
                            more => format!("{index} + {more}"),
                        };
                        self.element(&text);
                        (self.offset, self.shape) = (here % stride, inner);
                        return Some(());
                    }
                    self.element(&(here / stride).to_string());
                    (self.offset, self.shape) = (here % stride, inner);
                }
                Shape::Struct(members) => self.enter(members, 1)?,
                Shape::Scalar => return None,
            }
        }
    }

    /// Goes down to the smallest part that holds `len` bytes at the offset.
    fn descend(&mut self, len: u64) -> Option<()> {
        if matches!(self.shape, Part::Unknown) {
            return (self.offset == 0).then_some(());
        }
        self.settle_pointer()?;
        loop {
            let offset = u64::try_from(self.offset).ok()?;
            if offset + len > self.shape.size() {
                return None;
            }
            match self.parts()? {
                Shape::Scalar => return Some(()),
                Shape::Array(dimensions, element) => {
                    let (stride, inner) = inner_array(&dimensions, element)?;
                    if len == 0 || offset % stride + len > stride {
                        return Some(());
                    }
                    self.element(&(offset / stride).to_string());
                    (self.offset, self.shape) = ((offset % stride) as i64, inner);
                }
                Shape::Struct(members) => {
                    if len == 0 || self.enter(members, len).is_none() {
                        return Some(());
                    }
                }
            }
        }
    }

    fn parts(&self) -> Option<Shape<'m>> {
        match &self.shape {
            Part::Typed(ty) => Some(ty.shape()),
            Part::Array(dimensions, element) => Some(Shape::Array(dimensions.clone(), *element)),
            Part::Unit(_) => Some(Shape::Scalar),
            Part::Unknown => None,
        }
    }

    /// Goes into the member that holds `len` bytes at the offset. Anonymous members and base classes are silent.
    fn enter(&mut self, members: Vec<Member<'m>>, len: u64) -> Option<()> {
        let offset = u64::try_from(self.offset).ok()?;
        let holds = |m: &&Member<'m>| m.offset <= offset && offset + len <= m.offset + m.size;
        let member = members.iter().find(holds)?;
        self.of_union |= matches!(self.shape, Part::Typed(ty) if ty.stripped().is_union());
        if !member.is_base && !member.name.is_empty() {
            self.field(&member.name);
        }
        self.offset = (offset - member.offset) as i64;
        self.shape = member.ty.map_or(Part::Unit(member.size), Part::Typed);
        Some(())
    }

    fn spelled(self) -> Option<String> {
        Some(if self.deref { format!("*{}", self.text) } else { self.text })
    }
}

/// Bytes from one element of the outermost dimension to the next, and what such an element is.
fn inner_array<'m>(dimensions: &[u64], element: DebugType<'m>) -> Option<(u64, Part<'m>)> {
    let inner = dimensions.get(1..)?;
    let stride = inner.iter().product::<u64>() * element.size();
    let part = if inner.is_empty() { Part::Typed(element) } else { Part::Array(inner.to_vec(), element) };
    (stride > 0).then_some((stride, part))
}
