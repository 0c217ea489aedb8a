// Determines what each picture of a scene shows: a layout of the source, the sphere, or two or three columns. The user can choose it.

import type { Column, NumberColumn } from '../api/columns.ts';
import type { Layout, Settle, Source } from './scene.tsx';

/// The content of a picture: a layout of the source, the sphere, or two or three columns.
export interface Frame {
  /// The suffix of the names of the picture's settings. It is empty for the first picture.
  ending: string;
  view: string;
  layout?: Layout;
  x: Column;
  y: Column;
  z?: Column;
  isEqual: boolean;
  /// The content of the picture in words.
  title: string;
}

/// The views and columns of a source that can be drawn.
export interface Views {
  /// The key and the title of each view.
  all: [string, string][];
  /// The number of views that pictures show before somebody chooses. The others are computed on request.
  ready: number;
  numbers: NumberColumn[];
  /// Columns that are neither ids nor weights, nor axes of a layout.
  usable: NumberColumn[];
  longitude?: NumberColumn;
  latitude?: NumberColumn;
}

export function viewsOf({ columns, layouts, projections, id, weights }: Source): Views {
  const numbers = columns.columns.filter((column) => column.kind !== 'text');
  const named = (pattern: RegExp) => numbers.find((column) => pattern.test(column.name));
  const [longitude, latitude] = [named(/^(lon|lng|long|longitude)$/i), named(/^(lat|latitude)$/i)];
  const isAxis = (column: Column) => layouts.some(({ x, y, z }) => column === x || column === y || column === z);
  const free = numbers.filter((column) => column.name !== id && column.name !== weights && !isAxis(column));
  const usable = free.length >= 2 ? free : numbers;
  const all: [string, string][] = layouts.map((one) => [one.key, one.title]);
  if (longitude && latitude) all.push(['sphere', 'sphere']);
  if (usable.length >= 2) all.push(['flat', 'columns']);
  const ready = all.length;
  return { all: [...all, ...(projections?.views ?? [])], ready, numbers, usable, longitude, latitude };
}

/// Returns two columns for the picture of columns with index `at`. Longitude and latitude come first, then pairs of unused columns, then other pairs, and last
/// the same pairs with their axes swapped, but no map on its side.
export function pairOf({ usable, longitude, latitude }: Views, at: number): [Column, Column] {
  const pairs: [Column, Column][] = [];
  const add = (x: Column, y: Column) => pairs.some((one) => one[0] === x && one[1] === y) || pairs.push([x, y]);
  if (longitude && latitude) add(longitude, latitude);
  const others = usable.filter((one) => one !== longitude && one !== latitude);
  const rest = pairs.length && others.length >= 2 ? others : usable;
  for (let i = 0; i + 1 < rest.length; i += 2) add(rest[i], rest[i + 1]);
  for (let gap = 1; gap < rest.length && pairs.length <= at; gap++) {
    for (let i = 0; i + gap < rest.length; i++) if (gap > 1 || i % 2) add(rest[i], rest[i + gap]);
  }
  for (const [x, y] of [...pairs]) if (x !== longitude) add(y, x);
  return pairs[at % pairs.length] ?? [usable[0], usable[0]];
}

/// Returns the content of the picture with index `at`: the view that the user has chosen, or else the next view of the source.
export function frameOf(source: Source, views: Views, settings: Record<string, string>, at: number): Frame {
  const ending = at ? String(at + 1) : '';
  const { all, ready, numbers, longitude, latitude } = views;
  const chosen = settings[`view${ending}`];
  const view = all.find(([key]) => key === chosen)?.[0] ?? all[Math.min(at, ready - 1)]?.[0] ?? 'flat';
  const layout = source.layouts.find((one) => one.key === view);
  const pair = pairOf(views, view === 'flat' ? Math.max(0, at - ready + 1) : 0);
  const of = (axis: string, otherwise: Column) => numbers.find(({ name }) => name === settings[axis + ending]) ?? otherwise;
  const [x, y] = layout ? [layout.x, layout.y] : [of('x', pair[0]), of('y', pair[1])];
  const depth = settings[`z${ending}`];
  const z = layout ? layout.z : numbers.find(({ name }) => name === depth);
  // On a map of places, a degree has the same length in both directions, and positions have one unit for all axes.
  const isEqual = layout ? layout.isEqual : (x === longitude && y === latitude) || source.isEqual;
  const title = layout ? layout.title : view === 'sphere' ? 'positions on the sphere' : `${x.name} and ${y.name}${z ? ` and ${z.name}` : ''}`;
  return { ending, view, layout, x, y, z, isEqual, title };
}

/// Shows the settings of a picture's axes.
export function Axes({ frame: { ending, view, x, y, z }, views: { all, numbers }, settle }: { frame: Frame; views: Views; settle: Settle }) {
  const axis = (title: string, key: 'x' | 'y' | 'z', value: string) => (
    <label>
      {title}
      <select value={value} onChange={(event) => settle({ [key + ending]: event.currentTarget.value })}>
        {key === 'z' && <option value="">none</option>}
        {numbers.map(({ name }) => <option key={name} value={name}>{name}</option>)}
      </select>
    </label>
  );
  return (
    <>
      {all.length > 1 && (
        <label>
          View
          <select value={view} onChange={(event) => settle({ [`view${ending}`]: event.currentTarget.value })}>
            {all.map(([key, title]) => <option key={key} value={key}>{title}</option>)}
          </select>
        </label>
      )}
      {view === 'flat' && (
        <>
          {axis('Across', 'x', x.name)}
          {axis('Upwards', 'y', y.name)}
          {numbers.length > 2 && axis('Depth', 'z', z?.name ?? '')}
        </>
      )}
    </>
  );
}
