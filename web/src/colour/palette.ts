// Twenty colours of clusters that people with and without colour blindness can tell apart, for light and for dark pages. In their order, each colour is far
// from all colours before it.
// The colours maximise the smallest OKLab distance between two colours, over normal vision and three kinds of colour blindness. `palette.test.ts` computes this
// distance. Each has a contrast of at least 3 to its page. From the 21st cluster on, the colours repeat, and the numbers of the clusters tell them apart.

import { linear } from './oklab.ts';

export const LIGHT = [
  '#447dc8', '#721405', '#c87e2d', '#350aa6', '#7307db', '#9c470d', '#a039f5', '#610372', '#5b8cf8', '#b06018',
  '#49489a', '#4164b2', '#7a3a37', '#988aab', '#6a9b69', '#717595', '#594864', '#8c695c', '#49344e', '#6d5b78',
];

export const DARK = [
  '#4594fa', '#e73e22', '#f0e77b', '#87d9f7', '#a16a94', '#c412c5', '#e5a483', '#8e3ffe', '#c4ca25', '#f1782e',
  '#67b6fe', '#bef2bd', '#898ecb', '#f0c289', '#d08c74', '#96f5fa', '#97c6be', '#7b7e5b', '#a3a7ca', '#ab899c',
];

/// The colour of points without a cluster, and of missing values.
export const NOTHING = { light: '#9aa1a9', dark: '#5c646d' };

/// The colour of points that are not selected, while others are.
export const CONTEXT = { light: '#d5d9de', dark: '#333a42' };

export const GROUND = { light: '#ffffff', dark: '#14181d' };

export type Theme = 'light' | 'dark';

/// Returns the colour, black or white, in which a text on a colour has the higher contrast (WCAG 2). It is at least 4.5.
export function inkOn(colour: string): string {
  const [r, g, b] = linear(colour);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 0.179 ? '#ffffff' : '#000000';
}

export function clusterColour(number: number, theme: Theme): string {
  const set = theme === 'light' ? LIGHT : DARK;
  return number < 0 ? NOTHING[theme] : set[number % set.length];
}

// The colour map Cividis (Nuñez, Anderton and Renslow 2018), which looks much the same to people with and without colour blindness.
const CIVIDIS = ['#00224e', '#123570', '#3b496c', '#575d6d', '#707173', '#8a8678', '#a59c74', '#c3b369', '#e1cc55', '#fee838'];

/// Returns the colour of a number from 0 to 1. The scale leaves out the end of the colour map that would be hard to see on the page.
export function scaleColour(value: number, theme: Theme): string {
  if (!(value >= 0)) return NOTHING[theme];
  const [from, to] = theme === 'light' ? [0, 0.86] : [0.45, 1];
  const place = (from + (to - from) * Math.min(1, value)) * (CIVIDIS.length - 1);
  const below = Math.min(CIVIDIS.length - 2, Math.floor(place));
  const part = place - below;
  let mixed = '#';
  for (const at of [1, 3, 5]) {
    const low = parseInt(CIVIDIS[below].slice(at, at + 2), 16);
    const high = parseInt(CIVIDIS[below + 1].slice(at, at + 2), 16);
    mixed += Math.round(low + (high - low) * part).toString(16).padStart(2, '0');
  }
  return mixed;
}
