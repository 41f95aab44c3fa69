//! Readable names for the bytes of a run's objects.

use model::SiteId;

use crate::ir::{GlobalId, Program};
use crate::site::Site;
use crate::types::{Type, TypeId, path_to, scalar_at};

/// The name of `len` bytes at `offset` of a global: `counter`, `queue.head`, `arr[3]`.
pub fn name_global(program: &Program, global: GlobalId, offset: u64, len: u64) -> String {
    let Some(global) = program.globals.get(global) else { return "an unknown global".to_owned() };
    let path = global.ty.map_or_else(String::new, |ty| path_to(&program.types, ty, offset, len));
    let undivided = path.is_empty() && (offset > 0) && len < global.size;
    global.name.clone() + &if undivided { format!("+{offset}") } else { path }
}

/// The name of `len` bytes at `offset` of a heap block allocated at `site`: `heap@list.c:41` or
/// `heap@std::allocator<int>`, followed by `.next` or
/// `[3].next` if the block's type is known, and by `+8` if it is not.
pub fn name_heap(program: &Program, site: Option<SiteId>, offset: u64, len: u64) -> String {
    let site = site.and_then(|site| program.sites.get(site));
    let block = site.and_then(|site| allocator(program, site).or_else(|| place(program, site)));
    let block = block.map_or_else(|| "heap".to_owned(), |at| format!("heap@{at}"));
    block + &parts(program, site, offset, len)
}

/// The member of a struct at an offset from the start of objects of a type: `struct node.next`. `None` for other types.
pub fn name_member(program: &Program, ty: TypeId, offset: u64) -> Option<String> {
    let (mut ty, mut offset) = (ty, offset);
    loop {
        let within = |size: u64| offset.checked_rem(size).unwrap_or(0);
        match &program.types[ty] {
            Type::Scalar { .. } => return None,
            Type::Array { element, stride, .. } => (offset, ty) = (within(*stride), *element),
            Type::Struct { name, size, fields } => {
                let offset = within(*size);
                let field = fields.iter().rev().find(|field| field.offset <= offset)?;
                return Some(format!("{name}.{}", field.name));
            }
        }
    }
}

/// A global, or the member of it at an offset; elements of arrays are not told apart.
pub fn name_global_member(program: &Program, global: GlobalId, offset: u64) -> String {
    let Some(known) = program.globals.get(global) else { return "an unknown global".to_owned() };
    let member = known.ty.and_then(|ty| name_member(program, ty, offset));
    let member = member.and_then(|name| name.rsplit_once('.').map(|(_, member)| format!(".{member}")));
    known.name.clone() + &member.unwrap_or_default()
}

/// The name of `len` bytes at `offset` of a local allocated at `site`: `f::buf[3]`.
pub fn name_stack(program: &Program, site: Option<SiteId>, offset: u64, len: u64) -> String {
    let Some(site) = site.and_then(|site| program.sites.get(site)) else { return "a local".to_owned() };
    let local = match (&site.expression, place(program, site)) {
        (Some(name), _) => format!("{}::{name}", site.source_function),
        (None, Some(at)) => format!("{}::local@{at}", site.source_function),
        (None, None) => format!("{}::local", site.source_function),
    };
    local + &parts(program, Some(site), offset, len)
}

/// The class of the C++ library that allocates at a site, whose line says nothing to the user: `std::allocator<int>`.
fn allocator(program: &Program, site: &Site) -> Option<String> {
    program.files.get(site.own_place(&program.files).location?.file).filter(|file| model::is_foreign(file))?;
    site.source_function.strip_suffix("::allocate").map(without_node)
}

/// An allocator's name with what a container holds, instead of the node that holds it there:
/// `std::allocator<std::_List_node<int>>` is `std::allocator<int>`.
fn without_node(allocator: &str) -> String {
    const NODES: [&str; 4] = ["_Rb_tree_node<", "_List_node<", "_Fwd_list_node<", "__detail::_Hash_node<"];
    let held = allocator.strip_prefix("std::allocator<std::").and_then(|node| {
        let node = NODES.iter().find_map(|name| node.strip_prefix(name))?;
        let mut depth = 0;
        let end = node.find(|c: char| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            depth < 0 || (depth == 0 && c == ',')
        })?;
        Some(&node[..end])
    });
    held.map_or_else(|| allocator.to_owned(), |held| format!("std::allocator<{held}>"))
}

/// File and line.
fn place(program: &Program, site: &Site) -> Option<String> {
    let location = site.own_place(&program.files).location?;
    Some(format!("{}:{}", program.files.get(location.file)?, location.line))
}

/// The path to bytes of an object that holds one value, or a sequence of values, of the type the site allocates.
fn parts(program: &Program, site: Option<&Site>, offset: u64, len: u64) -> String {
    let unknown = || if offset == 0 { String::new() } else { format!("+{offset}") };
    let Some(ty) = site.and_then(|site| site.allocates) else { return unknown() };
    let size = program.types[ty].size();
    if size == 0 || offset % size + len > size {
        return unknown();
    }
    let element = if offset < size { String::new() } else { format!("[{}]", offset / size) };
    element + &path_to(&program.types, ty, offset % size, len)
}

