// The coast, borders of countries and states, and cities on maps of places: unpacked, and laid out as the points of a cloud are.

import { pixelOf, type Camera, type Size } from './camera.ts';
import { onSphere, type Cloud } from './cloud.ts';

/// What lines are, from the one that is drawn strongest.
export const KINDS = ['coast', 'borders', 'states'] as const;
export type Kind = (typeof KINDS)[number];

/// A city, in degrees.
export interface City {
  name: string;
  longitude: number;
  latitude: number;
}

/// Each line is longitude and latitude in degrees, point after point. The most important cities come first.
export type Coast = Record<Kind, number[][]> & { cities: City[] };

/// Lines in the units of a cloud's positions: x, y, z of each point, and at which points a line begins.
export interface Shore {
  kind: Kind;
  positions: Float32Array;
  starts: Set<number>;
}

/// A city in the units of a cloud's positions.
export interface Town {
  name: string;
  position: [number, number, number];
}

/// A stretch of longitude that is left out: from, to, and the width of the gutter instead.
type Break = [number, number, number];

/// The character of the digit 0.
const FIRST = '='.charCodeAt(0);

/// What `tools/coast.py` has packed: its text says how.
export function unpack(text: string): Coast {
  const packed = JSON.parse(text) as Record<Kind | 'cities' | 'places', string> & { grid: number };
  const reading = (digits: string) => {
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
    const point = () => [(x += step()) / packed.grid, (y += step()) / packed.grid];
    return { isMore: () => at < digits.length, number, point };
  };
  const lines = (digits: string) => {
    const { isMore, number, point } = reading(digits);
    const found: number[][] = [];
    while (isMore()) found.push(Array.from({ length: number() }, point).flat());
    return found;
  };
  const { point } = reading(packed.places);
  const cities = packed.cities.split('|').map((name) => {
    const [longitude, latitude] = point();
    return { name, longitude, latitude };
  });
  return { coast: lines(packed.coast), borders: lines(packed.borders), states: lines(packed.states), cities };
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

/// Whether a longitude is left out, and where it is on a map without those that are.
function folded(breaks: Break[]) {
  return {
    isOut: (longitude: number) => breaks.some(([from, to]) => longitude > from && longitude < to),
    place: (longitude: number) => longitude - breaks.reduce((gone, [from, to, gutter]) => gone + (longitude >= (from + to) / 2 ? to - from - gutter : 0), 0),
  };
}

export function citiesOnGlobe({ cities }: Coast): Town[] {
  return cities.map(({ name, longitude, latitude }) => ({ name, position: onSphere(longitude, latitude) }));
}

/// The cities on a map as `onMap` draws it.
export function citiesOnMap({ cities }: Coast, { middle, half }: Cloud, west: number, breaks: Break[]): Town[] {
  const { isOut, place } = folded(breaks);
  return cities.flatMap(({ name, longitude, latitude }) => {
    const turned = longitude - 360 * Math.floor((longitude - west) / 360);
    return isOut(turned) ? [] : [{ name, position: [(place(turned) - middle[0]) / half[0], (latitude - middle[1]) / half[1], 0] as Town['position'] }];
  });
}

/// The lines on a map of a cloud whose axes are degrees. The map goes once around the Earth, from `west` on; longitudes in `breaks` are left out.
export function onMap(coast: Coast, { middle, half }: Cloud, west: number, breaks: Break[]): Shore[] {
  // Where a line is cut: at both ends of each stretch that is left out.
  const cuts = breaks.flatMap(([from, to]) => [from, to]);
  const { isOut, place } = folded(breaks);
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

/// A rectangle of the page: left, top, right, bottom.
export type Box = [number, number, number, number];

/// Whether two rectangles have less than this between them.
export function meets(one: Box, other: Box, across: number, upwards: number): boolean {
  return one[0] < other[2] + across && one[2] > other[0] - across && one[1] < other[3] + upwards && one[3] > other[1] - upwards;
}

export interface Name {
  name: string;
  x: number;
  y: number;
  /// On which side of the city it stands.
  isLeft: boolean;
}

/// How wide a letter of a name is in the mean, half the height of names, and how far they stand from their city, in pixels of the page.
const [LETTER, HALF] = [6.2, 7];
export const BESIDE = 5;
/// Room between names, across and upwards: a map full of names shows no points.
const [APART, ABOVE] = [26, 12];
/// How far before the middle of a globe, of radius 1, a city is that is not too near its edge.
const LIMB = 0.25;

/// The names that are drawn: those of more important cities, where they overlap with no other and nothing that is `taken`. All stand in `room`.
export function names(towns: Town[], camera: Camera, size: Size, ratio: number, isSphere: boolean, room: Box, taken: Box[]): Name[] {
  const kept: Name[] = [];
  const boxes: Box[] = [];
  for (const { name, position } of towns) {
    const [px, py, depth] = pixelOf(camera, size, ...position);
    const [x, y] = [px / ratio, py / ratio];
    if (isSphere && depth < LIMB) continue;
    for (const isLeft of [false, true]) {
      const [near, far] = isLeft ? [x - BESIDE - LETTER * name.length, x + 3] : [x - 3, x + BESIDE + LETTER * name.length];
      const box: Box = [near, y - HALF, far, y + HALF];
      const isInside = box[0] >= room[0] && box[1] >= room[1] && box[2] <= room[2] && box[3] <= room[3];
      if (!isInside || taken.some((other) => meets(box, other, 2, 2)) || boxes.some((other) => meets(box, other, APART, ABOVE))) continue;
      boxes.push(box);
      kept.push({ name, x, y, isLeft });
      break;
    }
  }
  return kept;
}
