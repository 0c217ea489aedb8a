// The probabilities with which rows belong to their clusters.

import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Theme } from '../colour/palette.ts';
import { below, UNSURE, type Colouring } from '../state/clusters.ts';
import { howOf, type How } from '../state/selection.ts';
import { count } from '../state/words.ts';
import { Ramp } from './scale.tsx';

/// The probability below which rows are selected, until the user chooses another one.
const LIMIT = 0.8;

/// Shows the scale of probabilities if colours follow them, and lets the user select the rows below a limit.
export function Sure({ suffix, grouping, theme, choose }: { suffix: string; grouping: Colouring; theme: Theme; choose: (limit: number, how: How) => void }) {
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
          <Ramp isReversed theme={theme} />
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
        <button type="button" disabled={number === 0} title="Select these rows. Shift adds, Alt takes away." onClick={(event) => choose(limit.value, howOf(event))}>
          Select {count(number)} {number === 1 ? 'row' : 'rows'}
        </button>
      </div>
    </section>
  );
}