/// The type of the scalar that is exactly `len` bytes at `offset` of a global.
pub fn scalar_of_global(program: &Program, global: GlobalId, offset: u64, len: u64) -> Option<&str> {
    scalar_at(&program.types, program.globals.get(global)?.ty?, offset, len)
}

/// The same for a block or a local that was allocated at `site`.
pub fn scalar_of_block(program: &Program, site: Option<SiteId>, offset: u64, len: u64) -> Option<&str> {
    let ty = program.sites.get(site?)?.allocates?;
    let size = program.types[ty].size();
    scalar_at(&program.types, ty, offset.checked_rem(size)?, len)
}

/// A name up to its first part that is reserved for the implementation: `queue.lock.__data.__lock` becomes
/// `queue.lock`.
pub fn without_insides(name: &str) -> &str {
    let reserved = |part: &str| {
        let mut chars = part.chars();
        part.starts_with("std::")
            || (chars.next() == Some('_') && chars.next().is_some_and(|c| c == '_' || c.is_ascii_uppercase()))
    };
    let dots = name.match_indices('.').map(|(at, _)| at);
    dots.into_iter().find(|at| reserved(&name[at + 1..])).map_or(name, |at| &name[..at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{FunctionId, Global};
    use crate::site::Location;
    use crate::types::Field;

    fn program() -> Program {
        let mut program = Program::default();
        let int = program.types.push(Type::Scalar { name: "int".into(), size: 4 });
        let field = |name: &str, offset| Field { name: name.into(), offset, ty: int };
        let fields = vec![field("id", 0), field("next", 4)];
        let node = program.types.push(Type::Struct { name: "struct node".into(), size: 8, fields });
        for (name, ty) in [("queue", Some(node)), ("blob", None)] {
            program.globals.push(Global {
                symbol: name.into(),
                name: name.into(),
                size: 8,
                ty,
                init: Vec::new(),
                relocations: Vec::new(),
                thread_local: false,
                constant: false,
            });
        }
        let file = program.files.push("list.c".into());
        for (expression, allocates) in [(None, Some(node)), (None, None), (Some("buf"), Some(node))] {
            program.sites.push(Site {
                function: FunctionId(0),
                source_function: "f".into(),
                location: Some(Location { file, line: 41, column: 7 }),
                inlined_at: Vec::new(),
                expression: expression.map(str::to_owned),
                allocates,
                lvalue: None,
                source: None,
            });
        }
        program
    }

    #[test]
    fn nodes_are_not_named() {
        let map = "std::allocator<std::_Rb_tree_node<std::pair<std::string const, int>>>";
        assert_eq!(without_node(map), "std::allocator<std::pair<std::string const, int>>");
        assert_eq!(without_node("std::allocator<std::__detail::_Hash_node<int, true>>"), "std::allocator<int>");
        assert_eq!(without_node("std::allocator<int>"), "std::allocator<int>");
    }

    #[test]
    fn globals_are_named_by_field() {
        let program = program();
        assert_eq!(name_global(&program, GlobalId(0), 4, 4), "queue.next");
        assert_eq!(name_global(&program, GlobalId(0), 0, 8), "queue");
        assert_eq!(name_global(&program, GlobalId(1), 4, 4), "blob+4");
        assert_eq!(name_global(&program, GlobalId(1), 0, 4), "blob");
        assert_eq!(name_global(&program, GlobalId(9), 0, 4), "an unknown global");
    }

    #[test]
    fn heap_blocks_are_named_by_site_and_field() {
        let program = program();
        let heap = |site, offset, len| name_heap(&program, site, offset, len);
        assert_eq!(heap(Some(SiteId(0)), 4, 4), "heap@list.c:41.next");
        assert_eq!(heap(Some(SiteId(0)), 28, 4), "heap@list.c:41[3].next");
        assert_eq!(heap(Some(SiteId(0)), 6, 4), "heap@list.c:41+6");
        assert_eq!(heap(Some(SiteId(1)), 8, 4), "heap@list.c:41+8");
        assert_eq!(heap(None, 0, 4), "heap");
    }

    #[test]
    fn locals_are_named_with_their_function() {
        let program = program();
        assert_eq!(name_stack(&program, Some(SiteId(2)), 4, 4), "f::buf.next");
        assert_eq!(name_stack(&program, Some(SiteId(1)), 0, 4), "f::local@list.c:41");
        assert_eq!(name_stack(&program, None, 0, 4), "a local");
    }

    #[test]
    fn insides_of_locks_have_no_names() {
        for (name, short) in [
            ("mutex.__data.__lock", "mutex"),
            ("queue.lock.__size[0]", "queue.lock"),
            ("m.std::__mutex_base._M_mutex.__data", "m"),
            ("heap@list.c:41.lock", "heap@list.c:41.lock"),
            ("_x.y", "_x.y"),
            ("plain", "plain"),
        ] {
            assert_eq!(without_insides(name), short);
        }
    }
}
