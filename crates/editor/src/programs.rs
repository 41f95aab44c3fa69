//! Which program a file belongs to.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::options::Options;
use crate::syntax::Syntax;

/// A program to check.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Program {
    /// The folder that the inputs are relative to.
    pub(crate) folder: PathBuf,
    /// What `raceproof check` is given.
    pub(crate) inputs: Vec<String>,
}

/// Where databases lie, from the root of a workspace.
const DATABASES: [&str; 4] = ["", "build", "out", "builddir"];

/// The program of a file with this text: what the options say; else that of the compilation database that names the file; else
/// the file alone, if it defines `main`.
pub(crate) fn program_of(file: &Path, text: &str, roots: &[PathBuf], options: &Options) -> Option<Program> {
    let root = roots.iter().filter(|root| file.starts_with(root)).max_by_key(|root| root.components().count());
    let beside = file.parent()?;
    let folder = root.map_or(beside, PathBuf::as_path);
    if !options.inputs.is_empty() {
        return Some(Program { folder: folder.to_owned(), inputs: options.inputs.clone() });
    }
    let ancestors = beside.ancestors().take_while(|ancestor| ancestor.starts_with(folder));
    let candidates = ancestors.flat_map(|ancestor| DATABASES.map(|name| ancestor.join(name)));
    let database = candidates.into_iter().find(|folder| names(&folder.join("compile_commands.json"), file));
    if let Some(database) = database {
        let inside = database.strip_prefix(folder).unwrap_or(&database);
        let input = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
        return Some(Program { folder: folder.to_owned(), inputs: vec![input.to_str()?.to_owned()] });
    }
    let is_program = Syntax::of(text, file).is_some_and(|syntax| syntax.defines_main());
    let name = file.strip_prefix(folder).ok().filter(|_| is_program)?.to_str()?.to_owned();
    // A name like a flag is none.
    let name = if name.starts_with('-') { format!("./{name}") } else { name };
    Some(Program { folder: folder.to_owned(), inputs: vec![name] })
}

/// Whether a compilation database has a command for a file; for a header, whether it is a database: its commands include it or
/// not, only compiling them tells.
fn names(database: &Path, file: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(database) else { return false };
    let Ok(Value::Array(commands)) = serde_json::from_str(&text) else { return false };
    let is_header =
        file.extension().and_then(|e| e.to_str()).is_some_and(|e| ["h", "hh", "hpp", "hxx", "inc"].contains(&e));
    let same = |command: &Value| {
        let [folder, name] = ["directory", "file"].map(|field| command[field].as_str().unwrap_or_default());
        let path = Path::new(folder).join(name);
        path == file || path.canonicalize().is_ok_and(|path| file.canonicalize().is_ok_and(|file| file == path))
    };
    is_header || commands.iter().any(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: &str = "int main(void) { return 0; }\n";

    #[test]
    fn programs_of_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let roots = [root.clone()];
        let file = root.join("src/a b.c");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::write(&file, MAIN).unwrap();
        let inputs = |text: &str, options: &Options| {
            program_of(&file, text, &roots, options).map(|program| {
                assert_eq!(program.folder, root);
                program.inputs
            })
        };
        assert_eq!(inputs(MAIN, &Options::default()), Some(vec!["src/a b.c".to_owned()]));
        assert_eq!(inputs("int x;\n", &Options::default()), None);
        let options = Options { inputs: vec!["x.c".to_owned()], ..Options::default() };
        assert_eq!(inputs("int x;\n", &options), Some(vec!["x.c".to_owned()]));
        std::fs::create_dir(root.join("build")).unwrap();
        let database = root.join("build/compile_commands.json");
        std::fs::write(&database, "[{\"directory\": 7}, {}]").unwrap();
        assert_eq!(inputs("int x;\n", &Options::default()), None);
        let commands = serde_json::json!([{ "directory": root.join("build"), "file": "../src/a b.c" }]);
        std::fs::write(&database, commands.to_string()).unwrap();
        assert_eq!(inputs("int x;\n", &Options::default()), Some(vec!["build".to_owned()]));
    }
}
