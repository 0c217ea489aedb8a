//! `lehr cluster FILE --auto` on an ordinary table: invented customers in four groups, with all that makes such tables
//! difficult, in the files of several countries and programs.

use std::collections::HashMap;
use std::fmt::Write;

use super::sandbox::Sandbox;

/// Customers, and then some that were entered twice.
const CUSTOMERS: usize = 5_060;
const TWICE: usize = 60;
const OUTLIERS: usize = 12;

/// Random numbers that are the same everywhere (splitmix64).
struct Random(u64);

impl Random {
    /// From 0 up to 1.
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, count: usize) -> usize {
        (self.share() * count as f64) as usize
    }

    /// Normal: by Box and Muller.
    fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let (a, b) = (1.0 - self.share(), self.share());
        mean + deviation * (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// What is known of a customer; measures in hundredths, nothing where there is a gap.
#[derive(Clone)]
struct Customer {
    group: usize,
    country: &'static str,
    joined: [usize; 3],
    note: &'static str,
    is_member: bool,
    measures: [Option<i64>; 6],
}

const MEASURES: [&str; 6] = ["Umsatz", "Besuche", "Warenkorb", "Rabatt", "Antwortzeit", "Alter"];

/// The customers, and the rows of those that were made extreme.
fn customers() -> (Vec<Customer>, Vec<usize>) {
    // Logarithm of the sales, visits, basket, discount, response time, age; and the share of each group.
    const GROUPS: [([f64; 6], f64); 4] = [
        ([3.0, 2.0, 12.0, 5.0, 1.5, 28.0], 0.4),
        ([5.5, 12.0, 35.0, 12.0, 3.0, 41.0], 0.3),
        ([7.5, 5.0, 180.0, 2.0, 0.8, 55.0], 0.2),
        ([4.5, 40.0, 9.0, 25.0, 6.0, 35.0], 0.1),
    ];
    let mut random = Random(1);
    let mut values: Vec<[f64; 6]> = Vec::new();
    let mut customers: Vec<Customer> = Vec::new();
    for _ in 0..CUSTOMERS {
        let mut share = random.share();
        let group = GROUPS.iter().position(|(_, own)| {
            share -= own;
            share < 0.0
        });
        let group = group.unwrap_or(0);
        let [sales, visits, basket, discount, response, age] = GROUPS[group].0;
        values.push([
            random.normal(sales, 0.5).exp(),
            random.normal(visits, (0.15 * visits).max(1.0)).round().max(0.0),
            random.normal(basket.ln(), 0.3).exp(),
            (10.0 * random.normal(discount, 1.5)).round().max(0.0) / 10.0,
            random.normal(response.ln(), 0.25).exp(),
            random.normal(age, 4.0).round(),
        ]);
        customers.push(Customer {
            group,
            country: ["DE", "AT", "CH", "FR"][random.below(4)],
            joined: [2015 + random.below(9), 1 + random.below(12), 1 + random.below(28)],
            note: ["", "", "ok", "VIP", "call back", ""][random.below(6)],
            is_member: random.below(2) == 0,
            measures: [None; 6],
        });
    }
    let mut planted: Vec<usize> = Vec::new();
    while planted.len() < OUTLIERS {
        let row = random.below(CUSTOMERS);
        if planted.contains(&row) {
            continue;
        }
        match planted.len() % 3 {
            0 => values[row][0] *= 3000.0,
            1 => {
                values[row][1] += 300.0;
                values[row][2] *= 400.0;
            }
            _ => {
                values[row][3] += 70.0;
                values[row][4] *= 200.0;
            }
        }
        planted.push(row);
    }
    for (row, (customer, values)) in customers.iter_mut().zip(&values).enumerate() {
        for (place, value) in values.iter().enumerate() {
            let is_gap = random.share() < 0.1 && !planted.contains(&row);
            customer.measures[place] = (!is_gap).then_some((100.0 * value).round() as i64);
        }
    }
    for _ in 0..TWICE {
        let row = random.below(CUSTOMERS);
        // One of each that is extreme.
        let row = if planted.contains(&row) { row + 1 } else { row };
        customers.push(customers[row % CUSTOMERS].clone());
    }
    (customers, planted)
}

/// A number of hundredths with these marks before the fraction and between thousands.
fn written(hundredths: i64, digits: usize, decimal: char, thousands: char) -> String {
    let (whole, rest) = (hundredths / 100, hundredths % 100);
    let whole = whole.to_string();
    let mut text = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place) % 3 == 0 {
            text.push(thousands);
        }
        text.push(digit);
    }
    match digits {
        0 => text,
        1 => format!("{text}{decimal}{}", rest / 10),
        _ => format!("{text}{decimal}{rest:02}"),
    }
}

