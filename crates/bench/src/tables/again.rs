//! Second commands: one about an unchanged program, and one after a change of one function.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Rows;
use crate::Failure;
use crate::environment::Environment;
use crate::page::Page;
use crate::process::{Limits, run};
use crate::statistics::{Figure, Sample};

const TIME_LIMIT: Duration = Duration::from_secs(600);

/// An answer made of a file that has just changed is not kept.
const REST: Duration = Duration::from_millis(50);

/// A program: what it is made of, and in how many sources of a generated one.
const PROGRAMS: [(&str, Source); 4] = [
    ("a bank in C", Source::File("examples/bank.c")),
    ("a bank in C++", Source::File("tests/cxx/bank.cpp")),
    ("generated C", Source::Generated { modules: 100, is_cxx: false }),
    ("generated C++", Source::Generated { modules: 20, is_cxx: true }),
];

/// Where a program comes from.
#[derive(Clone, Copy)]
enum Source {
    /// A file below the project's root.
    File(&'static str),
    /// Modules with a table and twenty functions each, which three threads call.
    Generated { modules: usize, is_cxx: bool },
}

#[derive(Serialize, Deserialize, Default)]
struct Row {
    program: String,
    command: String,
    lines: usize,
    cold: Sample,
    unchanged: Sample,
    changed: Sample,
}

/// One row for each program and command.
#[derive(Serialize, Deserialize)]
pub(super) struct Again {
    rows: Vec<Row>,
}

impl Rows for Again {
    const NAME: &'static str = "again";
    const TITLE: &'static str = "Second commands";

    fn measure(environment: &Environment) -> Result<Self, Failure> {
        let mut rows = Vec::new();
        for (name, source) in PROGRAMS {
            for command in ["static", "check"] {
                rows.push(row(environment, name, source, command)?);
            }
        }
        Ok(Self { rows })
    }

