// The page to try Lehr: the engine in Chromium gives the bytes of the command, from a folder that a server sends and from a disk.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe, COMMAND, openBrowser, points } from '../browser/world.ts';

const MADE = fileURLToPath(new URL('../../../target/try', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'lehr-try-'));
let browser: Browser;
let server: Server;
let address = '';

const KIND: Record<string, string> = { '.html': 'text/html; charset=utf-8', '.gz': 'application/octet-stream' };

beforeAll(async () => {
  browser = await openBrowser();
  server = createServer((request, response) => {
    const name = request.url === '/' ? '/index.html' : request.url!;
    try {
      const content = readFileSync(join(MADE, name));
      response.writeHead(200, { 'content-type': KIND[extname(name)] ?? 'text/plain' }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  address = `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
});

afterAll(async () => {
  await browser?.close();
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/// The page, and everything that it should not do: requests elsewhere, broken rules of its policy, errors.
async function open(url = address, options: BrowserContextOptions = {}): Promise<{ page: Page; wrongs: string[]; close: () => Promise<void> }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const wrongs: string[] = [];
  context.on('request', (request) => {
    if (!request.url().startsWith(url.startsWith('file:') ? 'file:' : address) && !/^(blob|data|about):/.test(request.url())) wrongs.push(`asked ${request.url()}`);
  });
  page.on('pageerror', (error) => wrongs.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && wrongs.push(message.text()));
  await page.goto(url);
  return { page, wrongs, close: () => context.close() };
}

async function saved(page: Page, name: string): Promise<Buffer> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: new RegExp(`^${name.replace('.', '\\.')}`) }).click()]);
  return readFileSync(await download.path());
}

function lehr(...line: string[]): void {
  execFileSync(COMMAND, [...line, '--quiet'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}

const csv = (name: string, content: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });
const chooser = (page: Page) => page.getByLabel('File of a table');

test('the census has the bytes of the command', async () => {
  const { page, wrongs, close } = await open();
  const began = performance.now();
  await page.getByRole('button', { name: /census blocks/ }).click();
  await page.getByRole('heading', { name: /201,174 rows in 20 clusters/ }).waitFor();
  await page.frameLocator('iframe').getByRole('heading', { level: 1 }).waitFor();
  console.log(`try: the census after ${((performance.now() - began) / 1000).toFixed(1)} s in the browser`);
  lehr('cluster', join(MADE, 'census.csv.gz'), '--columns', 'lon,lat', '--lonlat', '--weights', 'pop', '-k', '20', '--out', 'census');
  for (const name of ['labels.csv', 'centers.csv', 'outliers.csv', 'model.json']) {
    expect((await saved(page, name)).equals(readFileSync(join(folder, 'census', name))), name).toBe(true);
  }
  expect(wrongs).toEqual([]);
  await close();
});

test('an ordinary table from a disk: prepared, clustered, its number changed on the slider', async () => {
  const { page, wrongs, close } = await open(`file://${MADE}/index.html`);
  await page.getByRole('button', { name: /Penguins/ }).click();
  await page.getByRole('heading', { name: 'penguins.csv' }).waitFor();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('heading', { name: /224 rows in 3 clusters/ }).waitFor();
  const table = fileURLToPath(new URL('../../../datasets/penguins/penguins.csv', import.meta.url));
  lehr('cluster', table, '--auto', '--out', 'penguins');
  expect((await saved(page, 'labels.csv')).equals(readFileSync(join(folder, 'penguins', 'labels.csv')))).toBe(true);
  await expect.poll(() => page.getByText('has no value in any column used').count()).toBe(1);
  // The report's player offers to keep the number that it shows.
  const report = page.frameLocator('iframe');
  await report.getByRole('button', { name: /^Keep/ }).click();
  await page.getByRole('heading', { name: /224 rows in/ }).waitFor();
  // The model labels new rows with the command.
  writeFileSync(join(folder, 'model.json'), await saved(page, 'model.json'));
  execFileSync(COMMAND, ['predict', 'model.json', table, '--out', 'again.csv'], { cwd: folder, stdio: 'ignore' });
  expect(readFileSync(join(folder, 'again.csv'), 'utf8')).toMatch(/^id,cluster/);
  expect(wrongs).toEqual([]);
  await close();
});

test('mixtures and maps', async () => {
  const { page, wrongs, close } = await open();
  writeFileSync(join(folder, 'points.csv'), points(300));
  await chooser(page).setInputFiles(join(folder, 'points.csv'));
  for (const [method, heading, files] of [['mixture', /300 rows in \d+ components/, ['labels.csv', 'components.csv']], ['gtm', /300 rows on a map/, ['places.csv', 'nodes.csv']]] as const) {
    await page.getByRole('combobox', { name: /^Find/ }).selectOption(method);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('heading', { name: heading }).waitFor();
    for (const name of files) expect((await saved(page, name)).length).toBeGreaterThan(100);
  }
  expect(wrongs).toEqual([]);
  await close();
});

test('maps by dissimilarities have the bytes of the command', async () => {
  const { page, wrongs, close } = await open();
  const cases = [
    { table: 'penguins', button: /Penguins/, items: 224, metric: 'gower', scale: '', line: [] },
    { table: 'wine', button: /Wines/, items: 178, metric: 'euclidean', scale: 'std', line: ['--standardize'] },
  ];
  for (const { table, button, items, metric, scale, line } of cases) {
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('heading', { name: `${table}.csv` }).waitFor();
    await page.getByRole('combobox', { name: /^Find/ }).selectOption('embed');
    await page.getByRole('combobox', { name: /^Dissimilarity/ }).selectOption(metric);
    if (scale) await page.getByRole('combobox', { name: /^Scale/ }).selectOption(scale);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('heading', { name: `${items} items in 2 dimensions` }).first().waitFor();
    const file = fileURLToPath(new URL(`../../../datasets/${table}/${table}.csv`, import.meta.url));
    lehr('distances', file, '--metric', metric, ...line, '--out', `distances-${table}`);
    lehr('embed', `distances-${table}`, '--out', `map-${table}`);
    for (const name of ['positions.csv', 'positions.npy']) {
      expect((await saved(page, name)).equals(readFileSync(join(folder, `map-${table}`, name))), `${table}: ${name}`).toBe(true);
    }
    await page.frameLocator('iframe').getByRole('heading', { level: 1 }).waitFor();
  }
  expect(wrongs).toEqual([]);
  await close();
});

test('wrong files say what is wrong', async () => {
  const { page, wrongs, close } = await open();
  await chooser(page).setInputFiles(csv('cut.csv.gz', '\x1f\x8b\x08'));
  await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/cut\.csv\.gz/);
  await chooser(page).setInputFiles(csv('words.csv', 'a,b\nx,y\nz,w\nv,u\n'));
  await page.getByRole('heading', { name: 'words.csv' }).waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/words\.csv/);
  // Larger than a browser can hold: it is refused before it is read.
  await page.evaluate(() => {
    const huge = new File(['x'], 'huge.csv');
    Object.defineProperty(huge, 'size', { value: 3e9 });
    const transfer = new DataTransfer();
    const event = new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer });
    Object.defineProperty(event, 'dataTransfer', { value: { files: [huge] } });
    document.querySelector('.drop')!.dispatchEvent(event);
  });
  await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/huge\.csv has 3\.0 GB/);
  expect(wrongs).toEqual([]);
  await close();
});

