// Reports of finished runs, opened from disk in Chromium: what the command has written, drawn by the viewer.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { growth, stays } from '../../src/state/course.ts';
import type { Figure } from '../../src/state/report.ts';
import { axe, COMMAND, openBrowser, overlapping, points, renewReport, savePictures, towns, watchFiles } from './world.ts';

const folder = mkdtempSync(join(tmpdir(), 'lehr-report-'));
const DATASETS = fileURLToPath(new URL('../../../datasets', import.meta.url));
let browser: Browser;

function lehr(...line: string[]): void {
  execFileSync(COMMAND, [...line, '--quiet'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}

/// Rows of three groups, of which one lies far out and one has a name to be escaped.
function rows(): string {
  return `${points(300)}far,900,-700,1\n`;
}

/// Rows with seven columns, whose table of clusters has fourteen.
function wide(rows: number): string {
  let seed = 99;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  let text = 'name,people_per_km2,median_age,income,share_urban,households,rooms,elevation\n';
  for (let row = 0; row < rows; row++) {
    const values = Array.from({ length: 7 }, (_, column) => (1000 * (row % 4) * (column + 1) + 900 * random()).toFixed(2));
    text += `row-${row},${values.join(',')}\n`;
  }
  return text;
}

beforeAll(async () => {
  browser = await openBrowser();
  writeFileSync(join(folder, 'points.csv'), rows());
  const table = ['points.csv', '--id', 'name', '--columns', 'x,y,z'];
  lehr('cluster', ...table, '-k', '4', '--out', 'cluster');
  writeFileSync(join(folder, 'towns.csv'), towns(200));
  lehr('cluster', 'towns.csv', '--id', 'name', '--lonlat', '-k', '2', '--out', 'towns');
  lehr('cluster', ...table, '-k', '3', '--method', 'kmeans', '--out', 'kmeans');
  lehr('cluster', 'points.csv', '--id', 'name', '--columns', 'x,y', '-k', '1', '--out', 'one');
  lehr('mixture', ...table, '--max-components', '4', '--out', 'mixture');
  lehr('gtm', ...table, '--nodes', '8', '--out', 'gtm');
  lehr('distances', ...table, '--out', 'd');
  lehr('pairwise', 'd/dissimilarities.json', '-k', '4', '--out', 'pairwise');
  lehr('kmedoids', 'd/dissimilarities.json', '--clusters', '4', '--out', 'kmedoids');
  lehr('hierarchy', 'd/dissimilarities.json', '-k', '4', '--out', 'hierarchy');
  lehr('embed', 'd/dissimilarities.json', '--dimensions', '3', '--labels', 'pairwise/labels.csv', '--out', 'embed');
  // What somebody knows of some items: classes and values on a scale, each with gaps.
  const known = Array.from({ length: 300 }, (_, row) => (row % 4 ? `row-${row},${row % 3 ? '<b>a</b>' : ''},${row % 5 ? row * 1.5 : ''}\n` : ''));
  writeFileSync(join(folder, 'known.csv'), `id,kind,size\n${known.join('')}`);
  lehr('embed', 'd/dissimilarities.json', '--labels', 'known.csv', '--by', 'kind,size', '--out', 'known');
  lehr('hdbscan', 'd/dissimilarities.json', '--out', 'hdbscan');
  writeFileSync(join(folder, 'new.csv'), points(60).replaceAll('row-', 'new-'));
  lehr('place', 'new.csv', '--map', 'embed', '--among', 'points.csv', '--id', 'name', '--columns', 'x,y,z', '--out', 'place');
  lehr('minibatch', 'points.csv', '--columns', 'x,y,z', '-k', '4', '--out', 'minibatch');
  writeFileSync(join(folder, 'wide.csv'), wide(300));
  lehr('cluster', 'wide.csv', '--id', 'name', '-k', '4', '--out', 'wide');
  for (const demo of ['chemistry', 'genes', 'patients']) lehr('demo', demo, '--items', '300', '--out', demo);
  lehr('demo', 'demography', '--out', 'demography');
}, 240_000);

afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(report: string, options: BrowserContextOptions = {}): Promise<{ page: Page; wrongs: string[]; close: () => Promise<void> }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const wrongs = await watchFiles(context);
  renewReport(join(folder, report, 'report.html'));
  await page.goto(`file://${folder}/${report}/report.html`);
  return { page, wrongs, close: () => context.close() };
}

const REPORTS = [
  'cluster', 'towns', 'kmeans', 'one', 'wide', 'mixture', 'gtm', 'minibatch',
  'pairwise', 'kmedoids', 'hierarchy', 'hdbscan', 'embed', 'place', 'chemistry', 'genes', 'patients', 'demography',
];

/// Opens the closed parts of a page that match a selector.
async function unfold(page: Page, selector = 'details'): Promise<void> {
  await page.locator(selector).evaluateAll((all) => all.forEach((one) => ((one as HTMLDetailsElement).open = true)));
  await page.waitForTimeout(150);
}

for (const scheme of ['light', 'dark'] as const) {
  for (const width of [390, 1280, 2560]) {
    test(`all reports at ${width} px, ${scheme}: nothing loaded, nothing wider than the page, nothing that axe finds serious`, async () => {
      for (const report of REPORTS) {
        const { page, wrongs, close } = await open(report, { colorScheme: scheme, viewport: { width, height: 900 } });
        await page.locator('.figure svg').first().waitFor();
        await page.waitForTimeout(150);
        const over = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(await over(), report).toBeLessThanOrEqual(0);
        if (process.env.LEHR_PICTURES) await page.screenshot({ path: join(process.env.LEHR_PICTURES, `report-${report}-${scheme}-${width}.png`), fullPage: true });
        await unfold(page);
        expect(await over(), `${report}, unfolded`).toBeLessThanOrEqual(0);
        expect(await axe(page), report).toEqual([]);
        expect(wrongs, report).toEqual([]);
        await close();
      }
    }, 240_000);
  }
}

test('a table of fourteen columns uses the width of the window, and its first column stays in view', async () => {
  // How many of the columns are seen without scrolling.
  for (const [width, least] of [[390, 3], [1280, 11], [2560, 14]]) {
    const { page, wrongs, close } = await open('wide', { viewport: { width, height: 900 } });
    const table = page.locator('.scroll').filter({ has: page.locator('#clusters') });
    const seen = () => table.evaluate((scroll) => {
      const box = scroll.getBoundingClientRect();
      return [...scroll.querySelectorAll('thead th')].map((head) => head.getBoundingClientRect()).filter(({ left, right }) => left >= box.left - 1 && right <= box.right + 1).length;
    });
    expect(await table.locator('thead th').count()).toBe(14);
    expect(await seen(), `at ${width} px`).toBeGreaterThanOrEqual(least);
    await table.evaluate((scroll) => (scroll.scrollLeft = scroll.scrollWidth));
    for (const cell of [table.locator('thead th').first(), table.locator('tbody td').first()]) {
      const [inner, outer] = [(await cell.boundingBox())!, (await table.boundingBox())!];
      expect(inner.x - outer.x, `at ${width} px`).toBeGreaterThanOrEqual(-1);
      expect(inner.x - outer.x, `at ${width} px`).toBeLessThanOrEqual(22);
    }
    // Lines of text have at most 100 characters or so, and figures do not grow with the window.
    const widest = (of: string) => page.locator(of).evaluateAll((all) => Math.max(...all.map((one) => one.getBoundingClientRect().width)));
    expect(await widest('.note, .lead, .portraits li')).toBeLessThan(1050);
    expect(await widest('.figure')).toBeLessThanOrEqual(1232);
    expect(wrongs).toEqual([]);
    await close();
  }
});

test('the pages of genes, patients and compounds are at most 3,000 px long; what is closed is drawn when it opens', async () => {
  for (const report of ['genes', 'patients', 'chemistry']) {
    const { page, wrongs, close } = await open(report);
    await page.locator('.figure svg').first().waitFor();
    await page.waitForTimeout(150);
    expect(await page.evaluate(() => document.documentElement.scrollHeight), report).toBeLessThanOrEqual(3000);
    for (const [title, drawn] of [
      ['The dissimilarities', '#heat canvas'], ['How the clusters came about', '#course svg'], ['How well the map fits', '#density svg'],
    ]) {
      expect(await page.locator(drawn).first().isVisible(), title).toBe(false);
      await page.locator('summary').filter({ has: page.getByRole('heading', { name: title, exact: true }) }).click();
      await expect.poll(async () => (await page.locator(drawn).first().boundingBox())?.width ?? 0, { message: title }).toBeGreaterThan(400);
    }
    expect(wrongs).toEqual([]);
    await close();
  }
});

test('every report tells its data, method, command, date and time; the other facts of its run are closed', async () => {
  for (const report of ['cluster', 'mixture', 'gtm', 'minibatch', 'pairwise', 'hierarchy', 'embed', 'place']) {
    const { page, close } = await open(report);
    const run = page.getByRole('region', { name: 'The run', exact: true });
    expect(await run.locator('.seen dt').allInnerTexts(), report).toEqual(['Data', 'Method', 'Command', 'Finished', 'Time']);
    expect(await run.locator('.seen code').innerText()).toMatch(new RegExp(`^lehr ${report} (points|new)\\.csv|^lehr ${report} d/dissimilarities\\.json`));
    expect(await run.locator('.sheets').isVisible(), report).toBe(false);
    await run.getByText('All facts of the run').click();
    expect(await run.locator('.sheets').isVisible(), report).toBe(true);
    await close();
  }
});

test('a report in a cell of a notebook, which is a sandboxed frame, is drawn, reacts and saves its picture', async () => {
  // The frame that `model.show()` of the Python package returns.
  const source = readFileSync(fileURLToPath(new URL('../../../python/lehr/report.py', import.meta.url)), 'utf8');
  const frame = source.match(/return f'(<iframe srcdoc="\{page\}" .*<\/iframe>)'/)![1];
  expect(frame).toContain('sandbox="allow-scripts allow-downloads"');
  renewReport(join(folder, 'cluster/report.html'));
  const escaped = readFileSync(join(folder, 'cluster/report.html'), 'utf8').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#x27;');
  const cell = frame.replace('{page}', () => escaped).replace('{self.height}', '720').replace('{html.escape(self._title)}', 'report');
  expect(cell.slice(-200)).not.toContain('{');
  mkdirSync(join(folder, 'notebook'));
  writeFileSync(join(folder, 'notebook/report.html'), `<!doctype html><html lang="en"><title>notebook</title><body>${cell}</body></html>`);
  const { page, wrongs, close } = await open('notebook');
  const shown = page.frameLocator('iframe');
  const cloud = shown.getByRole('application');
  await cloud.locator('canvas').first().waitFor();
  // The frame has an origin of its own, and cannot reach the notebook.
  expect(await cloud.evaluate(() => [origin, window.frameElement])).toEqual(['null', null]);
  const drawn = () => cloud.locator('canvas').first().evaluate(async (canvas) => {
    const image = await createImageBitmap(canvas as HTMLCanvasElement);
    const read = new OffscreenCanvas(image.width, image.height).getContext('2d')!;
    read.drawImage(image, 0, 0);
    const pixels = new Uint32Array(read.getImageData(0, 0, image.width, image.height).data.buffer);
    return pixels.filter((pixel) => pixel !== pixels[0]).length;
  });
  await expect.poll(drawn).toBeGreaterThan(1000);
  await shown.getByRole('button', { name: /^Select the rows of cluster 1/ }).click();
  await shown.getByRole('heading', { name: '100 rows selected' }).waitFor();
  const saved = page.waitForEvent('download');
  await shown.getByRole('button', { name: /^Save .* as PNG$/ }).first().click();
  expect((await saved).suggestedFilename()).toMatch(/\.png$/);
  expect(wrongs).toEqual([]);
  await close();
});

test('a cluster is picked in the table or the list, its rows have their names, and outliers stand at the edge', async () => {
  const { page, wrongs, close } = await open('cluster');
  await page.getByText('1 row lies farther out and is drawn at the edge.').waitFor();
  await page.getByRole('button', { name: /^Select the rows of cluster 1/ }).click();
  await page.locator('#chosen').waitFor();
  const selected = await page.locator('#chosen').innerText();
  expect(selected).toBe('100 rows selected');
  await page.getByRole('button', { name: /^Cluster 0/ }).click();
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await page.getByRole('heading', { name: 'A and B' }).waitFor();
  await page.getByRole('button', { name: 'Rename Cluster 0' }).click();
  await page.getByRole('textbox', { name: /^New name/ }).fill('<b>first</b>');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^<b>first<\/b>/ }).waitFor();
  expect(wrongs).toEqual([]);
  await close();
  // The row nearest to the middle of the picture has its name and its values, in every report of rows.
  for (const report of ['cluster', 'kmeans', 'mixture', 'gtm']) {
    const { page, close } = await open(report);
    await page.getByRole('application').focus();
    await page.keyboard.press('Enter');
    const name = await page.locator('#picked').innerText();
    const row = rows().split('\n').find((line) => line.startsWith(`${name},`));
    expect(row, `${report}: ${name}`).toBeDefined();
    const picked = page.locator('section[aria-labelledby=picked]');
    const value = (of: string) => picked.locator('div', { has: page.locator('dt', { hasText: new RegExp(`^${of}$`) }) }).locator('dd').innerText();
    const shown = await Promise.all(['x', 'y', 'z'].map(async (of) => Number((await value(of)).replaceAll(',', '').replace('−', '-'))));
    row!.split(',').slice(1).forEach((text, at) => expect(shown[at], `${report}: ${name}`).toBeCloseTo(Number(text), 2));
    await close();
  }
});

