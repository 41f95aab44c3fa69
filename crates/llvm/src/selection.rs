//! Which sources of a compilation database make up the program, where that depends on what they define.
//!
//! Members of archives belong to a program if something in it refers to what they define, as linkers decide it. Where no
//! file of a build system says what is linked, the program is a source with `main` and all that it refers to.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use inkwell::context::Context;
use inkwell::llvm_sys::LLVMLinkage;

use crate::error::Error;
use crate::ir;
use crate::module::{self, Input};

/// The sources of one database among the inputs.
#[derive(Debug)]
pub(crate) struct Group {
    /// The database, as the user spelled it.
    pub(crate) database: PathBuf,
    /// Which inputs they are.
    pub(crate) range: Range<usize>,
    /// Those that are members of archives.
    pub(crate) on_demand: BTreeSet<usize>,
    /// Whether nothing says which of them are one program.
    pub(crate) by_main: bool,
}

/// What a module gives to others, and what it takes.
#[derive(Default)]
struct Symbols {
    defined: BTreeSet<String>,
    referred: BTreeSet<String>,
}

impl Symbols {
    fn of(input: &Input) -> Result<Self, Error> {
        let context = Context::create();
        let module = module::load(&context, input)?;
        let module = ir::Module::of(&module);
        let mut symbols = Self::default();
        for value in module.functions().into_iter().chain(module.globals()).chain(module.aliases()) {
            match value.linkage() {
                LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage => {}
                // Nobody has to define it.
                LLVMLinkage::LLVMExternalWeakLinkage => {}
                LLVMLinkage::LLVMAvailableExternallyLinkage => {
                    symbols.referred.insert(value.name());
                }
                _ if value.is_declaration() => {
                    symbols.referred.insert(value.name());
                }
                _ => {
                    symbols.defined.insert(value.name());
                }
            }
        }
        Ok(symbols)
    }

    fn has_main(&self) -> bool {
        self.defined.contains("main") || self.defined.contains(cc::OTHER_MAIN)
    }
}

/// The inputs that make up the program, in their order. `executable` is the name that the user chose.
pub(crate) fn select(groups: &[Group], inputs: Vec<Input>, executable: Option<&str>) -> Result<Vec<Input>, Error> {
    let is_open = |group: &&Group| !group.on_demand.is_empty() || (group.by_main && group.range.len() > 1);
    if groups.iter().find(is_open).is_none() && (executable.is_none() || !groups.iter().any(|group| group.by_main)) {
        return Ok(inputs);
    }
    let symbols = inputs.iter().map(Symbols::of).collect::<Result<Vec<_>, _>>()?;
    let mut on_demand: BTreeSet<usize> = groups.iter().flat_map(|group| group.on_demand.iter().copied()).collect();
    let mut never = BTreeSet::new();
    for group in groups.iter().filter(|group| group.by_main) {
        let mains: Vec<usize> = group.range.clone().filter(|number| symbols[*number].has_main()).collect();
        if mains.len() <= 1 && executable.is_none() {
            // Whatever the sources are, they are one program, or a library.
            continue;
        }
        let main = choose(group, &mains, &inputs, executable)?;
        on_demand.extend(group.range.clone().filter(|number| *number != main));
        never.extend(mains.into_iter().filter(|number| *number != main));
    }
    let kept = reached(&symbols, &on_demand, &never, &inputs);
    Ok((0..).zip(inputs).filter(|(number, _)| kept.contains(number)).map(|(_, input)| input).collect())
}

/// The source with the `main` of the chosen executable.
fn choose(group: &Group, mains: &[usize], inputs: &[Input], executable: Option<&str>) -> Result<usize, Error> {
    let paths: Vec<&Path> = mains.iter().map(|number| inputs[*number].path.as_path()).collect();
    let names = names(&paths);
    let path = || group.database.clone();
    let Some(chosen) = executable else {
        return Err(cc::Error::SeveralExecutables { path: path(), names }.into());
    };
    match position(&names, &paths, chosen) {
        Some(at) => Ok(mains[at]),
        None => Err(cc::Error::NoSuchExecutable { path: path(), name: chosen.to_owned(), names }.into()),
    }
}

