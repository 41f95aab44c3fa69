//! The edit that holds a lock while a statement is executed.
//!
//! It is only made where it is surely what was meant: the statement stands on lines of its own in a block, nothing in it
//! leaves the block or may wait or take another lock, and the lock is in scope by an expression without side effects.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use tree_sitter::Node;

use crate::scope::{self, Declarations};
use crate::syntax::{self, Syntax, all, around};

/// Functions that may be called with a lock held: they return, wait for nothing and take no lock of the program's.
const HARMLESS: [&str; 20] = [
    "abs", "assert", "fprintf", "fputs", "labs", "memcmp", "memcpy", "memmove", "memset", "printf", "putchar", "puts",
    "snprintf", "sprintf", "strcat", "strcmp", "strcpy", "strlen", "strncmp", "strncpy",
];

/// What is to be protected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Wish {
    /// The variable, as the report names it.
    pub(crate) variable: String,
    /// The lock, as the report names it.
    pub(crate) lock: String,
    /// Line and column, from 1 and in bytes, of all accesses without the lock; not empty.
    pub(crate) places: Vec<(u32, u32)>,
}

/// Replacements of bytes, which do not overlap, ascending.
pub(crate) type Edits = Vec<(Range<usize>, String)>;

/// How a lock is taken.
enum Guard {
    /// By calls of two functions with its address.
    Calls(&'static str, &'static str),
    /// By an object of its scope, for a mutex of this type.
    Scope(String),
}

/// The edit that grants a wish in a file, and the lock's expression.
pub(crate) fn hold(text: &str, path: &Path, wish: &Wish) -> Option<(Edits, String)> {
    let syntax = Syntax::of(text, path)?;
    let statement = statement(&syntax, wish)?;
    if !is_harmless(&syntax, statement) {
        return None;
    }
    if may_be_held(&syntax, statement, wish.lock.rsplit('.').next()?) {
        return None;
    }
    let declared = scope::declarations(&syntax, path);
    let (expression, of_type) = expression(&syntax, &declared, statement, wish)?;
    let edits = match guard(of_type, path)? {
        Guard::Calls(lock, unlock) => {
            surround(&syntax, statement, &format!("{lock}(&{expression});"), &format!("{unlock}(&{expression});"))
        }
        Guard::Scope(mutex) => enclose(&syntax, statement, &mutex, &expression),
    };
    Some((edits?, expression))
}

/// The one statement that makes all accesses.
fn statement<'s>(syntax: &'s Syntax<'_>, wish: &Wish) -> Option<Node<'s>> {
    let mut statements = wish.places.iter().map(|(line, column)| {
        let token = report::source::token(syntax.text, *line, *column).filter(|_| *column > 0)?;
        let node = syntax.root().descendant_for_byte_range(token.start, token.start)?;
        let inner = |node: &Node<'_>| !matches!(node.kind(), "compound_statement" | "lambda_expression");
        around(node).take_while(inner).find(|node| node.kind() == "expression_statement")
    });
    let first = statements.next()??;
    let is_one = statements.all(|other| other.is_some_and(|other| other.id() == first.id()));
    let in_block = first.parent().is_some_and(|parent| parent.kind() == "compound_statement");
    (is_one && in_block && !first.has_error()).then_some(first)
}

/// Whether a statement surely ends, where it began, without meeting another lock.
fn is_harmless(syntax: &Syntax<'_>, statement: Node<'_>) -> bool {
    all(statement).into_iter().all(|node| match node.kind() {
        "call_expression" => {
            let called = node.child_by_field_name("function").map(|function| syntax.text_of(function));
            called.is_some_and(|name| HARMLESS.contains(&name.trim_start_matches("std::")))
        }
        "lambda_expression"
        | "compound_statement"
        | "co_await_expression"
        | "co_yield_statement"
        | "throw_statement"
        | "new_expression"
        | "delete_expression"
        | "gnu_asm_expression" => false,
        _ => true,
    })
}

/// The names of variables, functions and fields in a node.
fn names(node: Node<'_>) -> Vec<Node<'_>> {
    all(node).into_iter().filter(|node| matches!(node.kind(), "identifier" | "field_identifier")).collect()
}

/// What a function's text says about who may hold a lock.
struct Function<'t> {
    id: usize,
    /// Its name without those of classes and namespaces.
    name: Option<&'t str>,
    /// The last names of what it calls.
    calls: BTreeSet<&'t str>,
    /// Whether it names the lock.
    names_lock: bool,
    /// Whether it seems to return with the lock held.
    keeps_lock: bool,
}

