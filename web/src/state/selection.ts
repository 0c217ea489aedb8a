// The selected rows. All pictures and lists share one selection.

export type How = 'replace' | 'add' | 'subtract';

/// Returns how a click or a drawn shape changes the selection: Alt subtracts, Shift adds.
export function howOf(event: { altKey: boolean; shiftKey: boolean }): How {
  return event.altKey ? 'subtract' : event.shiftKey ? 'add' : 'replace';
}

/// Returns the selection after a step: for each row, whether it is selected, or `null` if no row is. Always returns a new array, so that signals notice the
/// change.
export function selected(before: Uint8Array | null, rows: Iterable<number>, how: How, count: number): Uint8Array | null {
  const next = how === 'replace' || !before ? new Uint8Array(count) : before.slice();
  for (const row of rows) next[row] = how === 'subtract' ? 0 : 1;
  return next.includes(1) ? next : null;
}

const SIGNS: Record<How, string> = { replace: '', add: 'and ', subtract: 'without ' };

/// Adds a step to the steps that led to a selection.
export function steps(before: string[], step: string, how: How): string[] {
  return how === 'replace' ? [step] : [...before, `${SIGNS[how]}${step}`];
}
