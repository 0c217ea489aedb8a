// A Shepard diagram, which shows how often each pair of two quantities' values occurs.

import { useRef } from 'preact/hooks';
import { figure } from '../state/words.ts';
import { ticks } from './chart.tsx';
import { groundOfPage, Save, standalone } from './save.tsx';
import { AsTable } from './table.tsx';
import { useWidth } from './width.ts';

export interface DensityFigure {
  title: string;
  bins: number;
  /// The number of pairs in each bin, row by row. The second quantity increases with the row, the first one within a row.
  counts: number[];
  names: [string, string];
  ends: [number, number];
}

const WIDEST = 720;
const ROOM = { left: 62, right: 12, top: 10, bottom: 40 };

export function Density({ title, bins, counts, names, ends }: DensityFigure) {
  const picture = useRef<SVGSVGElement>(null);
  const [frame, wide] = useWidth(240, WIDEST, WIDEST);
  const width = wide.value;
  const height = Math.round(Math.max(260, width * 0.58));
  const most = Math.log1p(counts.reduce((a, b) => Math.max(a, b), 1));
  const [across, upwards] = [width - ROOM.left - ROOM.right, height - ROOM.top - ROOM.bottom];
  const x = (value: number) => ROOM.left + (across * value) / (ends[0] || 1);
  const y = (value: number) => height - ROOM.bottom - (upwards * value) / (ends[1] || 1);
  const end = Math.min(...ends);
  // The ends of a bin, from its index on an axis.
  const bin = (at: number, axis: number) => [(at * ends[axis]) / bins, ((at + 1) * ends[axis]) / bins];
  const rows = () =>
    counts.map((number, at) => [...bin(at % bins, 0), ...bin(Math.floor(at / bins), 1), number]).filter(([, , , , number]) => number > 0).sort((a, b) => b[4] - a[4]);
  return (
    <div class="density" ref={frame}>
      <div class="tools under"><Save name={title} make={() => standalone(picture.current!, width, height, groundOfPage())} /></div>
      <svg ref={picture} class="plot" width={width} height={height} role="img" aria-label={`${title}: ${names[1]} against ${names[0]}`}>
        <g class="bins">
          {counts.map((number, at) => {
            if (!number) return null;
            const [column, row] = [at % bins, Math.floor(at / bins)];
            const [low, high, lower, upper] = [...bin(column, 0), ...bin(row, 1)].map((value) => figure(value, 3));
            const opacity = 0.1 + (0.9 * Math.log1p(number)) / most;
            return (
              <rect key={at} x={ROOM.left + (column * across) / bins} y={height - ROOM.bottom - ((row + 1) * upwards) / bins} width={across / bins} height={upwards / bins} fill-opacity={opacity.toFixed(3)}>
                <title>{`${names[0]} ${low} to ${high}, ${names[1]} ${lower} to ${upper}: ${figure(number)} pairs`}</title>
              </rect>
            );
          })}
        </g>
        {ticks(0, ends[0], Math.max(2, Math.floor(width / 110))).map((value) => <text key={`x${value}`} x={x(value)} y={height - ROOM.bottom + 17} text-anchor="middle">{figure(value, 4)}</text>)}
        {ticks(0, ends[1], 5).map((value) => <text key={`y${value}`} x={ROOM.left - 8} y={y(value) + 4} text-anchor="end">{figure(value, 4)}</text>)}
        <path class="axis" d={`M${ROOM.left} ${ROOM.top}V${height - ROOM.bottom}H${width - ROOM.right}`} />
        <path class="ideal" d={`M${x(0)} ${y(0)}L${x(end)} ${y(end)}`} />
        <text x={width - ROOM.right} y={height - 6} text-anchor="end">{names[0]} →</text>
        <text x={ROOM.left + 8} y={ROOM.top + 10}>↑ {names[1]}</text>
      </svg>
      <AsTable name={title} names={names.flatMap((name) => [`${name} from`, 'to']).concat('pairs')} rows={rows} />
    </div>
  );
}
