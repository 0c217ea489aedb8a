// What a report carries: figures by the id of the element that they stand in, with columns of numbers packed as base64.

import { fromBase64 } from '../api/base64.ts';
import type { Column } from '../api/columns.ts';
import type { Line } from '../views/chart.tsx';
import type { DensityFigure } from '../views/density.tsx';
import type { HeatFigure } from '../views/heat.tsx';
import type { PlanesFigure } from '../views/planes.tsx';
import type { Layout, Source } from '../views/scene.tsx';
import { clustersOf, type Colouring, type Known } from './clusters.ts';

type Packed<T, Keys extends keyof T> = Omit<T, Keys> & Record<Keys, string>;

export type Figure =
  | ({ kind: 'scene' } & SceneFigure)
  | { kind: 'lines'; lines: Line[] }
  | ({ kind: 'anneal' } & AnnealFigure)
  | ({ kind: 'heat' } & Packed<HeatFigure, 'levels' | 'between'>)
  | ({ kind: 'density' } & DensityFigure)
  | ({ kind: 'planes' } & Omit<PlanesFigure, 'planes'> & { planes: { name: string; values: string }[] });

export interface AnnealFigure {
  /// Temperature, clusters, free energy of each step.
  steps: [number, number, number][];
  /// Temperature, the component that divided, components after it.
  splits: [number, number, number][];
  unit: string;
  /// The command that was run, without the number of clusters; absent where nobody typed one.
  command?: string;
}

export interface SceneFigure {
  name: string;
  rows: number;
  /// What rows are called; absent where they have numbers.
  ids?: string[];
  /// The number of each row in its table, from 0, where not all are here.
  numbers?: string;
  columns: ({ name: string; values: string } | { name: string; texts: string[] })[];
  /// What rows are divided by: 65,535 for rows of none. Probabilities are 0 to 65,534 for 0 to 1.
  groupings: ({ title: string; of: string; probability?: string } & Known)[];
  layouts: (Omit<Layout, 'x' | 'y' | 'z'> & { names: string[]; axes: string[] })[];
  isEqual: boolean;
  colour?: string;
  /// The table whose rows are the clusters.
  table?: string;
}

const NONE = 65_535;

export function floats(text: string): Float32Array {
  return new Float32Array(fromBase64(text).buffer);
}

export function levels(text: string): Uint8Array {
  return fromBase64(text);
}

/// Probabilities of two bytes each.
function probabilities(text: string): Float64Array {
  return Float64Array.from(new Uint16Array(fromBase64(text).buffer), (level) => (level === NONE ? NaN : level / (NONE - 1)));
}

function column(name: string, text: string): Column {
  return { name, kind: 'number', isSingle: true, values: Float64Array.from(floats(text)) };
}

/// The coast, which a page with a map of places has in it.
async function coast(): Promise<string> {
  return document.getElementById('coast')!.textContent!;
}

/// The source of a scene whose rows are in the page.
export function sourceOf(figure: SceneFigure, id: string): Source {
  const { ids, rows } = figure;
  const numbers = figure.numbers ? new Uint32Array(fromBase64(figure.numbers).buffer) : null;
  const groupings = figure.groupings.map(({ title, of, probability, ...known }, at) => {
    const labels = Float64Array.from(new Uint16Array(fromBase64(of).buffer), (label) => (label === NONE ? -1 : label));
    let made: Colouring | null = null;
    const load = async () => (made ??= clustersOf(title, labels, probability ? probabilities(probability) : null, known));
    return { key: `group:${at}`, title, version: '', load, hasProbability: probability !== undefined };
  });
  return {
    name: figure.name,
    suffix: id === 'picture' ? '' : `-${id}`,
    columns: { rows, columns: figure.columns.map((one) => ('texts' in one ? { name: one.name, kind: 'text', values: one.texts } : column(one.name, one.values))) },
    titleOf: (row) => ids?.[row] ?? `row ${numbers ? numbers[row] : row}`,
    sources: groupings,
    layouts: figure.layouts.map(({ names, axes, ...layout }) => {
      const [x, y, z] = axes.map((text, at) => column(names[at], text));
      return { ...layout, x, y, z };
    }),
    isEqual: figure.isEqual,
    coast,
    colour: figure.colour,
  };
}
