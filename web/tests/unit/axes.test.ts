import { expect, test } from 'vitest';
import type { NumberColumn } from '../../src/api/columns.ts';
import { eigen, principalAxes } from '../../src/points/axes.ts';

const column = (name: string, values: number[]): NumberColumn => ({ name, kind: 'number', values: Float64Array.from(values) });
const { signal } = new AbortController();

test('eigenvectors are those that one finds by hand', () => {
  // (4 1; 1 4) has 5 along (1, 1) and 3 along (1, -1); the 7 in the middle stands alone.
  const [first, second, third] = eigen([[4, 0, 1], [0, 7, 0], [1, 0, 4]]);
  expect([first[0], second[0], third[0]]).toEqual([7, expect.closeTo(5, 12), expect.closeTo(3, 12)]);
  expect(first[1].map(Math.abs)).toEqual([0, 1, 0]);
  expect(second[1][0] * second[1][2]).toBeCloseTo(0.5, 12);
  expect(third[1][0] * third[1][2]).toBeCloseTo(-0.5, 12);
});

test('columns that rise together share an axis, and a third column has its own', async () => {
  // Standardised, a and b are both (-1, 1, -1, 1), and c is (-1, -1, 1, 1). So the correlations are 1, 0 and 0, and the eigenvalues 2, 1 and 0.
  const { values, shares, weights, gaps } = await principalAxes([column('a', [1, 3, 1, 3]), column('b', [-50, 50, -50, 50]), column('c', [1e6, 1e6, 1e6 + 4, 1e6 + 4])], 3, signal);
  const close = (list: ArrayLike<number>) => Array.from(list, (value) => expect.closeTo(value, 9));
  expect([...values[0]]).toEqual(close([-Math.SQRT2, Math.SQRT2, -Math.SQRT2, Math.SQRT2]));
  expect([...values[1]]).toEqual(close([-1, -1, 1, 1]));
  expect([...values[2]]).toEqual(close([0, 0, 0, 0]));
  expect(shares).toEqual(close([2 / 3, 1 / 3, 0]));
  expect(weights[0]).toEqual(close([Math.SQRT1_2, Math.SQRT1_2, 0]));
  expect(gaps).toBe(0);
});

test('a missing value counts as the mean, and a constant column has no influence', async () => {
  const { values, shares, gaps } = await principalAxes([column('a', [0, NaN, 2]), column('b', [5, 5, 5]), column('c', [1, 2, 3])], 2, signal);
  expect(gaps).toBe(1);
  expect(values[0][1]).toBeCloseTo(0, 9);
  expect(values[0][0]).toBeCloseTo(-values[0][2], 9);
  expect(shares[0]).toBeGreaterThan(0.9);
});

test('many rows are computed in pieces that can be stopped', async () => {
  const rows = 100_000;
  const wave = (by: number) => column(`wave ${by}`, Array.from({ length: rows }, (_, row) => Math.sin(by * row)));
  const columns = Array.from({ length: 12 }, (_, at) => wave(at + 1));
  let turns = 0;
  const timer = setInterval(() => turns++);
  const { values } = await principalAxes(columns, 2, signal);
  clearInterval(timer);
  expect(values[0]).toHaveLength(rows);
  expect(turns).toBeGreaterThan(1);
  const stop = new AbortController();
  const stopped = principalAxes(columns, 2, stop.signal);
  stop.abort();
  await expect(stopped).rejects.toThrow();
});
