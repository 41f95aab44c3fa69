//! The pairs of a ledger as the document lists them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use explore::Witness;
use facts::meetings::{Meeting, MeetingAccess};
use lockset::Finding;
use model::{Engine, Pair, SiteId};
use program::{Program, Stmt, SyncOp};
use report::{Code, Details, PairVerdict, ShownBy, Unknown};

use super::races::Shown;
use crate::describe::Position;
use crate::engine::explore::{ORDERED, SCOPE};
use crate::engine::{self, Open, Verdict};
use crate::ledger::Entry;
use crate::line::Line;

/// Races in the order in which they were found, those that controlled runs show first; then all other pairs: those that
/// are predicted, then by the static engine's rank where it has one.
pub(super) fn of_line(line: &Line<'_>, first_unknown: Option<&Unknown>) -> Vec<report::Pair> {
    let mut pairs = races(line);
    pairs.extend(observed(line));
    let text = Text::new(line);
    let is_race = |entry: &Entry| matches!(entry.verdict, Some((_, Verdict::Race(_) | Verdict::Observed { .. })));
    let mut rest: Vec<_> = line.ledger.iter().filter(|(_, entry)| !is_race(entry)).collect();
    rest.sort_by_cached_key(|(pair, entry)| (!is_predicted(entry), text.rank(*pair), *pair));
    let mut lines = OwnLines::default();
    for (pair, entry) in rest {
        if entry.seen.is_some() || lines.is_new(&text, pair, is_absent(entry)) {
            pairs.extend(listed(line, &text, pair, entry, first_unknown));
        }
    }
    pairs
}

fn is_absent(entry: &Entry) -> bool {
    matches!(entry.verdict, Some((_, Verdict::Absent { .. })))
}

/// The user's own lines whose library code has its pair in the list: of very many pairs, few are told
/// ([`report::document::OwnLines`]), and only these are described.
#[derive(Default)]
struct OwnLines<'a> {
    /// Numbers of places: file and line, or a function of the library that no line of the user's own is known to call.
    places: HashMap<(Option<String>, u32), u32>,
    /// The place of each site, and whether library code is there.
    sites: HashMap<SiteId, (u32, bool)>,
    known: HashSet<([u32; 2], Option<Cow<'a, str>>, bool)>,
}

impl<'a> OwnLines<'a> {
    /// Whether the pair tells something that none of the same verdict before it does.
    fn is_new(&mut self, text: &'a Text<'_>, pair: Pair, absent: bool) -> bool {
        let sites = pair.sites().map(|site| self.place(text.program, site));
        let inside = sites.iter().filter(|(_, inside)| *inside).count();
        let mut places = sites.map(|(place, _)| place);
        places.sort_unstable();
        let variable = (inside == 1).then(|| text.variable(pair)).flatten();
        inside == 0 || self.known.insert((places, variable, absent))
    }

    fn place(&mut self, program: &Program, site: SiteId) -> (u32, bool) {
        *self.sites.entry(site).or_insert_with(|| {
            let Position { function, inside, file, line, .. } = Position::of(program, Some(site));
            let is_apart = file.as_deref().is_some_and(report::document::is_foreign);
            let place = if is_apart { (Some(function), 0) } else { (file, line) };
            let next = self.places.len() as u32;
            (*self.places.entry(place).or_insert(next), inside.is_some() || is_apart)
        })
    }
}

/// The races, as runs have shown them.
fn races(line: &Line<'_>) -> Vec<report::Pair> {
    let pair = |((pair, by, witness), shown): ((Pair, Engine, &Witness), &Shown)| {
        // The runs of the engine that found it say most.
        let own = line.sightings.iter().filter(|(engine, _)| *engine == by);
        let others = line.sightings.iter().filter(|(engine, _)| *engine != by);
        let protection = own.chain(others).find_map(|(_, sightings)| sightings.protection(&shown.accesses));
        let protection = protection.or_else(|| line.ledger.get(pair)?.protection.clone());
        // A lock that is held everywhere, perhaps by readers, is no advice.
        let protection = protection.filter(|protection| protection.held < protection.places);
        report::Pair {
            verdict: PairVerdict::Race,
            confirmed: true,
            code: Some(race_code(line.subject.program(), pair.sites())),
            reason: race_reason(line.subject.program(), pair.sites(), witness.adjacent),
            witness: shown.witness.clone(),
            details: Details {
                shown: Some(ShownBy::Run),
                run: shown.run.clone(),
                protection,
                // Races are listed first, in the order in which they were shown.
                inside: shown.inside.map(|index| super::id(index as u32 + 1)),
                ..Details::default()
            },
            ..unsettled(by, shown.accesses[0].variable.clone(), shown.accesses.clone().map(|seen| seen.access))
        }
    };
    line.ledger.races().zip(&line.shown).map(pair).collect()
}

