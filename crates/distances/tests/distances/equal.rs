//! Tests that equal sequences are at distance 0, whatever their letters mean.

use lehr_data::sequences::{Alphabet, Sequences};
use lehr_distances::Metric;
use lehr_distances::alignment::Mode;
use lehr_distances::sequence::{Aligned, Measure, Parameters};

#[test]
fn equal_sequences_are_at_distance_0_whatever_their_letters() {
    for (text, alphabet) in [
        ("MKUVLAAGICQ*", Alphabet::Protein),
        ("MKXBZJOUVLAAGICQWFYHH", Alphabet::Protein),
        ("ACGTNNNNNNNNACGTACGTRYKM", Alphabet::Dna),
    ] {
        let sequences = Sequences::new(&[text, text], alphabet).unwrap();
        for measure in Measure::ALL {
            if alphabet == Alphabet::Protein && matches!(measure, Measure::JukesCantor | Measure::Kimura) {
                continue;
            }
            let parameters = Parameters { measure, mode: Mode::Global, ..Parameters::default() };
            let mut values = [1.0; 4];
            Aligned::new(&sequences, &parameters).unwrap().tile(0..2, 0..2, &mut values);
            assert_eq!(values[1], 0.0, "{text}, {measure}");
        }
    }
}
