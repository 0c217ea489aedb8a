// A scene: points with what they are coloured by; chosen by lasso, box or cluster, looked at row by row, saved. Where the rows come from is its source's business: a node, or the
// page of a report that has them inside.

import { batch, useSignal, type Signal } from '@preact/signals';
import { Fragment } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Column, Columns } from '../api/columns.ts';
import { CONTEXT, scaleColour, type Theme } from '../colour/palette.ts';
import { cloudOf, isSkewed, logarithm, range, sphereOf, type Cloud } from '../points/cloud.ts';
import { areDegrees, citiesOnGlobe, citiesOnMap, onGlobe, onMap } from '../points/coast.ts';
import { OVER, UNDER, word } from '../points/paint.ts';
import { coast, want } from '../state/coast.ts';
import { below, byColumn, bySureness, groupColour, merged, NO_CLUSTER, NO_VALUE, rowColour, UNSURE, type Colouring, type Group } from '../state/clusters.ts';
import { row as csvRow, shortest } from '../state/csv.ts';
import { download } from '../state/download.ts';
import { say } from '../state/notice.ts';
import { theme as themeSignal } from '../state/theme.ts';
import { count, figure, words } from '../state/words.ts';
import { Boxes } from './boxes.tsx';
import { CloudView, type Degrees, type Ground, type Handle, type How, type Mark, type Outline, type Tool } from './cloud.tsx';
import { Compare, type Kept } from './compare.tsx';
import { Save } from './save.tsx';
import { Trouble } from './fault.tsx';
import { isStructure, Structure } from './molecule.tsx';
import { Icon } from './icon.tsx';
import { Grid } from './table.tsx';

/// How many clusters are listed before somebody asks for the rest.
const LISTED = 40;
/// How many letters of a name stand in the picture.
const MARK_MAX = 16;
/// How many clusters are named with which another one merges first.
const PARTNERS_LISTED = 6;
/// The maximum number of chosen rows whose molecules are drawn.
const STRUCTURES_SHOWN = 24;
/// How many chosen rows are shown as a table.
const TABLE_MAX = 200;

export interface LabelSource {
  key: string;
  title: string;
  /// Another version is loaded anew.
  version: string;
  load: (signal: AbortSignal) => Promise<Colouring>;
  /// What it has loaded before.
  ready?: Colouring;
  /// Whether its labels say how sure they are.
  hasProbability?: boolean;
}

/// What begins the key of a colour that says how sure rows are, in place of their clusters.
const SURE = 'sure:';

/// The labels that a key of a colour means: the latest ones where nobody has chosen.
export function keyOfLabels(sources: LabelSource[], key = sources[0]?.key): LabelSource | undefined {
  return sources.find((one) => one.key === (key?.startsWith(SURE) ? key.slice(SURE.length) : key));
}

/// A picture that the source has laid out itself.
export interface Layout {
  key: string;
  title: string;
  x: Column;
  y: Column;
  z?: Column;
  /// Whether all axes share a unit.
  isEqual: boolean;
  /// How long a unit of each axis is drawn, where that differs.
  stretch?: [number, number];
  degrees?: Degrees;
  outlines?: Outline[];
  ground?: Ground;
  note?: string;
}

export interface Source {
  name: string;
  columns: Columns;
  /// How far all rows are, where these are a sample of them: it can only be looked at.
  sampled?: preact.JSX.Element;
  id?: string;
  weights?: string;
  /// What a row is called; without it by its number or its id.
  titleOf?: (row: number) => string;
  /// What ends the ids of its elements, where a page has several scenes.
  suffix?: string;
  sources: LabelSource[];
  layouts: Layout[];
  /// Whether all columns share a unit.
  isEqual: boolean;
  /// What points are coloured by at first where there are no clusters.
  colour?: string;
  /// Where clusters of these rows can be found.
  find?: string;
  /// Loads the coast that maps have below their points.
  coast?: () => Promise<string>;
  /// Keeps chosen rows under a name, and says how many there are; a report has no such place.
  save?: (name: string, csv: Blob, chosen: Uint8Array) => Promise<number>;
}

export type Settle = (changes: Record<string, string | null>) => void;

function isNamed(columns: Column[], pattern: RegExp): Column | undefined {
  return columns.find((column) => column.kind !== 'text' && pattern.test(column.name));
}

