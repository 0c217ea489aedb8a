//! Mol files of version V3000: words after `M  V30`, in blocks.

use std::collections::BTreeMap;

use crate::assembly::Hydrogens;

use super::{Graph, Lines, MolfileError, quoted};

pub fn read(lines: &mut Lines<'_>) -> Result<Graph, MolfileError> {
    let mut graph = Graph::default();
    // Atoms may be numbered as the file likes.
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let mut blocks: Vec<String> = Vec::new();
    let mut counted: Option<(usize, [usize; 2])> = None;
    while let Some(line) = next(lines)? {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (blocks.last().map(String::as_str), &words[..]) {
            (_, ["BEGIN", block, ..]) => blocks.push((*block).to_owned()),
            (Some(open), ["END", block, ..]) if open == *block => {
                blocks.pop();
            }
            (Some("CTAB"), ["COUNTS", atoms, bonds, ..]) => {
                let counts = [lines.number(atoms, "a number of atoms")?, lines.number(bonds, "a number of bonds")?];
                if counted.replace((lines.at, counts)).is_some() {
                    return Err(lines.fault("one line of COUNTS", "another"));
                }
            }
            (Some("ATOM"), words) => read_atom(&mut graph, &mut places, lines, words)?,
            (Some("BOND"), words) => read_bond(&mut graph, &places, lines, words)?,
            _ => {}
        }
    }
    if let Some(block) = blocks.last() {
        return Err(lines.fault(&format!("END and {}", quoted(block)), "\"M  END\""));
    }
    let found = [graph.atoms.len(), graph.bonds.len()];
    if let Some((line, counts)) = counted.filter(|(_, counts)| *counts != found) {
        let text = |[atoms, bonds]: [usize; 2]| format!("{atoms} atoms and {bonds} bonds");
        return Err(MolfileError { line, expected: format!("COUNTS of {}", text(found)), found: text(counts) });
    }
    Ok(graph)
}

/// Returns the next line, without `M  V30` and with the lines that continue it; `None` at `M  END`.
fn next(lines: &mut Lines<'_>) -> Result<Option<String>, MolfileError> {
    let mut whole = String::new();
    let first = lines.number + 1;
    loop {
        let line = lines.next("M  END")?;
        if line.trim_end() == "M  END" {
            return Ok(None);
        }
        let Some(rest) = line.strip_prefix("M  V30 ") else {
            return Err(lines.fault("a line that begins with \"M  V30 \"", &quoted(line)));
        };
        match rest.trim_end().strip_suffix('-') {
            Some(part) => whole.push_str(part),
            None => {
                whole.push_str(rest);
                lines.at = first;
                return Ok(Some(whole));
            }
        }
    }
}

fn read_atom(
    graph: &mut Graph,
    places: &mut BTreeMap<usize, usize>,
    lines: &Lines<'_>,
    words: &[&str],
) -> Result<(), MolfileError> {
    let [name, symbol, x, y, z, _, properties @ ..] = words else {
        return Err(lines.fault("an atom: number, element, three coordinates and a map", &quoted(&words.join(" "))));
    };
    let mut position = [0.0; 3];
    for (value, word) in position.iter_mut().zip([x, y, z]) {
        *value = lines.number(word, "a coordinate")?;
    }
    let name = lines.number(name, "the number of an atom")?;
    let place = graph.atoms.len();
    if places.insert(name, place).is_some() {
        return Err(lines.fault("another number for each atom", &name.to_string()));
    }
    graph.add_atom(lines, symbol, position)?;
    for (key, value) in properties.iter().filter_map(|word| word.split_once('=')) {
        let written = &mut graph.atoms[place].written;
        match key {
            "CHG" => written.atom.charge = lines.number(value, "a charge")?,
            "MASS" => written.atom.isotope = Some(lines.number(value, "a mass number")?).filter(|mass| *mass > 0),
            "RAD" => {
                let code = lines.number(value, "a radical from 0 to 3")?;
                graph.set_radical(lines, place, code)?;
            }
            "VAL" => {
                let valence: i16 = lines.number(value, "a valence")?;
                written.hydrogens = match u8::try_from(valence) {
                    Ok(0) => continue,
                    Ok(valence) => Hydrogens::OfValence(valence),
                    Err(_) if valence == -1 => Hydrogens::Given,
                    Err(_) => return Err(lines.fault("a valence", &quoted(value))),
                };
            }
            _ => {}
        }
    }
    Ok(())
}

fn read_bond(
    graph: &mut Graph,
    places: &BTreeMap<usize, usize>,
    lines: &Lines<'_>,
    words: &[&str],
) -> Result<(), MolfileError> {
    let [_, kind, first, second, properties @ ..] = words else {
        return Err(lines.fault("a bond: number, type and two atoms", &quoted(&words.join(" "))));
    };
    let place = |word: &str| {
        let expected = "the number of an atom";
        let name: usize = lines.number(word, expected)?;
        places.get(&name).copied().ok_or_else(|| lines.fault(expected, &quoted(word)))
    };
    graph.add_bond(lines, kind, [place(first)?, place(second)?])?;
    let is_unclear = properties.contains(&"CFG=2");
    graph.bonds.last_mut().into_iter().for_each(|bond| bond.is_unclear = is_unclear);
    Ok(())
}
