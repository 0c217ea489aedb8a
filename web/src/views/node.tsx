// The view of the node itself: its machine, its services with their ports, and what they wait for.

import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { ask, get } from '../api/http.ts';
import { description } from '../api/schema.ts';
import { Ages, type Port } from '../state/ages.ts';
import { documentOf, ofContract, services } from '../state/node.ts';
import { bytes, count, duration, figure } from '../state/words.ts';
import { Trouble } from './fault.tsx';
import { NodeLink } from './link.tsx';
import { Log } from './log.tsx';
import { usePolling } from './polling.ts';
import { Ranks } from './ranks.tsx';

interface Look {
  services: {
    path: string;
    phase: string;
    running: { operation: string; age_ms: number; caller?: string; waits_for: string[] }[];
    ports: Port[];
    subscribers: { name?: string; queued: number; missed: number }[];
  }[];
  ports: Port[];
  dispatchers: {
    name: string;
    workers: { is_running: boolean; queued: number; jobs: number; steals: number; sleeps: number }[];
    queued: number;
    queues: { name: string; waiting: number; running: number }[];
  }[];
  workers: number;
  workers_busy: number;
  jobs_queued: number;
  tasks: number;
  timers: number;
}

/// A port of a service, and the milliseconds that its oldest item has waited at least. Null if the port is empty.
type Aged = Port & { of: string; age: number | null };

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
  const ports = useSignal<Aged[]>([]);
  const opened = useSignal<string | null>(null);
  const figures = useSignal<Map<string, number>>(new Map());
  const operations = useSignal<Map<string, string[]>>(new Map());
  const inspector = ofContract('lehr/inspector')[0]?.path;
  const ages = useMemo(() => new Ages(), [inspector]);
  const error = usePolling(async () => {
    if (inspector) {
      const seen = await get<Look>(`${inspector}:look`);
      const all = [...seen.services.flatMap(({ path, ports }) => ports.map((port) => ({ ...port, of: path }))), ...seen.ports.map((port) => ({ ...port, of: '' }))];
      const now = performance.now();
      ports.value = all.map((port) => ({ ...port, age: ages.note(`${port.of} ${port.name}`, port, now) }));
      look.value = seen;
    }
    figures.value = measured(await (await ask('/metrics', { accept: 'text/plain' })).text());
  }, EVERY_MS, [inspector]);
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
    ['HTTP requests', count(requests), requests ? `${figure((1000 * spent) / requests, 3)} ms on average` : ''],
    ['HTTP errors', count(refused), 'answers 4xx and 5xx'],
  ];
  const waiting = list.filter(({ phase }) => phase !== 'ready').length;
  return (
    <>
      <p class="lead-in">
        {list.length > 0 && <b>{waiting ? `${count(waiting)} of ${count(list.length)} services ${waiting === 1 ? 'is' : 'are'} not ready.` : 'All services are ready.'}</b>}{' '}
        <span class="soft">This page is for whoever runs the node. Looking changes nothing.</span>
      </p>
      <section class="card" aria-labelledby="machine">
        <div class="head">
          <div>
            <h2 id="machine">Machine</h2>
            <p class="note">Asked once a second while you look.</p>
          </div>
          <div class="tools">
            <NodeLink address="/openapi.json" title="OpenAPI description" file="openapi.json" />
            <NodeLink address="/metrics" title="metrics" file="metrics.txt" />
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
            <p class="note">Click a path for the operations, ports and subscribers of its service.</p>
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
              </tr>
            </thead>
            <tbody>
              {list.map((service) => {
                const one = seen?.services.find((found) => found.path === service.path);
                const own = ports.value.filter(({ of }) => of === service.path);
                const isOpen = opened.value === service.path;
                return (
                  <tr key={service.path} class={isOpen ? 'on' : ''}>
                    <td><button type="button" class="link" aria-expanded={isOpen} onClick={() => (opened.value = isOpen ? null : service.path)}>{service.path}</button></td>
                    <td class="soft">{service.contract} {service.version}</td>
                    <td>
                      <span class={`state ${service.phase}`}>{service.phase}</span>
                      {service.reports.map((report) => <span class="complaint" key={report}>{String(report)}</span>)}
                    </td>
                    <td class="number">{one ? count(one.running.length) : ''}</td>
                    <td class="number">{one ? count(own.reduce((sum, { waiting }) => sum + waiting, 0)) : ''}</td>
                    <td class="number">{one ? count(one.subscribers.length) : ''}</td>
                    <td class="number">{figure(at(`lehr_requests_total{service="${service.path}"}`))}</td>
                    <td class="number">{figure(at(`lehr_faults_total{service="${service.path}"}`))}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
        {opened.value && (
          <Opened path={opened.value} operations={operations.value.get(opened.value) ?? []} ports={ports.value.filter(({ of }) => of === opened.value)}
            subscribers={seen?.services.find(({ path }) => path === opened.value)?.subscribers ?? []} />
        )}
      </section>
      {seen && <Waits look={seen} ports={ports.value.filter(({ waiting }) => waiting > 0)} />}
      {seen && <Workers dispatchers={seen.dispatchers} />}
      <Ranks />
      <Log />
      <Joined />
    </>
  );
}

function Opened({ path, operations, ports, subscribers }: { path: string; operations: string[]; ports: Aged[]; subscribers: Look['services'][number]['subscribers'] }) {
  return (
    <div class="opened">
      <h3>{path}</h3>
      <p class="note">
        <NodeLink address={path} title="document" of={path} file={`${path.slice(1).replaceAll('/', '-')}.json`} /> Operations: {operations.join(', ') || 'none'}. The OpenAPI description has their parameters.
      </p>
      {ports.length > 0 && <div class="scroll" tabIndex={0} role="region" aria-label={`Ports of ${path}`}><Ports ports={ports} /></div>}
      <ul class="plainlist">
        {subscribers.map(({ name, queued, missed }, at) => (
          <li key={at}>Subscriber <b>{name ?? 'without a name'}</b>: {count(queued)} changes wait, {count(missed)} missed</li>
        ))}
      </ul>
    </div>
  );
}

function Ports({ ports }: { ports: Aged[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Port</th>
          <th scope="col" class="number">Waiting</th>
          <th scope="col" class="number">Places</th>
          <th scope="col" class="number">Oldest, at least</th>
          <th scope="col" class="number">Taken</th>
        </tr>
      </thead>
      <tbody>
        {ports.map(({ of, name, waiting, capacity, age, taken }) => (
          <tr key={`${of} ${name}`}>
            <td>{name}</td>
            <td class="number">{count(waiting)}</td>
            <td class="number">{capacity === null ? 'no limit' : count(capacity)}</td>
            <td class="number">{age === null ? '' : duration(age)}</td>
            <td class="number">{count(taken)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Waits({ look, ports }: { look: Look; ports: Aged[] }) {
  const handlers = look.services.flatMap(({ path, running }) => running.map((handler) => ({ path, handler })));
  return (
    <section class="card" aria-labelledby="waits">
      <h2 id="waits">Who waits for what</h2>
      {handlers.length + ports.length === 0 && <p class="note">No handler waits, and no port has items.</p>}
      <ul class="plainlist">
        {handlers.map(({ path, handler }, at) => (
          <li key={at}>
            <b>{path}:{handler.operation}</b> waits {duration(handler.age_ms)}
            {handler.waits_for.length > 0 && <> for {handler.waits_for.join(', ')}</>}
            {handler.caller && <span class="soft"> (asked by {handler.caller})</span>}
          </li>
        ))}
        {ports.map(({ of, name, waiting, age }) => (
          <li key={`${of} ${name}`}>
            <b>{of ? `${of}:${name}` : name}</b> {count(waiting)} {waiting === 1 ? 'item waits' : 'items wait'}, the oldest at least {duration(age ?? 0)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Workers({ dispatchers }: { dispatchers: Look['dispatchers'] }) {
  return (
    <section class="card" aria-labelledby="workers">
      <h2 id="workers">Workers and queues</h2>
      {dispatchers.map(({ name, workers, queued, queues }) => (
        <div key={name}>
          <p class="note">The workers of <b>{name}</b> run its tasks, each from a queue of its own. {count(queued)} {queued === 1 ? 'task waits' : 'tasks wait'} in the common queue.</p>
          <div class="scroll" tabIndex={0} role="region" aria-label={`Workers of ${name}`}>
            <table>
              <thead>
                <tr>
                  <th scope="col">Worker</th>
                  <th scope="col">Now</th>
                  <th scope="col" class="number">In its queue</th>
                  <th scope="col" class="number">Tasks run</th>
                  <th scope="col" class="number">Taken from others</th>
                  <th scope="col" class="number">Fell asleep</th>
                </tr>
              </thead>
              <tbody>
                {workers.map((worker, number) => (
                  <tr key={number}>
                    <td>{number}</td>
                    <td><span class={`state ${worker.is_running ? 'running' : ''}`}>{worker.is_running ? 'busy' : 'idle'}</span></td>
                    <td class="number">{count(worker.queued)}</td>
                    <td class="number">{count(worker.jobs)}</td>
                    <td class="number">{count(worker.steals)}</td>
                    <td class="number">{count(worker.sleeps)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <ul class="plainlist">
            {queues.map((queue) => <li key={queue.name}>Queue <b>{queue.name}</b>: {count(queue.waiting)} waiting, {count(queue.running)} running</li>)}
          </ul>
        </div>
      ))}
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
