// A scene: one or several pictures of points that share one selection and one colouring. Rows can be selected by lasso, box or cluster, examined one by one,
// and saved. The rows come from a source: a node, or the page of a report that contains them.

import { batch, useSignal, type Signal } from '@preact/signals';
import { Fragment } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Column, Columns } from '../api/columns.ts';
import { below, byColumn, bySureness, merged, NO_CLUSTER, NO_VALUE, rowColour, type Colouring, type Group } from '../state/clusters.ts';
import { hiddenAs, hiddenIn, named, renamed } from '../state/named.ts';
import { say } from '../state/notice.ts';
import { selected, steps, type How } from '../state/selection.ts';
import { theme as themeSignal } from '../state/theme.ts';
import { count, figure, words } from '../state/words.ts';
import { Boxes } from './boxes.tsx';
import { Chosen } from './chosen.tsx';
import type { Degrees, Ground, Handle, Outline, Tool } from './cloud.tsx';
import { Compare, type Kept } from './compare.tsx';
import { Trouble } from './fault.tsx';
import { Axes, frameOf, viewsOf } from './frame.tsx';
import { Groups, titleOfGroup, wordOf } from './groups.tsx';
import type { Outliers } from './outliers.tsx';
import { Picked } from './picked.tsx';
import { Hint, Picture } from './picture.tsx';
import { Scale } from './scale.tsx';
import { Sure } from './sure.tsx';

export interface LabelSource {
  key: string;
  title: string;
  /// The version of the labels. When it changes, they are loaded again.
  version: string;
  load: (signal: AbortSignal) => Promise<Colouring>;
  /// The colouring, if it has been loaded before.
  ready?: Colouring;
  /// Whether the labels have probabilities.
  hasProbability?: boolean;
}

/// The prefix of the key of a colouring by the probabilities of rows instead of their clusters.
const SURE = 'sure:';

/// Returns the labels that the key of a colouring names. Without a key, returns the first labels.
export function keyOfLabels(sources: LabelSource[], key = sources[0]?.key): LabelSource | undefined {
  return sources.find((one) => one.key === (key?.startsWith(SURE) ? key.slice(SURE.length) : key));
}

/// A picture for which the source provides the positions.
export interface Layout {
  key: string;
  title: string;
  x: Column;
  y: Column;
  z?: Column;
  /// Whether all axes have the same unit.
  isEqual: boolean;
  /// The relative length at which a unit of each axis is drawn, if it differs.
  stretch?: [number, number];
  degrees?: Degrees;
  outlines?: Outline[];
  ground?: Ground;
  note?: string;
}

export interface Source {
  name: string;
  columns: Columns;
  /// The progress of loading all rows, if these rows are a sample. Rows of a sample cannot be selected.
  sampled?: preact.JSX.Element;
  id?: string;
  weights?: string;
  /// Returns the name of a row. Without this function, the name is the row's id or its number.
  titleOf?: (row: number) => string;
  /// The suffix of the ids of the scene's elements, if a page has several scenes.
  suffix?: string;
  sources: LabelSource[];
  layouts: Layout[];
  /// Layouts that are computed when the user chooses one: the key and the title of each, and a function that computes them.
  projections?: { views: [string, string][]; make: (stop: AbortSignal) => Promise<Layout[]> };
  /// Whether all columns have the same unit.
  isEqual: boolean;
  /// The key of the first colouring if there are no clusters.
  colour?: string;
  /// The address of the form that starts a job on these rows to find clusters.
  find?: string;
  /// Loads the coast, which maps show below their points.
  coast?: () => Promise<string>;
  /// Saves the selected rows as a data set, and returns their number. Absent in a report.
  save?: (name: string, chosen: Uint8Array, description: string) => Promise<number>;
  /// Lists the outliers. Absent in a report, which lists them itself.
  Outliers?: typeof Outliers;
  /// The data set whose columns a saved selection has, if it is not the one that is drawn.
  saved?: string;
}

export type Settle = (changes: Record<string, string | null>) => void;

