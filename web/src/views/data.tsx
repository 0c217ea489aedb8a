// The view of data sets: a list, the content of one, and a form to add more.

import { useSignal } from '@preact/signals';
import { ask, post, query } from '../api/http.ts';
import { datasetsPath, documentOf, type Dataset, type Datasets, type Upload } from '../state/node.ts';
import { download } from '../state/download.ts';
import { canBeDrawn } from '../state/lineage.ts';
import { say } from '../state/notice.ts';
import { go, route, written } from '../state/route.ts';
import { formName } from '../state/upload.ts';
import { bytes, count } from '../state/words.ts';
import { Trouble, Warnings } from './fault.tsx';
import { Incoming } from './incoming.tsx';
import { Grid, Rows } from './table.tsx';

/// The maximum number of data sets listed before the user asks for the rest.
const LISTED = 200;

export default function Data() {
  const path = datasetsPath();
  const filter = useSignal('');
  const withResults = useSignal(false);
  const isAll = useSignal(false);
  if (!path) return <p class="empty">This node has no service of data sets. Start one with <code>lehr serve</code>.</p>;
  const document = documentOf<Datasets>(path).value;
  if (!document) return <p class="empty">Asking the node…</p>;
  const chosen = route.value.settings.set;
  const names = Object.keys(document.datasets).sort((a, b) => document.datasets[b].content - document.datasets[a].content);
  const found = names.filter((name) => (withResults.value || !name.includes('/')) && name.toLowerCase().includes(filter.value.toLowerCase()));
  const results = names.filter((name) => name.includes('/')).length;
  const listed = isAll.value ? found : found.slice(0, LISTED);
  const uploads = Object.entries(document.uploads ?? {}).filter(([name]) => name !== formName.value);
  return (
    <>
      <Incoming datasets={path} names={names} />
      {uploads.length > 0 && <Uploads path={path} uploads={uploads} />}
      <section class="card">
        <div class="head">
          <div>
            <h2>Data sets</h2>
            <p class="note">Without <code>lehr serve --keep</code>, tables and jobs are gone when the node stops.</p>
          </div>
          <div class="tools">
            <label>
              <span class="unseen">Search data sets</span>
              <input type="search" placeholder="Search" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} />
            </label>
            {results > 0 && (
              <label class="check">
                <input type="checkbox" checked={withResults.value} onChange={(event) => (withResults.value = event.currentTarget.checked)} />
                Results of jobs ({count(results)})
              </label>
            )}
          </div>
        </div>
        {found.length === 0 ? (
          <p class="empty">{names.length ? 'No data set has this in its name.' : 'No data set yet. Drop a file above: CSV, TSV, Excel, Parquet, Arrow, NPY, FASTA or FPS. Then run a method on it, and explore what it finds.'}</p>
        ) : (
          <div class="scroll" tabIndex={0} role="region" aria-label="Data sets">
            <table>
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col" class="number">Rows</th>
                  <th scope="col" class="number roomy">Columns</th>
                  <th scope="col" class="number roomy">Size</th>
                  <th scope="col" class="roomy">From</th>
                  <th scope="col"><span class="unseen">Actions</span></th>
                </tr>
              </thead>
              <tbody>
                {listed.map((name) => (
                  <Line key={name} name={name} dataset={document.datasets[name]} isOn={name === chosen} />
                ))}
              </tbody>
            </table>
          </div>
        )}
        {found.length > listed.length && (
          <p class="pages">
            <button type="button" onClick={() => (isAll.value = true)}>Show all {count(found.length)}</button>
          </p>
        )}
      </section>
      {chosen && document.datasets[chosen] && <Detail path={path} name={chosen} dataset={document.datasets[chosen]} />}
      {chosen && !document.datasets[chosen] && <p class="empty">There is no data set "{chosen}" any more.</p>}
    </>
  );
}

