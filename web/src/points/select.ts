// Finds the points in a lasso or a box, and the point nearest to a pixel.

import type { Camera, Size } from './camera.ts';
import type { Cloud } from './cloud.ts';

/// Calls `each` with the index and the pixel of every drawn point.
function project(cloud: Cloud, paint: Uint32Array, camera: Camera, size: Size, each: (at: number, x: number, y: number) => void): void {
  const m = camera.turn;
  const [across, upwards] = camera.scale;
  const left = size.width / 2 + camera.shift[0];
  const top = size.height / 2 + camera.shift[1];
  const isSphere = cloud.shape === 'sphere';
  const { positions, count } = cloud;
  for (let at = 0; at < count; at++) {
    if (paint[at] >>> 24 === 0) continue;
    const x = positions[3 * at];
    const y = positions[3 * at + 1];
    const z = positions[3 * at + 2];
    if (isSphere && m[6] * x + m[7] * y + m[8] * z < 0) continue;
    each(at, left + across * (m[0] * x + m[1] * y + m[2] * z), top - upwards * (m[3] * x + m[4] * y + m[5] * z));
  }
}

/// Returns the drawn point nearest to a pixel and at most `reach` pixels away, or -1 if there is none.
export function nearest(cloud: Cloud, paint: Uint32Array, camera: Camera, size: Size, pixelX: number, pixelY: number, reach: number): number {
  let [best, least] = [-1, reach * reach];
  project(cloud, paint, camera, size, (at, x, y) => {
    const apart = (x - pixelX) ** 2 + (y - pixelY) ** 2;
    if (apart <= least) [best, least] = [at, apart];
  });
  return best;
}

/// Returns the drawn points inside a polygon, whose corners are in pixels. The polygon is filled as a mask once, so the test of each point takes the same time
/// for any number of corners.
export function inside(cloud: Cloud, paint: Uint32Array, camera: Camera, size: Size, corners: [number, number][]): Uint32Array {
  const { width, height } = size;
  const mask = filled(corners, width, height);
  const found = new Uint32Array(cloud.count);
  let number = 0;
  project(cloud, paint, camera, size, (at, x, y) => {
    const [column, row] = [Math.floor(x), Math.floor(y)];
    if (column >= 0 && column < width && row >= 0 && row < height && mask[row * width + column]) found[number++] = at;
  });
  return found.slice(0, number);
}

/// Returns a mask of the pixels whose middle is inside a polygon, by the even-odd rule.
export function filled(corners: [number, number][], width: number, height: number): Uint8Array {
  const mask = new Uint8Array(width * height);
  for (let row = 0; row < height; row++) {
    const y = row + 0.5;
    const crossings: number[] = [];
    for (let at = 0; at < corners.length; at++) {
      const [ax, ay] = corners[at];
      const [bx, by] = corners[(at + 1) % corners.length];
      if (ay <= y !== by <= y) crossings.push(ax + ((y - ay) / (by - ay)) * (bx - ax));
    }
    crossings.sort((a, b) => a - b);
    for (let pair = 0; pair + 1 < crossings.length; pair += 2) {
      const from = Math.max(0, Math.ceil(crossings[pair] - 0.5));
      const to = Math.min(width, Math.ceil(crossings[pair + 1] - 0.5));
      if (from < to) mask.fill(1, row * width + from, row * width + to);
    }
  }
  return mask;
}
