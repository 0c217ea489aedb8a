// The coast, loaded when a map is first shown.

import { signal } from '@preact/signals';
import { unpack, type Coast } from '../points/coast.ts';

export const coast = signal<Coast | null>(null);
let isAsked = false;

/// Loads the coast unless it is there or on its way. A map without it is a map all the same, so that nobody hears of a failure; the next map asks again.
export async function want(load: () => Promise<string>): Promise<void> {
  if (isAsked) return;
  isAsked = true;
  try {
    coast.value = unpack(await load());
  } catch {
    isAsked = false;
  }
}
