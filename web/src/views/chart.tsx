// A line over another quantity, with a reading under the pointer.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { figure } from '../state/words.ts';

export interface Line {
  title: string;
  xName: string;
  x: number[];
  y: number[];
  isLogX?: boolean;
  /// Falls from left to right, as temperatures do while a method cools.
  isFalling?: boolean;
  isStepped?: boolean;
}

const HEIGHT = 220;
const ROOM = { left: 56, right: 14, top: 12, bottom: 38 };

/// About `most` round numbers between two others.
export function ticks(low: number, high: number, most: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? 10 * power;
  const found: number[] = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) {
    found.push(Math.abs(value) < step * 1e-9 ? 0 : value);
  }
  return found;
}

function tens(low: number, high: number, most: number): number[] {
  const first = Math.ceil(Math.log10(low));
  const last = Math.floor(Math.log10(high));
  if (last <= first) return ticks(low, high, most);
  const every = Math.max(1, Math.ceil((last - first + 1) / most));
  return Array.from({ length: Math.floor((last - first) / every) + 1 }, (_, at) => 10 ** (first + at * every));
}

export function Chart({ title, xName, x, y, isLogX, isFalling, isStepped }: Line) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useSignal(480);
  const at = useSignal<number | null>(null);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => (width.value = Math.max(180, Math.round(entry.contentRect.width))));
    watch.observe(frame.current!);
    return () => watch.disconnect();
  }, []);
  const pairs = x.map((value, index) => [value, y[index]] as const).filter(([a, b]) => Number.isFinite(a) && Number.isFinite(b) && (!isLogX || a > 0));
  const wide = width.value;
  const xs = pairs.map(([value]) => value);
  const ys = pairs.map(([, value]) => value);
  let [lowX, highX] = [Math.min(...xs), Math.max(...xs)];
  let [lowY, highY] = [Math.min(...ys), Math.max(...ys)];
  if (lowX === highX) [lowX, highX] = isLogX ? [lowX / 2, highX * 2] : [lowX - 0.5, highX + 0.5];
  if (lowY === highY) [lowY, highY] = [lowY - 0.5, highY + 0.5];
  const scale = (value: number) => (isLogX ? Math.log(value) : value);
  const part = (value: number) => {
    const p = (scale(value) - scale(lowX)) / (scale(highX) - scale(lowX));
    return isFalling ? 1 - p : p;
  };
  const pixelX = (value: number) => ROOM.left + part(value) * (wide - ROOM.left - ROOM.right);
  const pixelY = (value: number) => HEIGHT - ROOM.bottom - ((value - lowY) / (highY - lowY)) * (HEIGHT - ROOM.top - ROOM.bottom);
  const path = pairs
    .map(([a, b], index) => {
      const [px, py] = [pixelX(a).toFixed(1), pixelY(b).toFixed(1)];
      return index === 0 ? `M${px} ${py}` : isStepped ? `H${px}V${py}` : `L${px} ${py}`;
    })
    .join('');
  const reading = at.value !== null && pairs[at.value] ? pairs[at.value] : pairs[pairs.length - 1];
  const find = (clientX: number) => {
    const left = frame.current!.getBoundingClientRect().left;
    let [best, least] = [0, Infinity];
    pairs.forEach(([value], index) => {
      const apart = Math.abs(pixelX(value) - (clientX - left));
      if (apart < least) [best, least] = [index, apart];
    });
    at.value = best;
  };
  const step = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
    if (!by) return;
    event.preventDefault();
    at.value = Math.min(pairs.length - 1, Math.max(0, (at.value ?? pairs.length - 1) + by));
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
      </figcaption>
      <div
        class="plot"
        ref={frame}
        tabIndex={0}
        role="img"
        aria-label={reading ? `${title} over ${xName}: ${pairs.length} points, from ${figure(ys[0], 4)} to ${figure(ys[ys.length - 1], 4)}. Arrow keys read points.` : `${title}: no points yet`}
        onPointerMove={(event) => find(event.clientX)}
        onPointerLeave={() => (at.value = null)}
        onKeyDown={step}
      >
        {pairs.length > 0 && (
          <svg width={wide} height={HEIGHT} aria-hidden="true">
            {ticks(lowY, highY, 4).map((value) => (
              <g key={value}>
                <line class="gridline" x1={ROOM.left} x2={wide - ROOM.right} y1={pixelY(value)} y2={pixelY(value)} />
                <text x={ROOM.left - 8} y={pixelY(value) + 4} text-anchor="end">
                  {figure(value, 4)}
                </text>
              </g>
            ))}
            {(isLogX ? tens(lowX, highX, 5) : ticks(lowX, highX, 5)).map((value) => (
              <text key={value} x={pixelX(value)} y={HEIGHT - ROOM.bottom + 17} text-anchor="middle">
                {figure(value, 4)}
              </text>
            ))}
            <text x={wide - ROOM.right} y={HEIGHT - 4} text-anchor="end">
              {xName}
            </text>
            <path class="curve" d={path} />
            {at.value !== null && reading && (
              <>
                <line class="cross" x1={pixelX(reading[0])} x2={pixelX(reading[0])} y1={ROOM.top} y2={HEIGHT - ROOM.bottom} />
                <circle class="dot" cx={pixelX(reading[0])} cy={pixelY(reading[1])} r="4" />
              </>
            )}
          </svg>
        )}
      </div>
    </figure>
  );
}