test('a report shows several pictures with one selection, on a phone too', async () => {
  for (const width of [390, 1280]) {
    const { page, wrongs, close } = await open('cluster', { viewport: { width, height: 844 } });
    await page.getByLabel('Pictures').selectOption('4');
    await expect.poll(() => page.getByRole('application').count()).toBe(4);
    await page.getByRole('button', { name: /^Select the rows of cluster 1/ }).click();
    await page.getByRole('heading', { name: '100 rows selected' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth), 'nothing is wider than the page').toBe(width);
    expect(await axe(page)).toEqual([]);
    expect(wrongs).toEqual([]);
    await close();
  }
});

test('a map is coloured by each of two columns that some items have, by classes and on a scale', async () => {
  const { page, wrongs, close } = await open('known');
  await page.getByRole('button', { name: /^<b>a<\/b> 150/ }).waitFor();
  await page.getByRole('heading', { name: 'kind 1', exact: true }).waitFor();
  await page.getByRole('button', { name: /^no value 151/ }).click();
  await page.getByRole('heading', { name: '151 rows selected' }).waitFor();
  await page.getByLabel('Colour').first().selectOption('column:size');
  await page.getByRole('heading', { name: 'size', exact: true }).waitFor();
  await page.getByText('121 rows have no value, and are grey.').waitFor();
  expect(wrongs).toEqual([]);
  await close();
});

