// Two sets of rows beside each other: means, and how far apart they are.

import type { Columns } from '../api/columns.ts';
import type { Colouring } from './clusters.ts';

export interface Difference {
  name: string;
  a: number;
  b: number;
  /// The difference of the means in pooled standard deviations (Cohen's d); NaN where nothing varies.
  effect: number;
}

interface Moments {
  n: number;
  mean: number;
  /// The sum of squared deviations.
  squares: number;
}

function moments(values: ArrayLike<number>, chosen: Uint8Array): Moments {
  let [n, mean, squares] = [0, 0, 0];
  for (let row = 0; row < chosen.length; row++) {
    const value = values[row];
    if (!chosen[row] || !Number.isFinite(value)) continue;
    n++;
    const by = value - mean;
    mean += by / n;
    squares += by * (value - mean);
  }
  return { n, mean: n ? mean : NaN, squares };
}

/// The columns of numbers, those that differ most first.
export function differences(columns: Columns, a: Uint8Array, b: Uint8Array): Difference[] {
  const found: Difference[] = [];
  for (const column of columns.columns) {
    if (column.kind === 'text') continue;
    const [one, other] = [moments(column.values, a), moments(column.values, b)];
    const pooled = Math.sqrt((one.squares + other.squares) / Math.max(1, one.n + other.n - 2));
    found.push({ name: column.name, a: one.mean, b: other.mean, effect: pooled > 0 ? (one.mean - other.mean) / pooled : NaN });
  }
  const size = ({ effect }: Difference) => (Number.isNaN(effect) ? -1 : Math.abs(effect));
  return found.sort((x, y) => size(y) - size(x));
}

/// How many rows of each group are in one set and in the other.
export function shares(grouping: Colouring, a: Uint8Array, b: Uint8Array): { name: string; a: number; b: number }[] {
  const counts = grouping.groups.map(({ name }) => ({ name, a: 0, b: 0 }));
  grouping.groupOf.forEach((group, row) => {
    if (!counts[group]) return;
    counts[group].a += a[row];
    counts[group].b += b[row];
  });
  return counts.filter((one) => one.a + one.b > 0);
}

export function size(chosen: Uint8Array): number {
  return chosen.reduce((sum, one) => sum + one, 0);
}