function Uploads({ path, uploads }: { path: string; uploads: [string, Upload][] }) {
  const error = useSignal<unknown>(null);
  const forget = async (name: string) => {
    try {
      error.value = null;
      await post(`${path}:remove`, { name });
      say(`Forgot the upload ${name}.`);
    } catch (caught) {
      error.value = caught;
    }
  };
  return (
    <section class="card" aria-labelledby="uploads">
      <h2 id="uploads">Uploads that are not data sets yet</h2>
      <Trouble error={error.value} />
      <ul class="plainlist">
        {uploads.map(([name, one]) => (
          <li key={name}>
            <div class="tools">
              <b>{name}</b>
              <span class={`state ${one.state}`}>{one.state}</span>
              {one.state !== 'failed' && <span class="soft">{bytes(one.offset)}{one.bytes ? ` of ${bytes(one.bytes)}` : ''}</span>}
              <button type="button" onClick={() => forget(name)}>Forget<span class="unseen"> {name}</span></button>
            </div>
            {one.fault && <Trouble error={one.fault.reason} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function origin(source: Record<string, any>): string {
  const [kind, about] = Object.entries(source ?? {})[0] ?? ['', {}];
  if (kind === 'file') return `file ${about.path ?? ''}`;
  if (kind === 'upload') return about.description ?? `upload (${about.format ?? ''})`;
  if (kind === 'job' || about?.job) return `job ${about.job ?? ''}`;
  return kind || 'a service';
}

function Line({ name, dataset, isOn }: { name: string; dataset: Dataset; isOn: boolean }) {
  return (
    <tr class={isOn ? 'on' : ''}>
      <td>
        <a href={written('data', { set: isOn ? null : name })}>{name}</a>
      </td>
      <td class="number">{count(dataset.rows)}</td>
      <td class="number roomy">{count(dataset.columns.length)}</td>
      <td class="number roomy">{bytes(dataset.bytes)}</td>
      <td class="soft roomy">{origin(dataset.source)}</td>
      <td class="actions">
        {canBeDrawn(dataset) && <a class="button" href={written('explore', { data: name })}>Explore<span class="unseen"> {name}</span></a>}
        <a class="button" href={written('jobs', { new: '1', data: name })}>Run<span class="unseen"> a method on {name}</span></a>
      </td>
    </tr>
  );
}

function Detail({ path, name, dataset }: { path: string; name: string; dataset: Dataset }) {
  const error = useSignal<unknown>(null);
  const isSure = useSignal(false);
  const to = useSignal<string | null>(null);
  const act = async (task: () => Promise<void>) => {
    try {
      error.value = null;
      await task();
    } catch (caught) {
      error.value = caught;
    }
  };
  const save = () =>
    act(async () => {
      const parts: Blob[] = [];
      let from = 0;
      do {
        const answer = await ask(query(`${path}:read`, { name, from }), { accept: 'text/csv' });
        const end = Number((answer.headers.get('lehr-rows') ?? '').split(/[-/]/)[1]);
        const text = await answer.text();
        // Each response begins with the names of the columns, which the file needs only once.
        parts.push(new Blob([from ? text.slice(text.indexOf('\n') + 1) : text]));
        if (!(end > from)) break;
        from = end;
      } while (from < dataset.rows);
      download(`${name}.csv`, new Blob(parts, { type: 'text/csv' }));
    });
  const remove = () =>
    act(async () => {
      await post(`${path}:remove`, { name });
      say(`Removed ${name}.`);
      go('data');
    });
  const rename = () =>
    act(async () => {
      const target = to.value!.trim();
      await post(`${path}:rename`, { name, to: target });
      say(`Renamed ${name} to ${target}.`);
      go('data', { set: target });
    });
  return (
    <section class="card" aria-labelledby="data-detail">
      <div class="head">
        <div>
          <h2 id="data-detail">{name}</h2>
          <p class="note">
            {count(dataset.rows)} rows, {count(dataset.columns.length)} columns
            {dataset.id ? `; ids in ${dataset.id}` : ''}
            {dataset.weights ? `; weights in ${dataset.weights}` : ''}
          </p>
        </div>
        <div class="tools">
          <a class="button first" href={written('jobs', { new: '1', data: name })}>Run a method</a>
          {canBeDrawn(dataset) && <a class="button" href={written('explore', { data: name })}>Explore</a>}
          <button type="button" onClick={save}>Save as CSV</button>
          <button type="button" onClick={() => (to.value = to.value === null ? name : null)}>Rename</button>
          {isSure.value ? (
            <>
              <button type="button" class="danger" onClick={remove}>Remove for good</button>
              <button type="button" onClick={() => (isSure.value = false)}>Keep it</button>
            </>
          ) : (
            <button type="button" onClick={() => (isSure.value = true)}>Remove…</button>
          )}
        </div>
      </div>
      {to.value !== null && (
        <form
          class="inline"
          onSubmit={(event) => {
            event.preventDefault();
            void rename();
          }}
        >
          <label>
            New name <input value={to.value} onInput={(event) => (to.value = event.currentTarget.value)} />
          </label>
          <button type="submit" class="first">Rename</button>
        </form>
      )}
      <Trouble error={error.value} />
      <Warnings of={dataset.warnings} />
      {dataset.account && (
        <>
          <h3>Columns</h3>
          <Grid
            caption="The columns"
            names={['column', 'role', 'read as', 'missing', 'range', 'why']}
            rows={dataset.account.map((of) => [of.name, of.role, of.read_as, of.missing, of.range, of.reason ?? ''])}
          />
          <h3 class="next">Rows</h3>
        </>
      )}
      <Rows datasets={path} name={name} caption={`Rows of ${name}`} version={dataset.content} />
    </section>
  );
}
