// Box plots of the values of a column in each group (Tukey 1977).

export interface Box {
  /// The number of rows of the group that have a finite value.
  rows: number;
  /// The three quartiles; the second one is the median.
  quartiles: [number, number, number];
  /// The smallest and the largest value that are at most one and a half box lengths away from the box.
  whiskers: [number, number];
  /// The number of values beyond the whiskers.
  beyond: number;
}

/// The maximum length of a whisker, in lengths of the box.
const REACH = 1.5;

/// Returns the box of each group, or `null` for a group without values.
export function boxesOf(values: ArrayLike<number>, groupOf: Int32Array, groups: number): (Box | null)[] {
  // One array holds the values of one group after the other, so two passes over the rows are enough for any number of groups.
  const starts = new Uint32Array(groups + 1);
  const counts = (row: number) => groupOf[row] >= 0 && Number.isFinite(values[row]);
  for (let row = 0; row < groupOf.length; row++) if (counts(row)) starts[groupOf[row] + 1]++;
  for (let group = 0; group < groups; group++) starts[group + 1] += starts[group];
  const grouped = new Float64Array(starts[groups]);
  const next = starts.slice(0, groups);
  for (let row = 0; row < groupOf.length; row++) if (counts(row)) grouped[next[groupOf[row]]++] = values[row];
  return Array.from({ length: groups }, (_, group) => {
    const sorted = grouped.subarray(starts[group], starts[group + 1]).sort();
    return sorted.length ? boxOf(sorted) : null;
  });
}

/// Returns the column whose values differ most between groups: the one with the largest share of its variance between the means of the groups.
export function separating<T extends { values: ArrayLike<number> }>(columns: T[], groupOf: Int32Array, groups: number): T | undefined {
  let [best, most] = [columns[0] as T | undefined, -1];
  for (const column of columns) {
    const share = shareBetween(column.values, groupOf, groups);
    if (share > most) [best, most] = [column, share];
  }
  return best;
}

function shareBetween(values: ArrayLike<number>, groupOf: Int32Array, groups: number): number {
  const [rows, sums] = [new Float64Array(groups), new Float64Array(groups)];
  let [n, mean, squares] = [0, 0, 0];
  for (let row = 0; row < groupOf.length; row++) {
    const [group, value] = [groupOf[row], values[row]];
    if (group < 0 || !Number.isFinite(value)) continue;
    n++;
    rows[group]++;
    sums[group] += value;
    const by = value - mean;
    mean += by / n;
    squares += by * (value - mean);
  }
  let between = 0;
  for (let group = 0; group < groups; group++) if (rows[group]) between += rows[group] * (sums[group] / rows[group] - mean) ** 2;
  return between / squares;
}

function boxOf(sorted: Float64Array): Box {
  const at = (part: number) => {
    const place = part * (sorted.length - 1);
    const [below, above] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
    const share = place - Math.floor(place);
    // The difference between the two values could overflow, so it is not used.
    return below * (1 - share) + above * share;
  };
  const quartiles: Box['quartiles'] = [at(0.25), at(0.5), at(0.75)];
  const reach = REACH * (quartiles[2] - quartiles[0]);
  const from = sorted.findIndex((value) => value >= quartiles[0] - reach);
  const to = sorted.findLastIndex((value) => value <= quartiles[2] + reach);
  // A quartile between two values may have no value on its side within reach. The whisker then ends at the quartile.
  const whiskers: Box['whiskers'] = [Math.min(sorted[from], quartiles[0]), Math.max(sorted[to], quartiles[2])];
  return { rows: sorted.length, quartiles, whiskers, beyond: from + sorted.length - 1 - to };
}
