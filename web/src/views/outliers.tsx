// Lists the outliers.

import type { Colouring } from '../state/clusters.ts';
import { count } from '../state/words.ts';

/// The maximum number of outliers in the list.
const OUTLIERS_LISTED = 12;

export function Outliers({ suffix, outliers, titleOf, pick, choose }: { suffix: string; outliers: NonNullable<Colouring['outliers']>; titleOf: (row: number) => string; pick: (row: number) => void; choose: () => void }) {
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
            <button type="button" class="link" onClick={() => pick(row)}>{titleOf(row)}</button> <span class="soft">cluster {cluster}{about && `: ${about}`}</span>
          </li>
        ))}
      </ul>
      {outliers.length > OUTLIERS_LISTED && <p class="note">The farthest {OUTLIERS_LISTED} of {count(outliers.length)}.</p>}
    </section>
  );
}
