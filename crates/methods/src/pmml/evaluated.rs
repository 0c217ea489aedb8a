//! Evaluates PMML by the rules of its standard, and compares the outcome with `lehr predict`.

use std::collections::HashMap;

use lehr_data::Points;
use lehr_data::frame::Values;
use lehr_data::preparation::{DatePart, Missing, Preparation, Wishes};
use lehr_data::read::{TableForm, data_frame_from};

use super::*;
use crate::predict::Predicted;

/// A value of a field. A missing value is `None`.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Number(f64),
    Text(String),
    /// Seconds since 1970.
    Time(f64),
}

type Fields<'a> = HashMap<String, Option<Cell>>;

impl Element {
    fn get(&self, attribute: &str) -> &str {
        &self.attributes.iter().find(|(name, _)| *name == attribute).unwrap_or_else(|| panic!("{attribute}")).1
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    fn one<'a>(&'a self, name: &'a str) -> &'a Element {
        self.all(name).next().unwrap_or_else(|| panic!("{name}"))
    }
}

fn number_of(cell: &Option<Cell>) -> f64 {
    match cell {
        Some(Cell::Number(value)) => *value,
        other => panic!("expected a number, found {other:?}"),
    }
}

/// Evaluates an expression.
fn value(of: &Element, fields: &Fields<'_>) -> Option<Cell> {
    match of.name {
        "FieldRef" => fields.get(of.get("field")).unwrap_or_else(|| panic!("{:?}", of.attributes)).clone(),
        "Constant" => Some(match of.get("dataType") {
            "string" => Cell::Text(of.text.clone().unwrap()),
            _ => Cell::Number(of.text.as_ref().unwrap().parse().unwrap()),
        }),
        "Apply" => {
            let replaced = of.attributes.iter().find(|(name, _)| *name == "mapMissingTo");
            applied(of, fields).or_else(|| Some(Cell::Number(replaced?.1.parse().unwrap())))
        }
        other => panic!("no expression {other}"),
    }
}

fn applied(of: &Element, fields: &Fields<'_>) -> Option<Cell> {
    let function = of.get("function");
    if function == "if" {
        let is = number_of(&value(&of.children[0], fields)) == 1.0;
        return value(of.children.get(if is { 1 } else { 2 })?, fields);
    }
    let arguments: Vec<Option<Cell>> = of.children.iter().map(|child| value(child, fields)).collect();
    let truth = |is: bool| Some(Cell::Number(f64::from(u8::from(is))));
    match function {
        "isNotMissing" => return truth(arguments[0].is_some()),
        "or" => return truth(arguments.iter().any(|argument| number_of(argument) == 1.0)),
        _ => {}
    }
    let is_arithmetic = matches!(function, "+" | "-" | "*" | "/");
    if arguments.iter().any(Option::is_none) {
        // The standard passes a missing argument on only for arithmetic; readers report others.
        assert!(is_arithmetic, "{function} of a missing value");
        return None;
    }
    let first = arguments[0].as_ref().unwrap();
    let second = || number_of(&arguments[1]);
    let of_number = |of: &dyn Fn(f64) -> f64| Some(Cell::Number(of(number_of(&arguments[0]))));
    let seconds = || match first {
        Cell::Time(seconds) => *seconds,
        other => panic!("expected a time, found {other:?}"),
    };
    match function {
        "+" => of_number(&|x| x + second()),
        "-" => of_number(&|x| x - second()),
        "*" => of_number(&|x| x * second()),
        "/" => of_number(&|x| x / second()),
        "modulo" => of_number(&|x| x.rem_euclid(second())),
        "floor" => of_number(&f64::floor),
        "ln" => of_number(&libm::log),
        "sin" => of_number(&libm::sin),
        "cos" => of_number(&libm::cos),
        "asin" => of_number(&libm::asin),
        "min" => of_number(&|x| x.min(second())),
        "greaterThan" => truth(number_of(&arguments[0]) > second()),
        "equal" => truth(arguments[0] == arguments[1]),
        "lowercase" => match first {
            Cell::Text(text) => Some(Cell::Text(text.to_lowercase())),
            other => panic!("expected a text, found {other:?}"),
        },
        "isNotIn" => truth(!arguments[1..].contains(&arguments[0])),
        "dateDaysSinceYear" => Some(Cell::Number((seconds() / 86_400.0).floor())),
        "dateSecondsSinceYear" | "dateSecondsSinceMidnight" => Some(Cell::Number(seconds())),
        "formatDatetime" => Some(Cell::Text(format!("{:02}", month_of((seconds() / 86_400.0).floor() as i64)))),
        other => panic!("no function {other}"),
    }
}

/// Returns the month of a day, counted from 1970-01-01.
fn month_of(day: i64) -> usize {
    let (mut year, mut left) = (1900, day + 25_567);
    loop {
        let is_leap = year % 4 == 0 && year != 1900;
        let february = if is_leap { 29 } else { 28 };
        for (month, days) in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].into_iter().enumerate() {
            if left < days {
                return month + 1;
            }
            left -= days;
        }
        year += 1;
    }
}

