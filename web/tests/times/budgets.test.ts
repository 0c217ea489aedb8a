// What the viewer costs with a million points: times, memory, and processor time of the node. `make dashboard-times` writes a record, from which
// `lab/report/dashboard.py` makes a page. It is no gate: times depend on the machine, and on who else uses it.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromiumPath, Node, openBrowser, openPage } from '../browser/world.ts';

const ROWS = 1_000_000;
const CLUSTERS = 20;
const RUNS = Number(process.env.LEHR_RUNS ?? 7);
const RECORD = process.env.LEHR_RECORD!;
/// How long a page turns its points, and how long a node is watched, in seconds.
const [TURNING, WATCHING] = [4, 20];
/// A picture that has not changed for so long is whole, in seconds.
const QUIET = 2;
/// Chromium collects what a page no longer holds when the page has been idle for half a minute.
const COLLECTED = 45;

let browser: Browser;
let node: Node;
/// Of each case and quantity, the values of all runs.
const figures: Record<string, Record<string, number[]>> = {};

function note(name: string, quantity: string, value: number): void {
  ((figures[name] ??= {})[quantity] ??= []).push(value);
}

/// Groups of points as wide as a twentieth of the whole, the same in every run.
function clustered(columns: string[]): string {
  let seed = 20261127;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const bell = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
  const middles = Array.from({ length: CLUSTERS }, () => columns.map(() => 100 * random()));
  const lines = [columns.join(',')];
  for (let row = 0; row < ROWS; row++) lines.push(middles[row % CLUSTERS].map((middle) => (middle + 5 * bell()).toFixed(4)).join(','));
  return `${lines.join('\n')}\n`;
}

/// Hears of every picture that a page draws: when, how long it took, how many pixels are points, and what they add up to.
function hear(): void {
  const drawn: { at: number; took: number; points: number; sum: number }[] = [];
  (globalThis as any).drawn = drawn;
  const put = CanvasRenderingContext2D.prototype.putImageData;
  CanvasRenderingContext2D.prototype.putImageData = function (image: ImageData, x: number, y: number) {
    (put as (image: ImageData, x: number, y: number) => void).call(this, image, x, y);
    const at = performance.now();
    const pixels = new Uint32Array(image.data.buffer);
    let [points, sum] = [0, 0];
    if (!(globalThis as any).isTurning) {
      for (const pixel of pixels) if (pixel !== pixels[0]) [points, sum] = [points + 1, (31 * sum + pixel) % 2147483647];
    }
    drawn.push({ at, took: 0, points, sum });
  };
  const request = globalThis.requestAnimationFrame;
  globalThis.requestAnimationFrame = (call) => request((time) => {
    const [from, before] = [performance.now(), drawn.length];
    call(time);
    if (drawn.length > before) drawn.at(-1)!.took = drawn.at(-1)!.at - from;
  });
}

/// What the tabs of a browser have in memory at most, in megabytes, as its own task manager counts it. It is the leader of its group of processes.
function tabOf(leader: number): number {
  let most = 0;
  for (const process of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const [command, state, status] = ['cmdline', 'stat', 'status'].map((file) => readFileSync(`/proc/${process}/${file}`, 'utf8'));
      const group = Number(state.slice(state.lastIndexOf(')') + 2).split(' ')[2]);
      if (group === leader && command.includes('--type=renderer')) most = Math.max(most, (Number(status.match(/RssAnon:\s+(\d+)/)?.[1] ?? 0) * 1024) / 1e6);
    } catch {
      // It has just ended.
    }
  }
  return most;
}

