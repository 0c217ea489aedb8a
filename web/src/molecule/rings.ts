// The rings of a molecule: for each bond the smallest ring that it is part of.

import type { Molecule } from './smiles.ts';

/// The atoms of each ring in their order around it; each ring once, the smallest first.
export function ringsOf({ atoms, bonds }: Molecule): number[][] {
  const found = new Map<string, number[]>();
  bonds.forEach(({ a, b }, skipped) => {
    const from = new Int32Array(atoms.length).fill(-1);
    from[a] = a;
    const queue = [a];
    for (const at of queue) {
      if (at === b) break;
      for (const bond of atoms[at].bonds) {
        const next = bonds[bond].a === at ? bonds[bond].b : bonds[bond].a;
        if (bond === skipped || from[next] >= 0) continue;
        from[next] = at;
        queue.push(next);
      }
    }
    if (from[b] < 0) return;
    const ring = [b];
    while (ring[ring.length - 1] !== a) ring.push(from[ring[ring.length - 1]]);
    found.set([...ring].sort((one, other) => one - other).join(), ring);
  });
  return [...found.values()].sort((one, other) => one.length - other.length);
}

/// Whether each bond is part of a ring.
export function inRings({ atoms, bonds }: Molecule, rings: number[][]): boolean[] {
  const found = bonds.map(() => false);
  for (const ring of rings) {
    ring.forEach((at, place) => {
      const next = ring[(place + 1) % ring.length];
      for (const bond of atoms[at].bonds) if (bonds[bond].a === next || bonds[bond].b === next) found[bond] = true;
    });
  }
  return found;
}
