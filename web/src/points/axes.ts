// The principal axes of standardised columns: the directions in which the rows vary most.

import type { NumberColumn } from '../api/columns.ts';

/// The maximum number of columns. The time grows with its square.
export const COLUMNS_MAX = 64;
/// The number of rows of a piece, and the time in milliseconds after which the page gets a turn.
const [PIECE, TURN_MS] = [4096, 12];

export interface Axes {
  /// The positions of the rows along each axis, the axis with the largest variance first.
  values: Float64Array[];
  /// The share of each axis in the variance of all columns.
  shares: number[];
  /// The weight of each column in each axis.
  weights: number[][];
  /// The number of missing values. Each counts as the mean of its column.
  gaps: number;
}

/// Returns the eigenvalues and eigenvectors of a symmetric matrix, the largest first, by Jacobi's rotations.
export function eigen(matrix: number[][]): [value: number, vector: number[]][] {
  const n = matrix.length;
  const a = matrix.map((row) => [...row]);
  const least = 1e-15 * a.reduce((sum, row, at) => sum + row[at], 0);
  const vectors = a.map((_, i) => a.map((_, j) => Number(i === j)));
  for (let sweep = 0; sweep < 50; sweep++) {
    let rest = 0;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        if (Math.abs(a[p][q]) <= least) continue;
        rest++;
        const theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
        const c = 1 / Math.hypot(t, 1);
        const s = t * c;
        const turn = (row: number[]) => ([row[p], row[q]] = [c * row[p] - s * row[q], s * row[p] + c * row[q]]);
        a.forEach(turn);
        for (let k = 0; k < n; k++) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
        vectors.forEach(turn);
      }
    }
    if (!rest) break;
  }
  return a.map((row, at): [number, number[]] => [row[at], vectors.map((one) => one[at])]).sort(([one], [other]) => other - one);
}

/// Computes the first `most` principal axes of standardised columns. Works in pieces, so that the page stays responsive.
export async function principalAxes(columns: NumberColumn[], most: number, stop: AbortSignal): Promise<Axes> {
  const rows = columns[0].values.length;
  let turn = performance.now();
  const pieces = async (each: (from: number, to: number) => void) => {
    for (let from = 0; from < rows; from += PIECE) {
      each(from, Math.min(rows, from + PIECE));
      if (performance.now() - turn < TURN_MS) continue;
      await new Promise((go) => setTimeout(go));
      stop.throwIfAborted();
      turn = performance.now();
    }
  };
  // Welford's method keeps its precision if a mean is large compared with the deviations.
  const moments = columns.map(() => ({ n: 0, mean: 0, squares: 0 }));
  await pieces((from, to) => columns.forEach(({ values }, at) => {
    let { n, mean, squares } = moments[at];
    for (let row = from; row < to; row++) {
      const by = values[row] - mean;
      if (!Number.isFinite(by)) continue;
      mean += by / ++n;
      squares += by * (values[row] - mean);
    }
    moments[at] = { n, mean, squares };
  }));
  const scales = moments.map(({ n, squares }) => Math.sqrt(n / squares));
  const standard = columns.map(() => new Float64Array(PIECE));
  const fill = (from: number, to: number) => columns.forEach(({ values }, at) => {
    const [{ mean }, scale, into] = [moments[at], scales[at], standard[at]];
    for (let row = from; row < to; row++) {
      const value = (values[row] - mean) * scale;
      into[row - from] = Number.isFinite(value) ? value : 0;
    }
  });
  const products = columns.map(() => columns.map(() => 0));
  await pieces((from, to) => {
    fill(from, to);
    for (let i = 0; i < columns.length; i++) {
      for (let j = i; j < columns.length; j++) {
        const [a, b] = [standard[i], standard[j]];
        let sum = 0;
        for (let at = 0; at < to - from; at++) sum += a[at] * b[at];
        products[i][j] += sum / rows;
      }
    }
  });
  const whole = eigen(products.map((row, i) => row.map((_, j) => products[Math.min(i, j)][Math.max(i, j)])));
  // The sign of an axis is arbitrary. The column with the largest weight gets a positive one.
  const leading = whole.slice(0, most).map(([value, vector]) => {
    const largest = vector.reduce((best, one) => (Math.abs(one) > Math.abs(best) * (1 + 1e-9) ? one : best), 0);
    return { value, vector: vector.map((one) => (largest < 0 ? -one : one)) };
  });
  const values = leading.map(() => new Float64Array(rows));
  await pieces((from, to) => {
    fill(from, to);
    leading.forEach(({ vector }, axis) => vector.forEach((weight, at) => {
      const [into, own] = [values[axis], standard[at]];
      for (let row = from; row < to; row++) into[row] += weight * own[row - from];
    }));
  });
  const total = whole.reduce((sum, [value]) => sum + value, 0) || 1;
  return { values, shares: leading.map(({ value }) => value / total), weights: leading.map(({ vector }) => vector), gaps: moments.reduce((sum, { n }) => sum + rows - n, 0) };
}
