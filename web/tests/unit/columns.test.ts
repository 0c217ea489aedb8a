import { float64, tableFromArrays, tableToIPC, uint64, utf8 } from '@uwdata/flechette';
import { afterEach, expect, test, vi } from 'vitest';
import { readColumns } from '../../src/api/columns.ts';
import { stepOf } from '../../src/views/explore.tsx';

const ROWS = 25;
/// How many rows the node puts into a piece.
const PIECE = 10;
const BEYOND = 2 ** 40;

let asked: string[] = [];

/// A node with a data set whose rows tell their number.
function answering(rows = ROWS, most = PIECE): void {
  asked = [];
  vi.stubGlobal('fetch', async (address: URL) => {
    const search = address.searchParams;
    const number = (name: string, otherwise: number) => Number(search.get(name) ?? otherwise);
    const [from, every] = [number('from', 0), number('every', 1)];
    const to = Math.min(number('to', rows), from + most * every);
    asked.push(`${from}-${search.get('to') ?? ''}`);
    const places = Array.from({ length: Math.ceil((to - from) / every) }, (_, at) => from + at * every);
    const arrays = { x: places.map((row) => row / 2), n: places.map((row) => BigInt(BEYOND + row)), name: places.map((row) => `row ${row}`) };
    const table = tableFromArrays(arrays, { types: { x: float64(), n: uint64(), name: utf8() } });
    return new Response(new Uint8Array(tableToIPC(table, { format: 'stream' })!), { headers: { 'lehr-rows': `${from}-${to}/${rows}` } });
  });
}

afterEach(() => vi.unstubAllGlobals());

const read = (part = {}) => readColumns('/datasets', 'many', () => {}, new AbortController().signal, part);

test('pieces are asked for at once, and rows stand where they belong', async () => {
  answering();
  const heard: number[] = [];
  const { rows, columns } = await readColumns('/datasets', 'many', (done) => heard.push(done), new AbortController().signal);
  expect(asked).toEqual(['0-', '10-20', '20-25']);
  expect([rows, ...heard]).toEqual([ROWS, 10, 20, 25]);
  const places = Array.from({ length: ROWS }, (_, row) => row);
  expect(columns.map(({ name, kind }) => [name, kind])).toEqual([['x', 'number'], ['n', 'count'], ['name', 'text']]);
  // Whole numbers of 64 bits too.
  expect(columns.map(({ values }) => [...values])).toEqual([places.map((row) => row / 2), places.map((row) => BEYOND + row), places.map((row) => `row ${row}`)]);
});

test('a sample has every so-many-th row', async () => {
  answering(1000);
  const { rows, columns } = await read({ every: 40 });
  expect(asked).toEqual(['0-', '400-800', '800-1000']);
  expect(rows).toBe(25);
  expect([...columns[0].values]).toEqual(Array.from({ length: 25 }, (_, at) => 20 * at));
});

test('a piece that is shorter than the first one is no gap', async () => {
  answering();
  const whole = globalThis.fetch as unknown as (address: URL) => Promise<Response>;
  let calls = 0;
  vi.stubGlobal('fetch', async (address: URL) => {
    if (++calls === 2) address.searchParams.set('to', '13');
    return whole(address);
  });
  const { columns } = await read();
  expect([...columns[0].values]).toEqual(Array.from({ length: ROWS }, (_, row) => row / 2));
  expect(asked).toEqual(['0-', '10-13', '20-25', '13-20']);
});

test('a data set that changes meanwhile is no mixture of two', async () => {
  answering();
  const before = globalThis.fetch;
  vi.stubGlobal('fetch', async (address: URL) => {
    if (asked.length > 0) answering(ROWS + 1);
    else return (before as any)(address);
    return (globalThis.fetch as any)(address);
  });
  await expect(read()).rejects.toThrow('many has changed while it was read: load it again.');
});

test('a data set without rows has none', async () => {
  answering(0);
  expect((await read()).rows).toBe(0);
});

test('the step of a sample is a prime number, of few rows too, and leaves at most 60,000', () => {
  for (const [rows, step] of [[120_001, 11], [1_000_000, 17], [1_200_000, 23], [1_450_000, 29], [10_000_000, 167]]) expect(stepOf(rows), String(rows)).toBe(step);
});
