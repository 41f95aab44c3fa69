//! Reads and writes PNML place/transition nets (ISO/IEC 15909-2).
//!
//! PNML has no target: give one with [`crate::target::parse`]. Pages are flattened. Arcs of other kinds (inhibitor,
//! read, reset) from tool extensions are refused, as are high-level nets. What PNML cannot express (transfers, resets,
//! ranges of initial tokens) cannot be written.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use roxmltree::{Document, Node};

use crate::net::{Initial, Net, PlaceId, Transition};

/// Why a file was refused or a net cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PnmlError {
    /// Not well-formed XML, or not a place/transition net as we read it.
    #[error("line {line}, column {column}: {message}")]
    Content {
        /// From 1.
        line: u32,
        /// From 1.
        column: u32,
        /// What is wrong.
        message: String,
    },
    /// The net has something that PNML cannot express.
    #[error("PNML cannot express {0}")]
    Inexpressible(String),
}

/// Reads a net.
pub fn parse(text: &str) -> Result<Net, PnmlError> {
    let document = Document::parse(text).map_err(|e| {
        let (position, message) = (e.pos(), e.to_string());
        // The position is reported separately from the message.
        let message = message.split(" at ").next().unwrap_or_default();
        PnmlError::Content {
            line: position.row,
            column: position.col,
            message: format!("not well-formed XML: {message}"),
        }
    })?;
    let content = |node: Node<'_, '_>, message: String| {
        let position = document.text_pos_at(node.range().start);
        PnmlError::Content { line: position.row, column: position.col, message }
    };
    let root = document.root_element();
    if root.tag_name().name() != "pnml" {
        return Err(content(root, format!("expected `<pnml>`, found `<{}>`", root.tag_name().name())));
    }
    let mut nets = root.children().filter(|n| n.tag_name().name() == "net");
    let Some(net_node) = nets.next() else { return Err(content(root, "there is no `<net>`".into())) };
    if let Some(kind) = net_node.attribute("type")
        && !kind.ends_with("ptnet")
        && !kind.contains("pntd/pnml") // the name of some older tools for the same thing
        && !kind.contains("PTNet")
    {
        return Err(content(net_node, format!("`{kind}` is not a place/transition net")));
    }
    let id_of = |node: Node<'_, '_>| {
        node.attribute("id")
            .map(str::to_owned)
            .ok_or_else(|| content(node, format!("`<{}>` has no `id`", node.tag_name().name())))
    };
    let number = |node: Node<'_, '_>, label: &str, default: u32| -> Result<u32, PnmlError> {
        let Some(label) = node.children().find(|c| c.tag_name().name() == label) else { return Ok(default) };
        let text = label.descendants().find(|d| d.tag_name().name() == "text" || d.tag_name().name() == "value");
        let text = text.and_then(|t| t.text()).unwrap_or_default().trim();
        // Some tools write `Default,3`.
        let digits = text.rsplit(',').next().unwrap_or_default().trim();
        digits.parse().map_err(|_| content(label, format!("`{text}` is not a number of tokens")))
    };

    let mut net = Net::default();
    let mut places: BTreeMap<String, PlaceId> = BTreeMap::new();
    let mut transitions: BTreeMap<String, usize> = BTreeMap::new();
    for node in net_node.descendants() {
        match node.tag_name().name() {
            "place" => {
                let id = id_of(node)?;
                let tokens = number(node, "initialMarking", 0)?;
                if places.insert(id.clone(), PlaceId(net.places.len() as u32)).is_some() {
                    return Err(content(node, format!("the id `{id}` is used twice")));
                }
                net.places.push(id);
                net.initial.push(Initial { low: tokens, high: Some(tokens) });
            }
            "transition" => {
                let id = id_of(node)?;
                if transitions.insert(id.clone(), net.transitions.len()).is_some() {
                    return Err(content(node, format!("the id `{id}` is used twice")));
                }
                net.transitions.push(Transition { name: id, ..Transition::default() });
            }
            "referencePlace" | "referenceTransition" => {
                return Err(content(node, "reference nodes are not supported; flatten the net first".into()));
            }
            _ => {}
        }
    }
    let mut consumed: Vec<BTreeMap<PlaceId, u32>> = vec![BTreeMap::new(); net.transitions.len()];
    let mut produced = consumed.clone();
    for node in net_node.descendants().filter(|n| n.tag_name().name() == "arc") {
        let kind = node.children().find(|c| c.tag_name().name() == "type").and_then(|t| t.attribute("value"));
        if let Some(kind) = kind.filter(|k| *k != "normal") {
            return Err(content(node, format!("arcs of type `{kind}` are not supported")));
        }
        let end =
            |which: &str| node.attribute(which).ok_or_else(|| content(node, format!("this arc has no `{which}`")));
        let (source, target) = (end("source")?, end("target")?);
        let weight = number(node, "inscription", 1)?;
        let (side, place, transition) =
            match (places.get(source), transitions.get(target), transitions.get(source), places.get(target)) {
                (Some(p), Some(t), _, _) => (&mut consumed, *p, *t),
                (_, _, Some(t), Some(p)) => (&mut produced, *p, *t),
                _ => {
                    return Err(content(
                        node,
                        format!("an arc from `{source}` to `{target}` does not join a place and a transition"),
                    ));
                }
            };
        let sum = side[transition].entry(place).or_default();
        *sum =
            sum.checked_add(weight).ok_or_else(|| content(node, "the weights of these arcs are too large".into()))?;
    }
    for (t, (consumed, produced)) in net.transitions.iter_mut().zip(consumed.iter().zip(&produced)) {
        *t = Transition::with_arcs(std::mem::take(&mut t.name), consumed, produced);
    }
    Ok(net)
}

