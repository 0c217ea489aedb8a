// The replay of an annealing: the number of clusters at each temperature, how long each number lasted, the tree of the splits, and how to keep a number.

import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { first, growth, places, stays, widest, type Split, type Stay, type Step } from '../state/course.ts';
import { count, figure } from '../state/words.ts';
import { Chart, spaced, tens } from './chart.tsx';
import { groundOfPage, Save, standalone } from './save.tsx';
import { AsTable } from './table.tsx';
import { useWidth } from './width.ts';

export { Chart };

const HEIGHT = { strip: 34, tree: 180, branch: 34, axis: 34 };
const ROOM = { left: 12, right: 12 };
/// The milliseconds between two steps while the replay plays.
const PACE = 90;

/// Without `keep`, the annealing goes on: the replay follows its last step until the user chooses another one.
export function Anneal({ steps, splits, unit, keep }: { steps: Step[]; splits: Split[]; unit: string; keep?: (clusters: number, temperature: number) => ComponentChildren }) {
  const falling = useMemo(() => growth(steps, splits), [steps, splits]);
  const lasting = useMemo(() => stays(falling), [falling]);
  const chosen = useSignal<number | null>(null);
  const end = falling.length - 1;
  const place = Math.min(chosen.value ?? (keep && first(lasting, steps)?.last) ?? end, end);
  const isPlaying = useSignal(false);
  useEffect(() => {
    if (!isPlaying.value) return;
    const timer = setInterval(() => {
      // The timer is cleared only after the next render. Until then, it must not change the step that a button has just set.
      if (!isPlaying.peek()) return;
      if (chosen.peek()! >= end) isPlaying.value = false;
      else chosen.value!++;
    }, PACE);
    return () => clearInterval(timer);
  }, [isPlaying.value, falling]);
  if (falling.length < 2) return <p class="note">There was nothing to anneal.</p>;
  const now = falling[place];
  const over = unit ? `temperature (${unit})` : 'temperature';
  const go = (to: number) => {
    isPlaying.value = false;
    chosen.value = Math.min(end, Math.max(0, to));
  };
  const look = (temperature: number | undefined) => {
    if (temperature === undefined) return;
    go(falling.reduce((best, { temperature: one }, index) => (Math.abs(Math.log(one / temperature)) < Math.abs(Math.log(falling[best].temperature / temperature)) ? index : best), 0));
  };
  const change = (by: number) => {
    for (let next = place + by; next >= 0 && next < falling.length; next += by) if (falling[next].clusters !== now.clusters) return go(next);
    go(by > 0 ? end : 0);
  };
  const play = () => {
    chosen.value = place >= end ? 0 : place;
    isPlaying.value = !isPlaying.value;
  };
  const stay = lasting.find(({ last }) => last >= place)!;
  const x = steps.map(({ temperature }) => temperature);
  const hardens = x.some((temperature, at) => at > 0 && temperature > x[at - 1]);
  const said = `${count(now.clusters)} ${now.clusters === 1 ? 'cluster' : 'clusters'} at ${figure(now.temperature, 4)}${unit ? ` ${unit}` : ''}`;
  return (
    <div class="anneal">
      <div class="tools">
        <button type="button" aria-label="Fewer clusters: back to the last change" title="Last change" onClick={() => change(-1)}>←</button>
        <button type="button" onClick={play} aria-pressed={isPlaying.value}>{isPlaying.value ? 'Pause' : 'Play'}</button>
        <button type="button" aria-label="More clusters: on to the next change" title="Next change" onClick={() => change(1)}>→</button>
        <input type="range" class="long" min="0" max={end} step="1" value={place} aria-label="Temperature" aria-valuetext={said}
          onInput={(event) => go(Number(event.currentTarget.value))} />
        <b>{said}</b>
        <span class="soft">step {count(place + 1)} of {count(falling.length)}; this number lasted from {figure(stay.from, 4)} to {figure(stay.to, 4)}</span>
      </div>
      {keep?.(now.clusters, now.temperature)}
      <Tree over={over} falling={falling} lasting={lasting} splits={splits} now={now.temperature} look={look} />
      <div class="pair">
        <Chart title="Clusters" xName={over} x={x} y={steps.map(({ clusters }) => clusters)} isLogX isFalling isStepped now={now.temperature} look={look}
          marks={{ at: splits.map(({ temperature }) => temperature), name: 'split' }} />
        <Chart title={unit ? `Free energy (${unit})` : 'Free energy'} xName={over} x={x} y={steps.map(({ freeEnergy }) => freeEnergy)} isLogX isFalling isLogY={isWide(falling)} now={now.temperature} look={look} />
      </div>
      {hardens && <p class="note">Dotted: the hardening after the annealing. Its clusters have no masses, so its free energy is lower by T ln K. The figures of the result are those at its end.</p>}
    </div>
  );
}

