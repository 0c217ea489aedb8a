// Shows the rows of a data set, page by page.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { readRows } from '../api/rows.ts';
import { documentOf, type Datasets } from '../state/node.ts';
import { count, figure, words, yes } from '../state/words.ts';
import { Trouble } from './fault.tsx';

const PAGE = 50;

/// The columns of a result that come first, in this order, and those that say yes (1) or no (0).
const LEADING = ['name', 'cluster', 'component', 'weight'];
export const FLAGS = /^(annealed|converged|damped|kept)$/;

/// Shows the rows of a data set. The table of a job's result begins with the names and sizes of its clusters.
export function Rows({ datasets, name, caption, version, isResult }: { datasets: string; name: string; caption: string; version?: number; isResult?: boolean }) {
  const known = documentOf<Datasets>(datasets).value?.datasets[name];
  const all = known?.rows ?? 0;
  const from = useSignal(0);
  const page = useSignal<{ rows: number; json: Record<string, unknown>[] } | null>(null);
  const error = useSignal<unknown>(null);
  useEffect(() => {
    from.value = 0;
  }, [name]);
  const first = from.value;
  useEffect(() => {
    let isOver = false;
    readRows(datasets, name, first, Math.min(all, first + PAGE))
      .then((read) => {
        if (!isOver) [page.value, error.value] = [read, null];
      })
      .catch((caught) => {
        if (!isOver) error.value = caught;
      });
    return () => {
      isOver = true;
    };
  }, [datasets, name, first, version, all]);
  if (error.value) return <Trouble error={error.value} />;
  if (!page.value) return <p class="note">Reading…</p>;
  const { rows, json } = page.value;
  // The columns of JSON rows have no fixed order, so the data set's order is used.
  const names = known?.columns.map((column) => column.name) ?? Object.keys(json[0] ?? {});
  const rank = (column: string) => (LEADING.indexOf(column) + 1 || 9);
  if (isResult) names.sort((a, b) => rank(a) - rank(b));
  const last = Math.min(rows, first + json.length);
  return (
    <>
      <Grid caption={caption} names={isResult ? names.map(words) : names} rows={json.map((row) => names.map((column) => (isResult && FLAGS.test(column) ? yes(row[column]) : row[column])))} first={first} />
      <div class="pages">
        <span>
          {rows ? `Rows ${count(first + 1)} to ${count(last)} of ${count(rows)}` : 'No rows'}
        </span>
        {rows > PAGE && (
          <>
            <button type="button" disabled={first === 0} onClick={() => (from.value = Math.max(0, first - PAGE))}>
              Previous
            </button>
            <button type="button" disabled={last >= rows} onClick={() => (from.value = first + PAGE)}>
              Next
            </button>
          </>
        )}
      </div>
    </>
  );
}

/// The number of rows of a picture's table that are shown before the user asks for the rest.
const SHOWN = 300;

/// Offers the values of a picture as a table, which is made when the user opens it.
export function AsTable({ name, names, rows, pick }: { name: string; names: string[]; rows: () => unknown[][]; pick?: (row: number) => void }) {
  const isOpen = useSignal(false);
  const isWhole = useSignal(false);
  const all = isOpen.value ? rows() : [];
  return (
    <details class="values" onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>As a table: {name}</summary>
      {isOpen.value && <Grid caption={name} names={names} rows={isWhole.value ? all : all.slice(0, SHOWN)} pick={pick} />}
      {!isWhole.value && all.length > SHOWN && (
        <p class="note">The first {SHOWN} of {count(all.length)} rows. <button type="button" class="link" onClick={() => (isWhole.value = true)}>Show all</button></p>
      )}
    </details>
  );
}

/// A table with its own scroll bar. Without `first`, its rows have no numbers.
export function Grid({
  caption,
  names,
  rows,
  first,
  on,
  pick,
  isNumber = names.map((_, at) => rows.some((row) => typeof row[at] === 'number')),
}: {
  caption: string;
  names: string[];
  rows: unknown[][];
  first?: number;
  on?: number;
  pick?: (row: number) => void;
  isNumber?: boolean[];
}) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {first !== undefined && <th scope="col" class="number row">row</th>}
            {names.map((name, at) => (
              <th scope="col" key={name} class={isNumber[at] ? 'number' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at} class={on === at ? 'on' : ''} onClick={pick && (() => pick(at))}>
              {first !== undefined && <td class="number faint">{count(first + at + 1)}</td>}
              {row.map((value, column) => (
                <td key={column} class={isNumber[column] ? 'number' : ''}>
                  {pick && column === 0 ? (
                    <button type="button" class="link" onClick={(event) => (event.stopPropagation(), pick(at))}>
                      {short(value)}
                    </button>
                  ) : (
                    short(value)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/// Formats a value, and shortens long texts such as sequences and fingerprints to 78 characters.
function short(value: unknown): string {
  const text = typeof value === 'string' ? value : figure(value, 6);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
