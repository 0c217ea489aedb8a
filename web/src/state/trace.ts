// The time line of a traced run: what each rank did when, from the file that `--trace` writes.

export const KINDS = ['compute', 'communication', 'wait'] as const;
export type Kind = (typeof KINDS)[number];

export interface Span {
  name: string;
  /// The kind of the span; null for a phase of the method.
  kind: Kind | null;
  /// Microseconds since the start of the run.
  from: number;
  to: number;
}

export interface Rank {
  name: string;
  /// The spans in the order of their beginnings.
  spans: Span[];
}

/// Reads a trace. Throws an error with a sentence for the user if the text is not a trace of ranks.
export function readTrace(text: string): Rank[] {
  const expected = 'This is not a trace of a run. Choose the file that the option --trace wrote.';
  let events: { ph: string; pid: number; tid: number; cat?: string; name: string; ts: number; dur: number; args?: { name: string } }[];
  try {
    events = JSON.parse(text).traceEvents;
  } catch {
    throw new Error(expected);
  }
  if (!Array.isArray(events)) throw new Error(expected);
  const ranks = new Map<string, Rank & { process: number; number: number }>();
  for (const { ph, pid, tid, cat, name, ts, dur, args } of events) {
    const key = `${pid} ${tid}`;
    if (!ranks.has(key)) ranks.set(key, { name: `rank ${tid}`, spans: [], process: pid, number: tid });
    const rank = ranks.get(key)!;
    if (ph === 'M' && name === 'thread_name' && args) rank.name = args.name;
    const kind = KINDS.find((one) => one === cat) ?? null;
    if (ph === 'X' && Number.isFinite(ts + dur) && (kind || cat === 'phase')) rank.spans.push({ name, kind, from: ts, to: ts + dur });
  }
  // The file has the ranks in any order.
  const found = [...ranks.values()].filter(({ spans }) => spans.length).sort((a, b) => a.process - b.process || a.number - b.number);
  if (!found.length) throw new Error(expected);
  found.forEach(({ spans }) => spans.sort((a, b) => a.from - b.from));
  return found;
}

/// Returns the first and the last moment of a trace.
export function extent(ranks: Rank[]): [number, number] {
  let [from, to] = [Infinity, -Infinity];
  for (const { spans } of ranks) for (const span of spans) [from, to] = [Math.min(from, span.from), Math.max(to, span.to)];
  return [from, to];
}

/// Divides the time from `from` to `to` into `cells` equal parts, and returns for each part the share of each kind, in the order of `KINDS`.
///
/// A wait is within a communication, and is not counted twice.
export function shares({ spans }: Rank, from: number, to: number, cells: number): Float64Array {
  const found = new Float64Array(cells * KINDS.length);
  const width = (to - from) / cells;
  const add = (kind: number, span: Span, sign: number) => {
    const [start, end] = [Math.max(from, span.from), Math.min(to, span.to)];
    for (let cell = Math.max(0, Math.floor((start - from) / width)); cell < cells && from + cell * width < end; cell++) {
      const inside = Math.min(end, from + (cell + 1) * width) - Math.max(start, from + cell * width);
      if (inside > 0) found[cell * KINDS.length + kind] += (sign * inside) / width;
    }
  };
  for (const span of spans) {
    if (!span.kind || span.to <= from || span.from >= to) continue;
    add(KINDS.indexOf(span.kind), span, 1);
    if (span.kind === 'wait') add(KINDS.indexOf('communication'), span, -1);
  }
  return found;
}

/// Returns the innermost span of a rank at a moment, and the phase of the method.
export function at({ spans }: Rank, moment: number): { span: Span | null; phase: string | null } {
  let [span, phase]: [Span | null, string | null] = [null, null];
  for (const one of spans) {
    if (one.from > moment) break;
    if (one.to < moment) continue;
    if (!one.kind) phase = one.name;
    else if (!span || one.to - one.from <= span.to - span.from) span = one;
  }
  return { span, phase };
}
