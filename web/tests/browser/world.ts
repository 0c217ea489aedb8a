// A node, a browser, and a page that tells of everything that it should not do.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Locator, type Page, type Route } from 'playwright-core';

const require = createRequire(import.meta.url);
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export const COMMAND = process.env.LEHR_COMMAND ?? '';

/// Whether a part that cannot run is a failure. `tools/web.py` reads the variable in the same way.
export const IS_REQUIRED = !['', '0', 'false'].includes((process.env.LEHR_WEB_REQUIRED ?? '').toLowerCase());

/// A folder with built files of the viewer. If it is set, pages load these files, so you can test a change without building the command again.
const BUILT = process.env.LEHR_WEB_BUILT;

/// Answers with the file in `BUILT`, under the headers of the node.
async function serveBuilt(route: Route): Promise<void> {
  const name = new URL(route.request().url()).pathname.slice('/~/'.length) || 'index.html';
  const file = join(BUILT!, name);
  if (!existsSync(file)) return route.fallback();
  const response = await route.fetch();
  const headers = Object.fromEntries(Object.entries(response.headers()).filter(([name]) => !['content-encoding', 'content-length', 'etag'].includes(name)));
  await route.fulfill({ status: response.status(), headers, body: readFileSync(file) });
}

/// Where Chromium is: LEHR_CHROMIUM, or one of the usual names in the path.
export function chromiumPath(): string {
  if (process.env.LEHR_CHROMIUM) return process.env.LEHR_CHROMIUM;
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    const found = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
    if (found) return found;
  }
  throw new Error('no Chromium in the path: install it, or name it by LEHR_CHROMIUM');
}

/// A node with a folder of its own.
export class Node {
  address = '';
  readonly folder = mkdtempSync(join(tmpdir(), 'lehr-web-'));
  private process: ChildProcess | null = null;
  private readonly more: string[];
  private readonly keeps: boolean;
  private port = 0;

  /// With `keeps` what it has is on its disk, and there again after `kill`.
  constructor(more: string[] = [], keeps = false) {
    [this.more, this.keeps] = [more, keeps];
  }

  /// The number of its process.
  get pid(): number {
    return this.process!.pid!;
  }

  /// Options that it starts with, beside those it was made with.
  add(...more: string[]): void {
    this.more.push(...more);
  }

