//! Writes models of clusters as PMML 4.4, the exchange format of the Data Mining Group, for scoring engines and
//! databases.
//!
//! The file takes the columns of the table, in their own units. Derived fields repeat the model's steps: scaling,
//! logarithms, categories, dates, filled values, and positions on the sphere. The outputs are `cluster`, as a number,
//! and `distance` from its centre, as `lehr predict` writes them.

use std::collections::HashSet;
use std::fmt::Write as _;

use lehr_data::frame::ReadAs;
use lehr_data::geography::EARTH_RADIUS_KM;
use lehr_data::preparation::{Feature, FeatureValue, Missing};
use lehr_data::read::gap::GAPS;
use lehr_mining::vector::Centroids;

use crate::{Learnt, ModelFile};

/// The reason why PMML cannot represent a model: what the model has, and which format to use instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsuited(String);

impl std::fmt::Display for Unsuited {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Unsuited {}

/// Returns a model of clusters as a PMML file.
///
/// # Errors
/// Returns [`Unsuited`] for a mixture or a map, and for clusters of bits by likelihood. Also returns it for a column
/// whose empty fields mean no, and for names that XML cannot represent.
///
/// # Example
/// ```
/// use lehr_methods::{Learnt, ModelFile, pmml};
/// use lehr_mining::vector::Centroids;
/// let centroids = Centroids::new(1, vec![0.0, 9.0], 0.0)?;
/// let model = ModelFile::new(&["x".to_owned()], (vec![0.0], vec![1.0]), Learnt::Clusters(centroids));
/// let text = pmml::text(&model)?;
/// assert!(text.contains("<Array n=\"1\" type=\"real\">9.0</Array>"), "{text}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn text(model: &ModelFile) -> Result<String, Unsuited> {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    document(model)?.write(0, &mut text)?;
    Ok(text)
}

fn document(model: &ModelFile) -> Result<Element, Unsuited> {
    let instead = |what: &str| {
        let reason = format!("PMML has no model for {what}: in Python, export .onnx; .json has every model");
        Err(Unsuited(reason))
    };
    let centroids = match &model.model {
        Learnt::Clusters(centroids) if centroids.is_bernoulli() => {
            return Err(Unsuited(
                "PMML has no likelihood of bits, by which --cost bernoulli chooses clusters: use the model.json".into(),
            ));
        }
        Learnt::Clusters(centroids) => centroids,
        Learnt::Mixture(_) => return instead("a mixture of Gaussians"),
        Learnt::Medoids(_) | Learnt::Pairwise(_) | Learnt::Embedding(_) => {
            return Err(Unsuited("PMML has no model of dissimilarities: use the model.json".into()));
        }
        Learnt::Gtm(_) => return instead("a topographic map"),
    };
    let features = model.preparation.iter().flat_map(|preparation| &preparation.features);
    for feature in features {
        // A reader of PMML cannot tell an empty field that means no from a missing value.
        if matches!(&feature.read_as, ReadAs::Truth { no, .. } if no.is_empty()) {
            let column = &feature.column;
            let reason =
                format!("PMML has no form for the column {column:?}, whose empty fields mean no: use the model.json");
            return Err(Unsuited(reason));
        }
    }
    let fields = Fields::of(model);
    let gaps = gaps(model);
    let application = Element::new("Application").with("name", "lehr").with("version", env!("CARGO_PKG_VERSION"));
    let inputs = fields.inputs.iter().map(|input| {
        let field = Element::new("DataField").with("name", &input.name).with("optype", input.optype());
        let missing = gaps.iter().map(|gap| Element::new("Value").with("value", gap).with("property", "missing"));
        field.with("dataType", input.kind).children(missing)
    });
    Ok(Element::new("PMML")
        .with("xmlns", "http://www.dmg.org/PMML-4_4")
        .with("version", "4.4")
        .child(Element::new("Header").child(application))
        .child(Element::new("DataDictionary").with("numberOfFields", fields.inputs.len()).children(inputs))
        .child(clustering(model, centroids, &fields)))
}

/// Returns the spellings of a missing value in the table of a model that prepares its columns.
fn gaps(model: &ModelFile) -> Vec<String> {
    if model.preparation.is_none() {
        return Vec::new();
    }
    // "none" may be a text, and whether it is depends on the other fields of its column.
    let known = GAPS.iter().filter(|gap| !matches!(**gap, "" | "none"));
    let own = model.form.iter().flat_map(|form| form.missing.iter().cloned());
    let mut gaps: Vec<String> = known.flat_map(|gap| [(*gap).to_owned(), gap.to_uppercase()]).chain(own).collect();
    gaps.push("NaN".to_owned());
    let mut seen = HashSet::new();
    gaps.retain(|gap| seen.insert(gap.clone()));
    gaps
}

