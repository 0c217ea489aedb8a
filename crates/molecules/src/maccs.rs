//! The 166 public MACCS keys: each says whether a molecule has a certain group, ring or number of atoms.
//!
//! Source of the definitions: RDKit's `Chem/MACCSkeys.py` (G. Landrum and contributors, BSD 3-clause licence). The bits
//! are those of RDKit's `rdMolDescriptors.GetMACCSKeysFingerprint`. Key i is bit i, and bit 0 is unused. RDKit leaves
//! key 1 (isotopes) undefined, so it is never set.

use std::sync::LazyLock;

use crate::molecule::Molecule;
use crate::smarts::{Counts, Pattern, Search, Tests};

/// The number of bits of a fingerprint of MACCS keys: the keys are counted from 1.
pub const MACCS_BITS: u32 = 167;

/// The steps of a search for all keys, for each atom and at least. Known molecules need fewer.
const STEPS_PER_ATOM: u64 = 100;
const STEPS_LEAST: u64 = 4_000_000;

/// Each key, the number of matches that it must exceed, and its patterns. With several patterns, the different first
/// atoms of their matches count, as for `$(…)` in SMARTS.
type Definition = (usize, usize, &'static [&'static str]);

/// The keys that patterns define, except for key 101.
const DEFINITIONS: &[Definition] = &[
    (2, 0, &["[#104]"]),
    (3, 0, &["[#32,#33,#34,#50,#51,#52,#82,#83,#84]"]),
    (4, 0, &["[#89,#90,#91,#92,#93,#94,#95,#96,#97,#98,#99,#100,#101,#102,#103]"]),
    (5, 0, &["[#21,#22,#39,#40,#72]"]),
    (6, 0, &["[#57,#58,#59,#60,#61,#62,#63,#64,#65,#66,#67,#68,#69,#70,#71]"]),
    (7, 0, &["[#23,#24,#25,#41,#42,#43,#73,#74,#75]"]),
    (8, 0, &["[!#6;!#1]1~*~*~*~1"]),
    (9, 0, &["[#26,#27,#28,#44,#45,#46,#76,#77,#78]"]),
    (10, 0, &["[#4,#12,#20,#38,#56,#88]"]),
    (11, 0, &["*1~*~*~*~1"]),
    (12, 0, &["[#29,#30,#47,#48,#79,#80]"]),
    (13, 0, &["[#8]~[#7](~[#6])~[#6]"]),
    (14, 0, &["[#16]-[#16]"]),
    (15, 0, &["[#8]~[#6](~[#8])~[#8]"]),
    (16, 0, &["[!#6;!#1]1~*~*~1"]),
    (17, 0, &["[#6]#[#6]"]),
    (18, 0, &["[#5,#13,#31,#49,#81]"]),
    (19, 0, &["*1~*~*~*~*~*~*~1"]),
    (20, 0, &["[#14]"]),
    (21, 0, &["[#6]=[#6](~[!#6;!#1])~[!#6;!#1]"]),
    (22, 0, &["*1~*~*~1"]),
    (23, 0, &["[#7]~[#6](~[#8])~[#8]"]),
    (24, 0, &["[#7]-[#8]"]),
    (25, 0, &["[#7]~[#6](~[#7])~[#7]"]),
    (26, 0, &["[#6]=@[#6](@*)@*"]),
    (27, 0, &["[#53]"]),
    (28, 0, &["[!#6;!#1]~[CH2]~[!#6;!#1]"]),
    (29, 0, &["[#15]"]),
    (30, 0, &["[#6]~[!#6;!#1](~[#6])(~[#6])~*"]),
    (31, 0, &["[!#6;!#1]~[F,Cl,Br,I]"]),
    (32, 0, &["[#6]~[#16]~[#7]"]),
    (33, 0, &["[#7]~[#16]"]),
    (34, 0, &["[CH2]=*"]),
    (35, 0, &["[#3,#11,#19,#37,#55,#87]"]),
    (36, 0, &["[#16R]"]),
    (37, 0, &["[#7]~[#6](~[#8])~[#7]"]),
    (38, 0, &["[#7]~[#6](~[#6])~[#7]"]),
    (39, 0, &["[#8]~[#16](~[#8])~[#8]"]),
    (40, 0, &["[#16]-[#8]"]),
    (41, 0, &["[#6]#[#7]"]),
    (42, 0, &["[#9]"]),
    (43, 0, &["[!#6;!#1;!H0]~*~[!#6;!#1;!H0]"]),
    (44, 0, &["[!#1;!#6;!#7;!#8;!#9;!#14;!#15;!#16;!#17;!#35;!#53]"]),
    (45, 0, &["[#6]=[#6]~[#7]"]),
    (46, 0, &["[#35]"]),
    (47, 0, &["[#16]~*~[#7]"]),
    (48, 0, &["[#8]~[!#6;!#1](~[#8])~[#8]"]),
    (49, 0, &["[!+0]"]),
    (50, 0, &["[#6]=[#6](~[#6])~[#6]"]),
    (51, 0, &["[#6]~[#16]~[#8]"]),
    (52, 0, &["[#7]~[#7]"]),
    (53, 0, &["[!#6;!#1;!H0]~*~*~*~[!#6;!#1;!H0]"]),
    (54, 0, &["[!#6;!#1;!H0]~*~*~[!#6;!#1;!H0]"]),
    (55, 0, &["[#8]~[#16]~[#8]"]),
    (56, 0, &["[#8]~[#7](~[#8])~[#6]"]),
    (57, 0, &["[#8R]"]),
    (58, 0, &["[!#6;!#1]~[#16]~[!#6;!#1]"]),
    (59, 0, &["[#16]!:*:*"]),
    (60, 0, &["[#16]=[#8]"]),
    (61, 0, &["*~[#16](~*)~*"]),
    (62, 0, &["*@*!@*@*"]),
    (63, 0, &["[#7]=[#8]"]),
    (64, 0, &["*@*!@[#16]"]),
    (65, 0, &["c:n"]),
    (66, 0, &["[#6]~[#6](~[#6])(~[#6])~*"]),
    (67, 0, &["[!#6;!#1]~[#16]"]),
    (68, 0, &["[!#6;!#1;!H0]~[!#6;!#1;!H0]"]),
    (69, 0, &["[!#6;!#1]~[!#6;!#1;!H0]"]),
    (70, 0, &["[!#6;!#1]~[#7]~[!#6;!#1]"]),
    (71, 0, &["[#7]~[#8]"]),
    (72, 0, &["[#8]~*~*~[#8]"]),
    (73, 0, &["[#16]=*"]),
    (74, 0, &["[CH3]~*~[CH3]"]),
    (75, 0, &["*!@[#7]@*"]),
    (76, 0, &["[#6]=[#6](~*)~*"]),
    (77, 0, &["[#7]~*~[#7]"]),
    (78, 0, &["[#6]=[#7]"]),
    (79, 0, &["[#7]~*~*~[#7]"]),
    (80, 0, &["[#7]~*~*~*~[#7]"]),
    (81, 0, &["[#16]~*(~*)~*"]),
    (82, 0, &["*~[CH2]~[!#6;!#1;!H0]"]),
    (83, 0, &["[!#6;!#1]1~*~*~*~*~1"]),
    (84, 0, &["[NH2]"]),
    (85, 0, &["[#6]~[#7](~[#6])~[#6]"]),
    (86, 0, &["[C;H2,H3][!#6;!#1][C;H2,H3]"]),
    (87, 0, &["[F,Cl,Br,I]!@*@*"]),
    (88, 0, &["[#16]"]),
    (89, 0, &["[#8]~*~*~*~[#8]"]),
    (90, 0, &["[!#6;!#1;!H0]~*~*~[CH2]~*", "[!#6;!#1;!H0;R]1@[R]@[R]@[CH2;R]1", "[!#6;!#1;!H0]~[R]1@[R]@[CH2;R]1"]),
    (
        91,
        0,
        &[
            "[!#6;!#1;!H0]~*~*~*~[CH2]~*",
            "[!#6;!#1;!H0;R]1@[R]@[R]@[R]@[CH2;R]1",
            "[!#6;!#1;!H0]~[R]1@[R]@[R]@[CH2;R]1",
            "[!#6;!#1;!H0]~*~[R]1@[R]@[CH2;R]1",
        ],
    ),
    (92, 0, &["[#8]~[#6](~[#7])~[#6]"]),
    (93, 0, &["[!#6;!#1]~[CH3]"]),
    (94, 0, &["[!#6;!#1]~[#7]"]),
    (95, 0, &["[#7]~*~*~[#8]"]),
    (96, 0, &["*1~*~*~*~*~1"]),
    (97, 0, &["[#7]~*~*~*~[#8]"]),
    (98, 0, &["[!#6;!#1]1~*~*~*~*~*~1"]),
    (99, 0, &["[#6]=[#6]"]),
    (100, 0, &["*~[CH2]~[#7]"]),
    (102, 0, &["[!#6;!#1]~[#8]"]),
    (103, 0, &["[#17]"]),
    (104, 0, &["[!#6;!#1;!H0]~*~[CH2]~*"]),
    (105, 0, &["*@*(@*)@*"]),
    (106, 0, &["[!#6;!#1]~*(~[!#6;!#1])~[!#6;!#1]"]),
    (107, 0, &["[F,Cl,Br,I]~*(~*)~*"]),
    (108, 0, &["[CH3]~*~*~*~[CH2]~*"]),
    (109, 0, &["*~[CH2]~[#8]"]),
    (110, 0, &["[#7]~[#6]~[#8]"]),
    (111, 0, &["[#7]~*~[CH2]~*"]),
    (112, 0, &["*~*(~*)(~*)~*"]),
    (113, 0, &["[#8]!:*:*"]),
    (114, 0, &["[CH3]~[CH2]~*"]),
    (115, 0, &["[CH3]~*~[CH2]~*"]),
    (116, 0, &["[CH3]~*~*~[CH2]~*", "[CH3]~*1~*~[CH2]1"]),
    (117, 0, &["[#7]~*~[#8]"]),
    (118, 1, &["*~[CH2]~[CH2]~*", "*1~[CH2]~[CH2]1"]),
    (119, 0, &["[#7]=*"]),
    (120, 1, &["[!#6;R]"]),
    (121, 0, &["[#7;R]"]),
    (122, 0, &["*~[#7](~*)~*"]),
    (123, 0, &["[#8]~[#6]~[#8]"]),
    (124, 0, &["[!#6;!#1]~[!#6;!#1]"]),
    (126, 0, &["*!@[#8]!@*"]),
    (127, 1, &["*@*!@[#8]"]),
    (
        128,
        0,
        &[
            "*~[CH2]~*~*~*~[CH2]~*",
            "[R]1@[CH2;R]@[R]@[R]@[R]@[CH2;R]1",
            "*~[CH2]~[R]1@[R]@[R]@[CH2;R]1",
            "*~[CH2]~*~[R]1@[R]@[CH2;R]1",
        ],
    ),
    (129, 0, &["*~[CH2]~*~*~[CH2]~*", "[R]1@[CH2]@[R]@[R]@[CH2;R]1", "*~[CH2]~[R]1@[R]@[CH2;R]1"]),
    (130, 1, &["[!#6;!#1]~[!#6;!#1]"]),
    (131, 1, &["[!#6;!#1;!H0]"]),
    (132, 0, &["[#8]~*~[CH2]~*"]),
    (133, 0, &["*@*!@[#7]"]),
    (134, 0, &["[F,Cl,Br,I]"]),
    (135, 0, &["[#7]!:*:*"]),
    (136, 1, &["[#8]=*"]),
    (137, 0, &["[!C;!c;R]"]),
    (138, 1, &["[!#6;!#1]~[CH2]~*"]),
    (139, 0, &["[O;!H0]"]),
    (140, 3, &["[#8]"]),
    (141, 2, &["[CH3]"]),
    (142, 1, &["[#7]"]),
    (143, 0, &["*@*!@[#8]"]),
    (144, 0, &["*!:*:*!:*"]),
    (145, 1, &["*1~*~*~*~*~*~1"]),
    (146, 2, &["[#8]"]),
    (147, 0, &["*~[CH2]~[CH2]~*", "[R]1@[CH2;R]@[CH2;R]1"]),
    (148, 0, &["*~[!#6;!#1](~*)~*"]),
    (149, 1, &["[C;H3,H4]"]),
    (150, 0, &["*!@*@*!@*"]),
    (151, 0, &["[#7;!H0]"]),
    (152, 0, &["[#8]~[#6](~[#6])~[#6]"]),
    (153, 0, &["[!#6;!#1]~[CH2]~*"]),
    (154, 0, &["[#6]=[#8]"]),
    (155, 0, &["*!@[CH2]!@*"]),
    (156, 0, &["[#7]~*(~*)~*"]),
    (157, 0, &["[#6]-[#8]"]),
    (158, 0, &["[#6]-[#7]"]),
    (159, 1, &["[#8]"]),
    (160, 0, &["[C;H3,H4]"]),
    (161, 0, &["[#7]"]),
    (162, 0, &["a"]),
    (163, 0, &["*1~*~*~*~*~*~1"]),
    (164, 0, &["[#8]"]),
    (165, 0, &["[R]"]),
];