impl<'t> Function<'t> {
    fn of(syntax: &Syntax<'t>, definition: Node<'_>, lock: &str) -> Self {
        let calls = all(definition).into_iter().filter(|node| node.kind() == "call_expression");
        let called = calls.filter_map(|call| names(call.child_by_field_name("function")?).pop());
        let calls: BTreeSet<&str> = called.map(|name| syntax.text_of(name)).collect();
        let names_lock = names(definition).iter().any(|name| syntax.text_of(*name) == lock);
        let releases = |name: &&str| name.contains("unlock") || name.contains("release");
        let takes = |name: &&str| name.contains("lock") && !releases(name);
        Self {
            id: definition.id(),
            name: syntax.declares(definition).map(|name| name.rsplit("::").next().unwrap_or(name)),
            names_lock,
            keeps_lock: names_lock && calls.iter().any(takes) && !calls.iter().any(releases),
            calls,
        }
    }
}

/// Whether a lock of this name may be held at the statement already, which taking it again would not survive: by its function,
/// before it, or by a function of the file that calls that one, directly or not.
fn may_be_held(syntax: &Syntax<'_>, statement: Node<'_>, lock: &str) -> bool {
    let Some(own) = around(statement).find(|node| node.kind() == "function_definition") else { return true };
    let is_before = |node: &Node<'_>| node.end_byte() <= statement.start_byte();
    // Its own name and parameters are no calls.
    let Some(body) = own.child_by_field_name("body") else { return true };
    let before: BTreeSet<&str> = names(body).into_iter().filter(is_before).map(|node| syntax.text_of(node)).collect();
    if before.contains(lock) {
        return true;
    }
    let functions: Vec<Function<'_>> = all(syntax.root())
        .into_iter()
        .filter(|node| node.kind() == "function_definition")
        .map(|node| Function::of(syntax, node, lock))
        .collect();
    let Some(own) = functions.iter().position(|function| function.id == own.id()) else { return true };
    let keeping: BTreeSet<&str> = functions.iter().filter(|f| f.keeps_lock).filter_map(|f| f.name).collect();
    if !before.is_disjoint(&keeping) {
        return true;
    }
    let mut reaching = vec![own];
    let mut next = 0;
    while let Some(called) = reaching.get(next) {
        next += 1;
        // A destructor or an operator is called without its name.
        let Some(name) = functions[*called].name else { return true };
        for (at, caller) in functions.iter().enumerate().filter(|(_, caller)| caller.calls.contains(name)) {
            if !reaching.contains(&at) {
                if caller.names_lock || caller.calls.iter().any(|name| keeping.contains(name)) {
                    return true;
                }
                reaching.push(at);
            }
        }
    }
    false
}

/// The lock as the statement can name it, and the text of its type.
fn expression<'d>(
    syntax: &Syntax<'_>,
    declared: &'d Declarations,
    statement: Node<'_>,
    wish: &Wish,
) -> Option<(String, &'d str)> {
    let is_name = |name: &str| {
        name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    let function = around(statement).find(|node| node.kind() == "function_definition")?;
    if is_name(&wish.lock) {
        let is_before = syntax.text[..statement.start_byte()].contains(&wish.lock);
        let of_type = declared.global(&wish.lock).filter(|_| is_before)?;
        return (!is_local(syntax, function, &wish.lock)).then(|| (wish.lock.clone(), of_type));
    }
    let (owner, field) = wish.lock.rsplit_once('.')?;
    let rest = wish.variable.strip_prefix(owner)?.strip_prefix('.')?;
    // The field itself may have parts.
    let member = rest.split(['.', '[']).next().filter(|member| is_name(member))?;
    let of_type = declared.field_beside(field, member).filter(|_| is_name(field))?;
    let of_member = |node: &Node<'_>| {
        node.kind() == "field_expression"
            && node.child_by_field_name("field").is_some_and(|field| syntax.text_of(field) == member)
    };
    let mut owners = all(statement).into_iter().filter(of_member).map(|node| {
        let object = node.child_by_field_name("argument")?;
        let link =
            if node.child_by_field_name("operator").is_some_and(|o| syntax.text_of(o) == "->") { "->" } else { "." };
        is_steady(syntax, object, statement).then(|| format!("{}{link}", syntax.text_of(object)))
    });
    let link = match owners.next() {
        Some(first) => {
            let first = first?;
            owners.all(|other| other.as_ref() == Some(&first)).then_some(first)?
        }
        // A member function of the object itself.
        None => {
            let is_bare = |node: &Node<'_>| node.kind() == "identifier" && syntax.text_of(*node) == member;
            let hides =
                [member, field].iter().any(|name| declared.has_global(name) || is_local(syntax, function, name));
            (all(statement).iter().any(is_bare) && !hides).then(String::new)?
        }
    };
    Some((format!("{link}{field}"), of_type))
}

