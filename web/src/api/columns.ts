// Reads the rows of a data set as columns. The node sends them as pieces in the Arrow format, which are decoded as they arrive.

import { tableFromIPC } from '@uwdata/flechette';
import { ask, query } from './http.ts';

export type Column =
  | { name: string; kind: 'number' | 'count'; values: Float64Array; /** Whether the numbers were converted from single precision. */ isSingle?: boolean }
  | { name: string; kind: 'text'; values: string[]; isSingle?: undefined };

export type NumberColumn = Exclude<Column, { kind: 'text' }>;

export interface Columns {
  rows: number;
  columns: Column[];
}

/// The part of a data set to read: all columns or some, and every row or each `every`-th row.
export interface Part {
  columns?: string[];
  every?: number;
}

const ARROW = 'application/vnd.apache.arrow.stream';
/// The number of pieces requested at the same time. A browser opens six connections to a node, and other requests need some of them.
const AT_ONCE = 2;

/// Reads the rows of a data set. Calls `progress` with the number of rows read so far.
export async function readColumns(
  datasets: string,
  name: string,
  progress: (rows: number) => void,
  signal: AbortSignal,
  { columns: wanted, every = 1 }: Part = {},
): Promise<Columns> {
  const columns = new Map<string, Column>();
  let [rows, next, length, done] = [-1, 0, 0, 0];
  const piece = async (from: number, to?: number) => {
    const response = await ask(query(`${datasets}:read`, { name, columns: wanted && JSON.stringify(wanted), from, to, every: every > 1 ? every : null }), { accept: ARROW, signal });
    // The header `0-65536/201174` has the first row, the row after the last one, and the number of all rows.
    const [, end, all] = (response.headers.get('lehr-rows') ?? '').split(/[-/]/).map(Number);
    if (!(end > from) && all !== 0) throw new Error(`${name}: the node sent no rows after row ${from}`);
    if (rows >= 0 && all !== rows) throw new Error(`${name} has changed while it was read: load it again.`);
    rows = all;
    append(columns, new Uint8Array(await response.arrayBuffer()), from / every, Math.ceil(rows / every));
    progress((done += end - from));
    return end;
  };
  // The length of the first piece is that of the other pieces, too.
  length = next = await piece(0);
  const rest = async () => {
    while (next < rows) {
      let from = next;
      const to = Math.min(rows, (next += length));
      while (from < to) from = await piece(from, to);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, rest));
  return { rows: Math.ceil(rows / every), columns: [...columns.values()] };
}

function append(columns: Map<string, Column>, bytes: Uint8Array, from: number, rows: number): void {
  const table = tableFromIPC(bytes, { useBigInt: false });
  table.schema.fields.forEach((field, at) => {
    const child = table.getChildAt(at)!;
    const wholes = wholeNumbers(child);
    const values = wholes ?? (child.toArray() as ArrayLike<unknown>);
    let column = columns.get(field.name);
    if (!column) {
      const isText = Array.isArray(values) && Array.prototype.some.call(values, (value) => typeof value === 'string');
      const isNumber = !wholes && (values instanceof Float64Array || values instanceof Float32Array);
      const kind = isText ? 'text' : isNumber ? 'number' : 'count';
      column = isText
        ? { name: field.name, kind: 'text', values: new Array<string>(rows).fill('') }
        : { name: field.name, kind: kind as 'number', values: new Float64Array(rows).fill(NaN) };
      columns.set(field.name, column);
    }
    if (column.kind === 'text') {
      for (let row = 0; row < values.length; row++) column.values[from + row] = String(values[row] ?? '');
    } else if (ArrayBuffer.isView(values)) {
      column.values.set(values as Float64Array, from);
    } else {
      for (let row = 0; row < values.length; row++) column.values[from + row] = values[row] == null ? NaN : Number(values[row]);
    }
  });
}

/// Converts whole numbers of 64 bits without creating a `BigInt` for each. Returns `null` if the column has other values.
function wholeNumbers({ data, length }: { data: readonly { values?: unknown; nullCount?: number }[]; length: number }): Float64Array | null {
  const [{ values, nullCount }] = data.length === 1 ? data : [{ values: null }];
  if (!(values instanceof BigUint64Array) || nullCount) return null;
  const halves = new Uint32Array(values.buffer, values.byteOffset, 2 * length);
  const found = new Float64Array(length);
  for (let row = 0; row < length; row++) found[row] = halves[2 * row] + halves[2 * row + 1] * 2 ** 32;
  return found;
}
