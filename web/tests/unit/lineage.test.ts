import './page.ts';
import { expect, test } from 'vitest';
import type { Column } from '../../src/api/columns.ts';
import type { Dataset, Job } from '../../src/state/node.ts';

const { areRelated, exploring, lineage } = await import('../../src/state/lineage.ts');
const { joined } = await import('../../src/views/explore.tsx');

let content = 0;
const dataset = (rows: number, columns: string): Dataset => ({
  rows, columns: columns.split(' ').map((name) => ({ name, kind: /^(id|smiles)$/.test(name) ? 'text' : 'number' })), bytes: 1, checksum: '', source: {}, content: ++content,
});
const job = (inputs: Record<string, string>, outputs: Record<string, string>): Job => ({ state: 'done', options: {}, inputs, outputs, output: '', times: { queued_unix_ms: 0 }, number: 0 });

function world() {
  const datasets: Record<string, Dataset> = {
    compounds: dataset(4, 'id smiles'), 'd/items': dataset(4, 'id smiles'), 'd/matrix': dataset(6, 'dissimilarity'), 'p/labels': dataset(4, 'id cluster'), 'q/labels': dataset(4, 'id cluster'),
    'p/history': dataset(4, 'temperature clusters'), 'e/positions': dataset(4, 'id x y stress'),
  };
  const compared = job({ items: 'compounds' }, { items: 'd/items', matrix: 'd/matrix' });
  const clustered = job({ items: 'd/items', matrix: 'd/matrix' }, { labels: 'p/labels', history: 'p/history' });
  const bare = job({ matrix: 'd/matrix' }, { labels: 'q/labels' });
  const mapped = job({ matrix: 'd/matrix' }, { positions: 'e/positions' });
  const makers = new Map([compared, clustered, bare, mapped].flatMap((one) => Object.values(one.outputs).map((name) => [name, one] as const)));
  return { known: { datasets, makers, maps: ['e/positions'] }, clustered, bare };
}

test('a map has the rows of the items, whose rows come from the table', () => {
  const { known } = world();
  expect(lineage(known, 'e/positions')).toEqual(['e/positions', 'd/items', 'compounds']);
  expect(lineage(known, 'p/labels')).toEqual(['p/labels', 'd/items', 'compounds']);
  expect(areRelated(known, 'e/positions', 'q/labels')).toBe(true);
  // As many rows are not the same rows: pairs, steps, and a table that has replaced the input.
  expect(lineage(known, 'p/history')).toEqual(['p/history']);
  expect(lineage(known, 'd/matrix')).toEqual(['d/matrix']);
  known.datasets.compounds.content = 100;
  expect(lineage(known, 'e/positions')).toEqual(['e/positions', 'd/items']);
});

test('maps of one matrix are related even if nothing tells its items', () => {
  const { known } = world();
  known.makers.delete('d/matrix');
  known.makers.delete('d/items');
  expect(lineage(known, 'e/positions')).toEqual(['e/positions']);
  expect(areRelated(known, 'e/positions', 'q/labels')).toBe(true);
});

test('Explore opens what can be drawn of a job: its input, or else a map of its items, or else the table of its items', () => {
  const { known, clustered, bare } = world();
  const data = (of: Job) => exploring(known, '/p', 'p', of);
  expect(data(clustered)).toEqual({ data: 'e/positions', colour: 'job:/p|p' });
  expect(data(bare)).toEqual({ data: 'e/positions', colour: 'job:/p|p' });
  expect(data({ ...clustered, state: 'failed' })).toBe(null);
  known.datasets['d/items'].columns.push({ name: 'a', kind: 'number' }, { name: 'b', kind: 'number' });
  expect(data(clustered)!.data).toBe('d/items');
  known.datasets['d/items'].columns.pop();
  known.maps = [];
  expect(data(clustered)).toBe(null);
  known.datasets.compounds.columns.push({ name: 'a', kind: 'number' }, { name: 'b', kind: 'number' });
  expect(data(clustered)!.data).toBe('compounds');
});

test('columns of all parts are kept once, under different names', () => {
  const part = (name: string, id: string | undefined, columns: Record<string, number[] | string[]>) => ({
    name, dataset: { ...dataset(2, 'id'), id },
    columns: { rows: 2, columns: Object.entries(columns).map(([name, values]): Column => (typeof values[0] === 'string' ? { name, kind: 'text', values: values as string[] } : { name, kind: 'number', values: Float64Array.from(values as number[]) })) },
  });
  const { columns } = joined([
    part('map', 'id', { id: ['a', 'b'], x: [1, 2] }), part('items', 'id', { id: ['a', 'b'], smiles: ['C', 'N'], mass: [3, NaN] }), part('table', 'key', { key: ['a', 'b'], smiles: ['C', 'N'], mass: [3, NaN], x: [7, 8] }),
  ]);
  expect(columns.map(({ name }) => name)).toEqual(['id', 'x', 'smiles', 'mass', 'x of table']);
  expect([...columns[4].values]).toEqual([7, 8]);
  // Rows without ids in the map get those of the table.
  expect(joined([part('map', undefined, { x: [1, 2] }), part('table', 'key', { key: ['a', 'b'] })]).columns.map(({ name }) => name)).toEqual(['x', 'key']);
});