export function Scene({ source, settings, settle, choice, asked }: {
  source: Source; settings: Record<string, string>; settle: Settle; choice?: preact.JSX.Element; asked?: Signal<{ group: number } | null>;
}) {
  const theme = themeSignal.value;
  const { name, columns, sources, layouts, suffix = '' } = source;
  const numbers = columns.columns.filter((column) => column.kind !== 'text');
  const longitude = isNamed(numbers, /^(lon|lng|long|longitude)$/i);
  const latitude = isNamed(numbers, /^(lat|latitude)$/i);
  const free = numbers.filter((column) => column.name !== source.id && column.name !== source.weights);
  const usable = free.length >= 2 ? free : numbers;
  const of = (setting: string | undefined, otherwise: Column) => numbers.find((column) => column.name === setting) ?? otherwise;
  const views: [string, string][] = layouts.map((one) => [one.key, one.title]);
  if (longitude && latitude) views.push(['sphere', 'sphere']);
  if (usable.length >= 2) views.push(['flat', 'columns']);
  const view = views.find(([key]) => key === settings.view)?.[0] ?? views[0]?.[0] ?? 'flat';
  const layout = layouts.find((one) => one.key === view);
  const isSphere = view === 'sphere';
  const xColumn = layout?.x ?? of(settings.x, longitude ?? usable[0]);
  const yColumn = layout?.y ?? of(settings.y, latitude ?? usable[1] ?? usable[0]);
  const zColumn = layout ? layout.z : settings.z ? numbers.find((column) => column.name === settings.z) : undefined;
  const colourKey = settings.colour ?? sources[0]?.key ?? source.colour ?? '';
  // A degree is as long upwards as across, and a map of positions has one unit.
  const isEqual = layout ? layout.isEqual : (xColumn === longitude && yColumn === latitude) || source.isEqual;
  const isEdged = settings.edge !== 'no' && !layout?.degrees;

  const axes = [xColumn, yColumn, ...(zColumn ? [zColumn] : [])];
  // Axes on which most rows would lie in one place.
  const crowded = useMemo(() => axes.map((column) => !layout && !isSphere && !isEqual && isSkewed(column.values as Float64Array)), [xColumn, yColumn, zColumn, isSphere, isEqual]);
  const logs = settings.log === 'no' ? axes.map(() => false) : crowded;
  const isLog = settings.log !== 'no' && crowded.includes(true);
  const cloud: Cloud = useMemo(() => {
    if (isSphere) return sphereOf(longitude!.values as Float64Array, latitude!.values as Float64Array);
    return cloudOf(axes.map((column, at) => (logs[at] ? logarithm(column) : column)), { isEqual, stretch: layout?.stretch, isEdged });
  }, [isSphere, xColumn, yColumn, zColumn, isEqual, isEdged, isLog]);

  // A map of places has the coast below its points.
  const degrees = layout ? layout.degrees : !isSphere && xColumn === longitude && yColumn === latitude && !zColumn ? { breaks: [] } : undefined;
  const isMap = isSphere || degrees !== undefined;
  useEffect(() => {
    if (isMap && source.coast) void want(source.coast);
  }, [isMap]);
  const lands = useMemo(() => {
    if (!isMap || !coast.value) return null;
    if (isSphere) return { shores: onGlobe(coast.value), towns: citiesOnGlobe(coast.value) };
    const [across, upwards] = [xColumn, yColumn].map((column) => range(column.values as Float64Array));
    const breaks = degrees!.breaks;
    if (!across || !upwards) return null;
    const east = breaks.reduce((sum, [from, to, gutter]) => sum + to - from - gutter, across[1]);
    if (!areDegrees([across[0], east], upwards)) return null;
    // Once around the Earth: from the date line, or so that rows on both sides of it are together.
    const west = across[0] >= -180 && east <= 180 ? -180 : (across[0] + east) / 2 - 180;
    return { shores: onMap(coast.value, cloud, west, breaks), towns: citiesOnMap(coast.value, cloud, west, breaks) };
  }, [coast.value, cloud, isMap]);

  const colouring = useSignal<Colouring | null>(null);
  const error = useSignal<unknown>(null);
  const isSure = colourKey.startsWith(SURE);
  const labels = keyOfLabels(sources, colourKey);
  useEffect(() => {
    const stop = new AbortController();
    error.value = null;
    (async () => {
      try {
        if (labels) {
          const read = labels.ready ?? (await labels.load(stop.signal));
          if (!stop.signal.aborted) colouring.value = read;
        } else {
          const column = colourKey.startsWith('column:') ? columns.columns.find((one) => one.name === colourKey.slice(7)) : undefined;
          colouring.value = column ? byColumn(column) : null;
        }
      } catch (caught) {
        if (!stop.signal.aborted) [error.value, colouring.value] = [caught, null];
      }
    })();
    return () => stop.abort();
  }, [labels?.key ?? colourKey, labels?.version]);

  // Of each row: whether it is chosen. A new array for each choice, so that what depends on it is made anew.
  const chosen = useSignal<Uint8Array | null>(null);
  const recipe = useSignal<string[]>([]);
  const hidden = useSignal<Set<number>>(new Set());
  const picked = useSignal<number>(-1);
  const tool = useSignal<Tool>('move');
  const width = useSignal(0);
  const handle = useRef<Handle | null>(null);
  // Names that somebody gives clusters, by their number.
  const given = useSignal<Map<number, string>>(new Map());
  const kept = useSignal<Kept | null>(null);
  // What is there already has no frame without its colours, and labels of a sample are none of all rows.
  const plain = labels?.ready ?? (colouring.value?.groupOf.length === columns.rows ? colouring.value : null);
  // Where clusters merge as their number falls, fewer of them can be shown.
  const most = plain?.groups.some(({ joins }) => joins) ? plain.groups.filter(({ number }) => number >= 0).length : 0;
  const fewer = Number(settings.merged) >= 1 && Number(settings.merged) < most ? Number(settings.merged) : 0;
  const grouping = useMemo(() => {
    const coloured = plain && fewer ? merged(plain, fewer) : plain && isSure ? bySureness(plain) : plain;
    return coloured && given.value.size ? { ...coloured, groups: coloured.groups.map((group) => (given.value.has(group.number) ? { ...group, name: given.value.get(group.number)!, isMerged: false } : group)) } : coloured;
  }, [plain, isSure, fewer, given.value]);
  useEffect(() => {
    hidden.value = new Set();
    given.value = new Map();
  }, [plain?.title, fewer]);

  const isHidden = (row: number) => grouping !== null && hidden.value.size > 0 && hidden.value.has(grouping.groupOf[row]);
  const paint = useMemo(() => paintOf(cloud, columns.rows, grouping, chosen.value, hidden.value, theme), [cloud, grouping, chosen.value, hidden.value, theme]);
  const total = useMemo(() => (chosen.value ? chosen.value.reduce((sum, one) => sum + one, 0) : 0), [chosen.value]);
  const marks = useMemo(() => marksOf(cloud, grouping, hidden.value, theme), [cloud, grouping, hidden.value, theme]);
  const pickedPoint = useMemo(() => (picked.value < 0 ? -1 : cloud.rowOf.indexOf(picked.value)), [cloud, picked.value]);

  const choose = (rows: Iterable<number>, how: How, step: string) => {
    const next = how === 'replace' || !chosen.value ? new Uint8Array(columns.rows) : chosen.value.slice();
    for (const row of rows) next[row] = how === 'subtract' ? 0 : 1;
    const isAny = next.includes(1);
    batch(() => {
      chosen.value = isAny ? next : null;
      const sign = { replace: '', add: 'and ', subtract: 'without ' }[how];
      recipe.value = !isAny ? [] : how === 'replace' ? [step] : [...recipe.value, `${sign}${step}`];
    });
    say(isAny ? `${count(next.reduce((sum, one) => sum + one, 0))} rows selected.` : 'Nothing is selected.');
  };
  const clear = () => batch(() => ([chosen.value, recipe.value, picked.value] = [null, [], -1]));
  const invert = () => {
    if (!chosen.value) return;
    const next = chosen.value.map((one, row) => (one || isHidden(row) ? 0 : 1));
    chosen.value = next.includes(1) ? next : null;
    recipe.value = [...recipe.value, 'inverted'];
  };
  const ofGroup = function* (group: number) {
    for (let row = 0; row < columns.rows; row++) if (grouping!.groupOf[row] === group) yield row;
  };
  const chooseGroup = (group: number, how: How) => choose(ofGroup(group), how, `${labels ? 'cluster ' : `${grouping!.title} `}${grouping!.groups[group].name}`);
  const chooseBelow = (limit: number, how: How) => choose(below(grouping!, limit), how, `probability below ${limit}`);
  const hideChosen = () => {
    if (!chosen.value || !grouping) return;
    const next = new Set(hidden.value);
    chosen.value.forEach((one, row) => one && next.add(grouping.groupOf[row]));
    if (next.size < grouping.groups.length) hidden.value = next;
  };
  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test((event.target as Element).tagName)) return;
    const actions: Record<string, () => void> = {
      l: () => (tool.value = 'lasso'), b: () => (tool.value = 'box'), m: () => (tool.value = 'move'), i: invert, h: hideChosen, Escape: clear,
      f: () => handle.current?.fit(),
    };
    const act = actions[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };

  const asking = asked?.value;
  useEffect(() => {
    if (!asking || !grouping) return;
    const group = grouping.groups.findIndex((one) => one.number === asking.group);
    if (group >= 0) choose(ofGroup(group), 'replace', `cluster ${grouping.groups[group].name}`);
  }, [asking]);

  const boxed = useMemo(() => usable, [columns]);
  // Below the picture, beside the list if that is longer.
  const hasBoxes = !source.sampled && grouping !== null && grouping.groups.length > 0 && boxed.length > 0;

  const pointWidth = width.value || (columns.rows > 300_000 ? 1 : columns.rows > 30_000 ? 2 : columns.rows > 3000 ? 4 : columns.rows > 500 ? 7 : 9);
  const describe = (row: number) => {
    const about = columns.columns.filter((column) => column.name !== source.id).slice(0, 6).map((column) => `${column.name} ${column.kind === 'text' ? column.values[row] : figure(column.values[row], 6)}`);
    return about.join(' · ');
  };
  const idColumn = columns.columns.find((column) => column.name === source.id);
  const titleOf = (row: number) => (source.titleOf ? source.titleOf(row) : idColumn ? String(idColumn.kind === 'text' ? idColumn.values[row] : figure(idColumn.values[row], 12)) : `row ${count(row + 1)}`);
  const groupName = (row: number) => {
    const group = grouping?.groups[grouping.groupOf[row]];
    return group ? group.name : '';
  };
  const what = layout ? layout.title : isSphere ? 'positions on the sphere' : `${xColumn.name} and ${yColumn.name}${zColumn ? ` and ${zColumn.name}` : ''}`;
  const caption = `${name}: ${what}${grouping ? `, coloured by ${grouping.isSure ? 'how sure they are in ' : ''}${grouping.title}` : ''}; ${count(columns.rows)} rows`;
  const summary = `${caption}.${grouping?.groups.length ? ` ${grouping.groups.length} groups; the list beside the picture has them all.` : ''}${total ? ` ${count(total)} rows are selected; the table below has them.` : ''} Arrow keys move, plus and minus zoom, Enter picks the middle point.`;

  return (
    <div class="scene" style={{ gridTemplateRows: hasBoxes ? 'auto 1fr' : undefined }} onKeyDown={keys}>
      <section class="card picture" aria-label="Picture">
        <div class="tools choices">
          {choice}
          <Choices columns={columns} numbers={numbers} x={xColumn.name} y={yColumn.name} z={zColumn?.name ?? ''} view={view} views={views} sources={sources} colourKey={colourKey} settle={settle} />
        </div>
        <div class="framed" inert={source.sampled !== undefined}>
          <div class="stage">
            <CloudView
              cloud={cloud} paint={paint} theme={theme} tool={tool.value} isEqual={isEqual || layout?.stretch !== undefined} pointWidth={pointWidth} degrees={layout?.degrees ?? (lands ? degrees : undefined)} shores={lands?.shores} towns={lands?.towns} ground={layout?.ground}
              outlines={grouping && layout?.outlines && layout.outlines.filter(({ group }) => !hidden.value.has(group))} names={[0, 1, 2].map((at) => (axes[at] ? `${axes[at].name}${logs[at] ? ' (log)' : ''}` : ''))} logs={logs}
              summary={summary} caption={caption} marks={marks} picked={pickedPoint} forced={settings.renderer} handle={handle}
              onSelect={(points, how, used) => choose(map(points, (point) => cloud.rowOf[point]), how, used)}
              onPick={(point) => (picked.value = point < 0 ? -1 : cloud.rowOf[point])}
              hint={(point) => {
                const row = cloud.rowOf[point];
                const cluster = grouping?.groups.length ? groupName(row) : '';
                const title = cluster && cluster !== NO_CLUSTER && cluster !== NO_VALUE ? `${labels ? 'Cluster ' : ''}${cluster} · ${titleOf(row)}` : titleOf(row);
                return { title, text: `${grouping?.isSure ? `probability ${figure(grouping.probability![row], 3)} · ` : ''}${describe(row)}`, colour: rowColour(grouping, row, theme) };
              }}
            />
          </div>
          <div class="palette" role="toolbar" aria-label="Tools of the picture">
            {([['move', 'hand', 'Move (M)'], ['lasso', 'lasso', 'Lasso (L)'], ['box', 'box', 'Box (B)']] as const).map(([which, icon, title]) => (
              <button type="button" key={which} aria-pressed={tool.value === which} title={title} aria-label={title} onClick={() => (tool.value = which)}>
                <Icon name={icon} />
              </button>
            ))}
            <button type="button" title="Zoom in (+)" aria-label="Zoom in" onClick={() => handle.current?.zoom(1.5)}><Icon name="plus" /></button>
            <button type="button" title="Zoom out (-)" aria-label="Zoom out" onClick={() => handle.current?.zoom(1 / 1.5)}><Icon name="minus" /></button>
            <button type="button" title="Fit all (F)" aria-label="Fit all" onClick={() => handle.current?.fit()}><Icon name="fit" /></button>
          </div>
        </div>
        {source.sampled ? <p class="note">A sample. {source.sampled}</p> : (
          <div class="tools under">
            <label>
              Point size
              <input type="range" min="1" max="15" step="1" value={pointWidth} onInput={(event) => (width.value = Number(event.currentTarget.value))} />
            </label>
            <Save name={name} make={() => handle.current!.svg()} fail={(caught) => (error.value = caught)} />
            <span class="note">
              {tool.value === 'move'
                ? cloud.shape === 'plane' ? 'Drag to move, scroll to zoom, click a point to see its row.' : 'Drag to turn, Shift and drag to move, scroll to zoom.'
                : 'Drag around points. Shift adds, Alt takes away.'}
            </span>
          </div>
        )}
        {cloud.missing > 0 && <p class="note">{count(cloud.missing)} {cloud.missing === 1 ? 'row has' : 'rows have'} a missing value in these columns and {cloud.missing === 1 ? 'is' : 'are'} not drawn.</p>}
        {(cloud.beyond > 0 || settings.edge === 'no') && (
          <p class="note">
            {cloud.beyond > 0 ? `${count(cloud.beyond)} ${cloud.beyond === 1 ? 'row lies' : 'rows lie'} farther out and ${cloud.beyond === 1 ? 'is' : 'are'} drawn at the edge. ` : ''}
            <button type="button" class="link" onClick={() => settle({ edge: settings.edge === 'no' ? null : 'no' })}>
              {settings.edge === 'no' ? 'Draw rows that lie far out at the edge' : 'Show where they lie'}
            </button>
          </p>
        )}
        {crowded.includes(true) && (
          <p class="note">
            {isLog ? `${axes.filter((_, at) => logs[at]).map(({ name }) => name).join(' and ')}: drawn by the logarithm, since most values lie near the low end. ` : ''}
            <button type="button" class="link" onClick={() => settle({ log: isLog ? 'no' : null })}>{isLog ? 'Draw values as they are' : 'Draw crowded values by their logarithm'}</button>
          </p>
        )}
        {layout?.note && <p class="note">{layout.note}</p>}
        <Trouble error={error.value} />
      </section>
      <aside class="side" style={{ gridRow: hasBoxes ? 'span 2' : undefined }}>
        {!source.sampled && <>
        {picked.value >= 0 && (
          <Picked suffix={suffix} columns={columns} row={picked.value} title={titleOf(picked.value)} cluster={grouping?.groups.length ? `${words(grouping.title)}: ${groupName(picked.value)}` : ''}
            probability={grouping?.probability?.[picked.value] ?? null} close={() => (picked.value = -1)} />
        )}
        {grouping?.isSure && <Sure suffix={suffix} grouping={grouping} theme={theme} choose={chooseBelow} />}
        {grouping && grouping.groups.length > 0 && (
          <Groups suffix={suffix} grouping={grouping} rows={columns.rows} theme={theme} hidden={hidden.value} isOfJob={labels !== undefined}
            hide={(next) => (hidden.value = next)} rename={(number, name) => (given.value = new Map(given.value).set(number, name))}
            most={most} merge={(clusters) => settle({ merged: clusters < most ? String(clusters) : null })} choose={chooseGroup} />
        )}
        {grouping && labels?.hasProbability && grouping.probability && !grouping.isSure && <Sure suffix={suffix} grouping={grouping} theme={theme} choose={chooseBelow} />}
        {grouping?.outliers && grouping.outliers.length > 0 && (
          <Outliers suffix={suffix} outliers={grouping.outliers} titleOf={titleOf} pick={(row) => (picked.value = row)} choose={() => choose(grouping.outliers!.map(({ row }) => row), 'replace', 'out of the ordinary')} />
        )}
        {grouping?.scale && !grouping.isSure && <Scale title={grouping.title} {...grouping.scale} theme={theme} />}
        {!grouping && (
          <div class="card">
            <p class="note">Choose under "Colour" what points are coloured by. Clusters appear here when a job has found some.</p>
            {source.find && !sources.length && <p class="note"><a class="button" href={source.find}>Find clusters</a></p>}
          </div>
        )}
        </>}
      </aside>
      {hasBoxes && (
        <Boxes suffix={suffix} columns={boxed} grouping={grouping} hidden={hidden.value} theme={theme} column={settings.box} settle={(box) => settle({ box })} nameOf={(group) => titleOfGroup(grouping.groups[group], labels !== undefined)}
          choose={chooseGroup} />
      )}
      {kept.value && (
        <Compare suffix={suffix} columns={columns} grouping={grouping} kept={kept.value} chosen={chosen.value} recipe={recipe.value.join(', ')} close={() => (kept.value = null)} />
      )}
      {chosen.value && (
        <Chosen keep={() => (kept.value = { rows: chosen.value!, recipe: recipe.value.join(', ') })} source={source} titleOf={titleOf} columns={columns} chosen={chosen.value} total={total} recipe={recipe.value} grouping={labels ? grouping : null} clear={clear} invert={invert}
          pick={(row) => (picked.value = row)} picked={picked.value} />
      )}
    </div>
  );
}

