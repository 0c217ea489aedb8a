// Draws the dissimilarities of all pairs of items as a heat map. Items are in the order of their clusters, and the tree of the clusters is above.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { clusterColour, NOTHING, scaleColour, type Theme } from '../colour/palette.ts';
import { bytesOf } from '../points/paint.ts';
import { theme as themeSignal } from '../state/theme.ts';
import { count, figure } from '../state/words.ts';
import { Joins } from './dendrogram.tsx';
import { element, groundOfPage, Save, standalone } from './save.tsx';
import { AsTable } from './table.tsx';

export interface HeatFigure {
  title: string;
  /// The number of cells per side. `levels` has the shade of each cell, from 0 to 254 for 0 to `largest`, and 255 if no pair is known.
  cells: number;
  levels: Uint8Array;
  largest: number;
  /// The largest mean of all cells, if a few larger than `largest` share the brightest shade.
  beyond?: number | null;
  /// The clusters in the order of the picture. The range from `from` to `to` is a cluster's share of the side, from 0 to 1.
  blocks: { cluster: number; from: number; to: number; items: number }[];
  /// The mean dissimilarity between each two clusters, block by block, or NaN if no pair is known.
  between: Float32Array;
  /// The joins of the tree, lowest first: two nodes and the mean dissimilarity at which they are joined. The first nodes are the blocks, the later ones the
  /// joins.
  tree: [number, number, number][];
  /// The names of the items, in the order of the picture. Absent if there are very many items.
  ids?: string[];
}

const ROOM = { left: 30, top: 64 };
const LARGEST = 760;
/// The minimum height of a block that shows its number, in pixels.
const NUMBERED = 13;