test('a report says how sure rows are as its tables do, and has box plots', async () => {
  writeFileSync(join(folder, 'overlapping.csv'), overlapping(600));
  lehr('cluster', 'overlapping.csv', '--id', 'name', '-k', '3', '--out', 'sure');
  const [head, ...lines] = readFileSync(join(folder, 'sure/labels.csv'), 'utf8').trim().split('\n').map((line) => line.split(','));
  const unsure = lines.filter((line) => Number(line[head.indexOf('probability')]) < 0.8).length;
  expect(unsure).toBeGreaterThan(10);
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, wrongs, close } = await open('sure', { colorScheme });
    await page.getByRole('combobox', { name: /^Colour/ }).selectOption({ label: 'how sure: clusters' });
    await page.getByText('0.5 or less, unsure').waitFor();
    await page.getByRole('button', { name: `Select ${unsure} rows`, exact: true }).click();
    await page.getByRole('heading', { name: `${unsure} rows selected` }).waitFor();
    // What the list says of a cluster is what the table says.
    const [centersHead, ...centers] = readFileSync(join(folder, 'sure/centers.csv'), 'utf8').trim().split('\n').map((line) => line.split(','));
    const told = await page.locator('.groups small').allInnerTexts();
    for (const center of centers) {
      const of = (name: string) => center[centersHead.indexOf(name)];
      expect(told).toContain(`mean probability ${Number(of('probability')).toFixed(2)}; would merge with ${of('merges_with').replace('+', ' and ')}`);
    }
    expect(await page.locator('#clusters thead').innerText()).toContain('merges first with');
    await page.getByRole('button', { name: /^Box of Cluster 2: median/ }).click();
    await page.getByText('cluster 2', { exact: true }).waitFor();
    // Fewer clusters: by the slider of the list, and by the number that somebody looks at in the annealing.
    const value = (center: string[], name: string) => center[centersHead.indexOf(name)];
    const first = centers.find((center) => value(center, 'joins_at') === '2')!;
    const both = `Clusters ${value(first, 'joins')} + ${value(first, 'cluster')}`;
    await page.getByRole('slider', { name: /^Merge to/ }).fill('2');
    await page.locator('.groups').getByText(both, { exact: true }).waitFor();
    expect(await page.locator('.merged').innerText()).toContain('2 of 3');
    await page.getByRole('slider', { name: /^Merge to/ }).fill('3');
    await page.locator('.groups').getByText(both, { exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show 3 clusters', exact: true }).waitFor();
    await page.getByRole('slider', { name: 'Temperature' }).fill('0');
    await page.getByRole('button', { name: 'Show 1 cluster', exact: true }).click();
    await page.locator('.groups').getByText('Clusters 0 + 1 + 2', { exact: true }).waitFor();
    expect(await axe(page)).toEqual([]);
    if (process.env.LEHR_PICTURES) await page.screenshot({ path: join(process.env.LEHR_PICTURES, `report-sure-${colorScheme}.png`), fullPage: true });
    expect(wrongs).toEqual([]);
    await close();
  }
});

