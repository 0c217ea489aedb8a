// The view Explore: the points of a data set on the node, with the clusters of its jobs.

import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { readColumns, type Columns } from '../api/columns.ts';
import { byLabels, describe, rowsOf, withOutliers, type Colouring } from '../state/clusters.ts';
import { datasetsPath, documentOf, methods, type Dataset, type Datasets, type Jobs } from '../state/node.ts';
import { route, settle, written } from '../state/route.ts';
import { upload } from '../state/upload.ts';
import { count, figure } from '../state/words.ts';
import { canBeDrawn } from './data.tsx';
import { Trouble } from './fault.tsx';
import { keyOfLabels, Scene, type LabelSource, type Source } from './scene.tsx';

/// Loads the coast, a file beside this page.
async function coast(): Promise<string> {
  const answer = await fetch('./coast.json');
  if (!answer.ok) throw new Error(`coast.json: ${answer.status}`);
  return answer.text();
}

/// The maximum size of the values that the page reads, in bytes.
const BYTES_MAX = 600e6;
/// The maximum number of rows in a sample. A data set with more than twice as many rows is first shown as a sample.
const SAMPLE = 60_000;
/// The minimum step between two rows of a sample.
const STEP_LEAST = 11;

/// Returns the step between two rows of a sample. A prime step avoids the periods of rows, such as the 24 hours of a day.
export function stepOf(rows: number): number {
  let step = Math.max(STEP_LEAST, Math.ceil(rows / SAMPLE));
  for (let by = 2; by * by <= step; by++) if (step % by === 0) [step, by] = [step + 1, 1];
  return step;
}

