//! The libraries that are linked into programs under test, built by the build script and embedded, and how to link them.

/// The runtime as a static library, to be written to a file and linked into the instrumented program.
pub fn runtime_archive() -> &'static [u8] {
    include_bytes!(env!("RACEPROOF_RUNTIME_ARCHIVE"))
}

/// The recorder, likewise.
pub fn recorder_archive() -> &'static [u8] {
    include_bytes!(env!("RACEPROOF_RECORDER_ARCHIVE"))
}

/// What a link line has besides objects, the archive (after the objects) and the output, in this order:
/// `clang-19 LINK_ARGS program.o libruntime.a LINK_LIBRARIES -o program` (`clang++-19` for C++).
///
/// The executable is position-independent and bound at start, so that no lazy binding happens during runs. Its symbols
/// are exported, so that calls made inside shared libraries reach the runtime.
pub fn link_args() -> &'static [&'static str] {
    &["-fPIE", "-pie", "-fuse-ld=lld", "-Wl,-z,now", "-Wl,--export-dynamic"]
}

/// The libraries that come after the archive.
pub fn link_libraries() -> &'static [&'static str] {
    &["-lm", "-lpthread", "-ldl"]
}
