// The data of a report: figures by the id of their element. Columns of numbers are packed in Base64.

import { fromBase64 } from '../api/base64.ts';
import type { Column } from '../api/columns.ts';
import type { Line } from '../views/chart.tsx';
import type { DendrogramFigure } from '../views/dendrogram.tsx';
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
  | ({ kind: 'dendrogram' } & DendrogramFigure)
  | ({ kind: 'density' } & DensityFigure)
  | ({ kind: 'planes' } & Omit<PlanesFigure, 'planes'> & { planes: { name: string; values: string }[] });

export interface AnnealFigure {
  /// For each step, its temperature, number of clusters and free energy.
  steps: [number, number, number][];
  /// For each split, its temperature, the number of the component that was split, when the new component was merged, and into which.
  splits: [number, number, number | null, number | null][];
  unit: string;
  /// The command that was run, without the number of clusters. Absent if the run was not started by a command.
  command?: string;
}

export interface SceneFigure {
  name: string;
  rows: number;
  /// The names of the rows. Absent if rows have only numbers.
  ids?: string[];
  /// The index of each row in its table, from 0. Absent if the figure has all rows.
  numbers?: string;
  columns: ({ name: string; values: string } | { name: string; texts: string[] })[];
  /// The groupings of the rows. The label 65,535 means no group. Probabilities from 0 to 1 are packed as 0 to 65,534, a missing one as 65,535.
  groupings: ({ title: string; of: string; probability?: string } & Known)[];
  /// An axis has its positions, or the index of the column that has the same values.
  layouts: (Omit<Layout, 'x' | 'y' | 'z'> & { names: string[]; axes: (string | number)[] })[];
  isEqual: boolean;
  colour?: string;
  /// The id of the table whose rows are the clusters.
  table?: string;
}

const NONE = 65_535;

export function floats(text: string): Float32Array {
  return new Float32Array(fromBase64(text).buffer);
}

export function levels(text: string): Uint8Array {
  return fromBase64(text);
}

/// Unpacks probabilities, which have two bytes each.
function probabilities(text: string): Float64Array {
  return Float64Array.from(new Uint16Array(fromBase64(text).buffer), (level) => (level === NONE ? NaN : level / (NONE - 1)));
}

function column(name: string, text: string): Column {
  return { name, kind: 'number', isSingle: true, values: Float64Array.from(floats(text)) };
}

/// Returns the text of the coast, which a page with a map contains.
async function coast(): Promise<string> {
  return document.getElementById('coast')!.textContent!;
}

/// Returns the source of a scene whose rows are in the page.
export function sourceOf(figure: SceneFigure, id: string): Source {
  const { ids, rows } = figure;
  const numbers = figure.numbers ? new Uint32Array(fromBase64(figure.numbers).buffer) : null;
  const groupings = figure.groupings.map(({ title, of, probability, ...known }, at) => {
    const labels = Float64Array.from(new Uint16Array(fromBase64(of).buffer), (label) => (label === NONE ? -1 : label));
    let made: Colouring | null = null;
    const load = async () => (made ??= clustersOf(title, labels, probability ? probabilities(probability) : null, known));
    return { key: `group:${at}`, title, version: '', load, hasProbability: probability !== undefined };
  });
  const columns = figure.columns.map((one): Column => ('texts' in one ? { name: one.name, kind: 'text', values: one.texts } : column(one.name, one.values)));
  return {
    name: figure.name,
    suffix: id === 'picture' ? '' : `-${id}`,
    columns: { rows, columns },
    titleOf: (row) => ids?.[row] ?? `row ${numbers ? numbers[row] : row}`,
    sources: groupings,
    layouts: figure.layouts.map(({ names, axes, ...layout }) => {
      const [x, y, z] = axes.map((axis, at) => (typeof axis === 'string' ? column(names[at], axis) : { ...columns[axis], name: names[at] }));
      return { ...layout, x, y, z };
    }),
    isEqual: figure.isEqual,
    coast,
    colour: figure.colour,
  };
}
