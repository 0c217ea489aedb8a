// Prepares points for drawing. Their positions range from about -1 to 1, and in their order, the first points are a fair sample of all.

import type { Column } from '../api/columns.ts';

export type Shape = 'plane' | 'space' | 'sphere';

export interface Cloud {
  count: number;
  shape: Shape;
  /// The coordinates x, y and z of each point, in the order of drawing. A point that cannot be drawn has NaN as x.
  positions: Float32Array;
  /// For each point, the index of its row.
  rowOf: Uint32Array;
  /// The number of points that cannot be drawn because a value is missing or invalid.
  missing: number;
  /// The number of points that lie far out, so they are drawn at the edge.
  beyond: number;
  /// Together with `half`, maps a position back to the value of a column: value = middle + half · position. Not used for spheres.
  middle: [number, number, number];
  half: [number, number, number];
}

function greatestCommonDivisor(a: number, b: number): number {
  while (b) [a, b] = [b, a % b];
  return a;
}

/// Returns the order of drawing: an affine permutation of the rows. So a cluster does not hide another one because its rows are later in the file.
export function order(count: number): Uint32Array {
  const rows = new Uint32Array(count);
  if (count < 3) return rows.map((_, at) => at);
  // A step of about the golden ratio times the number of rows spreads consecutive points evenly over the file.
  let step = Math.floor(count * 0.6180339887);
  while (greatestCommonDivisor(step, count) !== 1) step++;
  let row = Math.floor(count / 3);
  for (let at = 0; at < count; at++) {
    rows[at] = row;
    row += step;
    if (row >= count) row -= count;
  }
  return rows;
}

/// Returns a function that computes `of` only once for each array, and keeps the result.
function once<T>(of: (values: ArrayLike<number>) => T): (values: ArrayLike<number>) => T {
  const known = new WeakMap<ArrayLike<number>, T>();
  return (values) => {
    if (!known.has(values)) known.set(values, of(values));
    return known.get(values)!;
  };
}

/// Returns the smallest and the largest value without NaN, or `null` if there is none or one of the two is infinite.
export const range = once((values): [number, number] | null => {
  let [low, high] = [Infinity, -Infinity];
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high && Number.isFinite(low) && Number.isFinite(high) ? [low, high] : null;
});

/// The maximum share of rows that count as far out. If more rows lie outside, none is drawn at the edge. Five rows are always allowed.
const FAR_OUT_MAX = 0.02;
/// The approximate number of rows from which the quartiles are estimated.
const SAMPLE = 20_000;

/// Returns the range of the values within three interquartile ranges of the quartiles, with a margin of 4 %. Returns the whole range if it is at most 1.5 times
/// as long, or if too many values lie outside.
export const needed = once((values): [number, number] => {
  const [low, high] = range(values) ?? [0, 1];
  const every = Math.max(1, Math.floor(values.length / SAMPLE));
  const sample = new Float64Array(Math.ceil(values.length / every)).map((_, at) => values[at * every]).filter(Number.isFinite).sort();
  const quartile = (part: number) => sample[Math.min(sample.length - 1, Math.floor(part * sample.length))];
  const [first, third] = [quartile(0.25), quartile(0.75)];
  const fence = 3 * (third - first);
  if (!(fence > 0)) return [low, high];
  let [least, most] = [Infinity, -Infinity];
  let beyond = 0;
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (value < first - fence || value > third + fence) beyond++;
    else {
      if (value < least) least = value;
      if (value > most) most = value;
    }
  }
  const room = 0.04 * (most - least);
  const inner: [number, number] = [Math.max(low, least - room), Math.min(high, most + room)];
  const isStretched = high - low > 1.5 * (inner[1] - inner[0]);
  return isStretched && beyond > 0 && beyond <= Math.max(5, FAR_OUT_MAX * values.length) ? inner : [low, high];
});

/// Values are crowded at the low end if their mean divided by the largest value is below the first number, and the largest value divided by the smallest is
/// above the second one.
const [CROWDED, RATIO] = [0.12, 100];

/// Returns whether a linear axis would draw most values near its low end, without a few outliers as the cause. Sums of money are an example. Returns false
/// unless all values are above 0.
export function isSkewed(values: ArrayLike<number>): boolean {
  const whole = range(values);
  if (!whole || !(whole[0] > 0) || !(whole[1] / whole[0] > RATIO)) return false;
  let sum = 0;
  let number = 0;
  for (let at = 0; at < values.length; at++) {
    if (!Number.isFinite(values[at])) continue;
    sum += values[at] / whole[1];
    number++;
  }
  const [low, high] = needed(values);
  return sum / number < CROWDED && low === whole[0] && high === whole[1];
}

const logarithms = new WeakMap<Column, Column>();