/// The memory of a tab that nobody drives: the most, and what stays. Whoever drives a browser has it keep all that a page has loaded.
async function memoryOf(hash: string): Promise<{ peak: number; stays: number }> {
  const profile = mkdtempSync(join(tmpdir(), 'lehr-tab-'));
  const options = ['--headless=new', '--no-sandbox', '--no-first-run', '--window-size=1280,800', `--user-data-dir=${profile}`];
  const child = spawn(chromiumPath(), [...options, `${node.address}/~/${hash}`], { stdio: 'ignore', detached: true });
  const over = new Promise((done) => child.once('exit', done));
  try {
    const found: number[] = [];
    while (found.length < 10 * COLLECTED) {
      await wait(0.1);
      found.push(tabOf(child.pid!));
    }
    return { peak: Math.max(...found), stays: found.at(-1)! };
  } finally {
    process.kill(-child.pid!, 'SIGKILL');
    await over;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/// The processor time of a process so far, in seconds.
function processorOf(process: number): number {
  const spent = readdirSync(`/proc/${process}/task`).map((thread) => Number(readFileSync(`/proc/${process}/task/${thread}/schedstat`, 'utf8').split(' ')[0]));
  return spent.reduce((all, one) => all + one, 0) / 1e9;
}

const wait = (seconds: number) => new Promise((done) => setTimeout(done, 1000 * seconds));

beforeAll(async () => {
  node = new Node();
  node.add('--data-root', node.folder);
  [browser] = await Promise.all([openBrowser(), node.start()]);
  for (const [name, columns] of [['plane', ['x', 'y']], ['space', ['x', 'y', 'z']]] as const) {
    writeFileSync(join(node.folder, `${name}.csv`), clustered([...columns]));
    await node.ask('/datasets:open', { name, path: `${name}.csv` });
    await node.job('/clustering', { input: name, options: { clusters: CLUSTERS } });
  }
});

async function shown(name: string, hash: string): Promise<void> {
  const { page, context, wrongs } = await openPage(browser, node, '#/nothing', { viewport: { width: 1280, height: 800 } });
  await page.addInitScript(hear);
  await page.goto('about:blank');
  await page.goto(`${node.address}/~/${hash}`, { waitUntil: 'commit' });
  await page.locator('.groups li').first().waitFor({ timeout: 120_000 });
  await wait(QUIET);
  await page.waitForFunction((quiet) => performance.now() - (globalThis as any).drawn.at(-1).at > 1000 * quiet, QUIET, { timeout: 120_000, polling: 200 });
  const times = await page.evaluate(() => {
    const { drawn } = globalThis as any;
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    const reads = (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).filter((one) => one.name.includes(':read'));
    // From this picture on nothing changes.
    const last = drawn.at(-1);
    const whole = drawn[drawn.findLastIndex((one: any) => one.sum !== last.sum || one.points !== last.points) + 1];
    return {
      byte: navigation.responseStart, data: Math.min(...reads.map((one) => one.responseStart)),
      first: drawn.find((one: any) => one.points > 0).at, whole: whole.at, took: last.took,
      bytes: reads.reduce((all, one) => all + one.transferSize, 0), requests: reads.length,
    };
  });
  note(name, 'first', (times.first - times.byte) / 1000);
  note(name, 'first of data', (times.first - times.data) / 1000);
  note(name, 'whole', (times.whole - times.byte) / 1000);
  note(name, 'whole of data', (times.whole - times.data) / 1000);
  note(name, 'bytes', times.bytes / 1e6);
  note(name, 'requests', times.requests);
  await turn(name, page);
  expect(wrongs).toEqual([]);
  await context.close();
}

/// Turns or moves the picture by a key that is held, and notes frames a second and how long the whole picture takes afterwards.
async function turn(name: string, page: Page): Promise<void> {
  const { frames, whole } = await page.evaluate(async (seconds) => {
    const own = globalThis as any;
    const cloud = document.querySelector('.cloud')!;
    own.isTurning = true;
    const [from, before] = [performance.now(), own.drawn.length];
    await new Promise<void>((done) => {
      const step = () => {
        if (performance.now() - from > 1000 * seconds) return done();
        const there = Math.floor((performance.now() - from) / 500) % 2 === 0;
        cloud.dispatchEvent(new KeyboardEvent('keydown', { key: there ? 'ArrowLeft' : 'ArrowRight', bubbles: true, cancelable: true }));
        requestAnimationFrame(step);
      };
      step();
    });
    const frames = (own.drawn.length - before) / ((performance.now() - from) / 1000);
    await new Promise((done) => setTimeout(done, 1500));
    return { frames, whole: own.drawn.at(-1).took };
  }, TURNING);
  note(name, 'frames', frames);
  note(name, 'picture', whole / 1000);
}

/// The pages with a million points, in two and in three columns.
const PAGES = [['plane', '#/explore?data=plane'], ['space', '#/explore?data=space&z=z']];

test('a million points: times and frames', async () => {
  for (let run = 0; run < RUNS; run++) {
    for (const [name, hash] of PAGES) await shown(name, hash);
  }
});

test('a million points: memory', async () => {
  note('page', 'memory', (await memoryOf('#/jobs')).stays);
  for (let run = 0; run < RUNS; run++) {
    for (const [name, hash] of PAGES) {
      const { peak, stays } = await memoryOf(hash);
      note(name, 'peak', peak);
      note(name, 'memory', stays);
    }
  }
});

test('the node of a page that watches', async () => {
  /// How much of a core the node takes until something is over, in per cent.
  const during = async (over: () => Promise<unknown>) => {
    const [from, before] = [performance.now(), processorOf(node.pid)];
    await over();
    return (100 * (processorOf(node.pid) - before)) / ((performance.now() - from) / 1000);
  };
  const idle = () => during(() => wait(WATCHING));
  const working = async () => {
    const { job } = await node.ask('/clustering:run', { input: 'plane', options: { clusters: CLUSTERS } });
    return during(() => node.ask('/clustering:wait', { job }));
  };
  for (let run = 0; run < Math.min(RUNS, 3); run++) {
    const alone = await idle();
    note('idle', 'alone', alone);
    note('inspected', 'alone', alone);
    note('job', 'alone', await working());
    const { page, context } = await openPage(browser, node, '#/jobs');
    await wait(2);
    note('idle', 'watched', await idle());
    // The view of the node asks once a second, and the log with it.
    await page.goto(`${node.address}/~/#/node`);
    await wait(2);
    note('inspected', 'watched', await idle());
    const { job } = await node.ask('/clustering:run', { input: 'plane', options: { clusters: CLUSTERS } });
    await page.goto(`${node.address}/~/#/jobs?service=/clustering&job=${job}`);
    note('job', 'watched', await during(() => node.ask('/clustering:wait', { job })));
    await context.close();
  }
});

afterAll(async () => {
  const machine = {
    processor: cpus()[0].model, threads: cpus().length, system: `${process.platform} ${process.arch}`, chromium: browser.version(),
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
  };
  const record = { rows: ROWS, clusters: CLUSTERS, runs: RUNS, load: loadavg().map((one) => one.toFixed(2)).join(' '), machine, figures };
  await browser.close();
  await node.end();
  mkdirSync(dirname(RECORD), { recursive: true });
  writeFileSync(RECORD, `${JSON.stringify(record, null, 1)}\n`);
});
