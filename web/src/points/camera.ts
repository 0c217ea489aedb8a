// Maps points to pixels by a rotation, a scale and a shift.

import { axesOf, type Cloud } from './cloud.ts';

export interface Camera {
  /// A rotation matrix, row by row.
  turn: number[];
  /// The number of pixels per unit of the rotated cloud, across and upwards.
  scale: [number, number];
  /// The position of the origin of the cloud, in pixels from the middle of the picture, to the right and downwards.
  shift: [number, number];
}

export interface Size {
  width: number;
  height: number;
}

export const LEVEL = [1, 0, 0, 0, 1, 0, 0, 0, 1];

export function product(a: number[], b: number[]): number[] {
  const at = (row: number, column: number) =>
    a[3 * row] * b[column] + a[3 * row + 1] * b[3 + column] + a[3 * row + 2] * b[6 + column];
  return [0, 1, 2].flatMap((row) => [0, 1, 2].map((column) => at(row, column)));
}

/// Rotates `turn` further, about the vertical axis of the picture by `across` and about its horizontal axis by `upwards`, in radians.
export function turned(turn: number[], across: number, upwards: number): number[] {
  const [c, s] = [Math.cos(across), Math.sin(across)];
  const [d, t] = [Math.cos(upwards), Math.sin(upwards)];
  return product(product([1, 0, 0, 0, d, -t, 0, t, d], [c, 0, s, 0, 1, 0, -s, 0, c]), turn);
}

/// Returns the rotation that brings a place on the Earth to the middle of the picture, with north up.
export function facing(longitude: number, latitude: number): number[] {
  const [lambda, phi] = [(-longitude * Math.PI) / 180, (latitude * Math.PI) / 180];
  return turned(LEVEL, lambda, phi);
}

export function pixelOf(camera: Camera, size: Size, x: number, y: number, z: number): [number, number, number] {
  const m = camera.turn;
  return [
    size.width / 2 + camera.shift[0] + camera.scale[0] * (m[0] * x + m[1] * y + m[2] * z),
    size.height / 2 + camera.shift[1] - camera.scale[1] * (m[3] * x + m[4] * y + m[5] * z),
    m[6] * x + m[7] * y + m[8] * z,
  ];
}

/// Returns a camera that shows the whole cloud and its axes, with margins in pixels, across and upwards.
export function fit(cloud: Cloud, size: Size, turn: number[], margin: [number, number], isEqual: boolean): Camera {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  const { positions, count } = cloud;
  // The extent covers every point that has a position. Of a sphere, it covers only the points on the front.
  for (let at = 0; at < count; at++) {
    const [x, y, z] = [positions[3 * at], positions[3 * at + 1], positions[3 * at + 2]];
    if (x !== x) continue;
    const u = turn[0] * x + turn[1] * y + turn[2] * z;
    const v = turn[3] * x + turn[4] * y + turn[5] * z;
    if (cloud.shape === 'sphere' && turn[6] * x + turn[7] * y + turn[8] * z < 0) continue;
    if (u < left) left = u;
    if (u > right) right = u;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  if (cloud.shape === 'space') {
    for (const [x, y, z] of axesOf(cloud)) {
      const u = turn[0] * x + turn[1] * y + turn[2] * z;
      const v = turn[3] * x + turn[4] * y + turn[5] * z;
      [left, right, low, high] = [Math.min(left, u), Math.max(right, u), Math.min(low, v), Math.max(high, v)];
    }
  }
  if (!(left <= right)) [left, right, low, high] = [-1, 1, -1, 1];
  const wide = Math.max(right - left, 1e-6);
  const tall = Math.max(high - low, 1e-6);
  const across = Math.max(10, size.width - 2 * margin[0]) / wide;
  const upwards = Math.max(10, size.height - 2 * margin[1]) / tall;
  const most = 1e7;
  const scale: [number, number] = isEqual
    ? [Math.min(across, upwards, most), Math.min(across, upwards, most)]
    : [Math.min(across, most), Math.min(upwards, most)];
  return { turn, scale, shift: [(-scale[0] * (left + right)) / 2, (scale[1] * (low + high)) / 2] };
}

/// Zooms by a factor. The point at the given pixel stays there.
export function zoomed(camera: Camera, size: Size, factor: number, pixelX: number, pixelY: number): Camera {
  const held = Math.min(Math.max(factor, 1 / (camera.scale[0] / 5)), 1e8 / camera.scale[0]);
  const [x, y] = [pixelX - size.width / 2, pixelY - size.height / 2];
  return {
    turn: camera.turn,
    scale: [camera.scale[0] * held, camera.scale[1] * held],
    shift: [x + (camera.shift[0] - x) * held, y + (camera.shift[1] - y) * held],
  };
}
