// Draws a tree of items: the items below each other, and their joins to the left at the height of their distance.

import { useSignal } from '@preact/signals';
import { clusterColour } from '../colour/palette.ts';
import { theme as themeSignal } from '../state/theme.ts';
import { count, figure } from '../state/words.ts';
import { ticks } from './chart.tsx';
import { groundOfPage, Save, standalone } from './save.tsx';
import { AsTable } from './table.tsx';
import { useWidth } from './width.ts';

export interface DendrogramFigure {
  title: string;
  /// The nodes at the bottom, from left to right. `cluster` is null if the items are in several clusters.
  leaves: { name: string; items: number; cluster: number | null }[];
  /// The joins by increasing height: two nodes, the height and the cluster. The first nodes are the leaves, the later ones the joins.
  joins: [number, number, number, number | null][];
  /// The height at which the tree is cut. Null for a single cluster.
  cut: number | null;
}

/// Offers the joins of a tree as a table. The first nodes are the leaves, the later ones the joins.
export function Joins({ name, leaves, joins }: { name: string; leaves: string[]; joins: [number, number, number, (number | null)?][] }) {
  const node = (at: number) => leaves[at] ?? `join ${at - leaves.length}`;
  const names = ['join', 'of', 'and', 'height', 'cluster'];
  return <AsTable name={name} names={names.slice(0, 1 + (joins[0]?.length ?? 0))} rows={() => joins.map(([one, two, ...more], at) => [at, node(one), node(two), ...more])} />;
}

/// The height of a line, and the rooms above and below the tree, in pixels.
const LINE = 17;
const ROOM = { top: 6, bottom: 24, left: 12 };
/// The largest share of the width that names may take, and the width of a letter.
const NAMES = 0.4;
const LETTER = 6.4;

export function Dendrogram({ title, leaves, joins, cut }: DendrogramFigure) {
  const theme = themeSignal.value;
  const [frame, wide] = useWidth(240, 600);
  const at = useSignal<number | null>(null);
  const letters = Math.floor(Math.min(NAMES * wide.value, LETTER * Math.max(...leaves.map(({ name }) => name.length))) / LETTER);
  const right = wide.value - letters * LETTER - 14;
  const bottom = ROOM.top + LINE * leaves.length;
  const highest = joins.length && joins[joins.length - 1][2] > 0 ? joins[joins.length - 1][2] : 1;
  const across = (height: number) => right - (right - ROOM.left) * (height / highest);
  const colour = (cluster: number | null) => (cluster === null ? 'var(--soft)' : clusterColour(cluster, theme));
  const nodes = leaves.map(({ items }, leaf) => ({ x: right, y: ROOM.top + LINE * (leaf + 0.5), items }));
  const branches = joins.map(([left, other, height, cluster], number) => {
    const [one, two, x] = [nodes[left], nodes[other], across(height)];
    nodes.push({ x, y: (one.y + two.y) / 2, items: one.items + two.items });
    return (
      <path key={number} d={`M${one.x} ${one.y}H${x}V${two.y}H${two.x}`} stroke={colour(cluster)} stroke-width={at.value === number ? 3 : 1.4}
        onPointerEnter={() => (at.value = number)} />
    );
  });
  const read = () => {
    if (at.value === null) return 'Point at a branch for its height and its items.';
    return `${count(nodes[leaves.length + at.value].items)} items, joined at ${figure(joins[at.value][2], 4)}.`;
  };
  const short = (name: string) => (name.length > letters ? `${name.slice(0, letters - 1)}…` : name);
  return (
    <div ref={frame}>
      <div class="tools under">
        <Save name={title} make={() => standalone(frame.current!.querySelector<SVGSVGElement>('svg.dendrogram')!, wide.value, bottom + ROOM.bottom, groundOfPage())} />
        <p class="readout" aria-live="polite">{read()}</p>
      </div>
      <svg class="dendrogram" width={wide.value} height={bottom + ROOM.bottom} role="img" onPointerLeave={() => (at.value = null)}
        aria-label={`${title}: ${count(leaves.reduce((sum, { items }) => sum + items, 0))} items, joined up to the height ${figure(highest, 4)}`}>
        {ticks(0, highest, Math.max(2, Math.floor((right - ROOM.left) / 90))).map((tick) => (
          <g key={tick}>
            <path class="grid" d={`M${across(tick)} ${ROOM.top}V${bottom}`} />
            <text x={across(tick)} y={bottom + 16} text-anchor="middle">{figure(tick, 4)}</text>
          </g>
        ))}
        {cut !== null && <path class="cut" d={`M${across(cut)} ${ROOM.top}V${bottom}`} />}
        {branches}
        {leaves.map(({ name, cluster }, leaf) => (
          <text key={leaf} class="leaf" x={right + 8} y={ROOM.top + LINE * (leaf + 0.5) + 4}>
            <title>{name}</title>
            <tspan fill={colour(cluster)}>■ </tspan>
            {short(name)}
          </text>
        ))}
      </svg>
      <Joins name={title} leaves={leaves.map(({ name, cluster }) => (cluster === null ? name : `${name} (cluster ${cluster})`))} joins={joins} />
    </div>
  );
}
