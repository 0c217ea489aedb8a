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

/// Returns the usual valences of an element, smallest first; empty if the element has none.
pub fn valences(number: u8) -> &'static [u8] {
    match number {
        1 | 3 | 9 | 11 | 17 | 19 | 35 => &[1],
        4 | 8 | 12 | 20 | 38 | 56 => &[2],
        5 | 7 | 13 | 31 | 49 => &[3],
        6 | 14 | 32 => &[4],
        15 | 33 | 51 => &[3, 5, 7],
        16 | 34 | 52 => &[2, 4, 6],
        50 | 82 => &[2, 4],
        53 | 85 => &[1, 3, 5],
        83 => &[3, 5],
        _ => &[],
    }
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

/// Returns the mass of an isotope minus the atomic weight of its element, without its fraction. Isotopes of other
/// elements count as standard atoms.
pub fn mass_beyond(number: u8, isotope: u16) -> i32 {
    let known = MASSES.iter().find(|(known, ..)| *known == number);
    let mass = known.and_then(|(_, weight, isotopes)| {
        isotopes.iter().find(|(mass_number, _)| *mass_number == isotope).map(|(_, mass)| mass - weight)
    });
    mass.map_or(0, |beyond| beyond as i32)
}
