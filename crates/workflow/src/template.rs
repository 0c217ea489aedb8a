//! References in the values of a workflow: `${read.rows}` stands for a field of the answer of an earlier step.
//!
//! A text that consists of one reference stands for the value itself, with its type. References within a longer text
//! are written into the text. `$${` stands for `${`. In `${a.rows | b.rows | 0}`, the first step that was not skipped
//! gives the value; a plain value may come last.

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
    /// The run itself, for a message about its end.
    Run,
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

/// References of which the first with a value counts, such as `large.text | small.text | 'none'`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) references: Vec<Reference>,
    /// The value if all referenced steps were skipped.
    otherwise: Option<Value>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Choice(Choice),
}

/// A text with references.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template(Vec<Part>);

/// The values to which references refer.
pub(crate) struct Scope<'a> {
    pub(crate) parameters: &'a Value,
    pub(crate) output: &'a dyn Fn(&str) -> Option<Value>,
    /// Returns whether a step was skipped.
    pub(crate) is_skipped: &'a dyn Fn(&str) -> bool,
    pub(crate) item: Option<(&'a Value, usize)>,
    /// The run, in a message about its end.
    pub(crate) run: Option<&'a Value>,
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
            let choice = Choice::parse(&rest[at + 2..at + end])?;
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(Part::Choice(choice));
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
        self.choices().flat_map(|choice| &choice.references)
    }

    fn choices(&self) -> impl Iterator<Item = &Choice> {
        self.0.iter().filter_map(|part| match part {
            Part::Choice(choice) => Some(choice),
            Part::Text(_) => None,
        })
    }

    /// Returns the references if the text consists of a single `${…}`.
    pub(crate) fn whole(&self) -> Option<&Choice> {
        match &self.0[..] {
            [Part::Choice(choice)] => Some(choice),
            _ => None,
        }
    }

    fn fill(&self, scope: &Scope<'_>) -> Result<Value, String> {
        if let Some(choice) = self.whole() {
            return Ok(choice.value(scope)?.unwrap_or_default());
        }
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Choice(choice) => match choice.value(scope)? {
                    None => text.push_str("(skipped)"),
                    Some(Value::String(value)) => text.push_str(&value),
                    Some(value) => text.push_str(&in_text(&value)),
                },
            }
        }
        Ok(Value::String(text))
    }
}

impl Choice {
    fn parse(text: &str) -> Result<Self, String> {
        let mut written = text.split('|').map(str::trim);
        let mut references = vec![Reference::parse(written.next().unwrap_or_default())?];
        let mut otherwise = None;
        for part in written {
            if otherwise.is_some() {
                return Err(format!("expected a plain value at the end only, found ${{{text}}}"));
            }
            otherwise = plain(part);
            if otherwise.is_none() && part.starts_with(['\'', '"']) {
                return Err(format!("expected a text in quotes without | and }}, found {part}"));
            }
            if otherwise.is_none() {
                references.push(Reference::parse(part)?);
            }
        }
        Ok(Self { references, otherwise })
    }

    /// Returns the value of the first reference to a step that was not skipped; `None` if all were skipped.
    fn value(&self, scope: &Scope<'_>) -> Result<Option<Value>, String> {
        match self.references.iter().find(|reference| !reference.is_skipped(scope.is_skipped)) {
            Some(reference) => reference.value(scope).map(Some),
            None => Ok(self.otherwise.clone()),
        }
    }

    /// Returns whether the choice has no value, because all its steps were skipped.
    fn is_skipped(&self, is_skipped: &dyn Fn(&str) -> bool) -> bool {
        self.otherwise.is_none() && self.references.iter().all(|reference| reference.is_skipped(is_skipped))
    }
}

