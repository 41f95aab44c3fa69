//! The vocabulary of rows: what a library function touches, keeps and returns.

use model::AccessKind;

use super::{LibraryState, Size, StateAccess};

/// What a hook computing accesses is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HookArg {
    /// This argument of the call; integers zero-extended to 64 bits.
    Arg(u8),
    /// What the call returned (only in [`Effect::ComputedAfter`]); integers sign-extended to 64 bits.
    Result,
    /// A 64-bit number.
    Const(u64),
}

/// A hook of the runtime that computes what a call touches and adds it to the call's event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Computed {
    /// The hook, a `void` function of pointers and 64-bit integers.
    pub hook: &'static str,
    /// Its arguments.
    pub args: &'static [HookArg],
    /// Arguments of the call whose objects may be read.
    pub reads: &'static [u8],
    /// Arguments of the call whose objects may be written.
    pub writes: &'static [u8],
}

/// One thing a library function does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Reads the bytes this argument points to.
    Read(u8, Size),
    /// Writes the bytes this argument points to.
    Write(u8, Size),
    /// Reads bytes whose number is known only after the call.
    ReadAfter(u8, Size),
    /// Writes bytes whose number is known only after the call.
    WriteAfter(u8, Size),
    /// Touches what the hook says; called before the call.
    Computed(Computed),
    /// Touches what the hook says; called after the call.
    ComputedAfter(Computed),
    /// Uses the stream (`FILE *`) in this argument.
    Stream(u8),
    /// Uses the stream in this argument without its lock: two such uses are a data race.
    UnlockedStream(u8),
    /// Uses memory of the library itself, with the variables that show it ([`LibraryState::variables`]).
    State(LibraryState, StateAccess),
    /// The same, but only where this argument is a null pointer: otherwise the caller brings memory of its own.
    StateWithout(u8, LibraryState, StateAccess),
    /// Uses the open file whose number is in this argument.
    File(u8, FileUse),
    /// `printf` or `scanf`: touches what the conversions of the format say; for `scanf` it comes after the call.
    Format(Format),
    /// The result points into this argument's object, or is null.
    Returns(u8),
    /// The result points to memory of the library itself: the caller may read it.
    ReturnsState(LibraryState),
    /// Writes the bytes that the result points to. They are part of a [`LibraryState`] that the row writes as well: this
    /// is where a run finds them.
    WriteResult(Size),
    /// Stores a pointer into the second argument's object through the first argument (`endptr` of `strtol`).
    StoresPointer(u8, u8),
    /// Stores the address of a new heap block through this argument; what was there before is not freed.
    StoresBlock(u8),
    /// Moves the pointer that this argument points to, inside the object that it points into (`strsep`).
    Advances(u8),
    /// The result points into the object of a pointer that this argument points to, or is null.
    ReturnsBehind(u8),
    /// Links the nodes that these arguments point to with each other, and with all that they are linked with already:
    /// writes the links of all of them, and leaves in each pointers to any.
    Links(&'static [u8], Links),
    /// Follows links from the node in this argument; the result is one of the nodes, or null.
    ReturnsLinked(u8, Links),
    /// Touches what the pointers point to that this argument's object holds. A run learns which bytes from a
    /// [`Computed`] effect of the same row, or from the function's model.
    Behind(u8, AccessKind),
    /// Copies bytes, pointers among them, to the first argument's memory from the second's; also to places further on.
    Copies(u8, u8),
    /// Bytes, pointers among them, go to the library or the kernel or come back from there.
    Passes(Passage),
    /// Calls the function this argument points to. What a row touches is then touched between the callbacks too:
    /// the call has one event before the first and one after the last callback, both with the effects of the row.
    Calls(u8),
    /// The library keeps this pointer, and anything may become of what it points to (`atexit`, `signal`).
    Keeps(u8),
    /// The library keeps this pointer as part of its memory: rows with [`Kept`](Self::Kept) say what they do with it.
    KeepsIn(u8, LibraryState),
    /// Touches what the pointers point to that earlier calls left in this memory. A run learns which bytes from a
    /// [`Computed`] effect of the same row.
    Kept(LibraryState, AccessKind),
    /// The result is such a pointer.
    ReturnsKept(LibraryState),
    /// The effect cannot be described; the text says why.
    Opaque(&'static str),
    /// The same for proofs: runs follow it.
    Unproved(&'static str),
}

impl Effect {
    /// How many bytes it touches, where it names an argument and a size.
    pub fn size(&self) -> Option<Size> {
        match self {
            Self::Read(_, size)
            | Self::Write(_, size)
            | Self::ReadAfter(_, size)
            | Self::WriteAfter(_, size)
            | Self::WriteResult(size) => Some(*size),
            _ => None,
        }
    }
}

/// Nodes of the C++ library's containers: where they have pointers to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Links {
    /// `std::__detail::_List_node_base`: the next and the previous one.
    List,
    /// `std::_Rb_tree_node_base`: the colour, then the parent and both children.
    Tree,
}

impl Links {
    /// Offsets of the pointers, on machines with pointers of 8 bytes.
    pub fn offsets(self) -> &'static [i64] {
        match self {
            Self::List => &[0, 8],
            Self::Tree => &[8, 16, 24],
        }
    }

    /// How many bytes of a node are links.
    pub fn size(self) -> u64 {
        match self {
            Self::List => 16,
            Self::Tree => 32,
        }
    }
}

/// What a call uses of an open file. Another call may close the number or make it stand for another file, so each of
/// these uses the number, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileUse {
    /// The number alone.
    Number,
    /// What belongs to the open file and its duplicates: flags, options, owner.
    Description(StateAccess),
    /// What belongs to the file, however it was opened: content, length, permissions, times.
    Content(StateAccess),
}

impl FileUse {
    /// The `use` argument of `__rp_add_file`.
    pub fn code(self) -> u32 {
        match self {
            Self::Number => 0,
            Self::Description(StateAccess::Read) => 1,
            Self::Description(StateAccess::Write) => 2,
            Self::Content(StateAccess::Read) => 3,
            Self::Content(StateAccess::Write) => 4,
        }
    }
}

/// Bytes that go to memory of the library or the kernel, or come from there: what comes out may be anything that went in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passage {
    /// The argument that points to the bytes, or to what says where they are.
    pub arg: u8,
    /// How many pointers lie between: 0 for the bytes themselves, 1 for an array of `iovec`, 2 for a `msghdr`.
    pub behind: u8,
    /// They come out.
    pub out: bool,
    /// Where they are in the meantime.
    pub state: LibraryState,
}

/// The format of a `printf` or `scanf` and where its arguments are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// The format string.
    pub format: u8,
    /// The arguments of its conversions.
    pub args: FormatArgs,
    /// Conversions write through their pointers (`scanf`).
    pub scan: bool,
    /// The format is a `wchar_t` string.
    pub wide: bool,
}

impl Format {
    /// The `flags` argument of `__rp_add_format` and `__rp_add_format_list`: bit 0 for `scanf`, bit 1 for wide. What a
    /// `scanf` stored is known only after the call: its hook comes after the call and the call's result (an `int`)
    /// plus 2 is added in bits 8..32.
    pub fn flags(&self) -> u32 {
        u32::from(self.scan) | u32::from(self.wide) << 1
    }
}

/// Where the arguments of a format are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FormatArgs {
    /// Variadic arguments of the call, from this one on (`__rp_add_format`).
    From(u8),
    /// A `va_list` in this argument (`__rp_add_format_list`).
    List(u8),
}
