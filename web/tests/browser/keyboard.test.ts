// The viewer without a pointer, in Chromium, on a node of its own.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Node, openBrowser, openPage, points, reached, textOf } from './world.ts';

let browser: Browser;
let node: Node;

beforeAll(async () => {
  [browser, node] = await Promise.all([openBrowser(), new Node().start()]);
  await node.ask('/datasets:upload?name=points&id=name', points(900));
  await node.job('/clustering', { input: 'points', options: { clusters: 3, columns: ['x', 'y'] } });
});

afterAll(async () => {
  await browser?.close();
  await node?.end();
});

test('everything can be reached by the keyboard alone', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/data');
  await page.getByRole('link', { name: 'points', exact: true }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
  const reach = (wanted: RegExp) => reached(page, wanted);
  await reach(/^A Explore.*points$/s);
  await page.keyboard.press('Enter');
  await page.getByRole('application').waitFor();
  await reach(/^application/);
  await page.keyboard.press('+');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await page.locator('#picked').waitFor();
  await reach(/^BUTTON Cluster 0/);
  await page.keyboard.press('Enter');
  await page.locator('#chosen').waitFor();
  await reach(/^BUTTON Rename Cluster 0/);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('first');
  await page.keyboard.press('Enter');
  await reach(/^BUTTON Hide first/);
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('.groups li.off').count()).toBe(1);
  await page.keyboard.press('Enter');
  await reach(/^BUTTON Export CSV/);
  const saved = textOf(page.waitForEvent('download'));
  await page.keyboard.press('Enter');
  expect((await saved).trim().split('\n')).toHaveLength(301);
  // The replay of an annealing, and the number of clusters to keep.
  await reached(page, /^A Jobs$/, 600);
  await page.keyboard.press('Enter');
  await reach(/^A clustering-1/);
  await page.keyboard.press('Enter');
  await page.getByRole('slider', { name: 'Temperature' }).waitFor();
  await reach(/^INPUT Temperature/);
  await page.keyboard.press('End');
  const step = await page.getByRole('slider', { name: 'Temperature' }).getAttribute('aria-valuetext');
  await page.keyboard.press('Home');
  expect(await page.getByRole('slider', { name: 'Temperature' }).getAttribute('aria-valuetext')).not.toBe(step);
  await reach(/^BUTTON Keep/);
  // A service of the node opens.
  await reach(/^A Node$/);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Services' }).waitFor();
  await reach(/^BUTTON \/datasets/);
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Ports of /datasets' }).waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a file is brought in, a method runs on it, and a workflow runs, all by the keyboard', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/data');
  await page.getByRole('link', { name: 'points', exact: true }).waitFor();
  // With a listener, the page never opens the dialog of the system.
  page.on('filechooser', () => {});
  const press = async (wanted: RegExp) => {
    await reached(page, wanted);
    await page.keyboard.press('Enter');
  };
  const file = async (name: string, text: string) => {
    await reached(page, /^INPUT file/);
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Enter')]);
    await chooser.setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  };
  await file('typed.csv', points(300));
  await page.getByText('4 columns, names in the first row').waitFor();
  await press(/^BUTTON Bring it in/);
  await page.getByRole('heading', { name: 'typed', exact: true }).waitFor();
  await press(/^A Run a method$/);
  await reached(page, /^INPUT clusters/);
  await page.keyboard.type('3');
  await press(/^BUTTON Run$/);
  const detail = page.locator('section[aria-labelledby=job-detail]');
  await detail.locator('.state.done').waitFor();
  const jobs = (await node.ask('/clustering')).jobs;
  const { inputs, options } = jobs[await page.locator('#job-detail').innerText()];
  expect([inputs.points, options.clusters]).toEqual(['typed', 3]);
  await press(/^A Workflows$/);
  await page.locator('input[type=file]').waitFor({ state: 'attached' });
  await file('typed.toml', 'name = "typed"\noutput = "${read.rows} rows"\n\n[steps.read]\nservice = "/datasets"\noperation = "read"\nwith = { name = "typed", to = 2 }\n');
  await page.getByRole('img', { name: /^Graph of 1 step/ }).waitFor();
  await press(/^BUTTON Run$/);
  await page.getByText('300 rows').waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});
