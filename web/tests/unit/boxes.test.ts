import { expect, test } from 'vitest';
import { boxesOf, separating } from '../../src/state/boxes.ts';

const rows = (...groups: number[][]): [Float64Array, Int32Array] => [
  Float64Array.from(groups.flat()),
  Int32Array.from(groups.flatMap((values, group) => values.map(() => group))),
];

test('quartiles lie between values, and whiskers end at values within one and a half boxes', () => {
  const [box] = boxesOf(...rows([9, 1, 3, 2, 4, 100, 5, 6, 7, 8]), 1);
  // Of ten values in order the quartiles lie at places 2.25, 4.5 and 6.75.
  expect(box).toEqual({ rows: 10, quartiles: [3.25, 5.5, 7.75], whiskers: [1, 9], beyond: 1 });
  // A value exactly as far as whiskers reach is within: the box is 1 to 3, its reach 3.
  expect(boxesOf(...rows([1, 1, 2, 3, 6]), 1)[0]).toEqual({ rows: 5, quartiles: [1, 2, 3], whiskers: [1, 6], beyond: 0 });
});

test('groups are apart, rows of no group and gaps do not count, and a group without a value has no box', () => {
  const values = Float64Array.of(5, NaN, 1, 7, Infinity, 3, 9);
  const groupOf = Int32Array.of(0, 0, 1, -1, 1, 1, 0);
  const boxes = boxesOf(values, groupOf, 3);
  expect(boxes[0]).toMatchObject({ rows: 2, quartiles: [6, 7, 8], whiskers: [5, 9] });
  expect(boxes[1]).toMatchObject({ rows: 2, quartiles: [1.5, 2, 2.5] });
  expect(boxes[2]).toBeNull();
  // The values stay in their order.
  expect([...values].slice(0, 4)).toEqual([5, NaN, 1, 7]);
});

test('one value, equal values and the largest numbers have boxes', () => {
  expect(boxesOf(...rows([4]), 1)[0]).toEqual({ rows: 1, quartiles: [4, 4, 4], whiskers: [4, 4], beyond: 0 });
  expect(boxesOf(...rows([2, 2, 2, 2, 8]), 1)[0]).toEqual({ rows: 5, quartiles: [2, 2, 2], whiskers: [2, 2], beyond: 1 });
  const [box] = boxesOf(...rows([-1.7e308, 1.7e308]), 1);
  expect(box!.quartiles.every(Number.isFinite) && box!.whiskers.every(Number.isFinite)).toBe(true);
  expect(box!.quartiles[1]).toBe(0);
});

test('quartiles of many rows are those of a sort, whatever the order of the rows', () => {
  let seed = 7;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const values = Float64Array.from({ length: 5001 }, () => random() ** 3);
  const groupOf = Int32Array.from(values, (_, row) => row % 3);
  boxesOf(values, groupOf, 3).forEach((box, group) => {
    const sorted = [...values].filter((_, row) => groupOf[row] === group).sort((a, b) => a - b);
    expect(box!.rows).toBe(1667);
    expect(box!.quartiles[1]).toBe(sorted[833]);
    const within = sorted.filter((value) => value >= box!.whiskers[0] && value <= box!.whiskers[1]);
    expect(box!.beyond).toBe(1667 - within.length);
    expect(within[0]).toBe(box!.whiskers[0]);
    expect(within.at(-1)).toBe(box!.whiskers[1]);
  });
});

test('the column whose groups lie farthest apart stands first, whatever its unit, and flat columns never do', () => {
  const column = (name: string, ...values: number[]) => ({ name, values: Float64Array.from(values) });
  const groupOf = Int32Array.of(0, 0, 1, 1, -1);
  const [mixed, apart] = [column('mixed', 0, 1e6, 0, 1e6, 5), column('apart', 1, 1.1, 2, 2.1, 900)];
  expect(separating([column('flat', 3, 3, 3, 3, 3), mixed, apart, column('gaps', NaN, NaN, NaN, NaN, NaN)], groupOf, 2)?.name).toBe('apart');
  expect(separating([mixed], groupOf, 2)).toBe(mixed);
  expect(separating([], groupOf, 2)).toBeUndefined();
});
