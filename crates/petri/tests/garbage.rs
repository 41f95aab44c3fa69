//! Damaged files: every reader refuses or accepts, and whatever it accepts is a usable net. Nothing panics.

use petri::backward::{Answer, Pruning, solve};
use petri::certificate::{self, Certificate};
use petri::format::Format;
use petri::witness::Witness;
use petri::{Net, target};
use testkit::generator::Random;

const SPEC: &str = "vars a b c\nrules\n a >= 1, b >= 1 -> a' = a - 1, c' = c + 1;\n c >= 1 -> c' = 0, a' = a + c;\n\
                    init a in [1, 3], b = 2, c = 0\ntarget c >= 2, b >= 1\n a >= 4\ninvariants a = 1, c = 1\n";
const PNML: &str = "<pnml><net id=\"n\"><page id=\"p\"><place id=\"a\"><initialMarking><text>2</text></initialMarking>\
                    </place><place id=\"b\"/><transition id=\"t\"/><arc id=\"x\" source=\"a\" target=\"t\"/>\
                    <arc id=\"y\" source=\"t\" target=\"b\"><inscription><text>3</text></inscription></arc></page></net></pnml>";
const LOLA: &str = "{ net } PLACE SAFE 2: a, b;\nMARKING a: 2;\nTRANSITION t CONSUME a: 1; PRODUCE b: 3, a: 0;\n";
const CERTIFICATE: &str = "raceproof-certificate 1\nnever c\nweights a 1 b 2\nbasis a 3 b 1\n";
const WITNESS: &str = "raceproof-firing-sequence 1\ninitial a 2 b 2\nfire 0\nfire 1\n";

/// A few pieces of the text taken out, repeated, or replaced by something else.
fn damaged(text: &str, random: &mut Random) -> String {
    let other = ["0", "4294967295", "99999999999", "-1", "é", ";", ",", "'", ">=", "<", "}", "\n", "a", "zz", " "];
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(3) {
        let from = random.below(chars.len().max(1)).min(chars.len());
        let to = (from + random.below(6)).min(chars.len());
        let piece: Vec<char> = match random.below(3) {
            0 => Vec::new(),
            1 => [&chars[from..to], &chars[from..to]].concat(),
            _ => other[random.below(other.len())].chars().collect(),
        };
        chars.splice(from..to, piece);
    }
    chars.into_iter().collect()
}

fn ask(net: &Net) {
    assert_eq!(net.validate(), Ok(()));
    let (answer, _) = solve(net, Pruning::default(), |s| s.iterations < 500);
    match &answer {
        Answer::Covered { .. } => assert_eq!(Witness::of(&answer).unwrap().replay(net), Ok(())),
        // The slow checker may refuse large numbers, but never for another reason.
        Answer::Safe(certificate) => {
            if let Err(error) = certificate::check(net, certificate) {
                assert!(error.contains("too many tokens"), "{error}");
            }
        }
        Answer::Stopped(_) => {}
    }
}

#[test]
fn damaged_nets() {
    let mut random = Random::new(11);
    let mut accepted = 0;
    for (format, text, question) in
        [(Format::Spec, SPEC, ""), (Format::Pnml, PNML, "b >= 3, a >= 1"), (Format::Lola, LOLA, "b >= 6; a >= 3")]
    {
        for _ in 0..3_000 {
            let Ok(mut net) = format.parse(&damaged(text, &mut random)) else { continue };
            if net.targets.is_empty() {
                net.targets = target::parse(&damaged(question, &mut random), &net).unwrap_or_default();
            }
            ask(&net);
            accepted += 1;
        }
    }
    assert!(accepted > 500, "only {accepted} were nets");
}

#[test]
fn damaged_certificates_and_sequences() {
    let mut random = Random::new(12);
    let net = Format::Spec.parse(SPEC).unwrap();
    let (mut certificates, mut sequences) = (0, 0);
    for _ in 0..3_000 {
        if let Ok(certificate) = Certificate::from_text(&damaged(CERTIFICATE, &mut random), &net) {
            // The target can be covered, so no certificate is right.
            assert!(certificate::check(&net, &certificate).is_err(), "{certificate:?}");
            certificates += 1;
        }
        if let Ok(witness) = Witness::from_text(&damaged(WITNESS, &mut random), &net) {
            let _ = witness.replay(&net);
            sequences += 1;
        }
    }
    assert!(certificates > 100 && sequences > 100, "only {certificates} certificates and {sequences} sequences");
}
