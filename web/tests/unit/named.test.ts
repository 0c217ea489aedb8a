import { expect, test } from 'vitest';
import { clustersOf } from '../../src/state/clusters.ts';
import { hiddenAs, hiddenIn, named, renamed } from '../../src/state/named.ts';

const colouring = clustersOf('clusters', Float64Array.of(0, 1, 2, -1), null);
const names = (setting: string | null, labels: string, left = 0) => named(colouring, setting ?? undefined, labels, left).groups.map(({ name }) => name);

test('names belong to their labels, and to the number of groups if clusters are merged', () => {
  const [north, south] = colouring.groups;
  let setting = renamed(undefined, 'one', north, 0, 'north')!;
  setting = renamed(setting, 'other', south, 0, 'south')!;
  expect(names(setting, 'one')).toEqual(['north', '1', '2', 'no cluster']);
  expect(names(setting, 'other')).toEqual(['0', 'south', '2', 'no cluster']);
  expect(names(setting, 'none')).toEqual(['0', '1', '2', 'no cluster']);
  const merged = { ...north, isMerged: true };
  setting = renamed(setting, 'one', merged, 2, 'two')!;
  expect(named({ ...colouring, groups: [merged] }, setting, 'one', 2).groups[0].name).toBe('two');
  expect(named({ ...colouring, groups: [merged] }, setting, 'one', 3).groups[0].name).toBe('0');
  // An empty name takes the given one away, and without names there is no setting.
  setting = renamed(setting, 'one', merged, 2, '')!;
  setting = renamed(setting, 'other', south, 0, '')!;
  expect(renamed(setting, 'one', north, 0, '')).toBe(null);
});

test('an address that somebody has changed by hand breaks nothing', () => {
  for (const setting of ['', '{', '7', 'null', '"text"', '{"one":7}', '{"one":{"0":7}}', '{"one":null}', '{"__proto__":{"0":"x"}}']) expect(names(setting, 'one'), setting).toEqual(['0', '1', '2', 'no cluster']);
});

test('hidden groups are kept by their numbers, in the shorter form, for one colouring', () => {
  const { groups } = colouring;
  for (const hidden of [[1], [3], [0, 1, 2], [0, 1, 2, 3]]) {
    const setting = hiddenAs(new Set(hidden), 'one 0 ', groups)!;
    expect([...hiddenIn(setting, 'one 0 ', groups)], setting).toEqual(hidden);
    expect(hiddenIn(setting, 'one 2 ', groups).size).toBe(0);
  }
  expect(hiddenAs(new Set([0, 1, 2]), 'one 0 ', groups)).toBe('one 0 !-1');
  expect(hiddenAs(new Set(), 'one 0 ', groups)).toBe(null);
});
