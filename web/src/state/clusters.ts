// Colourings of points: by the clusters of a job, by the values of a column, or none.

import type { Column, Columns } from '../api/columns.ts';
import { clusterColour, scaleColour, type Theme } from '../colour/palette.ts';
import { figure } from './words.ts';

/// A colouring of the rows: groups with a colour each, or a scale for a column of numbers.
export interface Colouring {
  title: string;
  /// For each row, the index of its group, or -1 if it has none.
  groupOf: Int32Array;
  groups: Group[];
  /// The scale if colours follow numbers, with the place of each row on it from 0 to 1, or NaN without a value.
  scale: { place: Float32Array; low: number; high: number; isLog: boolean; gaps: number } | null;
  /// For each row, the probability that it belongs to its cluster, if the job computes probabilities.
  probability: Float64Array | null;
  /// Whether colours show the probabilities of rows instead of their groups.
  isSure?: boolean;
  /// The outliers that a job has found, the farthest first.
  outliers?: { row: number; cluster: number; about: string }[];
}

export interface Group {
  name: string;
  number: number;
  rows: number;
  /// What sets the group apart, if the job says so.
  about?: string;
  /// The mean probability of the group's rows; `partners` are the clusters that it would merge with first. Both are absent if the job does not compute them.
  probability?: number;
  partners?: string;
  /// The cluster that this one joins as the number of clusters decreases, and the number of clusters left afterwards.
  joins?: Joins;
  /// Whether the group consists of several clusters.
  isMerged?: boolean;
  /// Whether the name comes from the user.
  isNamed?: boolean;
}

/// The merge by which a cluster ends: the number of the cluster that it joins, and the number of clusters left afterwards.
export type Joins = [into: number, left: number];

/// Facts about clusters. The index in each list is the number of the cluster.
export interface Known {
  names?: string[];
  about?: string[];
  means?: number[];
  partners?: string[];
  joins?: (Joins | null)[];
}

/// The maximum number of different texts that become groups. A column of more texts has names rather than categories.
export const GROUPS_MAX = 2000;

export const NO_CLUSTER = 'no cluster';
/// The name of the group of rows without a value in a column, or without a class if the classes have names.
export const NO_VALUE = 'no value';

/// Colours by the clusters in a job's table of labels, which has the same rows as the data.
export function byLabels(title: string, labels: Columns): Colouring {
  const cluster = labels.columns.find((column) => column.name === 'cluster' || column.name === 'component');
  const probability = labels.columns.find((column) => column.name === 'probability');
  if (!cluster || cluster.kind === 'text') throw new Error(`${title}: its labels have no column of clusters`);
  return clustersOf(title, cluster.values, probability?.kind === 'number' ? probability.values : null);
}

function valuesOf(table: Columns, name: string): ArrayLike<string | number> | undefined {
  return table.columns.find((column) => column.name === name)?.values;
}

/// Adds facts from the table of centres to the groups: what sets a cluster apart, its mean probability, and the clusters that it merges with.
export function describe(colouring: Colouring, centers: Columns): void {
  const [numbers, names, means, partners, joins, left] = ['cluster', 'name', 'probability', 'merges_with', 'joins', 'joins_at'].map((name) => valuesOf(centers, name));
  const place = new Map(Array.from({ length: centers.rows }, (_, row) => [Number(numbers?.[row]), row]));
  for (const group of colouring.groups) {
    const row = place.get(group.number);
    if (row === undefined) continue;
    group.about ??= String(names?.[row] ?? '') || undefined;
    if (means) group.probability = Number(means[row]);
    group.partners = String(partners?.[row] ?? '') || undefined;
    group.joins = joins?.[row] && left?.[row] ? [Number(joins[row]), Number(left[row])] : undefined;
  }
}

