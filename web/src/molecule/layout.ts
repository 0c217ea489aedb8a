// Places the atoms of a molecule in a drawing: rings are regular polygons, chains go in a zigzag, and parts that would overlap are mirrored. Bonds have length 1.

import { ringsOf } from './rings.ts';
import { otherEnd, type Molecule } from './smiles.ts';

export type Place = [x: number, y: number];

/// The space between two molecules of one SMILES text, in bond lengths.
const APART = 1.5;
/// Two atoms without a bond between them overlap if they are closer than this.
const CLOSE = 0.75;
/// The maximum number of passes over all bonds that mirror parts to separate overlapping atoms.
const PASSES = 3;
/// The number of rounds of SMACOF.
const ROUNDS = 60;

const plus = ([x, y]: Place, [u, v]: Place): Place => [x + u, y + v];
const minus = ([x, y]: Place, [u, v]: Place): Place => [x - u, y - v];
const towards = (angle: number, length = 1): Place => [length * Math.cos(angle), length * Math.sin(angle)];
const angleOf = ([x, y]: Place) => Math.atan2(y, x);
const distance = (one: Place, other: Place) => Math.hypot(one[0] - other[0], one[1] - other[1]);

/// Returns the place of each atom.
export function layout(molecule: Molecule): Place[] {
  const { atoms, bonds } = molecule;
  const places: (Place | undefined)[] = atoms.map(() => undefined);
  const neighbours = atoms.map(({ bonds: own }, at) => own.map((bond) => otherEnd(bonds[bond], at)));
  const systems = systemsOf(ringsOf(bonds)).map(systemPlaces);
  const systemOf = new Map(systems.flatMap((system) => [...system.keys()].map((at) => [at, system] as const)));
  let right = 0;
  atoms.forEach((_, first) => {
    if (places[first]) return;
    const part = partOf(first, neighbours);
    // Placing starts at a ring if there is one, as chains can make room for rings more easily.
    const begin = part.find((at) => systemOf.has(at)) ?? first;
    grow(begin, neighbours, systemOf, places, (at) => isStraight(molecule, at));
    unfold(molecule, part, neighbours, places as Place[]);
    if (overlaps(part, neighbours, places as Place[]) > 0) relax(part, neighbours, places as Place[]);
    turn(part, places as Place[]);
    const left = Math.min(...part.map((at) => places[at]![0]));
    const middle = part.reduce((sum, at) => sum + places[at]![1], 0) / part.length;
    part.forEach((at) => (places[at] = plus(places[at]!, [right - left, -middle])));
    right = Math.max(...part.map((at) => places[at]![0])) + APART;
  });
  return places as Place[];
}

/// Returns the atoms that can be reached from the first one without passing the atom `without`.
function partOf(first: number, neighbours: number[][], without = -1): number[] {
  const found = [first];
  const seen = new Set([first, without]);
  for (const at of found) {
    for (const next of neighbours[at]) {
      if (seen.has(next)) continue;
      seen.add(next);
      found.push(next);
    }
  }
  return found;
}

/// Returns whether an atom's two bonds are in one line: one is a triple bond, or both are double bonds.
function isStraight({ atoms, bonds }: Molecule, at: number): boolean {
  const orders = atoms[at].bonds.map((bond) => bonds[bond].order);
  return orders.length === 2 && (orders.includes(3) || (orders[0] === 2 && orders[1] === 2));
}

/// Returns groups of rings that are connected by shared atoms.
function systemsOf(rings: number[][]): number[][][] {
  const systems: number[][][] = [];
  for (const ring of rings) {
    const shares = systems.filter((system) => system.some((other) => other.some((at) => ring.includes(at))));
    const joined = [ring, ...shares.flat()];
    shares.forEach((system) => systems.splice(systems.indexOf(system), 1));
    systems.push(joined);
  }
  return systems;
}

/// Returns the places of the atoms of a ring system. Each ring is fitted to its atoms that have a place already: its other atoms go along arcs between them.
function systemPlaces(rings: number[][]): Map<number, Place> {
  const places = new Map<number, Place>();
  const waiting = new Set(rings);
  const touches = (ring: number[]) => rings.filter((other) => other !== ring && other.some((at) => ring.includes(at))).length;
  let next: number[] | undefined = [...rings].sort((a, b) => touches(b) - touches(a) || b.length - a.length)[0];
  while (next) {
    fit(next, places);
    waiting.delete(next);
    // A ring that shares only one bond with the placed rings stays regular. A ring that shares more is bent, so it comes later.
    const shared = (ring: number[]) => ring.filter((at) => places.has(at)).length;
    const rank = (ring: number[]) => (shared(ring) === 0 ? Infinity : shared(ring) === 2 ? 0 : shared(ring));
    next = [...waiting].sort((a, b) => rank(a) - rank(b))[0];
  }
  return places;
}

