//! The figures of Kahlon, Yang, Sankaranarayanan and Gupta, *Fast and Accurate Static Data-Race Detection for Concurrent
//! Programs*, work as its text says.

use facts::Facts;
use lockset::{Analysis, Answer, Reason, analyse};
use model::SiteId;
use program::Program;

fn analysed(text: &str) -> (Program, Analysis) {
    let program = Program::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let analysis = analyse(&Facts::of(program.clone())).unwrap();
    (program, analysis)
}

/// The site whose expression is this.
fn site(program: &Program, name: &str) -> SiteId {
    let found = program.sites.iter_enumerated().find(|(_, site)| site.expression.as_deref() == Some(name));
    found.unwrap_or_else(|| panic!("no site `{name}`")).0
}

fn answer(program: &Program, analysis: &Analysis, one: &str, other: &str) -> Answer {
    let pair = model::Pair::new(site(program, one), site(program, other));
    let found = analysis.findings.iter().find(|f| f.pair == pair);
    found.unwrap_or_else(|| panic!("({one}, {other}) is not listed")).answer.clone()
}

/// Figure 2: two threads with a shared variable x; e1 is 6a, e2 is 6b, e3 is 9b, e4 is 2b.
const FIGURE_2: &str = r#"
global lk1: 40
global lk2: 40
global x: 4
global y: 4
global a: 4
global b: 4
fn first(%arg) {
  store 4, @a, 1
  lock @lk1
  lock @lk2
  store 4, @y, 1
  unlock @lk2
  store 4, @x, 3      !f.c:6:1 "e1"
  unlock @lk1
  return 0
}
fn second(%arg) {
  lock @lk2
  store 4, @x, 0      !f.c:12:1 "e4"
  lock @lk1
  store 4, @b, 2
  unlock @lk1
  store 4, @x, 2      !f.c:16:1 "e2"
  unlock @lk2
  lock @lk2
  store 4, @x, 1      !f.c:19:1 "e3"
  unlock @lk2
  return 0
}
fn main() {
  %t = create &first, 0
  %u = create &second, 0
  join %t
  join %u
  return 0
}
entry main
"#;

#[test]
fn figure_2_histories_exclude_e1_e2_and_keep_e1_e4() {
    let text = FIGURE_2.replace("global x: 4", "file \"f.c\"\nglobal x: 4");
    let (program, analysis) = analysed(&text);
    let dropped = answer(&program, &analysis, "e1", "e2");
    assert_eq!(dropped, Answer::Absent(Reason::Histories("lk1".to_owned(), "lk2".to_owned())));
    let Answer::Unknown { covered, .. } = answer(&program, &analysis, "e1", "e4") else { panic!("(e1, e4) is kept") };
    assert!(!covered);
    let Answer::Unknown { covered, .. } = answer(&program, &analysis, "e1", "e3") else {
        panic!("(e1, e3) only ranks")
    };
    assert!(covered, "(e1, e4) implies (e1, e3)");
    let rank = |other: &str| {
        let pair = model::Pair::new(site(&program, "e1"), site(&program, other));
        analysis.findings.iter().position(|f| f.pair == pair)
    };
    assert!(rank("e4") < rank("e3"));
}

/// Figure 1: which lock `p` and `q` name at 2c, 5c and in the caller, seen by what holding them protects.
const FIGURE_1: &str = r#"
file "f.c"
global g3: 40
global g4: 40
global g5: 40
global flag: 4
global by_p_at_2c: 4
global by_q_at_2c: 4
global by_p_at_5c: 4
global by_q_at_5c: 4
fn goo() {
entry:
  %p1 = @g3
  %q = @g4
  lock %p1
  store 4, @by_p_at_2c, 1    !f.c:1:1 "p at 2c"
  unlock %p1
  lock %q
  store 4, @by_q_at_2c, 1    !f.c:2:1 "q at 2c"
  unlock %q
  %c = load 4 seq_cst, @flag
  branch %c, set, end
set:
  goto end
end:
  %p = phi [entry: %p1, set: @g5]
  lock %p
  store 4, @by_p_at_5c, 1    !f.c:3:1 "p at 5c"
  unlock %p
  lock %q
  store 4, @by_q_at_5c, 1    !f.c:4:1 "q at 5c"
  unlock %q
  return
}
fn bar() {
  call goo()
  return
}
fn foo(%arg) {
  call bar()
  return 0
}
fn main() {
  %t = create &foo, 0
  %u = create &foo, 0
  join %t
  join %u
  return 0
}
entry main
"#;

#[test]
fn figure_1_summaries() {
    let (program, analysis) = analysed(FIGURE_1);
    let is = |name: &str| answer(&program, &analysis, name, name);
    assert_eq!(is("p at 2c"), Answer::Absent(Reason::CommonLock("g3".to_owned())));
    assert_eq!(is("q at 2c"), Answer::Absent(Reason::CommonLock("g4".to_owned())));
    assert_eq!(is("q at 5c"), Answer::Absent(Reason::CommonLock("g4".to_owned())));
    // The branch decides between g3 and g5: there is no lock that p surely is.
    assert!(matches!(is("p at 5c"), Answer::Unknown { .. }));
}

/// Library memory of which no pointer is ever returned is memory that threads share.
#[test]
fn threads_meet_in_the_state_of_a_library_function() {
    let text = "fn t(%a) { library drand48()\n return 0 }\n\
                fn main() { %h = create &t, 0\n %i = create &t, 0\n return 0 }\nentry main\n";
    let (_, analysis) = analysed(text);
    assert!(analysis.findings.iter().any(|finding| matches!(finding.answer, Answer::Unknown { .. })));
}
