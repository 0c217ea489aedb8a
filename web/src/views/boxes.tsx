// Box plots of a column, one for each group of the colouring.

import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { NumberColumn } from '../api/columns.ts';
import type { Theme } from '../colour/palette.ts';
import { isSkewed, logarithm } from '../points/cloud.ts';
import { boxesOf, separating, type Box } from '../state/boxes.ts';
import { groupColour, type Colouring } from '../state/clusters.ts';
import { howOf, type How } from '../state/selection.ts';
import { count, figure } from '../state/words.ts';
import { tens, ticks } from './chart.tsx';
import { groundOfPage, Save, standalone } from './save.tsx';
import { AsTable } from './table.tsx';
import { useWidth } from './width.ts';

/// The maximum number of values, rows times columns, up to which the view finds the best first column itself. This takes a fifth of a second. With more values,
/// the user chooses a column.
const VALUES_MAX = 12e6;
/// The number of rows above which the box plots are drawn later, after the picture of the points.
const LATER = 100_000;
/// The maximum number of groups that are drawn. The table has all groups.
const DRAWN = 40;
const LINE = 24;
const [TOP, BOTTOM, RIGHT] = [4, 42, 14];
/// The approximate maximum width of a letter, in pixels.
const LETTER = 7;
/// The key of the column of probabilities. No column of a data set has this name.
const SURE = '\u0000probability';

