// The time line of a traced run: the share of computing, communicating and waiting of each rank over time.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { at, extent, KINDS, readTrace, shares, type Rank } from '../state/trace.ts';
import { count, figure } from '../state/words.ts';
import { Trouble } from './fault.tsx';
import { groundOfPage, Save, standalone } from './save.tsx';
import { useWidth } from './width.ts';

/// The height of a rank, the space between two ranks, and the room for names and for the axis, in pixels.
const BAND = 26;
const GAP = 6;
const ROOM = { left: 64, bottom: 22 };
/// The width of a cell in which times are added up, in pixels.
const CELL = 2;
/// The kinds from the bottom of a band to its top.
const NAMES = { compute: 'computing', communication: 'communicating', wait: 'waiting' };

export function Ranks() {
  const ranks = useSignal<Rank[] | null>(null);
  const error = useSignal<unknown>(null);
  const open = async (file: File | undefined) => {
    if (!file) return;
    try {
      [ranks.value, error.value] = [readTrace(await file.text()), null];
    } catch (caught) {
      error.value = (caught as Error).message;
    }
  };
  return (
    <section class="card" aria-labelledby="ranks">
      <div class="head">
        <div>
          <h2 id="ranks">Time line of ranks</h2>
          <p class="note">What each rank of a traced run did when. Open the file that the option <code>--trace</code> wrote. The file stays in your browser.</p>
        </div>
        <label class="button">
          Open a trace
          <input class="unseen" type="file" accept=".json" onChange={(event) => void open(event.currentTarget.files?.[0])} />
        </label>
      </div>
      <Trouble error={error.value} />
      {ranks.value && <TimeLine ranks={ranks.value} />}
    </section>
  );
}

function TimeLine({ ranks }: { ranks: Rank[] }) {
  const [frame, wide] = useWidth(200, 600);
  const shown = useSignal<[number, number]>(extent(ranks));
  const picked = useSignal<number | null>(null);
  useEffect(() => {
    [shown.value, picked.value] = [extent(ranks), null];
  }, [ranks]);
  const [first, last] = extent(ranks);
  const [from, to] = shown.value;
  /// Shows `factor` times the present range, its middle moved by `shift` ranges. The range stays within the trace.
  const look = (factor: number, shift: number) => {
    const width = Math.min(last - first, Math.max(1, (to - from) * factor));
    const begin = Math.min(last - width, Math.max(first, (from + to) / 2 + shift * (to - from) - width / 2));
    shown.value = [begin, begin + width];
  };
  const keys: Record<string, [number, number]> = {
    w: [0.5, 0], s: [2, 0], a: [1, -0.5], d: [1, 0.5], ArrowLeft: [1, -0.5], ArrowRight: [1, 0.5], '+': [0.5, 0], '-': [2, 0],
  };
  const across = wide.value - ROOM.left;
  const cells = Math.max(1, Math.floor(across / CELL));
  const height = ranks.length * (BAND + GAP) + ROOM.bottom;
  const moment = picked.value;
  const time = (value: number) => `${figure((value - first) / 1000, 5)} ms`;
  const totals = ranks.map((rank) => shares(rank, from, to, 1));
  return (
    <>
      <div class="tools under">
        <button type="button" onClick={() => look(0.5, 0)}>Zoom in</button>
        <button type="button" onClick={() => look(2, 0)}>Zoom out</button>
        <button type="button" onClick={() => look(1, -0.5)}>Earlier</button>
        <button type="button" onClick={() => look(1, 0.5)}>Later</button>
        <button type="button" onClick={() => (shown.value = [first, last])}>Whole run</button>
        <span class="soft">{time(from)} to {time(to)} of {time(last)}</span>
        <Save name="Time line of ranks" make={() => standalone(frame.current!.querySelector('svg')!, wide.value, height, groundOfPage())} />
      </div>
      <p class="legend">{KINDS.map((kind) => <span key={kind}><i class={`mark ${kind}`} /> {NAMES[kind]}</span>)}</p>
      <div ref={frame} class="ranks" tabIndex={0} role="group" aria-label="Time line of ranks: W and S zoom, A and D move"
        onKeyDown={(event) => {
          const step = keys[event.key];
          if (step) event.preventDefault(), look(...step);
        }}>
        <svg width={wide.value} height={height} role="img" aria-label={`${count(ranks.length)} ranks from ${time(from)} to ${time(to)}`}
          onClick={(event) => {
            const x = event.clientX - frame.current!.getBoundingClientRect().left - ROOM.left;
            if (x >= 0) picked.value = from + ((to - from) * x) / across;
          }}>
          {ranks.map((rank, number) => {
            const parts = shares(rank, from, to, cells);
            const top = number * (BAND + GAP);
            return (
              <g key={number}>
                <text x={ROOM.left - 8} y={top + BAND / 2 + 4} text-anchor="end">{rank.name}</text>
                <rect class="idle" x={ROOM.left} y={top} width={across} height={BAND} />
                {KINDS.map((kind, part) => <path key={kind} class={kind} d={band(parts, part, cells, top)} />)}
              </g>
            );
          })}
          {[0, 0.5, 1].map((share) => (
            <text key={share} x={ROOM.left + share * across} y={height - 6} text-anchor={share === 0 ? 'start' : share === 1 ? 'end' : 'middle'}>{time(from + share * (to - from))}</text>
          ))}
          {moment !== null && moment >= from && moment <= to && <line class="cross" x1={ROOM.left + (across * (moment - from)) / (to - from)} x2={ROOM.left + (across * (moment - from)) / (to - from)} y1="0" y2={height - ROOM.bottom} />}
        </svg>
      </div>
      <p class="readout" aria-live="polite">{moment === null ? 'Click the time line to see what each rank was doing.' : `At ${time(moment)}:`}</p>
      {moment !== null && (
        <ul class="plainlist">
          {ranks.map((rank, number) => {
            const { span, phase } = at(rank, moment);
            return <li key={number}><b>{rank.name}</b> {span ? `${NAMES[span.kind!]}: ${span.name}, ${figure((span.to - span.from) / 1000, 4)} ms` : 'nothing'}{phase && <span class="soft"> ({phase})</span>}</li>;
          })}
        </ul>
      )}
      <div class="scroll" tabIndex={0} role="region" aria-label="Shares of time by rank">
        <table>
          <caption class="unseen">Shares of the time shown, by rank</caption>
          <thead>
            <tr><th scope="col">Rank</th>{KINDS.map((kind) => <th key={kind} scope="col" class="number">{NAMES[kind]}</th>)}</tr>
          </thead>
          <tbody>
            {ranks.map((rank, number) => (
              <tr key={number}><td>{rank.name}</td>{KINDS.map((kind, part) => <td key={kind} class="number">{(100 * totals[number][part]).toFixed(1)} %</td>)}</tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/// Returns the outline of one kind in a rank's band. The kinds are stacked.
function band(parts: Float64Array, part: number, cells: number, top: number): string {
  const level = (cell: number, kinds: number) => {
    let sum = 0;
    for (let kind = 0; kind < kinds; kind++) sum += parts[cell * KINDS.length + kind];
    return (top + BAND * (1 - Math.min(1, sum))).toFixed(1);
  };
  const x = (cell: number) => ROOM.left + CELL * cell;
  let [upper, lower] = ['', ''];
  for (let cell = 0; cell < cells; cell++) {
    upper += `${cell ? 'V' : `M${x(0)} `}${level(cell, part + 1)}H${x(cell + 1)}`;
    lower = `V${level(cell, part)}H${x(cell)}${lower}`;
  }
  return `${upper}${lower}Z`;
}