export default function Explore() {
  const path = datasetsPath();
  const document = path ? documentOf<Datasets>(path).value : null;
  if (!path) return <p class="empty">This node has no service of data sets.</p>;
  if (!document) return <p class="empty">Asking the node…</p>;
  const names = Object.keys(document.datasets).filter((name) => canBeDrawn(document.datasets[name]));
  const { data } = route.value.settings;
  const dataset = data ? document.datasets[data] : undefined;
  const choice = (
    <label>
      Data
      <select value={data ?? ''} onChange={(event) => (location.hash = written('explore', { data: event.currentTarget.value }))}>
        {!dataset && <option value="">choose…</option>}
        {dataset && !names.includes(data) && <option>{data}</option>}
        {names.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </label>
  );
  if (!dataset) {
    return (
      <section class="card">
        <div class="tools">{choice}</div>
        <p class="empty">
          {data ? `There is no data set "${data}" any more. ` : ''}
          {names.length ? 'Choose a data set with at least two columns of numbers.' : 'No data set has two columns of numbers yet. Bring one in under Data.'}
        </p>
      </section>
    );
  }
  return <Loaded key={`${data} ${dataset.content}`} path={path} name={data} dataset={dataset} choice={choice} />;
}

/// Rows that have been read, each `every`-th of all, with the labels that colour them.
interface Read {
  columns: Columns;
  every: number;
  labels: { source: LabelSource; colouring: Colouring } | null;
}

/// Shows the progress of reading. It is a separate component, so each new piece redraws nothing else.
function Reading({ done, rows }: { done: Signal<number>; rows: number }) {
  return <><progress max={rows} value={done.value} aria-label="Rows read" /> {count(done.value)} of {count(rows)} rows</>;
}

function Loaded({ path, name, dataset, choice }: { path: string; name: string; dataset: Dataset; choice: preact.JSX.Element }) {
  const read = useSignal<Read | null>(null);
  const done = useSignal(0);
  const error = useSignal<unknown>(null);
  useEffect(() => {
    const stop = new AbortController();
    if (dataset.bytes > BYTES_MAX) {
      error.value = `${name} has ${figure(dataset.bytes / 1e6, 3)} MB of values; the page takes ${BYTES_MAX / 1e6} MB. Bring in fewer columns, or fewer rows.`;
      return;
    }
    const load = async (every: number): Promise<Read> => {
      done.value = 0;
      const source = keyOfLabels(labelSources(path, name, dataset, every), route.peek().settings.colour);
      // If the labels cannot be read, the scene reports the error.
      const [columns, colouring] = await Promise.all([
        readColumns(path, name, (rows) => (done.value = rows), stop.signal, { every }),
        source?.load(stop.signal).catch(() => null),
      ]);
      return { columns, every, labels: source && colouring ? { source, colouring } : null };
    };
    const show = (found: Read) => {
      if (!stop.signal.aborted) read.value = found;
    };
    (async () => {
      const sample = dataset.rows > 2 * SAMPLE ? await load(stepOf(dataset.rows)) : null;
      // All rows are requested while the sample is drawn.
      const whole = load(1);
      if (sample) show(sample);
      show(await whole);
    })().catch((caught) => {
      if (!stop.signal.aborted) error.value = caught;
    });
    return () => stop.abort();
  }, []);
  const progress = <Reading done={done} rows={dataset.rows} />;
  if (!read.value || error.value) {
    return (
      <section class="card">
        <div class="tools">{choice}</div>
        <Trouble error={error.value} />
        {!error.value && <p class="empty">{progress}</p>}
      </section>
    );
  }
  return <Explored path={path} name={name} dataset={dataset} read={read.value} choice={choice} progress={progress} />;
}

/// Returns the tables of labels whose rows match those of a data set. Their labels are read for each `every`-th row.
function labelSources(path: string, name: string, dataset: Dataset, every: number): LabelSource[] {
  const { datasets } = documentOf<Datasets>(path).value!;
  const found: LabelSource[] = [];
  for (const service of methods()) {
    for (const [id, job] of Object.entries(documentOf<Jobs>(service.path).value?.jobs ?? {})) {
      const { labels, centers, outliers } = job.outputs;
      const table = labels && datasets[labels];
      if (!table || table.rows !== dataset.rows) continue;
      // A data set of positions may match a job's labels, too, because a job can have clustered the same items.
      const isInput = Object.values(job.inputs).includes(name);
      if (!isInput && !/\/(positions|places)$/.test(name)) continue;
      const title = `clusters of ${id}`;
      const load = async (signal: AbortSignal) => {
        const read = (table: string | undefined, columns?: string[]) => (table && datasets[table]?.rows ? readColumns(path, table, () => {}, signal, { columns, every: table === labels ? every : 1 }) : null);
        const columns = table.columns.map((column) => column.name).filter((column) => /^(cluster|component|probability)$/.test(column));
        const [found, named, far] = await Promise.all([read(labels, columns), read(centers), every > 1 ? null : read(outliers)]);
        const colouring = byLabels(title, found!);
        if (named) describe(colouring, named);
        if (far) {
          // Rows without names have their number as id.
          const isNumbered = isInput && !job.options.id && !dataset.id;
          withOutliers(colouring, far, rowsOf(far, isNumbered ? null : await read(labels, ['id', 'distance'])));
        }
        return colouring;
      };
      const hasProbability = table.columns.some((column) => column.name === 'probability');
      found.push({ key: `job:${service.path}|${id}`, title, version: `${labels} ${every}`, load, hasProbability });
    }
  }
  return found.reverse();
}

function Explored({ path, name, dataset, read, choice, progress }: { path: string; name: string; dataset: Dataset; read: Read; choice: preact.JSX.Element; progress: preact.JSX.Element }) {
  const { columns, every, labels } = read;
  const save = async (target: string, csv: Blob, chosen: Uint8Array) => {
    const texts = columns.columns.filter((column) => column.kind === 'text');
    const gaps = columns.columns.some((column) => column.kind === 'number' && column.values.some((value, row) => chosen[row] && value !== value));
    const reading = { ...(gaps ? { gaps } : {}), ...(texts.length === 1 && !gaps ? { id: texts[0].name } : {}) };
    return (await upload(path, target, 'csv', reading, csv, false, () => {}, new AbortController().signal)).rows;
  };
  const fixed = useMemo(() => ({ name, columns, id: dataset.id, weights: dataset.weights, layouts: [], find: written('jobs', { new: '1', data: name }), isEqual: /\/(positions|places)$/.test(name), coast, save }), [columns]);
  const sources = labelSources(path, name, dataset, every).map((one) => (one.key === labels?.source.key && one.version === labels.source.version ? { ...one, ready: labels.colouring } : one));
  const source: Source = { ...fixed, sources, sampled: every > 1 ? progress : undefined };
  return <Scene source={source} settings={route.value.settings} settle={settle} choice={choice} />;
}
