// Lehr in a page: it reads a table, clusters it and shows the result. No data leaves the computer.

import { signal, useSignal } from '@preact/signals';
import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { fromBase64 } from '../api/base64.ts';
import { fields, type Field } from '../api/schema.ts';
import { download } from '../state/download.ts';
import { bytes, count, duration } from '../state/words.ts';
import { isRight, options, Options, type Typed } from '../views/form.tsx';
import { Cancelled, Engine, type Account, type File as Output, type Progress, type Told } from './engine.ts';
import '../style.css';
import './page.css';

/// A table. Its columns are `null` until the engine has described them.
interface Table {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
  columns: Account[] | null;
}

/// The result of a run.
interface Found {
  table: Table;
  request: Request;
  told: Told;
  report: Output;
  ms: number;
}

interface Request {
  name: string;
  method: string;
  options: Record<string, unknown>;
  columns: string[];
  weights: string | null;
  id: string | null;
  lonlat: boolean;
  scale: string | null;
  auto: boolean;
  /// The measure by which rows are compared for a map of their dissimilarities.
  metric: string | null;
}

const METHODS: [string, string][] = [
  ['cluster', 'clusters: groups around centres'],
  ['mixture', 'a mixture: overlapping groups'],
  ['gtm', 'a topographic map of many columns'],
  ['embed', 'a map by dissimilarities'],
];
const METRICS: [string, string][] = [
  ['gower', 'Gower: numbers, texts and dates'],
  ['euclidean', 'Euclidean'],
  ['manhattan', 'Manhattan'],
  ['cosine', 'cosine'],
  ['correlation', 'correlation'],
];
const SCALES: [string, string][] = [
  ['', 'chosen for the table'],
  ['none', 'none: the columns have one unit'],
  ['std', 'standard deviation'],
  ['robust', 'interquartile range'],
];
/// The maximum size of a file in bytes. A browser has too little memory for larger files and their results.
const BYTES_MAX = 400e6;

const part = (id: string) => document.getElementById(id)!;

/// Converts choices and their meanings from the form in which a method declares them to the form in which a node sends them.
function listed(schema: any): any {
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: schema.anyOf.map(listed) };
  if (!Array.isArray(schema.oneOf)) return schema;
  const meanings = schema.oneOf.map((one: any) => `- \`${one.const}\`: ${one.description ?? ''}`);
  return { ...schema, enum: schema.oneOf.map((one: any) => one.const), description: [schema.description ?? '', ...meanings].join('\n\n') };
}

/// Unpacks a small table that the page contains.
async function unpacked(id: string): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([fromBase64(part(id).textContent!)]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const packed = part('engines');
const engine = new Engine({ text: packed.textContent!, lengths: packed.dataset.lengths!.split(' ').map(Number) });
const table = signal<Table | null>(null);
const found = signal<Found | null>(null);
/// The files of the result that is shown. They are made while the report is drawn.
const files = signal<Output[]>([]);
const fault = signal<string | null>(null);
const busy = signal<{ what: string; since: number; progress: Progress | null } | null>(null);

/// Runs `work`, and shows `what` meanwhile. If `work` fails, shows the error and returns `null`.
async function during<T>(what: string, work: () => Promise<T>): Promise<T | null> {
  fault.value = null;
  busy.value = { what, since: performance.now(), progress: null };
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Cancelled)) fault.value = error instanceof Error ? error.message : String(error);
    return null;
  } finally {
    busy.value = null;
  }
}

async function take(file: Blob & { name?: string }): Promise<void> {
  engine.cancel();
  const name = file.name ?? 'table.csv';
  found.value = null;
  if (file.size > BYTES_MAX) {
    table.value = null;
    fault.value = `${name} has ${bytes(file.size)}. A browser has memory for tables of up to ${bytes(BYTES_MAX)}: install Lehr, and run "lehr cluster ${name}".`;
    return;
  }
  const content = new Uint8Array(await file.arrayBuffer());
  const next: Table = { name, bytes: content, columns: null };
  table.value = next;
  const described = await during(`Reading ${name}`, () => engine.ask({ kind: 'columns', name, file: content }));
  if (described) table.value = { ...next, columns: described.told };
  else table.value = null;
}

