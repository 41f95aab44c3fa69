//! The constraint string of inline assembly: outputs (`=r`, `=*m`), inputs (`r`, `*m`, `0` for "where output 0 is"), labels
//! (`!i`) and clobbered registers (`~{memory}`), separated by commas.
//!
//! Operands are numbered in that order, as in the text. Arguments of the call are the outputs in memory and the inputs.

/// One operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// Its number.
    pub(super) operand: usize,
    pub(super) is_output: bool,
    /// It is memory, and the argument its address.
    pub(super) is_memory: bool,
    /// It may be part of the instruction itself.
    pub(super) is_immediate: bool,
    /// The output that this input starts out in the place of.
    tied: Option<usize>,
    /// Where it is, as written.
    letters: String,
    /// Which argument of the call it is.
    argument: Option<usize>,
}

/// The operands of a piece of inline assembly.
#[derive(Debug)]
pub(super) struct Constraints {
    pub(super) places: Vec<Place>,
    /// The compiler has to expect changes of any memory, and keeps accesses on their side of the assembly.
    pub(super) memory: bool,
}

impl Constraints {
    pub(super) fn parse(text: &str) -> Self {
        let mut places: Vec<Place> = Vec::new();
        let mut arguments = 0;
        for item in text.split(',').filter(|item| !item.is_empty() && !item.starts_with(['~', '!'])) {
            let is_output = item.starts_with('=') || item.starts_with('+');
            let letters: String = item.chars().filter(|c| !matches!(c, '=' | '+' | '&' | '%')).collect();
            let is_memory = letters.starts_with('*');
            let tied = letters.parse().ok().filter(|_| !is_output);
            let takes_argument = !is_output || is_memory;
            let argument = takes_argument.then_some(arguments);
            arguments += usize::from(takes_argument);
            // Letters in braces are the name of a register.
            let outside = letters.split('{').next().unwrap_or_default();
            let is_immediate = !is_output && !is_memory && outside.contains(['i', 's', 'X', 'g', 'p', 'S']);
            places.push(Place { operand: places.len(), is_output, is_memory, is_immediate, tied, letters, argument });
        }
        Self { places, memory: text.split(',').any(|item| item == "~{memory}") }
    }

    /// The argument of the call that an operand is.
    pub(super) fn argument(&self, operand: usize) -> Option<usize> {
        self.places.get(operand)?.argument
    }

    /// The input that starts out in a register.
    pub(super) fn register(&self, name: &str) -> Option<usize> {
        let is_there = |place: &Place| place.letters == name;
        let inputs = self.places.iter().filter(|place| !place.is_output);
        let mut found = inputs.filter(|place| {
            let output = place.tied.and_then(|output| self.places.get(output));
            is_there(place) || output.is_some_and(is_there)
        });
        found.next().map(|place| place.operand)
    }

    /// The argument of the only input, which is where the only output is.
    pub(super) fn only_tied(&self) -> Option<usize> {
        match &self.places[..] {
            [output, input] if output.is_output && !output.is_memory && input.tied == Some(0) => input.argument,
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_and_arguments_are_numbered_apart() {
        let all = Constraints::parse("=&{cx},=&{di},=*m,{ax},0,1,*m,~{memory},~{dirflag},~{fpsr},~{flags}");
        assert_eq!(all.places.len(), 7);
        assert_eq!(
            (0..7).map(|n| all.argument(n)).collect::<Vec<_>>(),
            [None, None, Some(0), Some(1), Some(2), Some(3), Some(4)]
        );
        assert_eq!((all.register("{di}"), all.register("{ax}"), all.register("{si}")), (Some(5), Some(3), None));
        assert!(all.memory && !Constraints::parse("=r,*m").memory);
        assert!(all.places[2].is_memory && all.places[2].is_output && all.places[6].is_memory);
    }

    #[test]
    fn immediates_and_ties_are_seen() {
        let all = Constraints::parse("=r,i,{si},!i");
        assert!(all.places[1].is_immediate && !all.places[2].is_immediate);
        assert_eq!(all.places.len(), 3);
        assert_eq!(Constraints::parse("=r,0,~{dirflag}").only_tied(), Some(0));
        assert_eq!(Constraints::parse("=r,r").only_tied(), None);
    }
}
