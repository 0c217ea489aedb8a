// The view of the jobs of all methods: the list, one job with its result, and the form for a new job.

import { signal, useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, post, query } from '../api/http.ts';
import { readRows } from '../api/rows.ts';
import { description, fields as fieldsOf, type Field } from '../api/schema.ts';
import type { Split, Step } from '../state/course.ts';
import { exploring, known } from '../state/lineage.ts';
import { datasetsPath, documentOf, heardOf, methods, recall, type Datasets, type Job, type Jobs, type Service } from '../state/node.ts';
import { say } from '../state/notice.ts';
import { go, route, written } from '../state/route.ts';
import { capital, count, duration, figure, when, words, yes } from '../state/words.ts';
import type { Line } from './chart.tsx';
import { curvesOf, type Row } from './curves.ts';
import { Trouble, Warnings } from './fault.tsx';
import { Options, isRight, options, type Typed } from './form.tsx';
import { NodeLink } from './link.tsx';
import { Reports } from './reports.tsx';
import { FLAGS, Rows } from './table.tsx';

interface Listed {
  service: string;
  id: string;
  job: Job;
}

const PAGE = 50;

/// The tables of a result that come first, in this order.
const ORDER = ['centers', 'clusters', 'components', 'places', 'outliers', 'marks', 'numbers', 'labels'];
/// Titles of the tables of results whose names are hard to understand.
const TITLES: Record<string, string> = { centers: 'clusters', history: 'each step', labels: 'cluster of each row', shepard: 'distances before and after', marks: 'what sets them apart', numbers: 'other numbers of clusters' };

/// The module of the curves. It is loaded when a curve is first needed, so the page itself loads faster.
const curves = signal<typeof import('./anneal.tsx') | null>(null);

function useCurves(): typeof import('./anneal.tsx') | null {
  useEffect(() => {
    if (!curves.value) import('./anneal.tsx').then((module) => (curves.value = module)).catch(() => say('The curves could not be loaded. Reload the page.'));
  }, []);
  return curves.value;
}

const STATES = ['queued', 'running', 'done', 'failed', 'cancelled', 'interrupted'];

function methodOf(service: Service): string {
  return service.contract.replace(/^lehr\./, '');
}

export default function JobsView() {
  const list = methods();
  const jobs: Listed[] = list.flatMap(({ path }) =>
    Object.entries(documentOf<Jobs>(path).value?.jobs ?? {}).map(([id, job]) => ({ service: path, id, job })),
  );
  jobs.sort((a, b) => b.job.times.queued_unix_ms - a.job.times.queued_unix_ms || b.job.number - a.job.number);
  const { settings } = route.value;
  const chosen = settings.job ? jobs.find((one) => one.service === settings.service && one.id === settings.job) : undefined;
  if (!list.length) {
    return <p class="empty">No method runs on this node. Start one, for example <code>lehr serve --start lehr.clustering=/clustering</code>.</p>;
  }
  return (
    <>
      {settings.new ? (
        <New methods={list} />
      ) : (
        <p class="lead-in">
          <a class="button first" href={written('jobs', { new: '1' })}>New job</a>
        </p>
      )}
      {settings.job && !chosen && <p class="empty">There is no job "{settings.job}" here any more.</p>}
      {chosen && <Detail key={`${chosen.service} ${chosen.id}`} {...chosen} />}
      <List jobs={jobs} chosen={chosen} />
      <Reports />
    </>
  );
}

