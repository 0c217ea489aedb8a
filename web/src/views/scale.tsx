// The scale of the column that colours the points.

import { scaleColour, type Theme } from '../colour/palette.ts';
import { count, figure } from '../state/words.ts';

/// The number of colours in a ramp.
const STEPS = 24;

/// Shows the colours of a scale, from its low end to its high end or reversed.
export function Ramp({ isReversed = false, theme }: { isReversed?: boolean; theme: Theme }) {
  return (
    <div class="ramp" aria-hidden="true">
      {Array.from({ length: STEPS }, (_, at) => <i key={at} style={{ background: scaleColour((isReversed ? STEPS - 1 - at : at) / (STEPS - 1), theme) }} />)}
    </div>
  );
}

export function Scale({ title, low, high, isLog, gaps, theme }: { title: string; low: number; high: number; isLog: boolean; gaps: number; theme: Theme }) {
  return (
    <section class="card" aria-label={`Scale of ${title}`}>
      <h2>{title}</h2>
      <Ramp theme={theme} />
      <p class="ends"><span>{figure(low)}</span><span>{isLog ? 'logarithmic' : ''}</span><span>{figure(high)}</span></p>
      {gaps > 0 && <p class="note">{count(gaps)} {gaps === 1 ? 'row has' : 'rows have'} no value, and {gaps === 1 ? 'is' : 'are'} grey.</p>}
    </section>
  );
}