/// A column of the table.
struct Input {
    name: String,
    /// The type in PMML.
    kind: &'static str,
}

impl Input {
    fn optype(&self) -> &'static str {
        if self.kind == "string" { "categorical" } else { "continuous" }
    }
}

/// The columns of the table, and how they become the numbers that the model compares.
struct Fields {
    inputs: Vec<Input>,
    /// The name of each number that the model compares, and its formula, if it is not a column itself.
    compared: Vec<(String, Option<Element>)>,
    /// How the reader treats a missing value of a column.
    missing: &'static str,
    outputs: Outputs,
}

/// The names of the outputs. A name that a column has gets `_` at its end.
struct Outputs {
    nearest: String,
    /// The distance in a straight line, in the unit of the model's numbers.
    straight: String,
    cluster: String,
    distance: String,
}

impl Fields {
    fn of(model: &ModelFile) -> Self {
        // A row with a missing value has no result, unless the preparation fills or leaves out such values.
        let (inputs, formulas, missing) = if let Some(preparation) = &model.preparation {
            let mut inputs: Vec<Input> = Vec::new();
            for feature in &preparation.features {
                if inputs.iter().all(|input| input.name != feature.column) {
                    inputs.push(Input { name: feature.column.clone(), kind: kind_of(feature) });
                }
            }
            let formula = |feature: &Feature| (feature.name.clone(), formula_of(feature, preparation.missing));
            let missing = if preparation.missing == Missing::Fault { "returnInvalid" } else { "asIs" };
            (inputs, preparation.features.iter().map(formula).collect::<Vec<_>>(), missing)
        } else {
            let input = |name: &String| Input { name: name.clone(), kind: "double" };
            let formulas = if model.is_sphere() {
                on_sphere(&model.columns)
            } else {
                let scale = model.shifts().iter().zip(model.divisors());
                let scaled = |(name, (shift, divisor)): (&String, (&f64, &f64))| {
                    let is_plain = *shift == 0.0 && *divisor == 1.0;
                    (name.clone(), (!is_plain).then(|| scaled(field(name), *shift, *divisor)))
                };
                model.columns.iter().zip(scale).map(scaled).collect()
            };
            (model.columns.iter().map(input).collect(), formulas, "returnInvalid")
        };
        let mut taken: HashSet<String> = inputs.iter().map(|input: &Input| input.name.clone()).collect();
        let mut output = |name: &str| {
            let mut own = name.to_owned();
            while !taken.insert(own.clone()) {
                own.push('_');
            }
            own
        };
        let outputs = Outputs {
            nearest: output("nearest cluster"),
            straight: output("straight distance"),
            cluster: output("cluster"),
            distance: output("distance"),
        };
        let compared = formulas.into_iter().map(|(name, formula)| match formula {
            None => (name, None),
            formula => {
                // A name may denote only one field, so the number that is made from a column needs its own.
                let mut own = if taken.contains(&name) { format!("{name} (scaled)") } else { name };
                while !taken.insert(own.clone()) {
                    own.push('_');
                }
                (own, formula)
            }
        });
        Self { compared: compared.collect(), inputs, missing, outputs }
    }
}

/// Returns the type of the column of a feature.
fn kind_of(feature: &Feature) -> &'static str {
    match (&feature.value, &feature.read_as) {
        (FeatureValue::Level(_) | FeatureValue::OtherThan(_), _) | (FeatureValue::Number, ReadAs::Truth { .. }) => {
            "string"
        }
        (FeatureValue::Number, ReadAs::TimeOfDay) => "time",
        (FeatureValue::Number, _) => "double",
        (_, ReadAs::Date { has_time: false, .. }) => "date",
        _ => "dateTime",
    }
}