/// The races that recordings show and no controlled run does.
fn observed(line: &Line<'_>) -> impl Iterator<Item = report::Pair> {
    line.ledger.observed().filter_map(|(_, entry)| {
        let (by, Verdict::Observed { reason, settle }) = entry.verdict.as_ref()? else { return None };
        let seen = entry.seen.as_deref()?;
        let protection = line.sightings.iter().find_map(|(_, sightings)| sightings.protection(seen));
        let protection = protection.filter(|protection| protection.held < protection.places);
        let settle = Some(settle.clone());
        Some(report::Pair {
            verdict: PairVerdict::Race,
            code: Some(Code::OBSERVED_RACE),
            reason: reason.clone(),
            details: Details { shown: Some(ShownBy::Recording), protection, settle, ..Details::default() },
            ..unsettled(*by, seen[0].variable.clone(), seen.each_ref().map(|seen| seen.access.clone()))
        })
    })
}

/// Whether a reordering of a recorded run has the race, and nothing else shows it.
fn is_predicted(entry: &Entry) -> bool {
    matches!(&entry.verdict, Some((_, Verdict::Open(Open { code: Code::NOT_REPRODUCED, .. }))))
}

/// What a race of accesses at these sites is called.
pub(crate) fn race_code(program: &Program, sites: [SiteId; 2]) -> Code {
    if is_of_handle(program, sites) { Code::HANDLE_RACE } else { Code::DATA_RACE }
}

/// Why a confirmed race is one.
pub(crate) fn race_reason(program: &Program, sites: [SiteId; 2], adjacent: bool) -> String {
    let mut reason = if adjacent {
        "in one run both threads were about to make these accesses, with nothing ordering them".to_owned()
    } else {
        "nothing orders the two accesses, although the second only happens after the first".to_owned()
    };
    if is_of_handle(program, sites) {
        reason += "; POSIX lets the creation store the handle after the new thread has started, the GNU C library stores \
                   it before";
    }
    reason
}

/// Whether one of the accesses is the store of a new thread's handle.
fn is_of_handle(program: &Program, sites: [SiteId; 2]) -> bool {
    let statements = program.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.statements);
    let mut creations = statements.filter(|s| matches!(s.stmt, Stmt::Sync { op: SyncOp::Create { .. }, .. }));
    creations.any(|statement| statement.site.is_some_and(|site| sites.contains(&site)))
}

/// A pair that is not settled, without a reason.
fn unsettled(by: Engine, variable: String, accesses: [report::Access; 2]) -> report::Pair {
    report::Pair {
        id: String::new(),
        verdict: PairVerdict::Unknown,
        confirmed: false,
        by,
        rank: 0,
        code: None,
        variable,
        reason: String::new(),
        accesses,
        witness: None,
        details: Details::default(),
    }
}

