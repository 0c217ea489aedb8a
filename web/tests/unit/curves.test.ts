import { expect, test } from 'vitest';
import { curvesOf } from '../../src/views/curves.ts';

const drawn = (rows: Record<string, unknown>[]) => curvesOf(rows).map(({ title, xName, x, y }) => [title, xName, x, y]);

test('temperature is the axis only where it is above 0', () => {
  const steps = (temperatures: number[]) => temperatures.map((temperature, iteration) => ({ iteration, temperature, stress: 0.5 / (iteration + 1) }));
  expect(drawn(steps([0, 0, 0]))).toEqual([['Stress', 'iteration', [0, 1, 2], [0.5, 0.25, 0.5 / 3]]]);
  expect(drawn(steps([4, 2, 0]))).toEqual([['Stress', 'temperature', [4, 2], [0.5, 0.25]]]);
  expect(curvesOf(steps([4, 2, 0]))[0]).toMatchObject({ isLogX: true, isFalling: true });
  expect(curvesOf(steps([0, 0, 0]))[0]).toMatchObject({ isLogX: false, isFalling: false });
});

test('each method that reports its progress has curves of what it reports', () => {
  // The figures of crates/mining/src/anneal.rs, as three reports of a running job.
  const reported = {
    vector: [{ clusters: 1, sweeps: 3, temperature: 9, free_energy: 8 }, { clusters: 2, sweeps: 9, temperature: 3, free_energy: 5 }, { clusters: 2, sweeps: 12 }],
    kmeans: [{ clusters: 3, sweeps: 1, starts: 0, mean_cost: 9 }, { clusters: 3, sweeps: 4, starts: 0, mean_cost: 7 }, { clusters: 3, sweeps: 5, starts: 1, mean_cost: 7 }],
    minibatch: [{ batches: 1, clusters: 3, sweeps: 1, mean_cost: 9 }, { batches: 2, clusters: 3, sweeps: 2, mean_cost: 8 }],
    mixture: [{ components: 1, sweeps: 2, temperature: 4 }, { components: 2, sweeps: 5, temperature: 2 }, { components: 2, sweeps: 6, log_likelihood: -9 }, { components: 2, sweeps: 8, log_likelihood: -7 }],
    gtm: [{ sweeps: 1 }, { sweeps: 2, temperature: 8, objective: 1 }, { sweeps: 5, temperature: 4, objective: 3 }],
    smacof: [{ start: 0, iteration: 1, stress: 0.9 }, { start: 0, iteration: 9, stress: 0.4 }],
    kmedoids: [{ clusters: 1, sweeps: 1, swaps: 0, cost: 9 }, { clusters: 4, sweeps: 4, swaps: 0, cost: 6 }, { clusters: 4, sweeps: 6, swaps: 3, cost: 5 }],
  };
  const names = Object.entries(reported).map(([method, rows]) => [method, curvesOf(rows).map(({ title, xName }) => `${title} over ${xName}`)]);
  expect(names).toEqual([
    ['vector', ['Free energy over temperature', 'Clusters over temperature']],
    ['kmeans', ['Mean cost over sweeps']],
    ['minibatch', ['Mean cost over batches']],
    ['mixture', ['Log likelihood over sweeps', 'Components over temperature']],
    ['gtm', ['Objective over temperature']],
    ['smacof', ['Stress over iteration']],
    ['kmedoids', ['Clusters over sweeps', 'Cost over sweeps']],
  ]);
  // Figures that only count, and a single report, are no curve.
  expect(curvesOf([{ done: 1, pairs: 9 }, { done: 2, pairs: 9 }])).toEqual([]);
  expect(curvesOf([{ clusters: 5 }, { clusters: 4 }])).toEqual([]);
  expect(curvesOf(reported.smacof.slice(0, 1))).toEqual([]);
  expect(curvesOf([])).toEqual([]);
});

test('only the last start is drawn where a method starts again, and the hardening belongs to its annealing', () => {
  const starts = [[0, 1, 0.9], [0, 9, 0.5], [1, 1, 0.8], [1, 7, 0.4], [1, 9, 0.3]].map(([start, iteration, stress]) => ({ start, iteration, stress }));
  expect(drawn(starts)).toEqual([['Stress', 'iteration', [1, 7, 9], [0.8, 0.4, 0.3]]]);
  // A start with a single report is not yet drawn.
  expect(drawn([...starts, { start: 2, iteration: 1, stress: 0.7 }])).toEqual(drawn(starts));
  const maps = [[8, 1], [2, 4], [8, 2], [4, 3]].map(([temperature, objective]) => ({ temperature, objective }));
  expect(drawn(maps)).toEqual([['Objective', 'temperature', [8, 4], [2, 3]]]);
  const annealed = [[9, 5], [1, 2], [3, 1.5], [1, 1]].map(([temperature, free_energy]) => ({ temperature, free_energy }));
  expect(drawn(annealed)).toEqual([['Free energy', 'temperature', [9, 1, 3, 1], [5, 2, 1.5, 1]]]);
});

test('a figure that never changes is drawn only if nothing else is', () => {
  const flat = [{ index: 0, sum_of_squares: 4 }, { index: 1, sum_of_squares: 4 }];
  expect(drawn(flat)).toEqual([['Sum of squares', 'index', [0, 1], [4, 4]]]);
  // Different initialisations are not joined by a line.
  expect(curvesOf(flat)[0].dots).toBe('alone');
  expect(drawn(flat.map((row) => ({ ...row, free_energy: 3 - row.index }))).map(([title]) => title)).toEqual(['Free energy']);
});
