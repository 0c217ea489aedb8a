// One picture of a scene, with its tools and notes. All pictures of a scene share the colours, the selection and the picked row.

import { useEffect, useMemo, useRef } from 'preact/hooks';
import { CONTEXT, scaleColour, type Theme } from '../colour/palette.ts';
import type { Column } from '../api/columns.ts';
import { cloudOf, isSkewed, logarithm, range, sphereOf, type Cloud } from '../points/cloud.ts';
import { areDegrees, citiesOnGlobe, citiesOnMap, onGlobe, onMap } from '../points/coast.ts';
import { OVER, UNDER, word } from '../points/paint.ts';
import { coast, want } from '../state/coast.ts';
import { groupColour, rowColour, type Colouring } from '../state/clusters.ts';
import type { How } from '../state/selection.ts';
import { count } from '../state/words.ts';
import { CloudView, type Handle, type Mark, type Tool } from './cloud.tsx';
import type { Frame, Views } from './frame.tsx';
import { Icon } from './icon.tsx';
import { Save } from './save.tsx';
import type { Settle, Source } from './scene.tsx';

/// The maximum number of letters of a cluster's name in the picture.
const MARK_MAX = 16;

const TOOLS: [Tool, 'hand' | 'lasso' | 'box', string][] = [['move', 'hand', 'Move (M)'], ['lasso', 'lasso', 'Lasso (L)'], ['box', 'box', 'Box (B)']];

