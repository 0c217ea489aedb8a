//! Known classes of items, by which a map of them is coloured.

use std::collections::HashMap;

/// Classes of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// Their meaning: the name of their column.
    pub name: String,
    /// Each class, in order: by number if all are numbers.
    pub classes: Vec<String>,
    /// The class of each item.
    pub of: Vec<u32>,
}

impl Classes {
    /// Classes by their texts, one for each item.
    ///
    /// # Example
    /// ```
    /// use lehr_methods::Classes;
    /// let classes = Classes::new("cluster", &["10", "9", "10"]);
    /// assert_eq!((classes.class(0), &classes.of), ("10", &vec![1, 0, 1]));
    /// ```
    pub fn new(name: &str, texts: &[&str]) -> Self {
        let mut classes = texts.to_vec();
        classes.sort_unstable();
        classes.dedup();
        let numbers: Option<Vec<u64>> = classes.iter().map(|class| class.parse().ok()).collect();
        if numbers.is_some() {
            classes.sort_by_key(|class| class.parse::<u64>().unwrap_or_default());
        }
        let place: HashMap<&str, u32> = classes.iter().copied().zip(0..).collect();
        let of = texts.iter().map(|text| place[text]).collect();
        Self { name: name.into(), classes: classes.into_iter().map(str::to_owned).collect(), of }
    }

    /// Clusters that were found, which have numbers.
    pub fn numbered(name: &str, labels: &[u32]) -> Self {
        let count = labels.iter().max().map_or(0, |most| most + 1);
        Self {
            name: name.into(),
            classes: (0..count).map(|cluster| cluster.to_string()).collect(),
            of: labels.to_vec(),
        }
    }

    /// The class of an item.
    pub fn class(&self, item: usize) -> &str {
        &self.classes[self.of[item] as usize]
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
}
