//! The text form of a [`Program`]: printed with `Display`, read with [`Program::parse`].
//!
//! ```text
//! architecture aarch64                            // `x86_64` without this line
//! file "a.c"
//! type int = scalar "int" 4
//! type node = struct "struct node" 8 { "id" 0 int, "next" 4 int }
//! record "node" { integer 0 4, pointer 8 8 }      // structs whose members sites access, numbered from 0
//! type nodes = array node stride 8 count 4
//! global x: 4 as int                              // `thread_local` and `constant` may come first
//! global m "the mutex": 40
//! global table: 32 as nodes = 0a00 { 8: @x+4, 16: &worker }   // initial bytes; pointers in them
//! extern fn puts(%0)
//!
//! fn worker(%arg) {
//! entry:
//!   lock @m                     !a.c:11:3 "m"
//!   %0 = load 4, @x             !a.c:12:5 "x" in "inlined" from "worker" !a.c:30:3
//!   %c = eq 32 %0, 7
//!   branch %c, set, end
//! set:
//!   store 4 release, @x, 1      !a.c:13:5
//!   goto end
//! end:
//!   unlock @m                   !a.c:14:3
//!   return
//! }
//!
//! entry main
//! unmodelled "inline assembly" at #3 function "f"
//! ```
//!
//! Values: numbers, `%local`, `@global+8`, `&function`, and `?` for any value.
//!
//! Computations: `%d = %a`, `add 32 %a, %b` (and `sub mul sdiv udiv srem urem and or xor shl lshr ashr`), `eq 32 %a, %b`
//! (and `ne slt sle sgt sge ult ule ugt uge`), `offset %base, %i, 4, 8` (`base + i * 4 + 8`), `select %c, %a, %b`,
//! `sext 8 %a`, `zext 8 %a`, `phi [b0: %a, b1: 3]`.
//!
//! Memory: `%d = load 4, @x`, `store 4, @x, 1`, both with an order after the size when atomic (`relaxed acquire release
//! acq_rel seq_cst`), `%d = rmw add 4 acq_rel, @x, 1`, `%old, %ok = cas 4 acq_rel acquire, @x, 0, 1`, `fence seq_cst`,
//! `copy %to, %from, 8`, `fill %to, 0, 8`, `%p = alloca 8 "name" as type`, `%p = alloc 8`, `%p = zalloc 8`, `free %p`.
//!
//! Calls: `%r = call f(%a, 1)`, `call *%p()`, `%r = library strlen(%s)`.
//!
//! Threads, each with an optional result: `%h = create &worker, 0`, `join %h`, `detach %h`, `cancel %h`, `current`,
//! `exit_thread`, `lock @m`, `rdlock @m`, `unlock @m`, `lock_init @m`, `lock_init @m recursive`, `lock_destroy @m`,
//! `wait @c, @m`, `signal @c`, `broadcast @c`, `cond_init @c`, `cond_destroy @c`, `barrier_init @b, 2`,
//! `barrier_wait @b`, `barrier_destroy @b`, `sem_init @s, 0`, `sem_post @s`, `sem_wait @s`, `sem_get @s`,
//! `sem_destroy @s`, `once @o, &f`, `yield`. `try` or `timed` before `join`, `lock`, `rdlock`, `wait` and after `sem_`
//! says how it waits. Also `assert %c` and `exit 1`.
//!
//! Ends of blocks: `goto b`, `branch %c, b1, b2`, `switch %v [1: b1, 2: b2], b3`, `any [b1, b2]`, `invoke b1, b2`
//! (`b1` if the last call returned, `b2` if it was left by an exception or a jump), `return`, `return %v`, `resume` (leaves
//! the function so), `unreachable`.
//!
//! A site is written after its statement: `!file:line:column`, or `!?` without a location, then what it touches, the
//! type it allocates (`as int`), as what it accesses memory (`member 0 8 16`, bytes
//! of a record, or `pointer`, `float`, `integer`), the inlined function and the chain of calls. `!none` means that there is none. A
//! visible statement without a site gets one with the line and column of the text itself, so hand-written programs need
//! no sites.
//!
//! Locals, sites and blocks are numbered in the order of the text, parameters first; `#7` after a local's name or a
//! site's position fixes the number, `!#7` alone refers to a site described elsewhere, and `site f !a.c:1:2#7`
//! describes one that belongs to no statement of `f`. Names that are not words are written in quotes. Comments start
//! with `//`.

mod body;
mod items;
mod lexer;
mod number;
mod parse;
mod print;
mod sites;
mod statement;
mod words;

use crate::ir::Program;

/// The text is not a program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column}: {message}{}", self.help.as_ref().map_or(String::new(), |h| format!(" ({h})")))]
pub struct ParseError {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub help: Option<String>,
}

/// The file of sites without a location of their own, when the text has no name.
const UNNAMED: &str = "<text>";

impl Program {
    /// Reads the text form.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Self::parse_named(UNNAMED, text)
    }

    /// Reads the text form from a file with this name, to which sites without a location of their own refer.
    pub fn parse_named(name: &str, text: &str) -> Result<Self, ParseError> {
        parse::program(name, text)
    }
}

#[cfg(test)]
mod tests;