function* map<T>(values: Uint32Array, made: (value: number) => T): Iterable<T> {
  for (const value of values) yield made(value);
}

function Choices({ columns, numbers, x, y, z, view, views, sources, colourKey, settle }: {
  columns: Columns; numbers: Column[]; x: string; y: string; z: string; view: string; views: [string, string][]; sources: LabelSource[]; colourKey: string; settle: Settle;
}) {
  const axis = (title: string, key: 'x' | 'y' | 'z', value: string) => (
    <label>
      {title}
      <select value={value} onChange={(event) => settle({ [key]: event.currentTarget.value })}>
        {key === 'z' && <option value="">none</option>}
        {numbers.map((column) => <option key={column.name} value={column.name}>{column.name}</option>)}
      </select>
    </label>
  );
  return (
    <>
      <label>
        Colour
        <select value={colourKey || 'none'} onChange={(event) => settle({ colour: event.currentTarget.value || 'none', merged: null })}>
          <option value="none">one colour</option>
          {sources.map((one) => (
            <Fragment key={one.key}>
              <option value={one.key}>{one.title}</option>
              {one.hasProbability && <option value={SURE + one.key}>how sure: {one.title.replace('clusters of ', '')}</option>}
            </Fragment>
          ))}
          {columns.columns.map((column) => <option key={column.name} value={`column:${column.name}`}>column {column.name}</option>)}
        </select>
      </label>
      {views.length > 1 && (
        <label>
          View
          <select value={view} onChange={(event) => settle({ view: event.currentTarget.value === views[0][0] ? null : event.currentTarget.value })}>
            {views.map(([key, title]) => <option key={key} value={key}>{title}</option>)}
          </select>
        </label>
      )}
      {view === 'flat' && (
        <>
          {axis('Across', 'x', x)}
          {axis('Upwards', 'y', y)}
          {numbers.length > 2 && axis('Depth', 'z', z)}
        </>
      )}
    </>
  );
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

/// The numbers of clusters at the middles of their points, the largest first.
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
      return { text: group.name.length <= MARK_MAX ? group.name : `${group.name.slice(0, MARK_MAX - 1)}…`, colour: group.place === undefined ? groupColour(group, theme) : 'var(--soft)', x: x / length, y: y / length, z: z / length };
    });
}

