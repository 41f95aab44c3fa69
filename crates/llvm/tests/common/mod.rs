//! Compiling snippets and looking at what became of them.

#![allow(dead_code, reason = "each test file uses its part")]

use std::path::Path;

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use llvm::{Compiled, Error, Options};
use program::{Program, Site};
use tempfile::TempDir;

/// A compiled snippet.
pub(crate) struct Snippet {
    pub(crate) compiled: Compiled,
    pub(crate) directory: TempDir,
    ir: String,
}

/// Writes files into a new folder.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    directory
}

/// Options to compile these files of a folder.
pub(crate) fn options(directory: &Path, names: &[&str]) -> Options {
    Options {
        inputs: names.iter().map(|name| directory.join(name)).collect(),
        work_dir: directory.join("work"),
        ..Options::default()
    }
}

/// Compiles one source; `name` says in which language it is.
pub(crate) fn compile(name: &str, source: &str) -> Snippet {
    let directory = folder(&[(name, source)]);
    let compiled = llvm::compile(&options(directory.path(), &[name])).unwrap_or_else(|e| panic!("{e}"));
    let ir = text_of(&compiled.bitcode);
    Snippet { compiled, directory, ir }
}

/// Compiles a C source.
pub(crate) fn c(source: &str) -> Snippet {
    compile("snippet.c", source)
}

/// Compiles a C++ source.
pub(crate) fn cxx(source: &str) -> Snippet {
    compile("snippet.cpp", source)
}

/// The error that compiling these files ends with.
pub(crate) fn error(files: &[(&str, &str)]) -> Error {
    let directory = folder(files);
    let names: Vec<_> = files.iter().map(|(name, _)| *name).collect();
    llvm::compile(&options(directory.path(), &names)).expect_err("this must not compile")
}

/// The text of a bitcode file, after LLVM has verified it.
pub(crate) fn text_of(bitcode: &Path) -> String {
    let context = Context::create();
    let module = context.create_module_from_ir(MemoryBuffer::create_from_file(bitcode).unwrap()).unwrap();
    module.verify().unwrap();
    module.print_to_string().to_string()
}

impl Snippet {
    pub(crate) fn program(&self) -> &Program {
        &self.compiled.program
    }

    /// The whole module.
    pub(crate) fn ir(&self) -> &str {
        &self.ir
    }

    /// The definition of a function, without debug information.
    pub(crate) fn function(&self, name: &str) -> String {
        let definition = |line: &&str| line.starts_with("define") && line.contains(&format!("@{name}("));
        let lines = self.ir.lines().skip_while(|line| !definition(line)).take_while(|line| *line != "}");
        let text: Vec<_> =
            lines.filter(|line| !line.contains("#dbg_")).map(|line| line.split(", !dbg").next().unwrap()).collect();
        assert!(!text.is_empty(), "no function `{name}` in:\n{}", self.ir);
        text.join("\n")
    }

    /// The calls of hooks in a function, in order, each as `__rp_read(@x, 4)`, the site left out.
    pub(crate) fn hooks(&self, function: &str) -> Vec<String> {
        self.function(function).lines().filter_map(hook).collect()
    }

    /// The lines of what has no model: line (0 for none), text, function to blame.
    pub(crate) fn unmodelled(&self) -> Vec<(u32, String, Option<String>)> {
        let line = |site: &Site| site.location.map_or(0, |l| l.line);
        let entries = self.program().unmodelled.iter();
        entries
            .map(|u| (u.site.map_or(0, |s| line(&self.program().sites[s])), u.what.clone(), u.function.clone()))
            .collect()
    }
}

/// Hooks whose last argument is the site.
const WITH_SITE: [&str; 8] =
    ["__rp_read", "__rp_write", "__rp_atomic", "__rp_fence", "__rp_copy", "__rp_set", "__rp_call_begin", "__rp_stack"];

fn hook(line: &str) -> Option<String> {
    let call = line.trim().strip_prefix("call void @__rp_")?;
    let (name, arguments) = call.split_once('(')?;
    // Whether the hook is called at all is decided in a function of its own.
    let name = format!("__rp_{}", name.trim_end_matches("_unless_quiet"));
    let mut values: Vec<_> = arguments
        .trim_end_matches(')')
        .split(", ")
        .filter_map(|a| a.split_once(' '))
        .map(|(_, v)| v.to_owned())
        .collect();
    if WITH_SITE.contains(&name.as_str()) {
        values.pop();
    }
    Some(format!("{name}({})", values.join(", ")))
}
