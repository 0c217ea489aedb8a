// What people do in Explore with the results of every method, in Chromium, on a node of their own.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe, dragged, kind, Node, openBrowser, openPage, points, shop, textOf } from './world.ts';

const METHODS = ['mixture', 'minibatch', 'gtm', 'distances', 'pairwise', 'kmedoids', 'hierarchy', 'hdbscan', 'embedding'];
/// The methods that find clusters of dissimilarities, with their options.
const OF_PAIRS: [string, object][] = [['/pairwise', { clusters: 3 }], ['/kmedoids', { clusters: 3 }], ['/hierarchy', { clusters: 3 }], ['/hdbscan', { min_cluster_size: 5 }]];

let browser: Browser;
let node: Node;
/// A job that has found the three groups of `points`.
let job: string;

beforeAll(async () => {
  [browser, node] = await Promise.all([openBrowser(), new Node(METHODS.flatMap((method) => ['--start', `lehr.${method}=/${method}`])).start()]);
  await node.ask('/datasets:upload?name=points&id=name', points(60));
  job = await node.job('/clustering', { input: 'points', options: { clusters: 3, columns: ['x', 'y'] } });
});

afterAll(async () => {
  await browser?.close();
  await node?.end();
});

/// Sequences of three families, each long enough to need a scroll bar.
function genes(): string {
  let text = 'name,sequence,family,size\n';
  for (let row = 0; row < 30; row++) {
    const letters = ['ACGTTGCA', 'GGATCCAT', 'TTTAAACC'][row % 3].repeat(60).split('');
    for (let at = 0; at < 12; at++) letters[(row * 37 + at * 41) % letters.length] = 'ACGT'[(row + at) % 4];
    text += `gene-${row},${letters.join('')},${['alpha', 'beta', 'gamma'][row % 3]},${row}\n`;
  }
  return text;
}