/// The maximum length of a text under the pointer.
const HINT_MAX = 40;

function shortened(text: string): string {
  return text.length > HINT_MAX ? `${text.slice(0, HINT_MAX - 1)}…` : text;
}

/// The possible numbers of pictures side by side.
const PICTURES = [1, 2, 4];

export function Scene({ source, settings, settle, choice, asked }: {
  source: Source; settings: Record<string, string>; settle: Settle; choice?: preact.JSX.Element; asked?: Signal<{ group: number } | null>;
}) {
  const theme = themeSignal.value;
  const { columns, sources, suffix = '' } = source;
  const views = useMemo(() => viewsOf(source), [columns]);
  const { usable } = views;
  const pictures = PICTURES.find((one) => String(one) === settings.pictures) ?? 1;
  const projected = useSignal<Layout[]>([]);
  const drawn = { ...source, layouts: [...source.layouts, ...projected.value] };
  const frames = Array.from({ length: pictures }, (_, at) => frameOf(drawn, views, settings, at));
  const isProjected = frames.some(({ view }) => source.projections?.views.some(([key]) => key === view));
  const colourKey = settings.colour ?? sources[0]?.key ?? source.colour ?? '';

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

  useEffect(() => {
    projected.value = [];
    if (!isProjected) return;
    const stop = new AbortController();
    source.projections!.make(stop.signal).then((layouts) => {
      if (!stop.signal.aborted) projected.value = layouts;
    }, (caught) => {
      if (!stop.signal.aborted) error.value = caught;
    });
    return () => stop.abort();
  }, [isProjected, columns]);

  // For each row, whether it is selected. Each selection is a new array, so that the pictures notice the change.
  const chosen = useSignal<Uint8Array | null>(null);
  const recipe = useSignal<string[]>([]);
  const picked = useSignal<number>(-1);
  const tool = useSignal<Tool>('move');
  const width = useSignal(0);
  const handles = useRef(new Set<{ current: Handle | null }>()).current;
  const kept = useSignal<Kept | null>(null);
  // Loaded labels are used at once, so that no frame is drawn without colours. Labels of a sample do not apply to all rows.
  const plain = labels?.ready ?? (colouring.value?.groupOf.length === columns.rows ? colouring.value : null);
  // The number of clusters, if they can be merged to show fewer.
  const most = plain?.groups.some(({ joins }) => joins) ? plain.groups.filter(({ number }) => number >= 0).length : 0;
  const fewer = Number(settings.merged) >= 1 && Number(settings.merged) < most ? Number(settings.merged) : 0;
  const grouping = useMemo(() => {
    const own = plain && labels ? named(plain, settings.names, labels.key) : plain;
    if (own && fewer) return named(merged(own, fewer), settings.names, labels!.key, fewer);
    return own && isSure ? bySureness(own) : own;
  }, [plain, isSure, fewer, settings.names]);
  // Groups are hidden as long as the same labels are shown, merged to the same number of groups.
  const prefix = `${labels?.key ?? colourKey} ${fewer} `;
  const hidden = useMemo(() => hiddenIn(settings.hidden, prefix, grouping?.groups ?? []), [grouping, settings.hidden, prefix]);
  const hide = (next: Set<number>) => settle({ hidden: hiddenAs(next, prefix, grouping!.groups) });
  const rename = (group: Group, name: string) => settle({ names: renamed(settings.names, labels!.key, group, fewer, name) });

  const isHidden = (row: number) => grouping !== null && hidden.size > 0 && hidden.has(grouping.groupOf[row]);
  const total = useMemo(() => (chosen.value ? chosen.value.reduce((sum, one) => sum + one, 0) : 0), [chosen.value]);

  const choose = (rows: Iterable<number>, how: How, step: string) => {
    const next = selected(chosen.value, rows, how, columns.rows);
    batch(() => {
      chosen.value = next;
      recipe.value = next ? steps(recipe.value, step, how) : [];
    });
    say(next ? `${count(next.reduce((sum, one) => sum + one, 0))} rows selected.` : 'Nothing is selected.');
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
  const word = labels && grouping ? wordOf(grouping.title) : undefined;
  /// Returns how the rows of a group were selected, such as `cluster 3`.
  const stepOf = (group: number) => `${word?.toLowerCase() ?? grouping!.title} ${grouping!.groups[group].name}`;
  const chooseGroup = (group: number, how: How) => choose(ofGroup(group), how, stepOf(group));
  const chooseBelow = (limit: number, how: How) => choose(below(grouping!, limit), how, `probability below ${limit}`);
  const hideChosen = () => {
    if (!chosen.value || !grouping) return;
    const next = new Set(hidden);
    chosen.value.forEach((one, row) => one && next.add(grouping.groupOf[row]));
    if (next.size < grouping.groups.length) hide(next);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test((event.target as Element).tagName)) return;
    const actions: Record<string, () => void> = {
      l: () => (tool.value = 'lasso'), b: () => (tool.value = 'box'), m: () => (tool.value = 'move'), i: invert, h: hideChosen, Escape: clear,
      f: () => handles.forEach(({ current }) => current?.fit()),
    };
    const act = actions[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };

  // Scrolls to a card that a click far from it has opened, once it is drawn, and moves the focus there.
  const reach = (id: string) => requestAnimationFrame(() => {
    const heading = document.getElementById(id + suffix);
    heading?.closest('section')!.scrollIntoView({ block: 'nearest' });
    heading?.focus({ preventScroll: true });
  });

  const asking = asked?.value;
  useEffect(() => {
    if (!asking || !grouping) return;
    const group = grouping.groups.findIndex((one) => one.number === asking.group);
    if (group >= 0) choose(ofGroup(group), 'replace', stepOf(group));
  }, [asking]);

  // Box plots go below the picture, beside the list of groups if the list is longer.
  const hasBoxes = !source.sampled && grouping !== null && grouping.groups.length > 0 && usable.length > 0;

  const pointWidth = width.value || (columns.rows > 300_000 ? 1 : columns.rows > 30_000 ? 2 : columns.rows > 3000 ? 4 : columns.rows > 500 ? 7 : 9);
  const describe = (row: number) => {
    const about = columns.columns.filter((column) => column.name !== source.id).slice(0, 6).map((column) => `${column.name} ${column.kind === 'text' ? shortened(column.values[row]) : figure(column.values[row], 6)}`);
    return about.join(' · ');
  };
  const idColumn = columns.columns.find((column) => column.name === source.id);
  const titleOf = (row: number) => (source.titleOf ? source.titleOf(row) : idColumn ? String(idColumn.kind === 'text' ? idColumn.values[row] : figure(idColumn.values[row], 12)) : `row ${count(row + 1)}`);
  const groupName = (row: number) => {
    const group = grouping?.groups[grouping.groupOf[row]];
    return group ? group.name : '';
  };
  const about = {
    caption: `${grouping ? `, coloured by ${grouping.isSure ? 'how sure they are in ' : ''}${grouping.title}` : ''}; ${count(columns.rows)} rows`,
    summary: `${grouping?.groups.length ? ` ${grouping.groups.length} groups; the list beside the picture has them all.` : ''}${total ? ` ${count(total)} rows are selected; the table below has them.` : ''} Arrow keys move, plus and minus zoom, Enter picks the middle point.`,
  };
  const hint = (row: number) => {
    const cluster = grouping?.groups.length ? groupName(row) : '';
    const title = cluster && cluster !== NO_CLUSTER && cluster !== NO_VALUE ? `${word ? `${word} ` : ''}${cluster} · ${titleOf(row)}` : titleOf(row);
    return { title, text: `${grouping?.isSure ? `probability ${figure(grouping.probability![row], 3)} · ` : ''}${describe(row)}`, colour: rowColour(grouping, row, theme) };
  };
  const chooseAll = function* () {
    for (let row = 0; row < columns.rows; row++) if (!isHidden(row)) yield row;
  };
  const size = (
    <>
      <label>
        Point size
        <input type="range" min="1" max="15" step="1" value={pointWidth} onInput={(event) => (width.value = Number(event.currentTarget.value))} />
      </label>
      <button type="button" onClick={() => (choose(chooseAll(), 'replace', 'all shown'), reach('chosen'))}>As a table</button>
    </>
  );

  return (
    <div class="scene" style={{ gridTemplateRows: hasBoxes ? 'auto 1fr' : undefined }} onKeyDown={keys}>
      <section class="card picture" aria-label="Picture">
        <div class="tools choices">
          {choice}
          <Colours columns={columns} sources={sources} colourKey={colourKey} settle={settle} />
          {pictures === 1 && <Axes frame={frames[0]} views={views} settle={settle} />}
          {views.all.length > 0 && (
            <label>
              Pictures
              <select value={pictures} onChange={(event) => settle({ pictures: event.currentTarget.value })}>
                {PICTURES.map((one) => <option key={one} value={one}>{one}</option>)}
              </select>
            </label>
          )}
        </div>
        <div class={`views of${pictures}`}>
          {frames.map((frame, at) => (
            <Picture
              key={at} source={source} frame={frame} views={views} settings={settings} settle={settle} grouping={grouping} chosen={chosen.value} hidden={hidden} picked={picked.value} tool={tool.value}
              pointWidth={pointWidth} theme={theme} about={about} above={pictures > 1 && <Axes frame={frame} views={views} settle={settle} />} under={pictures === 1 && size}
              take={(one) => (tool.value = one)} select={choose} pick={(row) => (picked.value = row)} hint={hint} fail={(caught) => (error.value = caught)} handles={handles}
            />
          ))}
        </div>
        {pictures > 1 && !source.sampled && <div class="tools under">{size}<Hint tool={tool.value} isFlat={frames.every(({ view, z }) => !z && view !== 'sphere')} /></div>}
        {isProjected && !projected.value.length && <p class="note">Computing the principal axes…</p>}
        {source.sampled && <p class="note">A sample. {source.sampled}</p>}
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
          <Groups suffix={suffix} grouping={grouping} rows={columns.rows} theme={theme} hidden={hidden} word={word}
            hide={hide} rename={rename} total={total} reach={() => reach('chosen')}
            most={most} merge={(clusters) => settle({ merged: clusters < most ? String(clusters) : null })} choose={chooseGroup} />
        )}
        {grouping && labels?.hasProbability && grouping.probability && !grouping.isSure && <Sure suffix={suffix} grouping={grouping} theme={theme} choose={chooseBelow} />}
        {source.Outliers && grouping?.outliers && grouping.outliers.length > 0 && (
          <source.Outliers suffix={suffix} grouping={grouping} columns={columns} titleOf={titleOf} pick={(row) => ((picked.value = row), reach('picked'))}
            choose={() => (choose(grouping.outliers!.map(({ row }) => row), 'replace', 'out of the ordinary'), reach('chosen'))} />
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
        <Boxes suffix={suffix} columns={usable} grouping={grouping} hidden={hidden} theme={theme} column={settings.box} settle={(box) => settle({ box })} nameOf={(group) => titleOfGroup(grouping.groups[group], word)}
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

function Colours({ columns, sources, colourKey, settle }: { columns: Columns; sources: LabelSource[]; colourKey: string; settle: Settle }) {
  return (
    <label>
      Colour
      <select value={colourKey || 'none'} onChange={(event) => settle({ colour: event.currentTarget.value || 'none', merged: null })}>
        <option value="none">one colour</option>
        {sources.map((one) => (
          <Fragment key={one.key}>
            <option value={one.key}>{one.title}</option>
            {one.hasProbability && <option value={SURE + one.key}>how sure: {one.title.replace(/^\w+ of /, '')}</option>}
          </Fragment>
        ))}
        {columns.columns.map((column) => <option key={column.name} value={`column:${column.name}`}>column {column.name}</option>)}
      </select>
    </label>
  );
}