test('structures of compounds are drawn: of medoids, of selected rows and of the one that is picked', async () => {
  const { page, wrongs, close } = await open('chemistry');
  const medoids = page.locator('#activities tbody tr');
  await expect.poll(() => medoids.locator('svg.structure').count()).toBe(await medoids.count());
  await page.getByRole('button', { name: /^Cluster 1\b/ }).first().click();
  const drawn = page.locator('.gallery li');
  await expect.poll(() => drawn.locator('svg.structure').count()).toBe(24);
  const name = (await drawn.first().getByRole('button').textContent())!;
  await drawn.first().getByRole('button').click();
  const picked = page.getByRole('region', { name });
  await picked.getByRole('img', { name: /^Structure of / }).waitFor();
  expect(await axe(page)).toEqual([]);
  if (process.env.LEHR_PICTURES) await page.screenshot({ path: join(process.env.LEHR_PICTURES, 'report-structures.png'), fullPage: true });
  expect(wrongs).toEqual([]);
  await close();
});

test('on a phone, a finger that goes up over the points scrolls the page, and one that goes sideways moves the points', async () => {
  const { page, wrongs, close } = await open('cluster', { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
  const cloud = page.getByRole('application').first();
  await cloud.locator('canvas').first().waitFor();
  await cloud.scrollIntoViewIfNeeded();
  const gesture = await page.context().newCDPSession(page);
  const swipe = async (xDistance: number, yDistance: number) => {
    const { x, y, width, height } = (await cloud.boundingBox())!;
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', share: number) =>
      gesture.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x: x + width / 2 + share * xDistance, y: y + height / 2 + share * yDistance }] });
    await touch('touchStart', 0);
    for (let step = 1; step <= 10; step++) await touch('touchMove', step / 10);
    await touch('touchEnd', 1);
    await page.waitForTimeout(300);
  };
  const state = async () => ({ scrolled: await page.evaluate(() => scrollY), marks: await cloud.locator('.over').first().innerHTML() });
  const before = await state();
  await swipe(0, -150);
  const up = await state();
  expect(up.scrolled).toBeGreaterThan(before.scrolled + 50);
  await swipe(-100, 0);
  const aside = await state();
  expect(aside.scrolled).toBe(up.scrolled);
  expect(aside.marks).not.toBe(up.marks);
  expect(wrongs).toEqual([]);
  await close();
});

