// A whole job by the types that openapi-typescript has generated, and fetch.
//
// Usage: job.js URL TABLE

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import createClient from 'openapi-fetch';

import type { paths } from './schema.d.ts';

const [url, table] = process.argv.slice(2);
assert(url && table);
const client = createClient<paths>({ baseUrl: url });

/** What was answered; a fault ends the program. */
function told<T>(answered: { data?: T; error?: unknown }): T {
  assert(answered.error === undefined && answered.data !== undefined, JSON.stringify(answered.error));
  return answered.data;
}

const name = 'typescript-client';
const file = new Blob([readFileSync(table)], { type: 'text/csv' });
const uploaded = told(
  await client.POST('/datasets:upload', {
    body: { file: '', name, id: 'site' },
    bodySerializer: () => {
      const form = new FormData();
      form.set('name', name);
      form.set('id', 'site');
      form.set('file', file, 'sites.csv');
      return form;
    },
  }),
);
assert.equal(uploaded.rows, 60);
const read = told(await client.GET('/datasets:read', { params: { query: { name, to: 3 } } }));
assert.deepEqual(read.json?.map((row) => row['site']), ['s0', 's1', 's2']);

const { job } = told(await client.POST('/clustering:run', { body: { input: name, options: { clusters: 3 } } }));
const ended = told(await client.POST('/clustering:wait', { body: { job } }));
assert.equal(ended.state, 'done');
const labels = told(await client.POST('/clustering:result', { body: { job, table: 'labels' } })).json ?? [];
const clusters = labels.map((row) => row['cluster']);
assert.equal(new Set(clusters).size, 3);
assert(clusters.every((cluster, row) => cluster === clusters[row % 3]));

const predicted = told(await client.POST('/clustering:predict', { body: { job, dataset: name } })).json ?? [];
assert.deepEqual(
  predicted.map((row) => row['cluster']),
  clusters,
);
const refused = await client.POST('/clustering:wait', { body: { job: 'nothing' } });
assert.equal(refused.error?.code, 'unknown_entry');
console.log(`${labels.length} labels, ${predicted.length} predicted`);
