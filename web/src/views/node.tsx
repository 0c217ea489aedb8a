// The view of the node itself: its services, what they wait for, and its load.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ask, get, post } from '../api/http.ts';
import { description } from '../api/schema.ts';
import { documentOf, ofContract, services } from '../state/node.ts';
import { say } from '../state/notice.ts';
import { bytes, count, duration, figure } from '../state/words.ts';
import { Trouble } from './fault.tsx';

interface Look {
  services: {
    path: string;
    phase: string;
    running: { operation: string; age_ms: number; caller?: string; waits_for: string[] }[];
    waiting: { operation: string; requests: number }[];
    subscribers: { name?: string; queued: number; missed: number }[];
  }[];
  workers: number;
  workers_busy: number;
  jobs_queued: number;
  tasks: number;
  timers: number;
}

/// Returns the figures of `/metrics` by their names, including labels, as in the response.
export function measured(text: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (!line || line.startsWith('#')) continue;
    const at = line.lastIndexOf(' ');
    found.set(line.slice(0, at), Number(line.slice(at + 1)));
  }
  return found;
}

/// The milliseconds between two requests for the state of the node, while the page is visible.
const EVERY_MS = 1000;

export default function NodeView() {
  const look = useSignal<Look | null>(null);
  const figures = useSignal<Map<string, number>>(new Map());
  const error = useSignal<unknown>(null);
  const operations = useSignal<Map<string, string[]>>(new Map());
  const inspector = ofContract('lehr/inspector')[0]?.path;
  useEffect(() => {
    let isOver = false;
    const turn = async () => {
      if (document.visibilityState === 'visible') {
        try {
          if (inspector) look.value = await get<Look>(`${inspector}:look`);
          figures.value = measured(await (await ask('/metrics', { accept: 'text/plain' })).text());
          error.value = null;
        } catch (caught) {
          error.value = caught;
        }
      }
      if (!isOver) setTimeout(turn, EVERY_MS);
    };
    void turn();
    return () => {
      isOver = true;
    };
  }, [inspector]);
  useEffect(() => {
    let isOver = false;
    description()
      .then((all) => {
        const found = new Map<string, string[]>();
        for (const path of Object.keys(all.paths)) {
          const [service, operation] = path.split(':');
          if (operation && !['lookup', 'events'].includes(operation)) found.set(service, [...(found.get(service) ?? []), operation]);
        }
        if (!isOver) operations.value = found;
      })
      .catch(() => {});
    return () => {
      isOver = true;
    };
  }, [services.value]);
  const list = services.value ?? [];
  const seen = look.value;
  const at = (name: string) => figures.value.get(name);
  const requests = at('lehr_http_request_duration_seconds_count') ?? 0;
  const spent = at('lehr_http_request_duration_seconds_sum') ?? 0;
  const refused = (at('lehr_http_responses_total{status="4xx"}') ?? 0) + (at('lehr_http_responses_total{status="5xx"}') ?? 0);
  const tiles: [string, string, string][] = [
    ['Memory', at('process_resident_memory_bytes') !== undefined ? bytes(at('process_resident_memory_bytes')!) : '–', 'resident'],
    ['Workers busy', seen ? `${seen.workers_busy} of ${seen.workers}` : '–', seen ? `${count(seen.jobs_queued)} tasks ready` : ''],
    ['Tasks', seen ? count(seen.tasks) : '–', seen ? `${count(seen.timers)} ${seen.timers === 1 ? 'timer' : 'timers'}` : ''],
    ['Connections', figure(at('lehr_connections')), `${figure(at('lehr_subscriptions'))} subscriptions`],
    ['Requests', count(requests), requests ? `${figure((1000 * spent) / requests, 3)} ms on average` : ''],
    ['Refused or failed', count(refused), 'answers 4xx and 5xx'],
  ];
  return (
    <>
      <section class="card" aria-labelledby="machine">
        <div class="head">
          <div>
            <h2 id="machine">Machine</h2>
            <p class="note">Asked once a second while you look.</p>
          </div>
          <div class="tools">
            <a class="button" href="../openapi.json">OpenAPI description</a>
            <a class="button" href="../metrics">Metrics</a>
          </div>
        </div>
        <Trouble error={error.value} />
        <dl class="tiles">
          {tiles.map(([name, value, about]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd class="big">{value}</dd>
              <dd class="sub">{about}</dd>
            </div>
          ))}
        </dl>
      </section>
      <section class="card" aria-labelledby="services">
        <div class="head">
          <div>
            <h2 id="services">Services</h2>
            <p class="note">Each has a document, which you can open, and operations.</p>
          </div>
        </div>
        <div class="scroll" tabIndex={0} role="region" aria-label="Services">
          <table>
            <thead>
              <tr>
                <th scope="col">Path</th>
                <th scope="col">Contract</th>
                <th scope="col">Phase</th>
                <th scope="col" class="number">Running</th>
                <th scope="col" class="number">Waiting</th>
                <th scope="col" class="number">Subscribers</th>
                <th scope="col" class="number">Requests</th>
                <th scope="col" class="number">Faults</th>
                <th scope="col">Operations</th>
              </tr>
            </thead>
            <tbody>
              {list.map((service) => {
                const one = seen?.services.find((found) => found.path === service.path);
                return (
                  <tr key={service.path}>
                    <td><a href={`..${service.path}`}>{service.path}</a></td>
                    <td class="soft">{service.contract} {service.version}</td>
                    <td>
                      <span class={`state ${service.phase}`}>{service.phase}</span>
                      {service.reports.map((report) => <span class="complaint" key={report}>{String(report)}</span>)}
                    </td>
                    <td class="number">{one ? count(one.running.length) : ''}</td>
                    <td class="number">{one ? count(one.waiting.reduce((sum, queue) => sum + queue.requests, 0)) : ''}</td>
                    <td class="number">{one ? count(one.subscribers.length) : ''}</td>
                    <td class="number">{figure(at(`lehr_requests_total{service="${service.path}"}`))}</td>
                    <td class="number">{figure(at(`lehr_faults_total{service="${service.path}"}`))}</td>
                    <td class="soft wrap">{(operations.value.get(service.path) ?? []).join(', ')}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      </section>
      {seen && <Waits look={seen} />}
      <LogFilters />
      <Joined />
    </>
  );
}

function Waits({ look }: { look: Look }) {
  const handlers = look.services.flatMap(({ path, running }) => running.map((handler) => ({ path, handler })));
  const queues = look.services.flatMap(({ path, waiting }) => waiting.map((queue) => ({ path, queue })));
  return (
    <section class="card" aria-labelledby="waits">
      <h2 id="waits">Who waits for what</h2>
      {handlers.length + queues.length === 0 && <p class="note">No handler waits, and no request waits behind one.</p>}
      <ul class="plainlist">
        {handlers.map(({ path, handler }, at) => (
          <li key={at}>
            <b>{path}:{handler.operation}</b> waits {duration(handler.age_ms)}
            {handler.waits_for.length > 0 && <> for {handler.waits_for.join(', ')}</>}
            {handler.caller && <span class="soft"> (asked by {handler.caller})</span>}
          </li>
        ))}
        {queues.map(({ path, queue }) => (
          <li key={`${path} ${queue.operation}`}>
            <b>{path}:{queue.operation}</b> {count(queue.requests)} {queue.requests === 1 ? 'request waits' : 'requests wait'}
          </li>
        ))}
      </ul>
    </section>
  );
}

function LogFilters() {
  const path = ofContract('lehr/log')[0]?.path;
  const document = path ? documentOf<{ filters: string }>(path).value : null;
  const typed = useSignal<string | null>(null);
  const error = useSignal<unknown>(null);
  if (!path || !document) return null;
  const save = async () => {
    try {
      error.value = null;
      await post(`${path}:filter`, { filters: typed.value ?? document.filters });
      typed.value = null;
      say('The log says so from now on.');
    } catch (caught) {
      error.value = caught;
    }
  };
  return (
    <section class="card" aria-labelledby="log">
      <div class="head">
        <div>
          <h2 id="log">Log</h2>
          <p class="note">Lines go to standard error of the node. Choose here what it says: off, error, warn, info or debug, also by path, such as <code>warn,/clustering=debug</code>.</p>
        </div>
      </div>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label>
          Filters <input value={typed.value ?? document.filters} onInput={(event) => (typed.value = event.currentTarget.value)} />
        </label>
        <button type="submit" class="first" disabled={typed.value === null || typed.value === document.filters}>Change</button>
      </form>
      <Trouble error={error.value} />
    </section>
  );
}

function Joined() {
  const path = ofContract('lehr/nodes')[0]?.path;
  const document = path ? documentOf<{ nodes?: Record<string, { reach: string; fault?: { reason: string }; services: object }> }>(path).value : null;
  const nodes = Object.entries(document?.nodes ?? {});
  if (!nodes.length) return null;
  return (
    <section class="card" aria-labelledby="joined">
      <h2 id="joined">Joined nodes</h2>
      <ul class="plainlist">
        {nodes.map(([address, { reach, fault, services: there }]) => (
          <li key={address}>
            {/^https?:\/\//.test(address) ? <a href={address} rel="noreferrer">{address}</a> : address} <span class={`state ${reach}`}>{reach}</span>{' '}
            <span class="soft">{count(Object.keys(there).length)} services{fault ? `: ${fault.reason}` : ''}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
