// Requests to the node that serves this page, with their tokens and faults.

import { signal } from '@preact/signals';

/// The base URL of the services, one level above the viewer. It includes any prefix that a proxy adds.
export const root = new URL('../', document.baseURI.split(/[?#]/)[0]);

/// The problem document with which the node refused a request, or the reason why it could not be asked (status 0).
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

/// The token. The page keeps it only in memory, so it is lost when the page is closed.
let token = '';

/// The message of the form that asks for a token: what was wrong with the previous token, or empty if there was none. `null` while no token is needed.
export const tokenWanted = signal<string | null>(null);

/// Returns whether the page has a token. A link carries no token, so the node would refuse it.
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
    // The response is not a problem document, but may be a page of a proxy.
  }
  return new Fault(response.status, code, detail, Number(response.headers.get('retry-after') ?? 0));
}

/// Sends a request to the node. After status 401, it waits until the user enters a token, and sends the request again.
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
    // If the token has changed during the request, the next attempt uses the new one.
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

/// Returns the path of an operation, with its fields in the query. Fields without a value are left out.
export function query(path: string, fields: Record<string, string | number | boolean | null | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) search.append(name, String(value));
  }
  return `${path}?${search}`;
}