export function Heat({ title, cells, levels, largest, beyond, blocks, between, tree, ids }: HeatFigure) {
  const theme = themeSignal.value;
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const wide = useSignal(400);
  const at = useSignal<[number, number] | null>(null);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => (wide.value = Math.min(LARGEST, Math.max(200, Math.round(entry.contentRect.width)))));
    watch.observe(frame.current!.parentElement!);
    return () => watch.disconnect();
  }, []);
  useEffect(() => paint(canvas.current!, cells, levels, theme), [levels, theme]);
  const top = tree.length ? ROOM.top : 8;
  const side = wide.value - ROOM.left - 2;
  const blockAt = (part: number) => blocks.findIndex(({ to }) => part < to);
  const read = () => {
    if (!at.value) return `From 0 (dark) to ${figure(largest, 4)}${beyond ? ` and more, up to ${figure(beyond, 4)},` : ''} (bright). Point at the picture, or use the arrow keys, for two items and their clusters.`;
    const [x, y] = at.value;
    const [a, b] = [blockAt(y), blockAt(x)];
    const [row, column] = [Math.min(cells - 1, Math.floor(y * cells)), Math.min(cells - 1, Math.floor(x * cells))];
    const level = levels[row * cells + column];
    const of = (part: number) => (ids ? ids[Math.min(ids.length - 1, Math.floor(part * ids.length))] : '');
    const pair = ids ? `${of(y)} and ${of(x)}${cells < ids.length ? ' and those beside them' : ''}: ` : '';
    const mean = between[a * blocks.length + b];
    const where = a === b ? `within cluster ${blocks[a].cluster}` : `between clusters ${blocks[a].cluster} and ${blocks[b].cluster}`;
    return `${pair}${level === 255 ? 'not known' : `${beyond && level === 254 ? 'at least ' : ''}${figure((level / 254) * largest, 3)}`}; mean ${where} ${Number.isFinite(mean) ? figure(mean, 4) : 'not known'}.`;
  };
  const point = (event: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    at.value = x >= 0 && x < 1 && y >= 0 && y < 1 ? [x, y] : null;
  };
  const keys = (event: KeyboardEvent) => {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!by) return;
    event.preventDefault();
    const held = (part: number) => Math.min(0.999999, Math.max(0, part));
    const [x, y] = at.value ?? [0, 0];
    at.value = [held(x + by[0] / cells), held(y + by[1] / cells)];
  };
  const svg = () => {
    const drawn = frame.current!.querySelector('svg')!;
    const picture = standalone(drawn, wide.value, top + side, groundOfPage());
    picture.querySelector('rect')!.after(element('image', {
      href: canvas.current!.toDataURL('image/png'), x: String(ROOM.left), y: String(top), width: String(side), height: String(side), style: 'image-rendering: pixelated',
    }));
    return picture;
  };
  return (
    <div>
      <div class="tools under">
        <Save name={title} make={svg} />
        <p class="readout" aria-live="polite">{read()}</p>
      </div>
      <div ref={frame} class="heat" style={{ width: `${wide.value}px`, height: `${top + side}px` }} tabIndex={0} role="img"
        aria-label={`${title}: ${count(blocks.reduce((sum, { items }) => sum + items, 0))} items in ${blocks.length} clusters. Arrow keys read cells; the table of clusters has the means.`}
        onPointerMove={point} onPointerLeave={() => (at.value = null)} onKeyDown={keys}>
        <canvas ref={canvas} style={{ left: `${ROOM.left}px`, top: `${top}px`, width: `${side}px`, height: `${side}px` }} aria-hidden="true" />
        <svg width={wide.value} height={top + side} aria-hidden="true">
          <Tree tree={tree} blocks={blocks} side={side} />
          {blocks.slice(1).map(({ cluster, from }) => (
            <path key={cluster} class="border" d={`M${ROOM.left + from * side} ${top}v${side}M${ROOM.left} ${top + from * side}h${side}`} />
          ))}
          {blocks.map(({ cluster, from, to }) => (
            <g key={cluster}>
              <rect x={ROOM.left - 6} y={top + from * side} width="4" height={Math.max(1, (to - from) * side - 1)} fill={clusterColour(cluster, theme)} />
              {(to - from) * side >= NUMBERED && <text x={ROOM.left - 9} y={top + ((from + to) / 2) * side + 4} text-anchor="end">{cluster}</text>}
            </g>
          ))}
          {at.value && <path class="cross" d={`M${ROOM.left + at.value[0] * side} ${top}v${side}M${ROOM.left} ${top + at.value[1] * side}h${side}`} />}
        </svg>
      </div>
      <AsTable name="means of clusters" names={['cluster', 'items', ...blocks.map(({ cluster }) => `to ${cluster}`)]}
        rows={() => blocks.map(({ cluster, items }, at) => [cluster, items, ...between.slice(at * blocks.length, (at + 1) * blocks.length)])} />
      {tree.length > 0 && <Joins name="tree of clusters" leaves={blocks.map(({ cluster }) => `cluster ${cluster}`)} joins={tree} />}
    </div>
  );
}

function paint(canvas: HTMLCanvasElement, cells: number, levels: Uint8Array, theme: Theme): void {
  [canvas.width, canvas.height] = [cells, cells];
  const context = canvas.getContext('2d')!;
  const image = context.createImageData(cells, cells);
  const colours = Array.from({ length: 256 }, (_, level) => bytesOf(level === 255 ? NOTHING[theme] : scaleColour(level / 254, theme)));
  levels.forEach((level, at) => image.data.set([...colours[level], 255], 4 * at));
  context.putImageData(image, 0, 0);
}

function Tree({ tree, blocks, side }: { tree: [number, number, number][]; blocks: HeatFigure['blocks']; side: number }) {
  const highest = tree.reduce((most, [, , height]) => Math.max(most, height), 0) || 1;
  const places = blocks.map(({ from, to }) => ({ x: ROOM.left + ((from + to) / 2) * side, y: ROOM.top - 4 }));
  return (
    <g class="tree">
      {tree.map(([a, b, height]) => {
        const y = ROOM.top - 4 - (ROOM.top - 14) * (height / highest);
        const [one, other] = [places[a], places[b]];
        places.push({ x: (one.x + other.x) / 2, y });
        return (
          <path key={`${a} ${b}`} d={`M${one.x} ${one.y}V${y}H${other.x}V${other.y}`}>
            <title>{`joined at ${figure(height, 4)}`}</title>
          </path>
        );
      })}
    </g>
  );
}
