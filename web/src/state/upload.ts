// Sends a file to the node in pieces. After an interruption, it continues where it stopped.

import { signal as state } from '@preact/signals';
import { ask, Fault, post, query } from '../api/http.ts';
import type { Dataset } from './node.ts';

export interface Reading {
  columns?: string[];
  weights?: string;
  id?: string;
  gaps?: boolean;
  delimiter?: string;
  header?: boolean;
  /// The notation of a table, for the format `table`.
  dialect?: { decimal: string; skip_lines: number; as_number: string[]; as_text: string[] };
}

/// The name under which the open form sends its file. The form itself shows the faults of this upload.
export const formName = state<string | null>(null);

/// The number of failures in a row after which an upload gives up. `PAUSE_MS`, times the number of failures so far, is the pause in milliseconds before it
/// tries again.
const TRIES = 5;
const PAUSE_MS = 800;

/// Sends a file, and makes the node read it. Calls `sent` with the number of bytes that the node has received.
export async function upload(
  datasets: string,
  name: string,
  format: string,
  reading: Reading,
  content: Blob,
  more: { replace?: boolean; description?: string },
  sent: (bytes: number) => void,
  signal: AbortSignal,
): Promise<Dataset> {
  const begin = { name, format, bytes: content.size, ...more, ...reading };
  let failures = 0;
  for (;;) {
    try {
      let { offset, piece_bytes_max: most } = await post<{ offset: number; piece_bytes_max: number }>(`${datasets}:begin`, begin, { signal });
      sent(offset);
      while (offset < content.size) {
        const piece = content.slice(offset, offset + Math.min(most, 4 << 20));
        const address = query(`${datasets}:append`, { name, offset });
        const answer = await ask(address, { method: 'POST', body: piece, type: 'application/octet-stream', signal });
        offset = ((await answer.json()) as { offset: number }).offset;
        failures = 0;
        sent(offset);
      }
      return await post<Dataset>(`${datasets}:finish`, { name }, { signal, timeoutMs: 600_000 });
    } catch (error) {
      const mayPass = error instanceof Fault && (error.status === 0 || error.status === 503);
      if (!mayPass || ++failures >= TRIES) throw error;
      await new Promise((go) => setTimeout(go, PAUSE_MS * failures));
    }
  }
}