/// Returns a column of the base-10 logarithms of a column. Later calls with the same column return the same result.
export function logarithm(column: Column): Column {
  let made = logarithms.get(column);
  if (!made) logarithms.set(column, (made = { name: column.name, kind: 'number', values: Float64Array.from(column.values as Float64Array, Math.log10) }));
  return made;
}

export interface Shaping {
  /// Whether all axes have the same scale.
  isEqual?: boolean;
  /// The relative length at which a unit of each axis is drawn.
  stretch?: [number, number];
  /// Whether rows that lie far out are drawn at the edge. Otherwise, the other rows may all be drawn in one spot.
  isEdged?: boolean;
}

/// Returns the cloud of two or three columns.
export function cloudOf(columns: Column[], { isEqual = false, stretch, isEdged = false }: Shaping): Cloud {
  const numbers = columns.map((column) => column.values as Float64Array);
  const count = numbers[0].length;
  const rowOf = order(count);
  const ranges = numbers.map((values): [number, number] => (isEdged ? needed(values) : (range(values) ?? [0, 1])));
  const middle = ranges.map(([low, high]) => low / 2 + high / 2);
  const spans = ranges.map(([low, high], axis) => (high / 2 - low / 2 || Math.abs(high) / 2 || 0.5) * (stretch?.[axis] ?? 1));
  const widest = Math.max(...spans);
  const half = (isEqual || stretch ? spans.map(() => widest) : spans).map((length, axis) => length / (stretch?.[axis] ?? 1));
  const positions = new Float32Array(3 * count);
  // For each point, 1 if it lies farther out than the drawn range, and 2 or more if it cannot be drawn. Plain loops over one column at a time are fast: they
  // take most of the time until the picture appears.
  const state = new Uint8Array(count);
  for (let axis = 0; axis < numbers.length; axis++) {
    const values = numbers[axis];
    const [low, high] = ranges[axis];
    const [from, by] = [middle[axis], half[axis]];
    for (let at = 0; at < count; at++) {
      const value = values[rowOf[at]];
      let drawn = value;
      if (value < low) drawn = low;
      else if (value > high) drawn = high;
      if (!Number.isFinite(value)) state[at] = 2;
      else if (drawn !== value) state[at] |= 1;
      positions[3 * at + axis] = (drawn - from) / by;
    }
  }
  let missing = 0;
  let beyond = 0;
  for (let at = 0; at < count; at++) {
    if (state[at] > 1) {
      missing++;
      positions[3 * at] = NaN;
    } else beyond += state[at];
  }
  const three = (values: number[], otherwise: number): [number, number, number] => [values[0], values[1], values[2] ?? otherwise];
  return {
    count,
    shape: columns.length === 3 ? 'space' : 'plane',
    positions,
    rowOf,
    missing,
    beyond,
    middle: three(middle, 0),
    half: three(half, 1),
  };
}

const boxes = new WeakMap<Cloud, [number, number, number][]>();

/// Returns the point at which the axes of a cloud in space meet, and the end of each axis. The axes reach from the smallest to the largest value.
export function axesOf(cloud: Cloud): [number, number, number][] {
  const known = boxes.get(cloud);
  if (known) return known;
  const [low, high] = [[0, 0, 0], [0, 0, 0]];
  for (let at = 0; at < 3 * cloud.count; at++) {
    const value = cloud.positions[at];
    if (value < low[at % 3]) low[at % 3] = value;
    else if (value > high[at % 3]) high[at % 3] = value;
  }
  const corner = (end: number) => [0, 1, 2].map((axis) => (axis === end ? high[axis] : low[axis])) as [number, number, number];
  const made = [-1, 0, 1, 2].map(corner);
  boxes.set(cloud, made);
  return made;
}

/// Returns a cloud of places on the Earth, given in degrees, on a sphere of radius 1. Its x axis points to longitude 90° east, y to the north pole, and z to
/// longitude 0.
export function sphereOf(longitude: Float64Array, latitude: Float64Array): Cloud {
  const count = longitude.length;
  const rowOf = order(count);
  const positions = new Float32Array(3 * count);
  let missing = 0;
  for (let at = 0; at < count; at++) {
    const row = rowOf[at];
    if (!Number.isFinite(longitude[row]) || !(Math.abs(latitude[row]) <= 90)) {
      missing++;
      positions[3 * at] = NaN;
      continue;
    }
    const [x, y, z] = onSphere(longitude[row], latitude[row]);
    positions[3 * at] = x;
    positions[3 * at + 1] = y;
    positions[3 * at + 2] = z;
  }
  return { count, shape: 'sphere', positions, rowOf, missing, beyond: 0, middle: [0, 0, 0], half: [1, 1, 1] };
}

export function onSphere(longitude: number, latitude: number): [number, number, number] {
  const [lambda, phi] = [(longitude * Math.PI) / 180, (latitude * Math.PI) / 180];
  return [Math.cos(phi) * Math.sin(lambda), Math.sin(phi), Math.cos(phi) * Math.cos(lambda)];
}