/// A pair that is no race; `None` if nothing describes its accesses.
fn listed(
    line: &Line<'_>,
    text: &Text<'_>,
    pair: Pair,
    entry: &Entry,
    first_unknown: Option<&Unknown>,
) -> Option<report::Pair> {
    let (variable, accesses) = match &entry.seen {
        Some(seen) => (seen[0].variable.clone(), seen.each_ref().map(|seen| seen.access.clone())),
        None => text.describe(pair)?,
    };
    let Some((by, verdict)) = &entry.verdict else {
        let reason = first_unknown.map_or("no engine was asked about it", |unknown| &unknown.reason);
        let open = unsettled(Engine::Static, variable, accesses);
        let details = Details { settle: first_unknown.map(|unknown| unknown.settle.clone()), ..Details::default() };
        let code = Some(first_unknown.map_or(Code::NOT_ASKED, |unknown| unknown.code));
        return Some(report::Pair { reason: reason.to_owned(), code, details, ..open });
    };
    let listed = unsettled(*by, variable, accesses);
    let absent = |by, reason: &str, scope| {
        let details = Details { scope: Some(scope), ..Details::default() };
        report::Pair { verdict: PairVerdict::Absent, by, reason: reason.to_owned(), details, ..listed.clone() }
    };
    Some(match (verdict, line.is_doubted(*by)) {
        (Verdict::Absent { .. }, Some(_)) if line.covered => absent(Engine::Explore, ORDERED, SCOPE),
        (Verdict::Absent { .. }, Some(doubt)) => {
            let gap = doubt.gap();
            let details = Details { settle: Some(gap.settle), ..Details::default() };
            report::Pair { reason: gap.reason, code: Some(gap.code), details, ..listed }
        }
        (Verdict::Absent { reason, scope }, None) => absent(*by, reason, *scope),
        (Verdict::Open(Open { code, reason, settle, .. }), _) => {
            let (protection, shown) = (entry.protection.clone(), is_predicted(entry).then_some(ShownBy::Prediction));
            let details = Details { shown, settle: settle.clone(), protection, ..Details::default() };
            report::Pair { reason: reason.clone(), code: Some(*code), details, ..listed }
        }
        // Races are listed by themselves.
        (Verdict::Race(_) | Verdict::Observed { .. }, _) => return None,
    })
}

/// How the text describes pairs that no run has executed.
struct Text<'a> {
    program: &'a Program,
    /// What the static engine found, with its rank: the most promising first.
    findings: BTreeMap<Pair, (usize, &'a Finding)>,
    meetings: &'a [Meeting],
}

impl<'a> Text<'a> {
    fn new(line: &'a Line<'_>) -> Self {
        let findings = line.analysis.iter().flat_map(|analysis| &analysis.findings);
        let meetings =
            if line.request.lists_text_pairs() { line.subject.facts().meetings().unwrap_or(&[]) } else { &[] };
        Self {
            program: line.subject.program(),
            findings: findings.enumerate().map(|(rank, finding)| (finding.pair, (rank, finding))).collect(),
            meetings,
        }
    }

    /// The rank of a pair, the last one where the static engine has none.
    fn rank(&self, pair: Pair) -> usize {
        self.findings.get(&pair).map_or(usize::MAX, |(rank, _)| *rank)
    }

    /// What a person calls the memory that both touch.
    fn variable(&self, pair: Pair) -> Option<Cow<'_, str>> {
        match self.findings.get(&pair) {
            Some((_, finding)) => Some(Cow::Borrowed(&finding.variable)),
            None => Some(Cow::Owned(self.meeting(pair)?.variable(self.program))),
        }
    }

    fn meeting(&self, pair: Pair) -> Option<&'a Meeting> {
        let at = self.meetings.binary_search_by_key(&pair, |meeting| meeting.pair).ok()?;
        Some(&self.meetings[at])
    }

    /// What both touch, and the accesses: no threads, and locks only where the static engine found some.
    fn describe(&self, pair: Pair) -> Option<(String, [report::Access; 2])> {
        if let Some((_, finding)) = self.findings.get(&pair) {
            return Some(engine::static_::describe(self.program, finding));
        }
        let meeting = self.meeting(pair)?;
        let ([one, other], [a, b]) = (pair.sites(), &meeting.accesses);
        Some((meeting.variable(self.program), [self.access(one, *a), self.access(other, *b)]))
    }

    fn access(&self, site: SiteId, MeetingAccess { kind, atomic }: MeetingAccess) -> report::Access {
        let Position { function, inside, file, line, column } = Position::of(self.program, Some(site));
        let (thread, locks, created) = (String::new(), Vec::new(), None);

        let stack = Vec::new();
        report::Access { kind, atomic, file, line, column, function, inside, thread, locks, created, stack }
    }
}
