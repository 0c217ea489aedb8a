import { expect, test } from 'vitest';
import { needed } from '../../src/points/cloud.ts';
import { byColumn } from '../../src/state/clusters.ts';
import { sourceOf, type SceneFigure } from '../../src/state/report.ts';
import { meridians } from '../../src/views/cloud.tsx';
import { compare, keyOf } from '../../src/views/sortable.ts';

function packed(values: Float32Array | Uint16Array | Uint32Array): string {
  return Buffer.from(values.buffer).toString('base64');
}

const figure: SceneFigure = {
  name: 'points.csv',
  rows: 3,
  numbers: packed(new Uint32Array([0, 7, 70_000])),
  columns: [{ name: 'x', values: packed(new Float32Array([1, NaN, 2.5])) }, { name: 'kind', texts: ['a', 'b', ''] }],
  groupings: [{ title: 'clusters', of: packed(new Uint16Array([1, 65_535, 0])), about: ['low x', 'high x'] }],
  layouts: [{ key: 'picture', title: 'x and y', names: ['x', 'y'], axes: [packed(new Float32Array([1, 2, 3])), packed(new Float32Array([4, 5, 6]))], isEqual: true }],
  isEqual: false,
};

test('a report gives back the rows that were packed into it', async () => {
  const source = sourceOf(figure, 'picture');
  expect([0, 1, 2].map((row) => source.titleOf!(row))).toEqual(['row 0', 'row 7', 'row 70000']);
  expect([...source.columns.columns[0].values]).toEqual([1, NaN, 2.5]);
  expect(source.columns.columns[1].values).toEqual(['a', 'b', '']);
  expect([...source.layouts[0].y.values]).toEqual([4, 5, 6]);
  // An axis may be a column, whose values are in the page once.
  const [{ axes, ...layout }] = figure.layouts;
  const { layouts: [{ x, y }], columns } = sourceOf({ ...figure, layouts: [{ ...layout, axes: [axes[0], 0] }] }, 'picture');
  expect([[...x.values], y.name, y.values === columns.columns[0].values]).toEqual([[1, 2, 3], 'y', true]);
  const colouring = await source.sources[0].load(new AbortController().signal);
  expect(colouring.groups.map(({ name, about, number, rows }) => [name, about, number, rows])).toEqual([['0', 'low x', 0, 1], ['1', 'high x', 1, 1], ['no cluster', undefined, -1, 1]]);
  expect([...colouring.groupOf]).toEqual([1, 2, 0]);
  expect([source.sources[0].hasProbability, colouring.probability]).toEqual([false, null]);
  expect(sourceOf({ ...figure, ids: ['<b>', 'two', 'three'] }, 'picture').titleOf!(0)).toBe('<b>');
});

test('a report says how sure rows are, and what its clusters merge with', async () => {
  const [plain] = figure.groupings;
  const grouping = { ...plain, probability: packed(new Uint16Array([65_534, 65_535, 32_767])), means: [0.5, 1], partners: ['1', '0'] };
  const [source] = sourceOf({ ...figure, groupings: [grouping] }, 'picture').sources;
  expect(source.hasProbability).toBe(true);
  const { probability, groups } = await source.load(new AbortController().signal);
  expect([...probability!]).toEqual([1, NaN, 0.5]);
  expect(groups.map(({ probability, partners }) => [probability, partners])).toEqual([[0.5, '1'], [1, '0'], [undefined, undefined]]);
});

test('columns that are filled for some rows alone colour them, and the others can be picked', () => {
  const texts = byColumn({ name: 'kind', kind: 'text', values: ['a', '', 'b', 'a', ''] });
  expect(texts.groups.map(({ name, number, rows }) => [name, number, rows])).toEqual([['a', 0, 2], ['b', 1, 1], ['no value', -1, 2]]);
  expect([...texts.groupOf]).toEqual([0, 2, 1, 0, 2]);
  const few = byColumn({ name: 'size', kind: 'number', values: Float64Array.of(3, NaN, 1, 3, NaN) });
  expect(few.groups.map(({ name, rows }) => [name, rows])).toEqual([['1', 1], ['3', 2], ['no value', 2]]);
  const many = byColumn({ name: 'size', kind: 'number', values: Float64Array.from({ length: 100 }, (_, at) => (at % 4 ? at / 2 : NaN)) });
  expect(many.scale).toMatchObject({ low: 0.5, high: 49.5, isLog: false, gaps: 25 });
  expect([many.scale!.place[0], many.scale!.place[99]]).toEqual([NaN, 1]);
  // Nothing at all is no group.
  expect(byColumn({ name: 'kind', kind: 'text', values: ['', ''] }).groups).toEqual([]);
});

test('classes with names have rows without a value, not without a cluster', async () => {
  const { sources } = sourceOf({ ...figure, groupings: [...figure.groupings, { title: 'kind', of: packed(new Uint16Array([0, 65_535, 0])), names: ['<b>'] }] }, 'picture');
  const loaded = await Promise.all(sources.map((one) => one.load(new AbortController().signal)));
  expect(loaded.map(({ groups }) => groups.map(({ name }) => name))).toEqual([['0', '1', 'no cluster'], ['<b>', 'no value']]);
});

test('outliers do not decide the range, and a second group of rows is none', () => {
  const many = Array.from({ length: 1000 }, (_, at) => at / 1000);
  const [low, high] = needed([...many, 500, 600]);
  expect(low).toBe(0);
  expect(high).toBeGreaterThan(0.99);
  expect(high).toBeLessThan(1.1);
  const group = Array.from({ length: 100 }, (_, at) => 50 + at / 100);
  expect(needed([...many, ...group])).toEqual([0, 50.99]);
  expect(needed([3, 3, 3, 9])).toEqual([3, 9]);
  expect(needed(many)).toEqual([0, 0.999]);
});

test('meridians behind a gutter keep their names and move up', () => {
  const found = meridians(-120, -100, 5, [[-109, -83, 1]]);
  expect(found.map(([, text]) => text)).toContain('115° W');
  const behind = found.find(([, text]) => text === '80° W')!;
  // 25 degrees are gone.
  expect(behind[0]).toBeCloseTo(-105);
  expect(found.some(([, text]) => text === '95° W' || text === '90° W')).toBe(false);
});

test('cells are sorted as numbers where they are numbers, powers of ten too, and what is none comes last', () => {
  const cell = (textContent: string, value?: string) => keyOf({ textContent, dataset: value === undefined ? {} : { value } });
  expect(cell('1,234')).toBe(1234);
  expect(cell('−2.5')).toBe(-2.5);
  expect(cell('12.4 %')).toBe(12.4);
  expect(cell('1.5 × 10−7')).toBeCloseTo(1.5e-7);
  expect(cell('other text', '3')).toBe(3);
  expect(cell('4.2± 0.3')).toBe(4.2);
  const keys = [cell('b'), cell('10'), cell('9'), cell('A'), NaN].sort(compare);
  expect(keys).toEqual([9, 10, NaN, 'a', 'b']);
});
