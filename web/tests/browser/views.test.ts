// What people do in the viewer, in Chromium, on a node of their own.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe, choose, dragged, IS_REQUIRED, kind, Node, openBrowser, openPage, overlapping, points, shop, textOf, towns, watchPages } from './world.ts';

const METHODS = ['lehr.mixture=/mixture', 'lehr.distances=/distances', 'lehr.pairwise=/pairwise', 'lehr.embedding=/embedding'];

let browser: Browser;
let node: Node;

beforeAll(async () => {
  [browser, node] = await Promise.all([openBrowser(), new Node(METHODS.flatMap((method) => ['--start', method])).start()]);
  await node.ask('/datasets:upload?name=points&id=name', points(900));
  await node.job('/clustering', { input: 'points', options: { clusters: 3, columns: ['x', 'y'] } });
});

afterAll(async () => {
  await browser?.close();
  await node?.end();
});

test('somebody brings in a file, runs a method, watches it, picks a point and exports a cluster', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '');
  await choose(page, 'my points.csv', points(3000));
  // The columns are shown before anything is sent.
  await page.getByText('4 columns, names in the first row').waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('my-points');
  await page.getByLabel('Ids').selectOption('name');
  await page.getByRole('button', { name: 'Bring it in' }).click();
  await page.getByRole('heading', { name: 'my-points' }).waitFor();
  await page.getByRole('region', { name: 'Rows of my-points' }).getByText('<img src=x onerror=alert(1)>').waitFor();
  await page.getByRole('link', { name: 'Run a method', exact: true }).click();
  await page.getByLabel('clusters', { exact: true }).fill('3');
  await page.getByRole('group', { name: 'columns' }).getByLabel('x').check();
  await page.getByRole('group', { name: 'columns' }).getByLabel('y').check();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('heading', { name: /^clustering-\d+$/ }).waitFor();
  await page.locator('section[aria-labelledby=job-detail] .state.done').waitFor();
  await page.getByRole('img', { name: /^Free energy over temperature/ }).waitFor();
  await page.locator('section[aria-labelledby=job-detail]').getByRole('link', { name: /^Explore/ }).click();
  await page.getByRole('application').waitFor();
  await page.getByRole('button', { name: /^Cluster 0 1,000/ }).click();
  await page.getByRole('heading', { name: '1,000 rows selected' }).waitFor();
  await page.getByText('cluster 0', { exact: true }).waitFor();
  const saved = textOf(page.waitForEvent('download'));
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const lines = (await saved).trim().split('\n');
  expect(lines).toHaveLength(1001);
  expect(lines[0]).toBe('name,x,y,z,cluster,cluster_name,probability');
  // The exported rows are one of the three groups, whole.
  const groups = new Set(lines.slice(1).map((line) => (line.startsWith('<img') ? 0 : Number(line.match(/^row-(\d+)/)![1]) % 3)));
  expect(groups.size).toBe(1);
  // The nearest point to the middle, by the keyboard.
  await page.getByRole('application').focus();
  await page.keyboard.press('Enter');
  await page.locator('section[aria-labelledby=picked] dt', { hasText: /^x$/ }).waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});

test('somebody with an export of a shop gets clusters, its outliers, and one cluster as a file, without a choice', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '');
  await choose(page, 'shop export.csv', shop());
  await page.getByText('4 columns, names in line 2, below a title').waitFor();
  expect(await page.getByLabel('Format').inputValue()).toBe('table');
  expect(await page.getByLabel('Ids').inputValue()).toBe('Customer');
  await page.getByRole('button', { name: 'Bring it in' }).click();
  await page.getByRole('region', { name: 'The columns' }).waitFor();
  await page.getByRole('link', { name: 'Run a method', exact: true }).click();
  expect(await page.getByLabel('auto').isChecked()).toBe(true);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const detail = page.locator('section[aria-labelledby=job-detail]');
  await detail.locator('.state.done').waitFor();
  const [report] = await Promise.all([context.waitForEvent('page'), detail.getByRole('link', { name: 'Report' }).click()]);
  await report.getByRole('heading', { level: 1, name: /rows in \d+ clusters/ }).waitFor();
  await report.close();
  await detail.getByRole('link', { name: /^Explore/ }).click();
  // Clusters say what sets them apart, and money is drawn so that they are apart.
  await page.locator('.groups small', { hasText: 'Segment <b>Wholesale</b>' }).waitFor();
  await page.locator('.axis .name', { hasText: 'Total spend (log)' }).waitFor();
  await page.getByRole('button', { name: 'Draw values as they are' }).click();
  await page.locator('.axis .name', { hasText: /^Total spend →$/ }).waitFor();
  await page.getByRole('heading', { name: 'Outliers 3' }).waitFor();
  await page.getByRole('button', { name: 'Select them' }).click();
  await page.getByRole('heading', { name: '3 rows selected' }).waitFor();
  const far = await page.getByRole('region', { name: 'Selected rows' }).locator('tbody tr td:nth-child(2)').allInnerTexts();
  expect(far).toEqual(['C0009', 'C0019', 'C0029']);
  const colour = page.getByRole('combobox', { name: /^Colour/ });
  await colour.selectOption('column:Segment');
  await page.getByRole('button', { name: /^<b>Wholesale<\/b>/ }).waitFor();
  await colour.selectOption({ index: 1 });
  await page.getByRole('button', { name: /^Cluster 1/ }).click();
  const saved = textOf(page.waitForEvent('download'));
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const lines = (await saved).trim().split('\n');
  expect(lines[0]).toBe('Customer,Total spend,Visits,Segment,cluster,cluster_name,probability');
  // Somebody who wants no preparation hears of the gaps, and has it after all.
  await page.goto(`${node.address}/~/#/jobs?new=1&data=shop-export`);
  await page.getByLabel('auto').uncheck();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('section[aria-labelledby=job-detail] .trouble').first().waitFor();
  await page.getByRole('button', { name: /^Fill gaps and prepare/ }).click();
  await page.locator('section[aria-labelledby=job-detail] .state.done').waitFor();
  expect(new Set(lines.slice(1).map((line) => kind(Number(line.slice(1, 5))))).size).toBe(1);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('an upload that is broken off goes on where it stopped', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '');
  const offsets: number[] = [];
  await page.route('**/datasets:append?*', (route) => {
    offsets.push(Number(new URL(route.request().url()).searchParams.get('offset')));
    return offsets.length === 2 ? route.abort() : route.continue();
  });
  const rows = 260_000;
  const text = points(rows);
  await choose(page, 'broken.csv', text);
  await page.getByRole('button', { name: 'Bring it in' }).click();
  await page.getByRole('heading', { name: 'broken', exact: true }).waitFor({ timeout: 60_000 });
  expect((await node.ask('/datasets')).datasets.broken.rows).toBe(rows);
  // The second piece was sent again, the first was not.
  expect(offsets[0]).toBe(0);
  expect(offsets[2]).toBe(offsets[1]);
  expect(offsets.filter((offset) => offset === 0)).toHaveLength(1);
  expect(wrongs.filter((wrong) => !/ERR_FAILED/.test(wrong))).toEqual([]);
  await context.close();
});