/// Returns the cluster and the distance that a reader of the file finds for a row.
fn scored(document: &Element, mut fields: Fields<'_>) -> (Option<f64>, Option<f64>) {
    let mining = document.one("ClusteringModel");
    for field in mining.one("MiningSchema").all("MiningField") {
        let is_missing = fields[field.get("name")].is_none();
        if is_missing && field.get("missingValueTreatment") == "returnInvalid" {
            return (None, None);
        }
    }
    for derived in mining.all("LocalTransformations").flat_map(|all| all.all("DerivedField")) {
        let found = value(&derived.children[0], &fields);
        assert!(fields.insert(derived.get("name").to_owned(), found).is_none(), "a name twice");
    }
    let row: Vec<&Option<Cell>> = mining.all("ClusteringField").map(|field| &fields[field.get("field")]).collect();
    let known = row.iter().filter(|cell| cell.is_some()).count();
    let distance = |cluster: &Element| {
        let center: Vec<f64> =
            cluster.one("Array").text.as_ref().unwrap().split(' ').map(|x| x.parse().unwrap()).collect();
        assert_eq!(cluster.one("Array").get("n"), row.len().to_string());
        let square = |(cell, y): (&&Option<Cell>, &f64)| cell.as_ref().map(|_| (number_of(cell) - y).powi(2));
        let sum: f64 = row.iter().zip(&center).filter_map(square).sum();
        (sum * row.len() as f64 / known as f64).sqrt()
    };
    let clusters: Vec<&Element> = mining.all("Cluster").collect();
    let nearest = clusters
        .iter()
        .map(|cluster| (distance(cluster), cluster.get("id")))
        .reduce(|least, found| if found.0 < least.0 { found } else { least });
    let (least, id) = nearest.unwrap();
    let mut results = Vec::new();
    for output in mining.one("Output").all("OutputField") {
        let found = match output.get("feature") {
            "predictedValue" => Some(Cell::Number(id.parse().unwrap())),
            "affinity" => Some(Cell::Number(least)),
            _ => value(&output.children[0], &fields),
        };
        results.push(found.clone());
        fields.insert(output.get("name").to_owned(), found);
    }
    let number = |cell: &Option<Cell>| cell.as_ref().map(|_| number_of(cell));
    (number(&results[2]), number(&results[3]))
}

