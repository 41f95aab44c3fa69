//! Facts as text and as a graph, for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use facts::partition::Partitions;
use facts::{Facts, Solved};
use model::{LockMode, SiteId, Spent};

use crate::effects::Effects;
use crate::entries::Entries;
use crate::events::events;
use crate::lock::Lock;
use crate::names;
use crate::whens::Whens;

/// Thread tree, shared variables with the locks held at each access, and partitions of pointers.
pub fn text(facts: &Facts) -> Result<String, Spent> {
    let facts = &facts.solved()?;
    let mut out = String::new();
    threads(facts, &mut out);
    variables(facts, &mut out)?;
    partitions(facts, &mut out);
    Ok(out)
}

fn threads(facts: &Solved<'_>, out: &mut String) {
    out.push_str("threads\n");
    for id in facts.order.threads.ids() {
        let depth = facts.order.ancestors(id).count();
        let many = if facts.order.many(id) { "many" } else { "one" };
        let _ = writeln!(out, "{:indent$}{id}: {many}, in {}", "", names::thread(facts, Some(id)), indent = 2 * depth);
    }
}

fn place(facts: &Solved<'_>, site: SiteId) -> String {
    let location = facts.program.sites.get(site).and_then(|s| s.location);
    match location {
        Some(at) => format!("{}:{}:{}", facts.program.files[at.file], at.line, at.column),
        None => site.to_string(),
    }
}

fn variables(facts: &Solved<'_>, out: &mut String) -> Result<(), Spent> {
    let effects = Effects::new(facts)?;
    let entries = Entries::new(facts, &effects)?;
    let mut by_name: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut written: BTreeSet<String> = BTreeSet::new();
    let events = events(facts, &effects, &entries, &Whens::default())?;
    for class in events.all() {
        let way = &events.ways[class.way];
        let mut held: Vec<String> = Vec::new();
        for (lock, mode) in way.locks.iter().filter(|(lock, _)| matches!(lock, Lock::At(_))) {
            let shared = if *mode == LockMode::Shared { " (shared)" } else { "" };
            held.push(format!("{}{shared}", names::lock(facts, lock)));
        }
        held.extend(way.beside.iter().map(|(distance, _)| format!("lock at {distance:+}")));
        for site in &events.sites[class.sites] {
            let variable = names::variable(facts, *site, class.spot, way.len);
            if way.kind.writes() {
                written.insert(variable.clone());
            }
            let kind = if way.kind.writes() { "write" } else { "read" };
            let thread = way.thread.map_or_else(|| "any".to_owned(), |t| t.to_string());
            let line = format!("{} {kind} by {thread}: {{{}}}", place(facts, *site), held.join(", "));
            by_name.entry(variable).or_default().insert(line);
        }
    }
    out.push_str("shared variables that are written\n");
    for (variable, lines) in by_name.iter().filter(|(variable, _)| written.contains(*variable)) {
        let _ = writeln!(out, "  {variable}");
        lines.iter().for_each(|line| {
            let _ = writeln!(out, "    {line}");
        });
    }
    Ok(())
}

fn partitions(facts: &Solved<'_>, out: &mut String) {
    out.push_str("partitions of lock pointers\n");
    let partitions = Partitions::new(facts.program, facts.points_to);
    for group in partitions.of_locks(facts.program, facts.points_to) {
        let sites: BTreeSet<String> = group.iter().map(|site| place(facts, *site)).collect();
        let _ = writeln!(out, "  {}", sites.into_iter().collect::<Vec<_>>().join(", "));
    }
}

/// Threads and who makes them, and which functions run which, for Graphviz.
pub fn graph(facts: &Facts) -> Result<String, Spent> {
    let facts = facts.solved()?;
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut out = "digraph facts {\n  node [shape=box];\n".to_owned();
    for (id, info) in facts.order.threads.iter_enumerated() {
        let many = if facts.order.many(id) { ", peripheries=2" } else { "" };
        let _ = writeln!(out, "  {id} [label=\"{}\"{many}];", quoted(&names::thread(&facts, Some(id))));
        if let Some(parent) = info.parent {
            let _ = writeln!(out, "  {parent} -> {id};");
        }
        for function in &info.functions {
            let _ = writeln!(out, "  {id} -> {function} [style=dashed];");
        }
    }
    let mut edges = BTreeSet::new();
    let mut functions = BTreeSet::new();
    for (id, context) in facts.order.contexts.iter_enumerated() {
        functions.insert(context.function);
        for (caller, _) in &context.callers {
            edges.insert((facts.order.contexts[*caller].function, facts.order.contexts[id].function));
        }
    }
    for function in functions {
        let name = quoted(&facts.program.functions[function].name);
        let _ = writeln!(out, "  {function} [label=\"{name}\", shape=ellipse];");
    }
    for (caller, callee) in edges {
        let _ = writeln!(out, "  {caller} -> {callee};");
    }
    out.push_str("}\n");
    Ok(out)
}
