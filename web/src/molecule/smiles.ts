// Reads molecules from SMILES (OpenSMILES 1.0), and places double bonds in aromatic rings. Skips stereochemistry, because the drawing is flat.

import { findRings } from './rings.ts';

export interface Atom {
  /// The element's symbol, such as `Cl`; `*` for any atom.
  symbol: string;
  isAromatic: boolean;
  charge: number;
  hydrogens: number;
  /// The mass number of the isotope, or 0 if the text does not give it.
  isotope: number;
  /// The indices of the atom's bonds.
  bonds: number[];
}

export interface Bond {
  a: number;
  b: number;
  /// The bond order, from 1 to 3. Aromatic bonds become single or double.
  order: number;
  isAromatic: boolean;
  /// The smallest ring that contains the bond: its atoms in their order around the ring.
  ring?: number[];
}

export interface Molecule {
  atoms: Atom[];
  bonds: Bond[];
}

/// Returns the other atom of a bond of the atom `at`.
export const otherEnd = ({ a, b }: Bond, at: number) => (a === at ? b : a);

/// The maximum number of atoms. A drawing of a larger molecule would be too small to read.
export const ATOMS_MAX = 200;

/// The valences of atoms that may be written without brackets.
const VALENCES: Record<string, number[]> = { B: [3], C: [4], N: [3, 5], O: [2], P: [3, 5], S: [2, 4, 6], F: [1], Cl: [1], Br: [1], I: [1] };
const ORDERS: Record<string, number> = { '-': 1, '/': 1, '\\': 1, '=': 2, '#': 3 };
const BARE = /^(?:Cl|Br|[BCNOPSFI]|[bcnops]|\*)/;
const BRACKET = /^\[(\d*)(\*|[A-Z][a-z]?|[bcnops]|se|as)(@{0,2}(?:TH|AL|SP|TB|OH)?\d*)?(?:H(\d*))?(\++\d*|-+\d*)?(?::\d+)?\]/;

/// Returns the molecule. Returns `null` if the text is not SMILES, or if there are too many atoms to draw.
export function parse(text: string): Molecule | null {
  const atoms: Atom[] = [];
  const bonds: Bond[] = [];
  const branches: number[] = [];
  const open = new Map<string, { atom: number; order: string }>();
  const bare = new Set<number>();
  let [last, order, rest] = [-1, '', text.trim()];
  const join = (a: number, b: number, written: string) => {
    if (a === b || atoms[a].bonds.some((at) => otherEnd(bonds[at], a) === b)) return false;
    const isAromatic = written === ':' || (written === '' && atoms[a].isAromatic && atoms[b].isAromatic);
    [a, b].forEach((atom) => atoms[atom].bonds.push(bonds.length));
    bonds.push({ a, b, order: ORDERS[written] ?? 1, isAromatic });
    return true;
  };
  const add = (written: string, atom: Partial<Atom>) => {
    const isAromatic = written !== '*' && written === written.toLowerCase();
    atoms.push({ symbol: written[0].toUpperCase() + written.slice(1), isAromatic, charge: 0, hydrogens: 0, isotope: 0, bonds: [], ...atom });
    const isJoined = last < 0 || join(last, atoms.length - 1, order);
    [last, order] = [atoms.length - 1, ''];
    return isJoined && atoms.length <= ATOMS_MAX;
  };
  while (rest) {
    let found: RegExpMatchArray | null;
    if ((found = rest.match(BARE))) {
      bare.add(atoms.length);
      if (!add(found[0], {})) return null;
    } else if ((found = rest.match(BRACKET))) {
      const [, isotope, symbol, , hydrogens, charge = ''] = found;
      const sign = charge[0] === '-' ? -1 : 1;
      const size = Number(charge.replace(/^[+-]+/, '')) || charge.replace(/\d/g, '').length;
      if (!add(symbol, { isotope: Number(isotope), hydrogens: hydrogens === undefined ? 0 : Number(hydrogens || 1), charge: sign * size })) return null;
    } else if ((found = rest.match(/^%\d\d|^\d/)) && last >= 0) {
      const before = open.get(found[0]);
      if (before) {
        open.delete(found[0]);
        if (!join(before.atom, last, before.order || order)) return null;
      } else open.set(found[0], { atom: last, order });
      order = '';
    } else if ((found = rest.match(/^[-=#:/\\]/)) && last >= 0) order = found[0];
    else if (rest[0] === '(' && last >= 0) branches.push(last);
    else if (rest[0] === ')' && branches.length) last = branches.pop()!;
    else if (rest[0] === '.') [last, order] = [-1, ''];
    else return null;
    rest = rest.slice(found?.[0].length ?? 1);
  }
  if (!atoms.length || open.size || branches.length || order) return null;
  const molecule = { atoms, bonds };
  fill(molecule, bare);
  // A bond without a symbol that connects two rings is a single bond, although both atoms are aromatic.
  findRings(molecule);
  bonds.forEach((bond) => (bond.isAromatic &&= bond.ring !== undefined));
  placeDoubleBonds(molecule);
  return molecule;
}

/// Adds hydrogens to atoms without brackets, up to the lowest valence that is large enough. Aromatic atoms have only their lowest valence.
function fill({ atoms, bonds }: Molecule, bare: Set<number>): void {
  for (const at of bare) {
    const atom = atoms[at];
    const used = atom.bonds.reduce((sum, bond) => sum + bonds[bond].order, 0) + (atom.isAromatic ? 1 : 0);
    const valences = VALENCES[atom.symbol] ?? [];
    const valence = atom.isAromatic ? valences[0] : valences.find((one) => one >= used);
    atom.hydrogens = valence === undefined ? 0 : Math.max(0, valence - used);
  }
}

/// The maximum number of steps of the search for double bonds. If the search needs more steps, all aromatic bonds are drawn as single bonds.
const STEPS = 20_000;

/// Turns aromatic bonds into single and double ones (Kekulé): each atom that lacks a bond gets one double bond. The search continues with the
/// atom that has the fewest choices, so that nearly all choices are forced.
function placeDoubleBonds({ atoms, bonds }: Molecule): void {
  const lacking = new Set<number>();
  atoms.forEach((atom, at) => {
    if (!atom.isAromatic) return;
    const used = atom.bonds.reduce((sum, bond) => sum + bonds[bond].order, 0) + atom.hydrogens;
    const valence = ({ N: 3, P: 3, As: 3, B: 3, O: 2, S: 2, Se: 2 }[atom.symbol] ?? 4) + (atom.symbol !== 'C' && atom.charge > 0 ? 1 : 0);
    if (used - (atom.charge < 0 ? atom.charge : 0) < valence) lacking.add(at);
  });
  let steps = 0;
  const choices = (at: number) => atoms[at].bonds.filter((bond) => bonds[bond].isAromatic && lacking.has(bonds[bond].a) && lacking.has(bonds[bond].b));
  const search = (): boolean => {
    let least: number[] | null = null;
    for (const at of lacking) {
      const found = choices(at);
      if (!least || found.length < least.length) least = found;
      if (least.length < 2) break;
    }
    if (!least) return true;
    for (const bond of least) {
      if (++steps > STEPS) return false;
      const { a, b } = bonds[bond];
      lacking.delete(a);
      lacking.delete(b);
      bonds[bond].order = 2;
      if (search()) return true;
      bonds[bond].order = 1;
      lacking.add(a);
      lacking.add(b);
    }
    return false;
  };
  search();
}
