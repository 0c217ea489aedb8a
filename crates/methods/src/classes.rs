//! Known classes of items, which colour a map of the items.

use std::collections::HashMap;

/// The maximum number of different numbers that count as classes. More numbers than this are values on a scale.
const CLASSES_MAX: usize = 40;

/// The classes of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// The name of the column with the classes.
    pub name: String,
    /// The name of each class. The names are sorted, numerically if all are numbers.
    pub classes: Vec<String>,
    /// The class of each item; [`u32::MAX`] for an item without a class.
    pub of: Vec<u32>,
}

impl Classes {
    /// Creates classes from a text for each item. An item with an empty text has no class.
    ///
    /// # Example
    /// ```
    /// use lehr_methods::Classes;
    /// let classes = Classes::new("cluster", &["10", "9", "10"]);
    /// assert_eq!((classes.class(0), &classes.of), ("10", &vec![1, 0, 1]));
    /// ```
    pub fn new(name: &str, texts: &[&str]) -> Self {
        let mut classes: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
        classes.sort_unstable();
        classes.dedup();
        let numbers: Option<Vec<u64>> = classes.iter().map(|class| class.parse().ok()).collect();
        if numbers.is_some() {
            classes.sort_by_key(|class| class.parse::<u64>().unwrap_or_default());
        }
        let place: HashMap<&str, u32> = classes.iter().copied().zip(0..).collect();
        let of = texts.iter().map(|text| place.get(text).copied().unwrap_or(u32::MAX)).collect();
        Self { name: name.into(), classes: classes.into_iter().map(str::to_owned).collect(), of }
    }

    /// Creates classes from the numbers of clusters.
    pub fn numbered(name: &str, labels: &[u32]) -> Self {
        let count = labels.iter().max().map_or(0, |most| most + 1);
        Self {
            name: name.into(),
            classes: (0..count).map(|cluster| cluster.to_string()).collect(),
            of: labels.to_vec(),
        }
    }

    /// Returns the class of an item; an empty text if the item has none.
    pub fn class(&self, item: usize) -> &str {
        self.classes.get(self.of[item] as usize).map_or("", String::as_str)
    }

    /// Returns the value of each item (NaN if the item has none) if the classes are numbers on a scale. They are if
    /// some have fractions, or if there are more than 40 different numbers.
    pub fn scale(&self) -> Option<Vec<f64>> {
        let values: Vec<f64> = self
            .classes
            .iter()
            .map(|class| class.parse().ok().filter(|value: &f64| value.is_finite()))
            .collect::<Option<_>>()?;
        let is_scale = values.len() > CLASSES_MAX || values.iter().any(|value| value.fract() != 0.0);
        let value = |&class: &u32| values.get(class as usize).copied().unwrap_or(f64::NAN);
        is_scale.then(|| self.of.iter().map(value).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_in_order_by_number_if_they_are_numbers() {
        let numbers = Classes::new("cluster", &["10", "9", "10"]);
        assert_eq!((numbers.classes, numbers.of), (vec!["9".to_owned(), "10".to_owned()], vec![1, 0, 1]));
        let words = Classes::new("family", &["AluY", "10", "AluJ"]);
        assert_eq!((words.class(0), words.class(2)), ("AluY", "AluJ"));
        assert_eq!(words.classes, ["10", "AluJ", "AluY"]);
        assert_eq!(Classes::numbered("cluster", &[1, 0, 1]).class(0), "1");
    }

    #[test]
    fn items_without_a_class_have_none_and_fractions_are_a_scale() {
        let half = Classes::new("half", &["yes", "", "no"]);
        assert_eq!((half.classes.len(), &half.of, half.class(1)), (2, &vec![1, u32::MAX, 0], ""));
        assert_eq!(half.scale(), None);
        assert_eq!(Classes::new("cluster", &["10", "9", "10"]).scale(), None, "few whole numbers are classes");
        let size = Classes::new("size", &["1.5", "", "3"]).scale().unwrap();
        assert!(size[0] == 1.5 && size[1].is_nan() && size[2] == 3.0);
        let many: Vec<String> = (0..41).map(|number| number.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(Classes::new("many", &many).scale().unwrap()[40], 40.0);
        assert_eq!(Classes::new("none", &["", ""]).scale(), None);
    }
}