test('tables are sorted by their heads, and back', async () => {
  const { page, wrongs, close } = await open('cluster');
  const column = () => page.locator('#clusters tbody tr td:nth-child(5)').allInnerTexts().then((texts) => texts.map((text) => Number(text.replace('−', '-').replace(/,/g, ''))));
  const head = page.locator('#clusters thead').getByRole('button', { name: 'x', exact: true });
  await head.click();
  const up = await column();
  expect(up).toEqual([...up].sort((a, b) => a - b));
  await head.click();
  expect(await column()).toEqual([...up].reverse());
  expect(wrongs).toEqual([]);
  await close();
});

test('every figure of every report is saved as SVG that draws something and needs no style, and one as PNG', async () => {
  for (const report of REPORTS) {
    const { page, wrongs, close } = await open(report);
    await page.locator('.figure svg').first().waitFor();
    await unfold(page);
    const buttons = page.getByRole('button', { name: /^Save .* as PNG$/ });
    const number = await buttons.count();
    expect(number, report).toBeGreaterThanOrEqual(1);
    expect(await savePictures(page), report).toHaveLength(number);
    // A PNG is drawn from the SVG, so one of them is enough.
    const saved = page.waitForEvent('download');
    await buttons.last().click();
    const bytes = readFileSync(await (await saved).path());
    expect(bytes.subarray(1, 4).toString('latin1'), report).toBe('PNG');
    expect(bytes.length, report).toBeGreaterThan(500);
    expect(wrongs).toEqual([]);
    await close();
  }
}, 240_000);

