import { expect, test } from 'vitest';
import { Ages } from '../../src/state/ages.ts';
import { at, extent, readTrace, shares } from '../../src/state/trace.ts';

test('the age of the oldest item follows from the numbers of items', () => {
  const ages = new Ages();
  const look = (now: number, posted: number, taken: number) => ages.note('a', { name: 'a', waiting: posted - taken, capacity: 8, posted, taken }, now);
  expect(look(0, 0, 0)).toBeNull();
  // The first item arrives before the look at 10, and the third before the look at 30.
  expect(look(10, 1, 0)).toBe(0);
  expect(look(20, 2, 0)).toBe(10);
  expect(look(30, 3, 0)).toBe(20);
  // The first is taken. The second was there at 20.
  expect(look(40, 3, 1)).toBe(20);
  expect(look(50, 3, 3)).toBeNull();
  expect(look(60, 4, 3)).toBe(0);
  expect(look(70, 4, 3)).toBe(10);
  // Started again.
  expect(look(80, 1, 0)).toBe(0);
  expect(look(90, 1, 0)).toBe(10);
});

const TRACE = JSON.stringify({
  traceEvents: [
    { ph: 'M', pid: 0, name: 'process_name', args: { name: 'process of ranks 0 to 1' } },
    { ph: 'M', pid: 0, tid: 0, name: 'thread_name', args: { name: 'rank 0' } },
    { ph: 'M', pid: 0, tid: 1, name: 'thread_name', args: { name: 'rank 1' } },
    { ph: 'X', pid: 0, tid: 0, cat: 'phase', name: 'annealing', ts: 0, dur: 100 },
    { ph: 'X', pid: 0, tid: 0, cat: 'compute', name: 'covariance', ts: 0, dur: 60 },
    { ph: 'X', pid: 0, tid: 0, cat: 'wait', name: 'broadcast', ts: 70, dur: 20 },
    { ph: 'X', pid: 0, tid: 0, cat: 'communication', name: 'broadcast', ts: 60, dur: 40 },
    { ph: 'X', pid: 0, tid: 1, cat: 'compute', name: 'labels', ts: 20, dur: 80 },
  ],
});

test('a trace is read by rank, and its shares add up', () => {
  const ranks = readTrace(TRACE);
  expect(ranks.map(({ name, spans }) => [name, spans.length])).toEqual([['rank 0', 4], ['rank 1', 1]]);
  const { traceEvents } = JSON.parse(TRACE);
  expect(readTrace(JSON.stringify({ traceEvents: traceEvents.reverse() })).map(({ name }) => name)).toEqual(['rank 0', 'rank 1']);
  expect(extent(ranks)).toEqual([0, 100]);
  const [half, other] = [shares(ranks[0], 0, 100, 2), shares(ranks[1], 0, 100, 2)];
  [1, 0, 0, 0.2, 0.4, 0.4].forEach((share, at) => expect(half[at]).toBeCloseTo(share, 12));
  [0.6, 0, 0, 1, 0, 0].forEach((share, at) => expect(other[at]).toBeCloseTo(share, 12));
  // A view that begins and ends within spans.
  [1, 0, 0].forEach((share, at) => expect(shares(ranks[0], 10, 20, 1)[at]).toBeCloseTo(share, 12));
  expect(at(ranks[0], 80)).toEqual({ span: { name: 'broadcast', kind: 'wait', from: 70, to: 90 }, phase: 'annealing' });
  expect(at(ranks[1], 10)).toEqual({ span: null, phase: null });
});

test.each(['{', '[]', '{"traceEvents": 3}', '{"traceEvents": []}', '{"traceEvents": [{"ph": "X", "pid": 0, "tid": 0, "cat": "gc", "name": "a", "ts": 1, "dur": 2}]}'])('%s is no trace', (text) => {
  expect(() => readTrace(text)).toThrow(/This is not a trace of a run/);
});