/// Returns the row of each outlier. Without `labels`, its id is the number of the row; otherwise, the row is found by the id and the distance in `labels`.
export function rowsOf(outliers: Columns, labels: Columns | null): number[] {
  const [keys, far] = ['id', 'distance'].map((name) => valuesOf(outliers, name)!);
  if (!labels) return Array.from(keys, Number);
  const [ids, distances] = ['id', 'distance'].map((name) => valuesOf(labels, name)!);
  // Rows are first looked up by their distance, a number. Ids are compared only where distances are equal, as comparing texts is slower.
  const places = new Map<unknown, number[]>();
  for (let at = 0; at < outliers.rows; at++) places.set(far[at], [...(places.get(far[at]) ?? []), at]);
  const found = new Array<number>(outliers.rows).fill(-1);
  for (let row = 0; row < labels.rows; row++) {
    for (const at of places.get(distances[row]) ?? []) if (String(ids[row]) === String(keys[at])) found[at] = row;
  }
  return found;
}

/// Adds the outliers that a job has found to a colouring.
export function withOutliers(colouring: Colouring, outliers: Columns, rows: number[]): void {
  const [cluster, columns] = ['cluster', 'columns'].map((name) => valuesOf(outliers, name));
  colouring.outliers = rows
    .map((row, at) => ({ row, cluster: Number(cluster?.[at]), about: String(columns?.[at] ?? '') }))
    .filter(({ row }) => row >= 0 && row < colouring.groupOf.length);
}

/// Colours by the number of each row's cluster; a number below 0 means no cluster. Clusters may have names.
export function clustersOf(title: string, labels: Float64Array, probability: Float64Array | null, { names, about, means, partners, joins }: Known = {}): Colouring {
  const rows = labels.length;
  const groupOf = new Int32Array(rows);
  let most = -1;
  for (let row = 0; row < rows; row++) if (labels[row] > most) most = labels[row];
  // Indexed by the number of the cluster; the last element is for rows without a cluster. It first holds the number of rows, then the index of the group.
  const table = new Int32Array(most + 2);
  for (let row = 0; row < rows; row++) table[labels[row] >= 0 ? labels[row] : most + 1]++;
  const groups: Group[] = [];
  table.forEach((found, at) => {
    if (found === 0) return;
    table[at] = groups.length;
    const number = at <= most ? at : -1;
    groups.push({
      name: number < 0 ? (names ? NO_VALUE : NO_CLUSTER) : (names?.[number] ?? String(number)), number, rows: found,
      about: about?.[number], probability: means?.[number], partners: partners?.[number], joins: joins?.[number] ?? undefined,
    });
  });
  for (let row = 0; row < rows; row++) groupOf[row] = table[labels[row] >= 0 ? labels[row] : most + 1];
  return { title, groupOf, groups, scale: null, probability };
}

/// The maximum number of clusters whose names are part of the name of a merged group.
const NAMED_MAX = 4;

/// Merges groups until the given number of clusters is left. A merged group keeps the number and the colour of the cluster that the others join.
export function merged(colouring: Colouring, clusters: number): Colouring {
  const { groups, groupOf } = colouring;
  const place = new Map(groups.map(({ number }, at) => [number, at]));
  const parts: Group[][] = groups.map(() => []);
  const whole = groups.map((group, at) => {
    let now = at;
    for (let { joins } = group; joins && joins[1] >= clusters; joins = groups[now].joins) {
      const next = place.get(joins[0]);
      if (next === undefined) break;
      now = next;
    }
    parts[now].push(group);
    return now;
  });
  const kept = groups.map((_, at) => at).filter((at) => parts[at].length > 0);
  const placed = new Map(kept.map((at, now) => [at, now]));
  const names = (of: Group[]) => of.slice(0, NAMED_MAX).map(({ name }) => name).join(' + ') + (of.length > NAMED_MAX ? ` and ${of.length - NAMED_MAX} more` : '');
  return {
    ...colouring,
    groups: kept.map((at) => (parts[at].length === 1 ? groups[at] : { name: names(parts[at]), number: groups[at].number, isMerged: true, rows: parts[at].reduce((sum, { rows }) => sum + rows, 0) })),
    groupOf: groupOf.map((at) => placed.get(whole[at]) ?? -1),
    probability: null,
  };
}

