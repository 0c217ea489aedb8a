import { expect, test } from 'vitest';
import { differences, shares } from '../../src/state/compare.ts';
import { clustersOf } from '../../src/state/clusters.ts';
import { first, growth, stays, places, widest } from '../../src/state/course.ts';

const number = (name: string, values: number[]) => ({ name, kind: 'number' as const, values: Float64Array.from(values) });

test('means differ by pooled standard deviations, the largest first, and gaps do not count', () => {
  const columns = { rows: 6, columns: [number('same', [1, 2, 3, 1, 2, 3]), number('far', [0, 2, NaN, 10, 12, NaN]), number('flat', [5, 5, 5, 5, 5, 5]), { name: 'text', kind: 'text' as const, values: ['', '', '', '', '', ''] }] };
  const [a, b] = [Uint8Array.from([1, 1, 1, 0, 0, 0]), Uint8Array.from([0, 0, 0, 1, 1, 1])];
  const found = differences(columns, a, b);
  expect(found.map(({ name }) => name)).toEqual(['far', 'same', 'flat']);
  // Means 1 and 11, and both have a variance of 2: 10 / sqrt 2 below.
  expect(found[0]).toMatchObject({ a: 1, b: 11 });
  expect(found[0].effect).toBeCloseTo(-10 / Math.SQRT2);
  expect(found[1].effect).toBe(0);
  expect(found[2].effect).toBeNaN();
  const grouping = clustersOf('clusters', Float64Array.from([0, 0, 1, 1, -1, 1]), null);
  expect(shares(grouping, a, b)).toEqual([{ name: '0', a: 2, b: 0 }, { name: '1', a: 1, b: 2 }, { name: 'no cluster', a: 0, b: 1 }]);
});

test('a course ends where hardening begins, numbers last over temperatures, and a component stands below its parent', () => {
  const step = (temperature: number, clusters: number) => ({ temperature, clusters, freeEnergy: temperature });
  const falling = growth([step(8, 1), step(4, 2), step(2, 2), step(1, 4), step(3, 3), step(1, 3)], []);
  expect(falling).toHaveLength(4);
  // Hardening that goes on at a lower temperature has another number than the splits and merges give.
  const born = (temperature: number, end: number | null = null) => ({ temperature, parent: 0, end, into: end && 0 });
  expect(growth([step(8, 1), step(4, 2), step(2, 3), step(1, 2)], [born(4), born(2)])).toHaveLength(3);
  expect(growth([step(8, 1), step(4, 2), step(2, 3), step(1, 2)], [born(4), born(2, 1)])).toHaveLength(4);
  expect(stays(falling)).toEqual([
    { clusters: 1, from: 8, to: 4, last: 0 }, { clusters: 2, from: 4, to: 1, last: 2 }, { clusters: 4, from: 1, to: 1, last: 3 },
  ]);
  expect(widest(stays(falling))?.clusters).toBe(2);
  expect(widest([])).toBeUndefined();
  // A replay begins at the number of the result, which need not be the one that lasted longest.
  const result = (clusters: number) => [...falling, { temperature: 0, clusters, freeEnergy: 0 }];
  expect(first(stays(falling), result(1))?.clusters).toBe(2);
  for (const { clusters } of stays(falling).slice(1)) expect(first(stays(falling), result(clusters))?.clusters).toBe(clusters);
  // The third came from the first and stands beside it.
  const split = (parent: number) => ({ temperature: 1, parent, end: null, into: null });
  expect(places([split(0), split(0), split(1)])).toEqual([0, 2, 1, 3]);
  expect(places([])).toEqual([0]);
});