/// Returns the formula of a feature, or `None` if the feature is the column itself.
fn formula_of(feature: &Feature, missing: Missing) -> Option<Element> {
    let column = || field(&feature.column);
    let days = || match kind_of(feature) {
        "date" => apply("dateDaysSinceYear", [column(), whole(1970)]),
        _ => apply("/", [apply("dateSecondsSinceYear", [column(), whole(1970)]), number(86_400.0)]),
    };
    let one_if = |condition: Element| apply("if", [condition, number(1.0), number(0.0)]);
    let value = match &feature.value {
        FeatureValue::Number => match &feature.read_as {
            ReadAs::Truth { yes, no } => {
                // Lehr compares these words without regard to case.
                let is =
                    |word_for: &str| apply("equal", [apply("lowercase", [column()]), word(&word_for.to_lowercase())]);
                let no = apply("if", [is(no), number(0.0)]);
                apply("if", [is(yes), number(1.0), no])
            }
            ReadAs::TimeOfDay => apply("dateSecondsSinceMidnight", [column()]),
            _ => column(),
        },
        FeatureValue::Days => days(),
        FeatureValue::Weekday(day) => {
            // 1970-01-01 was a Thursday.
            let from_monday = apply("modulo", [apply("+", [apply("floor", [days()]), number(3.0)]), number(7.0)]);
            one_if(apply("equal", [from_monday, number(f64::from(*day) - 1.0)]))
        }
        FeatureValue::Month(month) => {
            let written = apply("formatDatetime", [column(), word("%m")]);
            one_if(apply("equal", [written, word(&format!("{month:02}"))]))
        }
        FeatureValue::Level(level) => one_if(apply("equal", [column(), word(level)])),
        FeatureValue::OtherThan(levels) => {
            let others = std::iter::once(column()).chain(levels.iter().map(|level| word(level)));
            if levels.is_empty() { number(1.0) } else { one_if(apply("isNotIn", others)) }
        }
    };
    let value = match feature.log_offset {
        None => value,
        Some(offset) => {
            let sum = if offset == 0.0 { value } else { apply("+", [value, number(offset)]) };
            // A value without a logarithm counts as missing, unless missing values are errors.
            match missing {
                Missing::Fault => apply("ln", [sum]),
                _ => apply("if", [apply("greaterThan", [sum.clone(), number(0.0)]), apply("ln", [sum])]),
            }
        }
    };
    // Readers report a missing argument of a function other than arithmetic as an error.
    let is_column = value.name == "FieldRef";
    let value = match is_column {
        true => value,
        false => apply("if", [apply("isNotMissing", [column()]), value]),
    };
    let is_filled = matches!(missing, Missing::Median | Missing::Mode);
    let is_column = is_column && feature.shift == 0.0 && feature.divisor == 1.0;
    if is_column && !is_filled {
        return None;
    }
    let formula = scaled(value, feature.shift, feature.divisor);
    Some(if is_filled { formula.with("mapMissingTo", real(feature.forward(feature.fill))) } else { formula })
}

fn scaled(value: Element, shift: f64, divisor: f64) -> Element {
    apply("/", [apply("-", [value, number(shift)]), number(divisor)])
}

/// Returns the position on the sphere in kilometres, from longitude and latitude in degrees.
fn on_sphere(columns: &[String]) -> Vec<(String, Option<Element>)> {
    let angle = |column: &String| apply("*", [field(column), number(std::f64::consts::PI / 180.0)]);
    let [longitude, latitude] = columns else { return Vec::new() };
    let sin = |column| apply("sin", [angle(column)]);
    let cos = |column| apply("cos", [angle(column)]);
    let long = |unit| apply("*", [unit, number(EARTH_RADIUS_KM)]);
    let positions = [
        ("x_km", long(apply("*", [cos(latitude), cos(longitude)]))),
        ("y_km", long(apply("*", [cos(latitude), sin(longitude)]))),
        ("z_km", long(sin(latitude))),
    ];
    positions.map(|(name, formula)| (name.to_owned(), Some(formula))).into()
}

fn clustering(model: &ModelFile, centroids: &Centroids, fields: &Fields) -> Element {
    let mined = fields.inputs.iter().map(|input| {
        let field = Element::new("MiningField").with("name", &input.name).with("usageType", "active");
        field.with("invalidValueTreatment", "returnInvalid").with("missingValueTreatment", fields.missing)
    });
    let derived = fields.compared.iter().filter_map(|(name, formula)| {
        let field = Element::new("DerivedField").with("name", name).with("optype", "continuous");
        Some(field.with("dataType", "double").child(formula.clone()?))
    });
    let derived: Vec<Element> = derived.collect();
    let compared = fields.compared.iter().map(|(name, _)| Element::new("ClusteringField").with("field", name));
    let clusters = (0..centroids.len()).map(|k| {
        let center: Vec<String> = centroids.center(k).iter().map(|value| real(*value)).collect();
        let array = Element::new("Array").with("n", center.len()).with("type", "real").text(center.join(" "));
        Element::new("Cluster").with("id", k).child(array)
    });
    let measure = Element::new("ComparisonMeasure").with("kind", "distance").with("compareFunction", "absDiff");
    let mining = Element::new("ClusteringModel")
        .with("modelName", "clusters")
        .with("functionName", "clustering")
        .with("modelClass", "centerBased")
        .with("numberOfClusters", centroids.len())
        .child(Element::new("MiningSchema").children(mined))
        .child(Element::new("Output").children(outputs(model, centroids, fields)));
    let mining = match derived.is_empty() {
        true => mining,
        false => mining.child(Element::new("LocalTransformations").children(derived)),
    };
    mining.child(measure.child(Element::new("euclidean"))).children(compared).children(clusters)
}

