// A line chart of one quantity over another, which shows the values at the pointer.

import { useSignal } from '@preact/signals';
import { figure } from '../state/words.ts';
import { groundOfPage, Save, standalone } from './save.tsx';
import { AsTable } from './table.tsx';
import { useWidth } from './width.ts';

export interface Line {
  title: string;
  xName: string;
  x: number[];
  y: number[];
  isLogX?: boolean;
  /// Whether the axis across falls from left to right, as temperatures do while a method cools.
  isFalling?: boolean;
  isStepped?: boolean;
  isLogY?: boolean;
  /// Draws each value as a dot, with a line through the dots, or `alone` if neighbouring values are not related.
  dots?: 'line' | 'alone';
  /// The index of a dot that is drawn larger than the other dots.
  best?: number;
  /// The marked places on the axis across, and the name of what they mark.
  marks?: { at: number[]; name: string };
  /// The current place on the axis across. `look` is called when the user clicks or steps to another one.
  now?: number | null;
  look?: (x: number) => void;
}

const HEIGHT = 220;
/// The minimum width, in pixels, of a chart that says beside its legend that its axis falls.
const LEGEND = 420;
const ROOM = { left: 56, right: 14, top: 12, bottom: 38 };

/// Returns about `most` round numbers between `low` and `high`.
export function ticks(low: number, high: number, most: number): number[] {
  if (!(high > low)) return [low];
  const parts = Math.max(1, most);
  // The difference of very large numbers overflows, so each is divided first.
  const rough = Number.isFinite(high - low) ? (high - low) / parts : high / parts - low / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? 10 * power;
  const found: number[] = [];
  // The loop counts steps instead of adding them up, since a step may be smaller than the distance between neighbouring floating-point numbers.
  const first = Math.ceil(low / step);
  for (let at = 0; at <= most + 1; at++) {
    const value = (first + at) * step;
    if (value <= high + step * 1e-9 && value !== found.at(-1)) found.push(value);
  }
  return found;
}

/// Returns about `most` powers of ten between `low` and `high`, which are above 0. Returns finer values if there are few powers.
export function tens(low: number, high: number, most: number): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  if (last - first < 2) {
    const fine = [1, 2, 5].flatMap((factor) => Array.from({ length: last - first + 3 }, (_, at) => factor * 10 ** (first - 1 + at)));
    const within = fine.filter((value) => value >= low && value <= high).sort((a, b) => a - b);
    return within.length >= 3 ? within : ticks(low, high, most);
  }
  const every = Math.max(1, Math.ceil((last - first + 1) / most));
  return Array.from({ length: Math.floor((last - first) / every) + 1 }, (_, at) => 10 ** (first + at * every));
}

/// Returns the texts of round numbers at equal distances, with as many digits as tell neighbours apart.
export function labels(values: number[]): string[] {
  const [step, size] = [Math.abs(values[1] - values[0]), Math.max(...values.map(Math.abs))];
  const digits = step > 0 ? Math.ceil(Math.log10(size / step)) + 2 : 0;
  return values.map((value) => figure(value, Math.min(15, Math.max(4, digits))));
}

/// Returns the labels of an axis across, from left to right, without those that would overlap the label before them.
export function spaced(values: number[], pixel: (value: number) => number): { x: number; text: string }[] {
  let end = -Infinity;
  const texts = labels(values);
  return values.map((value, at) => ({ x: pixel(value), text: texts[at] })).sort((a, b) => a.x - b.x).filter(({ x, text }) => {
    const half = 3.5 * text.length + 4;
    if (x - half < end) return false;
    end = x + half;
    return true;
  });
}

/// Returns ticks, only whole numbers if all values are whole.
function fitting(found: number[], values: number[]): number[] {
  return values.every(Number.isInteger) ? found.filter(Number.isInteger) : found;
}

