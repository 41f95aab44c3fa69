//! Composes random sketches from typical pieces.

use std::collections::BTreeSet;

use model::Order;

use super::feature::Feature;
use super::random::Random;
use super::sketch::{Awaiting, Change, Index, Item, LockRef, Number, Sketch, Test, Value};

/// A random sketch with some of these features.
pub(super) fn compose(random: &mut Random, allowed: &BTreeSet<Feature>) -> Sketch {
    let allowed: Vec<Feature> = allowed.iter().copied().collect();
    let mut features = Vec::new();
    if !allowed.is_empty() {
        features.extend((0..1 + random.below(3)).map(|_| random.pick(&allowed)));
    }
    Composer { random, features, locals: 0 }.sketch()
}

struct Composer<'a> {
    random: &'a mut Random,
    features: Vec<Feature>,
    locals: u8,
}

impl Composer<'_> {
    fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    fn sketch(mut self) -> Sketch {
        let nested = self.has(Feature::NestedCreate);
        let others = if nested || self.has(Feature::Alike) || self.random.one_in(3) { 2 } else { 1 };
        let mut threads: Vec<Vec<Item>> = vec![Vec::new()];
        for _ in 0..others {
            let pieces = if others == 1 && self.random.one_in(2) { 2 } else { 1 };
            let body = (0..pieces).flat_map(|_| self.piece()).collect();
            threads.push(body);
        }
        if let [_, one, other] = &mut threads[..]
            && self.has(Feature::Alike)
        {
            other.clone_from(one);
        }
        let late = self.has(Feature::LateCreate);
        let mut main = Vec::new();
        if self.random.one_in(3) {
            main.push(self.access());
        }
        main.push(Item::Create(1));
        if late {
            main.push(self.access());
        }
        if others == 2 {
            if nested {
                let at = self.random.below(threads[1].len() + 1);
                threads[1].insert(at, Item::Create(2));
                if self.random.one_in(2) {
                    threads[1].push(Item::Join(2));
                }
            } else {
                main.push(Item::Create(2));
            }
        }
        // Two threads are enough for a conflict; with only one other thread, main takes part.
        if others == 1 || self.random.one_in(4) {
            main.extend(self.piece());
        }
        let detach = self.has(Feature::Detach);
        for thread in (1..=others).filter(|t| *t == 1 || !nested) {
            main.push(if detach { Item::Detach(thread) } else { Item::Join(thread) });
        }
        if self.random.one_in(3) {
            main.push(self.access());
        }
        if self.has(Feature::Update) {
            // What the updates come to.
            if self.has(Feature::MixedSize) {
                let local = self.local();
                let test = Test::Local(local, self.random.pick(&[0, 1, 2, 253, 254, 254, 255]));
                main.push(Item::ReadWord { local });
                main.push(Item::If { test, then: vec![Item::AssertNot { var: 2, value: 0 }] });
            }
            for _ in 0..2 {
                main.push(Item::AssertNot { var: self.var(), value: self.random.pick(&[0, 1, 2, 3, 4]) });
            }
        }
        threads[0] = main;
        let once = vec![self.write()];
        Sketch { threads, once, tokens: self.random.below(2) as u8 }
    }

    fn local(&mut self) -> u8 {
        self.locals += 1;
        self.locals - 1
    }
    fn var(&mut self) -> u8 {
        self.random.pick(&[0, 0, 1])
    }
    fn value(&mut self) -> Value {
        Value::Constant(self.random.pick(&[0, 1, 1, 2]))
    }
    fn write(&mut self) -> Item {
        Item::Write { var: self.var(), value: self.value() }
    }
    fn read(&mut self) -> Item {
        Item::Read { var: self.var(), local: self.local() }
    }
    fn access(&mut self) -> Item {
        match self.random.below(5) {
            0 => self.read(),
            1 => Item::Increment { var: self.var() },
            _ => self.write(),
        }
    }
    fn locked(&mut self, lock: LockRef, body: Vec<Item>) -> Vec<Item> {
        [vec![Item::Lock(lock)], body, vec![Item::Unlock(lock)]].concat()
    }

    /// A few related statements.
    fn piece(&mut self) -> Vec<Item> {
        if self.features.is_empty() || self.random.one_in(5) {
            return vec![self.access()];
        }
        let features = self.features.clone();
        match self.random.pick(&features) {
            Feature::Lock => {
                let body = vec![self.access()];
                self.locked(LockRef::Mutex(0), body)
            }
            Feature::TwoLocks => self.two_locks(),
            Feature::TryLock => {
                let lock = self.random.pick(&[LockRef::Mutex(0), LockRef::Mutex(0), LockRef::Read, LockRef::Write]);
                if self.random.one_in(3) {
                    let body = vec![self.access()];
                    self.locked(lock, body)
                } else {
                    vec![Item::If { test: Test::TryLock(lock), then: vec![self.access(), Item::Unlock(lock)] }]
                }
            }
            Feature::RecursiveLock => {
                let body = vec![self.access()];
                let inner = self.locked(LockRef::Recursive, body);
                if self.random.one_in(3) { inner } else { self.locked(LockRef::Recursive, inner) }
            }
            Feature::DataAddress => self.data_address(),
            Feature::DataLock => {
                let local = self.local();
                let body = vec![Item::Write { var: 1, value: Value::Constant(1) }];
                match self.random.below(3) {
                    0 => vec![Item::Write { var: 0, value: Value::Constant(1) }],
                    1 => self.locked(LockRef::Mutex(0), body),
                    _ => [vec![Item::Read { var: 0, local }], self.locked(LockRef::Chosen(local), body)].concat(),
                }
            }
            Feature::Branch => self.branch(),
            Feature::Loop => {
                let body = if self.random.one_in(2) {
                    vec![self.access()]
                } else {
                    let body = vec![self.write()];
                    self.locked(LockRef::Mutex(0), body)
                };
                vec![Item::Repeat { times: 2, body }]
            }
            Feature::DataLoop => self.data_loop(),
            Feature::Pointer => self.pointer(),
            Feature::Division => self.division(),
            Feature::Misuse => self.misuse(),
            Feature::Atomics => self.publication(),
            Feature::Fences => self.fences(),
            Feature::CompareExchange => self.compare_exchange(),
            Feature::Condition => self.condition(),
            Feature::ReadWriteLock => {
                let (lock, body) = if self.random.one_in(2) {
                    (LockRef::Read, vec![self.read()])
                } else {
                    (LockRef::Write, vec![self.access()])
                };
                self.locked(lock, body)
            }
            Feature::Semaphore => match self.random.below(4) {
                0 => vec![self.access(), Item::Post],
                1 => vec![Item::Take, self.access()],
                2 => vec![Item::Take, self.access(), Item::Post],
                _ => vec![Item::If { test: Test::TryWait, then: vec![self.access()] }],
            },
            Feature::Barrier => match self.random.below(3) {
                0 => vec![self.access(), Item::Meet],
                1 => vec![Item::Meet, self.access()],
                _ => vec![self.write(), Item::Meet, self.read()],
            },
            Feature::Once => match self.random.below(3) {
                0 => vec![Item::Once],
                _ => vec![Item::Once, self.read()],
            },
            Feature::Heap => {
                let local = self.local();
                match self.random.below(4) {
                    0 => vec![Item::ReadHeap { local }],
                    1 => vec![Item::WriteHeap { value: Value::Constant(1) }],
                    2 => vec![Item::FreeHeap],
                    _ => self.locked(LockRef::Mutex(0), vec![Item::WriteHeap { value: Value::Constant(2) }]),
                }
            }
            Feature::MixedSize => match self.random.below(3) {
                0 => vec![Item::WriteByte { byte: self.random.below(4) as u8, value: self.value() }],
                1 => vec![Item::WriteWord { value: self.value() }],
                _ => vec![Item::ReadWord { local: self.local() }],
            },
            Feature::Assertion => {
                vec![self.write(), Item::AssertNot { var: self.var(), value: self.random.pick(&[0, 1, 2]) }]
            }
            Feature::Yield => vec![self.access(), Item::Yield],
            Feature::Choice => self.choice(),
            Feature::Section => self.section(),
            Feature::Await => self.awaiting(),
            Feature::Update if self.random.one_in(4) => self.asks(),
            Feature::Update if self.has(Feature::MixedSize) => self.parts(),
            Feature::Update => self.updates(),
            Feature::Element => {
                let var = self.random.below(2) as u8;
                let lock = LockRef::Mutex(if self.random.one_in(8) { 1 - var } else { var });
                let body = if self.random.one_in(3) {
                    Item::Write { var, value: self.value() }
                } else {
                    self.update(Number::Integer(var))
                };
                self.locked(lock, vec![body])
            }
            Feature::Serial => {
                vec![self.access(), Item::If { test: Test::Serial, then: vec![self.access()] }]
            }
            Feature::Alike | Feature::LateCreate | Feature::NestedCreate | Feature::Detach => vec![self.access()],
        }
    }

    fn update(&mut self, what: Number) -> Item {
        const CHANGES: [Change; 6] = [Change::Add, Change::Add, Change::Subtract, Change::And, Change::Or, Change::Xor];
        let count = 1 + self.random.below(2);
        let changes = (0..count).map(|_| (self.random.pick(&CHANGES), self.random.pick(&[1, 2, 3, 255]))).collect();
        Item::Update { what, old: None, changes }
    }

    /// Says something with a number under the lock, or looks at it there and goes by it afterwards.
    fn asks(&mut self) -> Vec<Item> {
        let (var, local) = (self.var(), self.local());
        let value = self.random.pick(&[0, 1, 1, 2, 3]);
        if self.random.one_in(2) {
            let say = Item::Write { var, value: Value::Constant(value) };
            let first = Item::Write { var: 1 - var, value: Value::Constant(1) };
            return [vec![first], self.locked(LockRef::Mutex(0), vec![say])].concat();
        }
        let look = self.locked(LockRef::Mutex(0), vec![Item::Read { var, local }]);
        let then = match self.random.below(4) {
            0 => self.access(),
            1 => Item::Read { var: 1 - var, local: self.local() },
            _ => Item::AssertNot { var: 2, value: 0 },
        };
        [look, vec![Item::If { test: Test::Local(local, value), then: vec![then] }]].concat()
    }

    /// Updates of the word and of its bytes.
    fn parts(&mut self) -> Vec<Item> {
        let what = self.random.pick(&[Number::Word, Number::Byte(0), Number::Byte(1)]);
        let change = self.random.pick(&[Change::Add, Change::Add, Change::Add, Change::Or, Change::Xor]);
        let changes = vec![(change, self.random.pick(&[1, 2, 255, 255]))];
        let body = vec![Item::Update { what, old: None, changes }];
        let (look, test) = (self.local(), self.random.pick(&[0, 1, 2, 3]));
        let look =
            [Item::ReadWord { local: look }, Item::If { test: Test::Local(look, test), then: vec![self.access()] }];
        let body = self.locked(LockRef::Mutex(0), body);
        if self.random.one_in(8) { [body, look.to_vec()].concat() } else { body }
    }

    /// A section with updates, which does what it updates in other ways, too, now and then.
    fn updates(&mut self) -> Vec<Item> {
        let var = self.var();
        let (mut body, mut after) = (vec![self.update(Number::Integer(var))], Vec::new());
        match self.random.below(11) {
            0 => body.push(self.update(Number::Integer(var))),
            1 => body.push(Item::Read { var, local: self.local() }),
            2 => body.insert(0, self.write()),
            3 => body.push(self.update(Number::Integer(1 - var))),
            4 | 5 => {
                let local = self.local();
                if let Item::Update { old, .. } = &mut body[0] {
                    *old = Some(local);
                }
                body.insert(0, Item::Read { var, local });
                match self.random.below(3) {
                    0 => body.push(Item::Write { var: 1 - var, value: Value::Local(local) }),
                    1 => {
                        let then =
                            if self.random.one_in(3) { self.access() } else { Item::AssertNot { var: 2, value: 0 } };
                        let test = Test::Local(local, self.random.pick(&[1, 1, 2, 3]));
                        after.push(Item::If { test, then: vec![then] });
                    }
                    _ => {}
                }
            }
            6 => body.extend([
                self.update(Number::Integer(var)),
                Item::AssertNot { var, value: self.random.pick(&[1, 2, 3]) },
            ]),
            _ => {}
        }
        let body = if self.random.one_in(10) { body } else { self.locked(LockRef::Mutex(0), body) };
        [body, after].concat()
    }

    fn choice(&mut self) -> Vec<Item> {
        let local = self.local();
        let hi = self.random.pick(&[1, 1, 2]);
        let choose = Item::Choose { hi, local };
        let value = self.random.below(usize::from(hi) + 1) as u8;
        match self.random.below(5) {
            0 => vec![choose, Item::Write { var: self.var(), value: Value::Local(local) }],
            1 => vec![choose, Item::If { test: Test::Local(local, value), then: self.piece() }],
            2 => {
                let body = vec![self.write()];
                [vec![choose], self.locked(LockRef::Chosen(local), body)].concat()
            }
            3 => vec![choose, Item::Assume { local, value }, self.access()],
            _ => {
                let read = self.local();
                vec![Item::Read { var: self.var(), local: read }, Item::Assume { local: read, value: 1 }, self.access()]
            }
        }
    }

    fn section(&mut self) -> Vec<Item> {
        let local = self.local();
        let body = match self.random.below(6) {
            0 => vec![self.read()],
            1 => vec![Item::Increment { var: self.var() }],
            2 => vec![self.write(), self.access()],
            3 => vec![Item::Read { var: 0, local }, Item::If { test: Test::Local(local, 1), then: vec![self.write()] }],
            4 => vec![Item::Choose { hi: 1, local }, Item::Write { var: 0, value: Value::Local(local) }],
            _ => vec![self.write(), Item::Read { var: 1, local }, Item::Assume { local, value: 1 }, self.write()],
        };
        if self.random.one_in(4) { body } else { vec![Item::Section(body)] }
    }

    fn awaiting(&mut self) -> Vec<Item> {
        let order = self.random.pick(&[Order::Acquire, Order::SeqCst, Order::Relaxed]);
        let (set, release) = (Value::Constant(1), self.release_order());
        match self.random.below(10) {
            9 => {
                let spin = Item::Await { var: 2, value: 0, how: Awaiting::TryLock };
                vec![spin, self.access(), Item::Unlock(LockRef::Mutex(0))]
            }
            0 => vec![self.access(), Item::Write { var: 2, value: set }],
            1 | 2 => vec![self.access(), Item::AtomicStore { var: 2, value: set, order: release }],
            3 => self.locked(LockRef::Mutex(0), vec![Item::Write { var: 2, value: set }]),
            4 => {
                let spin = Item::Await { var: 2, value: 0, how: Awaiting::Exchange(Order::AcqRel) };
                vec![spin, self.access(), Item::AtomicStore { var: 2, value: Value::Constant(0), order: release }]
            }
            other => {
                let how = match other {
                    5 => Awaiting::Plain,
                    6 => Awaiting::Atomic(order),
                    7 => Awaiting::Two(order),
                    _ => Awaiting::Locked,
                };
                vec![Item::Await { var: 2, value: 1, how }, self.access()]
            }
        }
    }

    fn two_locks(&mut self) -> Vec<Item> {
        let (a, b) = self.random.pick(&[(0, 1), (1, 0)]);
        let (a, b) = (LockRef::Mutex(a), LockRef::Mutex(b));
        let inner = self.access();
        match self.random.below(3) {
            0 => vec![Item::Lock(a), Item::Lock(b), inner, Item::Unlock(b), Item::Unlock(a)],
            1 => vec![Item::Lock(a), Item::Lock(b), Item::Unlock(a), inner, Item::Unlock(b)],
            _ => vec![Item::Lock(b), inner, Item::Unlock(b)],
        }
    }

    fn data_address(&mut self) -> Vec<Item> {
        let local = self.local();
        match self.random.below(4) {
            0 => vec![Item::Write { var: 0, value: Value::Constant(1) }],
            1 => vec![Item::WriteElement { index: Index::Shared(0), value: self.value() }],
            2 => vec![Item::ReadElement { index: Index::Shared(0), local }],
            _ => {
                let read = vec![Item::Read { var: 0, local }];
                let mut items = self.locked(LockRef::Mutex(0), read);
                items.push(Item::WriteElement { index: Index::Local(local), value: self.value() });
                items
            }
        }
    }

    fn branch(&mut self) -> Vec<Item> {
        let local = self.local();
        let value = self.random.pick(&[0, 1]);
        let then = vec![Item::Write { var: 1, value: self.value() }];
        match self.random.below(3) {
            0 => vec![Item::Write { var: 0, value: Value::Constant(1) }],
            1 => vec![Item::If { test: Test::Shared(0, value), then }],
            _ => {
                let read = vec![Item::Read { var: 0, local }];
                let mut items = self.locked(LockRef::Mutex(0), read);
                items.push(Item::If { test: Test::Local(local, value), then });
                items
            }
        }
    }

    /// One thread decides under a lock how often another writes.
    fn data_loop(&mut self) -> Vec<Item> {
        match self.random.below(4) {
            0 => {
                let bound = Value::Constant(self.random.pick(&[1, 2]));
                self.locked(LockRef::Mutex(0), vec![Item::Write { var: 0, value: bound }])
            }
            1 => vec![Item::Write { var: 1, value: self.value() }],
            _ => {
                let local = self.local();
                let mut items = self.locked(LockRef::Mutex(0), vec![Item::Read { var: 0, local }]);
                items.push(Item::RepeatUpTo { local, body: vec![Item::Write { var: 1, value: self.value() }] });
                items
            }
        }
    }

    /// Threads that set a pointer and follow it, possibly under a lock or only under a condition.
    fn pointer(&mut self) -> Vec<Item> {
        let (local, guard) =
            (self.local(), Item::AtomicStore { var: 2, value: Value::Constant(1), order: Order::SeqCst });
        let (set, follow) = (Item::SetPointer { null: self.random.one_in(3) }, Item::FollowPointer { local });
        match self.random.below(5) {
            0 => vec![set],
            1 => vec![set, guard],
            2 => vec![follow],
            3 => self.locked(LockRef::Mutex(0), vec![set, follow]),
            _ => vec![Item::If { test: Test::Atomic(2, 1, Order::SeqCst), then: vec![follow] }],
        }
    }

    /// Threads that change a number and divide by it.
    fn division(&mut self) -> Vec<Item> {
        let local = self.local();
        let value = Value::Constant(self.random.pick(&[0, 1, 2]));
        let (set, divide) = (Item::AtomicStore { var: 2, value, order: Order::SeqCst }, Item::Divide { var: 2, local });
        match self.random.below(4) {
            0 => vec![set],
            1 => vec![divide],
            2 => vec![set, divide, Item::Write { var: 0, value: Value::Local(local) }],
            _ => self.locked(LockRef::Mutex(0), vec![set, divide]),
        }
    }

    /// Locks that are never released, released by another thread, or destroyed, depending on an atomic integer.
    fn misuse(&mut self) -> Vec<Item> {
        let (lock, order) = (LockRef::Mutex(0), Order::SeqCst);
        let test = Test::Atomic(2, self.random.pick(&[0, 1]), order);
        match self.random.below(7) {
            0 => vec![Item::AtomicStore { var: 2, value: Value::Constant(1), order }],
            1 => self.locked(lock, vec![Item::AtomicStore { var: 2, value: Value::Constant(1), order }]),
            2 => vec![Item::If { test, then: vec![Item::Unlock(lock)] }],
            3 => vec![Item::Lock(lock), self.access(), Item::If { test, then: vec![Item::Unlock(lock)] }],
            4 => vec![Item::Destroy(0)],
            5 => vec![Item::If { test, then: vec![Item::Destroy(0)] }],
            _ => {
                let body = vec![self.access()];
                self.locked(lock, body)
            }
        }
    }

    fn release_order(&mut self) -> Order {
        self.random.pick(&[Order::Release, Order::Release, Order::SeqCst, Order::Relaxed])
    }
    fn acquire_order(&mut self) -> Order {
        self.random.pick(&[Order::Acquire, Order::Acquire, Order::SeqCst, Order::Relaxed])
    }

    fn publication(&mut self) -> Vec<Item> {
        let local = self.local();
        let payload = Item::Write { var: 0, value: Value::Constant(1) };
        match self.random.below(4) {
            0 | 1 => {
                vec![payload, Item::AtomicStore { var: 2, value: Value::Constant(1), order: self.release_order() }]
            }
            2 => vec![Item::If {
                test: Test::Atomic(2, 1, self.acquire_order()),
                then: vec![Item::Read { var: 0, local }],
            }],
            _ => vec![Item::AtomicLoad { var: 2, order: self.acquire_order(), local }, self.access()],
        }
    }

    fn fences(&mut self) -> Vec<Item> {
        let local = self.local();
        let payload = Item::Write { var: 0, value: Value::Constant(1) };
        let release = self.random.pick(&[Order::Release, Order::AcqRel, Order::SeqCst]);
        let acquire = self.random.pick(&[Order::Acquire, Order::AcqRel, Order::SeqCst]);
        match self.random.below(3) {
            0 => vec![
                payload,
                Item::Fence(release),
                Item::AtomicStore { var: 2, value: Value::Constant(1), order: Order::Relaxed },
            ],
            1 => vec![Item::If {
                test: Test::Atomic(2, 1, Order::Relaxed),
                then: vec![Item::Fence(acquire), Item::Read { var: 0, local }],
            }],
            _ => self.publication(),
        }
    }

    fn compare_exchange(&mut self) -> Vec<Item> {
        let order = self.random.pick(&[Order::AcqRel, Order::Acquire, Order::Release, Order::SeqCst, Order::Relaxed]);
        let failure = self.random.pick(&[Order::Acquire, Order::Relaxed]);
        match self.random.below(4) {
            0 => vec![Item::FetchAdd { var: 2, order }],
            1 => vec![
                self.access(),
                Item::AtomicStore { var: 2, value: Value::Constant(0), order: self.release_order() },
            ],
            _ => vec![Item::If { test: Test::CompareExchange(2, 0, 1, order, failure), then: vec![self.access()] }],
        }
    }

    fn condition(&mut self) -> Vec<Item> {
        let set = Item::Write { var: 1, value: Value::Constant(1) };
        let wake = self.random.pick(&[true, true, false]);
        let wake = if wake { Item::Signal } else { Item::Broadcast };
        match self.random.below(5) {
            0 | 1 => self.locked(LockRef::Mutex(0), vec![set, wake]),
            2 => {
                let mut items = self.locked(LockRef::Mutex(0), vec![set]);
                items.push(wake);
                items
            }
            _ => {
                let (timed, repeat) = self.random.pick(&[(false, true), (false, false), (true, false)]);
                let mut items = self.locked(LockRef::Mutex(0), vec![Item::Wait { var: 1, repeat, timed }]);
                if self.random.one_in(2) {
                    items.push(self.read());
                }
                items
            }
        }
    }
}
