//! Conditions: whether a step is done or skipped.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::template::{Scope, fill};

/// A condition: a reference to true or false, or comparisons of a value.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Condition {
    /// True or false.
    Flag(bool),
    /// A reference to true or false.
    Reference(String),
    /// Comparisons of a value, all of which must hold.
    Comparison(Box<Comparison>),
}

/// Comparisons of a value. All comparisons that are given must hold, and at least one must be given.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Comparison {
    /// The value to compare.
    pub(crate) value: Value,
    /// The value must be equal to this value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) is: Option<Value>,
    /// The value must not be equal to this value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) is_not: Option<Value>,
    /// The value must be an entry of this list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) one_of: Option<Value>,
    /// The value must be a number above this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) above: Option<Value>,
    /// The value must be at least this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) at_least: Option<Value>,
    /// The value must be a number below this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) below: Option<Value>,
    /// The value must be at most this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) at_most: Option<Value>,
}

impl Condition {
    /// Returns the condition as the value that the file contains, to look for references in it.
    pub(crate) fn written(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns what is wrong with the condition apart from its references, if anything is.
    pub(crate) fn fault(&self) -> Option<String> {
        match self {
            Self::Flag(_) => None,
            Self::Reference(text) if text.contains("${") => None,
            Self::Reference(text) => Some(format!("expected a reference to true or false, found {text:?}")),
            Self::Comparison(comparison) if comparison.checks().next().is_some() => None,
            Self::Comparison(_) => {
                Some("expected is, is_not, one_of, above, at_least, below or at_most beside value".to_owned())
            }
        }
    }

    /// Returns `None` if the condition holds, and otherwise the reason why it does not.
    ///
    /// # Errors
    /// Returns a message if the values cannot be compared.
    pub(crate) fn unmet(&self, scope: &Scope<'_>) -> Result<Option<String>, String> {
        match self {
            Self::Flag(holds) => Ok((!holds).then(|| "when is false".to_owned())),
            Self::Reference(text) => match fill(&Value::String(text.clone()), scope)? {
                Value::Bool(true) => Ok(None),
                Value::Bool(false) => Ok(Some(format!("{text} is false"))),
                other => Err(format!("expected true or false for {text}, found {}", short(&other))),
            },
            Self::Comparison(comparison) => {
                let value = fill(&comparison.value, scope)?;
                for (check, expected) in comparison.checks() {
                    let expected = fill(expected, scope)?;
                    if !check.holds(&value, &expected)? {
                        return Ok(Some(format!("{} is {}{}", short(&value), check.unmet(), short(&expected))));
                    }
                }
                Ok(None)
            }
        }
    }
}

impl Comparison {
    fn checks(&self) -> impl Iterator<Item = (Check, &Value)> {
        let checks = [
            (Check::Is, &self.is),
            (Check::IsNot, &self.is_not),
            (Check::OneOf, &self.one_of),
            (Check::Above, &self.above),
            (Check::NotBelow, &self.at_least),
            (Check::Below, &self.below),
            (Check::NotAbove, &self.at_most),
        ];
        checks.into_iter().filter_map(|(check, expected)| Some((check, expected.as_ref()?)))
    }
}

#[derive(Clone, Copy, Debug)]
enum Check {
    Is,
    IsNot,
    OneOf,
    Above,
    NotBelow,
    Below,
    NotAbove,
}

impl Check {
    /// Returns the words between the two values of a comparison that does not hold.
    fn unmet(self) -> &'static str {
        match self {
            Self::Is => "not ",
            Self::IsNot => "",
            Self::OneOf => "not one of ",
            Self::Above => "not above ",
            Self::NotBelow => "not at least ",
            Self::Below => "not below ",
            Self::NotAbove => "not at most ",
        }
    }