test('the page of a job of every method opens what can be drawn, and offers nothing else', async () => {
  await node.ask('/datasets:upload?name=genes&format=table&id=name', genes());
  const outputsOf = async (service: string, job: string): Promise<Record<string, string>> => (await node.ask(service)).jobs[job].outputs;
  const compared = await outputsOf('/distances', await node.job('/distances', { input: 'genes', options: { element: 'f64' } }));
  const { page, context, wrongs } = await openPage(browser, node, '#/jobs');
  const open = async (service: string, job: string) => {
    await page.evaluate((to) => (location.hash = to), `#/jobs?service=${service}&job=${job}`);
    await page.getByRole('heading', { name: job, exact: true }).waitFor();
    return page.locator('section[aria-labelledby=job-detail]').getByRole('link', { name: /^Explore/ });
  };
  const explore = async (service: string, job: string, data: string) => {
    await (await open(service, job)).click();
    await page.getByRole('application').waitFor();
    expect(await page.getByRole('combobox', { name: /^Data/ }).inputValue(), job).toBe(data);
    return page.getByRole('combobox', { name: /^Colour/ }).locator('option:checked').innerText();
  };
  // Ids, sequences and a size have no positions, whether the job has the items or only the pairs.
  const jobs: [string, string][] = [];
  for (const [service, options] of OF_PAIRS) {
    for (const input of [{ matrix: compared.matrix, items: compared.items }, compared.matrix]) jobs.push([service, await node.job(service, { input, options })]);
  }
  for (const [service, job] of jobs) expect(await (await open(service, job)).count(), job).toBe(0);
  await page.evaluate((to) => (location.hash = to), `#/explore?data=${compared.items}`);
  await page.getByText('has fewer than two columns of numbers').waitFor();
  // With a map of the same items, all of them are drawn there.
  const embedding = await node.job('/embedding', { input: { matrix: compared.matrix, items: compared.items } });
  const map = `${embedding}/positions`;
  await page.getByRole('link', { name: map, exact: true }).click();
  await page.getByRole('application').waitFor();
  for (const [service, job] of jobs) {
    expect(await explore(service, job, map)).toBe(`clusters of ${job}`);
    await page.locator('.groups li').first().waitFor();
  }
  // Rows of a table that can be drawn need no map.
  const table = await outputsOf('/distances', await node.job('/distances', { input: 'points', options: { columns: ['x', 'y'] } }));
  const ofTable = await node.job('/pairwise', { input: { matrix: table.matrix, items: table.items }, options: { clusters: 3 } });
  expect(await explore('/pairwise', ofTable, 'points')).toBe(`clusters of ${ofTable}`);
  await page.getByRole('heading', { name: 'Clusters 3' }).waitFor();
  for (const [service, options, word] of [['/clustering', { clusters: 3 }, 'Cluster'], ['/mixture', { components: 3 }, 'Component']] as const) {
    const job = await node.job(service, { input: 'points', options });
    expect(await explore(service, job, 'points')).toBe(`${word.toLowerCase()}s of ${job}`);
    await page.getByRole('heading', { name: `${word}s 3` }).waitFor();
    await page.getByRole('button', { name: new RegExp(`^${word} 0 20 `) }).waitFor();
  }
  // A topographic map has its stretch below the points; a map of one dimension is a line.
  for (const [dimensions, cells] of [[2, 64], [1, 8]]) {
    const gtm = await node.job('/gtm', { input: 'points', options: { dimensions, nodes: 8, basis: 4 } });
    await open('/gtm', gtm);
    // The page of a map begins with the positions of its rows.
    await page.getByRole('button', { name: 'places', exact: true, pressed: true }).waitFor();
    await explore('/gtm', gtm, `${gtm}/places`);
    expect(await page.getByRole('combobox', { name: /^View/ }).inputValue()).toBe('map');
    await expect.poll(() => page.locator('.ground rect').count()).toBe(cells);
    await page.getByText(/^Darker where the map is stretched: from [\d.e−-]+ to /).waitFor();
  }
  const minibatch = await node.job('/minibatch', { input: 'points', options: { clusters: 3 } });
  expect(await (await open('/minibatch', minibatch)).count()).toBe(0);
  expect(await (await open('/distances', 'distances-1')).count()).toBe(0);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a map has the columns of the rows that it shows, and a selection on it is saved with them', async () => {
  await node.ask('/datasets:upload?name=families&format=table&id=name', genes());
  const compared = await node.job('/distances', { input: 'families' });
  const map = `${await node.job('/embedding', { input: { matrix: `${compared}/matrix`, items: `${compared}/items` } })}/positions`;
  const { page, context, wrongs } = await openPage(browser, node, `#/explore?data=${map}&colour=column:family`);
  await page.getByRole('button', { name: /^beta 10/ }).click();
  await page.getByRole('heading', { name: '10 rows selected' }).waitFor();
  const table = page.getByRole('region', { name: 'Selected rows' });
  expect(await table.locator('th').allInnerTexts()).toEqual(['row', 'id', 'x', 'y', 'stress', 'sequence', 'family', 'size']);
  await table.getByRole('button', { name: '2', exact: true }).click();
  const picked = page.locator('section[aria-labelledby=picked]');
  expect(await page.locator('#picked').innerText()).toBe('gene-1');
  const sequence = picked.locator('.long dd');
  expect((await sequence.innerText()).length).toBe(480);
  expect(await sequence.evaluate((one) => one.scrollHeight > one.clientHeight)).toBe(true);
  expect(await axe(page)).toEqual([]);
  await page.getByRole('button', { name: 'Save as data set' }).click();
  await page.getByText('It gets the columns of families.').waitFor();
  expect(await page.locator('.chosen input').inputValue()).toBe('families-family_beta');
  await page.locator('.chosen input').fill('betas');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('betas is there: 10 rows.').waitFor();
  const { columns, id, source } = (await node.ask('/datasets')).datasets.betas;
  expect(source.upload.description).toMatch(/^10 of 30 rows of embedding-2.positions: family beta/);
  expect([columns.map(({ name, kind }: any) => `${name} ${kind}`), id]).toEqual([['name text', 'sequence text', 'family text', 'size number'], 'name']);
  const rows = (await node.ask('/datasets:read?name=betas&format=json')).json;
  expect(rows.map((row: any) => row.name)).toEqual(Array.from({ length: 10 }, (_, at) => `gene-${3 * at + 1}`));
  expect(rows[0].sequence).toHaveLength(480);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a selection of a shop is saved with all its columns, gaps, ids and weights, and without the columns of its clusters', async () => {
  const read = async (name: string) => (await node.ask(`/datasets:read?name=${name}&format=json`)).json as Record<string, unknown>[];
  await node.ask('/datasets:upload?name=shop&format=table&id=Customer', shop());
  await node.job('/clustering', { input: 'shop', options: { clusters: 3, auto: true } });
  // Weights beside a gap, numbers of all sizes, and codes that a reader could take for numbers.
  await node.ask('/datasets:upload?name=weighted&format=table&id=key&weights=people', `key,x,y,people,smiles,code\n${Array.from({ length: 20 }, (_, row) => `k${row},${row === 3 ? '' : row / 7},${1e-9 * row},${row + 1},${row % 2 ? 'CCO' : 'C1CC1'},00${row}\n`).join('')}`);
  await node.ask('/datasets:upload?name=plain&id=name&weights=z', points(30));
  const { page, context, wrongs } = await openPage(browser, node, '#/explore?data=shop&x=Total+spend&y=Visits&colour=column:Segment');
  const save = async (target: string, rows: number) => {
    await page.getByRole('button', { name: 'Save as data set' }).click();
    await page.locator('.chosen input').fill(target);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(`${target} is there: ${rows} rows.`).waitFor();
    const { datasets } = await node.ask('/datasets');
    const about = ({ columns, id, weights }: any) => [columns.map(({ name, kind }: any) => `${name} ${kind === 'text' ? kind : 'number'}`), id, weights];
    return [about(datasets[target]), await read(target)];
  };
  // A typed name that the node does not accept is replaced by one that it does.
  await page.getByRole('button', { name: /^Trade/ }).click();
  await page.getByRole('button', { name: 'Save as data set' }).click();
  await page.locator('.chosen input').fill('My cafés');
  await page.getByText('It will be called My-cafes.').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText(/^My-cafes is there: \d+ rows\.$/).waitFor();
  const trade = (await read('shop')).filter((row) => row.Segment === 'Trade');
  expect(trade.some((row) => row.Visits === null)).toBe(true);
  expect(await save('trade', trade.length)).toEqual([[['Customer text', 'Total spend number', 'Visits number', 'Segment text'], 'Customer', undefined], trade]);
  // The clusters of a job are shown, but the next run must not cluster by them.
  await page.getByRole('combobox', { name: /^Colour/ }).selectOption({ index: 1 });
  await page.getByRole('button', { name: /^Cluster 0/ }).click();
  const number = Number((await page.locator('#chosen').innerText()).match(/^\d+/)![0]);
  const [[columns], saved] = (await save('cluster-0', number)) as [[string[]], Record<string, unknown>[]];
  expect(columns).toEqual(['Customer text', 'Total spend number', 'Visits number', 'Segment text']);
  expect(new Set(saved.map((row) => kind(Number(String(row.Customer).slice(1))))).size).toBe(1);
  await page.goto(`${node.address}/~/#/explore?data=weighted&colour=column:smiles`);
  await page.getByRole('button', { name: /^CCO/ }).click();
  const chains = (await read('weighted')).filter((row) => row.smiles === 'CCO');
  expect(chains.filter((row) => row.x === null)).toHaveLength(1);
  expect(await save('chains', 10)).toEqual([[['key text', 'x number', 'y number', 'people number', 'smiles text', 'code text'], 'key', 'people'], chains]);
  await page.goto(`${node.address}/~/#/explore?data=plain`);
  await page.getByRole('application').focus();
  await page.keyboard.press('b');
  await dragged(page, page.getByRole('application'), [0.01, 0.99], [0.99, 0.01]);
  await page.getByRole('heading', { name: '30 rows selected' }).waitFor();
  expect(await save('plain-again', 30)).toEqual([[['name text', 'x number', 'y number', 'z number'], 'name', 'z'], await read('plain')]);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('the points of a picture are a table too, without those of hidden clusters', async () => {
  const { page, context, wrongs } = await openPage(browser, node, `#/explore?data=points&x=x&y=y&colour=${encodeURIComponent(`job:/clustering|${job}`)}`);
  const rows = page.getByRole('region', { name: 'Selected rows' }).locator('tbody tr');
  const button = page.getByRole('button', { name: 'As a table', exact: true });
  await button.focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => rows.count()).toBe(60);
  await page.getByRole('button', { name: 'Hide Cluster 1' }).click();
  await button.click();
  await expect.poll(() => rows.count()).toBe(40);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('an exported selection opens in Excel and in the node, and the page says how it was selected', async () => {
  const { page, context, wrongs } = await openPage(browser, node, `#/explore?data=points&x=x&y=y&colour=${encodeURIComponent(`job:/clustering|${job}`)}`);
  const cloud = page.getByRole('application');
  await cloud.focus();
  await page.keyboard.press('b');
  await dragged(page, cloud, [0.01, 0.99], [0.99, 0.01]);
  await page.keyboard.down('Alt');
  await page.getByRole('button', { name: /^Cluster 1/ }).click();
  await page.keyboard.up('Alt');
  const saved = textOf(page.waitForEvent('download'));
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const text = await saved;
  expect(text).toMatch(/^\uFEFFname,x,y,z,cluster,cluster_name,probability\n/);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^40 of 60 rows of points: x from -?[\d.e-]+ to -?[\d.e-]+, y from -?[\d.e-]+ to -?[\d.e-]+; without cluster 1 \(clusters of clustering-\d+\)$/);
  // Plain CSV has no columns of texts.
  for (const format of ['csv', 'table']) {
    const made = await node.ask(`/datasets:upload?name=exported-${format}&format=${format}&id=name`, text);
    expect([made.rows, made.columns.map(({ name }: any) => name)]).toEqual([40, ['name', 'x', 'y', 'z', 'cluster', ...(format === 'csv' ? [] : ['cluster_name']), 'probability']]);
  }
  expect(wrongs).toEqual([]);
  await context.close();
});

test('names of clusters and hidden clusters survive a reload, another colour and a merge', async () => {
  const colour = `job:/clustering|${job}`;
  const { page, context, wrongs } = await openPage(browser, node, `#/explore?data=points&colour=${encodeURIComponent(colour)}`);
  const names = page.locator('.groups .text');
  const rename = async (from: string, to: string) => {
    await page.getByRole('button', { name: `Rename ${from}`, exact: true }).click();
    await page.getByRole('textbox', { name: `New name of ${from}` }).fill(to);
    await page.keyboard.press('Enter');
  };
  await rename('Cluster 0', '<b>north</b>');
  await page.getByRole('button', { name: 'Hide Cluster 2' }).click();
  await page.reload();
  await expect.poll(() => names.allInnerTexts()).toEqual(['<b>north</b>', 'Cluster 1', 'Cluster 2']);
  expect(await page.locator('.groups li.off').allInnerTexts()).toEqual([expect.stringContaining('Cluster 2')]);
  await page.getByRole('combobox', { name: /^Colour/ }).selectOption('column:z');
  await expect.poll(() => names.count()).toBe(0);
  await page.getByRole('combobox', { name: /^Colour/ }).selectOption(colour);
  await expect.poll(() => names.allInnerTexts()).toEqual(['<b>north</b>', 'Cluster 1', 'Cluster 2']);
  // A merged group has the names of its parts, and a name of its own for this number of groups.
  await page.getByRole('slider', { name: /^Merge to/ }).fill('1');
  await expect.poll(() => names.allInnerTexts()).toEqual(['Clusters <b>north</b> + 1 + 2']);
  expect(await page.locator('.groups li.off').count()).toBe(0);
  await rename('Clusters <b>north</b> + 1 + 2', 'all');
  await expect.poll(() => names.allInnerTexts()).toEqual(['all']);
  await page.getByRole('slider', { name: /^Merge to/ }).fill('3');
  await expect.poll(() => names.allInnerTexts()).toEqual(['<b>north</b>', 'Cluster 1', 'Cluster 2']);
  // An empty name gives the number back.
  await rename('<b>north</b>', '');
  await expect.poll(() => names.allInnerTexts()).toEqual(['Cluster 0', 'Cluster 1', 'Cluster 2']);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('columns are drawn along their principal axes, in two dimensions and in three', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/explore?data=points&x=x&y=y');
  const view = page.getByRole('combobox', { name: 'View' });
  await view.selectOption('principal axes');
  await page.getByText(/^The directions in which 3 columns vary most/).waitFor();
  const [across, upwards] = await page.locator('.axis .name').allTextContents();
  const share = (name: string) => Number(name.match(/axis \d \((\d+) %\)/)![1]);
  expect(share(across)).toBeGreaterThanOrEqual(share(upwards));
  await view.selectOption('three principal axes');
  await expect.poll(() => page.locator('.axis .name').count()).toBe(3);
  const names = await page.locator('.axis .name').allTextContents();
  expect(Math.abs(names.reduce((sum, name) => sum + share(name), 0) - 100)).toBeLessThanOrEqual(2);
  await page.getByRole('application').focus();
  await page.keyboard.press('b');
  await dragged(page, page.getByRole('application'), [0.01, 0.99], [0.99, 0.01]);
  await page.locator('.chosen .note').getByText('box in three principal axes', { exact: true }).waitFor();
  await page.getByRole('heading', { name: '60 rows selected' }).waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a picture of three columns is turned by dragging and by keys, and a box selects what is seen', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/explore?data=points&x=x&y=y&z=z');
  const cloud = page.getByRole('application');
  const selected = page.locator('#chosen');
  const ends = () => page.locator('.axis .name').evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ x, y }) => `${Math.round(x)} ${Math.round(y)}`));
  await cloud.waitFor();
  await expect.poll(() => page.locator('.axis .name').count()).toBe(3);
  const half = async () => {
    await page.keyboard.press('b');
    await dragged(page, cloud, [0.01, 0.99], [0.5, 0.01]);
    const number = (await selected.count()) ? Number((await selected.innerText()).match(/^\d+/)![0]) : 0;
    const { length } = await page.getByRole('region', { name: 'Selected rows' }).locator('tbody tr').all();
    expect(length).toBe(number);
    const rows = await page.getByRole('region', { name: 'Selected rows' }).locator('tbody td:first-child').allInnerTexts();
    await page.keyboard.press('Escape');
    await page.keyboard.press('m');
    return rows;
  };
  await cloud.focus();
  const [places, rows] = [await ends(), await half()];
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.length).toBeLessThan(60);
  await dragged(page, cloud, [0.2, 0.5], [0.8, 0.6]);
  await expect.poll(ends).not.toEqual(places);
  const [turned, others] = [await ends(), await half()];
  expect(others).not.toEqual(rows);
  await page.keyboard.press('ArrowLeft');
  await expect.poll(ends).not.toEqual(turned);
  // From every side, a box around the whole picture has all rows.
  await page.keyboard.press('f');
  await page.keyboard.press('b');
  await dragged(page, cloud, [0.005, 0.995], [0.995, 0.005]);
  await page.getByRole('heading', { name: '60 rows selected' }).waitFor();
  await page.locator('.chosen .note').getByText('box in x and y and z', { exact: true }).waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});