function List({ jobs, chosen }: { jobs: Listed[]; chosen?: Listed }) {
  const state = useSignal('');
  const search = useSignal('');
  const page = useSignal(0);
  const found = jobs.filter(
    ({ id, service, job }) =>
      (!state.value || job.state === state.value) &&
      `${id} ${service} ${Object.values(job.inputs).join(' ')}`.toLowerCase().includes(search.value.toLowerCase()),
  );
  const last = Math.max(0, Math.ceil(found.length / PAGE) - 1);
  const at = Math.min(page.value, last);
  return (
    <section class="card">
      <div class="head">
        <div>
          <h2>Jobs</h2>
          <p class="note">Newest first. They go on when you close this page.</p>
        </div>
        <div class="tools">
          <label>
            <span class="unseen">State</span>
            <select value={state.value} onChange={(event) => ((state.value = event.currentTarget.value), (page.value = 0))}>
              <option value="">all states</option>
              {STATES.map((one) => <option key={one}>{one}</option>)}
            </select>
          </label>
          <label>
            <span class="unseen">Search jobs</span>
            <input type="search" placeholder="Search" value={search.value} onInput={(event) => ((search.value = event.currentTarget.value), (page.value = 0))} />
          </label>
        </div>
      </div>
      {found.length === 0 ? (
        <p class="empty">{jobs.length ? 'No job matches.' : 'No job yet. Choose "New job" above, or "Run" beside a data set.'}</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Jobs">
          <table>
            <thead>
              <tr>
                <th scope="col">Job</th>
                <th scope="col">State</th>
                <th scope="col" class="roomy">Data</th>
                <th scope="col" class="roomy">Queued</th>
                <th scope="col" class="number roomy">Took</th>
                <th scope="col"><span class="unseen">Actions</span></th>
              </tr>
            </thead>
            <tbody>
              {found.slice(at * PAGE, (at + 1) * PAGE).map((one) => (
                <tr key={`${one.service} ${one.id}`} class={chosen === one ? 'on' : ''}>
                  <td class="narrow" data-of={Object.values(one.job.inputs).join(', ')}>
                    <a href={written('jobs', chosen === one ? {} : { service: one.service, job: one.id })}>{one.id}</a>
                  </td>
                  <td><State job={one.job} /></td>
                  <td class="soft roomy">{Object.values(one.job.inputs).join(', ')}</td>
                  <td class="soft roomy">{when(one.job.times.queued_unix_ms)}</td>
                  <td class="number roomy">{took(one.job)}</td>
                  <td class="actions"><Actions {...one} isShort /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {found.length > PAGE && (
        <div class="pages">
          <span>
            {count(at * PAGE + 1)} to {count(Math.min(found.length, (at + 1) * PAGE))} of {count(found.length)}
          </span>
          <button type="button" disabled={at === 0} onClick={() => (page.value = at - 1)}>Previous</button>
          <button type="button" disabled={at === last} onClick={() => (page.value = at + 1)}>Next</button>
        </div>
      )}
    </section>
  );
}

function took({ times }: Job): string {
  return times.started_unix_ms && times.ended_unix_ms ? duration(times.ended_unix_ms - times.started_unix_ms) : '';
}

function State({ job }: { job: Job }) {
  if (job.state !== 'running') return <span class={`state ${job.state}`}>{job.state}</span>;
  const part = Math.round(100 * (job.progress?.fraction ?? 0));
  return (
    <span class="state running">
      <progress max={100} value={part} aria-label={`${part} per cent`} /> {part} % {job.progress?.stage ?? ''}
    </span>
  );
}

function Actions({ service, id, job, isShort }: Listed & { isShort?: boolean }) {
  const error = useSignal<unknown>(null);
  const act = async (operation: string, done: string) => {
    try {
      error.value = null;
      await post(`${service}:${operation}`, { job: id });
      say(done);
    } catch (caught) {
      error.value = caught;
    }
  };
  const mayStop = job.state === 'queued' || job.state === 'running';
  const mayResume = job.state === 'failed' || job.state === 'cancelled' || job.state === 'interrupted';
  const name = <span class="unseen"> {id}</span>;
  const explored = exploring(known.value, service, id, job);
  return (
    <>
      {explored && <a class={isShort ? 'button' : 'button first'} href={written('explore', explored)}>Explore{name}</a>}
      {job.state === 'done' && job.outputs.report && !isShort && <NodeLink address={query(`${service}:report`, { job: id })} title="report" of={id} file={`${id}.html`} />}
      {mayStop && <button type="button" onClick={() => act('cancel', `Asked ${id} to stop.`)}>Cancel{name}</button>}
      {mayResume && <button type="button" onClick={() => act('resume', `${id} goes on.`)}>Resume{name}</button>}
      {!isShort && !mayStop && (
        <button type="button" onClick={() => act('remove', `Removed ${id}. Its results stay among the data sets.`).then(() => error.value === null && go('jobs'))}>
          Remove from the list
        </button>
      )}
      <Trouble error={error.value} />
    </>
  );
}

function Detail({ service, id, job }: Listed) {
  const datasets = datasetsPath();
  const now = useSignal(Date.now());
  const table = useSignal<string | null>(null);
  const progress = heardOf(service, id).value;
  useEffect(() => {
    if (job.state === 'done') return;
    void recall(service, id).catch(() => {});
    if (job.state !== 'running') return;
    const timer = setInterval(() => (now.value = Date.now()), 1000);
    return () => clearInterval(timer);
  }, [service, id, job.state]);
  const rank = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length + Number(name === 'history'));
  const tables = Object.keys(job.outputs).filter((name) => name !== 'model' && name !== 'report').sort((a, b) => rank(a) - rank(b));
  const shown = table.value ?? tables.find((name) => name !== 'labels' && name !== 'history') ?? tables[0];
  const told = Object.entries(job.options).filter(([, value]) => value !== null);
  const fraction = job.progress?.fraction ?? 0;
  const spent = job.times.started_unix_ms ? now.value - job.times.started_unix_ms : 0;
  // The remaining time is not estimated before a twentieth is done.
  const left = fraction > 0.05 && spent > 0 ? (spent / fraction) * (1 - fraction) : null;
  const history = job.outputs.history;
  // If a job has failed because of gaps in an ordinary table, the page offers to fill them and run again.
  const isTable = Object.values(job.inputs).some((name) => datasets && documentOf<Datasets>(datasets).value?.datasets[name]?.account);
  const mayPrepare = isTable && job.options.auto === false && /NaN|finite/.test(job.fault?.reason ?? '');
  const tablesOf = job.state === 'done' && datasets && tables.length > 0 && (
    <>
      <div class="tabs" role="group" aria-label="Tables of the result">
        {tables.map((name) => (
          <button type="button" key={name} aria-pressed={name === shown} onClick={() => (table.value = name)}>
            {TITLES[name] ?? words(name)}
          </button>
        ))}
        <a href={written('data', { set: job.outputs[shown] })}>Open as data set</a>
      </div>
      <Rows datasets={datasets} name={job.outputs[shown]} caption={`${capital(TITLES[shown] ?? shown)} of ${id}`} isResult />
    </>
  );
  return (
    <section class="card" aria-labelledby="job-detail">
      <div class="head">
        <div>
          <h2 id="job-detail">{id}</h2>
          <p class="note">
            {service} of {Object.values(job.inputs).join(' and ')}, queued {when(job.times.queued_unix_ms)}
          </p>
        </div>
        <div class="tools"><Actions service={service} id={id} job={job} /></div>
      </div>
      <p>
        <State job={job} />
        {job.state === 'running' && <span class="soft"> {duration(spent)} so far{left !== null ? `, about ${duration(left)} left` : ''}</span>}
        {took(job) && <span class="soft"> in {took(job)}</span>}
      </p>
      {job.fault && <Trouble error={job.fault.reason} code={job.fault.code} />}
      {job.fault && mayPrepare && <Prepare service={service} job={job} />}
      <Warnings of={job.warnings} />
      {job.state === 'running' && job.progress && <Figures figures={job.progress.figures} />}
      {job.state !== 'done' && <Course service={service} id={id} rows={progress.map(({ figures }) => figures)} />}
      {job.state === 'done' && job.figures && <Figures figures={job.figures} isAnswer />}
      {tablesOf}
      {job.state === 'done' && job.figures && <Figures figures={job.figures} isAnswer={false} />}
      {job.state === 'done' && datasets && history && <History datasets={datasets} name={history} splits={job.outputs.splits} keep={(clusters, temperature) => <Keep service={service} id={id} job={job} clusters={clusters} temperature={temperature} />} />}
      <details>
        <summary>Options ({told.length})</summary>
        <dl class="facts">
          {told.map(([name, value]) => (
            <div key={name}>
              <dt>{words(name)}</dt>
              <dd>{figure(value)}</dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  );
}

/// The figures that answer what the user asked. They come before the tables of a result, and all other figures after them.
const ANSWERS = /^(.*clusters|components|outlier.*|stress|correlation|items|pairs)$/;
/// Names of figures that are hard to understand.
const SAID: Record<string, string> = {
  aic: 'AIC', bic: 'BIC', icl: 'ICL', stress_1: 'Stress-1 of Kruskal', finish_plain: 'Cost without extra clusters', finish_overshot: 'Cost with extra clusters, merged', finish_moved: 'Items moved at the end',
};

/// Shows figures as tiles: all of them, or only those that are (or are not) the answer.
function Figures({ figures, isAnswer }: { figures: Record<string, number>; isAnswer?: boolean }) {
  const shown = Object.entries(figures).filter(([name]) => isAnswer === undefined || ANSWERS.test(name) === isAnswer);
  if (!shown.length) return null;
  return (
    <dl class="tiles">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{SAID[name] ?? capital(words(name))}</dt>
          <dd class="big">{FLAGS.test(name) ? yes(value) : figure(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

/// Returns the course of an annealing, or `null` if the rows are not the steps of one.
function annealing(rows: Row[], divisions: Row[]) {
  const steps = rows.filter((row) => ['temperature', 'clusters', 'free_energy'].every((name) => typeof row[name] === 'number'));
  const gap = (value: unknown) => (Number.isFinite(value) ? (value as number) : null);
  return steps.length > 1 ? {
    steps: steps.map(({ temperature, clusters, free_energy: freeEnergy }) => ({ temperature, clusters, freeEnergy }) as Step),
    splits: divisions.map(({ temperature, parent, merged_at, merged_into }) => ({ temperature, parent, end: gap(merged_at), into: gap(merged_into) }) as Split),
  } : null;
}

/// Draws the course of a job that is not done: its annealing with the tree of splits so far, or curves.
function Course({ service, id, rows }: { service: string; id: string; rows: Row[] }) {
  const splits = useSignal<Row[]>([]);
  const drawing = useCurves();
  useEffect(() => {
    if (rows.length) get<Row[]>(query(`${service}:splits`, { job: id })).then((found) => (splits.value = found), () => {});
  }, [service, id, rows.length]);
  const annealed = annealing(rows, splits.value);
  return drawing && annealed ? <drawing.Anneal {...annealed} unit="" /> : <Curves lines={curvesOf(rows)} />;
}

/// The maximum number of rows of a history that are drawn.
const STEPS_MAX = 4096;

/// Draws the history of a run: the replay of an annealing, or curves.
function History({ datasets, name, splits, keep }: { datasets: string; name: string; splits?: string; keep: (clusters: number, temperature: number) => preact.JSX.Element }) {
  const rows = useSignal<Row[]>([]);
  const divided = useSignal<Row[]>([]);
  const drawing = useCurves();
  const all = documentOf<Datasets>(datasets).value?.datasets[name]?.rows ?? 0;
  useEffect(() => {
    let isOver = false;
    readRows(datasets, name, 0, Math.min(all, STEPS_MAX))
      .then((read) => {
        if (!isOver) rows.value = read.json;
      })
      .catch(() => {});
    const divisions = splits ? documentOf<Datasets>(datasets).value?.datasets[splits]?.rows ?? 0 : 0;
    if (splits && divisions) {
      readRows(datasets, splits, 0, Math.min(divisions, STEPS_MAX))
        .then((read) => {
          if (!isOver) divided.value = read.json;
        })
        .catch(() => {});
    }
    return () => {
      isOver = true;
    };
  }, [datasets, name, all]);
  const annealed = useComputed(() => annealing(rows.value, divided.value));
  const lines = curvesOf(rows.value);
  if (!drawing || !lines.length) return null;
  return (
    <>
      <h3 class="next">How the result came about</h3>
      {annealed.value ? <drawing.Anneal {...annealed.value} unit="" keep={keep} /> : <Curves lines={lines} />}
    </>
  );
}

/// Draws curves beside each other, once their module is loaded.
function Curves({ lines }: { lines: Line[] }) {
  const drawing = useCurves();
  return drawing && lines.length ? <div class="pair">{lines.map((line) => <drawing.Chart key={line.title} {...line} />)}</div> : null;
}

/// Starts a job again with changed options, and opens the new job.
async function again(service: string, job: Job, change: Record<string, unknown>, skipped: string[] = []): Promise<void> {
  const told = Object.fromEntries(Object.entries(job.options).filter(([name, value]) => value !== null && !skipped.includes(name)));
  const inputs = Object.entries(job.inputs);
  const input = inputs.length === 1 ? inputs[0][1] : job.inputs;
  const { job: begun } = await post<{ job: string }>(`${service}:run`, { input, options: { ...told, ...change } });
  say(`${begun} is queued.`);
  go('jobs', { service, job: begun });
}

function Prepare({ service, job }: { service: string; job: Job }) {
  const error = useSignal<unknown>(null);
  const run = () => again(service, job, { auto: true }).catch((caught) => (error.value = caught));
  return (
    <>
      <p class="warning">Some values are missing. <button type="button" onClick={run}>Fill gaps and prepare the columns (auto), and run again</button></p>
      <Trouble error={error.value} />
    </>
  );
}

/// Offers to show the current number of clusters, or to start the job again with this number or the current temperature.
function Keep({ service, id, job, clusters, temperature }: Listed & { clusters: number; temperature: number }) {
  const error = useSignal<unknown>(null);
  const datasets = datasetsPath();
  const centers = datasets ? documentOf<Datasets>(datasets).value?.datasets[job.outputs.centers] : undefined;
  // Explore can show fewer clusters only if their table says how they merge.
  const canShow = clusters <= (centers?.rows ?? 0) && centers!.columns.some(({ name }) => name === 'joins');
  const explored = exploring(known.value, service, id, job);
  const run = async (change: Record<string, number>) => {
    error.value = null;
    await again(service, job, change, ['clusters', 'stop_temperature', 'stop_length', 'max_clusters']).catch((caught) => (error.value = caught));
  };
  return (
    <>
      <p class="keep">
        {canShow && explored && (
          <a class="button first" href={written('explore', { ...explored, merged: String(clusters) })}>Show {count(clusters)} {clusters === 1 ? 'cluster' : 'clusters'}</a>
        )}
        <button type="button" onClick={() => run({ clusters })}>Keep {count(clusters)} {clusters === 1 ? 'cluster' : 'clusters'}</button>
        <button type="button" onClick={() => run({ stop_temperature: temperature })}>Clusters at this temperature</button>
        <span class="soft">{canShow ? 'The last two' : 'Both'} run the method again, as a new job.</span>
      </p>
      <Trouble error={error.value} />
    </>
  );
}

/// The names of the inputs of methods that take two. Other methods take one input, which needs no name.
const INPUTS: Record<string, string[]> = {
  'lehr.pairwise': ['matrix', 'items'],
  'lehr.embedding': ['matrix', 'items'],
  'lehr.kmedoids': ['matrix', 'items'],
  'lehr.hierarchy': ['matrix', 'items'],
  'lehr.hdbscan': ['matrix', 'items'],
};

function New({ methods: list }: { methods: Service[] }) {
  const datasets = datasetsPath();
  const document = datasets ? documentOf<Datasets>(datasets).value : null;
  const { settings } = route.value;
  const names = Object.keys(document?.datasets ?? {}).filter((name) => !/\/(model|history|members|labels)$/.test(name));
  const preferred = list.find((one) => one.contract === 'lehr.clustering') ?? list[0];
  const service = useSignal(settings.service && list.some((one) => one.path === settings.service) ? settings.service : preferred.path);
  const data = useSignal(settings.data ?? names[0] ?? '');
  const output = useSignal('');
  const typed = useSignal<Typed>({});
  const fields = useSignal<Field[]>([]);
  const error = useSignal<unknown>(null);
  const isSending = useSignal(false);
  const method = list.find((one) => one.path === service.value) ?? preferred;
  useEffect(() => {
    let isOver = false;
    typed.value = {};
    error.value = null;
    description()
      .then((all) => {
        const schema = all.components.schemas[`${method.contract}.Options`];
        if (!isOver) fields.value = schema ? fieldsOf(schema, all) : [];
      })
      .catch((caught) => {
        if (!isOver) error.value = caught;
      });
    return () => {
      isOver = true;
    };
  }, [method.path, method.contract]);
  const dataset = document?.datasets[data.value];
  const inputs = INPUTS[method.contract];
  const items = inputs && data.value.replace(/\/[^/]*$/, '/items');
  const hasItems = items !== undefined && items !== data.value && document?.datasets[items] !== undefined;
  const columns = dataset?.columns ?? [];
  const isPositions = columns.some((one) => /^(lon|lng|longitude)$/i.test(one.name)) && columns.some((one) => /^(lat|latitude)$/i.test(one.name));
  const takesPositions = fields.value.some((field) => field.name === 'lonlat') && isPositions && typed.value.lonlat === undefined;
  // An ordinary table is prepared unless the user turns `auto` off.
  const isPrepared = dataset?.account !== undefined && fields.value.some((field) => field.name === 'auto');
  const chosen: Typed = isPrepared && typed.value.auto === undefined ? { ...typed.value, auto: 'yes' } : typed.value;
  const shown = fields.value.map((field) =>
    field.name === 'auto' ? { ...field, isBasic: isPrepared } : field.name === 'lonlat' ? { ...field, isBasic: isPositions } : field,
  );
  // The option `auto` comes before the options that it sets.
  if (isPrepared) shown.sort((a, b) => Number(b.name === 'auto') - Number(a.name === 'auto'));
  const run = async () => {
    isSending.value = true;
    error.value = null;
    try {
      const input = hasItems ? { [inputs[0]]: data.value, [inputs[1]]: items } : data.value;
      const order = { input, options: options(fields.value, chosen), ...(output.value.trim() ? { output: output.value.trim() } : {}) };
      const { job } = await post<{ job: string }>(`${service.value}:run`, order);
      say(`${job} is queued.`);
      go('jobs', { service: service.value, job });
    } catch (caught) {
      error.value = caught;
    } finally {
      isSending.value = false;
    }
  };
  return (
    <section class="card" aria-labelledby="new-job">
      <div class="head">
        <div>
          <h2 id="new-job">New job</h2>
          <p class="note">Fields that you leave empty keep their defaults, which are shown in grey.</p>
        </div>
        <div class="tools"><a class="button" href={written('jobs', {})}>Close</a></div>
      </div>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <div class="fields">
          <div class="field">
            <label for="job-method">Method</label>
            <select id="job-method" value={service.value} onChange={(event) => (service.value = event.currentTarget.value)}>
              {list.map((one) => (
                <option key={one.path} value={one.path}>
                  {methodOf(one)} ({one.path})
                </option>
              ))}
            </select>
          </div>
          <div class="field">
            <label for="job-data">{inputs ? 'Dissimilarities' : 'Data'}</label>
            <select id="job-data" value={data.value} onChange={(event) => (data.value = event.currentTarget.value)}>
              {names.length === 0 && <option value="">no data set yet</option>}
              {names.map((name) => <option key={name} value={name}>{name}</option>)}
            </select>
            {dataset && <span class="about">{count(dataset.rows)} rows{hasItems ? `; items from ${items}` : ''}</span>}
          </div>
          <div class="field">
            <label for="job-output">Name of the results</label>
            <input id="job-output" value={output.value} placeholder="the job's name" autocomplete="off" onInput={(event) => (output.value = event.currentTarget.value)} />
          </div>
        </div>
        {takesPositions && (
          <p class="warning">
            These rows have longitude and latitude.{' '}
            <button type="button" onClick={() => (typed.value = { ...typed.value, lonlat: 'yes' })}>Cluster positions on the sphere</button>
          </p>
        )}
        <Options fields={shown} typed={chosen} dataset={dataset} change={(name, value) => (typed.value = { ...typed.value, [name]: value })} />
        <Trouble error={error.value} />
        <div class="tools">
          <button type="submit" class="first" disabled={isSending.value || !data.value || !isRight(fields.value, typed.value)}>
            Run
          </button>
          {!isRight(fields.value, typed.value) && <span class="complaint">Some fields cannot be meant: see above.</span>}
        </div>
      </form>
    </section>
  );
}
