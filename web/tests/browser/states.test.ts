// Each view in each of its states, at three widths and in both themes: nothing wider than the page, nothing that axe finds serious. With LEHR_PICTURES, a picture of
// each is kept in that folder.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe, choose, COMMAND, Node, openBrowser, openPage, points } from './world.ts';

let browser: Browser;
let node: Node;
let guarded: Node;
let joined: Node;
let folder: string;

const WORKFLOW = `name = "several"
output = "done"

[steps.cluster]
service = "/clustering"
operation = "run"
with = { input = "points", options = { clusters = "\${item}", columns = ["x", "y"] } }
map = [2, 3]
job = true

[steps.absent]
service = "/datasets"
operation = "read"
with = { name = "absent", to = 1 }
after = ["cluster"]
`;

/// A workflow that runs until it is stopped.
const LONG = `name = "long"

[steps.cluster]
service = "/clustering"
operation = "run"
with = { input = "many", options = { clusters = 300, columns = ["x", "y"] } }
job = true
`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lehr-states-'));
  const policy = join(folder, 'policy.json');
  writeFileSync(policy, JSON.stringify({ callers: { reader: { token: 'correct-horse-battery' } }, rules: [{ callers: ['reader'], paths: ['/'] }] }));
  const methods = ['lehr.mixture=/mixture', 'lehr.gtm=/gtm', 'lehr.distances=/distances', 'lehr.pairwise=/pairwise', 'lehr.embedding=/embedding', 'lehr/reports=/reports'];
  [browser, node] = await Promise.all([openBrowser(), new Node(methods.flatMap((method) => ['--start', method])).start()]);
  [guarded, joined] = await Promise.all([new Node(['--policy', policy]).start(), new Node(['--join', node.address]).start()]);
  await node.ask('/datasets:upload?name=points&id=name', points(900));
  await node.ask('/datasets:upload?name=few&id=name', points(90));
  await node.job('/clustering', { input: 'points', options: { clusters: 3, columns: ['x', 'y'] } });
  await node.job('/mixture', { input: 'few', options: { components: 3 } });
  await node.job('/gtm', { input: 'few' });
  const distances = await node.job('/distances', { input: 'few' });
  const { matrix, items } = (await node.ask('/distances')).jobs[distances].outputs;
  await node.job('/pairwise', { input: { matrix, items }, options: { clusters: 3 } });
  await node.job('/embedding', { input: { matrix, items } });
  const outlying = Array.from({ length: 120 }, (_, row) => `${row % 2 ? 5 : 0}.${row},${row % 3},${row % 2 ? 'CCO' : 'c1ccccc1O'}`);
  await node.ask('/datasets:upload?name=molecules&format=table', `x,y,smiles\n${outlying.join('\n')}\n60,60,CC\n`);
  await node.job('/clustering', { input: 'molecules', options: { auto: true, clusters: 2, columns: ['x', 'y'] } });
  const places = Array.from({ length: 200 }, (_, row) => `${(row % 4) * 20 - 100 + (row % 7)},${30 + (row % 5) + (row % 4)}`);
  await node.ask('/datasets:upload?name=places', `lon,lat\n${places.join('\n')}\n`);
  await node.job('/clustering', { input: 'places', options: { clusters: 4, lonlat: true } });
  await node.ask('/datasets:upload?name=many', points(60_000));
  await node.ask('/reports:make', { name: 'three', job: (await node.ask('/clustering')).jobs['clustering-1'] });
  await node.ask('/clustering:run', { input: 'absent' }).catch(() => {});
  writeFileSync(join(folder, 'points.csv'), points(300));
  const ran = spawnSync(COMMAND, ['cluster', join(folder, 'points.csv'), '--columns', 'x,y', '-k', '3', '--ranks', '2', '--trace', join(folder, 'trace.json'), '--out', join(folder, 'out'), '--quiet']);
  expect(ran.status, String(ran.stderr)).toBe(0);
});

