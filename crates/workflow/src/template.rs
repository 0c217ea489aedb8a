//! References in the values of a workflow: `${read.rows}` stands for a field of the answer of an earlier step.
//!
//! A text that consists of one reference stands for the value itself, with its type. References within a longer text
//! are written into the text. `$${` stands for `${`.

use serde_json::Value;

/// The target of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A parameter of the run.
    Parameters,
    /// The answer of a step.
    Step(String),
    /// The item on which a mapped step works.
    Item,
    /// The position of the item in the list, counted from 0.
    Index,
}

/// A reference, such as `fit.0.clusters`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) source: Source,
    /// The path from the target to the value: names of fields, positions in lists, or `*` for a field of every entry.
    pub(crate) path: Vec<String>,
    /// The text as it was written.
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Reference(Reference),
}

/// A text with references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Part>);

/// The values to which references refer.
pub(crate) struct Scope<'a> {
    pub(crate) parameters: &'a Value,
    pub(crate) output: &'a dyn Fn(&str) -> Option<Value>,
    pub(crate) item: Option<(&'a Value, usize)>,
}

impl Template {
    /// Parses a text into plain parts and references.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            if rest[..at].ends_with('$') {
                plain.push_str(&rest[..at - 1]);
                plain.push_str("${");
                rest = &rest[at + 2..];
                continue;
            }
            plain.push_str(&rest[..at]);
            let Some(end) = rest[at..].find('}') else {
                return Err(format!("expected a }} after {:?}", &rest[at..]));
            };
            let reference = Reference::parse(&rest[at + 2..at + end])?;
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(Part::Reference(reference));
            rest = &rest[at + end + 1..];
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self(parts))
    }

    /// Returns the references in the text.
    pub(crate) fn references(&self) -> impl Iterator<Item = &Reference> {
        self.0.iter().filter_map(|part| match part {
            Part::Reference(reference) => Some(reference),
            Part::Text(_) => None,
        })
    }

    /// Returns the reference if the text consists of a single reference.
    pub(crate) fn whole(&self) -> Option<&Reference> {
        match &self.0[..] {
            [Part::Reference(reference)] => Some(reference),
            _ => None,
        }
    }

    fn fill(&self, scope: &Scope<'_>) -> Result<Value, String> {
        if let Some(reference) = self.whole() {
            return reference.value(scope);
        }
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Reference(reference) => match reference.value(scope)? {
                    Value::String(value) => text.push_str(&value),
                    value => text.push_str(&value.to_string()),
                },
            }
        }
        Ok(Value::String(text))
    }
}

impl Reference {
    fn parse(text: &str) -> Result<Self, String> {
        let mut names = text.trim().split('.').map(str::to_owned);
        let first = names.next().unwrap_or_default();
        let path: Vec<String> = names.collect();
        if first.is_empty() || path.iter().any(String::is_empty) {
            return Err(format!("expected names with dots between them, found ${{{text}}}"));
        }
        let source = match first.as_str() {
            "parameters" if path.is_empty() => {
                return Err("expected the name of a parameter, as ${parameters.NAME}".to_owned());
            }
            "parameters" => Source::Parameters,
            "item" => Source::Item,
            "index" if !path.is_empty() => return Err(format!("expected ${{index}}, a number, found ${{{text}}}")),
            "index" => Source::Index,
            _ => Source::Step(first),
        };
        Ok(Self { source, path, text: text.trim().to_owned() })
    }

    fn value(&self, scope: &Scope<'_>) -> Result<Value, String> {
        let missing = || format!("${{{}}} has no value", self.text);
        let whole = match &self.source {
            Source::Parameters => scope.parameters.clone(),
            Source::Step(name) => (scope.output)(name).ok_or_else(missing)?,
            Source::Item => scope.item.map(|(item, _)| item.clone()).ok_or_else(missing)?,
            Source::Index => Value::from(scope.item.map(|(_, index)| index).ok_or_else(missing)?),
        };
        descend(whole, &self.path).map_err(|found| format!("{}: found {found}", missing()))
    }
}

