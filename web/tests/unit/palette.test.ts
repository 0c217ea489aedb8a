import { expect, test } from 'vitest';
import { clusterColour, CONTEXT, DARK, GROUND, inkOn, LIGHT, NOTHING, scaleColour } from '../../src/colour/palette.ts';
import { contrast, distance, leastDistance, linear, oklab, seenBy } from '../../src/colour/oklab.ts';

test('white and black are where OKLab puts them', () => {
  expect(oklab(linear('#ffffff')).map((value) => Number(value.toFixed(6)))).toEqual([1, 0, 0]);
  expect(oklab(linear('#000000')).every((value) => Math.abs(value) < 1e-9)).toBe(true);
  // Ottosson's own example: pure red.
  oklab(linear('#ff0000')).forEach((value, at) => expect(value).toBeCloseTo([0.62796, 0.22486, 0.12585][at], 4));
});

test('who lacks a cone sees less of a colour and all of grey', () => {
  for (const vision of ['protan', 'deutan', 'tritan'] as const) {
    seenBy(vision, [0.5, 0.5, 0.5]).forEach((value) => expect(value).toBeCloseTo(0.5, 5));
  }
  const [red, green] = ['#d04040', '#608a30'].map((hex) => oklab(seenBy('deutan', linear(hex))));
  expect(distance(red, green)).toBeLessThan(0.6 * distance(oklab(linear('#d04040')), oklab(linear('#608a30'))));
});

test('twenty clusters are told apart by everybody, on light and on dark pages', () => {
  for (const set of [LIGHT, DARK]) {
    expect(set).toHaveLength(20);
    expect(leastDistance(set)).toBeGreaterThan(0.05);
  }
});

test('every colour stands out from its page', () => {
  for (const [set, theme] of [[LIGHT, 'light'], [DARK, 'dark']] as const) {
    for (const colour of set) expect(contrast(colour, GROUND[theme]), `${colour} on ${theme}`).toBeGreaterThanOrEqual(3);
    // Context is to stay behind: less contrast than any cluster has.
    expect(contrast(CONTEXT[theme], GROUND[theme])).toBeLessThan(2);
    expect(contrast(NOTHING[theme], GROUND[theme])).toBeGreaterThan(2);
  }
});

test('names of clusters can be read on their colours, and numbers on a dark page can be seen', () => {
  for (const colour of [...LIGHT, ...DARK, ...Object.values(NOTHING)]) expect(contrast(colour, inkOn(colour)), colour).toBeGreaterThanOrEqual(4.5);
  for (let at = 0; at <= 10; at++) expect(contrast(scaleColour(at / 10, 'dark'), GROUND.dark)).toBeGreaterThanOrEqual(3);
});

test('no cluster and missing values are grey, and the 21st cluster has the colour of the first', () => {
  expect(clusterColour(-1, 'light')).toBe(NOTHING.light);
  expect(clusterColour(20, 'dark')).toBe(DARK[0]);
  expect(scaleColour(NaN, 'dark')).toBe(NOTHING.dark);
});

test('the scale of numbers grows lighter without a step back', () => {
  for (const theme of ['light', 'dark'] as const) {
    const light = Array.from({ length: 50 }, (_, at) => oklab(linear(scaleColour(at / 49, theme)))[0]);
    for (let at = 1; at < light.length; at++) expect(light[at]).toBeGreaterThan(light[at - 1]);
  }
});