export function Picture({ source, frame, views, settings, settle, grouping, chosen, hidden, picked, tool, pointWidth, theme, about, above, under, take, select, pick, hint, fail, handles }: {
  source: Source; frame: Frame; views: Views; settings: Record<string, string>; settle: Settle; grouping: Colouring | null; chosen: Uint8Array | null; hidden: Set<number>; picked: number; tool: Tool;
  pointWidth: number; theme: Theme;
  /// The texts that are the same for all pictures. They follow the description of this picture.
  about: { caption: string; summary: string };
  /// The elements above and below the picture.
  above?: preact.ComponentChildren; under?: preact.ComponentChildren;
  take: (tool: Tool) => void; select: (rows: Iterable<number>, how: How, step: string) => void; pick: (row: number) => void;
  hint: (row: number) => { title: string; text: string; colour: string } | null; fail: (caught: unknown) => void;
  /// The handles of all pictures, to which this one adds its own.
  handles: Set<{ current: Handle | null }>;
}) {
  const { columns, name } = source;
  const { ending, view, layout, x, y, z, isEqual, title } = frame;
  const { longitude, latitude } = views;
  const isSphere = view === 'sphere';
  const isEdged = settings[`edge${ending}`] !== 'no' && !layout?.degrees;
  const isPlain = settings[`log${ending}`] === 'no';
  const axes = [x, y, ...(z ? [z] : [])];
  // Axes on which most rows would lie near the low end.
  const crowded = useMemo(() => axes.map((column) => !layout && !isSphere && !isEqual && isSkewed(column.values as Float64Array)), [x, y, z, isSphere, isEqual]);
  const logs = isPlain ? axes.map(() => false) : crowded;
  const isLog = logs.includes(true);
  const cloud: Cloud = useMemo(() => {
    if (isSphere) return sphereOf(longitude!.values, latitude!.values);
    return cloudOf(axes.map((column, at) => (logs[at] ? logarithm(column) : column)), { isEqual, stretch: layout?.stretch, isEdged });
  }, [isSphere, x, y, z, isEqual, isEdged, isLog]);

  // A map of places shows the coast below its points.
  const degrees = layout ? layout.degrees : !isSphere && x === longitude && y === latitude && !z ? { breaks: [] } : undefined;
  const isMap = isSphere || degrees !== undefined;
  useEffect(() => {
    if (isMap && source.coast) void want(source.coast);
  }, [isMap]);
  const lands = useMemo(() => {
    if (!isMap || !coast.value) return null;
    if (isSphere) return { shores: onGlobe(coast.value), towns: citiesOnGlobe(coast.value) };
    const [across, upwards] = [x, y].map((column) => range(column.values as Float64Array));
    const breaks = degrees!.breaks;
    if (!across || !upwards) return null;
    const east = breaks.reduce((sum, [from, to, gutter]) => sum + to - from - gutter, across[1]);
    if (!areDegrees([across[0], east], upwards)) return null;
    // The map goes once around the Earth. If the longitudes continue beyond the date line, the map is centred on the rows; otherwise it begins at the date
    // line.
    const west = across[0] >= -180 && east <= 180 ? -180 : (across[0] + east) / 2 - 180;
    return { shores: onMap(coast.value, cloud, west, breaks), towns: citiesOnMap(coast.value, cloud, west, breaks) };
  }, [coast.value, cloud, isMap]);

  const paint = useMemo(() => paintOf(cloud, columns.rows, grouping, chosen, hidden, theme), [cloud, grouping, chosen, hidden, theme]);
  const marks = useMemo(() => marksOf(cloud, grouping, hidden, theme), [cloud, grouping, hidden, theme]);
  const point = useMemo(() => (picked < 0 ? -1 : cloud.rowOf.indexOf(picked)), [cloud, picked]);
  const own = useRef<Handle | null>(null);
  useEffect(() => {
    handles.add(own);
    return () => void handles.delete(own);
  }, []);
  const caption = `${name}: ${title}${about.caption}`;
  return (
    <div class="view">
      {above && <div class="tools choices">{above}</div>}
      <div class="framed" inert={source.sampled !== undefined}>
        <div class="stage">
          <CloudView
            cloud={cloud} paint={paint} theme={theme} tool={tool} isEqual={isEqual || layout?.stretch !== undefined} pointWidth={pointWidth} degrees={layout?.degrees ?? (lands ? degrees : undefined)}
            shores={lands?.shores} towns={lands?.towns} ground={layout?.ground} outlines={grouping && layout?.outlines && layout.outlines.filter(({ group }) => !hidden.has(group))}
            names={[0, 1, 2].map((at) => (axes[at] ? `${axes[at].name}${logs[at] ? ' (log)' : ''}` : ''))} logs={logs} summary={`${caption}.${about.summary}`} caption={caption} marks={marks} picked={point}
            forced={settings.renderer} handle={own}
            onSelect={(points, how, used) => {
              const rows = [...rowsOf(points, cloud)];
              // A box around these values selects the same rows again. A lasso has no short description.
              const box = ({ name, values }: Column) => `${name} from ${range(Float64Array.from(rows, (row) => values[row] as number))!.join(' to ')}`;
              select(rows, how, used === 'box' && cloud.shape === 'plane' && rows.length ? axes.map(box).join(', ') : `${used} in ${title}`);
            }}
            onPick={(at) => pick(at < 0 ? -1 : cloud.rowOf[at])}
            hint={(at) => hint(cloud.rowOf[at])}
          />
        </div>
        <div class="palette" role="toolbar" aria-label="Tools of the picture">
          {TOOLS.map(([which, icon, title]) => (
            <button type="button" key={which} aria-pressed={tool === which} title={title} aria-label={title} onClick={() => take(which)}><Icon name={icon} /></button>
          ))}
          <button type="button" title="Zoom in (+)" aria-label="Zoom in" onClick={() => own.current?.zoom(1.5)}><Icon name="plus" /></button>
          <button type="button" title="Zoom out (-)" aria-label="Zoom out" onClick={() => own.current?.zoom(1 / 1.5)}><Icon name="minus" /></button>
          <button type="button" title="Fit all (F)" aria-label="Fit all" onClick={() => own.current?.fit()}><Icon name="fit" /></button>
        </div>
      </div>
      {!source.sampled && (
        <div class="tools under">
          {under}
          <Save name={`${name}${ending && ` ${title}`}`} make={() => own.current!.svg()} fail={fail} />
          {under && <Hint tool={tool} isFlat={cloud.shape === 'plane'} />}
        </div>
      )}
      {cloud.missing > 0 && <p class="note">{count(cloud.missing)} {cloud.missing === 1 ? 'row has' : 'rows have'} a missing value in these columns and {cloud.missing === 1 ? 'is' : 'are'} not drawn.</p>}
      {(cloud.beyond > 0 || !isEdged && !layout?.degrees) && (
        <p class="note">
          {cloud.beyond > 0 ? `${count(cloud.beyond)} ${cloud.beyond === 1 ? 'row lies' : 'rows lie'} farther out and ${cloud.beyond === 1 ? 'is' : 'are'} drawn at the edge. ` : ''}
          <button type="button" class="link" onClick={() => settle({ [`edge${ending}`]: isEdged ? 'no' : null })}>
            {isEdged ? 'Show where they lie' : 'Draw rows that lie far out at the edge'}
          </button>
        </p>
      )}
      {crowded.includes(true) && (
        <p class="note">
          {isLog ? `${axes.filter((_, at) => logs[at]).map(({ name }) => name).join(' and ')}: drawn by the logarithm, since most values lie near the low end. ` : ''}
          <button type="button" class="link" onClick={() => settle({ [`log${ending}`]: isLog ? 'no' : null })}>{isLog ? 'Draw values as they are' : 'Draw crowded values by their logarithm'}</button>
        </p>
      )}
      {layout?.note && <p class="note">{layout.note}</p>}
    </div>
  );
}

