// Rows that are selected in any picture or list: one selection for all of them.

export type How = 'replace' | 'add' | 'subtract';

/// What the keys that are held while somebody clicks or draws mean.
export function howOf(event: { altKey: boolean; shiftKey: boolean }): How {
  return event.altKey ? 'subtract' : event.shiftKey ? 'add' : 'replace';
}

/// Of each row whether it is selected, after a step; `null` if no row is. Always a new array, so that what depends on it is made anew.
export function selected(before: Uint8Array | null, rows: Iterable<number>, how: How, count: number): Uint8Array | null {
  const next = how === 'replace' || !before ? new Uint8Array(count) : before.slice();
  for (const row of rows) next[row] = how === 'subtract' ? 0 : 1;
  return next.includes(1) ? next : null;
}

const SIGNS: Record<How, string> = { replace: '', add: 'and ', subtract: 'without ' };

/// The steps that led to a selection, with one more.
export function steps(before: string[], step: string, how: How): string[] {
  return how === 'replace' ? [step] : [...before, `${SIGNS[how]}${step}`];
}