test('NaN in a file is a missing value, which is not drawn, and infinity is refused with its place', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '');
  const text = `x,y\n${Array.from({ length: 40 }, (_, row) => (row === 3 ? '1,NaN' : row === 5 ? 'inf,2' : `${row},${row % 7}`)).join('\n')}\n`;
  await choose(page, 'undefined.csv', text);
  await page.getByLabel('Format').selectOption('csv');
  await page.getByRole('button', { name: 'Bring it in' }).click();
  // NaN is a missing value, which the form has found in the first rows. Infinity is none.
  expect(await page.getByLabel(/^Values may be missing/).isChecked()).toBe(true);
  await page.getByText('undefined, line 7, column 1 ("x"): expected a finite number, found "inf"').waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await choose(page, 'undefined.csv', text.replace('inf', ''));
  await page.getByRole('button', { name: 'Bring it in' }).click();
  await page.getByRole('heading', { name: 'undefined', exact: true }).waitFor();
  await page.getByRole('link', { name: /^Explore/ }).last().click();
  await page.getByRole('application').waitFor();
  await page.getByText(/^2 rows have a missing value in these columns and are not drawn\.$/).waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a wrong file is refused with the places of its faults, and what helps', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '');
  await choose(page, 'gaps.csv', `a,b\n${'1,2\n'.repeat(120)}3,\n4,5\n`);
  await page.getByRole('button', { name: 'Bring it in' }).click();
  await page.getByText('expected a finite number, found an empty field').waitFor();
  await page.getByRole('button', { name: 'Allow missing values and send again' }).click();
  await page.getByRole('heading', { name: 'gaps', exact: true }).waitFor();
  await choose(page, 'words.csv', `a,b\n${'1,2\n'.repeat(300)}3,x\n4,y\n`);
  await page.getByRole('button', { name: 'Bring it in' }).click();
  await page.getByText('line 302, column 2 ("b"): expected a finite number, found "x"').waitFor();
  await page.getByText('line 303').waitFor();
  // A name that cannot be is refused while it is typed.
  await page.getByLabel('Name', { exact: true }).fill('<img src=x onerror=alert(1)>');
  await page.getByText('Use letters, digits').waitFor();
  expect(await page.getByRole('button', { name: 'Bring it in' }).isDisabled()).toBe(true);
  // The upload is listed with its faults, and without the number of bytes that the node kept of it.
  await page.reload();
  const upload = page.locator('section[aria-labelledby=uploads] li');
  await upload.getByText('line 302').waitFor();
  expect(await upload.locator('.tools').innerText()).not.toMatch(/\d+ B|\d kB/);
  await upload.getByRole('button', { name: 'Forget words' }).click();
  await expect.poll(() => upload.count()).toBe(0);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a file is dropped on the page, and the data set keeps its new name after a reload', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/data');
  const drop = page.locator('.drop');
  const dropped = await page.evaluateHandle((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], 'dropped.csv', { type: 'text/csv' }));
    return data;
  }, points(30));
  await drop.dispatchEvent('dragover', { dataTransfer: dropped });
  await page.locator('.drop.over').waitFor();
  await drop.dispatchEvent('drop', { dataTransfer: dropped });
  await page.getByText('4 columns, names in the first row').waitFor();
  expect(await page.locator('.drop.over').count()).toBe(0);
  await page.getByRole('button', { name: 'Bring it in' }).click();
  const title = page.locator('#data-detail');
  await expect.poll(() => title.innerText()).toBe('dropped');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByLabel('New name').fill('kept');
  await page.keyboard.press('Enter');
  await expect.poll(() => title.innerText()).toBe('kept');
  await page.reload();
  await expect.poll(() => title.innerText()).toBe('kept');
  const { datasets } = await node.ask('/datasets');
  expect([datasets.kept.rows, datasets.dropped]).toEqual([30, undefined]);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('ranges are checked while one types, and the node has the last word', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/jobs?new=1&data=points');
  await page.getByText(/^More options/).click();
  await page.getByLabel('cooling', { exact: true }).fill('0.2');
  await page.getByText('Expected a number from 0.5 to 0.999, found "0.2".').waitFor();
  expect(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true);
  await page.getByLabel('cooling', { exact: true }).fill('0.9');
  await page.getByLabel('clusters', { exact: true }).fill('5000');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const fault = page.locator('section[aria-labelledby=job-detail] .trouble');
  await fault.waitFor();
  // What was asked for, what there is, and what to do.
  expect(await fault.innerText()).toMatch(/you requested 5000 clusters, but only 900 rows .*: request 900 or fewer/);
  await page.getByRole('button', { name: /^Resume/ }).first().waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});

