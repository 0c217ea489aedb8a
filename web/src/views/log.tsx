// The log of the node: its latest lines, and the filters that choose what it says.

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { get, post } from '../api/http.ts';
import { documentOf, ofContract } from '../state/node.ts';
import { say } from '../state/notice.ts';
import { count, when } from '../state/words.ts';
import { Trouble } from './fault.tsx';
import { usePolling } from './polling.ts';

interface Line {
  number: number;
  at: number;
  fields: Record<string, unknown>;
}

/// The most lines that are kept and shown, and the milliseconds between two requests for lines.
const LINES_MAX = 500;
const SHOWN_MAX = 100;
const EVERY_MS = 2000;

const LEVELS = ['error', 'warn', 'info', 'debug'];

export function Log() {
  const path = ofContract('lehr/log')[0]?.path;
  const document = path ? documentOf<{ filters: string }>(path).value : null;
  const typed = useSignal<string | null>(null);
  const error = useSignal<unknown>(null);
  const lines = useSignal<Line[]>([]);
  const least = useSignal('debug');
  const wanted = useSignal('');
  const next = useRef(0);
  const lost = usePolling(async () => {
    if (!path) return;
    const told = await get<{ lines: { number: number; age_ms: number; fields: Record<string, unknown> }[]; next: number }>(`${path}:tail?from=${next.current}`);
    const now = Date.now();
    // A node that was started again counts from 0, so the next call asks for all of its lines.
    const isAnother = told.next < next.current;
    if (isAnother) lines.value = [];
    else if (told.lines.length) lines.value = [...lines.value, ...told.lines.map(({ number, age_ms, fields }) => ({ number, at: now - age_ms, fields }))].slice(-LINES_MAX);
    next.current = isAnother ? 0 : told.next;
  }, EVERY_MS, [path]);
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
  const found = lines.value.filter(({ fields }) => LEVELS.indexOf(String(fields.level)) <= LEVELS.indexOf(least.value) && (!wanted.value || told(fields).toLowerCase().includes(wanted.value.toLowerCase())));
  return (
    <section class="card" aria-labelledby="log">
      <div class="head">
        <div>
          <h2 id="log">Log</h2>
          <p class="note">Filters choose what the node writes: off, error, warn, info or debug, also by path, such as <code>warn,/clustering=debug</code>.</p>
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
      </div>
      <Trouble error={error.value ?? lost.value} />
      <div class="tools">
        <label>
          Show{' '}
          <select value={least.value} onChange={(event) => (least.value = event.currentTarget.value)}>
            {LEVELS.map((level) => <option key={level} value={level}>{level === 'error' ? 'errors' : level === 'debug' ? 'all lines' : `${level} and graver`}</option>)}
          </select>
        </label>
        <label>
          with <input type="search" placeholder="text" value={wanted.value} onInput={(event) => (wanted.value = event.currentTarget.value)} />
        </label>
        <span class="soft">{count(found.length)} of {count(lines.value.length)} lines</span>
      </div>
      <div class="scroll short" tabIndex={0} role="region" aria-label="Lines of the log">
        <table>
          <thead>
            <tr><th scope="col">Time</th><th scope="col">Level</th><th scope="col">Path</th><th scope="col">Line</th></tr>
          </thead>
          <tbody>
            {found.slice(-SHOWN_MAX).reverse().map(({ number, at, fields }) => (
              <tr key={number}>
                <td class="soft">{when(at)}</td>
                <td class={fields.level === 'error' || fields.level === 'warn' ? 'complaint' : 'soft'}>{String(fields.level)}</td>
                <td>{String(fields.path ?? '')}</td>
                <td class="wrap">{told(fields, ['level', 'path', 'contract', 'took_us'])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/// Returns the fields of a line as text, without those named in `without`.
function told(fields: Record<string, unknown>, without: string[] = []): string {
  return Object.entries(fields).filter(([name]) => !without.includes(name)).map(([name, value]) => `${name} ${String(value).replaceAll('\n', '; ')}`).join(' · ');
}
