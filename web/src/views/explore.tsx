// The view Explore: the points of a data set on the node, with the clusters of its jobs.

import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { readColumns, type Column, type Columns, type NumberColumn } from '../api/columns.ts';
import { COLUMNS_MAX, principalAxes } from '../points/axes.ts';
import { byLabels, describe, rowsOf, withOutliers, type Colouring } from '../state/clusters.ts';
import { csvOf } from '../state/csv.ts';
import { areRelated, canBeDrawn, known, lineage } from '../state/lineage.ts';
import { datasetsPath, documentOf, methods, type Dataset, type Datasets, type Jobs } from '../state/node.ts';
import { route, settle, written } from '../state/route.ts';
import { upload } from '../state/upload.ts';
import { count, figure } from '../state/words.ts';
import { Trouble } from './fault.tsx';
import { Outliers } from './outliers.tsx';
import { keyOfLabels, Scene, type LabelSource, type Layout, type Source } from './scene.tsx';

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
/// The maximum time for which the page waits for the lists of jobs, in milliseconds.
const PATIENCE_MS = 1000;
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
  // The jobs tell where the rows come from. A service that does not answer delays the page only for a moment.
  const isPatient = useSignal(true);
  useEffect(() => {
    const timer = setTimeout(() => (isPatient.value = false), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!path) return <p class="empty">This node has no service of data sets.</p>;
  if (!document || (isPatient.value && methods().some((service) => !documentOf<Jobs>(service.path).value))) return <p class="empty">Asking the node…</p>;
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
        <div class="tools choices">{choice}</div>
        <p class="empty">
          {data ? `There is no data set "${data}" any more. ` : ''}
          {names.length ? 'Choose a data set with at least two columns of numbers.' : 'No data set has two columns of numbers yet: bring one in under Data.'}
        </p>
      </section>
    );
  }
  if (!canBeDrawn(dataset)) {
    const map = known.value.maps.find((one) => canBeDrawn(document.datasets[one]) && areRelated(known.value, one, data));
    return (
      <section class="card">
        <div class="tools choices">{choice}</div>
        <p class="empty">
          {data} has fewer than two columns of numbers, so its rows have no positions. {map ? 'There is a map of them: ' : 'See them as a table: '}
          {map ? <a href={written('explore', { data: map })}>{map}</a> : <a href={written('data', { set: data })}>{data}</a>}
        </p>
      </section>
    );
  }
  return <Loaded key={`${data} ${dataset.content}`} path={path} name={data} dataset={dataset} choice={choice} />;
}

/// A data set whose columns have been read.
export interface Part {
  name: string;
  dataset: Dataset;
  columns: Columns;
}

/// Rows that have been read, each `every`-th of all, with the labels that colour them.
interface Read {
  /// The data set, and then the data sets from which its rows come.
  parts: Part[];
  every: number;
  /// The nodes of a topographic map, if the rows are on one.
  nodes: Columns | null;
  labels: { source: LabelSource; colouring: Colouring } | null;
}

/// Returns the data sets whose columns are read: the data set itself, and those from which its rows come, as far as they fit into memory. A table that is as
/// wide as long has dissimilarities, and is left out.
function partsOf(name: string): string[] {
  const { datasets } = known.peek();
  let bytes = 0;
  return lineage(known.peek(), name).filter((one, at) => {
    const { rows, columns, bytes: own } = datasets[one];
    const isRead = at === 0 || (columns.length < rows && bytes + own <= BYTES_MAX);
    if (isRead) bytes += own;
    return isRead;
  });
}

/// Returns the columns of all parts under different names. Ids and equal columns are kept once.
export function joined(parts: Part[]): Columns {
  const found = new Map<string, Column>();
  let hasIds = false;
  for (const { name, dataset, columns: own } of parts) {
    for (const column of own.columns) {
      const isId = column.name === dataset.id;
      const other = found.get(column.name)?.values;
      if ((isId && hasIds) || (other && column.values.every((value: unknown, row: number) => Object.is(value, other[row])))) continue;
      hasIds ||= isId;
      const called = other ? `${column.name} of ${name}` : column.name;
      found.set(called, other ? { ...column, name: called } : column);
    }
  }
  return { rows: parts[0].columns.rows, columns: [...found.values()] };
}