test('points are chosen by box and lasso, with Shift and Alt, inverted and cleared', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/explore?data=points&x=x&y=y');
  const cloud = page.getByRole('application');
  await cloud.waitFor();
  const drag = (from: [number, number], to: [number, number]) => dragged(page, cloud, from, to);
  await cloud.focus();
  await page.keyboard.press('b');
  const selected = page.locator('#chosen');
  // The group at the lower left, which is a third of all rows.
  await drag([0.01, 0.99], [0.35, 0.6]);
  await expect.poll(() => selected.innerText()).toBe('300 rows selected');
  await page.keyboard.down('Shift');
  await drag([0.7, 0.99], [0.93, 0.6]);
  await page.keyboard.up('Shift');
  await expect.poll(() => selected.innerText()).toMatch(/^(59\d|600) rows selected$/);
  await page.keyboard.down('Alt');
  await drag([0.01, 0.99], [0.35, 0.6]);
  await page.keyboard.up('Alt');
  await expect.poll(() => selected.innerText()).toMatch(/^(29\d|300) rows selected$/);
  await page.keyboard.press('Escape');
  await expect.poll(() => selected.count()).toBe(0);
  await page.keyboard.press('l');
  await drag([0.01, 0.99], [0.4, 0.5]);
  await expect.poll(() => selected.count()).toBe(1);
  const number = Number((await selected.innerText()).match(/^\d+/)![0]);
  await page.keyboard.press('i');
  await expect.poll(() => selected.innerText()).toBe(`${900 - number} rows selected`);
  // Whatever size the window has had, all points are there.
  await page.keyboard.press('Escape');
  await page.keyboard.press('b');
  for (const height of [300, 700, 900]) await page.setViewportSize({ width: 1280, height });
  await page.waitForTimeout(200);
  await drag([0.01, 0.99], [0.99, 0.01]);
  await expect.poll(() => selected.innerText()).toBe('900 rows selected');
  await page.keyboard.press('Escape');
  await page.keyboard.press('m');
  expect(wrongs).toEqual([]);
  await context.close();
});

test('two and four pictures side by side have one selection, and show it in their own columns', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/explore?data=points&x=x&y=y');
  const clouds = page.getByRole('application');
  await clouds.waitFor();
  await page.getByLabel('Pictures').selectOption('2');
  await expect.poll(() => clouds.count()).toBe(2);
  await page.getByLabel('Across').nth(1).selectOption('y');
  await page.getByLabel('Upwards').nth(1).selectOption('x');
  const drag = (at: number, from: [number, number], to: [number, number]) => dragged(page, clouds.nth(at), from, to);
  const selected = page.locator('#chosen');
  await clouds.first().focus();
  await page.keyboard.press('b');
  await drag(0, [0.01, 0.99], [0.35, 0.6]);
  await expect.poll(() => selected.innerText()).toBe('300 rows selected');
  // In the other picture these rows are at the lower left too. A box there takes all of them away.
  await page.keyboard.down('Alt');
  await drag(1, [0.01, 0.99], [0.45, 0.45]);
  await page.keyboard.up('Alt');
  await expect.poll(() => selected.count()).toBe(0);
  await page.getByLabel('Pictures').selectOption('4');
  await expect.poll(() => clouds.count()).toBe(4);
  await drag(0, [0.01, 0.99], [0.99, 0.01]);
  await page.locator('.chosen .note').getByText(/^x from \S+ to \S+, y from \S+ to \S+$/).waitFor();
  expect(await clouds.evaluateAll((all) => all.every((one) => / 900 rows are selected/.test(one.getAttribute('aria-label')!)))).toBe(true);
  // A point that is picked in one is picked in all.
  await page.keyboard.press('Escape');
  await clouds.nth(2).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('.over .picked').count()).toBe(4);
  // The address keeps the pictures.
  await page.reload();
  await expect.poll(() => clouds.count()).toBe(4);
  expect(await page.getByLabel('Across').nth(1).inputValue()).toBe('y');
  expect(wrongs).toEqual([]);
  await context.close();
});

test('clusters are hidden and isolated, and a selection becomes a data set and a picture', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/explore?data=points');
  await page.getByRole('button', { name: 'Show only Cluster 1' }).click();
  expect(await page.locator('.groups li.off').count()).toBe(2);
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByRole('button', { name: 'Hide Cluster 0' }).click();
  expect(await page.locator('.groups li.off').count()).toBe(1);
  await page.getByRole('button', { name: /^Cluster 2/ }).click();
  await page.getByRole('button', { name: 'Save as data set' }).click();
  expect(await page.locator('.chosen input').inputValue()).toBe('points-cluster_2');
  await page.locator('.chosen input').fill('third');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('third is there: 300 rows.').waitFor();
  expect((await node.ask('/datasets')).datasets.third.rows).toBe(300);
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save points as PNG' }).click();
  const bytes = readFileSync(await (await saved).path());
  expect([...bytes.subarray(1, 4)].map((byte) => String.fromCharCode(byte)).join('')).toBe('PNG');
  expect(bytes.length).toBeGreaterThan(3000);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('an annealing is replayed, and the number of clusters on the way is kept by a new job', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/jobs?service=/clustering&job=clustering-1');
  const slider = page.getByRole('slider', { name: 'Temperature' });
  await slider.waitFor();
  // The tree has a branch for each of the three clusters.
  await expect.poll(() => page.locator('path.branch:not(.merged)').count()).toBeGreaterThanOrEqual(3);
  // At first the number that lasted longest.
  expect(await slider.getAttribute('aria-valuetext')).toMatch(/^3 clusters at /);
  await page.getByRole('button', { name: /^Fewer clusters/ }).click();
  await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/^2 clusters at /);
  // By the keyboard as well, down to one.
  await slider.focus();
  await page.keyboard.press('Home');
  await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/^1 cluster at /);
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/^3 clusters at /);
  await page.getByRole('button', { name: /^Fewer clusters/ }).click();
  await page.getByRole('button', { name: 'Keep 2 clusters' }).click();
  await expect.poll(() => page.locator('#job-detail').innerText()).not.toBe('clustering-1');
  await page.locator('section[aria-labelledby=job-detail] .state.done').waitFor();
  const id = await page.locator('#job-detail').innerText();
  const job = (await node.ask('/clustering')).jobs[id];
  expect([job.options.clusters, job.options.columns, job.figures.clusters]).toEqual([2, ['x', 'y'], 2]);
  // What it was at a temperature is a job that stops there.
  await page.getByRole('button', { name: /^Fewer clusters/ }).click();
  await page.getByRole('button', { name: 'Clusters at this temperature' }).click();
  await expect.poll(() => page.locator('#job-detail').innerText()).not.toBe(id);
  await page.locator('section[aria-labelledby=job-detail] .state.done').waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});