test('cards that a click opens far away are scrolled to and have the focus, and outliers say how far they are', async () => {
  await node.ask('/datasets:upload?name=shops&format=table&id=Customer', shop());
  const found = await node.job('/clustering', { input: 'shops', options: { clusters: 3, auto: true } });
  const { page, context, wrongs } = await openPage(browser, node, `#/explore?data=shops&colour=${encodeURIComponent(`job:/clustering|${found}`)}`, { viewport: { width: 390, height: 700 } });
  const isReached = async (id: string) => {
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe(id);
    const { y } = (await page.locator(`#${id}`).boundingBox())!;
    // Below the bar at the top, and above the end of the window.
    expect(y).toBeGreaterThan(80);
    expect(y).toBeLessThan(680);
  };
  const outliers = page.getByRole('region', { name: 'Outliers' });
  await outliers.getByText(/Total spend 600,000 \(\d+ % of the distance; half of the cluster has [\d,.]+ to [\d,.]+\)/).first().waitFor();
  await outliers.getByRole('button', { name: 'C0009' }).click();
  await isReached('picked');
  await outliers.getByRole('button', { name: 'Select them' }).click();
  await isReached('chosen');
  // From the list of clusters, too.
  await page.keyboard.press('Escape');
  await page.getByText('Click a group to select its rows.').waitFor();
  await page.getByRole('button', { name: /^Cluster 1/ }).click();
  await page.getByRole('button', { name: /rows selected: see and export them$/ }).click();
  await isReached('chosen');
  // The view keeps its data while the page is open.
  await page.getByRole('link', { name: 'Jobs', exact: true }).click();
  await page.getByRole('heading', { name: 'Jobs', exact: true, level: 2 }).waitFor();
  await page.getByRole('navigation').getByRole('link', { name: 'Explore', exact: true }).click();
  await page.getByRole('button', { name: /^Cluster 1/ }).waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});

test('on a touch screen, the page speaks of fingers and of no keys', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/explore?data=points&x=x&y=y&colour=column:name', { hasTouch: true, isMobile: true, viewport: { width: 390, height: 800 } });
  // The text that is seen, without that for a mouse.
  await expect.poll(() => page.locator('.under .note').innerText()).toBe('Drag to move, zoom with two fingers, tap a point to see its row.');
  await page.locator('.groups .name').first().click();
  expect(await page.locator('.chosen .tools').innerText()).not.toMatch(/\(I\)|\(Esc\)/);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a job that finds one cluster says so', async () => {
  const one = await node.job('/clustering', { input: 'points', options: { clusters: 1, columns: ['x', 'y'] } });
  const { page, context, wrongs } = await openPage(browser, node, `#/explore?data=points&colour=${encodeURIComponent(`job:/clustering|${one}`)}`);
  await page.getByText('No groups found: all rows are one group.').waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});