/// What a group is called where it stands alone.
function titleOfGroup({ number, name, isMerged }: Group, isOfJob: boolean): string {
  return number < 0 || !isOfJob || (name !== String(number) && !isMerged) ? name : `${isMerged ? 'Clusters' : 'Cluster'} ${name}`;
}

/// How sure a cluster's rows are, and the clusters that it would merge with first: of many the first few.
function certaintyOf({ probability, partners }: Group): string {
  const others = partners?.split('+') ?? [];
  const listed = others.length > PARTNERS_LISTED ? `${others.slice(0, PARTNERS_LISTED).join('+')} and ${count(others.length - PARTNERS_LISTED)} more` : partners;
  return [...(probability !== undefined ? [`sure ${probability.toFixed(2)}`] : []), ...(listed ? [`merges with ${listed}`] : [])].join(', ');
}

function Groups({ suffix, grouping, rows, theme, hidden, isOfJob, most, hide, rename, merge, choose }: {
  /// The number of clusters, if fewer of them can be shown, and else 0.
  most: number; merge: (clusters: number) => void; suffix: string; grouping: Colouring; rows: number; theme: Theme; hidden: Set<number>; isOfJob: boolean; hide: (next: Set<number>) => void; rename: (number: number, name: string) => void; choose: (group: number, how: How) => void;
}) {
  const isAll = useSignal(false);
  const renaming = useSignal<number | null>(null);
  const search = useSignal('');
  const all = grouping.groups.map((_, at) => at);
  const found = all.filter((at) => grouping.groups[at].name.toLowerCase().includes(search.value.trim().toLowerCase()));
  const listed = isAll.value ? found : found.slice(0, LISTED);
  const toggle = (at: number) => {
    const next = new Set(hidden);
    if (!next.delete(at)) next.add(at);
    hide(next);
  };
  const isOnly = (at: number) => !hidden.has(at) && hidden.size === all.length - 1;
  const number = grouping.groups.filter((group) => group.number >= 0).length;
  return (
    <section class="card" aria-labelledby={`groups${suffix}`}>
      <div class="head tight">
        <h2 id={`groups${suffix}`}>{isOfJob ? 'Clusters' : grouping.title} <span class="soft">{count(number)}</span></h2>
        {hidden.size > 0 && <button type="button" onClick={() => hide(new Set())}>Show all</button>}
      </div>
      {most > 2 && (
        <label class="merged" title="Clusters merge in the order in which that raises the squared distances least (Ward's rule)">
          Show <input type="range" min="1" max={most} step="1" value={number} aria-valuetext={`${number} of ${most} clusters`} onInput={(event) => merge(Number(event.currentTarget.value))} />
          {number < most ? `${count(number)} of ${count(most)}` : `all ${count(most)}`}
        </label>
      )}
      {grouping.groups.length > LISTED && (
        <label>
          <span class="unseen">Search {isOfJob ? 'clusters' : grouping.title}</span>
          <input type="search" placeholder="Search" value={search.value} onInput={(event) => (search.value = event.currentTarget.value)} />
        </label>
      )}
      <ul class="groups">
        {listed.map((at) => {
          const group = grouping.groups[at];
          const title = titleOfGroup(group, isOfJob);
          const certainty = certaintyOf(group);
          if (renaming.value === group.number) {
            return (
              <li key={group.number}>
                <form
                  class="inline"
                  onSubmit={(event) => {
                    event.preventDefault();
                    const typed = event.currentTarget.querySelector('input')!.value.trim();
                    rename(group.number, typed || String(group.number));
                    renaming.value = null;
                  }}
                >
                  <input aria-label={`New name of ${title}`} defaultValue={group.name} maxLength={80} ref={(one) => one?.focus()} onKeyDown={(event) => event.key === 'Escape' && (event.stopPropagation(), (renaming.value = null))} />
                  <button type="submit">Name</button>
                </form>
              </li>
            );
          }
          return (
            <li key={group.number} class={hidden.has(at) ? 'off' : ''}>
              <button
                type="button"
                class="name"
                title="Select its rows. Shift adds, Alt takes away."
                onClick={(event) => choose(at, event.altKey ? 'subtract' : event.shiftKey ? 'add' : 'replace')}
              >
                <i class="swatch" style={{ background: groupColour(group, theme) }} />
                <span class="text">{title}</span>
                <span class="number">{count(group.rows)}</span>
                <span class="number soft">{figure((100 * group.rows) / rows, 2)} %</span>
                {group.about && <small>{group.about}</small>}
                {certainty && <small title="The mean probability of its rows; the clusters with which it would merge first">{certainty}</small>}
              </button>
              {isOfJob && group.number >= 0 && (
                <button type="button" class="bare" title={`Rename ${title}`} aria-label={`Rename ${title}`} onClick={() => (renaming.value = group.number)}><Icon name="pen" /></button>
              )}
              <button type="button" class="bare" aria-pressed={isOnly(at)} title={`Show only ${title}`} aria-label={`Show only ${title}`} onClick={() => hide(isOnly(at) ? new Set() : new Set(all.filter((one) => one !== at)))}>
                <Icon name="only" />
              </button>
              <button type="button" class="bare" aria-pressed={hidden.has(at)} title={`Hide ${title}`} aria-label={`Hide ${title}`} onClick={() => toggle(at)}>
                <Icon name={hidden.has(at) ? 'hidden' : 'shown'} />
              </button>
            </li>
          );
        })}
      </ul>
      {found.length > listed.length && <button type="button" onClick={() => (isAll.value = true)}>Show all {count(found.length)}</button>}
    </section>
  );
}

