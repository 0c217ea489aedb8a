// What people do with workflows in the viewer, in Chromium, on a node of their own.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { choose, Node, openBrowser, openPage, points, savePictures } from './world.ts';

let browser: Browser;
let node: Node;

beforeAll(async () => {
  [browser, node] = await Promise.all([openBrowser(), new Node().start()]);
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
  await page.getByText('2 answers').click();
  await page.getByRole('link', { name: /^Explore clustering-\d+$/ }).nth(1).click();
  await page.getByRole('heading', { name: 'Clusters 3' }).waitFor();
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
  expect(await savePictures(page)).toEqual(['graph.svg']);
  expect(wrongs).toEqual([]);
  await context.close();
});
