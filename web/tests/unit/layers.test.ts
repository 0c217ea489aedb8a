import { expect, test } from 'vitest';
import { layered, type Drawing } from '../../src/state/layers.ts';

const steps = (...texts: string[]) => texts.map((text) => {
  const [name, needs = ''] = text.split('<');
  return { name, needs: needs ? needs.split(',') : [] };
});
const layersOf = ({ steps }: Drawing) => Object.fromEntries(steps.map(({ name, layer }) => [name, layer]));

/// How many pairs of lines cross between neighbouring layers.
function crossings({ lines }: Drawing): number {
  const pieces = lines.flatMap(({ corners }) => corners.slice(1).map((to, at) => [corners[at], to]));
  let found = 0;
  for (const [a, b] of pieces) for (const [c, d] of pieces) if (a.layer === c.layer && a.row < c.row && b.row > d.row) found++;
  return found;
}

test('each step stands to the right of all that it needs, and no two steps share a place', () => {
  const drawing = layered(steps('read', 'watch<read', 'cluster<read', 'choose<watch,cluster', 'report<choose,read'));
  expect(layersOf(drawing)).toEqual({ read: 0, watch: 1, cluster: 1, choose: 2, report: 3 });
  expect(drawing.layers).toBe(4);
  // The line from `read` to `report` passes two layers, in places of its own.
  expect(drawing.lines.find(({ from, to }) => from === 'read' && to === 'report')!.corners.map(({ layer }) => layer)).toEqual([0, 1, 2, 3]);
  const taken = [...drawing.steps, ...drawing.lines.flatMap(({ corners }) => corners.slice(1, -1))].map(({ layer, row }) => `${layer} ${row}`);
  expect(new Set(taken).size).toBe(taken.length);
  expect(drawing.rows).toBe(3);
});

test('lines that need not cross do not', () => {
  expect(crossings(layered(steps('a', 'b', 'c', 'd<c', 'e<b', 'f<a')))).toBe(0);
  expect(crossings(layered(steps('a', 'b<a', 'c<a', 'd<a', 'e<d', 'f<c', 'g<b', 'h<e,f,g', 'i<a')))).toBe(0);
});

test('steps without needs, needs that are not there and a circle are drawn', () => {
  expect(layersOf(layered(steps('a', 'b')))).toEqual({ a: 0, b: 0 });
  expect(layered(steps('a<nothing')).lines).toEqual([]);
  const circle = layered(steps('a<b', 'b<a'));
  expect(circle.steps).toHaveLength(2);
  expect(layered([])).toEqual({ layers: 0, rows: 0, steps: [], lines: [] });
});
