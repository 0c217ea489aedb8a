import { expect, test } from 'vitest';
import { EventReader, type Told } from '../../src/api/events.ts';
import { complaint, fields, type Description, type Schema } from '../../src/api/schema.ts';
import { byColumn, byLabels, NO_CLUSTER } from '../../src/state/clusters.ts';
import { documentOf, heardOf, told, type Jobs } from '../../src/state/node.ts';
import { read, written } from '../../src/state/route.ts';
import { options } from '../../src/views/form.tsx';

test('events are read however they are cut', () => {
  const text = ': here\n\nevent: seed\nid: 1-2\ndata: {"service":"/a","version":2,"state":{}}\n\nevent: change\ndata: {"service":"/a","operation":"x"}\n\nevent: gap\ndata: {"missed":3}\n\n';
  for (const size of [1, 2, 7, 1000]) {
    const heard: Told[] = [];
    const reader = new EventReader((told) => heard.push(told));
    for (let at = 0; at < text.length; at += size) reader.feed(text.slice(at, at + size));
    expect(heard.map(({ kind, service }) => [kind, service])).toEqual([['seed', '/a'], ['change', '/a'], ['gap', undefined]]);
  }
});

const ALL: Description = { paths: {}, components: { schemas: { Kind: { enum: ['a', 'b'], type: 'string', description: 'Kinds\n\n- `a`: The first.\n- `b`: The second.' } } } };
const OPTIONS: Schema = {
  properties: {
    cooling: { type: 'number', minimum: 0.5, maximum: 0.999, default: 0.95, description: 'Factor' },
    clusters: { type: ['integer', 'null'], minimum: 1, default: null, 'x-short': 'k', 'x-default': 'chosen by the data' },
    kind: { anyOf: [{ $ref: '#/components/schemas/Kind' }, { type: 'null' }], default: null },
    stop: { type: ['number', 'null'], exclusiveMinimum: 0 },
    lonlat: { type: 'boolean', default: false },
    bits: { deprecated: true, enum: [32, 64] },
  },
};

test('a form has the fields that a method declares, the common ones first', () => {
  const made = fields(OPTIONS, ALL);
  expect(made.map((one) => [one.name, one.kind])).toEqual([['clusters', 'whole'], ['lonlat', 'yes'], ['cooling', 'number'], ['kind', 'choice'], ['stop', 'number']]);
  expect(made[0].otherwise).toBe('chosen by the data');
  expect(made[3].choices).toEqual([{ value: 'a', about: 'The first.' }, { value: 'b', about: 'The second.' }]);
});

test('ranges are checked as one types', () => {
  const [clusters, , cooling, , stop] = fields(OPTIONS, ALL);
  expect(complaint(cooling, '')).toBeNull();
  expect(complaint(cooling, '0.5')).toBeNull();
  expect(complaint(cooling, '0.2')).toBe('Expected a number from 0.5 to 0.999, found "0.2".');
  expect(complaint(clusters, '2.5')).toBe('Expected a whole number of at least 1, found "2.5".');
  expect(complaint(clusters, '1e3')).not.toBeNull();
  expect(complaint(clusters, '12')).toBeNull();
  expect(complaint(stop, '0')).toBe('Expected a number above 0, found "0".');
  expect(complaint(stop, '1e-9')).toBeNull();
  expect(complaint(stop, 'x')).not.toBeNull();
});

test('only what differs from the defaults is sent', () => {
  const made = fields(OPTIONS, ALL);
  expect(options(made, { cooling: '0.95', clusters: '20', kind: '', lonlat: 'yes', stop: '' })).toEqual({ clusters: 20, lonlat: true });
});

const labels = (clusters: number[]) => ({ rows: clusters.length, columns: [{ name: 'cluster', kind: 'count' as const, values: Float64Array.from(clusters) }] });

test('labels become groups in the order of their numbers, rows of no cluster at the end', () => {
  const made = byLabels('clusters', labels([2, 0, -1, 2]));
  expect(made.groups).toEqual([{ name: '0', number: 0, rows: 1 }, { name: '2', number: 2, rows: 2 }, { name: NO_CLUSTER, number: -1, rows: 1 }]);
  expect([...made.groupOf]).toEqual([1, 0, 2, 1]);
  expect(byLabels('one', labels([0, 0])).groups).toHaveLength(1);
  expect(byLabels('many', labels(Array.from({ length: 80 }, (_, at) => at))).groups).toHaveLength(80);
  expect(() => byLabels('none', { rows: 1, columns: [] })).toThrow(/no column/);
});

test('a column of few values makes groups, one of many numbers a scale', () => {
  const few = byColumn({ name: 'kind', kind: 'text', values: ['b', 'a', 'b', ''] });
  expect(few.groups.map((group) => [group.name, group.rows])).toEqual([['b', 2], ['a', 1], ['no value', 1]]);
  expect([...few.groupOf]).toEqual([0, 1, 0, 2]);
  const many = byColumn({ name: 'x', kind: 'number', values: Float64Array.from([NaN, ...Array.from({ length: 20 }, (_, at) => at)]) });
  expect(many.groups).toEqual([]);
  expect(many.scale!.place[0]).toBeNaN();
  expect([many.scale!.place[1], many.scale!.place[20]]).toEqual([0, 1]);
  const crowded = byColumn({ name: 'people', kind: 'count', values: Float64Array.from({ length: 1000 }, (_, at) => (at === 999 ? 100_000 : at % 50)) });
  expect(crowded.scale!.isLog).toBe(true);
  expect([crowded.scale!.place[0], crowded.scale!.place[999]]).toEqual([0, 1]);
  expect(crowded.scale!.place[49] - crowded.scale!.place[5]).toBeGreaterThan(0.1);
  const names = Array.from({ length: 3000 }, (_, at) => `n${at}`);
  expect(() => byColumn({ name: 'id', kind: 'text', values: names })).toThrow(/more than 2000/);
});

test('an address says a view and its settings, and reads as it was written', () => {
  const settings = { data: 'a/b', colour: 'job:/clustering|clustering-1', x: '<img src=x onerror=alert(1)>' };
  expect(read(written('explore', settings))).toEqual({ view: 'explore', settings });
  expect(read('')).toEqual({ view: 'data', settings: {} });
  expect(read('#/nonsense?x=1').view).toBe('data');
});

test('the figures of a long job are thinned, and their last one is always kept', () => {
  documentOf<Jobs>('/method').value = { datasets: '/datasets', jobs: { one: {} as Jobs['jobs'][string] } };
  const report = (sweeps: number) => told({ kind: 'change', service: '/method', data: { operation: 'progressed', body: { job: 'one', progress: { fraction: 0, stage: '', figures: { sweeps } } } } });
  for (let sweeps = 0; sweeps < 5000; sweeps++) report(sweeps);
  const heard = heardOf('/method', 'one').value.map(({ figures }) => figures.sweeps);
  expect(heard.length).toBeGreaterThan(1000);
  expect(heard.length).toBeLessThanOrEqual(2000);
  expect([heard[0], heard[heard.length - 1]]).toEqual([0, 4999]);
  expect(heard).toEqual([...heard].sort((a, b) => a - b));
});