export function Boxes({ suffix, columns, grouping, hidden, theme, column: wanted, settle, nameOf, choose }: {
  suffix: string; columns: NumberColumn[]; grouping: Colouring; hidden: Set<number>; theme: Theme; column: string | undefined; settle: (column: string) => void; nameOf: (group: number) => string;
  choose: (group: number, how: How) => void;
}) {
  const picture = useRef<SVGSVGElement>(null);
  const [frame, wide] = useWidth(240, 480);
  const on = useSignal(-1);
  const { groupOf, groups, probability } = grouping;
  const isTurn = useSignal(groupOf.length <= LATER);
  useEffect(() => void setTimeout(() => (isTurn.value = true), 100), []);
  const offered: [string, string, NumberColumn][] = columns.map((one) => [one.name, one.name, one]);
  const sure = useMemo(() => probability && { name: 'probability', kind: 'number' as const, values: probability }, [probability]);
  if (sure) offered.push([SURE, 'probability (how sure)', sure]);
  const first = useMemo(() => (isTurn.value && groupOf.length * columns.length <= VALUES_MAX ? separating(columns, groupOf, groups.length)?.name : undefined), [columns, groupOf, isTurn.value]);
  const key = wanted ?? first ?? '';
  const found = offered.find(([one]) => one === key);
  const column = found?.[2];
  const isLog = useMemo(() => column !== undefined && isSkewed(column.values), [column]);
  const boxes = useMemo(() => (column && isTurn.value ? boxesOf((isLog ? logarithm(column) : column).values as Float64Array, groupOf, groups.length) : []), [column, isLog, groupOf, isTurn.value]);
  const listed = boxes.flatMap((box, group) => (box && !hidden.has(group) ? [{ group, box }] : []));
  const drawn = listed.slice(0, DRAWN);
  const valueOf = (place: number) => (isLog ? 10 ** place : place);
  const text = (place: number, digits = 4) => figure(valueOf(place), digits);
  const said = ({ rows, quartiles, whiskers, beyond }: Box) =>
    `median ${text(quartiles[1])}, half of the rows from ${text(quartiles[0])} to ${text(quartiles[2])}, whiskers from ${text(whiskers[0])} to ${text(whiskers[1])}, ${count(beyond)} of ${count(rows)} rows beyond`;

  const width = wide.value;
  const names = drawn.map(({ group }) => nameOf(group));
  const left = Math.min(0.36 * width, 260, LETTER * Math.max(0, ...names.map((name) => name.length)) + 20);
  const letters = Math.floor((left - 20) / LETTER);
  const height = TOP + LINE * drawn.length + BOTTOM;
  let [low, high] = drawn.reduce(([low, high], { box: { whiskers } }) => [Math.min(low, whiskers[0]), Math.max(high, whiskers[1])], [Infinity, -Infinity]);
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const most = Math.max(2, Math.floor((width - left) / 64));
  // The axis begins and ends at a round value, so that labels enclose all whiskers.
  const round = drawn.length && !isLog ? ticks(low, high, most) : [];
  const by = round[1] - round[0];
  let steps = most;
  if (by > 0 && Number.isFinite(high - low)) {
    [low, high] = [Math.floor(low / by + 1e-9) * by, Math.ceil(high / by - 1e-9) * by];
    // A little more than the number of steps, so that rounding gives no coarser ones.
    steps = Math.round((high - low) / by) + 0.01;
  }
  // Dividing by the scale first keeps the difference of very large numbers finite.
  const x = (place: number) => {
    const scale = Math.max(Math.abs(low), Math.abs(high)) || 1;
    return left + ((width - left - RIGHT) * (place / scale - low / scale)) / (high / scale - low / scale || 1);
  };
  const places = !drawn.length ? [] : isLog ? tens(valueOf(low), valueOf(high), most).map(Math.log10) : ticks(low, high, steps);
  const keys = (event: KeyboardEvent, at: number) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: drawn.length - 1 }[event.key];
    if (to !== undefined) picture.current!.querySelectorAll<SVGElement>('[role=button]')[to]?.focus();
    else if (event.key === 'Enter' || event.key === ' ') choose(drawn[at].group, howOf(event));
    else return;
    event.preventDefault();
  };
  // Tab reaches one box, and the arrow keys reach all boxes from there.
  const current = on.value >= 0 && on.value < drawn.length ? on.value : 0;
  return (
    <section class="card" style={{ minWidth: 0 }} aria-labelledby={`boxes${suffix}`}>
      <div class="head">
        <h2 id={`boxes${suffix}`}>Box plots</h2>
        <div class="tools choices">
          <label>
            Values
            <select value={found ? key : ''} onChange={(event) => settle(event.currentTarget.value || 'none')}>
              <option value="">none</option>
              {offered.map(([key, title]) => <option key={key} value={key}>{title}</option>)}
            </select>
          </label>
          {drawn.length > 0 && <Save name={`${column!.name} by ${grouping.title}`} make={() => standalone(picture.current!, width, height, groundOfPage())} />}
        </div>
      </div>
      {column && (
        <p class="note">
          {on.value >= 0 && drawn[on.value]
            ? `${names[on.value]}: ${said(drawn[on.value].box)}.`
            : `Each box holds the middle half of its rows, with a line at the median. Whiskers end at the farthest rows within one and a half boxes. Click a box to select its rows.${isLog ? ' The axis is logarithmic.' : ''}`}
        </p>
      )}
      <div ref={frame}>
        {drawn.length > 0 && (
          <svg ref={picture} class="boxes" width={width} height={height} role="group" aria-label={`${column!.name} by ${grouping.title}`} onPointerLeave={() => (on.value = -1)} style={{ display: 'block' }}>
            {places.map((place) => <path key={place} d={`M${x(place)} ${TOP}V${height - BOTTOM + 4}`} stroke="var(--line)" />)}
            {places.map((place) => (
              <text key={place} x={x(place)} y={height - 22} text-anchor={x(place) > width - 30 ? 'end' : 'middle'}>{text(place, 5)}</text>
            ))}
            <text x={width - RIGHT} y={height - 5} text-anchor="end" font-weight="600">{column!.name}</text>
            {drawn.map(({ group, box: { quartiles, whiskers } }, at) => {
              const colour = groupColour(groups[group], theme);
              const [a, m, b] = quartiles.map(x);
              const name = names[at];
              const middle = TOP + LINE * (at + 0.5);
              return (
                <g key={group} style={{ cursor: 'pointer' }} onClick={(event) => choose(group, howOf(event))} onPointerEnter={() => (on.value = at)}>
                  <rect width={width} y={TOP + LINE * at} height={LINE} fill="var(--wash)" fill-opacity={at === on.value ? 1 : 0} />
                  <circle cx="6" cy={middle} r="5" fill={colour} />
                  <text x="18" y={middle + 4}>{name.length > letters ? `${name.slice(0, Math.max(1, letters - 1))}…` : name}</text>
                  <g role="button" tabIndex={at === current ? 0 : -1} aria-label={`Box of ${name}: ${said(drawn[at].box)}`} onKeyDown={(event) => keys(event, at)} onFocus={() => (on.value = at)}>
                    <path d={`M${x(whiskers[0])} ${middle - 4}v8m0 -4H${a}M${b} ${middle}H${x(whiskers[1])}m0 -4v8`} fill="none" stroke={colour} stroke-width="1.5" />
                    <rect x={a} y={middle - 6} width={Math.max(1, b - a)} height="12" fill={colour} fill-opacity="0.4" stroke={colour} stroke-width="1.5" />
                    <path d={`M${m} ${middle - 9}v18`} stroke="var(--ink)" stroke-width="2.5" />
                  </g>
                </g>
              );
            })}
          </svg>
        )}
      </div>
      {listed.length > DRAWN && <p class="note">The first {DRAWN} of {count(listed.length)} are drawn; the table has all.</p>}
      {listed.length > 0 && (
        <AsTable name={`${column!.name} by ${grouping.title}`} names={[grouping.title, 'rows', 'lower whisker', 'lower quartile', 'median', 'upper quartile', 'upper whisker', 'rows beyond']}
          rows={() => listed.map(({ group, box }) => [nameOf(group), box.rows, ...[box.whiskers[0], ...box.quartiles, box.whiskers[1]].map(valueOf), box.beyond])} pick={(at) => choose(listed[at].group, 'replace')} />
      )}
    </section>
  );
}