export function Chart({ title, xName, x, y, isLogX, isLogY, isFalling, isStepped, dots, best, marks, now, look }: Line) {
  const [frame, width] = useWidth(180, 480);
  const at = useSignal<number | null>(null);
  const pairs = x
    .map((value, index) => [value, y[index], index] as const)
    .filter(([a, b]) => Number.isFinite(a) && Number.isFinite(b) && (!isLogX || a > 0) && (!isLogY || b > 0));
  const wide = width.value;
  const xs = pairs.map(([value]) => value);
  const ys = pairs.map(([, value]) => value);
  const ends = (values: number[]) => values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  let [lowX, highX] = ends(xs);
  let [lowY, highY] = ends(ys);
  if (lowX === highX) [lowX, highX] = isLogX ? [lowX / 2, highX * 2] : [lowX - 0.5, highX + 0.5];
  if (lowY === highY) [lowY, highY] = isLogY ? [lowY / 2, highY * 2] : [lowY - 0.5, highY + 0.5];
  const scale = (value: number) => (isLogX ? Math.log(value) : value);
  const upwards = (value: number) => (isLogY ? Math.log(value) : value);
  const part = (value: number) => {
    const p = (scale(value) - scale(lowX)) / (scale(highX) - scale(lowX));
    return isFalling ? 1 - p : p;
  };
  const [ticksX, ticksY] = [isLogX ? tens(lowX, highX, 5) : fitting(ticks(lowX, highX, 5), xs), isLogY ? tens(lowY, highY, 4) : fitting(ticks(lowY, highY, 4), ys)];
  const labelsY = labels(ticksY);
  const left = Math.max(ROOM.left, 12 + 7 * Math.max(0, ...labelsY.map(({ length }) => length)));
  const inset = dots ? 10 : 0;
  const pixelX = (value: number) => left + inset + part(value) * (wide - left - ROOM.right - 2 * inset);
  const pixelY = (value: number) =>
    HEIGHT - ROOM.bottom - inset - ((upwards(value) - upwards(lowY)) / (upwards(highY) - upwards(lowY))) * (HEIGHT - ROOM.top - ROOM.bottom - 2 * inset);
  // If the temperature rises, a second course begins, which has its own line.
  let isLater = false;
  const paths = ['', ''];
  pairs.forEach(([a, b], index) => {
    const isNew = index === 0 || (isFalling === true && a > pairs[index - 1][0]);
    isLater ||= isNew && index > 0;
    const [px, py] = [pixelX(a).toFixed(1), pixelY(b).toFixed(1)];
    paths[Number(isLater)] += isNew ? `M${px} ${py}` : isStepped ? `H${px}V${py}` : `L${px} ${py}`;
  });
  const nearest = (value: number) => pairs.reduce((found, [a], index) => (Math.abs(scale(a) - scale(value)) < Math.abs(scale(pairs[found][0]) - scale(value)) ? index : found), 0);
  const place = at.value ?? (now != null && pairs.length && (!isLogX || now > 0) ? nearest(now) : null);
  const reading = place !== null && pairs[place] ? pairs[place] : pairs[best !== undefined && pairs[best] ? best : pairs.length - 1];
  const find = (clientX: number) => {
    const from = frame.current!.getBoundingClientRect().left;
    if (!pairs.length) return;
    let [best, least] = [0, Infinity];
    pairs.forEach(([value], index) => {
      const apart = Math.abs(pixelX(value) - (clientX - from));
      if (apart < least) [best, least] = [index, apart];
    });
    at.value = best;
  };
  const step = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
    if (!by) return;
    event.preventDefault();
    at.value = Math.min(pairs.length - 1, Math.max(0, (at.value ?? pairs.length - 1) + by));
    look?.(pairs[at.value]?.[0]);
  };
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        {reading && (
          <p class="readout">
            {xName} {figure(reading[0], 4)}: {figure(reading[1], 5)}
          </p>
        )}
        {pairs.length > 0 && <Save name={title} make={() => standalone(frame.current!.querySelector('svg')!, wide, HEIGHT, groundOfPage())} />}
      </figcaption>
      <div
        class="plot"
        ref={frame}
        tabIndex={0}
        role="img"
        aria-label={reading ? `${title} over ${xName}: ${pairs.length} points, from ${figure(ys[0], 4)} to ${figure(ys[ys.length - 1], 4)}. Arrow keys read points.` : `${title}: no points yet`}
        onPointerMove={(event) => find(event.clientX)}
        onClick={() => at.value !== null && pairs[at.value] && look?.(pairs[at.value][0])}
        onPointerLeave={() => (at.value = null)}
        onKeyDown={step}
      >
        {pairs.length === 0 && <p class="note">There is nothing to draw.</p>}
        {pairs.length > 0 && (
          <svg width={wide} height={HEIGHT} aria-hidden="true">
            {ticksY.map((value, at) => (
              <g key={value}>
                <line class="gridline" x1={left} x2={wide - ROOM.right} y1={pixelY(value)} y2={pixelY(value)} />
                <text x={left - 8} y={pixelY(value) + 4} text-anchor="end">
                  {labelsY[at]}
                </text>
              </g>
            ))}
            {spaced(ticksX, pixelX).map(({ x, text }) => (
              <text key={text} x={x} y={HEIGHT - ROOM.bottom + 17} text-anchor="middle">
                {text}
              </text>
            ))}
            <text x={wide - ROOM.right} y={HEIGHT - 4} text-anchor="end">
              {isFalling ? `${xName}${wide >= LEGEND ? ', falling' : ''} →` : xName}
            </text>
            {marks && marks.at.filter((value) => value >= lowX && value <= highX).map((value) => (
              <path key={value} class="split" d={`M${(pixelX(value) - 3.2).toFixed(1)} ${HEIGHT - ROOM.bottom + 5.5}h6.4l-3.2 -5z`} />
            ))}
            {marks && marks.at.length > 0 && (
              <g>
                <path class="split" d={`M${left} ${HEIGHT - 5}h6.4l-3.2 -5z`} />
                <text x={left + 11} y={HEIGHT - 4}>{marks.name}</text>
              </g>
            )}
            {/[LH]/.test(paths[1]) && (
              <g>
                <path class="curve later" d={`M${left + (marks?.at.length ? 62 : 0)} ${HEIGHT - 8}h18`} />
                <text x={left + (marks?.at.length ? 86 : 24)} y={HEIGHT - 4}>hardening</text>
              </g>
            )}
            {dots !== 'alone' && <path class="curve" d={paths[0]} />}
            {dots !== 'alone' && paths[1] && <path class="curve later" d={paths[1]} />}
            {(dots || pairs.length === 1) && pairs.map(([a, b, index]) => <circle key={index} class="dot" cx={pixelX(a)} cy={pixelY(b)} r={index === best ? 7 : 4} />)}
            {place !== null && reading && (
              <>
                <line class="cross" x1={pixelX(reading[0])} x2={pixelX(reading[0])} y1={ROOM.top} y2={HEIGHT - ROOM.bottom} />
                <circle class="dot" cx={pixelX(reading[0])} cy={pixelY(reading[1])} r="4" />
              </>
            )}
          </svg>
        )}
      </div>
      {pairs.length > 0 && <AsTable name={title} names={[xName, title]} rows={() => x.map((value, index) => [value, y[index]])} />}
    </figure>
  );
}
