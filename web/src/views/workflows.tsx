// The view of workflows: their runs, the steps of each run over time, and a form that starts a run from a file.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { post } from '../api/http.ts';
import { layered } from '../state/layers.ts';
import { canBeDrawn, exploring, known } from '../state/lineage.ts';
import { documentOf, ofContract, type Jobs, type Run, type Scheduled, type StepRecord } from '../state/node.ts';
import { notice, say } from '../state/notice.ts';
import { go, route, written } from '../state/route.ts';
import { count, duration, figure, when, words } from '../state/words.ts';
import { Trouble } from './fault.tsx';
import { Graph } from './graph.tsx';

interface Plan {
  steps: { name: string; service: string; operation: string; needs: string[]; is_mapped: boolean; node?: string }[];
  parameters: Record<string, unknown>;
}

export default function Workflows() {
  const path = ofContract('lehr/workflows')[0]?.path;
  if (!path) return <p class="empty">This node runs no workflows.</p>;
  const document = documentOf<{ runs: Record<string, Run>; schedules?: Record<string, Scheduled> }>(path).value;
  if (!document) return <p class="empty">Asking the node…</p>;
  const runs = Object.entries(document.runs).sort(([, a], [, b]) => b.number - a.number);
  const chosen = route.value.settings.run;
  const run = chosen ? document.runs[chosen] : undefined;
  return (
    <>
      <Begin path={path} />
      {document.schedules && <Schedules path={path} schedules={document.schedules} />}
      <section class="card" aria-labelledby="runs">
        <div class="head">
          <div>
            <h2 id="runs">Runs</h2>
            <p class="note">Newest first. They go on when you close this page.</p>
          </div>
        </div>
        {runs.length === 0 ? (
          <p class="empty">No run yet. Choose a workflow file above.</p>
        ) : (
          <div class="scroll" tabIndex={0} role="region" aria-label="Runs">
            <table>
              <thead>
                <tr>
                  <th scope="col">Run</th>
                  <th scope="col">Workflow</th>
                  <th scope="col">State</th>
                  <th scope="col">Begun</th>
                  <th scope="col" class="number">Steps done</th>
                  <th scope="col" class="number">Time</th>
                </tr>
              </thead>
              <tbody>
                {runs.map(([name, one]) => {
                  const steps = Object.values(one.steps);
                  return (
                    <tr key={name} class={name === chosen ? 'on' : ''}>
                      <td><a href={written('workflows', { run: name === chosen ? null : name })}>{name}</a></td>
                      <td class="soft">{one.workflow}</td>
                      <td><span class={`state ${one.state}`}>{one.state}</span></td>
                      <td class="soft">{one.begun_ms ? when(one.begun_ms) : ''}{one.trigger && ` by ${one.trigger}`}</td>
                      <td class="number">{count(steps.filter((step) => step.state === 'done').length)} of {count(steps.filter((step) => step.state !== 'skipped').length)}</td>
                      <td class="number">{duration(one.elapsed_ms)}</td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
        )}
      </section>
      {run && <Detail path={path} name={chosen!} run={run} />}
    </>
  );
}

/// Shows the workflows that the node begins by itself, and when.
function Schedules({ path, schedules }: { path: string; schedules: Record<string, Scheduled> }) {
  const error = useSignal<unknown>(null);
  const end = async (workflow: string) => {
    try {
      error.value = null;
      await post(`${path}:unschedule`, { workflow });
      say(`The node begins no further run of ${workflow}.`);
    } catch (caught) {
      error.value = caught;
    }
  };
  return (
    <section class="card" aria-labelledby="schedules">
      <h2 id="schedules">Schedules</h2>
      <Trouble error={error.value} />
      <ul class="plainlist">
        {Object.entries(schedules).map(([workflow, one]) => (
          <li key={workflow}>
            <b>{workflow}</b>{' '}
            <span class="soft">
              {Object.entries(one.triggers).map(([name, { due_ms }]) => (due_ms ? `${name}: ${when(due_ms)}` : `${name}: when its data set has changed`)).join('; ')}
              {one.pending && `; ${one.pending} waits for the run before`}
            </span>{' '}
            <button type="button" onClick={() => end(workflow)}>End<span class="unseen"> the schedule of {workflow}</span></button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Begin({ path }: { path: string }) {
  const file = useSignal<{ name: string; text: string } | null>(null);
  const plan = useSignal<Plan | null>(null);
  const typed = useSignal<Record<string, string>>({});
  const error = useSignal<unknown>(null);
  const order = () => ({
    file: file.value!.name,
    definition: file.value!.text,
    parameters: Object.fromEntries(Object.entries(typed.value).map(([name, text]) => [name, parsed(text)])),
  });
  const review = async () => {
    try {
      error.value = null;
      plan.value = await post<Plan>(`${path}:review`, order());
    } catch (caught) {
      error.value = caught;
      plan.value = null;
    }
  };
  const begin = async () => {
    try {
      error.value = null;
      const { run } = await post<{ run: string }>(`${path}:run`, order());
      say(`${run} has begun.`);
      file.value = null;
      go('workflows', { run });
    } catch (caught) {
      error.value = caught;
    }
  };
  return (
    <section class="card">
      <div class="tools">
        <label class="button first">
          Choose a workflow file
          <input
            class="unseen"
            type="file"
            accept=".toml"
            onChange={async (event) => {
              const input = event.currentTarget;
              const chosen = input.files?.[0];
              if (!chosen) return;
              file.value = { name: chosen.name, text: await chosen.text() };
              typed.value = {};
              input.value = '';
              await review();
            }}
          />
        </label>
        <span class="note">A TOML file. You see its steps before anything runs.</span>
      </div>
      {file.value && (
        <>
          <h2>{file.value.name}</h2>
          <Trouble error={error.value} />
          {plan.value && (
            <>
              <Graph steps={plan.value.steps} drawing={layered(plan.value.steps)} />
              <ol class="plan">
                {plan.value.steps.map((step) => (
                  <li key={step.name}>
                    <b>{step.name}</b>{' '}
                    <span class="soft">
                      {step.node ? `${step.node} ` : ''}{step.service}:{step.operation}
                      {step.is_mapped ? ', for each item of a list' : ''}
                      {step.needs.length ? `; after ${step.needs.join(', ')}` : ''}
                    </span>
                  </li>
                ))}
              </ol>
              <div class="fields">
                {Object.entries(plan.value.parameters ?? {}).map(([name, value]) => (
                  <label key={name}>
                    {name}
                    <input
                      placeholder={typeof value === 'string' ? value : JSON.stringify(value)}
                      value={typed.value[name] ?? ''}
                      onInput={(event) => {
                        const { [name]: _, ...rest } = typed.value;
                        const text = event.currentTarget.value;
                        typed.value = text === '' ? rest : { ...rest, [name]: text };
                      }}
                    />
                  </label>
                ))}
              </div>
            </>
          )}
          <div class="tools">
            <button type="button" class="first" disabled={!plan.value} onClick={begin}>Run</button>
            <button type="button" onClick={() => ((file.value = null), (plan.value = null))}>Cancel</button>
          </div>
        </>
      )}
    </section>
  );
}

/// Parses the value of a parameter as JSON, or returns it as text if it is not JSON.
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function Detail({ path, name, run }: { path: string; name: string; run: Run }) {
  const error = useSignal<unknown>(null);
  const act = async (operation: string, body: object, done: string) => {
    try {
      error.value = null;
      await post(`${path}:${operation}`, { run: name, ...body });
      say(done);
    } catch (caught) {
      error.value = caught;
    }
  };
  // A run that has just failed no longer "has begun".
  useEffect(() => {
    if (run.state === 'failed' && notice.peek().startsWith(name)) say(`${name} has failed.`);
  }, [run.state]);
  const linked = Object.entries(run.steps).map(([step, { needs, state }]) => ({ name: step, needs: needs ?? [], state }));
  const drawing = layered(linked);
  // Each step is listed below all steps that it needs.
  const steps = [...drawing.steps].sort((a, b) => a.layer - b.layer || a.row - b.row).map((place): [string, StepRecord] => [place.name, run.steps[place.name]]);
  const isRunning = run.state === 'running';
  const whole = Math.max(run.elapsed_ms, ...steps.map(([, step]) => step.ended_ms ?? 0), 1);
  return (
    <section class="card" aria-labelledby="run-detail">
      <div class="head">
        <div>
          <h2 id="run-detail">{name}</h2>
          <p class="note">
            {run.workflow}, from {run.file}; <span class={`state ${run.state}`}>{run.state}</span> {duration(run.elapsed_ms)}
          </p>
        </div>
        <div class="tools">
          {isRunning && <button type="button" onClick={() => act('stop', {}, `${name} stops; it can be resumed.`)}>Stop</button>}
          {isRunning && <button type="button" onClick={() => act('cancel', {}, `Asked ${name} to stop, and its jobs.`)}>Cancel</button>}
          {!isRunning && run.state !== 'done' && <button type="button" class="first" onClick={() => act('resume', {}, `${name} goes on.`)}>Resume</button>}
          {!isRunning && (
            <button type="button" onClick={() => act('remove', {}, `Removed ${name}.`).then(() => error.value === null && go('workflows'))}>Remove</button>
          )}
        </div>
      </div>
      <Trouble error={error.value} />
      {run.fault && <Trouble error={run.fault.reason} code={run.fault.code} />}
      {Object.entries(run.notices ?? {}).map(([notice, fault]) => fault && <Trouble key={notice} error={`The message ${notice} could not be sent: ${fault.reason}`} code={fault.code} />)}
      <Graph steps={linked} drawing={drawing} />
      <ul class="steps">
        {steps.map(([step, record]) => (
          <Step key={step} name={step} record={record} whole={whole} elapsed={run.elapsed_ms} again={isRunning ? null : () => act('resume', { from: step }, `${name} goes on from ${step}.`)} />
        ))}
      </ul>
      {run.output !== undefined && run.output !== null && (
        <>
          <h3>Answer</h3>
          <pre tabIndex={0} role="region" aria-label="Answer of the run">{typeof run.output === 'string' ? run.output : JSON.stringify(run.output, null, 2)}</pre>
        </>
      )}
      <details>
        <summary>Definition</summary>
        <pre tabIndex={0} role="region" aria-label="Definition of the workflow">{run.definition}</pre>
      </details>
    </section>
  );
}

function Step({ name, record, whole, elapsed, again }: { name: string; record: StepRecord; whole: number; elapsed: number; again: (() => void) | null }) {
  const from = record.started_ms ?? 0;
  const to = record.ended_ms ?? (record.started_ms === undefined || record.started_ms === null ? 0 : elapsed);
  const items = record.items ?? [];
  const faults = [...new Set([record.fault?.reason, ...items.map((item) => item.fault?.reason)].filter((reason): reason is string => !!reason))];
  const running = items.find((item) => item.state === 'running' && item.progress?.fraction !== undefined);
  const sources = [...new Set(items.map((item) => item.cached?.from).filter((run): run is string => !!run))];
  return (
    <li>
      <div class="step">
        <b>{name}</b>
        <span class={`state ${record.state}`}>
          {record.state}
          {record.is_mapped && items.length > 0 && ` ${items.filter((item) => item.state === 'done').length}/${items.length}`}
          {running && ` ${Math.round(100 * running.progress!.fraction!)} %`}
        </span>
        <span class="bar" aria-hidden="true">
          {to > from && <i class={record.state} style={{ left: `${(100 * from) / whole}%`, width: `${Math.max(0.5, (100 * (to - from)) / whole)}%` }} />}
        </span>
        <span class="number soft">{to > from ? duration(to - from) : ''}</span>
        {again && <button type="button" onClick={again}>Run again from here<span class="unseen"> ({name})</span></button>}
      </div>
      {record.skipped && <p class="note">Skipped: {record.skipped}</p>}
      {sources.length > 0 && <p class="note">Unchanged; the answer is from {sources.join(', ')}</p>}
      {faults.map((reason) => <Trouble key={reason} error={reason} />)}
      {items.some((item) => item.job || item.output !== undefined) && (
        <details>
          <summary>{count(items.length)} {items.length === 1 ? 'answer' : 'answers'}</summary>
          <ul class="plainlist">
            {items.slice(0, 100).map((item, at) => (
              <li key={at}>
                {item.item !== undefined && item.item !== null && <b>{figure(item.item)} </b>}
                {item.job ? <JobOf service={record.service} id={item.job} output={item.output} /> : <Answer output={item.output} />}
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

/// The maximum number of a job's figures beside its links.
const FIGURES = 4;

/// Shows a job of a step. If the job is on this node, links to it and to its points, and its first figures are shown.
function JobOf({ service, id, output }: { service?: string; id: string; output: unknown }) {
  const job = service ? documentOf<Jobs>(service).value?.jobs[id] : undefined;
  if (!job) return <>job {id} <Answer output={output} /></>;
  const explored = exploring(known.value, service!, id, job);
  const figures = Object.entries(job.figures ?? {}).slice(0, FIGURES).map(([name, value]) => `${words(name)} ${figure(value, 4)}`);
  return (
    <>
      <a href={written('jobs', { service, job: id })}>{id}</a>{' '}
      {explored && <><a href={written('explore', explored)}>Explore<span class="unseen"> {id}</span></a>{' '}</>}
      <span class="soft">{figures.join(', ')}</span>
    </>
  );
}

/// Shows the output of a step. If the output names a data set of this node, links to the data set and to its points are shown.
function Answer({ output }: { output: unknown }) {
  const name = (output as { dataset?: string } | null | undefined)?.dataset;
  const dataset = typeof name === 'string' ? known.value.datasets[name] : undefined;
  return (
    <>
      {dataset && <><a href={written('data', { set: name })}>Data set {name}</a>{' '}</>}
      {canBeDrawn(dataset) && <><a href={written('explore', { data: name })}>Explore<span class="unseen"> {name}</span></a>{' '}</>}
      <span class="soft">{output === undefined ? '' : JSON.stringify(output).slice(0, 400)}</span>
    </>
  );
}
