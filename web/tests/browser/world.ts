// A node, a browser, and a page that tells of everything that it should not do.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Download, type Locator, type Page, type Route } from 'playwright-core';

const require = createRequire(import.meta.url);
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export const COMMAND = process.env.LEHR_COMMAND ?? '';

/// Whether a part that cannot run is a failure. `tools/web.py` reads the variable in the same way.
export const IS_REQUIRED = !['', '0', 'false'].includes((process.env.LEHR_WEB_REQUIRED ?? '').toLowerCase());

/// A folder with built files of the viewer. If it is set, pages and reports have these files, so you can test a change without building the command again.
const BUILT = process.env.LEHR_WEB_BUILT;

/// Answers with the file in `BUILT`, under the headers of the node.
async function serveBuilt(route: Route): Promise<void> {
  const name = new URL(route.request().url()).pathname.slice('/~/'.length) || 'index.html';
  const file = join(BUILT!, name);
  if (!existsSync(file)) return route.fallback();
  const own = await route.fetch();
  // A command that was built before does not know a new script, which has the headers of the others.
  const response = own.ok() || !name.endsWith('.js') ? own : await route.fetch({ url: new URL('app.js', route.request().url()).href });
  const headers = Object.fromEntries(Object.entries(response.headers()).filter(([name]) => !['content-encoding', 'content-length', 'etag'].includes(name)));
  await route.fulfill({ status: response.status(), headers, body: readFileSync(file) });
}

/// Puts the files in `BUILT` into a report of the command, as `crates/report` does.
export function renewReport(file: string): void {
  if (!BUILT || !existsSync(join(BUILT, 'report.js'))) return;
  const [script, hash, style] = ['report.js', 'report.sha256', 'report.css'].map((name) => readFileSync(join(BUILT, name), 'utf8'));
  const page = readFileSync(file, 'utf8').replace(/'sha256-[^']*'/, () => `'sha256-${hash}'`).replace(/<style>.*?<\/style>/s, () => `<style>${style}</style>`).replace(/<script>.*?<\/script>/s, () => `<script>${script}</script>`);
  writeFileSync(file, page);
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
  const wrongs = await watchPages(context, node);
  await page.goto(`${node.address}/~/${hash}`);
  return { page, context, wrongs };
}

/// Notes what pages of a context do and should not, also those that open in new tabs.
export async function watchPages(context: BrowserContext, node: Node): Promise<string[]> {
  // A test may close its page while the page still loads a file.
  const serve = (route: Route) => serveBuilt(route).catch((error) => {
    if (!/disposed|closed/.test(String(error))) throw error;
  });
  if (BUILT) await context.route(`${node.address}/~/*`, serve);
  return watch(context, (url) => url.startsWith(node.address));
}

/// The same of pages from disk, which load nothing but themselves.
export async function watchFiles(context: BrowserContext): Promise<string[]> {
  return watch(context, (url) => url.startsWith('file://') && url.endsWith('/report.html'));
}

async function watch(context: BrowserContext, isOwn: (url: string) => boolean): Promise<string[]> {
  const wrongs: string[] = [];
  context.on('request', (request) => {
    const url = request.url();
    if (!isOwn(url) && !url.startsWith('blob:') && !url.startsWith('data:')) wrongs.push(`foreign request: ${url}`);
  });
  context.on('weberror', (error) => wrongs.push(`error: ${error.error().message}`));
  context.on('dialog', (dialog) => {
    wrongs.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await context.exposeFunction('reportWrong', (text: string) => wrongs.push(text));
  await context.addInitScript(() => {
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

/// Six of ten customers are of the first kind, three of the second.
export const kind = (row: number) => (row % 10 < 6 ? 0 : row % 10 < 9 ? 1 : 2);

/// An export as a shop's system writes it: a title, money, per cent, gaps, a total, and three customers who spent a fortune.
export function shop(): string {
  let seed = 7;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const bell = () => random() + random() + random() - 1.5;
  let text = '\uFEFFShop export 2024-02\nCustomer,Total spend,Visits,Segment\n';
  for (let row = 0; row < 400; row++) {
    const [spend, visits, segment] = ([[40, 3, 'Retail'], [900, 14, 'Trade'], [6000, 30, '<b>Wholesale</b>']] as const)[kind(row)];
    const paid = row < 30 && kind(row) === 2 ? 600_000 : spend * Math.exp(0.5 * bell());
    const amount = paid.toLocaleString('en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
    text += `C${String(row).padStart(4, '0')},"£${amount}",${row % 50 === 7 ? 'N/A' : Math.max(1, Math.round(visits + 2 * bell()))},${row % 11 === 5 ? '' : segment}\n`;
  }
  return `${text}Total,,,\n`;
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

/// Returns the text of a file that a page saves.
export async function textOf(download: Promise<Download>): Promise<string> {
  return readFileSync(await (await download).path(), 'utf8');
}

/// Presses Tab until an element has the focus whose role and name match. A table of selected rows has a stop for each of them.
export async function reached(page: Page, wanted: RegExp, most = 120): Promise<void> {
  for (let step = 0; step < most; step++) {
    await page.keyboard.press('Tab');
    const text = await page.evaluate(() => {
      const on = document.activeElement as HTMLElement | null;
      if (!on) return '';
      const { type, labels } = on as HTMLInputElement;
      const name = on.tagName === 'INPUT' ? (type === 'file' ? type : labels?.[0]?.innerText.trim()) : on.innerText;
      return `${on.getAttribute('role') ?? on.tagName} ${on.getAttribute('aria-label') ?? name}`;
    });
    if (wanted.test(text)) return;
  }
  throw new Error(`not reached by Tab: ${wanted}`);
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

/// Saves each picture of a page as SVG, and returns the names of the files. Fails if a file draws nothing, or needs the style of the page.
export async function savePictures(page: Page): Promise<string[]> {
  const names: string[] = [];
  for (const button of await page.getByRole('button', { name: /^Save .* as SVG$/ }).all()) {
    const saved = page.waitForEvent('download');
    await button.click();
    const file = await saved;
    names.push(file.suggestedFilename());
    const text = readFileSync(await file.path(), 'utf8');
    const [shapes, isStyled] = [text.match(/<(path|line|circle|rect|image|polygon)\b/g)?.length ?? 0, text.includes('var(--')];
    // The first rectangle is the ground.
    if (!/^<svg [^>]*xmlns=/.test(text) || shapes < 2 || isStyled) throw new Error(`${file.suggestedFilename()}: ${text.slice(0, 400)}`);
  }
  return names;
}
