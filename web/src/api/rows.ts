// Reads some rows of a data set, for tables and charts.

import { ask, query } from './http.ts';

/// Reads the rows from `from` up to but not including `to` as JSON.
export async function readRows(
  datasets: string,
  name: string,
  from: number,
  to: number,
): Promise<{ rows: number; json: Record<string, unknown>[] }> {
  return (await ask(query(`${datasets}:read`, { name, from, to, format: 'json' }))).json();
}
