//! The small language: the paper's examples with their verdicts, the printed form, and errors with line and column.

use std::path::{Path, PathBuf};

use cover::sml::{Sml, net};
use petri::backward::{Answer, Pruning, solve};
use petri::certificate;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> Sml {
    let path = root().join("examples/sml").join(name).with_extension("sml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Sml::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Whether no variable can be raced on; with what shows it checked.
fn is_safe(sml: &Sml, pruning: Pruning) -> bool {
    let net = net::net(sml);
    assert_eq!(net.validate(), Ok(()));
    match solve(&net, pruning, |_| true).0 {
        Answer::Safe(proof) => {
            assert_eq!(certificate::check(&net, &proof), Ok(()));
            true
        }
        Answer::Covered { initial, sequence } => {
            assert_eq!(certificate::replay(&net, &initial, &sequence), Ok(()));
            false
        }
        Answer::Stopped(_) => unreachable!("nothing stops it"),
    }
}

/// The programs of table 1, and whether they are race-free. The figures are in `docs/table1.md`.
const TABLE: [(&str, bool); 7] = [
    ("counter", false),
    ("counter_with_lock", true),
    ("check_then_act", false),
    ("check_then_act_lock", true),
    ("producers_consumers", true),
    ("producers_consumers_2", true),
    ("lock_read_write_only", true),
];

#[test]
fn the_papers_examples() {
    for (file, safe) in TABLE {
        let sml = read(file);
        for pruning in [Pruning::Plain, Pruning::Invariants] {
            assert_eq!(is_safe(&sml, pruning), safe, "{file}, {}", pruning.name());
        }
    }
}

#[test]
fn creation_join_and_broadcast() {
    assert!(is_safe(&read("workers"), Pruning::Invariants));
    let after_join = "shared x; job main { create one; join one; write x; } job one created { write x; }";
    assert!(is_safe(&Sml::parse(after_join).unwrap(), Pruning::Invariants));
    let two = "shared x; job main { create one; create one; join one; write x; } job one created { write x; }";
    assert!(!is_safe(&Sml::parse(two).unwrap(), Pruning::Invariants));
    let before = |wake: &str| {
        format!(
            "shared x, c, L; job waiter {{ acquire L; wait c, L; release L; write x; }}
             job waker {{ {wake} }} job other {{ write x; }}"
        )
    };
    assert!(is_safe(&Sml::parse(&before("")).unwrap(), Pruning::Invariants), "nobody wakes the waiter");
    assert!(!is_safe(&Sml::parse(&before("signal c;")).unwrap(), Pruning::Invariants));
    assert!(!is_safe(&Sml::parse(&before("broadcast c;")).unwrap(), Pruning::Invariants));
}

#[test]
fn printed_programs_read_back() {
    for (file, ..) in TABLE {
        let sml = read(file);
        let text = sml.to_string();
        let again = Sml::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(again.to_string(), text);
        assert_eq!(net::net(&again).transitions.len(), net::net(&sml).transitions.len());
    }
}

#[test]
fn errors_name_line_and_column() {
    let cases = [
        ("share x;", "1:1: expected `shared` or `job`, found `share`"),
        ("shared x\njob a { }", "2:1: expected `;`, found `job`"),
        ("shared x, x;", "1:11: `x` is already shared"),
        ("shared job;", "1:8: expected a shared name; `job` is a word of the language"),
        ("shared 1x;", "1:8: expected a shared name, found `1x`"),
        ("shared x;\njob a {\n  read y;\n}", "3:8: there is no shared name `y`"),
        ("shared x; job a { read x }", "1:26: expected `;`, found `}`"),
        ("shared x; job a { read x;", "1:26: expected a statement, a label or `}`, found the end of the text"),
        ("shared x; job a { grab x; }", "1:19: expected a statement, a label or `}`, found `grab`"),
        ("shared x; job a { read x; acquire x; }", "1:35: `x` is a lock here but a variable before"),
        ("job a { goto b; }", "1:14: there is no label `b` in this job"),
        ("job a { b: b: }", "1:12: the label `b` is already there"),
        ("job a { create b; }", "1:16: there is no job `b`"),
        ("job a { } job a { }", "1:15: the job `a` is already there"),
        ("job many { }", "1:5: expected the job's name; `many` is a word of the language"),
        ("shared c; job a { wait c; }", "1:25: expected `,`, found `;`"),
        ("// only a remark\n  job é { signal ü; }", "2:18: there is no shared name `ü`"),
        ("job a $", "1:7: expected `{`, found `$`"),
    ];
    for (text, message) in cases {
        assert_eq!(Sml::parse(text).map(|_| ()).unwrap_err().to_string(), message, "{text}");
    }
}
