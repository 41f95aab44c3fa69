//! The syntax tree of a C or C++ file, as far as an edit has to know it.

use std::path::Path;

use tree_sitter::{Language, Node, Parser, Tree};

/// A file's text with its tree.
pub(crate) struct Syntax<'t> {
    pub(crate) text: &'t str,
    tree: Tree,
}

/// Whether a file is C++ by its name. Headers that could be both are read as C++, which includes what matters of C.
pub(crate) fn is_cxx(path: &Path) -> bool {
    path.extension().is_none_or(|extension| extension != "c")
}

impl<'t> Syntax<'t> {
    /// Parses a text; `None` where the parser cannot.
    pub(crate) fn of(text: &'t str, path: &Path) -> Option<Self> {
        let language: Language =
            if is_cxx(path) { tree_sitter_cpp::LANGUAGE.into() } else { tree_sitter_c::LANGUAGE.into() };
        let mut parser = Parser::new();
        parser.set_language(&language).ok()?;
        Some(Self { text, tree: parser.parse(text, None)? })
    }

    pub(crate) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// The text of a node.
    pub(crate) fn text_of(&self, node: Node<'_>) -> &'t str {
        &self.text[node.byte_range()]
    }

    /// Whether the file defines `main`.
    pub(crate) fn defines_main(&self) -> bool {
        let is_main = |node: Node<'_>| node.kind() == "function_definition" && self.declares(node) == Some("main");
        let mut cursor = self.root().walk();
        let nodes: Vec<Node<'_>> = self.root().children(&mut cursor).collect();
        nodes.into_iter().any(is_main)
    }

    /// The name that a definition or declaration declares, through pointers, arrays, parameters and initialisers.
    pub(crate) fn declares(&self, declaration: Node<'_>) -> Option<&'t str> {
        let mut node = declaration.child_by_field_name("declarator")?;
        while let Some(inner) = node.child_by_field_name("declarator") {
            node = inner;
        }
        Some(self.text_of(node))
    }

    /// The first and last byte of the line that a byte is in, without its end.
    pub(crate) fn line_at(&self, byte: usize) -> std::ops::Range<usize> {
        let start = self.text[..byte].rfind('\n').map_or(0, |at| at + 1);
        let end = self.text[byte..].find('\n').map_or(self.text.len(), |at| byte + at);
        start..end
    }
}

/// A node and all below it, in the order of the text.
pub(crate) fn all(node: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut left = vec![node];
    while let Some(node) = left.pop() {
        found.push(node);
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        left.extend(children.into_iter().rev());
    }
    found
}

/// The nodes that contain a node, from the inside to the outside.
pub(crate) fn around(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    std::iter::successors(node.parent(), |node| node.parent())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_main() {
        let defines = |text: &str, name: &str| Syntax::of(text, Path::new(name)).unwrap().defines_main();
        assert!(defines("int x;\nint main(int argc, char **argv) { return 0; }\n", "a.c"));
        assert!(defines("#include <x>\nauto main() -> int { return 0; }\n", "a.cpp"));
        assert!(!defines("int main(void);\n// int main() {}\nvoid f(void) { main(); }\n", "a.c"));
        assert!(!defines("", "a.c"));
    }
}