/// How many rows far out are listed.
const OUTLIERS_LISTED = 12;

function Outliers({ suffix, outliers, titleOf, pick, choose }: { suffix: string; outliers: NonNullable<Colouring['outliers']>; titleOf: (row: number) => string; pick: (row: number) => void; choose: () => void }) {
  return (
    <section class="card" aria-labelledby={`far${suffix}`}>
      <div class="head tight">
        <h2 id={`far${suffix}`}>Outliers <span class="soft">{count(outliers.length)}</span></h2>
        <button type="button" onClick={choose}>Select them</button>
      </div>
      <p class="note">Rows unusually far from the centre of their cluster, and the columns that make it so.</p>
      <ul class="plainlist">
        {outliers.slice(0, OUTLIERS_LISTED).map(({ row, cluster, about }) => (
          <li key={row}>
            <button type="button" class="link" onClick={() => pick(row)}>{titleOf(row)}</button> <span class="soft">cluster {cluster}: {about}</span>
          </li>
        ))}
      </ul>
      {outliers.length > OUTLIERS_LISTED && <p class="note">The farthest {OUTLIERS_LISTED} of {count(outliers.length)}.</p>}
    </section>
  );
}

/// Rows are selected below this probability, until another is chosen.
const LIMIT = 0.8;

/// How sure rows are of their cluster: the scale of colours, where points have them, and rows below a limit.
function Sure({ suffix, grouping, theme, choose }: { suffix: string; grouping: Colouring; theme: Theme; choose: (limit: number, how: How) => void }) {
  const limit = useSignal(LIMIT);
  const number = useMemo(() => {
    let found = 0;
    for (const _ of below(grouping, limit.value)) found++;
    return found;
  }, [grouping, limit.value]);
  const gaps = grouping.scale?.gaps ?? 0;
  return (
    <section class="card" aria-labelledby={`sure${suffix}`}>
      <h2 id={`sure${suffix}`}>How sure</h2>
      {grouping.isSure && (
        <>
          <div class="ramp" aria-hidden="true">
            {Array.from({ length: 24 }, (_, at) => <i key={at} style={{ background: scaleColour(1 - at / 23, theme) }} />)}
          </div>
          <p class="ends"><span>{UNSURE} or less, unsure</span><span>1, sure</span></p>
          {gaps > 0 && <p class="note">{count(gaps)} {gaps === 1 ? 'row is' : 'rows are'} in no cluster, and grey.</p>}
        </>
      )}
      <p class="note">The probability that a row belongs to its cluster, and not to a neighbouring one.</p>
      <div class="tools">
        <label class="check">
          Below {limit.value.toFixed(2)}
          <input type="range" min="0" max="1" step="0.01" value={limit.value} onInput={(event) => (limit.value = Number(event.currentTarget.value))} />
        </label>
        <button type="button" disabled={number === 0} title="Select these rows. Shift adds, Alt takes away." onClick={(event) => choose(limit.value, event.altKey ? 'subtract' : event.shiftKey ? 'add' : 'replace')}>
          Select {count(number)} {number === 1 ? 'row' : 'rows'}
        </button>
      </div>
    </section>
  );
}