async function fit(of: Table, request: Request): Promise<void> {
  const began = performance.now();
  const answer = await during(`Running ${request.method}`, () =>
    engine.ask({ kind: 'run', request, file: of.bytes }, (progress) => {
      if (busy.value) busy.value = { ...busy.value, progress };
    }),
  );
  if (!answer) return;
  const [report] = answer.files;
  const shown = (found.value = { table: of, request, told: answer.told, report, ms: performance.now() - began });
  files.value = [];
  const rest = await engine.ask({ kind: 'files' }).catch((error) => {
    if (!(error instanceof Cancelled)) fault.value = error.message;
    return null;
  });
  if (rest && found.value === shown) files.value = [...rest.files, report];
}

const PLAIN = { weights: null, id: null, lonlat: false, scale: null, auto: true, metric: null };

/// Runs the example: every census block of three states, clustered on the globe and weighted by population.
async function census(): Promise<void> {
  engine.cancel();
  const content = await during('Loading the census', async () => {
    const response = await fetch('census.csv.gz').catch(() => null);
    if (!response?.ok) throw new Error('This page was opened from a disk, where it cannot load the census. Drop the file census.csv.gz, which is beside this page, on it.');
    return new Uint8Array(await response.arrayBuffer());
  });
  if (!content) return;
  const of: Table = { name: 'census.csv.gz', bytes: content, columns: null };
  table.value = null;
  await fit(of, { ...PLAIN, name: of.name, method: 'cluster', options: { clusters: 20 }, columns: ['lon', 'lat'], weights: 'pop', lonlat: true, auto: false });
}

function Choose() {
  const isOver = useSignal(false);
  const sample = async (id: string, name: string) => take(new File([await unpacked(id)], name));
  return (
    <section class="card" aria-labelledby="choose">
      <h2 id="choose">Choose a table</h2>
      <div
        class={`drop${isOver.value ? ' over' : ''}`}
        onDragOver={(event) => {
          event.preventDefault();
          isOver.value = true;
        }}
        onDragLeave={() => (isOver.value = false)}
        onDrop={(event) => {
          event.preventDefault();
          isOver.value = false;
          const file = event.dataTransfer?.files[0];
          if (file) void take(file);
        }}
      >
        <p>
          Drop a file here, or{' '}
          <label class="button first">
            choose one
            <input class="unseen" type="file" aria-label="File of a table" onChange={(event) => event.currentTarget.files?.[0] && take(event.currentTarget.files[0])} />
          </label>
        </p>
        <p class="note">CSV, TSV or JSON, as you have it: plain or packed by gzip. Also NPY, FPS and SVMlight. It stays on your computer.</p>
      </div>
      <p class="samples">
        <span class="soft">Or try: </span>
        <button type="button" onClick={census}>201,174 census blocks on the globe</button>
        <button type="button" onClick={() => sample('penguins', 'penguins.csv')}>Penguins, a table with gaps and texts</button>
        <button type="button" onClick={() => sample('wine', 'wine.csv')}>Wines by their chemistry</button>
      </p>
    </section>
  );
}

const isPlace = (columns: Account[], name: RegExp, limit: number) =>
  columns.find((column) => name.test(column.name.trim()) && column.facts.numbers && Math.max(-column.facts.numbers.low, column.facts.numbers.high) <= limit);

