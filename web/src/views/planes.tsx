// Draws each column across a topographic map as a small picture.

import { useSignal } from '@preact/signals';
import { scaleColour } from '../colour/palette.ts';
import { theme as themeSignal } from '../state/theme.ts';
import { figure } from '../state/words.ts';
import { groundOfPage, Save, standalone } from './save.tsx';
import { AsTable } from './table.tsx';

export interface PlanesFigure {
  title: string;
  columns: number;
  rows: number;
  /// For each column, its name and its value at each node. The first axis of the map runs to the right, the second upwards.
  planes: { name: string; values: Float32Array }[];
}

const SIDE = 180;

export function Planes({ title, columns, rows, planes }: PlanesFigure) {
  const theme = themeSignal.value;
  const at = useSignal<number | null>(null);
  const height = rows === 1 ? 40 : SIDE;
  return (
    <>
      <div class="planes">
        {planes.map(({ name, values }) => {
          const [low, high] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
          const share = (value: number) => (high > low ? (value - low) / (high - low) : 0.5);
          let picture: SVGSVGElement | null = null;
          return (
            <figure key={name}>
              <svg ref={(one) => void (picture = one)} viewBox={`0 0 ${SIDE} ${height}`} role="img" aria-label={`${name} across the map, from ${figure(low, 4)} to ${figure(high, 4)}`}
                onPointerLeave={() => (at.value = null)}>
                {Array.from(values, (value, node) => {
                  const [column, row] = [Math.floor(node / rows), rows - 1 - (node % rows)];
                  return (
                    <rect key={node} x={(column * SIDE) / columns} y={(row * height) / rows} width={SIDE / columns + 0.3} height={height / rows + 0.3} fill={scaleColour(share(value), theme)}
                      stroke={at.value === node ? 'currentColor' : 'none'} onPointerEnter={() => (at.value = node)} />
                  );
                })}
              </svg>
              <figcaption>
                <b>{name}</b>
                <span class="soft">{at.value === null ? `${figure(low, 3)} (dark) to ${figure(high, 3)} (bright)` : `here ${figure(values[at.value], 4)}`}</span>
                <Save name={name} make={() => standalone(picture!, SIDE, height, groundOfPage())} />
              </figcaption>
            </figure>
          );
        })}
      </div>
      <AsTable name={title} names={['across', 'upwards', ...planes.map(({ name }) => name)]}
        rows={() => Array.from({ length: columns * rows }, (_, node) => [Math.floor(node / rows), node % rows, ...planes.map(({ values }) => values[node])])} />
    </>
  );
}
