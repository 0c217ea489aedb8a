// The coast, and borders of countries and states, behind maps of places: unpacked, and laid out as the points of a cloud are.

import { pixelOf, type Camera, type Size } from './camera.ts';
import { onSphere, type Cloud } from './cloud.ts';

/// What lines are, from the one that is drawn strongest.
export const KINDS = ['coast', 'borders', 'states'] as const;
export type Kind = (typeof KINDS)[number];

/// Each line is longitude and latitude in degrees, point after point.
export type Coast = Record<Kind, number[][]>;

/// Lines in the units of a cloud's positions: x, y, z of each point, and at which points a line begins.
export interface Shore {
  kind: Kind;
  positions: Float32Array;
  starts: Set<number>;
}

/// A stretch of longitude that is left out: from, to, and the width of the gutter instead.
type Break = [number, number, number];

/// The character of the digit 0.
const FIRST = '='.charCodeAt(0);

/// What `tools/coast.py` has packed: its text says how.
export function unpack(text: string): Coast {
  const packed = JSON.parse(text) as Record<Kind, string> & { grid: number };
  const lines = (digits: string) => {
    let [at, x, y] = [0, 0, 0];
    const number = () => {
      let [value, scale] = [0, 1];
      for (;;) {
        const digit = digits.charCodeAt(at++) - FIRST;
        value += scale * (digit & 31);
        if (digit < 32) return value;
        scale *= 32;
      }
    };
    const step = () => {
      const value = number();
      return value % 2 ? -(value + 1) / 2 : value / 2;
    };
    const found: number[][] = [];
    while (at < digits.length) {
      const line: number[] = [];
      for (let left = number(); left > 0; left--) {
        x += step();
        y += step();
        line.push(x / packed.grid, y / packed.grid);
      }
      found.push(line);
    }
    return found;
  };
  return { coast: lines(packed.coast), borders: lines(packed.borders), states: lines(packed.states) };
}

/// Whether values can be degrees of longitude and latitude; longitudes may count from 0 to 360, or go on beyond the date line.
export function areDegrees([west, east]: [number, number], [south, north]: [number, number]): boolean {
  return west >= -360 && east <= 540 && east - west <= 360 && south >= -90 && north <= 90;
}

/// Puts points together; `isStart` begins a line.
class Builder {
  private readonly values: number[] = [];
  private readonly starts = new Set<number>();

  add(x: number, y: number, z: number, isStart: boolean): void {
    if (isStart) this.starts.add(this.values.length / 3);
    this.values.push(x, y, z);
  }

  shore(kind: Kind): Shore {
    return { kind, positions: Float32Array.from(this.values), starts: this.starts };
  }
}

/// Straight lines of a map are bent on a globe: they get a point at each so many degrees.
const STRAIGHT_MAX = 2;

export function onGlobe(coast: Coast): Shore[] {
  return KINDS.map((kind) => {
    const built = new Builder();
    for (const line of coast[kind]) {
      for (let at = 0; at < line.length; at += 2) {
        const [x, y] = [line[at], line[at + 1]];
        const [fromX, fromY] = at ? [line[at - 2], line[at - 1]] : [x, y];
        const parts = Math.max(1, Math.ceil(Math.max(Math.abs(x - fromX), Math.abs(y - fromY)) / STRAIGHT_MAX));
        for (let part = 1; part <= parts; part++) built.add(...onSphere(fromX + ((x - fromX) * part) / parts, fromY + ((y - fromY) * part) / parts), at === 0);
      }
    }
    return built.shore(kind);
  });
}

/// The lines on a map of a cloud whose axes are degrees. The map goes once around the Earth, from `west` on; longitudes in `breaks` are left out.
export function onMap(coast: Coast, { middle, half }: Cloud, west: number, breaks: Break[]): Shore[] {
  // Where a line is cut: at both ends of each stretch that is left out.
  const cuts = breaks.flatMap(([from, to]) => [from, to]);
  const isOut = (longitude: number) => breaks.some(([from, to]) => longitude > from && longitude < to);
  const place = (longitude: number) => longitude - breaks.reduce((gone, [from, to, gutter]) => gone + (longitude >= (from + to) / 2 ? to - from - gutter : 0), 0);
  return KINDS.map((kind) => {
    const built = new Builder();
    for (const line of coast[kind]) {
      let isStart = true;
      for (let at = 2; at < line.length; at += 2) {
        const [ax, ay, bx, by] = [line[at - 2], line[at - 1], line[at], line[at + 1]];
        // Each turn around the Earth in which the line is seen: more than one where it crosses the edge of the map.
        const turns = [ax, bx].map((longitude) => Math.floor((longitude - west) / 360));
        for (let turn = Math.min(...turns); turn <= Math.max(...turns); turn++) {
          if (turns[0] !== turns[1]) isStart = true;
          const [from, to] = [ax - 360 * turn, bx - 360 * turn];
          const along = (longitude: number) => (longitude - from) / (to - from);
          const ends = [0, 1, ...[west, west + 360, ...cuts].map(along).filter((part) => part > 0 && part < 1)].sort((a, b) => a - b);
          for (let end = 1; end < ends.length; end++) {
            const [left, right] = [from + (to - from) * ends[end - 1], from + (to - from) * ends[end]];
            const between = (left + right) / 2;
            if (between < west || between > west + 360 || isOut(between)) {
              isStart = true;
              continue;
            }
            const add = (longitude: number, part: number, isFirst: boolean) =>
              built.add((place(longitude) - middle[0]) / half[0], (ay + (by - ay) * part - middle[1]) / half[1], 0, isFirst);
            if (isStart) add(left, ends[end - 1], true);
            add(right, ends[end], false);
            isStart = false;
          }
        }
        if (turns[0] !== turns[1]) isStart = true;
      }
    }
    return built.shore(kind);
  });
}

/// Pixels of the page for a degree, below which states are not drawn, and above which nothing is: lines would be off by centimetres.
const [STATES_FROM, ALL_UP_TO] = [7, 400];

export function isShown(kind: Kind, pixelsOfDegree: number): boolean {
  return pixelsOfDegree <= ALL_UP_TO && (kind !== 'states' || pixelsOfDegree >= STATES_FROM);
}

/// The part of the lines that is seen, as a path in pixels of the page.
export function pathOf({ positions, starts }: Shore, camera: Camera, size: Size, ratio: number, isSphere: boolean): string {
  const pieces: string[] = [];
  let [fromX, fromY, isBehind, isDown] = [0, 0, true, false];
  for (let at = 0; at < positions.length / 3; at++) {
    const [x, y, depth] = pixelOf(camera, size, positions[3 * at], positions[3 * at + 1], positions[3 * at + 2]);
    const isHidden = isSphere && depth < 0;
    const isBeside = Math.max(x, fromX) < 0 || Math.max(y, fromY) < 0 || Math.min(x, fromX) > size.width || Math.min(y, fromY) > size.height;
    if (starts.has(at) || isHidden || isBehind || isBeside) isDown = false;
    else {
      if (!isDown) pieces.push('M', (fromX / ratio).toFixed(1), ' ', (fromY / ratio).toFixed(1));
      pieces.push('L', (x / ratio).toFixed(1), ' ', (y / ratio).toFixed(1));
      isDown = true;
    }
    [fromX, fromY, isBehind] = [x, y, isHidden];
  }
  return pieces.join('');
}
