// Draws the steps of a workflow as a graph, with the state of each. The list of steps has the same facts in words.

import { useRef } from 'preact/hooks';
import type { Drawing, Linked } from '../state/layers.ts';
import { groundOfPage, Save, standalone } from './save.tsx';

export interface GraphStep extends Linked {
  state?: string;
}

const [WIDTH, HEIGHT, ACROSS, DOWN, EDGE] = [148, 34, 170, 50, 6];
/// The maximum number of letters of a step's name in its box.
const NAME_MAX = 17;

export function Graph({ steps, drawing }: { steps: GraphStep[]; drawing: Drawing }) {
  const picture = useRef<SVGSVGElement>(null);
  const states = new Map(steps.map(({ name, state }) => [name, state ?? '']));
  const [width, height] = [(drawing.layers - 1) * ACROSS + WIDTH + 2 * EDGE, drawing.rows * DOWN - DOWN + HEIGHT + 2 * EDGE];
  const x = (layer: number) => EDGE + layer * ACROSS;
  const y = (row: number) => height / 2 + row * DOWN;
  const path = (corners: { layer: number; row: number }[]) =>
    corners.slice(1).map((to, at) => {
      const from = corners[at];
      const [left, right] = [x(from.layer) + WIDTH, x(to.layer)];
      const middle = (left + right) / 2;
      // In a layer that a line only passes, the line is straight.
      return `${at ? `L${left} ${y(from.row)}` : `M${left} ${y(from.row)}`}C${middle} ${y(from.row)} ${middle} ${y(to.row)} ${right} ${y(to.row)}`;
    }).join('');
  const label = `Graph of ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}: ${steps.map(({ name, needs, state }) => `${name}${needs.length ? ` after ${needs.join(' and ')}` : ''}${state ? `, ${state}` : ''}`).join('; ')}`;
  if (!steps.length) return null;
  return (
    <>
      <div class="tools"><Save name="graph" make={() => standalone(picture.current!, width, height, groundOfPage())} /></div>
      <div class="scroll graph" tabIndex={0} role="region" aria-label="Graph of the steps">
        <svg ref={picture} width={width} height={height} role="img" aria-label={label}>
          {drawing.lines.map(({ from, to, corners }) => <path key={`${from}>${to}`} class={states.get(from) === 'done' ? 'passed' : ''} d={path(corners)} />)}
          {drawing.steps.map(({ name, layer, row }) => (
            <g key={name} class={states.get(name)} transform={`translate(${x(layer)} ${y(row) - HEIGHT / 2})`}>
              <title>{name}</title>
              <rect width={WIDTH} height={HEIGHT} rx="8" />
              <circle cx="15" cy={HEIGHT / 2} r="4.5" />
              <text x="28" y={HEIGHT / 2 + 4.5}>{name.length <= NAME_MAX ? name : `${name.slice(0, NAME_MAX - 1)}…`}</text>
            </g>
          ))}
        </svg>
      </div>
    </>
  );
}
