// The view of the node, in Chromium: services and their ports, workers, the log, the time line of a traced run, joined nodes.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe, COMMAND, Node, openBrowser, openPage, points } from './world.ts';

let browser: Browser;
let node: Node;
let other: Node;

beforeAll(async () => {
  [browser, other] = await Promise.all([openBrowser(), new Node(['--start', 'lehr.mixture=/far']).start()]);
  node = await new Node(['--join', other.address, '--log', 'info']).start();
  await node.ask('/datasets:upload?name=points&id=name', points(300));
});

afterAll(async () => {
  await browser?.close();
  await Promise.all([node?.end(), other?.end()]);
});

test('services open with their operations, ports and subscribers', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/node');
  await page.getByText('All services are ready.').waitFor();
  await page.getByText('HTTP errors').waitFor();
  await page.getByRole('button', { name: '/datasets', exact: true }).click();
  const ports = page.getByRole('region', { name: 'Ports of /datasets' });
  await ports.waitFor();
  const read = ports.getByRole('row').filter({ has: page.getByRole('cell', { name: 'read', exact: true }) });
  expect(await read.getByRole('cell').allInnerTexts()).toHaveLength(5);
  // The page itself listens to the node's changes.
  await page.getByText('Operations:').waitFor();
  expect(await page.getByText('Operations:').innerText()).toContain('upload');
  // Each worker has a row, and together they have run tasks.
  const workers = page.getByRole('region', { name: /^Workers of / }).locator('tbody tr');
  const run = (await workers.locator('td:nth-child(4)').allInnerTexts()).map((text) => Number(text.replaceAll(',', '')));
  expect([run.length > 0, run.reduce((sum, one) => sum + one, 0) > 0]).toEqual([true, true]);
  await page.getByText(/^Subscriber .*: \d+ changes wait, \d+ missed$/).first().waitFor();
  const faults = page.getByRole('region', { name: 'Services', exact: true }).getByRole('row').filter({ has: page.getByRole('button', { name: '/datasets', exact: true }) }).locator('td').last();
  const before = Number(await faults.innerText());
  await expect(node.ask('/datasets:read', { name: 'absent', rows: [0, 1] })).rejects.toThrow();
  await expect.poll(async () => Number(await faults.innerText())).toBe(before + 1);
  expect(await axe(page)).toEqual([]);
  await page.getByRole('button', { name: '/datasets', exact: true }).click();
  await expect.poll(() => ports.count()).toBe(0);
  expect(wrongs).toEqual([]);
  await context.close();
});

test('requests that wait for a busy service are shown with how long they have waited', async () => {
  const busy = await new Node(['--threads', '1']).start();
  const { page, context, wrongs } = await openPage(browser, busy, '#/node');
  await page.getByText('No handler waits, and no port has items.').waitFor();
  await busy.ask('/datasets:upload?name=points&id=name', points(60_000));
  const { job } = await busy.ask('/clustering:run', { input: 'points', options: { clusters: 40, columns: ['x', 'y', 'z'] } });
  const over = busy.ask('/clustering:wait', { job }).catch(() => null);
  await page.getByText(/^\/clustering:wait waits \d/).waitFor();
  await busy.ask('/clustering:cancel', { job });
  await over;
  expect(wrongs).toEqual([]);
  await context.close();
  await busy.end();
});

