//! Addresses that stand for things without memory of their own in the program.

use model::Addr;

/// What an address outside the program's memory stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PseudoCell {
    /// State inside the library, by its index in the table of library states.
    LibraryState(usize),
    /// The content of a file.
    FileContent,
    /// The position in an open file.
    FilePosition,
    /// The signals that were sent to threads.
    PendingSignals,
    /// What is open under a number.
    Descriptor,
}

/// What `addr` stands for, if it is no memory.
pub fn pseudo_cell(addr: Addr) -> Option<PseudoCell> {
    /// Bytes of one cell.
    const SIZE: u64 = 8;
    let range = wire::FILE_CONTENT - wire::LIBRARY_STATE;
    let offset = |start: u64| addr.0.checked_sub(start).filter(|offset| *offset < range);
    if let Some(offset) = offset(wire::LIBRARY_STATE) {
        return Some(PseudoCell::LibraryState((offset / SIZE) as usize));
    }
    offset(wire::FILE_CONTENT)
        .map(|_| PseudoCell::FileContent)
        .or_else(|| offset(wire::FILE_POSITION).map(|_| PseudoCell::FilePosition))
        .or_else(|| offset(wire::PENDING_SIGNALS).map(|_| PseudoCell::PendingSignals))
        .or_else(|| offset(wire::DESCRIPTOR_NUMBER).map(|_| PseudoCell::Descriptor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pseudo_cells_are_outside_memory() {
        let starts = [
            wire::LIBRARY_STATE,
            wire::FILE_CONTENT,
            wire::FILE_POSITION,
            wire::PENDING_SIGNALS,
            wire::SEMAPHORE_NAMES,
            wire::ASSEMBLY,
            wire::DESCRIPTOR_NUMBER,
        ];
        assert!(starts.into_iter().all(|start| Addr(start).is_outside_memory()));
    }

    #[test]
    fn ranges() {
        assert_eq!(pseudo_cell(Addr(wire::LIBRARY_STATE + 17)), Some(PseudoCell::LibraryState(2)));
        assert_eq!(pseudo_cell(Addr(wire::FILE_CONTENT)), Some(PseudoCell::FileContent));
        assert_eq!(pseudo_cell(Addr(wire::FILE_POSITION + 8)), Some(PseudoCell::FilePosition));
        assert_eq!(pseudo_cell(Addr(wire::PENDING_SIGNALS)), Some(PseudoCell::PendingSignals));
        assert_eq!(pseudo_cell(Addr(wire::DESCRIPTOR_NUMBER + 24)), Some(PseudoCell::Descriptor));
        assert_eq!(pseudo_cell(Addr(0x5555_0000_0000)), None);
        assert_eq!(pseudo_cell(Addr(wire::LIBRARY_STATE - 1)), None);
    }
}
