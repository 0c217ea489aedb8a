// Holds the coast, which is loaded when a map is first shown.

import { signal } from '@preact/signals';
import { unpack, type Coast } from '../points/coast.ts';

export const coast = signal<Coast | null>(null);
let isAsked = false;

/// Loads the coast, unless it is loaded or being loaded. A map is useful without a coast, so a failure is not reported; the next map tries again.
export async function want(load: () => Promise<string>): Promise<void> {
  if (isAsked) return;
  isAsked = true;
  try {
    coast.value = unpack(await load());
  } catch {
    isAsked = false;
  }
}
