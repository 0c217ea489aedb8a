//! x
#![allow(warnings)]
use lehr_molecules::Molecule;
fn checksum(hashes: &[u32]) -> u64 {
    let bytes = hashes.iter().flat_map(|hash| hash.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
#[test]
fn t() {
    let all = std::fs::read_to_string("/tmp/fuzz.sdf").unwrap();
    let mut c = [0usize; 5];
    let mut out = String::new();
    for e in all.split("$$$$\n").filter(|e| !e.is_empty()) {
        let x: Vec<&str> = e.split_once("> <x>\n").unwrap().1.lines().collect();
        match Molecule::from_molfile(e) {
            Err(f) if x[0] == "none" => c[0] += 1,
            Err(f) => { c[1] += 1; out.push_str(&format!("REFUSED {f} {}\n{e}\n", x[2])); }
            Ok(m) if x[0] == "none" => { c[2] += 1; out.push_str(&format!("ACCEPTED {}\n{e}\n", m.to_smiles())); }
            Ok(m) => {
                let w = m.maccs().unwrap();
                let d: String = w.iter().flat_map(|w| w.to_le_bytes()).take(21).map(|b| format!("{b:02x}")).collect();
                if format!("{:016x}", checksum(&m.morgan(2))) == x[0] && d == x[1] { c[3] += 1; } else { c[4] += 1; out.push_str(&format!("DIFFERS {} {}\n{e}\n", m.to_smiles(), x[2])); }
            }
        }
    }
    println!("both refuse {} we refuse {} we accept {} same {} differ {}", c[0], c[1], c[2], c[3], c[4]);
    std::fs::write("/tmp/fuzz.out", out).unwrap();
}