    fn write(&self, page: &mut Page) -> Result<(), Failure> {
        page.say(
            "Wall-clock seconds of a whole command: with an empty cache, again about the same program, and after a change of one \
             function in one source. The generated programs have a table, a lock and twenty functions in each of their \
             sources. `check` looks for errors other than races for up to ten seconds once every pair is settled, which no cache \
             makes shorter.",
        );
        let rows = self.rows.iter().map(|row| {
            let Row { program, command, lines, cold, unchanged, changed } = row;
            vec![
                program.clone(),
                format!("`{command}`"),
                lines.to_string(),
                Figure(cold.median()).to_string(),
                Figure(unchanged.median()).to_string(),
                Figure(changed.median()).to_string(),
                changed.per(cold).to_string(),
            ]
        });
        page.table(
            &["program", "command", "lines", "cold", "unchanged", "one function changed", "changed ÷ cold"],
            rows,
        );
        Ok(())
    }
}

fn row(environment: &Environment, name: &str, source: Source, command: &str) -> Result<Row, Failure> {
    let mut row = Row { program: name.to_owned(), command: command.to_owned(), ..Row::default() };
    for _ in 0..environment.either(1, 3) {
        let desk = environment.scratch_folder()?;
        let inputs = write(environment, source, desk.path())?;
        let texts = inputs.iter().map(std::fs::read_to_string).collect::<Result<Vec<_>, _>>()?;
        row.lines = texts.iter().map(|text| text.lines().count()).sum();
        let cold = call(environment, command, &inputs, desk.path())?;
        row.cold.0.push(cold);
        row.unchanged.0.push(call(environment, command, &inputs, desk.path())?);
        change(&inputs[inputs.len() / 2])?;
        row.changed.0.push(call(environment, command, &inputs, desk.path())?);
    }
    Ok(row)
}

/// Seconds of a command.
fn call(environment: &Environment, command: &str, inputs: &[PathBuf], desk: &Path) -> Result<f64, Failure> {
    std::thread::sleep(REST);
    let mut process = Command::new(environment.command());
    process.arg(command).args(inputs).arg("--quiet").current_dir(desk).env("XDG_CACHE_HOME", desk.join("cache"));
    process.env_remove("RACEPROOF_FRESH").stdout(Stdio::null()).stderr(Stdio::null());
    let usage = run(&mut process, Limits { processors: None, time: TIME_LIMIT })?;
    match usage.status {
        Some(0 | 1 | 3) => Ok(usage.clock),
        status => Err(format!("raceproof {command} ended with {status:?}").into()),
    }
}

/// Changes a number in the first function that has the text for it, or adds an empty statement.
fn change(source: &Path) -> Result<(), Failure> {
    let text = std::fs::read_to_string(source)?;
    let changed = text.replacen("salt % 7", "salt % 9", 1).replacen("return", ";return", 1);
    Ok(std::fs::write(source, changed)?)
}

/// Writes a program into a folder: its sources, in the order in which they are given.
fn write(environment: &Environment, source: Source, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let (modules, is_cxx) = match source {
        Source::File(path) => {
            let path = environment.path(path);
            let copy = folder.join(path.file_name().ok_or("a file without a name")?);
            std::fs::copy(&path, &copy)?;
            return Ok(vec![copy]);
        }
        Source::Generated { modules, is_cxx } => (modules, is_cxx),
    };
    let extension = if is_cxx { "cpp" } else { "c" };
    let mut header = "#include <pthread.h>\n#include <stdlib.h>\n".to_owned();
    let mut calls = String::new();
    let mut inputs = Vec::new();
    for module in 0..modules {
        writeln!(header, "int module{module}(int key);")?;
        writeln!(calls, "    sum += module{module}(key);")?;
        let path = folder.join(format!("module{module}.{extension}"));
        std::fs::write(&path, if is_cxx { cxx_module(module)? } else { c_module(module)? })?;
        inputs.push(path);
    }
    std::fs::write(folder.join("modules.h"), header)?;
    let start = folder.join(format!("start.{extension}"));
    std::fs::write(
        &start,
        format!(
            "#include \"modules.h\"\n\nstatic void *work(void *argument)\n{{\n    int key = (int)(long)argument, sum = 0;\n{calls}    \
             return (void *)(long)sum;\n}}\n\nint main(void)\n{{\n    pthread_t threads[3];\n    for (long i = 0; i < 3; i++)\n        \
             pthread_create(&threads[i], 0, work, (void *)i);\n    for (int i = 0; i < 3; i++)\n        pthread_join(threads[i], \
             0);\n    return 0;\n}}\n"
        ),
    )?;
    inputs.push(start);
    Ok(inputs)
}

/// Functions of a module.
const FUNCTIONS: usize = 20;

fn c_module(module: usize) -> Result<String, Failure> {
    let mut text =
        "#include \"modules.h\"\n\nstruct entry {\n    int key;\n    int value;\n    struct entry *next;\n};\n\nstatic struct entry \
         *table[16];\nstatic int count;\nstatic pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n"
        .to_owned();
    for function in 0..FUNCTIONS {
        write!(
            text,
            "\nstatic int find{function}(int key, int salt)\n{{\n    struct entry *entry;\n    int place = (key + {function}) & 15;\n    int \
             found = 0;\n\n    pthread_mutex_lock(&lock);\n    for (entry = table[place]; entry != NULL; entry = entry->next) {{\n        if \
             (entry->key == key) {{\n            found = entry->value + salt % 7;\n            entry->value = found % \
             100;\n            break;\n        }}\n    }}\n    if (entry == NULL) {{\n        entry = malloc(sizeof \
             *entry);\n        if (entry != NULL) {{\n            entry->key = key;\n            entry->value = \
             salt;\n            entry->next = table[place];\n            table[place] = entry;\n            count++;\n        }}\n    \
             }}\n    pthread_mutex_unlock(&lock);\n    return found;\n}}\n"
        )?;
    }
    let calls: String =
        (0..FUNCTIONS).map(|function| format!("    sum += find{function}(key, {function});\n")).collect();
    write!(text, "\nint module{module}(int key)\n{{\n    int sum = 0;\n{calls}    return sum;\n}}\n")?;
    Ok(text)
}

fn cxx_module(module: usize) -> Result<String, Failure> {
    let mut text = "#include \"modules.h\"\n#include <map>\n#include <mutex>\n#include <string>\n#include <vector>\n\nnamespace {\n\n\
                    std::mutex lock;\nstd::map<int, std::vector<int>> table;\n"
        .to_owned();
    for function in 0..FUNCTIONS {
        write!(
            text,
            "\nint find{function}(int key, int salt)\n{{\n    std::lock_guard<std::mutex> guard(lock);\n    auto &entry = table[key + \
             {function}];\n    if (entry.empty())\n        entry.push_back(salt);\n    entry.front() += salt % 7;\n    return \
             entry.front();\n}}\n"
        )?;
    }
    let calls: String =
        (0..FUNCTIONS).map(|function| format!("    sum += find{function}(key, {function});\n")).collect();
    write!(
        text,
        "\n}} // namespace\n\nint module{module}(int key)\n{{\n    int sum = 0;\n{calls}    return sum;\n}}\n"
    )?;
    Ok(text)
}
