//! Nets as Graphviz, to be looked at.

use std::fmt::Write as _;

use petri::Net;

/// The net as a Graphviz graph: places are ellipses with their names (source lines) and tokens, transitions are boxes;
/// places of a target are drawn with two lines.
pub fn dot(net: &Net) -> String {
    let mut out = String::from("digraph net {\n  rankdir=TB;\n  node [fontname=\"monospace\"];\n");
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let wanted = |p| net.targets.iter().any(|target| target.get(p) > 0);
    for p in net.place_ids() {
        let initial = net.initial[p.index()];
        let tokens = match (initial.low, initial.high) {
            (0, Some(0)) => String::new(),
            (low, Some(high)) if low == high => format!("\\n{low}"),
            (low, Some(high)) => format!("\\n{low}..{high}"),
            (low, None) => format!("\\n{low}.."),
        };
        let lines = if wanted(p) { 2 } else { 1 };
        let name = quoted(&net.places[p.index()]);
        let _ = writeln!(out, "  p{} [label=\"{name}{tokens}\", peripheries={lines}];", p.0);
    }
    for (id, t) in net.transitions() {
        let _ = writeln!(out, "  t{} [shape=box, label=\"{}\"];", id.0, quoted(&t.name));
        let weight = |n: i64| if n == 1 { String::new() } else { format!(" [label=\"{n}\"]") };
        for (p, n) in &t.guard {
            let _ = writeln!(out, "  p{} -> t{}{};", p.0, id.0, weight(i64::from(*n)));
        }
        for p in net.place_ids() {
            let produced = i64::from(t.needs(p)) + t.change(p);
            if produced > 0 {
                let _ = writeln!(out, "  t{} -> p{}{};", id.0, p.0, weight(produced));
            }
        }
        for (from, to) in &t.flows {
            for p in to {
                let _ = writeln!(out, "  p{} -> p{} [style=dashed, label=\"t{}\"];", from.0, p.0, id.0);
            }
        }
    }
    out.push_str("}\n");
    out
}
