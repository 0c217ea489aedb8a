// What people do with workflows in the viewer, in Chromium, on a node of their own.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { choose, Node, openBrowser, openPage, points, savePictures } from './world.ts';

let browser: Browser;
let node: Node;

beforeAll(async () => {
  [browser, node] = await Promise.all([openBrowser(), new Node(['--start', 'lehr/reports=/reports']).start()]);
  await node.ask('/datasets:upload?name=points&id=name', points(900));
});

afterAll(async () => {
  await browser?.close();
  await node?.end();
});

const GREETING = `name = "greeting"
output = "\${read.rows} rows"

[steps.read]
service = "/datasets"
operation = "read"
with = { name = "points", to = 2 }

[steps.again]
service = "/datasets"
operation = "read"
with = { name = "points", from = "\${read.from}", to = 3 }
`;

const SEVERAL = `name = "several"
output = "done"

[steps.end]
service = "/datasets"
operation = "read"
with = { name = "points", to = 1 }
after = ["a-cluster"]

[steps.a-cluster]
service = "/clustering"
operation = "run"
with = { input = "points", options = { clusters = "\${item}" } }
map = [2, 3]
job = true
`;

test('jobs of a workflow are opened in Explore, and steps stand in the order in which they run', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/workflows');
  await choose(page, 'several.toml', SEVERAL);
  await page.getByRole('img', { name: /^Graph of 2 steps/ }).waitFor();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect.poll(() => page.locator('.graph g.done').count(), { timeout: 20_000 }).toBe(2);
  expect(await page.locator('.step b').allInnerTexts()).toEqual(['a-cluster', 'end']);
  // On the time line, the first step begins at the left and takes nearly all of the run; the last one begins where it ends.
  const bars = await page.locator('.step .bar').evaluateAll((tracks) => tracks.map((track) => {
    const [{ left, width }, own] = [track.getBoundingClientRect(), track.querySelector('i')?.getBoundingClientRect()];
    return own && [(own.left - left) / width, (own.right - left) / width];
  }));
  expect(bars[0]![0]).toBeCloseTo(0, 1);
  expect(bars[0]![1]).toBeGreaterThan(0.5);
  if (bars[1]) expect(bars[1][0]).toBeGreaterThanOrEqual(bars[0]![1] - 0.02);
  await page.getByText('2 answers').click();
  await page.getByRole('link', { name: /^Explore clustering-\d+$/ }).nth(1).click();
  await page.getByRole('heading', { name: 'Clusters 3' }).waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});

const LATE = `name = "late"
output = "\${late.rows} rows"

[steps.early]
service = "/datasets"
operation = "read"
with = { name = "points", to = 1 }

[steps.late]
service = "/datasets"
operation = "read"
with = { name = "brought-later", to = 1 }
after = ["early"]
`;

test('a run whose step failed is resumed from this step, once the cause is gone', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/workflows');
  await choose(page, 'late.toml', LATE);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.steps .state.failed').waitFor();
  await page.getByRole('status').getByText(/^late-\d+ has failed\.$/).waitFor();
  expect(await page.locator('section[aria-labelledby=runs] tr.on td:nth-child(4)').innerText()).toMatch(/^\d\d:\d\d:\d\d$/);
  expect(await page.locator('.steps .state.done').count()).toBe(1);
  await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
  await node.ask('/datasets:upload?name=brought-later&id=name', points(7));
  await page.getByRole('button', { name: 'Run again from here (late)' }).click();
  await page.getByText('7 rows').waitFor();
  expect(await page.locator('.steps .state.done').count()).toBe(2);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a run is stopped and goes on, and a report that a service keeps is listed and opened', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/workflows');
  await node.ask('/datasets:upload?name=many', points(60_000));
  // A job of half a minute, so that it still runs after it was resumed.
  await choose(page, 'several.toml', SEVERAL.replace('"several"', '"long"').replace('"points", to', '"many", to').replace('input = "points"', 'input = "many"').replace('[2, 3]', '[300]'));
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.steps .state.running').waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await page.locator('.steps .state.running').waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('button', { name: 'Remove', exact: true }).waitFor();
  const job = await node.job('/clustering', { input: 'points', options: { clusters: 3, columns: ['x', 'y'] } });
  await node.ask('/reports:make', { name: 'three', job: await node.ask('/clustering:wait', { job }) });
  await page.getByRole('link', { name: 'Jobs', exact: true }).click();
  const made = page.locator('section[aria-labelledby=reports]');
  const opened = context.waitForEvent('page');
  await made.getByRole('link', { name: 'Report of three' }).click();
  const report = await opened;
  await report.getByRole('heading', { level: 1 }).waitFor();
  expect(await report.title()).toMatch(/3 clusters|points/);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a data set that a step has made is opened as a table, and in Explore if it can be drawn', async () => {
  await node.ask('/datasets:upload?name=texts&format=table', 'name,note\na,b\nc,d\n');
  const { page, context, wrongs } = await openPage(browser, node, '#/workflows');
  await choose(page, 'greeting.toml', GREETING);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('900 rows').waitFor();
  // Steps that fetch data from outside answer with the name of a data set. The test writes such answers into the document of the runs.
  const { runs, ...others } = await node.ask('/workflows');
  for (const { steps } of Object.values<any>(runs)) if (steps.read) [steps.read.items[0].output, steps.again.items[0].output] = [{ dataset: 'points' }, { dataset: 'texts' }];
  const seeds = Object.entries({ '/workflows': { ...others, runs }, '/datasets': await node.ask('/datasets') });
  const body = seeds.map(([service, state]) => `event: seed\ndata: ${JSON.stringify({ service, version: 1, state })}\n\n`).join('');
  await page.route('**/~/events?*', (route) => route.fulfill({ contentType: 'text/event-stream', body }));
  await page.reload();
  for (const at of [0, 1]) await page.getByText('1 answer').nth(at).click();
  await page.getByRole('link', { name: 'Data set texts' }).waitFor();
  expect(await page.locator('.steps').getByRole('link').allTextContents()).toEqual(['Data set points', 'Explore points', 'Data set texts']);
  await page.getByRole('link', { name: 'Explore points' }).click();
  await page.getByRole('application').waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a workflow file is reviewed, run, and its steps are shown', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/workflows');
  await choose(page, 'greeting.toml', 'name = ');
  await page.locator('.trouble').waitFor();
  await choose(page, 'greeting.toml', GREETING);
  await page.getByText('after read').waitFor();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('900 rows').waitFor();
  expect(await page.locator('.steps .state.done').count()).toBe(2);
  await page.getByRole('img', { name: /^Graph of 2 steps: .* after read, done/ }).waitFor();
  expect(await page.locator('.graph g.done').count()).toBe(2);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.locator('.graph').evaluate((one) => one.scrollWidth - one.clientWidth), 'two steps beside each other on a phone').toBe(0);
  expect(await savePictures(page)).toEqual(['graph.svg']);
  expect(wrongs).toEqual([]);
  await context.close();
});