/// Returns the background of a topographic map, which its nodes give: how far the map is stretched at each of them.
function groundOf({ rows, columns }: Columns): Pick<Layout, 'ground' | 'note'> {
  const of = (name: string) => columns.find((one) => one.name === name)?.values as Float64Array | undefined;
  if (of('z3')) return {};
  const logs = Array.from(of('magnification')!, (factor) => Math.log(factor + 1e-300));
  const [least, most] = [Math.min(...logs), Math.max(...logs)];
  const side = new Set(of('z1')).size;
  const upwards = rows / side;
  const high = [side, upwards].map((many) => (many > 1 ? many / (many - 1) : 1)) as [number, number];
  return {
    ground: { columns: side, rows: upwards, low: [-high[0], -high[1]], high, shade: logs.map((one) => (one - least) / (most - least || 1)) },
    note: `Darker where the map is stretched: from ${figure(Math.exp(least), 3)} to ${figure(Math.exp(most), 3)}, logarithmic.`,
  };
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
      error.value = `${name} has ${figure(dataset.bytes / 1e6, 3)} MB of values; the page takes ${BYTES_MAX / 1e6} MB: bring in fewer columns or rows.`;
      return;
    }
    const load = async (every: number): Promise<Read> => {
      done.value = 0;
      const source = keyOfLabels(labelSources(path, name, dataset, every), route.peek().settings.colour);
      // If the labels cannot be read, the scene reports the error.
      const { datasets } = known.peek();
      const read = async (one: string): Promise<Part[]> => [{ name: one, dataset: datasets[one], columns: await readColumns(path, one, (rows) => one === name && (done.value = rows), stop.signal, { every }) }];
      const { places, nodes } = known.peek().makers.get(name)?.outputs ?? {};
      const [colouring, stretched, own, ...others] = await Promise.all([
        source?.load(stop.signal).catch(() => null),
        // Without its nodes, a map has no background.
        places === name && datasets[nodes] ? readColumns(path, nodes, () => {}, stop.signal).catch(() => null) : null,
        // Without the other columns, the rows can still be drawn.
        ...partsOf(name).map((one, at) => (at ? read(one).catch(() => []) : read(one))),
      ]);
      return { parts: [...own, ...others.flat()], every, nodes: stretched, labels: source && colouring ? { source, colouring } : null };
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
        <div class="tools choices">{choice}</div>
        <Trouble error={error.value} />
        {!error.value && <p class="empty">{progress}</p>}
      </section>
    );
  }
  return <Explored path={path} name={name} dataset={dataset} read={read.value} choice={choice} progress={progress} />;
}

/// Returns the tables of labels that belong to the rows of a data set, those of its own jobs first and the newest first. Their labels are read for each `every`-th row.
function labelSources(path: string, name: string, dataset: Dataset, every: number): LabelSource[] {
  const { datasets } = documentOf<Datasets>(path).value!;
  const [own, related]: LabelSource[][] = [[], []];
  for (const service of methods()) {
    for (const [id, job] of Object.entries(documentOf<Jobs>(service.path).value?.jobs ?? {})) {
      const { labels, centers, outliers } = job.outputs;
      const table = labels && datasets[labels];
      if (!table || table.rows !== dataset.rows) continue;
      // Positions whose origin is unknown may belong to any job of as many rows.
      const isRelated = areRelated(known.value, labels, name);
      if (!isRelated && !(known.value.maps.includes(name) && lineage(known.value, name).length === 1)) continue;
      const title = `${job.outputs.components ? 'components' : 'clusters'} of ${id}`;
      const load = async (signal: AbortSignal) => {
        const read = (table: string | undefined, columns?: string[]) => (table && datasets[table]?.rows ? readColumns(path, table, () => {}, signal, { columns, every: table === labels ? every : 1 }) : null);
        const columns = table.columns.map((column) => column.name).filter((column) => /^(cluster|component|probability)$/.test(column));
        const [found, named, far] = await Promise.all([read(labels, columns), read(centers), every > 1 ? null : read(outliers)]);
        const colouring = byLabels(title, found!);
        if (named) describe(colouring, named);
        if (far) {
          // Rows without names have their number as id.
          const isNumbered = isRelated && !job.options.id && !datasets[Object.values(job.inputs)[0]]?.id;
          withOutliers(colouring, far, rowsOf(far, isNumbered ? null : await read(labels, ['id', 'distance'])));
        }
        return colouring;
      };
      const hasProbability = table.columns.some((column) => column.name === 'probability');
      (Object.values(job.inputs).includes(name) ? own : related).push({ key: `job:${service.path}|${id}`, title, version: `${labels} ${every}`, load, hasProbability });
    }
  }
  return [...own.reverse(), ...related.reverse()];
}

