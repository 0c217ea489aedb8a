//! Facts about chemical elements: symbols, outer electrons, default valences and atomic weights.

/// The symbols of the elements by atomic number; 0 is the wildcard.
const SYMBOLS: [&str; 119] = [
    "*", "H", "He", "Li", "Be", "B", "C", "N", "O", "F", "Ne", "Na", "Mg", "Al", "Si", "P", "S", "Cl", "Ar", "K", "Ca",
    "Sc", "Ti", "V", "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y",
    "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I", "Xe", "Cs", "Ba", "La", "Ce",
    "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W", "Re", "Os", "Ir",
    "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn", "Fr", "Ra", "Ac", "Th", "Pa", "U", "Np", "Pu", "Am", "Cm",
    "Bk", "Cf", "Es", "Fm", "Md", "No", "Lr", "Rf", "Db", "Sg", "Bh", "Hs", "Mt", "Ds", "Rg", "Cn", "Nh", "Fl", "Mc",
    "Lv", "Ts", "Og",
];

/// Returns the atomic number of a symbol; 0 for the wildcard.
pub fn number(symbol: &str) -> Option<u8> {
    SYMBOLS.iter().position(|known| *known == symbol).map(|number| number as u8)
}

/// Returns the symbol of an element.
///
/// # Panics
/// Panics if there is no such element.
pub fn symbol(number: u8) -> &'static str {
    SYMBOLS[usize::from(number)]
}

/// Returns the usual valences of an element, smallest first; empty if the element has none.
///
/// Source: RDKit's periodic table (BSD 3-clause licence), whose valences decide how many hydrogens it adds.
pub fn valences(number: u8) -> &'static [u8] {
    match number {
        2 | 10 | 18 | 36 | 86 => &[0],
        1 | 3 | 9 | 11 | 17 | 19 | 35 | 37 | 55 | 87 => &[1],
        4 | 8 | 12 | 20 | 38 | 56 | 88 => &[2],
        5 | 7 | 13 | 31 | 49 => &[3],
        6 | 14 | 32 => &[4],
        15 | 33 | 51 | 83 => &[3, 5],
        16 | 34 | 52 | 84 => &[2, 4, 6],
        50 | 82 => &[2, 4],
        53 | 85 => &[1, 3, 5],
        54 => &[0, 2, 4, 6],
        _ => &[],
    }
}

/// Returns whether atoms of an element may have more bonds than its largest usual valence.
pub fn has_no_most_bonds(number: u8) -> bool {
    valences(number).is_empty() || matches!(number, 3 | 11 | 12 | 19 | 20 | 37 | 38 | 56 | 88)
}

/// Returns the number of electrons in the outer shell of a main-group element; 0 for other elements.
pub fn outer_electrons(number: u8) -> u8 {
    match number {
        1 | 3 | 11 | 19 | 37 | 55 => 1,
        2 | 4 | 12 | 20 | 38 | 56 => 2,
        5 | 13 | 31 | 49 | 81 => 3,
        6 | 14 | 32 | 50 | 82 => 4,
        7 | 15 | 33 | 51 | 83 => 5,
        8 | 16 | 34 | 52 | 84 => 6,
        9 | 17 | 35 | 53 | 85 => 7,
        _ => 0,
    }
}

/// The mass number of the most common isotope of each element, by atomic number.
const ISOTOPES: [u16; 119] = [
    0, 1, 4, 7, 9, 11, 12, 14, 16, 19, 20, 23, 24, 27, 28, 31, 32, 35, 40, 39, 40, 45, 48, 51, 52, 55, 56, 59, 58, 63,
    64, 69, 74, 75, 80, 79, 84, 85, 88, 89, 90, 93, 98, 97, 102, 103, 106, 107, 114, 115, 120, 121, 130, 127, 132, 133,
    138, 139, 140, 141, 142, 145, 152, 153, 158, 159, 164, 165, 166, 169, 174, 175, 180, 181, 184, 187, 192, 193, 195,
    197, 202, 205, 208, 209, 209, 210, 222, 223, 226, 227, 232, 231, 238, 236, 238, 241, 243, 247, 249, 252, 257, 258,
    259, 262, 267, 268, 271, 270, 269, 278, 281, 281, 285, 284, 289, 288, 293, 292, 294,
];

/// Returns the mass number of the most common isotope of an element.
///
/// # Panics
/// Panics if there is no such element.
pub fn usual_isotope(number: u8) -> u16 {
    ISOTOPES[usize::from(number)]
}

/// An element, its atomic weight, and the masses of isotopes by mass number.
type Isotopes = (u8, f64, &'static [(u16, f64)]);

/// Standard atomic weights of the elements whose isotopes label compounds, and the masses of these isotopes.
const MASSES: [Isotopes; 10] = [
    (1, 1.008, &[(1, 1.007_825), (2, 2.014_102), (3, 3.016_049)]),
    (6, 12.011, &[(11, 11.011_434), (12, 12.0), (13, 13.003_355), (14, 14.003_242)]),
    (7, 14.007, &[(13, 13.005_739), (14, 14.003_074), (15, 15.000_109)]),
    (8, 15.999, &[(15, 15.003_066), (16, 15.994_915), (17, 16.999_132), (18, 17.999_161)]),
    (9, 18.998, &[(18, 18.000_938), (19, 18.998_403)]),
    (15, 30.974, &[(31, 30.973_762), (32, 31.973_907), (33, 32.971_725)]),
    (16, 32.067, &[(32, 31.972_071), (33, 32.971_459), (34, 33.967_867), (35, 34.969_032)]),
    (17, 35.453, &[(35, 34.968_853), (36, 35.968_307), (37, 36.965_903)]),
    (35, 79.904, &[(76, 75.924_541), (77, 76.921_379), (79, 78.918_338), (81, 80.916_29), (82, 81.916_804)]),
    (53, 126.904, &[(123, 122.905_589), (124, 123.906_21), (125, 124.904_63), (127, 126.904_473), (131, 130.906_125)]),
];

/// Returns the mass of an isotope minus the atomic weight of its element, without its fraction. For other isotopes of
/// these elements, the mass number is the mass. Isotopes of other elements count as standard atoms.
pub fn mass_beyond(number: u8, isotope: u16) -> i32 {
    let known = MASSES.iter().find(|(known, ..)| *known == number);
    let mass = known.map(|(_, weight, isotopes)| {
        let found = isotopes.iter().find(|(mass_number, _)| *mass_number == isotope);
        found.map_or_else(|| f64::from(isotope), |(_, mass)| *mass) - weight
    });
    mass.map_or(0, |beyond| beyond as i32)
}
