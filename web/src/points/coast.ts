// Unpacks coasts, borders of countries and states, and cities, and places them on maps like the points of a cloud.

import { pixelOf, type Camera, type Size } from './camera.ts';
import { onSphere, type Cloud } from './cloud.ts';

/// The kinds of lines, from the most to the least prominent.
export const KINDS = ['coast', 'borders', 'states'] as const;
export type Kind = (typeof KINDS)[number];

/// A city, with its position in degrees.
export interface City {
  name: string;
  longitude: number;
  latitude: number;
}

/// The lines of each kind, and the cities. A line contains the longitude and latitude of its points in degrees. The most important cities come first.
export type Coast = Record<Kind, number[][]> & { cities: City[] };

/// The lines of one kind in the units of a cloud's positions: x, y and z of each point, and the indices of the points at which a line begins.
export interface Shore {
  kind: Kind;
  positions: Float32Array;
  starts: Set<number>;
}

/// A city, with its position in the units of a cloud's positions.
export interface Town {
  name: string;
  position: [number, number, number];
}

/// A range of longitudes that the map leaves out: its start, its end, and the width of the gutter drawn in its place, in degrees.
type Break = [number, number, number];

/// The code of the character that stands for the digit 0.
const FIRST = '='.charCodeAt(0);

/// Unpacks the text that `tools/coast.py` writes. That script describes the format.
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

/// Returns whether the values can be degrees of longitude and latitude. Longitudes may range from 0 to 360, or continue beyond the date line.
export function areDegrees([west, east]: [number, number], [south, north]: [number, number]): boolean {
  return west >= -360 && east <= 540 && east - west <= 360 && south >= -90 && north <= 90;
}

/// Collects the points of lines. A point added with `isStart` begins a new line.
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

/// The maximum length of a straight piece on a globe, in degrees. A line that is straight on a map is curved on a globe, so longer pieces are divided.
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

/// Returns two functions: whether a map leaves out a longitude, and where a longitude lies on the map without the ranges left out.
function folded(breaks: Break[]) {
  return {
    isOut: (longitude: number) => breaks.some(([from, to]) => longitude > from && longitude < to),
    place: (longitude: number) => longitude - breaks.reduce((gone, [from, to, gutter]) => gone + (longitude >= (from + to) / 2 ? to - from - gutter : 0), 0),
  };
}

export function citiesOnGlobe({ cities }: Coast): Town[] {
  return cities.map(({ name, longitude, latitude }) => ({ name, position: onSphere(longitude, latitude) }));
}

/// Returns the cities on a map, placed like the lines of `onMap`.
export function citiesOnMap({ cities }: Coast, { middle, half }: Cloud, west: number, breaks: Break[]): Town[] {
  const { isOut, place } = folded(breaks);
  return cities.flatMap(({ name, longitude, latitude }) => {
    const turned = longitude - 360 * Math.floor((longitude - west) / 360);
    return isOut(turned) ? [] : [{ name, position: [(place(turned) - middle[0]) / half[0], (latitude - middle[1]) / half[1], 0] as Town['position'] }];
  });
}

/// Returns the lines on a map of a cloud whose axes are degrees. The map goes once around the Earth, starting at the longitude `west`, and leaves out the
/// longitudes in `breaks`.
export function onMap(coast: Coast, { middle, half }: Cloud, west: number, breaks: Break[]): Shore[] {
  // Lines are cut at both ends of each range of longitudes that is left out.
  const cuts = breaks.flatMap(([from, to]) => [from, to]);
  const { isOut, place } = folded(breaks);
  return KINDS.map((kind) => {
    const built = new Builder();
    for (const line of coast[kind]) {
      let isStart = true;
      for (let at = 2; at < line.length; at += 2) {
        const [ax, ay, bx, by] = [line[at - 2], line[at - 1], line[at], line[at + 1]];
        // The piece is added once for each turn around the Earth that it touches. It touches two turns if it crosses the edge of the map.
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

/// The number of page pixels per degree from which borders of states are drawn, and the number up to which any line is drawn. On larger maps, the lines would
/// be off by centimetres.
const [STATES_FROM, ALL_UP_TO] = [7, 400];

export function isShown(kind: Kind, pixelsOfDegree: number): boolean {
  return pixelsOfDegree <= ALL_UP_TO && (kind !== 'states' || pixelsOfDegree >= STATES_FROM);
}

/// Returns the visible part of the lines as an SVG path in page pixels.
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

/// A rectangle of the page: left, top, right and bottom.
export type Box = [number, number, number, number];

/// Returns whether the space between two rectangles is less than `across` horizontally and less than `upwards` vertically.
export function meets(one: Box, other: Box, across: number, upwards: number): boolean {
  return one[0] < other[2] + across && one[2] > other[0] - across && one[1] < other[3] + upwards && one[3] > other[1] - upwards;
}

export interface Name {
  name: string;
  x: number;
  y: number;
  /// Whether the name is on the left side of the city.
  isLeft: boolean;
}

/// The mean width of a letter of a name, and half the height of a name, in page pixels. `BESIDE` is the distance between a city and its name.
const [LETTER, HALF] = [6.2, 7];
export const BESIDE = 5;
/// The space to keep between names, across and upwards, so that the names do not hide the points.
const [APART, ABOVE] = [26, 12];
/// The minimum depth of a city whose name is drawn, from 0 at the edge of the globe to 1 at its front.
const LIMB = 0.25;

/// Returns the names to draw, beginning with the most important city. Each name lies within `room`, and overlaps neither another name nor a rectangle of
/// `taken`.
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