/// The most characters of a description that a service takes.
const DESCRIPTION_MAX = 2000;

/// The views of the principal axes: the key, the title, and the number of axes.
const PROJECTIONS: [string, string, number][] = [['axes2', 'principal axes', 2], ['axes3', 'three principal axes', 3]];

function Explored({ path, name, dataset, read, choice, progress }: { path: string; name: string; dataset: Dataset; read: Read; choice: preact.JSX.Element; progress: preact.JSX.Element }) {
  const { parts, every, nodes, labels } = read;
  const fixed = useMemo(() => {
    const columns = joined(parts);
    // The last part has the data that users brought in. A saved selection has its columns, so that methods can run on it.
    const base = parts[parts.length - 1];
    const { id, weights, account } = base.dataset;
    const save = async (target: string, chosen: Uint8Array, description: string) => {
      const all = base.columns.columns;
      const texts = all.filter((column) => column.kind === 'text' && column.name !== id).map((column) => column.name);
      const numbers = all.filter((column) => column.kind !== 'text' && column.name !== id);
      const hasGaps = numbers.some(({ values }) => values.some((value, row) => chosen[row] && value !== value));
      // Plain CSV has no columns of texts, and no weights beside gaps.
      const isTable = account !== undefined || texts.length > 0 || (hasGaps && weights !== undefined);
      const notation = { delimiter: ',', header: true, dialect: { decimal: '.', skip_lines: 0, as_number: numbers.map((column) => column.name), as_text: texts } };
      const reading = { id, weights, ...(isTable ? notation : { gaps: hasGaps }) };
      const csv = csvOf(all.map((column) => column.name), chosen, (row) => all.map(({ values }) => values[row]));
      return (await upload(path, target, isTable ? 'table' : 'csv', reading, csv, { description: description.slice(0, DESCRIPTION_MAX) }, () => {}, new AbortController().signal)).rows;
    };
    const axes = known.peek().maps.includes(name) ? parts[0].columns.columns.filter((column) => column.kind !== 'text' && /^([xyz]|[xz]\d+)$/.test(column.name)) : [];
    // A map of one dimension is drawn as a line.
    const [x, y = nodes && ({ name: '', kind: 'number', values: new Float64Array(columns.rows) } as Column), z] = axes;
    const layouts: Layout[] = x && y ? [{ key: 'map', title: 'map', x, y, z, isEqual: true, ...(nodes && groundOf(nodes)) }] : [];
    const measured = base.columns.columns.filter((column): column is NumberColumn => column.kind !== 'text' && column.name !== id && column.name !== weights);
    const shown = measured.find((column) => !axes.includes(column));
    const make = async (stop: AbortSignal) => {
      const { values, shares, gaps } = await principalAxes(measured, 3, stop);
      const named = values.map((values, at): Column => ({ name: `axis ${at + 1} (${figure(100 * shares[at], 2)} %)`, kind: 'number', values }));
      const note = `The directions in which ${measured.length} columns vary most, each column in its standard deviations; in brackets, the share of the variance.${gaps ? ` ${count(gaps)} missing values count as the mean of their column.` : ''}`;
      return PROJECTIONS.map(([key, title, most]): Layout => ({ key, title, x: named[0], y: named[1], z: most > 2 ? named[2] : undefined, isEqual: true, note }));
    };
    const projections = measured.length >= 3 && measured.length <= COLUMNS_MAX ? { views: PROJECTIONS.map(([key, title]): [string, string] => [key, title]), make } : undefined;
    return {
      name, columns, id: dataset.id ?? id, weights: dataset.weights ?? weights, layouts, projections, find: written('jobs', { new: '1', data: name }), isEqual: false, coast, save, Outliers,
      saved: parts.length > 1 ? base.name : undefined,
      // A map without clusters shows the first column of its rows.
      colour: layouts.length && shown ? `column:${shown.name}` : undefined,
    };
  }, [parts]);
  const sources = labelSources(path, name, dataset, every).map((one) => (one.key === labels?.source.key && one.version === labels.source.version ? { ...one, ready: labels.colouring } : one));
  const source: Source = { ...fixed, sources, sampled: every > 1 ? progress : undefined };
  return <Scene source={source} settings={route.value.settings} settle={settle} choice={choice} />;
}