test('100,000 rows, cancelled and run again, in two tabs at once', async () => {
  const rows = points(100_000);
  const tabs = await Promise.all([open(), open()]);
  const [{ page }] = tabs;
  await chooser(page).setInputFiles(csv('many.csv', rows));
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => page.getByRole('status').count()).toBe(0);
  expect(await page.getByRole('alert').count()).toBe(0);
  await Promise.all(
    tabs.map(async ({ page: tab }) => {
      await chooser(tab).setInputFiles(csv('again.csv', rows));
      await tab.getByRole('heading', { name: 'again.csv' }).waitFor();
      await tab.getByRole('button', { name: 'Run', exact: true }).click();
      await tab.getByRole('heading', { name: /100,000 rows in/ }).waitFor({ timeout: 200_000 });
    }),
  );
  for (const tab of tabs) {
    expect(tab.wrongs).toEqual([]);
    await tab.close();
  }
});

test('at three widths, light and dark, by keyboard', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [390, 1280, 2560]) {
      const { page, wrongs, close } = await open(address, { viewport: { width, height: 900 }, colorScheme });
      await chooser(page).focus();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'wine.csv' }).waitFor();
      const shot = async (name: string) => {
        if (process.env.LEHR_PICTURES) await page.screenshot({ path: join(process.env.LEHR_PICTURES, `try-${name}-${width}-${colorScheme}.png`), fullPage: true });
      };
      await shot('table');
      await page.getByRole('button', { name: 'Run', exact: true }).press('Enter');
      await page.getByRole('heading', { name: /178 rows in/ }).waitFor();
      await page.frameLocator('iframe').getByRole('heading', { level: 1 }).waitFor();
      await shot('result');
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      expect(await axe(page)).toEqual([]);
      expect(wrongs).toEqual([]);
      await close();
    }
  }
});

test('the packed census is the one of the repository', () => {
  const own = readFileSync(fileURLToPath(new URL('../../../datasets/census/blocks_nv_ut_wv_2020.csv.gz', import.meta.url)));
  expect(gunzipSync(readFileSync(join(MADE, 'census.csv.gz'))).equals(gunzipSync(own))).toBe(true);
});
