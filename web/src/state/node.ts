// The state of the node that the page knows: its services and their documents. One stream of changes keeps them up to date.

import { effect, signal, type Signal } from '@preact/signals';
import { ask, get, tokenWanted } from '../api/http.ts';
import { follow, type Line, type Told } from '../api/events.ts';
import { forget } from '../api/schema.ts';

export interface Service {
  path: string;
  contract: string;
  version: string;
  phase: string;
  reports: string[];
}

export interface DatasetColumn {
  name: string;
  kind: 'number' | 'count' | 'text';
}

export interface Dataset {
  rows: number;
  columns: DatasetColumn[];
  weights?: string;
  id?: string;
  bytes: number;
  checksum: string;
  source: Record<string, any>;
  warnings?: string[];
  account?: ColumnFacts[];
  content: number;
}

/// Facts about a column of an ordinary table.
export interface ColumnFacts {
  name: string;
  role: string;
  reason?: string;
  read_as: string;
  missing: number;
  distinct: number;
  range: string;
}

export interface Upload {
  state: 'uploading' | 'reading' | 'failed';
  offset: number;
  bytes?: number;
  fault?: { code: string; reason: string };
}

export interface Datasets {
  datasets: Record<string, Dataset>;
  uploads: Record<string, Upload>;
}

export interface Progress {
  fraction: number;
  stage: string;
  figures: Record<string, number>;
}

export interface Job {
  state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled' | 'interrupted';
  options: Record<string, any>;
  inputs: Record<string, string>;
  outputs: Record<string, string>;
  output: string;
  progress?: Progress;
  figures?: Record<string, number>;
  times: { queued_unix_ms: number; started_unix_ms?: number; ended_unix_ms?: number };
  fault?: { code: string; reason: string };
  warnings?: string[];
  number: number;
}

export interface Jobs {
  datasets: string;
  jobs: Record<string, Job>;
}

export interface StepRecord {
  state: string;
  started_ms?: number;
  ended_ms?: number;
  is_mapped?: boolean;
  needs?: string[];
  /// The path of the service that runs the step, if the service is on this node.
  service?: string;
  items?: { state: string; attempts: number; item?: unknown; job?: string; output?: unknown; progress?: { fraction?: number }; fault?: { reason: string }; cached?: { from?: string } }[];
  fault?: { code: string; reason: string };
  /// The reason why the step was skipped.
  skipped?: string;
}

export interface Run {
  workflow: string;
  file: string;
  definition: string;
  state: string;
  wish?: string;
  steps: Record<string, StepRecord>;
  elapsed_ms: number;
  fault?: { code: string; reason: string };
  output?: unknown;
  number: number;
  /// The trigger that began the run, and the time at which it began, in milliseconds since 1970.
  trigger?: string;
  begun_ms?: number;
  /// The messages about the end, each with the fault if it could not be sent.
  notices?: Record<string, { code: string; reason: string } | null>;
}

/// A workflow that the node begins by itself.
export interface Scheduled {
  triggers: Record<string, { due_ms?: number; checksum?: string }>;
  pending?: string;
  run?: string;
}

export const services = signal<Service[] | null>(null);
export const line = signal<Line>('connecting');
/// Why the list of services could not be loaded, or `null` if it could.
export const trouble = signal<string | null>(null);

const documents = new Map<string, Signal<any>>();
const tags = new Map<string, string>();

/// Returns a signal with the document of a service. Its value is `null` until the document is known.
export function documentOf<T>(path: string): Signal<T | null> {
  let found = documents.get(path);
  if (!found) documents.set(path, (found = signal<any>(null)));
  return found;
}

/// Returns the services of a contract.
export function ofContract(contract: string): Service[] {
  return (services.value ?? []).filter((service) => service.contract === contract);
}

/// Returns the path of the first service of data sets, or `null` if there is none.
export function datasetsPath(): string | null {
  return ofContract('lehr.datasets')[0]?.path ?? null;
}

/// Returns the services that run methods. The document of each contains its jobs.
export function methods(): Service[] {
  return (services.value ?? []).filter((service) => service.contract.startsWith('lehr.') && service.contract !== 'lehr.datasets');
}

/// The figures of running jobs in the order of arrival: those that the node remembers when a page first asks, and those that the page receives.
export const heard = new Map<string, Signal<Progress[]>>();