/// The table as a program of Germany or of England writes it.
fn csv(customers: &[Customer], is_german: bool) -> String {
    let (between, decimal, thousands) = if is_german { (';', ',', '.') } else { (',', '.', ',') };
    let mut random = Random(2);
    let mut text = String::new();
    let names = ["Kundennr", "Land", "Beitritt"].into_iter().chain(MEASURES).chain(["Notiz", "Mitglied"]);
    text += &names.collect::<Vec<_>>().join(&between.to_string());
    text.push('\n');
    for (row, customer) in customers.iter().enumerate() {
        let [year, month, day] = customer.joined;
        let mut cells = vec![
            format!("K{}", 10_000 + row),
            customer.country.to_owned(),
            if is_german { format!("{day:02}.{month:02}.{year}") } else { format!("{day:02}/{month:02}/{year}") },
        ];
        for (place, measure) in customer.measures.iter().enumerate() {
            let digits = [2, 0, 2, 1, 2, 0][place];
            cells.push(match (measure, place) {
                (None, _) => ["", "N/A", "-"][random.below(3)].to_owned(),
                (Some(value), 0) if is_german => format!("{} €", written(*value, digits, decimal, thousands)),
                (Some(value), 0) => format!("€{}", written(*value, digits, decimal, thousands)),
                (Some(value), 3) => format!("{}%", written(*value, digits, decimal, thousands)),
                (Some(value), _) => written(*value, digits, decimal, thousands),
            });
        }
        cells.push(customer.note.to_owned());
        let words = if is_german { ["nein", "ja"] } else { ["no", "yes"] };
        cells.push(words[usize::from(customer.is_member)].to_owned());
        let quoted = cells.iter().map(|cell| if cell.contains(between) { format!("\"{cell}\"") } else { cell.clone() });
        text += &quoted.collect::<Vec<_>>().join(&between.to_string());
        text.push('\n');
    }
    text
}

fn json_lines(customers: &[Customer]) -> String {
    let mut text = String::new();
    for (row, customer) in customers.iter().enumerate() {
        let [year, month, day] = customer.joined;
        write!(text, "{{\"Kundennr\":\"K{}\",\"Land\":\"{}\",", 10_000 + row, customer.country).unwrap();
        write!(text, "\"Beitritt\":\"{year}-{month:02}-{day:02}\",").unwrap();
        for (name, measure) in MEASURES.iter().zip(customer.measures) {
            let number = measure.map_or("null".to_owned(), |value| format!("{}.{:02}", value / 100, value % 100));
            write!(text, "\"{name}\":{number},").unwrap();
        }
        writeln!(text, "\"Notiz\":\"{}\",\"Mitglied\":{}}}", customer.note, customer.is_member).unwrap();
    }
    text
}

/// The adjusted Rand index of two labellings (Hubert and Arabie 1985): 1 where they are the same partition, about 0 by
/// chance.
fn adjusted_rand(pairs: &[(usize, usize)]) -> f64 {
    let choose = |count: usize| (count * count.saturating_sub(1)) as f64 / 2.0;
    let sum = |of: [usize; 2]| -> f64 {
        let mut counts: HashMap<(usize, usize), usize> = HashMap::new();
        pairs.iter().for_each(|(left, right)| *counts.entry((of[0] * left, of[1] * right)).or_default() += 1);
        counts.into_values().map(choose).sum()
    };
    let (both, left, right) = (sum([1, 1]), sum([1, 0]), sum([0, 1]));
    let expected = left * right / choose(pairs.len());
    (both - expected) / ((left + right) / 2.0 - expected)
}

#[test]
fn one_command_finds_the_groups_and_the_outliers_of_a_messy_table_in_every_file_of_it() {
    let (customers, planted) = customers();
    let sandbox = Sandbox::new();
    let files = [
        ("kunden.csv", csv(&customers, true)),
        ("customers.csv", csv(&customers, false)),
        ("customers.jsonl", json_lines(&customers)),
    ];
    for (name, text) in files {
        sandbox.write(name, text);
        let out = format!("of-{name}");
        sandbox.lehr(&["cluster", name, "--auto", "--id", "Kundennr", "--quiet", "--out", &out]).succeeded();
        for table in ["labels.csv", "centers.csv", "outliers.csv"] {
            assert!(
                sandbox.read(&format!("{out}/{table}")) == sandbox.read(&format!("of-kunden.csv/{table}")),
                "{name}, {table}"
            );
        }
    }

    let summary = sandbox.summary("of-kunden.csv");
    assert_eq!(summary["result"]["clusters"], 4);
    assert_eq!(summary["input"]["columns"], serde_json::json!(MEASURES));
    let labels = sandbox.read("of-kunden.csv/labels.csv");
    let found = labels.lines().skip(1).map(|line| line.split(',').nth(1).unwrap());
    let pairs: Vec<(usize, usize)> = (customers.iter().zip(found).enumerate())
        .filter(|(row, (_, label))| !planted.contains(row) && *label != "-1")
        .map(|(_, (customer, label))| (customer.group, label.parse().unwrap()))
        .collect();
    assert!(pairs.len() > CUSTOMERS, "{}", pairs.len());
    let agreement = adjusted_rand(&pairs);
    assert!(agreement >= 0.98, "{agreement}");

    let outliers = sandbox.read("of-kunden.csv/outliers.csv");
    let first = outliers.lines().skip(1).take(15);
    let is_planted = |id: &str| planted.iter().any(|row| id == format!("K{}", 10_000 + row));
    let hits = first.filter(|line| is_planted(line.split(',').next().unwrap())).count();
    assert!(hits >= 11, "{hits} of {OUTLIERS}\n{outliers}");
}
