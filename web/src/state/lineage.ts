// Which data sets have the same rows in the same order, and which of them can be drawn. The records of jobs tell it.

import { computed } from '@preact/signals';
import { datasetsPath, documentOf, methods, type Dataset, type Datasets, type Job, type Jobs } from './node.ts';

/// Returns whether the rows of a data set can be drawn as points.
export function canBeDrawn(dataset: Dataset | undefined): boolean {
  return dataset !== undefined && dataset.rows > 0 && dataset.columns.filter((column) => column.kind !== 'text').length >= 2;
}

export interface Known {
  datasets: Record<string, Dataset>;
  /// For each data set that a job has made, this job.
  makers: Map<string, Job>;
  /// The data sets that have the positions of rows on a map.
  maps: string[];
}

/// The data sets of the node, and the jobs that made them.
export const known = computed((): Known => {
  const path = datasetsPath();
  const datasets = (path && documentOf<Datasets>(path).value?.datasets) || {};
  const makers = new Map<string, Job>();
  for (const service of methods()) {
    for (const job of Object.values(documentOf<Jobs>(service.path).value?.jobs ?? {})) {
      for (const name of Object.values(job.outputs)) makers.set(name, job);
    }
  }
  const isMap = (name: string) => {
    const { positions, places } = makers.get(name)?.outputs ?? {};
    return name === positions || name === places || /\/(positions|places)$/.test(name);
  };
  return { datasets, makers, maps: Object.keys(datasets).filter(isMap) };
});

/// The results whose rows are those of the input. Others, such as a history, may have as many rows by chance.
const ROWWISE = ['labels', 'positions', 'places', 'items', 'members'];

/// Returns the data set itself, and then the data sets from which its rows come, the nearest first. All have the same rows in the same order: a map has the
/// rows of its items, and items have those of the table that was compared. A data set that is newer than the result has been replaced, and does not count.
export function lineage({ datasets, makers }: Known, name: string): string[] {
  const found = [name];
  for (const at of found) {
    const { inputs: of = {}, outputs = {} } = makers.get(at) ?? {};
    if (!ROWWISE.some((result) => outputs[result] === at)) continue;
    const inputs = Object.values(of);
    // Dissimilarities have other rows, but their job has also made the items.
    const items = inputs.map((input) => makers.get(input)?.outputs.items);
    for (const input of [...inputs, ...items]) {
      const [from, to] = [datasets[input ?? ''], datasets[at]];
      if (from && to && from.rows === to.rows && from.content < to.content && !found.includes(input!)) found.push(input!);
    }
  }
  return found;
}

/// Returns whether two data sets have the same rows in the same order. Maps of the same dissimilarities have the same rows, too.
export function areRelated(of: Known, one: string, other: string): boolean {
  const [a, b] = [lineage(of, one), lineage(of, other)];
  const matrix = of.makers.get(one)?.inputs.matrix;
  return a.some((name) => b.includes(name)) || (matrix !== undefined && matrix === of.makers.get(other)?.inputs.matrix && of.datasets[one]?.rows === of.datasets[other]?.rows);
}

/// Returns the settings with which Explore shows the result of a job, or `null` if it cannot be drawn: the positions that it found, or else its input or a map
/// of the same items, coloured by its clusters.
export function exploring(of: Known, service: string, id: string, { state, outputs, inputs }: Job): Record<string, string> | null {
  const { datasets } = of;
  const found = outputs.positions ?? outputs.places;
  if (state !== 'done') return null;
  if (found) return canBeDrawn(datasets[found]) ? { data: found } : null;
  const { labels } = outputs;
  if (!labels || !datasets[labels]) return null;
  const rows = lineage(of, labels).slice(1);
  const isDrawn = (name: string) => canBeDrawn(datasets[name]);
  const data = rows.find((name) => Object.values(inputs).includes(name) && isDrawn(name)) ?? of.maps.find((name) => isDrawn(name) && areRelated(of, name, labels)) ?? rows.find(isDrawn);
  return data ? { data, colour: `job:${service}|${id}` } : null;
}