fn columns_of(said: &Predicted) -> Vec<(String, String)> {
    let mut text = Vec::new();
    said.table(None).write_csv(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let place = |name: &str| head.iter().position(|column| column == name).unwrap();
    let (cluster, distance) = (place("cluster"), place("distance"));
    lines.map(|line| (line[cluster].clone(), line[distance].clone())).collect()
}

/// Checks that a reader of the file finds for each row what the model says.
fn check_rows(model: &ModelFile, said: &Predicted, row: impl Fn(usize) -> Fields<'static>) {
    let document = document(model).unwrap();
    let expected = columns_of(said);
    assert!(!expected.is_empty());
    for (number, (cluster, distance)) in expected.into_iter().enumerate() {
        let (found, apart) = scored(&document, row(number));
        assert_eq!(found, cluster.parse().ok(), "row {number}");
        if let Ok(distance) = distance.parse::<f64>() {
            let apart = apart.unwrap();
            assert!((apart - distance).abs() <= 1e-12 * (1.0 + distance.abs()), "row {number}: {apart}, {distance}");
        }
    }
}

fn line(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|name| (*name).to_owned()).collect()
}

fn check_points(model: &ModelFile, values: Vec<f64>) {
    let width = model.columns.len();
    let points = Points::new(values.clone(), width).unwrap();
    check_rows(model, &Predicted::of_points(model, &points, false).unwrap(), |row| {
        let cells = model.columns.iter().zip(&values[row * width..][..width]);
        cells.map(|(name, value)| (name.clone(), Some(Cell::Number(*value)))).collect()
    });
}

#[test]
fn rows_get_the_clusters_and_distances_of_lehr_predict() {
    let centroids = Centroids::new(2, vec![0.0, 0.0, 1.0, 1.0 / 3.0, -2.0, 5.0], 0.0).unwrap();
    let scale = (vec![10.0, -3.0], vec![4.0, 0.1]);
    let rows: Vec<f64> = (0..60).flat_map(|i| [f64::from(i) / 2.0, f64::from(i % 7) / 5.0 - 3.0]).collect();
    // One name needs escapes, and the other is the name of an output.
    let names = line(&["a <\"&\"> b", "cluster"]);
    for centroids in [centroids.clone(), centroids.with_sponge(1.5).unwrap()] {
        let has_outside = centroids.sponge().is_some();
        let model = ModelFile::new(&names, scale.clone(), Learnt::Clusters(centroids));
        check_points(&model, rows.clone());
        let said = Predicted::of_points(&model, &Points::new(rows.clone(), 2).unwrap(), false).unwrap();
        assert_eq!(columns_of(&said).iter().any(|(cluster, _)| cluster == "-1"), has_outside);
    }
}

#[test]
fn positions_on_the_sphere_are_measured_along_its_surface() {
    let (radius, half) = (EARTH_RADIUS_KM, std::f64::consts::FRAC_1_SQRT_2 * EARTH_RADIUS_KM);
    let centroids = Centroids::new(3, vec![radius, 0.0, 0.0, 0.0, half, half], 0.0).unwrap();
    let model = ModelFile::on_sphere(&line(&["lon", "lat"]), Learnt::Clusters(centroids));
    let places = [0.0, 0.0, 180.0, 0.0, 90.0, 45.0, 179.5, -17.0, -120.25, 89.0, 12.5, 47.25];
    check_points(&model, places.to_vec());
}

/// Text, numbers, truth values, dates and times, each with missing values; the last row has no value at all.
fn mixed() -> String {
    let row = |i: usize| {
        let kept = |period: usize, text: String| if i % period == 3 { String::new() } else { text };
        [
            kept(5, format!("{}.25", if i == 8 { 0 } else { (i % 3) * 100 + i })),
            kept(7, ["Bern", "Basel", "A & B"][i % 3].to_owned()),
            kept(11, if i.is_multiple_of(3) { "no" } else { "yes" }.to_owned()),
            kept(13, format!("19{}-0{}-1{}", 60 + i % 30, 1 + i % 9, i % 10)),
            kept(6, format!("{:02}:{:02}", i % 24, i % 60)),
            kept(9, format!("20{:02}-0{}-1{}T0{}:10:0{}", i % 30, 1 + i % 9, i % 10, i % 10, i % 10)),
        ]
        .join(",")
    };
    let rows: Vec<String> = (0..60).map(row).collect();
    format!("spent,city,member,joined,at,seen\n{}\n,,,,,\n", rows.join("\n"))
}