/// Returns the outputs: the cluster, or -1 outside the outlier radius, and the distance from its centre.
fn outputs(model: &ModelFile, centroids: &Centroids, fields: &Fields) -> Vec<Element> {
    let Outputs { nearest: nearest_name, straight, cluster: cluster_name, distance: distance_name } = &fields.outputs;
    let output = |name: &str, optype, kind, feature| {
        let field = Element::new("OutputField").with("name", name).with("optype", optype).with("dataType", kind);
        field.with("feature", feature)
    };
    let nearest = output(nearest_name, "categorical", "string", "predictedValue").with("isFinalResult", "false");
    let cluster = match centroids.sponge() {
        None => field(nearest_name),
        Some(radius) => {
            let is_outside = apply("greaterThan", [field(straight), number(radius)]);
            apply("if", [is_outside, whole(-1), field(nearest_name)])
        }
    };
    let distance = match model.is_sphere() {
        false => field(straight),
        true => {
            // The distance along the surface. A chord longer than the diameter, because of rounding, counts as it.
            let sine = apply("/", [field(straight), number(2.0 * EARTH_RADIUS_KM)]);
            let arc = apply("asin", [apply("min", [sine, number(1.0)])]);
            apply("*", [arc, number(2.0 * EARTH_RADIUS_KM)])
        }
    };
    // A row without any value has no result.
    let whole_row = |result: Element| {
        if fields.missing != "asIs" {
            return result;
        }
        let mut has_value: Vec<Element> =
            fields.inputs.iter().map(|input| apply("isNotMissing", [field(&input.name)])).collect();
        let has_value = if has_value.len() == 1 { has_value.remove(0) } else { apply("or", has_value) };
        apply("if", [has_value, result])
    };
    vec![
        nearest,
        output(straight, "continuous", "double", "affinity").with("isFinalResult", "false"),
        output(cluster_name, "categorical", "integer", "transformedValue").child(whole_row(cluster)),
        output(distance_name, "continuous", "double", "transformedValue").child(whole_row(distance)),
    ]
}

fn field(name: &str) -> Element {
    Element::new("FieldRef").with("field", name)
}

fn apply(function: &str, arguments: impl IntoIterator<Item = Element>) -> Element {
    Element::new("Apply").with("function", function).children(arguments)
}

fn number(value: f64) -> Element {
    Element::new("Constant").with("dataType", "double").text(real(value))
}

fn whole(value: i64) -> Element {
    Element::new("Constant").with("dataType", "integer").text(value.to_string())
}

fn word(text: &str) -> Element {
    Element::new("Constant").with("dataType", "string").text(text.to_owned())
}

/// Returns the shortest text that reads back bit-identically.
fn real(value: f64) -> String {
    format!("{value:?}")
}

/// An element of XML.
#[derive(Clone, Debug)]
struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Element>,
    text: Option<String>,
}

impl Element {
    fn new(name: &'static str) -> Self {
        Self { name, attributes: Vec::new(), children: Vec::new(), text: None }
    }

    fn with(mut self, attribute: &'static str, value: impl ToString) -> Self {
        self.attributes.push((attribute, value.to_string()));
        self
    }

    fn text(mut self, text: String) -> Self {
        self.text = Some(text);
        self
    }

    fn child(mut self, child: Element) -> Self {
        self.children.push(child);
        self
    }

    fn children(mut self, children: impl IntoIterator<Item = Element>) -> Self {
        self.children.extend(children);
        self
    }

    fn write(&self, depth: usize, out: &mut String) -> Result<(), Unsuited> {
        let indent = 2 * depth;
        let _ = write!(out, "{:indent$}<{}", "", self.name);
        for (name, value) in &self.attributes {
            let _ = write!(out, " {name}=\"{}\"", escaped(value)?);
        }
        if let Some(text) = &self.text {
            let _ = writeln!(out, ">{}</{}>", escaped(text)?, self.name);
        } else if self.children.is_empty() {
            out.push_str("/>\n");
        } else {
            out.push_str(">\n");
            self.children.iter().try_for_each(|child| child.write(depth + 1, out))?;
            let _ = writeln!(out, "{:indent$}</{}>", "", self.name);
        }
        Ok(())
    }
}

/// Escapes a text. Readers replace plain line breaks and tabs in attributes by spaces, so these are escaped too.
fn escaped(text: &str) -> Result<String, Unsuited> {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(out, "&#{};", u32::from(letter));
            }
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                let reason =
                    format!("the text {text:?} has a character that XML cannot represent: rename it in the table");
                return Err(Unsuited(reason));
            }
            letter => out.push(letter),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod evaluated;
