// Explore: the points of a data set on the node, with the clusters of its jobs.

import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { readColumns, type Columns } from '../api/columns.ts';
import { byLabels, describe } from '../state/clusters.ts';
import { datasetsPath, documentOf, methods, type Dataset, type Datasets, type Jobs } from '../state/node.ts';
import { route, settle, written } from '../state/route.ts';
import { upload } from '../state/upload.ts';
import { count, figure } from '../state/words.ts';
import { canBeDrawn } from './data.tsx';
import { Trouble } from './fault.tsx';
import { Scene, type LabelSource, type Source } from './scene.tsx';

/// The coast, a file beside this page's.
async function coast(): Promise<string> {
  const answer = await fetch('./coast.json');
  if (!answer.ok) throw new Error(`coast.json: ${answer.status}`);
  return answer.text();
}

/// What is read into the page at most, in bytes of values.
const BYTES_MAX = 600e6;

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

function Loaded({ path, name, dataset, choice }: { path: string; name: string; dataset: Dataset; choice: preact.JSX.Element }) {
  const columns = useSignal<Columns | null>(null);
  const done = useSignal(0);
  const error = useSignal<unknown>(null);
  useEffect(() => {
    const stop = new AbortController();
    if (dataset.bytes > BYTES_MAX) {
      error.value = `${name} has ${figure(dataset.bytes / 1e6, 3)} MB of values; the page takes ${BYTES_MAX / 1e6} MB. Bring in fewer columns, or fewer rows.`;
      return;
    }
    readColumns(path, name, dataset.rows, (rows) => (done.value = rows), stop.signal)
      .then((read) => (columns.value = read))
      .catch((caught) => {
        if (!stop.signal.aborted) error.value = caught;
      });
    return () => stop.abort();
  }, []);
  if (!columns.value) {
    return (
      <section class="card">
        <div class="tools">{choice}</div>
        <Trouble error={error.value} />
        {!error.value && (
          <p class="empty">
            <progress max={dataset.rows} value={done.value} aria-label="Rows read" /> {count(done.value)} of {count(dataset.rows)} rows
          </p>
        )}
      </section>
    );
  }
  return <Explored path={path} name={name} dataset={dataset} columns={columns.value} choice={choice} />;
}

/// The tables of labels whose rows are those of a data set.
function labelSources(path: string, document: Datasets, name: string, rows: number): LabelSource[] {
  const found: LabelSource[] = [];
  for (const service of methods()) {
    for (const [id, job] of Object.entries(documentOf<Jobs>(service.path).value?.jobs ?? {})) {
      const { labels } = job.outputs;
      if (!labels || document.datasets[labels]?.rows !== rows) continue;
      // Positions of items belong to the clusters of the same items.
      const isOfThese = Object.values(job.inputs).includes(name) || /\/(positions|places)$/.test(name);
      if (!isOfThese) continue;
      const title = `clusters of ${id}`;
      const { centers, outliers } = job.outputs;
      const load = async (signal: AbortSignal) => {
        const read = (table: string | undefined) => {
          const of = table ? (document.datasets[table]?.rows ?? 0) : 0;
          return of ? readColumns(path, table!, of, () => {}, signal) : null;
        };
        const [found, named, far] = await Promise.all([read(labels), read(centers), read(outliers)]);
        const colouring = byLabels(title, found!);
        describe(colouring, found!, named, far);
        return colouring;
      };
      const hasProbability = document.datasets[labels].columns.some((column) => column.name === 'probability');
      found.push({ key: `job:${service.path}|${id}`, title, version: labels, load, hasProbability });
    }
  }
  return found.reverse();
}

function Explored({ path, name, dataset, columns, choice }: { path: string; name: string; dataset: Dataset; columns: Columns; choice: preact.JSX.Element }) {
  const document = documentOf<Datasets>(path).value!;
  const save = async (target: string, csv: Blob, chosen: Uint8Array) => {
    const texts = columns.columns.filter((column) => column.kind === 'text');
    const gaps = columns.columns.some((column) => column.kind === 'number' && column.values.some((value, row) => chosen[row] && value !== value));
    const reading = { ...(gaps ? { gaps } : {}), ...(texts.length === 1 && !gaps ? { id: texts[0].name } : {}) };
    return (await upload(path, target, 'csv', reading, csv, false, () => {}, new AbortController().signal)).rows;
  };
  const fixed = useMemo(() => ({ name, columns, id: dataset.id, weights: dataset.weights, layouts: [], find: written('jobs', { new: '1', data: name }), isEqual: /\/(positions|places)$/.test(name), coast, save }), [columns]);
  const source: Source = { ...fixed, sources: labelSources(path, document, name, columns.rows) };
  return <Scene source={source} settings={route.value.settings} settle={settle} choice={choice} />;
}
