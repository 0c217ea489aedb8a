// Lists the outliers.

import { useMemo } from 'preact/hooks';
import type { Columns } from '../api/columns.ts';
import { boxesOf } from '../state/boxes.ts';
import type { Colouring } from '../state/clusters.ts';
import { count, figure } from '../state/words.ts';

/// The maximum number of outliers in the list.
const OUTLIERS_LISTED = 12;
/// The maximum number of rows up to which an outlier is compared with the middle half of its cluster.
const COMPARED_MAX = 100_000;

/// Returns why each outlier of the list is one. The job names the columns, each with its share of the squared distance, such as `x (98 %); y (2 %)`. The page adds the
/// value of the row, and the middle half of the values of its cluster.
export function reasons({ groups, groupOf, outliers = [] }: Colouring, { columns }: Columns): string[] {
  const boxes = new Map<string, ReturnType<typeof boxesOf>>();
  return outliers.slice(0, OUTLIERS_LISTED).map(({ row, cluster, about }) => {
    const parts = about.split(/ \((\d+ %)\)(?:; )?/);
    return parts.flatMap((name, at) => {
      if (at % 2 || !name) return [];
      const share = parts[at + 1] ? `${parts[at + 1]} of the distance` : '';
      const column = columns.find((one) => one.name === name);
      if (!column || !share) return [share ? `${name} (${share})` : name];
      const isCompared = column.kind !== 'text' && groupOf.length <= COMPARED_MAX;
      if (isCompared && !boxes.has(name)) boxes.set(name, boxesOf(column.values, groupOf, groups.length));
      const box = boxes.get(name)?.[groups.findIndex(({ number }) => number === cluster)];
      return [`${name} ${figure(column.values[row])} (${share}${box ? `; half of the cluster has ${figure(box.quartiles[0])} to ${figure(box.quartiles[2])}` : ''})`];
    }).join(', ');
  });
}

export function Outliers({ suffix, grouping, columns, titleOf, pick, choose }: {
  suffix: string; grouping: Colouring; columns: Columns; titleOf: (row: number) => string; pick: (row: number) => void; choose: () => void;
}) {
  const outliers = grouping.outliers!;
  const about = useMemo(() => reasons(grouping, columns), [grouping, columns]);
  return (
    <section class="card" aria-labelledby={`far${suffix}`}>
      <div class="head tight">
        <h2 id={`far${suffix}`}>Outliers <span class="soft">{count(outliers.length)}</span></h2>
        <button type="button" onClick={choose}>Select them</button>
      </div>
      <p class="note">Rows unusually far from the centre of their cluster, and the columns that make it so.</p>
      <ul class="plainlist">
        {outliers.slice(0, OUTLIERS_LISTED).map(({ row, cluster }, at) => (
          <li key={row}>
            <button type="button" class="link" onClick={() => pick(row)}>{titleOf(row)}</button> <span class="soft">cluster {cluster}{about[at] && `: ${about[at]}`}</span>
          </li>
        ))}
      </ul>
      {outliers.length > OUTLIERS_LISTED && <p class="note">The farthest {OUTLIERS_LISTED} of {count(outliers.length)}.</p>}
    </section>
  );
}