function Settings({ of, columns }: { of: Table; columns: Account[] }) {
  const [lon, lat] = [isPlace(columns, /^(lon|lng|long|longitude)$/i, 360), isPlace(columns, /^(lat|latitude)$/i, 90)];
  const places = lon && lat ? [lon.name, lat.name] : null;
  const method = useSignal('cluster');
  const lonlat = useSignal(places !== null);
  const chosen = useSignal<string[]>([]);
  const weights = useSignal('');
  const id = useSignal('');
  const scale = useSignal('');
  const metric = useSignal('gower');
  const typed = useSignal<Typed>({});
  const declared = useSignal<Field[]>([]);
  useEffect(() => {
    typed.value = {};
    declared.value = [];
    void during('Starting', () => engine.ask({ kind: 'options', method: method.value })).then((answer) => {
      // In a browser, the engine has only kernels of double precision, so the page does not offer `precision`.
      if (!answer) return;
      const properties = Object.fromEntries(Object.entries(answer.told.properties).map(([name, schema]) => [name, listed(schema)]));
      declared.value = fields({ ...answer.told, properties }, { paths: {}, components: { schemas: {} } }).filter((one) => one.name !== 'precision');
    });
  }, [method.value]);
  const isMap = method.value === 'embed';
  const isOnGlobe = lonlat.value && places !== null && method.value === 'cluster';
  // Gower's measure divides each column by its range already, so it needs no scale.
  const scales = !isMap ? SCALES : metric.value === 'gower' ? [] : SCALES.filter(([value]) => value === 'none' || value === 'std');
  const isScaled = scales.some(([value]) => value === scale.value);
  const isRun = isRight(declared.value, typed.value) && !busy.value;
  const submit = (event: Event) => {
    event.preventDefault();
    void fit(of, {
      name: of.name,
      method: method.value,
      options: options(declared.value, typed.value),
      columns: isOnGlobe ? places : chosen.value,
      weights: isMap ? null : weights.value || null,
      id: id.value || null,
      lonlat: isOnGlobe,
      scale: isOnGlobe || !isScaled ? null : scale.value || null,
      auto: !isOnGlobe,
      metric: isMap ? metric.value : null,
    });
  };
  return (
    <section class="card" aria-labelledby="settings">
      <div class="head">
        <div>
          <h2 id="settings">{of.name}</h2>
          <p class="note">{count(columns[0]?.rows ?? 0)} rows, {count(columns.length)} columns, {bytes(of.bytes.length)}</p>
        </div>
      </div>
      <form onSubmit={submit}>
        <div class="fields">
          <Choice name="Find" value={method.value} choices={METHODS} change={(value) => (method.value = value)} />
          {isMap && <Choice name="Dissimilarity of rows" value={metric.value} choices={METRICS} change={(value) => (metric.value = value)} />}
          {!isOnGlobe && scales.length > 0 && <Choice name="Scale of the columns" value={isScaled ? scale.value : scales[0][0]} choices={scales} change={(value) => (scale.value = value)} />}
          {!isMap && <Choice name="Column of weights" value={weights.value} choices={[['', 'none'], ...columns.filter((one) => one.facts.numbers).map(({ name }): [string, string] => [name, name])]} change={(value) => (weights.value = value)} />}
          <Choice name="Column that names the rows" value={id.value} choices={[['', 'none: the number of the row'], ...columns.map(({ name }): [string, string] => [name, name])]} change={(value) => (id.value = value)} />
        </div>
        {places && method.value === 'cluster' && (
          <label class="check">
            <input type="checkbox" checked={lonlat.value} onChange={(event) => (lonlat.value = event.currentTarget.checked)} />
            <span>Cluster on the globe, by <b>{places[0]}</b> and <b>{places[1]}</b></span>
          </label>
        )}
        {!isOnGlobe && (
          <details>
            <summary>Columns: {chosen.value.length ? `${chosen.value.length} chosen` : 'all measures'}</summary>
            <div class="columns">
              {columns.map(({ name, role }) => (
                <label class="check" key={name}>
                  <input
                    type="checkbox"
                    checked={chosen.value.includes(name)}
                    onChange={(event) => (chosen.value = event.currentTarget.checked ? [...chosen.value, name] : chosen.value.filter((one) => one !== name))}
                  />
                  {name} <span class="faint">{role}</span>
                </label>
              ))}
            </div>
          </details>
        )}
        <Options fields={declared.value} typed={typed.value} dataset={undefined} change={(name, value) => (typed.value = { ...typed.value, [name]: value })} />
        <button type="submit" class="first" disabled={!isRun}>Run</button>
      </form>
    </section>
  );
}