test('fewer clusters are shown without another job, from the annealing and by a slider', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/jobs?service=/clustering&job=clustering-1');
  await page.getByRole('button', { name: /^Fewer clusters/ }).click();
  const jobs = Object.keys((await node.ask('/clustering')).jobs).length;
  await page.getByRole('link', { name: 'Show 2 clusters' }).click();
  const names = page.locator('.groups .text');
  await expect.poll(() => names.allInnerTexts()).toHaveLength(2);
  expect((await names.allInnerTexts()).filter((name) => / \+ /.test(name))).toHaveLength(1);
  await page.getByRole('slider', { name: /^Merge to/ }).fill('3');
  await expect.poll(() => names.allInnerTexts()).toEqual(['Cluster 0', 'Cluster 1', 'Cluster 2']);
  expect(Object.keys((await node.ask('/clustering')).jobs)).toHaveLength(jobs);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('clusters get names, which exports have, and two selections are compared', async () => {
  const { page, context, wrongs } = await openPage(browser, node, `#/explore?data=points&x=x&y=y&colour=${encodeURIComponent('job:/clustering|clustering-1')}`);
  await page.getByRole('button', { name: 'Rename Cluster 0' }).click();
  await page.getByRole('textbox', { name: 'New name of Cluster 0' }).fill('<i>north</i>');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^<i>north<\/i> 300/ }).click();
  await page.getByRole('heading', { name: '300 rows selected' }).waitFor();
  const saved = textOf(page.waitForEvent('download'));
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const [head, first] = (await saved).trim().split('\n');
  expect(head).toBe('name,x,y,z,cluster,cluster_name,probability');
  expect(first).toContain(',0,<i>north</i>,');
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  const compared = page.locator('section[aria-labelledby=compare]');
  await compared.getByText('B: 600 rows, all other rows.').waitFor();
  await page.getByRole('button', { name: /^Cluster 1/ }).click();
  await compared.getByText('B: 300 rows, cluster 1.').waitFor();
  // Clusters 0 and 1 differ by y first: 9 against groups that are a uniform 2 wide.
  const cells = await compared.locator('table').first().locator('tbody tr').first().locator('td').allInnerTexts();
  expect(cells[0]).toBe('y');
  expect(Math.abs(Number(cells[1]))).toBeGreaterThan(10);
  await page.getByRole('button', { name: 'End the comparison' }).click();
  expect(await compared.count()).toBe(0);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('rows are coloured by how sure they are, and those below a limit are selected and exported', async () => {
  await node.ask('/datasets:upload?name=overlapping&id=name', overlapping(800));
  const id = await node.job('/clustering', { input: 'overlapping', options: { clusters: 2, columns: ['x', 'y'] } });
  const { page, context, wrongs } = await openPage(browser, node, '#/explore?data=overlapping&x=x&y=y');
  await page.locator('.groups small', { hasText: /mean probability 0\.9\d; would merge with 0/ }).waitFor();
  const colours = () => page.evaluate(async () => {
    const image = await createImageBitmap(await (await new Promise<Blob | null>((done) => document.querySelector<HTMLCanvasElement>('.cloud canvas')!.toBlob(done)))!);
    const read = new OffscreenCanvas(image.width, image.height).getContext('2d')!;
    read.drawImage(image, 0, 0);
    return new Set(new Uint32Array(read.getImageData(0, 0, image.width, image.height).data.buffer)).size;
  });
  // Two clusters and the ground; then as many steps of the scale as rows have.
  await expect.poll(colours).toBe(3);
  await page.getByRole('combobox', { name: /^Colour/ }).selectOption({ label: `how sure: ${id}` });
  await expect.poll(colours).toBeGreaterThan(20);
  const sure = page.getByRole('region', { name: 'How sure' });
  await sure.getByText('0.5 or less, unsure').waitFor();
  // The rows that the table of labels has below the limit, and no others.
  const labels: { id: string; probability: number }[] = (await node.ask(`/datasets:read?name=${(await node.ask('/clustering')).jobs[id].outputs.labels}&format=json`)).json;
  const below = (limit: number) => labels.filter(({ probability }) => probability < limit);
  expect(below(0.8).length).toBeGreaterThan(20);
  expect(below(0.8).length).toBeLessThan(200);
  await sure.getByRole('button', { name: `Select ${below(0.8).length} rows` }).click();
  await page.getByRole('heading', { name: `${below(0.8).length} rows selected` }).waitFor();
  await page.getByText('probability below 0.8', { exact: true }).waitFor();
  const saved = textOf(page.waitForEvent('download'));
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const lines = (await saved).trim().split('\n');
  expect(lines[0]).toBe('name,x,y,cluster,cluster_name,probability');
  expect(lines.slice(1).map((line) => line.split(',')[0]).sort()).toEqual(below(0.8).map(({ id }) => id).sort());
  // By the keyboard: another limit, and none.
  await sure.getByRole('slider').focus();
  for (let step = 0; step < 10; step++) await page.keyboard.press('ArrowRight');
  await sure.getByText('Below 0.90').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: `${below(0.9).length} rows selected` }).waitFor();
  await sure.getByRole('slider').focus();
  await page.keyboard.press('Home');
  expect(await sure.getByRole('button', { name: 'Select 0 rows' }).isDisabled()).toBe(true);
  // Clusters are hidden and compared as ever.
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Show only Cluster 1' }).click();
  expect(await page.locator('.groups li.off').count()).toBe(1);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a column is drawn as box plots by cluster, which select, have a table and are saved', async () => {
  const { page, context, wrongs } = await openPage(browser, node, `#/explore?data=points&x=x&y=y&colour=${encodeURIComponent('job:/clustering|clustering-1')}`);
  const boxes = page.getByRole('region', { name: 'Box plots' });
  const values = boxes.getByRole('combobox', { name: 'Values' });
  const drawn = boxes.getByRole('button', { name: /^Box of / });
  await drawn.first().waitFor();
  // The groups lie at 0, 10 and 5 in x, at 0, 0 and 9 in y, and nowhere in z: y sets them apart most.
  expect(await values.inputValue()).toBe('y');
  await values.selectOption('x');
  await expect.poll(() => boxes.getByRole('group', { name: 'x by clusters of clustering-1' }).count()).toBe(1);
  expect(await drawn.count()).toBe(3);
  const medians = (await drawn.evaluateAll((all) => all.map((one) => Number(one.getAttribute('aria-label')!.match(/median ([\d.]+)/)![1])))).sort((a, b) => a - b);
  medians.forEach((median, at) => expect(Math.abs(median - [1, 6, 11][at])).toBeLessThan(0.3));
  // By the pointer, and by one stop of Tab and the arrow keys.
  await drawn.nth(1).click();
  await page.getByRole('heading', { name: '300 rows selected' }).waitFor();
  await page.getByText('cluster 1', { exact: true }).waitFor();
  await drawn.nth(1).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Shift+Enter');
  await page.getByRole('heading', { name: '600 rows selected' }).waitFor();
  await boxes.getByText(/^Cluster 2: median /).waitFor();
  expect(await boxes.locator('[role=button][tabindex="0"]').count()).toBe(1);
  await boxes.getByText('As a table: x by clusters of clustering-1').click();
  const table = boxes.getByRole('region', { name: 'x by clusters of clustering-1' });
  await expect.poll(() => table.locator('tbody tr').count()).toBe(3);
  await table.getByRole('button', { name: 'Cluster 0' }).click();
  await page.getByRole('heading', { name: '300 rows selected' }).waitFor();
  // A hidden cluster has no box, and how sure rows are is a column too.
  await page.getByRole('button', { name: 'Hide Cluster 0' }).click();
  expect(await drawn.count()).toBe(2);
  await values.selectOption({ label: 'probability (how sure)' });
  await boxes.getByRole('group', { name: 'probability by clusters of clustering-1' }).waitFor();
  const saved = textOf(page.waitForEvent('download'));
  await boxes.getByRole('button', { name: /as SVG$/ }).click();
  expect((await saved).match(/<rect /g)!.length).toBeGreaterThan(4);
  expect(await saved).not.toContain('var(--');
  await values.selectOption('none');
  await expect.poll(() => drawn.count()).toBe(0);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('rows that lie far out are drawn at the edge, until somebody asks where they lie', async () => {
  await node.ask('/datasets:upload?name=far&id=name', `${points(300)}far,5000,-4000,1\n`);
  const { page, context, wrongs } = await openPage(browser, node, '#/explore?data=far&x=x&y=y');
  const told = page.getByText('1 row lies farther out and is drawn at the edge.');
  await told.waitFor();
  const names = page.locator('.axis text');
  expect((await names.allTextContents()).some((text) => /^[1-9],?000$/.test(text))).toBe(false);
  await page.getByRole('button', { name: 'Show where they lie' }).click();
  await expect.poll(async () => (await names.allTextContents()).some((text) => /^-?[1-9],000$/.test(text))).toBe(true);
  expect(await told.count()).toBe(0);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('names of columns that are markup stay text, and numbers of every size are drawn', async () => {
  await node.ask('/datasets:upload?name=hostile', '"<img src=x onerror=alert(1)>","</script><b>",__proto__,constructor\n1e300,-1e300,1,2\n5e-324,0,3,4\n-1e300,1e300,5,6\n');
  const { page, context, wrongs } = await openPage(browser, node, '#/explore?data=hostile');
  await page.getByRole('application').waitFor();
  await page.getByRole('application').focus();
  await page.keyboard.press('Enter');
  await page.locator('#picked').waitFor();
  expect(await page.locator('section[aria-labelledby=picked] dt').allInnerTexts()).toEqual(['<img src=x onerror=alert(1)>', '</script><b>', '__proto__', 'constructor']);
  await page.getByLabel('Colour').selectOption('column:__proto__');
  await page.getByRole('heading', { name: '__proto__' }).waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});

test('one cluster, eighty, three hundred, and rows with missing values are drawn', async () => {
  const gaps = points(300).split('\n').map((line, at) => (at % 10 === 5 ? line.replace(/,[^,]*,/, ',,') : line)).join('\n');
  await node.ask('/datasets:upload?name=gapped&id=name&gaps=true', gaps);
  await node.job('/clustering', { input: 'points', options: { clusters: 1 }, output: 'one' });
  await node.job('/clustering', { input: 'points', options: { clusters: 80, method: 'kmeans' }, output: 'eighty' });
  await node.job('/clustering', { input: 'points', options: { clusters: 300, method: 'kmeans', starts: 1 }, output: 'many-clusters' });
  const jobs = (await node.ask('/clustering')).jobs as Record<string, { output: string }>;
  for (const [output, groups] of [['one', 1], ['eighty', 80], ['many-clusters', 300]] as const) {
    const id = Object.keys(jobs).find((job) => jobs[job].output === output)!;
    const { page, context, wrongs } = await openPage(browser, node, `#/explore?data=points&colour=${encodeURIComponent(`job:/clustering|${id}`)}`);
    await page.getByRole('heading', { name: `Clusters ${groups}` }).waitFor();
    expect(await page.locator('.groups li').count()).toBe(Math.min(40, groups));
    if (groups > 40) {
      await page.getByRole('button', { name: `Show all ${groups}` }).click();
      await expect.poll(() => page.locator('.groups li').count()).toBe(groups);
      await page.getByRole('button', { name: `Show only Cluster ${groups - 1}` }).click();
      await expect.poll(() => page.locator('.groups li.off').count()).toBe(groups - 1);
    }
    expect(wrongs).toEqual([]);
    await context.close();
  }
  const { page, context, wrongs } = await openPage(browser, node, '#/explore?data=gapped&colour=column:x');
  await page.getByText('30 rows have a missing value in these columns and are not drawn.').waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});

test('both renderers draw the same pixels: in a plane, in space and on the sphere', async () => {
  await node.ask('/datasets:upload?name=globe&id=name', towns(3000));
  const clusters = `data=points&colour=${encodeURIComponent('job:/clustering|clustering-1')}`;
  const views = { plane: `${clusters}&x=x&y=z`, space: `${clusters}&x=x&y=y&z=z`, sphere: 'data=globe&view=sphere&colour=column:lon' };
  for (const [view, settings] of Object.entries(views)) {
    const pictures: string[] = [];
    for (const renderer of ['cpu', 'webgl']) {
      const { page, context } = await openPage(browser, node, `#/explore?${settings}&renderer=${renderer}`);
      const cloud = page.getByRole('application');
      await cloud.locator('canvas').first().waitFor();
      if (view !== 'sphere') await page.getByRole('button', { name: /^Cluster 1 300/ }).click();
      await page.mouse.move(0, 0);
      const kind = await cloud.getAttribute('data-renderer');
      // Without WebGL, both pictures have the same renderer, and the comparison shows nothing.
      if (kind !== renderer && !IS_REQUIRED) return void console.log('no WebGL in this Chromium: pixels not compared');
      expect(kind, view).toBe(renderer);
      await page.waitForTimeout(300);
      const url = await page.evaluate(() => document.querySelector<HTMLCanvasElement>('.cloud canvas')!.toDataURL('image/png'));
      pictures.push(url.split(',')[1]);
      await context.close();
    }
    const { page, context } = await openPage(browser, node, '#/data');
    const apart = await page.evaluate(async (both: string[]) => {
      const read = async (text: string) => {
        const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
        const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
        const canvas = new OffscreenCanvas(image.width, image.height);
        const drawing = canvas.getContext('2d')!;
        drawing.drawImage(image, 0, 0);
        return new Uint32Array(drawing.getImageData(0, 0, image.width, image.height).data.buffer);
      };
      const [a, b] = [await read(both[0]), await read(both[1])];
      let [different, drawn] = [0, 0];
      a.forEach((pixel, at) => {
        // No point is in the corner.
        if (pixel !== a[0]) drawn++;
        if (pixel !== b[at]) different++;
      });
      return { different, drawn, sizes: [a.length, b.length] };
    }, pictures);
    expect(apart.sizes[0], view).toBe(apart.sizes[1]);
    expect(apart.drawn, view).toBeGreaterThan(2000);
    // A point on the border of two pixels may fall to either side: one in single precision, the other in double.
    expect(apart.different, view).toBeLessThan(0.002 * apart.drawn);
    await context.close();
  }
});

test('the coast is loaded with the first map of places and lies below the points of both renderers', async () => {
  await node.ask('/datasets:upload?name=towns&id=name', towns(200));
  const pictures: [string, string][] = [];
  for (const renderer of ['cpu', 'webgl']) {
    const { page, context, wrongs } = await openPage(browser, node, `#/explore?data=points&renderer=${renderer}`);
    const loaded: string[] = [];
    page.on('request', (request) => request.url().endsWith('/coast.json') && loaded.push(request.url()));
    await page.getByRole('application').waitFor();
    await page.waitForTimeout(300);
    expect(await page.locator('.lands').count()).toBe(0);
    expect(loaded).toEqual([]);
    await page.evaluate((to) => (location.hash = to), `#/explore?data=towns&renderer=${renderer}`);
    await page.locator('.shores .coast').waitFor({ state: 'attached' });
    await page.getByRole('combobox', { name: 'View' }).selectOption('flat');
    await expect.poll(() => page.locator('.shores path').count()).toBe(3);
    expect(loaded).toHaveLength(1);
    const cities = () => page.locator('.city text').allTextContents();
    const before = await cities();
    expect(before).toEqual(expect.arrayContaining(['Los Angeles', 'Chicago']));
    for (let times = 0; times < 3; times++) await page.getByRole('button', { name: 'Zoom in' }).click();
    await expect.poll(cities).not.toEqual(before);
    const boxes = await page.locator('.city text, .over .axis text').evaluateAll((texts) => texts.map((text) => text.getBoundingClientRect().toJSON()));
    boxes.forEach((a, at) => boxes.slice(0, at).forEach((b) => expect(a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom).toBe(false)));
    await page.getByRole('button', { name: 'Fit all' }).click();
    await page.waitForTimeout(300);
    // Between the points the canvas is empty: what lies below is seen.
    pictures.push(await page.evaluate(async () => {
      const canvas = document.querySelector<HTMLCanvasElement>('.cloud canvas')!;
      const image = await createImageBitmap(await (await new Promise<Blob | null>((done) => canvas.toBlob(done)))!);
      const read = new OffscreenCanvas(image.width, image.height).getContext('2d')!;
      read.drawImage(image, 0, 0);
      const { data } = read.getImageData(0, 0, image.width, image.height);
      const numbers = [0, 0, 0];
      for (let at = 3; at < data.length; at += 4) numbers[data[at] === 0 ? 0 : data[at] === 255 ? 1 : 2]++;
      return [document.querySelector('.cloud')!.getAttribute('data-renderer')!, `${numbers[0] > 10 * numbers[1]} ${numbers[1] > 1000} ${numbers[2]}`] as [string, string];
    }));
    // Columns that are no places have their ground again.
    await page.getByLabel('Upwards').selectOption('lon');
    await expect.poll(() => page.locator('.lands').count()).toBe(0);
    expect(wrongs).toEqual([]);
    await context.close();
  }
  for (const [kind, picture] of pictures) expect(picture, kind).toBe('true true 0');
});

test('of many rows a sample is shown with its colours, and then all of them', async () => {
  const rows = 150_000;
  await node.ask('/datasets:upload?name=sampled&id=name', points(rows));
  const job = await node.job('/clustering', { input: 'sampled', options: { clusters: 3 } });
  const { page, context, wrongs } = await openPage(browser, node, '#/jobs');
  // The data sets are known to the page before it shows one.
  await page.getByText(job).first().waitFor();
  let release = () => {};
  const held = new Promise<void>((done) => (release = done));
  const asked: string[] = [];
  await page.route('**/datasets:read**', async (route) => {
    const search = new URL(route.request().url()).searchParams;
    asked.push(`${search.get('name')} ${search.get('columns') ?? 'all'} ${search.get('every') ?? 1}`);
    if (search.get('name') === 'sampled' && !search.get('every')) await held;
    await route.continue();
  });
  await page.evaluate(() => (location.hash = '#/explore?data=sampled'));
  await page.getByText('A sample.').waitFor();
  expect(await page.locator('.framed').getAttribute('inert')).not.toBeNull();
  expect(await page.locator('.groups').count()).toBe(0);
  expect(await page.getByRole('progressbar', { name: 'Rows read' }).getAttribute('value')).toBe('0');
  await expect.poll(() => page.locator('.over .mark').count()).toBe(3);
  expect(await axe(page)).toEqual([]);
  release();
  await page.locator('.groups li').nth(2).waitFor();
  expect(await page.getByText('A sample.').count()).toBe(0);
  expect(await page.locator('.framed').getAttribute('inert')).toBeNull();
  const numbers = (await page.locator('.groups .number:not(.soft)').allTextContents()).map((text) => Number(text.replace(/\D/g, '')));
  expect(numbers.reduce((sum, one) => sum + one, 0)).toBe(rows);
  expect(asked).toEqual(expect.arrayContaining(['sampled all 11', 'sampled all 1', `${job}/labels ["cluster","probability"] 11`, `${job}/labels ["cluster","probability"] 1`]));
  // A row has its name, whose number is its place.
  await page.getByRole('application').focus();
  await page.keyboard.press('Enter');
  const name = (await page.locator('#picked').textContent())!;
  const row = (await node.ask(`/datasets:read?name=sampled&from=${name.replace('row-', '')}&to=${Number(name.replace('row-', '')) + 1}&format=json`)).json[0];
  expect(row.name).toBe(name);
  for (const column of ['x', 'y', 'z']) expect(await page.locator('dl.facts', { hasText: String(row[column]) }).count(), column).toBe(1);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a node that is killed and comes back is followed again', async () => {
  const other = await new Node([], true).start();
  try {
    await other.ask('/datasets:upload?name=before', 'x,y\n1,2\n3,4\n');
    const { page, context, wrongs } = await openPage(browser, other, '#/data');
    await page.getByRole('link', { name: 'before', exact: true }).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await other.kill();
    await page.getByText('no answer', { exact: true }).waitFor();
    await other.start();
    await page.getByText('live', { exact: true }).waitFor({ timeout: 20_000 });
    await other.ask('/datasets:upload?name=after', 'x,y\n1,2\n3,4\n');
    await page.getByRole('link', { name: 'after', exact: true }).waitFor();
    expect(wrongs).toEqual([]);
    await context.close();
  } finally {
    await other.end();
  }
});

test('a job is cancelled and goes on, from the page', async () => {
  await node.ask('/datasets:upload?name=many', points(60_000));
  const { page, context, wrongs } = await openPage(browser, node, '#/jobs?new=1&data=many');
  // A job of half a minute: it must not end before the page cancels it a second time, on a busy machine too.
  await page.getByLabel('clusters', { exact: true }).fill('300');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const detail = page.locator('section[aria-labelledby=job-detail]');
  await detail.getByText(/so far/).waitFor();
  const part = async () => Number(await detail.getByRole('progressbar').getAttribute('value'));
  await expect.poll(part, { timeout: 30_000 }).toBeGreaterThan(1);
  const before = await part();
  await detail.getByRole('button', { name: /^Cancel/ }).click();
  await detail.locator('.state.cancelled').waitFor();
  await detail.getByRole('button', { name: /^Resume/ }).click();
  await detail.locator('.state.running').waitFor();
  // It goes on from where it stopped, not from the beginning.
  await detail.getByRole('progressbar').waitFor();
  expect(await part()).toBeGreaterThanOrEqual(before);
  await detail.getByRole('button', { name: /^Cancel/ }).click();
  await detail.locator('.state.cancelled').waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a node with a policy asks for a token, says that one is wrong, and shows what it allows', async () => {
  const guarded = new Node();
  const policy = join(guarded.folder, 'policy.json');
  writeFileSync(policy, JSON.stringify({
    callers: { reader: { token: 'correct-horse-battery' }, writer: { token: 'staple-of-the-writer' } },
    rules: [{ callers: ['reader'], verbs: ['get', 'query', 'lookup', 'subscribe'], paths: ['/'] }, { callers: ['writer'], paths: ['/'] }],
  }));
  guarded.add('--policy', policy);
  await guarded.start();
  try {
    const { page, context, wrongs } = await openPage(browser, guarded, '#/data');
    await page.getByRole('heading', { name: 'This node asks for a token' }).waitFor();
    await page.getByLabel('Token', { exact: true }).fill('wrong');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.locator('dialog .trouble').waitFor();
    await page.getByLabel('Token', { exact: true }).fill('correct-horse-battery');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('No data set yet.').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    // Who may only read is told so.
    await choose(page, 'a.csv', 'x,y\n1,2\n');
    await page.getByRole('button', { name: 'Bring it in' }).click();
    await page.getByText('Your token does not allow this.').waitFor();
    const own = { authorization: 'Bearer staple-of-the-writer' };
    await guarded.ask('/datasets:upload?name=many', points(60_000), own);
    const { job } = await guarded.ask('/clustering:run', { input: 'many', options: { clusters: 300 } }, own);
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    const refused = page.locator('.trouble', { hasText: 'Your token does not allow this.' });
    await page.getByRole('button', { name: `Cancel ${job}` }).click();
    await refused.waitFor();
    await page.getByRole('link', { name: 'New job' }).click();
    await page.getByLabel('Data', { exact: true }).selectOption('many');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('section[aria-labelledby=new-job] .trouble', { hasText: 'Your token does not allow this.' }).waitFor();
    // A link carries no token, so the page saves what its links would open.
    await page.getByRole('link', { name: 'Node', exact: true }).click();
    for (const [name, expected] of [['Save metrics', /^# HELP /m], ['Save OpenAPI description', /"openapi": ?"3/]] as const) {
      const saved = textOf(page.waitForEvent('download'));
      await page.getByRole('button', { name, exact: true }).click();
      expect(await saved, name).toMatch(expected);
    }
    // What the reader asked for has not happened.
    const { jobs } = await guarded.ask('/clustering', undefined, own);
    expect([Object.keys(jobs), /^(queued|running)$/.test(jobs[job].state)]).toEqual([[job], true]);
    // The token is nowhere but in memory.
    expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie, location.href]))).not.toContain('battery');
    expect(wrongs).toEqual([]);
    await context.close();
  } finally {
    await guarded.end();
  }
});

test('seven tabs of one browser all stay up to date', async () => {
  const context = await browser.newContext({ viewport: { width: 800, height: 600 } });
  const wrongs = await watchPages(context, node);
  const streams = new Set<unknown>();
  context.on('request', (request) => request.url().includes('/~/events') && streams.add(request.frame()));
  const pages: Page[] = [];
  for (let tab = 0; tab < 7; tab++) {
    const page = await context.newPage();
    await page.goto(`${node.address}/~/#/data`);
    pages.push(page);
  }
  for (const page of pages) await page.getByRole('link', { name: 'points', exact: true }).waitFor();
  await node.ask('/datasets:upload?name=for-all', 'x,y\n1,2\n3,4\n');
  for (const page of pages) await page.getByRole('link', { name: 'for-all', exact: true }).waitFor({ timeout: 15_000 });
  // Four tabs have a stream, and the others ask, so two of the browser's six connections are left for requests.
  expect(streams.size).toBe(4);
  const answered = await pages[6].evaluate(async () => {
    const start = performance.now();
    await fetch('/datasets');
    return performance.now() - start;
  });
  expect(answered).toBeLessThan(5000);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a thousand jobs are listed page by page', async () => {
  const other = await new Node(['--start', 'lehr.clustering=/many,queue=2000']).start();
  try {
    await other.ask('/datasets:upload?name=two', 'x,y\n1,2\n3,4\n');
    for (let batch = 0; batch < 20; batch++) {
      await Promise.all(Array.from({ length: 50 }, () => other.ask('/many:run', { input: 'two', options: { clusters: 1 } })));
    }
    const { page, context, wrongs } = await openPage(browser, other, '#/jobs');
    await page.getByText(/1 to 50 of 1,000/).waitFor({ timeout: 30_000 });
    expect(await page.locator('tbody tr').count()).toBe(50);
    await page.getByLabel('Search jobs').fill('many-7');
    await expect.poll(() => page.locator('.pages').first().innerText()).toContain('of 111');
    expect(wrongs).toEqual([]);
    await context.close();
  } finally {
    await other.end();
  }
});

test('a page of another site cannot be framed around, and loads nothing from elsewhere', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const wrongs = await watchPages(context, node);
  const answer = (await page.goto(node.address))!;
  expect(new URL(answer.url()).pathname).toBe('/~/');
  expect(answer.headers()['content-security-policy']).toContain("frame-ancestors 'none'");
  await page.getByRole('link', { name: 'Node', exact: true }).click();
  await page.getByRole('heading', { name: 'Services' }).waitFor();
  // The rules in force: markup and handlers that somebody slips in are refused by the browser.
  const done = await page.evaluate(() => {
    const image = document.createElement('img');
    const ways: [string, () => void][] = [
      ['markup', () => (document.body.innerHTML = '<img src=x onerror=alert(1)>')],
      ['a handler', () => image.setAttribute('onerror', 'alert(1)')],
    ];
    return ways.filter(([, act]) => {
      try {
        act();
        return true;
      } catch {
        return false;
      }
    }).map(([name]) => name);
  });
  expect(done).toEqual([]);
  // `evaluate` may make code where a page may not, but a timer that it sets may not either.
  const made = await page.evaluate(() => new Promise((tell) => setTimeout(() => {
    try {
      tell(new Function('return 1')());
    } catch (error) {
      tell((error as Error).name);
    }
  })));
  expect(made).toBe('EvalError');
  await page.evaluate(() => fetch('http://127.0.0.1:1/').catch(() => {}));
  for (const rule of ['require-trusted-types-for', 'connect-src']) {
    await expect.poll(() => wrongs.some((wrong) => wrong.startsWith(`CSP: ${rule}`)), { timeout: 5000, message: rule }).toBe(true);
  }
  await context.close();
});
