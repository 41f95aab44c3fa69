//! Minimises a failing source.

use model::Environment;

use super::{Ending, Handles, Move, Place, Source};

/// Drops moves and simplifies what is around them, one at a time, while the failure persists and attempts are left.
pub(super) fn shrink(source: &Source, mut attempts: usize, mut fails: impl FnMut(&Source) -> bool) -> Source {
    let mut smallest = source.clone();
    let mut still_fails = |candidate: &Source| {
        attempts = attempts.saturating_sub(1);
        attempts > 0 && fails(candidate)
    };
    while let Some(smaller) = smaller(&smallest).into_iter().find(|candidate| still_fails(candidate)) {
        smallest = smaller;
    }
    smallest
}

/// All sources with one thing less.
fn smaller(source: &Source) -> Vec<Source> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Source)| {
        let mut candidate = source.clone();
        change(&mut candidate);
        all.push(candidate);
    };
    let parts: [fn(&mut Source) -> &mut Vec<Move>; 6] = [
        |source| &mut source.workers[0],
        |source| &mut source.workers[1],
        |source| &mut source.beside,
        |source| &mut source.between,
        |source| &mut source.after,
        |source| &mut source.at_exit,
    ];
    for moves in parts {
        for cut in cuts(moves(&mut source.clone())) {
            with(&|candidate| moves(candidate).clone_from(&cut));
        }
    }
    if source.handles != Handles::Plain {
        with(&|candidate| candidate.handles = Handles::Plain);
    }
    if source.place != Place::Globals {
        with(&|candidate| candidate.place = Place::Globals);
    }
    if source.ending != Ending::Return {
        with(&|candidate| candidate.ending = Ending::Return);
    }
    if source.environment != Environment::default() {
        with(&|candidate| candidate.environment = Environment::default());
    }
    all
}

/// All lists with one move less or one simpler.
fn cuts(moves: &[Move]) -> Vec<Vec<Move>> {
    let mut lists = Vec::new();
    for (index, one) in moves.iter().enumerate() {
        let mut with = |instead: &[Move]| lists.push([&moves[..index], instead, &moves[index + 1..]].concat());
        with(&[]);
        match one {
            Move::Locked(lock, how, inner) => {
                with(inner);
                cuts(inner).into_iter().for_each(|inner| with(&[Move::Locked(*lock, *how, inner)]));
            }
            Move::Thrown { guard, destroyed, inner, handler } => {
                with(inner);
                with(handler);
                let again = |guard, destroyed, inner, handler| [Move::Thrown { guard, destroyed, inner, handler }];
                if guard.is_some() {
                    with(&again(None, *destroyed, inner.clone(), handler.clone()));
                }
                if destroyed.is_some() {
                    with(&again(*guard, None, inner.clone(), handler.clone()));
                }
                for inner in cuts(inner) {
                    with(&again(*guard, *destroyed, inner, handler.clone()));
                }
                for handler in cuts(handler) {
                    with(&again(*guard, *destroyed, inner.clone(), handler));
                }
            }
            Move::Jumped { held, by_pointer, inner, landed } => {
                with(inner);
                with(landed);
                let again = |held, inner, landed| [Move::Jumped { held, by_pointer: *by_pointer, inner, landed }];
                if held.is_some() {
                    with(&again(None, inner.clone(), landed.clone()));
                }
                for inner in cuts(inner) {
                    with(&again(*held, inner, landed.clone()));
                }
                for landed in cuts(landed) {
                    with(&again(*held, inner.clone(), landed));
                }
            }
            Move::Taken(access, inner) => {
                with(inner);
                cuts(inner).into_iter().for_each(|inner| with(&[Move::Taken(*access, inner)]));
            }
            Move::Called(callback, inner) => {
                with(inner);
                cuts(inner).into_iter().for_each(|inner| with(&[Move::Called(*callback, inner)]));
            }
            Move::Received(inner) | Move::Chosen(inner) => with(inner),
            Move::Read(_) | Move::Write(_) | Move::Publish(_) | Move::Fence(_) | Move::Library(_) | Move::Send => {}
        }
    }
    lists
}
