import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { facing, LEVEL } from '../../src/points/camera.ts';
import { cloudOf, onSphere } from '../../src/points/cloud.ts';
import { areDegrees, citiesOnGlobe, citiesOnMap, isShown, KINDS, names, onGlobe, onMap, pathOf, unpack, type Box, type Coast, type Shore } from '../../src/points/coast.ts';
import { meridians, stepOfDegrees } from '../../src/views/cloud.tsx';

const only = (...coast: number[][]): Coast => ({ coast, borders: [], states: [], cities: [] });
const cities = (...found: [string, number, number][]): Coast => ({ ...only(), cities: found.map(([name, longitude, latitude]) => ({ name, longitude, latitude })) });
const column = (name: string, values: number[]) => ({ name, kind: 'number' as const, values: Float64Array.from(values) });
// Drawn in degrees.
const cloud = { ...cloudOf([column('lon', [-1, 1]), column('lat', [-1, 1])], { isEqual: true }), middle: [0, 0, 0] as [number, number, number], half: [1, 1, 1] as [number, number, number] };
const SIZE = { width: 200, height: 100 };

/// The lines of a shore, each as its points.
function linesOf({ positions, starts }: Shore): number[][][] {
  const lines: number[][][] = [];
  for (let at = 0; at < positions.length / 3; at++) {
    if (starts.has(at)) lines.push([]);
    lines.at(-1)!.push([...positions.slice(3 * at, 3 * at + 2)].map((one) => Number(one.toFixed(4))));
  }
  return lines;
}

test('lines are unpacked: numbers of points, steps of both signs, numbers of several digits', () => {
  // Two points: 3 steps east and 1 south, then 40 north, which takes two digits; another line goes on from there.
  const digit = (value: number) => String.fromCharCode('='.charCodeAt(0) + value);
  const packed = [2, 6, 1, 0, 32 + (80 % 32), 2, 1, 1, 0].map(digit).join('');
  const places = [6, 1, 1, 0].map(digit).join('');
  expect(unpack(JSON.stringify({ grid: 20, coast: packed, borders: '', states: '', cities: 'Bern|Zürich', places }))).toEqual({
    ...only([0.15, -0.05, 0.15, 1.95], [0.1, 1.95]), cities: [{ name: 'Bern', longitude: 0.15, latitude: -0.05 }, { name: 'Zürich', longitude: 0.1, latitude: -0.05 }],
  });
});

test('the file has the Earth: its extent, known places, and no line along the cut of the map', () => {
  const coast = unpack(readFileSync(new URL('../../public/coast.json', import.meta.url), 'utf8'));
  for (const kind of KINDS) {
    expect(coast[kind].length).toBeGreaterThan(50);
    for (const line of coast[kind]) {
      expect(line.length).toBeGreaterThanOrEqual(4);
      for (let at = 0; at < line.length; at += 2) {
        expect(Math.abs(line[at])).toBeLessThanOrEqual(180);
        expect(Math.abs(line[at + 1])).toBeLessThan(90);
        if (at) expect([line[at], line[at - 2]].every((one) => Math.abs(one) === 180)).toBe(false);
      }
    }
  }
  const near = (kind: (typeof KINDS)[number], longitude: number, latitude: number) =>
    Math.min(...coast[kind].flatMap((line) => line.flatMap((one, at) => (at % 2 ? [] : [Math.hypot(one - longitude, line[at + 1] - latitude)]))));
  // Land's End, the Cape, Cape Horn; where Germany, France and Switzerland meet; where Utah, Nevada and Arizona do.
  for (const [longitude, latitude] of [[-5.7, 50.1], [18.4, -34.1], [-67.3, -55.9]]) expect(near('coast', longitude, latitude)).toBeLessThan(1);
  expect(near('borders', 7.6, 47.6)).toBeLessThan(0.3);
  expect(near('states', -114.05, 37)).toBeLessThan(0.06);
  expect(coast.cities.length).toBeGreaterThan(400);
  const city = (wanted: string) => coast.cities.findIndex(({ name }) => name === wanted);
  for (const [name, longitude, latitude] of [['Zürich', 8.55, 47.4], ['Sydney', 151.2, -33.9], ['Reno', -119.8, 39.5], ['Anchorage', -149.9, 61.2]] as const) {
    const found = coast.cities[city(name)];
    expect(Math.hypot(found.longitude - longitude, found.latitude - latitude), name).toBeLessThan(0.3);
  }
  // Those of the whole world come before those of a state.
  expect(city('Los Angeles')).toBeLessThan(city('Reno'));
});