/// The probability up to which colours are brightest. At 0.5, a row is as likely to belong to other clusters as to its own. Few rows have a lower probability.
export const UNSURE = 0.5;

/// Colours rows by probability: the lower it is, the brighter the colour. Rows without a cluster are grey. The groups keep their colours.
export function bySureness(colouring: Colouring): Colouring {
  const { groups, groupOf, probability } = colouring;
  if (!probability) return colouring;
  const placed = (value: number) => Math.min(1, (1 - value) / (1 - UNSURE));
  const place = Float32Array.from(probability, (value, row) => (groups[groupOf[row]]?.number >= 0 ? placed(value) : NaN));
  const gaps = place.reduce((sum, one) => sum + (one >= 0 ? 0 : 1), 0);
  return { ...colouring, scale: { place, low: UNSURE, high: 1, isLog: false, gaps }, isSure: true };
}

/// Yields the rows with a cluster whose probability is below a limit.
export function* below({ groups, groupOf, probability }: Colouring, limit: number): Iterable<number> {
  for (let row = 0; row < groupOf.length; row++) if (probability![row] < limit && groups[groupOf[row]]?.number >= 0) yield row;
}

/// Colours by a column. Up to 12 different numbers or `GROUPS_MAX` texts become groups, more numbers a scale.
export function byColumn(column: Column): Colouring {
  const rows = column.values.length;
  const groupOf = new Int32Array(rows).fill(-1);
  const counts = new Map<string | number, number>();
  const isGap = (value: string | number) => value === '' || value !== value;
  const most = column.kind === 'text' ? GROUPS_MAX : 12;
  for (let row = 0; row < rows && counts.size <= most; row++) {
    const value = column.values[row];
    if (!isGap(value)) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  if (counts.size <= most) {
    const values = [...counts.entries()].sort(([a, x], [b, y]) => (typeof a === 'number' ? a - (b as number) : y - x));
    const place = new Map(values.map(([value], at) => [value, at]));
    const groups: Group[] = values.map(([value, number], at) => ({ name: typeof value === 'number' ? figure(value) : value, number: at, rows: number }));
    for (let row = 0; row < rows; row++) groupOf[row] = place.get(column.values[row]) ?? groups.length;
    // Rows without a value form a group, too, so they can be selected and hidden.
    const gaps = rows - values.reduce((sum, [, number]) => sum + number, 0);
    if (gaps > 0 && groups.length > 0) groups.push({ name: NO_VALUE, number: -1, rows: gaps });
    return { title: column.name, groupOf, groups, scale: null, probability: null };
  }
  if (column.kind === 'text') throw new Error(`${column.name} has more than ${GROUPS_MAX} different values. Choose another column.`);
  let [low, high] = [Infinity, -Infinity];
  for (const value of column.values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  // If most values are near the low end, like numbers of people, a logarithmic scale tells them apart better than a linear one.
  let [sum, number] = [0, 0];
  for (const value of column.values) if (value === value) [sum, number] = [sum + (value - low), number + 1];
  const isLog = low >= 0 && sum / number < 0.12 * (high - low);
  const least = isLog ? Math.max(low, high * 1e-6, Math.min(1, high * 1e-3)) : 0;
  const scaled = (value: number) => (isLog ? Math.log(Math.max(value, least) / least) / Math.log(high / least) : (value - low) / (high - low || 1));
  const place = new Float32Array(rows);
  for (let row = 0; row < rows; row++) place[row] = scaled(column.values[row]);
  return { title: column.name, groupOf, groups: [], scale: { place, low, high, isLog, gaps: rows - number }, probability: null };
}

export function groupColour(group: Group | undefined, theme: Theme): string {
  return clusterColour(group?.number ?? -1, theme);
}

export function rowColour(colouring: Colouring | null, row: number, theme: Theme): string {
  if (!colouring) return clusterColour(0, theme);
  if (colouring.scale) return scaleColour(colouring.scale.place[row], theme);
  return groupColour(colouring.groups[colouring.groupOf[row]], theme);
}
