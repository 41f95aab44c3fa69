//! Where the shared variables of a source are, and how threads reach them.

use super::{Carrier, Place};

/// Declares the variables as `x0` and `x1`, and what `main` does first for them.
pub(super) fn declare(place: Place) -> (String, &'static str) {
    const POINTER: &str = "static int *cells;\n#define x0 cells[0]\n#define x1 cells[1]\n";
    let (declarations, prepare) = match place {
        Place::Globals => ("static int x0, x1;\n", ""),
        Place::Fields => ("static struct { int a, b; } pair;\n#define x0 pair.a\n#define x1 pair.b\n", ""),
        Place::Heap => (POINTER, "    cells = (int *)calloc(2, sizeof(int));\n"),
        Place::Stack => (POINTER, "    int own[2] = {0, 0};\n    cells = own;\n"),
        Place::ThreadLocal => return (format!("static __thread int own[2];\n{POINTER}"), "    cells = own;\n"),
        Place::Indexed => (
            "static int cells[4], indices[2] = {0, 1};\n#define x0 cells[2 * indices[0]]\n#define x1 cells[2 * indices[1]]\n",
            "    indices[1] = 1;\n",
        ),
        Place::Carried(carrier) => return carried(carrier),
    };
    (declarations.to_owned(), prepare)
}

/// Two globals, what holds their address, and `cells` to get it back.
fn carried(carrier: Carrier) -> (String, &'static str) {
    let (holder, cells, prepare) = match carrier {
        Carrier::Wide => (
            "static unsigned __int128 wide;\n",
            "((int *)(unsigned long)(wide >> 64))",
            "    wide = (unsigned __int128)(unsigned long)own << 64;\n",
        ),
        Carrier::Vector => (
            "typedef long Longs __attribute__((vector_size(16)));\nstatic Longs longs;\n",
            "((int *)longs[1])",
            "    longs = (Longs){0, (long)own};\n",
        ),
        Carrier::Mixed => (
            "static int other;\nstatic unsigned long mixed;\n",
            "((int *)(mixed ^ (unsigned long)&other))",
            "    mixed = (unsigned long)own ^ (unsigned long)&other;\n",
        ),
        Carrier::Tagged => ("static unsigned long tagged = (unsigned long)own + 1;\n", "((int *)(tagged - 1))", ""),
        Carrier::Bytes => (
            "static char bytes[sizeof(int *)];\n\
             static inline int *gather(void) {\n    int *pointer;\n    for (unsigned i = 0; i < sizeof pointer; i++)\n        \
             ((char *)&pointer)[i] = bytes[i];\n    return pointer;\n}\n",
            "gather()",
            "    int *pointer = own;\n    for (unsigned i = 0; i < sizeof pointer; i++)\n        \
             bytes[i] = ((char *)&pointer)[i];\n",
        ),
        Carrier::Piped => (
            "static int *piped;\n",
            "piped",
            "    int *pointer = own;\n    if (write(ends[1], &pointer, sizeof pointer) != sizeof pointer)\n        return 1;\n    \
             if (read(ends[0], &piped, sizeof piped) != sizeof piped)\n        return 1;\n",
        ),
        Carrier::Assembly => (
            "static int *moved;\n",
            "moved",
            "    int *pointer;\n    __asm__(\"mov %1, %0\" : \"=r\"(pointer) : \"r\"(&own[0]));\n    moved = pointer;\n",
        ),
    };
    (format!("static int own[2];\n{holder}#define x0 {cells}[0]\n#define x1 {cells}[1]\n"), prepare)
}
