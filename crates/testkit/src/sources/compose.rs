//! Chooses what a source does.

use super::{
    Access, Callback, Carrier, Ending, Handles, Language, Library, Locking, Move, Operation, Order, Place, Registered,
    Source,
};
use crate::generator::Random;
use model::{Environment, Surprise};

const ORDERS: [Order; 6] =
    [Order::Relaxed, Order::Consume, Order::Acquire, Order::Release, Order::AcquireRelease, Order::Sequential];

pub(super) fn source(seed: u64) -> Source {
    // Neighbouring seeds of the generator share most of their sequences.
    let mut random = Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let language = if random.one_in(3) { Language::Cxx } else { Language::C };
    let mut composer = Composer { random, language };
    let handles = composer.random.pick(Handles::of(language));
    let handles = if composer.random.one_in(3) { Handles::Plain } else { handles };
    let ending = [Ending::Return, Ending::Return, Ending::Exit, Ending::QuickExit, Ending::ThreadExit];
    let registered = [Registered::AtExit, Registered::OnExit, Registered::AtQuickExit];
    Source {
        language,
        place: composer.place(seed),
        handles,
        workers: [composer.moves(1, 2, 2), composer.moves(1, 2, 2)],
        beside: composer.moves(0, 1, 1),
        between: composer.moves(0, 1, 1),
        after: composer.moves(0, 1, 1),
        at_exit: if composer.random.one_in(6) { vec![composer.access()] } else { Vec::new() },
        registered: composer.random.pick(&registered),
        ending: composer.random.pick(&ending),
        environment: composer.environment(),
    }
}

struct Composer {
    random: Random,
    language: Language,
}

impl Composer {
    /// Nothing most of the time: proofs are made for that.
    fn environment(&mut self) -> Environment {
        let parts = [Surprise::Spurious, Surprise::Uninitialised].map(|part| self.random.one_in(3).then_some(part));
        parts.into_iter().flatten().fold(Environment::default(), Environment::with)
    }

    /// Carriers have a sequence of their own: the rest of a source does not depend on whether there is one.
    fn place(&mut self, seed: u64) -> Place {
        let places = [
            Place::Globals,
            Place::Globals,
            Place::Fields,
            Place::Heap,
            Place::Stack,
            Place::ThreadLocal,
            Place::Indexed,
        ];
        let carriers = [
            Carrier::Wide,
            Carrier::Vector,
            Carrier::Mixed,
            Carrier::Tagged,
            Carrier::Bytes,
            Carrier::Piped,
            Carrier::Assembly,
        ];
        let place = self.random.pick(&places);
        let mut own = Random::new(seed.wrapping_mul(0xd134_2543_de82_ef95));
        if own.one_in(5) { Place::Carried(own.pick(&carriers)) } else { place }
    }

    /// Between `least` and `most` moves, at most so deep.
    fn moves(&mut self, least: usize, most: usize, depth: usize) -> Vec<Move> {
        let many = least + self.random.below(most - least + 1);
        (0..many).map(|_| self.step(depth)).collect()
    }

    fn access(&mut self) -> Move {
        let variable = self.random.below(2) as u8;
        if self.random.one_in(3) { Move::Read(variable) } else { Move::Write(variable) }
    }

    fn lock(&mut self) -> u8 {
        // Most of the time the same, so that locks protect something.
        u8::from(self.random.one_in(4))
    }

    fn flag_access(&mut self) -> Access {
        let operations = [
            Operation::Plain,
            Operation::Plain,
            Operation::Exchange,
            Operation::CompareExchange(false),
            Operation::CompareExchange(true),
            Operation::Or,
            Operation::And,
            Operation::Add,
            Operation::Sync,
        ];
        let failures = [Order::Relaxed, Order::Acquire, Order::Sequential];
        Access {
            flag: self.random.below(2) as u8,
            operation: self.random.pick(&operations),
            order: self.random.pick(&ORDERS),
            failure: self.random.pick(&failures),
        }
    }

    fn step(&mut self, depth: usize) -> Move {
        if depth == 0 {
            return self.access();
        }
        match self.random.below(24) {
            0..6 => self.access(),
            6..10 => {
                let ways = [
                    Locking::Plain,
                    Locking::Plain,
                    Locking::InCallees,
                    Locking::OneBranch,
                    Locking::TryAnyway,
                    Locking::Try,
                    Locking::Guard,
                ];
                Move::Locked(self.lock(), self.random.pick(&ways), self.moves(1, 1, depth - 1))
            }
            10..13 if self.language == Language::Cxx => Move::Thrown {
                guard: self.random.one_in(2).then(|| self.lock()),
                destroyed: self.random.one_in(2).then(|| self.random.below(2) as u8),
                inner: self.moves(0, 1, depth - 1),
                handler: self.moves(0, 1, depth - 1),
            },
            10..13 => Move::Jumped {
                held: self.random.one_in(2).then(|| self.lock()),
                by_pointer: self.random.one_in(3),
                inner: self.moves(0, 1, depth - 1),
                landed: self.moves(1, 1, depth - 1),
            },
            13..15 => Move::Publish(self.flag_access()),
            15..18 => Move::Taken(self.flag_access(), self.moves(1, 1, depth - 1)),
            18 => Move::Fence(self.random.pick(&ORDERS[1..])),
            19 => {
                let functions = [
                    Library::Rand,
                    Library::Drand48,
                    Library::Strtok,
                    Library::Localtime,
                    Library::Getenv,
                    Library::Setenv,
                    Library::Strerror,
                    Library::Mblen,
                ];
                Move::Library(self.random.pick(&functions))
            }
            20 => {
                let callbacks = [Callback::Sort, Callback::Search, Callback::Once, Callback::Cleanup, Callback::Key];
                Move::Called(self.random.pick(&callbacks), self.moves(1, 1, depth - 1))
            }
            21 => Move::Send,
            22 => Move::Received(self.moves(0, 1, depth - 1)),
            _ => Move::Chosen(self.moves(1, 1, depth - 1)),
        }
    }
}