function Scale({ title, low, high, isLog, gaps, theme }: { title: string; low: number; high: number; isLog: boolean; gaps: number; theme: Theme }) {
  return (
    <section class="card" aria-label={`Scale of ${title}`}>
      <h2>{title}</h2>
      <div class="ramp" aria-hidden="true">
        {Array.from({ length: 24 }, (_, at) => <i key={at} style={{ background: scaleColour(at / 23, theme) }} />)}
      </div>
      <p class="ends"><span>{figure(low)}</span><span>{isLog ? 'logarithmic' : ''}</span><span>{figure(high)}</span></p>
      {gaps > 0 && <p class="note">{count(gaps)} {gaps === 1 ? 'row has' : 'rows have'} no value, and {gaps === 1 ? 'is' : 'are'} grey.</p>}
    </section>
  );
}

function Picked({ suffix, columns, row, title, cluster, probability, close }: { suffix: string; columns: Columns; row: number; title: string; cluster: string; probability: number | null; close: () => void }) {
  return (
    <section class="card" aria-labelledby={`picked${suffix}`} aria-live="polite">
      <div class="head tight">
        <h2 id={`picked${suffix}`}>{title}</h2>
        <button type="button" class="bare" aria-label="Close" onClick={close}><Icon name="close" /></button>
      </div>
      {cluster && <p class="note">{cluster}{probability !== null ? `, probability ${figure(probability, 4)}` : ''}</p>}
      {columns.columns.map((column) => isStructure(column.name) && column.kind === 'text' && <Structure key={column.name} smiles={column.values[row]} />)}
      <dl class="facts one">
        {columns.columns.slice(0, 200).map((column) => (
          <div key={column.name}>
            <dt>{column.name}</dt>
            <dd>{column.kind === 'text' ? column.values[row] : figure(column.isSingle ? shortest(column.values[row] as number) : column.values[row], 12)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Chosen({ keep, source, titleOf, columns, chosen, total, recipe, grouping, clear, invert, pick, picked }: {
  keep: () => void; source: Source; titleOf: (row: number) => string; columns: Columns; chosen: Uint8Array; total: number; recipe: string[]; grouping: Colouring | null; clear: () => void; invert: () => void;
  pick: (row: number) => void; picked: number;
}) {
  const { name, suffix = '' } = source;
  const error = useSignal<unknown>(null);
  const target = useSignal<string | null>(null);
  const isSaving = useSignal(false);
  const rows = useMemo(() => {
    const found: number[] = [];
    for (let row = 0; row < chosen.length && found.length < TABLE_MAX; row++) if (chosen[row]) found.push(row);
    return found;
  }, [chosen]);
  const structures = columns.columns.find(({ name }) => isStructure(name));
  const isNamed = grouping !== null && grouping.groups.some(({ name, number }) => number >= 0 && name !== String(number));
  const extra = grouping ? ['cluster', ...(isNamed ? ['cluster_name'] : []), ...(grouping.probability ? ['probability'] : [])] : [];
  // The name of a saved selection says how the rows were selected.
  const called = `${name}-${recipe.join('-').replace(/[^\w-]+/g, '_')}`.slice(0, 100);
  const taken = new Set(columns.columns.map((column) => column.name));
  const names = [...columns.columns.map((column) => column.name), ...extra.map((one) => (taken.has(one) ? `${one}_` : one))];
  const valuesOf = (row: number) => [
    ...columns.columns.map((column) => (column.isSingle ? shortest(column.values[row] as number) : column.values[row])),
    ...(grouping ? [grouping.groups[grouping.groupOf[row]]?.number ?? -1, ...(isNamed ? [grouping.groups[grouping.groupOf[row]]?.name ?? ''] : []), ...(grouping.probability ? [grouping.probability[row]] : [])] : []),
  ];
  const asCsv = () => {
    const isTitled = source.titleOf !== undefined;
    const parts: string[] = [csvRow(isTitled ? ['id', ...names] : names)];
    for (let row = 0; row < chosen.length; row++) if (chosen[row]) parts.push(csvRow(isTitled ? [titleOf(row), ...valuesOf(row)] : valuesOf(row)));
    return new Blob(parts, { type: 'text/csv' });
  };
  const save = async () => {
    isSaving.value = true;
    error.value = null;
    try {
      const rows = await source.save!(target.value!.trim(), asCsv(), chosen);
      say(`${target.value} is there: ${count(rows)} rows.`);
      target.value = null;
    } catch (caught) {
      error.value = caught;
    } finally {
      isSaving.value = false;
    }
  };
  return (
    <section class="card chosen" aria-labelledby={`chosen${suffix}`}>
      <div class="head">
        <div>
          <h2 id={`chosen${suffix}`}>{count(total)} rows selected</h2>
          <p class="note">{recipe.join(', ')}</p>
        </div>
        <div class="tools">
          <button type="button" class="first" onClick={() => download(`${called}.csv`, asCsv())}>Export CSV</button>
          {source.save && <button type="button" onClick={() => (target.value = target.value === null ? called : null)}>Save as data set</button>}
          <button type="button" onClick={keep}>Compare</button>
          <button type="button" onClick={invert}>Invert (I)</button>
          <button type="button" onClick={clear}>Clear (Esc)</button>
        </div>
      </div>
      {target.value !== null && (
        <form
          class="inline"
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          <label>Name <input value={target.value} onInput={(event) => (target.value = event.currentTarget.value)} /></label>
          <button type="submit" class="first" disabled={isSaving.value}>Save</button>
        </form>
      )}
      <Trouble error={error.value} />
      {structures?.kind === 'text' && (
        <ul class="plainlist gallery">
          {rows.slice(0, STRUCTURES_SHOWN).map((row) => (
            <li key={row}>
              <button type="button" class="link" onClick={() => pick(row)}>{titleOf(row)}</button>
              <Structure smiles={structures.values[row]} width={190} height={130} />
            </li>
          ))}
        </ul>
      )}
      <Grid caption="Selected rows" names={['row', ...names]} rows={rows.map((row) => [source.titleOf ? titleOf(row) : row + 1, ...valuesOf(row)])} on={rows.indexOf(picked)} pick={(at) => pick(rows[at])} />
      {total > rows.length && <p class="note">The first {count(rows.length)} are shown; the export has all {count(total)}.</p>}
    </section>
  );
}
