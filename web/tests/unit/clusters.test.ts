import { expect, test } from 'vitest';
import type { Column, Columns } from '../../src/api/columns.ts';
import { clusterColour, scaleColour } from '../../src/colour/palette.ts';
import { below, byLabels, bySureness, describe, groupColour, merged, rowColour, rowsOf, withOutliers } from '../../src/state/clusters.ts';

const number = (name: string, values: number[]): Column => ({ name, kind: 'number', values: Float64Array.from(values) });
const text = (name: string, values: string[]): Column => ({ name, kind: 'text', values });
const table = (...columns: Column[]): Columns => ({ rows: columns[0].values.length, columns });

const labels = table(number('cluster', [0, 1, 0, -1, 1]), number('probability', [1, 0.75, 0.5, 0.9, 0.25]));

test('clusters know their mean probability and what they merge with, from the table of centres', () => {
  const colouring = byLabels('clusters', labels);
  // In another order than that of the numbers.
  describe(colouring, table(number('cluster', [1, 0]), number('probability', [0.5, 0.8]), text('merges_with', ['0', '1+2']), text('name', ['', 'low x'])));
  expect(colouring.groups.map(({ name, about, probability, partners }) => [name, about, probability, partners])).toEqual([
    ['0', 'low x', 0.8, '1+2'], ['1', undefined, 0.5, '0'], ['no cluster', undefined, undefined, undefined],
  ]);
  // A table of a run before there were such columns.
  const before = byLabels('clusters', labels);
  describe(before, table(number('cluster', [0, 1]), text('name', ['a', 'b'])));
  expect(before.groups.map(({ about, probability, partners }) => [about, probability, partners])).toEqual([['a', undefined, undefined], ['b', undefined, undefined], [undefined, undefined, undefined]]);
});

test('fewer clusters are shown: each becomes part of the one that takes it in, and keeps that colour', () => {
  const colouring = byLabels('clusters', table(number('cluster', [0, 1, 2, 3, 3, -1]), number('probability', [1, 1, 1, 1, 1, 1])));
  describe(colouring, table(number('cluster', [0, 1, 2, 3]), text('joins', ['', '0', '0', '2']), text('joins_at', ['', '1', '2', '3'])));
  const shown = (clusters: number) => {
    const { groups, groupOf } = merged(colouring, clusters);
    return [groups.map(({ name, number, rows }) => [name, number, rows]), [...groupOf]];
  };
  expect(shown(4)).toEqual([[['0', 0, 1], ['1', 1, 1], ['2', 2, 1], ['3', 3, 2], ['no cluster', -1, 1]], [0, 1, 2, 3, 3, 4]]);
  expect(shown(3)).toEqual([[['0', 0, 1], ['1', 1, 1], ['2 + 3', 2, 3], ['no cluster', -1, 1]], [0, 1, 2, 2, 2, 3]]);
  expect(shown(2)).toEqual([[['0 + 2 + 3', 0, 4], ['1', 1, 1], ['no cluster', -1, 1]], [0, 1, 0, 0, 0, 2]]);
  expect(shown(1)).toEqual([[['0 + 1 + 2 + 3', 0, 5], ['no cluster', -1, 1]], [0, 0, 0, 0, 0, 1]]);
  expect(merged(colouring, 3).groups[2].partners).toBeUndefined();
});

test('rows are coloured by how sure they are, the less the brighter; rows of no cluster are grey', () => {
  const plain = byLabels('clusters', labels);
  const sure = bySureness(plain);
  expect([...sure.scale!.place]).toEqual([0, 0.5, 1, NaN, 1]);
  expect(sure.scale).toMatchObject({ low: 0.5, high: 1, gaps: 1 });
  expect(rowColour(sure, 4, 'light')).toBe(scaleColour(1, 'light'));
  expect(rowColour(sure, 1, 'light')).toBe(scaleColour(0.5, 'light'));
  expect(rowColour(sure, 3, 'dark')).toBe(scaleColour(NaN, 'dark'));
  // The list and the box plots keep the colours of clusters, and labels without probabilities stay as they are.
  expect(sure.groups.map((group) => groupColour(group, 'light'))).toEqual(plain.groups.map((group) => groupColour(group, 'light')));
  expect(groupColour(sure.groups[1], 'light')).toBe(clusterColour(1, 'light'));
  const without = byLabels('clusters', table(number('cluster', [0, 1])));
  expect(bySureness(without)).toBe(without);
});

test('rows below a limit are those of clusters alone', () => {
  const colouring = byLabels('clusters', labels);
  expect([...below(colouring, 0.8)]).toEqual([1, 2, 4]);
  expect([...below(colouring, 0.25)]).toEqual([]);
  expect([...below(colouring, 1)]).toEqual([1, 2, 4]);
});

test('outliers are rows by their number, or by their id and distance where rows have ids', () => {
  const outliers = table(text('id', ['3', '1']), number('distance', [9.5, 8]), number('cluster', [0, 1]), text('columns', ['x', 'y']));
  expect(rowsOf(outliers, null)).toEqual([3, 1]);
  // An id that is there twice, and a distance that is.
  const among = table(text('id', ['3', '7', '1', '3', '3']), number('distance', [1, 9.5, 8, 8, 9.5]));
  expect(rowsOf(outliers, among)).toEqual([4, 2]);
  expect(rowsOf(outliers, table(number('id', [5, 1]), number('distance', [9.5, 8])))).toEqual([-1, 1]);
  const colouring = byLabels('clusters', labels);
  withOutliers(colouring, outliers, [-1, 1]);
  expect(colouring.outliers).toEqual([{ row: 1, cluster: 1, about: 'y' }]);
});
