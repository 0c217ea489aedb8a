// Shows the picked row, with the structure of its compound.

import type { Columns } from '../api/columns.ts';
import { shortest } from '../state/csv.ts';
import { figure } from '../state/words.ts';
import { Icon } from './icon.tsx';
import { isStructure, Structure } from './molecule.tsx';

/// The maximum length of a text beside its column. A longer text, such as a sequence, has a block of its own, with a scroll bar.
const BESIDE_MAX = 120;

export function Picked({ suffix, columns, row, title, cluster, probability, close }: { suffix: string; columns: Columns; row: number; title: string; cluster: string; probability: number | null; close: () => void }) {
  return (
    <section class="card" aria-labelledby={`picked${suffix}`} aria-live="polite">
      <div class="head tight">
        <h2 id={`picked${suffix}`} tabIndex={-1}>{title}</h2>
        <button type="button" class="bare" aria-label="Close" onClick={close}><Icon name="close" /></button>
      </div>
      {cluster && <p class="note">{cluster}{probability !== null ? `, probability ${figure(probability, 4)}` : ''}</p>}
      {columns.columns.map((column) => isStructure(column.name) && column.kind === 'text' && <Structure key={column.name} smiles={column.values[row]} />)}
      <dl class="facts one">
        {columns.columns.slice(0, 200).map((column) => {
          const isLong = column.kind === 'text' && column.values[row].length > BESIDE_MAX;
          return (
            <div key={column.name} class={isLong ? 'long' : ''}>
              <dt>{column.name}</dt>
              <dd tabIndex={isLong ? 0 : undefined}>{column.kind === 'text' ? column.values[row] : figure(column.isSingle ? shortest(column.values[row] as number) : column.values[row], 12)}</dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}
