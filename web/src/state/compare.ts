// Compares two sets of rows: the means of their columns, and how far apart these are.

import type { Columns } from '../api/columns.ts';
import type { Colouring } from './clusters.ts';

export interface Difference {
  name: string;
  a: number;
  b: number;
  /// The difference between the means in pooled standard deviations (Cohen's d), or NaN if the values don't vary.
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

/// Compares the columns of numbers, and sorts them by decreasing difference.
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

/// Counts the rows of each group in both sets.
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