/// Places the atoms of a ring that have no place yet.
function fit(ring: number[], places: Map<number, Place>): void {
  const size = ring.length;
  const stands = ring.map((at) => places.has(at));
  const count = stands.filter(Boolean).length;
  if (count === size) return;
  const radius = 0.5 / Math.sin(Math.PI / size);
  if (count < 2) {
    const start = stands.indexOf(true);
    // The only atom with a place is part of another ring. The new ring goes into the largest angle between the bonds of this atom.
    const at = start < 0 ? undefined : places.get(ring[start])!;
    const near = [...places.values()].filter((other) => other !== at && at && distance(other, at) < 1.2);
    const out = at ? freeDirection(near.map((other) => angleOf(minus(other, at))), 1)[0] : 0;
    const middle: Place = at ? plus(at, towards(out, radius)) : [0, 0];
    const first = at ? out + Math.PI : Math.PI / 2;
    ring.forEach((atom, place) => {
      if (!places.has(atom)) places.set(atom, plus(middle, towards(first + (2 * Math.PI * (place - Math.max(0, start))) / size, radius)));
    });
    return;
  }
  const before = [...places.values()];
  ring.forEach((atom, place) => {
    if (!stands[place] || stands[(place + 1) % size]) return;
    const gap: number[] = [];
    let end = place + 1;
    for (; !stands[end % size]; end++) gap.push(ring[end % size]);
    const [from, to] = [places.get(atom)!, places.get(ring[end % size])!];
    const sides = [1, -1].map((side) => arc(from, to, gap.length, side));
    const crowd = (arc: Place[]) => arc.reduce((sum, one) => sum + before.reduce((sum, other) => sum + 1 / (0.01 + distance(one, other) ** 2), 0), 0);
    const best = crowd(sides[0]) <= crowd(sides[1]) ? sides[0] : sides[1];
    gap.forEach((atom, at) => places.set(atom, best[at]));
  });
}

/// Returns `count` points along an arc from `from` to `to`. The distance between consecutive points is 1.
function arc(from: Place, to: Place, count: number, side: number): Place[] {
  const chord = distance(from, to);
  const steps = count + 1;
  // Each step covers the same angle of the circle. The larger this angle is, the shorter is the chord.
  let [low, high] = [1e-6, (2 * Math.PI) / steps - 1e-6];
  for (let round = 0; round < 50; round++) {
    const middle = (low + high) / 2;
    if (Math.sin((steps * middle) / 2) / Math.sin(middle / 2) > chord) low = middle;
    else high = middle;
  }
  const angle = low;
  let heading = angleOf(minus(to, from)) + (side * angle * (steps - 1)) / 2;
  let at = from;
  return Array.from({ length: count }, () => {
    at = plus(at, towards(heading));
    heading -= side * angle;
    return at;
  });
}

/// Places the atoms that are connected with the atom `first`, starting there.
function grow(first: number, neighbours: number[][], systemOf: Map<number, Map<number, Place>>, places: (Place | undefined)[], isStraight: (at: number) => boolean): void {
  const queue: number[] = [];
  const stand = (at: number, place: Place, back: number | null) => {
    const system = systemOf.get(at);
    if (!system) {
      places[at] = place;
      queue.push(at);
      return;
    }
    // The whole ring system is turned so that the bond to its first atom points outwards.
    const own = system.get(at)!;
    const out = freeDirection(neighbours[at].filter((other) => system.has(other)).map((other) => angleOf(minus(system.get(other)!, own))), 1)[0];
    const turned = back === null ? 0 : back - out;
    for (const [atom, where] of system) {
      const [x, y] = minus(where, own);
      places[atom] = plus(place, [x * Math.cos(turned) - y * Math.sin(turned), x * Math.sin(turned) + y * Math.cos(turned)]);
      queue.push(atom);
    }
  };
  stand(first, [0, 0], null);
  for (const at of queue) {
    const here = places[at]!;
    const waiting = neighbours[at].filter((other) => !places[other]);
    if (!waiting.length) continue;
    const size = new Map(waiting.map((other) => [other, partOf(other, neighbours, at).length]));
    waiting.sort((a, b) => size.get(b)! - size.get(a)!);
    const taken = neighbours[at].filter((other) => places[other]).map((other) => angleOf(minus(places[other]!, here)));
    let angles: number[];
    if (taken.length === 0) angles = waiting.length === 1 ? [-Math.PI / 6] : waiting.map((_, one) => -Math.PI / 6 + (2 * Math.PI * one) / waiting.length);
    else if (taken.length === 1 && waiting.length === 1) angles = isStraight(at) ? [taken[0] + Math.PI] : [taken[0] + (2 * Math.PI) / 3, taken[0] - (2 * Math.PI) / 3];
    else angles = freeDirection(taken, waiting.length);
    // The neighbours with the largest parts behind them come first. Each goes in the direction farthest from the placed atoms, so chains become a zigzag.
    const crowd = (angle: number) => {
      const there = plus(here, towards(angle));
      return places.reduce((sum, other) => sum + (other ? 1 / (0.1 + distance(there, other) ** 4) : 0), 0);
    };
    for (const other of waiting) {
      const best = angles.reduce((best, angle) => (crowd(angle) < crowd(best) - 1e-9 ? angle : best));
      angles.splice(angles.indexOf(best), 1);
      stand(other, plus(here, towards(best)), best + Math.PI);
    }
  }
}

