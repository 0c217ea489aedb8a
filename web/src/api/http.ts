// Requests to the node that serves this page: tokens, faults, files.

import { signal } from '@preact/signals';

/// Where the services are: one level above the viewer, whatever prefix a proxy has put before it.
export const root = new URL('../', document.baseURI.split(/[?#]/)[0]);

/// What the node said when it refused something (a problem document), or why it could not be asked.
export class Fault extends Error {
  status: number;
  code: string;
  retryAfter: number;

  constructor(status: number, code: string, detail: string, retryAfter = 0) {
    super(detail);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/// The token, in memory only: it is gone with the page.
let token = '';

/// Set while somebody has to be asked for a token: what was wrong with the one before.
export const tokenWanted = signal<string | null>(null);

/// Whether the node asks for a token: then a link alone opens nothing.
export const hasToken = () => token !== '';

let waiting: (() => void)[] = [];

export function giveToken(text: string): void {
  token = text.trim();
  tokenWanted.value = null;
  waiting.forEach((go) => go());
  waiting = [];
}

export interface Asking {
  method?: string;
  json?: unknown;
  body?: BodyInit;
  type?: string;
  accept?: string;
  etag?: string;
  key?: string;
  signal?: AbortSignal;
  timeoutMs?: number;
}

async function fault(response: Response): Promise<Fault> {
  let detail = `the node answered ${response.status}`;
  let code = 'unavailable';
  try {
    const problem = await response.json();
    detail = String(problem.detail ?? detail);
    code = String(problem.code ?? code);
  } catch {
    // A proxy's page.
  }
  return new Fault(response.status, code, detail, Number(response.headers.get('retry-after') ?? 0));
}

/// Asks the node. With 401 it waits until somebody has given a token, and asks again.
export async function ask(path: string, asking: Asking = {}): Promise<Response> {
  for (;;) {
    const headers: Record<string, string> = { accept: asking.accept ?? 'application/json' };
    if (token) headers.authorization = `Bearer ${token}`;
    if (asking.json !== undefined) headers['content-type'] = 'application/json';
    if (asking.type) headers['content-type'] = asking.type;
    if (asking.etag) headers['if-none-match'] = asking.etag;
    if (asking.key) headers['idempotency-key'] = asking.key;
    if (asking.timeoutMs) headers['lehr-timeout-ms'] = String(asking.timeoutMs);
    const shown = token;
    let response: Response;
    try {
      response = await fetch(new URL(path.replace(/^\//, './'), root), {
        method: asking.method ?? 'GET',
        headers,
        body: asking.json !== undefined ? JSON.stringify(asking.json) : asking.body,
        signal: asking.signal,
        cache: 'no-store',
        credentials: 'same-origin',
      });
    } catch (error) {
      if (asking.signal?.aborted) throw error;
      throw new Fault(0, 'unavailable', 'The node does not answer. Is it still running?');
    }
    if (response.status !== 401) {
      if (response.ok || response.status === 304) return response;
      throw await fault(response);
    }
    const said = (await fault(response)).message;
    // Another request may have brought a new token meanwhile.
    if (shown === token) {
      tokenWanted.value = token ? said : '';
      await new Promise<void>((go) => waiting.push(go));
    }
  }
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await ask(path, { signal })).json();
}

export async function post<T>(path: string, body: unknown, more: Asking = {}): Promise<T> {
  return (await ask(path, { method: 'POST', json: body, ...more })).json();
}

/// The address of an operation with its fields in the query.
export function query(path: string, fields: Record<string, string | number | boolean | null | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) search.append(name, String(value));
  }
  return `${path}?${search}`;
}
