//! What a file and its own headers declare, as far as it says how to take a lock.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tree_sitter::Node;

use crate::syntax::Syntax;

/// How many headers deep declarations are looked for.
const DEPTH: usize = 4;

/// Declarations outside functions: names with the texts of their types. A name that is declared as a pointer, an array or a
/// function, or twice with different types, has none.
#[derive(Default, Debug)]
pub(crate) struct Declarations {
    globals: BTreeMap<String, Option<String>>,
    /// The fields of each struct or class.
    records: Vec<BTreeMap<String, Option<String>>>,
}

/// The declarations of a file and the headers that it includes with quotes.
pub(crate) fn declarations(syntax: &Syntax<'_>, path: &Path) -> Declarations {
    let mut found = Declarations::default();
    found.add(syntax, path, DEPTH, &mut BTreeSet::new());
    found
}

impl Declarations {
    /// The type of a global.
    pub(crate) fn global(&self, name: &str) -> Option<&str> {
        self.globals.get(name)?.as_deref()
    }

    /// Whether there is anything global of this name.
    pub(crate) fn has_global(&self, name: &str) -> bool {
        self.globals.contains_key(name)
    }

    /// The type of a field of the one record that has another field, too; `None` if several records have that.
    pub(crate) fn field_beside(&self, field: &str, other: &str) -> Option<&str> {
        let mut with = self.records.iter().filter(|fields| fields.contains_key(other));
        let only = with.next().filter(|_| with.next().is_none())?;
        only.get(field)?.as_deref()
    }

    fn add(&mut self, syntax: &Syntax<'_>, path: &Path, depth: usize, seen: &mut BTreeSet<PathBuf>) {
        let mut left = vec![syntax.root()];
        while let Some(node) = left.pop() {
            match node.kind() {
                // What is inside functions is nobody else's.
                "compound_statement" => continue,
                "declaration" => declare(&mut self.globals, syntax, node),
                "function_definition" => {
                    if let Some(name) = syntax.declares(node) {
                        self.globals.insert(name.to_owned(), None);
                    }
                }
                "field_declaration_list" => {
                    let mut fields = BTreeMap::new();
                    for child in children(node) {
                        if child.kind() == "field_declaration" {
                            declare(&mut fields, syntax, child);
                        }
                    }
                    self.records.push(fields);
                }
                "preproc_include" => self.include(syntax, node, path, depth, seen),
                _ => {}
            }
            left.extend(children(node).into_iter().rev());
        }
    }

    fn include(
        &mut self,
        syntax: &Syntax<'_>,
        node: Node<'_>,
        path: &Path,
        depth: usize,
        seen: &mut BTreeSet<PathBuf>,
    ) {
        let named = node.child_by_field_name("path").filter(|path| path.kind() == "string_literal");
        let Some(name) = named.map(|name| syntax.text_of(name).trim_matches('"')) else { return };
        let header = path.parent().unwrap_or(Path::new("")).join(name);
        if depth > 0
            && seen.insert(header.clone())
            && let Ok(text) = std::fs::read_to_string(&header)
            // The includer says which language it is.
            && let Some(syntax) = Syntax::of(&text, path)
        {
            self.add(&syntax, &header, depth - 1, seen);
        }
    }
}

/// Adds what a declaration declares.
fn declare(names: &mut BTreeMap<String, Option<String>>, syntax: &Syntax<'_>, declaration: Node<'_>) {
    let Some(of_type) = declaration.child_by_field_name("type") else { return };
    let mut cursor = declaration.walk();
    for declarator in declaration.children_by_field_name("declarator", &mut cursor) {
        let mut name = declarator;
        let mut is_plain = true;
        while let Some(inner) = name.child_by_field_name("declarator") {
            is_plain &= name.kind() == "init_declarator";
            name = inner;
        }
        let known = is_plain.then(|| syntax.text_of(of_type).to_owned());
        let entry = names.entry(syntax.text_of(name).to_owned()).or_insert_with(|| known.clone());
        if *entry != known {
            *entry = None;
        }
    }
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}
