//! How `main` creates workers and waits for them.

use super::Language;

/// What happens to the handles of two workers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handles {
    /// Each has its variable.
    Plain,
    /// Loops over an array, the joins in the other direction.
    Array,
    /// The loop of joins misses the last.
    ShortArray,
    /// Joined by copies.
    Copied,
    /// Swapped before the joins.
    Swapped,
    /// The second creation overwrites the first handle.
    Overwritten,
    /// A function that creates appends to an array, another joins all.
    Spawned,
    /// A function that creates keeps the last handle only.
    SpawnedOne,
    /// Written and read through one pointer that moves.
    Pointer,
    /// Kept in a structure that is copied.
    Structure,
    /// One of the two is joined, chosen by a flag.
    Chosen,
    /// The first is joined if a flag is set.
    MaybeJoined,
    /// The second worker is created if a flag is set.
    MaybeCreated,
    /// The first is detached.
    Detached,
    /// The second worker joins the first.
    JoinedByOther,
    /// The array of handles is sorted.
    Sorted,
    /// `memcpy` of the handles.
    Memcpy,
    /// Nobody waits.
    Forgotten,
    /// Joins are tried once.
    Tried,
    /// `std::thread`s, swapped.
    SwappedObjects,
    /// A vector of `std::thread`s.
    Vector,
    /// A `std::thread` moved to another.
    Moved,
}