test('the log shows its latest lines, graver ones alone, and those with a text', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/node');
  await expect(node.ask('/datasets:read', { name: 'absent', rows: [0, 1] })).rejects.toThrow();
  const lines = page.getByRole('region', { name: 'Lines of the log' }).locator('tbody tr');
  await expect.poll(() => lines.filter({ hasText: '/datasets:read' }).count()).toBeGreaterThan(0);
  await page.getByLabel('Show').selectOption('warn');
  await expect.poll(async () => (await lines.allInnerTexts()).every((text) => /warn|error/.test(text))).toBe(true);
  await page.getByLabel('with').fill('no such line');
  await expect.poll(() => lines.count()).toBe(0);
  await page.getByLabel('with').fill('absent');
  await expect.poll(() => lines.count()).toBeGreaterThan(0);
  // On a phone, the text of a line is whole: below the line's time and path, over as many lines as it needs.
  await page.setViewportSize({ width: 390, height: 844 });
  const region = page.getByRole('region', { name: 'Lines of the log' });
  expect(await region.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
  const [path, text] = await Promise.all(['td:nth-child(3)', '.wrap'].map((cell) => lines.first().locator(cell).boundingBox()));
  expect(text!.y).toBeGreaterThanOrEqual(path!.y + path!.height - 1);
  await page.setViewportSize({ width: 1280, height: 900 });
  // A filter changes what the node writes from then on.
  await page.getByLabel('Filters').fill('off');
  await page.getByRole('button', { name: 'Change' }).click();
  await expect.poll(async () => (await node.ask('/log')).filters).toBe('off');
  await node.ask('/log:filter', { filters: 'info' });
  expect(wrongs).toEqual([]);
  await context.close();
});

test('a joined node is listed with its state', async () => {
  const { page, context, wrongs } = await openPage(browser, node, '#/node');
  const joined = page.locator('section[aria-labelledby=joined]');
  await joined.getByRole('link', { name: other.address }).waitFor();
  await joined.locator('.state.up').waitFor();
  expect(wrongs).toEqual([]);
  await context.close();
});

test('the time line of a traced run shows what each rank did, and what it did at a moment', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lehr-trace-'));
  const [table, trace, wrong] = ['table.csv', 'trace.json', 'wrong.json'].map((name) => join(folder, name));
  writeFileSync(table, points(300));
  writeFileSync(wrong, '{"traceEvents": []}');
  const ran = spawnSync(COMMAND, ['cluster', table, '--columns', 'x,y', '-k', '3', '--ranks', '2', '--trace', trace, '--out', join(folder, 'out'), '--quiet'], { encoding: 'utf8' });
  expect(ran.status, ran.stderr).toBe(0);
  const { page, context, wrongs } = await openPage(browser, node, '#/node');
  const open = page.getByLabel('Open a trace');
  await open.setInputFiles(wrong);
  await page.getByText('This is not a trace of a run.').waitFor();
  await open.setInputFiles(trace);
  const line = page.getByRole('img', { name: /^2 ranks from 0 ms to/ });
  await line.waitFor();
  expect(await page.getByText('This is not a trace of a run.').count()).toBe(0);
  expect(await line.locator('path').count()).toBe(6);
  // The shares of a rank are at most the whole time, and less while other programs have the processors.
  const shares = page.getByRole('region', { name: 'Shares of time by rank' }).locator('tbody tr');
  for (const row of await shares.allInnerTexts()) {
    const sum = [...row.matchAll(/([\d.]+) %/g)].reduce((sum, [, share]) => sum + Number(share), 0);
    expect(sum).toBeGreaterThan(2);
    expect(sum).toBeLessThanOrEqual(100.2);
  }
  // By the keyboard: closer, later, and back to the whole run.
  await page.getByRole('group', { name: /^Time line of ranks/ }).focus();
  await page.keyboard.press('w');
  await page.keyboard.press('d');
  await expect.poll(() => page.getByRole('img', { name: /^2 ranks from 0 ms to/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'Whole run' }).click();
  await line.click({ position: { x: 400, y: 12 } });
  // A line that can be seen marks the moment.
  expect(await line.locator('.cross').evaluate((one) => getComputedStyle(one).stroke)).toMatch(/^rgb\(/);
  await expect.poll(() => page.locator('section[aria-labelledby=ranks] li').allInnerTexts()).toEqual([expect.stringMatching(/^rank 0 (computing|communicating|waiting|nothing)/), expect.stringMatching(/^rank 1 /)]);
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save Time line of ranks as SVG' }).click();
  expect(readFileSync(await (await saved).path(), 'utf8')).toMatch(/^<svg.*rank 1/s);
  expect(await axe(page)).toEqual([]);
  expect(wrongs).toEqual([]);
  await context.close();
  rmSync(folder, { recursive: true });
});
