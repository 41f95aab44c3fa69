//! Expressions of accesses and types of allocations.

mod lowering;

use lowering::{c, cxx, expressions};
use program::naming::{name_global, name_heap, name_stack};
use program::{GlobalId, Program, Type};

fn global(program: &Program, name: &str) -> GlobalId {
    program.globals.iter_enumerated().find(|(_, g)| g.name == name).unwrap_or_else(|| panic!("no {name}")).0
}

#[test]
fn expressions_are_spelled_as_in_the_source() {
    let program = c("struct node { int id; struct node *next; int w[3]; };
        typedef struct { struct node first; struct node *list; } box_t;
        box_t box, boxes[4]; struct node *head; int *p, **pp, (*row)[4]; char *text;
        static struct node *find(void) { return head; }
        void work(struct node *n, int i, long j, void *raw) {
            n->id = 1;
            n->next->next->w[2] = 2;
            head->id = 3;
            (*n).w[i] = 4;
            box.first.w[i + 1] = 5;
            boxes[i].list[j].id = 6;
            *p = 7;
            p[3] = 8;
            **pp = 9;
            (*row)[i] = 10;
            text[j] = 11;
            find()->id = 12;
            (i ? n : head)->id = 13;
            *(int *)raw = 14;
            n[2].id = 15;
        }");
    let expected = [
        "n->id",
        "n->next",
        "n->next->next",
        "n->next->next->w[2]",
        "head",
        "head->id",
        "n->w[i]",
        "box.first.w[i + 1]",
        "boxes[i].list",
        "boxes[i].list[j].id",
        "p",
        "*p",
        "p",
        "p[3]",
        "pp",
        "*pp",
        "**pp",
        "row",
        "(*row)[i]",
        "text",
        "text[j]",
        "find()->id",
        "head",
        "(struct node).id",
        "*raw",
        "n[2].id",
    ];
    assert_eq!(expressions(&program, "work"), expected);
}

#[test]
fn classes_references_and_namespaces() {
    let program = cxx("namespace app {
            struct Base { int count; };
            struct Queue : Base { int len; static int made; void grow() { len++; count = 0; made++; } };
            int Queue::made;
            static Queue queue;
        }
        void work(app::Queue &q, int &r) { q.len = 1; r = 2; app::queue.count = 3; }");
    assert_eq!(expressions(&program, "work"), ["q.len", "r", "app::queue.count"]);
    let grow = expressions(&program, "app::Queue::grow");
    assert_eq!(grow, [] as [&str; 0], "not instantiated unless used");
    global(&program, "app::Queue::made");
}

#[test]
fn members_are_named_through_this() {
    let program = cxx("struct Base { int count; };
        struct Queue : Base { int len; void grow(); static int made; };
        int Queue::made;
        void Queue::grow() { len = 1; count = 2; made = 3; }");
    assert_eq!(expressions(&program, "Queue::grow"), ["this->len", "this->count", "Queue::made"]);
}

#[test]
fn bytes_of_globals_are_named_by_type() {
    let program = c("struct point { short x, y; };
        struct { int len; struct point at[3]; unsigned a : 4, b : 4; } shape;
        int grid[2][3];
        void work(void) { shape.len = grid[0][0]; }");
    let shape = global(&program, "shape");
    assert_eq!(name_global(&program, shape, 0, 4), "shape.len");
    assert_eq!(name_global(&program, shape, 10, 2), "shape.at[1].y");
    assert_eq!(name_global(&program, shape, 16, 1), "shape.{a, b}");
    assert_eq!(name_global(&program, global(&program, "grid"), 20, 4), "grid[1][2]");
}

#[test]
fn allocations_have_the_type_they_are_used_as() {
    let program = c("#include <stdlib.h>
        struct node { int id; struct node *next; };
        struct node *head;
        static struct node *make(void) { return malloc(sizeof(struct node)); }
        void keep(int **);
        void work(void) {
            int *numbers = malloc(40);
            head->next = calloc(1, sizeof(struct node));
            int seen[4] = {0};
            int *first = seen;
            keep(&first);
            free(numbers);
            make();
        }");
    let typed: Vec<_> = program
        .sites
        .iter_enumerated()
        .filter_map(|(id, site)| {
            let name = match &program.types[site.allocates?] {
                Type::Scalar { name, .. } | Type::Struct { name, .. } => name.clone(),
                Type::Array { count, .. } => format!("array of {count}"),
            };
            Some((id, name))
        })
        .collect();
    let names: Vec<_> = typed.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["array of 4", "int *", "int", "struct node", "struct node"], "{typed:?}");
}

#[test]
fn objects_of_a_run_are_named() {
    let program = c("#include <stdlib.h>
struct node { int id; struct node *next; };
void keep(struct node *);
void work(void) {
    struct node *n = malloc(sizeof *n);
    struct node local;
    n->id = 1;
    keep(&local);
}");
    let site = |line: Option<u32>| {
        let at = |l: Option<u32>| l == line;
        program
            .sites
            .iter_enumerated()
            .find(|(_, s)| s.allocates.is_some() && at(s.location.map(|l| l.line)))
            .unwrap()
            .0
    };
    let heap = name_heap(&program, Some(site(Some(5))), 8, 8);
    assert!(heap.starts_with("heap@") && heap.ends_with("snippet.c:5.next"), "{heap}");
    assert_eq!(name_stack(&program, Some(site(None)), 0, 4), "work::local.id");
}