/// Which of these is called so: by its name, or by the end of its path if only one has it.
fn position(names: &[String], paths: &[&Path], chosen: &str) -> Option<usize> {
    let exact = names.iter().position(|name| name == chosen);
    let ends = |at: &usize| !chosen.is_empty() && paths[*at].with_extension("").ends_with(chosen);
    let mut matching = (0..paths.len()).filter(ends);
    exact.or_else(|| matching.next().filter(|_| matching.next().is_none()))
}

/// What sources with `main` are called: their names without extension, with as many folders as tell them apart.
fn names(paths: &[&Path]) -> Vec<String> {
    let with_folders = |path: &Path, folders: usize| {
        let path = path.with_extension("");
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        parts[parts.len().saturating_sub(folders + 1)..].join("/")
    };
    let name = |path: &&Path| {
        let longest = path.iter().count();
        let is_unique = |folders: &usize| {
            let name = with_folders(path, *folders);
            paths.iter().filter(|other| with_folders(other, *folders) == name).count() == 1
        };
        with_folders(path, (0..longest).find(is_unique).unwrap_or(longest))
    };
    paths.iter().map(name).collect()
}

/// What the program has: all inputs that are not there on demand, and what defines something that is referred to.
fn reached(
    symbols: &[Symbols],
    on_demand: &BTreeSet<usize>,
    never: &BTreeSet<usize>,
    inputs: &[Input],
) -> BTreeSet<usize> {
    let mut kept: BTreeSet<usize> = (0..symbols.len()).filter(|number| !on_demand.contains(number)).collect();
    let mut defined: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<(usize, &str)> = Vec::new();
    let mut new: Vec<usize> = kept.iter().copied().collect();
    loop {
        for number in new.drain(..) {
            defined.extend(symbols[number].defined.iter().map(String::as_str));
            open.extend(symbols[number].referred.iter().map(|name| (number, name.as_str())));
        }
        let Some((user, name)) = open.pop() else { return kept };
        if defined.contains(name) {
            continue;
        }
        let defines = |number: &&usize| !never.contains(number) && symbols[**number].defined.contains(name);
        // Of several that define it, the one nearest to its user.
        let folder = inputs[user].path.parent();
        let nearest = on_demand.iter().filter(defines).min_by_key(|number| inputs[**number].path.parent() != folder);
        if let Some(number) = nearest
            && kept.insert(*number)
        {
            new.push(*number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(defined: &[&str], referred: &[&str]) -> Symbols {
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Symbols { defined: set(defined), referred: set(referred) }
    }

    #[test]
    fn what_is_referred_to_is_reached() {
        let inputs: Vec<Input> = ["s/main.c", "c/main.c", "c/log.c", "s/log.c", "s/deep.c", "s/unused.c"]
            .map(|path| Input { path: path.into(), bitcode: PathBuf::new() })
            .into();
        let all = [
            symbols(&["main"], &["log", "printf"]),
            symbols(&["main", "deep"], &["log"]),
            symbols(&["log"], &[]),
            symbols(&["log"], &["deep"]),
            symbols(&["deep"], &["log"]),
            symbols(&["unused"], &[]),
        ];
        let of = |main: usize, other: usize| {
            let on_demand = (0..6).filter(|number| *number != main).collect();
            reached(&all, &on_demand, &[other].into(), &inputs).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(of(0, 1), [0, 3, 4], "its own `log`, and not the other `main`");
        assert_eq!(of(1, 0), [1, 2]);
    }

    #[test]
    fn names_that_several_have_choose_none() {
        let paths = ["/p/a/main.c", "/p/b/main.c", "/p/tool.c"].map(Path::new);
        let names = names(&paths);
        for (chosen, expected) in
            [("a/main", Some(0)), ("p/b/main", Some(1)), ("tool", Some(2)), ("main", None), ("", None), ("ool", None)]
        {
            assert_eq!(position(&names, &paths, chosen), expected, "{chosen}");
        }
    }

    #[test]
    fn names_have_as_many_folders_as_they_need() {
        let names_of = |paths: &[&str]| names(&paths.iter().map(Path::new).collect::<Vec<_>>());
        assert_eq!(names_of(&["/p/client.c", "/p/server.c"]), ["client", "server"]);
        assert_eq!(names_of(&["/p/a/main.c", "/p/b/main.c", "/p/tool.c"]), ["a/main", "b/main", "tool"]);
        assert_eq!(names_of(&["/p/main.c", "/p/main.cpp"]), ["//p/main", "//p/main"]);
    }
}