/// Whether an expression has the same value before and after the statement, and no side effects.
fn is_steady(syntax: &Syntax<'_>, object: Node<'_>, statement: Node<'_>) -> bool {
    const PLAIN: [&str; 11] = [
        "identifier",
        "field_identifier",
        "field_expression",
        "subscript_expression",
        "subscript_argument_list",
        "pointer_expression",
        "parenthesized_expression",
        "number_literal",
        "this",
        "qualified_identifier",
        "namespace_identifier",
    ];
    let is_plain = |node: &Node<'_>| !node.is_named() || PLAIN.contains(&node.kind());
    let parts = all(object);
    let own_names: Vec<&str> = names(object).into_iter().map(|node| syntax.text_of(node)).collect();
    let is_changed = all(statement).into_iter().any(|node| {
        let target = match node.kind() {
            "assignment_expression" => node.child_by_field_name("left"),
            "update_expression" => node.child_by_field_name("argument"),
            "pointer_expression" if syntax.text_of(node).starts_with('&') => node.child_by_field_name("argument"),
            _ => None,
        };
        // The last name of what is assigned is what changes.
        let changed = target.and_then(|target| names(target).pop().map(|node| syntax.text_of(node)));
        changed.is_some_and(|changed| own_names.contains(&changed))
    });
    parts.iter().all(is_plain) && !is_changed
}

/// Whether a function declares a variable or parameter of this name.
fn is_local(syntax: &Syntax<'_>, function: Node<'_>, name: &str) -> bool {
    all(function).into_iter().any(|node| {
        let declares =
            matches!(node.kind(), "declaration" | "parameter_declaration" | "optional_parameter_declaration");
        let mut cursor = node.walk();
        declares
            && node.children_by_field_name("declarator", &mut cursor).any(|declarator| {
                all(declarator).iter().any(|node| node.kind() == "identifier" && syntax.text_of(*node) == name)
            })
    })
}

fn guard(of_type: &str, path: &Path) -> Option<Guard> {
    match of_type {
        "pthread_mutex_t" => Some(Guard::Calls("pthread_mutex_lock", "pthread_mutex_unlock")),
        "mtx_t" => Some(Guard::Calls("mtx_lock", "mtx_unlock")),
        "std::mutex" | "std::recursive_mutex" if syntax::is_cxx(path) => Some(Guard::Scope(of_type.to_owned())),
        "mutex" | "recursive_mutex" if syntax::is_cxx(path) => Some(Guard::Scope(format!("std::{of_type}"))),
        _ => None,
    }
}

/// The lines of a statement that has them for itself, with their indentation and how lines end.
fn lines<'t>(syntax: &Syntax<'t>, statement: Node<'_>) -> Option<(Range<usize>, &'t str, &'static str)> {
    let (first, last) = (syntax.line_at(statement.start_byte()), syntax.line_at(statement.end_byte()));
    let before = &syntax.text[first.start..statement.start_byte()];
    let after = syntax.text[statement.end_byte()..last.end].trim();
    let comment = after.is_empty()
        || after.starts_with("//")
        || (after.starts_with("/*") && after.find("*/") == Some(after.len() - 2));
    let end = if syntax.text[..last.end].ends_with('\r') { last.end - 1 } else { last.end };
    let newline = if end == last.end { "\n" } else { "\r\n" };
    (before.trim().is_empty() && comment).then_some((first.start..end, before, newline))
}

/// A line before and a line after.
fn surround(syntax: &Syntax<'_>, statement: Node<'_>, before: &str, after: &str) -> Option<Edits> {
    let (lines, indent, newline) = lines(syntax, statement)?;
    Some(vec![
        (lines.start..lines.start, format!("{indent}{before}{newline}")),
        (lines.end..lines.end, format!("{newline}{indent}{after}")),
    ])
}

/// A block with an object that holds the lock.
fn enclose(syntax: &Syntax<'_>, statement: Node<'_>, mutex: &str, expression: &str) -> Option<Edits> {
    let (lines, indent, newline) = lines(syntax, statement)?;
    let step = if indent.starts_with('\t') { "\t" } else { "    " };
    let used = |name: &str| all(statement).iter().any(|node| syntax.text_of(*node) == name);
    let name = ["guard", "lock_guard", "held"].into_iter().find(|name| !used(name) && *name != expression)?;
    let mut edits = vec![(
        lines.start..lines.start,
        format!("{indent}{{{newline}{indent}{step}std::lock_guard<{mutex}> {name}({expression});{newline}{step}"),
    )];
    let body = &syntax.text[lines.clone()];
    // Lines of a raw string are not indentation.
    let raw = all(statement).iter().any(|node| node.kind() == "raw_string_literal");
    let further = body.match_indices('\n').map(|(at, _)| lines.start + at + 1).filter(|_| !raw);
    edits.extend(further.map(|at| (at..at, step.to_owned())));
    edits.push((lines.end..lines.end, format!("{newline}{indent}}}")));
    Some(edits)
}

#[cfg(test)]
mod tests;