function Choice({ name, value, choices, change }: { name: string; value: string; choices: [string, string][]; change: (value: string) => void }) {
  return (
    <label>
      {name}
      <select value={value} onChange={(event) => change(event.currentTarget.value)}>
        {choices.map(([key, words]) => <option key={key} value={key}>{words}</option>)}
      </select>
    </label>
  );
}

function Busy() {
  const now = busy.value;
  if (!now) return null;
  const share = now.progress?.fraction;
  return (
    <section class="card busy" role="status">
      <span>{now.what}{now.progress ? `: ${now.progress.stage}` : '…'}</span>
      <progress max={1} value={share ?? undefined} aria-label={now.what} />
      <button type="button" onClick={() => engine.cancel()}>Cancel</button>
    </section>
  );
}

/// The media type of a file, by the extension of its name.
const KIND: Record<string, string> = { csv: 'text/csv', json: 'application/json', html: 'text/html' };

function Result({ of }: { of: Found }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const { told, report, request, table: from } = of;
  useEffect(() => {
    const place = frame.current!;
    place.closest('section')!.scrollIntoView({ block: 'start' });
    place.srcdoc = new TextDecoder().decode(report.bytes);
    // The annealing figure of the report can ask to run the method again with a given number of clusters.
    const keep = (event: Event) => void fit(from, { ...request, options: { ...request.options, clusters: (event as CustomEvent<number>).detail } });
    place.addEventListener('lehr-keep', keep);
    return () => place.removeEventListener('lehr-keep', keep);
  }, [of]);
  return (
    <section class="card" aria-labelledby="found">
      <div class="head">
        <div>
          <h2 id="found">{told.headline.split('\n')[0]}</h2>
          <p class="note">{count(told.rows)} rows of {of.request.name} after {duration(of.ms)}, on one thread of this browser.</p>
        </div>
      </div>
      {told.warnings.length > 0 && <ul class="warning">{told.warnings.map((one) => <li key={one}>{one}</li>)}</ul>}
      {!engine.isExact && <p class="warning">The multiply-add of this browser rounds twice. So results may differ from those of other computers in their last digits.</p>}
      <p class="samples">
        <span class="soft">{files.value.length ? 'Save: ' : 'Writing the files…'}</span>
        {files.value.map((file) => (
          <button type="button" key={file.name} onClick={() => download(file.name, new Blob([file.bytes], { type: KIND[file.name.split('.').pop()!] }))}>
            {file.name} <span class="faint">{bytes(file.bytes.length)}</span>
          </button>
        ))}
      </p>
      {files.value.some((file) => file.name === 'model.json') && (
        <p class="note">model.json labels new rows: <code>lehr predict model.json new.csv</code>, or <code>lehr.load("model.json")</code> in Python.</p>
      )}
      <iframe ref={frame} title="Report" data-keep="" />
    </section>
  );
}

function Page() {
  const of = table.value;
  return (
    <>
      <header class="top">
        <span class="mark">Lehr</span>
        <span class="soft">Find groups in a table, here in the browser. Nothing is sent anywhere.</span>
      </header>
      <main>
        <h1 class="unseen">Lehr in the browser</h1>
        <Choose />
        {fault.value && <p class="trouble" role="alert">{fault.value}</p>}
        {of?.columns && <Settings key={of.name} of={of} columns={of.columns} />}
        <Busy />
        {found.value && <Result of={found.value} />}
        <p class="faint foot">
          The same engine as the command and the Python package, compiled to WebAssembly. For larger tables, several threads or machines, and for sequences and
          dissimilarities of your own, install Lehr.
        </p>
      </main>
    </>
  );
}

render(<Page />, document.getElementById('app')!);
