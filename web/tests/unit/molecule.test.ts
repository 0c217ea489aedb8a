import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { layout } from '../../src/molecule/layout.ts';
import { ringsOf } from '../../src/molecule/rings.ts';
import { ATOMS_MAX, parse } from '../../src/molecule/smiles.ts';

/// The formula in Hill's order, with the charge, and the number of double bonds.
function about(smiles: string): [string, number] | null {
  const molecule = parse(smiles);
  if (!molecule) return null;
  const counts = new Map<string, number>();
  const add = (symbol: string, more: number) => more && counts.set(symbol, (counts.get(symbol) ?? 0) + more);
  molecule.atoms.forEach(({ symbol, hydrogens }) => (add(symbol, 1), add('H', hydrogens)));
  const rank = (symbol: string) => (symbol === 'C' ? '' : symbol === 'H' ? ' ' : symbol);
  const formula = [...counts].sort(([a], [b]) => (rank(a) < rank(b) ? -1 : 1)).map(([symbol, number]) => symbol + (number > 1 ? number : '')).join('');
  const charge = molecule.atoms.reduce((sum, atom) => sum + atom.charge, 0);
  return [formula + (charge ? (charge > 0 ? '+' : '-') : ''), molecule.bonds.filter(({ order }) => order === 2).length];
}

// Formulas as PubChem has them.
test.each([
  ['C', 'CH4', 0],
  ['CN1C=NC2=C1C(=O)N(C(=O)N2C)C', 'C8H10N4O2', 4],
  ['Cn1cnc2c1c(=O)n(C)c(=O)n2C', 'C8H10N4O2', 4],
  ['CC(=O)Oc1ccccc1C(O)=O', 'C9H8O4', 5],
  ['c1ccc2c(c1)ccc1ccccc12', 'C14H10', 7],
  ['c1ccccc1-c1ccccc1', 'C12H10', 6],
  ['c1ccccc1c1ccccc1', 'C12H10', 6],
  ['c1cc[nH]c1', 'C4H5N', 2],
  ['c1ccsc1', 'C4H4S', 2],
  ['C[N+](C)(C)CC([O-])=O', 'C5H11NO2', 1],
  ['[NH4+]', 'H4N+', 0],
  ['CC#N', 'C2H3N', 0],
  ['CS(=O)(=O)O', 'CH4O3S', 2],
  ['N[C@@H](C)C(=O)O', 'C3H7NO2', 1],
  ['F/C=C/F', 'C2H2F2', 1],
  ['C%12CCCCC%12', 'C6H12', 0],
  ['C1CCCCC=1', 'C6H10', 1],
  ['[Na+].[Cl-]', 'ClNa', 0],
  ['[13CH4]', 'CH4', 0],
  ['ClCCl', 'CH2Cl2', 0],
])('%s', (smiles, formula, doubles) => {
  expect(about(smiles)).toEqual([formula, doubles]);
});

test.each(['', 'C(', 'C)', 'C1CC', '(C)', '1CC1', 'C=', 'Hello', 'C11', '[C', 'penguin', 'C'.repeat(ATOMS_MAX + 1)])('%j is no molecule to draw', (text) => {
  expect(parse(text)).toBeNull();
});

test.each(['c1ccccc1CCC', 'CN1CCC23c4c5ccc(O)c4OC2C(O)C=CC3C1C5', 'OC1(c2ccccc2)Oc2ccccc2C(c2ccccc2)C1c1ccccc1', 'C1CC2CCC1C2', 'C1CCC2(CC1)CCCC2', '[Na+].[O-]C(=O)c1ccccc1'])(
  'atoms of %s keep apart, and bonds have about one length',
  (smiles) => {
    const molecule = parse(smiles)!;
    const places = layout(molecule);
    const far = (a: number, b: number) => Math.hypot(places[a][0] - places[b][0], places[a][1] - places[b][1]);
    for (const { a, b } of molecule.bonds) expect(far(a, b), `bond ${a}-${b}`).toSatisfy((length: number) => length > 0.6 && length < 1.5);
    places.forEach((_, a) => places.slice(0, a).forEach((_, b) => expect(far(a, b), `atoms ${a}, ${b}`).toBeGreaterThan(0.4)));
  },
);

test('a benzene ring is a regular hexagon', () => {
  const molecule = parse('c1ccccc1')!;
  const places = layout(molecule);
  expect(ringsOf(molecule.bonds)).toHaveLength(1);
  for (const [x, y] of places) expect(Math.hypot(x - places.reduce((sum, [x]) => sum + x, 0) / 6, y)).toBeCloseTo(1, 9);
});

test('10,277 compounds have the atoms, bonds, hydrogens and double bonds that RDKit finds, and few drawings overlap', () => {
  const table = gunzipSync(readFileSync(new URL('../../../datasets/compounds/nci_aids.tsv.gz', import.meta.url))).toString();
  const molecules = table.trimEnd().split('\n').slice(1).map((line) => parse(line.split('\t')[1])).filter((molecule) => molecule !== null);
  const lines = molecules.map(({ atoms, bonds }) => {
    const hydrogens = atoms.reduce((sum, atom) => sum + atom.hydrogens, 0);
    return [atoms.length, bonds.length, hydrogens, bonds.filter(({ order }) => order === 2).length].join();
  });
  // Printed by web/tests/molecules.py with RDKit 2026.09.1.
  const digest = createHash('sha256').update(lines.join('\n')).digest('hex');
  expect([molecules.length, digest]).toEqual([10_277, '79eeb35fdd636a5146d954cfd438f0f18fc24ca1d8a4ca950f513ea0efe53d14']);
  const overlapping = molecules.map(layout).filter((places) => places.some(([x, y], at) => places.some(([u, v], other) => other < at && Math.hypot(x - u, y - v) < 0.4)));
  expect(overlapping.length).toBeLessThanOrEqual(29);
}, 60_000);