afterAll(async () => {
  await browser?.close();
  await Promise.all([node?.end(), guarded?.end(), joined?.end()]);
  rmSync(folder, { recursive: true, force: true });
});

const EXPLORED = '#/explore?data=points&colour=job:/clustering%7Cclustering-1';

async function selected(page: Page): Promise<void> {
  await page.locator('.groups li').first().waitFor();
  await page.getByRole('button', { name: /^Cluster 0/ }).click();
  await page.locator('.chosen').waitFor();
}

/// Ends what runs, so that the next state has the machine.
async function cancelled(): Promise<void> {
  const { jobs } = await node.ask('/clustering');
  for (const [job, { state }] of Object.entries<any>(jobs)) if (/^(queued|running)$/.test(state)) await node.ask('/clustering:cancel', { job });
}

/// The states: the name, the address, what somebody does there, and what is done afterwards.
const STATES: [string, string, (page: Page) => Promise<void>, (() => Promise<void>)?][] = [
  ['data', '#/data?set=points', async () => {}],
  ['incoming', '#/data', async (page) => {
    await choose(page, 'shop.csv', `Customer,Total spend,Visits,Segment\n${Array.from({ length: 40 }, (_, row) => `C${row},"£${row * 7}.50",${row % 9},${row % 2 ? 'Trade' : 'Home'}`).join('\n')}\n`);
    await page.getByRole('button', { name: 'Bring it in' }).waitFor();
  }],
  ['wrong-file', '#/data', async (page) => {
    await choose(page, 'wrong.csv', `a,b\n${'1,2\n'.repeat(300)}3,x\n4,y\n`);
    await page.getByRole('button', { name: 'Bring it in' }).click();
    await page.locator('.trouble').first().waitFor();
  }],
  ['explore', EXPLORED, async (page) => page.locator('.groups li').first().waitFor()],
  ['explore-sure', '#/explore?data=points&colour=sure:job:/clustering%7Cclustering-1', async (page) => page.locator('.groups li').first().waitFor()],
  ['explore-selected', EXPLORED, selected],
  ['explore-compared', EXPLORED, async (page) => {
    await selected(page);
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByRole('button', { name: /^Cluster 1/ }).click();
    await page.getByRole('heading', { name: 'A and B' }).waitFor();
  }],
  ['explore-picked', EXPLORED, async (page) => {
    await page.locator('.groups li').first().waitFor();
    await page.getByRole('application').first().focus();
    await page.keyboard.press('Enter');
  }],
  ['explore-four', `${EXPLORED}&pictures=4`, async (page) => page.locator('.groups li').first().waitFor()],
  ['explore-three', '#/explore?data=points&colour=job:/clustering%7Cclustering-1&x=x&y=y&z=z', async (page) => page.locator('.groups li').first().waitFor()],
  ['explore-outliers', '#/explore?data=molecules&x=x&y=y&colour=job:/clustering%7Cclustering-2', async (page) => page.getByRole('heading', { name: /^Outliers/ }).waitFor()],
  ['explore-structures', '#/explore?data=molecules&x=x&y=y&colour=job:/clustering%7Cclustering-2', async (page) => {
    await page.getByRole('heading', { name: /^Outliers/ }).waitFor();
    await page.getByRole('application').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'As a table', exact: true }).click();
    await page.locator('.gallery svg').first().waitFor();
  }],
  ['explore-sphere', '#/explore?data=places&view=sphere&colour=job:/clustering%7Cclustering-3', async (page) => page.locator('.groups li').first().waitFor()],
  ['explore-map', '#/explore?data=gtm-1/places', async (page) => page.getByRole('application').waitFor()],
  ['explore-embedding', '#/explore?data=embedding-1/positions', async (page) => page.getByRole('application').waitFor()],
  ['explore-axes', '#/explore?data=points&view=axes2', async (page) => page.getByRole('application').waitFor()],
  ['jobs', '#/jobs', async (page) => page.locator('section[aria-labelledby=reports]').waitFor()],
  ['running', '#/jobs', async (page) => {
    const { job } = await node.ask('/clustering:run', { input: 'many', options: { clusters: 300, columns: ['x', 'y'] } });
    await page.goto(`${node.address}/~/#/jobs?service=/clustering&job=${job}`);
    await page.locator('section[aria-labelledby=job-detail] progress').waitFor();
    await page.getByRole('img').first().waitFor();
  }, cancelled],
  ['new-job', '#/jobs?new=1&data=points', async (page) => page.getByRole('button', { name: /^Run/ }).first().waitFor()],
  ['clustering', '#/jobs?service=/clustering&job=clustering-1', async (page) => page.getByRole('img').first().waitFor()],
  ['mixture', '#/jobs?service=/mixture&job=mixture-1', async (page) => page.getByRole('img').first().waitFor()],
  ['gtm', '#/jobs?service=/gtm&job=gtm-1', async (page) => page.getByRole('img').first().waitFor()],
  ['pairwise', '#/jobs?service=/pairwise&job=pairwise-1', async (page) => page.getByRole('img').first().waitFor()],
  ['embedding', '#/jobs?service=/embedding&job=embedding-1', async (page) => page.getByRole('img').first().waitFor()],
  ['workflows', '#/workflows', async (page) => {
    await choose(page, 'several.toml', WORKFLOW);
    await page.getByRole('img', { name: /^Graph of 2 steps/ }).waitFor();
  }],
  ['workflow-failed', '#/workflows', async (page) => {
    await choose(page, 'several.toml', WORKFLOW);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('.steps .state.failed').waitFor();
  }],
  ['workflow-running', '#/workflows', async (page) => {
    await choose(page, 'long.toml', LONG);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('.steps .state.running').waitFor();
  }, cancelled],
  ['node', '#/node', async (page) => {
    await page.getByRole('button', { name: '/datasets', exact: true }).click();
    await page.getByLabel('Open a trace').setInputFiles(join(folder, 'trace.json'));
    const line = page.getByRole('img', { name: /^2 ranks/ });
    await line.click({ position: { x: 200, y: 10 } });
    await page.locator('section[aria-labelledby=ranks] li').first().waitFor();
  }],
];