test('a line that crosses a stretch that is left out ends at its one side and goes on at the other', () => {
  const [coast] = onMap(only([-110, 40, -80, 46]), cloud, -180, [[-105, -85, 1]]);
  // 19 degrees are gone; a straight line keeps its slope.
  expect(linesOf(coast)).toEqual([[[-110, 40], [-105, 41]], [[-104, 45], [-99, 46]]]);
  expect(linesOf(onMap(only([-100, 40, -95, 41, -90, 40]), cloud, -180, [[-105, -85, 1]])[0])).toEqual([]);
  // Into the stretch, and behind two of them.
  const [two] = onMap(only([-110, 40, -100, 50], [20, 0, 30, 0]), cloud, -180, [[-105, -85, 1], [-80, 10, 2]]);
  expect(linesOf(two)).toEqual([[[-110, 40], [-105, 45]], [[-87, 0], [-77, 0]]]);
});

test('a map around the date line has each line where its rows are', () => {
  const [coast] = onMap(only([-175, 10, -170, 12], [-5, 0, 5, 20], [170, 1, 180, 1], [-180, 1, -170, 1]), cloud, 0, []);
  expect(linesOf(coast)).toEqual([
    [[185, 10], [190, 12]],
    // Across the edge of this map, at 0: both sides of it.
    [[355, 0], [360, 10]], [[0, 10], [5, 20]],
    [[170, 1], [180, 1]], [[180, 1], [190, 1]],
  ]);
  // The same westwards, as a part of a longer line.
  expect(linesOf(onMap(only([20, 0, 5, 20, -5, 0, -20, 0]), cloud, 0, [])[0])).toEqual([[[20, 0], [5, 20]], [[360, 10], [355, 0]], [[5, 20], [0, 10]], [[355, 0], [340, 0]]]);
  const [usual] = onMap(only([170, 1, 180, 1], [-180, 1, -170, 1]), cloud, -180, []);
  expect(linesOf(usual)).toEqual([[[170, 1], [180, 1]], [[-180, 1], [-170, 1]]]);
});

test('a parallel is bent on a globe, and its far side is not drawn', () => {
  const [coast] = onGlobe(only([-120, 49, -90, 49]));
  expect(coast.positions.length / 3).toBe(16);
  for (let at = 0; at < 16; at++) expect(coast.positions[3 * at + 1]).toBeCloseTo(onSphere(0, 49)[1], 6);
  const camera = (longitude: number) => ({ turn: facing(longitude, 0), scale: [40, 40] as [number, number], shift: [0, 0] as [number, number] });
  expect(pathOf(coast, camera(-105), SIZE, 1, true).match(/M/g)).toHaveLength(1);
  expect(pathOf(coast, camera(-105), SIZE, 1, true).match(/L/g)).toHaveLength(15);
  expect(pathOf(coast, camera(75), SIZE, 1, true)).toBe('');
});

test('a path has what is in the picture alone, in pixels of the page', () => {
  const camera = { turn: LEVEL, scale: [10, 10] as [number, number], shift: [0, 0] as [number, number] };
  const [coast] = onMap(only([0, 0, 2, 1, 50, 1, 60, 2, 50, -3, 1, -3]), cloud, -180, []);
  expect(pathOf(coast, camera, SIZE, 2, false)).toBe('M50.0 25.0L60.0 20.0L300.0 20.0M300.0 40.0L55.0 40.0');
});