    fn holds(self, value: &Value, expected: &Value) -> Result<bool, String> {
        let order = || match (value, expected) {
            (Value::Number(one), Value::Number(other)) => Ok(compare(one, other)),
            (Value::Number(_), other) | (other, _) => {
                Err(format!("expected numbers to compare, found {}", short(other)))
            }
        };
        Ok(match self {
            Self::Is => equal(value, expected),
            Self::IsNot => !equal(value, expected),
            Self::OneOf => match expected {
                Value::Array(entries) => entries.iter().any(|entry| equal(value, entry)),
                other => return Err(format!("expected a list for one_of, found {}", short(other))),
            },
            Self::Above => order()?.is_gt(),
            Self::NotBelow => order()?.is_ge(),
            Self::Below => order()?.is_lt(),
            Self::NotAbove => order()?.is_le(),
        })
    }
}

/// Compares two numbers. Whole numbers are compared exactly, because `f64` cannot hold all of them.
fn compare(one: &Number, other: &Number) -> std::cmp::Ordering {
    let whole = |number: &Number| number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        // JSON has no NaN, so two numbers always have an order.
        _ => one.as_f64().partial_cmp(&other.as_f64()).unwrap_or(std::cmp::Ordering::Equal),
    }
}

fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => compare(one, other).is_eq(),
        _ => one == other,
    }
}

/// The maximum number of characters of a value in a message.
const SHOWN: usize = 60;

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn unmet(condition: Value) -> Result<Option<String>, String> {
        let outputs = json!({ "read": { "rows": 12, "new": true, "name": "blocks", "share": 0.5 } });
        let scope = Scope {
            parameters: &json!({ "least": 10 }),
            output: &|name| outputs.get(name).cloned(),
            is_skipped: &|_| false,
            item: None,
            run: None,
        };
        serde_json::from_value::<Condition>(condition).unwrap().unmet(&scope)
    }

    #[test]
    fn all_comparisons_must_hold() {
        let holds = [
            json!(true),
            json!("${read.new}"),
            json!({ "value": "${read.rows}", "at_least": "${parameters.least}", "at_most": 12, "is": 12.0 }),
            json!({ "value": "${read.name}", "one_of": ["tracts", "blocks"], "is_not": "tracts" }),
            json!({ "value": 18_446_744_073_709_551_615_u64, "above": 18_446_744_073_709_551_614_u64 }),
            json!({ "value": "${read.share}", "above": 0, "below": 1 }),
        ];
        for condition in holds {
            assert_eq!(unmet(condition.clone()), Ok(None), "{condition}");
        }
        for (condition, reason) in [
            (json!(false), "when is false"),
            (json!({ "value": "${read.rows}", "at_least": 1, "below": 12 }), "12 is not below 12"),
            (json!({ "value": "${read.rows}", "above": 12.5 }), "12 is not above 12.5"),
            (json!({ "value": "${read.name}", "is": "tracts" }), "\"blocks\" is not \"tracts\""),
            (json!({ "value": "${read.name}", "is_not": "blocks" }), "\"blocks\" is \"blocks\""),
            (json!({ "value": "${read.rows}", "one_of": [1, 2] }), "12 is not one of [1,2]"),
        ] {
            assert_eq!(unmet(condition), Ok(Some(reason.to_owned())));
        }
    }

    #[test]
    fn what_cannot_be_compared_is_a_fault() {
        for (condition, reason) in [
            (json!("${read.rows}"), "expected true or false for ${read.rows}, found 12"),
            (json!({ "value": "${read.name}", "above": 3 }), "expected numbers to compare, found \"blocks\""),
            (json!({ "value": 3, "above": "${read.name}" }), "expected numbers to compare, found \"blocks\""),
            (json!({ "value": 3, "one_of": 3 }), "expected a list for one_of, found 3"),
            (json!({ "value": "${read.no}", "is": 3 }), "${read.no} has no value: found fields name, new, rows, share"),
        ] {
            assert_eq!(unmet(condition), Err(reason.to_owned()));
        }
        let fault = |condition: Value| serde_json::from_value::<Condition>(condition).unwrap().fault();
        assert!(fault(json!("yes")).unwrap().contains("found \"yes\""));
        assert!(fault(json!({ "value": 3 })).unwrap().contains("at_least"));
    }
}