test('a topographic map has its stretch below the points, and a mixture its ellipses, which hide with their components', async () => {
  const map = await open('gtm');
  await map.page.getByRole('application').waitFor();
  expect(await map.page.locator('.ground rect').count()).toBe(64);
  await map.close();
  const mixture = await open('mixture');
  const { page } = mixture;
  await page.getByRole('heading', { name: /^Components \d/ }).waitFor();
  const number = await page.locator('.groups li').count();
  // Two ellipses for each component: at one and at two standard deviations.
  const drawn = () => page.locator('.outlines path').count();
  expect([number > 1, await drawn()]).toEqual([true, 2 * number]);
  await page.getByRole('button', { name: 'Hide Component 0' }).click();
  await expect.poll(drawn).toBe(2 * number - 2);
  expect([map.wrongs, mixture.wrongs]).toEqual([[], []]);
  await mixture.close();
});

/// Returns the name and the number of rows of each table that a figure has.
function tablesOf(figure: Exclude<Figure, { kind: 'scene' }>): [string, number][] {
  if (figure.kind === 'lines') return figure.lines.map((line) => [line.title, line.x.length]);
  if (figure.kind === 'heat') return [['means of clusters', figure.blocks.length], ...(figure.tree.length ? [['tree of clusters', figure.tree.length] as [string, number]] : [])];
  if (figure.kind === 'dendrogram') return [[figure.title, figure.joins.length]];
  if (figure.kind === 'density') return [[figure.title, figure.counts.filter((number) => number > 0).length]];
  if (figure.kind === 'planes') return [[figure.title, figure.columns * figure.rows]];
  const steps = figure.steps.map(([temperature, clusters, freeEnergy]) => ({ temperature, clusters, freeEnergy }));
  const splits = figure.splits.map(([temperature, parent, end, into]) => ({ temperature, parent, end, into }));
  return [
    ...(figure.splits.length ? [['splits', figure.splits.length] as [string, number]] : []), ['how long each number lasted', stays(growth(steps, splits)).length],
    ['Clusters', steps.length], [figure.unit ? `Free energy (${figure.unit})` : 'Free energy', steps.length],
  ];
}

test('every figure is there as a table, with a row for each of its values', async () => {
  const kinds = new Set<string>();
  for (const report of REPORTS) {
    const { page, wrongs, close } = await open(report);
    await page.locator('.figure svg').first().waitFor();
    await unfold(page, 'details.card');
    const { figures }: { figures: Record<string, Figure> } = JSON.parse((await page.locator('#data').textContent())!);
    for (const [id, figure] of Object.entries(figures)) {
      if (figure.kind === 'scene' || (figure.kind === 'anneal' && figure.steps.length < 3)) continue;
      kinds.add(figure.kind);
      const tables = page.locator(`#${id} .values`);
      const wanted = tablesOf(figure);
      expect(await tables.locator('summary').allInnerTexts(), `${report} ${id}`).toEqual(wanted.map(([name]) => `As a table: ${name}`));
      for (const [at, [name, rows]] of wanted.entries()) {
        const table = tables.nth(at);
        // A table is made when it is opened.
        expect(await table.locator('table').count()).toBe(0);
        await table.locator('summary').click();
        await expect.poll(() => table.locator('tbody tr').count(), { message: `${report} ${name}` }).toBe(Math.min(rows, 300));
        if (rows <= 300) continue;
        await table.getByText(`The first 300 of ${rows.toLocaleString('en-GB')} rows.`).waitFor();
        await table.getByRole('button', { name: 'Show all' }).click();
        await expect.poll(() => table.locator('tbody tr').count(), { message: `${report} ${name}` }).toBe(rows);
      }
    }
    expect(await axe(page), report).toEqual([]);
    expect(wrongs).toEqual([]);
    await close();
  }
  expect([...kinds].sort()).toEqual(['anneal', 'dendrogram', 'density', 'heat', 'lines', 'planes']);
}, 240_000);

