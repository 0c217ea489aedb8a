// What people see of a job, in Chromium, on a node of their own: how it goes on, its curves, and its tables.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe, dragged, Node, openBrowser, openPage, points, savePictures } from './world.ts';

const METHODS = ['lehr.distances=/distances', 'lehr.pairwise=/pairwise', 'lehr.embedding=/embedding', 'lehr.mixture=/mixture', 'lehr.gtm=/gtm'];

let browser: Browser;
let node: Node;

beforeAll(async () => {
  [browser, node] = await Promise.all([openBrowser(), new Node(METHODS.flatMap((method) => ['--start', method])).start()]);
  await node.ask('/datasets:upload?name=points&id=name', points(120));
});

afterAll(async () => {
  await browser?.close();
  await node?.end();
});

const detailOf = (page: Page) => page.locator('section[aria-labelledby=job-detail]');

/// Runs a job of a method that takes dissimilarities.
async function ofPoints(service: string, options: object): Promise<string> {
  const distances = await node.job('/distances', { input: 'points' });
  const { matrix, items } = (await node.ask('/distances')).jobs[distances].outputs;
  return node.job(service, { input: { matrix, items }, options });
}

test('an embedding without annealing has its stress over its iterations', async () => {
  const job = await ofPoints('/embedding', {});
  const { page, context, wrongs } = await openPage(browser, node, `#/jobs?service=/embedding&job=${job}`);
  const chart = page.getByRole('img', { name: /^Stress over iteration: \d+ points/ });
  await chart.waitFor();
  expect((await chart.locator('.curve').getAttribute('d'))!.length).toBeGreaterThan(20);
  expect(await page.getByText('There is nothing to draw.').count()).toBe(0);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a running job shows its progress, the time that is left and its curves, until it is cancelled', async () => {
  await node.ask('/datasets:upload?name=many', points(60_000));
  await node.ask('/datasets:upload?name=some', points(15_000));
  // Jobs of half a minute and more.
  await node.ask('/datasets:upload?name=compared', points(8000));
  const distances = await node.job('/distances', { input: 'compared' });
  const { matrix, items } = (await node.ask('/distances')).jobs[distances].outputs;
  const jobs: [string, string | object, object, RegExp][] = [
    ['/clustering', 'many', { clusters: 300 }, /^Free energy over temperature: \d+ points/],
    ['/clustering', 'many', { clusters: 300, method: 'kmeans' }, /^Mean cost over sweeps: \d+ points/],
    ['/mixture', 'many', { components: 40 }, /^Components over temperature: \d+ points/],
    ['/gtm', 'some', { nodes: 16 }, /^Objective over temperature: \d+ points/],
    ['/pairwise', { matrix, items }, { clusters: 60 }, /^Free energy over temperature: \d+ points/],
    ['/embedding', { matrix, items }, { annealed: true }, /^Stress over temperature: \d+ points/],
  ];
  for (const [service, input, options, curve] of jobs) {
    const { job } = await node.ask(`${service}:run`, { input, options });
    const { page, context, wrongs } = await openPage(browser, node, `#/jobs?service=${service}&job=${job}`);
    const detail = detailOf(page);
    await detail.getByRole('img', { name: curve }).waitFor({ timeout: 30_000 });
    await detail.getByText(/so far, about .* left$/).waitFor({ timeout: 60_000 });
    // A page that is opened later draws what the job reported before.
    const drawn = async () => Number((await detail.getByRole('img', { name: curve }).getAttribute('aria-label'))!.match(/: (\d+) points/)![1]);
    const before = await drawn();
    await page.reload();
    await detail.getByRole('img', { name: curve }).waitFor();
    await expect.poll(drawn).toBeGreaterThanOrEqual(before);
    const part = await detail.getByRole('progressbar').getAttribute('value');
    expect(Number(part)).toBeGreaterThan(0);
    expect(Number(part)).toBeLessThan(100);
    expect(await page.getByText('There is nothing to draw.').count()).toBe(0);
    expect(await axe(page)).toEqual([]);
    const isAnnealed = service === '/clustering' && !('method' in options);
    const branches = detail.locator('.anneal .branch:not(.merged)');
    if (isAnnealed) {
      // The tree grows while the job runs, and the replay stays at its latest step.
      const first = await branches.count();
      await expect.poll(() => branches.count(), { timeout: 30_000 }).toBeGreaterThan(Math.max(first, 8));
      expect((await node.ask(`/clustering:splits?job=${job}`)).length + 1).toBeGreaterThanOrEqual(await branches.count());
      const slider = detail.getByRole('slider', { name: 'Temperature' });
      expect(await slider.inputValue()).toBe(await slider.getAttribute('max'));
      expect(await detail.getByRole('button', { name: /^Keep/ }).count()).toBe(0);
    }
    await detail.getByRole('button', { name: /^Cancel/ }).click();
    await detail.locator('.state.cancelled').waitFor();
    expect(await detail.getByText(/left$/).count()).toBe(0);
    // A job that has ended without a result keeps its course, also for a page that is opened later.
    await page.reload();
    await detail.getByRole('img', { name: curve }).waitFor();
    if (isAnnealed) await expect.poll(() => branches.count()).toBeGreaterThan(8);
    expect(wrongs).toEqual([]);
    await context.close();
  }
});

