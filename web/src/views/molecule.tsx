// Draws the structure of a molecule from its SMILES.

import { useMemo, useRef } from 'preact/hooks';
import type { JSX } from 'preact';
import { layout, type Place } from '../molecule/layout.ts';
import { otherEnd, parse, type Atom, type Molecule } from '../molecule/smiles.ts';
import { groundOfPage, Save, standalone } from './save.tsx';

/// The maximum length of a bond in pixels. Bonds are shorter if the molecule would not fit into the frame.
const BOND = 26;
const FRAME = { width: 260, height: 180, side: 30, edge: 16 };
/// The distance between the two lines of a double bond, in bond lengths. `LETTER` is the space of a letter.
const LINES = 0.18;
const LETTER = 0.3;

/// Returns whether a column contains SMILES, judging by its name.
export const isStructure = (name: string) => /smiles/i.test(name);

/// Draws a molecule. If the text is not SMILES, it draws nothing. Only a drawing of full size has buttons to save it, since small ones stand in long lists.
export function Structure({ smiles, width = FRAME.width, height = FRAME.height }: { smiles: string; width?: number; height?: number }) {
  const drawn = useMemo(() => {
    const molecule = parse(smiles);
    return molecule && draw(molecule, width, height);
  }, [smiles, width, height]);
  const picture = useRef<SVGSVGElement>(null);
  if (!drawn) return null;
  const structure = (
    <svg ref={picture} class="structure" viewBox={`0 0 ${drawn.width} ${drawn.height}`} width={drawn.width} height={drawn.height} role="img" aria-label={`Structure of ${smiles}`}>
      <path d={drawn.lines} />
      {drawn.letters}
    </svg>
  );
  if (width < FRAME.width) return structure;
  return <>{structure}<div class="tools"><Save name="structure" make={() => standalone(picture.current!, drawn.width, drawn.height, groundOfPage())} /></div></>;
}

interface Drawn {
  width: number;
  height: number;
  lines: string;
  letters: JSX.Element[];
}

function draw(molecule: Molecule, most: number, highest: number): Drawn {
  const { atoms, bonds } = molecule;
  const places = layout(molecule);
  const span = (axis: 0 | 1) => {
    const values = places.map((place) => place[axis]);
    return [Math.min(...values), Math.max(...values)];
  };
  const [[left, right], [low, high]] = [span(0), span(1)];
  const bond = Math.min(BOND, (most - 2 * FRAME.side) / Math.max(right - left, 1e-9), (highest - 2 * FRAME.edge) / Math.max(high - low, 1e-9));
  const [width, height] = [Math.ceil((right - left) * bond + 2 * FRAME.side), Math.ceil((high - low) * bond + 2 * FRAME.edge)];
  const at = ([x, y]: Place): Place => [(x - left) * bond + FRAME.side, (high - y) * bond + FRAME.edge];
  const isLettered = atoms.map((atom) => atom.symbol !== 'C' || atom.charge !== 0 || atom.isotope > 0 || atom.bonds.length === 0);
  const lines: string[] = [];
  const line = (from: Place, to: Place) => {
    const [[x, y], [u, v]] = [at(from), at(to)];
    lines.push(`M${x.toFixed(1)} ${y.toFixed(1)}L${u.toFixed(1)} ${v.toFixed(1)}`);
  };
  for (const { a, b, order, ring } of bonds) {
    const [from, to] = [places[a], places[b]];
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
    const [dx, dy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    // Draws a line parallel to the bond, at the distance `aside` and shorter by `cut` at both ends.
    const parallel = (aside: number, cut = 0) => {
      const [start, end] = [Math.max(cut, isLettered[a] ? LETTER : 0), Math.max(cut, isLettered[b] ? LETTER : 0)];
      if (start + end >= length) return;
      line([from[0] + dx * start - dy * aside, from[1] + dy * start + dx * aside], [to[0] - dx * end - dy * aside, to[1] - dy * end + dx * aside]);
    };
    const isAtEnd = atoms[a].bonds.length === 1 || atoms[b].bonds.length === 1;
    if (order === 1) parallel(0);
    else if (order > 2) for (const aside of [-LINES, 0, LINES]) parallel(aside);
    else if (isAtEnd && !ring) for (const aside of [-LINES / 2, LINES / 2]) parallel(aside);
    else {
      // The second line is inside the ring, or else on the side with more neighbours.
      const inside = ring ?? [a, b].flatMap((one) => atoms[one].bonds.map((bond) => otherEnd(bonds[bond], one)));
      const side = inside.reduce((sum, one) => sum + Math.sign(Math.round(100 * ((places[one][1] - from[1]) * dx - (places[one][0] - from[0]) * dy))), 0);
      parallel(0);
      parallel(side < 0 ? -LINES : LINES, 0.14);
    }
  }
  const letters = atoms.flatMap((atom, one) => (isLettered[one] ? [letter(atom, one, at(places[one]), bond, isLeftOf(molecule, places, one))] : []));
  return { width, height, lines: lines.join(''), letters };
}

/// Returns whether an atom is left of most of its neighbours. Its hydrogens are then written before its symbol.
function isLeftOf({ atoms, bonds }: Molecule, places: Place[], at: number): boolean {
  return atoms[at].bonds.reduce((sum, bond) => sum + places[otherEnd(bonds[bond], at)][0] - places[at][0], 0) > 0.1;
}

/// Draws the letters of an atom: its symbol with hydrogens, charge and isotope, written away from its bonds.
function letter({ symbol, hydrogens, charge, isotope }: Atom, key: number, [x, y]: Place, bond: number, isLeft: boolean): JSX.Element {
  const size = Math.max(5, 0.5 * bond);
  const sign = charge === 0 ? '' : `${Math.abs(charge) > 1 ? Math.abs(charge) : ''}${charge > 0 ? '+' : '−'}`;
  // Pairs of a text and its height: 1 is raised, -1 is lowered.
  const own: [string, number][] = [[isotope ? String(isotope) : '', 1], [symbol, 0]];
  const follows: [string, number][] = [[hydrogens ? 'H' : '', 0], [hydrogens > 1 ? String(hydrogens) : '', -1]];
  const texts = isLeft ? [[sign, 1] as [string, number], ...follows, ...own] : [...own, ...follows, [sign, 1] as [string, number]];
  let height = 0;
  const half = (symbol.length * 0.36 + (isotope ? 0.2 : 0)) * size;
  return (
    <text key={key} x={isLeft ? x + half : x - half} y={y + 0.36 * size} text-anchor={isLeft ? 'end' : 'start'} style={{ fontSize: `${size}px` }}>
      {texts.filter(([text]) => text).map(([text, to], at) => {
        const dy = 0.28 * size * (height - to);
        height = to;
        return <tspan key={at} dy={dy} style={to ? { fontSize: `${0.7 * size}px` } : undefined}>{text}</tspan>;
      })}
    </text>
  );
}