test('an annealing is replayed: a step back has fewer clusters, and the page says how to keep them', async () => {
  const { page, wrongs, close } = await open('cluster');
  const slider = page.getByRole('slider', { name: 'Temperature' });
  await slider.focus();
  await page.keyboard.press('End');
  const last = await slider.getAttribute('aria-valuetext');
  await page.getByRole('button', { name: /^Fewer clusters/ }).click();
  const before = await slider.getAttribute('aria-valuetext');
  expect(Number(before!.match(/^\d+/)![0])).toBeLessThan(Number(last!.match(/^\d+/)![0]));
  const clusters = before!.match(/^\d+/)![0];
  await expect.poll(() => page.locator('.keep code').innerText()).toBe(`lehr cluster points.csv --id name --columns x,y,z --quiet -k ${clusters}`);
  expect(wrongs).toEqual([]);
  await close();
});

test('dissimilarities are read under the pointer and by the keyboard', async () => {
  const { page, wrongs, close } = await open('pairwise');
  const heat = page.locator('.heat');
  await heat.focus();
  await page.keyboard.press('ArrowRight');
  const readout = page.locator('#heat .readout');
  await expect.poll(() => readout.innerText()).toMatch(/^(row-\d+|<img src=x onerror=alert\(1\)>|far) and .*; mean within cluster \d/);
  const box = (await heat.boundingBox())!;
  await page.mouse.move(box.x + 0.9 * box.width, box.y + 0.3 * box.height);
  await expect.poll(() => readout.innerText()).toMatch(/mean between clusters \d and \d/);
  expect(wrongs).toEqual([]);
  await close();
});

test('the map of the census has the coast below its points, on the page and in its files; the page of irises does not carry it', async () => {
  lehr('cluster', join(DATASETS, 'census/blocks_nv_ut_wv_2020.csv.gz'), '--columns', 'lon,lat', '--weights', 'pop', '--lonlat', '--method', 'kmeans', '-k', '3', '--n-init', '1', '--out', 'census');
  lehr('cluster', join(DATASETS, 'iris/iris.csv'), '-k', '3', '--out', 'iris');
  const { page, wrongs, close } = await open('census');
  const lines = () => page.locator('.shores path').evaluateAll((paths) => Object.fromEntries(paths.map((path) => [path.getAttribute('class'), path.getAttribute('d')!.length])));
  await page.locator('.shores .coast').waitFor({ state: 'attached' });
  const before = await lines();
  expect(Object.keys(before)).toEqual(['coast', 'borders', 'states']);
  // The blocks are in Nevada, Utah and West Virginia: both oceans, Canada and the states around them are in the picture.
  expect(before.states).toBeGreaterThan(500);
  const files: string[] = [];
  for (const kind of ['PNG', 'SVG']) {
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: new RegExp(`^Save blocks_.* as ${kind}$`) }).click();
    files.push(readFileSync(await (await saved).path(), 'latin1'));
  }
  expect(files[0].slice(1, 4)).toBe('PNG');
  // So many points are pixels in the file.
  const [shores, points] = [files[1].indexOf('class="shores"'), files[1].indexOf('<image')];
  expect(shores).toBeGreaterThan(0);
  expect(points).toBeGreaterThan(shores);
  expect(files[1].match(/<path[^>]* class="coast"[^>]*>/)![0]).toMatch(/ d="M[^"]{20,}".* stroke="rgb/);
  // Names of cities stand above the points, in their colours.
  const named = files[1].indexOf('>Las Vegas</text>');
  expect(named).toBeGreaterThan(points);
  expect(files[1].slice(files[1].lastIndexOf('<text', named), named)).toMatch(/fill="rgb.* paint-order="stroke/);
  // Nearer than the lines are good they are gone, names too; the globe has them too.
  for (let at = 0; at < 6; at++) await page.getByRole('button', { name: 'Zoom in' }).click();
  await expect.poll(lines).toEqual({});
  expect(await page.locator('.city').count()).toBe(0);
  await page.getByLabel('View').selectOption('sphere');
  await expect.poll(() => page.locator('.shores .coast').count()).toBe(1);
  await expect.poll(() => page.locator('.city').count()).toBeGreaterThan(5);
  expect(wrongs).toEqual([]);
  await close();
  const other = await open('iris');
  await other.page.getByRole('application').waitFor();
  expect(await other.page.locator('.shores, #coast').count()).toBe(0);
  await other.close();
});
