//! Derives the options of a comparison from the facts in its results. With these options, new items are compared in the
//! same way as earlier items.

use lehr_data::FingerprintKind;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::items::{ALPHABET, COLUMN_NAMES, FINGERPRINT, ID_COLUMN, STANDARDISED};
use super::{Ambiguous, Metric, MoleculeBits, Options};

/// An option that differs from the stated facts.
///
/// # Example
/// ```
/// use lehr_methods::distances::{Metric, Options};
/// let options = Options { metric: Some(Metric::Manhattan), ..Options::default() };
/// let differs = options.completed("euclidean", &serde_json::Map::new()).unwrap_err();
/// assert_eq!((differs.option, &*differs.stated, &*differs.given), ("metric", "euclidean", "manhattan"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differs {
    /// The name of the option that differs.
    pub option: &'static str,
    /// The value that the facts state.
    pub stated: String,
    /// The value that the user gave.
    pub given: String,
}

impl Options {
    /// Sets options that were not given, from the name and the parameters of a metric that [`Items::parameters`]
    /// states. Unknown facts leave an option unchanged. The column of ids may differ, because it depends on the file.
    ///
    /// # Errors
    /// Returns the first given option that differs from the stated facts.
    ///
    /// # Example
    /// ```
    /// use lehr_methods::distances::{Alignment, Options};
    /// let stated = serde_json::json!({ "alignment": "semi-global", "gap_open": 16, "matrix": "EDNAFULL" });
    /// let options = Options { gap_open: Some(16), ..Options::default() };
    /// let options = options.completed("identity", stated.as_object().unwrap()).unwrap();
    /// assert_eq!(options.alignment, Some(Alignment::SemiGlobal));
    /// assert_eq!((options.gap_open, options.matrix.as_deref()), (Some(16), Some("EDNAFULL")));
    /// ```
    ///
    /// [`Items::parameters`]: super::Items::parameters
    pub fn completed(mut self, metric: &str, stated: &Map<String, Value>) -> Result<Self, Differs> {
        let Some(metric) = word::<Metric>(metric) else { return Ok(self) };
        let is_given = stated.get("alignment").and_then(Value::as_str) == Some("as given");
        let alignment = match stated.get("alignment").and_then(Value::as_str) {
            Some("as given") => word("given"),
            Some(alignment) => word(alignment),
            None => None,
        };
        // For aligned sequences, the metric and the alignment can each say that letters are compared position by
        // position.
        let is_implied = self.metric.is_none() && self.alignment.is_some() && is_given && metric == Metric::Hamming;
        if !is_implied {
            agree("metric", &mut self.metric, Some(metric), |metric| metric.word().to_owned())?;
        }
        agree("alignment", &mut self.alignment, alignment, |alignment| alignment.word().to_owned())?;
        let alphabet = stated.get(ALPHABET).and_then(Value::as_str).and_then(word);
        agree("alphabet", &mut self.alphabet, alphabet, |letters| letters.word().to_owned())?;
        let bits = stated.get(FINGERPRINT).and_then(Value::as_str).and_then(word);
        let shown = |bits: &MoleculeBits| FingerprintKind::from(*bits).word().to_owned();
        agree("fingerprint", &mut self.fingerprint, bits, shown)?;
        let matrix = stated.get("matrix").and_then(Value::as_str).map(str::to_owned);
        if let (Some(own), Some(matrix)) = (&mut self.matrix, &matrix)
            && own.eq_ignore_ascii_case(matrix)
        {
            own.clone_from(matrix);
        }
        agree("matrix", &mut self.matrix, matrix, String::clone)?;
        let cost = |name: &str| stated.get(name).and_then(Value::as_i64).and_then(|cost| i32::try_from(cost).ok());
        agree("gap_open", &mut self.gap_open, cost("gap_open"), i32::to_string)?;
        agree("gap_extend", &mut self.gap_extend, cost("gap_extend"), i32::to_string)?;
        agree("overlap", &mut self.overlap, stated.get("overlap_min").and_then(Value::as_f64), f64::to_string)?;
        if stated.get("ambiguous").and_then(Value::as_str) == Some("differ") {
            agree("ambiguous", &mut self.ambiguous, Some(Ambiguous::Differ), |_| "skip".to_owned())?;
        }
        if let Some(names) = stated.get(COLUMN_NAMES).and_then(Value::as_array) {
            let names: Vec<String> = names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            // The order of columns does not matter. Indices are compared after the columns are read.
            self.columns.get_or_insert(names);
        }
        match stated.get(STANDARDISED).and_then(Value::as_bool) {
            Some(true) => self.standardize = true,
            Some(false) if self.standardize => {
                let (stated, given) = ("columns as they are".to_owned(), "columns to be scaled".to_owned());
                return Err(Differs { option: "standardize", stated, given });
            }
            _ => {}
        }
        self.id = self.id.or_else(|| stated.get(ID_COLUMN).and_then(Value::as_str).map(str::to_owned));
        Ok(self)
    }
}