/// Returns whether the free energy covers a wide range of positive values, so that a logarithmic axis fits.
function isWide(steps: Step[]): boolean {
  const [low, high] = steps.reduce(([low, high], { freeEnergy }) => [Math.min(low, freeEnergy), Math.max(high, freeEnergy)], [Infinity, -Infinity]);
  return low > 0 && high / low > 30;
}

/// Shows how long each number of clusters lasted, with the tree of splits above, on one axis of temperatures.
function Tree({ over, falling, lasting, splits, now, look }: { over: string; falling: Step[]; lasting: Stay[]; splits: Split[]; now: number; look: (temperature: number) => void }) {
  const [frame, wide] = useWidth(200, 600);
  const place = useMemo(() => places(splits), [splits]);
  const [hot, cold] = [falling[0].temperature, falling[falling.length - 1].temperature];
  const across = wide.value - ROOM.left - ROOM.right;
  const x = (temperature: number) => ROOM.left + (across * Math.log(hot / Math.min(hot, Math.max(cold, temperature)))) / Math.log(hot / cold);
  const hasTree = splits.length > 0;
  const top = hasTree ? Math.min(HEIGHT.tree, 28 + HEIGHT.branch * place.length) : 12;
  const y = (component: number) => 12 + ((top - 28) * (place[component] + 0.5)) / place.length;
  const branches = [{ temperature: hot, parent: 0, end: null, into: null }, ...splits];
  const bottom = top + HEIGHT.strip;
  const height = bottom + HEIGHT.axis;
  const isRight = x(now) > wide.value / 2;
  let taken = 0;
  const longest = widest(lasting);
  return (
    <div class="course">
      <div class="tools under">
        <h3>{hasTree ? 'Splits, and how long each number lasted' : 'How long each number lasted'}</h3>
        <Save name="Splits" make={() => standalone(frame.current!.querySelector('svg')!, wide.value, height, groundOfPage())} />
      </div>
      <div ref={frame} role="img" aria-label={`How long each number of clusters lasted: ${lasting.map(({ clusters, from, to }) => `${clusters} from ${figure(from, 3)} to ${figure(to, 3)}`).slice(0, 40).join('; ')}`}>
        <svg width={wide.value} height={height} aria-hidden="true"
          onClick={(event) => look(hot * (cold / hot) ** Math.min(1, Math.max(0, (event.clientX - frame.current!.getBoundingClientRect().left - ROOM.left) / across)))}>
          {hasTree && branches.map(({ temperature, parent, end, into }, component) => (
            <g key={component}>
              <path class="branch" d={`M${x(temperature)} ${y(parent)}V${y(component)}H${x(end ?? cold)}`} />
              {end !== null && into !== null && <path class="branch merged" d={`M${x(end)} ${y(component)}V${y(into)}`} />}
            </g>
          ))}
          {lasting.map((one) => {
            const [from, to] = [x(one.from), x(one.to)];
            const [middle, half] = [(from + to) / 2, 4 * String(one.clusters).length + 3];
            const isInside = to - from > 2 * half - 2;
            // A number too wide for its stretch stands above it, if there is room beside the numbers before it.
            const isAbove = !isInside && middle - half >= taken;
            if (isAbove) taken = middle + half;
            return (
              <g key={one.last} class={one === longest ? 'stay widest' : 'stay'}>
                <rect x={from} y={top + 6} width={Math.max(1, to - from - 1)} height="22" />
                {(isInside || isAbove) && <text x={middle} y={isInside ? top + 21 : top + 2} text-anchor="middle">{one.clusters}</text>}
                <title>{`${one.clusters}: from ${figure(one.from, 4)} to ${figure(one.to, 4)}`}</title>
              </g>
            );
          })}
          <line class="cross" x1={x(now)} x2={x(now)} y1="0" y2={bottom} />
          <text x={x(now) + (isRight ? -6 : 6)} y="10" text-anchor={isRight ? 'end' : 'start'}>shown: {figure(now, 4)}</text>
          {spaced(tens(cold, hot, 5), x).map(({ x, text }) => <text key={text} x={x} y={bottom + 13} text-anchor="middle">{text}</text>)}
          <text x={wide.value - ROOM.right} y={height - 5} text-anchor="end">{over}, falling →</text>
        </svg>
      </div>
      {splits.some(({ end }) => end !== null) && <p class="note">A dotted line shows that two clusters merged again.</p>}
      {hasTree && <AsTable name="splits" names={['new cluster', 'split from', 'at', 'merged at', 'into']} rows={() => splits.map(({ temperature, parent, end, into }, at) => [at + 1, parent, temperature, end ?? '', into ?? ''])} />}
      <AsTable name="how long each number lasted" names={['clusters', 'from', 'to']} rows={() => lasting.map(({ clusters, from, to }) => [clusters, from, to])} />
    </div>
  );
}
