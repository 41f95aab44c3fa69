//! Meetings of classes against comparing every two sites.

use std::collections::BTreeMap;

use facts::Facts;
use facts::meetings::MeetingAccess;
use facts::touches::{Touch, touches};
use facts::values::Root;
use model::{Pair, SiteId, Spent};
use program::Program;
use testkit::Limits;
use testkit::generator::{Case, Feature};

/// Programs compared.
const PROGRAMS: u64 = 2_000;

/// What a pair does where it meets, and what the memory is called there.
type Example = ([MeetingAccess; 2], Root);

/// Whether two pieces of memory may overlap in a way that could race.
fn may_race(one: &Touch, other: &Touch) -> bool {
    let overlap = match (one.bytes, other.bytes) {
        (Some((a, len_a)), Some((b, len_b))) if one.root == other.root => {
            a < b + len_b.cast_signed() && b < a + len_a.cast_signed()
        }
        _ => true,
    };
    (one.kind.writes() || other.kind.writes()) && !(one.atomic && other.atomic) && overlap
}

/// Every two sites that meet, with all examples of it.
fn compared(facts: &Facts) -> BTreeMap<Pair, Vec<Example>> {
    let (program, values, invocations) = (facts.program(), facts.values().unwrap(), facts.invocations().unwrap());
    let everything = !facts.obstacles().unwrap().is_empty();
    let mut touched: Vec<(SiteId, Touch)> = Vec::new();
    for (id, function) in program.functions.iter_enumerated() {
        if !everything && !invocations.is_reachable(id) {
            continue;
        }
        for statement in function.blocks.iter().flat_map(|block| &block.statements) {
            let Some(site) = statement.site else { continue };
            touched.extend(touches(program, &values, id, &statement.stmt).into_iter().map(|touch| (site, touch)));
        }
    }
    let mut found: BTreeMap<Pair, Vec<Example>> = BTreeMap::new();
    for (a, one) in touched.iter().filter(|(_, one)| values.is_shared(one.root)) {
        for (b, other) in &touched {
            let is_same = one.root == other.root || other.root == Root::Unknown && values.is_escaped(one.root);
            if is_same && may_race(one, other) {
                let (low, high) = if a <= b { (one, other) } else { (other, one) };
                let accesses = [low, high].map(|t| MeetingAccess { kind: t.kind, atomic: t.atomic });
                found.entry(Pair::new(*a, *b)).or_default().push((accesses, one.root));
            }
        }
    }
    found
}

fn compare(program: Program, text: &dyn Fn() -> String) {
    let facts = Facts::of(program);
    let expected = compared(&facts);
    let meetings = facts.meetings().unwrap();
    let pairs: Vec<Pair> = meetings.iter().map(|meeting| meeting.pair).collect();
    assert_eq!(pairs, expected.keys().copied().collect::<Vec<_>>(), "{}", text());
    for meeting in meetings {
        let examples = &expected[&meeting.pair];
        assert!(examples.contains(&(meeting.accesses, meeting.root())), "{meeting:?} of {examples:?}\n{}", text());
        assert!(!meeting.variable(facts.program()).is_empty(), "{meeting:?}\n{}", text());
    }
}

#[test]
fn classes_meet_where_their_sites_do() {
    for seed in 0..testkit::programs(PROGRAMS) {
        let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
        compare(case.program(), &|| format!("seed {seed}\n{}", case.sketch.emit().text));
    }
}

/// Sites of one function that touch several objects alike, in part, and anywhere.
#[test]
fn classes_of_many_objects_meet() {
    let text = "global x: 16\nglobal y: 16\nglobal z: 16\nglobal p: 8\n\
        fn work(%n) {\nentry:\n%some = select %n, @x, @y\n%other = select %n, @y, @z+8\n%any = load 8, %n\n\
        store 4, %some, 1\n%a = load 4, %some\nstore 8, %other, 2\n%b = load 8, @y+8\nstore 4, %any, 3\n\
        store 4 relaxed, @x, 1\n%c = load 4 relaxed, %some\nstore 8, @p, %some\nstore 4, ?, 4\nreturn\n}\n\
        fn main() {\nentry:\n%t = create &work, @p\n%u = create &work, @p\njoin %t\njoin %u\nreturn 0\n}\nentry main\n";
    compare(Program::parse(text).unwrap_or_else(|error| panic!("{error}")), &|| text.to_owned());
}

/// More pairs than anybody looks at are not listed; that takes no time.
#[test]
fn very_many_meetings_are_not_listed() {
    let stores = "store 4, @x, 1\n".repeat(2_000);
    let text = format!(
        "global x: 4\nfn work(%n) {{\nentry:\n{stores}return\n}}\nfn main() {{\nentry:\n%t = create &work, 0\n\
         %u = create &work, 0\nreturn 0\n}}\nentry main\n"
    );
    let facts = Facts::of(Program::parse(&text).unwrap_or_else(|error| panic!("{error}")));
    assert_eq!(facts.meetings().unwrap_err(), Spent::Pairs);
}