/// Returns the part of a value that a path names. If the value has no such part, returns what it has instead.
fn descend(value: Value, path: &[String]) -> Result<Value, String> {
    let Some((name, rest)) = path.split_first() else { return Ok(value) };
    match value {
        Value::Object(mut fields) => {
            let field = fields.remove(name);
            let names = || fields.keys().map(String::as_str).take(10).collect::<Vec<_>>().join(", ");
            descend(
                field.ok_or_else(|| {
                    if fields.is_empty() { "no fields".to_owned() } else { format!("fields {}", names()) }
                })?,
                rest,
            )
        }
        Value::Array(entries) if name == "*" => {
            entries.into_iter().map(|entry| descend(entry, rest)).collect::<Result<_, _>>().map(Value::Array)
        }
        Value::Array(mut entries) => {
            let place = name.parse().ok().filter(|place: &usize| *place < entries.len());
            let place = place.ok_or_else(|| match entries.len() {
                0 => "an empty list".to_owned(),
                1 => "a list with one entry".to_owned(),
                count => format!("a list with {count} entries"),
            })?;
            descend(entries.swap_remove(place), rest)
        }
        Value::Null => Err("no value".to_owned()),
        Value::Bool(value) => Err(value.to_string()),
        Value::Number(number) => Err(format!("the number {number}")),
        Value::String(_) => Err("a text".to_owned()),
    }
}

/// Fills in all references in a value.
pub(crate) fn fill(value: &Value, scope: &Scope<'_>) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => Template::parse(text)?.fill(scope)?,
        Value::Array(entries) => {
            Value::Array(entries.iter().map(|entry| fill(entry, scope)).collect::<Result<_, _>>()?)
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| Ok((name.clone(), fill(value, scope)?)));
            Value::Object(fields.collect::<Result<_, String>>()?)
        }
        other => other.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filled(value: &Value) -> Result<Value, String> {
        let parameters = json!({ "clusters": 20 });
        let outputs = json!({ "fit": [{ "k": 2, "objective": 0.5 }, { "k": 3, "objective": 0.25 }], "read": { "name": "blocks" } });
        let scope = Scope {
            parameters: &parameters,
            output: &|name| outputs.get(name).cloned(),
            item: Some((&json!({ "k": 7 }), 4)),
        };
        fill(value, &scope)
    }

    #[test]
    fn a_reference_alone_keeps_its_type_and_in_a_text_is_text() {
        let value = json!({ "k": "${parameters.clusters}", "as": "${read.name}-${index}", "all": ["${fit.*.k}", "${fit.1.objective}"], "i": "${item.k}" });
        assert_eq!(filled(&value).unwrap(), json!({ "k": 20, "as": "blocks-4", "all": [[2, 3], 0.25], "i": 7 }));
        assert_eq!(filled(&json!("a $${b} ${index}$")).unwrap(), "a ${b} 4$");
    }

    #[test]
    fn what_is_not_there_is_told() {
        for (text, found) in [
            ("${fit.2.k}", "a list with 2 entries"),
            ("${fit.x}", "a list with 2 entries"),
            ("${fit.0.x}", "fields k, objective"),
            ("${read.name.x}", "a text"),
            ("${item.k.x}", "the number 7"),
        ] {
            assert_eq!(filled(&json!(text)).unwrap_err(), format!("{text} has no value: found {found}"));
        }
        assert_eq!(filled(&json!("${unknown}")).unwrap_err(), "${unknown} has no value");
        assert!(Template::parse("${").unwrap_err().contains("expected a }"));
        assert!(Template::parse("${a..b}").is_err() && Template::parse("${index.a}").is_err());
        assert!(Template::parse("${parameters}").is_err());
    }
}
