// Rows of data sets, as columns: pieces of Arrow, decoded as they come.

import { tableFromIPC } from '@uwdata/flechette';
import { ask, query } from './http.ts';

export type Column =
  | { name: string; kind: 'number' | 'count'; values: Float64Array }
  | { name: string; kind: 'text'; values: string[] };

export interface Columns {
  rows: number;
  columns: Column[];
}

const ARROW = 'application/vnd.apache.arrow.stream';

/// Reads all rows of a data set. `progress` hears how many of them are there.
export async function readColumns(
  datasets: string,
  name: string,
  rows: number,
  progress: (rows: number) => void,
  signal: AbortSignal,
): Promise<Columns> {
  const columns = new Map<string, Column>();
  let from = 0;
  do {
    const response = await ask(query(`${datasets}:read`, { name, from }), { accept: ARROW, signal });
    // `0-65536/201174`: the first row, the one after the last, all.
    const [, to, all] = (response.headers.get('lehr-rows') ?? '').split(/[-/]/).map(Number);
    if (!(to > from) && all !== 0) throw new Error(`${name}: the node sent no rows after row ${from}`);
    rows = all;
    append(columns, new Uint8Array(await response.arrayBuffer()), from, rows);
    from = to;
    progress(from);
  } while (from < rows);
  return { rows, columns: [...columns.values()] };
}

function append(columns: Map<string, Column>, bytes: Uint8Array, from: number, rows: number): void {
  const table = tableFromIPC(bytes, { useBigInt: false });
  table.schema.fields.forEach((field, at) => {
    const values = table.getChildAt(at)!.toArray() as ArrayLike<unknown>;
    let column = columns.get(field.name);
    if (!column) {
      const isText = Array.isArray(values) && Array.prototype.some.call(values, (value) => typeof value === 'string');
      const kind = isText ? 'text' : values instanceof Float64Array || values instanceof Float32Array ? 'number' : 'count';
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
