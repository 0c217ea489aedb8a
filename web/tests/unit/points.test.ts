import { expect, test } from 'vitest';
import { facing, fit, LEVEL, pixelOf, product, turned, zoomed } from '../../src/points/camera.ts';
import { axesOf, cloudOf, isSkewed, logarithm, onSphere, order, sphereOf } from '../../src/points/cloud.ts';
import { bytesOf, OVER, spans, UNDER, word } from '../../src/points/paint.ts';
import { rasterise } from '../../src/points/raster.ts';
import { filled, inside, nearest } from '../../src/points/select.ts';

const column = (name: string, values: number[]) => ({ name, kind: 'number' as const, values: Float64Array.from(values) });
const SIZE = { width: 100, height: 80 };

test('the order of drawing has each row once, and its beginning is a fair sample', () => {
  for (const count of [0, 1, 2, 3, 10, 97, 1000, 4096]) {
    expect([...order(count)].sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, at) => at));
  }
  const first = order(10_000).slice(0, 100);
  const inQuarters = [0, 0, 0, 0];
  first.forEach((row) => inQuarters[Math.floor(row / 2500)]++);
  inQuarters.forEach((number) => expect(Math.abs(number - 25)).toBeLessThanOrEqual(3));
});

test('what is drawn can be told back in the units of the columns', () => {
  const cloud = cloudOf([column('x', [10, 20, 40]), column('y', [-1, 3, 0])], {});
  for (let at = 0; at < 3; at++) {
    const row = cloud.rowOf[at];
    expect(cloud.middle[0] + cloud.half[0] * cloud.positions[3 * at]).toBeCloseTo([10, 20, 40][row], 4);
    expect(cloud.middle[1] + cloud.half[1] * cloud.positions[3 * at + 1]).toBeCloseTo([-1, 3, 0][row], 4);
  }
  const equal = cloudOf([column('x', [0, 10]), column('y', [0, 1])], { isEqual: true });
  expect(equal.half[0]).toBe(equal.half[1]);
});

test('rows with a missing value are counted and not drawn', () => {
  const cloud = cloudOf([column('x', [1, NaN, 3]), column('y', [1, 2, Infinity])], {});
  expect(cloud.missing).toBe(2);
  const paint = new Uint32Array(3).fill(word('#ff0000', OVER));
  const pixels = new Uint32Array(SIZE.width * SIZE.height);
  rasterise(pixels, SIZE, cloud, paint, fit(cloud, SIZE, LEVEL, [10, 10], false), 1, 0, Infinity);
  expect(pixels.filter((one) => one !== 0)).toHaveLength(1);
});

test('columns of one value and of huge ones have a place', () => {
  for (const values of [[5, 5, 5], [0, 0, 0], [1e300, -1e300, 0], [1e-300, 2e-300, 3e-300]]) {
    const cloud = cloudOf([column('x', values), column('y', [0, 1, 2])], {});
    expect(cloud.missing, String(values)).toBe(0);
    const camera = fit(cloud, SIZE, LEVEL, [10, 10], false);
    expect([...camera.scale, ...camera.shift].every(Number.isFinite)).toBe(true);
  }
});

test('all points fit into the picture with its margin', () => {
  const cloud = cloudOf([column('x', [0, 3, 9]), column('y', [100, 700, 300])], {});
  for (const isEqual of [true, false]) {
    const camera = fit(cloud, SIZE, LEVEL, [10, 10], isEqual);
    for (let at = 0; at < 3; at++) {
      const [x, y] = pixelOf(camera, SIZE, cloud.positions[3 * at], cloud.positions[3 * at + 1], 0);
      expect(x).toBeGreaterThanOrEqual(9.99);
      expect(x).toBeLessThanOrEqual(90.01);
      expect(y).toBeGreaterThanOrEqual(9.99);
      expect(y).toBeLessThanOrEqual(70.01);
    }
  }
});