  async start(): Promise<this> {
    const listen = ['--listen', `127.0.0.1:${this.port}`, ...(this.keeps ? ['--keep', join(this.folder, 'kept')] : [])];
    const child = spawn(COMMAND, ['serve', ...listen, ...this.more], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.process = child;
    let said = '';
    child.stderr!.on('data', (text) => (said += text));
    this.address = await new Promise<string>((done, failed) => {
      child.stdout!.once('data', (text) => done(String(text).trim()));
      child.once('exit', (code) => failed(new Error(`the node ended with ${code}: ${said}`)));
    });
    this.port = Number(new URL(this.address).port);
    return this;
  }

  /// Ends it as a loss of power would.
  async kill(): Promise<void> {
    const child = this.process!;
    const over = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await over;
    this.process = null;
  }

  async end(): Promise<void> {
    if (this.process) await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async ask(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<any> {
    const response = await fetch(this.address + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': typeof body === 'string' ? 'text/csv' : 'application/json', ...headers },
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  /// Runs a job and waits for it.
  async job(service: string, order: object): Promise<string> {
    const { job } = await this.ask(`${service}:run`, order);
    const record = await this.ask(`${service}:wait`, { job });
    if (record.state !== 'done') throw new Error(`${job}: ${JSON.stringify(record)}`);
    return job;
  }
}

export async function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox', '--enable-unsafe-swiftshader'] });
}

/// Everything that a page did and should not have done.
export interface Watched {
  page: Page;
  context: BrowserContext;
  wrongs: string[];
}

export async function openPage(browser: Browser, node: Node, hash: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const wrongs = await watchPage(page, context, node);
  await page.goto(`${node.address}/~/${hash}`);
  return { page, context, wrongs };
}

export async function watchPage(page: Page, context: BrowserContext, node: Node): Promise<string[]> {
  if (BUILT) await context.route(`${node.address}/~/*`, serveBuilt);
  return watch(page, context, (url) => url.startsWith(node.address));
}

/// The same of a page from disk, which loads nothing but itself.
export async function watchFile(page: Page, context: BrowserContext): Promise<string[]> {
  return watch(page, context, (url) => url.startsWith('file://') && url.endsWith('/report.html'));
}

async function watch(page: Page, context: BrowserContext, isOwn: (url: string) => boolean): Promise<string[]> {
  const wrongs: string[] = [];
  context.on('request', (request) => {
    const url = request.url();
    if (!isOwn(url) && !url.startsWith('blob:') && !url.startsWith('data:')) wrongs.push(`foreign request: ${url}`);
  });
  page.on('pageerror', (error) => wrongs.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    wrongs.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.exposeFunction('reportWrong', (text: string) => wrongs.push(text));
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => (globalThis as any).reportWrong(`CSP: ${event.violatedDirective} ${event.blockedURI}`));
  });
  return wrongs;
}

/// What axe-core finds, serious or critical, one line each.
export async function axe(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => (globalThis as any).axe.run(document, { resultTypes: ['violations'] }));
  return violations
    .filter((one: any) => one.impact === 'serious' || one.impact === 'critical')
    .map((one: any) => `${one.id}: ${one.nodes.slice(0, 3).map((found: any) => found.html.slice(0, 120)).join(' | ')}`);
}

/// Points of three groups with names, of which one is to be escaped wherever it is shown.
export function points(rows: number): string {
  let seed = 12345;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  let text = 'name,x,y,z\n';
  for (let row = 0; row < rows; row++) {
    const group = row % 3;
    const [x, y] = [[0, 0], [10, 0], [5, 9]][group];
    const name = row === 0 ? '<img src=x onerror=alert(1)>' : `row-${row}`;
    text += `${name},${(x + random() * 2).toFixed(4)},${(y + random() * 2).toFixed(4)},${(random() * 3).toFixed(4)}\n`;
  }
  return text;
}

/// Towns around two places far apart, one in Nevada and one in West Virginia.
export function towns(rows: number): string {
  let text = 'name,lon,lat\n';
  for (let row = 0; row < rows; row++) {
    const [lon, lat] = row % 2 ? [-117, 39] : [-81, 38.5];
    text += `town-${row},${(lon + 2 * Math.cos(2.4 * row) * Math.sqrt(row / rows)).toFixed(4)},${(lat + 2 * Math.sin(2.4 * row) * Math.sqrt(row / rows)).toFixed(4)}\n`;
  }
  return text;
}

/// Two groups, three deviations apart, so that some rows between them may belong to either.
export function overlapping(rows: number): string {
  let seed = 54321;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const bell = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
  let text = 'name,x,y\n';
  for (let row = 0; row < rows; row++) text += `row-${row},${((row % 2) * 3 + bell()).toFixed(4)},${bell().toFixed(4)}\n`;
  return text;
}

/// Chooses a file with this text on a page.
export async function choose(page: Page, name: string, text: string): Promise<void> {
  await page.locator('input[type=file]').first().setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
}

/// Drags over a picture, around a corner. Places are shares of its width and height.
export async function dragged(page: Page, picture: Locator, from: [number, number], to: [number, number]): Promise<void> {
  const box = (await picture.boundingBox())!;
  await page.mouse.move(box.x + from[0] * box.width, box.y + from[1] * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + ((from[0] + to[0]) / 2) * box.width, box.y + to[1] * box.height, { steps: 4 });
  await page.mouse.move(box.x + to[0] * box.width, box.y + to[1] * box.height, { steps: 4 });
  await page.mouse.up();
}
