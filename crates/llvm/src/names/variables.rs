//! The source's variables: globals, and what debug intrinsics say about a function's values.

use rustc_hash::FxHashMap;

use super::debug_type::{DebugType, scope_prefix};
use crate::functions::demangle;
use crate::ir::{MetadataKind, Node, Value};

/// A variable of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Variable<'m> {
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    pub(crate) ty: Option<DebugType<'m>>,
}

/// What a global variable is called: `counter`, `f.counter` for a static variable of `f`, `ns::Queue::count`.
pub(crate) fn global<'m>(global: Value<'m>) -> Variable<'m> {
    described(global).unwrap_or_else(|| Variable { name: demangle(&global.name()), ty: None })
}

fn described<'m>(global: Value<'m>) -> Option<Variable<'m>> {
    let expression = global
        .attached()
        .into_iter()
        .find(|node| matches!(node.kind(), MetadataKind::LLVMDIGlobalVariableExpressionMetadataKind))?;
    let variable = expression.operand(0)?;
    // Operands: 0 scope, 1 name, 3 type, 6 the declaration of a static member. A string literal has no name.
    let scope = variable.operand(6).and_then(|declaration| declaration.operand(1)).or_else(|| variable.operand(0));
    let prefix = scope.map_or_else(String::new, scope_prefix);
    let name = format!("{prefix}{}", variable.string(1)?);
    Some(Variable { name, ty: variable.operand(3).and_then(DebugType::new) })
}

/// The variables of one function.
#[derive(Default)]
pub(crate) struct Variables<'m> {
    /// By the value that is the variable's address.
    by_address: FxHashMap<Value<'m>, Variable<'m>>,
    /// By the value the variable has; in order of appearance.
    by_value: FxHashMap<Value<'m>, Vec<Variable<'m>>>,
}

impl<'m> Variables<'m> {
    /// Reads a function's debug intrinsics.
    pub(crate) fn of(function: Value<'m>) -> Self {
        let mut variables = Self::default();
        let mut expressions: FxHashMap<Node<'m>, Meaning> = FxHashMap::default();
        for call in function.instructions() {
            let Some(name) = call.called_function().filter(|f| f.is_intrinsic()).map(Value::name) else { continue };
            let declares = match name.as_str() {
                "llvm.dbg.declare" => true,
                "llvm.dbg.value" => false,
                _ => continue,
            };
            let (Some(of), Some(what), Some(how)) = (call.operand(0), call.operand(1), call.operand(2)) else {
                continue;
            };
            let Some(value) = Node::of(of).and_then(Node::value) else { continue };
            let (Some(node), Some(expression)) = (Node::of(what), Node::of(how)) else { continue };
            let meaning = *expressions.entry(expression).or_insert_with(|| Meaning::of(expression));
            let Some(name) = node.string(1) else { continue };
            let variable = Variable { name, ty: node.operand(3).and_then(DebugType::new) };
            match (declares, meaning) {
                (true, Meaning::Itself) | (false, Meaning::Pointee) => {
                    variables.by_address.entry(value).or_insert(variable);
                }
                (false, Meaning::Itself) => {
                    let known = variables.by_value.entry(value).or_default();
                    if !known.contains(&variable) {
                        known.push(variable);
                    }
                }
                _ => {}
            }
        }
        variables
    }

    /// The variable that lies at this address.
    pub(crate) fn at_address(&self, address: Value<'m>) -> Option<&Variable<'m>> {
        self.by_address.get(&address)
    }

    /// The variable that has this value: of several the first that says what it points to, else the first.
    /// Constants are values of too many variables to be named after one.
    pub(crate) fn value(&self, value: Value<'m>) -> Option<&Variable<'m>> {
        let known = self.by_value.get(&value).filter(|_| !value.is_any_constant())?;
        let typed = |v: &&Variable<'m>| v.ty.is_some_and(|ty| ty.pointee().is_some());
        known.iter().find(typed).or_else(|| known.first())
    }
}

/// How a debug expression relates a value to a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// It is the variable (or its address, in a declaration).
    Itself,
    /// It points to the variable.
    Pointee,
    /// Some part or function of it.
    Other,
}

impl Meaning {
    fn of(expression: Node<'_>) -> Self {
        match expression.text().trim() {
            "!DIExpression()" => Self::Itself,
            "!DIExpression(DW_OP_deref)" => Self::Pointee,
            _ => Self::Other,
        }
    }
}