test('the axes of three columns fit into the picture with the points, and end where the values do', () => {
  const cloud = cloudOf([column('x', [0, 10, 4]), column('y', [0, 5, 10]), column('z', [0, 1, 0])], { isEqual: true });
  const [origin, ...ends] = axesOf(cloud);
  const told = (corner: number[]) => corner.map((one, axis) => Math.round(cloud.middle[axis] + cloud.half[axis] * one) + 0);
  expect(told(origin)).toEqual([0, 0, 0]);
  expect(ends.map(told)).toEqual([[10, 0, 0], [0, 10, 0], [0, 0, 1]]);
  const camera = fit(cloud, SIZE, turned(LEVEL, 0.6, 0.4), [10, 10], true);
  for (const end of [origin, ...ends]) {
    const [x, y] = pixelOf(camera, SIZE, ...end);
    expect(Math.min(x - 9.9, 90.1 - x, y - 9.9, 70.1 - y)).toBeGreaterThan(0);
  }
});

test('sums of money are crowded at the low end, and others are not', () => {
  const money = Float64Array.from({ length: 1000 }, (_, at) => 10 * Math.exp(0.01 * at));
  expect(isSkewed(money)).toBe(true);
  expect(logarithm(column('x', [1, 1000])).values).toEqual(Float64Array.of(0, 3));
  const even = Float64Array.from({ length: 1000 }, (_, at) => at + 1);
  expect(isSkewed(even)).toBe(false);
  // A value of 0 or below has no logarithm; few that lie far out are drawn at the edge instead; huge sums are no reason to overflow.
  expect(isSkewed(Float64Array.from(money, (value, at) => (at ? value : 0)))).toBe(false);
  expect(isSkewed(Float64Array.from(even, (value, at) => (at ? value : 1e6)))).toBe(false);
  expect(isSkewed(Float64Array.from(money, (value) => value * 1e302))).toBe(true);
  expect(isSkewed(Float64Array.of(NaN))).toBe(false);
});

test('a place on the Earth is turned to the middle, north up and east to the right', () => {
  const turn = facing(-115, 36);
  const camera = { turn, scale: [40, 40] as [number, number], shift: [0, 0] as [number, number] };
  const at = (longitude: number, latitude: number) => pixelOf(camera, SIZE, ...onSphere(longitude, latitude));
  const [x, y, depth] = at(-115, 36);
  expect([x, y, depth].map((value) => Number(value.toFixed(5)))).toEqual([50, 40, 1]);
  expect(at(-115, 40)[1]).toBeLessThan(40);
  expect(at(-110, 36)[0]).toBeGreaterThan(50);
  expect(at(65, -36)[2]).toBeCloseTo(-1, 5);
});

test('turns stay rotations', () => {
  let turn = LEVEL;
  for (let step = 0; step < 1000; step++) turn = turned(turn, 0.1, 0.07);
  const transposed = [0, 3, 6, 1, 4, 7, 2, 5, 8].map((at) => turn[at]);
  product(turn, transposed).forEach((value, at) => expect(value).toBeCloseTo(LEVEL[at], 9));
});

test('zooming keeps what is under the pointer there', () => {
  const cloud = cloudOf([column('x', [0, 1, 2]), column('y', [0, 1, 2])], {});
  const camera = fit(cloud, SIZE, LEVEL, [10, 10], false);
  const [x, y] = pixelOf(camera, SIZE, 0.5, 0.5, 0);
  const [after, afterY] = pixelOf(zoomed(camera, SIZE, 3, x, y), SIZE, 0.5, 0.5, 0);
  expect(after).toBeCloseTo(x, 6);
  expect(afterY).toBeCloseTo(y, 6);
});

test('a word of paint has the bytes that pixels have', () => {
  expect([...new Uint8Array(Uint32Array.of(word('#123456', OVER)).buffer)]).toEqual([0x12, 0x34, 0x56, 0xff]);
  expect(bytesOf('#123456')).toEqual([0x12, 0x34, 0x56]);
});