/// Returns a value as a text shows it: whole numbers without a fraction, because figures of jobs are never integers.
fn in_text(value: &Value) -> String {
    /// The first whole number whose successor `f64` cannot hold.
    const EXACT: f64 = (1u64 << 53) as f64;
    match value.as_f64() {
        Some(number) if value.is_f64() && number.fract() == 0.0 && number.abs() < EXACT => (number as i64).to_string(),
        _ => value.to_string(),
    }
}

/// Reads a number, `true`, `false`, `null`, or a text in single or double quotes.
fn plain(text: &str) -> Option<Value> {
    match text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        Some(text) => Some(Value::String(text.to_owned())),
        None => serde_json::from_str(text).ok().filter(|value: &Value| !value.is_object() && !value.is_array()),
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
            "run" => Source::Run,
            _ => Source::Step(first),
        };
        Ok(Self { source, path, text: text.trim().to_owned() })
    }

    fn is_skipped(&self, is_skipped: &dyn Fn(&str) -> bool) -> bool {
        matches!(&self.source, Source::Step(name) if is_skipped(name))
    }

    fn value(&self, scope: &Scope<'_>) -> Result<Value, String> {
        let missing = || format!("${{{}}} has no value", self.text);
        let whole = match &self.source {
            Source::Parameters => scope.parameters.clone(),
            Source::Step(name) => (scope.output)(name).ok_or_else(missing)?,
            Source::Item => scope.item.map(|(item, _)| item.clone()).ok_or_else(missing)?,
            Source::Index => Value::from(scope.item.map(|(_, index)| index).ok_or_else(missing)?),
            Source::Run => scope.run.cloned().ok_or_else(missing)?,
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

/// Returns a skipped step without which a value cannot be filled in, if there is one.
pub(crate) fn skipped(value: &Value, is_skipped: &dyn Fn(&str) -> bool) -> Option<String> {
    match value {
        Value::String(text) => {
            let template = Template::parse(text).ok()?;
            let missing = template.choices().find(|choice| choice.is_skipped(is_skipped))?;
            match &missing.references.first()?.source {
                Source::Step(name) => Some(name.clone()),
                _ => None,
            }
        }
        Value::Array(entries) => entries.iter().find_map(|entry| skipped(entry, is_skipped)),
        Value::Object(fields) => fields.values().find_map(|field| skipped(field, is_skipped)),
        _ => None,
    }
}

/// A place in a value at which the answer of a step stands alone, as a JSON pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerPlace {
    pub(crate) pointer: String,
    /// The target of the reference: a step, or the item of a mapped step.
    pub(crate) source: Source,
}

/// Lists the places in a value at which the answer of a step, or the item of a mapped step, stands alone.
pub(crate) fn places(value: &Value, is_skipped: &dyn Fn(&str) -> bool) -> Vec<AnswerPlace> {
    let mut found = Vec::new();
    add_places(value, String::new(), is_skipped, &mut found);
    found
}

fn add_places(value: &Value, pointer: String, is_skipped: &dyn Fn(&str) -> bool, found: &mut Vec<AnswerPlace>) {
    match value {
        Value::String(text) => {
            let template = Template::parse(text).ok();
            let choice = template.as_ref().and_then(Template::whole);
            let first = choice.and_then(|choice| choice.references.iter().find(|one| !one.is_skipped(is_skipped)));
            if let Some(Reference { source: source @ (Source::Step(_) | Source::Item), .. }) = first {
                found.push(AnswerPlace { pointer, source: source.clone() });
            }
        }
        Value::Array(entries) => {
            for (place, entry) in entries.iter().enumerate() {
                add_places(entry, format!("{pointer}/{place}"), is_skipped, found);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                add_places(field, format!("{pointer}/{name}"), is_skipped, found);
            }
        }
        _ => {}
    }
}

/// Replaces the references that have a plain value by this value; `None` if there are none.
pub(crate) fn with_plain_values(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => Template::parse(text).ok()?.whole()?.otherwise.clone(),
        Value::Array(entries) => {
            let new: Vec<Option<Value>> = entries.iter().map(with_plain_values).collect();
            new.iter()
                .any(Option::is_some)
                .then(|| new.into_iter().zip(entries).map(|(new, old)| new.unwrap_or_else(|| old.clone())).collect())
        }
        Value::Object(fields) => {
            let new: Vec<Option<Value>> = fields.values().map(with_plain_values).collect();
            new.iter().any(Option::is_some).then(|| {
                let fields = fields.iter().zip(new);
                Value::Object(
                    fields.map(|((name, old), new)| (name.clone(), new.unwrap_or_else(|| old.clone()))).collect(),
                )
            })
        }
        _ => None,
    }
}