/// Divides the largest angle between the taken directions evenly, and returns the new directions.
function freeDirection(taken: number[], count: number): number[] {
  const sorted = [...taken].sort((a, b) => a - b);
  let [start, width] = [0, 0];
  sorted.forEach((angle, at) => {
    const gap = (at + 1 < sorted.length ? sorted[at + 1] : sorted[0] + 2 * Math.PI) - angle;
    if (gap > width + 1e-9) [start, width] = [angle, gap];
  });
  return Array.from({ length: count }, (_, at) => start + (width * (at + 1)) / (count + 1));
}

/// Returns how much the atoms of a part overlap, counting pairs without a bond between them.
function overlaps(part: number[], neighbours: number[][], places: Place[]): number {
  let sum = 0;
  part.forEach((one, at) => {
    for (let place = at + 1; place < part.length; place++) {
      const other = part[place];
      const far = distance(places[one], places[other]);
      if (far < CLOSE && !neighbours[one].includes(other)) sum += CLOSE - far;
    }
  });
  return sum;
}

/// Mirrors the part on one side of a bond outside of rings, if this makes atoms overlap less.
function unfold({ bonds }: Molecule, part: number[], neighbours: number[][], places: Place[]): void {
  const own = bonds.filter(({ a, b, ring }) => !ring && part.includes(a) && neighbours[a].length > 1 && neighbours[b].length > 1);
  let least = overlaps(part, neighbours, places);
  for (let pass = 0; pass < PASSES && least > 0; pass++) {
    for (const { a, b } of own) {
      const sides = [partOf(b, neighbours, a), partOf(a, neighbours, b)];
      const side = sides[0].length <= sides[1].length ? sides[0] : sides[1];
      const before = side.map((at) => places[at]);
      const [origin, along] = [places[a], angleOf(minus(places[b], places[a]))];
      side.forEach((at) => {
        const [x, y] = minus(places[at], origin);
        places[at] = plus(origin, towards(2 * along - angleOf([x, y]), Math.hypot(x, y)));
      });
      const now = overlaps(part, neighbours, places);
      if (now < least - 1e-9) least = now;
      else side.forEach((at, place) => (places[at] = before[place]));
    }
  }
}

/// Spreads atoms that still overlap, such as the atoms of a cage, by SMACOF from their present places. The target distances follow from the numbers of bonds
/// between the atoms.
function relax(part: number[], neighbours: number[][], places: Place[]): void {
  const size = part.length;
  const targets = part.map((from) => {
    const steps = new Map([[from, 0]]);
    for (const [at, step] of steps) for (const next of neighbours[at]) if (!steps.has(next)) steps.set(next, step + 1);
    return part.map((to) => targetOf(steps.get(to)!));
  });
  const total = targets.map((row) => row.reduce((sum, target) => sum + (target ? 1 / target ** 2 : 0), 0));
  for (let round = 0; round < ROUNDS; round++) {
    for (let one = 0; one < size; one++) {
      let [x, y] = [0, 0];
      const own = places[part[one]];
      for (let other = 0; other < size; other++) {
        if (other === one) continue;
        const there = places[part[other]];
        const target = targets[one][other];
        const far = distance(own, there) || 1e-3;
        const weight = 1 / target ** 2;
        x += weight * (there[0] + ((own[0] - there[0]) * target) / far);
        y += weight * (there[1] + ((own[1] - there[1]) * target) / far);
      }
      places[part[one]] = [x / total[one], y / total[one]];
    }
  }
}

/// Returns the distance between two atoms of a zigzag, given the number of bonds between them.
function targetOf(steps: number): number {
  return steps < 2 ? steps : 0.87 * steps;
}

/// Turns a molecule by a multiple of 30 degrees, so that its height is least.
function turn(part: number[], places: Place[]): void {
  const heights = Array.from({ length: 6 }, (_, at) => {
    const angle = (at * Math.PI) / 6;
    const ys = part.map((atom) => places[atom][0] * Math.sin(angle) + places[atom][1] * Math.cos(angle));
    return Math.max(...ys) - Math.min(...ys);
  });
  const angle = (heights.indexOf(Math.min(...heights)) * Math.PI) / 6;
  part.forEach((atom) => {
    const [x, y] = places[atom];
    places[atom] = [x * Math.cos(angle) - y * Math.sin(angle), x * Math.sin(angle) + y * Math.cos(angle)];
  });
}