/// Reads a word with hyphens, as in results, or with underscores, as in options.
fn word<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_value(Value::String(text.replace('-', "_"))).ok()
}

/// Takes the stated value if no value was given; otherwise checks that the given value equals it.
fn agree<T: PartialEq>(
    option: &'static str,
    given: &mut Option<T>,
    stated: Option<T>,
    show: impl Fn(&T) -> String,
) -> Result<(), Differs> {
    let Some(stated) = stated else { return Ok(()) };
    match given {
        Some(own) if *own != stated => return Err(Differs { option, stated: show(&stated), given: show(own) }),
        Some(_) => {}
        None => *given = Some(stated),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use lehr_data::Incomplete;
    use lehr_data::sequences::{Alphabet, Sequences};
    use lehr_distances::Error;
    use serde_json::json;

    use super::super::{Alignment, Items};
    use super::*;

    /// Returns the facts that the results state about items compared with these options.
    fn stated(items: &Items, options: &Options) -> (String, Map<String, Value>) {
        items
            .compared(options, |metric| Ok::<_, Error>((metric.name().to_owned(), items.parameters(options, metric))))
            .unwrap()
    }

    #[test]
    fn what_a_comparison_states_makes_the_same_comparison() {
        let genes = Items::Sequences(Sequences::new(&["ACGTACGTAC", "ACGTACCTAN"], Alphabet::Dna).unwrap());
        let rows = Items::Records(Incomplete::new(vec![1.0, 2.0, 3.0, 5.0], 2).unwrap());
        for (items, told) in [
            (&genes, json!({})),
            (&genes, json!({ "metric": "score_over_mean", "alignment": "global", "gap_open": 9, "matrix": "5/-4" })),
            (&genes, json!({ "metric": "kimura", "alignment": "given", "ambiguous": "differ" })),
            (&genes, json!({ "alignment": "given" })),
            (&genes, json!({ "metric": "p_distance" })),
            (&genes, json!({ "overlap": 0.25 })),
            (&rows, json!({ "metric": "cosine", "standardize": true })),
            (&rows, json!({ "id": "name" })),
        ] {
            let options: Options = serde_json::from_value(told.clone()).unwrap();
            let (metric, facts) = stated(items, &options);
            let completed = Options::default().completed(&metric, &facts).unwrap();
            assert_eq!(completed.faults(), Vec::<String>::new(), "{told}");
            assert_eq!(stated(items, &completed), (metric.clone(), facts.clone()), "{told}");
            // Options that were given agree with the facts stated about them.
            let again = options.completed(&metric, &facts).unwrap();
            assert_eq!(stated(items, &again), (metric, facts), "{told}");
        }
    }

    #[test]
    fn an_option_that_differs_is_named() {
        let facts = json!({ "alignment": "local", "gap_open": 16, "overlap_min": 0.7, "standardised": false });
        let differs = |told: Value| {
            let options: Options = serde_json::from_value(told).unwrap();
            let Differs { option, stated, given } =
                options.completed("identity", facts.as_object().unwrap()).unwrap_err();
            (option, stated, given)
        };
        let of = |option, stated: &str, given: &str| (option, stated.to_owned(), given.to_owned());
        assert_eq!(differs(json!({ "gap_open": 14 })), of("gap_open", "16", "14"));
        assert_eq!(differs(json!({ "metric": "kimura" })), of("metric", "identity", "kimura"));
        assert_eq!(differs(json!({ "alignment": "semi_global" })), of("alignment", "local", "semi-global"));
        assert_eq!(differs(json!({ "overlap": 0.5 })), of("overlap", "0.7", "0.5"));
        assert_eq!(differs(json!({ "standardize": true })).0, "standardize");
        let unknown = Options { alignment: Some(Alignment::Global), ..Options::default() };
        assert_eq!(unknown.clone().completed("as given", &Map::new()).unwrap(), unknown);
    }
}
