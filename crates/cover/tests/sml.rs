//! The small language: the paper's examples with their verdicts, the printed form, and errors with line and column.

use std::path::{Path, PathBuf};

use cover::sml::{Sml, net};
use petri::backward::{Answer, Pruning, Statistics, solve};
use petri::certificate;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> Sml {
    let path = root().join("examples/sml").join(name).with_extension("sml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Sml::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Whether no variable can be raced on, with the counters.
fn is_safe(sml: &Sml, pruning: Pruning) -> (bool, Statistics) {
    let net = net::net(sml);
    assert_eq!(net.validate(), Ok(()));
    match solve(&net, pruning, |_| true) {
        (Answer::Safe(proof), statistics) => {
            assert_eq!(certificate::check(&net, &proof), Ok(()));
            (true, statistics)
        }
        (Answer::Covered { initial, sequence }, statistics) => {
            assert_eq!(certificate::replay(&net, &initial, &sequence), Ok(()));
            (false, statistics)
        }
        (Answer::Stopped(_), _) => unreachable!("nothing stops it"),
    }
}

/// A row of table 1: file, name, whether it is safe, configurations, subsumed, iterations.
const TABLE: [(&str, &str, bool, [u64; 3]); 7] = [
    ("counter", "Counter", false, [10, 3, 4]),
    ("counter_with_lock", "CounterWithLock", true, [14, 7, 6]),
    ("check_then_act", "CheckThenAct", false, [20, 12, 5]),
    ("check_then_act_lock", "CheckThenAct-Lock", true, [13, 4, 4]),
    ("producers_consumers", "Prods/Cons", true, [310, 645, 19]),
    ("producers_consumers_2", "Prods/Cons 2", true, [290, 561, 17]),
    ("lock_read_write_only", "Lock-ReadWriteOnly", true, [25, 13, 8]),
];

const HEAD: &str = "\
# The small language: the paper's table 1

Written by `cargo test -p raceproof-cover --test sml` with `BLESS=1`. The paper's figures are for nets that it does not
print; ours are for the files in `examples/sml`, with the same algorithm (`plain`) and with invariants.

| program | race-free | paper: configurations | subsumed | iterations | plain: configurations | subsumed | iterations | invariants: configurations | iterations |
|---|---|---|---|---|---|---|---|---|---|
";

#[test]
fn the_papers_examples() {
    let mut text = HEAD.to_owned();
    for (file, name, safe, [configurations, subsumed, iterations]) in TABLE {
        let sml = read(file);
        let (plain_safe, plain) = is_safe(&sml, Pruning::Plain);
        let (pruned_safe, pruned) = is_safe(&sml, Pruning::Invariants);
        assert_eq!((plain_safe, pruned_safe), (safe, safe), "{name}");
        text.push_str(&format!(
            "| [{name}](../examples/sml/{file}.sml) | {} | {configurations} | {subsumed} | {iterations} | {} | {} | {} | {} | {} |\n",
            if safe { "yes" } else { "no" },
            plain.configurations,
            plain.subsumed,
            plain.iterations,
            pruned.configurations,
            pruned.iterations,
        ));
    }
    let path = root().join("docs/small-language.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).expect("docs can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, text, "the table is out of date; run with BLESS=1");
}

#[test]
fn creation_join_and_broadcast() {
    assert!(is_safe(&read("workers"), Pruning::Invariants).0);
    let after_join = "shared x; job main { create one; join one; write x; } job one created { write x; }";
    assert!(is_safe(&Sml::parse(after_join).unwrap(), Pruning::Invariants).0);
    let two = "shared x; job main { create one; create one; join one; write x; } job one created { write x; }";
    assert!(!is_safe(&Sml::parse(two).unwrap(), Pruning::Invariants).0);
    let before = |wake: &str| {
        format!(
            "shared x, c, L; job waiter {{ acquire L; wait c, L; release L; write x; }}
             job waker {{ {wake} }} job other {{ write x; }}"
        )
    };
    assert!(is_safe(&Sml::parse(&before("")).unwrap(), Pruning::Invariants).0, "nobody wakes the waiter");
    assert!(!is_safe(&Sml::parse(&before("signal c;")).unwrap(), Pruning::Invariants).0);
    assert!(!is_safe(&Sml::parse(&before("broadcast c;")).unwrap(), Pruning::Invariants).0);
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
