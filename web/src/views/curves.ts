// The choice of the curves that show the course of a run: of its history when it is done, and of the figures that it reports while it runs.

import type { Line } from './chart.tsx';
import { capital, words } from '../state/words.ts';

export type Row = Record<string, unknown>;

/// The figures that a curve may have across, the first choice first.
const ACROSS = ['temperature', 'iteration', 'sweep', 'batches', 'sweeps', 'index', 'start'];
/// The figures that are drawn first. Other figures follow, except those in `ACROSS` and `COUNTED`.
const UPWARDS = ['free_energy', 'clusters', 'stress', 'log_likelihood', 'objective', 'components', 'cost', 'mean_cost', 'sum_of_squares'];
const COUNTED = ['starts', 'swaps'];
const CURVES_MAX = 2;

/// Returns at most two curves, each over the first axis that has two of its points. Curves that change come before those that do not.
export function curvesOf(rows: Row[]): Line[] {
  const skipped = [...ACROSS, ...COUNTED];
  const names = new Set([...UPWARDS, ...rows.flatMap(Object.keys)].filter((name) => !skipped.includes(name)));
  const found = [...names].flatMap((name) => ACROSS.map((over) => curve(rows, over, name)).find((line) => line) ?? []);
  const isFlat = ({ y }: Line) => y.every((value) => value === y[0]);
  const changing = found.filter((line) => !isFlat(line));
  return (changing.length ? changing : found).slice(0, CURVES_MAX);
}

function curve(rows: Row[], over: string, name: string): Line | null {
  const isLogX = over === 'temperature';
  const isPoint = ([x, y]: unknown[]) => Number.isFinite(x) && Number.isFinite(y) && (!isLogX || (x as number) > 0);
  const points = rows.map((row) => [row[over], row[name]]).filter(isPoint) as [number, number][];
  // A method with a free energy hardens at higher temperatures than the last ones of its annealing. Others begin again where the axis turns back.
  const isWhole = isLogX && rows.some((row) => 'free_energy' in row);
  const starts: [number, number][][] = [];
  points.forEach((point, at) => {
    const apart = at ? point[0] - points[at - 1][0] : 0;
    if (!at || (!isWhole && (isLogX ? apart > 0 : apart < 0))) starts.push([]);
    starts[starts.length - 1].push(point);
  });
  const drawn = starts.filter(({ length }) => length > 1).pop();
  return drawn ? {
    title: capital(words(name)), xName: words(over), x: drawn.map(([x]) => x), y: drawn.map(([, y]) => y), isLogX, isFalling: isLogX,
    isStepped: name === 'clusters' || name === 'components', dots: over === 'index' || over === 'start' ? 'alone' : undefined,
  } : null;
}