/// Fills in all references in a value. A value whose steps were all skipped is `null`, and `(skipped)` within a text.
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
            is_skipped: &|name| name == "large",
            item: Some((&json!({ "k": 7, "whole": -3.0, "half": 0.5, "list": [3.0] }), 4)),
            run: None,
        };
        fill(value, &scope)
    }

    #[test]
    fn a_reference_alone_keeps_its_type_and_in_a_text_is_text() {
        let value = json!({ "k": "${parameters.clusters}", "as": "${read.name}-${index}", "all": ["${fit.*.k}", "${fit.1.objective}"], "i": "${item.k}" });
        assert_eq!(filled(&value).unwrap(), json!({ "k": 20, "as": "blocks-4", "all": [[2, 3], 0.25], "i": 7 }));
        assert_eq!(filled(&json!("a $${b} ${index}$")).unwrap(), "a ${b} 4$");
        assert_eq!(filled(&json!("${item.whole}, ${item.half}, ${item.list}")).unwrap(), "-3, 0.5, [3.0]");
        assert_eq!(filled(&json!("${item.whole}")).unwrap(), json!(-3.0));
    }

    #[test]
    fn the_first_step_that_was_not_skipped_gives_the_value() {
        let is_skipped = |name: &str| name == "large";
        for (text, value, missing) in [
            ("${large.k | read.name}", json!("blocks"), None),
            ("${read.name|large.k}", json!("blocks"), None),
            ("${large.k | 0}", json!(0), None),
            ("${large.k | 'none'}", json!("none"), None),
            ("${large.k|\"none\"} of ${large}", json!("none of (skipped)"), Some("large")),
            ("${large}", json!(null), Some("large")),
        ] {
            assert_eq!(filled(&json!(text)).unwrap(), value, "{text}");
            assert_eq!(skipped(&json!([text]), &is_skipped).as_deref(), missing, "{text}");
        }
        assert_eq!(
            Template::parse("${a.b | 1 | c}").unwrap_err(),
            "expected a plain value at the end only, found ${a.b | 1 | c}"
        );
        // A step that failed to give a field is no skipped step.
        assert!(filled(&json!("${read.x | 0}")).unwrap_err().contains("found fields name"));
    }

    #[test]
    fn places_of_answers_are_told_apart_from_longer_texts() {
        let value = json!({ "a/b": ["${read.name}", "x ${read.name}"], "c": "${large.x | item}", "d": "${parameters.k}", "e": "${read.x | 7}" });
        let found: Vec<(String, Source)> =
            places(&value, &|name| name == "large").into_iter().map(|place| (place.pointer, place.source)).collect();
        let read = || Source::Step("read".to_owned());
        assert_eq!(found, [("/a~1b/0".to_owned(), read()), ("/c".to_owned(), Source::Item), ("/e".to_owned(), read())]);
        assert!(value.pointer("/a~1b/0").is_some());
        let plain = with_plain_values(&value).unwrap();
        assert_eq!((&plain["e"], &plain["c"]), (&json!(7), &json!("${large.x | item}")));
        assert_eq!(with_plain_values(&json!(["${read.x}", 3])), None);
        assert!(Template::parse("${a | 'x|y'}").unwrap_err().contains("without |"));
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
