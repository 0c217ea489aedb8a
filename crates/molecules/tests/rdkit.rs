//! Compares fingerprints with those of RDKit. `rdkit.py` makes the files of the tests that read larger data.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use lehr_molecules::Molecule;

/// Returns the FNV-1a checksum of hashes.
fn checksum(hashes: &[u32]) -> u64 {
    let bytes = hashes.iter().flat_map(|hash| hash.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn molecules_have_the_hashes_of_rdkit_however_they_are_written() {
    let lines = include_str!("rdkit.tsv").lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for line in lines {
        let [smiles, expected, keys] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let molecule = Molecule::from_smiles(smiles).unwrap_or_else(|fault| panic!("{smiles}: {fault}"));
        assert_eq!(format!("{:016x}", checksum(&molecule.morgan(2))), expected, "{smiles}");
        assert_eq!(digits(&molecule.maccs().unwrap(), 167), keys, "{smiles}");
        let written = molecule.to_smiles();
        let again = Molecule::from_smiles(&written).unwrap_or_else(|fault| panic!("{written}: {fault}"));
        assert_eq!((again.morgan(2), again.maccs()), (molecule.morgan(2), molecule.maccs()), "{smiles} {written}");
        count += 1;
    }
    assert!(count > 300, "{count}");
}

#[test]
fn entries_of_an_sd_file_have_the_bits_of_rdkit() {
    let mut count = 0;
    for entry in include_str!("rdkit.sdf").split_terminator("$$$$\n") {
        let title = entry.lines().next().unwrap();
        let expected =
            ["> <morgan>", "> <maccs>"].map(|name| entry.split_once(name).unwrap().1.lines().nth(1).unwrap());
        let molecule = Molecule::from_molfile(entry).unwrap_or_else(|fault| panic!("{title}: {fault}"));
        let bits = |molecule: &Molecule| {
            [format!("{:016x}", checksum(&molecule.morgan(2))), digits(&molecule.maccs().unwrap(), 167)]
        };
        let written = molecule.to_smiles();
        assert_eq!(bits(&molecule), expected, "{title}: {written}");
        assert_eq!(bits(&Molecule::from_smiles(&written).unwrap()), expected, "{title}: {written}");
        count += 1;
    }
    assert!(count > 90, "{count}");
}

#[test]
fn mol_files_that_are_no_molecules_are_refused_with_their_line() {
    let text = |atoms: &str, bonds: &str, rest: &str| {
        let atom = |element| format!("    0.0000    0.0000    0.0000 {element:<3} 0  0\n");
        let lines: String = atoms.split_whitespace().map(atom).collect();
        let bonds_count = bonds.lines().count();
        format!(
            "t\n\n\n{:>3}{bonds_count:>3}  0  0  0  0            999 V2000\n{lines}{bonds}{rest}",
            lines.lines().count()
        )
    };
    for (text, fault) in [
        (String::new(), "line 1: expected three lines of header and a line of counts, found the end of the molecule"),
        (text("C", "", ""), "line 6: expected M  END, found the end of the molecule"),
        (text("", "", "M  END\n"), "line 4: expected a molecule with atoms, found 0 atoms"),
        (text("C Q", "", "M  END\n"), "line 6: expected an element, * or R, found \"Q\""),
        (text("C C", "  1  3  1\n", "M  END\n"), "line 7: expected the number of an atom, from 1 to 2, found \"3\""),
        (
            text("C C", "  1  2  8\n", "M  END\n"),
            "line 7: expected a bond of type 1, 2, 3 or 4 (single, double, triple, aromatic), found \"8\"",
        ),
        (
            text("C C", "  1  2  1\n  2  1  1\n", "M  END\n"),
            "line 8: expected a bond between atoms that have none yet, found 2 and 1",
        ),
        (
            text("C C", "  1  2  4\n", "M  END\n"),
            "line 5: expected aromatic bonds only in rings, found an aromatic bond outside of rings",
        ),
        (
            text("O C C C", "  1  2  1\n  1  3  1\n  1  4  1\n", "M  END\n"),
            "line 5: expected an atom with at most 2 bonds, found bonds with 3 pairs of electrons",
        ),
        (text("C", "", "M  CHG  1   1  xx\n"), "line 6: expected a charge, found \"xx\""),
        (
            text("C", "", "M  ZBO  1   1   0\n"),
            "line 6: expected a molecule without zero-order bonds, found \"M  ZBO  1   1   0\"",
        ),
        (
            "\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 BEGIN ATOM\nM  V30 1 C 0 0\n"
                .to_owned(),
            "line 7: expected an atom: number, element, three coordinates and a map, found \"1 C 0 0\"",
        ),
        (v3000("1 0", "M  V30 1 C 0 0 0 -\nM  V30 0 CHG=x"), "line 8: expected a charge, found \"x\""),
        (
            v3000("3 2", "M  V30 1 C 0 0 0 0\nM  V30 2 C 1 0 0 0"),
            "line 6: expected COUNTS of 2 atoms and 0 bonds, found 3 atoms and 2 bonds",
        ),
        (
            v3000("1 0", &format!("M  V30 1 {} 0 0 0 0", "Q".repeat(1_000))),
            &format!("line 8: expected an element, * or R, found \"{}\"…", "Q".repeat(40)),
        ),
    ] {
        assert_eq!(Molecule::from_molfile(&text).map_err(|fault| fault.to_string()), Err(fault.to_owned()), "{text}");
    }
}

/// Returns a mol file of version V3000 with these counts and lines of atoms.
fn v3000(counts: &str, atoms: &str) -> String {
    format!(
        "t\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 COUNTS {counts} 0 0 0\n\
         M  V30 BEGIN ATOM\n{atoms}\nM  V30 END ATOM\nM  V30 END CTAB\nM  END\n"
    )
}

#[test]
fn molecules_that_would_take_too_much_memory_are_refused() {
    let star = |bonds: usize| format!("C[Fe]{}", "(F)".repeat(bonds - 1));
    assert_eq!(Molecule::from_smiles(&star(200)).unwrap().morgan(2).len(), 6);
    let fault = Molecule::from_smiles(&star(30_000)).unwrap_err().to_string();
    assert_eq!(fault, "character 2: expected an atom with at most 200 bonds, found 30000 bonds");
    let graph = |atoms: usize, bonds: &[(usize, usize)]| {
        let atom = |atom: usize| format!("M  V30 {atom} Fe 0 0 0 0\n");
        let bond = |(first, second): &(usize, usize)| format!("M  V30 1 1 {first} {second}\n");
        let lines: String = (1..=atoms).map(atom).collect();
        let between = "M  V30 END ATOM\nM  V30 BEGIN BOND\n";
        let last: String = bonds.iter().map(bond).collect();
        let text = v3000(&format!("{atoms} {}", bonds.len()), &format!("{lines}{between}{last}M  V30 END BOND"));
        text.replace("END BOND\nM  V30 END ATOM", "END BOND")
    };
    let star: Vec<(usize, usize)> = (2..=202).map(|other| (1, other)).collect();
    let fault = Molecule::from_molfile(&graph(202, &star)).unwrap_err().to_string();
    assert_eq!(fault, "line 8: expected an atom with at most 200 bonds, found 201 bonds");
    // All atoms are bonded to each other.
    let dense: Vec<(usize, usize)> =
        (1..=52).flat_map(|first| (first + 1..=52).map(move |other| (first, other))).collect();
    let dense = graph(52, &dense);
    assert_eq!(
        Molecule::from_molfile(&dense).unwrap_err().to_string(),
        "line 8: expected rings that share bonds to have at most 400 atoms and 1000 bonds, \
         found 52 atoms and 1326 bonds"
    );
}

#[test]
fn any_mol_file_is_a_molecule_or_a_fault() {
    // Bytes of good entries are changed: no text makes the reader panic.
    let entries: Vec<&str> = include_str!("rdkit.sdf").split_terminator("$$$$\n").collect();
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut read = 0;
    for _ in 0..30_000 {
        let mut text = entries[next(entries.len())].as_bytes().to_vec();
        for _ in 0..=next(3) {
            let place = next(text.len());
            text[place] = b" 0123456789-CNOHR\n="[next(18)];
        }
        if let Ok(molecule) = Molecule::from_molfile(&String::from_utf8_lossy(&text)) {
            let written = molecule.to_smiles();
            let again = Molecule::from_smiles(&written);
            let again = again.unwrap_or_else(|fault| panic!("{written}: {fault}: {}", String::from_utf8_lossy(&text)));
            assert_eq!(again.morgan(2), molecule.morgan(2), "{written}: {}", String::from_utf8_lossy(&text));
            read += 1;
        }
    }
    assert!(read > 8_000, "{read}");
}

/// Returns the lines of a packed file of the antiviral screen.
fn screen(name: &str) -> impl Iterator<Item = String> {
    let folder = PathBuf::from(std::env::var_os("LEHR_DATA").expect("LEHR_DATA names the folder of the larger data"));
    let file = std::fs::File::open(folder.join("chem").join(name)).unwrap();
    BufReader::new(flate2::read::MultiGzDecoder::new(file)).lines().map(Result::unwrap)
}

/// Returns bits as FPS has them: hexadecimal digits, byte by byte.
fn digits(words: &[u64], bits: usize) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).take(bits.div_ceil(8));
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

#[test]
#[ignore = "reads larger data: LEHR_DATA=FOLDER cargo test -p lehr-molecules --test rdkit -- --ignored"]
fn all_compounds_of_the_antiviral_screen_have_the_bits_of_rdkit() {
    let expected = |name| screen(name).filter(|line| !line.starts_with('#'));
    let morgan = expected("dtp_aids41k_morgan1024.fps.gz");
    let maccs = expected("dtp_aids41k_maccs.fps.gz");
    let mut count = 0;
    let mut other = Vec::new();
    for ((compound, morgan), maccs) in screen("dtp_aids41k.tsv.gz").skip(1).zip(morgan).zip(maccs) {
        let smiles = compound.split('\t').nth(1).unwrap();
        let molecule = Molecule::from_smiles(smiles).unwrap();
        let found = [digits(&molecule.morgan_bits(2, 1024), 1024), digits(&molecule.maccs().unwrap(), 167)];
        let written = molecule.to_smiles();
        let again = Molecule::from_smiles(&written).unwrap();
        assert_eq!((again.morgan(2), again.maccs()), (molecule.morgan(2), molecule.maccs()), "{smiles} {written}");
        if [&*found[0], &found[1]] != [&morgan, &maccs].map(|line| line.split('\t').next().unwrap()) {
            other.push(smiles.to_owned());
        }
        count += 1;
    }
    assert_eq!((count, &*other), (41_119, &[] as &[String]));
}

#[test]
#[ignore = "reads larger data: LEHR_DATA=FOLDER cargo test -p lehr-molecules --test rdkit -- --ignored"]
fn all_compounds_in_an_sd_file_have_the_bits_of_rdkit() {
    let (mut text, mut count, mut other) = (String::new(), 0, Vec::new());
    for line in screen("dtp_aids41k.sdf.gz") {
        if line != "$$$$" {
            text.push_str(&line);
            text.push('\n');
            continue;
        }
        let molecule = Molecule::from_molfile(&text).unwrap_or_else(|fault| panic!("{fault}: {text}"));
        let found = [digits(&molecule.morgan_bits(2, 1024), 1024), digits(&molecule.maccs().unwrap(), 167)];
        let expected = ["> <morgan>", "> <maccs>"].map(|name| text.split_once(name).unwrap().1.lines().nth(1).unwrap());
        if found != expected {
            other.push(text.lines().next().unwrap().to_owned());
        }
        text.clear();
        count += 1;
    }
    assert_eq!((count, &*other), (41_119, &[] as &[String]));
}

#[test]
fn texts_that_are_no_molecules_are_refused_with_their_place() {
    for (text, fault) in [
        ("", "character 1: expected an atom, found the end of the text"),
        ("CC(C", "character 3: expected a ) for this (, found the end of the text"),
        ("CC)", "character 3: expected an atom, found ')'"),
        ("C1CC", "character 2: expected the ring number 1 at two atoms, found only one"),
        ("C11", "character 3: expected another atom to close the ring, found an atom that is bonded to it already"),
        ("C==C", "character 3: expected an atom, found '='"),
        ("[Xx]", "character 2: expected an element, found 'X'"),
        ("[CH4", "character 5: expected a ], found the end of the text"),
        ("C%1", "character 4: expected a digit, found the end of the text"),
        ("CCcC", "character 3: expected a capital letter, because only atoms in rings are aromatic, found 'c'"),
        (
            "c1cccc1",
            "character 1: expected an aromatic ring with alternating double bonds, found atoms that cannot have them",
        ),
        ("C(C)(C)(C)(C)C", "character 1: expected an atom with at most 4 bonds, found bonds with 5 pairs of electrons"),
        ("CCé", "character 3: expected an atom, found 'é'"),
        ("[C+200]", "character 7: expected a smaller charge, found ']'"),
        ("[CH300]", "character 7: expected fewer hydrogens, found ']'"),
    ] {
        assert_eq!(Molecule::from_smiles(text).map_err(|fault| fault.to_string()), Err(fault.to_owned()), "{text:?}");
    }
}

#[test]
fn a_molecule_without_end_takes_no_time_without_end() {
    // A chain is as long as it likes, and rings beyond the limit are refused.
    let chain = Molecule::from_smiles(&"C".repeat(300_000)).unwrap();
    assert_eq!((chain.atoms().len(), chain.morgan(2).len()), (300_000, 8));
    let rings = Molecule::from_smiles(&"c1ccccc1".repeat(50_000)).unwrap();
    assert_eq!(rings.atoms().len(), 300_000);
    let ring = |atoms: usize| format!("C1{}C1", "C".repeat(atoms - 2));
    assert!(Molecule::from_smiles(&ring(400)).is_ok());
    let fault = Molecule::from_smiles(&ring(401)).unwrap_err().to_string();
    let expected = "rings that share bonds to have at most 400 atoms and 1000 bonds";
    assert_eq!(fault, format!("character 1: expected {expected}, found 401 atoms and 401 bonds"));
}

#[test]
fn any_text_is_a_molecule_or_a_fault() {
    // Pieces of SMILES in every order: no text makes the reader panic.
    const PIECES: [&str; 20] =
        ["C", "c", "1", "2", "(", ")", "=", "[", "]", "H", "+", "n", "%", "12", ".", "@", "/", "Cl", "-", "*"];
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut read = 0;
    for _ in 0..200_000 {
        let length = 1 + next() % 14;
        let text: String = (0..length).map(|_| PIECES[next() % PIECES.len()]).collect();
        if let Ok(molecule) = Molecule::from_smiles(&text) {
            assert!(!molecule.morgan(3).is_empty(), "{text}");
            let written = molecule.to_smiles();
            let again = Molecule::from_smiles(&written).unwrap_or_else(|fault| panic!("{text} {written}: {fault}"));
            assert_eq!((again.morgan(2), again.maccs()), (molecule.morgan(2), molecule.maccs()), "{text} {written}");
            read += 1;
        }
    }
    assert!(read > 1_000, "{read}");
}
