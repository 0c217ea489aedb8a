//! Mol files of version V2000: fields at fixed places of a line.

use crate::assembly::Hydrogens;
use crate::elements::usual_isotope;

use super::{Graph, Lines, MolfileError, quoted};

/// Returns the field between two columns, counted from 0, without white space around it.
pub fn field(line: &str, from: usize, to: usize) -> &str {
    line.get(from..to.min(line.len())).unwrap_or_default().trim()
}

pub fn read(counts: &str, lines: &mut Lines<'_>) -> Result<Graph, MolfileError> {
    let atoms: usize = lines.number(field(counts, 0, 3), "the number of atoms")?;
    let bonds: usize = lines.number(field(counts, 3, 6), "the number of bonds")?;
    let mut graph = Graph::default();
    for number in 1..=atoms {
        let line = lines.next(&format!("atom {number} of {atoms}"))?;
        read_atom(&mut graph, lines, line)?;
    }
    for number in 1..=bonds {
        let line = lines.next(&format!("bond {number} of {bonds}"))?;
        let ends = [place(&graph, lines, field(line, 0, 3))?, place(&graph, lines, field(line, 3, 6))?];
        graph.add_bond(lines, field(line, 6, 9), ends)?;
        // Either arrangement around a double bond is 3, and either side of a single bond is 4.
        let is_unclear = matches!(field(line, 9, 12), "3" | "4");
        graph.bonds.last_mut().into_iter().for_each(|bond| bond.is_unclear = is_unclear);
    }
    read_properties(&mut graph, lines)?;
    Ok(graph)
}

/// Returns the place of an atom, from its number counted from 1.
fn place(graph: &Graph, lines: &Lines<'_>, field: &str) -> Result<usize, MolfileError> {
    let expected = format!("the number of an atom, from 1 to {}", graph.atoms.len());
    let number: usize = lines.number(field, &expected)?;
    if (1..=graph.atoms.len()).contains(&number) { Ok(number - 1) } else { Err(lines.fault(&expected, &quoted(field))) }
}

fn read_atom(graph: &mut Graph, lines: &Lines<'_>, line: &str) -> Result<(), MolfileError> {
    let mut position = [0.0; 3];
    for (axis, value) in position.iter_mut().enumerate() {
        *value = lines.number(field(line, 10 * axis, 10 * axis + 10), "a coordinate")?;
    }
    let mass: i16 = lines.number(field(line, 34, 36), "a difference of mass")?;
    let charge: i8 = lines.number(field(line, 36, 39), "the code of a charge, from 0 to 7")?;
    let hydrogens: u8 = lines.number(field(line, 42, 45), "a number of hydrogens")?;
    let valence: u8 = lines.number(field(line, 48, 51), "a valence")?;
    let entry = graph.add_atom(lines, field(line, 31, 34), position)?;
    let atom = &mut entry.written.atom;
    if mass != 0 {
        let isotope = usual_isotope(atom.number).checked_add_signed(mass);
        atom.isotope = Some(isotope.ok_or_else(|| lines.fault("a difference of mass", &mass.to_string()))?);
    }
    if !(0..=7).contains(&charge) {
        return Err(lines.fault("the code of a charge, from 0 to 7", &charge.to_string()));
    }
    if charge != 0 {
        atom.charge = 4 - charge;
    }
    entry.written.hydrogens = match (valence, hydrogens) {
        (0, 0) => Hydrogens::Usual { radicals: 0 },
        (0 | 15, _) => Hydrogens::Given,
        (valence, _) => Hydrogens::OfValence(valence),
    };
    Ok(())
}

/// Reads the lines after the bonds, up to `M  END`.
fn read_properties(graph: &mut Graph, lines: &mut Lines<'_>) -> Result<(), MolfileError> {
    let mut are_charges_given = false;
    loop {
        let line = lines.next("M  END")?;
        match line.get(..6).unwrap_or(line).trim_end() {
            "M  END" => return Ok(()),
            kind @ ("M  CHG" | "M  RAD" | "M  ISO") => {
                // These lines replace all charges of the atoms' lines.
                if kind != "M  ISO" && !std::mem::replace(&mut are_charges_given, true) {
                    graph.atoms.iter_mut().for_each(|entry| entry.written.atom.charge = 0);
                }
                let count: usize = lines.number(field(line, 6, 9), "a number of atoms")?;
                for start in (0..count).map(|entry| 9 + 8 * entry) {
                    let atom = place(graph, lines, field(line, start, start + 4))?;
                    let value = field(line, start + 4, start + 8);
                    match kind {
                        "M  CHG" => graph.atoms[atom].written.atom.charge = lines.number(value, "a charge")?,
                        "M  RAD" => {
                            let code = lines.number(value, "a radical from 0 to 3")?;
                            graph.set_radical(lines, atom, code)?;
                        }
                        _ => {
                            let isotope: u16 = lines.number(value, "a mass number")?;
                            graph.atoms[atom].written.atom.isotope = Some(isotope).filter(|isotope| *isotope > 0);
                        }
                    }
                }
            }
            "M  ZBO" | "M  ZCH" | "M  HYD" => {
                return Err(lines.fault("a molecule without zero-order bonds", &quoted(line)));
            }
            // The text of an alias or an abbreviation is in the next line.
            _ if line.starts_with("A  ") || line.starts_with("G  ") => {
                lines.next("M  END")?;
            }
            "S  SKP" => {
                let count: usize = lines.number(field(line, 6, 9), "a number of lines")?;
                for _ in 0..count {
                    lines.next("M  END")?;
                }
            }
            _ => {}
        }
    }
}