/// Writes a net without its target.
pub fn write(net: &Net) -> Result<String, PnmlError> {
    let escape =
        |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n  \
         <net id=\"net\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\">\n    <page id=\"page\">\n",
    );
    for p in net.place_ids() {
        let id = escape(&net.places[p.index()]);
        let Initial { low, high } = net.initial[p.index()];
        if high != Some(low) {
            return Err(PnmlError::Inexpressible(format!(
                "a range of initial tokens (place `{}`)",
                net.places[p.index()]
            )));
        }
        let marking =
            if low > 0 { format!("<initialMarking><text>{low}</text></initialMarking>") } else { String::new() };
        let _ = writeln!(out, "      <place id=\"{id}\">{marking}</place>");
    }
    for (id, t) in net.transitions() {
        if !t.flows.is_empty() {
            return Err(PnmlError::Inexpressible("transfer and reset arcs".into()));
        }
        let name = format!("t{}", id.0);
        let _ = writeln!(out, "      <transition id=\"{name}\"/>");
        let mut arc = |source: &str, target: &str, weight: i64| {
            if weight > 0 {
                let _ = writeln!(
                    out,
                    "      <arc id=\"{source}-{target}\" source=\"{source}\" target=\"{target}\">\
                     <inscription><text>{weight}</text></inscription></arc>"
                );
            }
        };
        for p in net.place_ids() {
            let place = escape(&net.places[p.index()]);
            let needs = i64::from(t.needs(p));
            arc(&place, &name, needs);
            arc(&name, &place, needs + t.change(p));
        }
    }
    out.push_str("    </page>\n  </net>\n</pnml>\n");
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"<?xml version="1.0"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
 <net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
  <place id="idle"><initialMarking><text>2</text></initialMarking></place>
  <place id="busy"/>
  <transition id="t0"/>
  <arc id="a" source="idle" target="t0"><inscription><text>2</text></inscription></arc>
  <arc id="b" source="t0" target="busy"/>
  <arc id="c" source="t0" target="idle"/>
 </page></net></pnml>"#;

    #[test]
    fn reads_and_writes() {
        let net = parse(SMALL).unwrap();
        assert_eq!(net.places, ["idle", "busy"]);
        assert_eq!(net.transitions[0].guard, [(PlaceId(0), 2)]);
        assert_eq!(net.transitions[0].delta, [(PlaceId(0), -1), (PlaceId(1), 1)]);
        assert_eq!(parse(&write(&net).unwrap()).unwrap(), net);
    }

    #[test]
    fn errors_name_the_position() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(error("<a/>"), "line 1, column 1: expected `<pnml>`, found `<a>`");
        assert!(error("<pnml>").starts_with("line 1, column 1: not well-formed XML: "), "{}", error("<pnml>"));
        assert_eq!(
            error(&SMALL.replace("target=\"busy\"", "target=\"bsy\"")),
            "line 8, column 3: an arc from `t0` to `bsy` does not join a place and a transition"
        );
        assert_eq!(
            error(&SMALL.replace("<text>2</text></initial", "<text>two</text></initial")),
            "line 4, column 20: `two` is not a number of tokens"
        );
    }
}