/// Says what the tool does: with a mouse and keys, and on a touch screen. The style sheet shows one of the two.
export function Hint({ tool, isFlat }: { tool: Tool; isFlat: boolean }) {
  const [both, keys, touch] = tool !== 'move'
    ? ['Drag around points.', ' Shift adds, Alt takes away.']
    : isFlat
      ? ['Drag to move, ', 'scroll to zoom, click a point to see its row.', 'zoom with two fingers, tap a point to see its row.']
      : ['Drag to turn, ', 'Shift and drag to move, scroll to zoom.', 'move and zoom with two fingers.'];
  return <span class="note">{both}<span class="keys">{keys}</span><span class="touch">{touch}</span></span>;
}

function* rowsOf(points: Uint32Array, cloud: Cloud): Iterable<number> {
  for (const point of points) yield cloud.rowOf[point];
}

function paintOf(cloud: Cloud, rows: number, grouping: Colouring | null, chosen: Uint8Array | null, hidden: Set<number>, theme: Theme): Uint32Array {
  const paint = new Uint32Array(cloud.count);
  const colours = grouping?.groups.map((group) => word(groupColour(group, theme), OVER)) ?? [];
  const nothing = word(rowColour(grouping && !grouping.scale ? { ...grouping, groups: [] } : null, 0, theme), OVER);
  const steps = Array.from({ length: 256 }, (_, at) => word(scaleColour(at / 255, theme), OVER));
  const missing = word(scaleColour(NaN, theme), OVER);
  const context = word(CONTEXT[theme], UNDER);
  for (let at = 0; at < cloud.count; at++) {
    const row = cloud.rowOf[at];
    if (row >= rows) continue;
    const group = grouping ? grouping.groupOf[row] : -1;
    if (hidden.size > 0 && hidden.has(group)) continue;
    if (chosen && !chosen[row]) paint[at] = context;
    else if (grouping?.scale) {
      const place = grouping.scale.place[row];
      paint[at] = place >= 0 ? steps[Math.round(255 * place)] : missing;
    } else paint[at] = colours[group] ?? nothing;
  }
  return paint;
}

/// Returns the marks with the names of clusters, at the means of their points, the largest cluster first.
function marksOf(cloud: Cloud, grouping: Colouring | null, hidden: Set<number>, theme: Theme): Mark[] {
  if (!grouping || grouping.groups.length < 2) return [];
  const sums = grouping.groups.map(() => [0, 0, 0, 0]);
  for (let at = 0; at < cloud.count; at++) {
    const x = cloud.positions[3 * at];
    const sum = sums[grouping.groupOf[cloud.rowOf[at]]];
    if (!sum || x !== x) continue;
    sum[0] += x;
    sum[1] += cloud.positions[3 * at + 1];
    sum[2] += cloud.positions[3 * at + 2];
    sum[3]++;
  }
  return grouping.groups
    .map((group, at) => ({ group, at, sum: sums[at] }))
    .filter(({ group, at, sum }) => group.number >= 0 && sum[3] > 0 && !hidden.has(at))
    .sort((a, b) => b.sum[3] - a.sum[3])
    .map(({ group, sum: [x, y, z, n] }) => {
      const length = cloud.shape === 'sphere' ? Math.hypot(x, y, z) || 1 : n;
      return { text: group.name.length <= MARK_MAX ? group.name : `${group.name.slice(0, MARK_MAX - 1)}…`, colour: groupColour(group, theme), x: x / length, y: y / length, z: z / length };
    });
}
