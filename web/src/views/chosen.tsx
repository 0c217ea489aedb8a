// Shows the selected rows as a table and as structures of compounds, and saves them as a file or a data set.

import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Columns } from '../api/columns.ts';
import type { Colouring } from '../state/clusters.ts';
import { csvOf, MARK, shortest } from '../state/csv.ts';
import { download } from '../state/download.ts';
import { say } from '../state/notice.ts';
import { nameFrom } from '../state/setname.ts';
import { count } from '../state/words.ts';
import { Trouble } from './fault.tsx';
import { isStructure, Structure } from './molecule.tsx';
import type { Source } from './scene.tsx';
import { Grid } from './table.tsx';

/// The maximum number of selected rows whose molecules are drawn.
const STRUCTURES_SHOWN = 24;
/// The maximum number of selected rows in the table.
const TABLE_MAX = 200;

export function Chosen({ keep, source, titleOf, columns, chosen, total, recipe, grouping, clear, invert, pick, picked }: {
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
  // A cluster has the name that somebody gave it, or else what sets it apart.
  const titles = grouping?.groups.map(({ name, number, about = '' }) => (name === String(number) ? about : name)) ?? [];
  const isNamed = grouping?.groups.some(({ number }, at) => number >= 0 && titles[at]);
  const extra = grouping ? ['cluster', ...(isNamed ? ['cluster_name'] : []), ...(grouping.probability ? ['probability'] : [])] : [];
  // The name of a saved selection says how the rows were selected. A name with a slash would be listed among the results of jobs.
  const description = `${total} of ${columns.rows} rows of ${name}: ${recipe.join('; ')}${grouping ? ` (${grouping.title})` : ''}`;
  const called = nameFrom(`${(source.saved ?? name).replaceAll('/', '-')}-${recipe.join('-').replace(/[^\w-]+/g, '_')}`);
  const taken = new Set(columns.columns.map((column) => column.name));
  const names = [...columns.columns.map((column) => column.name), ...extra.map((one) => (taken.has(one) ? `${one}_` : one))];
  const valuesOf = (row: number) => [
    ...columns.columns.map((column) => (column.isSingle ? shortest(column.values[row] as number) : column.values[row])),
    ...(grouping ? [grouping.groups[grouping.groupOf[row]]?.number ?? -1, ...(isNamed ? [titles[grouping.groupOf[row]]] : []), ...(grouping.probability ? [grouping.probability[row]] : [])] : []),
  ];
  const asCsv = () => {
    const isTitled = source.titleOf !== undefined;
    const table = csvOf(isTitled ? ['id', ...names] : names, chosen, (row) => (isTitled ? [titleOf(row), ...valuesOf(row)] : valuesOf(row)));
    return new Blob([MARK, table], { type: 'text/csv' });
  };
  const saved = nameFrom(target.value ?? '');
  const save = async () => {
    isSaving.value = true;
    error.value = null;
    try {
      const rows = await source.save!(saved, chosen, description);
      say(`${saved} is there: ${count(rows)} rows.`);
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
          <h2 id={`chosen${suffix}`} tabIndex={-1}>{count(total)} rows selected</h2>
          <p class="note">
            <span>{recipe.join(', ')}</span>{' '}
            {navigator.clipboard && <button type="button" class="link" title={description} onClick={() => navigator.clipboard.writeText(description).then(() => say('Copied.'), (caught) => (error.value = caught))}>Copy</button>}
          </p>
        </div>
        <div class="tools">
          <button type="button" class="first" onClick={() => download(`${called}.csv`, asCsv())}>Export CSV</button>
          {source.save && <button type="button" onClick={() => (target.value = target.value === null ? called : null)}>Save as data set</button>}
          <button type="button" onClick={keep}>Compare</button>
          <button type="button" onClick={invert}>Invert<span class="keys"> (I)</span></button>
          <button type="button" onClick={clear}>Clear<span class="keys"> (Esc)</span></button>
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
          <button type="submit" class="first" disabled={isSaving.value || !saved}>Save</button>
          {saved !== target.value && saved && <span class="soft">It will be called {saved}.</span>}
          {source.saved && <span class="soft">It gets the columns of {source.saved}.</span>}
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