for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [390, 1280, 2560]) {
    test(`all states at ${width} px, ${colorScheme}: nothing is wider than the page, and axe finds nothing serious`, async () => {
      const { page, context, wrongs } = await openPage(browser, node, '', { colorScheme, viewport: { width, height: 900 } });
      page.setDefaultTimeout(20_000);
      const look = async (name: string, page: Page) => {
        await page.waitForTimeout(150);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(wide, `${name} is wider than the page`).toBeLessThanOrEqual(0);
        expect(await axe(page), name).toEqual([]);
        if (process.env.LEHR_PICTURES) await page.screenshot({ path: join(process.env.LEHR_PICTURES, `${name}-${width}-${colorScheme}.png`), fullPage: true });
      };
      for (const [name, hash, act, after] of STATES) {
        await page.goto('about:blank');
        await page.goto(`${node.address}/~/${hash}`);
        await page.locator('main .card, main .empty').first().waitFor();
        await act(page).catch(async (error) => {
          // A job that goes on would delay the next states.
          await after?.();
          throw new Error(`${name}: ${error.message}`);
        });
        await look(name, page);
        await after?.();
      }
      expect(wrongs).toEqual([]);
      await context.close();
      for (const [name, one, hash] of [['token', guarded, ''], ['joined', joined, '#/node']] as const) {
        const { page, context, wrongs } = await openPage(browser, one, hash, { colorScheme, viewport: { width, height: 900 } });
        await (name === 'token' ? page.getByRole('dialog') : page.getByRole('heading', { name: 'Joined nodes' })).waitFor();
        await look(name, page);
        expect(wrongs, name).toEqual([]);
        await context.close();
      }
    });
  }
}
