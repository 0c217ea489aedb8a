// Compares two selections.

import type { Columns } from '../api/columns.ts';
import { differences, shares, size } from '../state/compare.ts';
import type { Colouring } from '../state/clusters.ts';
import { count } from '../state/words.ts';
import { Grid } from './table.tsx';

export interface Kept {
  rows: Uint8Array;
  recipe: string;
}

/// The maximum number of groups in the list.
const GROUPS_MAX = 60;

export function Compare({ suffix, columns, grouping, kept, chosen, recipe, close }: {
  suffix: string; columns: Columns; grouping: Colouring | null; kept: Kept; chosen: Uint8Array | null; recipe: string; close: () => void;
}) {
  const isSame = !chosen || chosen === kept.rows;
  const other = isSame ? kept.rows.map((one) => 1 - one) : chosen;
  const title = isSame ? 'all other rows' : recipe;
  const overlap = isSame ? 0 : kept.rows.reduce((sum, one, row) => sum + (one & other[row]), 0);
  const percent = (of: number, all: number) => (all ? Number(((100 * of) / all).toPrecision(3)) : '–');
  const [a, b] = [size(kept.rows), size(other)];
  return (
    <section class="card chosen" aria-labelledby={`compare${suffix}`}>
      <div class="head">
        <div>
          <h2 id={`compare${suffix}`}>A and B</h2>
          <p class="note">
            A: {count(a)} rows, {kept.recipe}. B: {count(b)} rows, {title}.{overlap ? ` ${count(overlap)} rows are in both.` : ''} {isSame ? 'Select other rows to compare A with them.' : ''} Differences are in standard deviations (SD).
          </p>
        </div>
        <div class="tools"><button type="button" onClick={close}>End the comparison</button></div>
      </div>
      <Grid caption="Columns of A and B, those that differ most first" names={['column', 'difference (SD)', 'mean of A', 'mean of B']}
        rows={differences(columns, kept.rows, other).map(({ name, a, b, effect }) => [name, Number.isNaN(effect) ? '–' : Number(effect.toPrecision(3)), a, b])} />
      {grouping && grouping.groups.length > 1 && (
        <Grid caption={`${grouping.title} of A and B`} names={['group', '% of A', '% of B', 'rows of A', 'rows of B']}
          rows={shares(grouping, kept.rows, other).slice(0, GROUPS_MAX).map((one) => [one.name, percent(one.a, a), percent(one.b, b), one.a, one.b])} />
      )}
    </section>
  );
}