#[test]
fn a_prepared_table_is_prepared_by_the_reader_too() {
    let frame = data_frame_from(mixed().as_bytes(), "mixed.csv", &TableForm::default()).unwrap();
    for missing in [Missing::Median, Missing::Mode, Missing::Nearest, Missing::Drop, Missing::Skip] {
        let wishes = Wishes {
            columns: Some(line(&["spent", "city", "member", "joined", "at", "seen"])),
            log: line(&["spent"]),
            scale: Some(lehr_data::scale::Scale::Std),
            missing: Some(missing),
            date_parts: vec![DatePart::Days, DatePart::Weekday, DatePart::Month],
            ..Wishes::default()
        };
        let preparation = Preparation::new(&frame, &wishes).unwrap();
        let names: Vec<String> = preparation.features.iter().map(|feature| feature.name.clone()).collect();
        let scale = (
            preparation.features.iter().map(|f| f.shift).collect(),
            preparation.features.iter().map(|f| f.divisor).collect(),
        );
        // Two rows of the table as centres, and the mean.
        let whole = Preparation { missing: Missing::Median, ..preparation.clone() }.apply(&frame).unwrap();
        let width = names.len();
        let center =
            [&whole.features[width..2 * width], &whole.features[5 * width..6 * width], &vec![0.0; width]].concat();
        let centroids = Centroids::new(width, center, 0.0).unwrap();
        let mut model = ModelFile::new(&names, scale, Learnt::Clusters(centroids));
        model.preparation = Some(preparation);
        let said = Predicted::of_table(&model, &frame, None, false).unwrap().said;
        check_rows(&model, &said, |row| {
            let cell = |values: &Values| match values {
                Values::Numbers(values) => Some(values[row]).filter(|value| !value.is_nan()).map(Cell::Number),
                Values::Times(values) => Some(values[row]).filter(|value| !value.is_nan()).map(Cell::Time),
                Values::Categories(texts) => texts.text(row).map(|text| Cell::Text(text.to_owned())),
            };
            let cells = frame.columns().iter().map(|column| {
                let found = cell(&column.values);
                // A reader gets the word of a truth value, and a time of day as a time.
                let found = match (&column.read_as, found) {
                    (ReadAs::Truth { yes, no }, Some(Cell::Number(is))) => {
                        Some(Cell::Text(if is == 1.0 { yes } else { no }.clone()))
                    }
                    (ReadAs::TimeOfDay, Some(Cell::Number(seconds))) => Some(Cell::Time(seconds)),
                    (_, found) => found,
                };
                (column.name.clone(), found)
            });
            cells.collect()
        });
    }
}

#[test]
fn what_pmml_cannot_hold_is_refused_with_another_way() {
    let mixture = lehr_mining::mixture::Mixture::new(
        lehr_mining::mixture::Covariance::Spherical,
        1,
        vec![1.0],
        vec![0.0],
        vec![1.0],
    );
    let centroids = || Centroids::new(1, vec![0.5], 0.0).unwrap();
    let same = || (vec![0.0], vec![1.0]);
    for (name, learnt, expected) in [
        ("x", Learnt::Mixture(mixture.unwrap()), "export .onnx"),
        ("x", Learnt::Clusters(centroids().with_bernoulli().unwrap()), "--cost bernoulli"),
        ("x", Learnt::Medoids(crate::items::Medoids::new(3, &[1])), "use the model.json"),
        ("x\u{1}", Learnt::Clusters(centroids()), "a character that XML cannot represent"),
    ] {
        let reason = text(&ModelFile::new(&line(&[name]), same(), learnt)).unwrap_err().to_string();
        assert!(reason.contains(expected), "{reason}");
    }
    let model = ModelFile::new(&line(&["a\t<b>"]), same(), Learnt::Clusters(centroids()));
    assert!(text(&model).unwrap().contains("<DataField name=\"a&#9;&lt;b&gt;\""));
}
