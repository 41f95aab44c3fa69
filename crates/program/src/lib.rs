//! The small concurrent language that programs are lowered to, and readable names for its parts.
//!
//! A [`Program`] has functions of basic blocks in SSA form, globals with types, and a table of sites: the points in the
//! code with a visible effect. It comes from LLVM bitcode or from its own text form. This crate knows nothing of LLVM
//! or engines.

mod architecture;
pub mod arith;
pub mod constants;
pub mod ir;
pub mod library;
pub mod members;
pub mod naming;
pub mod openmp;
pub mod site;
pub mod template_names;
pub mod text;
pub mod types;
pub mod validate;
pub mod visit;
pub mod whole;

pub use architecture::Architecture;
pub use ir::{
    BinaryOp, Block, BlockId, Callee, CompareOp, Expr, Function, FunctionId, Global, GlobalId, Local, LocalId, Operand,
    Program, RmwOp, Statement, Stmt, SyncOp, Terminator, TryMode, Unmodelled,
};
pub use members::{Lvalue, Member, Record, RecordId};
pub use site::{FileId, Frame, Location, OwnPlace, Site};
pub use text::ParseError;
pub use types::{Field, Type, TypeId};
pub use validate::{Invalid, Problem};
