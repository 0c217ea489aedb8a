// Finds the rings of a molecule: for each bond, the smallest ring that contains it.

import { otherEnd, type Bond, type Molecule } from './smiles.ts';

/// Sets the `ring` of each bond that is part of a ring: the atoms in their order around it. The bonds of a ring share one list.
export function findRings({ atoms, bonds }: Pick<Molecule, 'atoms' | 'bonds'>): void {
  const rings = new Map<string, number[]>();
  const keys = bonds.map((skipped) => {
    const { a, b } = skipped;
    const from = new Int32Array(atoms.length).fill(-1);
    from[a] = a;
    const queue = [a];
    for (const at of queue) {
      if (at === b) break;
      for (const bond of atoms[at].bonds) {
        const next = otherEnd(bonds[bond], at);
        if (bonds[bond] === skipped || from[next] >= 0) continue;
        from[next] = at;
        queue.push(next);
      }
    }
    if (from[b] < 0) return '';
    const ring = [b];
    while (ring[ring.length - 1] !== a) ring.push(from[ring[ring.length - 1]]);
    const key = [...ring].sort((one, other) => one - other).join();
    rings.set(key, ring);
    return key;
  });
  bonds.forEach((bond, at) => (bond.ring = rings.get(keys[at])));
}

/// Returns the rings of some bonds, each once, from the smallest to the largest.
export function ringsOf(bonds: Bond[]): number[][] {
  const found = new Set(bonds.map(({ ring }) => ring));
  found.delete(undefined);
  return ([...found] as number[][]).sort((one, other) => one.length - other.length);
}