impl Handles {
    /// Those that a language has.
    pub(super) fn of(language: Language) -> &'static [Self] {
        match language {
            Language::C => &Self::ALL[..19],
            Language::Cxx => &Self::ALL,
        }
    }

    const ALL: [Self; 22] = [
        Self::Plain,
        Self::Array,
        Self::ShortArray,
        Self::Copied,
        Self::Swapped,
        Self::Overwritten,
        Self::Spawned,
        Self::SpawnedOne,
        Self::Pointer,
        Self::Structure,
        Self::Chosen,
        Self::MaybeJoined,
        Self::MaybeCreated,
        Self::Detached,
        Self::JoinedByOther,
        Self::Sorted,
        Self::Memcpy,
        Self::Forgotten,
        Self::Tried,
        Self::SwappedObjects,
        Self::Vector,
        Self::Moved,
    ];

    /// Declarations before the workers.
    pub(super) fn declarations(self) -> &'static str {
        match self {
            Self::Spawned => {
                "static pthread_t handles[2];\nstatic int count;\n\
                 static void spawn(void *(*start)(void *)) { pthread_create(&handles[count++], 0, start, 0); }\n\
                 static void join_all(void) { for (int i = 0; i < count; i++) pthread_join(handles[i], 0); }\n"
            }
            Self::SpawnedOne => {
                "static pthread_t handle;\n\
                 static void spawn(void *(*start)(void *)) { pthread_create(&handle, 0, start, 0); }\n\
                 static void join_all(void) { pthread_join(handle, 0); }\n"
            }
            Self::Structure => "struct worker { int number; pthread_t handle; };\n",
            Self::JoinedByOther => "static pthread_t first;\n",
            Self::Sorted => {
                "static int by_number(const void *a, const void *b) {\n    \
                 pthread_t one = *(const pthread_t *)a, other = *(const pthread_t *)b;\n    \
                 return (one < other) - (one > other);\n}\n"
            }
            _ => "",
        }
    }

    /// What the second worker does last.
    pub(super) fn last_of_second(self) -> &'static str {
        match self {
            Self::JoinedByOther => "    pthread_join(first, 0);\n",
            _ => "",
        }
    }

    /// The three parts of `main`: creating, then the first joins, then the rest.
    pub(super) fn parts(self) -> [&'static str; 3] {
        const TWO: &str = "    pthread_t t, u;\n    pthread_create(&t, 0, first_worker, 0);\n    pthread_create(&u, 0, second_worker, 0);\n";
        const ARRAY: &str = "    pthread_t h[2];\n    void *(*start[2])(void *) = {first_worker, second_worker};\n    \
                             for (int i = 0; i < 2; i++)\n        pthread_create(&h[i], 0, start[i], 0);\n";
        const OBJECTS: &str = "    std::thread t(first_worker, nullptr), u(second_worker, nullptr);\n";
        match self {
            Self::Plain => [TWO, "    pthread_join(t, 0);\n", "    pthread_join(u, 0);\n"],
            Self::Array => [ARRAY, "", "    for (int i = 1; i >= 0; i--)\n        pthread_join(h[i], 0);\n"],
            Self::ShortArray => [ARRAY, "    for (int i = 0; i < 1; i++)\n        pthread_join(h[i], 0);\n", ""],
            Self::Copied => {
                [TWO, "    pthread_t v = t;\n    pthread_join(v, 0);\n", "    v = u;\n    pthread_join(v, 0);\n"]
            }
            Self::Swapped => [
                TWO,
                "    pthread_t v = t;\n    t = u;\n    u = v;\n    pthread_join(t, 0);\n",
                "    pthread_join(u, 0);\n",
            ],
            Self::Overwritten => [
                "    pthread_t t;\n    pthread_create(&t, 0, first_worker, 0);\n    pthread_create(&t, 0, second_worker, 0);\n",
                "    pthread_join(t, 0);\n",
                "",
            ],
            Self::Spawned | Self::SpawnedOne => {
                ["    spawn(first_worker);\n    spawn(second_worker);\n", "", "    join_all();\n"]
            }
            Self::Pointer => [
                "    pthread_t t, u, *p = &t;\n    pthread_create(p, 0, first_worker, 0);\n    p = &u;\n    \
                 pthread_create(p, 0, second_worker, 0);\n",
                "    pthread_join(*p, 0);\n",
                "    *p = t;\n    pthread_join(u, 0);\n",
            ],
            Self::Structure => [
                "    struct worker a = {0, 0}, b = {1, 0};\n    pthread_create(&a.handle, 0, first_worker, 0);\n    \
                 pthread_create(&b.handle, 0, second_worker, 0);\n",
                "    struct worker c = a;\n    a = b;\n    pthread_join(a.handle, 0);\n",
                "    pthread_join(c.handle, 0);\n",
            ],
            Self::Chosen => [
                TWO,
                "    pthread_t v = __atomic_load_n(&f0, __ATOMIC_SEQ_CST) ? t : u;\n    pthread_join(v, 0);\n",
                "",
            ],
            Self::MaybeJoined => [
                TWO,
                "    if (__atomic_load_n(&f0, __ATOMIC_SEQ_CST))\n        pthread_join(t, 0);\n",
                "    pthread_join(u, 0);\n",
            ],
            Self::MaybeCreated => [
                "    pthread_t t, u;\n    int many = 1;\n    pthread_create(&t, 0, first_worker, 0);\n    \
                 if (__atomic_load_n(&f0, __ATOMIC_SEQ_CST))\n        many += !pthread_create(&u, 0, second_worker, 0);\n",
                "    if (many == 2)\n        pthread_join(u, 0);\n",
                "    pthread_join(t, 0);\n",
            ],
            Self::Detached => [TWO, "    pthread_detach(t);\n", "    pthread_join(u, 0);\n"],
            Self::JoinedByOther => [
                "    pthread_t u;\n    pthread_create(&first, 0, first_worker, 0);\n    \
                 pthread_create(&u, 0, second_worker, 0);\n",
                "",
                "    pthread_join(u, 0);\n",
            ],
            Self::Sorted => [
                ARRAY,
                "    qsort(h, 2, sizeof h[0], by_number);\n    pthread_join(h[0], 0);\n",
                "    pthread_join(h[1], 0);\n",
            ],
            Self::Memcpy => [
                ARRAY,
                "    pthread_t g[2];\n    memcpy(g, h, sizeof h);\n    h[0] = g[1];\n    pthread_join(h[0], 0);\n",
                "    pthread_join(g[0], 0);\n",
            ],
            Self::Forgotten => [TWO, "", ""],
            Self::Tried => [TWO, "    pthread_tryjoin_np(t, 0);\n", "    pthread_join(u, 0);\n"],
            Self::SwappedObjects => [OBJECTS, "    std::swap(t, u);\n    t.join();\n", "    u.join();\n"],
            Self::Vector => [
                "    std::vector<std::thread> all;\n    all.emplace_back(first_worker, nullptr);\n    \
                 all.emplace_back(second_worker, nullptr);\n",
                "    all.back().join();\n    all.pop_back();\n",
                "    for (auto &one : all)\n        one.join();\n",
            ],
            Self::Moved => {
                [OBJECTS, "    std::thread v(std::move(t));\n    t = std::move(u);\n    t.join();\n", "    v.join();\n"]
            }
        }
    }
}