/// Rings of 8 to 14 atoms: RDKit's definition of "8 or more".
const LARGE_RINGS: std::ops::RangeInclusive<usize> = 8..=14;

/// A key, the number of matches that it must exceed, and its patterns.
struct Key {
    bit: usize,
    more_than: usize,
    patterns: Vec<Pattern>,
}

/// All keys that patterns define, and the tests in them.
static KEYS: LazyLock<(Tests, Vec<Key>)> = LazyLock::new(|| {
    let mut tests = Tests::default();
    let mut keys: Vec<Key> = (DEFINITIONS.iter())
        .map(|(bit, more_than, patterns)| {
            let patterns = patterns.iter().map(|text| tests.pattern(text)).collect();
            Key { bit: *bit, more_than: *more_than, patterns }
        })
        .collect();
    let large = LARGE_RINGS.map(|atoms| tests.pattern(&format!("*1{}~1", "~*".repeat(atoms - 1)))).collect();
    keys.push(Key { bit: 101, more_than: 0, patterns: large });
    (tests, keys)
});

impl Molecule {
    /// Returns the MACCS keys, with RDKit's bits: [`MACCS_BITS`] bits, of which bit i is bit `i % 64` of word `i / 64`.
    /// Returns `None` if the search for the keys takes too many steps, which no known molecule needs.
    ///
    /// # Example
    /// ```
    /// let methanol = lehr_molecules::Molecule::from_smiles("CO").unwrap();
    /// let words = methanol.maccs().unwrap();
    /// let keys: Vec<usize> = (0..167).filter(|key| words[key / 64] >> (key % 64) & 1 == 1).collect();
    /// // A hetero atom with CH3, OH, C-O, CH3, and oxygen.
    /// assert_eq!(keys, [93, 139, 157, 160, 164]);
    /// ```
    pub fn maccs(&self) -> Option<[u64; MACCS_BITS.div_ceil(64) as usize]> {
        let (tests, keys) = &*KEYS;
        let mut words = [0; MACCS_BITS.div_ceil(64) as usize];
        let mut set = |bit: usize, is_set: bool| words[bit / 64] |= u64::from(is_set) << (bit % 64);
        let mut search = Search::new(self, tests, STEPS_LEAST.max(STEPS_PER_ATOM * self.atoms.len() as u64));
        for Key { bit, more_than, patterns } in keys {
            let counts = if patterns.len() > 1 { Counts::FirstAtoms } else { Counts::Sets };
            set(*bit, search.count(patterns, counts, more_than + 1)? > *more_than);
        }
        // Two keys have no pattern: more than one aromatic ring, and more than one part.
        set(125, self.aromatic_rings > 1);
        set(166, self.parts() > 1);
        Some(words)
    }

    /// Returns the number of parts that no bond joins.
    fn parts(&self) -> usize {
        let mut is_seen = vec![false; self.atoms.len()];
        let mut parts = 0;
        for start in 0..self.atoms.len() {
            if std::mem::replace(&mut is_seen[start], true) {
                continue;
            }
            parts += 1;
            let mut open = vec![start];
            while let Some(atom) = open.pop() {
                for &(_, other) in &self.neighbours[atom] {
                    if !std::mem::replace(&mut is_seen[other], true) {
                        open.push(other);
                    }
                }
            }
        }
        parts
    }
}
