//! Whether anything that is looked for can still happen to a set of threads.

use std::sync::Arc;

use explore::{Check, FutureId, Settled, Standing};
use model::{Pair, SiteId};

use crate::failures::{Failures, Risk};
use crate::flow::{Sites, bit};
use crate::summary::{Future, Summary};

/// A thread of the state, or one that may be created.
struct Thread<'a> {
    id: FutureId,
    future: Arc<Future>,
    /// The thread that creates it: by its place, with what that does since.
    creator: Option<(usize, Arc<Sites>)>,
    /// The thread it is about to join.
    joins: Option<usize>,
    /// There may be more than one like it.
    several: bool,
    /// Accesses by other threads that nothing orders before what it does next.
    unknown: Vec<&'a (usize, SiteId)>,
}

pub(crate) fn is_closed(summary: &Summary, standing: &[Standing], settled: &Settled) -> bool {
    let Some(threads) = threads(summary, standing) else { return false };
    let asked = |check: Check| settled.checks.contains(&check);
    !(asked(Check::Race) && may_race(summary, &threads, settled)
        || asked(Check::Deadlock) && may_wait_for_ever(summary, &threads)
        || may_fail(summary, &threads, settled))
}

/// The threads of the state and all they may create. `None` if one of them is not known.
fn threads<'a>(summary: &Summary, standing: &'a [Standing]) -> Option<Vec<Thread<'a>>> {
    let mut threads = Vec::new();
    for Standing { future, joins, unknown } in standing {
        let (id, future) = (*future, summary.get(*future)?);
        let unknown = unknown.iter().collect();
        threads.push(Thread { id, future, creator: None, joins: *joins, several: false, unknown });
    }
    let mut at = 0;
    while let Some(Thread { id, future, several, unknown, .. }) = threads.get(at) {
        let (id, several, creations, unknown) = (*id, *several, future.creations.clone(), unknown.clone());
        for (number, child, since) in creations {
            let once = summary.flow.creations[number].once && !several;
            match threads.iter_mut().skip(standing.len()).find(|t| t.id == child) {
                // Created by another thread too, or again: nothing is known about who came before.
                Some(known) => {
                    (known.creator, known.several) = (None, true);
                    known.unknown.extend(&unknown);
                }
                None => {
                    let future = summary.get(child)?;
                    let creator = (at < standing.len() && id != child).then_some((at, since));
                    let unknown = unknown.clone();
                    threads.push(Thread { id: child, future, creator, joins: None, several: !once, unknown });
                }
            }
        }
        at += 1;
    }
    Some(threads)
}

fn may_race(summary: &Summary, threads: &[Thread<'_>], settled: &Settled) -> bool {
    let with_the_past = |thread: &Thread<'_>| {
        let unknown = thread.unknown.iter().filter(|(other, _)| thread.joins != Some(*other));
        unknown.into_iter().any(|(_, site)| {
            summary.pairs.partners(*site).any(|partner| {
                thread.future.sites.contains(bit(partner)) && !settled.races.contains(&Pair::new(*site, partner))
            })
        })
    };
    threads.iter().any(with_the_past) || may_race_later(summary, threads, settled)
}

fn may_race_later(summary: &Summary, threads: &[Thread<'_>], settled: &Settled) -> bool {
    summary.pairs.iter().any(|(site, partners)| {
        let mut ones = threads.iter().enumerate().filter(|(_, t)| t.future.sites.contains(bit(site)));
        ones.any(|(at, one)| {
            threads.iter().enumerate().any(|(other_at, other)| {
                let two = at != other_at || one.several;
                two && !apart(threads, at, other_at)
                    && partners.iter().any(|partner| {
                        other.future.sites.contains(bit(*partner))
                            && !before(one, other_at, *partner)
                            && !before(other, at, site)
                            && !settled.races.contains(&Pair::new(site, *partner))
                    })
            })
        })
    })
}

/// Whether one of two threads is about to join the other.
fn apart(threads: &[Thread<'_>], one: usize, other: usize) -> bool {
    threads[one].joins == Some(other) || threads[other].joins == Some(one)
}

/// Whether the site comes, in the thread at this place, only before it creates the other one.
fn before(created: &Thread<'_>, creator_at: usize, site: SiteId) -> bool {
    created.creator.as_ref().is_some_and(|(at, since)| *at == creator_at && !since.contains(bit(site)))
}

fn may_wait_for_ever(summary: &Summary, threads: &[Thread<'_>]) -> bool {
    let waits = &summary.waits;
    let count = |sites: &Sites| -> usize {
        let having = threads.iter().filter(|t| t.future.sites.intersection(sites).next().is_some());
        having.map(|t| 1 + usize::from(t.several)).sum()
    };
    count(&waits.alone) > 0 || count(&waits.together) > 1 || count(&waits.joins) > 1
}

/// Whether a thread may fail in some of the schedules that are left and not in others.
fn may_fail(summary: &Summary, threads: &[Thread<'_>], settled: &Settled) -> bool {
    let Failures { assertions, crashes, misuses, stops } = &summary.failures;
    let is_open =
        |check: Check, site: usize| check != Check::Assert || !settled.assertions.contains(&SiteId(site as u32));
    let ahead = |sites: &Sites, is_open: &dyn Fn(usize) -> bool| {
        threads.iter().any(|t| t.future.sites.intersection(sites).any(is_open))
    };
    // Where the thread API is misused, locks and the like need not do what the other questions rely on.
    let asked = |check: Check| check == Check::Misuse || settled.checks.contains(&check);
    let get_on = || !ahead(stops, &|_| true) && !may_wait_for_ever(summary, threads);
    let risks = [(Check::Assert, assertions), (Check::Crash, crashes), (Check::Misuse, misuses)];
    risks.into_iter().filter(|(check, _)| asked(*check)).any(|(check, Risk { open, steady })| {
        let is_open = |site: usize| is_open(check, site);
        ahead(open, &is_open) || (ahead(steady, &is_open) && !get_on())
    })
}