test('every picture of a page is saved, the structure of a compound too', async () => {
  const job = await node.job('/clustering', { input: 'points', options: { clusters: 3, columns: ['x', 'y'] } });
  await node.ask('/datasets:upload?name=compounds&id=name&format=table', `name,x,y,SMILES\n${points(30).trim().split('\n').slice(1).map((line) => `${line.split(',').slice(0, 3)},c1ccccc1C(=O)O`).join('\n')}\n`);
  const { page, context, wrongs } = await openPage(browser, node, `#/jobs?service=/clustering&job=${job}`);
  await page.getByRole('img', { name: /^Free energy over temperature/ }).waitFor();
  expect(await savePictures(page)).toEqual(['Splits.svg', 'Clusters.svg', 'Free energy.svg']);
  await page.goto(`${node.address}/~/#/explore?data=compounds`);
  await page.getByRole('application').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('img', { name: 'Structure of c1ccccc1C(=O)O' }).waitFor();
  expect((await savePictures(page)).sort()).toEqual(['compounds.svg', 'structure.svg']);
  // Small drawings in a list have no buttons.
  await page.getByRole('application').focus();
  await page.keyboard.press('b');
  await dragged(page, page.getByRole('application'), [0.01, 0.99], [0.99, 0.01]);
  await expect.poll(() => page.locator('.gallery svg.structure').count()).toBe(24);
  expect((await savePictures(page)).filter((name) => name === 'structure.svg')).toHaveLength(1);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('the clusters of an annealing are one click from its job, if they can be merged', async () => {
  const annealed = await node.job('/clustering', { input: 'points', options: { clusters: 3, columns: ['x', 'y'] } });
  const { page, context, wrongs } = await openPage(browser, node, `#/jobs?service=/clustering&job=${annealed}`);
  await page.getByRole('link', { name: 'Show 3 clusters' }).waitFor();
  await page.getByRole('slider', { name: 'Temperature' }).fill('0');
  await page.getByRole('link', { name: 'Show 1 cluster', exact: true }).waitFor();
  await page.getByRole('button', { name: /^More clusters/ }).click();
  await page.getByRole('link', { name: 'Show 2 clusters' }).click();
  await expect.poll(() => page.locator('.groups .text').count()).toBe(2);
  expect(new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('merged')).toBe('2');
  // Clusters of dissimilarities have no squared distances by which they could be merged.
  const pairwise = await ofPoints('/pairwise', { clusters: 3 });
  await page.goto(`${node.address}/~/#/jobs?service=/pairwise&job=${pairwise}`);
  await page.getByRole('button', { name: 'Keep 3 clusters' }).waitFor();
  await page.getByText('Both run the method again').waitFor();
  expect(await page.getByRole('link', { name: /^Show \d+ cluster/ }).count()).toBe(0);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('the page of a result begins with the answer, and says flags and scores in words', async () => {
  const clustered = await node.job('/clustering', { input: 'points', options: { clusters: 3, columns: ['x', 'y'] } });
  const { page, context, wrongs } = await openPage(browser, node, `#/jobs?service=/clustering&job=${clustered}`);
  const detail = detailOf(page);
  await detail.getByRole('columnheader', { name: 'merges with' }).waitFor();
  expect((await detail.getByRole('columnheader').allInnerTexts()).slice(0, 4)).toEqual(['row', 'name', 'cluster', 'weight']);
  expect(await detail.locator('.tiles').first().locator('dt').allInnerTexts()).toEqual(['Clusters']);
  expect(await detail.locator('.tiles').nth(1).locator('dt').allInnerTexts()).toContain('Free energy');
  // The tiles tell the end of the hardening, and the replay the end of the annealing.
  await detail.getByText('Dotted: the hardening after the annealing.').waitFor();
  const course = detail.locator('.course svg');
  expect(await course.locator('text').allTextContents()).toEqual(expect.arrayContaining([expect.stringMatching(/^shown: [\d.]+$/), 'temperature, falling →', '3']));
  await detail.getByRole('link', { name: 'Open as data set' }).click();
  await page.getByRole('heading', { name: `${clustered}/centers` }).waitFor();
  const mixed = await node.job('/mixture', { input: 'points', options: { components: 3 } });
  await page.goto(`${node.address}/~/#/jobs?service=/mixture&job=${mixed}`);
  const tiles = await detail.locator('.tiles').nth(1).innerText();
  expect(tiles).toMatch(/AIC[^]*BIC[^]*Converged\n+(yes|no)[^]*ICL/);
  // The values of a chart may be nearly equal.
  const ticks = await detail.locator('.plot g > text').allTextContents();
  expect(new Set(ticks).size).toBe(ticks.length);
  // A result without clusters opens with its rows, and not with the course of the run.
  const map = await ofPoints('/embedding', {});
  await page.goto(`${node.address}/~/#/jobs?service=/embedding&job=${map}`);
  await detail.getByRole('button', { name: 'positions', pressed: true }).waitFor();
  await detail.getByText('Stress-1 of Kruskal').waitFor();
  await detail.getByRole('button', { name: 'each step' }).click();
  await detail.getByRole('columnheader', { name: 'stress' }).waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a phone shows what each job runs on and its Explore, and a table fades at the edge beyond which it goes on', async () => {
  const job = await node.job('/clustering', { input: 'points', options: { clusters: 3, columns: ['x', 'y'] } });
  const { page, context, wrongs } = await openPage(browser, node, `#/jobs?service=/clustering&job=${job}`, { viewport: { width: 390, height: 844 } });
  const list = page.getByRole('region', { name: 'Jobs' });
  await list.getByRole('link', { name: `Explore ${job}` }).waitFor();
  expect(await list.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
  expect(await list.locator('tr.on td').first().evaluate((cell) => getComputedStyle(cell, '::after').content)).toBe('"points"');
  const table = detailOf(page).locator('.scroll').first();
  await table.waitFor();
  const faded = () => table.evaluate((one) => ['--left', '--right'].map((name) => getComputedStyle(one).getPropertyValue(name)));
  await expect.poll(faded).toEqual(['', '40px']);
  await table.evaluate((one) => (one.scrollLeft = 60));
  await expect.poll(faded).toEqual(['40px', '40px']);
  await table.evaluate((one) => (one.scrollLeft = 10_000));
  await expect.poll(faded).toEqual(['40px', '']);
  // A table that goes on below fades there, until somebody has scrolled to its end.
  await page.getByText('As a table: Free energy').click();
  const values = page.getByRole('region', { name: 'Free energy', exact: true });
  expect(await values.evaluate((one) => one.scrollHeight - one.clientHeight)).toBeGreaterThan(40);
  const below = () => values.evaluate((one) => getComputedStyle(one).getPropertyValue('--below'));
  await expect.poll(below).toBe('40px');
  await values.evaluate((one) => (one.scrollTop = 10_000));
  await expect.poll(below).toBe('');
  expect(await list.evaluate((one) => ['--left', '--right', '--below'].map((name) => getComputedStyle(one).getPropertyValue(name)))).toEqual(['', '', '']);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('the form of a job says what the page has chosen, and offers parts of dates where there are dates', async () => {
  const table = (row: number) => `c${row},2024-0${1 + (row % 9)}-1${row % 9},${row * row},${row % 2 ? 'a' : 'b'}`;
  await node.ask('/datasets:upload?name=dated&format=table&id=name', `name,day,size,kind\n${Array.from({ length: 40 }, (_, row) => table(row)).join('\n')}\n`);
  const { page, context, wrongs } = await openPage(browser, node, '#/jobs?new=1&data=dated');
  await page.getByText('Chosen for this table.').waitFor();
  expect(await page.getByText('Default: no.').count()).toBe(0);
  await page.getByLabel('auto').uncheck();
  await page.getByText('Default: no.').first().waitFor();
  const algorithm = page.getByLabel('algorithm');
  expect(await algorithm.locator('option:checked').innerText()).toBe('da: deterministic annealing');
  await page.getByText(/^More options/).click();
  const parts = page.getByRole('group', { name: 'date parts' });
  await expect.poll(() => parts.getByRole('checkbox').count()).toBe(3);
  await parts.getByLabel('weekday').check();
  await page.getByLabel('auto').check();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await detailOf(page).locator('.state.done').waitFor();
  const { jobs } = await node.ask('/clustering');
  expect(Object.values<any>(jobs).at(-1).options.date_parts).toEqual(['weekday']);
  await page.goto(`${node.address}/~/#/jobs?new=1&data=points`);
  await page.getByText(/^More options/).click();
  await page.getByRole('group', { name: 'exclude' }).waitFor();
  expect(await parts.count()).toBe(0);
  expect(wrongs).toEqual([]);
  await context.close();
});