test('lines are drawn at scales for which they are good', () => {
  expect(KINDS.map((kind) => isShown(kind, 3))).toEqual([true, true, false]);
  expect(KINDS.map((kind) => isShown(kind, 90))).toEqual([true, true, true]);
  expect(KINDS.map((kind) => isShown(kind, 500))).toEqual([false, false, false]);
  expect(areDegrees([-120, -80], [35, 42])).toBe(true);
  expect(areDegrees([0, 359.5], [-90, 90])).toBe(true);
  expect(areDegrees([170, 190], [-20, 0])).toBe(true);
  expect(areDegrees([0, 5000], [0, 10])).toBe(false);
  expect(areDegrees([0, 10], [0, 300])).toBe(false);
  expect(areDegrees([-180, 190], [0, 10])).toBe(false);
});

test('degrees of a map of the Earth are parts of a quarter', () => {
  expect(stepOfDegrees(-180, 210, 3)).toBe(90);
  expect(stepOfDegrees(-60, 70, 5)).toBe(30);
  expect(stepOfDegrees(-170, 170, 8)).toBe(45);
  expect(stepOfDegrees(-300, 300, 4)).toBe(90);
  expect(stepOfDegrees(-119, -100, 5)).toBe(5);
  expect(meridians(-180, 200, 3, []).map(([, text]) => text)).toEqual(['180°', '90° W', '0°', '90° E', '180°']);
});

test('cities are where the rows of a map are, and not in what is left out', () => {
  const found = cities(['Reno', -119.8, 39.5], ['Denver', -105, 40], ['Cleveland', -82, 41.5], ['Suva', 178, -18]);
  expect(citiesOnMap(found, cloud, -180, [[-110, -85, 1]]).map(({ name, position }) => [name, ...position])).toEqual([['Reno', -119.8, 39.5, 0], ['Cleveland', -106, 41.5, 0], ['Suva', 154, -18, 0]]);
  expect(citiesOnMap(cities(['Apia', -171.8, -13.8]), cloud, 0, [])[0].position[0]).toBeCloseTo(188.2);
  expect(citiesOnGlobe(cities(['Suva', 178, -18]))[0].position).toEqual(onSphere(178, -18));
});

test('names overlap with nothing, more important ones first, and more are drawn nearer by', () => {
  const room: Box = [0, 0, 400, 300];
  const size = { width: 400, height: 300 };
  const camera = (scale: number, longitude = 0) => ({ turn: facing(longitude, 0), scale: [scale, scale] as [number, number], shift: [0, 0] as [number, number] });
  const towns = citiesOnMap(cities(['First', 0, 0], ['Second', 1, 0], ['Third', 0, -9]), cloud, -180, []);
  const drawn = (scale: number, taken: Box[] = []) => names(towns, camera(scale), size, 1, false, room, taken).map(({ name, isLeft }) => (isLeft ? `${name} left` : name));
  expect(drawn(1)).toEqual(['First']);
  expect(drawn(10)).toEqual(['First', 'Third']);
  expect(drawn(80)).toEqual(['First', 'Second']);
  // The number of a cluster is in the way: the name stands on the other side, or not at all.
  expect(drawn(10, [[205, 140, 225, 160]])).toEqual(['First left', 'Third']);
  expect(drawn(10, [[150, 140, 250, 160]])).toEqual(['Third']);
  // At the edge the name stands inside.
  const edge = citiesOnMap(cities(['Edge', 19, 0]), cloud, -180, []);
  expect(names(edge, camera(10), size, 1, false, room, [])).toEqual([{ name: 'Edge', x: 390, y: 150, isLeft: true }]);
  // Twice as many pixels are the same picture, and the far side of a globe has no names.
  expect(names(edge, camera(20), { width: 800, height: 600 }, 2, false, room, [])).toEqual([{ name: 'Edge', x: 390, y: 150, isLeft: true }]);
  const globe = citiesOnGlobe(cities(['Suva', 178, -18]));
  expect(names(globe, camera(100, 178), size, 1, true, room, [])).toHaveLength(1);
  expect(names(globe, camera(100, -2), size, 1, true, room, [])).toEqual([]);
});