export function heardOf(service: string, job: string): Signal<Progress[]> {
  const key = `${service} ${job}`;
  let found = heard.get(key);
  if (!found) heard.set(key, (found = signal<Progress[]>([])));
  return found;
}

/// Asks the node for the figures of a running job so far. A page that has received more keeps its own.
export async function recall(service: string, job: string): Promise<void> {
  const told = await get<Progress[]>(`${service}:course?job=${encodeURIComponent(job)}`);
  const list = heardOf(service, job);
  if (told.length > list.value.length) list.value = told;
}

const HEARD_MAX = 2000;

/// Adds the figures of a job. If there are very many, every second one is dropped first.
function hear(service: string, job: string, progress: Progress): void {
  const list = heardOf(service, job);
  const kept = list.value.length < HEARD_MAX ? list.value : list.value.filter((_, at) => at % 2 === 0);
  list.value = [...kept, progress];
}

/// The minimum time between two scheduled fetches of the same document, in milliseconds.
const FETCH_MS = 500;
const planned = new Map<string, number>();
const fetched = new Map<string, number>();

function fetchSoon(path: string): void {
  if (planned.has(path)) return;
  const due = Math.max(0, (fetched.get(path) ?? 0) + FETCH_MS - Date.now());
  planned.set(
    path,
    setTimeout(() => {
      planned.delete(path);
      void fetchDocument(path).catch(() => {});
    }, due) as unknown as number,
  );
}

/// Fetches a document, unless its ETag shows that it has not changed.
export async function fetchDocument(path: string): Promise<void> {
  fetched.set(path, Date.now());
  const known = documents.get(path)?.value != null ? tags.get(path) : undefined;
  const response = await ask(path, { etag: known });
  if (response.status === 304) return;
  const tag = response.headers.get('etag');
  if (tag) tags.set(path, tag);
  documentOf(path).value = await response.json();
}

/// Handles an event of a service. A first event replaces the document, progress updates it, and after other changes it is fetched.
export function told({ kind, service, data }: Told): void {
  const document = documentOf<any>(service);
  if (kind === 'seed') {
    tags.delete(service);
    document.value = data.state;
    if (service === directory()) void loadServices();
  } else if (kind === 'change' && data.operation === 'progressed' && document.value?.jobs?.[data.body.job]) {
    const { job, progress } = data.body;
    tags.delete(service);
    hear(service, job, progress);
    document.value = { ...document.value, jobs: { ...document.value.jobs, [job]: { ...document.value.jobs[job], progress } } };
  } else if (kind !== 'end') {
    fetchSoon(service);
    if (service === directory()) void loadServices();
  }
}

function directory(): string | undefined {
  return ofContract('lehr/directory')[0]?.path;
}

/// Fetches the list of services.
export async function loadServices(): Promise<void> {
  try {
    const { services: list } = await get<{ services: Service[] }>('/');
    if (JSON.stringify(list) !== JSON.stringify(services.peek())) {
      forget();
      services.value = list;
    }
    trouble.value = null;
  } catch (error) {
    trouble.value = (error as Error).message;
  }
}

/// Returns the paths of the services to follow. The inspector, the constructor and the manifest report no changes that the page needs.
function followed(): string[] {
  const quiet = new Set(['lehr/inspector', 'lehr/constructor', 'lehr/manifest']);
  return (services.value ?? []).filter((service) => !quiet.has(service.contract)).map((service) => service.path);
}

let stop: AbortController | null = null;
let following = '';

/// Follows the node while the page is open.
export function watch(): void {
  void loadServices();
  setInterval(() => {
    if (line.peek() === 'lost' || services.peek() === null) void loadServices();
  }, 2000);
  effect(() => {
    const paths = followed();
    if (paths.join() === following) return;
    following = paths.join();
    stop?.abort();
    if (!paths.length) return;
    stop = new AbortController();
    const askAll = async () => {
      for (const path of paths) await fetchDocument(path).catch(() => {});
    };
    void follow(paths, stop.signal, told, (state) => (line.value = state), askAll);
  });
  // With a new token, the node may list other services.
  let wasWanted = false;
  effect(() => {
    if (wasWanted && tokenWanted.value === null) setTimeout(() => void loadServices());
    wasWanted = tokenWanted.value !== null;
  });
}
