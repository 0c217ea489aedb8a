import { expect, test } from 'vitest';
import type { Column } from '../../src/api/columns.ts';
import { howOf, selected, steps } from '../../src/state/selection.ts';
import { frameOf, pairOf, viewsOf } from '../../src/views/frame.tsx';
import type { Source } from '../../src/views/scene.tsx';

const source = (names: string, more: Partial<Source> = {}): Source => {
  const columns = names.split(' ').map((name): Column => (name === 'note' ? { name, kind: 'text', values: ['a'] } : { name, kind: 'number', values: Float64Array.of(1) }));
  return { name: 'rows', columns: { rows: 1, columns }, sources: [], layouts: [], isEqual: false, ...more };
};
const pairs = (names: string, number: number) => {
  const views = viewsOf(source(names));
  return Array.from({ length: number }, (_, at) => pairOf(views, at).map(({ name }) => name).join(''));
};

test('pictures of columns begin with columns that no other has, and show each pair once', () => {
  expect(pairs('a b c d e f g h', 4)).toEqual(['ab', 'cd', 'ef', 'gh']);
  expect(pairs('a b c d', 6)).toEqual(['ab', 'cd', 'bc', 'ac', 'bd', 'ad']);
  expect(pairs('a b c', 4)).toEqual(['ab', 'bc', 'ac', 'ba']);
  expect(pairs('a b', 4)).toEqual(['ab', 'ba', 'ab', 'ba']);
  expect(pairs('a', 2)).toEqual(['aa', 'aa']);
});

test('places come first, and other columns after them', () => {
  expect(pairs('a lat b lon c', 3)).toEqual(['lonlat', 'ab', 'bc']);
  expect(pairs('a lat lon', 3)).toEqual(['lonlat', 'alat', 'latlon']);
  expect(pairs('lon lat a', 4)).toEqual(['lonlat', 'lata', 'lona', 'alat']);
});

test('pictures show the views of the source one after the other, then columns, and what somebody chooses', () => {
  const [x, y] = source('x y').columns.columns;
  const mapped = source('key a b c d note', { id: 'key', layouts: [{ key: 'map', title: 'the map', x, y, isEqual: true }] });
  const views = viewsOf(mapped);
  const shown = (settings: Record<string, string>) => [0, 1, 2, 3].map((at) => frameOf(mapped, views, settings, at).title);
  expect(shown({})).toEqual(['the map', 'a and b', 'c and d', 'b and c']);
  expect(shown({ view: 'flat', x: 'key', y2: 'd', z3: 'a', view4: 'map', x4: 'a' })).toEqual(['key and b', 'a and d', 'c and d and a', 'the map']);
  // A setting of a view or a column that is not there is as none.
  expect(shown({ view: 'sphere', x2: 'note', view3: 'other' })).toEqual(['the map', 'a and b', 'c and d', 'b and c']);
  const places = viewsOf(source('longitude latitude'));
  expect([0, 1, 2].map((at) => frameOf(source('longitude latitude'), places, {}, at)).map(({ view, isEqual, ending }) => [view, isEqual, ending])).toEqual([
    ['sphere', true, ''], ['flat', true, '2'], ['flat', true, '3'],
  ]);
});

test('views that must be computed are shown only to those who choose them, and axes of a map are no columns to compare', () => {
  const made = source('x y a b c');
  const [x, y] = made.columns.columns;
  const map = { ...made, layouts: [{ key: 'map', title: 'map', x, y, isEqual: true }], projections: { views: [['axes2', 'principal axes']] as [string, string][], make: async () => [] } };
  const views = viewsOf(map);
  expect(views.all.map(([key]) => key)).toEqual(['map', 'flat', 'axes2']);
  expect(views.usable.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  const shown = (of: Source, settings: Record<string, string>) => [0, 1, 2].map((at) => frameOf(of, views, settings, at).title);
  expect(shown(map, {})).toEqual(['map', 'a and b', 'b and c']);
  // Until they are computed, columns are drawn.
  expect(shown(map, { view: 'axes2' })).toEqual(['a and b', 'a and b', 'b and c']);
  expect(shown({ ...map, layouts: [...map.layouts, { key: 'axes2', title: 'principal axes', x, y, isEqual: true }] }, { view: 'axes2' })[0]).toBe('principal axes');
});

test('a selection is one for all pictures: replaced, added to, taken from, and empty again', () => {
  const first = selected(null, [1, 3], 'replace', 5)!;
  expect([...first]).toEqual([0, 1, 0, 1, 0]);
  const more = selected(first, [3, 4], 'add', 5)!;
  expect([...more]).toEqual([0, 1, 0, 1, 1]);
  expect([...first], 'not changed in place').toEqual([0, 1, 0, 1, 0]);
  expect([...selected(more, [1, 2], 'subtract', 5)!]).toEqual([0, 0, 0, 1, 1]);
  expect([...selected(more, [0], 'replace', 5)!]).toEqual([1, 0, 0, 0, 0]);
  expect(selected(first, [1, 3], 'subtract', 5)).toBeNull();
  expect(selected(null, [], 'replace', 5)).toBeNull();
  expect([...selected(null, [2], 'add', 5)!]).toEqual([0, 0, 1, 0, 0]);
});

test('the steps of a selection say in which picture it was made, and what keys were held', () => {
  const box = steps(['cluster 1'], 'box in a and b', 'replace');
  expect(steps(steps(box, 'cluster 2', 'add'), 'lasso in c and d', 'subtract')).toEqual(['box in a and b', 'and cluster 2', 'without lasso in c and d']);
  expect([howOf({ altKey: true, shiftKey: true }), howOf({ altKey: false, shiftKey: true }), howOf({ altKey: false, shiftKey: false })]).toEqual(['subtract', 'add', 'replace']);
});
