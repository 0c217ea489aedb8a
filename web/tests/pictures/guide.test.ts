// The pictures of the guide and of the README, drawn anew: data of `datasets/`, the command that LEHR_COMMAND names. They are no test: `make dashboard-pictures` writes them, and
// somebody looks at the difference.

import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Node, openBrowser, openPage } from '../browser/world.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const OUT = join(ROOT, 'docs/guide/dashboard');
const VIEWPORT = { width: 1120, height: 700 };
/// A page of documentation is read on phones too.
const BYTES_MAX = 240_000;

let browser: Browser;
let node: Node;

beforeAll(async () => {
  [browser, node] = await Promise.all([openBrowser(), new Node().start()]);
});

afterAll(async () => {
  await browser?.close();
  await node?.end();
});

async function upload(name: string, query: string, file: string): Promise<void> {
  const body = new Uint8Array(readFileSync(join(ROOT, 'datasets', file)));
  const answer = await fetch(`${node.address}/datasets:upload?name=${name}&${query}`, { method: 'POST', headers: { 'content-type': 'text/csv' }, body });
  expect(answer.status, await answer.text()).toBe(200);
}

async function keep(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  // What has just been told is gone.
  await page.locator('.notice:not(.shown)').waitFor({ state: 'attached', timeout: 10_000 });
  await page.waitForTimeout(400);
  const path = join(OUT, `${name}.png`);
  await page.screenshot({ path });
  expect(statSync(path).size, name).toBeLessThan(BYTES_MAX);
}

test('the pictures of the guide', async () => {
  await upload('penguins', 'format=table&id=Individual%20ID', 'penguins/penguins.csv');
  await upload('blocks', 'columns=lon,lat&weights=pop', 'census/blocks_nv_ut_wv_2020.csv.gz');
  const penguins = await node.job('/clustering', { input: 'penguins', options: { auto: true } });
  const blocks = await node.job('/clustering', { input: 'blocks', options: { clusters: 20, lonlat: true } });
  const light = await openPage(browser, node, '', { viewport: VIEWPORT });
  const { page } = light;
  await page.locator('input[type=file]').first().setInputFiles(join(ROOT, 'datasets/penguins/penguins.csv'));
  await page.getByText('17 columns').waitFor();
  await page.getByRole('textbox', { name: 'Name' }).fill('penguins-2');
  await keep(page, 'data');
  const settings = new URLSearchParams({ data: 'penguins', x: 'Culmen Length (mm)', y: 'Flipper Length (mm)', colour: `job:/clustering|${penguins}` });
  await page.goto(`${node.address}/~/#/explore?${settings}`);
  await page.getByRole('heading', { name: 'Clusters 3' }).waitFor();
  await keep(page, 'explore');
  await page.setViewportSize({ width: 1280, height: 960 });
  await page.getByLabel('Pictures').selectOption('4');
  await expect.poll(() => page.getByRole('application').count()).toBe(4);
  const box = (await page.getByRole('application').first().boundingBox())!;
  await page.getByRole('application').first().focus();
  await page.keyboard.press('b');
  await page.mouse.move(box.x + 0.05 * box.width, box.y + 0.95 * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.45 * box.width, box.y + 0.4 * box.height, { steps: 4 });
  await page.mouse.up();
  await page.locator('#chosen').waitFor();
  await keep(page, 'pictures');
  await page.setViewportSize(VIEWPORT);
  const nine = await node.job('/clustering', { input: 'penguins', options: { auto: true, clusters: 9 } });
  settings.set('colour', `sure:job:/clustering|${nine}`);
  await page.goto(`${node.address}/~/#/explore?${settings}`);
  // Without the rows that were selected.
  await page.reload();
  await page.getByText('0.5 or less, unsure').waitFor();
  await keep(page, 'sure');
  await page.goto(`${node.address}/~/#/explore?data=blocks&colour=${encodeURIComponent(`job:/clustering|${blocks}`)}`);
  await page.getByRole('heading', { name: 'Clusters 20' }).waitFor();
  await keep(page, 'sphere');
  await light.context.close();
  const dark = await openPage(browser, node, `#/jobs?service=/clustering&job=${penguins}`, { viewport: VIEWPORT, colorScheme: 'dark' });
  await dark.page.getByRole('slider', { name: 'Temperature' }).waitFor();
  await keep(dark.page, 'job');
  await dark.context.close();
  expect([...light.wrongs, ...dark.wrongs]).toEqual([]);
});