test('discs are round, symmetric and as wide as said', () => {
  expect(spans(1)).toEqual([0]);
  expect(spans(3)).toEqual([0, 1, 0]);
  expect(spans(5)).toEqual([1, 2, 2, 2, 1]);
  for (const width of [1, 3, 5, 7, 9, 31]) {
    const rows = spans(width);
    expect(rows).toHaveLength(width);
    expect(rows).toEqual([...rows].reverse());
    expect(Math.max(...rows)).toBe((width - 1) / 2);
  }
});

test('points on top hide those below, whatever their order', () => {
  const cloud = cloudOf([column('x', [1, 1]), column('y', [1, 1])], {});
  const camera = { turn: LEVEL, scale: [1, 1] as [number, number], shift: [0, 0] as [number, number] };
  for (const top of [0, 1]) {
    const paint = new Uint32Array(2).fill(word('#0000ff', UNDER));
    paint[top] = word('#ff0000', OVER);
    const pixels = new Uint32Array(SIZE.width * SIZE.height);
    rasterise(pixels, SIZE, cloud, paint, camera, 1, 0, Infinity);
    expect(pixels[40 * 100 + 50]).toBe(word('#ff0000', OVER));
  }
});

test('discs that stand over the edge are cut off and do not wrap around', () => {
  const cloud = cloudOf([column('x', [0, 1]), column('y', [0, 1])], {});
  const paint = new Uint32Array(2).fill(word('#ff0000', OVER));
  const pixels = new Uint32Array(SIZE.width * SIZE.height);
  rasterise(pixels, SIZE, cloud, paint, { turn: LEVEL, scale: [50, 40], shift: [0, 0] }, 5, 0, Infinity);
  for (let row = 3; row < 77; row++) expect(pixels[row * 100] | pixels[row * 100 + 99]).toBe(0);
  expect(pixels.some((one) => one !== 0)).toBe(true);
});

/// Whether a pixel is inside, by counting crossings to its right.
function isInside(corners: [number, number][], x: number, y: number): boolean {
  let inside = false;
  corners.forEach(([ax, ay], at) => {
    const [bx, by] = corners[(at + 1) % corners.length];
    if (ay <= y !== by <= y && ax + ((y - ay) / (by - ay)) * (bx - ax) > x) inside = !inside;
  });
  return inside;
}

test('a lasso fills the pixels whose middle is inside, for random polygons', () => {
  let seed = 7;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  for (let round = 0; round < 30; round++) {
    const corners = Array.from({ length: 3 + Math.floor(random() * 9) }, () => [random() * 50 - 8, random() * 44 - 6] as [number, number]);
    const mask = filled(corners, 34, 30);
    for (let row = 0; row < 30; row++) {
      for (let at = 0; at < 34; at++) expect(Boolean(mask[row * 34 + at]), `${round}: ${at},${row}`).toBe(isInside(corners, at + 0.5, row + 0.5));
    }
  }
});

test('the lasso and the nearest point heed what is hidden and the far side of the ball', () => {
  const sphere = sphereOf(Float64Array.of(0, 180, 1), Float64Array.of(0, 0, 0));
  const camera = { turn: LEVEL, scale: [30, 30] as [number, number], shift: [0, 0] as [number, number] };
  const paint = new Uint32Array(3).fill(word('#ff0000', OVER));
  const all: [number, number][] = [[0, 0], [100, 0], [100, 80], [0, 80]];
  const rows = (points: Uint32Array) => [...points].map((point) => sphere.rowOf[point]).sort();
  expect(rows(inside(sphere, paint, camera, SIZE, all))).toEqual([0, 2]);
  expect(sphere.rowOf[nearest(sphere, paint, camera, SIZE, 50, 40, 5)]).toBe(0);
  paint[sphere.rowOf.indexOf(0)] = 0;
  expect(rows(inside(sphere, paint, camera, SIZE, all))).toEqual([2]);
  expect(nearest(sphere, paint, camera, SIZE, 5, 5, 3)).toBe(-1);
});
